"""How triangles hang together, in plain numpy: components, welding, edges, orientation. No floats but in `weld`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from turgor.shapes.shape import FloatArray

__all__ = ["Edges", "components", "orientation", "weld"]

Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


def components(count: int, a: npt.NDArray[np.integer[Any]], b: npt.NDArray[np.integer[Any]]) -> Integers:
    """(count,) label of each node of the graph with links a[i]–b[i]: the smallest index in its component.

    Roots hook onto the smallest neighbouring root, then paths are compressed: about log n rounds of array work.
    """
    label = np.arange(count, dtype=np.int64)
    a, b = np.asarray(a, np.int64), np.asarray(b, np.int64)
    while len(a):
        low, high = np.minimum(a, b), np.maximum(a, b)
        np.minimum.at(label, high, low)
        while True:
            shorter = label[label]
            if np.array_equal(shorter, label):
                break
            label = shorter
        a, b = label[low], label[high]
        apart = a != b
        a, b = a[apart], b[apart]
    return label


def weld(vertices: FloatArray, tolerance: float) -> Integers:
    """(n,) index of the vertex that stands for each one: the first of those within `tolerance` (m) of each other.

    Two points closer than h along each axis share a cell of size 2h in at least one of the 8 grids that are shifted by
    half a cell along each axis; so eight sorts find all close pairs.
    """
    low = vertices.min(axis=0)
    extent = float(np.ptp(vertices, axis=0).max())
    if tolerance <= 0.0 or extent == 0.0:
        tolerance = max(extent, 1.0) * 2.0**-20
    cell = max(2.0 * tolerance, extent * 2.0**-19)  # three cell numbers of 20 bits make one 64-bit key
    label = np.arange(len(vertices), dtype=np.int64)
    links_a, links_b = [], []
    for shift in range(8):
        offset = 0.5 * np.array([shift & 1, shift >> 1 & 1, shift >> 2 & 1])
        index = np.floor((vertices - low) / cell + offset).astype(np.int64)
        key = index[:, 0] << 42 | index[:, 1] << 21 | index[:, 2]
        order = np.argsort(key, kind="stable")
        same = key[order[1:]] == key[order[:-1]]
        links_a.append(order[:-1][same])
        links_b.append(order[1:][same])
    if not any(len(links) for links in links_a):
        return label
    return components(len(vertices), np.concatenate(links_a), np.concatenate(links_b))


@dataclass(frozen=True)
class Edges:
    """The undirected edges of triangles, and the sides (face, corner → next corner) that lie on each."""

    sides: Integers  # (3m, 2) directed vertex pairs; side s belongs to face s // 3
    ends: Integers  # (e, 2) unique edges, smaller index first
    edge_of_side: Integers  # (3m,)
    count: Integers  # (e,) sides on each edge: 1 open, 2 regular, more: not manifold

    @classmethod
    def of(cls, faces: npt.NDArray[np.integer[Any]]) -> Edges:
        """The edges of (m, 3) faces."""
        sides = np.asarray(faces, np.int64)[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
        n = int(sides.max(initial=0)) + 1
        keys, inverse, count = np.unique(
            sides.min(axis=1) * n + sides.max(axis=1), return_inverse=True, return_counts=True
        )
        return cls(sides, np.stack([keys // n, keys % n], axis=1), inverse.reshape(-1), count.astype(np.int64))

    @property
    def open(self) -> Integers:
        """(k,) sides with no face on the other side."""
        return np.flatnonzero(self.count[self.edge_of_side] == 1)

    def pairs(self) -> tuple[Integers, Integers]:
        """The two sides on each regular edge: (p,), (p,)."""
        regular = np.flatnonzero(self.count[self.edge_of_side] == 2)
        order = regular[np.argsort(self.edge_of_side[regular], kind="stable")]
        return order[0::2], order[1::2]


def orientation(face_count: int, edges: Edges) -> tuple[Integers, Flags, Flags]:
    """Shell label of each face (m,), faces to flip for one winding per shell (m,), shells without two sides (m,).

    Nodes of the double cover are (face, as given) and (face, flipped); a regular edge links the two ways in which its
    faces agree. A shell is orientable when the cover falls into two sheets (a Möbius strip's does not).
    """
    one, two = edges.pairs()
    f, g = one // 3, two // 3
    clash = edges.sides[one, 0] == edges.sides[two, 0]  # both faces run the same way along the edge: windings differ
    a = np.concatenate([f, f + face_count])
    b = np.concatenate([np.where(clash, g + face_count, g), np.where(clash, g, g + face_count)])
    cover = components(2 * face_count, a, b)
    plain, flipped = cover[:face_count], cover[face_count:]
    shell = np.minimum(plain, flipped)
    shell = np.where(shell >= face_count, shell - face_count, shell)
    return shell, plain != cover[shell], plain == flipped
