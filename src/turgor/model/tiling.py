"""Worlds are copies: rows of one world, repeated on the device for all of them, indices shifted from world to world."""

from __future__ import annotations

from typing import Any, no_type_check

import numpy as np
import numpy.typing as npt
import warp as wp

__all__ = ["joined", "tiled"]


RUN = 64  # words that a thread copies


@no_type_check
@wp.kernel(enable_backward=False, module="turgor.model.tiling")
def repeat_words(words: wp.array(dtype=int), step: int, steps: wp.array(dtype=int), out: wp.array(dtype=int)):
    """Words of world w; an index changes by `step`, or by its entry of `steps`, from world to world, and -1 stays."""
    w, run = wp.tid()
    count = words.shape[0]
    first = run * RUN
    last = wp.min(first + RUN, count)
    if steps.shape[0] == 0:
        for i in range(first, last):
            word = words[i]
            out[w * count + i] = wp.where(word != -1, word + w * step, word)
    else:
        for i in range(first, last):
            word = words[i]
            out[w * count + i] = wp.where(word != -1, word + w * steps[i], word)


def tiled(rows: npt.NDArray[Any], worlds: int, dtype: Any, device: Any, shift: Any = 0) -> Any:
    """Device array of the rows of one world, repeated for all worlds; the host only handles one of them.

    shift: by how much an index other than -1 changes from one world to the next; one number, or one per row.
    """
    rows = np.ascontiguousarray(rows)
    out = wp.empty(worlds * len(rows), dtype=dtype, device=device)
    if worlds == 1 or not rows.size:
        out.assign(rows)
        return out
    words = wp.array(rows.reshape(-1).view(np.int32), dtype=wp.int32, device=device)
    single = np.ndim(shift) == 0
    each = np.zeros(0, np.int32) if single else np.repeat(np.asarray(shift, np.int32), len(words) // len(rows))
    steps = wp.array(each, dtype=wp.int32, device=device)
    as_words = wp.array(ptr=out.ptr, dtype=wp.int32, shape=worlds * len(words), device=device)
    runs = -(-len(words) // RUN)
    inputs = [words, int(shift) if single else 0, steps, as_words]
    wp.launch(repeat_words, dim=(worlds, runs), inputs=inputs, device=device)
    return out


def joined(parts: list[Any], device: Any) -> Any:
    """Integers of several device arrays in one."""
    out = wp.empty(sum(len(part) for part in parts), dtype=wp.int32, device=device)
    start = 0
    for part in parts:
        if len(part):
            wp.copy(out, part, dest_offset=start, count=len(part))
        start += len(part)
    return out
