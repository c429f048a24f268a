"""Whole substeps of a small body by one block of threads: a point per thread, nothing but its walls from outside.

A GPU's launch takes as long as a substep of thousands of small bodies. Where bodies touch nothing, a block needs no
other one: it keeps positions and velocities in shared memory, adds up the volume by itself, and goes on to the next
substep. The laws are those of `forces/gather.py`, `forces/gas.py` and `solvers/fused.py`.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.forces import gas, gather
from turgor.kernel import native
from turgor.kernel.blocks import block_sum
from turgor.kernel.numbers import FACE_SHARE, Numbers, at
from turgor.solvers import plan, velocity

__all__ = ["BLOCKS", "kernels", "most_vertices"]

BLOCKS = (64, 128, 192, 256, 384, 512, 768, 1024)  # threads; each is compiled on its own
RESIDENT = 768  # threads that are to find room on a multiprocessor


def most_vertices(n: Numbers) -> int:
    """Of a body: two records of four numbers per vertex must fit the shared memory that every block may have."""
    return 1024 if n.precision == "single" else 512


@functools.cache
@no_type_check
def kernels(n: Numbers, velocity_first: bool, block: int) -> SimpleNamespace:
    """run_bodies: one block per body; count_substeps after it. block: threads, at least as many as vertices."""
    real, vec, spin_type, dim, quad = n.real, n.vec, n.spin, n.dim, n.quad
    share = wp.constant(real(FACE_SHARE[dim]))
    spring_pull, fan_vector = gather.kernels(n).spring_pull, gather.kernels(n).fan_vector
    gas_pressure, pumped = gas.kernels(n).gas_pressure, gas.kernels(n).pumped
    shared = velocity.kernels(n, False, velocity_first, False)
    update, meet_walls = shared.update, shared.meet_walls
    count_substep = plan.kernels(n).count_substep
    barrier = native.kernels(n).barrier
    number = "wp::float32" if n.precision == "single" else "wp::float64"
    words = f"struct alignas(16) Words {{ {number} c[4]; }};"
    variant = f"{__name__}_{block}{'v' if velocity_first else ''}"

    @wp.func_native(f"""
        {words}
        __shared__ Words records[{2 * block}];
        return reinterpret_cast<wp::uint64>(records);
    """)
    def shared_records() -> wp.uint64:
        """Where the block keeps positions and velocities: two records per vertex."""

    @wp.func_native(f"""
        {words}
        Words w = reinterpret_cast<const Words*>(records)[i];
        return wp::vec_t<4, {number}>(w.c[0], w.c[1], w.c[2], w.c[3]);
    """)
    def record(records: wp.uint64, i: int) -> quad: ...

    @wp.func_native(f"""
        {words}
        Words w = {{{{value[0], value[1], value[2], value[3]}}}};
        reinterpret_cast<Words*>(records)[i] = w;
    """)
    def keep(records: wp.uint64, i: int, value: quad): ...

    if dim == 2:

        @wp.func
        def widened(a: vec) -> quad:
            return quad(a[0], a[1], real(0.0), real(0.0))

        @wp.func
        def narrowed(a: quad) -> vec:
            return vec(a[0], a[1])

    else:

        @wp.func
        def widened(a: vec) -> quad:
            return quad(a[0], a[1], a[2], real(0.0))

        @wp.func
        def narrowed(a: quad) -> vec:
            return vec(a[0], a[1], a[2])

    @wp.func
    def due(until_plan: int, any_watched: int, turn: int) -> int:
        """Substeps in this launch: a turn, or up to the next plan if no body is to be looked at before."""
        if turn == 1:
            return 1
        return wp.where(any_watched == 0, until_plan, wp.min(until_plan, turn))

    # registers of a thread are limited, so that blocks find room
    @functools.partial(n.kernel(variant), launch_bounds=(block, max(1, RESIDENT // block)))
    def run_bodies(
        turn: int,  # substeps, where a body is watched; 1: not more in any case
        counted: int,  # substeps that the clock is ahead
        weight: real,
        until_plan: wp.array(dtype=int),
        any_watched: wp.array(dtype=int),
        ends_fused: wp.array(dtype=int),
        chunk_first: wp.array(dtype=int),
        chunk_start: wp.array(dtype=int),
        x: wp.array(dtype=vec),
        v: wp.array(dtype=vec),
        neighbour_start: wp.array(dtype=int),
        fan_end: wp.array(dtype=int),
        neighbours: wp.array(dtype=int),
        neighbour_rest: wp.array(dtype=real),
        inverse_mass: wp.array(dtype=real),
        stiffness: wp.array(dtype=real),
        damping: wp.array(dtype=real),
        drag: wp.array(dtype=real),
        decay: wp.array(dtype=real),
        friction: wp.array(dtype=real),
        restitution: wp.array(dtype=real),
        rest_volume: wp.array(dtype=real),
        nRT: wp.array(dtype=real),
        ambient: wp.array(dtype=real),
        gamma: wp.array(dtype=real),
        held: wp.array(dtype=int),
        inflate: wp.array(dtype=real),
        gravity_waits: wp.array(dtype=int),
        world: wp.array(dtype=int),
        gravity: wp.array(dtype=vec),
        grab_vertex: wp.array(dtype=int),
        grab_target: wp.array(dtype=vec),
        grab_stiffness: wp.array(dtype=real),
        grab_damping: wp.array(dtype=real),
        wall_normal: wp.array(dtype=vec),
        wall_point: wp.array(dtype=vec),
        wall_centre: wp.array(dtype=vec),
        wall_velocity: wp.array(dtype=vec),
        wall_spin: wp.array(dtype=spin_type),
        wall_friction: wp.array(dtype=real),
        wall_restitution: wp.array(dtype=real),
        dt: wp.array(dtype=real),
        clock: wp.array(dtype=wp.float64),
        wall_impulse: wp.array(dtype=vec),
        exact_volume_out: wp.array(dtype=real),
        volume_out: wp.array(dtype=real),
        pressure_out: wp.array(dtype=real),
        push_out: wp.array(dtype=real),
        body_gravity_out: wp.array(dtype=vec),
    ):
        b, lane = wp.tid()
        if ends_fused[b] == 0:
            return
        begin = chunk_start[chunk_first[b]]
        many = chunk_start[chunk_first[b + 1]] - begin
        i = at(begin + wp.min(lane, many - 1))
        mine = lane < many
        here = x[i]
        speed = v[i]
        m1 = inverse_mass[i]
        first = neighbour_start[i]
        last = neighbour_start[i + 1]
        fan = fan_end[i]
        closed = fan > 0
        fan = wp.abs(fan)
        if not mine:
            last = first
        k = stiffness[b]
        kd = damping[b]
        springy = k > real(0.0) or kd > real(0.0)
        h = dt[0]
        v0 = rest_volume[b]
        start = ambient[b] * v0  # the pump starts from zero gauge pressure
        volume = real(0.0)
        pressure = real(0.0)
        push = real(0.0)
        down = vec()
        records = shared_records()
        keep(records, 2 * lane, widened(here))
        keep(records, 2 * lane + 1, widened(speed))
        barrier()
        for s in range(due(until_plan[0], any_watched[0], turn)):
            force = vec()
            area = vec()
            before = vec()
            opening = vec()
            for q in range(first, last):
                j = at(neighbours[at(q)] - begin)
                d = narrowed(record(records, 2 * j)) - here
                if springy:
                    other = narrowed(record(records, 2 * j + 1))
                    force += spring_pull(d, other - speed, neighbour_rest[at(q)], k, kd)
                if q < fan:
                    if q == first:
                        opening = d
                    elif wp.static(dim == 3):
                        area += fan_vector(before, d)
                    before = d
            if closed and mine:  # fans of outlines always are
                area += fan_vector(before, opening)
            own = wp.dot(here - narrowed(record(records, 0)), area)
            volume = share * (block_sum(own) / real(dim))
            time = clock[0] + wp.float64(s - counted) * wp.float64(h)
            ramp = pumped(time, inflate[b])
            amount = nRT[b]
            if ramp < real(1.0):
                amount = start + (amount - start) * ramp
            pressure = gas_pressure(volume, v0, amount, gamma[b], held[b])
            push = (pressure - ambient[b]) * share
            down = gravity[at(world[b])]
            if gravity_waits[b] != 0 and ramp < real(1.0):
                down = vec()
            if grab_vertex[b] == i:
                force += grab_stiffness[b] * (grab_target[b] - here) - grab_damping[b] * speed
            if mine and m1 > real(0.0):  # a pinned point has no inverse mass and stays
                velocity, asked, _kicked = update(
                    weight, speed, speed, vec(), vec(), force, area, m1, push, down, drag[b], decay[b], h
                )
                move, after, _drive, hits = meet_walls(
                    here, asked, speed, velocity, vec(), b, h, friction, restitution,
                    wall_normal, wall_point, wall_centre, wall_velocity, wall_spin, wall_friction, wall_restitution,
                )  # fmt: skip
                if hits > 0:
                    wall_impulse[i] = (after - velocity) / m1
                speed = after
                here = here + move
                keep(records, 2 * lane, widened(here))
                keep(records, 2 * lane + 1, widened(speed))
            barrier()
        if mine:
            x[i] = here
            v[i] = speed
        if lane == 0:
            exact_volume_out[b] = volume
            volume_out[b] = volume
            pressure_out[b] = pressure
            push_out[b] = push
            body_gravity_out[b] = down

    @n.kernel(variant)
    def count_substeps(
        turn: int,
        any_watched: wp.array(dtype=int),
        dt: wp.array(dtype=real),
        clock: wp.array(dtype=wp.float64),
        planned: wp.array(dtype=int),
        until_plan: wp.array(dtype=int),
        substeps: wp.array(dtype=int),
        unfinished: wp.array(dtype=int),
    ):
        """Those of run_bodies are done."""
        for _ in range(due(until_plan[0], any_watched[0], turn)):
            count_substep(dt, clock, planned, until_plan, substeps, unfinished)

    return SimpleNamespace(run_bodies=run_bodies, count_substeps=count_substeps)
