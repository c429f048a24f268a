"""The end of a substep in one kernel: velocities, walls, positions. For scenes in which no bodies touch."""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.kernel.numbers import Numbers, at
from turgor.solvers import plan, velocity

__all__ = ["kernels"]


@functools.cache
@no_type_check
def kernels(n: Numbers, staged: bool, velocity_first: bool, clears: bool, ledger: bool) -> SimpleNamespace:
    """advance. clears: the force accumulators must be zero after use; other options: those of `velocity.kernels`."""
    real, vec, spin_type = n.real, n.vec, n.spin
    variant = velocity.variant_of(__name__, staged, velocity_first, clears, ledger)
    shared = velocity.kernels(n, staged, velocity_first, ledger)
    update, meet_walls, booked = shared.update, shared.meet_walls, shared.booked
    count_substep = plan.kernels(n).count_substep

    @functools.partial(n.kernel(variant), launch_bounds=(256, 4))  # registers for 1,024 threads per multiprocessor
    def advance(
        weight: real,
        x: wp.array(dtype=vec),  # state: at the start of the substep, and its end on return
        v: wp.array(dtype=vec),
        v_stage: wp.array(dtype=vec),  # velocities at which the forces were evaluated
        x_slope: wp.array(dtype=vec),  # weighted velocities and accelerations of the stages before
        v_slope: wp.array(dtype=vec),
        f: wp.array(dtype=vec),
        area: wp.array(dtype=vec),
        body: wp.array(dtype=int),
        inverse_mass: wp.array(dtype=real),
        push: wp.array(dtype=real),
        body_gravity: wp.array(dtype=vec),
        drag: wp.array(dtype=real),
        decay: wp.array(dtype=real),
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
        clock: wp.array(dtype=wp.float64),
        planned: wp.array(dtype=int),
        until_plan: wp.array(dtype=int),
        substeps: wp.array(dtype=int),
        unfinished: wp.array(dtype=int),
        wall_impulse: wp.array(dtype=vec),
        lost_force: wp.array(dtype=vec),
        wind_force: wp.array(dtype=vec),
        dissipated: wp.array(dtype=wp.float64),
        work: wp.array(dtype=wp.float64),
        ends_fused: wp.array(dtype=int),
        counts: int,  # whether this ends the substep of all worlds
        start_index: int,
    ):
        i = at(start_index + wp.tid())
        if i == 0 and counts != 0:
            count_substep(dt, clock, planned, until_plan, substeps, unfinished)
        if ends_fused[at(body[i])] == 0:
            return
        h = dt[0]
        m1 = inverse_mass[i]
        if m1 > real(0.0):  # a pinned point has no inverse mass and stays
            b = at(body[i])
            here = x[i]
            v0 = v[i]
            vs = v0
            x_before = vec()
            v_before = vec()
            if wp.static(staged):
                vs = v_stage[i]
                x_before = x_slope[i]
                v_before = v_slope[i]
            velocity, asked, kicked = update(
                weight, v0, vs, x_before, v_before, f[i], area[i], m1, push[b], body_gravity[b], drag[b], decay[b], h
            )
            move, after, drive, hits = meet_walls(
                here, asked, v0, velocity, vec(), b, h, friction, restitution,
                wall_normal, wall_point, wall_centre, wall_velocity, wall_spin, wall_friction, wall_restitution,
            )  # fmt: skip
            if hits > 0:
                wall_impulse[i] = (after - velocity) / m1
            v[i] = after
            x[i] = here + move
            if wp.static(ledger):
                lost, given = booked(
                    m1, v0, kicked, after, asked, move, drive, lost_force[i], wind_force[i], h
                )  # fmt: skip
                dissipated[b] += lost
                work[b] += given
        if wp.static(clears):
            f[i] = vec()
            area[i] = vec()

    return SimpleNamespace(advance=advance)
