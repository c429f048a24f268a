"""Coordinates of the scene and of the 3D view: a 2D scene stands in the plane y = 0 of the view, as z is up."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["from_view", "in_front", "upright"]

FloatArray = npt.NDArray[np.float64]


def upright(points: npt.ArrayLike) -> FloatArray:
    """(..., dim) of the scene -> (..., 3) of the view."""
    points = np.asarray(points, np.float64)
    if points.shape[-1] == 3:
        return points
    result = np.zeros((*points.shape[:-1], 3))
    result[..., 0], result[..., 2] = points[..., 0], points[..., 1]
    return result


def in_front(points: npt.ArrayLike, dim: int, distance: float) -> FloatArray:
    """(..., dim) of the scene -> (..., 3) of the view; in 2D moved towards the camera (-y) by a distance (m)."""
    result = upright(points)
    if dim == 2:
        result[..., 1] -= distance
    return result


def from_view(point: npt.ArrayLike, dim: int) -> FloatArray:
    """(3,) of the view -> (dim,) of the scene."""
    place = np.asarray(point, np.float64)
    return place[[0, 2]] if dim == 2 else place
