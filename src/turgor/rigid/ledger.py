"""The energy ledger of rigid bodies: what contact takes from them, and what grabs and driven bodies put in.

Everything is measured before and after, whatever contact does in between: work of the forces over the path, minus the
gain of kinetic energy (the derivation is that of `solvers.velocity.booked`). Rotation is taken at the pose at which
impulses act: free rotation keeps its energy. A turn θ without a velocity changes it by θ·(ω × L), as L stays.

Beside implicit soft bodies (not `halved`) energies are those of the velocities and positions at the end of a step, not
of a time between. There the path is all that was gone, and what a free step takes, ½ m |v1 - v0|², is a loss too.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.kernel.launch import Launcher
from turgor.kernel.numbers import Numbers
from turgor.model.rigids import Rigids
from turgor.rigid import impulse, motion

__all__ = ["RigidLedger", "kernels"]


class RigidLedger:
    """Launched around the stages of a substep; the arrays are what was there before."""

    def __init__(self, rigids: Rigids, launch: Launcher, halved: bool) -> None:
        n, self.total = rigids.numbers, rigids.total
        self.kernels = kernels(n, halved)
        self.x_start, self.v_start, self.v_kicked = (rigids.zeros(n.vec) for _ in range(3))
        self.q_start = rigids.zeros(self.kernels.pose)
        self.angular_start, self.angular_kicked = rigids.zeros(n.spin), rigids.zeros(n.spin)
        self.made_push, self.made_turn = rigids.zeros(n.vec), rigids.zeros(n.spin)  # m, rad: without a velocity
        self.grab_pull, self.grab_moment = rigids.zeros(n.vec), rigids.zeros(n.spin)  # N, N m
        self.launch = launch.extended(rigid=[self])

    def keep_start(self) -> None:
        """Before forces act."""
        self.launch(self.kernels.keep_start, self.total)

    def keep_kicked(self) -> None:
        """After forces, before contact."""
        self.launch(self.kernels.keep_kicked, self.total)

    def keep_pushes(self) -> None:
        """Before the poses change."""
        self.launch(self.kernels.keep_pushes, self.total)

    def book(self) -> None:
        """After the poses have changed."""
        self.launch(self.kernels.book_rigid, self.total)


@functools.cache
@no_type_check
def kernels(n: Numbers, halved: bool = True) -> SimpleNamespace:
    """In the order of a substep: keep_start, keep_kicked, keep_pushes, book_rigid."""
    real, vec, spin_type, wide = n.real, n.vec, n.spin, n.wide
    turning, push = motion.kernels(n), impulse.kernels(n)
    pose, rotate, spin_of = turning.pose, turning.rotate, turning.spin_of
    cross, swing = push.cross, push.swing
    wide_spin = wp.float64 if n.dim == 2 else wp.vec3d
    module = __name__ if halved else f"{__name__}_whole"

    if n.dim == 2:

        @wp.func
        def inner(a: wide_spin, b: wide_spin) -> wp.float64:
            return a * b

        @wp.func
        def turned_energy(turn: wide_spin, spin: wide_spin, angular: wide_spin) -> wp.float64:
            return wp.float64(0.0)

    else:

        @wp.func
        def inner(a: wide_spin, b: wide_spin) -> wp.float64:
            return wp.dot(a, b)

        @wp.func
        def turned_energy(turn: wide_spin, spin: wide_spin, angular: wide_spin) -> wp.float64:
            """Gain by a small turn at constant angular momentum: of ½ L·R I⁻¹ Rᵀ L."""
            return wp.dot(turn, wp.cross(spin, angular))

    @n.kernel(module)
    def keep_start(
        dt: wp.array(dtype=real),
        rigid_inverse_mass: wp.array(dtype=real),
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
        rigid_force: wp.array(dtype=vec),
        rigid_torque: wp.array(dtype=spin_type),
        rigid_x_start: wp.array(dtype=vec),
        rigid_q_start: wp.array(dtype=pose),
        rigid_v_start: wp.array(dtype=vec),
        rigid_angular_start: wp.array(dtype=spin_type),
        rigid_grab_pull: wp.array(dtype=vec),
        rigid_grab_moment: wp.array(dtype=spin_type),
        rigid_work: wp.array(dtype=wp.float64),
    ):
        """State and grab before the forces; and what a driven body does to the soft vertices glued to it."""
        r = wp.tid()
        rigid_x_start[r] = rigid_x[r]
        rigid_q_start[r] = rigid_q[r]
        rigid_v_start[r] = rigid_v[r]
        rigid_angular_start[r] = rigid_angular[r]
        pull = vec()
        moment = spin_type(real(0.0))
        if rigid_inverse_mass[r] > real(0.0):
            if rigid_grab_on[r] != 0:
                arm = rotate(rigid_q[r], rigid_grab_local[r])
                pull = rigid_grab_stiffness[r] * (rigid_grab_target[r] - rigid_x[r] - arm)
                pull -= rigid_grab_damping[r] * (rigid_v[r] + swing(rigid_spin[r], arm))
                moment = cross(arm, pull)
        else:
            power = wp.dot(wide(rigid_force[r]), wide(rigid_v[r]))
            power += inner(wide_spin(rigid_torque[r]), wide_spin(rigid_spin[r]))
            rigid_work[r] -= wp.float64(dt[0]) * power
        rigid_grab_pull[r] = pull
        rigid_grab_moment[r] = moment

    @n.kernel(module)
    def keep_kicked(
        rigid_v: wp.array(dtype=vec),
        rigid_angular: wp.array(dtype=spin_type),
        rigid_v_kicked: wp.array(dtype=vec),
        rigid_angular_kicked: wp.array(dtype=spin_type),
    ):
        """Velocities after the forces."""
        r = wp.tid()
        rigid_v_kicked[r] = rigid_v[r]
        rigid_angular_kicked[r] = rigid_angular[r]

    @n.kernel(module)
    def keep_pushes(
        rigid_push_move: wp.array(dtype=vec),
        rigid_push_turn: wp.array(dtype=spin_type),
        rigid_made_push: wp.array(dtype=vec),
        rigid_made_turn: wp.array(dtype=spin_type),
    ):
        """What removal of penetration is about to displace."""
        r = wp.tid()
        rigid_made_push[r] = rigid_push_move[r]
        rigid_made_turn[r] = rigid_push_turn[r]

    @n.kernel(module)
    def book_rigid(
        dt: wp.array(dtype=real),
        rigid_inverse_mass: wp.array(dtype=real),
        rigid_inverse_inertia: wp.array(dtype=spin_type),
        rigid_x: wp.array(dtype=vec),
        rigid_v: wp.array(dtype=vec),
        rigid_angular: wp.array(dtype=spin_type),
        rigid_spin: wp.array(dtype=spin_type),
        rigid_driven_impulse: wp.array(dtype=vec),
        rigid_driven_moment: wp.array(dtype=spin_type),
        rigid_x_start: wp.array(dtype=vec),
        rigid_q_start: wp.array(dtype=pose),
        rigid_v_start: wp.array(dtype=vec),
        rigid_v_kicked: wp.array(dtype=vec),
        rigid_angular_start: wp.array(dtype=spin_type),
        rigid_angular_kicked: wp.array(dtype=spin_type),
        rigid_made_push: wp.array(dtype=vec),
        rigid_made_turn: wp.array(dtype=spin_type),
        rigid_grab_pull: wp.array(dtype=vec),
        rigid_grab_moment: wp.array(dtype=spin_type),
        rigid_dissipated: wp.array(dtype=wp.float64),
        rigid_work: wp.array(dtype=wp.float64),
    ):
        """The ledger of a body in this substep. Driven bodies lose nothing: impulses on them are work from outside."""
        r = wp.tid()
        half = wp.float64(0.5)
        h = wp.float64(dt[0])
        if rigid_inverse_mass[r] > real(0.0):
            mass = wp.float64(1.0) / wp.float64(rigid_inverse_mass[r])
            before = wide(rigid_v_start[r])
            after = wide(rigid_v[r])
            spin_before = wide_spin(spin_of(rigid_q_start[r], rigid_inverse_inertia[r], rigid_angular_start[r]))
            spin_after = wide_spin(spin_of(rigid_q_start[r], rigid_inverse_inertia[r], rigid_angular[r]))
            turn = wide_spin(rigid_made_turn[r])
            path = wide(rigid_x[r] - rigid_x_start[r])
            if wp.static(halved):
                path -= half * h * (after - before)
            angle = half * h * (spin_before + spin_after) + turn
            touched = wp.length_sq(rigid_v[r] - rigid_v_kicked[r]) > real(0.0)
            touched = touched or wp.length_sq(rigid_made_push[r]) > real(0.0)
            twist = wide_spin(rigid_angular[r] - rigid_angular_kicked[r])
            touched = touched or inner(twist, twist) > wp.float64(0.0) or inner(turn, turn) > wp.float64(0.0)
            if touched or wp.static(not halved):
                start = wide_spin(rigid_angular_start[r])
                end = wide_spin(rigid_angular[r])
                forces = mass * wp.dot(wide(rigid_v_kicked[r]) - before, path)
                forces += inner(wide_spin(rigid_angular_kicked[r]) - start, angle)
                gained = half * mass * (wp.dot(after, after) - wp.dot(before, before))
                gained += half * (inner(end, spin_after) - inner(start, spin_before))
                gained += turned_energy(turn, spin_after, end)
                rigid_dissipated[r] += forces / wp.max(h, wp.float64(1.0e-300)) - gained
            pulled = wp.dot(wide(rigid_grab_pull[r]), path) + inner(wide_spin(rigid_grab_moment[r]), angle)
            rigid_work[r] += pulled
        elif rigid_driven_impulse.shape[0] > 0:
            given = wp.dot(wide(rigid_driven_impulse[r]), wide(rigid_v[r]))
            given += inner(wide_spin(rigid_driven_moment[r]), wide_spin(rigid_spin[r]))
            rigid_dissipated[r] -= given
            rigid_work[r] -= given
            rigid_driven_impulse[r] = vec()
            rigid_driven_moment[r] = spin_type(real(0.0))

    return SimpleNamespace(
        pose=pose, keep_start=keep_start, keep_kicked=keep_kicked, keep_pushes=keep_pushes, book_rigid=book_rigid
    )
