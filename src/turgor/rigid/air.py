"""The air around rigid bodies: forces/air.py's law at each patch of the surface, force and moment together.

With s = (v, omega), a patch at r moves with J s = v + omega x r, and the air pushes it by w K (wind - J s), where
w = ½ rho (A/2) |wind - J s| (a closed surface shows the air one side) and K = C_across n nᵀ + C_along (1 - n nᵀ). With
D = sum of w Jᵀ K J and M the mass and inertia, a substep h is one of Newton's for the velocity at its end,

    (M + 2 h D) ds = h (other forces + air at the start),

as the air's force grows with the square of a speed: 2 D is its derivative along the flow, and more than that across it.
A body at its terminal velocity stays there. In still air without other forces s becomes (M + 2 h D)⁻¹ (M + h D) s,
between half of it and all of it: however light the body, the air neither reverses a motion nor feeds energy in.
Solved in double precision, in 2D too in three dimensions: motion in the plane and out of it do not mix.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.kernel.numbers import Numbers
from turgor.rigid import motion

__all__ = ["kernels"]


@functools.cache
@no_type_check
def kernels(n: Numbers, ledger: bool) -> SimpleNamespace:
    """add_air, before kick_rigid. ledger: what the air takes and the wind puts in is summed."""
    real, vec, spin_type = n.real, n.vec, n.spin
    pose, rotate = motion.kernels(n).pose, motion.kernels(n).rotate
    wide, table, number = wp.vec3d, wp.mat33d, wp.float64
    module = f"{__name__}_l" if ledger else __name__

    if n.dim == 2:

        @wp.func
        def lift(v: vec) -> wide:
            return wide(number(v[0]), number(v[1]), number(0.0))

        @wp.func
        def lift_turn(turn: spin_type) -> wide:
            return wide(number(0.0), number(0.0), number(turn))

        @wp.func
        def lower(v: wide) -> vec:
            return vec(real(v[0]), real(v[1]))

        @wp.func
        def lower_turn(turn: wide) -> spin_type:
            return real(turn[2])

        @wp.func
        def inertia_of(q: pose, inverse: spin_type) -> table:
            one = number(1.0)
            return wp.diag(wide(one, one, one / number(inverse)))

    else:

        @wp.func
        def lift(v: vec) -> wide:
            return wide(v)

        @wp.func
        def lift_turn(turn: spin_type) -> wide:
            return wide(turn)

        @wp.func
        def lower(v: wide) -> vec:
            return vec(v)

        @wp.func
        def lower_turn(turn: wide) -> spin_type:
            return spin_type(turn)

        @wp.func
        def inertia_of(q: pose, inverse: spin_type) -> table:
            """R I Rᵀ."""
            r = wp.quat_to_matrix(wp.quatd(number(q[0]), number(q[1]), number(q[2]), number(q[3])))
            one = number(1.0)
            moments = wide(one / number(inverse[0]), one / number(inverse[1]), one / number(inverse[2]))
            return r * wp.diag(moments) * wp.transpose(r)

    @n.kernel(module)
    def add_air(
        dt: wp.array(dtype=real),
        gravity: wp.array(dtype=vec),
        wind: wp.array(dtype=vec),
        air_density: wp.array(dtype=real),
        rigid_world: wp.array(dtype=int),
        rigid_drag_coefficient: wp.array(dtype=real),
        rigid_drag_tangential: wp.array(dtype=real),
        patch_start: wp.array(dtype=int),
        patch_end: wp.array(dtype=int),
        patch_point: wp.array(dtype=vec),
        patch_normal: wp.array(dtype=vec),
        patch_area: wp.array(dtype=real),
        rigid_inverse_mass: wp.array(dtype=real),
        rigid_inverse_inertia: wp.array(dtype=spin_type),
        rigid_q: wp.array(dtype=pose),
        rigid_v: wp.array(dtype=vec),
        rigid_spin: wp.array(dtype=spin_type),
        rigid_force: wp.array(dtype=vec),
        rigid_torque: wp.array(dtype=spin_type),
        rigid_dissipated: wp.array(dtype=wp.float64),
        rigid_work: wp.array(dtype=wp.float64),
    ):
        """The force and moment of the air over the substep, beside those of glued vertices."""
        r = wp.tid()
        world = rigid_world[r]
        across = number(rigid_drag_coefficient[r])
        along = number(rigid_drag_tangential[r])
        dense = number(0.25) * number(air_density[world])
        if rigid_inverse_mass[r] > real(0.0) and dense * (across + along) > number(0.0):
            h = number(dt[0])
            mass = number(1.0) / number(rigid_inverse_mass[r])
            v = lift(rigid_v[r])
            omega = lift_turn(rigid_spin[r])
            breeze = lift(wind[world])
            force = wide()
            moment = wide()
            moving = table()  # blocks of D: force by velocity, moment by velocity, moment by turning
            mixed = table()
            turning = table()
            for p in range(patch_start[r], patch_end[r]):
                arm = lift(rotate(rigid_q[r], patch_point[p]))
                normal = lift(rotate(rigid_q[r], patch_normal[p]))
                u = breeze - v - wp.cross(omega, arm)
                w = dense * number(patch_area[p]) * wp.length(u)
                k = w * (along * wp.identity(3, number) + (across - along) * wp.outer(normal, normal))
                lever = wp.skew(arm)
                push = k * u
                force += push
                moment += wp.cross(arm, push)
                moving += k
                mixed += lever * k
                turning -= lever * k * lever
            others = mass * lift(gravity[world]) + lift(rigid_force[r])
            twist = lift_turn(rigid_torque[r])
            inertia = inertia_of(rigid_q[r], rigid_inverse_inertia[r])
            # the block with dv eliminated
            twice = number(2.0) * h
            first = wp.inverse(mass * wp.identity(3, number) + twice * moving)
            coupling = twice * mixed
            second = inertia + twice * turning - coupling * first * wp.transpose(coupling)
            kick = h * (others + force)
            turn = wp.inverse(second) * (h * (twist + moment) - coupling * (first * kick))
            change = first * (kick - wp.transpose(coupling) * turn)
            force = mass / h * change - others
            moment = inertia * turn / h - twist
            rigid_force[r] = lower(lift(rigid_force[r]) + force)
            rigid_torque[r] = lower_turn(twist + moment)
            if wp.static(ledger):
                done = h * (wp.dot(force, v + number(0.5) * change) + wp.dot(moment, omega + number(0.5) * turn))
                if done > number(0.0):
                    rigid_work[r] += done
                else:
                    rigid_dissipated[r] -= done

    return SimpleNamespace(add_air=add_air)
