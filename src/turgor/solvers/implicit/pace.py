"""How many steps a frame of the implicit solver takes: few in flight and at rest, more while a body bounces off a wall.

Any number is stable; an impact that is to throw a body back has to be followed. A body of mass M whose skin has the
stiffness k and whose gas has the gauge pressure p is pushed back with about omega² = (k/12 + pi size p)/M (measured for
balls of 162 to 2,562 vertices); with omega h = 0.1 it keeps nine tenths of its bounce.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.kernel.numbers import Numbers, at
from turgor.rigid import impulse

__all__ = ["FEWEST", "MOST", "kernels"]

FEWEST, MOST = 4, 32  # steps in a frame
BOUNCING = 8  # at least, while a body bounces
FINE = 0.1  # omega h
SLOW = 0.3  # m/s: what is slower does not bounce to speak of
PRESSED = 2.0  # weights: a body that a wall pushes harder bounces


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """look_ahead, then choose, once per frame."""
    real, vec, spin_type = n.real, n.vec, n.spin
    swing = impulse.kernels(n).swing

    @wp.func
    def bounce_rate(k: real, body_size: real, pressure: real, ambient: real, rest_volume: real, mass: real) -> real:
        """omega, 1/s."""
        stiff = k / real(12.0)
        if rest_volume > real(0.0):
            stiff += real(wp.pi) * body_size * wp.max(pressure - ambient, real(0.0))
        return wp.sqrt(stiff / mass)

    @n.kernel(__name__)
    def look_ahead(
        x: wp.array(dtype=vec),
        v: wp.array(dtype=vec),
        body: wp.array(dtype=int),
        inverse_mass: wp.array(dtype=real),
        wall_normal: wp.array(dtype=vec),
        wall_point: wp.array(dtype=vec),
        wall_centre: wp.array(dtype=vec),
        wall_velocity: wp.array(dtype=vec),
        wall_spin: wp.array(dtype=spin_type),
        frame_time: wp.float64,
        hits: wp.array(dtype=int),
    ):
        """Which bodies will meet a wall in this frame."""
        i = at(wp.tid())
        if inverse_mass[i] > real(0.0):
            for k in range(wall_normal.shape[0]):
                w = at(k)
                surface = wall_velocity[w] + swing(wall_spin[w], x[i] - wall_centre[w])
                closing = -wp.dot(v[i] - surface, wall_normal[w])
                gap = wp.dot(x[i] - wall_point[w], wall_normal[w])
                if closing > real(SLOW) and gap < closing * real(frame_time):
                    hits[body[i]] = 1

    @n.kernel(__name__)
    def choose(
        hits: wp.array(dtype=int),
        wall_pressing: wp.array(dtype=real),  # N, of all walls on each body, in the last step
        body_mass: wp.array(dtype=real),
        body_gravity: wp.array(dtype=vec),
        skin_stiffness: wp.array(dtype=real),
        size: wp.array(dtype=real),
        pressure: wp.array(dtype=real),
        ambient: wp.array(dtype=real),
        rest_volume: wp.array(dtype=real),
        frame_time: wp.float64,
        multiple: int,  # plans are whole multiples of this
        steps_planned: wp.array(dtype=int),
    ):
        """For the most demanding body; not fewer than half of those before, so that the step grows twofold at most."""
        most = wp.max(FEWEST, (steps_planned[0] + 1) / 2)
        for b in range(hits.shape[0]):
            weight = body_mass[b] * wp.length(body_gravity[b])
            if body_mass[b] > real(0.0) and (hits[b] != 0 or wall_pressing[b] > real(PRESSED) * weight):
                rate = bounce_rate(
                    skin_stiffness[b], size[b], pressure[b], ambient[b], rest_volume[b], body_mass[b]
                )  # fmt: skip
                most = wp.max(most, wp.clamp(int(wp.ceil(real(frame_time) * rate / real(FINE))), BOUNCING, MOST))
        steps_planned[0] = (most + multiple - 1) // multiple * multiple

    @n.kernel(__name__)
    def plan_steps(
        frame_time: wp.float64,
        steps_planned: wp.array(dtype=int),
        planned: wp.array(dtype=int),
        until_plan: wp.array(dtype=int),
        dt: wp.array(dtype=real),
    ):
        """All of the frame."""
        planned[0] = steps_planned[0]
        until_plan[0] = steps_planned[0]
        dt[0] = real(frame_time / wp.float64(steps_planned[0]))

    return SimpleNamespace(bounce_rate=bounce_rate, look_ahead=look_ahead, choose=choose, plan_steps=plan_steps)
