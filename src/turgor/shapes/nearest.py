"""Closest points on triangles, in plain numpy: of given pairs, and among all triangles of a mesh."""

from __future__ import annotations

import numpy as np

from turgor.shapes.shape import FloatArray
from turgor.shapes.topology import Integers

__all__ = ["balls", "closest_weights", "nearest_faces"]

PAIRS = 1 << 20  # pairs of points and triangles that are looked at at once: about 300 MB


def closest_weights(points: FloatArray, corners: FloatArray) -> FloatArray:
    """(n, 3) weights of the corners (n, 3, 3) in the point of each triangle that is closest to `points` (n, 3).

    Ericson, Real-Time Collision Detection (2005), section 5.1.5: which of the corners, sides or the inside is closest
    follows from the six products of the sides at corner a with the ways to the point.
    """
    a, b, c = corners.transpose(1, 0, 2)
    ab, ac = b - a, c - a
    d1, d2 = _dot(ab, points - a), _dot(ac, points - a)
    d3, d4 = _dot(ab, points - b), _dot(ac, points - b)
    d5, d6 = _dot(ab, points - c), _dot(ac, points - c)
    va, vb, vc = d3 * d6 - d5 * d4, d5 * d2 - d1 * d6, d1 * d4 - d3 * d2
    zero, one = np.zeros_like(d1), np.ones_like(d1)
    along_ab, along_ac = _share(d1, d1 - d3), _share(d2, d2 - d6)
    along_bc = _share(d4 - d3, (d4 - d3) + (d5 - d6))
    total = va + vb + vc
    cases = [
        ((d1 <= 0) & (d2 <= 0), (one, zero, zero)),
        ((d3 >= 0) & (d4 <= d3), (zero, one, zero)),
        ((d6 >= 0) & (d5 <= d6), (zero, zero, one)),
        ((vc <= 0) & (d1 >= 0) & (d3 <= 0), (1 - along_ab, along_ab, zero)),
        ((vb <= 0) & (d2 >= 0) & (d6 <= 0), (1 - along_ac, zero, along_ac)),
        ((va <= 0) & (d4 >= d3) & (d5 >= d6), (zero, 1 - along_bc, along_bc)),
    ]
    inside = (_share(va, total), _share(vb, total), _share(vc, total))
    chosen = [flag for flag, _ in cases]
    return np.stack([np.select(chosen, [w[k] for _, w in cases], inside[k]) for k in range(3)], axis=1)


def balls(corners: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Centres (m, 3) and radii (m,) of balls around sets of points (m, k, 3)."""
    centre = corners.mean(axis=1)
    return centre, np.linalg.norm(corners - centre[:, None], axis=2).max(axis=1)


def nearest_faces(points: FloatArray, normals: FloatArray, corners: FloatArray) -> Integers:
    """(n,) the triangle of `corners` (m, 3, 3) that is closest to each point and looks to the same side as its normal.

    So the other side of a thin part is not taken. Balls around the triangles, and around blocks of them that lie close
    together, rule out all but a few: what begins behind where another one ends.
    """
    centre, radius = balls(corners)
    order = np.argsort(_morton(centre), kind="stable")
    size = int(np.clip(np.sqrt(len(order)) / 4.0, 4, 256))  # of a block: about as many blocks as triangles in a few
    count = -(-len(order) // size)
    padded = np.concatenate([order, np.full(count * size - len(order), order[-1])]).reshape(count, size)
    block_centre = centre[padded].mean(axis=1)
    block_radius = (np.linalg.norm(centre[padded] - block_centre[:, None], axis=2) + radius[padded]).max(axis=1)
    facing = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    nearest = np.empty(len(points), np.int64)
    step = max(1, PAIRS // max(count, 16 * size))
    for start in range(0, len(points), step):
        part = slice(start, min(start + step, len(points)))
        away = np.linalg.norm(points[part, None] - block_centre[None], axis=2)
        point, block = np.nonzero(away - block_radius <= (away + block_radius).min(axis=1, keepdims=True))
        face, point = padded[block].ravel(), np.repeat(point, size) + start
        away = np.linalg.norm(points[point] - centre[face], axis=1)
        limit = np.full(len(points), np.inf)
        np.minimum.at(limit, point, away + radius[face])
        kept = away - radius[face] <= limit[point]
        face, point = face[kept], point[kept]
        weights = closest_weights(points[point], corners[face])
        gap = np.linalg.norm(points[point] - np.einsum("nk,nkd->nd", weights, corners[face]), axis=1)
        behind = _dot(facing[face], normals[point]) <= 0.0
        best = np.lexsort((gap, behind, point))
        first = np.flatnonzero(np.diff(point[best], prepend=-1))
        nearest[point[best[first]]] = face[best[first]]
    return nearest


def _dot(a: FloatArray, b: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("ij,ij->i", a, b))


def _share(part: FloatArray, whole: FloatArray) -> FloatArray:
    return np.divide(part, whole, out=np.zeros_like(part), where=whole != 0.0)


def _morton(points: FloatArray) -> Integers:
    """(n,) numbers that are close for points that are close: the bits of 1024 cells along each axis, in turn."""
    low, extent = points.min(axis=0), float(np.ptp(points, axis=0).max()) or 1.0
    cell = ((points - low) / extent * 1023.0).astype(np.int64)
    code = np.zeros(len(points), np.int64)
    for bit in range(10):
        for axis in range(3):
            code |= (cell[:, axis] >> bit & 1) << (3 * bit + axis)
    return code
