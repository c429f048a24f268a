"""A catalogue of meshes that people really have: what is wrong with each, and words the doctor must say.

`ARRAYS` are (vertices, faces); `FILES` are (name, bytes). Each entry: name -> (mesh, words of the MeshError).
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from turgor.shapes import uv_sphere

TETRA_V = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
TETRA_F = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]])


def joined(*meshes: tuple[Any, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Several meshes as one, with separate vertices."""
    start, vertices, faces = 0, [], []
    for v, f in meshes:
        vertices.append(np.asarray(v, float))
        faces.append(np.asarray(f) + start)
        start += len(v)
    return np.concatenate(vertices), np.concatenate(faces)


def grid_faces(n: int, m: int, wrap_n: str, wrap_m: str) -> np.ndarray:
    """Faces of an n × m grid; a wrap is "open", "same" or "mirror" (the other direction is reversed at the seam)."""

    def index(i: int, j: int) -> int:
        if i == n:
            i, j = 0, (-j) % m if wrap_n == "mirror" and wrap_m == "same" else (m - 1 - j if wrap_n == "mirror" else j)
        return i * m + (j % m)

    faces = []
    for i in range(n if wrap_n != "open" else n - 1):
        for j in range(m if wrap_m != "open" else m - 1):
            a, b, c, d = index(i, j), index(i + 1, j), index(i + 1, j + 1), index(i, j + 1)
            faces += [(a, b, c), (a, c, d)]
    return np.array(faces)


def moebius(n: int = 24, m: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """A strip with half a twist."""
    u, w = np.meshgrid(2 * np.pi * np.arange(n) / n, np.linspace(-0.3, 0.3, m), indexing="ij")
    r = 1 + w * np.cos(u / 2)
    v = np.stack([r * np.cos(u), r * np.sin(u), w * np.sin(u / 2)], -1).reshape(-1, 3)
    return v, grid_faces(n, m, "mirror", "open")


def klein(n: int = 24, m: int = 12) -> tuple[np.ndarray, np.ndarray]:
    """The figure-8 immersion of the Klein bottle: closed, but with one side."""
    u, w = np.meshgrid(2 * np.pi * np.arange(n) / n, 2 * np.pi * np.arange(m) / m, indexing="ij")
    r = 2 + np.cos(u / 2) * np.sin(w + 0.1) - np.sin(u / 2) * np.sin(2 * w + 0.2)
    z = np.sin(u / 2) * np.sin(w + 0.1) + np.cos(u / 2) * np.sin(2 * w + 0.2)
    v = np.stack([r * np.cos(u), r * np.sin(u), z], -1).reshape(-1, 3)
    return v, grid_faces(n, m, "mirror", "same")


def _changed(row: int, value: list[float]) -> tuple[np.ndarray, np.ndarray]:
    vertices = TETRA_V.copy()
    vertices[row] = value
    return vertices, TETRA_F


_BALL = uv_sphere(stacks=6, slices=8)
_FIN = (np.concatenate([TETRA_V, [[1.0, 1, 1]]]), np.concatenate([TETRA_F, [[0, 1, 4]]]))

ARRAYS: dict[str, tuple[Any, str]] = {
    "no vertices": (([], []), "no vertices"),
    "only points": ((TETRA_V, np.zeros((0, 3), int)), "no faces"),
    "nan vertex": (_changed(2, [0, np.nan, 0]), "not finite.*number 2"),
    "infinite vertex": (_changed(1, [np.inf, 0, 0]), "not finite.*number 1"),
    "index out of range": ((TETRA_V, np.where(TETRA_F == 3, 9, TETRA_F)), "index out of range.*4 vertices"),
    "negative index": ((TETRA_V, np.where(TETRA_F == 3, -1, TETRA_F)), "index out of range"),
    "fractional index": ((TETRA_V, TETRA_F + 0.5), "whole numbers"),
    "vertices in 2D": ((TETRA_V[:, :2], TETRA_F), r"shape \(n, 3\)"),
    "quads": ((TETRA_V, [[0, 1, 2, 3]]), r"shape \(m, 3\).*triangles"),
    "ragged faces": ((TETRA_V, [[0, 1, 2], [0, 1]]), "three numbers"),
    "words": (("abc", "def"), "numbers"),
    "single triangle": ((TETRA_V[:3], [[0, 1, 2]]), "open: 1 hole with 3 open edges"),
    "missing face": ((TETRA_V, TETRA_F[1:]), "open: 1 hole with 3 open edges"),
    "open box": ((TETRA_V, TETRA_F[:2]), "open"),
    "moebius strip": (moebius(), "only one side"),
    "klein bottle": (klein(), "only one side"),
    "two shells": (joined((TETRA_V, TETRA_F), (TETRA_V + 5, TETRA_F)), "2 separate shells; .*shell=0"),
    "flattened": ((_BALL.vertices * [1, 1, 0], _BALL.faces), "flat: its volume is zero"),
    "flattened tetrahedron": ((TETRA_V * [1, 1, 0], TETRA_F), "open"),
    "all vertices in one point": ((TETRA_V * 0, TETRA_F), "point or a line"),
    "on a line": ((TETRA_V[[0, 1, 1, 1]] * [[0], [1], [2], [3]], TETRA_F), "volume is zero|point or a line"),
    "back to back triangles": ((TETRA_V[:3], [[0, 1, 2], [0, 2, 1]]), "open"),
    "three faces on an edge": (_FIN, "three or more faces"),
    "two tetrahedra on one edge": (
        (
            np.concatenate([TETRA_V, TETRA_V * [1, -1, -1]]),
            np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3], [0, 6, 1], [0, 1, 7], [1, 6, 7], [6, 0, 7]]),
        ),
        "three or more faces",
    ),
    "beyond all numbers": ((TETRA_V * 1e200, TETRA_F), "beyond"),
    "loose triangles": (joined(*[(TETRA_V[:3] + 10 * i, [[0, 1, 2]]) for i in range(1200)]), "1,200 separate pieces"),
}

