"""Candidates of a pair of bodies without a tree, where few features lie between them.

Along the direction from one body to the other, only what lies in the slab between the first body's end and the second's
beginning can be near the other body: a handful of points for round ones. Their edges and faces are listed per pair, and
compared all with all by their boxes. Pairs with longer lists are left to the trees (`tree_lists.py`).

The kernels here are those of the CPU; a GPU's are in `slab_blocks.py`.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.contact.features.launch import FeatureLauncher
from turgor.contact.features.search import body_pairs, slab_blocks
from turgor.contact.features.search import candidates as listed
from turgor.contact.features.search.candidates import FAR, Candidates
from turgor.contact.features.search.slab_blocks import LENGTH, LISTS, QUEUE
from turgor.contact.geometry import closest_fast
from turgor.contact.geometry.advancement import EDGE_EDGE, VERTEX_FACE
from turgor.kernel import structs
from turgor.kernel.blocks import block_max, block_min
from turgor.kernel.numbers import Numbers, at
from turgor.model.model import Model
from turgor.model.surfaces import Surfaces

__all__ = ["Slabs", "kernels"]

BLOCK, LARGE = 64, 256  # threads per pair on a GPU, and where there are few
FEW = 4096  # pairs: with more, there are threads enough
SEARCHERS = 4096  # blocks that share the stale pairs on a GPU: about all that there is room for at the same time


class Slabs:
    """Per pair of bodies: direction and ends of the slab, what lies in it, and whether that is too much."""

    def __init__(
        self, model: Model, surfaces: Surfaces, candidates: Candidates, launch: FeatureLauncher, pairs: int
    ) -> None:
        self.candidates = candidates
        self.numbers, self.kernels = model.numbers, kernels(model.numbers)
        self.k_blocks = slab_blocks.kernels(model.numbers)
        # m: boxes of the second body's edges, for one pair after another, per thread
        self.slab_edge_low, self.slab_edge_high = (
            [launch.zeros(LENGTH, model.numbers.vec) for _ in range(launch.threads)] for _ in range(2)
        )
        self.pair_cut = launch.zeros(launch.threads + 1, wp.int32)  # where each thread's share of the work begins
        self.in_tree = launch.zeros(surfaces.bodies * model.worlds, wp.int32)  # bodies whose boxes are needed
        self.launch = launch.extended(self)
        self.allocate(pairs)

    def allocate(self, pairs: int) -> None:
        """Lists for as many pairs."""
        n, zeros = self.numbers, self.launch.zeros
        self.pair_capacity = pairs
        self.by_tree = zeros(pairs, wp.int32)
        if self.launch.parallel:
            self.blocks = blocks = min(pairs, SEARCHERS)
            self.slab_features = self.launch.struct(self.k_blocks.Features)
            self.slab_work = structs.zeros(
                self.k_blocks.Work, 3 * LENGTH * blocks, self.launch.device, lists=LISTS * LENGTH * blocks,
                counts=(LISTS + 1) * blocks, queue=QUEUE * blocks,
            )  # fmt: skip
            return
        self.slab_direction = zeros(pairs, n.vec)  # from the first body to the second
        self.slab_begin, self.slab_end = zeros(pairs, n.real), zeros(pairs, n.real)  # m, along it
        self.slab_lists, self.slab_counts = zeros(6 * LENGTH * pairs, wp.int32), zeros(6 * pairs, wp.int32)

    def collect(self) -> None:
        """Candidates of stale pairs that have little in their slabs; the others are marked."""
        if self.launch.parallel:
            self.launch.walk(self.k_blocks.list_stale)
            block = LARGE if self.pair_capacity <= FEW else BLOCK
            self.launch.blocks(
                self.k_blocks.search_stale, self.blocks, block, features=self.slab_features, work=self.slab_work
            )
            return
        self.slab_counts.zero_()
        self.launch.tile_parts(self.kernels.bound_slabs, self.pair_capacity)
        self.launch.tile_parts(self.kernels.fill_slabs, self.pair_capacity)
        self.launch(self.kernels.choose_search, 1, parts=self.launch.sharing)
        self.candidates.collect(
            self.launch, self.kernels.cross_slabs, slab_edge_low=self.slab_edge_low, slab_edge_high=self.slab_edge_high
        )


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """In the order of a search."""
    variant = __name__
    real, vec, dim, face = n.real, n.vec, n.dim, n.face
    near = closest_fast.kernels(n)
    shared = listed.kernels(n)
    CandidateList, face_distance, add = shared.CandidateList, shared.face_distance, shared.add
    of_pairs = body_pairs.kernels(n)
    PairList, is_stale, pair_of = of_pairs.PairList, of_pairs.is_stale, of_pairs.pair_of

    @wp.func
    def put(slab_lists: wp.array(dtype=int), slab_counts: wp.array(dtype=int), pair: int, which: int, feature: int):
        slot = wp.atomic_add(slab_counts, pair * 6 + which, 1)
        if slot < LENGTH:
            slab_lists[(pair * 6 + which) * LENGTH + slot] = feature

    @wp.func
    def beyond(i: int, d: vec, bar: real, points: wp.array(dtype=vec)) -> bool:
        return wp.dot(d, points[at(i)]) >= bar

    @n.kernel(variant)
    def bound_slabs(
        points: wp.array(dtype=vec),
        point_start: wp.array(dtype=int),
        point_end: wp.array(dtype=int),
        body_low: wp.array(dtype=vec),
        body_high: wp.array(dtype=vec),
        pair_list: PairList,
        slab_direction: wp.array(dtype=vec),
        slab_begin: wp.array(dtype=real),
        slab_end: wp.array(dtype=real),
        part: int,
        parts: int,
    ):
        """The direction from the first body to the second, and along it where the second begins and the first ends."""
        k_pair, lane = wp.tid()
        pair = pair_of(pair_list, k_pair, part, parts)
        if is_stale(pair_list, pair):
            ids = pair_list.pairs[pair]
            a = ids[0]
            b = ids[1]
            d = body_low[b] + body_high[b] - body_low[a] - body_high[a]
            size = wp.length(d)
            if size > real(0.0):
                d = d / size
            begin = real(FAR)
            for i in range(point_start[b] + lane, point_end[b], wp.block_dim()):
                begin = wp.min(begin, wp.dot(d, points[at(i)]))
            end = real(-FAR)
            for i in range(point_start[a] + lane, point_end[a], wp.block_dim()):
                end = wp.max(end, wp.dot(d, points[at(i)]))
            first = block_min(begin)
            last = block_max(end)
            if lane == 0:
                slab_direction[pair] = d
                slab_begin[pair] = first
                slab_end[pair] = last

    @n.kernel(variant)
    def fill_slabs(
        points: wp.array(dtype=vec),
        point_start: wp.array(dtype=int),
        point_end: wp.array(dtype=int),
        faces: wp.array(dtype=face),
        edges: wp.array(dtype=wp.vec4i),
        point_faces_start: wp.array(dtype=int),  # faces at each point
        point_faces: wp.array(dtype=int),
        point_edges_start: wp.array(dtype=int),  # edges at each point
        point_edges: wp.array(dtype=int),
        thickness: wp.array(dtype=real),
        pair_list: PairList,
        slab_direction: wp.array(dtype=vec),
        slab_begin: wp.array(dtype=real),
        slab_end: wp.array(dtype=real),
        slab_lists: wp.array(dtype=int),
        slab_counts: wp.array(dtype=int),
        part: int,
        parts: int,
    ):
        """The lists of stale pairs. A body against itself is searched by `self_lists.py`."""
        k_pair, lane = wp.tid()
        pair = pair_of(pair_list, k_pair, part, parts)
        if is_stale(pair_list, pair):
            ids = pair_list.pairs[pair]
            within = pair_list.pair_margin[pair] + thickness[ids[0]] + thickness[ids[1]]
            for side in range(2):
                a = ids[side]
                d = slab_direction[pair]
                bar = slab_begin[pair] - within
                if side == 1:
                    d = -d
                    bar = -slab_end[pair] - within
                for p in range(point_start[a] + lane, point_end[a], wp.block_dim()):
                    i = at(p)
                    if beyond(i, d, bar, points):
                        put(slab_lists, slab_counts, pair, side, i)
                        # what several points share is listed by the first of them that is in the slab
                        for q in range(point_faces_start[i], point_faces_start[i + 1]):
                            f = faces[at(point_faces[at(q)])]
                            first = bool(True)  # noqa: UP018
                            for k in range(dim):
                                if f[k] < i and beyond(f[k], d, bar, points):
                                    first = False
                            if first:
                                put(slab_lists, slab_counts, pair, 2 + side, point_faces[at(q)])
                        if wp.static(dim == 3):
                            for q in range(point_edges_start[i], point_edges_start[i + 1]):
                                e = edges[at(point_edges[at(q)])]
                                other = e[0] + e[1] - i
                                if not (other < i and beyond(other, d, bar, points)):
                                    put(slab_lists, slab_counts, pair, 4 + side, point_edges[at(q)])

    @wp.func(inline=True)
    def work_of(pair_list: PairList, slab_counts: wp.array(dtype=int), by_tree: wp.array(dtype=int), pair: int):
        """Comparisons that `cross_slabs` makes for a pair."""
        work = wp.float64(1.0)
        if is_stale(pair_list, pair) and by_tree[pair] == 0:
            first = 6 * pair
            work += wp.float64(
                slab_counts[first] * slab_counts[first + 3]
                + slab_counts[first + 1] * slab_counts[first + 2]
                + slab_counts[first + 4] * slab_counts[first + 5]
            )
        return work

    @n.kernel(variant)
    def choose_search(
        pair_list: PairList,
        slab_counts: wp.array(dtype=int),
        by_tree: wp.array(dtype=int),
        in_tree: wp.array(dtype=int),
        needs_tree: wp.array(dtype=int),
        needs_self: wp.array(dtype=int),
        pair_cut: wp.array(dtype=int),
        parts: int,
    ):
        """Stale pairs with a list that is too long go by the tree; those of one body by `self_lists.py`.

        What is left is cut into parts of about the same work.
        """
        count = wp.min(pair_list.pair_count[0], pair_list.pairs.shape[0])
        total = wp.float64(0.0)
        for p in range(count):
            wanted = int(0)  # noqa: RUF046, UP018
            if pair_list.pair_stale[p] != 0:
                if pair_list.pairs[p][0] == pair_list.pairs[p][1]:
                    needs_self[0] = 1
                for k in range(6):
                    if slab_counts[p * 6 + k] > LENGTH:
                        wanted = 1
                if wanted != 0:
                    needs_tree[0] = 1
                    in_tree[at(pair_list.pairs[p][0])] = 1
                    in_tree[at(pair_list.pairs[p][1])] = 1
            by_tree[p] = wanted
            total += work_of(pair_list, slab_counts, by_tree, p)
        part = int(0)  # noqa: RUF046, UP018
        done = wp.float64(0.0)
        for p in range(count):
            while part < parts and done * wp.float64(parts) >= total * wp.float64(part):
                pair_cut[part] = p
                part += 1
            done += work_of(pair_list, slab_counts, by_tree, p)
        while part <= parts:
            pair_cut[part] = count
            part += 1

    @n.kernel(variant)
    def cross_slabs(
        points: wp.array(dtype=vec),
        faces: wp.array(dtype=face),
        edges: wp.array(dtype=wp.vec4i),
        thickness: wp.array(dtype=real),
        pair_list: PairList,
        slab_lists: wp.array(dtype=int),
        slab_counts: wp.array(dtype=int),
        by_tree: wp.array(dtype=int),
        slab_edge_low: wp.array(dtype=vec),
        slab_edge_high: wp.array(dtype=vec),
        candidate_list: CandidateList,
        pair_cut: wp.array(dtype=int),
        part: int,
        parts: int,
    ):
        """Points of each body against faces of the other; edges against edges. Of `parts`, a part has its own pairs."""
        for pair in range(pair_cut[part], pair_cut[part + 1]):
            if not is_stale(pair_list, pair) or by_tree[pair] != 0:
                continue
            ids = pair_list.pairs[pair]
            skin = thickness[ids[0]] + thickness[ids[1]]
            within = pair_list.pair_margin[pair] + skin
            for side in range(2):
                base = (pair * 6 + side) * LENGTH
                other = (pair * 6 + 2 + 1 - side) * LENGTH
                for j in range(slab_counts[pair * 6 + 2 + 1 - side]):
                    which = slab_lists[at(other + j)]
                    f = faces[at(which)]
                    a = points[at(f[0])]
                    b = points[at(f[1])]
                    low = wp.min(a, b)
                    high = wp.max(a, b)
                    if wp.static(dim == 3):
                        c = points[at(f[wp.static(dim - 1)])]
                        low = wp.min(low, c)
                        high = wp.max(high, c)
                    for k in range(slab_counts[pair * 6 + side]):
                        i = at(slab_lists[at(base + k)])
                        p = points[i]
                        off = wp.max(wp.max(low - p, p - high), vec())  # how far p is from the box
                        if wp.dot(off, off) <= within * within:
                            gap = face_distance(p, f, points)
                            if gap <= within:
                                add(candidate_list, pair, i, which, VERTEX_FACE, gap - skin)
            if wp.static(dim == 3):
                base = (pair * 6 + 4) * LENGTH
                other = (pair * 6 + 5) * LENGTH
                others = slab_counts[pair * 6 + 5]
                for j in range(others):
                    g = edges[at(slab_lists[at(other + j)])]
                    slab_edge_low[at(j)] = wp.min(points[at(g[0])], points[at(g[1])])
                    slab_edge_high[at(j)] = wp.max(points[at(g[0])], points[at(g[1])])
                for k in range(slab_counts[pair * 6 + 4]):
                    e = edges[at(slab_lists[at(base + k)])]
                    a = points[at(e[0])]
                    b = points[at(e[1])]
                    low = wp.min(a, b)
                    high = wp.max(a, b)
                    for j in range(others):
                        off = wp.max(wp.max(low - slab_edge_high[at(j)], slab_edge_low[at(j)] - high), vec())
                        if wp.dot(off, off) <= within * within:
                            g = edges[at(slab_lists[at(other + j)])]
                            c = points[at(g[0])]
                            d = points[at(g[1])]
                            _s, _t, between = near.segments(a, b, c, d)
                            size = wp.length(between)
                            if size <= within:
                                one = slab_lists[at(base + k)]
                                add(candidate_list, pair, one, slab_lists[at(other + j)], EDGE_EDGE, size - skin)

    return SimpleNamespace(
        bound_slabs=bound_slabs, fill_slabs=fill_slabs, choose_search=choose_search, cross_slabs=cross_slabs
    )
