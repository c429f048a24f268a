"""Lists of bodies with themselves, by the tree over their patches; and a check by patches before one is rebuilt.

Most of a surface is near nothing but its own neighbourhood, and needs no list there. A closed surface that does not
cross itself has its inside on one side everywhere, so the first parts of it that touch look in opposite directions:
between a surface and another part of it that looks the same way there is always a part that looks the other way.
Features whose normals (those of all faces at them) are within a right angle of each other are therefore left out of the
list, as long as that is so. (Volino & Magnenat-Thalmann 1994 have this for one smooth patch.) Cloths have no inside,
and are compared everywhere.

The travel of a body with itself is twice the largest movement of any of its points, which a waving finger soon uses up,
though its neighbours wave along. So when the margin seems used up, boxes and normals are looked at again. Patches that
look the same way, or are apart, need no more. For others it counts what has happened since the list was built. Two
features that are not on it looked the same way, or were farther apart than the margin, and than the boxes around their
patches. Patch k is taken to move by an affine map, x = c + A (X - C), fitted to its corners and its normal, with a
residual e. With the map of k for both patches,
    |x - y| >= s |X - Y| - |c' - c - A (C' - C)| - |A' - A| R' - e - e',
where s is the smallest stretch of A, the primed quantities are those of the other patch, and R' is its radius. Normals
turn by the map too, and by an angle that is measured face by face.
"""

import functools
import math
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.contact.features.launch import FeatureLauncher
from turgor.contact.features.search import body_pairs, compare, patches
from turgor.contact.features.search import candidates as listed
from turgor.contact.features.search.body_pairs import RECHECK, STALE
from turgor.contact.features.search.compare import ALIKE
from turgor.contact.features.search.patches import Patches
from turgor.kernel.numbers import Numbers, at
from turgor.model.model import Model
from turgor.model.surfaces import Surfaces

__all__ = ["SelfLists", "kernels"]

WORTHWHILE = 0.1  # share of the margin that must be left, or else a new list is built
# whether lists leave out parts that look the same way: faster, but small faces may turn over before they are looked at
SAME_WAY = False
SAME_SIDE = math.radians(85.0)  # patches with all normals within this angle look the same way
SURELY = math.radians(80.0)  # those within this angle will for some time, and are not compared
TURNING = math.radians(85.0 - ALIKE)  # by which features that looked the same way may turn against each other
FOLDING = 0.4  # edge lengths: travel after which normals are looked at again; they turn by some 20 degrees
REACH = 4.0  # edge lengths: patches farther apart are not looked at


