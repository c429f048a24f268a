"""Relaxation to equilibrium by FIRE (Bitzek et al. 2006), on the device.

The points move freely in stable steps; their velocities are turned towards the forces while that gains speed, and are
taken out as soon as it would lead uphill. No damping coefficient has to be guessed. Each body goes its own way.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.kernel.numbers import Numbers, at

__all__ = ["ALPHA", "LARGEST", "kernels"]

ALPHA, SHRINK, DELAY = 0.1, 0.99, 5.0  # FIRE's own constants

# entries of a body in `sums`, and in `fire`
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
        body: wp.array(dtype=int),
        sums: wp.array2d(dtype=wp.float64),
        largest: wp.array(dtype=wp.float64),
    ):
        i = at(wp.tid())
        if inverse_mass[i] > real(0.0):
            b = at(body[i])
            size2 = wp.float64(wp.dot(force[i], force[i]))
            wp.atomic_add(sums, b, POWER, wp.float64(wp.dot(force[i], v[i])))
            wp.atomic_add(sums, b, FORCE2, size2)
            wp.atomic_add(sums, b, SPEED2, wp.float64(wp.dot(v[i], v[i])))
            if not (size2 <= largest[b]):  # nan, too
                largest[b] = size2

    @n.kernel(__name__)
    def decide(
        sums: wp.array2d(dtype=wp.float64),
        largest: wp.array(dtype=wp.float64),
        fire: wp.array2d(dtype=wp.float64),
    ):
        """How much of the velocities of a body is kept, and how much of the forces' direction they get."""
        b = at(wp.tid())
        nought = wp.float64(0.0)
        if sums[b, POWER] > nought:
            fire[b, UPHILL_FREE] = fire[b, UPHILL_FREE] + wp.float64(1.0)
            fire[b, KEPT] = wp.float64(1.0) - fire[b, TURN]
            fire[b, ALONG] = fire[b, TURN] * wp.sqrt(sums[b, SPEED2] / sums[b, FORCE2])
            if fire[b, UPHILL_FREE] > wp.float64(DELAY):
                fire[b, TURN] = wp.float64(SHRINK) * fire[b, TURN]
        else:
            fire[b, UPHILL_FREE] = nought
            fire[b, KEPT] = nought
            fire[b, ALONG] = nought
            fire[b, TURN] = wp.float64(ALPHA)
        fire[b, LARGEST] = largest[b]
        largest[b] = nought
        for k in range(3):
            sums[b, k] = nought

    @n.kernel(__name__)
    def relax(
        force: wp.array(dtype=vec),
        inverse_mass: wp.array(dtype=real),
        body: wp.array(dtype=int),
        fire: wp.array2d(dtype=wp.float64),
        dt: wp.array(dtype=real),  # s, of each body; 0: it stays
        furthest: real,  # m, that a point moves in a step
        v: wp.array(dtype=vec),
        x: wp.array(dtype=vec),
    ):
        i = at(wp.tid())
        b = at(body[i])
        if inverse_mass[i] > real(0.0) and dt[b] != real(0.0):
            velocity = real(fire[b, KEPT]) * v[i] + (real(fire[b, ALONG]) + dt[b] * inverse_mass[i]) * force[i]
            move = dt[b] * velocity
            share = furthest / wp.max(wp.length(move), furthest)
            v[i] = share * velocity
            x[i] = x[i] + share * move

    return SimpleNamespace(sum_power=sum_power, decide=decide, relax=relax)
