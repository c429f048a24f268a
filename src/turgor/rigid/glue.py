"""Glue: soft vertices that hang on rigid bodies. Their forces act on the body, and they go where it goes."""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.kernel.numbers import Numbers
from turgor.rigid import impulse, motion

__all__ = ["kernels"]


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """In the order of a substep: pull_glued, carry_glued, place_glued."""
    real, vec, spin_type = n.real, n.vec, n.spin
    pose, rotate = motion.kernels(n).pose, motion.kernels(n).rotate
    cross, swing = impulse.kernels(n).cross, impulse.kernels(n).swing

    @n.kernel(__name__)
    def pull_glued(
        glued_vertex: wp.array(dtype=int),
        glued_start: wp.array(dtype=int),
        glued_order: wp.array(dtype=int),
        x: wp.array(dtype=vec),
        f: wp.array(dtype=vec),
        area: wp.array(dtype=vec),
        body: wp.array(dtype=int),
        push: wp.array(dtype=real),
        rigid_x: wp.array(dtype=vec),
        rigid_force: wp.array(dtype=vec),
        rigid_torque: wp.array(dtype=spin_type),
    ):
        """What springs and gas do to a glued vertex acts on the rigid body (its weight is part of the body's).

        A thread per rigid body, so that its sums have one order on a GPU, too.
        """
        r = wp.tid()
        force = rigid_force[r]
        torque = rigid_torque[r]
        for k in range(glued_start[r], glued_start[r + 1]):
            i = glued_vertex[glued_order[k]]
            pull = f[i] + push[body[i]] * area[i]
            force = force + pull
            torque = torque + cross(x[i] - rigid_x[r], pull)
        rigid_force[r] = force
        rigid_torque[r] = torque

    @n.kernel(__name__)
    def carry_glued(
        dt: wp.array(dtype=real),
        glued_vertex: wp.array(dtype=int),
        glued_body: wp.array(dtype=int),
        glued_local: wp.array(dtype=vec),
        rigid_q: wp.array(dtype=pose),
        rigid_v: wp.array(dtype=vec),
        rigid_spin: wp.array(dtype=spin_type),
        point_v: wp.array(dtype=vec),
        move: wp.array(dtype=vec),
    ):
        """Velocity and displacement of glued vertices as contact sees them."""
        g = wp.tid()
        r = glued_body[g]
        speed = rigid_v[r] + swing(rigid_spin[r], rotate(rigid_q[r], glued_local[g]))
        point_v[glued_vertex[g]] = speed
        move[glued_vertex[g]] = dt[0] * speed

    @n.kernel(__name__)
    def place_glued(
        glued_vertex: wp.array(dtype=int),
        glued_body: wp.array(dtype=int),
        glued_local: wp.array(dtype=vec),
        rigid_x: wp.array(dtype=vec),
        rigid_q: wp.array(dtype=pose),
        rigid_v: wp.array(dtype=vec),
        rigid_spin: wp.array(dtype=spin_type),
        points: wp.array(dtype=vec),
        point_v: wp.array(dtype=vec),
    ):
        """Glued vertices go where the body goes."""
        g = wp.tid()
        r = glued_body[g]
        arm = rotate(rigid_q[r], glued_local[g])
        points[glued_vertex[g]] = rigid_x[r] + arm
        point_v[glued_vertex[g]] = rigid_v[r] + swing(rigid_spin[r], arm)

    return SimpleNamespace(pull_glued=pull_glued, carry_glued=carry_glued, place_glued=place_glued)
