"""A substep of rigid bodies: kick, (contact), move; and their collision points."""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.kernel.numbers import Numbers, at
from turgor.kernel.status import FINE, NOT_FINITE
from turgor.rigid import impulse, motion

__all__ = ["kernels"]


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """In the order of a substep: kick_rigid, move_rigid, place_points; inspect_rigid at the end of a frame."""
    real, vec, spin_type = n.real, n.vec, n.spin
    turning, push = motion.kernels(n), impulse.kernels(n)
    pose, rotate, turned, free_turn = turning.pose, turning.rotate, turning.turned, turning.free_turn
    spin_of, world_inverse_inertia = turning.spin_of, turning.world_inverse_inertia
    inertia, cross, swing = push.inertia, push.cross, push.swing

    @n.kernel(__name__)
    def kick_rigid(
        dt: wp.array(dtype=real),
        gravity: wp.array(dtype=vec),  # per world
        rigid_world: wp.array(dtype=int),
        rigid_inverse_mass: wp.array(dtype=real),
        rigid_inverse_inertia: wp.array(dtype=spin_type),
        rigid_grab_on: wp.array(dtype=int),
        rigid_grab_local: wp.array(dtype=vec),
        rigid_grab_target: wp.array(dtype=vec),
        rigid_grab_stiffness: wp.array(dtype=real),
        rigid_grab_damping: wp.array(dtype=real),
        rigid_x: wp.array(dtype=vec),
        rigid_q: wp.array(dtype=pose),
        rigid_v: wp.array(dtype=vec),
        rigid_angular: wp.array(dtype=spin_type),
        rigid_spin: wp.array(dtype=spin_type),
        rigid_world_inertia: wp.array(dtype=inertia),
        rigid_force: wp.array(dtype=vec),
        rigid_torque: wp.array(dtype=spin_type),
    ):
        """New velocities from gravity, glue and grab; the inverse inertia in world axes at this pose."""
        r = wp.tid()
        h = dt[0]
        if rigid_inverse_mass[r] > real(0.0):
            total = rigid_force[r]
            moment = rigid_torque[r]
            if rigid_grab_on[r] != 0:
                arm = rotate(rigid_q[r], rigid_grab_local[r])
                pull = rigid_grab_stiffness[r] * (rigid_grab_target[r] - rigid_x[r] - arm)
                pull -= rigid_grab_damping[r] * (rigid_v[r] + swing(rigid_spin[r], arm))
                total += pull
                moment += cross(arm, pull)
            rigid_v[r] = rigid_v[r] + h * (rigid_inverse_mass[r] * total + gravity[rigid_world[r]])
            rigid_angular[r] = rigid_angular[r] + h * moment
            rigid_spin[r] = spin_of(rigid_q[r], rigid_inverse_inertia[r], rigid_angular[r])
        rigid_world_inertia[r] = world_inverse_inertia(rigid_q[r], rigid_inverse_inertia[r])
        rigid_force[r] = vec()
        rigid_torque[r] = spin_type(real(0.0))

    @n.kernel(__name__)
    def move_rigid(
        dt: wp.array(dtype=real),
        rigid_inverse_mass: wp.array(dtype=real),
        rigid_inverse_inertia: wp.array(dtype=spin_type),
        rigid_v: wp.array(dtype=vec),
        rigid_angular: wp.array(dtype=spin_type),
        rigid_push_move: wp.array(dtype=vec),
        rigid_push_turn: wp.array(dtype=spin_type),
        rigid_x: wp.array(dtype=vec),
        rigid_q: wp.array(dtype=pose),
        rigid_spin: wp.array(dtype=spin_type),
    ):
        """New poses, from the velocities and from the removal of penetration."""
        r = wp.tid()
        h = dt[0]
        here = rigid_q[r]
        ahead = h * rigid_v[r]
        if rigid_inverse_mass[r] > real(0.0):
            here = free_turn(here, rigid_inverse_inertia[r], rigid_angular[r], h)
            here = turned(here, rigid_push_turn[r], real(1.0))
            rigid_spin[r] = spin_of(here, rigid_inverse_inertia[r], rigid_angular[r])
        else:
            here = turned(here, rigid_spin[r], h)
        rigid_q[r] = here
        rigid_x[r] = rigid_x[r] + ahead + rigid_push_move[r]
        rigid_push_move[r] = vec()
        rigid_push_turn[r] = spin_type(real(0.0))

    @n.kernel(__name__)
    def place_points(
        first_rigid: int,
        local: wp.array(dtype=vec),
        local_body: wp.array(dtype=int),
        rigid_x: wp.array(dtype=vec),
        rigid_q: wp.array(dtype=pose),
        rigid_v: wp.array(dtype=vec),
        rigid_spin: wp.array(dtype=spin_type),
        points: wp.array(dtype=vec),
        point_v: wp.array(dtype=vec),
        start_index: int,
    ):
        """The collision points of rigid bodies, which stand behind the soft vertices."""
        p = at(start_index + wp.tid())
        r = at(local_body[p])
        arm = rotate(rigid_q[r], local[p])
        points[at(first_rigid + p)] = rigid_x[r] + arm
        point_v[at(first_rigid + p)] = rigid_v[r] + swing(rigid_spin[r], arm)

    @n.kernel(__name__)
    def inspect_rigid(
        offset: int,
        rigid_v: wp.array(dtype=vec),
        rigid_angular: wp.array(dtype=spin_type),
        rigid_x: wp.array(dtype=vec),
        status: wp.array(dtype=int),
        body_failed: wp.array(dtype=int),
    ):
        """Mark the frame as failed if a body is not finite."""
        r = wp.tid()
        well = wp.isfinite(rigid_v[r]) and wp.isfinite(rigid_x[r]) and wp.isfinite(rigid_angular[r])
        if not well:
            body_failed[offset + r] = 1
            if status[0] == wp.static(FINE):
                status[0] = wp.static(NOT_FINITE)
                status[1] = offset + r

    return SimpleNamespace(
        kick_rigid=kick_rigid, move_rigid=move_rigid, place_points=place_points, inspect_rigid=inspect_rigid
    )
