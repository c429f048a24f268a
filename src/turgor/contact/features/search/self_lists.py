"""Lists of bodies with themselves, patch by patch; and a check by patches before one is rebuilt.

The travel of a body with itself is twice the largest movement of any of its points, which a waving finger soon uses up,
though its neighbours wave along. So when the margin seems used up, the displacements since the list was built are
measured. Two features that are not on the list were farther apart than the margin, and than the boxes around their
patches; and they can have come closer by no more than the points of one patch have moved against those of the other.
The smallest rest of all pairs of patches is the new margin.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.contact.features.launch import FeatureLauncher
from turgor.contact.features.search import body_pairs
from turgor.contact.features.search import candidates as listed
from turgor.contact.features.search.body_pairs import RECHECK
from turgor.contact.features.search.candidates import FAR
from turgor.contact.features.search.patches import Patches
from turgor.contact.geometry import closest_fast
from turgor.contact.geometry.advancement import EDGE_EDGE, VERTEX_FACE
from turgor.kernel.numbers import Numbers, at
from turgor.model.model import Model
from turgor.model.surfaces import Surfaces

__all__ = ["SelfLists", "kernels"]

WORTHWHILE = 0.1  # share of the margin that must be left, or else a new list is built


class SelfLists:
    """Boxes and positions of when the list of a body with itself was built, and what has moved since."""

    SAVED = ("self_seen", "self_margin", "patch_low", "patch_high")

    def __init__(self, model: Model, surfaces: Surfaces, launch: FeatureLauncher) -> None:
        n, zeros = model.numbers, launch.zeros
        self.dim, self.kernels, self.patches = n.dim, kernels(n), Patches(model, surfaces)
        count, faces, edges = self.patches.count, len(self.patches.patch_faces), len(self.patches.patch_edges)
        self.self_seen = zeros(surfaces.first_rigid, n.vec)  # m: positions of the soft points then
        self.self_margin = zeros(surfaces.bodies * model.worlds, n.real)  # m: of the list then
        self.patch_low, self.patch_high = zeros(count, n.vec), zeros(count, n.vec)  # m: box of the corners then
        self.patch_move = zeros(count, n.vec)  # m: mean displacement of the corners since then
        self.patch_spread = zeros(count, n.real)  # m: largest displacement of a corner relative to that
        # m: boxes of the faces and edges, in the order of the patches
        self.face_low, self.face_high = zeros(faces, n.vec), zeros(faces, n.vec)
        self.edge_low, self.edge_high = zeros(edges, n.vec), zeros(edges, n.vec)
        self.launch = launch.extended(self, self.patches)

    def recheck(self, pairs: int) -> None:
        """Whether a body whose margin with itself seems used up needs a new list."""
        self.launch(self.kernels.measure_patches, self.patches.count)
        self.launch.tiles(self.kernels.recheck_margins, pairs)

    def collect(self, pairs: int) -> None:
        """Candidates of stale pairs (of at most so many) of a body with itself."""
        self.launch.tiles(self.kernels.bound_patches, pairs)
        self.launch.tiles(self.kernels.collect_self_faces, pairs)
        if self.dim == 3:
            self.launch.tiles(self.kernels.collect_self_edges, pairs)


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """bound_patches, collect_self_faces, collect_self_edges (3D) for a list; measure_patches, recheck_margins."""
    real, vec, dim, face = n.real, n.vec, n.dim, n.face
    shared = listed.kernels(n)
    CandidateList, face_distance, add = shared.CandidateList, shared.face_distance, shared.add
    pair_functions = body_pairs.kernels(n)
    PairList, is_listed = pair_functions.PairList, pair_functions.is_listed
    is_stale_with_itself = pair_functions.is_stale_with_itself

    @wp.func
    def apart(low: vec, high: vec, other_low: vec, other_high: vec) -> real:
        """Distance of two boxes, squared."""
        off = wp.max(wp.max(low - other_high, other_low - high), vec())
        return wp.dot(off, off)

    @n.kernel(__name__)
    def bound_patches(
        patch_start: wp.array(dtype=int),
        corner_range: wp.array(dtype=wp.vec2i),
        face_range: wp.array(dtype=wp.vec2i),
        edge_range: wp.array(dtype=wp.vec2i),
        patch_corners: wp.array(dtype=int),
        patch_faces: wp.array(dtype=int),
        patch_edges: wp.array(dtype=int),
        points: wp.array(dtype=vec),
        faces: wp.array(dtype=face),
        edges: wp.array(dtype=wp.vec4i),
        pair_list: PairList,
        self_margin: wp.array(dtype=real),
        self_seen: wp.array(dtype=vec),
        patch_low: wp.array(dtype=vec),
        patch_high: wp.array(dtype=vec),
        face_low: wp.array(dtype=vec),
        face_high: wp.array(dtype=vec),
        edge_low: wp.array(dtype=vec),
        edge_high: wp.array(dtype=vec),
    ):
        """Boxes of the patches, faces and edges of those bodies whose list with themselves is rebuilt."""
        pair, lane = wp.tid()
        if is_stale_with_itself(pair_list, pair):
            c = at(pair_list.pairs[pair][0])
            if lane == 0:
                self_margin[c] = pair_list.pair_margin[pair]
            for k in range(patch_start[c] + lane, patch_start[c + 1], wp.block_dim()):
                lowest = vec(real(FAR))
                highest = vec(real(-FAR))
                for i in range(corner_range[at(k)][0], corner_range[at(k)][1]):
                    p = points[at(patch_corners[at(i)])]
                    self_seen[at(patch_corners[at(i)])] = p
                    lowest = wp.min(lowest, p)
                    highest = wp.max(highest, p)
                patch_low[at(k)] = lowest
                patch_high[at(k)] = highest
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
    def collect_self_faces(
        patch_start: wp.array(dtype=int),
        patch_points: wp.array(dtype=wp.vec2i),
        face_range: wp.array(dtype=wp.vec2i),
        patch_faces: wp.array(dtype=int),
        face_low: wp.array(dtype=vec),
        face_high: wp.array(dtype=vec),
        patch_low: wp.array(dtype=vec),
        patch_high: wp.array(dtype=vec),
        points: wp.array(dtype=vec),
        faces: wp.array(dtype=face),
        thickness: wp.array(dtype=real),
        pair_list: PairList,
        candidate_list: CandidateList,
    ):
        """Points near faces, of each patch and of those whose boxes are near its own."""
        pair, lane = wp.tid()
        if is_stale_with_itself(pair_list, pair):
            c = at(pair_list.pairs[pair][0])
            skin = real(2.0) * thickness[c]
            within = pair_list.pair_margin[pair] + skin
            for k in range(patch_start[c] + lane, patch_start[c + 1], wp.block_dim()):
                mine = patch_points[at(k)]
                for l in range(patch_start[c], patch_start[c + 1]):  # noqa: E741
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
                                            add(candidate_list, pair, i, which, VERTEX_FACE, gap - skin)

    @n.kernel(__name__)
    def measure_patches(
        corner_range: wp.array(dtype=wp.vec2i),
        patch_corners: wp.array(dtype=int),
        points: wp.array(dtype=vec),
        self_seen: wp.array(dtype=vec),
        patch_move_out: wp.array(dtype=vec),
        patch_spread_out: wp.array(dtype=real),
    ):
        """Displacements since the list was built."""
        k = at(wp.tid())
        mine = corner_range[k]
        mean = vec()
        for q in range(mine[0], mine[1]):
            i = at(patch_corners[at(q)])
            mean += points[i] - self_seen[i]
        mean = mean / real(mine[1] - mine[0])
        most = real(0.0)
        for q in range(mine[0], mine[1]):
            i = at(patch_corners[at(q)])
            most = wp.max(most, wp.length_sq(points[i] - self_seen[i] - mean))
        patch_move_out[k] = mean
        patch_spread_out[k] = wp.sqrt(most)

    @n.kernel(__name__)
    def recheck_margins(
        patch_start: wp.array(dtype=int),
        patch_low: wp.array(dtype=vec),
        patch_high: wp.array(dtype=vec),
        patch_move: wp.array(dtype=vec),
        patch_spread: wp.array(dtype=real),
        self_margin: wp.array(dtype=real),
        thickness: wp.array(dtype=real),
        pair_list: PairList,
        pair_travel: wp.array(dtype=real),
        pair_travel_end: wp.array(dtype=real),
        some_stale: wp.array(dtype=int),
    ):
        """How much closer features can still come, whichever two patches they belong to."""
        pair, lane = wp.tid()
        if is_listed(pair_list, pair) and pair_list.pair_stale[pair] == RECHECK:
            c = at(pair_list.pairs[pair][0])
            last = patch_start[c + 1]
            least = real(FAR)
            for k in range(patch_start[c] + lane, last, wp.block_dim()):
                for l in range(k, last):  # noqa: E741
                    off = (
                        wp.sqrt(apart(patch_low[at(k)], patch_high[at(k)], patch_low[at(l)], patch_high[at(l)]))
                        - real(2.0) * thickness[c]
                    )
                    used = wp.length(patch_move[at(k)] - patch_move[at(l)]) + patch_spread[at(k)] + patch_spread[at(l)]
                    least = wp.min(least, wp.max(self_margin[c], off) - used)
            left = wp.tile_min(wp.tile(least))
            if lane == 0:
                ahead = pair_travel_end[pair] - pair_travel[pair]  # in this substep
                if left[0] >= wp.max(ahead, real(WORTHWHILE) * self_margin[c]):
                    pair_list.pair_margin[pair] = pair_travel[pair] + left[0]
                    pair_list.pair_stale[pair] = 0
                else:
                    pair_list.pair_stale[pair] = 1
                    some_stale[0] = 1

    found_by = SimpleNamespace(
        bound_patches=bound_patches,
        collect_self_faces=collect_self_faces,
        measure_patches=measure_patches,
        recheck_margins=recheck_margins,
    )
    if dim == 2:
        return found_by

    near = closest_fast.kernels(n)

    @n.kernel(__name__)
    def collect_self_edges(
        patch_start: wp.array(dtype=int),
        edge_range: wp.array(dtype=wp.vec2i),
        patch_edges: wp.array(dtype=int),
        edge_low: wp.array(dtype=vec),
        edge_high: wp.array(dtype=vec),
        patch_low: wp.array(dtype=vec),
        patch_high: wp.array(dtype=vec),
        points: wp.array(dtype=vec),
        edges: wp.array(dtype=wp.vec4i),
        thickness: wp.array(dtype=real),
        pair_list: PairList,
        candidate_list: CandidateList,
    ):
        """Edges near edges, each pair once."""
        pair, lane = wp.tid()
        if is_stale_with_itself(pair_list, pair):
            c = at(pair_list.pairs[pair][0])
            skin = real(2.0) * thickness[c]
            within = pair_list.pair_margin[pair] + skin
            for k in range(patch_start[c] + lane, patch_start[c + 1], wp.block_dim()):
                mine = edge_range[at(k)]
                for l in range(k, patch_start[c + 1]):  # noqa: E741
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
                                                add(candidate_list, pair, one, two, EDGE_EDGE, size - skin)

    found_by.collect_self_edges = collect_self_edges
    return found_by
