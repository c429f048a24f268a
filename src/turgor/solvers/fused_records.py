"""The end of a substep in one kernel, as `solvers/fused.py`, on records of 16 bytes (`forces/gather_records.py`)."""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.forces import gather_records
from turgor.kernel import native
from turgor.kernel.numbers import Numbers, at
from turgor.model.model import BLOCK
from turgor.solvers import plan, velocity

__all__ = ["kernels"]

RESIDENT = 1024  # threads that are to find room on a multiprocessor


@functools.cache
@no_type_check
def kernels(n: Numbers, velocity_first: bool) -> SimpleNamespace:
    """advance_records: one block per chunk of vertices."""
    real, vec, spin_type, quad = n.real, n.vec, n.spin, n.quad
    shared = velocity.kernels(n, False, velocity_first, False)
    update, meet_walls = shared.update, shared.meet_walls
    widened, narrowed = gather_records.kernels(n).widened, gather_records.kernels(n).narrowed
    load_quad, store_quad = native.kernels(n).load_quad, native.kernels(n).store_quad
    count_substep = plan.kernels(n).count_substep

    @functools.partial(n.kernel(f"{__name__}{'_v' if velocity_first else ''}"), launch_bounds=(BLOCK, RESIDENT // BLOCK))
    def advance_records(
        last: int,  # whether the state is needed after this substep, and not only the records
        weight: real,
        records: wp.array(dtype=quad),
        x: wp.array(dtype=vec),
        v: wp.array(dtype=vec),
        f: wp.array(dtype=vec),
        area: wp.array(dtype=vec),
        chunk_body: wp.array(dtype=int),
        chunk_start: wp.array(dtype=int),
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
        ends_fused: wp.array(dtype=int),
    ):
        chunk, lane = wp.tid()
        if chunk == 0 and lane == 0:
            count_substep(dt, clock, planned, until_plan, substeps, unfinished)
        b = chunk_body[chunk]
        p = chunk_start[chunk] + lane
        if p < chunk_start[chunk + 1]:
            i = at(p)
            first = load_quad(records, 2 * i)
            v0 = narrowed(load_quad(records, 2 * i + 1))
            force = f[i]
            vector = area[i]
            if ends_fused[b] == 0:
                return
            here = narrowed(first)
            m1 = first[3]
            if m1 > real(0.0):  # a pinned point has no inverse mass and stays
                h = dt[0]
                velocity, asked, _kicked = update(
                    weight, v0, v0, vec(), vec(), force, vector, m1, push[b], body_gravity[b], drag[b], decay[b], h
                )
                move, after, _drive, hits = meet_walls(
                    here, asked, v0, velocity, vec(), b, h, friction, restitution,
                    wall_normal, wall_point, wall_centre, wall_velocity, wall_spin, wall_friction, wall_restitution,
                )  # fmt: skip
                if hits > 0:
                    wall_impulse[i] = (after - velocity) / m1
                store_quad(records, 2 * i, widened(here + move, m1))
                store_quad(records, 2 * i + 1, widened(after, real(0.0)))
                if last != 0:
                    x[i] = here + move
                    v[i] = after

    return SimpleNamespace(advance_records=advance_records)
