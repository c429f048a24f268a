"""How deep closed surfaces penetrate each other, by plain geometry (NumPy): a measurement without contact code.

Inside is what the surface winds around: the sum of the signed solid angles of its triangles is 4 pi there, 0 outside.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from turgor.output.frame import Frame, Layout

__all__ = ["Overlap", "Surface", "distances", "overlap", "surfaces", "touching_boxes", "winding"]

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
CHUNK = 400_000  # pairs of point and triangle at once, to bound the memory


@dataclass(frozen=True)
class Surface:
    """A closed triangle mesh where it is now."""

    name: str
    points: FloatArray  # (n, 3) m
    faces: npt.NDArray[np.int64]  # (m, 3), counter-clockwise seen from outside

    @property
    def corners(self) -> FloatArray:
        """(m, 3, 3) m."""
        return np.asarray(self.points[self.faces])

    @property
    def edges(self) -> npt.NDArray[np.int64]:
        """(k, 2) vertices."""
        sides = np.concatenate([self.faces[:, [0, 1]], self.faces[:, [1, 2]], self.faces[:, [2, 0]]])
        return np.unique(np.sort(sides, axis=1), axis=0)


@dataclass(frozen=True)
class Overlap:
    """How two surfaces penetrate each other."""

    places: FloatArray  # (n, 3) m: vertices of one that are inside the other
    depth: float  # m: the deepest of them, below the other's surface
    pierced: int  # edges of one through triangles of the other

    def __bool__(self) -> bool:
        return bool(len(self.places)) or self.pierced > 0


def surfaces(layout: Layout, frame: Frame) -> list[Surface]:
    """The bodies of a frame (closed ones, 3D)."""
    return [
        Surface(body.name, frame.positions[body.start : body.start + body.count], np.asarray(body.faces, np.int64))
        for body in layout.bodies
    ]


def touching_boxes(bodies: list[Surface]) -> list[tuple[Surface, Surface]]:
    """Pairs whose bounding boxes meet: only these can penetrate each other."""
    boxes = {body.name: (body.points.min(axis=0), body.points.max(axis=0)) for body in bodies}
    return [
        (a, b)
        for a, b in combinations(bodies, 2)
        if np.all(boxes[a.name][0] <= boxes[b.name][1]) and np.all(boxes[b.name][0] <= boxes[a.name][1])
    ]


def overlap(a: Surface, b: Surface) -> Overlap:
    """Vertices inside, how deep, and edges through faces."""
    places, depth = [np.zeros((0, 3))], 0.0
    for first, second in ((a, b), (b, a)):
        points = _maybe_inside(first.points, second.points)
        points = points[winding(points, second.corners) > 0.5]
        if len(points):
            places.append(points)
            depth = max(depth, float(distances(points, second.corners).max()))
    return Overlap(np.concatenate(places), depth, _pierced(a, b) + _pierced(b, a))


def winding(points: FloatArray, corners: FloatArray) -> FloatArray:
    """(n,): how often the surface (m, 3, 3) winds around each point (van Oosterom and Strackee 1983)."""
    out = np.zeros(len(points))
    for rows in _rows(points, corners):
        a, b, c = np.moveaxis(corners[None] - points[rows, None, None], 2, 0)
        la, lb, lc = (np.sqrt(_dot(v, v)) for v in (a, b, c))
        below = la * lb * lc + _dot(a, b) * lc + _dot(b, c) * la + _dot(c, a) * lb
        out[rows] = np.arctan2(_dot(a, _cross(b, c)), below).sum(axis=1) / (2.0 * np.pi)
    return out


def distances(points: FloatArray, corners: FloatArray) -> FloatArray:
    """(n,) m: from each point to the nearest of the triangles (m, 3, 3)."""
    out = np.full(len(points), np.inf)
    sides = [(corners[:, i], corners[:, (i + 1) % 3]) for i in range(3)]
    normal = _cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normal /= np.maximum(np.sqrt(_dot(normal, normal)), 1e-300)[:, None]
    for rows in _rows(points, corners):
        p = points[rows, None]
        inside = np.ones((p.shape[0], len(corners)), bool)
        best = np.full(inside.shape, np.inf)
        for start, end in sides:
            arm, side = p - start, end - start
            inside &= _dot(arm, _cross(side, normal)) <= 0.0
            share = np.clip(_dot(arm, side) / np.maximum(_dot(side, side), 1e-300), 0.0, 1.0)
            gap = arm - share[..., None] * side
            best = np.minimum(best, np.sqrt(_dot(gap, gap)))
        height = np.abs(_dot(p - corners[:, 0], normal))
        out[rows] = np.where(inside, height, best).min(axis=1)
    return out


def _maybe_inside(points: FloatArray, other: FloatArray) -> FloatArray:
    """Without points outside the other's box, and those beyond all its points along the line from its centre."""
    low, high = other.min(axis=0), other.max(axis=0)
    points = points[np.all((points >= low) & (points <= high), axis=1)]
    arms = points - 0.5 * (low + high)
    return np.asarray(points[_dot(points, arms) <= (arms @ other.T).max(axis=1, initial=-np.inf)])


def _pierced(a: Surface, b: Surface) -> int:
    """Edges of a that pass through triangles of b."""
    ends, corners = a.points[a.edges], b.corners
    low, high = (
        np.maximum(a.points.min(axis=0), b.points.min(axis=0)),
        np.minimum(a.points.max(axis=0), b.points.max(axis=0)),
    )
    ends, corners = (
        part[np.all((part.min(axis=1) <= high) & (part.max(axis=1) >= low), axis=1)] for part in (ends, corners)
    )
    count = 0
    for rows in _rows(ends, corners):
        some = ends[rows]
        meets = np.all(
            (some.min(axis=1)[:, None] <= corners.max(axis=1)) & (some.max(axis=1)[:, None] >= corners.min(axis=1)),
            axis=2,
        )
        i, j = np.nonzero(meets)
        count += int(_through(some[i], corners[j]).sum())
    return count


def _through(ends: FloatArray, corners: FloatArray) -> BoolArray:
    """(k,): whether segments (k, 2, 3) pass through triangles (k, 3, 3), row by row."""
    p, q = ends[:, 0], ends[:, 1]
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]

    def side(a: FloatArray, b: FloatArray, c: FloatArray, d: FloatArray) -> FloatArray:
        return _dot(a - d, _cross(b - d, c - d))

    turns = np.stack([side(p, q, a, b), side(p, q, b, c), side(p, q, c, a)])
    same = np.all(turns > 0.0, axis=0) | np.all(turns < 0.0, axis=0)
    return np.asarray((side(a, b, c, p) * side(a, b, c, q) < 0.0) & same)


def _rows(points: FloatArray, faces: FloatArray) -> Iterator[slice]:
    step = max(1, CHUNK // max(len(faces), 1))
    return (slice(first, first + step) for first in range(0, len(points), step))


def _cross(a: FloatArray, b: FloatArray) -> FloatArray:
    """Along the last axis; several times faster than np.cross on many short vectors."""
    x = a[..., 1] * b[..., 2] - a[..., 2] * b[..., 1]
    y = a[..., 2] * b[..., 0] - a[..., 0] * b[..., 2]
    z = a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    return np.stack([x, y, z], axis=-1)


def _dot(a: FloatArray, b: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("...i,...i->...", a, b))
