"""Triangles from a mesh file: OBJ, STL, PLY, OFF, GLB, USD. Whatever the bytes are: arrays, or MeshError."""

from __future__ import annotations

import io
import json
import os
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from turgor.errors import MeshError
from turgor.shapes.arguments import MAX_VERTICES
from turgor.shapes.file_materials import Materials, glb_materials, obj_materials, ply_materials
from turgor.shapes.given import GivenMesh
from turgor.shapes.limits import current
from turgor.shapes.paint import Material, joined
from turgor.shapes.ply import has_strips, read_strips
from turgor.shapes.shape import FloatArray
from turgor.shapes.topology import Integers
from turgor.shapes.usd import USD, read_usd

__all__ = ["FORMATS", "READABLE", "read", "read_mesh"]

FORMATS = ("glb", "obj", "off", "ply", "stl")  # that are also written
READABLE = (*FORMATS, *USD)


def read(path: str | os.PathLike[str]) -> tuple[FloatArray, Integers]:
    """Vertices (n, 3) and triangles (m, 3) as the file has them, as `read_mesh`; no other file is opened."""
    mesh = _read(Path(path), FORMATS, lambda data, form: _arrays(data, form, None))
    return mesh.vertices, mesh.faces


def read_mesh(path: str | os.PathLike[str]) -> GivenMesh:
    """The file as it is: polygons cut into triangles, parts of a scene joined; with texture coordinates and materials.

    Raises MeshError that names the file when it is missing, empty, damaged, too large or of an unknown format.
    """
    place = Path(path)
    return _read(place, READABLE, lambda data, form: _arrays(data, form, place))


def _read(path: Path, formats: tuple[str, ...], arrays: Callable[[bytes, str], GivenMesh]) -> GivenMesh:
    form = path.suffix.lower().lstrip(".")
    data = _bytes(path, form, formats)
    _compare_with_header(path, form, data)
    try:
        mesh = arrays(data, form)
        if mesh.vertices.shape[1:] != (3,) or mesh.faces.shape[1:] != (3,):
            raise MeshError("damaged, its vertices have not three coordinates each; export it again")
    except MeshError as error:
        raise MeshError(f"{path}: {error}") from None
    except IndexError:
        raise MeshError(f"{path}: damaged, a face names a vertex that does not exist; export it again") from None
    except (Exception, RecursionError) as error:  # a parser given arbitrary bytes may raise anything
        reason = str(error).splitlines()[0][:120] if str(error) else type(error).__name__
        raise MeshError(f"{path}: not a readable {form.upper()} file, damaged or truncated ({reason})") from None
    if not len(mesh.vertices) and not len(mesh.faces):
        raise MeshError(f"{path}: no mesh was found in it; is it really {form.upper()}?")
    return mesh


def _bytes(path: Path, form: str, formats: tuple[str, ...]) -> bytes:
    """The content of the file, once its name, kind and size are acceptable."""
    known = ", ".join("." + name for name in formats)
    try:
        if path.is_dir():
            raise MeshError(f"{path}: is a folder, not a mesh file; name a file in it ({known})")
        if not path.exists():
            raise MeshError(f"{path}: no such file")
        if form not in formats:
            raise MeshError(f"{path}: unknown mesh format {path.suffix or '(no ending)'!r}; use one of {known}")
        if not path.is_file():
            raise MeshError(f"{path}: is not a regular file")
        size = path.stat().st_size
        if size == 0:
            raise MeshError(f"{path}: the file is empty; export the mesh again")
        if size > (most := current().mesh_bytes):
            raise MeshError(
                f"{path}: {size / 1e6:,.1f} MB is more than the limit of {most / 1e6:,.1f} MB; simplify it, or raise "
                "the limit with --limit mesh_bytes=N"
            )
        return path.read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a name with a zero byte
        raise MeshError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error})") from None


def _compare_with_header(path: Path, form: str, data: bytes) -> None:
    """Refuse a file that announces more than its bytes can hold, before a parser takes memory for it."""
    announced = 0
    try:
        if form == "ply":
            head = data[: max(0, data.find(b"end_header"))]
            for line in head.decode("ascii", "replace").splitlines():
                if line.startswith("element"):
                    announced += int(line.split()[2])
            lines = data.count(b"\n", len(head))  # in text, one for each vertex and face
            if b"format ascii" in head and announced > lines:
                raise MeshError(
                    f"{path}: damaged or truncated, it announces {announced:,} vertices and faces "
                    f"but has only {lines:,} lines of data"
                )
        elif form == "stl" and not (data.lstrip()[:5].lower() == b"solid" and b"facet" in data[:2000].lower()):
            announced = 50 * struct.unpack("<I", data[80:84])[0] + 84  # bytes: 80 of header, the count, 50 a triangle
        elif form == "glb":
            announced = struct.unpack("<I", data[8:12])[0]
            (length,) = struct.unpack("<I", data[12:16])
            accessors = json.loads(data[20 : 20 + length]).get("accessors", [])
            announced = max([announced, *(int(a.get("count", 0)) for a in accessors)])
    except (ValueError, IndexError, struct.error, AttributeError, TypeError, RecursionError):
        raise MeshError(f"{path}: not a readable {form.upper()} file: its header is damaged or cut short") from None
    if announced > len(data):
        what = "bytes" if form in ("stl", "glb") else "vertices and faces"
        raise MeshError(
            f"{path}: damaged or truncated, it announces {announced:,} {what} but has only {len(data):,} bytes"
        )


