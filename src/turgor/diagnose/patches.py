"""The patch in which two things touch: points, forces and areas as arrays, and the mean pressure."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
import numpy.typing as npt

from turgor.diagnose.contact_forces import ContactForces
from turgor.scene.described import described

__all__ = ["ContactPatch", "with_frame_means"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


@described
@dataclass(frozen=True)
class ContactPatch:
    """Where two bodies, or a body and a wall, touch; forces are on the first, normals point to it."""

    first: Annotated[str, "", "a body"]
    second: Annotated[str, "", "another body, or a wall"]
    world: Annotated[int, "", "which world"]
    points: Annotated[FloatArray, "m", "(n, dim)"] = field(repr=False)
    normals: Annotated[FloatArray, "", "(n, dim), of length 1"] = field(repr=False)
    forces: Annotated[FloatArray, "N", "(n, dim) on the first, normal and friction"] = field(repr=False)
    areas: Annotated[FloatArray, "m²", "(n,) part of the patch (2D: m); nan: not known"] = field(repr=False)
    force: Annotated[FloatArray, "N", "(dim,) on the first, of the whole patch"]

    @property
    def area(self) -> float:
        """m² (2D: m), the sum of the parts; 0 if nothing touches."""
        return float(self.areas.sum())

    @property
    def normal(self) -> FloatArray:
        """(dim,) of length 1: the mean of the normals by area; nan if nothing touches."""
        weights = self.areas if np.isfinite(self.areas).all() and self.area > 0.0 else np.ones(len(self.areas))
        total = weights @ self.normals
        length = float(np.linalg.norm(total))
        return np.asarray(total / length if length > 0.0 else np.full(len(total), math.nan))

    @property
    def pressure(self) -> float:
        """Pa (2D: N/m): force along the normal over area; nan if nothing touches or the area is not known.

        A skin without bending leaves a flat patch along it, so that it is the gauge pressure inside, as exactly as the
        area is known: to about half an edge along its rim.
        """
        return float(self.force @ self.normal) / self.area if self.area > 0.0 else math.nan


def with_frame_means(
    forces: FloatArray, pairs: list[tuple[str, str]], worlds: IntArray, known: ContactForces
) -> FloatArray:
    """(n, dim) N on the first of each pair: the mean force of a pair over the last frame, shared out among its points.

    forces: what is known of each point. What the points of a pair lack of its mean (they come and go within a frame) is
    shared in proportion to their sizes. What a body does to itself stays as it is.
    """
    means: dict[tuple[int, str, str], FloatArray] = {}
    for (a, b), world, vector in zip(known.pairs, known.worlds.tolist(), known.vectors, strict=True):
        for key, sign in (((world, a, b), 1.0), ((world, b, a), -1.0)):
            means[key] = means.get(key, 0.0) + sign * vector
    rows: dict[tuple[int, str, str], list[int]] = {}
    for row, ((a, b), world) in enumerate(zip(pairs, worlds.tolist(), strict=True)):
        rows.setdefault((world, *sorted((a, b))), []).append(row)
    result, nothing = forces.copy(), np.zeros(forces.shape[1])
    for (world, a, b), mine in rows.items():
        if a == b:
            continue
        signs = np.array([1.0 if pairs[row] == (a, b) else -1.0 for row in mine])
        own = forces[mine] * signs[:, None]
        sizes = np.linalg.norm(own, axis=1)
        shares = sizes / sizes.sum() if sizes.sum() > 0.0 else np.full(len(mine), 1.0 / len(mine))
        own += shares[:, None] * (means.get((world, a, b), nothing) - own.sum(axis=0))
        result[mine] = own * signs[:, None]
    return result
