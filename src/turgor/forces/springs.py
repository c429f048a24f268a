"""Hooke springs with a dashpot along the spring (A3; Matyka 2004, eq. 1)."""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.kernel.numbers import Numbers, at

__all__ = ["kernels"]


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """The law and its kernel."""
    real, vec = n.real, n.vec

    @wp.func
    def spring_force(d: vec, w: vec, rest: real, k: real, kd: real) -> vec:
        """Force on the first end of a spring; d, w: position and velocity of the second end minus the first.

        (k (l - rest) + kd w·d/l) d/l, written with a single division. Coincident ends give no force.
        """
        l2 = wp.dot(d, d)
        if l2 <= real(0.0):
            return vec()
        length = wp.sqrt(l2)
        return ((k * (length - rest) * length + kd * wp.dot(w, d)) / l2) * d

    @n.kernel(__name__)
    def add_springs(
        x: wp.array(dtype=vec),
        v: wp.array(dtype=vec),
        springs: wp.array(dtype=wp.vec2i),
        rest: wp.array(dtype=real),
        body: wp.array(dtype=int),
        stiffness: wp.array(dtype=real),
        damping: wp.array(dtype=real),
        f_out: wp.array(dtype=vec),
        start_index: int,
    ):
        s = at(start_index + wp.tid())
        ends = springs[s]
        i = at(ends[0])
        j = at(ends[1])
        b = at(body[i])
        force = spring_force(x[j] - x[i], v[j] - v[i], rest[s], stiffness[b], damping[b])
        f_out[i] += force
        f_out[j] -= force

    return SimpleNamespace(spring_force=spring_force, add_springs=add_springs)
