"""Triangles whose corners lie on a line: they have no normal, and dropping them would tear the surface."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from turgor.shapes.paint import Paint
from turgor.shapes.shape import FloatArray
from turgor.shapes.topology import Integers

__all__ = ["flat_faces", "flip_flat"]

# A triangle is flat when its height over its longest side is below this part of that side: its normal is round-off.
FLAT = 1e-9
ROUNDS = 10  # a row of flat triangles on one line is undone one after the other


def flat_faces(vertices: FloatArray, faces: Integers) -> Integers:
    """Indices of the faces that are flat."""
    corner = vertices[faces]
    sides = corner - np.roll(corner, 1, axis=1)
    longest = np.einsum("ijk,ijk->ij", sides, sides).max(axis=1)
    doubled = np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1)  # twice the area = height · longest side
    return np.flatnonzero(doubled <= FLAT * longest)


def flip_flat(vertices: FloatArray, faces: Integers, paint: Paint | None = None) -> tuple[Integers, Paint | None]:
    """Faces with flat ones removed by edge flips, where that is possible; the geometry does not change.

    A flat face (a, b, c) with c on the line from a to b, and its neighbour (b, a, d) beyond ab, become (a, d, c) and
    (d, b, c): the neighbour is divided at c, and so is its part of the texture.
    """
    faces = faces.copy()
    paint = None if paint is None else replace(paint, uv=paint.uv.copy(), material=paint.material.copy())
    for _ in range(ROUNDS):
        flat = flat_faces(vertices, faces)
        if not len(flat):
            break
        owner = {(a, b): f for f, (i, j, k) in enumerate(faces.tolist()) for a, b in ((i, j), (j, k), (k, i))}
        touched: set[int] = set()
        made: set[tuple[int, int]] = set()  # edges of this round, smaller index first
        for f in flat.tolist():
            ring = faces[f]
            lengths = np.linalg.norm(vertices[np.roll(ring, -1)] - vertices[ring], axis=1)
            a, b, c = np.roll(ring, -int(np.argmax(lengths))).tolist()
            g = owner.get((b, a), f)
            if g == f or f in touched or g in touched:
                continue
            d = int(faces[g].sum()) - a - b
            edge = (min(c, d), max(c, d))
            if c == d or (c, d) in owner or (d, c) in owner or edge in made:
                continue
            made.add(edge)
            if paint is not None:
                _divide(paint, f, g, [faces[g].tolist().index(vertex) for vertex in (a, b, d)], vertices[[a, b, c]])
            faces[f], faces[g] = (a, d, c), (d, b, c)
            touched |= {f, g}
        if not touched:
            break
    return faces, paint


def _divide(paint: Paint, f: int, g: int, corners: list[int], line: FloatArray) -> None:
    """The texture of face g, of which a, b and d are corners, goes to f = (a, d, c) and g = (d, b, c); c is on ab."""
    a, b, d = paint.uv[g, corners]
    way = line[1] - line[0]
    share = float(np.clip((line[2] - line[0]) @ way / max(float(way @ way), np.finfo(float).tiny), 0.0, 1.0))
    c = a + share * (b - a)
    paint.uv[f], paint.uv[g] = (a, d, c), (d, b, c)
    paint.material[f] = paint.material[g]
