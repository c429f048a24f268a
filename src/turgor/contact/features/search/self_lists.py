"""Lists of bodies with themselves, patch by patch; and a second look, before one is made anew.

The travel of a body with itself is twice the largest movement of any of its points, which a waving finger soon uses up,
though its neighbours wave along. So when the margin seems used up, the displacements since the list was made are looked
at. Two features that are not on the list were farther apart than the margin, and than the boxes around their patches;
and they can have come closer by no more than the points of one patch have moved against those of the other. What is
left, at the least, is the new margin.
"""

import functools
from types import SimpleNamespace

import warp as wp

from turgor.contact.features.search import candidates as nearby
from turgor.contact.features.search.body_pairs import DOUBTED
from turgor.contact.features.search.candidates import EDGE_EDGE, FAR, VERTEX_FACE
from turgor.contact.geometry import closest_fast
from turgor.kernel.numbers import Numbers, at

__all__ = ["kernels"]

WORTHWHILE = 0.1  # share of the margin that must be left, or else a new list is made


@functools.cache
def kernels(n: Numbers) -> SimpleNamespace:
    """bound_patches, collect_own_faces, collect_own_edges (3D) for a new list; measure_patches, then look_again."""
    real, vec, dim, face = n.real, n.vec, n.dim, n.face
    shared = nearby.kernels(n)
    face_distance, add = shared.face_distance, shared.add

    @wp.func
    def apart(low: vec, high: vec, other_low: vec, other_high: vec) -> real:
        """Distance of two boxes, squared."""
        off = wp.max(wp.max(low - other_high, other_low - high), vec())
        return wp.dot(off, off)

    @n.kernel(__name__)
    def bound_patches(
        start: wp.array(dtype=int),
        corner_range: wp.array(dtype=wp.vec2i),
        face_range: wp.array(dtype=wp.vec2i),
        edge_range: wp.array(dtype=wp.vec2i),
        corners: wp.array(dtype=int),
        patch_faces: wp.array(dtype=int),
        patch_edges: wp.array(dtype=int),
        points: wp.array(dtype=vec),
        faces: wp.array(dtype=face),
        edges: wp.array(dtype=wp.vec4i),
        pair_count: wp.array(dtype=int),
        pairs: wp.array(dtype=wp.vec2i),
        pair_stale: wp.array(dtype=int),
        margin: wp.array(dtype=real),
        own_margin: wp.array(dtype=real),
        seen: wp.array(dtype=vec),
        low: wp.array(dtype=vec),
        high: wp.array(dtype=vec),
        face_low: wp.array(dtype=vec),
        face_high: wp.array(dtype=vec),
        edge_low: wp.array(dtype=vec),
        edge_high: wp.array(dtype=vec),
    ):
        """Boxes of the patches, faces and edges of those bodies whose list with themselves is made anew."""
        pair, lane = wp.tid()
        if pair < wp.min(pair_count[0], pairs.shape[0]) and pair_stale[pair] != 0 and pairs[pair][0] == pairs[pair][1]:
            c = at(pairs[pair][0])
            if lane == 0:
                own_margin[c] = margin[pair]
            for k in range(start[c] + lane, start[c + 1], wp.block_dim()):
                lowest = vec(real(FAR))
                highest = vec(real(-FAR))
                for i in range(corner_range[at(k)][0], corner_range[at(k)][1]):
                    p = points[at(corners[at(i)])]
                    seen[at(corners[at(i)])] = p
                    lowest = wp.min(lowest, p)
                    highest = wp.max(highest, p)
                low[at(k)] = lowest
                high[at(k)] = highest
                for i in range(face_range[at(k)][0], face_range[at(k)][1]):
                    f = faces[at(patch_faces[at(i)])]
                    lowest = points[at(f[0])]
                    highest = lowest
                    for corner in range(1, dim):
                        lowest = wp.min(lowest, points[at(f[corner])])
                        highest = wp.max(highest, points[at(f[corner])])
                    face_low[at(i)] = lowest
                    face_high[at(i)] = highest
                for i in range(edge_range[at(k)][0], edge_range[at(k)][1]):
                    e = edges[at(patch_edges[at(i)])]
                    edge_low[at(i)] = wp.min(points[at(e[0])], points[at(e[1])])
                    edge_high[at(i)] = wp.max(points[at(e[0])], points[at(e[1])])

    @n.kernel(__name__)
    def collect_own_faces(
        start: wp.array(dtype=int),
        point_range: wp.array(dtype=wp.vec2i),
        face_range: wp.array(dtype=wp.vec2i),
        patch_faces: wp.array(dtype=int),
        face_low: wp.array(dtype=vec),
        face_high: wp.array(dtype=vec),
        patch_low: wp.array(dtype=vec),
        patch_high: wp.array(dtype=vec),
        points: wp.array(dtype=vec),
        faces: wp.array(dtype=face),
        thickness: wp.array(dtype=real),
        pair_count: wp.array(dtype=int),
        pairs: wp.array(dtype=wp.vec2i),
        pair_stale: wp.array(dtype=int),
        margin: wp.array(dtype=real),
        count: wp.array(dtype=int),
        candidates: wp.array(dtype=wp.vec4i),
        asleep: wp.array(dtype=real),
        pressing: wp.array(dtype=real),
        overflow: wp.array(dtype=int),
    ):
        """Points near faces, of each patch and of those whose boxes are near its own."""
        pair, lane = wp.tid()
        if pair < wp.min(pair_count[0], pairs.shape[0]) and pair_stale[pair] != 0 and pairs[pair][0] == pairs[pair][1]:
            c = at(pairs[pair][0])
            skin = real(2.0) * thickness[c]
            within = margin[pair] + skin
            for k in range(start[c] + lane, start[c + 1], wp.block_dim()):
                mine = point_range[at(k)]
                for l in range(start[c], start[c + 1]):  # noqa: E741
                    low = patch_low[at(l)]
                    high = patch_high[at(l)]
                    if apart(patch_low[at(k)], patch_high[at(k)], low, high) <= within * within:
                        its = face_range[at(l)]
                        for i in range(mine[0], mine[1]):
                            p = points[at(i)]
                            if apart(p, p, low, high) <= within * within:
                                for q in range(its[0], its[1]):
                                    if apart(p, p, face_low[at(q)], face_high[at(q)]) <= within * within:
                                        which = at(patch_faces[at(q)])
                                        f = faces[which]
                                        has = f[0] == i or f[1] == i or f[wp.static(dim - 1)] == i
                                        gap = face_distance(p, f, points)
                                        if gap <= within and not has:
                                            add(
                                                pair, i, which, VERTEX_FACE, gap - skin, count, candidates, asleep,
                                                pressing, overflow,
                                            )  # fmt: skip

    @n.kernel(__name__)
    def measure_patches(
        ranges: wp.array(dtype=wp.vec2i),
        corners: wp.array(dtype=int),
        points: wp.array(dtype=vec),
        seen: wp.array(dtype=vec),
        mean_out: wp.array(dtype=vec),
        spread_out: wp.array(dtype=real),
    ):
        """Displacements since the list was made."""
        k = at(wp.tid())
        mine = ranges[k]
        mean = vec()
        for q in range(mine[0], mine[1]):
            i = at(corners[at(q)])
            mean += points[i] - seen[i]
        mean = mean / real(mine[1] - mine[0])
        most = real(0.0)
        for q in range(mine[0], mine[1]):
            i = at(corners[at(q)])
            most = wp.max(most, wp.length_sq(points[i] - seen[i] - mean))
        mean_out[k] = mean
        spread_out[k] = wp.sqrt(most)

    @n.kernel(__name__)
    def look_again(
        start: wp.array(dtype=int),
        low: wp.array(dtype=vec),
        high: wp.array(dtype=vec),
        mean: wp.array(dtype=vec),
        spread: wp.array(dtype=real),
        own_margin: wp.array(dtype=real),
        thickness: wp.array(dtype=real),
        pair_count: wp.array(dtype=int),
        pairs: wp.array(dtype=wp.vec2i),
        pair_stale: wp.array(dtype=int),
        travel: wp.array(dtype=real),
        reach: wp.array(dtype=real),
        margin: wp.array(dtype=real),
        some_stale: wp.array(dtype=int),
    ):
        """How much closer features can still come, whichever two patches they belong to."""
        pair, lane = wp.tid()
        if pair < wp.min(pair_count[0], pairs.shape[0]) and pair_stale[pair] == DOUBTED:
            c = at(pairs[pair][0])
            last = start[c + 1]
            least = real(FAR)
            for k in range(start[c] + lane, last, wp.block_dim()):
                for l in range(k, last):  # noqa: E741
                    off = wp.sqrt(apart(low[at(k)], high[at(k)], low[at(l)], high[at(l)])) - real(2.0) * thickness[c]
                    used = wp.length(mean[at(k)] - mean[at(l)]) + spread[at(k)] + spread[at(l)]
                    least = wp.min(least, wp.max(own_margin[c], off) - used)
            left = wp.tile_min(wp.tile(least))
            if lane == 0:
                ahead = reach[pair] - travel[pair]  # in this substep
                if left[0] >= wp.max(ahead, real(WORTHWHILE) * own_margin[c]):
                    margin[pair] = travel[pair] + left[0]
                    pair_stale[pair] = 0
                else:
                    pair_stale[pair] = 1
                    some_stale[0] = 1

    found_by = SimpleNamespace(
        bound_patches=bound_patches,
        collect_own_faces=collect_own_faces,
        measure_patches=measure_patches,
        look_again=look_again,
    )
    if dim == 2:
        return found_by

    near = closest_fast.kernels(n)

    @n.kernel(__name__)
    def collect_own_edges(
        start: wp.array(dtype=int),
        edge_range: wp.array(dtype=wp.vec2i),
        patch_edges: wp.array(dtype=int),
        edge_low: wp.array(dtype=vec),
        edge_high: wp.array(dtype=vec),
        patch_low: wp.array(dtype=vec),
        patch_high: wp.array(dtype=vec),
        points: wp.array(dtype=vec),
        edges: wp.array(dtype=wp.vec4i),
        thickness: wp.array(dtype=real),
        pair_count: wp.array(dtype=int),
        pairs: wp.array(dtype=wp.vec2i),
        pair_stale: wp.array(dtype=int),
        margin: wp.array(dtype=real),
        count: wp.array(dtype=int),
        candidates: wp.array(dtype=wp.vec4i),
        asleep: wp.array(dtype=real),
        pressing: wp.array(dtype=real),
        overflow: wp.array(dtype=int),
    ):
        """Edges near edges, each pair once."""
        pair, lane = wp.tid()
        if pair < wp.min(pair_count[0], pairs.shape[0]) and pair_stale[pair] != 0 and pairs[pair][0] == pairs[pair][1]:
            c = at(pairs[pair][0])
            skin = real(2.0) * thickness[c]
            within = margin[pair] + skin
            for k in range(start[c] + lane, start[c + 1], wp.block_dim()):
                mine = edge_range[at(k)]
                for l in range(k, start[c + 1]):  # noqa: E741
                    low = patch_low[at(l)]
                    high = patch_high[at(l)]
                    if apart(patch_low[at(k)], patch_high[at(k)], low, high) <= within * within:
                        its = edge_range[at(l)]
                        for i in range(mine[0], mine[1]):
                            lowest = edge_low[at(i)]
                            highest = edge_high[at(i)]
                            if apart(lowest, highest, low, high) <= within * within:
                                one = at(patch_edges[at(i)])
                                e = edges[one]
                                for j in range(wp.where(l == k, i + 1, its[0]), its[1]):
                                    if apart(lowest, highest, edge_low[at(j)], edge_high[at(j)]) <= within * within:
                                        two = at(patch_edges[at(j)])
                                        g = edges[two]
                                        joined = g[0] == e[0] or g[0] == e[1] or g[1] == e[0] or g[1] == e[1]
                                        if not joined:
                                            _s, _t, between = near.segments(
                                                points[at(e[0])], points[at(e[1])], points[at(g[0])], points[at(g[1])]
                                            )
                                            size = wp.length(between)
                                            if size <= within:
                                                add(
                                                    pair, one, two, EDGE_EDGE, size - skin, count, candidates,
                                                    asleep, pressing, overflow,
                                                )  # fmt: skip

    found_by.collect_own_edges = collect_own_edges
    return found_by
