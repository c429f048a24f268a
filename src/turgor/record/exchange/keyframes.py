"""Keyframes: as few of the frames as give the others by interpolation, within an allowed error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Track", "linear", "reduced"]

FloatArray = npt.NDArray[np.float64]
Between = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]  # (first, last, parts) -> rows between them
Distance = Callable[[FloatArray, FloatArray], FloatArray]  # of two rows of values: (n,) metres

LONGEST = 240  # frames between two keyframes, at most: bounds the work of the search


@dataclass(frozen=True)
class Track:
    """A value over time, to be interpolated between its keyframes."""

    times: FloatArray  # (keys,) s
    values: FloatArray  # (keys, numbers)
    errors: FloatArray  # (frames,) m: by how much it misses each frame that it was made of

    @property
    def moves(self) -> bool:
        """Whether there is anything to animate; else the first value is all there is."""
        return len(self.times) > 1


def linear(first: FloatArray, last: FloatArray, parts: FloatArray) -> FloatArray:
    """(n, numbers) on the straight line between two values."""
    return np.asarray(first + parts[:, None] * (last - first))


def reduced(
    times: FloatArray, values: FloatArray, allowed: float, distance: Distance, between: Between = linear
) -> Track:
    """The track that is within `allowed` of `values` (frames, numbers) at all `times` (frames,), with few keys.

    Greedy: each stretch is as long as all frames in it are hit.
    """
    still = distance(values, np.broadcast_to(values[:1], values.shape))
    if still.max() <= allowed:
        return Track(times[:1], values[:1], still)
    errors = np.zeros(len(times))
    kept = [0]
    while kept[-1] < len(times) - 1:
        start = kept[-1]
        stop = start + 1
        while stop + 1 < len(times) and stop - start < LONGEST:
            inner = slice(start + 1, stop + 1)
            parts = (times[inner] - times[start]) / (times[stop + 1] - times[start])
            missed = distance(between(values[start], values[stop + 1], parts), values[inner])
            if missed.max() > allowed:
                break
            errors[inner] = missed
            stop += 1
        kept.append(stop)
    errors[kept] = 0.0
    return Track(times[kept], values[kept], errors)
