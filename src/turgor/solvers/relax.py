"""Relaxation to equilibrium by FIRE (Bitzek et al. 2006), on the device.

The points move freely in stable steps; their velocities are turned towards the forces while that gains speed, and are
taken out as soon as it would lead uphill. No damping coefficient has to be guessed.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.kernel.numbers import Numbers, at

__all__ = ["ALPHA", "LARGEST", "kernels"]

ALPHA, SHRINK, DELAY = 0.1, 0.99, 5.0  # FIRE's own constants

# entries of `sums`, and of `fire`
POWER, FORCE2, SPEED2 = range(3)
TURN, UPHILL_FREE, KEPT, ALONG, LARGEST = range(5)  # alpha; steps downhill; factors of velocity and force; N²


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """In the order of a step, after the forces: sum_power, decide, relax."""
    real, vec = n.real, n.vec

    @n.kernel(__name__)
    def sum_power(
        force: wp.array(dtype=vec),
        v: wp.array(dtype=vec),
        inverse_mass: wp.array(dtype=real),
        sums: wp.array(dtype=wp.float64),
        largest: wp.array(dtype=wp.float64),
    ):
        i = at(wp.tid())
        if inverse_mass[i] > real(0.0):
            size2 = wp.float64(wp.dot(force[i], force[i]))
            wp.atomic_add(sums, POWER, wp.float64(wp.dot(force[i], v[i])))
            wp.atomic_add(sums, FORCE2, size2)
            wp.atomic_add(sums, SPEED2, wp.float64(wp.dot(v[i], v[i])))
            if not (size2 <= largest[0]):  # nan, too
                largest[0] = size2

    @n.kernel(__name__)
    def decide(
        sums: wp.array(dtype=wp.float64),
        largest: wp.array(dtype=wp.float64),
        fire: wp.array(dtype=wp.float64),
    ):
        """How much of the velocities is kept, and how much of the forces' direction they get."""
        nought = wp.float64(0.0)
        if sums[POWER] > nought:
            fire[UPHILL_FREE] = fire[UPHILL_FREE] + wp.float64(1.0)
            fire[KEPT] = wp.float64(1.0) - fire[TURN]
            fire[ALONG] = fire[TURN] * wp.sqrt(sums[SPEED2] / sums[FORCE2])
            if fire[UPHILL_FREE] > wp.float64(DELAY):
                fire[TURN] = wp.float64(SHRINK) * fire[TURN]
        else:
            fire[UPHILL_FREE] = nought
            fire[KEPT] = nought
            fire[ALONG] = nought
            fire[TURN] = wp.float64(ALPHA)
        fire[LARGEST] = largest[0]
        largest[0] = nought
        for k in range(3):
            sums[k] = nought

    @n.kernel(__name__)
    def relax(
        force: wp.array(dtype=vec),
        inverse_mass: wp.array(dtype=real),
        fire: wp.array(dtype=wp.float64),
        dt: wp.array(dtype=real),
        furthest: real,  # m, that a point moves in a step
        v: wp.array(dtype=vec),
        x: wp.array(dtype=vec),
    ):
        i = at(wp.tid())
        if inverse_mass[i] > real(0.0):
            velocity = real(fire[KEPT]) * v[i] + (real(fire[ALONG]) + dt[0] * inverse_mass[i]) * force[i]
            move = dt[0] * velocity
            share = furthest / wp.max(wp.length(move), furthest)
            v[i] = share * velocity
            x[i] = x[i] + share * move

    return SimpleNamespace(sum_power=sum_power, decide=decide, relax=relax)
