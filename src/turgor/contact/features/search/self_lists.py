"""Lists of bodies with themselves, by the tree over their patches, and how long they hold.

Most of a surface is near nothing but its own neighbourhood, which cannot touch itself as long as it is not folded: a
connected piece of a surface whose normals all have a component along one axis is the graph of a function over the plane
across that axis (Volino & Magnenat-Thalmann 1994). The normals of all faces at the points of a patch are within an
angle of its own axis, which is tested in every substep, or foreseen for some (`test_faces`). Two patches that share
a corner, or that both share one with a third, are not compared if the cones of these two or three are in one of the
angle FLAT. So a list holds although points shiver, a ball swells or a finger waves.

All other pairs of patches are compared if their boxes are near each other. Features that are nearer than the margins
of their patches are candidates; how far the others, and other patches, are apart at least is what the body may travel
(twice the largest movement of a point in it) until the list is built again. It also holds while no patch has used up
its own margin (`patch_margins.py`).
"""

import functools
import math
from types import SimpleNamespace
from typing import Any, no_type_check

import warp as wp

from turgor.contact.features.search import body_pairs, compare, patches
from turgor.contact.features.search import candidates as listed
from turgor.contact.features.search.compare import LANES
from turgor.contact.features.search.patch_margins import HIGH, PatchMargins
from turgor.contact.features.search.patches import Patches
from turgor.kernel.blocks import block_max, block_min
from turgor.kernel.numbers import Numbers, at
from turgor.model.model import Model
from turgor.model.surfaces import Surfaces

__all__ = ["SelfLists", "kernels"]

KNOWN = 0.45  # mean edges of the body: up to where the distance of features that are no candidates is found out
# Candidates of a body that is alone cost nothing while all sleep (`watch.py`), and then a list had better last: which
# features of such a body are candidates, and the same as above
LISTED_CALM, KNOWN_CALM = 0.8, 1.0
REACH = 4.0  # mean edges of the body: patches farther apart are not looked at
AHEAD = 1.5  # substeps for which a new list holds at least
FLAT = math.radians(82.0)  # largest angle of a normal from the axis of a piece
HORIZON = 4  # substeps for which it is foreseen, by their velocities, that faces stay in their cones
TURN = math.radians(18.0)  # by which normals may turn while a list lasts
# neighbours of a patch, and theirs: so many are told from other patches
FIRST, SECOND = 16, 32
GROUPS, THREADS = 8, 1 << 17  # of lanes per patch on a GPU, where so many threads are not reached


