"""A catalogue of ugly meshes that the doctor mends: each as the file a user brings, and what must come of it.

`MENDABLE` is name -> Mendable. All have their holes closed (`turgor check --repair`).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

import numpy as np

from support.ugly_meshes import TETRA_V, joined
from turgor import shapes

Mesh = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Mendable:
    """A file, and the volumes (m³) and genus of the shells that the doctor makes of it, largest first."""

    file: str
    content: bytes
    volumes: tuple[float, ...]
    genus: int = 0
    rel: float = 1e-5  # of the volumes: STL files carry float32


def obj(mesh: Mesh) -> bytes:
    """The arrays as they are."""
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in np.asarray(mesh[0], float).tolist()]
    return "\n".join([*lines, *(f"f {a} {b} {c}" for a, b, c in (np.asarray(mesh[1]) + 1).tolist()), ""]).encode()


def stl(mesh: Mesh) -> bytes:
    """Loose triangles, so that all vertices must be welded."""
    rows = np.zeros(len(mesh[1]), np.dtype([("normal", "<f4", 3), ("corner", "<f4", (3, 3)), ("spare", "<u2")]))
    rows["corner"] = np.asarray(mesh[0], float)[mesh[1]]
    return b"x".ljust(80) + struct.pack("<I", len(rows)) + rows.tobytes()


def ply(mesh: Mesh, strips: list[list[int]], form: str) -> bytes:
    """A file of triangle strips, all in one row with -1 between them."""
    row = [index for strip in strips for index in [*strip, -1]][:-1]
    vertices = np.asarray(mesh[0], np.float32)
    head = (
        f"ply\nformat {form} 1.0\ncomment strips\nelement vertex {len(vertices)}\nproperty float x\nproperty float y\n"
        "property float z\nproperty uchar red\nelement tristrips 1\nproperty list int int vertex_indices\nend_header\n"
    ).encode()
    if form == "ascii":
        lines = [" ".join(map(repr, point)) + " 7\n" for point in vertices.astype(float).tolist()]
        return head + ("".join(lines) + " ".join(map(str, [len(row), *row])) + "\n").encode()
    order = "<" if form == "binary_little_endian" else ">"
    body = b"".join(struct.pack(f"{order}fffB", *point, 7) for point in vertices.tolist())
    return head + body + struct.pack(f"{order}{len(row) + 1}i", len(row), *row)


def tube(around: int = 12, along: int = 8, bend: float = 0.0) -> tuple[Mesh, list[list[int]]]:
    """An open tube along a part of a circle (`bend` turns; straight if 0), and its strips, one for each ring."""
    u, t = np.meshgrid(np.arange(along) / (along - 1), 2 * np.pi * np.arange(around) / around, indexing="ij")
    if bend:
        turn = 2 * np.pi * bend * (u - 0.5)
        r = 1.0 + 0.3 * np.cos(t)
        vertices = np.stack([r * np.cos(turn), r * np.sin(turn), 0.3 * np.sin(t)], -1)
    else:
        vertices = np.stack([0.3 * np.cos(t), 0.3 * np.sin(t), 2.0 * u], -1)
    strips = []
    for i in range(along - 1):
        pairs = [(i * around + j % around, (i + 1) * around + j % around) for j in range(around + 1)]
        strips.append([index for pair in pairs for index in pair[::-1]])
    faces = []
    for strip in strips:
        for k in range(len(strip) - 2):
            a, b, c = strip[k : k + 3]
            faces.append((a, b, c) if k % 2 == 0 else (b, a, c))
    return (vertices.reshape(-1, 3), np.array(faces)), strips


def pinched(stacks: int = 10, slices: int = 12) -> Mesh:
    """A ball pressed in at its poles until they are one vertex."""
    ball = shapes.uv_sphere(stacks=stacks, slices=slices)
    vertices = ball.vertices.copy()
    vertices[:, 2] *= np.clip(np.hypot(vertices[:, 0], vertices[:, 1]) / 0.4, 0.0, 1.0)
    south = len(vertices) - 1
    return vertices[:south], np.where(ball.faces == south, 0, ball.faces)


def without(mesh: Mesh, gone: Any) -> Mesh:
    """The mesh without some faces."""
    return mesh[0], np.delete(mesh[1], gone, axis=0)


def volume(mesh: Mesh) -> float:
    """Of signed tetrahedra (m³)."""
    a, b, c = np.moveaxis(np.asarray(mesh[0], float)[mesh[1]], 1, 0)
    return float(abs(np.einsum("ij,ij->", a, np.cross(b, c))) / 6.0)


BALL: Mesh = (shapes.icosphere(0.5, 2).vertices, shapes.icosphere(0.5, 2).faces.astype(np.int64))
CUBE: Mesh = (shapes.box().vertices, shapes.box().faces.astype(np.int64))
PINCHED = pinched()
_N = len(BALL[0])


def _around(vertex: int) -> np.ndarray:
    """The faces of the ball at a vertex, in the order around it."""
    left = [f for f in range(len(BALL[1])) if vertex in BALL[1][f]]
    order = [left.pop(0)]
    while left:
        step = next(f for f in left if len(set(BALL[1][f]) & set(BALL[1][order[-1]])) == 2)
        order.append(step)
        left.remove(step)
    return np.array(order)


def _fin() -> Mesh:
    edge = BALL[1][0][:2]
    tip = 1.6 * BALL[0][edge].mean(axis=0)
    return np.concatenate([BALL[0], [tip]]), np.concatenate([BALL[1], [[*edge, _N], [*edge[::-1], _N]]])


def _long_fin() -> Mesh:
    """A sail of two-sided triangles along the equator's edges."""
    ring = [face[:2] for face in BALL[1][[3, 40, 77]]]
    tips = np.array([1.5 * BALL[0][pair].mean(axis=0) for pair in ring])
    sails = [[*pair, _N + k] for k, pair in enumerate(ring)]
    return np.concatenate([BALL[0], tips]), np.concatenate([BALL[1], sails, np.array(sails)[:, ::-1]])


