"""One step of modified butterfly subdivision (Zorin, Schröder & Sweldens 1996): each triangle becomes four.

The scheme keeps the vertices where they are, as the page and the physics must agree about where a body is; its limit is
smooth; and a new point is a fixed weighted sum of old ones, so that a frame costs one sparse product. Sharp edges and
borders are curves of their own (four-point scheme, Dyn, Gregory & Levin 1987), so both sides meet in them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from turgor.record.creases import Edges, edges_of

__all__ = ["Mesh", "Step", "subdivided"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Mesh:
    """Triangles with sharp edges."""

    faces: IntArray  # (m, 3)
    count: int  # vertices
    sharp: frozenset[tuple[int, int]]  # edges, the smaller vertex first; borders are found by themselves
    corners: frozenset[int]  # vertices where a sharp curve ends, although there are two of its edges


@dataclass(frozen=True)
class Step:
    """New points `count`, `count` + 1 ... of a mesh, one per edge, and the finer mesh."""

    ends: IntArray  # (new, 2) the edge that each is on
    rows: IntArray  # (entries,) new point, from 0
    columns: IntArray  # (entries,) old vertex
    weights: FloatArray  # (entries,)
    mesh: Mesh  # face f becomes f, f + m, f + 2 m, f + 3 m


def subdivided(mesh: Mesh) -> Step:
    """The next finer mesh. A new point is written as a sum over old vertices."""
    edges = edges_of(mesh.faces)
    base = np.array([edge in mesh.sharp for edge in map(tuple, edges.ends.tolist())], bool)
    sharp = base | ~edges.plain
    curve = np.bincount(edges.ends[sharp].ravel(), minlength=mesh.count)  # sharp edges at each vertex
    valence = np.bincount(edges.ends.ravel(), minlength=mesh.count)
    smooth = curve == 0
    regular = smooth & (valence == 6)
    parts = [
        _butterfly(edges, np.flatnonzero(~sharp & regular[edges.ends].all(axis=1))),
        _curves(edges, sharp, (curve == 2) & ~np.isin(np.arange(mesh.count), list(mesh.corners))),
    ]
    rings = _rings(mesh.faces, smooth)
    other = np.flatnonzero(~sharp & ~regular[edges.ends].all(axis=1))
    parts.append(_around(edges, other, rings, regular))
    rows, columns, weights = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return Step(edges.ends, rows, columns, weights, _finer(mesh, edges, base))


Entries = tuple[IntArray, IntArray, FloatArray]  # rows, columns, weights


def _butterfly(edges: Edges, chosen: IntArray) -> Entries:
    """Edges between vertices of six neighbours: 1/2 of the ends, 1/8 of the opposite ones, −1/16 of the four wings."""
    columns = [edges.ends[chosen, 0], edges.ends[chosen, 1], edges.opposite[chosen, 0], edges.opposite[chosen, 1]]
    for side in (0, 1):
        face, own = edges.faces[chosen, side], np.arange(len(chosen))
        three = edges.of_faces[face]  # the edge itself and two more
        for k in range(3):
            edge = three[:, k]
            mine = edges.faces[edge, 0] == face  # which of the sides of that edge this face is
            columns.append(np.where(edge == chosen[own], -1, edges.opposite[edge, mine.astype(np.int64)]))
    table = np.stack(columns, axis=1)
    weights = np.tile([1 / 2, 1 / 2, 1 / 8, 1 / 8, *[-1 / 16] * 6], (len(chosen), 1))
    kept = table >= 0
    return np.repeat(chosen, kept.sum(axis=1)), table[kept], weights[kept]


def _curves(edges: Edges, sharp: BoolArray, through: BoolArray) -> Entries:
    """Sharp edges: 9/16 of the ends, −1/16 of the next ones along the curve; at its end as if it went straight on."""
    chosen = np.flatnonzero(sharp)
    sums = np.zeros(len(through), np.int64)  # of both neighbours along the curve
    for a, b in ((0, 1), (1, 0)):
        np.add.at(sums, edges.ends[chosen, a], edges.ends[chosen, b])
    parts: list[Entries] = []
    for a, b in ((0, 1), (1, 0)):
        end, other = edges.ends[chosen, a], edges.ends[chosen, b]
        on = through[end]
        beyond = np.where(on, sums[end] - other, other)  # straight on: 2 end − other
        parts.append((chosen, end, np.where(on, 9 / 16, 7 / 16)))
        parts.append((chosen, beyond, np.where(on, -1 / 16, 1 / 16)))
    rows, columns, weights = (np.concatenate(part) for part in zip(*parts, strict=True))
    return rows, columns, weights


def _rings(faces: IntArray, smooth: BoolArray) -> dict[int, list[int]]:
    """The neighbours of smooth vertices in order; a vertex whose faces make no ring is left out."""
    after: dict[int, dict[int, int]] = {}
    for a, b, c in faces.tolist():
        for vertex, start, stop in ((a, b, c), (b, c, a), (c, a, b)):
            if smooth[vertex]:
                after.setdefault(vertex, {})[start] = stop
    rings = {}
    for vertex, follow in after.items():
        ring = [next(iter(follow))]
        while len(ring) < len(follow) and follow.get(ring[-1], ring[0]) != ring[0]:
            ring.append(follow[ring[-1]])
        if len(ring) == len(follow) and follow.get(ring[-1]) == ring[0]:
            rings[vertex] = ring
    return rings


def _weights_around(valence: int) -> FloatArray:
    """Of the neighbours of a vertex, beginning with the one to which the edge leads; the vertex itself has 3/4."""
    if valence == 3:
        return np.array([5.0, -1.0, -1.0]) / 12.0
    if valence == 4:
        return np.array([3.0, 0.0, -1.0, 0.0]) / 8.0
    turn = 2.0 * np.pi * np.arange(valence) / valence
    return np.asarray((0.25 + np.cos(turn) + 0.5 * np.cos(2.0 * turn)) / valence)


def _around(edges: Edges, chosen: IntArray, rings: dict[int, list[int]], regular: BoolArray) -> Entries:
    """Edges at vertices of other than six neighbours: the mean of what their ends ask for. Of an edge between a smooth
    vertex and a sharp curve only the first is asked; between two curves it stays straight."""
    rows: list[int] = []
    columns: list[int] = []
    weights: list[float] = []
    for row, ends in zip(chosen.tolist(), edges.ends[chosen].tolist(), strict=True):
        asked = [(v, w) for v, w in (ends, ends[::-1]) if v in rings and w in rings[v]]
        asked = [pair for pair in asked if not regular[pair[0]]] or asked
        if not asked:
            rows += [row, row]
            columns += ends
            weights += [0.5, 0.5]
        for vertex, towards in asked:
            ring = rings[vertex]
            start = ring.index(towards)
            rows += [row] * (len(ring) + 1)
            columns += [vertex, *ring[start:], *ring[:start]]
            weights += (np.array([0.75, *_weights_around(len(ring))]) / len(asked)).tolist()
    return np.array(rows, np.int64), np.array(columns, np.int64), np.array(weights, np.float64)


def _finer(mesh: Mesh, edges: Edges, base: BoolArray) -> Mesh:
    a, b, c = mesh.faces.T
    ab, bc, ca = (mesh.count + edges.of_faces).T
    faces = np.concatenate([np.stack(t, axis=1) for t in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))])
    halves = [
        (end, mesh.count + edge)
        for edge in np.flatnonzero(base).tolist()
        for end in edges.ends[edge].tolist()
    ]  # fmt: skip
    return Mesh(faces, mesh.count + len(edges.ends), frozenset(halves), mesh.corners)
