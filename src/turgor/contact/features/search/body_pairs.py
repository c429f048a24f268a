"""Pairs of bodies that are near each other, and how long the lists of their features last.

The lists outlive a substep. Each pair of bodies sums how far its features can have come closer since its list was built
(its travel: relative movement of the bodies, plus the largest movement of a point within each). The list is rebuilt
when that exceeds the pair's margin. Pairs are searched again when a body has left its own bounds; those that were there
before keep their lists.
"""

import functools
from types import SimpleNamespace
from typing import Any, no_type_check

import warp as wp

from turgor.contact.features.launch import PAIRS, FeatureLauncher
from turgor.contact.features.search import motion
from turgor.contact.features.search.candidates import FAR
from turgor.kernel.blocks import block_max, block_min
from turgor.kernel.launch import begin_of
from turgor.kernel.numbers import Numbers, at
from turgor.model.model import Model
from turgor.model.surfaces import Surfaces

__all__ = ["BodyPairs", "kernels"]

LIFE = 64.0  # substeps that lists should last at the present speeds
LEAST, MOST = 0.02, 0.3  # margin of a pair in edge lengths, where the speed allows
WIDEST = 2.0  # edge lengths: most by which the bounds of a body are enlarged, where the speed allows
EAGER = 0.75  # share of the margin from which on a list is rebuilt along with others: each time costs
EAGER_TOGETHER = 0.3  # the same on a GPU, where many lists take as long as one
FOLDING = 0.2  # edge lengths: movement within a body after which it may be star-shaped although it was not before