def _reversed_too(mesh: Mesh, some: Any = slice(None)) -> Mesh:
    return mesh[0], np.concatenate([mesh[1], mesh[1][some][:, ::-1]])


def _beside(mesh: Mesh, offset: Any) -> Mesh:
    return mesh[0] + np.asarray(offset, float), mesh[1]


def _messy() -> Mesh:
    """Split vertices, turned faces, copies, degenerate faces and loose points at once."""
    rng = np.random.default_rng(5)
    corners = BALL[1].reshape(-1).copy()
    own = rng.random(len(corners)) < 0.3
    vertices = np.concatenate([BALL[0], BALL[0][corners[own]], [[9.0, 9, 9]]])
    corners[own] = _N + np.arange(own.sum())
    faces = corners.reshape(-1, 3)
    turned = rng.random(len(faces)) < 0.4
    faces[turned] = faces[turned][:, ::-1]
    return vertices, np.concatenate([faces, faces[:3], faces[5:7, ::-1], [[2, 2, 7]]])


def _figure_eight() -> Mesh:
    """Two rims of a bent tube that meet in one vertex: the last ring touches the first with one corner."""
    (vertices, faces), _ = tube(bend=0.9)
    first, last = 0, len(vertices) - 12
    vertices[last] = vertices[first]
    return vertices, np.where(faces == last, first, faces)


def _nearly_touching() -> Mesh:
    """The poles of the pinched ball a billionth apart, and a seam elsewhere: the weld makes the bow-tie."""
    vertices, faces = PINCHED
    north = np.array([0 in face and vertices[face].mean(axis=0)[2] > 0.0 for face in faces])
    vertices = np.concatenate([vertices, vertices[:1] - [0, 0, 1e-9], vertices[30:31]])
    faces = faces.copy()
    faces[~north] = np.where(faces[~north] == 0, len(vertices) - 2, faces[~north])
    seam = np.flatnonzero((faces == 30).any(axis=1))[:2]
    faces[seam] = np.where(faces[seam] == 30, len(vertices) - 1, faces[seam])
    return vertices, faces


def _open_pinch() -> Mesh:
    """The pinched ball without two faces at the pinch."""
    return without(PINCHED, np.flatnonzero((PINCHED[1] == 0).any(axis=1))[:2])


def _ring_of_holes() -> Mesh:
    """Every second face around each of two neighbouring corners is gone: holes that meet in several vertices."""
    gone = np.unique(np.concatenate([_around(0)[::2][:2], _around(5)[::2][:2], _around(100)[::2]]))
    return without(BALL, gone)


