"""Which features may touch soon: pairs of bodies by their bounds, then vertex-face and edge-edge candidates by a BVH.

The lists outlive a substep. Each pair of bodies sums how far its features can have come closer since the lists were
made ("travel": relative movement of the bodies as a whole, plus the largest movement of a point within each). They
are made anew when that exceeds the pair's margin, or when a body has left its own bounds. A candidate at distance d
sleeps until the travel exceeds d less the thickness: most are skipped by one comparison.
"""

import functools
from types import SimpleNamespace

import warp as wp

from turgor.contact import quick
from turgor.kernel import Numbers, at

__all__ = ["EDGE_EDGE", "URGENT", "VERTEX_FACE", "kernels"]

VERTEX_FACE, EDGE_EDGE = 0, 1
LIFE = 16.0  # substeps that lists should last at the present speeds
LEAST, MOST = 0.02, 0.3  # margin of a pair in edge lengths, where the speed allows
FOLDING = 0.2  # edge lengths: movement within a body after which it may touch itself although it could not before
FAR = 3.0e30
URGENT = -3.0e30  # in place of a sleep: this candidate had to be stopped, and must have an impulse next time


@functools.cache
def kernels(n: Numbers) -> SimpleNamespace:
    """In the order of a substep; what follows `judge` only if something is stale."""
    real, vec, spin_type, dim, face = n.real, n.vec, n.spin, n.dim, n.face
    near = quick.kernels(n)

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
    def judge(
        bodies: int,
        mean: wp.array(dtype=vec),
        spread: wp.array(dtype=real),
        wandered: wp.array(dtype=real),  # m: how far a point of each body can be from where the bounds were taken
        room: wp.array(dtype=real),  # m: by how much its bounds were enlarged
        pair_count: wp.array(dtype=int),
        pairs: wp.array(dtype=wp.vec2i),
        margin: wp.array(dtype=real),
        travel: wp.array(dtype=real),
        reach: wp.array(dtype=real),  # travel at the end of this substep
        stale: wp.array(dtype=int),
        pair_stale: wp.array(dtype=int),
        some_stale: wp.array(dtype=int),
        edge_size: wp.array(dtype=real),
        deformed: wp.array(dtype=real),  # m: how far points can have moved within each body since `simple` was found
        doubt: wp.array(dtype=int),
        stride: int,
    ):
        """Whether the lists hold for this substep too. Contact may speed points up: a tenth is allowed for."""
        lane = wp.tid()
        for c in range(lane, bodies, stride):
            if not (deformed[c] + real(1.1) * spread[c] <= real(FOLDING) * edge_size[c]):
                doubt[0] = 1
            if not (wandered[c] + real(1.1) * (wp.length(mean[c]) + spread[c]) <= room[c]):
                stale[0] = 1
        for p in range(lane, pair_count[0], stride):
            ids = pairs[at(p)]
            ahead = travel[at(p)] + real(1.1) * approach(mean, spread, at(ids[0]), at(ids[1]))
            reach[at(p)] = ahead
            if not (ahead <= margin[at(p)]):
                pair_stale[at(p)] = 1
                some_stale[0] = 1

    @n.kernel(__name__)
    def bound_bodies(
        point_start: wp.array(dtype=int),
        point_end: wp.array(dtype=int),
        points: wp.array(dtype=vec),
        thickness: wp.array(dtype=real),
        edge_size: wp.array(dtype=real),
        mean: wp.array(dtype=vec),
        spread: wp.array(dtype=real),
        low: wp.array(dtype=vec),
        high: wp.array(dtype=vec),
        wandered: wp.array(dtype=real),
        room: wp.array(dtype=real),
        made: wp.array(dtype=int),  # how often lists were made
    ):
        """Boxes of all contact bodies, enlarged by their thickness and by what they may move while the lists last."""
        c, lane = wp.tid()
        big = real(FAR)
        lowest = vec(big)
        highest = vec(-big)
        for i in range(point_start[c] + lane, point_end[c], wp.block_dim()):
            lowest = wp.min(lowest, points[at(i)])
            highest = wp.max(highest, points[at(i)])
        for axis in range(dim):
            least = wp.tile_min(wp.tile(lowest[axis]))
            most = wp.tile_max(wp.tile(highest[axis]))
            lowest[axis] = least[0]
            highest[axis] = most[0]
        if lane == 0:
            step = wp.length(mean[c]) + spread[c]
            free = (
                wp.max(real(1.5) * step, wp.min(real(LIFE) * step, real(2.0) * edge_size[c]))
                + real(LEAST) * edge_size[c]
            )
            border = free + thickness[c]
            for axis in range(dim):
                lowest[axis] = lowest[axis] - border
                highest[axis] = highest[axis] + border
            low[c] = lowest
            high[c] = highest
            wandered[c] = real(0.0)
            room[c] = free
            if c == 0:
                made[0] += 1

    @wp.func
    def apart(a: int, b: int, low: wp.array(dtype=vec), high: wp.array(dtype=vec)) -> bool:
        for axis in range(dim):
            if low[a][axis] > high[b][axis] or low[b][axis] > high[a][axis]:
                return True
        return False

    @wp.func
    def fit_margin(step: real, edge: real) -> real:
        """How much closer features may come before a pair's list is made anew, at an approach of `step` per substep."""
        return wp.max(real(1.5) * step, wp.min(real(LIFE) * step, real(MOST) * edge)) + real(LEAST) * edge

    @n.kernel(__name__)
    def renew_pairs(
        edge_size: wp.array(dtype=real),
        mean: wp.array(dtype=vec),
        spread: wp.array(dtype=real),
        pair_count: wp.array(dtype=int),
        pairs: wp.array(dtype=wp.vec2i),
        margin: wp.array(dtype=real),
        travel: wp.array(dtype=real),
        reach: wp.array(dtype=real),
        pair_stale: wp.array(dtype=int),
        kept: wp.array(dtype=int),
        stride: int,
    ):
        """New margins for stale pairs."""
        if wp.tid() == 0:
            kept[0] = 0
        for k in range(wp.tid(), wp.min(pair_count[0], pairs.shape[0]), stride):
            p = at(k)
            if pair_stale[p] != 0:
                a = at(pairs[p][0])
                b = at(pairs[p][1])
                step = approach(mean, spread, a, b)
                travel[p] = real(0.0)
                reach[p] = real(1.1) * step
                margin[p] = fit_margin(step, wp.min(edge_size[a], edge_size[b]))

    @n.kernel(__name__)
    def sift(
        pair_stale: wp.array(dtype=int),
        count: wp.array(dtype=int),
        candidates: wp.array(dtype=wp.vec4i),
        asleep: wp.array(dtype=real),
        pressing: wp.array(dtype=real),
        kept: wp.array(dtype=int),
        kept_candidates: wp.array(dtype=wp.vec4i),
        kept_asleep: wp.array(dtype=real),
        kept_pressing: wp.array(dtype=real),
        stride: int,
    ):
        """Set the candidates of pairs that are not stale aside."""
        for c in range(wp.tid(), wp.min(count[0], candidates.shape[0]), stride):
            if pair_stale[at(candidates[at(c)][0])] == 0:
                slot = at(wp.atomic_add(kept, 0, 1))
                kept_candidates[slot] = candidates[at(c)]
                kept_asleep[slot] = asleep[at(c)]
                kept_pressing[slot] = pressing[at(c)]

    @n.kernel(__name__)
    def put_back(
        kept: wp.array(dtype=int),
        kept_candidates: wp.array(dtype=wp.vec4i),
        kept_asleep: wp.array(dtype=real),
        kept_pressing: wp.array(dtype=real),
        count: wp.array(dtype=int),
        candidates: wp.array(dtype=wp.vec4i),
        asleep: wp.array(dtype=real),
        pressing: wp.array(dtype=real),
        stride: int,
    ):
        """What was set aside is the list now."""
        if wp.tid() == 0:
            count[0] = kept[0]
        for c in range(wp.tid(), kept[0], stride):
            candidates[at(c)] = kept_candidates[at(c)]
            asleep[at(c)] = kept_asleep[at(c)]
            pressing[at(c)] = kept_pressing[at(c)]

    @n.kernel(__name__)
    def list_pairs(
        per_world: int,
        soft: int,  # the first of a world's bodies that is rigid
        stranger_start: wp.array(dtype=int),
        stranger: wp.array(dtype=int),  # bodies that are glued together and do not touch
        low: wp.array(dtype=vec),
        high: wp.array(dtype=vec),
        self_contact: wp.array(dtype=int),
        simple: wp.array(dtype=int),  # bodies that cannot touch themselves as they are now
        edge_size: wp.array(dtype=real),
        mean: wp.array(dtype=vec),
        spread: wp.array(dtype=real),
        pair_count: wp.array(dtype=int),
        pairs: wp.array(dtype=wp.vec2i),
        margin: wp.array(dtype=real),
        travel: wp.array(dtype=real),
        reach: wp.array(dtype=real),
        pair_stale: wp.array(dtype=int),
        overflow: wp.array(dtype=int),
    ):
        """Pairs of bodies with overlapping boxes, each once; pairs of rigid bodies are not ours."""
        a = wp.tid()
        begin = a // per_world * per_world
        if a - begin < soft:
            for b in range(a, begin + per_world):
                wanted = self_contact[a] != 0 and simple[a] == 0
                if b > a:
                    wanted = not apart(a, b, low, high)
                    for s in range(stranger_start[a], stranger_start[a + 1]):
                        if stranger[s] == b:
                            wanted = False
                if wanted:
                    slot = wp.atomic_add(pair_count, 0, 1)
                    if slot < pairs.shape[0]:
                        step = approach(mean, spread, a, b)
                        pairs[slot] = wp.vec2i(a, b)
                        travel[slot] = real(0.0)
                        reach[slot] = real(1.1) * step
                        margin[slot] = fit_margin(step, wp.min(edge_size[a], edge_size[b]))
                        pair_stale[slot] = 1
                    else:
                        overflow[0] = 1
                        wp.atomic_max(overflow, 1, slot + 1)

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
        judge=judge,
        bound_bodies=bound_bodies,
        list_pairs=list_pairs,
        renew_pairs=renew_pairs,
        sift=sift,
        put_back=put_back,
        slab_pairs=slab_pairs,
        approach=approach,
        face_distance=face_distance,
        add=add,
        flat=flat,
    )
