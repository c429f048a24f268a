"""Energy out of nothing: the work of pressure laws that no potential energy has, and when it has run away.

The exact law pushes with the pressure p(V) along dV/dx, so its work is what the gas loses. An approximate volume V'
gives p(V') along dV/dx, and the papers' alternatives to dV/dx push in other directions: along a closed path both do
work.
What they make is the difference to the exact law,

    sum over substeps of (p(V') - p(V)) dV  +  p(V') (area' - area)·v dt,

the first by the trapezoidal rule, which makes nothing where V' is a function of V. It counts only what the estimate
does, not walls, grabs, wind or other bodies.

A body has run away when it moves with more than LIMIT times all the energy that its gas and the scene can give it
(`energy_scale`), and most of that has been made.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.forces.volumes import EXACT
from turgor.kernel.numbers import Numbers, at
from turgor.kernel.status import FINE, RUNAWAY
from turgor.scene.gas import VOLUME_FLOOR

__all__ = ["LIMIT", "MADE", "kernels"]

LIMIT = 10.0  # of the energy that there is
MADE = 0.5  # of the kinetic energy: most of it
EXPANSION = 5.0  # ln of the largest expansion into a vacuum, 150 times


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """book_volume after each evaluation at a substep's start; at the end of a frame sum_motion, then judge."""
    real, vec = n.real, n.vec
    floor = wp.constant(real(VOLUME_FLOOR))
    nought = wp.constant(real(0.0))

    @n.kernel(__name__)
    def book_volume(
        pressing_method: wp.array(dtype=int),
        volume: wp.array(dtype=real),
        exact_volume: wp.array(dtype=real),
        rest_volume: wp.array(dtype=real),
        shape_volume: wp.array(dtype=real),
        pressure: wp.array(dtype=real),
        gamma: wp.array(dtype=real),
        volume_before: wp.array(dtype=real),  # nan: there is none
        excess_before: wp.array(dtype=real),
        made: wp.array(dtype=wp.float64),
    ):
        """What an approximate volume makes: (p(V') - p(V)) dV."""
        b = wp.tid()
        if pressing_method[b] != wp.static(EXACT):
            here = exact_volume[b]
            estimated = wp.max(volume[b] / rest_volume[b], floor)
            exact = wp.max(here / shape_volume[b], floor)
            excess = pressure[b] * (real(1.0) - wp.pow(estimated / exact, gamma[b]))
            if wp.isfinite(volume_before[b]):
                made[b] += wp.float64(real(0.5) * (excess + excess_before[b]) * (here - volume_before[b]))
            volume_before[b] = here
            excess_before[b] = excess

    @n.kernel(__name__)
    def sum_motion(
        v: wp.array(dtype=vec),
        mass: wp.array(dtype=real),
        body: wp.array(dtype=int),
        unbalanced: wp.array(dtype=int),
        motion: wp.array(dtype=wp.float64),
    ):
        """Kinetic energy of the bodies that can run away."""
        i = at(wp.tid())
        b = at(body[i])
        if unbalanced[b] != 0:
            wp.atomic_add(motion, b, wp.float64(real(0.5) * mass[i] * wp.dot(v[i], v[i])))

    @wp.func
    def gas_can_do(nRT: real, ambient: real, volume: real, rest_volume: real, held: int) -> real:
        """J: work of an isothermal gas, which does more than any other, until its pressure is that outside.

        A pump that holds the pressure has done its work to this volume.
        """
        gauge = nRT / rest_volume - ambient
        if held != 0:
            return wp.abs(gauge) * (wp.abs(volume) + rest_volume)
        if nRT <= nought:
            return ambient * rest_volume
        if ambient <= nought:
            return real(EXPANSION) * nRT
        return wp.min(nRT * wp.log(nRT / (ambient * rest_volume)) - gauge * rest_volume, real(EXPANSION) * nRT)

    @n.kernel(__name__)
    def judge(
        unbalanced: wp.array(dtype=int),
        energy_scale: wp.array(dtype=real),
        nRT: wp.array(dtype=real),
        ambient: wp.array(dtype=real),
        volume: wp.array(dtype=real),
        rest_volume: wp.array(dtype=real),
        held: wp.array(dtype=int),
        made: wp.array(dtype=wp.float64),
        motion: wp.array(dtype=wp.float64),
        moving: wp.array(dtype=wp.float64),
        available: wp.array(dtype=wp.float64),
        status: wp.array(dtype=int),
        body_failed: wp.array(dtype=int),
    ):
        """Mark the frame as failed if a body has run away; `moving` and `available` are for the message."""
        b = wp.tid()
        if unbalanced[b] != 0:
            there = energy_scale[b] + gas_can_do(nRT[b], ambient[b], volume[b], rest_volume[b], held[b])
            available[b] = wp.float64(there)
            moving[b] = motion[b]
            much = motion[b] > wp.float64(LIMIT) * available[b] and made[b] > wp.float64(MADE) * motion[b]
            motion[b] = wp.float64(0.0)
            if much:
                body_failed[b] = 1
                if status[0] == wp.static(FINE):
                    status[0] = wp.static(RUNAWAY)
                    status[1] = b

    return SimpleNamespace(book_volume=book_volume, sum_motion=sum_motion, judge=judge)
