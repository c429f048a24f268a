"""Rows of arrays that hold several worlds one after another: a row is all that a world has of an array."""

from __future__ import annotations

import functools
from types import SimpleNamespace
from typing import Any, no_type_check

import warp as wp

__all__ = ["clear_rows", "copy_rows", "indices"]


def indices(values: Any, device: Any) -> Any:
    """Numbers of rows, for the device."""
    return wp.array(values, dtype=wp.int32, device=device)


def copy_rows(target: Any, source: Any, rows: int, source_rows: int, to: Any, from_: Any) -> None:
    """Row from_[k] of `source`, which has `source_rows`, becomes row to[k] of `target`, which has `rows`."""
    if target.size and len(to):
        there, here = _words(target, rows), _words(source, source_rows)
        wp.launch(kernels().copy_words, dim=(len(to), there.shape[1]), inputs=[there, here, to, from_],
                  device=target.device)  # fmt: skip


def clear_rows(target: Any, rows: int, chosen: Any) -> None:
    """The chosen rows become zero."""
    if target.size and len(chosen):
        there = _words(target, rows)
        wp.launch(kernels().clear_words, dim=(len(chosen), there.shape[1]), inputs=[there, chosen],
                  device=target.device)  # fmt: skip


def _words(array: Any, rows: int) -> Any:
    """The same memory as a table of words of four bytes; numbers have at least one."""
    words = array.size * wp.types.type_size_in_bytes(array.dtype) // 4
    view = wp.array(ptr=array.ptr, dtype=wp.int32, shape=(rows, words // rows), device=array.device, copy=False)
    view.source_array = array
    return view


@functools.cache
@no_type_check
def kernels() -> SimpleNamespace:
    """copy_words, clear_words."""

    @wp.kernel(module=__name__, enable_backward=False)
    def copy_words(
        target: wp.array2d(dtype=int), source: wp.array2d(dtype=int), to: wp.array(dtype=int),
        from_: wp.array(dtype=int),
    ):  # fmt: skip
        k, word = wp.tid()
        target[to[k], word] = source[from_[k], word]

    @wp.kernel(module=__name__, enable_backward=False)
    def clear_words(target: wp.array2d(dtype=int), chosen: wp.array(dtype=int)):
        k, word = wp.tid()
        target[chosen[k], word] = 0

    return SimpleNamespace(copy_words=copy_words, clear_words=clear_words)
