"""Before anything moves: no feature passes through another in this substep, whatever the solver left.

Each candidate that could touch is followed along its straight movement (`geometry/advancement.py`). Where it would come
closer than a floor, an impulse along the normal at that time stops the approach. This changes what neighbours meet, so
it is repeated until nothing is left to stop. What a few rounds do not stop is cut: its points make only the share of
their movement that is safe, beside the rigid motion of their body (`rigid_motion.py`).
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.contact.features.launch import FeatureLauncher
from turgor.contact.features.search import motion
from turgor.contact.features.search.candidates import URGENT
from turgor.contact.features.solve import sides
from turgor.contact.features.solve.impulses import Impulses
from turgor.contact.features.solve.rigid_motion import RigidMotion
from turgor.contact.geometry import advancement
from turgor.contact.geometry.advancement import VERTEX_FACE
from turgor.kernel.numbers import Numbers, at
from turgor.model.model import Model
from turgor.model.surfaces import Surfaces

__all__ = ["Sweep", "kernels"]

FLOOR = 0.05  # share of the skins that must be left between surfaces
PATIENCE = 6  # rounds of impulses before movements are cut
HOLDING = 12  # round from which on points do not move at all
LAST = 24  # round


class Sweep:
    """Rounds of impulses against passing through, then of cuts; and the share of each movement that is made."""

    def __init__(
        self, model: Model, surfaces: Surfaces, launch: FeatureLauncher, impulses: Impulses, pairs: int
    ) -> None:
        n, zeros = model.numbers, launch.zeros
        self.numbers, self.kernels, self.impulses = n, kernels(n, launch.parallel), impulses
        self.soft, self.rigid = model.vertices * model.worlds, model.rigids.total
        self.bodies = surfaces.bodies * model.worlds
        self.rounds, self.again, self.jammed, self.cuts_made = (zeros(1, wp.int32) for _ in range(4))
        self.scale, self.next_scale = zeros(self.soft, n.real), zeros(self.soft, n.real)
        self.next_rigid_scale = zeros(self.rigid, n.real)
        self.unmade_move = zeros(self.bodies, n.real)
        self.rigid_motion = RigidMotion(model, surfaces, launch.extended({"scale": self.scale}))
        known = self.rigid_motion.launch.extended(self)
        self.launch = known.extended({"moves": known.struct(self.kernels.Moves)})
        self.allocate(pairs)

    def allocate(self, pairs: int) -> None:
        """Arrays for as many pairs of bodies."""
        # m: candidates of the pair that wake at a longer travel cannot meet in this substep
        self.pair_horizon = self.launch.zeros(pairs, self.numbers.real)

    def run(self) -> None:
        """Movements and velocities with which nothing passes through anything."""
        self.launch(self.kernels.begin, max(self.soft + self.rigid, self.bodies), soft=self.soft)
        wp.capture_while(self.again, self.round)
        wp.capture_if(self.jammed, on_true=self.cut)
        self.impulses.follow()
        wp.capture_if(self.cuts_made, on_true=self.apply_cuts)
        self.launch.walk(self.kernels.add_travel)

    def round(self) -> None:
        """Follow all candidates that could meet; impulses or cuts where they do."""
        self.launch.walk(self.kernels.begin_round)
        self.launch.walk(self.kernels.follow_candidates)
        self.impulses.collect()
        self.launch(self.kernels.end_round, self.soft + self.rigid, soft=self.soft)

    def cut(self) -> None:
        """Impulses were not enough: cut movements, but not the rigid motion of bodies."""
        self.rigid_motion.find()
        self.again.fill_(1)
        wp.capture_while(self.again, self.round)
        self.cuts_made.fill_(1)

    def apply_cuts(self) -> None:
        """The cuts take effect on movements and velocities."""
        self.rigid_motion.apply_cuts()
        self.cuts_made.zero_()


@functools.cache
@no_type_check
def kernels(n: Numbers, parallel: bool) -> SimpleNamespace:
    """begin, then rounds of begin_round, follow_candidates, end_round; add_travel at the end of a substep."""
    real, vec, spin_type, dim, face = n.real, n.vec, n.spin, n.dim, n.face
    variant = f"{__name__}{'_parallel' if parallel else ''}"
    side = sides.kernels(n, parallel)
    Dynamics = side.Dynamics
    push_side, side_mobility, swing = side.push_side, side.side_mobility, side.swing
    count_side, side_contacts = side.count_side, side.side_contacts
    patience = wp.constant(PATIENCE + 1 if parallel else PATIENCE)  # on a GPU knots are only counted in the first
    safe_share, closing = advancement.kernels(n).safe_share, advancement.kernels(n).closing
    most_of = wp.constant(real(1.0 - advancement.GAP_LEFT))
    floor = wp.constant(real(FLOOR))
    approach = motion.kernels(n).approach

    @wp.struct
    class Moves:
        """The movements of this substep, and the shares of them that are made."""

        move: wp.array(dtype=vec)  # m, of soft points
        v_free: wp.array(dtype=vec)  # m/s: velocities that `move` belongs to
        scale: wp.array(dtype=real)  # share of it that is to be made, beside the rigid motion
        next_scale: wp.array(dtype=real)  # after this round
        rigid_move: wp.array(dtype=vec)  # m: what is made in any case; only valid while movements are cut
        point_body: wp.array(dtype=int)
        rigid_index: wp.array(dtype=int)
        rigid_push_move: wp.array(dtype=vec)
        rigid_push_turn: wp.array(dtype=spin_type)
        rigid_scale: wp.array(dtype=real)
        next_rigid_scale: wp.array(dtype=real)
        rigid_radius: wp.array(dtype=real)
        unmade_move: wp.array(dtype=real)  # m, per contact body: largest movement that was not made

    @wp.func
    def round_radius(moves: Moves, one: int, two: int) -> real:
        """Radius of the round one of two bodies, which is part of its thickness; else zero."""
        if moves.rigid_index[two] >= 0:
            return moves.rigid_radius[moves.rigid_index[two]]
        if moves.rigid_index[one] >= 0:
            return moves.rigid_radius[moves.rigid_index[one]]
        return real(0.0)

    @wp.func(inline=True)
    def point_move(moves: Moves, dynamics: Dynamics, i: int, h: real) -> vec:
        """Displacement of a point as it is to be made."""
        if i < moves.move.shape[0]:
            asked = moves.scale[i] * (moves.move[i] + h * (dynamics.point_v[i] - moves.v_free[i]))
            if moves.scale[i] < real(1.0):
                asked += (real(1.0) - moves.scale[i]) * moves.rigid_move[i]
            return asked
        r = moves.rigid_index[moves.point_body[i]]
        arm = dynamics.points[i] - dynamics.rigid_x[r]
        turn = h * dynamics.rigid_spin[r] + moves.rigid_push_turn[r]
        return moves.rigid_scale[r] * (h * dynamics.rigid_v[r] + moves.rigid_push_move[r] + swing(turn, arm))

    @wp.func
    def cut(moves: Moves, dynamics: Dynamics, i: int, share: real, moved: vec) -> bool:
        """Cut the movement of a point; whether that changed anything."""
        body = moves.point_body[i]
        if i < moves.move.shape[0]:
            if dynamics.soft_inverse_mass[i] <= real(0.0) or moves.scale[i] <= real(0.0):
                return False
            wp.atomic_max(moves.unmade_move, body, (real(1.0) - share) * wp.length(moved - moves.rigid_move[i]))
            wp.atomic_min(moves.next_scale, i, share * moves.scale[i])
            return True
        r = moves.rigid_index[body]
        if dynamics.rigid_inverse_mass[r] <= real(0.0) or moves.rigid_scale[r] <= real(0.0):
            return False
        wp.atomic_max(moves.unmade_move, body, (real(1.0) - share) * wp.length(moved))
        wp.atomic_min(moves.next_rigid_scale, r, share * moves.rigid_scale[r])
        return True

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
        rounds: wp.array(dtype=int),
        again: wp.array(dtype=int),
        jammed: wp.array(dtype=int),
        stride: int,
    ):
        """Which candidates have to be followed: most of their gap, skins included, is less than they can approach."""
        if wp.tid() == 0:
            rounds[0] += 1
            again[0] = 0
            jammed[0] = 0
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

    @n.kernel(variant)
    def follow_candidates(
        moves: Moves,
        dynamics: Dynamics,
        faces: wp.array(dtype=face),
        edges: wp.array(dtype=wp.vec4i),
        dt: wp.array(dtype=real),
        pairs: wp.array(dtype=wp.vec2i),
        pair_travel: wp.array(dtype=real),
        pair_horizon: wp.array(dtype=real),
        thickness: wp.array(dtype=real),
        candidate_count: wp.array(dtype=int),
        candidates: wp.array(dtype=wp.vec4i),
        wake_travel: wp.array(dtype=real),
        rounds: wp.array(dtype=int),
        again: wp.array(dtype=int),
        jammed: wp.array(dtype=int),
        stride: int,
    ):
        """One round of impulses or, later, of cutting."""
        h = dt[0]
        for c in range(wp.tid(), wp.min(candidate_count[0], candidates.shape[0]), stride):
            candidate = candidates[at(c)]
            pair = at(candidate[0])
            if wake_travel[at(c)] <= pair_horizon[pair]:
                ids = pairs[pair]
                one = at(ids[0])
                two = at(ids[1])
                round_off = round_radius(moves, one, two)
                # the gap is at least this: what is left until the candidate wakes, and the skins
                least = wp.max(wake_travel[at(c)] - pair_travel[pair], -thickness[one] - thickness[two])
                if one != two:
                    least += thickness[one] + thickness[two] - round_off
                kind = candidate[3]
                i = at(candidate[1])
                j = int(0)  # noqa: RUF046, UP018
                k = int(0)  # noqa: RUF046, UP018
                l = int(0)  # noqa: E741, RUF046, UP018
                if kind == VERTEX_FACE:
                    f = faces[at(candidate[2])]
                    j = at(f[0])
                    k = at(f[1])
                    l = at(f[wp.static(dim - 1)])  # noqa: E741
                else:
                    e = edges[at(candidate[1])]
                    g = edges[at(candidate[2])]
                    i = at(e[0])
                    j = at(e[1])
                    k = at(g[0])
                    l = at(g[1])  # noqa: E741
                ma = point_move(moves, dynamics, i, h)
                mb = point_move(moves, dynamics, j, h)
                mc = point_move(moves, dynamics, k, h)
                md = point_move(moves, dynamics, l, h)
                common = real(0.25) * (ma + mb + mc + md)
                ra = ma - common
                rb = mb - common
                rc = mc - common
                rd = md - common
                fastest = wp.length(ra)
                if kind == VERTEX_FACE:
                    fastest += wp.max(wp.length(rb), wp.max(wp.length(rc), wp.length(rd)))
                else:
                    fastest = wp.max(fastest, wp.length(rb)) + wp.max(wp.length(rc), wp.length(rd))
                enough = floor * (thickness[one] + thickness[two] - round_off)
                if most_of * (least - enough) <= fastest and fastest > real(0.0):
                    share, w, u, gap = safe_share(
                        kind, dynamics.points[i], dynamics.points[j], dynamics.points[k], dynamics.points[l],
                        ra, rb, rc, rd, round_off, enough,
                    )  # fmt: skip
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
                                if speed > real(0.0) and inverse_mass > real(0.0):
                                    p = (speed / inverse_mass) * normal
                                    if wp.static(parallel):
                                        if one == two:  # in a knot all push at once: each its share, from round 1 on
                                            if rounds[0] == 1:
                                                count_side(dynamics, a, first, w)
                                                count_side(dynamics, b, second, u)
                                                p = vec()
                                            many = side_contacts(dynamics, a, first, w)
                                            many = wp.max(many, side_contacts(dynamics, b, second, u))
                                            p = p / real(wp.max(many, 1))
                                    push_side(dynamics, a, p, place, first, w)
                                    push_side(dynamics, b, -p, place, second, u)
                        else:
                            if rounds[0] > HOLDING:
                                share = real(0.0)
                            changed = cut(moves, dynamics, i, share, ma)
                            changed = cut(moves, dynamics, j, share, mb) or changed
                            changed = cut(moves, dynamics, k, share, mc) or changed
                            if l != k:
                                changed = cut(moves, dynamics, l, share, md) or changed
                            if changed and rounds[0] < LAST:
                                again[0] = 1
                        if rounds[0] < patience:
                            again[0] = 1
                        jammed[0] = 1

    @n.kernel(variant)
    def end_round(moves: Moves, soft: int):
        """The cuts of a round take effect: of the soft points, then of the rigid bodies."""
        t = wp.tid()
        if t < soft:
            moves.scale[at(t)] = moves.next_scale[at(t)]
        else:
            moves.rigid_scale[t - soft] = moves.next_rigid_scale[t - soft]

    @n.kernel(variant)
    def begin(
        moves: Moves,
        soft: int,
        total_bodies: int,
        candidate_count: wp.array(dtype=int),
        rounds: wp.array(dtype=int),
        again: wp.array(dtype=int),
        jammed: wp.array(dtype=int),
    ):
        """All of every movement is to be made; without candidates there is nothing else to do."""
        t = wp.tid()
        if t < soft:
            moves.scale[at(t)] = real(1.0)
            moves.next_scale[at(t)] = real(1.0)
        elif t - soft < moves.rigid_scale.shape[0]:
            moves.rigid_scale[t - soft] = real(1.0)
            moves.next_rigid_scale[t - soft] = real(1.0)
        if t < total_bodies:
            moves.unmade_move[t] = real(0.0)
        if t == 0:
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
        Moves=Moves,
        begin=begin,
        begin_round=begin_round,
        follow_candidates=follow_candidates,
        end_round=end_round,
        add_travel=add_travel,
    )