_PLY = (
    "ply\nformat {form} 1.0\nelement vertex {v}\nproperty float x\nproperty float y\nproperty float z\n"
    "element face {f}\nproperty list uchar int vertex_indices\nend_header\n"
)
_STL = b"x".ljust(80) + struct.pack("<I", 4) + b"\0" * 200
_OPEN_OBJ = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 4\nf 2 3 4\nf 3 1 4\n"

FILES: dict[str, tuple[str, bytes, str]] = {
    "empty obj": ("a.obj", b"", "empty"),
    "empty stl": ("a.stl", b"", "empty"),
    "open obj": ("a.obj", _OPEN_OBJ, "open: 1 hole"),
    "garbage obj": ("a.obj", bytes(range(256)) * 20, "a.obj"),
    "garbage stl": ("a.stl", bytes(range(255, -1, -1)) * 20, "announces|damaged"),
    "garbage ply": ("a.ply", bytes(range(256)) * 20, "a.ply"),
    "garbage glb": ("a.glb", bytes(range(256)) * 20, "header|damaged"),
    "garbage off": ("a.off", bytes(range(256)) * 20, "OFF"),
    "text in glb": ("a.glb", b"hello", "header|damaged"),
    "short stl": ("a.stl", b"abc", "header|damaged"),
    "truncated stl": ("a.stl", _STL[:150], "announces 284 bytes but has only 150"),
    "binary stl of zeros": ("a.stl", _STL, "point or a line"),
    "ply announces ten million": (
        "a.ply", _PLY.format(form="ascii", v=10**7, f=1).encode(), "announces 10,000,001",
    ),
    "binary ply announces ten million": (
        "a.ply", _PLY.format(form="binary_little_endian", v=10**7, f=10**7).encode(), "announces 20,000,000",
    ),
    "ply announces nonsense": ("a.ply", _PLY.format(form="ascii", v="many", f=1).encode(), "header"),
    "truncated ascii ply": ("a.ply", _PLY.format(form="ascii", v=4, f=4).encode() + b"0 0 0\n1 0 0\n", "truncated"),
    "off announces ten million": ("a.off", b"OFF\n10000000 5 0\n0 0 0\n", "announces 10,000,000"),
    "off with short face": ("a.off", b"OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1\n", "fewer corners"),
    "off without faces": ("a.off", b"OFF\n3 0 0\n0 0 0\n1 0 0\n0 1 0\n", "point cloud"),
    "glb that promises more": ("a.glb", struct.pack("<4sII", b"glTF", 2, 10**9) + b"\0" * 40, "header|announces"),
    "obj point cloud": ("a.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\n", "point cloud of 3"),
    "obj index out of range": ("a.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n", "does not exist|out of range"),
    "obj with words": ("a.obj", b"v a b c\nf 1 2 3\n", "a.obj"),
    "obj with nan": ("a.obj", _OPEN_OBJ.replace(b"0 0 1", b"0 0 nan"), "not finite"),
    "unknown ending": ("a.blend", b"BLENDER", "unknown mesh format '.blend'.*\\.obj"),
    "no ending": ("mesh", _OPEN_OBJ, "unknown mesh format"),
    "comment only": ("a.obj", b"# nothing here\n", "no mesh"),
}  # fmt: skip
