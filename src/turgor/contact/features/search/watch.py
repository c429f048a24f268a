"""A lone body that cannot touch itself in the next substeps skips contact; here it is watched when that may change.

A scene of one soft body needs contact only while parts of it are near each other. A star-shaped body needs none until
its points have moved against each other by a known distance (`star_shaped.py`). Others need none while their list holds
and all of its candidates sleep: that is for a known travel (`body_pairs.py`). While a body is watched, its travel is
twice the largest displacement of a point, less the mean one, since it was left alone; some of what it may travel is
kept in reserve, for the substeps to come and for a wall in them that stops the body. Each world decides for itself.

Lists also need faces that do not turn much, which is tested too (`self_lists.py`).

A body is looked at after each substep; on a GPU, where a look takes as long as a substep, after a turn of several
(`span`) if it has room enough for all of them.
"""

import functools
from types import SimpleNamespace
from typing import Any, no_type_check

import warp as wp

from turgor.contact.features.search.candidates import FAR
from turgor.contact.features.search.self_lists import SelfLists
from turgor.contact.features.search.self_lists import kernels as list_kernels
from turgor.contact.features.search.star_shaped import StarShaped
from turgor.contact.geometry import ownership
from turgor.contact.geometry.advancement import VERTEX_FACE
from turgor.kernel import native
from turgor.kernel.blocks import block_max, block_sum
from turgor.kernel.numbers import Numbers, at
from turgor.kernel.rows import clear_rows
from turgor.model.model import Model
from turgor.model.scratch import Scratch
from turgor.model.surfaces import Surfaces

__all__ = ["Watch", "kernels"]

RESERVE = 1.5  # substeps that are kept in reserve for the next
PATIENCE = 8  # substeps with contact after which a body is no longer taken to be calm
CALM = 2.0  # substeps, with the reserve, that must be left for a body to be left alone
SAMPLES = 256  # points of which the mean displacement is taken


