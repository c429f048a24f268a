"""Rotations on the host: matrices, quaternions (x, y, z, w) and 2D angles. NumPy, double precision."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["angle_of", "matrices_of", "quaternion_of", "swing"]

FloatArray = npt.NDArray[np.float64]


def angle_of(matrix: FloatArray) -> float:
    """rad, from a (2, 2) rotation matrix."""
    return math.atan2(matrix[1, 0], matrix[0, 0])


def quaternion_of(matrix: FloatArray) -> FloatArray:
    """(4,) unit quaternion (x, y, z, w >= 0) of a (3, 3) rotation matrix.

    The four squares 4x², 4y², 4z², 4w² follow from the diagonal; the largest is the safe divisor (Shepperd 1978).
    """
    (a, b, c), (d, e, f), (g, h, i) = matrix
    squares = np.array([1.0 + a - e - i, 1.0 - a + e - i, 1.0 - a - e + i, 1.0 + a + e + i])
    rows = np.array(
        [
            [squares[0], b + d, c + g, h - f],
            [b + d, squares[1], f + h, c - g],
            [c + g, f + h, squares[2], d - b],
            [h - f, c - g, d - b, squares[3]],
        ]
    )
    q = rows[int(squares.argmax())]
    q = q / np.linalg.norm(q)
    return np.asarray(q if q[3] >= 0.0 else -q)


def matrices_of(poses: FloatArray) -> FloatArray:
    """(n, dim, dim) rotation matrices of quaternions (n, 4), or of angles (n,) in 2D."""
    poses = np.asarray(poses, np.float64)
    if poses.ndim == 1:
        cos, sin = np.cos(poses), np.sin(poses)
        return np.moveaxis(np.array([[cos, -sin], [sin, cos]]), -1, 0)
    x, y, z, w = (poses / np.linalg.norm(poses, axis=1, keepdims=True)).T
    rows = [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)],
        [2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)],
        [2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), -1, 0)


def swing(spin: Any, arms: FloatArray) -> FloatArray:
    """(n, dim) m/s: velocities of points at `arms` that turn with `spin`."""
    if arms.shape[1] == 3:
        return np.asarray(np.cross(np.asarray(spin, np.float64), arms))
    return float(np.asarray(spin)) * np.stack([-arms[:, 1], arms[:, 0]], axis=1)
