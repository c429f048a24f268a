"""What the search for candidates shares: how far bodies move in a substep, where they face each other, how to list.

A candidate is a vertex and a face, or two edges, that may touch soon. One at distance d sleeps until its pair of bodies
has travelled d less the thickness (`pairs.py`): most are skipped by one comparison.
"""

import functools
from types import SimpleNamespace

import warp as wp

from turgor.contact.geometry import closest_fast
from turgor.kernel.numbers import Numbers, at

__all__ = ["EDGE_EDGE", "URGENT", "VERTEX_FACE", "kernels"]

VERTEX_FACE, EDGE_EDGE = 0, 1
FAR = 3.0e30
URGENT = -3.0e30  # in place of a sleep: this candidate had to be stopped, and must have an impulse next time


@functools.cache
def kernels(n: Numbers) -> SimpleNamespace:
    """measure_motion, slab_pairs, and functions."""
    real, vec, spin_type, dim, face = n.real, n.vec, n.spin, n.dim, n.face
    near = closest_fast.kernels(n)

    if dim == 2:

        @wp.func
        def flat(v: vec) -> wp.vec3f:
            return wp.vec3f(float(v[0]), float(v[1]), 0.0)

        @wp.func
        def spin_speed(spin: spin_type) -> real:
            return wp.abs(spin)

        @wp.func
        def face_distance(p: vec, f: face, points: wp.array(dtype=vec)) -> real:
            _t, gap = near.point_segment(p, points[at(f[0])], points[at(f[1])])
            return wp.length(gap)

    else:

        @wp.func
        def flat(v: vec) -> wp.vec3f:
            return wp.vec3f(float(v[0]), float(v[1]), float(v[2]))

        @wp.func
        def spin_speed(spin: spin_type) -> real:
            return wp.length(spin)

        @wp.func
        def face_distance(p: vec, f: face, points: wp.array(dtype=vec)) -> real:
            _w, gap = near.point_triangle(p, points[at(f[0])], points[at(f[1])], points[at(f[2])])
            return wp.length(gap)

    @n.kernel(__name__)
    def measure_motion(
        point_start: wp.array(dtype=int),
        point_end: wp.array(dtype=int),
        rigid_index: wp.array(dtype=int),
        move: wp.array(dtype=vec),  # of the soft points in this substep
        dt: wp.array(dtype=real),
        rigid_v: wp.array(dtype=vec),
        rigid_spin: wp.array(dtype=spin_type),
        rigid_size: wp.array(dtype=real),
        push_move: wp.array(dtype=vec),
        push_turn: wp.array(dtype=spin_type),
        mean_out: wp.array(dtype=vec),  # m: movement of each contact body in this substep
        spread_out: wp.array(dtype=real),  # m: largest movement of a point of it relative to that
    ):
        c, lane = wp.tid()
        r = rigid_index[c]
        if r >= 0:
            if lane == 0:
                mean_out[c] = dt[0] * rigid_v[r] + push_move[r]
                spread_out[c] = (dt[0] * spin_speed(rigid_spin[r]) + spin_speed(push_turn[r])) * rigid_size[r]
        else:
            first = point_start[c]
            last = point_end[c]
            total = vec()
            for i in range(first + lane, last, wp.block_dim()):
                total += move[at(i)]
            summed = wp.tile_sum(wp.tile(total, preserve_type=True))
            mean = summed[0] / real(last - first)
            most = real(0.0)
            for i in range(first + lane, last, wp.block_dim()):
                d = move[at(i)] - mean
                most = wp.max(most, wp.dot(d, d))
            largest = wp.tile_max(wp.tile(most))
            if lane == 0:
                mean_out[c] = mean
                spread_out[c] = wp.sqrt(largest[0])

    @wp.func
    def approach(mean: wp.array(dtype=vec), spread: wp.array(dtype=real), a: int, b: int) -> real:
        """How much closer features of two bodies can come in this substep."""
        if a == b:
            return real(2.0) * spread[a]
        return wp.length(mean[a] - mean[b]) + spread[a] + spread[b]

    @n.kernel(__name__)
    def slab_pairs(
        points: wp.array(dtype=vec),
        point_start: wp.array(dtype=int),
        point_end: wp.array(dtype=int),
        low: wp.array(dtype=vec),
        high: wp.array(dtype=vec),
        pair_count: wp.array(dtype=int),
        pairs: wp.array(dtype=wp.vec2i),
        pair_stale: wp.array(dtype=int),
        across: wp.array(dtype=vec),
        near_end: wp.array(dtype=real),
        far_end: wp.array(dtype=real),
    ):
        """For each pair the direction from the first to the second, and along it where the second body begins and the
        first ends: what is near the other body lies in the slab between (an easy and strong filter for round bodies).
        """
        pair, lane = wp.tid()
        if pair < wp.min(pair_count[0], pairs.shape[0]) and pair_stale[pair] != 0:
            ids = pairs[pair]
            a = ids[0]
            b = ids[1]
            d = low[b] + high[b] - low[a] - high[a]
            size = wp.length(d)
            if size > real(0.0):
                d = d / size
            begin = real(FAR)
            for i in range(point_start[b] + lane, point_end[b], wp.block_dim()):
                begin = wp.min(begin, wp.dot(d, points[at(i)]))
            end = real(-FAR)
            for i in range(point_start[a] + lane, point_end[a], wp.block_dim()):
                end = wp.max(end, wp.dot(d, points[at(i)]))
            first = wp.tile_min(wp.tile(begin))
            last = wp.tile_max(wp.tile(end))
            if lane == 0:
                across[pair] = d
                near_end[pair] = first[0]
                far_end[pair] = last[0]

    @wp.func
    def add(
        pair: int,
        first: int,
        second: int,
        kind: int,
        sleep: real,
        count: wp.array(dtype=int),
        candidates: wp.array(dtype=wp.vec4i),
        asleep: wp.array(dtype=real),
        pressing: wp.array(dtype=real),
        overflow: wp.array(dtype=int),
    ):
        slot = wp.atomic_add(count, 0, 1)
        if slot < candidates.shape[0]:
            candidates[slot] = wp.vec4i(pair, first, second, kind)
            asleep[slot] = sleep
            pressing[slot] = real(0.0)
        else:
            overflow[0] = 1
            wp.atomic_max(overflow, 2, slot + 1)

    return SimpleNamespace(
        measure_motion=measure_motion,
        slab_pairs=slab_pairs,
        approach=approach,
        face_distance=face_distance,
        add=add,
        flat=flat,
    )