class SelfLists:
    """Boxes, normals and positions of when the list of a body with itself was built, and what has happened since."""

    SAVED = ("self_seen", "self_margin", "self_far", "patch_seen", "seen_normal", "compared")

    def __init__(self, model: Model, surfaces: Surfaces, patches: Patches, launch: FeatureLauncher) -> None:
        n, zeros = model.numbers, launch.zeros
        k = kernels(n)
        self.kernels, self.patches = k, patches
        self.bodies, self.face_count = surfaces.bodies * model.worlds, len(surfaces.faces)
        own = bool(surfaces.world_self_contact.any())
        count, nodes = (patches.count, patches.nodes) if own else (0, 0)
        self.self_pair = zeros(self.bodies, wp.int32)  # the pair of each body with itself, if it is looked at, or -1
        self.self_margin = zeros(self.bodies, n.real)  # m: of the list
        self.self_left = zeros(self.bodies, n.real)  # m: how much closer features can still come
        self.self_far = zeros(self.bodies, n.real)  # m: travel for which the list holds, if normals do not turn
        # now
        self.face_normal = zeros(self.face_count if own else 0, n.vec)
        self.self_low, self.self_high = zeros(nodes, n.vec), zeros(nodes, n.vec)  # m: boxes of the nodes
        self.cone_axis, self.cone_angle = zeros(count, n.vec), zeros(count, n.real)  # of the normals of a patch, rad
        self.patch_maps = zeros(count, k.Map)  # how a patch has moved, if it was compared with others
        # when the list was built
        self.self_seen = zeros(surfaces.first_rigid if own else 0, n.vec)  # m: positions of the soft points
        self.patch_seen, self.seen_normal = zeros(count, k.Seen), zeros(len(self.face_normal), n.vec)
        self.compared = zeros(count, wp.int32)  # whether a patch was compared with any
        self.list_work = zeros(3, wp.int32)  # done so far: rechecks, lists, pairs of patches compared for them
        self.launch = launch.extended(self)

    def recheck(self, pairs: int) -> None:
        """Whether a body whose margin with itself seems used up needs a new list."""
        launch, k = self.launch, self.kernels
        self.self_pair.fill_(-1)
        launch(k.begin_recheck, pairs)
        self.look()
        launch(k.measure_patches, self.patches.count)
        launch(k.recheck_patches, self.patches.count)
        launch(k.end_recheck, self.bodies)

    def collect(self, pairs: int) -> None:
        """Candidates of stale pairs (of at most so many) of a body with itself."""
        launch, k = self.launch, self.kernels
        self.self_pair.fill_(-1)
        launch(k.begin_list, pairs)
        self.look()
        launch(k.see_patches, self.patches.count)
        launch(k.collect_self, self.patches.count)

    def look(self) -> None:
        """Boxes and normals now, of the bodies in question."""
        launch, k = self.launch, self.kernels
        launch(k.look_at_faces, self.face_count)
        launch(k.look_at_patches, self.patches.count)
        launch.tiles(k.look_at_nodes, self.patches.nodes)


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """In the order of a list, then of a check."""
    real, vec, dim, face = n.real, n.vec, n.dim, n.face
    mat = {(2, "single"): wp.mat22f, (2, "double"): wp.mat22d, (3, "single"): wp.mat33f, (3, "double"): wp.mat33d}[
        dim, n.precision
    ]
    tiny = wp.constant(real(n.tiny))
    shape = patches.kernels(n)
    Mesh, bound_stars, first_node, last_node = shape.Mesh, shape.bound_stars, shape.first_node, shape.last_node
    first_end, end_of = shape.first_end, shape.end_of
    CandidateList = listed.kernels(n).CandidateList
    pair_functions = body_pairs.kernels(n)
    PairList, is_listed = pair_functions.PairList, pair_functions.is_listed
    is_stale_with_itself = pair_functions.is_stale_with_itself
    box_gap, compare_patches = compare.kernels(n).box_gap, compare.kernels(n).compare_patches

    @wp.struct
    class Map:
        """How a patch has moved since its list was built."""

        centre: vec  # m: mean of its points now
        turn: mat  # the affine map
        normals: mat  # the map of its normals, which is the transposed inverse
        stretch: real  # smallest of `turn`, at most 1
        flattest: real  # smallest of `normals`
        residual: real  # m: largest distance of a corner from where the map puts it
        turning: real  # rad: largest angle of a normal from where the map puts it

    @wp.struct
    class Seen:
        """A patch when its list was built."""

        low: vec  # m: box
        high: vec
        centre: vec  # m: mean of the points
        radius: real  # m: largest distance of a corner from it
        weight: vec  # m²: normal, as much as the corners weigh in the fit of the map
        inverse: mat  # 1/m²: of the moments of corners and normal

    if dim == 2:

        @wp.func(inline=True)
        def outwards(f: face, points: wp.array(dtype=vec)) -> vec:
            e = points[at(f[1])] - points[at(f[0])]
            return vec(e[1], -e[0])

        @wp.func
        def least_stretch(m: mat) -> real:
            """The smaller singular value: s1 s2 = |det|, s1² + s2² = the sum of squares."""
            squares = wp.ddot(m, m)
            product = wp.abs(wp.determinant(m))
            both = wp.sqrt(wp.max(squares + real(2.0) * product, real(0.0)))  # s1 + s2
            between = wp.sqrt(wp.max(squares - real(2.0) * product, real(0.0)))  # s1 - s2
            return real(0.5) * (both - between)

    else:

        @wp.func(inline=True)
        def outwards(f: face, points: wp.array(dtype=vec)) -> vec:
            a = points[at(f[0])]
            return wp.cross(points[at(f[1])] - a, points[at(f[2])] - a)

        @wp.func
        def least_stretch(m: mat) -> real:
            """The smallest singular value, from the eigenvalues of the symmetric m' m (Smith 1961)."""
            s = wp.transpose(m) * m
            mean = wp.trace(s) / real(3.0)
            off = s - mean * wp.identity(3, dtype=real)
            size = wp.sqrt(wp.ddot(off, off) / real(6.0))
            if size <= real(1.0e-7) * mean:
                return wp.sqrt(mean)
            cosine = wp.clamp(wp.determinant(off) / (real(2.0) * size * size * size), real(-1.0), real(1.0))
            angle = (wp.acos(cosine) + real(2.0 * 3.14159265358979)) / real(3.0)
            return wp.sqrt(wp.max(mean + real(2.0) * size * wp.cos(angle), real(0.0)))

    @wp.func(inline=True)
    def differ(axis: vec, angle: real, other_axis: vec, other_angle: real) -> real:
        """Largest angle (rad) between the normals of two patches."""
        return wp.acos(wp.clamp(wp.dot(axis, other_axis), real(-1.0), real(1.0))) + angle + other_angle

    @n.kernel(__name__)
    def begin_list(
        pair_list: PairList,
        self_pair: wp.array(dtype=int),
        self_margin: wp.array(dtype=real),
        self_far: wp.array(dtype=real),
        list_work: wp.array(dtype=int),
    ):
        """Which bodies get a new list, and with which margin."""
        pair = wp.tid()
        if is_stale_with_itself(pair_list, pair):
            c = pair_list.pairs[pair][0]
            self_pair[c] = pair
            self_margin[c] = pair_list.pair_margin[pair]
            self_far[c] = pair_list.pair_margin[pair]  # its travel is zero now
            wp.atomic_add(list_work, 1, 1)

    @n.kernel(__name__)
    def look_at_faces(
        mesh: Mesh, face_body: wp.array(dtype=int), self_pair: wp.array(dtype=int), face_normal: wp.array(dtype=vec)
    ):
        """Unit normals of the faces."""
        i = at(wp.tid())
        if self_pair[at(face_body[i])] >= 0:
            face_normal[i] = wp.normalize(outwards(mesh.faces[i], mesh.points))

    @n.kernel(__name__)
    def look_at_patches(
        mesh: Mesh,
        closed: wp.array(dtype=int),
        self_pair: wp.array(dtype=int),
        face_normal: wp.array(dtype=vec),
        self_low: wp.array(dtype=vec),
        self_high: wp.array(dtype=vec),
        cone_axis: wp.array(dtype=vec),
        cone_angle: wp.array(dtype=real),
    ):
        """Boxes of the patches, and cones around their normals; those of an open surface point everywhere."""
        k = at(wp.tid())
        c = at(mesh.patch_body[k])
        if self_pair[c] >= 0:
            low, high = bound_stars(mesh, k)
            self_low[at(mesh.patch_node[k])] = low
            self_high[at(mesh.patch_node[k])] = high
            mine = mesh.point_range[k]
            total = vec()
            for q in range(mine[0], mine[1]):
                i = at(mesh.patch_points[at(q)])
                for s in range(mesh.point_faces_start[i], mesh.point_faces_start[i + 1]):
                    total += face_normal[at(mesh.point_faces[at(s)])]
            axis = wp.normalize(total)
            least = real(1.0)
            for q in range(mine[0], mine[1]):
                i = at(mesh.patch_points[at(q)])
                for s in range(mesh.point_faces_start[i], mesh.point_faces_start[i + 1]):
                    least = wp.min(least, wp.dot(axis, face_normal[at(mesh.point_faces[at(s)])]))
            if wp.static(not SAME_WAY) or closed[c] == 0:
                least = real(-1.0)
            cone_axis[k] = axis
            cone_angle[k] = wp.acos(wp.clamp(least, real(-1.0), real(1.0)))

    @n.kernel(__name__)
    def look_at_nodes(
        mesh: Mesh,
        self_pair: wp.array(dtype=int),
        self_low: wp.array(dtype=vec),
        self_high: wp.array(dtype=vec),
    ):
        """Boxes of the other nodes, one per block."""
        node, lane = wp.tid()
        mine = mesh.node_patches[node]
        if mine[1] - mine[0] > 1 and self_pair[mesh.patch_body[at(mine[0])]] >= 0:
            leaf = at(mesh.patch_node[at(mine[0])])
            low = self_low[leaf]
            high = self_high[leaf]
            for k in range(mine[0] + lane, mine[1], wp.block_dim()):
                leaf = at(mesh.patch_node[at(k)])
                low = wp.min(low, self_low[leaf])
                high = wp.max(high, self_high[leaf])
            for axis in range(dim):
                least = wp.tile_min(wp.tile(low[axis]))
                most = wp.tile_max(wp.tile(high[axis]))
                low[axis] = least[0]
                high[axis] = most[0]
            if lane == 0:
                self_low[node] = low
                self_high[node] = high

    @n.kernel(__name__)
    def see_patches(
        mesh: Mesh,
        self_pair: wp.array(dtype=int),
        self_low: wp.array(dtype=vec),
        self_high: wp.array(dtype=vec),
        cone_axis: wp.array(dtype=vec),
        face_normal: wp.array(dtype=vec),
        seen_normal: wp.array(dtype=vec),
        self_seen: wp.array(dtype=vec),
        patch_seen: wp.array(dtype=Seen),
        compared: wp.array(dtype=int),
    ):
        """Keep what the patches look like."""
        k = at(wp.tid())
        if self_pair[at(mesh.patch_body[k])] >= 0:
            compared[k] = 0
            mine = mesh.point_range[k]
            first = first_end(mesh, mine[0])
            last = first_end(mesh, mine[1])
            centre = vec()
            for q in range(mine[0], mine[1]):
                i = at(mesh.patch_points[at(q)])
                self_seen[i] = mesh.points[i]
                centre += mesh.points[i]
            centre = centre / real(mine[1] - mine[0])
            for q in range(mesh.face_first[at(mine[0])], mesh.face_first[at(mine[1])]):
                f = at(mesh.star_faces[at(q)])
                seen_normal[f] = face_normal[f]
            moments = mat()
            radius = real(0.0)
            for q in range(first, last):
                for which in range(2):
                    r = mesh.points[at(end_of(mesh, q, which))] - centre
                    moments += wp.outer(r, r)
                    radius = wp.max(radius, wp.length_sq(r))
            whole = wp.trace(moments)
            axis = cone_axis[k]
            moments += whole * (wp.outer(axis, axis) + real(1.0e-4) * wp.identity(dim, dtype=real))
            patch_seen[k].low = self_low[at(mesh.patch_node[k])]
            patch_seen[k].high = self_high[at(mesh.patch_node[k])]
            patch_seen[k].centre = centre
            patch_seen[k].radius = wp.sqrt(radius)
            patch_seen[k].weight = whole * axis
            patch_seen[k].inverse = wp.inverse(moments)

    @n.kernel(__name__)
    def collect_self(
        mesh: Mesh,
        rest: wp.array(dtype=vec),
        thickness: wp.array(dtype=real),
        self_pair: wp.array(dtype=int),
        self_margin: wp.array(dtype=real),
        self_low: wp.array(dtype=vec),
        self_high: wp.array(dtype=vec),
        cone_axis: wp.array(dtype=vec),
        cone_angle: wp.array(dtype=real),
        face_normal: wp.array(dtype=vec),
        closed: wp.array(dtype=int),
        compared: wp.array(dtype=int),
        list_work: wp.array(dtype=int),
        candidate_list: CandidateList,
    ):
        """A patch against itself and those after it whose boxes are near its own, unless they look the same way."""
        k = at(wp.tid())
        c = at(mesh.patch_body[k])
        pair = self_pair[c]
        if pair >= 0:
            skin = real(2.0) * thickness[c]
            margin = self_margin[c]
            within = (margin + skin) * (margin + skin)
            low = self_low[at(mesh.patch_node[k])]
            high = self_high[at(mesh.patch_node[k])]
            node = first_node(mesh, c)
            last = last_node(mesh, c)
            many = int(0)  # noqa: RUF046, UP018 (a variable in Warp's language)
            while node < last:
                below = mesh.node_patches[at(node)]
                if below[1] > k and box_gap(low, high, self_low[at(node)], self_high[at(node)]) <= within:
                    if below[1] - below[0] == 1:
                        l = at(below[0])  # noqa: E741
                        if differ(cone_axis[k], cone_angle[k], cone_axis[l], cone_angle[l]) >= real(SURELY):
                            many += 1
                            compared[k] = 1
                            compared[l] = 1
                            compare_patches(
                                mesh,
                                rest,
                                face_normal,
                                candidate_list,
                                pair,
                                k,
                                l,
                                margin,
                                skin,
                                True,
                                SAME_WAY and closed[c] != 0,
                            )
                    node += 1
                else:
                    node += 2 * (below[1] - below[0]) - 1
            wp.atomic_add(list_work, 2, many)

    @n.kernel(__name__)
    def begin_recheck(
        edge_size: wp.array(dtype=real),
        pair_list: PairList,
        self_pair: wp.array(dtype=int),
        self_left: wp.array(dtype=real),
        list_work: wp.array(dtype=int),
    ):
        """Which bodies are looked at."""
        pair = wp.tid()
        if is_listed(pair_list, pair) and pair_list.pair_stale[pair] == RECHECK:
            c = pair_list.pairs[pair][0]
            self_pair[c] = pair
            self_left[c] = real(REACH) * edge_size[c]
            wp.atomic_add(list_work, 0, 1)

    @n.kernel(__name__)
    def measure_patches(
        mesh: Mesh,
        closed: wp.array(dtype=int),
        self_pair: wp.array(dtype=int),
        self_seen: wp.array(dtype=vec),
        patch_seen: wp.array(dtype=Seen),
        compared: wp.array(dtype=int),
        cone_axis: wp.array(dtype=vec),
        face_normal: wp.array(dtype=vec),
        seen_normal: wp.array(dtype=vec),
        patch_maps: wp.array(dtype=Map),
    ):
        """How the patches that were compared with others have moved since."""
        k = at(wp.tid())
        c = at(mesh.patch_body[k])
        if compared[k] != 0 and self_pair[c] >= 0:
            mine = mesh.point_range[k]
            first = first_end(mesh, mine[0])
            last = first_end(mesh, mine[1])
            seen = patch_seen[k].centre
            centre = vec()
            for q in range(mine[0], mine[1]):
                centre += mesh.points[at(mesh.patch_points[at(q)])]
            centre = centre / real(mine[1] - mine[0])
            turned = wp.outer(cone_axis[k], patch_seen[k].weight)
            for q in range(first, last):
                for which in range(2):
                    i = at(end_of(mesh, q, which))
                    turned += wp.outer(mesh.points[i] - centre, self_seen[i] - seen)
            turn = turned * patch_seen[k].inverse
            residual = real(0.0)
            for q in range(mine[0], mine[1]):
                i = at(mesh.patch_points[at(q)])
                residual = wp.max(residual, wp.length_sq(mesh.points[i] - centre - turn * (self_seen[i] - seen)))
            for q in range(first, last):
                for which in range(2):
                    i = at(end_of(mesh, q, which))
                    residual = wp.max(residual, wp.length_sq(mesh.points[i] - centre - turn * (self_seen[i] - seen)))
            stretch = least_stretch(turn)
            least = real(-1.0)
            normals = mat()
            if closed[c] != 0 and wp.determinant(turn) > real(0.0):
                normals = wp.transpose(wp.inverse(turn))
                least = real(1.0)
                for q in range(mine[0], mine[1]):
                    i = at(mesh.patch_points[at(q)])
                    for s in range(mesh.point_faces_start[i], mesh.point_faces_start[i + 1]):
                        f = at(mesh.point_faces[at(s)])
                        least = wp.min(least, wp.dot(wp.normalize(normals * seen_normal[f]), face_normal[f]))
            patch_maps[k].centre = centre
            patch_maps[k].turn = turn
            patch_maps[k].normals = normals
            patch_maps[k].flattest = least_stretch(normals)
            patch_maps[k].stretch = wp.min(stretch, real(1.0))
            patch_maps[k].residual = wp.sqrt(residual)
            patch_maps[k].turning = wp.acos(wp.clamp(least, real(-1.0), real(1.0)))

    @wp.func
    def left_between(my: Map, its: Map, mine: Seen, theirs: Seen, margin: real, skin: real) -> real:
        """How much closer features of two patches can still come, if none that is not listed was within the margin."""
        off = wp.max(wp.sqrt(box_gap(mine.low, mine.high, theirs.low, theirs.high)) - skin, margin)
        gap = its.centre - my.centre - my.turn * (theirs.centre - mine.centre)
        change = its.turn - my.turn
        used = wp.length(gap) + wp.sqrt(wp.ddot(change, change)) * theirs.radius
        used += my.residual + its.residual + (real(1.0) - my.stretch) * skin
        return my.stretch * off - used

    @wp.func
    def turned_between(my: Map, its: Map) -> real:
        """By how much (rad) normals of two patches have turned against each other."""
        change = its.normals - my.normals
        return my.turning + its.turning + wp.sqrt(wp.ddot(change, change)) / wp.max(my.flattest, tiny)

    @n.kernel(__name__)
    def recheck_patches(
        mesh: Mesh,
        thickness: wp.array(dtype=real),
        self_pair: wp.array(dtype=int),
        self_margin: wp.array(dtype=real),
        self_low: wp.array(dtype=vec),
        self_high: wp.array(dtype=vec),
        cone_axis: wp.array(dtype=vec),
        cone_angle: wp.array(dtype=real),
        patch_seen: wp.array(dtype=Seen),
        closed: wp.array(dtype=int),
        compared: wp.array(dtype=int),
        patch_maps: wp.array(dtype=Map),
        self_left: wp.array(dtype=real),
    ):
        """How much closer features of a patch and of those after it can still come."""
        k = at(wp.tid())
        c = at(mesh.patch_body[k])
        if self_pair[c] >= 0:
            skin = real(2.0) * thickness[c]
            margin = self_margin[c]
            least = self_left[c]
            low = self_low[at(mesh.patch_node[k])]
            high = self_high[at(mesh.patch_node[k])]
            node = first_node(mesh, c)
            last = last_node(mesh, c)
            while node < last:
                below = mesh.node_patches[at(node)]
                step = 2 * (below[1] - below[0]) - 1
                if below[1] > k:
                    within = least + skin
                    if box_gap(low, high, self_low[at(node)], self_high[at(node)]) < within * within:
                        if step == 1:
                            l = at(below[0])  # noqa: E741
                            off = wp.sqrt(box_gap(low, high, self_low[at(node)], self_high[at(node)])) - skin
                            if differ(cone_axis[k], cone_angle[k], cone_axis[l], cone_angle[l]) >= real(SAME_SIDE):
                                if compared[k] != 0 and compared[l] != 0:
                                    left = left_between(
                                        patch_maps[k], patch_maps[l], patch_seen[k], patch_seen[l], margin, skin
                                    )
                                    if (
                                        wp.static(not SAME_WAY)
                                        or closed[c] == 0
                                        or turned_between(patch_maps[k], patch_maps[l]) < real(TURNING)
                                    ):
                                        off = wp.max(off, left)
                                least = wp.min(least, off)
                        step = 1
                node += step
            wp.atomic_min(self_left, c, least)

    @n.kernel(__name__)
    def end_recheck(
        edge_size: wp.array(dtype=real),
        pair_list: PairList,
        self_pair: wp.array(dtype=int),
        self_margin: wp.array(dtype=real),
        self_left: wp.array(dtype=real),
        self_far: wp.array(dtype=real),
        pair_travel: wp.array(dtype=real),
        pair_travel_end: wp.array(dtype=real),
        world: wp.array(dtype=int),
        some_stale: wp.array(dtype=int),
        world_some_stale: wp.array(dtype=int),
    ):
        """The list holds on with what is left of its margin, or gets stale."""
        c = wp.tid()
        pair = self_pair[c]
        if pair >= 0:
            ahead = pair_travel_end[pair] - pair_travel[pair]  # in this substep
            if self_left[c] >= wp.max(ahead, real(WORTHWHILE) * self_margin[c]):
                self_far[c] = pair_travel[pair] + self_left[c]
                pair_list.pair_margin[pair] = pair_travel[pair] + wp.min(self_left[c], real(FOLDING) * edge_size[c])
                pair_list.pair_stale[pair] = 0
            else:
                pair_list.pair_stale[pair] = STALE
                some_stale[0] = 1
                world_some_stale[at(world[c])] = 1

    return SimpleNamespace(
        Map=Map,
        Seen=Seen,
        begin_list=begin_list,
        look_at_faces=look_at_faces,
        look_at_patches=look_at_patches,
        look_at_nodes=look_at_nodes,
        see_patches=see_patches,
        collect_self=collect_self,
        begin_recheck=begin_recheck,
        measure_patches=measure_patches,
        recheck_patches=recheck_patches,
        end_recheck=end_recheck,
    )