class Watch:
    """Per lone soft body, which is the same as per world: whether it is watched, and how far it may still travel."""

    SAVED = ("watched", "watch_seen", "watch_left", "watch_travel", "last_move")

    def __init__(
        self, model: Model, scratch: Scratch, surfaces: Surfaces, star_shaped: StarShaped, self_lists: SelfLists
    ) -> None:
        n, zeros = model.numbers, self_lists.launch.zeros
        self.scratch, self.star_shaped, self.self_lists = scratch, star_shaped, self_lists
        self.alone = surfaces.bodies == 1
        self.kernels = kernels(n)
        self.chunks, self.block = model.chunks, model.block_size
        self.bodies, self.vertices = (model.worlds, surfaces.first_rigid) if self.alone else (0, 0)
        self.watched = zeros(self.bodies, wp.int32)  # looked at after so many substeps; 0: not watched
        self.begins = zeros(self.bodies, wp.int32)  # to be watched now
        self.watch_seen = zeros(self.vertices, n.vec)  # m: positions since when it is watched
        self.watch_left = zeros(self.bodies, n.real)  # m: travel
        self.watch_travel = zeros(self.bodies, n.real)  # m: at the last look
        # m: mean displacement, then and at the look before
        self.watch_move, self.last_move = zeros(self.bodies, n.vec), zeros(self.bodies, n.vec)
        self.moved = zeros(self.bodies, n.real)  # m²: largest displacement
        self.fastest, self.drift = zeros(self.bodies, n.real), zeros(self.bodies, n.vec)  # (m/s)²: largest; m/s: mean
        self.least_wake = zeros(self.bodies, n.real)  # m: travel at which the first candidate wakes
        self.next_wake = zeros(self.bodies, n.real)  # m: the same, after another look at those that wake soon
        self.contact_substeps = zeros(1, wp.int32)  # so far, of all worlds
        self.launch = self_lists.launch.extended(self)

    def forget(self) -> None:
        """Positions were set from outside."""
        self.watched.zero_()

    def forget_worlds(self, chosen: Any) -> None:
        """Positions of the worlds with these numbers were set from outside."""
        if self.alone:
            clear_rows(self.watched, self.bodies, chosen)

    def look(self, span: int) -> None:
        """Which lone bodies need contact in the next substeps."""
        self.scratch.may_self_touch.zero_()
        self.scratch.any_watched.zero_()
        self.scratch.any_near.zero_()
        self._measure_speeds()
        self._begin(self.kernels.look, span=span)

    def watch(self, every: int, span: int, *, last: bool) -> None:
        """After a turn of `every` substeps without contact: whether the next needs it.

        last: the next may be of `span` substeps.
        """
        ahead = span if last else 1
        self.launch.split_blocks(self.kernels.measure_watched, self.chunks, self.block, every=every)
        self.self_lists.test_faces(self.watched, every, ahead)
        self.launch(self.kernels.judge_watched, self.bodies, every=every, ahead=ahead)

    def look_again(self, span: int) -> None:
        """Bodies in doubt that turned out to be star-shaped still: they are left alone from now on."""
        self.scratch.may_self_touch.zero_()
        self.scratch.any_near.zero_()
        self._measure_speeds()
        self._begin(self.kernels.look_again, span=span)

    def calm(self) -> None:
        """After a substep with contact: whether the next needs none."""
        self.scratch.may_self_touch.zero_()
        self.least_wake.fill_(FAR)
        self.next_wake.fill_(FAR)
        self.launch.walk(self.kernels.find_least_wake)
        self.launch.walk(self.kernels.refresh)
        self._begin(self.kernels.calm)

    def _measure_speeds(self) -> None:
        """Of bodies as wholes; not needed where the time that they can be left alone is known face by face."""
        if not self.launch.parallel:
            self.fastest.zero_()
            self.launch.blocks(self.kernels.measure_speeds, self.chunks, self.block)

    def _begin(self, decide: Any, **values: int) -> None:
        """Bodies that are watched from now on, as a kernel decides."""
        self.begins.zero_()
        self.launch(decide, self.bodies, **values)
        self.launch(self.kernels.see, self.vertices)


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """look before substeps; measure_watched and judge_watched, or find_least_wake ... see, after each."""
    real, vec, dim, face = n.real, n.vec, n.dim, n.face
    owner, test_later, lift = ownership.kernels(n), list_kernels(n).test_later, native.kernels(n).lift
    closest_to_face, closest_of_edges, corners = owner.closest_to_face, owner.closest_of_edges, owner.corners

    @wp.func
    def reserve(step: real, move: vec) -> real:
        """Travel (m) that a substep may need: as much as the last, and what a wall that stops the body adds."""
        return real(RESERVE) * step + real(2.0) * wp.length(move)

    @n.kernel(__name__)
    def measure_speeds(
        soft_chunk_start: wp.array(dtype=int),
        soft_chunk_body: wp.array(dtype=int),
        point_start: wp.array(dtype=int),
        point_end: wp.array(dtype=int),
        star_shaped: wp.array(dtype=int),
        point_v: wp.array(dtype=vec),
        drift: wp.array(dtype=vec),
        fastest: wp.array(dtype=real),
    ):
        """The mean velocity of a star-shaped body, and the largest relative to it in a run of its points, per block."""
        chunk, lane = wp.tid()
        c = at(soft_chunk_body[chunk])
        if star_shaped[c] != 0:
            count = point_end[c] - point_start[c]
            step = (count + SAMPLES - 1) // SAMPLES
            total = vec()
            for i in range(point_start[c] + lane * step, point_end[c], wp.block_dim() * step):
                total += point_v[at(i)]
            summed = block_sum(total)
            mean = summed / real((count + step - 1) // step)
            most = real(0.0)
            for i in range(soft_chunk_start[chunk] + lane, soft_chunk_start[chunk + 1], wp.block_dim()):
                most = wp.max(most, wp.length_sq(point_v[at(i)] - mean))
            largest = block_max(most)
            if lane == 0:
                lift(fastest, c, largest)
                if soft_chunk_start[chunk] == point_start[c]:
                    drift[c] = mean

    @wp.func
    def leave(
        c: int,
        h: real,
        until_plan: int,
        span: int,
        star_room: wp.array(dtype=real),
        star_time: wp.array(dtype=real),
        fastest: wp.array(dtype=real),
        drift: wp.array(dtype=vec),
        watched: wp.array(dtype=int),
        begins: wp.array(dtype=int),
        watch_left: wp.array(dtype=real),
        watch_travel: wp.array(dtype=real),
        last_move: wp.array(dtype=vec),
    ):
        """A star-shaped body is watched if it could use up its room before the next plan."""
        watched[c] = 0
        room = star_room[c]
        step = real(CALM) * h * (real(2.0) * wp.sqrt(fastest[c]) + wp.length(drift[c]))
        if star_time[c] > real(0.0):
            room = star_time[c]
            step = real(CALM) * h
        if not (step * real(until_plan) <= room):
            watched[c] = wp.where(step * real(span) <= room, span, 1)
            begins[c] = 1
            watch_left[c] = star_room[c]
            watch_travel[c] = real(0.0)
            last_move[c] = vec()

    @n.kernel(__name__)
    def look(
        dt: wp.array(dtype=real),
        until_plan: wp.array(dtype=int),
        star_shaped: wp.array(dtype=int),
        star_room: wp.array(dtype=real),
        star_time: wp.array(dtype=real),
        fastest: wp.array(dtype=real),
        drift: wp.array(dtype=vec),
        watched: wp.array(dtype=int),
        begins: wp.array(dtype=int),
        watch_left: wp.array(dtype=real),
        watch_travel: wp.array(dtype=real),
        last_move: wp.array(dtype=vec),
        ends_fused: wp.array(dtype=int),
        may_self_touch: wp.array(dtype=int),
        any_watched: wp.array(dtype=int),
        any_near: wp.array(dtype=int),
        span: int,
    ):
        """Which bodies are watched, and which need contact."""
        c = wp.tid()
        if star_shaped[c] != 0:
            leave(c, dt[0], until_plan[0], span, star_room, star_time, fastest, drift, watched, begins, watch_left,
                  watch_travel, last_move)  # fmt: skip
        if watched[c] != 0:
            any_watched[0] = 1
            if watched[c] != span:
                watched[c] = 1
                any_near[0] = 1
        ends_fused[c] = wp.where(star_shaped[c] != 0 or watched[c] != 0, 1, 0)
        if ends_fused[c] == 0:
            may_self_touch[0] = 1
            any_near[0] = 1

    @n.kernel(__name__)
    def look_again(
        dt: wp.array(dtype=real),
        until_plan: wp.array(dtype=int),
        star_shaped: wp.array(dtype=int),
        star_room: wp.array(dtype=real),
        star_time: wp.array(dtype=real),
        body_doubt: wp.array(dtype=int),
        fastest: wp.array(dtype=real),
        drift: wp.array(dtype=vec),
        watched: wp.array(dtype=int),
        begins: wp.array(dtype=int),
        watch_left: wp.array(dtype=real),
        watch_travel: wp.array(dtype=real),
        last_move: wp.array(dtype=vec),
        ends_fused: wp.array(dtype=int),
        may_self_touch: wp.array(dtype=int),
        any_near: wp.array(dtype=int),
        span: int,
    ):
        """The same after a test of the bodies in doubt: those that are left alone already stay so."""
        c = wp.tid()
        if body_doubt[c] != 0 and star_shaped[c] != 0:
            leave(c, dt[0], until_plan[0], span, star_room, star_time, fastest, drift, watched, begins, watch_left,
                  watch_travel, last_move)  # fmt: skip
            ends_fused[c] = 1
        if watched[c] != 0 and watched[c] != span:
            any_near[0] = 1
        if ends_fused[c] == 0:
            may_self_touch[0] = 1
            any_near[0] = 1

    @n.kernel(__name__)
    def measure_watched(
        soft_chunk_start: wp.array(dtype=int),
        soft_chunk_body: wp.array(dtype=int),
        point_start: wp.array(dtype=int),
        point_end: wp.array(dtype=int),
        points: wp.array(dtype=vec),
        watched: wp.array(dtype=int),
        watch_seen: wp.array(dtype=vec),
        watch_move: wp.array(dtype=vec),
        moved: wp.array(dtype=real),
        every: int,
        start_index: int,
    ):
        """The largest displacement in a run of points of one body, per block."""
        chunk, lane = wp.tid()
        chunk += start_index
        c = at(soft_chunk_body[chunk])
        if watched[c] == every:
            count = point_end[c] - point_start[c]
            step = (count + SAMPLES - 1) // SAMPLES
            total = vec()
            for i in range(point_start[c] + lane * step, point_end[c], wp.block_dim() * step):
                total += points[at(i)] - watch_seen[at(i)]
            summed = block_sum(total)
            mean = summed / real((count + step - 1) // step)
            most = real(0.0)
            for i in range(soft_chunk_start[chunk] + lane, soft_chunk_start[chunk + 1], wp.block_dim()):
                most = wp.max(most, wp.length_sq(points[at(i)] - watch_seen[at(i)] - mean))
            largest = block_max(most)
            if lane == 0:
                lift(moved, c, largest)
                if soft_chunk_start[chunk] == point_start[c]:
                    watch_move[c] = mean

    @n.kernel(__name__)
    def judge_watched(
        own_pair: wp.array(dtype=int),
        own_holds: wp.array(dtype=int),
        pair_travel: wp.array(dtype=real),
        turned: wp.array(dtype=int),
        test_next: wp.array(dtype=int),
        test_in: wp.array(dtype=int),
        star_shaped: wp.array(dtype=int),
        watched: wp.array(dtype=int),
        watch_left: wp.array(dtype=real),
        watch_travel: wp.array(dtype=real),
        watch_move: wp.array(dtype=vec),
        last_move: wp.array(dtype=vec),
        moved: wp.array(dtype=real),
        body_doubt: wp.array(dtype=int),
        shape_doubt: wp.array(dtype=int),
        ends_fused: wp.array(dtype=int),
        may_self_touch: wp.array(dtype=int),
        any_near: wp.array(dtype=int),
        every: int,
        ahead: int,
    ):
        """A body that has used up what it may travel, or is folding, goes back to contact; its list learns of that."""
        c = wp.tid()
        if watched[c] == every:
            travel = real(2.0) * wp.sqrt(moved[c])
            step = reserve(wp.abs(travel - watch_travel[c]), watch_move[c] - last_move[c]) / real(every)
            watch_travel[c] = travel
            last_move[c] = watch_move[c]
            moved[c] = real(0.0)
            enough = travel + real(ahead) * step <= watch_left[c]
            pair = own_pair[c]
            if star_shaped[c] != 0:
                watched[c] = ahead
            else:
                test_later(c, every, ahead, test_next, test_in)
                watched[c] = wp.where(enough and test_in[c] >= ahead, ahead, 1)
                enough = travel + step <= watch_left[c] and turned[c] == 0
            if not enough:
                watched[c] = 0
                ends_fused[c] = 0
                may_self_touch[0] = 1
                if pair >= 0:
                    pair_travel[pair] = pair_travel[pair] + travel
                    own_holds[c] = 0
                if star_shaped[c] != 0:
                    body_doubt[c] = 1
                    shape_doubt[0] = 1
            if watched[c] != ahead:
                any_near[0] = 1

    @n.kernel(__name__)
    def find_least_wake(
        pairs: wp.array(dtype=wp.vec2i),
        candidate_count: wp.array(dtype=int),
        candidates: wp.array(dtype=wp.vec4i),
        wake_travel: wp.array(dtype=real),
        least_wake: wp.array(dtype=real),
        stride: int,
    ):
        """When the first candidate of each body wakes."""
        for q in range(wp.tid(), wp.min(candidate_count[0], candidates.shape[0]), stride):
            c = at(pairs[at(candidates[at(q)][0])][0])
            if wake_travel[at(q)] < least_wake[c]:  # an atomic operation costs more than a look
                wp.atomic_min(least_wake, c, wake_travel[at(q)])

    @n.kernel(__name__)
    def refresh(
        points: wp.array(dtype=vec),
        rest: wp.array(dtype=vec),
        faces: wp.array(dtype=face),
        edges: wp.array(dtype=wp.vec4i),
        thickness: wp.array(dtype=real),
        body_move: wp.array(dtype=vec),
        body_spread: wp.array(dtype=real),
        ends_fused: wp.array(dtype=int),
        pairs: wp.array(dtype=wp.vec2i),
        pair_travel: wp.array(dtype=real),
        candidate_count: wp.array(dtype=int),
        candidates: wp.array(dtype=wp.vec4i),
        wake_travel: wp.array(dtype=real),
        least_wake: wp.array(dtype=real),
        next_wake: wp.array(dtype=real),
        stride: int,
    ):
        """Where nothing touches, candidates that would wake soon are measured again: most have not come closer."""
        for t in range(wp.tid(), wp.min(candidate_count[0], candidates.shape[0]), stride):
            q = at(t)
            candidate = candidates[q]
            pair = at(candidate[0])
            c = at(pairs[pair][0])
            if ends_fused[c] == 0 and least_wake[c] > pair_travel[pair]:
                soon = real(2.0 * CALM) * reserve(real(2.0) * body_spread[c], body_move[c])
                if wake_travel[q] - pair_travel[pair] < soon:
                    first = wp.vec3i()
                    second = wp.vec3i()
                    w = vec()
                    u = vec()
                    gap = vec()
                    if candidate[3] == VERTEX_FACE:
                        i = at(candidate[1])
                        f = faces[at(candidate[2])]
                        u, gap = closest_to_face(points[i], f, points)
                        w[0] = real(1.0)
                        first = wp.vec3i(i, i, i)
                        second = corners(f)
                    else:
                        first, second, w, u, gap = closest_of_edges(
                            edges[at(candidate[1])], edges[at(candidate[2])], points
                        )
                    between = vec()
                    for k in range(dim):
                        between += w[k] * rest[at(first[k])] - u[k] * rest[at(second[k])]
                    skin = wp.min(real(2.0) * thickness[c], real(0.5) * wp.length(between))
                    wake_travel[q] = pair_travel[pair] + wp.length(gap) - skin
                wp.atomic_min(next_wake, c, wake_travel[q])

    @n.kernel(__name__)
    def calm(
        own_pair: wp.array(dtype=int),
        pair_travel: wp.array(dtype=real),
        body_move: wp.array(dtype=vec),
        body_spread: wp.array(dtype=real),
        least_wake: wp.array(dtype=real),
        next_wake: wp.array(dtype=real),
        self_far: wp.array(dtype=real),
        star_room: wp.array(dtype=real),
        deformed: wp.array(dtype=real),
        turned: wp.array(dtype=int),
        calm_body: wp.array(dtype=int),
        watched: wp.array(dtype=int),
        begins: wp.array(dtype=int),
        watch_left: wp.array(dtype=real),
        watch_travel: wp.array(dtype=real),
        last_move: wp.array(dtype=vec),
        ends_fused: wp.array(dtype=int),
        may_self_touch: wp.array(dtype=int),
        any_watched: wp.array(dtype=int),
        any_near: wp.array(dtype=int),
        contact_substeps: wp.array(dtype=int),
    ):
        """A body that can travel on for some substeps without contact is left alone."""
        c = wp.tid()
        if ends_fused[c] == 0:
            wp.atomic_add(contact_substeps, 0, 1)
            left = star_room[c] - real(2.0) * deformed[c]
            pair = own_pair[c]
            if pair >= 0:
                left = real(-1.0)
                if least_wake[c] > pair_travel[pair] and turned[c] == 0:
                    left = wp.min(self_far[c], next_wake[c]) - pair_travel[pair]
            if left > real(CALM) * reserve(real(2.0) * body_spread[c], body_move[c]):
                watched[c] = 1
                any_watched[0] = 1
                begins[c] = 1
                calm_body[c] = PATIENCE
                watch_left[c] = left
                watch_travel[c] = real(0.0)
                last_move[c] = vec()
                ends_fused[c] = 1
            else:
                calm_body[c] = wp.max(calm_body[c] - 1, 0)
                may_self_touch[0] = 1
                any_near[0] = 1

    @n.kernel(__name__)
    def see(
        soft_body: wp.array(dtype=int), points: wp.array(dtype=vec), begins: wp.array(dtype=int),
        watch_seen: wp.array(dtype=vec),
    ):  # fmt: skip
        """Positions of the bodies that are watched from now on."""
        i = at(wp.tid())
        if begins[at(soft_body[i])] != 0:
            watch_seen[i] = points[i]

    return SimpleNamespace(
        measure_speeds=measure_speeds,
        look=look,
        look_again=look_again,
        measure_watched=measure_watched,
        judge_watched=judge_watched,
        find_least_wake=find_least_wake,
        refresh=refresh,
        calm=calm,
        see=see,
    )
