"""Many arrays copied by one kernel: on a GPU each copy takes about 2 µs, whatever its size, and a frame keeps fifty."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, no_type_check

import numpy as np
import warp as wp

__all__ = ["Copies"]

CHUNK = 1 << 15  # bytes that a block of threads copies
BLOCK = 256


class Copies:
    """Copies of arrays on one GPU, into others of the same sizes."""

    def __init__(self, sources: Sequence[Any], targets: Sequence[Any]) -> None:
        self.arrays = [*sources, *targets]  # so that they live as long as their addresses are known here
        self.device = sources[0].device
        sizes = [source.size * wp.types.type_size_in_bytes(source.dtype) for source in sources]
        rows = [
            (target.ptr + offset, source.ptr + offset, min(CHUNK, size - offset))
            for source, target, size in zip(sources, targets, sizes, strict=True)
            for offset in range(0, size, CHUNK)
        ]
        table = np.array(rows, np.uint64).reshape(-1, 3)
        self.to, self.from_ = (wp.array(table[:, k].copy(), dtype=wp.uint64, device=self.device) for k in (0, 1))
        self.sizes = wp.array(table[:, 2].astype(np.int32), dtype=wp.int32, device=self.device)

    def run(self) -> None:
        """Copy all."""
        if len(self.sizes):
            inputs = [self.to, self.from_, self.sizes]
            wp.launch_tiled(
                kernels().copy_chunks, dim=[len(self.sizes)], inputs=inputs, block_dim=BLOCK, device=self.device
            )


@functools.cache
@no_type_check
def kernels() -> SimpleNamespace:
    """copy_chunks."""

    @wp.func_native("""
        struct alignas(16) Words { unsigned c[4]; };
        unsigned whole = (to | from_) % 16 == 0 ? bytes / 16 : 0;
        for (unsigned i = lane; i < whole; i += lanes)
            reinterpret_cast<Words*>(to)[i] = reinterpret_cast<const Words*>(from_)[i];
        for (unsigned i = 4 * whole + lane; i < bytes / 4; i += lanes)
            reinterpret_cast<unsigned*>(to)[i] = reinterpret_cast<const unsigned*>(from_)[i];
    """)
    def copy_words(to: wp.uint64, from_: wp.uint64, bytes: int, lane: int, lanes: int):
        """The share of a thread, by 16 bytes where addresses allow it. Numbers have at least four."""

    @wp.kernel(module=__name__, enable_backward=False)
    def copy_chunks(to: wp.array(dtype=wp.uint64), from_: wp.array(dtype=wp.uint64), sizes: wp.array(dtype=int)):
        chunk, lane = wp.tid()
        copy_words(to[chunk], from_[chunk], sizes[chunk], lane, wp.block_dim())

    return SimpleNamespace(copy_chunks=copy_chunks)
