"""Fewer vertices: edges are collapsed by quadric errors (Garland & Heckbert 1997), with fast-simplification.

The library may pinch thin parts. Then its collapses are replayed without those that do: an edge of a closed surface may
be collapsed when its ends have exactly two neighbours in common (link condition; Dey, Edelsbrunner, Guha & Nekhayev
1999). So the surface stays closed, in one piece, of the same genus, with one fan at each vertex.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from turgor.shapes.fans import broken_fans
from turgor.shapes.shape import FloatArray
from turgor.shapes.topology import Edges, Integers, components

__all__ = ["LEAST", "simplified"]

LEAST = 4  # vertices of a tetrahedron, the smallest closed surface
# For a replay the library is asked for this part of the target: later collapses stand in for those that are left out.
FURTHER = 0.5
# Pull of a vertex to the middle of those it stands for, against the planes of their faces: where these leave it free.
CENTRED = 1e-3
UNFOLD = 10  # rounds: most folds are gone after two


def simplified(vertices: FloatArray, faces: Integers, target: int) -> tuple[FloatArray, Integers]:
    """About the same surface with `target` vertices, or as few as its topology and the rims of cloth allow."""
    if len(vertices) <= target:
        return vertices, faces
    low, size = vertices.min(axis=0), float(np.ptp(vertices, axis=0).max())
    unit, euler = (vertices - low) / size, _euler(faces)  # errors are absolute in the library
    points, corners, _ = _library(unit, faces, 2 * (target - euler))
    if len(points) > target or not _sound(corners, euler):
        points, corners = unit, faces
        while len(points) > target:
            *_, collapses = _library(points, corners, int(2 * FURTHER * target))
            fewer = _replayed(points, corners, collapses.tolist(), target)
            if len(fewer[0]) == len(points):
                break
            points, corners = fewer
    return low + size * points, corners


def _library(points: FloatArray, faces: Integers, face_count: int) -> tuple[FloatArray, Integers, Any]:
    """Vertices, faces and collapses (k, 2): the second becomes part of the first."""
    import fast_simplification

    vertices, corners, collapses = fast_simplification.simplify(
        points, faces.astype(np.int32), target_count=max(4, face_count), return_collapses=True, preserve_border=True
    )
    return np.asarray(vertices, np.float64), np.asarray(corners, np.int64), collapses


def _euler(faces: Integers) -> int:
    return len(np.unique(faces)) - len(Edges.of(faces).ends) + len(faces)


def _sound(faces: Integers, euler: int) -> bool:
    """Whether it is one surface of this Euler number, with one or two faces on each edge and one fan at each vertex."""
    edges = Edges.of(faces)
    one, two = edges.pairs()
    pieces = components(len(faces), one // 3, two // 3)
    single = not (edges.count > 2).any() and not pieces.any() and not len(broken_fans(edges))
    return single and _euler(faces) == euler


def _replayed(
    vertices: FloatArray, faces: Integers, collapses: list[list[int]], target: int
) -> tuple[FloatArray, Integers]:
    """The surface after the collapses that keep the link condition, as far as `target` vertices."""
    count = len(vertices)
    safe = _safe(count, Edges.of(faces), collapses, count - target)
    into = np.arange(count)
    for a, b in reversed(safe):  # what a becomes later is known when b becomes a
        into[b] = into[a]
    corners = into[faces]
    a, b, c = corners.T
    kept, name = np.unique(corners[(a != b) & (b != c) & (c != a)], return_inverse=True)
    corners = name.reshape(-1, 3).astype(np.int64)
    return _placed(_Planes.of(vertices, faces, into, kept), corners), corners


def _safe(count: int, edges: Edges, collapses: list[list[int]], wanted: int) -> list[list[int]]:
    """The first `wanted` collapses (a, b), of b into a, that keep the link condition after those before them.

    Vertices on a rim have one more neighbour, a cone over all rims, which closes the surface.
    """
    neighbours: list[set[int]] = [set() for _ in range(count + 1)]
    rim = np.unique(edges.sides[edges.open])
    for a, b in [*edges.ends.tolist(), *((vertex, count) for vertex in rim.tolist())]:
        neighbours[a].add(b)
        neighbours[b].add(a)
    left = count
    safe: list[list[int]] = []
    for a, b in collapses:
        if len(safe) == wanted or left <= LEAST:
            break
        if b not in neighbours[a] or len(neighbours[a] & neighbours[b]) != 2:
            continue
        for other in neighbours[b]:
            neighbours[other].discard(b)
            if other != a:
                neighbours[other].add(a)
                neighbours[a].add(other)
        neighbours[b] = set()
        left -= 1
        safe.append([a, b])
    return safe


@dataclass(frozen=True)
class _Planes:
    """What vertices that stand for others keep near to: the planes of the faces at those, weighted by area A.

    With n the normals of the faces and p points of them: matrix Σ A n nᵀ (k, 3, 3), right Σ A n (n·p) (k, 3), weight
    Σ A (k,), normal Σ A n / |Σ A n| (k, 3), middle of the vertices that each stands for (k, 3).
    """

    matrix: FloatArray
    right: FloatArray
    weight: FloatArray
    normal: FloatArray
    middle: FloatArray

    @classmethod
    def of(cls, vertices: FloatArray, faces: Integers, into: Integers, kept: Integers) -> _Planes:
        """Of the vertices `kept`; vertex i becomes into[i]."""
        count = len(vertices)
        p = vertices[faces]
        doubled = np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])
        area = np.linalg.norm(doubled, axis=1)
        normal = _unit(doubled)
        matrix, right, outward = np.zeros((count, 3, 3)), np.zeros((count, 3)), np.zeros((count, 3))
        weight = np.zeros(count)
        for corner in range(3):
            at = into[faces[:, corner]]
            np.add.at(matrix, at, area[:, None, None] * normal[:, :, None] * normal[:, None, :])
            np.add.at(right, at, (area * np.einsum("ij,ij->i", normal, p[:, 0]))[:, None] * normal)
            np.add.at(outward, at, doubled)
            np.add.at(weight, at, area)
        sums = np.stack([np.bincount(into, axis, count) for axis in vertices.T], axis=1)
        middle = sums[kept] / np.bincount(into, minlength=count)[kept, None]
        return cls(matrix[kept], right[kept], weight[kept], _unit(outward[kept]), middle)

    def nearest(self, aim: FloatArray) -> FloatArray:
        """(k, 3) the least squares Σ A (n·x − n·p)² + CENTRED Σ A (x − aim)²: `aim` where the planes leave x free."""
        pull = np.maximum(CENTRED * self.weight, np.finfo(float).tiny)[:, None]
        left = self.matrix + pull[..., None] * np.eye(3)
        return np.asarray(np.linalg.solve(left, (self.right + pull * aim)[..., None])[..., 0])


def _placed(planes: _Planes, faces: Integers) -> FloatArray:
    """Places for the vertices near the middle of those they stand for, without faces that look inward.

    Vertices of faces that look against the normals of their corners aim at the middle of their neighbours instead.
    """
    a, b = Edges.of(faces).ends.T
    ends, others = np.concatenate([a, b]), np.concatenate([b, a])
    count = np.bincount(ends, minlength=len(planes.weight))[:, None]
    aim = planes.middle
    points = planes.nearest(aim)
    for _ in range(UNFOLD):
        p = points[faces]
        ahead = planes.normal[faces].sum(axis=1)
        folded = np.einsum("ij,ij->i", np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]), ahead) <= 0.0
        if not folded.any():
            break
        at = np.unique(faces[folded])
        mean = np.stack([np.bincount(ends, axis, len(points)) for axis in points[others].T], axis=1) / count
        aim = aim.copy()
        aim[at] = mean[at]
        points = planes.nearest(aim)
    return points


def _unit(vectors: FloatArray) -> FloatArray:
    size = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(np.divide(vectors, size, out=np.zeros_like(vectors), where=size > 0.0))
