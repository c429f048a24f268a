"""The mesh doctor: welds seams, orients faces, finds and closes holes, rejects what cannot hold gas and says why.

Self-intersections are not looked for: a surface may pass through itself and still hold gas in this model.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from turgor.errors import MeshError
from turgor.shapes.cleaning import clean
from turgor.shapes.given import GivenMesh
from turgor.shapes.limits import current
from turgor.shapes.mesh_objects import MeshObject, is_mesh_object, mesh_of
from turgor.shapes.paint import Paint, look_recipe
from turgor.shapes.reading import read_mesh
from turgor.shapes.report import EXAMPLES, Report, many
from turgor.shapes.shape import FloatArray, Shape
from turgor.shapes.shell import Shell
from turgor.shapes.topology import Edges, Integers, components, orientation

__all__ = ["check", "repair"]

# A file of more pieces than this is a soup of loose triangles, not a set of bodies.
MAX_SHELLS = 1000
# Volumes are cubes of lengths: beyond this (m) they leave the range of numbers.
MAX_LENGTH = 1e30

MeshLike = Shape | GivenMesh | MeshObject | str | os.PathLike[str] | tuple[npt.ArrayLike, npt.ArrayLike]


def check(mesh: MeshLike, *, close_holes: bool = False, cloth: bool = False) -> Report:
    """Examine a mesh and make the repairs that keep its geometry.

    It is a Shape, a (vertices, faces) pair, a mesh of trimesh or PyVista, or a mesh file.

    Always repaired: seams are welded; degenerate, double and back-to-back faces and unused vertices dropped; bow-ties
    split; faces oriented outward; separate shells taken apart. `close_holes` also closes each hole by a fan about its
    centre. `cloth` allows open and one-sided surfaces, and gives sheets. Arrays that are no mesh at all (not finite,
    index out of range, no faces) and unreadable files raise MeshError; every other defect is in the report.
    """
    source, given = _arrays(mesh)
    report = Report(source, len(given.vertices), len(given.faces), notes=list(given.notes))
    vertices, faces, origin = clean(report, given.vertices, given.faces, cloth)
    if not len(faces):
        report.problems.append(
            "no face has an area: the mesh is a point or a line; check its scale and export it again"
        )
        return report
    edges = Edges.of(faces)
    shell, flip, one_sided = orientation(len(faces), edges)
    shell = components(len(faces), *_share_edge(shell, edges))[shell]
    pieces = np.split(np.argsort(shell, kind="stable"), np.cumsum(np.unique(shell, return_counts=True)[1])[:-1])
    if len(pieces) > MAX_SHELLS:
        report.problems.append(
            f"the mesh falls into {len(pieces):,} separate pieces, so it is not a surface; merge close vertices in a "
            "modeller, or export it with shared vertices"
        )
        return report
    faces = np.where(flip[:, None], faces[:, ::-1], faces)
    paint = None if given.paint is None else given.paint.taken(origin).turned(flip)
    flipped: list[Integers] = []
    for members in pieces:
        own = None if paint is None else paint.taken(members)
        doctor = Shell(report, vertices, faces[members], flip[members], bool(one_sided[members].any()), cloth, own)
        flipped.append(members[doctor.treat(close_holes)])
    changed = np.concatenate(flipped)
    if len(changed):
        report.found("flipped_faces", len(changed), vertices[faces[np.sort(changed)[:EXAMPLES]]].mean(axis=1))
        report.repaired.append(f"turned {many(len(changed), 'face')} over so that all agree")
    _name_shapes(report, None if close_holes or not isinstance(mesh, str | os.PathLike) else source, cloth)
    return report


def repair(mesh: MeshLike, *, close_holes: bool = True) -> list[Shape]:
    """All closed shells of the mesh, repaired (holes closed too); MeshError when something is left."""
    report = check(mesh, close_holes=close_holes)
    if not report.ok:
        raise MeshError(f"{report.source}: {' '.join(report.problems)}")
    return report.shapes


def _arrays(mesh: Any) -> tuple[str, GivenMesh]:
    """Name, vertices, faces and look of anything that can be checked; MeshError when it is not a mesh."""
    paint: Paint | None = None
    notes: tuple[str, ...] = ()
    if isinstance(mesh, Shape):
        if mesh.dim != 3:
            raise MeshError("the mesh doctor is for 3D surfaces; a 2D outline is checked when it is made")
        source, vertices, faces = next(iter(mesh.recipe), "shape"), mesh.vertices, mesh.faces.astype(np.int64)
        if mesh.corner_uv is not None:
            paint = Paint.of(mesh.corner_uv, mesh.texture, mesh.color)
    elif isinstance(mesh, str | os.PathLike):
        source = os.fspath(mesh)
        read = read_mesh(source)
        vertices, faces, paint, notes = read.vertices, read.faces, read.paint, read.notes
    elif isinstance(mesh, GivenMesh):
        source, (vertices, faces), paint = "mesh", _numbers(mesh.vertices, mesh.faces), mesh.paint
    elif is_mesh_object(mesh):
        return _arrays(mesh_of(mesh))
    elif isinstance(mesh, tuple | list) and len(mesh) == 2:
        source, vertices, faces = "mesh", *_numbers(*mesh)
    else:
        raise MeshError(
            f"check needs a Shape, a pair (vertices, faces), a mesh of trimesh or PyVista, or a file name, "
            f"got {type(mesh).__name__}"
        )
    if not len(vertices):
        raise MeshError(f"{source}: it has no vertices")
    if not len(faces):
        raise MeshError(f"{source}: {len(vertices):,} points but no faces; give triangles that join them")
    if max(len(vertices), len(faces) // 2) > (most := current().vertices):
        raise MeshError(f"{source}: {len(vertices):,} vertices are more than the limit of {most:,}; simplify it")
    bad = np.flatnonzero(~np.isfinite(vertices).all(axis=1))
    if len(bad):
        raise MeshError(
            f"{source}: {many(len(bad), 'vertex')} not finite, the first is number {bad[0]} "
            f"{vertices[bad[0]].tolist()}; remove or correct it"
        )
    if np.abs(vertices).max() > MAX_LENGTH or 0.0 < np.ptp(vertices, axis=0).max() < 1.0 / MAX_LENGTH:
        raise MeshError(
            f"{source}: its size is beyond {MAX_LENGTH:g} m or below {1 / MAX_LENGTH:g} m; scale it to metres"
        )
    wrong = np.flatnonzero(((faces < 0) | (faces >= len(vertices))).any(axis=1))
    if len(wrong):
        raise MeshError(
            f"{source}: face {wrong[0]} {faces[wrong[0]].tolist()} has an index out of range "
            f"(there are {len(vertices):,} vertices, counted from 0); correct the faces"
        )
    return source, GivenMesh(vertices, faces, paint, notes)


def _numbers(vertices: Any, faces: Any) -> tuple[FloatArray, Integers]:
    try:
        points = np.array(vertices, np.float64)
        index = np.array(faces)
        if index.size == 0:
            index = np.zeros((0, 3), np.int64)
        if index.dtype.kind not in "iu":
            whole = np.array(faces, np.float64)
            if not (np.isfinite(whole) & (whole == np.round(whole))).all():
                raise MeshError("mesh: faces must be whole numbers (vertex indices counted from 0)")
            index = whole
        triangles = index.astype(np.int64)
    except (TypeError, ValueError, OverflowError):
        raise MeshError("mesh: vertices and faces must be rows of three numbers, all rows equally long") from None
    if points.size == 0:
        points = points.reshape(0, 3)
    if points.ndim != 2 or points.shape[1] != 3:
        raise MeshError(f"mesh: vertices must have shape (n, 3), got {points.shape}")
    if triangles.ndim != 2 or triangles.shape[1] != 3:
        raise MeshError(f"mesh: faces must have shape (m, 3), got {triangles.shape}; cut polygons into triangles")
    return points, triangles


def _name_shapes(report: Report, path: str | None, cloth: bool) -> None:
    """The recipe of each usable shell: its place in the file, or the arrays themselves."""
    numbers = [index for index, shell in enumerate(report.shells) if shell["ok"]]
    for place, (index, shape) in enumerate(zip(numbers, report.shapes, strict=True)):
        recipe: dict[str, Any]
        if path is None:
            recipe = {"mesh": {"vertices": shape.vertices.tolist(), "faces": shape.faces.tolist()}}
            recipe["mesh"] |= look_recipe(shape)
            if cloth:
                recipe["mesh"]["cloth"] = True
        else:
            recipe = {"file": path}
            if len(report.shells) > 1:
                recipe["shell"] = index
            if cloth:
                recipe["cloth"] = True
        report.shapes[place] = replace(shape, recipe=recipe)


def _share_edge(shell: Integers, edges: Edges) -> tuple[Integers, Integers]:
    """Links between shells that meet on edges of three or more faces: they cannot be taken apart."""
    order = np.argsort(edges.edge_of_side, kind="stable")
    same = edges.edge_of_side[order[1:]] == edges.edge_of_side[order[:-1]]
    return shell[order[:-1][same] // 3], shell[order[1:][same] // 3]
