"""Impulses at the contacts: no approach beyond what the gap allows, Coulomb friction, nothing pulled together (B14).

A round visits every contact and adds to its accumulated impulse what is still missing; the sum, not the addition, may
not pull. One after another on the CPU (Gauss-Seidel); on a GPU all at once, each divided by the number of contacts at
its points (Jacobi). Penetration of the skins is removed by displacement, which is no velocity and adds no energy.
"""

import functools
from types import SimpleNamespace

import warp as wp

from turgor.contact.features.solve import constraints as contact_rows
from turgor.contact.features.solve import sides
from turgor.kernel.numbers import Numbers, at

__all__ = ["kernels"]

DEEP = 0.2  # share of the skins below which the gap is given back
REMOVAL = 0.02  # s: time in which a missing gap is given back, whatever the substep


@functools.cache
def kernels(n: Numbers, parallel: bool) -> SimpleNamespace:
    """warm_rows, rounds of solve_rows (and collect, if parallel), keep_rows, carry, push_rows (and collect_push)."""
    real, vec, spin_type, dim = n.real, n.vec, n.spin, n.dim
    variant = f"{__name__}{'_parallel' if parallel else ''}"
    side, found = sides.kernels(n, parallel), contact_rows.kernels(n, parallel)
    Movers, Rows = side.Movers, found.Rows
    side_mobility, push_side, side_rows = side.side_mobility, side.push_side, side.side_rows
    cross, swing, turn_by, give = side.cross, side.swing, side.turn_by, side.give
    spins, yielding, turns = side.spins, side.yielding, side.turns
    deep = wp.constant(real(DEEP))

    @wp.func
    def swept(m: Movers, ids: wp.vec3i, w: vec, centre: vec) -> spin_type:
        """Angular momentum of the points of a side about a centre."""
        total = spin_type(real(0.0))
        for k in range(dim):
            if w[k] != real(0.0):
                i = at(ids[k])
                total += cross(m.points[i] - centre, m.v[i] / m.inverse_mass[i])
        return total

    @wp.func
    def turn_side(m: Movers, ids: wp.vec3i, w: vec, centre: vec, spin: spin_type):
        """Turn the points of a side about a centre."""
        for k in range(dim):
            if w[k] != real(0.0):
                give(m, ids[k], swing(spin, m.points[at(ids[k])] - centre))

    @n.kernel(variant)
    def warm_rows(m: Movers, rows: Rows, stride: int):
        """Begin with the forces of the substep before: what lies on something is then nearly solved already."""
        for r in range(wp.tid(), wp.min(rows.count[0], rows.pair.shape[0]), stride):
            row = at(r)
            old = rows.impulse[row]
            if old > real(0.0):
                first = rows.first[row]
                second = rows.second[row]
                rigid = rows.rigid[row]
                place = rows.place[row]
                p = old * rows.normal[row]
                push_side(m, rigid[0], p, place, first[0], first[1], first[2], rows.first_weight[row])
                push_side(m, rigid[1], -p, place, second[0], second[1], second[2], rows.second_weight[row])

    @n.kernel(variant)
    def keep_rows(rows: Rows, dt: wp.array(dtype=real), pressing: wp.array(dtype=real), stride: int):
        """Keep the forces for the next substep; those of a bounce do not last."""
        for r in range(wp.tid(), wp.min(rows.count[0], rows.pair.shape[0]), stride):
            if rows.least[at(r)] <= real(0.0):
                pressing[at(rows.candidate[at(r)])] = rows.impulse[at(r)] / dt[0]

    @n.kernel(variant)
    def solve_rows(m: Movers, rows: Rows, stride: int):
        """One round over all contacts."""
        for r in range(wp.tid(), wp.min(rows.count[0], rows.pair.shape[0]), stride):
            row = at(r)
            first = rows.first[row]
            second = rows.second[row]
            w = rows.first_weight[row]
            u = rows.second_weight[row]
            rigid = rows.rigid[row]
            place = rows.place[row]
            normal = rows.normal[row]
            relative = vec()  # written out, here and below: a call would copy the struct
            if rigid[0] >= 0:
                b = at(rigid[0])
                relative += m.rigid_v[b] + swing(m.spin[b], place - m.x[b])
            else:
                for k in range(dim):
                    relative += w[k] * m.v[at(first[k])]
            if rigid[1] >= 0:
                b = at(rigid[1])
                relative -= m.rigid_v[b] + swing(m.spin[b], place - m.x[b])
            else:
                for k in range(dim):
                    relative -= u[k] * m.v[at(second[k])]
            speed = wp.dot(relative, normal)
            before = rows.impulse[row]
            if before > real(0.0) or speed < rows.least[row]:
                effective = rows.mass[row]
                if wp.static(parallel):
                    most = side_rows(m, rigid[0], first[0], first[1], first[2], w)
                    most = wp.max(most, side_rows(m, rigid[1], second[0], second[1], second[2], u))
                    effective /= real(most)
                after = wp.max(before + effective * (rows.least[row] - speed), real(0.0))
                rows.impulse[row] = after
                p = (after - before) * normal
                # friction: what the velocity across the normal still needs, within the cone of the normal impulse
                mu = rows.friction[row]
                rub = rows.rub[row]
                if mu > real(0.0):
                    turning = rows.turning[row]
                    lever = rows.gap[row] * normal
                    slip = relative - speed * normal
                    yields = effective
                    soft = rigid[0] < 0 and rigid[1] < 0
                    free = turns(turning)  # none of the points is held
                    if free:
                        centre = rows.centre[row]
                        turned = turn_by(turning, swept(m, first, w, centre) + swept(m, second, u, centre))
                        slip -= swing(turned, lever)
                    if not soft:
                        along = wp.normalize(slip)
                        easy = side_mobility(m, rigid[0], place, -along, first[0], first[1], first[2], w)
                        easy += side_mobility(m, rigid[1], place, along, second[0], second[1], second[2], u)
                        if easy > real(0.0):  # else there is no slip
                            yields = effective / (rows.mass[row] * easy)
                    wanted = rub - yields * slip
                    wanted -= wp.dot(wanted, normal) * normal
                    size = wp.length(wanted)
                    limit = mu * after
                    if size > limit:
                        wanted *= limit / size
                    change = wanted - rub
                    rows.rub[row] = wanted
                    p += change
                    if free:
                        back = -turn_by(turning, cross(lever, change))
                        turn_side(m, first, w, centre, back)
                        turn_side(m, second, u, centre, back)
                if wp.static(parallel):
                    push_side(m, rigid[0], p, place, first[0], first[1], first[2], w)
                    push_side(m, rigid[1], -p, place, second[0], second[1], second[2], u)
                else:
                    if rigid[0] >= 0:
                        push_side(m, rigid[0], p, place, first[0], first[1], first[2], w)
                    else:
                        for k in range(dim):
                            if w[k] != real(0.0):
                                i = at(first[k])
                                into = wp.min(wp.dot(p, m.pressed[i]), real(0.0))
                                m.v[i] = m.v[i] + (w[k] * m.inverse_mass[i]) * (p - into * m.pressed[i])
                    if rigid[1] >= 0:
                        push_side(m, rigid[1], -p, place, second[0], second[1], second[2], u)
                    else:
                        for k in range(dim):
                            if u[k] != real(0.0):
                                i = at(second[k])
                                into = wp.max(wp.dot(p, m.pressed[i]), real(0.0))
                                m.v[i] = m.v[i] - (u[k] * m.inverse_mass[i]) * (p - into * m.pressed[i])

    @wp.func
    def summed(m: Movers, base: int) -> vec:
        """A vector of the sums, which are zero then."""
        total = vec()
        for axis in range(dim):
            total[axis] = real(wp.float64(m.sums[base + axis]) * wp.static(wp.float64(1.0 / sides.UNITS)))
            m.sums[base + axis] = wp.int64(0)
        return total

    if dim == 2:

        @wp.func
        def summed_moment(m: Movers, base: int) -> spin_type:
            total = real(wp.float64(m.sums[base]) * wp.static(wp.float64(1.0 / sides.UNITS)))
            m.sums[base] = wp.int64(0)
            return total

    else:

        @wp.func
        def summed_moment(m: Movers, base: int) -> spin_type:
            return summed(m, base)

    @n.kernel(variant)
    def collect(m: Movers, soft: int):
        """Apply the sums of a parallel round: to the soft points, then to the rigid bodies."""
        t = wp.tid()
        if t < soft:
            m.v[t] = m.v[t] + summed(m, t * dim)
        else:
            r = t - soft
            base = soft * dim + r * wp.static(dim + spins)
            m.rigid_v[r] = m.rigid_v[r] + m.rigid_mass[r] * summed(m, base)
            moment = summed_moment(m, base + dim)
            m.angular[r] = m.angular[r] + moment
            m.spin[r] = m.spin[r] + turn_by(m.world_inertia[r], moment)

    @n.kernel(variant)
    def carry(
        dt: wp.array(dtype=real),
        v: wp.array(dtype=vec),
        v_free: wp.array(dtype=vec),
        inverse_mass: wp.array(dtype=real),
        move: wp.array(dtype=vec),
    ):
        """The displacement follows what contact did to the velocity."""
        i = at(wp.tid())
        if inverse_mass[i] > real(0.0):
            move[i] = move[i] + dt[0] * (v[i] - v_free[i])

    @wp.func
    def shifted(move: wp.array(dtype=vec), ids: wp.vec3i, w: vec) -> vec:
        """Displacement of a soft side in this substep."""
        total = vec()
        for k in range(dim):
            if w[k] != real(0.0):
                total += w[k] * move[at(ids[k])]
        return total

    @wp.func
    def shift_side(
        m: Movers, move: wp.array(dtype=vec), push_move: wp.array(dtype=vec), push_turn: wp.array(dtype=spin_type),
        rigid: int, p: vec, place: vec, ids: wp.vec3i, w: vec,
    ):  # fmt: skip
        """Displace a side as an impulse would change its velocity."""
        if rigid < 0:
            for k in range(dim):
                if w[k] != real(0.0):
                    move[at(ids[k])] = move[at(ids[k])] + w[k] * yielding(m, ids[k], p)
        elif m.rigid_mass[rigid] > real(0.0):
            push_move[rigid] = push_move[rigid] + m.rigid_mass[rigid] * p
            turn = turn_by(m.world_inertia[rigid], cross(place - m.x[rigid], p))
            push_turn[rigid] = push_turn[rigid] + turn

    @n.kernel(variant)
    def push_rows(
        m: Movers,
        rows: Rows,
        move: wp.array(dtype=vec),
        push_move: wp.array(dtype=vec),
        push_turn: wp.array(dtype=spin_type),
        dt: wp.array(dtype=real),
        stride: int,
    ):
        """Displacements that give some of the skins back where nearly all is used up."""
        for r in range(wp.tid(), wp.min(rows.count[0], rows.pair.shape[0]), stride):
            row = at(r)
            missing = deep * rows.thickness[row] - rows.gap[row]
            if missing > real(0.0):
                first = rows.first[row]
                second = rows.second[row]
                w = rows.first_weight[row]
                u = rows.second_weight[row]
                rigid = rows.rigid[row]
                place = rows.place[row]
                normal = rows.normal[row]
                coming = vec()
                if rigid[0] < 0:
                    coming += shifted(move, first, w)
                else:
                    turn = dt[0] * m.spin[rigid[0]] + push_turn[rigid[0]]
                    coming += dt[0] * m.rigid_v[rigid[0]] + push_move[rigid[0]] + swing(turn, place - m.x[rigid[0]])
                if rigid[1] < 0:
                    coming -= shifted(move, second, u)
                else:
                    turn = dt[0] * m.spin[rigid[1]] + push_turn[rigid[1]]
                    coming -= dt[0] * m.rigid_v[rigid[1]] + push_move[rigid[1]] + swing(turn, place - m.x[rigid[1]])
                wanted = wp.min(dt[0] / real(REMOVAL), real(0.2)) * missing - wp.dot(coming, normal)
                if wanted > real(0.0):
                    effective = rows.mass[row]
                    if wp.static(parallel):
                        most = side_rows(m, rigid[0], first[0], first[1], first[2], w)
                        most = wp.max(most, side_rows(m, rigid[1], second[0], second[1], second[2], u))
                        effective /= real(most)
                    p = (effective * wanted) * normal
                    if wp.static(parallel):  # summed like impulses, and applied by collect_push
                        push_side(m, rigid[0], p, place, first[0], first[1], first[2], w)
                        push_side(m, rigid[1], -p, place, second[0], second[1], second[2], u)
                    else:
                        shift_side(m, move, push_move, push_turn, rigid[0], p, place, first, w)
                        shift_side(m, move, push_move, push_turn, rigid[1], -p, place, second, u)

    @n.kernel(variant)
    def collect_push(
        m: Movers,
        soft: int,
        move: wp.array(dtype=vec),
        push_move: wp.array(dtype=vec),
        push_turn: wp.array(dtype=spin_type),
    ):
        """Apply the displacements of a parallel round: to the soft points, then to the rigid bodies."""
        t = wp.tid()
        if t < soft:
            move[t] = move[t] + summed(m, t * dim)
        else:
            r = t - soft
            base = soft * dim + r * wp.static(dim + spins)
            push_move[r] = push_move[r] + m.rigid_mass[r] * summed(m, base)
            push_turn[r] = push_turn[r] + turn_by(m.world_inertia[r], summed_moment(m, base + dim))

    return SimpleNamespace(
        warm_rows=warm_rows,
        keep_rows=keep_rows,
        solve_rows=solve_rows,
        collect=collect,
        carry=carry,
        push_rows=push_rows,
        collect_push=collect_push,
    )