def _arrays(data: bytes, form: str, path: Path | None) -> GivenMesh:
    """The mesh by the reader for this kind of file; its look too if the file's own `path` is given."""
    if form in USD:
        assert path is not None
        return GivenMesh(*read_usd(path))
    if form == "off":
        return GivenMesh(*_off(data))
    if form == "ply" and has_strips(data):
        return GivenMesh(*read_strips(data))
    return _trimesh(data, form, path)


def _materials(data: bytes, form: str, path: Path | None) -> Materials:
    """What the file says of materials; never a reason to refuse its triangles."""
    finder = {"glb": glb_materials, "obj": obj_materials, "ply": ply_materials}.get(form)
    if path is None or finder is None:
        return Materials(data)
    try:
        return finder(data, path)
    except (Exception, RecursionError):  # arbitrary bytes
        return Materials(data, notes=("its materials cannot be read, and are left out",))


def _trimesh(data: bytes, form: str, path: Path | None) -> GivenMesh:
    """Through trimesh; transforms are applied. Images are not opened: only names of materials go through it."""
    import trimesh

    found = _materials(data, form, path)
    options: dict[str, Any] = {}
    if form in ("obj", "glb", "ply"):
        options["skip_materials"] = form == "ply" or path is None
    if form == "obj" and path is not None:
        options["resolver"] = found.names
    scene = trimesh.load_scene(io.BytesIO(found.data), file_type=form, process=False, **options)
    parts = [part for part in scene.dump() if isinstance(part, trimesh.Trimesh)]
    if not sum(len(part.faces) for part in parts):
        points = sum(len(part.vertices) for part in scene.geometry.values() if hasattr(part, "vertices"))
        if points:
            raise MeshError(f"a point cloud of {points:,} points without faces; export it with triangles")
        return GivenMesh(np.zeros((0, 3)), np.zeros((0, 3), np.int64))
    starts = np.cumsum([0] + [len(part.vertices) for part in parts[:-1]])
    pieces = [_piece(part, found) for part in parts]
    return GivenMesh(
        np.concatenate([np.asarray(part.vertices, np.float64) for part in parts]),
        np.concatenate([np.asarray(part.faces, np.int64) + start for part, start in zip(parts, starts, strict=True)]),
        joined(pieces) if path is not None else None,
        found.notes,
    )


def _piece(part: Any, found: Materials) -> tuple[int, FloatArray | None, Material]:
    """Number of faces, texture coordinates (m, 3, 2) and material of one part of a scene."""
    name = getattr(getattr(part.visual, "material", None), "name", None)
    uv = getattr(part.visual, "uv", None)
    corners = None
    if uv is not None and np.shape(uv) == (len(part.vertices), 2) and np.isfinite(uv).all():
        corners = found.placed(name, np.asarray(uv, np.float64))[np.asarray(part.faces)]
    return len(part.faces), corners, found.materials.get(name, found.other)


def _off(data: bytes) -> tuple[FloatArray, np.ndarray[Any, np.dtype[np.int64]]]:
    """Object File Format, with polygons of any size (fanned) and extra columns (normals, colours) ignored."""
    lines = [line.split("#")[0].split() for line in data.decode("ascii", "replace").splitlines()]
    rows = [line for line in lines if line]
    if not rows or not rows[0][0].upper().endswith("OFF"):
        raise MeshError("does not start with OFF; is it really an OFF file?")
    counts = rows[0][1:] or rows[1]
    body = rows[1:] if rows[0][1:] else rows[2:]
    vertex_count, face_count = int(counts[0]), int(counts[1])
    if min(vertex_count, face_count) < 0 or vertex_count + face_count > min(len(body), 2 * MAX_VERTICES):
        raise MeshError(
            f"damaged or truncated, it announces {vertex_count:,} vertices and {face_count:,} faces "
            f"but has only {len(body):,} lines of data"
        )
    if vertex_count and not face_count:
        raise MeshError(f"a point cloud of {vertex_count:,} points without faces; export it with triangles")
    vertices = np.array([row[:3] for row in body[:vertex_count]], np.float64).reshape(-1, 3)
    faces = []
    for row in body[vertex_count : vertex_count + face_count]:
        ring = [int(index) for index in row[1 : 1 + int(row[0])]]
        if len(ring) != int(row[0]):
            raise MeshError("damaged or truncated, a face has fewer corners than it announces")
        faces += [(ring[0], ring[i], ring[i + 1]) for i in range(1, len(ring) - 1)]
    return vertices, np.array(faces, np.int64).reshape(-1, 3)