class BodyPairs:
    """Bounds of the bodies, the pairs whose bounds overlap, and what is left of the margins of their lists."""

    SAVED = (
        "pair_count", "pairs", "own_pair", "own_holds", "own_left", "pair_margin", "pair_travel", "body_drift",
        "body_margin", "body_low", "body_high",
    )  # fmt: skip

    def __init__(self, model: Model, surfaces: Surfaces, launch: FeatureLauncher) -> None:
        n, zeros = model.numbers, launch.zeros
        self.numbers, self.kernels = n, kernels(n)
        self.bodies_per_world = surfaces.bodies
        self.total_bodies = total = surfaces.bodies * model.worlds
        self.body_low, self.body_high = zeros(total, n.vec), zeros(total, n.vec)  # m: bounds
        self.body_margin = zeros(total, n.real)  # m: by how much they were enlarged
        self.body_drift = zeros(total, n.real)  # m: how far a point can be from where the bounds were taken
        self.pair_count = zeros(1, wp.int32)
        self.first_pair = zeros(total, wp.int32)  # of each body, as the first of the two; -1 if none
        self.own_pair = zeros(total, wp.int32)  # of each body with itself; -1 if none
        # whether its list holds while no patch uses up its margin, and m: the least that is left (`patch_margins.py`)
        self.own_holds, self.own_left = zeros(total, wp.int32), zeros(total, n.real)
        self.stale_count = zeros(1, wp.int32)
        self.eager = EAGER_TOGETHER if launch.parallel else EAGER
        self.capacity = 8 * total + 64
        self.launch = launch.extended(self)
        self.allocate()

    def allocate(self) -> None:
        """Lists of the present capacity."""
        real, zeros, size = self.numbers.real, self.launch.zeros, self.capacity
        self.pairs = zeros(size, wp.vec2i)
        self.pair_margin, self.pair_travel = zeros(size, real), zeros(size, real)  # m
        self.pair_travel_end = zeros(size, real)  # m: at the end of this substep
        self.pair_stale = zeros(size, wp.int32)
        self.stale_pairs = zeros(size if self.launch.parallel else 0, wp.int32)  # the pairs that are, on a GPU
        self.new_slot = zeros(size, wp.int32)  # of each pair in the new list; -1 if its candidates are searched again
        self.old_second, self.next_pair = zeros(size, wp.int32), zeros(size, wp.int32)
        self.old_margin, self.old_travel = zeros(size, real), zeros(size, real)
        self.old_travel_end, self.old_stale = zeros(size, real), zeros(size, wp.int32)
        self.pair_list = self.launch.struct(self.kernels.PairList)

    def forget(self) -> None:
        """No pair is known, and all bodies have left their bounds."""
        self.pair_count.zero_()
        self.own_pair.fill_(-1)
        self.body_margin.fill_(-1.0)

    def forget_worlds(self, chosen: Any) -> None:
        """All bodies of the chosen worlds have left their bounds, and no list of theirs holds."""
        self.launch(self.kernels.forget_bodies, self.total_bodies, chosen=chosen)
        self.launch.walk(self.kernels.forget_pairs, chosen=chosen)

    def judge(self) -> None:
        """Which lists hold for this substep too."""
        self.launch.walk(self.kernels.judge)

    def bound_bodies(self) -> None:
        """New bounds of all bodies."""
        self.launch.tiles(self.kernels.bound_bodies, self.total_bodies)

    def search(self) -> None:
        """All pairs of bodies whose bounds overlap."""
        self.first_pair.fill_(-1)
        self.launch.walk(self.kernels.set_pairs_aside)
        self.pair_count.zero_()
        self.launch(self.kernels.list_pairs, self.total_bodies)

    def end_search(self) -> None:
        """All pairs are known, but those of bodies that were left alone."""
        self.launch(self.kernels.end_search, self.total_bodies)

    def renew(self) -> None:
        """New margins for the pairs that have used up theirs."""
        self.launch.walk(self.kernels.renew_pairs)

    def end_renewal(self) -> None:
        """All lists hold again."""
        self.launch.walk(self.kernels.end_renewal)


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """In the order of a substep; what follows `judge` only if something is stale."""
    real, vec, dim = n.real, n.vec, n.dim
    approach = motion.kernels(n).approach

    @wp.struct
    class PairList:
        """What the search for candidates reads of the pairs."""

        pair_count: wp.array(dtype=int)
        pairs: wp.array(dtype=wp.vec2i)
        pair_margin: wp.array(dtype=real)
        pair_stale: wp.array(dtype=int)

    @wp.func(inline=True)
    def is_listed(pair_list: PairList, pair: int) -> bool:
        return pair < wp.min(pair_list.pair_count[0], pair_list.pairs.shape[0])

    @wp.func(inline=True)
    def pair_of(pair_list: PairList, k: int, part: int, parts: int) -> int:
        """The k-th pair of a part of the list; behind the list where the part has fewer."""
        count = wp.min(pair_list.pair_count[0], pair_list.pairs.shape[0])
        pair = begin_of(part, parts, count) + k
        if pair >= begin_of(part + 1, parts, count):
            pair = pair_list.pairs.shape[0]
        return pair

    @wp.func(inline=True)
    def is_stale(pair_list: PairList, pair: int) -> bool:
        """Whether candidates of a pair of different bodies are searched."""
        if not is_listed(pair_list, pair):
            return False
        return pair_list.pair_stale[pair] != 0 and pair_list.pairs[pair][0] != pair_list.pairs[pair][1]

    @wp.func(inline=True)
    def is_stale_with_itself(pair_list: PairList, pair: int) -> bool:
        """Whether candidates of a body with itself are searched."""
        if not is_listed(pair_list, pair):
            return False
        return pair_list.pair_stale[pair] != 0 and pair_list.pairs[pair][0] == pair_list.pairs[pair][1]

    @wp.func(inline=True)
    def patches_hold(
        c: int, body_spread: wp.array(dtype=real), own_holds: wp.array(dtype=int), own_left: wp.array(dtype=real)
    ) -> bool:  # fmt: skip
        """Whether no patch of a body uses up its margin in this substep, though all move as fast as the fastest."""
        return own_holds[c] != 0 and real(1.1) * body_spread[c] <= own_left[c]

    @n.kernel(__name__)
    def forget_bodies(
        chosen: wp.array(dtype=int),
        world: wp.array(dtype=int),
        all_stale: wp.array(dtype=int),
        world_stale: wp.array(dtype=int),
        untested: wp.array(dtype=int),
        world_untested: wp.array(dtype=int),
        body_margin: wp.array(dtype=real),
        own_holds: wp.array(dtype=int),
    ):
        """Nothing is known about the present positions of the bodies of some worlds."""
        c = wp.tid()
        w = at(world[c])
        if chosen[w] != 0:
            body_margin[c] = real(-1.0)
            own_holds[c] = 0
            world_stale[w] = 1
            world_untested[w] = 1
            all_stale[0] = 1
            untested[0] = 1

    @n.kernel(__name__)
    def forget_pairs(
        chosen: wp.array(dtype=int),
        world: wp.array(dtype=int),
        pair_count: wp.array(dtype=int),
        pairs: wp.array(dtype=wp.vec2i),
        pair_margin: wp.array(dtype=real),
        stride: int,
    ):
        """No list holds with a margin below zero, whatever the travel."""
        for p in range(wp.tid(), wp.min(pair_count[0], pairs.shape[0]), stride):
            if chosen[at(world[at(pairs[at(p)][0])])] != 0:
                pair_margin[at(p)] = real(-1.0)

    @n.kernel(__name__)
    def judge(
        total_bodies: int,
        body_move: wp.array(dtype=vec),
        body_spread: wp.array(dtype=real),
        body_drift: wp.array(dtype=real),
        body_margin: wp.array(dtype=real),
        pair_count: wp.array(dtype=int),
        pairs: wp.array(dtype=wp.vec2i),
        pair_margin: wp.array(dtype=real),
        pair_travel: wp.array(dtype=real),
        pair_travel_end: wp.array(dtype=real),
        left_alone: wp.array(dtype=int),
        world: wp.array(dtype=int),
        all_stale: wp.array(dtype=int),
        world_stale: wp.array(dtype=int),
        pair_stale: wp.array(dtype=int),
        some_stale: wp.array(dtype=int),
        world_some_stale: wp.array(dtype=int),
        edge_size: wp.array(dtype=real),
        star_shaped: wp.array(dtype=int),
        star_room: wp.array(dtype=real),
        deformed: wp.array(dtype=real),
        shape_doubt: wp.array(dtype=int),
        body_doubt: wp.array(dtype=int),
        turned: wp.array(dtype=int),
        own_holds: wp.array(dtype=int),
        own_left: wp.array(dtype=real),
        unsettled: wp.array(dtype=int),
        stale_count: wp.array(dtype=int),
        stride: int,
    ):
        """Whether the lists hold for this substep too. Contact may speed points up: a tenth is allowed for."""
        lane = wp.tid()
        if lane == 0:
            stale_count[0] = 0
            if all_stale[0] != 0 or shape_doubt[0] != 0:
                unsettled[0] = 1
        for c in range(lane, total_bodies, stride):
            if left_alone[c] != 0:
                continue
            if world_stale[at(world[c])] != 0:
                all_stale[0] = 1
                unsettled[0] = 1
            room = real(FOLDING) * edge_size[c]
            if star_shaped[c] != 0:
                room = real(0.5) * star_room[c]
            if not (deformed[c] + real(1.1) * body_spread[c] <= room):
                shape_doubt[0] = 1
                unsettled[0] = 1
                body_doubt[c] = 1
            if not (body_drift[c] + real(1.1) * (wp.length(body_move[c]) + body_spread[c]) <= body_margin[c]):
                all_stale[0] = 1
                unsettled[0] = 1
                world_stale[at(world[c])] = 1
        for p in range(lane, wp.min(pair_count[0], pairs.shape[0]), stride):
            ids = pairs[at(p)]
            if left_alone[at(ids[0])] != 0:
                continue
            ahead = pair_travel[at(p)] + real(1.1) * approach(body_move, body_spread, at(ids[0]), at(ids[1]))
            pair_travel_end[at(p)] = ahead
            holds = ahead <= pair_margin[at(p)]
            if ids[0] == ids[1]:
                c = at(ids[0])
                holds = (holds or patches_hold(c, body_spread, own_holds, own_left)) and turned[c] == 0
            if not holds:
                pair_stale[at(p)] = 1
                some_stale[0] = 1
                unsettled[0] = 1
                world_some_stale[at(world[at(ids[0])])] = 1

    @n.kernel(__name__)
    def bound_bodies(
        bodies_per_world: int,
        point_start: wp.array(dtype=int),
        point_end: wp.array(dtype=int),
        points: wp.array(dtype=vec),
        thickness: wp.array(dtype=real),
        edge_size: wp.array(dtype=real),
        body_move: wp.array(dtype=vec),
        body_spread: wp.array(dtype=real),
        body_low: wp.array(dtype=vec),
        body_high: wp.array(dtype=vec),
        body_drift: wp.array(dtype=real),
        body_margin: wp.array(dtype=real),
        world: wp.array(dtype=int),
        world_stale: wp.array(dtype=int),
        left_alone: wp.array(dtype=int),
        body_doubt: wp.array(dtype=int),
    ):
        """Boxes of the bodies of stale worlds, enlarged by their thickness and what they may move while lists last."""
        c, lane = wp.tid()
        if world_stale[at(world[c])] == 0 or left_alone[c] != 0:
            return
        if bodies_per_world == 1:  # there is nothing else to be near
            if lane == 0:
                body_drift[c] = real(0.0)
                body_margin[c] = real(FAR)
                body_doubt[c] = 1
            return
        big = real(FAR)
        lowest = vec(big)
        highest = vec(-big)
        for i in range(point_start[c] + lane, point_end[c], wp.block_dim()):
            lowest = wp.min(lowest, points[at(i)])
            highest = wp.max(highest, points[at(i)])
        for axis in range(dim):
            least = block_min(lowest[axis])
            most = block_max(highest[axis])
            lowest[axis] = least
            highest[axis] = most
        if lane == 0:
            step = wp.length(body_move[c]) + body_spread[c]
            free = (
                wp.max(real(1.5) * step, wp.min(real(LIFE) * step, real(WIDEST) * edge_size[c]))
                + real(LEAST) * edge_size[c]
            )
            border = free + thickness[c]
            for axis in range(dim):
                lowest[axis] = lowest[axis] - border
                highest[axis] = highest[axis] + border
            body_low[c] = lowest
            body_high[c] = highest
            body_drift[c] = real(0.0)
            body_margin[c] = free
            body_doubt[c] = 1

    @wp.func
    def apart(a: int, b: int, low: wp.array(dtype=vec), high: wp.array(dtype=vec)) -> bool:
        for axis in range(dim):
            if low[a][axis] > high[b][axis] or low[b][axis] > high[a][axis]:
                return True
        return False

    @wp.func
    def fit_margin(step: real, a: int, b: int, edge_size: wp.array(dtype=real)) -> real:
        """How much closer features may come before a pair's list is rebuilt, at an approach of `step` per substep."""
        edge = wp.min(edge_size[a], edge_size[b])
        return wp.max(real(1.5) * step, wp.min(real(LIFE) * step, real(MOST) * edge)) + real(LEAST) * edge

    @n.kernel(__name__)
    def renew_pairs(
        world: wp.array(dtype=int),
        world_some_stale: wp.array(dtype=int),
        edge_size: wp.array(dtype=real),
        body_move: wp.array(dtype=vec),
        body_spread: wp.array(dtype=real),
        pair_count: wp.array(dtype=int),
        pairs: wp.array(dtype=wp.vec2i),
        pair_margin: wp.array(dtype=real),
        pair_travel: wp.array(dtype=real),
        pair_travel_end: wp.array(dtype=real),
        pair_stale: wp.array(dtype=int),
        new_slot: wp.array(dtype=int),
        eager: real,
        stride: int,
    ):
        """New margins for pairs that are stale or soon will be; the others stay in their places, with their lists."""
        for k in range(wp.tid(), wp.min(pair_count[0], pairs.shape[0]), stride):
            p = at(k)
            new_slot[p] = k
            a = at(pairs[p][0])
            b = at(pairs[p][1])
            some = world_some_stale[at(world[a])] != 0
            if some and (pair_stale[p] != 0 or (a != b and pair_travel[p] > eager * pair_margin[p])):
                pair_stale[p] = 1
                new_slot[p] = -1
                step = approach(body_move, body_spread, a, b)
                pair_travel[p] = real(0.0)
                pair_travel_end[p] = real(1.1) * step
                pair_margin[p] = fit_margin(step, a, b, edge_size)

    @n.kernel(__name__)
    def set_pairs_aside(
        pair_count: wp.array(dtype=int),
        pairs: wp.array(dtype=wp.vec2i),
        pair_margin: wp.array(dtype=real),
        pair_travel: wp.array(dtype=real),
        old_second: wp.array(dtype=int),
        pair_travel_end: wp.array(dtype=real),
        pair_stale: wp.array(dtype=int),
        old_margin: wp.array(dtype=real),
        old_travel: wp.array(dtype=real),
        old_travel_end: wp.array(dtype=real),
        old_stale: wp.array(dtype=int),
        first_pair: wp.array(dtype=int),
        next_pair: wp.array(dtype=int),  # of the same body
        new_slot: wp.array(dtype=int),
        some_own: wp.array(dtype=int),
        stride: int,
    ):
        """The pairs as they were, in chains by their first body, to be found again by `list_pairs`."""
        if wp.tid() == 0:
            some_own[0] = 0
        for k in range(wp.tid(), wp.min(pair_count[0], pairs.shape[0]), stride):
            p = at(k)
            old_second[p] = pairs[p][1]
            old_margin[p] = pair_margin[p]
            old_travel[p] = pair_travel[p]
            old_travel_end[p] = pair_travel_end[p]
            old_stale[p] = pair_stale[p]
            pair_stale[p] = 0  # no mark is left behind where the new list is shorter
            new_slot[p] = -1
            next_pair[p] = wp.atomic_exch(first_pair, pairs[p][0], k)

    @n.kernel(__name__)
    def list_pairs(
        bodies_per_world: int,
        soft_bodies: int,  # per world; rigid bodies come after them
        excluded_start: wp.array(dtype=int),
        excluded: wp.array(dtype=int),  # bodies that are glued together and do not touch
        body_low: wp.array(dtype=vec),
        body_high: wp.array(dtype=vec),
        self_contact: wp.array(dtype=int),
        star_shaped: wp.array(dtype=int),  # bodies that cannot touch themselves as they are now
        edge_size: wp.array(dtype=real),
        body_move: wp.array(dtype=vec),
        body_spread: wp.array(dtype=real),
        old_second: wp.array(dtype=int),
        old_margin: wp.array(dtype=real),
        old_travel: wp.array(dtype=real),
        old_travel_end: wp.array(dtype=real),
        old_stale: wp.array(dtype=int),
        first_pair: wp.array(dtype=int),
        next_pair: wp.array(dtype=int),
        world: wp.array(dtype=int),
        world_stale: wp.array(dtype=int),
        world_some_stale: wp.array(dtype=int),
        left_alone: wp.array(dtype=int),
        turned: wp.array(dtype=int),
        own_holds: wp.array(dtype=int),
        own_left: wp.array(dtype=real),
        new_slot: wp.array(dtype=int),
        pair_count: wp.array(dtype=int),
        pairs: wp.array(dtype=wp.vec2i),
        pair_margin: wp.array(dtype=real),
        pair_travel: wp.array(dtype=real),
        pair_travel_end: wp.array(dtype=real),
        pair_stale: wp.array(dtype=int),
        own_pair: wp.array(dtype=int),
        some_own: wp.array(dtype=int),
        overflow: wp.array(dtype=int),
    ):
        """Pairs of bodies with overlapping boxes, each once; pairs of rigid bodies belong to `contact/rigid`.

        Worlds that are not stale keep their pairs as they are.

        Boxes only choose the pairs: what a pair's list says of its features holds until its own margin is used up.
        """
        a = wp.tid()
        begin = a // bodies_per_world * bodies_per_world
        if a - begin < soft_bodies:
            anew = world_stale[at(world[a])] != 0 and left_alone[a] == 0
            if anew:
                world_some_stale[at(world[a])] = 0  # all of its pairs are judged here
            for b in range(a, begin + bodies_per_world):
                old = first_pair[a]
                while old >= 0 and old_second[at(old)] != b:
                    old = next_pair[at(old)]
                wanted = old >= 0
                if anew:
                    wanted = self_contact[a] != 0 and star_shaped[a] == 0
                    if b > a:
                        wanted = not apart(a, b, body_low, body_high)
                        for s in range(excluded_start[a], excluded_start[a + 1]):
                            if excluded[s] == b:
                                wanted = False
                if a == b:
                    own_pair[a] = -1
                if wanted:
                    slot = wp.atomic_add(pair_count, 0, 1)
                    if slot < pairs.shape[0]:
                        pairs[slot] = wp.vec2i(a, b)
                        if a == b:
                            own_pair[a] = slot
                            some_own[0] = 1
                        if not anew:
                            pair_travel[slot] = old_travel[at(old)]
                            pair_travel_end[slot] = old_travel_end[at(old)]
                            pair_margin[slot] = old_margin[at(old)]
                            pair_stale[slot] = old_stale[at(old)]
                            new_slot[at(old)] = slot
                        else:
                            step = approach(body_move, body_spread, a, b)
                            pair_travel[slot] = real(0.0)
                            pair_margin[slot] = fit_margin(step, a, b, edge_size)
                            pair_stale[slot] = 1
                            if old >= 0:
                                holds = old_travel[at(old)] + real(1.1) * step <= old_margin[at(old)]
                                if a == b:
                                    holds = holds or patches_hold(a, body_spread, own_holds, own_left)
                                if holds and (a != b or turned[a] == 0):
                                    pair_travel[slot] = old_travel[at(old)]
                                    pair_margin[slot] = old_margin[at(old)]
                                    pair_stale[slot] = 0
                                    new_slot[at(old)] = slot
                            pair_travel_end[slot] = pair_travel[slot] + real(1.1) * step
                    else:
                        overflow[0] = 1
                        wp.atomic_max(overflow, PAIRS, slot + 1)

    @n.kernel(__name__)
    def end_search(
        world: wp.array(dtype=int),
        left_alone: wp.array(dtype=int),
        all_stale: wp.array(dtype=int),
        world_stale: wp.array(dtype=int),
    ):
        """All pairs of bodies are known again."""
        c = wp.tid()
        if left_alone[c] == 0:
            world_stale[at(world[c])] = 0
        all_stale[0] = 0

    @n.kernel(__name__)
    def end_renewal(
        pair_count: wp.array(dtype=int),
        pairs: wp.array(dtype=wp.vec2i),
        pair_stale: wp.array(dtype=int),
        some_stale: wp.array(dtype=int),
        world_some_stale: wp.array(dtype=int),
        stride: int,
    ):
        """No pair is stale any more."""
        if wp.tid() == 0:
            some_stale[0] = 0
        for p in range(wp.tid(), wp.min(pair_count[0], pairs.shape[0]), stride):
            pair_stale[at(p)] = 0
        for w in range(wp.tid(), world_some_stale.shape[0], stride):
            world_some_stale[at(w)] = 0

    return SimpleNamespace(
        end_search=end_search,
        end_renewal=end_renewal,
        PairList=PairList,
        is_listed=is_listed,
        is_stale=is_stale,
        pair_of=pair_of,
        is_stale_with_itself=is_stale_with_itself,
        forget_bodies=forget_bodies,
        forget_pairs=forget_pairs,
        judge=judge,
        bound_bodies=bound_bodies,
        set_pairs_aside=set_pairs_aside,
        list_pairs=list_pairs,
        renew_pairs=renew_pairs,
    )