_TUBE, _STRIPS = tube()
_TUBE_VOLUME = 0.5 * 0.3**2 * 12 * np.sin(2 * np.pi / 12) * 2.0
_BALL_VOLUME = volume(BALL)
_T_VERTICES = np.concatenate([CUBE[0], [CUBE[0][CUBE[1][0][:2]].mean(axis=0)]])
_T_FACES = np.concatenate(
    [[[CUBE[1][0][0], 8, CUBE[1][0][2]], [8, *CUBE[1][0][1:]], [*CUBE[1][0][:2], 8]], CUBE[1][1:]]
)

MENDABLE: dict[str, Mendable] = {
    "fin": Mendable("fin.obj", obj(_fin()), (_BALL_VOLUME,)),
    "three sails": Mendable("sails.stl", stl(_long_fin()), (_BALL_VOLUME,)),
    "inner wall": Mendable("wall.stl", stl(joined(CUBE, _beside(CUBE, (1, 0, 0)))), (2.0,)),
    "debris": Mendable(
        "debris.obj", obj(joined(BALL, _reversed_too((TETRA_V[:3] + 2, np.array([[0, 1, 2]]))))), (_BALL_VOLUME,)
    ),
    "two-sided ball": Mendable("twice.obj", obj(_reversed_too(BALL)), (_BALL_VOLUME,)),
    "two-sided patch": Mendable("patch.obj", obj(_reversed_too(BALL, slice(0, 40))), (_BALL_VOLUME,)),
    "two-sided cup": Mendable("cup.stl", stl(_reversed_too(without(CUBE, [0, 1]))), (1.0,)),
    "pinched ball": Mendable("pinched.obj", obj(PINCHED), (volume(PINCHED),)),
    "pinched ball of loose triangles": Mendable("pinched.stl", stl(PINCHED), (volume(PINCHED),)),
    "hole in a pinch": Mendable("pinch.obj", obj(_open_pinch()), (volume(PINCHED),), rel=0.01),
    "pinch made by the weld": Mendable("weld.obj", obj(_nearly_touching()), (volume(PINCHED),)),
    "two holes that touch": Mendable("holes.obj", obj(without(BALL, _around(50)[[0, 3]])), (_BALL_VOLUME,)),
    "three holes that touch": Mendable("three.stl", stl(without(BALL, _around(50)[::2])), (_BALL_VOLUME,)),
    "large holes that touch": Mendable(
        "large.obj", obj(without(BALL, _around(50)[[0, 1, 3, 4]])), (_BALL_VOLUME,), rel=0.02
    ),
    "holes around three corners": Mendable("ring.obj", obj(_ring_of_holes()), (_BALL_VOLUME,), rel=0.05),
    "tube whose ends touch": Mendable("tube.obj", obj(_figure_eight()), (1.4,), rel=0.2),
    "balls that touch": Mendable(
        "touch.stl", stl(joined(BALL, _beside((BALL[0] * 0.8, BALL[1]), 1.8 * BALL[0][0]))),
        (_BALL_VOLUME, 0.8**3 * _BALL_VOLUME),
    ),
    "strips in text": Mendable("a.ply", ply(_TUBE, _STRIPS, "ascii"), (_TUBE_VOLUME,)),
    "strips, little endian": Mendable("l.ply", ply(_TUBE, _STRIPS, "binary_little_endian"), (_TUBE_VOLUME,)),
    "strips, big endian": Mendable("b.ply", ply(_TUBE, _STRIPS, "binary_big_endian"), (_TUBE_VOLUME,)),
    "one strip with turns": Mendable(
        "turns.ply",
        ply(_TUBE, [[i for s in _STRIPS for i in [s[0], s[0], *s, s[-1], s[-1]]]], "ascii"),
        (_TUBE_VOLUME,),
    ),
    "everything at once": Mendable("messy.obj", obj(_messy()), (_BALL_VOLUME,)),
    "inside out": Mendable("out.stl", stl((BALL[0], BALL[1][:, ::-1])), (_BALL_VOLUME,)),
    "T-junction": Mendable("t.obj", obj((_T_VERTICES, _T_FACES)), (1.0,)),
}  # fmt: skip
