"""Velocities that belong to the middle of a substep, when substeps change their length (the symplectic solver).

Positions x_n at the ends and velocities in the middles make a leapfrog: the kick between the middles of two substeps a
and b is (a + b)/2 times the acceleration at x_n. The velocity update kicks by b; what it lacks, (a - b)/2, is given
here before it. Without that each change adds (b - a)/2 times the power of the forces to the energy, and steps that
shorten in each swing of a body pump it up. Gravity is left out: it does the same to all points, and flight stays what
it is.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.kernel.numbers import Numbers, at

__all__ = ["kernels"]


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """shift_velocities, with the forces of the present state."""
    real, vec = n.real, n.vec

    @n.kernel(__name__)
    def shift_velocities(
        step_change: wp.array(dtype=real),  # s: b - a
        body: wp.array(dtype=int),
        inverse_mass: wp.array(dtype=real),
        push: wp.array(dtype=real),
        clear: int,  # the accumulators must be zero after use
        f: wp.array(dtype=vec),
        area: wp.array(dtype=vec),
        v: wp.array(dtype=vec),
    ):
        i = at(wp.tid())
        v[i] -= (real(0.5) * step_change[0] * inverse_mass[i]) * (f[i] + push[at(body[i])] * area[i])
        if clear != 0:
            f[i] = vec()
            area[i] = vec()

    return SimpleNamespace(shift_velocities=shift_velocities)
