"""Fewer vertices: edges are collapsed by quadric errors (Garland & Heckbert 1997), with fast-simplification.

The library may pinch thin parts. Then its collapses are replayed without those that do: an edge of a closed surface may
be collapsed when its ends have exactly two neighbours in common (link condition; Dey, Edelsbrunner, Guha & Nekhayev
1999). So the surface stays closed, in one piece, of the same genus, with one fan at each vertex.
"""

from __future__ import annotations

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
    return _placed(vertices, faces, into)[kept], name.reshape(-1, 3).astype(np.int64)


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


def _placed(vertices: FloatArray, faces: Integers, into: Integers) -> FloatArray:
    """(n, 3) where the vertices that stand for others are nearest to the planes of the faces at those.

    The least squares Σ A (n·x − n·p)² over faces of area A with normal n and point p, and CENTRED Σ A (x − m)², m the
    middle of the vertices that x stands for.
    """
    p = vertices[faces]
    doubled = np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])
    area = np.linalg.norm(doubled, axis=1)
    normal = np.divide(doubled, area[:, None], out=np.zeros_like(doubled), where=area[:, None] > 0.0)
    members = np.bincount(into, minlength=len(vertices))
    sums = np.stack([np.bincount(into, axis, len(vertices)) for axis in vertices.T], axis=1)
    middle = sums / np.maximum(members, 1)[:, None]
    matrix, right = np.zeros((len(vertices), 3, 3)), np.zeros((len(vertices), 3))
    weight = np.zeros(len(vertices))
    for corner in range(3):
        at = into[faces[:, corner]]
        offset = np.einsum("ij,ij->i", normal, p[:, 0] - middle[at])
        np.add.at(matrix, at, area[:, None, None] * normal[:, :, None] * normal[:, None, :])
        np.add.at(right, at, (area * offset)[:, None] * normal)
        np.add.at(weight, at, area)
    matrix += np.maximum(CENTRED * weight, np.finfo(float).tiny)[:, None, None] * np.eye(3)
    moved = np.where(members > 1, 1.0, 0.0)[:, None] * np.linalg.solve(matrix, right[..., None])[..., 0]
    return np.asarray(middle + moved)
