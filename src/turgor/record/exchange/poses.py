"""How a body moves as a whole: the rotation that fits its points best, as matrices and quaternions."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from turgor.model.rotations import quaternion_of

__all__ = ["fitted_rotation", "moved_between", "near_quaternion", "slerp", "turned_between"]

FloatArray = npt.NDArray[np.float64]
#: How much the last rotation counts beside the points. It decides only where they do not: a cloth that is crumpled to a
#: thread has no orientation of its own, and must not spin from frame to frame.
INERTIA = 1e-3


def fitted_rotation(rest: FloatArray, points: FloatArray, before: FloatArray | None = None) -> FloatArray:
    """(3, 3) the rotation that carries `rest` (n, 3) nearest to `points` (n, 3), both about their means (Kabsch 1976).

    before: the rotation of the last frame, which decides where the points do not; leave it out for rigid bodies.
    Points in a plane z = 0 turn about z: an outline that is turned inside out is no half turn in space.
    """
    sums = points.T @ rest
    if before is not None:
        sums = sums + INERTIA * np.linalg.norm(sums) * before
    if not rest[:, 2].any() and not points[:, 2].any():
        angle = np.arctan2(sums[1, 0] - sums[0, 1], sums[0, 0] + sums[1, 1])
        cos, sin = np.cos(angle), np.sin(angle)
        return np.array([[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]])
    left, _, right = np.linalg.svd(sums)
    left[:, 2] *= np.sign(np.linalg.det(left @ right))
    return np.asarray(left @ right)


def near_quaternion(rotation: FloatArray, before: FloatArray | None = None) -> FloatArray:
    """(4,) unit quaternion x, y, z, w; of its two signs the one nearer to `before`, so that the short way is taken."""
    q = quaternion_of(rotation)
    return -q if before is not None and q @ before < 0.0 else q


def slerp(first: FloatArray, last: FloatArray, parts: FloatArray) -> FloatArray:
    """(n, 4) quaternions at `parts` (n,) in 0..1 of the shortest way from one to another, at a steady rate."""
    cosine = float(first @ last)
    if cosine < 0.0:
        last, cosine = -last, -cosine
    angle = np.arccos(min(cosine, 1.0))
    if angle < 1e-6:
        mixed = first + parts[:, None] * (last - first)
    else:
        mixed = np.sin((1.0 - parts) * angle)[:, None] * first + np.sin(parts * angle)[:, None] * last
    return np.asarray(mixed / np.linalg.norm(mixed, axis=1, keepdims=True))


def turned_between(one: FloatArray, other: FloatArray) -> FloatArray:
    """(n,) rad: the angle between the rotations of two rows of quaternions."""
    # From the chord, as the arc cosine of numbers near 1 loses half of the digits.
    chord = np.minimum(np.linalg.norm(one - other, axis=1), np.linalg.norm(one + other, axis=1))
    return np.asarray(4.0 * np.arcsin(np.minimum(chord / 2.0, 1.0)))


def moved_between(one: FloatArray, other: FloatArray) -> FloatArray:
    """(n,) distances between two rows of vectors."""
    return np.asarray(np.linalg.norm(one - other, axis=1))
