"""Meshes of USD files (.usd, .usda, .usdc, .usdz), read with usd-core (extra: export).

All meshes of the stage that are to be rendered are joined, in the place and at the time that the file opens with, as
triangles in metres with z up: a USD file says its unit (metersPerUnit) and its up axis itself. Subdivision surfaces are
taken as their cages.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from turgor.errors import MeshError
from turgor.shapes.paint import Material, Paint, joined
from turgor.shapes.shape import FloatArray
from turgor.shapes.textures import cached, ending_of, srgb
from turgor.shapes.topology import Integers

__all__ = ["USD", "read_usd"]

USD = ("usd", "usda", "usdc", "usdz")
MAX_FACES = 40_000_000  # twice the limit of vertices: instances may repeat a small mesh without end

Piece = tuple[FloatArray, Integers, FloatArray | None, Integers, list[Material]]


def read_usd(path: Path) -> tuple[FloatArray, Integers, Paint | None, tuple[str, ...]]:
    """Vertices (n, 3) in metres with z up, triangles (m, 3), their look, and notes on it."""
    try:
        from pxr import Tf, Usd, UsdGeom
    except ImportError:
        raise MeshError("USD files need usd-core; install it with: pip install 'turgor[export]'") from None
    try:
        stage = Usd.Stage.Open(str(path))
    except Tf.ErrorException:
        raise MeshError("not a readable USD file, damaged or truncated") from None
    places = UsdGeom.XformCache(Usd.TimeCode.EarliestTime())
    notes: list[str] = []
    pieces = []
    faces = 0
    for prim in stage.Traverse(Usd.TraverseInstanceProxies()):
        if not prim.IsA(UsdGeom.Mesh) or not _shown(UsdGeom.Imageable(prim)):
            continue
        piece = _piece(UsdGeom.Mesh(prim), np.array(places.GetLocalToWorldTransform(prim)), notes)
        if piece is None:
            continue
        faces += len(piece[1])
        if faces > MAX_FACES:
            raise MeshError(f"more than the limit of {MAX_FACES:,} triangles; simplify it")
        pieces.append(piece)
    if not pieces:
        return np.zeros((0, 3)), np.zeros((0, 3), np.int64), None, ()
    turn = np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]]) if UsdGeom.GetStageUpAxis(stage) == "Y" else np.eye(3)
    scale = UsdGeom.GetStageMetersPerUnit(stage)
    starts = np.cumsum([0] + [len(points) for points, *_ in pieces[:-1]])
    return (
        np.concatenate([points for points, *_ in pieces]) @ turn.T * scale,
        np.concatenate([piece[1] + start for piece, start in zip(pieces, starts, strict=True)]),
        joined([part for piece in pieces for part in _by_material(piece)]),
        tuple(dict.fromkeys(notes)),
    )


def _shown(prim: Any) -> bool:
    """Whether it is to be rendered: neither hidden nor a guide or a stand-in."""
    return prim.ComputeVisibility() != "invisible" and prim.ComputePurpose() in ("default", "render")


def _piece(mesh: Any, place: FloatArray, notes: list[str]) -> Piece | None:
    """Points in the stage's own unit and axes, triangles in the order of their materials, coordinates of their corners,
    and the number of triangles and the look of each material."""
    from pxr import Usd, UsdGeom

    start = Usd.TimeCode.EarliestTime()
    values = [
        part.Get(start)
        for part in (mesh.GetPointsAttr(), mesh.GetFaceVertexCountsAttr(), mesh.GetFaceVertexIndicesAttr())
    ]
    if any(value is None or not len(value) for value in values):
        return None
    points = np.array(values[0], np.float64)
    counts, corners = np.array(values[1], np.int64), np.array(values[2], np.int64)
    if counts.min() < 0 or counts.sum() != len(corners):
        raise MeshError("damaged, its faces have other numbers of corners than announced; export it again")
    if corners.min() < 0 or corners.max() >= len(points):
        raise IndexError
    triangles, face = _fans(counts)
    uv = _coordinates(UsdGeom.PrimvarsAPI(mesh), corners, len(points))
    mirrored = np.linalg.det(place[:3, :3]) < 0.0
    if (mesh.GetOrientationAttr().Get() == "leftHanded") != mirrored:
        triangles = triangles[:, ::-1]
    looks, of_face = _looks(mesh, len(counts), notes)
    order = np.argsort(of_face[face], kind="stable")
    number = np.bincount(of_face[face], minlength=len(looks))
    placed = points @ place[:3, :3] + place[3, :3]
    return placed, corners[triangles[order]], None if uv is None else uv[triangles[order]], number, looks


def _by_material(piece: Piece) -> list[tuple[int, FloatArray | None, Material]]:
    """The triangles of each material, for `joined`."""
    _, _, uv, number, looks = piece
    stops = np.cumsum(number)
    return [
        (int(count), None if uv is None else uv[stop - count : stop], look)
        for count, stop, look in zip(number, stops, looks, strict=True)
        if count
    ]


def _fans(counts: Integers) -> tuple[Integers, Integers]:
    """Triangles (m, 3) of corners about the first corner of each polygon, and the polygon of each (m,)."""
    number = np.maximum(counts - 2, 0)
    face = np.repeat(np.arange(len(counts)), number)
    first = (np.cumsum(counts) - counts)[face]
    step = np.arange(len(face)) - np.repeat(np.cumsum(number) - number, number)
    return np.stack([first, first + step + 1, first + step + 2], axis=1), face


def _coordinates(primvars: Any, corners: Integers, points: int) -> FloatArray | None:
    """(corners, 2) the texture coordinates: those named st, or the first that there are."""
    from pxr import Usd

    found = [entry for entry in primvars.FindPrimvarsWithInheritance() if "texCoord" in str(entry.GetTypeName())]
    named = [entry for entry in found if entry.GetPrimvarName() in ("st", "uv", "UVMap", "st0")]
    for entry in named or found:
        values = entry.ComputeFlattened(Usd.TimeCode.EarliestTime())
        if values is None:
            continue
        table = np.array(values, np.float64)[:, :2]
        if entry.GetInterpolation() == "faceVarying" and len(table) == len(corners):
            return table
        if entry.GetInterpolation() in ("vertex", "varying") and len(table) == points:
            return np.asarray(table[corners])
    return None


def _looks(mesh: Any, faces: int, notes: list[str]) -> tuple[list[Material], Integers]:
    """The materials of a mesh, and which of them each of its polygons has: that of its subset, or of the whole."""
    from pxr import Usd, UsdGeom, UsdShade

    colors = mesh.GetDisplayColorAttr().Get(Usd.TimeCode.EarliestTime())
    plain = srgb(colors[0]) if colors is not None and len(colors) == 1 else None
    looks = [_material(UsdShade.MaterialBindingAPI(mesh), notes) or Material(None, plain)]
    of_face = np.zeros(faces, np.int64)
    for subset in UsdGeom.Subset.GetAllGeomSubsets(mesh):
        chosen = np.array(subset.GetIndicesAttr().Get() or [], np.int64)
        look = _material(UsdShade.MaterialBindingAPI(subset.GetPrim()), notes)
        if look is not None and len(chosen) and chosen.min() >= 0 and chosen.max() < faces:
            of_face[chosen] = len(looks)
            looks.append(look)
    return looks, of_face


def _material(binding: Any, notes: list[str]) -> Material | None:
    """Colour and image of the bound material, if its surface is a UsdPreviewSurface; None where nothing is bound."""
    from pxr import UsdShade

    material, _ = binding.ComputeBoundMaterial()
    if not material:
        return None
    surface = material.ComputeSurfaceSource()[0]
    given = surface.GetInput("diffuseColor") if surface else None
    if not given:
        return Material()
    sources, _ = given.GetConnectedSources()
    if not sources:
        value = given.Get()
        return Material(None, None if value is None else srgb(value))
    file = UsdShade.Shader(sources[0].source.GetPrim()).GetInput("file")
    asset = file.Get() if file else None
    return Material(None if asset is None else _image(asset, notes))


def _image(asset: Any, notes: list[str]) -> str | None:
    """The path of an image; one inside a .usdz goes into the cache folder."""
    from pxr import Ar

    if asset.resolvedPath and Path(asset.resolvedPath).is_file():
        return str(asset.resolvedPath)
    opened = Ar.GetResolver().OpenAsset(Ar.ResolvedPath(asset.resolvedPath)) if asset.resolvedPath else None
    content = b"" if opened is None else bytes(opened.GetBuffer())
    ending = ending_of(content)
    if ending is None:
        notes.append(f"its texture {asset.path} is not there or not an image, and is left out")
        return None
    return cached(content, ending)
