"""The total force on each point, for those who look at a state."""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.kernel.numbers import Numbers

__all__ = ["kernels"]


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """total_force, after all other laws."""
    real, vec = n.real, n.vec

    @n.kernel(__name__)
    def total_force(
        f: wp.array(dtype=vec),
        area: wp.array(dtype=vec),
        v: wp.array(dtype=vec),
        body: wp.array(dtype=int),
        mass: wp.array(dtype=real),
        push: wp.array(dtype=real),
        body_gravity: wp.array(dtype=vec),
        drag: wp.array(dtype=real),
        force_out: wp.array(dtype=vec),
    ):
        """Force on each point as the solver sees it, pins included; and the accumulators are cleared."""
        i = wp.tid()
        b = body[i]
        force_out[i] = f[i] + push[b] * area[i] + mass[i] * (body_gravity[b] - drag[b] * v[i])
        f[i] = vec()
        area[i] = vec()

    return SimpleNamespace(total_force=total_force)
