"""Which points touch a wall, and how deep (NumPy, on the host)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Contacts", "wall_contacts"]

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Contacts:
    """What touches what at one time."""

    count: int  # points on or behind a wall, in all worlds
    max_penetration: float  # m, 0 if nothing is behind a wall


def wall_contacts(x: FloatArray, normal: FloatArray, point: FloatArray, resolution: float) -> Contacts:
    """x: (points, dim), normal and point: (walls, dim); all m. Closer than `resolution` counts as touching."""
    if not len(normal) or not len(x):
        return Contacts(0, 0.0)
    distance = (x @ normal.T - np.einsum("ij,ij->i", point, normal)).min(axis=1)
    return Contacts(int(np.count_nonzero(distance <= resolution)), max(0.0, -float(distance.min())))
