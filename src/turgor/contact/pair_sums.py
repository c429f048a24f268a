"""Impulses summed per pair of bodies, or of a body and a wall, over a frame: a table found by hashing the pair.

Pairs come and go within a frame, and lists number them anew; the table does not care. It is kept only for readings.
"""

import functools
from types import SimpleNamespace
from typing import Any, no_type_check

import numpy as np
import numpy.typing as npt
import warp as wp

from turgor.kernel import structs
from turgor.kernel.numbers import Numbers

__all__ = ["PairSums", "kernels"]

PER_BODY = 32  # entries: bodies in a heap have up to 12 neighbours, each pair is one entry
GOLDEN = 0x1E3779B97F4A7C15  # 2^64 over the golden ratio, less its highest bit: Fibonacci hashing (Knuth, vol. 3)


class PairSums:
    """The table. Bodies are numbered over all worlds; a wall's half space w is the number `bodies + w`."""

    def __init__(self, n: Numbers, bodies: int, others: int, device: Any) -> None:
        self.bodies, self.width = bodies, bodies + others
        bits = max(int(np.ceil(np.log2(PER_BODY * (bodies + 2)))), 6)
        self.table = structs.zeros(
            kernels(n).Table, 1 << bits, device, bodies=bodies, width=self.width, bits=bits, missed=1
        )

    def clear(self) -> None:
        """At the start of a frame."""
        self.table.key.zero_()
        self.table.sum.zero_()
        self.table.missed.zero_()

    def read(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float64]]:
        """(first, second, N s on the first) of all pairs; nan if there were more than the table holds."""
        key = self.table.key.numpy()
        used = np.flatnonzero(key)
        used = used[np.argsort(key[used])]
        first, second = np.divmod(key[used] - 1, self.width)
        sums = np.asarray(self.table.sum.numpy()[used], np.float64)
        if int(self.table.missed.numpy()[0]):
            sums[:] = np.nan
        return first, second, sums


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """The struct `Table`, and add_to_pair."""
    vec = n.vec

    @wp.struct
    class Table:
        """Open addressing: an entry is free while its key is 0."""

        bodies: int
        width: int  # bodies and half spaces
        bits: int  # of the number of entries
        key: wp.array(dtype=wp.int64)  # first · width + second + 1
        sum: wp.array(dtype=vec)  # N s on the first
        missed: wp.array(dtype=int)  # (1,) whether a pair found no place

    @wp.func
    def add_to_pair(table: Table, first: int, second: int, p: vec):
        """The impulse p on the first, from the second. The body with the smaller number comes first in the table."""
        one = wp.min(first, second)
        two = wp.max(first, second)
        amount = p
        if first > second:
            amount = -p
        key = wp.int64(one) * wp.int64(table.width) + wp.int64(two) + wp.int64(1)
        size = wp.int64(1) << wp.int64(table.bits)
        place = ((key * wp.int64(GOLDEN)) >> wp.int64(20)) & (size - wp.int64(1))
        found = bool(False)  # noqa: UP018 (a variable in Warp's language)
        tried = wp.int64(0)
        while not found and tried < size:
            before = wp.atomic_cas(table.key, int(place), wp.int64(0), key)
            if before == wp.int64(0) or before == key:
                wp.atomic_add(table.sum, int(place), amount)
                found = True
            place = (place + wp.int64(1)) & (size - wp.int64(1))
            tried += wp.int64(1)
        if not found:
            table.missed[0] = 1

    return SimpleNamespace(Table=Table, add_to_pair=add_to_pair)
