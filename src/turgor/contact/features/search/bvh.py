"""Candidates by a BVH over all faces, grouped by body: for pairs of bodies with much between them."""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.contact.features.launch import FeatureLauncher
from turgor.contact.features.search import body_pairs
from turgor.contact.features.search import candidates as listed
from turgor.contact.geometry import closest_fast
from turgor.contact.geometry.advancement import EDGE_EDGE, VERTEX_FACE
from turgor.kernel.numbers import Numbers, at
from turgor.model.model import Model
from turgor.model.surfaces import Surfaces

__all__ = ["FaceTree", "kernels"]


class FaceTree:
    """The boxes of all faces, and the BVH over them."""

    def __init__(self, model: Model, surfaces: Surfaces, launch: FeatureLauncher) -> None:
        self.dim, self.kernels, self.face_count = model.numbers.dim, kernels(model.numbers), len(surfaces.faces)
        self.face_lowers, self.face_uppers = (launch.zeros(self.face_count, wp.vec3f) for _ in range(2))
        self.launch = launch.extended(self)
        self._bound_faces()
        self.bvh = wp.Bvh(self.face_lowers, self.face_uppers, groups=surfaces.face_body)

    def _bound_faces(self) -> None:
        self.launch(self.kernels.bound_faces, self.face_count)

    def collect(self, pairs: int) -> None:
        """Candidates of the pairs (of at most so many) that are marked `by_tree`."""
        self._bound_faces()
        self.bvh.refit()
        self.launch.tiles(self.kernels.collect_faces, pairs, bvh=self.bvh.id)
        if self.dim == 3:
            self.launch.tiles(self.kernels.collect_edges, pairs, bvh=self.bvh.id)


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """bound_faces, collect_faces, collect_edges (3D)."""
    real, vec, dim, face = n.real, n.vec, n.dim, n.face
    near = closest_fast.kernels(n)
    shared = listed.kernels(n)
    CandidateList, add, face_distance, flat = shared.CandidateList, shared.add, shared.face_distance, shared.flat
    PairList, is_listed = body_pairs.kernels(n).PairList, body_pairs.kernels(n).is_listed

    @n.kernel(__name__)
    def bound_faces(
        points: wp.array(dtype=vec),
        faces: wp.array(dtype=face),
        face_lowers: wp.array(dtype=wp.vec3f),
        face_uppers: wp.array(dtype=wp.vec3f),
    ):
        """Boxes of the faces for the BVH."""
        i = at(wp.tid())
        f = faces[i]
        a = flat(points[at(f[0])])
        b = flat(points[at(f[1])])
        lowest = wp.min(a, b)
        highest = wp.max(a, b)
        if wp.static(dim == 3):
            c = flat(points[at(f[2])])
            lowest = wp.min(lowest, c)
            highest = wp.max(highest, c)
        face_lowers[i] = lowest
        face_uppers[i] = highest

    @wp.func
    def outside(p: vec, slack: real, low: vec, high: vec) -> bool:
        for axis in range(dim):
            if p[axis] + slack < low[axis] or p[axis] - slack > high[axis]:
                return True
        return False

    @n.kernel(__name__)
    def collect_faces(
        bvh: wp.uint64,
        points: wp.array(dtype=vec),
        faces: wp.array(dtype=face),
        point_start: wp.array(dtype=int),
        point_end: wp.array(dtype=int),
        body_low: wp.array(dtype=vec),
        body_high: wp.array(dtype=vec),
        thickness: wp.array(dtype=real),
        pair_list: PairList,
        by_tree: wp.array(dtype=int),
        slab_direction: wp.array(dtype=vec),
        slab_begin: wp.array(dtype=real),
        slab_end: wp.array(dtype=real),
        candidate_list: CandidateList,
    ):
        """Points of each body of a pair near faces of the other."""
        pair, lane = wp.tid()
        if is_listed(pair_list, pair) and by_tree[pair] != 0:
            ids = pair_list.pairs[pair]
            skin = thickness[ids[0]] + thickness[ids[1]]
            within = pair_list.pair_margin[pair] + skin
            for side in range(2):
                a = ids[side]
                b = ids[1 - side]
                root = wp.bvh_get_group_root(bvh, b)
                lowest = body_low[b]
                highest = body_high[b]
                half_box = wp.vec3f(float(within) * 1.00001)
                d = slab_direction[pair]
                bar = slab_begin[pair] - within
                if side == 1:
                    d = -d
                    bar = -slab_end[pair] - within
                for i in range(point_start[a] + lane, point_end[a], wp.block_dim()):
                    p = points[at(i)]
                    if wp.dot(d, p) >= bar and not outside(p, within, lowest, highest):
                        centre = flat(p)
                        query = wp.bvh_query_aabb(bvh, centre - half_box, centre + half_box, root)
                        found = int(0)  # noqa: RUF046, UP018 (a variable in Warp's language)
                        while wp.bvh_query_next(query, found):
                            f = faces[at(found)]
                            gap = face_distance(p, f, points)
                            if gap <= within:
                                add(candidate_list, pair, i, found, VERTEX_FACE, gap - skin)

    found_by = SimpleNamespace(bound_faces=bound_faces, collect_faces=collect_faces)
    if dim == 2:
        return found_by

    @n.kernel(__name__)
    def collect_edges(
        bvh: wp.uint64,
        points: wp.array(dtype=vec),
        edges: wp.array(dtype=wp.vec4i),
        edge_start: wp.array(dtype=int),
        face_edges: wp.array(dtype=face),
        body_low: wp.array(dtype=vec),
        body_high: wp.array(dtype=vec),
        thickness: wp.array(dtype=real),
        pair_list: PairList,
        by_tree: wp.array(dtype=int),
        slab_direction: wp.array(dtype=vec),
        slab_begin: wp.array(dtype=real),
        slab_end: wp.array(dtype=real),
        candidate_list: CandidateList,
    ):
        """Edges of the first body of a pair near edges of the second, found through the faces that own them."""
        pair, lane = wp.tid()
        if is_listed(pair_list, pair) and by_tree[pair] != 0:
            ids = pair_list.pairs[pair]
            a = ids[0]
            b = ids[1]
            skin = thickness[a] + thickness[b]
            within = pair_list.pair_margin[pair] + skin
            root = wp.bvh_get_group_root(bvh, b)
            lowest = body_low[b]
            highest = body_high[b]
            half_box = wp.vec3f(float(within) * 1.00001)
            d = slab_direction[pair]
            bar = slab_begin[pair] - within
            for e in range(edge_start[a] + lane, edge_start[a + 1], wp.block_dim()):
                mine = edges[at(e)]
                p = points[at(mine[0])]
                q = points[at(mine[1])]
                middle = real(0.5) * (p + q)
                if wp.max(wp.dot(d, p), wp.dot(d, q)) >= bar and not outside(
                    middle, within + real(0.5) * wp.length(q - p), lowest, highest
                ):
                    p3 = flat(p)
                    q3 = flat(q)
                    low_end = wp.min(p, q)
                    high_end = wp.max(p, q)
                    query = wp.bvh_query_aabb(bvh, wp.min(p3, q3) - half_box, wp.max(p3, q3) + half_box, root)
                    found = int(0)  # noqa: RUF046, UP018
                    while wp.bvh_query_next(query, found):
                        owned = face_edges[at(found)]
                        for k in range(3):
                            other = owned[k]
                            if other >= 0:
                                its = edges[at(other)]
                                r = points[at(its[0])]
                                s = points[at(its[1])]
                                off = wp.max(wp.max(low_end - wp.max(r, s), wp.min(r, s) - high_end), vec())
                                if wp.dot(off, off) <= within * within:  # between the boxes of the two
                                    _s, _t, gap = near.segments(p, q, r, s)
                                    size = wp.length(gap)
                                    if size <= within:
                                        add(candidate_list, pair, e, other, EDGE_EDGE, size - skin)

    found_by.collect_edges = collect_edges
    return found_by
