"""Pairs of bodies that are near each other, and how long the lists of their features last.

The lists outlive a substep. Each pair of bodies sums how far its features can have come closer since its list was made
("travel": relative movement of the bodies as a whole, plus the largest movement of a point within each). The list is
made anew when that exceeds the pair's margin. Pairs are looked for again when a body has left its own bounds; those
that were there before keep their lists.
"""

import functools
from types import SimpleNamespace

import warp as wp

from turgor.contact.features.search import candidates as nearby
from turgor.kernel.numbers import Numbers, at

__all__ = ["DOUBTED", "kernels"]

LIFE = 64.0  # substeps that lists should last at the present speeds
LEAST, MOST = 0.02, 0.3  # margin of a pair in edge lengths, where the speed allows
ROOM = 2.0  # edge lengths: most by which the bounds of a body are enlarged, where the speed allows
EAGER = 0.75  # share of the margin from which on a list is made anew along with others: each time costs
FOLDING = 0.2  # edge lengths: movement within a body after which it may touch itself although it could not before
DOUBTED = 2  # in place of a pair being stale: of one body, and worth a second look (`own_lists.py`)
FAR = nearby.FAR


@functools.cache
def kernels(n: Numbers) -> SimpleNamespace:
    """In the order of a substep; what follows `judge` only if something is stale."""
    real, vec, dim = n.real, n.vec, n.dim
    approach = nearby.kernels(n).approach

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
        second_look: wp.array(dtype=int),
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
                if ids[0] == ids[1]:
                    pair_stale[at(p)] = DOUBTED
                    second_look[0] = 1
                else:
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
        first_pair: wp.array(dtype=int),
        made: wp.array(dtype=int),  # how often pairs were looked for
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
                wp.max(real(1.5) * step, wp.min(real(LIFE) * step, real(ROOM) * edge_size[c]))
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
            first_pair[c] = -1
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
        place: wp.array(dtype=int),
        kept: wp.array(dtype=int),
        stride: int,
    ):
        """New margins for pairs that are stale or soon will be; the others stay in their places, with their lists."""
        if wp.tid() == 0:
            kept[0] = 0
        for k in range(wp.tid(), wp.min(pair_count[0], pairs.shape[0]), stride):
            p = at(k)
            place[p] = k
            if pair_stale[p] != 0 or travel[p] > real(EAGER) * margin[p]:
                pair_stale[p] = 1
                place[p] = -1
                a = at(pairs[p][0])
                b = at(pairs[p][1])
                step = approach(mean, spread, a, b)
                travel[p] = real(0.0)
                reach[p] = real(1.1) * step
                margin[p] = fit_margin(step, wp.min(edge_size[a], edge_size[b]))

    @n.kernel(__name__)
    def set_pairs_aside(
        pair_count: wp.array(dtype=int),
        pairs: wp.array(dtype=wp.vec2i),
        margin: wp.array(dtype=real),
        travel: wp.array(dtype=real),
        old_second: wp.array(dtype=int),
        old_margin: wp.array(dtype=real),
        old_travel: wp.array(dtype=real),
        first_pair: wp.array(dtype=int),  # of each body, as the first of the two; -1 if none
        next_pair: wp.array(dtype=int),  # of the same body
        place: wp.array(dtype=int),
        kept: wp.array(dtype=int),
        stride: int,
    ):
        """The pairs as they were, in chains by their first body, to be found again by `list_pairs`."""
        if wp.tid() == 0:
            kept[0] = 0
        for k in range(wp.tid(), wp.min(pair_count[0], pairs.shape[0]), stride):
            p = at(k)
            old_second[p] = pairs[p][1]
            old_margin[p] = margin[p]
            old_travel[p] = travel[p]
            place[p] = -1
            next_pair[p] = wp.atomic_exch(first_pair, pairs[p][0], k)

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
        old_second: wp.array(dtype=int),
        old_margin: wp.array(dtype=real),
        old_travel: wp.array(dtype=real),
        first_pair: wp.array(dtype=int),
        next_pair: wp.array(dtype=int),
        place: wp.array(dtype=int),
        pair_count: wp.array(dtype=int),
        pairs: wp.array(dtype=wp.vec2i),
        margin: wp.array(dtype=real),
        travel: wp.array(dtype=real),
        reach: wp.array(dtype=real),
        pair_stale: wp.array(dtype=int),
        overflow: wp.array(dtype=int),
    ):
        """Pairs of bodies with overlapping boxes, each once; pairs of rigid bodies are not ours.

        Boxes only choose the pairs: what a pair's list says of its features holds until its own margin is used up.
        """
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
                        old = first_pair[a]
                        while old >= 0 and old_second[at(old)] != b:
                            old = next_pair[at(old)]
                        pairs[slot] = wp.vec2i(a, b)
                        travel[slot] = real(0.0)
                        margin[slot] = fit_margin(step, wp.min(edge_size[a], edge_size[b]))
                        pair_stale[slot] = 1
                        if old >= 0:
                            if old_travel[at(old)] + real(1.1) * step <= old_margin[at(old)]:
                                travel[slot] = old_travel[at(old)]
                                margin[slot] = old_margin[at(old)]
                                pair_stale[slot] = 0
                                place[at(old)] = slot
                        reach[slot] = travel[slot] + real(1.1) * step
                    else:
                        overflow[0] = 1
                        wp.atomic_max(overflow, 1, slot + 1)

    @n.kernel(__name__)
    def sift(
        place: wp.array(dtype=int),  # of each pair that was listed, among those that are; -1 if its list is made anew
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
        """Set the candidates of pairs that keep their lists aside."""
        for c in range(wp.tid(), wp.min(count[0], candidates.shape[0]), stride):
            candidate = candidates[at(c)]
            pair = place[at(candidate[0])]
            if pair >= 0:
                slot = at(wp.atomic_add(kept, 0, 1))
                kept_candidates[slot] = wp.vec4i(pair, candidate[1], candidate[2], candidate[3])
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

    return SimpleNamespace(
        judge=judge,
        bound_bodies=bound_bodies,
        set_pairs_aside=set_pairs_aside,
        list_pairs=list_pairs,
        renew_pairs=renew_pairs,
        sift=sift,
        put_back=put_back,
    )
