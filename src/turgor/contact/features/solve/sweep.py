"""Before anything moves: no feature passes through another in this substep, whatever the solver left.

Each candidate that could touch is followed along its straight movement (`geometry/advancement.py`). Where it would come
closer than a floor, an impulse along the normal at that time stops the approach. This changes what neighbours meet, so
those are followed again (`moves.py`), until nothing is left to stop. What a few rounds do not stop moves on together
(`zones.py`). Impulses and zones keep momentum and angular momentum, whatever they stop.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.contact import pair_sums
from turgor.contact.features.launch import FeatureLauncher
from turgor.contact.features.search import motion
from turgor.contact.features.search.candidates import URGENT
from turgor.contact.features.solve import course as courses
from turgor.contact.features.solve import moves as movements
from turgor.contact.features.solve import near as near_candidates
from turgor.contact.features.solve import sides
from turgor.contact.features.solve import zones as impact_zones
from turgor.contact.features.solve.impulses import Impulses
from turgor.contact.features.solve.moves import LAST
from turgor.contact.features.solve.zones import Zones
from turgor.contact.geometry import advancement
from turgor.contact.geometry.advancement import VERTEX_FACE
from turgor.kernel import structs
from turgor.kernel.board import LINE
from turgor.kernel.launch import begin_of
from turgor.kernel.numbers import Numbers, at
from turgor.model.model import Model
from turgor.model.surfaces import Surfaces

__all__ = ["Sweep", "kernels"]

RESIDENT = 256  # threads of follow_candidates that are to find room on a GPU's multiprocessor
PATIENCE = 6  # rounds of impulses before zones are made
HELD = 0.1  # least share of an impulse's effect that is left by taking its moment back
WHOLE = 24  # round from which on whole bodies join, so that there is an end


class Sweep:
    """Rounds of impulses against passing through, then of zones that grow."""

    def __init__(
        self, model: Model, surfaces: Surfaces, launch: FeatureLauncher, impulses: Impulses, sizes: tuple[int, int]
    ) -> None:
        self.numbers, self.kernels, self.impulses = model.numbers, kernels(model.numbers, launch.parallel), impulses
        self.k_near = near_candidates.kernels(model.numbers, launch.parallel)
        self.bodies = surfaces.bodies * model.worlds
        self.soft, self.cuts = model.vertices * model.worlds, model.cuts("order")
        self.rounds, self.again, self.jammed = (launch.zeros(1, wp.int32) for _ in range(3))
        self.reached_count = launch.zeros(1, wp.int32)  # candidates to be followed in a round, on a GPU
        self.round_number = launch.zeros(1, wp.int32)  # through all substeps
        self.stirred = launch.zeros(self.soft + model.rigids.total, wp.int32)  # per node: round in which it was, last
        # so far: first rounds of substeps, candidates followed in them; later rounds, candidates followed in those
        self.sweep_work = launch.zeros(4, wp.int64)
        self.unmade_move = launch.zeros(self.bodies, model.numbers.real)
        known = launch.extended(
            {name: getattr(self, name) for name in ("rounds", "round_number", "stirred", "unmade_move")}
        )
        self.zones = Zones(model, surfaces, known)
        self.table = structs.zeros(pair_sums.kernels(model.numbers).Table, 0, launch.device, bodies=0, width=0, bits=0)
        known = self.zones.launch.extended(self)
        self.launch = known.extended({"moves": known.struct(movements.kernels(model.numbers, launch.parallel).Moves)})
        self.allocate(*sizes)

    def allocate(self, pairs: int, candidates: int) -> None:
        """Arrays for as many pairs of bodies, and of features."""
        # m: candidates of the pair that wake at a longer travel cannot meet in this substep
        self.pair_horizon = self.launch.zeros(pairs, self.numbers.real)
        noted, line = 0 if self.launch.parallel else candidates, LINE * self.launch.threads
        self.near = structs.zeros(
            self.k_near.Near, noted, self.launch.device, reach=pairs, anew=1, count=line, followed=line
        )

    def run(self) -> None:
        """Velocities with which nothing passes through anything; displacements follow when they are made."""
        self.launch(self.kernels.begin, self.bodies)
        wp.capture_while(self.again, self.round)
        wp.capture_if(self.jammed, on_true=self.join)
        self.launch.walk(self.kernels.add_travel)

    def round(self) -> None:
        """Follow the candidates that could meet; impulses where they do.

        On a GPU a condition costs more than a kernel: the impulses of the round before are measured, if there was one.
        """
        if self.launch.parallel:
            self.measure()
        self.follow_candidates()
        self.impulses.collect(self.rounds)
        if not self.launch.parallel:
            wp.capture_if(self.again, on_true=self.measure)

    def measure(self) -> None:
        """How far impulses have led from the movements that the lists know."""
        self.launch.split(self.kernels.measure_deviation, self.soft, self.cuts)

    def join(self) -> None:
        """Impulses were not enough: zones, until nothing meets."""
        self.measure()  # the last round of impulses
        self.again.fill_(1)
        wp.capture_while(self.again, self.zone_round)
        self.zones.dissolve()

    def zone_round(self) -> None:
        """Follow the candidates that could meet; join them where they do."""
        self.follow_candidates()
        wp.capture_if(self.again, on_true=lambda: self.zones.move(self.table))

    def follow_candidates(self) -> None:
        """Along their movements."""
        self.launch.walk(self.kernels.begin_round)
        if self.launch.parallel:
            self.launch.walk(self.kernels.find_reached, over="candidates")
        else:
            self.launch.parts(self.k_near.note_near, 1, {})
        self.launch.walk(self.kernels.follow_candidates, table=self.table, segments=self.launch.sharing)


@functools.cache
@no_type_check
def kernels(n: Numbers, parallel: bool) -> SimpleNamespace:
    """begin, then rounds of begin_round, follow_candidates, measure_deviation; add_travel at the end of a substep."""
    real, vec, dim, face = n.real, n.vec, n.dim, n.face
    variant = f"{__name__}{'_parallel' if parallel else ''}"
    side = sides.kernels(n, parallel)
    Dynamics = side.Dynamics
    push_side, side_mobility = side.push_side, side.side_mobility
    load_side, share_of = side.load_side, side.share_of
    inertia, cross, inner, turn_by, can_turn = side.inertia, side.cross, side.inner, side.turn_by, side.can_turn
    contact_point, inertia_of_points, turn_side = side.contact_point, side.inertia_of_points, side.turn_side
    sums = pair_sums.kernels(n)
    Table, add_to_pair = sums.Table, sums.add_to_pair
    zone = impact_zones.kernels(n, parallel)
    Zones, enter, join, is_together = zone.Zones, zone.enter, zone.join, zone.is_together
    made = movements.kernels(n, parallel)
    Moves, round_radius = made.Moves, made.round_radius
    points_of, nodes_of, stir, were_stirred = made.points_of, made.nodes_of, made.stir, made.were_stirred
    Near, extend = near_candidates.kernels(n, parallel).Near, near_candidates.kernels(n, parallel).extend
    course, closing = courses.kernels(n, parallel).course, advancement.kernels(n).closing
    patience = wp.constant(PATIENCE + 1 if parallel else PATIENCE)  # on a GPU contacts are only counted in the first
    most_of = wp.constant(real(1.0 - advancement.GAP_LEFT))
    approach = motion.kernels(n).approach

    @wp.func
    def join_body(zones: Zones, stirred: wp.array(dtype=int), now: int, first: int, last: int, node: int, turn: int):
        """Join all points of a soft body."""
        for i in range(first, last):
            stirred[i] = now
            enter(zones, i, turn)
            join(zones, i, node)

    @n.kernel(variant)
    def begin_round(
        moves: Moves,
        body_move: wp.array(dtype=vec),
        body_spread: wp.array(dtype=real),
        thickness: wp.array(dtype=real),
        pair_count: wp.array(dtype=int),
        pairs: wp.array(dtype=wp.vec2i),
        overlapping: wp.array(dtype=int),
        pair_travel: wp.array(dtype=real),
        pair_horizon: wp.array(dtype=real),
        near: Near,
        rounds: wp.array(dtype=int),
        round_number: wp.array(dtype=int),
        again: wp.array(dtype=int),
        jammed: wp.array(dtype=int),
        reached_count: wp.array(dtype=int),
        stride: int,
    ):
        """Which candidates have to be followed: most of their gap, skins included, is less than they can approach."""
        if wp.tid() == 0:
            rounds[0] += 1
            round_number[0] = (round_number[0] + 1) & LAST
            again[0] = 0
            jammed[0] = 0
            near.anew[0] = 0
            reached_count[0] = 0
        for k in range(wp.tid(), wp.min(pair_count[0], pairs.shape[0]), stride):
            p = at(k)
            one = at(pairs[p][0])
            two = at(pairs[p][1])
            unmade = moves.unmade_move[one] + moves.unmade_move[two]
            most = approach(body_move, body_spread, one, two) + real(2.0) * unmade
            pair_horizon[p] = pair_travel[p] + most / most_of
            if one != two:
                pair_horizon[p] = pair_horizon[p] + round_radius(moves, one, two) - thickness[one] - thickness[two]
            if overlapping[p] != 0:
                pair_horizon[p] = real(URGENT) * real(2.0)
            if wp.static(not parallel):
                extend(near, p, rounds[0] == 1, pair_horizon[p], most)

    @n.kernel(variant)
    def find_reached(
        moves: Moves,
        faces: wp.array(dtype=face),
        edges: wp.array(dtype=wp.vec4i),
        pair_horizon: wp.array(dtype=real),
        candidate_count: wp.array(dtype=int),
        candidates: wp.array(dtype=wp.vec4i),
        wake_travel: wp.array(dtype=real),
        rounds: wp.array(dtype=int),
        round_number: wp.array(dtype=int),
        stirred: wp.array(dtype=int),
        chosen: wp.array(dtype=int),
        reached_count: wp.array(dtype=int),
        stride: int,
    ):
        """On a GPU the few candidates to be followed in this round are listed first: no thread waits for another."""
        for c in range(wp.tid(), wp.min(candidate_count[0], candidates.shape[0]), stride):
            candidate = candidates[at(c)]
            if wake_travel[at(c)] <= pair_horizon[at(candidate[0])]:
                due = rounds[0] == 1
                if not due:
                    nodes = nodes_of(moves, points_of(candidate, faces, edges))
                    due = were_stirred(stirred, round_number[0], nodes)
                if due:
                    chosen[at(wp.atomic_add(reached_count, 0, 1))] = c

    @functools.partial(n.kernel(variant), launch_bounds=(256, RESIDENT // 256))
    def follow_candidates(
        moves: Moves,
        zones: Zones,
        dynamics: Dynamics,
        point_start: wp.array(dtype=int),
        point_end: wp.array(dtype=int),
        faces: wp.array(dtype=face),
        edges: wp.array(dtype=wp.vec4i),
        dt: wp.array(dtype=real),
        pairs: wp.array(dtype=wp.vec2i),
        pair_travel: wp.array(dtype=real),
        pair_horizon: wp.array(dtype=real),
        near: Near,
        thickness: wp.array(dtype=real),
        candidate_count: wp.array(dtype=int),
        candidates: wp.array(dtype=wp.vec4i),
        wake_travel: wp.array(dtype=real),
        rounds: wp.array(dtype=int),
        round_number: wp.array(dtype=int),
        stirred: wp.array(dtype=int),
        sweep_work: wp.array(dtype=wp.int64),
        again: wp.array(dtype=int),
        jammed: wp.array(dtype=int),
        chosen: wp.array(dtype=int),
        reached_count: wp.array(dtype=int),
        table: Table,  # of impulses per pair of bodies, for readings; else empty
        segments: int,  # in which candidates were noted, on the CPU
        stride: int,
    ):
        """One round of impulses or, later, of joining."""
        h = dt[0]
        now = round_number[0]
        first_round = rounds[0] == 1
        many = int(0)  # noqa: RUF046, UP018 (a variable in Warp's language)
        listed = wp.min(candidate_count[0], candidates.shape[0])
        for segment in range(segments):
            begin = begin_of(segment, segments, listed)
            if wp.static(parallel):
                count = reached_count[0]
            else:
                count = near.count[segment * LINE]
                if first_round:
                    many += near.followed[segment * LINE]
            for q in range(begin + wp.tid(), begin + count, stride):
                c = q
                if wp.static(parallel):
                    c = chosen[at(q)]
                else:
                    if not ((first_round and near.meets[at(q)] != 0) or were_stirred(stirred, now, near.nodes[at(q)])):
                        continue
                    c = near.which[at(q)]
                candidate = candidates[at(c)]
                pair = at(candidate[0])
                if wake_travel[at(c)] <= pair_horizon[pair]:
                    its = points_of(candidate, faces, edges)
                    nodes = nodes_of(moves, its)
                    if wp.static(parallel) or not first_round:
                        many += 1
                    kind = candidate[3]
                    i = at(its[0])
                    j = at(its[1])
                    k = at(its[2])
                    l = at(its[3])  # noqa: E741
                    ids = pairs[pair]
                    one = at(ids[0])
                    two = at(ids[1])
                    left = wake_travel[at(c)] - pair_travel[pair]
                    share, w, u, gap, ma, mb, mc, md = course(
                        moves, zones, dynamics, thickness, kind, its, ids, left, h
                    )
                    if share < real(1.0):
                        wake_travel[at(c)] = real(URGENT)
                        if rounds[0] <= patience:
                            distance = wp.length(gap)
                            if distance > real(0.0):
                                normal = gap / distance
                                first = wp.vec3i(i, j, j)
                                second = wp.vec3i(k, l, l)
                                place = dynamics.points[i] * w[0] + dynamics.points[j] * w[1]
                                if kind == VERTEX_FACE:
                                    first = wp.vec3i(i, i, i)
                                    second = wp.vec3i(j, k, l)
                                    place = dynamics.points[i]
                                a = moves.rigid_index[moves.point_body[i]]
                                b = moves.rigid_index[moves.point_body[k]]
                                if a >= 0:  # impulses on rigid bodies act where the soft side is
                                    place = u[0] * dynamics.points[second[0]] + u[1] * dynamics.points[second[1]]
                                    if wp.static(dim == 3):
                                        place += u[wp.static(dim - 1)] * dynamics.points[second[2]]
                                inverse_mass = side_mobility(dynamics, a, place, normal, first, w)
                                inverse_mass += side_mobility(dynamics, b, place, -normal, second, u)
                                speed = -wp.dot(closing(kind, w, u, ma, mb, mc, md), normal) / h
                                lever = vec()  # between the points where both impulses act; zero with rigid bodies
                                centre = vec()
                                inverse_inertia = inertia(real(0.0))
                                if a < 0 and b < 0:
                                    lever = contact_point(dynamics, first, w) - contact_point(dynamics, second, u)
                                    centre, inverse_inertia = inertia_of_points(dynamics, first, second)
                                    couple = cross(lever, normal)
                                    held = inner(couple, turn_by(inverse_inertia, couple))
                                    inverse_mass = wp.max(inverse_mass - held, real(HELD) * inverse_mass)
                                if speed > real(0.0) and inverse_mass > real(0.0):
                                    p = (speed / inverse_mass) * normal
                                    if wp.static(parallel):  # all push at once: each its share, from round 1 on
                                        if rounds[0] == 1:
                                            load_side(dynamics, a, first, w)
                                            load_side(dynamics, b, second, u)
                                            p = vec()
                                        both = wp.vec2i(a, b)
                                        p *= share_of(dynamics, both, place, normal, first, w, second, u)
                                    push_side(dynamics, a, p, place, first, w)
                                    push_side(dynamics, b, -p, place, second, u)
                                    if table.key.shape[0] > 0 and one != two:
                                        add_to_pair(table, moves.point_body[i], moves.point_body[k], p)
                                    if can_turn(inverse_inertia):
                                        back = -turn_by(inverse_inertia, cross(lever, p))
                                        turn_side(dynamics, first, centre, back)
                                        turn_side(dynamics, second, centre, back)
                            stir(stirred, now, nodes)
                            if rounds[0] < patience:
                                again[0] = 1
                            jammed[0] = 1
                        else:
                            na = nodes[0]
                            known = is_together(zones, na, nodes[1]) and is_together(zones, na, nodes[2])
                            if not (known and is_together(zones, na, nodes[3])):
                                again[0] = 1
                                stir(stirred, now, nodes)
                                turn = rounds[0]
                                for other in range(4):
                                    enter(zones, nodes[other], turn)
                                for other in range(1, 4):
                                    join(zones, na, nodes[other])
                                if turn > WHOLE:
                                    if moves.rigid_index[one] < 0:
                                        join_body(zones, stirred, now, point_start[one], point_end[one], na, turn)
                                    if moves.rigid_index[two] < 0:
                                        join_body(zones, stirred, now, point_start[two], point_end[two], na, turn)
        which = wp.where(first_round, 0, 2)
        if wp.tid() == 0:
            wp.atomic_add(sweep_work, which, wp.int64(1))
        if many > 0:
            wp.atomic_add(sweep_work, which + 1, wp.int64(many))

    @n.kernel(variant)
    def measure_deviation(
        moves: Moves, dynamics: Dynamics, dt: wp.array(dtype=real), rounds: wp.array(dtype=int), start_index: int
    ):
        """How far impulses have led soft points from the movements that the lists know."""
        if rounds[0] == 0:
            return
        i = at(start_index + wp.tid())
        changed = dt[0] * wp.length(dynamics.point_v[i] - moves.v_free[i])
        if changed > moves.unmade_move[moves.point_body[i]]:
            wp.atomic_max(moves.unmade_move, moves.point_body[i], changed)

    @n.kernel(variant)
    def begin(
        moves: Moves,
        candidate_count: wp.array(dtype=int),
        rounds: wp.array(dtype=int),
        again: wp.array(dtype=int),
        jammed: wp.array(dtype=int),
    ):
        """Without candidates there is nothing to do."""
        moves.unmade_move[wp.tid()] = real(0.0)
        if wp.tid() == 0:
            rounds[0] = 0
            again[0] = wp.min(candidate_count[0], 1)
            jammed[0] = 0

    @n.kernel(variant)
    def add_travel(
        total_bodies: int,
        body_move: wp.array(dtype=vec),
        body_spread: wp.array(dtype=real),
        unmade_move: wp.array(dtype=real),
        body_drift: wp.array(dtype=real),
        deformed: wp.array(dtype=real),
        pair_count: wp.array(dtype=int),
        pairs: wp.array(dtype=wp.vec2i),
        pair_travel: wp.array(dtype=real),
        stride: int,
    ):
        """What this substep has used of the lists' margins."""
        lane = wp.tid()
        for c in range(lane, total_bodies, stride):
            body_drift[c] = body_drift[c] + wp.length(body_move[c]) + body_spread[c]
            deformed[c] = deformed[c] + body_spread[c] + unmade_move[c]
        for p in range(lane, wp.min(pair_count[0], pairs.shape[0]), stride):
            ids = pairs[at(p)]
            a = at(ids[0])
            b = at(ids[1])
            ahead = pair_travel[at(p)] + approach(body_move, body_spread, a, b)
            pair_travel[at(p)] = ahead + real(2.0) * (unmade_move[a] + unmade_move[b])

    return SimpleNamespace(
        begin=begin,
        begin_round=begin_round,
        find_reached=find_reached,
        follow_candidates=follow_candidates,
        measure_deviation=measure_deviation,
        add_travel=add_travel,
    )
