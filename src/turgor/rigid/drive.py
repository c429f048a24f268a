"""A substep of rigid bodies: kick, (contact), move; their collision points; and glue between them and soft vertices."""

import functools
from types import SimpleNamespace

import warp as wp

from turgor.kernel.numbers import Numbers, at
from turgor.rigid import impulse, motion

__all__ = ["DYNAMIC", "JAMMED", "KINEMATIC", "STATIC", "kernels"]

DYNAMIC, KINEMATIC, STATIC = 0, 1, 2
JAMMED = 0.1  # share of a movement below which a body counts as held fast


@functools.cache
def kernels(n: Numbers) -> SimpleNamespace:
    """In the order of a substep: pull_glued, kick_rigid, carry_glued, move_bodies, place_points, place_glued."""
    real, vec, spin_type = n.real, n.vec, n.spin
    turning, push = motion.kernels(n), impulse.kernels(n)
    pose, rotate, turned, free_turn = turning.pose, turning.rotate, turning.turned, turning.free_turn
    spin_of, world_inverse_inertia = turning.spin_of, turning.world_inverse_inertia
    inertia, cross, swing = push.inertia, push.cross, push.swing

    @n.kernel(__name__)
    def pull_glued(
        vertex: wp.array(dtype=int),
        glued_body: wp.array(dtype=int),
        x: wp.array(dtype=vec),
        f: wp.array(dtype=vec),
        area: wp.array(dtype=vec),
        body: wp.array(dtype=int),
        push: wp.array(dtype=real),
        centre: wp.array(dtype=vec),
        force: wp.array(dtype=vec),
        torque: wp.array(dtype=spin_type),
    ):
        """What springs and gas do to a glued vertex acts on the rigid body (its weight is part of the body's)."""
        g = wp.tid()
        i = vertex[g]
        r = glued_body[g]
        pull = f[i] + push[body[i]] * area[i]
        wp.atomic_add(force, r, pull)
        wp.atomic_add(torque, r, cross(x[i] - centre[r], pull))

    @n.kernel(__name__)
    def kick_rigid(
        dt: wp.array(dtype=real),
        gravity: wp.array(dtype=vec),  # per world
        world: wp.array(dtype=int),
        inverse_mass: wp.array(dtype=real),
        inverse_inertia: wp.array(dtype=spin_type),
        grab_on: wp.array(dtype=int),
        grab_local: wp.array(dtype=vec),
        grab_target: wp.array(dtype=vec),
        grab_stiffness: wp.array(dtype=real),
        grab_damping: wp.array(dtype=real),
        x: wp.array(dtype=vec),
        q: wp.array(dtype=pose),
        v: wp.array(dtype=vec),
        angular: wp.array(dtype=spin_type),
        spin: wp.array(dtype=spin_type),
        world_inertia: wp.array(dtype=inertia),
        force: wp.array(dtype=vec),
        torque: wp.array(dtype=spin_type),
    ):
        """New velocities from gravity, glue and hand; the inverse inertia in world axes at this pose."""
        r = wp.tid()
        h = dt[0]
        if inverse_mass[r] > real(0.0):
            total = force[r]
            moment = torque[r]
            if grab_on[r] != 0:
                arm = rotate(q[r], grab_local[r])
                pull = grab_stiffness[r] * (grab_target[r] - x[r] - arm)
                pull -= grab_damping[r] * (v[r] + swing(spin[r], arm))
                total += pull
                moment += cross(arm, pull)
            v[r] = v[r] + h * (inverse_mass[r] * total + gravity[world[r]])
            angular[r] = angular[r] + h * moment
            spin[r] = spin_of(q[r], inverse_inertia[r], angular[r])
        world_inertia[r] = world_inverse_inertia(q[r], inverse_inertia[r])
        force[r] = vec()
        torque[r] = spin_type(real(0.0))

    @n.kernel(__name__)
    def move_bodies(
        dt: wp.array(dtype=real),
        inverse_mass: wp.array(dtype=real),
        inverse_inertia: wp.array(dtype=spin_type),
        v: wp.array(dtype=vec),
        angular: wp.array(dtype=spin_type),
        push_move: wp.array(dtype=vec),
        push_turn: wp.array(dtype=spin_type),
        scale: wp.array(dtype=real),
        x: wp.array(dtype=vec),
        q: wp.array(dtype=pose),
        spin: wp.array(dtype=spin_type),
    ):
        """New poses, from the velocities and from the removal of penetration."""
        r = wp.tid()
        share = scale[r]
        h = share * dt[0]
        here = q[r]
        ahead = h * v[r]
        if inverse_mass[r] > real(0.0):
            here = free_turn(here, inverse_inertia[r], angular[r], h)
            if share < real(JAMMED):  # what is held fast does not gather speed
                v[r] = share * v[r]
                angular[r] = share * angular[r]
            here = turned(here, push_turn[r], share)
            spin[r] = spin_of(here, inverse_inertia[r], angular[r])
        else:
            here = turned(here, spin[r], h)
        q[r] = here
        x[r] = x[r] + ahead + share * push_move[r]
        push_move[r] = vec()
        push_turn[r] = spin_type(real(0.0))
        scale[r] = real(1.0)

    @n.kernel(__name__)
    def place_points(
        first: int,
        local: wp.array(dtype=vec),
        owner: wp.array(dtype=int),
        x: wp.array(dtype=vec),
        q: wp.array(dtype=pose),
        v: wp.array(dtype=vec),
        spin: wp.array(dtype=spin_type),
        points: wp.array(dtype=vec),
        point_v: wp.array(dtype=vec),
    ):
        """The collision points of rigid bodies, which stand behind the soft vertices."""
        p = at(wp.tid())
        r = at(owner[p])
        arm = rotate(q[r], local[p])
        points[at(first + p)] = x[r] + arm
        point_v[at(first + p)] = v[r] + swing(spin[r], arm)

    @n.kernel(__name__)
    def place_glued(
        vertex: wp.array(dtype=int),
        glued_body: wp.array(dtype=int),
        local: wp.array(dtype=vec),
        x: wp.array(dtype=vec),
        q: wp.array(dtype=pose),
        v: wp.array(dtype=vec),
        spin: wp.array(dtype=spin_type),
        points: wp.array(dtype=vec),
        point_v: wp.array(dtype=vec),
    ):
        """Glued vertices go where the body goes."""
        g = wp.tid()
        r = glued_body[g]
        arm = rotate(q[r], local[g])
        points[vertex[g]] = x[r] + arm
        point_v[vertex[g]] = v[r] + swing(spin[r], arm)

    @n.kernel(__name__)
    def carry_glued(
        dt: wp.array(dtype=real),
        vertex: wp.array(dtype=int),
        glued_body: wp.array(dtype=int),
        local: wp.array(dtype=vec),
        q: wp.array(dtype=pose),
        v: wp.array(dtype=vec),
        spin: wp.array(dtype=spin_type),
        point_v: wp.array(dtype=vec),
        move: wp.array(dtype=vec),
    ):
        """Velocity and displacement of glued vertices as contact sees them."""
        g = wp.tid()
        r = glued_body[g]
        speed = v[r] + swing(spin[r], rotate(q[r], local[g]))
        point_v[vertex[g]] = speed
        move[vertex[g]] = dt[0] * speed

    @n.kernel(__name__)
    def inspect_rigid(
        fine: int,
        failed: int,
        offset: int,
        v: wp.array(dtype=vec),
        angular: wp.array(dtype=spin_type),
        x: wp.array(dtype=vec),
        status: wp.array(dtype=int),
    ):
        """Mark the frame as failed if a body is not finite."""
        r = wp.tid()
        well = wp.isfinite(v[r]) and wp.isfinite(x[r]) and wp.isfinite(angular[r])
        if not well and status[0] == fine:
            status[0] = failed
            status[1] = offset + r

    @n.kernel(__name__)
    def restore_rigid(
        fine: int,
        status: wp.array(dtype=int),
        x_good: wp.array(dtype=vec),
        v_good: wp.array(dtype=vec),
        q_good: wp.array(dtype=pose),
        angular_good: wp.array(dtype=spin_type),
        spin_good: wp.array(dtype=spin_type),
        x: wp.array(dtype=vec),
        v: wp.array(dtype=vec),
        q: wp.array(dtype=pose),
        angular: wp.array(dtype=spin_type),
        spin: wp.array(dtype=spin_type),
    ):
        """After a failed frame: back to its start."""
        r = wp.tid()
        if status[0] != fine:
            x[r] = x_good[r]
            v[r] = v_good[r]
            q[r] = q_good[r]
            angular[r] = angular_good[r]
            spin[r] = spin_good[r]

    return SimpleNamespace(
        pull_glued=pull_glued,
        kick_rigid=kick_rigid,
        move_bodies=move_bodies,
        place_points=place_points,
        place_glued=place_glued,
        carry_glued=carry_glued,
        inspect_rigid=inspect_rigid,
        restore_rigid=restore_rigid,
    )
