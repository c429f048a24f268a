"""Meshes that the references need: discs, squares, pillows of two sheets, tubes with flat ends, balls.

Sheets lie in the plane z = 0, faces counter-clockwise seen from above.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from turgor.shapes.shape import Shape
from turgor.shapes.surfaces import icosphere

__all__ = ["Sheet", "disc", "even_ball", "even_disc", "mean_edge", "pillow", "square", "tube"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int32]
ROUNDS = 300  # of smoothing, for 162 vertices

Sheet = tuple[FloatArray, IntArray, IntArray]  # (n, 2) m, (m, 3), and the indices of the rim


def disc(radius: float, rings: int) -> Sheet:
    """Ring i has 6 i vertices, so that all triangles have about the same size: 1 + 3 n (n + 1) vertices."""
    points = [np.zeros((1, 2))]
    for i in range(1, rings + 1):
        angle = 2.0 * math.pi * np.arange(6 * i) / (6 * i)
        points.append(radius * i / rings * np.stack([np.cos(angle), np.sin(angle)], axis=1))
    faces = []
    for i in range(1, rings + 1):
        for sector in range(6):
            for k in range(i):
                a, b = _on_ring(i, sector * i + k), _on_ring(i, sector * i + k + 1)
                c = _on_ring(i - 1, sector * (i - 1) + k)
                faces.append((a, b, c))
                if k < i - 1:
                    faces.append((c, b, _on_ring(i - 1, sector * (i - 1) + k + 1)))
    count = 1 + 3 * rings * (rings + 1)
    return np.concatenate(points), np.array(faces, np.int32), np.arange(count - 6 * rings, count, dtype=np.int32)


def _on_ring(ring: int, place: int) -> int:
    """Index of a vertex of a disc."""
    return 0 if ring == 0 else 1 + 3 * ring * (ring - 1) + place % (6 * ring)


def square(side: float, cells: int) -> Sheet:
    """Cells × cells squares of four triangles each, with a vertex in the middle: no preferred diagonal."""
    line = side * (np.arange(cells + 1) / cells - 0.5)
    middle = 0.5 * (line[1:] + line[:-1])
    corners = np.stack(np.meshgrid(line, line, indexing="xy"), axis=-1).reshape(-1, 2)
    centres = np.stack(np.meshgrid(middle, middle, indexing="xy"), axis=-1).reshape(-1, 2)
    k = np.arange((cells + 1) ** 2).reshape(cells + 1, cells + 1)
    a, b, c, d = (part.ravel() for part in (k[:-1, :-1], k[:-1, 1:], k[1:, 1:], k[1:, :-1]))
    m = len(corners) + np.arange(cells**2)
    faces = np.concatenate([np.stack(t, axis=1) for t in ((a, b, m), (b, c, m), (c, d, m), (d, a, m))])
    rim = np.unique(np.concatenate([k[0], k[-1], k[:, 0], k[:, -1]]))
    return np.concatenate([corners, centres]), faces.astype(np.int32), rim.astype(np.int32)


def pillow(sheet: Sheet, bulge: FloatArray) -> tuple[Shape, IntArray]:
    """Two copies of a sheet joined at the rim, and the index of the lower vertex below each upper one.

    bulge: (n,) m, height of the upper sheet over z = 0, zero at the rim: gas needs a volume at rest. The first n
    vertices are those of the sheet; at the rim a vertex is its own lower one.
    """
    flat, faces, rim = sheet
    count = len(flat)
    inner = np.setdiff1d(np.arange(count), rim)
    below = np.arange(count)
    below[inner] = count + np.arange(len(inner))
    upper = np.column_stack([flat, bulge])
    lower = np.column_stack([flat, -bulge])[inner]
    both = np.concatenate([faces, below[faces][:, ::-1]])
    return Shape(np.concatenate([upper, lower]), both.astype(np.int32), "surface", {}), below.astype(np.int32)


def tube(radius: float, length: float, around: int, along: int) -> tuple[Shape, IntArray]:
    """A tube about the x axis from 0 to `length` with a fan at each end, and (along + 1, around) indices of its rings.

    Neighbouring rings are turned by half a cell, so that triangles lean to no side. The two middles come last.
    """
    x = length * np.arange(along + 1) / along
    turn = 2.0 * math.pi * (np.arange(around)[None, :] + 0.5 * (np.arange(along + 1)[:, None] % 2)) / around
    place = np.broadcast_to(x[:, None], turn.shape)
    rings = np.stack([place, radius * np.cos(turn), radius * np.sin(turn)], axis=-1).reshape(-1, 3)
    index = np.arange((along + 1) * around).reshape(along + 1, around)
    faces = []
    for i in range(along):
        here, there = index[i], index[i + 1]
        # vertex j of the next ring is half a cell ahead (even rings) or behind (odd rings)
        ahead, level = (np.roll(here, -1), there) if i % 2 == 0 else (here, np.roll(there, -1))
        if i % 2 == 0:
            faces += [np.stack([here, ahead, level], 1), np.stack([level, ahead, np.roll(there, -1)], 1)]
        else:
            faces += [np.stack([here, level, there], 1), np.stack([here, np.roll(here, -1), level], 1)]
    first, last = len(rings), len(rings) + 1
    faces.append(np.stack([np.full(around, first), np.roll(index[0], -1), index[0]], 1))
    faces.append(np.stack([np.full(around, last), index[-1], np.roll(index[-1], -1)], 1))
    vertices = np.concatenate([rings, [[0.0, 0.0, 0.0], [length, 0.0, 0.0]]])
    shape = Shape(vertices, np.concatenate(faces).astype(np.int32), "surface", {})
    if shape.volume < 0.0:
        shape = Shape(vertices, shape.faces[:, ::-1], "surface", {})
    return shape, index.astype(np.int32)


@lru_cache(maxsize=8)
def even_ball(radius: float, subdivisions: int) -> Shape:
    """An icosphere whose triangles are made equilateral: see `_smoothed`."""
    ball = icosphere(radius, subdivisions)

    def on_sphere(places: FloatArray) -> None:
        places /= np.linalg.norm(places, axis=1, keepdims=True)

    rounds = ROUNDS * 4 ** max(0, subdivisions - 2)
    return Shape(radius * _smoothed(ball.vertices / radius, ball.edges, rounds, on_sphere), ball.faces, "surface", {})


def even_disc(radius: float, rings: int) -> Sheet:
    """A disc whose triangles are made equilateral: see `_smoothed`. The vertices of the rim slide along it."""
    flat, faces, rim = disc(1.0, rings)
    edges = Shape(np.column_stack([flat, 0.0 * flat[:, 0]]), faces, "sheet", {}).edges

    def on_rim(places: FloatArray) -> None:
        places[rim] /= np.linalg.norm(places[rim], axis=1, keepdims=True)

    return radius * _smoothed(flat, edges, 10 * rings**2, on_rim), faces, rim


def _smoothed(places: FloatArray, edges: IntArray, rounds: int, bring_back: Callable[[FloatArray], None]) -> FloatArray:
    """Vertices moved to the mean of their neighbours, again and again, and back onto the sphere or the rim.

    That makes triangles equilateral, of sizes that change slowly over the mesh (a conformal map), where even sizes
    would need triangles that are not. A slow wave across the mesh needs a number of rounds that grows with its
    vertices.
    """
    one, other = np.concatenate([edges, edges[:, ::-1]]).T
    count = len(places)
    neighbours = np.bincount(one, minlength=count)[:, None]
    for _ in range(rounds):
        sums = np.stack([np.bincount(one, column[other], count) for column in places.T], axis=1)
        places = places + 0.9 * (sums / neighbours - places)
        bring_back(places)
    return places


def mean_edge(shape: Shape) -> float:
    """m: mean length of the edges."""
    ends = shape.vertices[shape.edges]
    return float(np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1).mean())
