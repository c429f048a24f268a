"""Worlds are copies: rows of one world, repeated on the device for all of them, indices shifted from world to world."""

from __future__ import annotations

from typing import Any, no_type_check

import numpy as np
import numpy.typing as npt
import warp as wp

__all__ = ["tiled"]


@no_type_check
@wp.kernel(enable_backward=False, module="turgor.model.tiling")
def repeat_words(words: wp.array(dtype=int), shift: wp.array(dtype=int), out: wp.array(dtype=int)):
    """Word i of world w; an index of -1 stays."""
    w, i = wp.tid()
    word = words[i]
    if word >= 0:
        word += w * shift[i % shift.shape[0]]
    out[w * words.shape[0] + i] = word


def tiled(rows: npt.NDArray[Any], worlds: int, dtype: Any, device: Any, shift: Any = 0) -> Any:
    """Device array of the rows of one world, repeated for all worlds; the host only handles one of them.

    shift: by how much an index >= 0 grows from one world to the next; one number, or one per row.
    """
    rows = np.ascontiguousarray(rows)
    out = wp.empty(worlds * len(rows), dtype=dtype, device=device)
    if worlds == 1 or not rows.size:
        out.assign(rows)
        return out
    words = wp.array(rows.reshape(-1).view(np.int32), dtype=wp.int32, device=device)
    per_row = len(words) // len(rows)
    steps = np.full(1, shift, np.int32) if np.ndim(shift) == 0 else np.repeat(np.asarray(shift, np.int32), per_row)
    shifts = wp.array(steps, dtype=wp.int32, device=device)
    as_words = wp.array(ptr=out.ptr, dtype=wp.int32, shape=worlds * len(words), device=device)
    wp.launch(repeat_words, dim=(worlds, len(words)), inputs=[words, shifts, as_words], device=device)
    return out
