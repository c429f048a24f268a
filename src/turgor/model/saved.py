"""What is saved, hashed and rolled back: arrays that their owner lists by name.

An owner (state, model, contact method) names in `SAVED` all that a continuation needs, and in `CHANGED` the part of it
that a frame changes on the device. Saving, hashing and the rollback of a failed frame follow from these names. An
owner made of parts names theirs with a dot: `pairs.margin`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import warp as wp

from turgor.kernel.copies import Copies

__all__ = ["Changed", "Rollback", "Saved", "restore", "saved"]


class Saved(Protocol):
    """An owner of arrays that are saved."""

    SAVED: tuple[str, ...]


class Changed(Protocol):
    """An owner of device arrays that a frame changes."""

    CHANGED: tuple[str, ...]


def saved(owner: Saved, prefix: str = "") -> dict[str, npt.NDArray[Any]]:
    """The saved arrays of an owner, by name, on the host."""
    values = {name: attrgetter(name)(owner) for name in owner.SAVED}
    return {prefix + name: value if isinstance(value, np.ndarray) else value.numpy() for name, value in values.items()}


def restore(owner: Saved, arrays: Mapping[str, npt.NDArray[Any]], prefix: str = "") -> None:
    """Put back what `saved` gave."""
    for name, now in saved(owner).items():
        before, value = arrays[prefix + name], attrgetter(name)(owner)
        if before.shape != now.shape or before.dtype.kind != now.dtype.kind:  # precisions may differ
            raise ValueError(
                f"{prefix}{name} is {before.dtype} of shape {before.shape}, not {now.dtype} of shape {now.shape}"
            )
        if isinstance(value, np.ndarray):
            value[...] = before
        else:
            value.assign(before)


class Rollback:
    """Copies of what a frame changes, to go back to if it fails. Both calls are recorded in the frame's graph."""

    def __init__(self, owners: Sequence[Changed]) -> None:
        arrays = [attrgetter(name)(owner) for owner in owners for name in owner.CHANGED]
        self._arrays = [(array, wp.clone(array)) for array in arrays]
        together = [pair for pair in self._arrays if pair[0].device.is_cuda and pair[0].is_contiguous and pair[0].size]
        self._keeping = Copies(*zip(*together, strict=True)) if together else None
        self._returning = Copies(*zip(*((copy, array) for array, copy in together), strict=True)) if together else None

    def keep(self) -> None:
        """Copy the arrays."""
        if self._keeping is not None:
            self._keeping.run()
        for array, copy in self._apart():
            wp.copy(copy, array)

    def go_back(self) -> None:
        """Put the copies back."""
        if self._returning is not None:
            self._returning.run()
        for array, copy in self._apart():
            wp.copy(array, copy)

    def _apart(self) -> list[tuple[Any, Any]]:
        """What is copied one by one."""
        return [pair for pair in self._arrays if not (pair[0].device.is_cuda and pair[0].is_contiguous)]
