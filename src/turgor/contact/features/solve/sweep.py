"""The last word before anything moves: no feature passes through another in this substep, whatever the solver left.

Each candidate that could touch is followed along its straight movement by conservative steps. Where it would come
closer than a floor, an impulse along the normal at that time stops the approach. This changes what neighbours meet, so
it is repeated until nothing is left to stop. What a few rounds do not stop is cut: its points make only the share of
their movement that is safe, beside the drift of their body (`drift.py`).
"""

import functools
from types import SimpleNamespace

import warp as wp

from turgor.contact.features.search import candidates as nearby
from turgor.contact.features.search.candidates import URGENT
from turgor.contact.features.solve import sides
from turgor.contact.geometry import closest_fast
from turgor.kernel.numbers import Numbers, at

__all__ = ["kernels"]

KEPT = 0.1  # share of the present gap that must be left, where that is less than the floor
FLOOR = 0.05  # share of the skins that must be left between surfaces
ROUNDS = 40  # looks along a movement; what is not decided then ends there, which is safe
PATIENCE = 6  # rounds of impulses before movements are cut
HOLDING = 12  # round from which on points are held where they are
LAST = 24  # round


@functools.cache
def kernels(n: Numbers, parallel: bool) -> SimpleNamespace:
    """begin_limit, then rounds of begin_round, limit_moves, end_round; add_travel at the end of a substep."""
    real, vec, spin_type, dim, face = n.real, n.vec, n.spin, n.dim, n.face
    variant = f"{__name__}{'_parallel' if parallel else ''}"
    near = closest_fast.kernels(n)
    side = sides.kernels(n, parallel)
    Movers = side.Movers
    push_side, side_mobility, swing = side.push_side, side.side_mobility, side.swing
    count_side, side_rows = side.count_side, side.side_rows
    patience = wp.constant(PATIENCE + 1 if parallel else PATIENCE)  # on a GPU knots are only counted in the first
    kept = wp.constant(real(KEPT))
    most_of = wp.constant(real(1.0 - KEPT))
    floor = wp.constant(real(FLOOR))
    approach = nearby.kernels(n).approach

    if dim == 2:

        @wp.func
        def meeting(kind: int, a: vec, b: vec, c: vec, d: vec):
            """(weights of the first side, of the second, gap)."""
            t, gap = near.point_segment(a, b, c)
            return vec(real(1.0), real(0.0)), vec(real(1.0) - t, t), gap

    else:

        @wp.func
        def meeting(kind: int, a: vec, b: vec, c: vec, d: vec):
            """(weights of the first side, of the second, gap)."""
            if kind == wp.static(nearby.VERTEX_FACE):
                u, gap = near.point_triangle(a, b, c, d)
                return vec(real(1.0), real(0.0), real(0.0)), u, gap
            s, t, gap = near.segments(a, b, c, d)
            return vec(real(1.0) - s, s, real(0.0)), vec(real(1.0) - t, t, real(0.0)), gap

    @wp.func
    def clearance(kind: int, n: vec, a: vec, b: vec, c: vec, d: vec) -> real:
        """Least way along n between the two features: positive if a plane across n lies between them."""
        pa = wp.dot(n, a)
        pb = wp.dot(n, b)
        pc = wp.dot(n, c)
        pd = wp.dot(n, d)
        if kind == wp.static(nearby.VERTEX_FACE):
            return pa - wp.max(pb, wp.max(pc, pd))
        return wp.min(pa, pb) - wp.max(pc, pd)

    @wp.func
    def closing(kind: int, w: vec, u: vec, ma: vec, mb: vec, mc: vec, md: vec) -> vec:
        """Movement of the first contact point against the second."""
        if wp.static(dim == 2):
            return ma - u[0] * mb - u[1] * mc
        if kind == wp.static(nearby.VERTEX_FACE):
            return ma - u[0] * mb - u[1] * mc - u[wp.static(dim - 1)] * md
        return w[0] * ma + w[1] * mb - u[0] * mc - u[1] * md

    @wp.func
    def safe_share(kind: int, a: vec, b: vec, c: vec, d: vec, ma: vec, mb: vec, mc: vec, md: vec, round_off: real,
                   enough: real):  # fmt: skip
        """(share of the movements that may be made, weights of both sides and direction of the gap there).

        Along the direction n of the gap, the way between the features is a concave function of time, so it stays above
        its chord to the end of the movement: that far one can go, and look again. What slides along at the least gap
        may use half of it.
        round_off: radii of round bodies; enough: the gap that must be left, unless the features are closer already.
        """
        share = real(0.0)
        least = real(0.0)
        w, u, gap = meeting(kind, a, b, c, d)
        for turn in range(ROUNDS):
            distance = wp.length(gap)
            if distance <= real(0.0):  # features that coincide from the start cannot be told apart, and are let go
                return wp.where(turn == 0, real(1.0), share), w, u, gap
            n = gap / distance
            way = distance - round_off
            if turn == 0:
                least = wp.min(wp.max(kept * way, enough), most_of * way)
                if way <= real(0.0):  # round bodies that overlap already are pushed apart, not held
                    return real(1.0), w, u, gap
            end = clearance(kind, n, a + ma, b + mb, c + mc, d + md) - round_off
            if end >= least:
                return real(1.0), w, u, gap
            if way < least and wp.dot(closing(kind, w, u, ma, mb, mc, md), n) < real(0.0):
                return share, w, u, gap
            if way <= real(0.51) * least:
                return share, w, u, gap
            share += (real(1.0) - share) * (way - real(0.5) * least) / (way - end)
            if share >= real(1.0):
                return real(1.0), w, u, gap
            w, u, gap = meeting(kind, a + share * ma, b + share * mb, c + share * mc, d + share * md)
        return share, w, u, gap

    @wp.struct
    class Moves:
        """The movements of this substep, and what may be cut."""

        points: wp.array(dtype=vec)
        move: wp.array(dtype=vec)  # of soft points
        point_v: wp.array(dtype=vec)
        v_free: wp.array(dtype=vec)  # velocities that `move` belongs to
        scale: wp.array(dtype=real)  # share of it that is to be made, beside the drift
        drift: wp.array(dtype=vec)  # what is made in any case; only valid while movements are cut
        next_scale: wp.array(dtype=real)  # after this round
        inverse_mass: wp.array(dtype=real)
        point_body: wp.array(dtype=int)
        rigid_index: wp.array(dtype=int)
        x: wp.array(dtype=vec)  # of rigid bodies
        v: wp.array(dtype=vec)
        spin: wp.array(dtype=spin_type)
        push_move: wp.array(dtype=vec)
        push_turn: wp.array(dtype=spin_type)
        rigid_mass: wp.array(dtype=real)
        rigid_scale: wp.array(dtype=real)
        next_rigid_scale: wp.array(dtype=real)
        radius: wp.array(dtype=real)
        braked: wp.array(dtype=real)  # m, per contact body: largest movement that was not made

    @wp.func
    def round_part(m: Moves, one: int, two: int) -> real:
        """Radius of the round one of two bodies, which is part of its thickness; else zero."""
        if m.rigid_index[two] >= 0:
            return m.radius[m.rigid_index[two]]
        if m.rigid_index[one] >= 0:
            return m.radius[m.rigid_index[one]]
        return real(0.0)

    @wp.func
    def movement(m: Moves, i: int, h: real) -> vec:
        """Of a point of a rigid body, as it is to be made."""
        r = m.rigid_index[m.point_body[i]]
        arm = m.points[i] - m.x[r]
        return m.rigid_scale[r] * (h * m.v[r] + m.push_move[r] + swing(h * m.spin[r] + m.push_turn[r], arm))

    @wp.func
    def cut(m: Moves, i: int, share: real, moved: vec) -> bool:
        """Cut the movement of a point; whether that changed anything."""
        body = m.point_body[i]
        if i < m.move.shape[0]:
            if m.inverse_mass[i] <= real(0.0) or m.scale[i] <= real(0.0):
                return False
            wp.atomic_max(m.braked, body, (real(1.0) - share) * wp.length(moved - m.drift[i]))
            wp.atomic_min(m.next_scale, i, share * m.scale[i])
            return True
        r = m.rigid_index[body]
        if m.rigid_mass[r] <= real(0.0) or m.rigid_scale[r] <= real(0.0):
            return False
        wp.atomic_max(m.braked, body, (real(1.0) - share) * wp.length(moved))
        wp.atomic_min(m.next_rigid_scale, r, share * m.rigid_scale[r])
        return True

    @n.kernel(variant)
    def begin_round(
        m: Moves,
        mean: wp.array(dtype=vec),
        spread: wp.array(dtype=real),
        thickness: wp.array(dtype=real),
        pair_count: wp.array(dtype=int),
        pairs: wp.array(dtype=wp.vec2i),
        tangled: wp.array(dtype=int),
        travel: wp.array(dtype=real),
        wake: wp.array(dtype=real),  # candidates of the pair whose sleep ends later cannot meet in this substep
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
            most = approach(mean, spread, one, two) + real(2.0) * (m.braked[one] + m.braked[two])
            wake[p] = travel[p] + most / most_of
            if one != two:
                wake[p] = wake[p] + round_part(m, one, two) - thickness[one] - thickness[two]
            if tangled[p] != 0:
                wake[p] = real(URGENT) * real(2.0)

    @n.kernel(variant)
    def limit_moves(
        m: Moves,
        movers: Movers,
        faces: wp.array(dtype=face),
        edges: wp.array(dtype=wp.vec4i),
        dt: wp.array(dtype=real),
        pairs: wp.array(dtype=wp.vec2i),
        travel: wp.array(dtype=real),
        wake: wp.array(dtype=real),
        thickness: wp.array(dtype=real),
        count: wp.array(dtype=int),
        candidates: wp.array(dtype=wp.vec4i),
        asleep: wp.array(dtype=real),
        rounds: wp.array(dtype=int),
        again: wp.array(dtype=int),
        jammed: wp.array(dtype=int),
        stride: int,
    ):
        """One round of impulses or, later, of cutting."""
        h = dt[0]
        for c in range(wp.tid(), wp.min(count[0], candidates.shape[0]), stride):
            candidate = candidates[at(c)]
            pair = at(candidate[0])
            if asleep[at(c)] <= wake[pair]:
                ids = pairs[pair]
                one = at(ids[0])
                two = at(ids[1])
                round_off = round_part(m, one, two)
                # the gap is at least this: what is left of the candidate's sleep, and the skins
                least = wp.max(asleep[at(c)] - travel[pair], -thickness[one] - thickness[two])
                if one != two:
                    least += thickness[one] + thickness[two] - round_off
                kind = candidate[3]
                i = at(candidate[1])
                j = int(0)  # noqa: RUF046, UP018
                k = int(0)  # noqa: RUF046, UP018
                l = int(0)  # noqa: E741, RUF046, UP018
                if kind == wp.static(nearby.VERTEX_FACE):
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
                soft = m.move.shape[0]  # written out for soft points: a call would copy the struct
                ma = vec()
                mb = vec()
                mc = vec()
                md = vec()
                if i < soft:
                    ma = m.scale[i] * (m.move[i] + h * (m.point_v[i] - m.v_free[i]))
                    if m.scale[i] < real(1.0):
                        ma += (real(1.0) - m.scale[i]) * m.drift[i]
                else:
                    ma = movement(m, i, h)
                if j < soft:
                    mb = m.scale[j] * (m.move[j] + h * (m.point_v[j] - m.v_free[j]))
                    if m.scale[j] < real(1.0):
                        mb += (real(1.0) - m.scale[j]) * m.drift[j]
                else:
                    mb = movement(m, j, h)
                if k < soft:
                    mc = m.scale[k] * (m.move[k] + h * (m.point_v[k] - m.v_free[k]))
                    if m.scale[k] < real(1.0):
                        mc += (real(1.0) - m.scale[k]) * m.drift[k]
                else:
                    mc = movement(m, k, h)
                if l < soft:
                    md = m.scale[l] * (m.move[l] + h * (m.point_v[l] - m.v_free[l]))
                    if m.scale[l] < real(1.0):
                        md += (real(1.0) - m.scale[l]) * m.drift[l]
                else:
                    md = movement(m, l, h)
                common = real(0.25) * (ma + mb + mc + md)
                ra = ma - common
                rb = mb - common
                rc = mc - common
                rd = md - common
                fastest = wp.length(ra)
                if kind == wp.static(nearby.VERTEX_FACE):
                    fastest += wp.max(wp.length(rb), wp.max(wp.length(rc), wp.length(rd)))
                else:
                    fastest = wp.max(fastest, wp.length(rb)) + wp.max(wp.length(rc), wp.length(rd))
                enough = floor * (thickness[one] + thickness[two] - round_off)
                if most_of * (least - enough) <= fastest and fastest > real(0.0):
                    share, w, u, gap = safe_share(
                        kind, m.points[i], m.points[j], m.points[k], m.points[l], ra, rb, rc, rd, round_off, enough
                    )
                    if share < real(1.0):
                        asleep[at(c)] = real(URGENT)
                        if rounds[0] <= patience:
                            distance = wp.length(gap)
                            if distance > real(0.0):
                                normal = gap / distance
                                first = wp.vec3i(i, j, j)
                                second = wp.vec3i(k, l, l)
                                place = m.points[i] * w[0] + m.points[j] * w[1]
                                if kind == wp.static(nearby.VERTEX_FACE):
                                    first = wp.vec3i(i, i, i)
                                    second = wp.vec3i(j, k, l)
                                    place = m.points[i]
                                a = m.rigid_index[m.point_body[i]]
                                b = m.rigid_index[m.point_body[k]]
                                if a >= 0:  # impulses on rigid bodies act where the soft side is
                                    place = u[0] * m.points[second[0]] + u[1] * m.points[second[1]]
                                    if wp.static(dim == 3):
                                        place += u[wp.static(dim - 1)] * m.points[second[2]]
                                easy = side_mobility(movers, a, place, normal, first[0], first[1], first[2], w)
                                easy += side_mobility(movers, b, place, -normal, second[0], second[1], second[2], u)
                                speed = -wp.dot(closing(kind, w, u, ma, mb, mc, md), normal) / h
                                if speed > real(0.0) and easy > real(0.0):
                                    p = (speed / easy) * normal
                                    if wp.static(parallel):
                                        if one == two:  # in a knot all push at once: each its share, from round 1 on
                                            if rounds[0] == 1:
                                                count_side(movers, a, first[0], first[1], first[2], w)
                                                count_side(movers, b, second[0], second[1], second[2], u)
                                                p = vec()
                                            many = side_rows(movers, a, first[0], first[1], first[2], w)
                                            many = wp.max(
                                                many, side_rows(movers, b, second[0], second[1], second[2], u)
                                            )
                                            p = p / real(wp.max(many, 1))
                                    push_side(movers, a, p, place, first[0], first[1], first[2], w)
                                    push_side(movers, b, -p, place, second[0], second[1], second[2], u)
                        else:
                            if rounds[0] > HOLDING:
                                share = real(0.0)
                            changed = cut(m, i, share, ma)
                            changed = cut(m, j, share, mb) or changed
                            changed = cut(m, k, share, mc) or changed
                            if l != k:
                                changed = cut(m, l, share, md) or changed
                            if changed and rounds[0] < LAST:
                                again[0] = 1
                        if rounds[0] < patience:
                            again[0] = 1
                        jammed[0] = 1

    @n.kernel(variant)
    def end_round(m: Moves, soft: int):
        """The cuts of a round take effect: of the soft points, then of the rigid bodies."""
        t = wp.tid()
        if t < soft:
            m.scale[at(t)] = m.next_scale[at(t)]
        else:
            m.rigid_scale[t - soft] = m.next_rigid_scale[t - soft]

    @n.kernel(variant)
    def begin_limit(
        m: Moves,
        soft: int,
        bodies: int,
        count: wp.array(dtype=int),
        rounds: wp.array(dtype=int),
        again: wp.array(dtype=int),
        jammed: wp.array(dtype=int),
    ):
        """All of every movement is to be made; without candidates there is nothing else to do."""
        t = wp.tid()
        if t < soft:
            m.scale[at(t)] = real(1.0)
            m.next_scale[at(t)] = real(1.0)
        elif t - soft < m.rigid_scale.shape[0]:
            m.rigid_scale[t - soft] = real(1.0)
            m.next_rigid_scale[t - soft] = real(1.0)
        if t < bodies:
            m.braked[t] = real(0.0)
        if t == 0:
            rounds[0] = 0
            again[0] = wp.min(count[0], 1)
            jammed[0] = 0

    @n.kernel(variant)
    def add_travel(
        bodies: int,
        mean: wp.array(dtype=vec),
        spread: wp.array(dtype=real),
        braked: wp.array(dtype=real),
        wandered: wp.array(dtype=real),
        deformed: wp.array(dtype=real),
        pair_count: wp.array(dtype=int),
        pairs: wp.array(dtype=wp.vec2i),
        travel: wp.array(dtype=real),
        stride: int,
    ):
        """What this substep has used of the lists' margins."""
        lane = wp.tid()
        for c in range(lane, bodies, stride):
            wandered[c] = wandered[c] + wp.length(mean[c]) + spread[c]
            deformed[c] = deformed[c] + spread[c] + braked[c]
        for p in range(lane, wp.min(pair_count[0], pairs.shape[0]), stride):
            ids = pairs[at(p)]
            a = at(ids[0])
            b = at(ids[1])
            travel[at(p)] = travel[at(p)] + approach(mean, spread, a, b) + real(2.0) * (braked[a] + braked[b])

    return SimpleNamespace(
        Moves=Moves,
        begin_limit=begin_limit,
        begin_round=begin_round,
        limit_moves=limit_moves,
        end_round=end_round,
        add_travel=add_travel,
    )
