"""Candidates of a pair of bodies without a tree, where few features lie between them.

Along the direction from one body to the other, only what lies in the slab between the first body's end and the second's
beginning can be near the other body: a handful of points for round ones. Their edges and faces are listed per pair, and
compared all with all by their boxes. Pairs with longer lists are left to the BVH (`tree.py`).
"""

import functools
from types import SimpleNamespace

import warp as wp

from turgor.contact.features.search import candidates as nearby
from turgor.contact.geometry import closest_fast
from turgor.kernel.numbers import Numbers, at

__all__ = ["LENGTH", "kernels"]

LENGTH = 128  # of a list; a pair has six: points, faces and edges of either body


@functools.cache
def kernels(n: Numbers, parallel: bool) -> SimpleNamespace:
    """fill_slabs, then cross_slabs; both in blocks, one per pair. The CPU keeps boxes of edges while comparing."""
    variant = f"{__name__}{'_parallel' if parallel else ''}"
    real, vec, dim, face = n.real, n.vec, n.dim, n.face
    near = closest_fast.kernels(n)
    shared = nearby.kernels(n)
    face_distance, add = shared.face_distance, shared.add

    @wp.func
    def put(lists: wp.array(dtype=int), counts: wp.array(dtype=int), pair: int, which: int, feature: int):
        slot = wp.atomic_add(counts, pair * 6 + which, 1)
        if slot < LENGTH:
            lists[(pair * 6 + which) * LENGTH + slot] = feature

    @wp.func
    def beyond(i: int, d: vec, bar: real, points: wp.array(dtype=vec)) -> bool:
        return wp.dot(d, points[at(i)]) >= bar

    @n.kernel(variant)
    def fill_slabs(
        points: wp.array(dtype=vec),
        point_start: wp.array(dtype=int),
        point_end: wp.array(dtype=int),
        faces: wp.array(dtype=face),
        edges: wp.array(dtype=wp.vec4i),
        around_start: wp.array(dtype=int),  # faces at each point
        around: wp.array(dtype=int),
        spokes_start: wp.array(dtype=int),  # edges at each point
        spokes: wp.array(dtype=int),
        thickness: wp.array(dtype=real),
        pair_count: wp.array(dtype=int),
        pairs: wp.array(dtype=wp.vec2i),
        pair_stale: wp.array(dtype=int),
        margin: wp.array(dtype=real),
        across: wp.array(dtype=vec),
        near_end: wp.array(dtype=real),
        far_end: wp.array(dtype=real),
        lists: wp.array(dtype=int),
        counts: wp.array(dtype=int),
    ):
        """The lists of stale pairs. A body against itself has a way of its own."""
        pair, lane = wp.tid()
        if pair < wp.min(pair_count[0], pairs.shape[0]) and pair_stale[pair] != 0:
            ids = pairs[pair]
            if ids[0] != ids[1]:
                within = margin[pair] + thickness[ids[0]] + thickness[ids[1]]
                for side in range(2):
                    a = ids[side]
                    d = across[pair]
                    bar = near_end[pair] - within
                    if side == 1:
                        d = -d
                        bar = -far_end[pair] - within
                    for p in range(point_start[a] + lane, point_end[a], wp.block_dim()):
                        i = at(p)
                        if beyond(i, d, bar, points):
                            put(lists, counts, pair, side, i)
                            # what several points share is listed by the first of them that is in the slab
                            for q in range(around_start[i], around_start[i + 1]):
                                f = faces[at(around[at(q)])]
                                first = bool(True)  # noqa: UP018
                                for k in range(dim):
                                    if f[k] < i and beyond(f[k], d, bar, points):
                                        first = False
                                if first:
                                    put(lists, counts, pair, 2 + side, around[at(q)])
                            if wp.static(dim == 3):
                                for q in range(spokes_start[i], spokes_start[i + 1]):
                                    e = edges[at(spokes[at(q)])]
                                    other = e[0] + e[1] - i
                                    if not (other < i and beyond(other, d, bar, points)):
                                        put(lists, counts, pair, 4 + side, spokes[at(q)])

    @n.kernel(variant)
    def choose_way(
        pair_count: wp.array(dtype=int),
        pairs: wp.array(dtype=wp.vec2i),
        pair_stale: wp.array(dtype=int),
        counts: wp.array(dtype=int),
        by_tree: wp.array(dtype=int),
        tree_wanted: wp.array(dtype=int),
        own_wanted: wp.array(dtype=int),
        stride: int,
    ):
        """Stale pairs with a list that is too long go by the tree; those of one body have a way of their own."""
        for p in range(wp.tid(), wp.min(pair_count[0], pairs.shape[0]), stride):
            wanted = int(0)  # noqa: RUF046, UP018
            if pair_stale[p] != 0:
                if pairs[p][0] == pairs[p][1]:
                    own_wanted[0] = 1
                for k in range(6):
                    if counts[p * 6 + k] > LENGTH:
                        wanted = 1
                if wanted != 0:
                    tree_wanted[0] = 1
            by_tree[p] = wanted

    @n.kernel(variant)
    def cross_slabs(
        points: wp.array(dtype=vec),
        faces: wp.array(dtype=face),
        edges: wp.array(dtype=wp.vec4i),
        thickness: wp.array(dtype=real),
        pair_count: wp.array(dtype=int),
        pairs: wp.array(dtype=wp.vec2i),
        pair_stale: wp.array(dtype=int),
        margin: wp.array(dtype=real),
        lists: wp.array(dtype=int),
        counts: wp.array(dtype=int),
        by_tree: wp.array(dtype=int),
        edge_low: wp.array(dtype=vec),  # (LENGTH,): boxes of the second body's edges, for one pair after another
        edge_high: wp.array(dtype=vec),
        count: wp.array(dtype=int),
        candidates: wp.array(dtype=wp.vec4i),
        asleep: wp.array(dtype=real),
        pressing: wp.array(dtype=real),
        overflow: wp.array(dtype=int),
    ):
        """Points of each body against faces of the other; edges against edges."""
        pair, lane = wp.tid()
        if pair < wp.min(pair_count[0], pairs.shape[0]) and pair_stale[pair] != 0 and by_tree[pair] == 0:
            ids = pairs[pair]
            skin = thickness[ids[0]] + thickness[ids[1]]
            within = margin[pair] + skin
            for side in range(2):
                base = (pair * 6 + side) * LENGTH
                other = (pair * 6 + 2 + 1 - side) * LENGTH
                for j in range(lane, counts[pair * 6 + 2 + 1 - side], wp.block_dim()):
                    which = lists[at(other + j)]
                    f = faces[at(which)]
                    a = points[at(f[0])]
                    b = points[at(f[1])]
                    low = wp.min(a, b)
                    high = wp.max(a, b)
                    if wp.static(dim == 3):
                        c = points[at(f[wp.static(dim - 1)])]
                        low = wp.min(low, c)
                        high = wp.max(high, c)
                    for k in range(counts[pair * 6 + side]):
                        i = at(lists[at(base + k)])
                        p = points[i]
                        off = wp.max(wp.max(low - p, p - high), vec())  # how far p is from the box
                        if wp.dot(off, off) <= within * within:
                            gap = face_distance(p, f, points)
                            if gap <= within:
                                add(
                                    pair, i, which, wp.static(nearby.VERTEX_FACE), gap - skin, count, candidates,
                                    asleep, pressing, overflow,
                                )  # fmt: skip
            if wp.static(dim == 3):
                base = (pair * 6 + 4) * LENGTH
                other = (pair * 6 + 5) * LENGTH
                others = counts[pair * 6 + 5]
                if wp.static(not parallel):
                    for j in range(others):
                        g = edges[at(lists[at(other + j)])]
                        edge_low[at(j)] = wp.min(points[at(g[0])], points[at(g[1])])
                        edge_high[at(j)] = wp.max(points[at(g[0])], points[at(g[1])])
                for k in range(lane, counts[pair * 6 + 4], wp.block_dim()):
                    e = edges[at(lists[at(base + k)])]
                    a = points[at(e[0])]
                    b = points[at(e[1])]
                    low = wp.min(a, b)
                    high = wp.max(a, b)
                    for j in range(others):
                        near_enough = bool(False)  # noqa: UP018
                        if wp.static(parallel):
                            g = edges[at(lists[at(other + j)])]
                            c = points[at(g[0])]
                            d = points[at(g[1])]
                            off = wp.max(wp.max(low - wp.max(c, d), wp.min(c, d) - high), vec())
                            near_enough = wp.dot(off, off) <= within * within
                        else:
                            off = wp.max(wp.max(low - edge_high[at(j)], edge_low[at(j)] - high), vec())
                            near_enough = wp.dot(off, off) <= within * within
                        if near_enough:
                            g = edges[at(lists[at(other + j)])]
                            c = points[at(g[0])]
                            d = points[at(g[1])]
                            _s, _t, between = near.segments(a, b, c, d)
                            size = wp.length(between)
                            if size <= within:
                                add(
                                    pair, lists[at(base + k)], lists[at(other + j)], wp.static(nearby.EDGE_EDGE),
                                    size - skin, count, candidates, asleep, pressing, overflow,
                                )  # fmt: skip

    return SimpleNamespace(fill_slabs=fill_slabs, choose_way=choose_way, cross_slabs=cross_slabs)
