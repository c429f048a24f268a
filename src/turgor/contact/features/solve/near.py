"""Which candidates the rounds of a sweep may need, so that not every round passes by all of them.

Most candidates are farther apart than anything moves in a substep. The thread that passes by all in the first round
notes those within reach; later rounds pass by these only. Rounds widen the horizon (`sweep.py`): where it comes to lie
beyond the reach, they are noted again. On a GPU, where many threads share the list, all are passed by in each round.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.kernel.numbers import Numbers, at

__all__ = ["kernels"]

WIDER = 0.5  # of what a pair can approach in a substep: by which the reach lies beyond the horizon


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """Struct `Near` and functions."""
    real = n.real

    @wp.struct
    class Near:
        """What was noted."""

        which: wp.array(dtype=int)  # candidates
        nodes: wp.array(dtype=wp.vec4i)  # and what their points move with
        count: wp.array(dtype=int)
        reach: wp.array(dtype=real)  # m, per pair: travel at which the farthest of them wake
        anew: wp.array(dtype=int)  # whether they are noted in this round

    @wp.func(inline=True)
    def extend(near: Near, pair: int, first: bool, horizon: real, most: real):
        """A reach beyond the horizon of a pair, in the first round or if it was passed."""
        if first or horizon > near.reach[pair]:
            near.reach[pair] = horizon + real(WIDER) * most
            near.anew[0] = 1

    @wp.func(inline=True)
    def note(near: Near, c: int, nodes: wp.vec4i):
        """A candidate within reach."""
        slot = near.count[0]
        near.which[at(slot)] = c
        near.nodes[at(slot)] = nodes
        near.count[0] = slot + 1

    return SimpleNamespace(Near=Near, extend=extend, note=note)
