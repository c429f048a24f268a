"""The end of a substep in parts, for scenes in which bodies touch: kick, (contact), meet the walls, move."""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.kernel.numbers import Numbers, at
from turgor.kernel.status import FINE, NOT_FINITE
from turgor.solvers import plan, velocity

__all__ = ["kernels"]

LEAP = 1.0e3  # body sizes: forces that would move a point so far in one substep are those of an explosion


@functools.cache
@no_type_check
def kernels(n: Numbers, staged: bool, velocity_first: bool, clears: bool, ledger: bool) -> SimpleNamespace:
    """kick, meet, shift; book, for the ledger. The options are those of `fused.kernels`."""
    real, vec, spin_type = n.real, n.vec, n.spin
    variant = velocity.variant_of(__name__, staged, velocity_first, clears, ledger)
    shared = velocity.kernels(n, staged, velocity_first, ledger)
    update, meet_walls, is_clear, booked = shared.update, shared.meet_walls, shared.is_clear, shared.booked
    count_substep = plan.kernels(n).count_substep

    @n.kernel(variant)
    def kick(
        weight: real,
        v: wp.array(dtype=vec),
        v_stage: wp.array(dtype=vec),
        x_slope: wp.array(dtype=vec),
        v_slope: wp.array(dtype=vec),
        f: wp.array(dtype=vec),
        area: wp.array(dtype=vec),
        body: wp.array(dtype=int),
        inverse_mass: wp.array(dtype=real),
        push: wp.array(dtype=real),
        body_gravity: wp.array(dtype=vec),
        drag: wp.array(dtype=real),
        decay: wp.array(dtype=real),
        size: wp.array(dtype=real),
        dt: wp.array(dtype=real),
        status: wp.array(dtype=int),
        body_failed: wp.array(dtype=int),
        move: wp.array(dtype=vec),
        v_start: wp.array(dtype=vec),
        v_free: wp.array(dtype=vec),
        v_kicked: wp.array(dtype=vec),
        asked_move: wp.array(dtype=vec),
        ends_fused: wp.array(dtype=int),
        start_index: int,
    ):
        """New velocities and the displacement they ask for; nothing moves yet. Pinned points are at rest.

        Bodies that end this substep in `fused` stay as they are.
        """
        i = at(start_index + wp.tid())
        if ends_fused[at(body[i])] != 0:
            v_free[i] = v[i]
            move[i] = vec()
            return
        m1 = inverse_mass[i]
        velocity = vec()
        asked = vec()
        kicked = vec()
        if m1 > real(0.0):
            b = at(body[i])
            v0 = v[i]
            vs = v0
            x_before = vec()
            v_before = vec()
            if wp.static(staged):
                vs = v_stage[i]
                x_before = x_slope[i]
                v_before = v_slope[i]
            velocity, asked, kicked = update(
                weight,
                v0,
                vs,
                x_before,
                v_before,
                f[i],
                area[i],
                m1,
                push[b],
                body_gravity[b],
                drag[b],
                decay[b],
                dt[0],
            )
            # contact may stop what explodes, but must not hide it, nor blame what it hits
            leap = real(LEAP) * size[b]
            if not (dt[0] * wp.length(velocity - v0) <= leap):
                body_failed[b] = 1
                if status[0] == FINE:
                    status[0] = NOT_FINITE
                    status[1] = b
        if wp.static(ledger):
            v_kicked[i] = kicked
            asked_move[i] = asked
        v_start[i] = v[i]
        v[i] = velocity
        v_free[i] = velocity
        move[i] = asked
        if wp.static(clears):
            f[i] = vec()
            area[i] = vec()

    @wp.func(inline=True)
    def touching_within(reach: real) -> real:
        """How near to a wall a point lies that ends on it; reach: how far it moves."""
        return real(1.0e-3) * reach + wp.static(real(n.tiny))

    @functools.partial(n.kernel(variant), launch_bounds=(256, 4))  # registers for 1,024 threads per multiprocessor
    def meet(
        x: wp.array(dtype=vec),
        v: wp.array(dtype=vec),
        move: wp.array(dtype=vec),
        v_start: wp.array(dtype=vec),
        v_free: wp.array(dtype=vec),
        body: wp.array(dtype=int),
        inverse_mass: wp.array(dtype=real),
        friction: wp.array(dtype=real),
        restitution: wp.array(dtype=real),
        wall_normal: wp.array(dtype=vec),
        wall_point: wp.array(dtype=vec),
        wall_centre: wp.array(dtype=vec),
        wall_velocity: wp.array(dtype=vec),
        wall_spin: wp.array(dtype=spin_type),
        wall_friction: wp.array(dtype=real),
        wall_restitution: wp.array(dtype=real),
        dt: wp.array(dtype=real),
        wall_contact_normal: wp.array(dtype=vec),
        wall_impulse: wp.array(dtype=vec),
        wall_drive: wp.array(dtype=real),
        ends_fused: wp.array(dtype=int),
        follows: int,
        start_index: int,
    ):
        """Velocities and displacements after the walls; and the normal of the wall that a point ends on, or zero.

        follows: the displacement is still to follow what contact did to the velocity; and v_free is the velocity that
        it belongs to, from now on.
        """
        i = at(start_index + wp.tid())
        m1 = inverse_mass[i]
        against = vec()
        b = at(body[i])
        if m1 > real(0.0) and ends_fused[b] == 0:
            h = dt[0]
            made = move[i]
            if follows != 0:
                made = made + h * (v[i] - v_free[i])
            reach = wp.length(made)
            if wp.static(not velocity_first):
                reach += h * wp.length(v[i])
            drive = real(0.0)
            if is_clear(x[i], made, v[i], h, touching_within(reach), wall_normal, wall_point):
                move[i] = made
            else:
                asked, velocity, driven, hits = meet_walls(
                    x[i], made, v_start[i], v[i], v[i] - v_free[i], b, h, friction, restitution,
                    wall_normal, wall_point, wall_centre, wall_velocity, wall_spin, wall_friction, wall_restitution,
                )  # fmt: skip
                if hits > 0:
                    wall_impulse[i] = (velocity - v[i]) / m1
                reach = wp.length(asked)
                if wp.static(not velocity_first):
                    reach += h * wp.length(v[i])
                there = x[i] + asked
                for w in range(wall_normal.shape[0]):
                    if wp.dot(there - wall_point[at(w)], wall_normal[at(w)]) <= touching_within(reach):
                        against = wall_normal[at(w)]
                v[i] = velocity
                move[i] = asked
                drive = driven
            if wp.static(ledger):
                wall_drive[i] = drive
        wall_contact_normal[i] = against
        if follows != 0:
            v_free[i] = v[i]

    @n.kernel(variant)
    def shift(
        move: wp.array(dtype=vec),
        v_free: wp.array(dtype=vec),
        wall_normal: wp.array(dtype=vec),
        wall_point: wp.array(dtype=vec),
        inverse_mass: wp.array(dtype=real),
        dt: wp.array(dtype=real),
        v: wp.array(dtype=vec),
        x: wp.array(dtype=vec),
        clock: wp.array(dtype=wp.float64),
        planned: wp.array(dtype=int),
        until_plan: wp.array(dtype=int),
        substeps: wp.array(dtype=int),
        unfinished: wp.array(dtype=int),
        follows: int,
        counts: int,
        start_index: int,
    ):
        """The displacement is made. Where contact has changed it after the walls, the walls have the last word.

        follows: the displacement is still to follow what contact did to the velocity. counts: the substep ends here.
        """
        i = at(start_index + wp.tid())
        if i == 0 and counts != 0:
            count_substep(dt, clock, planned, until_plan, substeps, unfinished)
        asked = move[i]
        changed = v[i] - v_free[i]
        if follows != 0 and inverse_mass[i] > real(0.0):
            asked = asked + dt[0] * changed
        there = x[i] + asked
        if wp.length_sq(changed) > real(0.0):
            for w in range(wall_normal.shape[0]):
                there -= wp.min(wp.dot(there - wall_point[w], wall_normal[w]), real(0.0)) * wall_normal[w]
        move[i] = there - x[i]
        x[i] = there

    @n.kernel(variant)
    def book(
        v_start: wp.array(dtype=vec),
        v_kicked: wp.array(dtype=vec),
        v: wp.array(dtype=vec),
        asked_move: wp.array(dtype=vec),
        move: wp.array(dtype=vec),
        wall_drive: wp.array(dtype=real),
        lost_force: wp.array(dtype=vec),
        wind_force: wp.array(dtype=vec),
        body: wp.array(dtype=int),
        inverse_mass: wp.array(dtype=real),
        dt: wp.array(dtype=real),
        dissipated: wp.array(dtype=wp.float64),
        work: wp.array(dtype=wp.float64),
        ends_fused: wp.array(dtype=int),
    ):
        """The ledger of this substep: what each point has lost, and what was put in, since its forces were known."""
        i = at(wp.tid())
        b = at(body[i])
        if ends_fused[b] != 0:
            return
        lost, given = booked(
            inverse_mass[i], v_start[i], v_kicked[i], v[i], asked_move[i], move[i], wall_drive[i], lost_force[i],
            wind_force[i], dt[0],
        )  # fmt: skip
        dissipated[b] += lost
        work[b] += given

    return SimpleNamespace(kick=kick, meet=meet, shift=shift, book=book)
