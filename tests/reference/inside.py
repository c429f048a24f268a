"""Inside or outside, how deep, and what crosses what: plain geometry of triangles and outlines, for whole arrays.

Points are (n, dim), triangles (m, 3, 3), segments (m, 2, dim). Nothing here comes from the engine.
"""

from __future__ import annotations

import numpy as np

CHUNK = 2_000_000  # rows of point times face at once


def cross(a, b):
    """Cross product along the last axis; several times faster than np.cross on many short vectors."""
    x = a[..., 1] * b[..., 2] - a[..., 2] * b[..., 1]
    y = a[..., 2] * b[..., 0] - a[..., 0] * b[..., 2]
    z = a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    return np.stack([x, y, z], axis=-1)


def dot(a, b):
    return np.einsum("...i,...i->...", a, b)


def chunks(points, faces):
    step = max(1, CHUNK // max(len(faces), 1))
    return (slice(first, first + step) for first in range(0, len(points), step))


def winding(points, faces):
    """How often the surface winds around each point: 1 inside a closed one (counter-clockwise from outside), else 0.

    Triangles: the sum of their signed solid angles over 4 pi (van Oosterom and Strackee 1983,
    tan(angle / 2) = a . b x c / (abc + (a . b)c + ...)); segments: of their signed angles over 2 pi.
    """
    out = np.zeros(len(points))
    for rows in chunks(points, faces):
        arms = faces[None] - points[rows, None, None]
        if faces.shape[1] == 2:
            a, b = arms[:, :, 0], arms[:, :, 1]
            angle = np.arctan2(a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0], dot(a, b))
            out[rows] = angle.sum(axis=1) / (2.0 * np.pi)
        else:
            a, b, c = arms[:, :, 0], arms[:, :, 1], arms[:, :, 2]
            la, lb, lc = (np.sqrt(dot(v, v)) for v in (a, b, c))
            below = la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb
            out[rows] = np.arctan2(dot(a, cross(b, c)), below).sum(axis=1) / (2.0 * np.pi)
    return out


def to_segments(points, ends):
    """(n, m) m: distances between points and segments (m, 2, dim)."""
    a, e = ends[None, :, 0], (ends[:, 1] - ends[:, 0])[None]
    r = points[:, None] - a
    t = np.clip(dot(r, e) / np.maximum(dot(e, e), 1e-300), 0.0, 1.0)
    gap = r - t[..., None] * e
    return np.sqrt(dot(gap, gap))


def to_triangles(points, corners):
    """(n, m) m: distances between points and triangles: to the plane if the foot is inside, else the nearest edge."""
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    normal = cross(b - a, c - a)
    size = np.sqrt(dot(normal, normal))
    flat = size <= 1e-14 * np.maximum(dot(b - a, b - a), dot(c - a, c - a))
    normal = normal / np.where(flat, 1.0, size)[:, None]
    edges = [to_segments(points, np.stack(pair, axis=1)) for pair in ((a, b), (b, c), (c, a))]
    best = np.minimum(np.minimum(edges[0], edges[1]), edges[2])
    inside = ~np.broadcast_to(flat, best.shape)
    for start, end in ((a, b), (b, c), (c, a)):
        outwards = cross(end - start, normal)
        inside = inside & (points @ outwards.T <= dot(start, outwards))
    height = np.abs(points @ normal.T - dot(a, normal))
    return np.where(inside, height, best)


def distance(points, faces):
    """(n,) m: from points to the nearest of triangles or segments."""
    out = np.full(len(points), np.inf)
    if len(faces):
        for rows in chunks(points, faces):
            table = to_segments if faces.shape[1] == 2 else to_triangles
            out[rows] = table(points[rows], faces).min(axis=1)
    return out


def orientation(a, b, c, d):
    """Six times the signed volume of tetrahedra."""
    return dot(a - d, cross(b - d, c - d))


def pierced(ends, corners):
    """(k,) bool, for rows: whether a segment (k, 2, 3) passes through the inside of a triangle (k, 3, 3)."""
    p, q = ends[:, 0], ends[:, 1]
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    before, after = orientation(a, b, c, p), orientation(a, b, c, q)
    u, v, w = orientation(p, q, a, b), orientation(p, q, b, c), orientation(p, q, c, a)
    same = ((u > 0) & (v > 0) & (w > 0)) | ((u < 0) & (v < 0) & (w < 0))
    return (before * after < 0.0) & same


def crossed(ends, others):
    """(k,) bool, for rows: whether segments of the plane, (k, 2, 2) each, cross."""

    def side(a, b, p):
        return (b[:, 0] - a[:, 0]) * (p[:, 1] - a[:, 1]) - (b[:, 1] - a[:, 1]) * (p[:, 0] - a[:, 0])

    a, b, c, d = ends[:, 0], ends[:, 1], others[:, 0], others[:, 1]
    return (side(a, b, c) * side(a, b, d) < 0.0) & (side(c, d, a) * side(c, d, b) < 0.0)


def meeting(first, second):
    """(k,), (k,): which boxes of the first (n, corners, dim) meet which of the second (m, corners, dim)."""
    low_a, high_a = first.min(axis=1), first.max(axis=1)
    low_b, high_b = second.min(axis=1), second.max(axis=1)
    found = [(np.zeros(0, int), np.zeros(0, int))]
    for rows in chunks(first, second):
        meets = np.ones((len(low_a[rows]), len(low_b)), bool)
        for axis in range(first.shape[2]):
            meets &= low_a[rows, None, axis] <= high_b[None, :, axis]
            meets &= high_a[rows, None, axis] >= low_b[None, :, axis]
        i, j = np.nonzero(meets)
        found.append((i + rows.start, j))
    return np.concatenate([i for i, _ in found]), np.concatenate([j for _, j in found])
