"""An intermediate Runge-Kutta stage: positions and velocities at which the next stage looks."""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.contact import materials, walls
from turgor.kernel.numbers import Numbers, at
from turgor.rigid import impulse
from turgor.solvers import velocity

__all__ = ["kernels"]


@functools.cache
@no_type_check
def kernels(n: Numbers, velocity_first: bool, clears: bool) -> SimpleNamespace:
    """begin_stage. clears: the force accumulators must be zero after use (scattered forces are added to them)."""
    real, vec, spin_type = n.real, n.vec, n.spin
    variant = f"{__name__}_{'v' if velocity_first else 'x'}{'c' if clears else ''}"
    held, swing = walls.kernels(n).held, impulse.kernels(n).swing
    shared_friction, acceleration = materials.kernels(n).shared_friction, velocity.accelerations(n).acceleration

    @n.kernel(variant)
    def begin_stage(
        stage: int,
        weight: real,
        reach: real,  # how far into the substep the next stage looks, in substeps
        x: wp.array(dtype=vec),
        v: wp.array(dtype=vec),
        f: wp.array(dtype=vec),
        area: wp.array(dtype=vec),
        body: wp.array(dtype=int),
        inverse_mass: wp.array(dtype=real),
        push: wp.array(dtype=real),
        body_gravity: wp.array(dtype=vec),
        drag: wp.array(dtype=real),
        friction: wp.array(dtype=real),
        wall_normal: wp.array(dtype=vec),  # the walls at the time of the next stage
        wall_point: wp.array(dtype=vec),
        wall_centre: wp.array(dtype=vec),
        wall_velocity: wp.array(dtype=vec),
        wall_spin: wp.array(dtype=spin_type),
        wall_friction: wp.array(dtype=real),
        dt: wp.array(dtype=real),
        x_stage: wp.array(dtype=vec),
        v_stage: wp.array(dtype=vec),
        x_slope: wp.array(dtype=vec),
        v_slope: wp.array(dtype=vec),
    ):
        i = at(wp.tid())
        b = at(body[i])
        m1 = inverse_mass[i]
        vs = v[i]
        if stage > 0:
            vs = v_stage[i]
        a = vec()
        if m1 > real(0.0):
            a = acceleration(f[i], area[i], vs, m1, push[b], body_gravity[b], drag[b])
        before_x = vec()
        before_v = vec()
        if stage > 0:
            before_x = x_slope[i]
            before_v = v_slope[i]
        x_slope[i] = before_x + weight * vs
        v_slope[i] = before_v + weight * a
        h = reach * dt[0]
        ahead = v[i] + h * a
        followed = real(0.0)
        if wp.static(velocity_first):
            vs = ahead
            followed = h
        place = x[i] + h * vs
        if m1 > real(0.0):
            for w in range(wall_normal.shape[0]):
                k = at(w)
                surface = wall_velocity[k] + swing(wall_spin[k], x[i] - wall_centre[k])
                mu = shared_friction(friction[b], wall_friction[k])
                place, ahead = held(x[i], place, v[i], ahead, wall_normal[k], wall_point[k], surface, mu, h, followed)
        x_stage[i] = place
        v_stage[i] = ahead
        if wp.static(clears):
            f[i] = vec()
            area[i] = vec()

    return SimpleNamespace(begin_stage=begin_stage)
