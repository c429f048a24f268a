"""Closed outlines in 2D: vertices in order, counter-clockwise, one segment (i, i+1) each."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from turgor.errors import MeshError
from turgor.shapes.arguments import length, limit, whole
from turgor.shapes.shape import FloatArray, Shape

__all__ = ["circle", "outline", "polygon", "star"]

# Consecutive points closer than this part of the outline's diagonal are one point (float32 files carry 1e-7).
WELD = 1e-7
# An outline whose area is below this part of its squared diagonal is a line: it cannot hold gas.
FLAT = 1e-9


def circle(radius: float = 0.5, points: int = 32) -> Shape:
    """Circle of `points` vertices on the `radius` (m), the soft ball of Matyka 2004; the first vertex is at angle 0."""
    radius = length("circle", "radius", radius)
    points = whole("circle", "points", points, 3)
    limit("circle", points)
    return _loop(_ring(points, radius, 0.0), {"circle": {"radius": radius, "points": points}})


def polygon(sides: int = 6, radius: float = 0.5, points: int | None = None) -> Shape:
    """Regular polygon with its corners on the `radius` (m) and a corner on top.

    `points`, a multiple of `sides`, is the total number of vertices, shared out evenly along the sides (default: the
    corners alone).
    """
    sides = whole("polygon", "sides", sides, 3)
    limit("polygon", sides)
    radius = length("polygon", "radius", radius)
    recipe: dict[str, Any] = {"sides": sides, "radius": radius}
    corners = _ring(sides, radius, 0.5 * math.pi)
    return _loop(_share_out("polygon", corners, points, recipe), {"polygon": recipe})


def star(tips: int = 5, outer: float = 0.5, inner: float = 0.25, points: int | None = None) -> Shape:
    """Star with `tips` on the `outer` radius (m), one on top, and as many notches on the `inner` radius (m).

    `points`, a multiple of 2·tips, is the total number of vertices (default: tips and notches alone).
    """
    tips = whole("star", "tips", tips, 2)
    limit("star", 2 * tips)
    outer = length("star", "outer", outer)
    inner = length("star", "inner", inner)
    recipe: dict[str, Any] = {"tips": tips, "outer": outer, "inner": inner}
    corners = _ring(2 * tips, 1.0, 0.5 * math.pi)
    corners *= np.tile([outer, inner], tips)[:, None]
    return _loop(_share_out("star", corners, points, recipe), {"star": recipe})


def outline(points: npt.ArrayLike, spacing: float | None = None) -> Shape:
    """Any simple closed polyline: `points` (n, 2) in metres, in order, either winding, the end joined to the start.

    Repeated neighbours are welded (so the first point may be given again at the end). `spacing` (m) divides each side
    into equal parts of about that length; corners stay. Crossing outlines cannot hold gas: MeshError.
    """
    corners = _points(points)
    recipe: dict[str, Any] = {"points": corners.tolist()}
    diagonal = float(np.linalg.norm(np.ptp(corners, axis=0))) if len(corners) else 0.0
    away = np.linalg.norm(corners - np.roll(corners, 1, axis=0), axis=1) > WELD * diagonal
    corners = corners[away]
    if len(corners) < 3:
        raise MeshError(f"outline: {len(corners)} distinct points cannot enclose an area; give at least 3")
    area = _area(corners)
    _refuse_crossing(corners)
    if abs(area) <= FLAT * diagonal**2:
        raise MeshError(
            "outline: all points lie on a line, so the area is zero; move at least one of them off the line"
        )
    if area < 0.0:
        corners = corners[::-1]
    if spacing is not None:
        spacing = length("outline", "spacing", spacing)
        recipe["spacing"] = spacing
        sides = np.linalg.norm(np.roll(corners, -1, axis=0) - corners, axis=1)
        limit("outline", int(min(np.sum(sides / spacing), 1e18)))
        corners = _divide(corners, np.maximum(1, np.round(sides / spacing)).astype(int))
    return _loop(corners, {"outline": recipe})


def _points(points: npt.ArrayLike) -> FloatArray:
    try:
        corners = np.asarray(points, dtype=np.float64)
    except (TypeError, ValueError):
        raise MeshError("outline: points must be pairs of numbers, such as [[0, 0], [1, 0], [0, 1]]") from None
    if corners.ndim != 2 or corners.shape[1] != 2:
        raise MeshError(f"outline: points must have shape (n, 2), got {corners.shape}")
    if not np.isfinite(corners).all():
        bad = int(np.flatnonzero(~np.isfinite(corners).all(axis=1))[0])
        raise MeshError(f"outline: point {bad} is not finite ({corners[bad].tolist()}); remove or correct it")
    if len(corners) < 3:
        raise MeshError(f"outline: {len(corners)} points cannot enclose an area; give at least 3")
    limit("outline", len(corners))
    return corners


def _refuse_crossing(corners: FloatArray) -> None:
    """MeshError naming the place where the closed polyline touches or crosses itself."""
    from shapely.geometry import Polygon
    from shapely.validation import explain_validity

    # about the centroid and at unit size: the test is then as exact far from the origin and at any scale
    shift, scale = corners.mean(axis=0), np.ptp(corners, axis=0).max()
    polygon = Polygon((corners - shift) / scale)
    if polygon.is_valid:
        return
    reason = explain_validity(polygon)
    where = ""
    if "[" in reason:
        x, y = (float(part) for part in reason[reason.index("[") + 1 : reason.index("]")].split()[:2])
        where = f" at ({x * scale + shift[0]:g}, {y * scale + shift[1]:g})"
    if abs(_area(corners)) <= FLAT * scale**2 and np.linalg.matrix_rank(corners - shift, tol=1e-9 * scale) < 2:
        return  # on one line: the caller says so
    raise MeshError(f"outline: the line crosses or touches itself{where}; reorder or move the points there")


def _ring(count: int, radius: float, start: float) -> FloatArray:
    angle = start + 2.0 * math.pi * np.arange(count) / count
    return radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)


def _area(corners: FloatArray) -> float:
    """Signed area by Gauss' theorem, about the centroid (exact far from the origin)."""
    x, y = (corners - corners.mean(axis=0)).T
    return float(0.5 * np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y))


def _share_out(shape: str, corners: FloatArray, points: int | None, recipe: dict[str, Any]) -> FloatArray:
    """The corners with `points` vertices in all, evenly along the sides; notes `points` in the recipe."""
    limit(shape, len(corners))
    if points is None:
        return corners
    points = whole(shape, "points", points, len(corners))
    limit(shape, points)
    if points % len(corners):
        near = round(points / len(corners)) * len(corners)
        raise MeshError(f"{shape}: points must be a multiple of its {len(corners)} corners, got {points}; try {near}")
    recipe["points"] = points
    return _divide(corners, np.full(len(corners), points // len(corners)))


def _divide(corners: FloatArray, parts: npt.NDArray[np.int_]) -> FloatArray:
    """Side i of the closed polyline cut into parts[i] equal pieces."""
    side = np.repeat(np.arange(len(corners)), parts)
    along = np.arange(len(side)) - np.repeat(np.cumsum(parts) - parts, parts)
    step = (np.roll(corners, -1, axis=0) - corners) / parts[:, None]
    cut: FloatArray = corners[side] + along[:, None] * step[side]
    return cut


def _loop(vertices: FloatArray, recipe: dict[str, Any]) -> Shape:
    index = np.arange(len(vertices), dtype=np.int32)
    return Shape(vertices, np.stack([index, np.roll(index, -1)], axis=1), "outline", recipe)
