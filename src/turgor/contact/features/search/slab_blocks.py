"""Candidates of pairs of bodies by slabs (`slabs.py`), the GPU's way: a block of threads searches one stale pair.

Few points of a body lie in its slab, and few features there are near each other: a thread that looked on where it has
found one would keep those beside it waiting. So each step only lists what the next one takes, and all threads share the
list: points of the slab -> their faces and edges -> features whose boxes are near each other -> their distances.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.contact.features.search import body_pairs
from turgor.contact.features.search import candidates as listed
from turgor.contact.features.search.candidates import FAR
from turgor.contact.geometry import closest_fast
from turgor.contact.geometry.advancement import EDGE_EDGE, VERTEX_FACE
from turgor.kernel import native
from turgor.kernel.blocks import block_max, block_min
from turgor.kernel.numbers import Numbers, at

__all__ = ["BITS", "LENGTH", "LISTS", "QUEUE", "kernels"]

BITS = 7
LENGTH = 1 << BITS  # of a list; a pair has six: points, faces and edges of either body
LISTS = 6
QUEUE = 1024  # features whose boxes are near each other, per block; what does not fit is measured at once
SPREAD = 8  # threads that share the faces, or the edges, at a point
ROWS = 32  # threads along the first of two lists that are compared; the others share the second
EDGES = 2  # what a queue holds: points of the first or second body and faces of the other, or edges


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """list_stale, search_stale."""
    real, vec, dim, face = n.real, n.vec, n.dim, n.face
    near, barrier = closest_fast.kernels(n), native.kernels(n).barrier
    shared, of_pairs = listed.kernels(n), body_pairs.kernels(n)
    CandidateList, face_distance, add = shared.CandidateList, shared.face_distance, shared.add
    PairList, is_stale = of_pairs.PairList, of_pairs.is_stale

    @wp.struct
    class Features:
        """Of all bodies."""

        points: wp.array(dtype=vec)
        point_start: wp.array(dtype=int)  # of each body
        point_end: wp.array(dtype=int)
        faces: wp.array(dtype=face)
        edges: wp.array(dtype=wp.vec4i)
        point_faces_start: wp.array(dtype=int)  # faces at each point
        point_faces: wp.array(dtype=int)
        point_edges_start: wp.array(dtype=int)  # edges at each point
        point_edges: wp.array(dtype=int)

    @wp.struct
    class Work:
        """Of each block."""

        lists: wp.array(dtype=int)
        counts: wp.array(dtype=int)  # of the lists, then of the queue
        queue: wp.array(dtype=int)
        low: wp.array(dtype=vec)  # m: boxes of the second body's edges, then the points of either
        high: wp.array(dtype=vec)

    @n.kernel(__name__)
    def list_stale(
        pair_list: PairList,
        stale_count: wp.array(dtype=int),
        stale_pairs: wp.array(dtype=int),
        by_tree: wp.array(dtype=int),
        needs_self: wp.array(dtype=int),
        stride: int,
    ):
        """The stale pairs of two bodies; those of one are searched by `self_lists.py`."""
        for p in range(wp.tid(), wp.min(pair_list.pair_count[0], pair_list.pairs.shape[0]), stride):
            by_tree[p] = 0
            if is_stale(pair_list, p):
                stale_pairs[wp.atomic_add(stale_count, 0, 1)] = p
            elif pair_list.pair_stale[p] != 0:
                needs_self[0] = 1

    @wp.func(inline=True)
    def put(work: Work, block: int, which: int, feature: int):
        slot = wp.atomic_add(work.counts, block * (LISTS + 1) + which, 1)
        if slot < LENGTH:
            work.lists[(block * LISTS + which) * LENGTH + slot] = feature

    @wp.func(inline=True)
    def beyond(features: Features, i: int, d: vec, bar: real) -> bool:
        return wp.dot(d, features.points[at(i)]) >= bar

    @wp.func(inline=True)
    def list_points(features: Features, work: Work, block: int, side: int, body: int, d: vec, bar: real, lane: int):
        """Those of a body in the slab."""
        for i in range(features.point_start[body] + lane, features.point_end[body], wp.block_dim()):
            if beyond(features, i, d, bar):
                put(work, block, side, i)

    @wp.func(inline=True)
    def list_around(features: Features, work: Work, block: int, side: int, d: vec, bar: real, lane: int):
        """Faces and edges at the points of the slab: what several share is listed by the first that is in it."""
        count = work.counts[block * (LISTS + 1) + side]
        base = (block * LISTS + side) * LENGTH
        for t in range(lane, count * SPREAD, wp.block_dim()):
            i = at(work.lists[at(base + t // SPREAD)])
            work.low[at((block * 3 + 1 + side) * LENGTH + t // SPREAD)] = features.points[i]
            for q in range(features.point_faces_start[i] + t % SPREAD, features.point_faces_start[i + 1], SPREAD):
                which = features.point_faces[at(q)]
                f = features.faces[at(which)]
                first = bool(True)  # noqa: UP018
                for k in range(dim):
                    if f[k] < i and beyond(features, f[k], d, bar):
                        first = False
                if first:
                    put(work, block, 2 + side, which)
            if wp.static(dim == 3):
                for q in range(features.point_edges_start[i] + t % SPREAD, features.point_edges_start[i + 1], SPREAD):
                    which = features.point_edges[at(q)]
                    e = features.edges[at(which)]
                    other = e[0] + e[1] - i
                    if not (other < i and beyond(features, other, d, bar)):
                        put(work, block, 4 + side, which)

    @wp.func(inline=True)
    def measure(
        features: Features, work: Work, found: CandidateList, block: int, pair: int, code: int, within: real, skin: real
    ):  # fmt: skip
        """List what is near enough as a candidate."""
        kind = code >> (2 * BITS)
        k = (code >> BITS) & (LENGTH - 1)
        j = code & (LENGTH - 1)
        base = block * LISTS * LENGTH
        if kind == EDGES:
            if wp.static(dim == 3):
                one = work.lists[at(base + 4 * LENGTH + k)]
                two = work.lists[at(base + 5 * LENGTH + j)]
                e = features.edges[at(one)]
                g = features.edges[at(two)]
                _s, _t, between = near.segments(
                    features.points[at(e[0])], features.points[at(e[1])], features.points[at(g[0])],
                    features.points[at(g[1])],
                )  # fmt: skip
                size = wp.length(between)
                if size <= within:
                    add(found, pair, one, two, EDGE_EDGE, size - skin)
        else:
            i = work.lists[at(base + kind * LENGTH + k)]
            which = work.lists[at(base + (3 - kind) * LENGTH + j)]
            gap = face_distance(features.points[at(i)], features.faces[at(which)], features.points)
            if gap <= within:
                add(found, pair, i, which, VERTEX_FACE, gap - skin)

    @wp.func(inline=True)
    def queue_up(
        features: Features, work: Work, found: CandidateList, block: int, pair: int, code: int, within: real, skin: real
    ):  # fmt: skip
        """For `measure`."""
        slot = wp.atomic_add(work.counts, block * (LISTS + 1) + LISTS, 1)
        if slot < QUEUE:
            work.queue[at(block * QUEUE + slot)] = code
        else:
            measure(features, work, found, block, pair, code, within, skin)

    @wp.func(inline=True)
    def compare(
        features: Features, work: Work, found: CandidateList, block: int, pair: int, within: real, skin: real, lane: int
    ):  # fmt: skip
        """Points of each body against faces of the other, edges against edges, by their boxes."""
        counts = block * (LISTS + 1)
        lists = block * LISTS * LENGTH
        boxes = block * 3 * LENGTH
        rows = wp.min(wp.block_dim(), ROWS)
        for side in range(2):
            for j in range(lane % rows, work.counts[counts + 3 - side], rows):
                f = features.faces[at(work.lists[at(lists + (3 - side) * LENGTH + j)])]
                a = features.points[at(f[0])]
                b = features.points[at(f[1])]
                low = wp.min(a, b)
                high = wp.max(a, b)
                if wp.static(dim == 3):
                    c = features.points[at(f[wp.static(dim - 1)])]
                    low = wp.min(low, c)
                    high = wp.max(high, c)
                for k in range(lane // rows, work.counts[counts + side], wp.block_dim() // rows):
                    p = work.low[at(boxes + (1 + side) * LENGTH + k)]
                    off = wp.max(wp.max(low - p, p - high), vec())  # how far p is from the box
                    if wp.dot(off, off) <= within * within:
                        code = (side << (2 * BITS)) | (k << BITS) | j
                        queue_up(features, work, found, block, pair, code, within, skin)
        if wp.static(dim == 3):
            for k in range(lane % rows, work.counts[counts + 4], rows):
                e = features.edges[at(work.lists[at(lists + 4 * LENGTH + k)])]
                a = features.points[at(e[0])]
                b = features.points[at(e[1])]
                low = wp.min(a, b)
                high = wp.max(a, b)
                for j in range(lane // rows, work.counts[counts + 5], wp.block_dim() // rows):
                    off = wp.max(wp.max(low - work.high[at(boxes + j)], work.low[at(boxes + j)] - high), vec())
                    if wp.dot(off, off) <= within * within:
                        code = (EDGES << (2 * BITS)) | (k << BITS) | j
                        queue_up(features, work, found, block, pair, code, within, skin)

    @n.kernel(f"{__name__}.search")  # its blocks are of different sizes
    def search_stale(
        features: Features,
        work: Work,
        body_low: wp.array(dtype=vec),
        body_high: wp.array(dtype=vec),
        thickness: wp.array(dtype=real),
        pair_list: PairList,
        stale_count: wp.array(dtype=int),
        stale_pairs: wp.array(dtype=int),
        by_tree: wp.array(dtype=int),
        in_tree: wp.array(dtype=int),
        needs_tree: wp.array(dtype=int),
        candidate_list: CandidateList,
        blocks: int,
    ):
        """Each block searches one stale pair after another; those with a list that is too long go by the tree."""
        block, lane = wp.tid()
        counts = block * (LISTS + 1)
        for s in range(block, stale_count[0], blocks):
            pair = at(stale_pairs[at(s)])
            a = at(pair_list.pairs[pair][0])
            b = at(pair_list.pairs[pair][1])
            skin = thickness[a] + thickness[b]
            within = pair_list.pair_margin[pair] + skin
            # the direction from the first body to the second, and along it where the second begins and the first ends
            d = wp.normalize(body_low[b] + body_high[b] - body_low[a] - body_high[a])
            begin = real(FAR)
            for i in range(features.point_start[b] + lane, features.point_end[b], wp.block_dim()):
                begin = wp.min(begin, wp.dot(d, features.points[at(i)]))
            end = real(-FAR)
            for i in range(features.point_start[a] + lane, features.point_end[a], wp.block_dim()):
                end = wp.max(end, wp.dot(d, features.points[at(i)]))
            bar = block_min(begin) - within
            back = -block_max(end) - within
            if lane == 0:
                for k in range(LISTS + 1):
                    work.counts[at(counts + k)] = 0
            barrier()
            list_points(features, work, block, 0, a, d, bar, lane)
            list_points(features, work, block, 1, b, -d, back, lane)
            barrier()
            longest = wp.max(work.counts[counts], work.counts[counts + 1])
            if longest <= LENGTH:
                list_around(features, work, block, 0, d, bar, lane)
                list_around(features, work, block, 1, -d, back, lane)
            barrier()
            for k in range(2, LISTS):
                longest = wp.max(longest, work.counts[counts + k])
            if longest <= LENGTH:
                if wp.static(dim == 3):
                    for t in range(lane, work.counts[counts + 5], wp.block_dim()):
                        g = features.edges[at(work.lists[at((block * LISTS + 5) * LENGTH + t)])]
                        one = features.points[at(g[0])]
                        two = features.points[at(g[1])]
                        work.low[at(block * 3 * LENGTH + t)] = wp.min(one, two)
                        work.high[at(block * 3 * LENGTH + t)] = wp.max(one, two)
                barrier()
                compare(features, work, candidate_list, block, pair, within, skin, lane)
                barrier()
                for q in range(lane, wp.min(work.counts[counts + LISTS], QUEUE), wp.block_dim()):
                    code = work.queue[at(block * QUEUE + q)]
                    measure(features, work, candidate_list, block, pair, code, within, skin)
            elif lane == 0:
                by_tree[pair] = 1
                needs_tree[0] = 1
                in_tree[a] = 1
                in_tree[b] = 1
            barrier()  # the lists are those of the next pair from now on

    return SimpleNamespace(list_stale=list_stale, search_stale=search_stale, Features=Features, Work=Work)