class SelfLists:
    """Which neighbourhoods are not folded, and how far the lists of bodies with themselves reach."""

    SAVED = ("cone_axis", "cone_cosine", "self_far", "calm_body", "test_in", "test_next")

    def __init__(
        self, model: Model, surfaces: Surfaces, patches: Patches, left_alone: Any, margins: PatchMargins
    ) -> None:
        launch = margins.launch
        n, zeros = model.numbers, launch.zeros
        self.left_alone, self.margins = left_alone, margins
        self.kernels = kernels(n)
        self.bodies = surfaces.bodies * model.worlds
        own = bool(surfaces.world_self_contact.any())
        count, nodes = (patches.count, patches.nodes) if own else (0, 0)
        self.count, self.nodes = count, nodes
        self.self_pair = zeros(self.bodies, wp.int32)  # the pair of each body with itself, if its list is built, or -1
        self.self_ahead = zeros(self.bodies, n.real)  # m: how much closer features may come in this substep
        self.calm_body = zeros(self.bodies, wp.int32)  # set by `watch.py`: it was left alone lately
        self.self_left = zeros(self.bodies, n.real)  # m: how much closer they can come before the list ends ...
        self.self_far = zeros(self.bodies, n.real)  # m: ... and the travel of the pair by then
        self.self_low, self.self_high = zeros(nodes, n.vec), zeros(nodes, n.vec)  # m: boxes of the nodes
        self.cone_axis = zeros(count, n.vec)
        self.cone_cosine = zeros(count, n.real)  # of the angle to the axis within which normals must stay ...
        self.cone_room = zeros(count, n.real)  # ... and of what is left to FLAT
        # which patches share a corner, those that share one with these, and with which
        self.first, self.second, self.between = (
            wp.full((count, width), -1, dtype=wp.int32, device=launch.device) for width in (FIRST, SECOND, SECOND)
        )
        self.face_count = len(surfaces.faces) if own else 0
        self.face_patches = zeros(self.face_count, n.face)
        self.face_normal, self.later_normal = zeros(self.face_count, n.vec), zeros(self.face_count, n.vec)
        self.test_in, self.test_next = zeros(self.bodies, wp.int32), zeros(self.bodies, wp.int32)  # substeps; whether 1
        self.list_work = zeros(2, wp.int32)  # done so far: lists, pairs of patches compared for them
        self.launch = launch.extended(self)
        self.unknown = wp.full(1, 1, dtype=wp.int32, device=launch.device)  # neighbours: until the first list

    def test(self) -> None:
        """Which bodies have faces that turn too far in this substep, and when they are tested again."""
        self.test_faces(self.left_alone, 0, 1)
        self.launch(self.kernels.plan_test, self.bodies)

    def test_faces(self, watched: Any, every: int, ahead: int) -> None:
        """Which of the bodies watched in every so many substeps have faces that turn too far in those ahead."""
        self.launch.split(self.kernels.test_faces, self.face_count, watched=watched, every=every, ahead=ahead)

    def find_neighbours(self) -> None:
        """Once, as most bodies never need a list."""
        self.launch(self.kernels.find_first, self.count)
        self.launch(self.kernels.find_second, self.count)
        self.launch(self.kernels.find_patches, self.face_count)
        self.unknown.zero_()

    def collect(self, pairs: int) -> None:
        """Candidates of stale pairs (of at most so many) of a body with itself."""
        launch, k = self.launch, self.kernels
        wp.capture_if(self.unknown, on_true=self.find_neighbours)
        self.self_pair.fill_(-1)
        launch(k.begin_list, pairs)
        self.margins.share_out(self.self_pair)
        launch(k.look_at_faces, self.face_count)
        launch(k.look_at_patches, self.count)
        launch.tiles(k.look_at_nodes, self.nodes)
        lanes = LANES if launch.parallel else 1
        groups = max(1, min(GROUPS, THREADS // (self.count * lanes))) if launch.parallel and self.count else 1
        launch(k.collect_self, self.count * groups * lanes, lanes=lanes, groups=groups)
        launch(k.end_list, self.bodies)


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """find_first and find_second once; test_faces in every substep; the others in the order of a list."""
    real, vec, dim, face = n.real, n.vec, n.dim, n.face
    shape = patches.kernels(n)
    Mesh, bound_stars, first_node, last_node = shape.Mesh, shape.bound_stars, shape.first_node, shape.last_node
    first_end, end_of = shape.first_end, shape.end_of
    CandidateList = listed.kernels(n).CandidateList
    pair_functions = body_pairs.kernels(n)
    PairList, is_stale_with_itself = pair_functions.PairList, pair_functions.is_stale_with_itself
    box_gap, compare_patches = compare.kernels(n).box_gap, compare.kernels(n).compare_patches

    if dim == 2:

        @wp.func(inline=True)
        def outwards(a: vec, b: vec, _c: vec) -> vec:
            return vec(b[1] - a[1], a[0] - b[0])

    else:

        @wp.func(inline=True)
        def outwards(a: vec, b: vec, c: vec) -> vec:
            return wp.cross(b - a, c - a)

    @wp.func
    def slot_of(rows: wp.array2d(dtype=int), k: int, l: int) -> int:  # noqa: E741
        """Where a patch is in a row, or -1."""
        for slot in range(rows.shape[1]):
            if rows[k, slot] == l:
                return slot
            if rows[k, slot] < 0:
                return -1
        return -1

    @wp.func
    def put_in(rows: wp.array2d(dtype=int), k: int, l: int) -> int:  # noqa: E741
        """Put a patch into a row if it is not there; the slot if it is new, or -1."""
        for slot in range(rows.shape[1]):
            if rows[k, slot] == l:
                return -1
            if rows[k, slot] < 0:
                rows[k, slot] = l
                return slot
        return -1

    @wp.func
    def put_patches_at(mesh: Mesh, point_rank: wp.array(dtype=int), first: wp.array2d(dtype=int), k: int, i: int):
        """The patches that have point i as a corner: its own, and those of points before it along an edge."""
        put_in(first, k, mesh.point_patch[i])
        for s in range(mesh.point_faces_start[i], mesh.point_faces_start[i + 1]):
            f = mesh.faces[at(mesh.point_faces[at(s)])]
            for corner in range(dim):
                if point_rank[at(f[corner])] < point_rank[i]:
                    put_in(first, k, mesh.point_patch[at(f[corner])])

    @n.kernel(__name__)
    def find_first(mesh: Mesh, point_rank: wp.array(dtype=int), first: wp.array2d(dtype=int)):
        """Which patches share a corner."""
        k = at(wp.tid())
        mine = mesh.point_range[k]
        for r in range(mine[0], mine[1]):
            i = at(mesh.patch_points[at(r)])
            put_patches_at(mesh, point_rank, first, k, i)
            for q in range(first_end(mesh, r), first_end(mesh, r + 1)):
                j = at(end_of(mesh, q, 0) + end_of(mesh, q, 1) - i)
                put_patches_at(mesh, point_rank, first, k, j)

    @n.kernel(__name__)
    def find_patches(mesh: Mesh, face_patches: wp.array(dtype=face)):
        """The patches of the corners of a face, each once."""
        i = at(wp.tid())
        f = mesh.faces[i]
        its = face()
        for corner in range(dim):
            its[corner] = mesh.point_patch[at(f[corner])]
            for before in range(corner):
                if its[before] == its[corner]:
                    its[corner] = -1
        face_patches[i] = its

    @n.kernel(__name__)
    def find_second(first: wp.array2d(dtype=int), second: wp.array2d(dtype=int), between: wp.array2d(dtype=int)):
        """Which patches share a corner with these, and with which."""
        k = at(wp.tid())
        for a in range(FIRST):
            m = first[k, a]
            if m >= 0:
                for b in range(FIRST):
                    l = first[at(m), b]  # noqa: E741
                    if l >= 0 and slot_of(first, k, l) < 0:
                        slot = put_in(second, k, l)
                        if slot >= 0:
                            between[k, slot] = m

    @n.kernel(__name__)
    def test_faces(
        mesh: Mesh,
        point_v: wp.array(dtype=vec),
        dt: wp.array(dtype=real),
        face_body: wp.array(dtype=int),
        face_patches: wp.array(dtype=face),
        own_pair: wp.array(dtype=int),
        cone_axis: wp.array(dtype=vec),
        cone_cosine: wp.array(dtype=real),
        watched: wp.array(dtype=int),  # after how many substeps; 0: a body that is not left alone
        test_in: wp.array(dtype=int),
        test_next: wp.array(dtype=int),
        turned: wp.array(dtype=int),
        every: int,
        ahead: int,
        start_index: int,
    ):
        """Whether a face will have left the cones of its patches after another substep, or after some.

        Of bodies that are watched in every so many substeps, and only if it is not foreseen for those ahead.
        """
        i = at(start_index + wp.tid())
        c = at(face_body[i])
        if own_pair[c] >= 0 and watched[c] == every and test_in[c] <= ahead:
            f = mesh.faces[i]
            a = mesh.points[at(f[0])]
            b = mesh.points[at(f[1])]
            g = mesh.points[at(f[wp.static(dim - 1)])]
            va = point_v[at(f[0])]
            vb = point_v[at(f[1])]
            vg = point_v[at(f[wp.static(dim - 1)])]
            step = dt[0]
            soon = outwards(a + step * va, b + step * vb, g + step * vg)
            step = real(HORIZON) * step
            later = outwards(a + step * va, b + step * vb, g + step * vg)
            soon_size = wp.length(soon)
            later_size = wp.length(later)
            its = face_patches[i]
            for corner in range(dim):
                k = its[corner]
                if k >= 0:
                    axis = cone_axis[at(k)]
                    cosine = cone_cosine[at(k)]
                    if not (wp.dot(later, axis) > cosine * later_size):
                        test_next[c] = 1
                        if not (wp.dot(soon, axis) > cosine * soon_size):
                            turned[c] = 1

    @wp.func
    def test_later(c: int, every: int, ahead: int, test_next: wp.array(dtype=int), test_in: wp.array(dtype=int)):
        """When the faces of a body are tested again: in the next substep, or when what was foreseen is over."""
        if test_in[c] <= ahead:
            test_in[c] = wp.where(test_next[c] != 0, 1, HORIZON)
            test_next[c] = 0
        else:
            test_in[c] = test_in[c] - every

    @n.kernel(__name__)
    def plan_test(
        own_pair: wp.array(dtype=int), left_alone: wp.array(dtype=int), test_next: wp.array(dtype=int),
        test_in: wp.array(dtype=int),
    ):  # fmt: skip
        """When bodies that are not left alone are tested again."""
        c = wp.tid()
        if own_pair[c] >= 0 and left_alone[c] == 0:
            test_later(c, 1, 1, test_next, test_in)

    @n.kernel(__name__)
    def begin_list(
        edge_size: wp.array(dtype=real),
        pair_list: PairList,
        pair_travel_end: wp.array(dtype=real),
        self_pair: wp.array(dtype=int),
        self_ahead: wp.array(dtype=real),
        self_left: wp.array(dtype=real),
        list_work: wp.array(dtype=int),
    ):
        """Which bodies get a list; the travel of their pairs is zero."""
        pair = wp.tid()
        if is_stale_with_itself(pair_list, pair):
            c = pair_list.pairs[pair][0]
            self_pair[c] = pair
            self_ahead[c] = pair_travel_end[pair]
            self_left[c] = real(REACH) * edge_size[c]
            wp.atomic_add(list_work, 0, 1)

    @n.kernel(__name__)
    def look_at_faces(
        mesh: Mesh,
        point_v: wp.array(dtype=vec),
        dt: wp.array(dtype=real),
        face_body: wp.array(dtype=int),
        self_pair: wp.array(dtype=int),
        face_normal: wp.array(dtype=vec),
        later_normal: wp.array(dtype=vec),
    ):
        """Unit normals of the faces, now and as their velocities would have them after some substeps."""
        i = at(wp.tid())
        if self_pair[at(face_body[i])] >= 0:
            f = mesh.faces[i]
            a = mesh.points[at(f[0])]
            b = mesh.points[at(f[1])]
            g = mesh.points[at(f[wp.static(dim - 1)])]
            face_normal[i] = wp.normalize(outwards(a, b, g))
            step = real(HORIZON) * dt[0]
            a += step * point_v[at(f[0])]
            b += step * point_v[at(f[1])]
            g += step * point_v[at(f[wp.static(dim - 1)])]
            later_normal[i] = wp.normalize(outwards(a, b, g))

    @n.kernel(__name__)
    def look_at_patches(
        mesh: Mesh,
        self_pair: wp.array(dtype=int),
        self_low: wp.array(dtype=vec),
        self_high: wp.array(dtype=vec),
        face_normal: wp.array(dtype=vec),
        later_normal: wp.array(dtype=vec),
        cone_axis: wp.array(dtype=vec),
        cone_cosine: wp.array(dtype=real),
        cone_room: wp.array(dtype=real),
    ):
        """Boxes of the patches, and cones around their normals, now and soon: what flaps does not end each new list."""
        k = at(wp.tid())
        if self_pair[at(mesh.patch_body[k])] >= 0:
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
                    which = at(mesh.point_faces[at(s)])
                    least = wp.min(least, wp.min(wp.dot(axis, face_normal[which]), wp.dot(axis, later_normal[which])))
            angle = wp.acos(wp.clamp(least, real(-1.0), real(1.0))) + real(TURN)
            cone_axis[k] = axis
            cone_cosine[k] = wp.where(angle < real(FLAT), wp.cos(angle), real(-2.0))  # or it may turn as it likes
            cone_room[k] = wp.where(angle < real(FLAT), wp.cos(real(FLAT) - angle), real(2.0))

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
                least = block_min(low[axis])
                most = block_max(high[axis])
                low[axis] = least
                high[axis] = most
            if lane == 0:
                self_low[node] = low
                self_high[node] = high

    @wp.func(inline=True)
    def in_cone(
        axis: vec, size: real, k: int, cone_axis: wp.array(dtype=vec), cone_room: wp.array(dtype=real)
    ) -> bool:  # fmt: skip
        """Whether the cone of a patch is within FLAT of an axis of a given length."""
        return wp.dot(axis, cone_axis[k]) >= cone_room[k] * size

    @wp.func
    def cannot_touch(
        k: int, l: int, first: wp.array2d(dtype=int), second: wp.array2d(dtype=int),  # noqa: E741
        between: wp.array2d(dtype=int), cone_axis: wp.array(dtype=vec), cone_room: wp.array(dtype=real),
    ) -> bool:  # fmt: skip
        """Whether two patches share a corner, or both with another one, and are not folded, nor is that."""
        axis = cone_axis[k] + cone_axis[l]
        size = wp.length(axis)
        if not (in_cone(axis, size, k, cone_axis, cone_room) and in_cone(axis, size, l, cone_axis, cone_room)):
            return False
        if slot_of(first, k, l) >= 0:
            return True
        slot = slot_of(second, k, l)
        return slot >= 0 and in_cone(axis, size, at(between[k, slot]), cone_axis, cone_room)

    @n.kernel(__name__)
    def collect_self(
        mesh: Mesh,
        rest: wp.array(dtype=vec),
        thickness: wp.array(dtype=real),
        edge_size: wp.array(dtype=real),
        first: wp.array2d(dtype=int),
        second: wp.array2d(dtype=int),
        between: wp.array2d(dtype=int),
        self_pair: wp.array(dtype=int),
        self_ahead: wp.array(dtype=real),
        self_low: wp.array(dtype=vec),
        self_high: wp.array(dtype=vec),
        calm_body: wp.array(dtype=int),
        patch_margin: wp.array(dtype=real),
        cone_axis: wp.array(dtype=vec),
        cone_room: wp.array(dtype=real),
        self_left: wp.array(dtype=real),
        list_work: wp.array(dtype=int),
        candidate_list: CandidateList,
        lanes: int,
        groups: int,
    ):
        """A patch with itself and those after it, unless they are in a flat piece.

        Groups of threads share the comparisons of a patch, lanes of a group each comparison.
        """
        lane = wp.tid() % lanes
        group = wp.tid() // lanes % groups
        k = at(wp.tid() // (lanes * groups))
        c = at(mesh.patch_body[k])
        pair = self_pair[c]
        if pair >= 0:
            skin = real(2.0) * thickness[c]
            ahead = real(AHEAD) * self_ahead[c]
            far = self_left[c]  # by what other patches have found so far: more than the least need not be known
            is_calm = calm_body[c] != 0
            own = patch_margin[k]
            widest = wp.max(own + real(HIGH) * edge_size[c], ahead)
            if is_calm:
                widest = wp.max(real(LISTED_CALM) * edge_size[c], ahead)
            many = int(0)  # noqa: RUF046, UP018 (a variable in Warp's language)
            low = self_low[at(mesh.patch_node[k])]
            high = self_high[at(mesh.patch_node[k])]
            node = first_node(mesh, c)
            last = last_node(mesh, c)
            while node < last:
                below = mesh.node_patches[at(node)]
                step = 2 * (below[1] - below[0]) - 1
                if below[1] > k:
                    off = box_gap(low, high, self_low[at(node)], self_high[at(node)])
                    within = wp.max(far, widest) + skin
                    if off < within * within:
                        if step == 1:
                            l = at(below[0])  # noqa: E741
                            mine = l % groups == group
                            if mine and not cannot_touch(k, l, first, second, between, cone_axis, cone_room):
                                left = wp.sqrt(off) - skin
                                margin = wp.max(own + patch_margin[l], ahead)
                                known = wp.max(real(KNOWN) * edge_size[c], margin)
                                if is_calm:
                                    margin = widest
                                    known = wp.max(real(KNOWN_CALM) * edge_size[c], ahead)
                                needed = wp.clamp(far, margin, known)
                                if left < needed:
                                    many += 1
                                    found = compare_patches(
                                        mesh, rest, candidate_list, pair, k, l, margin, needed, skin, True, lane, lanes
                                    )
                                    left = wp.max(left, found)
                                far = wp.min(far, left)
                        step = 1
                node += step
            if lane == 0:
                wp.atomic_add(list_work, 1, many)
            wp.atomic_min(self_left, c, far)

    @n.kernel(__name__)
    def end_list(
        pair_list: PairList,
        self_pair: wp.array(dtype=int),
        self_left: wp.array(dtype=real),
        self_far: wp.array(dtype=real),
        calm_body: wp.array(dtype=int),
        own_holds: wp.array(dtype=int),
        turned: wp.array(dtype=int),
        test_in: wp.array(dtype=int),
    ):
        """How long the list holds, by what it does not have."""
        c = wp.tid()
        pair = self_pair[c]
        if pair >= 0:
            self_far[c] = self_left[c]
            pair_list.pair_margin[pair] = self_left[c]
            own_holds[c] = wp.where(calm_body[c] != 0, 0, 1)
            turned[c] = 0
            test_in[c] = 0

    return SimpleNamespace(
        find_first=find_first,
        find_second=find_second,
        find_patches=find_patches,
        test_faces=test_faces,
        test_later=test_later,
        plan_test=plan_test,
        look_at_faces=look_at_faces,
        begin_list=begin_list,
        look_at_patches=look_at_patches,
        look_at_nodes=look_at_nodes,
        collect_self=collect_self,
        end_list=end_list,
    )
