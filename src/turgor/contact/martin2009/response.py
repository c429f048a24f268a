"""Impulses with restitution and friction between two sides, and penetration removed (B14, B15; Martin 2009, 5.3).

A feature's mass: with weights w of its corners at the contact point, 1/m = Σ w²/m_i, which is the sum of its vertices'
masses, as in the paper, for a contact in its middle. Each corner takes its share, Δv_i = w_i j n / m_i, so impulses are
equal and opposite, and those along the normal have no moment.

All contacts of a substep are solved at once, in a few rounds. So that many contacts at one vertex do not add up to
more than each asked for, a vertex (or a rigid body) with k contacts takes part in each with a kth of its mass; what the
contacts give it is then added up, which keeps momentum exact and can add no energy (Tonge et al. 2012). The sum of a
contact's normal impulses is never negative: nothing is pulled.
"""

import functools
from types import SimpleNamespace

import warp as wp

from turgor.contact.martin2009 import records
from turgor.kernel.numbers import Numbers, at
from turgor.rigid import impulse

__all__ = ["SLOW", "kernels"]

SLOW = 0.1  # m/s: slower impacts do not bounce
NO_FRICTION_GIVEN = 0.5


@functools.cache
def kernels(n: Numbers) -> SimpleNamespace:
    """Per round: add_impulses, apply_impulses; then add_pushes, apply_pushes."""
    real, vec, spin_type = n.real, n.vec, n.spin
    rows_of = records.kernels(n)
    Rows, weights_type = rows_of.Rows, rows_of.weights
    rigid_of = impulse.kernels(n)
    inertia, cross, swing = rigid_of.inertia, rigid_of.cross, rigid_of.swing
    turn_by, mobility = rigid_of.turn_by, rigid_of.mobility
    slow = wp.constant(real(SLOW))
    default_friction = wp.constant(real(NO_FRICTION_GIVEN))
    zero = wp.constant(real(0.0))

    @wp.struct
    class Movers:
        """All that contacts move, and sums of what they do to it, zero before and after."""

        v: wp.array(dtype=vec)  # soft vertices
        move: wp.array(dtype=vec)
        inverse_mass: wp.array(dtype=real)
        change: wp.array(dtype=vec)  # sum, m/s or m
        rigid_x: wp.array(dtype=vec)
        rigid_v: wp.array(dtype=vec)
        angular: wp.array(dtype=spin_type)
        spin: wp.array(dtype=spin_type)
        rigid_inverse_mass: wp.array(dtype=real)
        world_inertia: wp.array(dtype=inertia)  # inverse
        push_move: wp.array(dtype=vec)
        push_turn: wp.array(dtype=spin_type)
        momentum: wp.array(dtype=vec)  # sum, kg m/s or kg m
        moment: wp.array(dtype=spin_type)  # sum, kg m²/s or kg m²

    @wp.func
    def shared_friction(a: real, b: real) -> real:
        """Geometric mean; a body without one (< 0) takes the other's."""
        if a < zero and b < zero:
            return default_friction
        if a < zero:
            return b
        if b < zero:
            return a
        return wp.sqrt(a * b)

    @wp.func
    def shared_restitution(a: real, b: real) -> real:
        """The bouncier of the two."""
        return wp.max(wp.max(a, b), zero)

    @wp.func
    def weighted(corners: wp.vec3i, weights: weights_type, values: wp.array(dtype=vec)) -> vec:
        total = vec()
        for k in range(3):
            if weights[k] != zero:
                total += weights[k] * values[at(corners[k])]
        return total

    @wp.func
    def softness(
        corners: wp.vec3i, weights: weights_type, inverse_mass: wp.array(dtype=real), vertex_rows: wp.array(dtype=int)
    ) -> real:
        """Inverse mass of a feature, of its share for one contact."""
        total = real(0.0)
        for k in range(3):
            if weights[k] != zero:
                i = at(corners[k])
                total += weights[k] * weights[k] * inverse_mass[i] * real(vertex_rows[i])
        return total

    @wp.func
    def yielding(rows: Rows, movers: Movers, c: int, direction: vec) -> real:
        """Relative velocity along a direction that a unit impulse along it gives."""
        total = softness(rows.first[c], rows.first_weights[c], movers.inverse_mass, rows.vertex_rows)
        body = rows.rigid[c]
        if body < 0:
            return total + softness(rows.second[c], rows.second_weights[c], movers.inverse_mass, rows.vertex_rows)
        arm = rows.point[c] - movers.rigid_x[body]
        share = real(rows.rigid_rows[body])
        return total + share * mobility(movers.rigid_inverse_mass[body], movers.world_inertia[body], arm, direction)

    @wp.func
    def give(
        corners: wp.vec3i,
        weights: weights_type,
        amount: vec,
        inverse_mass: wp.array(dtype=real),
        change: wp.array(dtype=vec),
    ):
        for k in range(3):
            if weights[k] != zero:
                i = at(corners[k])
                wp.atomic_add(change, i, (weights[k] * inverse_mass[i]) * amount)

    @wp.func
    def exchange(rows: Rows, movers: Movers, c: int, amount: vec):
        """`amount` to the first side, its opposite to the second."""
        give(rows.first[c], rows.first_weights[c], amount, movers.inverse_mass, movers.change)
        body = rows.rigid[c]
        if body < 0:
            give(rows.second[c], rows.second_weights[c], -amount, movers.inverse_mass, movers.change)
        else:
            wp.atomic_add(movers.momentum, body, -amount)
            wp.atomic_add(movers.moment, body, -cross(rows.point[c] - movers.rigid_x[body], amount))

    @wp.func
    def rigid_velocity(movers: Movers, body: int, point: vec) -> vec:
        return movers.rigid_v[body] + swing(movers.spin[body], point - movers.rigid_x[body])

    @n.kernel(__name__)
    def add_impulses(
        lanes: int,
        first_round: int,
        rows: Rows,
        movers: Movers,
        soft_index: wp.array(dtype=int),  # of each contact body, or -1
        rigid_index: wp.array(dtype=int),
        soft_friction: wp.array(dtype=real),  # < 0: none of its own
        rigid_friction: wp.array(dtype=real),
        soft_restitution: wp.array(dtype=real),
        rigid_restitution: wp.array(dtype=real),
    ):
        """What each contact still asks for, as sums."""
        for c in range(wp.tid(), wp.min(rows.count[0], rows.first.shape[0]), lanes):
            normal = rows.normal[c]
            relative = weighted(rows.first[c], rows.first_weights[c], movers.v)
            body = rows.rigid[c]
            if body < 0:
                relative -= weighted(rows.second[c], rows.second_weights[c], movers.v)
            else:
                relative -= rigid_velocity(movers, body, rows.point[c])
            speed = wp.dot(relative, normal)
            one = soft_index[rows.bodies[c][0]]
            other = soft_index[rows.bodies[c][1]]
            friction = soft_friction[one]
            restitution = soft_restitution[one]
            if other >= 0:
                friction = shared_friction(friction, soft_friction[other])
                restitution = shared_restitution(restitution, soft_restitution[other])
            else:
                other = rigid_index[rows.bodies[c][1]]
                friction = shared_friction(friction, rigid_friction[other])
                restitution = shared_restitution(restitution, rigid_restitution[other])
            if first_round == 1 and speed < -slow:
                rows.bounce[c] = -restitution * speed
            normal_yielding = yielding(rows, movers, c, normal)
            if normal_yielding > zero:
                before = rows.impulse[c]
                after = wp.max(before + (rows.bounce[c] - speed) / normal_yielding, zero)
                rows.impulse[c] = after
                amount = (after - before) * normal
                # friction: at most mu times the normal impulse, and never more than stops the sliding
                along = relative - speed * normal
                sliding = wp.length(along)
                most = friction * after - rows.rubbed[c]
                if sliding > zero and most > zero:
                    direction = along / sliding
                    rub = wp.min(sliding / yielding(rows, movers, c, direction), most)
                    rows.rubbed[c] = rows.rubbed[c] + rub
                    amount -= rub * direction
                exchange(rows, movers, c, amount)

    @wp.func
    def change_vertex(i: int, dt: real, rows: Rows, movers: Movers):
        if rows.vertex_rows[i] > 0:
            movers.v[i] = movers.v[i] + movers.change[i]
            movers.move[i] = movers.move[i] + dt * movers.change[i]
            movers.change[i] = vec()

    @wp.func
    def change_rigid(i: int, rows: Rows, movers: Movers):
        if rows.rigid_rows[i] > 0:
            if movers.rigid_inverse_mass[i] > zero:
                movers.rigid_v[i] = movers.rigid_v[i] + movers.rigid_inverse_mass[i] * movers.momentum[i]
                movers.angular[i] = movers.angular[i] + movers.moment[i]
                movers.spin[i] = turn_by(movers.world_inertia[i], movers.angular[i])
            movers.momentum[i] = vec()
            movers.moment[i] = cross(vec(), vec())

    @n.kernel(__name__)
    def apply_impulses(dt: wp.array(dtype=real), rows: Rows, movers: Movers):
        """Velocities take the sums, and so do the planned movements; thread i has vertex i and rigid body i."""
        i = wp.tid()
        if i < movers.change.shape[0]:
            change_vertex(at(i), dt[0], rows, movers)
        if i < movers.momentum.shape[0]:
            change_rigid(at(i), rows, movers)

    @n.kernel(__name__)
    def add_pushes(lanes: int, dt: wp.array(dtype=real), rows: Rows, movers: Movers):
        """Displacements that leave the skins' thickness between a vertex and a face at the end of the substep."""
        for c in range(wp.tid(), wp.min(rows.count[0], rows.first.shape[0]), lanes):
            if rows.pushed[c] == 1:
                normal = rows.normal[c]
                relative = weighted(rows.first[c], rows.first_weights[c], movers.move)
                body = rows.rigid[c]
                if body < 0:
                    relative -= weighted(rows.second[c], rows.second_weights[c], movers.move)
                else:
                    relative -= dt[0] * rigid_velocity(movers, body, rows.point[c])
                missing = rows.thickness[c] - rows.gap[c] - wp.dot(relative, normal)
                normal_yielding = yielding(rows, movers, c, normal)
                if missing > zero and normal_yielding > zero:
                    exchange(rows, movers, c, (missing / normal_yielding) * normal)

    @wp.func
    def push_vertex(i: int, rows: Rows, movers: Movers):
        if rows.vertex_rows[i] > 0:
            movers.move[i] = movers.move[i] + movers.change[i]
            movers.change[i] = vec()
            rows.vertex_rows[i] = 0

    @wp.func
    def push_rigid(i: int, rows: Rows, movers: Movers):
        if rows.rigid_rows[i] > 0:
            if movers.rigid_inverse_mass[i] > zero:
                movers.push_move[i] = movers.push_move[i] + movers.rigid_inverse_mass[i] * movers.momentum[i]
                movers.push_turn[i] = movers.push_turn[i] + turn_by(movers.world_inertia[i], movers.moment[i])
            movers.momentum[i] = vec()
            movers.moment[i] = cross(vec(), vec())
            rows.rigid_rows[i] = 0

    @n.kernel(__name__)
    def apply_pushes(rows: Rows, movers: Movers):
        """Movements take the sums; velocities do not change. Everything is ready for the next substep."""
        i = wp.tid()
        if i < movers.change.shape[0]:
            push_vertex(at(i), rows, movers)
        if i < movers.momentum.shape[0]:
            push_rigid(at(i), rows, movers)

    return SimpleNamespace(
        Movers=Movers,
        add_impulses=add_impulses,
        apply_impulses=apply_impulses,
        add_pushes=add_pushes,
        apply_pushes=apply_pushes,
    )
