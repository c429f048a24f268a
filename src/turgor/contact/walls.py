"""Walls: half spaces that clip the movement, reflect the normal velocity and rub (A7, B6), and may turn (C5)."""

import functools
from types import SimpleNamespace

import warp as wp

from turgor.kernel import Numbers

__all__ = ["kernels"]


@functools.cache
def kernels(n: Numbers) -> SimpleNamespace:
    """The response of one point, and the kernel that moves the walls."""
    real, vec, spin_type = n.real, n.vec, n.spin

    if n.dim == 2:

        @wp.func
        def turning_velocity(spin: spin_type, arm: vec) -> vec:
            return vec(-spin * arm[1], spin * arm[0])

        @wp.func
        def rotated(spin: spin_type, time: wp.float64, arm: vec) -> vec:
            angle = wp.float64(spin) * time
            c = real(wp.cos(angle))
            s = real(wp.sin(angle))
            return vec(c * arm[0] - s * arm[1], s * arm[0] + c * arm[1])

    else:

        @wp.func
        def turning_velocity(spin: spin_type, arm: vec) -> vec:
            return wp.cross(spin, arm)

        @wp.func
        def rotated(spin: spin_type, time: wp.float64, arm: vec) -> vec:
            """Rodrigues' formula; the angle is taken in double precision, so that it stays exact for hours."""
            speed = wp.length(spin)
            if speed <= real(0.0):
                return arm
            axis = spin / speed
            angle = wp.float64(speed) * time
            c = real(wp.cos(angle))
            s = real(wp.sin(angle))
            return c * arm + s * wp.cross(axis, arm) + ((real(1.0) - c) * wp.dot(axis, arm)) * axis

    @wp.func
    def shared_friction(own: real, wall: real) -> real:
        """Geometric mean of the two coefficients; a body without one of its own (< 0) takes the wall's."""
        if own < real(0.0):
            return wall
        return wp.sqrt(own * wall)

    @wp.func
    def shared_restitution(own: real, wall: real) -> real:
        """The bouncier of the two; a body without one of its own (< 0) takes the wall's."""
        return wp.max(own, wall)

    @wp.func
    def wall_response(
        x: vec,
        move: vec,
        v: vec,
        normal: vec,
        point: vec,
        wall_velocity: vec,
        friction: real,
        restitution: real,
        dt: real,
    ):
        """Movement and velocity of a point after a wall (its place at the end of the substep).

        The movement is clipped at the wall; the approaching normal velocity is reflected; the tangential velocity
        loses friction * normal impulse, and is never reversed, so that static friction holds (Martin 2009, 3.1.4).
        """
        depth = wp.dot(x + move - point, normal)
        if depth < real(0.0):
            move -= depth * normal
            relative = v - wall_velocity
            approach = wp.dot(relative, normal)
            if approach < real(0.0):
                along = relative - approach * normal
                impulse = -(real(1.0) + restitution) * approach
                speed = wp.length(along)
                kept = real(0.0)
                if speed > friction * impulse:
                    kept = real(1.0) - friction * impulse / speed
                move -= ((real(1.0) - kept) * dt) * along  # what friction holds does not move along the wall either
                v = wall_velocity + kept * along - (restitution * approach) * normal
        return move, v

    @n.kernel(__name__)
    def move_walls(
        lead: wp.float64,  # substeps ahead of the clock
        clock: wp.array(dtype=wp.float64),
        dt: wp.array(dtype=real),
        normal0: wp.array(dtype=vec),
        arm0: wp.array(dtype=vec),  # from the wall's centre to a point on this half space, at time `since`
        centre0: wp.array(dtype=vec),
        velocity: wp.array(dtype=vec),
        spin: wp.array(dtype=spin_type),
        since: wp.array(dtype=wp.float64),  # the time at which normal0, arm0 and centre0 hold
        normal_out: wp.array(dtype=vec),
        point_out: wp.array(dtype=vec),
        centre_out: wp.array(dtype=vec),
    ):
        """Where the walls are at the end of this substep, or now."""
        h = wp.tid()
        time = clock[0] + lead * wp.float64(dt[0]) - since[h]
        centre = centre0[h] + real(time) * velocity[h]
        centre_out[h] = centre
        normal_out[h] = rotated(spin[h], time, normal0[h])
        point_out[h] = centre + rotated(spin[h], time, arm0[h])

    return SimpleNamespace(
        wall_response=wall_response,
        move_walls=move_walls,
        turning_velocity=turning_velocity,
        shared_friction=shared_friction,
        shared_restitution=shared_restitution,
    )
