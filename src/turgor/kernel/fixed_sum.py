"""Sums in integers: what many threads add up does not depend on their order."""

import functools
from types import SimpleNamespace
from typing import Any, no_type_check

import warp as wp

from turgor.kernel.numbers import Numbers

__all__ = ["kernels"]


@functools.cache
@no_type_check
def kernels(n: Numbers, unit: float = 2.0**-40, rounded: Any = wp.rint) -> SimpleNamespace:
    """Device functions; `sums` hold `dim` integers per body for a vector, 1 or 3 for a rotation.

    unit: what an integer counts; a power of two, so that nothing is lost by it. With 2^-40 sums reach 8e6. rounded:
    how a number becomes a multiple of it.
    """
    real, vec, spin_type, dim = n.real, n.vec, n.spin, n.dim
    per_unit = wp.constant(wp.float64(1.0 / unit))
    unit_size = wp.constant(wp.float64(unit))
    turns = 1 if dim == 2 else 3

    if dim == 2:

        @wp.func
        def component(s: spin_type, d: int) -> real:
            return s

    else:

        @wp.func
        def component(s: spin_type, d: int) -> real:
            return s[d]

    @wp.func
    def in_units(value: real) -> wp.int64:
        return wp.int64(rounded(wp.float64(value) * per_unit))

    @wp.func
    def add_move(sums: wp.array(dtype=wp.int64), body: int, value: vec):
        for d in range(wp.static(dim)):
            wp.atomic_add(sums, body * wp.static(dim) + d, in_units(value[d]))

    @wp.func
    def add_turn(sums: wp.array(dtype=wp.int64), body: int, value: spin_type):
        for d in range(wp.static(turns)):
            wp.atomic_add(sums, body * wp.static(turns) + d, in_units(component(value, d)))

    @wp.func
    def is_moved(sums: wp.array(dtype=wp.int64), body: int) -> bool:
        """Whether there is a sum to take: most bodies have none, and a look costs less than to clear it."""
        any_of = wp.int64(0)
        for d in range(wp.static(dim)):
            any_of = any_of | sums[body * wp.static(dim) + d]
        return any_of != wp.int64(0)

    @wp.func
    def taken_move(sums: wp.array(dtype=wp.int64), body: int) -> vec:
        """The sum, which is zero afterwards."""
        out = vec()
        for d in range(wp.static(dim)):
            out[d] = real(wp.float64(sums[body * wp.static(dim) + d]) * unit_size)
            sums[body * wp.static(dim) + d] = wp.int64(0)
        return out

    if dim == 2:

        @wp.func
        def taken_turn(sums: wp.array(dtype=wp.int64), body: int) -> spin_type:
            out = real(wp.float64(sums[body]) * unit_size)
            sums[body] = wp.int64(0)
            return out

    else:

        @wp.func
        def taken_turn(sums: wp.array(dtype=wp.int64), body: int) -> spin_type:
            return taken_move(sums, body)

    return SimpleNamespace(
        add_move=add_move, add_turn=add_turn, is_moved=is_moved, taken_move=taken_move, taken_turn=taken_turn,
        turns=turns,
    )  # fmt: skip
