"""Picking: the nearest triangle along a ray, as Möller & Trumbore 1997 ("... Ray/Triangle Intersection") find it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Hit", "first_hit"]

FloatArray = npt.NDArray[np.float64]
THIN = 1e-12  # of a triangle's size: it is seen from its edge


@dataclass(frozen=True)
class Hit:
    """Where a ray meets a mesh first."""

    distance: float  # of the direction's length from the ray's origin
    face: int
    weights: FloatArray  # (3,) of the corners of the face: their mean is the point


def first_hit(
    origin: npt.ArrayLike, direction: npt.ArrayLike, points: npt.ArrayLike, faces: npt.ArrayLike, double: bool = True
) -> Hit | None:
    """The nearest of the faces (m, 3) between the points (n, 3) that the ray meets; None where it meets none.

    double: also the faces that are seen from behind; a face is seen from the front where its corners turn to the left.
    """
    start, ray = np.asarray(origin, np.float64), np.asarray(direction, np.float64)
    corners = np.asarray(points, np.float64)[np.asarray(faces)]  # (m, 3, 3)
    if len(corners) == 0:
        return None
    # start + t ray = a + u (b - a) + v (c - a), by Cramer's rule
    a = corners[:, 0]
    along, aside, away = corners[:, 1] - a, corners[:, 2] - a, start - a
    across = np.cross(ray, aside)
    volume = np.einsum("ij,ij->i", along, across)
    size = np.einsum("ij,ij->i", along, along) + np.einsum("ij,ij->i", aside, aside)
    seen = (np.abs(volume) if double else volume) > THIN * size * float(np.linalg.norm(ray))
    per = 1.0 / np.where(seen, volume, 1.0)
    normal = np.cross(away, along)
    u = np.einsum("ij,ij->i", away, across) * per
    v = (normal @ ray) * per
    t = np.einsum("ij,ij->i", aside, normal) * per
    met = np.flatnonzero(seen & (u >= 0.0) & (v >= 0.0) & (u + v <= 1.0) & (t > 0.0))
    if len(met) == 0:
        return None
    face = int(met[t[met].argmin()])
    return Hit(float(t[face]), face, np.array([1.0 - u[face] - v[face], u[face], v[face]]))
