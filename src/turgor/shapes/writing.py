"""A shape as a mesh file: OBJ, STL, PLY, OFF or GLB. Coordinates keep all digits (but in STL and GLB)."""

from __future__ import annotations

import os
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from turgor.errors import MeshError
from turgor.files import replacing
from turgor.shapes.reading import FORMATS
from turgor.shapes.shape import FloatArray, Shape

__all__ = ["write"]

Triangles = np.ndarray[Any, np.dtype[np.integer[Any]]]


def write(shape: Shape | Sequence[Shape], path: str | os.PathLike[str]) -> Path:
    """Write a 3D shape, or several as one mesh, in the format of the file's ending; returns the path.

    The file appears whole or not at all: it is written beside its place and then renamed.
    """
    path = Path(path)
    form = path.suffix.lower().lstrip(".")
    if form not in FORMATS:
        known = ", ".join("." + name for name in FORMATS)
        raise MeshError(f"{path}: unknown mesh format {path.suffix or '(no ending)'!r}; use one of {known}")
    shapes = [shape] if isinstance(shape, Shape) else list(shape)
    if not shapes or any(part.dim != 3 for part in shapes):
        raise MeshError(f"{path}: only 3D shapes can be written as a mesh file")
    offsets = np.cumsum([0] + [len(part.vertices) for part in shapes[:-1]])
    vertices = np.concatenate([part.vertices for part in shapes])
    faces = np.concatenate([part.faces + offset for part, offset in zip(shapes, offsets, strict=True)])
    data = _ENCODERS[form](vertices, faces)
    try:
        with replacing(path) as temporary:
            temporary.write_bytes(data)
    except OSError as error:
        raise MeshError(f"{path}: cannot be written ({error.strerror or error})") from None
    return path


def _rows(prefix: str, rows: Any) -> str:
    """One line each; repr of a float is the shortest text that reads back to the same bits."""
    return "".join(f"{prefix}{' '.join(map(repr, row))}\n" for row in rows.tolist())


def _obj(vertices: FloatArray, faces: Triangles) -> bytes:
    return (_rows("v ", vertices) + _rows("f ", faces + 1)).encode()


def _off(vertices: FloatArray, faces: Triangles) -> bytes:
    return (f"OFF\n{len(vertices)} {len(faces)} 0\n" + _rows("", vertices) + _rows("3 ", faces)).encode()


def _ply(vertices: FloatArray, faces: Triangles) -> bytes:
    header = (
        f"ply\nformat binary_little_endian 1.0\nelement vertex {len(vertices)}\n"
        "property double x\nproperty double y\nproperty double z\n"
        f"element face {len(faces)}\nproperty list uchar int vertex_indices\nend_header\n"
    )
    rows = np.empty(len(faces), np.dtype([("count", "u1"), ("index", "<i4", 3)]))
    rows["count"], rows["index"] = 3, faces
    return header.encode() + vertices.astype("<f8").tobytes() + rows.tobytes()


def _stl(vertices: FloatArray, faces: Triangles) -> bytes:
    rows = np.zeros(len(faces), np.dtype([("normal", "<f4", 3), ("corner", "<f4", (3, 3)), ("spare", "<u2")]))
    rows["corner"] = corner = vertices[faces]
    normal = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    size = np.linalg.norm(normal, axis=1, keepdims=True)
    rows["normal"] = np.divide(normal, size, out=np.zeros_like(normal), where=size > 0.0)
    return b"turgor".ljust(80) + struct.pack("<I", len(faces)) + rows.tobytes()


def _glb(vertices: FloatArray, faces: Triangles) -> bytes:
    import trimesh

    return bytes(trimesh.Trimesh(vertices, faces, process=False).export(file_type="glb"))


_ENCODERS = {"obj": _obj, "off": _off, "ply": _ply, "stl": _stl, "glb": _glb}
