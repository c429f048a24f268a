"""Walls: half spaces that clip movement, reflect the normal velocity, apply friction and may rotate (A7, B6, C5)."""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.kernel.numbers import Numbers

__all__ = ["kernels"]


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """Device functions of one point at a wall, and the kernel that moves the walls."""
    real, vec, spin_type = n.real, n.vec, n.spin

    if n.dim == 2:

        @wp.func
        def rotated(spin: spin_type, time: wp.float64, arm: vec) -> vec:
            angle = wp.float64(spin) * time
            c = real(wp.cos(angle))
            s = real(wp.sin(angle))
            return vec(c * arm[0] - s * arm[1], s * arm[0] + c * arm[1])

    else:

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
    def lost_to_friction(along: vec, limit: real) -> vec:
        """The part of a tangential velocity that friction removes: at most `limit`, and never more than all of it."""
        speed = wp.length(along)
        if speed > limit:
            return (limit / speed) * along
        return along

    @wp.func
    def wall_response(
        start: vec,  # velocity at the start of the substep
        v: vec,  # and after its forces
        normal: vec,
        surface: vec,  # velocity of the wall
        gap: real,  # to the wall at the start, in the wall's frame
        ahead: real,  # and where it would be now without the wall: < 0
        friction: real,
        restitution: real,
    ):
        """Change of velocity along the normal, and the velocity that friction takes (Martin 2009, 3.1.4).

        What is reflected is the velocity of the hit itself. The forces of a substep add to the velocity from its start
        to its end, and the wall is met after a share gap / (gap - ahead) of the path; so a point that lies on the wall
        (gap = 0) reflects nothing of what its weight has added, and stays, whatever the restitution.
        """
        before = wp.dot(start - surface, normal)
        approach = wp.dot(v - surface, normal)
        impulse = real(0.0)
        lost = vec()
        if approach < real(0.0):
            distance = wp.max(gap, real(0.0))
            first = -wp.abs(before)  # a point that leaves the wall and returns within the substep has that speed again
            met = first + (distance / (distance - ahead)) * (approach - first)
            met = wp.max(met, approach)  # forces that decelerate it act before the wall
            impulse = -(approach + restitution * met)
            lost = lost_to_friction(v - surface - approach * normal, friction * impulse)
        return impulse, lost

    @wp.func
    def held(
        x: vec,
        position: vec,
        start: vec,
        v: vec,
        normal: vec,
        point: vec,
        surface: vec,
        friction: real,
        dt: real,
        followed: real,  # time for which `position` has followed v, s: dt, or 0 where it followed the stage before
    ):
        """Position and velocity of a stage, for a point that lies on a wall: the wall's reaction acts in every stage.

        It lies there if its forces alone, without the velocity it had, bring it behind the wall. (Other points
        hit the wall once, at the end of the substep.) Without this, dashpots would see it fall in each stage.
        """
        approach = wp.dot(v - surface, normal)
        gap = wp.dot(x + dt * surface - point, normal)
        if approach < real(0.0) and gap + dt * wp.dot(v - start, normal) < real(0.0):
            refused = approach * normal + lost_to_friction(v - surface - approach * normal, -friction * approach)
            v -= refused
            position -= followed * refused
            position -= wp.min(wp.dot(position - point, normal), real(0.0)) * normal
        return position, v

    @n.kernel(__name__)
    def move_walls(
        lead: wp.float64,  # substeps ahead of the clock
        clock: wp.array(dtype=wp.float64),
        dt: wp.array(dtype=real),
        wall_normal0: wp.array(dtype=vec),
        wall_arm0: wp.array(dtype=vec),  # from the wall's centre to a point on this half space, at time `since`
        wall_centre0: wp.array(dtype=vec),
        wall_velocity: wp.array(dtype=vec),
        wall_spin: wp.array(dtype=spin_type),
        wall_since: wp.array(dtype=wp.float64),  # the time at which normal0, arm0 and centre0 hold
        wall_normal_out: wp.array(dtype=vec),
        wall_point_out: wp.array(dtype=vec),
        wall_centre_out: wp.array(dtype=vec),
    ):
        """Where the walls are at the end of this substep, or now."""
        h = wp.tid()
        time = clock[0] + lead * wp.float64(dt[0]) - wall_since[h]
        centre = wall_centre0[h] + real(time) * wall_velocity[h]
        wall_centre_out[h] = centre
        wall_normal_out[h] = rotated(wall_spin[h], time, wall_normal0[h])
        wall_point_out[h] = centre + rotated(wall_spin[h], time, wall_arm0[h])

    return SimpleNamespace(
        wall_response=wall_response,
        held=held,
        move_walls=move_walls,
    )
