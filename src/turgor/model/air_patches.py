"""The collision surface of a rigid body as the air meets it: points with normals and areas, a quadrature.

Faces have the quadrature that is exact for polynomials of degree 2 (the force of the air is linear in the velocity of a
point, times its speed, and a moment has another arm): the midpoints of a triangle's edges, Gauss's two points of a
segment. A ball has the corners of an icosahedron, exact to degree 5 (a spherical 5-design), a disc those of an octagon.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Patches", "ball_patches", "face_patches"]

FloatArray = npt.NDArray[np.float64]

GAUSS = 0.5 / math.sqrt(3.0)  # of a segment's length, from its middle
GOLDEN = 0.5 * (1.0 + math.sqrt(5.0))


@dataclass(frozen=True)
class Patches:
    """In the principal frame of a body."""

    points: FloatArray  # (n, dim) m
    normals: FloatArray  # (n, dim), of length 1; the law of the air does not care which way they point
    areas: FloatArray  # (n,) m² (m in 2D)


def face_patches(points: FloatArray, faces: npt.NDArray[np.int32], total: float | None = None) -> Patches:
    """Of triangles or segments; `total`: area of the round surface that they stand for."""
    corners = points[faces]
    if points.shape[1] == 2:
        along = corners[:, 1] - corners[:, 0]
        middle = corners.mean(axis=1)
        vectors = np.stack([along[:, 1], -along[:, 0]], axis=1)
        places = np.stack([middle - GAUSS * along, middle + GAUSS * along], axis=1)
    else:
        vectors = 0.5 * np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        places = 0.5 * (corners + np.roll(corners, -1, axis=1))
    sizes = np.linalg.norm(vectors, axis=1)
    whole = sizes > 0.0
    vectors, places, sizes = vectors[whole], places[whole], sizes[whole]
    count = places.shape[1]
    areas = np.repeat(sizes / count, count)
    if total is not None:
        areas *= total / areas.sum()
    return Patches(places.reshape(-1, points.shape[1]), np.repeat(vectors / sizes[:, None], count, axis=0), areas)


def ball_patches(centre: FloatArray, radius: float) -> Patches:
    """Of a ball (3D) or a disc (2D)."""
    if len(centre) == 2:
        angles = np.arange(8) * (math.pi / 4.0)
        normals = np.stack([np.cos(angles), np.sin(angles)], axis=1)
        area = 2.0 * math.pi * radius
    else:
        rectangle = np.array([(0.0, i, j * GOLDEN) for i in (-1.0, 1.0) for j in (-1.0, 1.0)])
        normals = np.concatenate([np.roll(rectangle, shift, axis=1) for shift in range(3)]) / math.hypot(1.0, GOLDEN)
        area = 4.0 * math.pi * radius**2
    return Patches(centre + radius * normals, normals, np.full(len(normals), area / len(normals)))
