"""Impulses with restitution and friction between two sides, and penetration removed (B14, B15; Martin 2009, 5.3).

A feature's mass: with weights w of its corners at the contact point, 1/m = Σ w²/m_i, which is the sum of its vertices'
masses, as in the paper, for a contact in its middle. Each corner takes its share, Δv_i = w_i j n / m_i, so impulses are
equal and opposite, and those along the normal have no moment.

All contacts of a substep are solved at once, in a few rounds. So that many contacts at one vertex do not add up to
more than each requires, a vertex (or a rigid body) with k contacts takes part in each with a kth of its mass; what the
contacts give it is then summed, which conserves momentum and adds no energy (Tonge et al. 2012). The sum of a
contact's normal impulses is never negative: nothing is pulled.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.contact import materials
from turgor.contact import movers as moved
from turgor.contact.martin2009 import records
from turgor.kernel.numbers import Numbers, at
from turgor.rigid import impulse

__all__ = ["kernels"]


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """Per round: add_impulses, apply_impulses; then add_pushes, apply_pushes."""
    real, vec, spin_type = n.real, n.vec, n.spin
    table, surface, all_moved = records.kernels(n), materials.kernels(n), moved.kernels(n)
    Contacts, weights_type = table.Contacts, table.weights
    Movers, rigid_velocity = all_moved.Movers, all_moved.rigid_velocity
    pair_friction, pair_restitution = surface.pair_friction, surface.pair_restitution
    rigid_of = impulse.kernels(n)
    cross, turn_by, mobility = rigid_of.cross, rigid_of.turn_by, rigid_of.mobility
    slow = wp.constant(real(materials.BOUNCE))
    zero = wp.constant(real(0.0))

    @wp.struct
    class Sums:
        """Of what contacts do to vertices and rigid bodies; zero before and after."""

        velocity: wp.array(dtype=vec)  # m/s, or m
        rigid_momentum: wp.array(dtype=vec)  # kg m/s, or kg m
        rigid_moment: wp.array(dtype=spin_type)  # kg m²/s, or kg m²

    @wp.func
    def weighted(corners: wp.vec3i, weights: weights_type, values: wp.array(dtype=vec)) -> vec:
        total = vec()
        for k in range(3):
            if weights[k] != zero:
                total += weights[k] * values[at(corners[k])]
        return total

    @wp.func
    def feature_inverse_mass(
        corners: wp.vec3i,
        weights: weights_type,
        inverse_mass: wp.array(dtype=real),
        vertex_contacts: wp.array(dtype=int),
    ) -> real:
        """Inverse mass of a feature, of its share for one contact."""
        total = real(0.0)
        for k in range(3):
            if weights[k] != zero:
                i = at(corners[k])
                total += weights[k] * weights[k] * inverse_mass[i] * real(vertex_contacts[i])
        return total

    # inline: a call would copy the structs
    @wp.func(inline=True)
    def inverse_effective_mass(contacts: Contacts, movers: Movers, c: int, direction: vec) -> real:
        """Relative velocity along a direction that a unit impulse along it gives."""
        total = feature_inverse_mass(
            contacts.first[c], contacts.first_weights[c], movers.soft_inverse_mass, contacts.vertex_contacts
        )
        body = contacts.rigid[c]
        if body < 0:
            return total + feature_inverse_mass(
                contacts.second[c], contacts.second_weights[c], movers.soft_inverse_mass, contacts.vertex_contacts
            )
        arm = contacts.point[c] - movers.rigid_x[body]
        share = real(contacts.rigid_contacts[body])
        return total + share * mobility(
            movers.rigid_inverse_mass[body], movers.rigid_world_inertia[body], arm, direction
        )

    @wp.func
    def add_velocity(
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

    @wp.func(inline=True)
    def exchange(contacts: Contacts, movers: Movers, sums: Sums, c: int, amount: vec):
        """`amount` to the first side, its opposite to the second."""
        add_velocity(contacts.first[c], contacts.first_weights[c], amount, movers.soft_inverse_mass, sums.velocity)
        body = contacts.rigid[c]
        if body < 0:
            add_velocity(
                contacts.second[c], contacts.second_weights[c], -amount, movers.soft_inverse_mass, sums.velocity
            )
        else:
            wp.atomic_add(sums.rigid_momentum, body, -amount)
            wp.atomic_add(sums.rigid_moment, body, -cross(contacts.point[c] - movers.rigid_x[body], amount))

    @n.kernel(__name__)
    def add_impulses(
        contact_lanes: int,
        first_round: int,
        contacts: Contacts,
        movers: Movers,
        sums: Sums,
        soft_index: wp.array(dtype=int),  # of each contact body, or -1
        rigid_index: wp.array(dtype=int),
    ):
        """The impulse that each contact still requires, added to the sums."""
        for c in range(wp.tid(), wp.min(contacts.count[0], contacts.first.shape[0]), contact_lanes):
            normal = contacts.normal[c]
            relative = weighted(contacts.first[c], contacts.first_weights[c], movers.v)
            body = contacts.rigid[c]
            if body < 0:
                relative -= weighted(contacts.second[c], contacts.second_weights[c], movers.v)
            else:
                relative -= rigid_velocity(movers, body, contacts.point[c])
            speed = wp.dot(relative, normal)
            one = soft_index[contacts.bodies[c][0]]
            other = soft_index[contacts.bodies[c][1]]
            friction = movers.soft_friction[one]
            restitution = movers.soft_restitution[one]
            if other >= 0:
                friction = pair_friction(friction, movers.soft_friction[other])
                restitution = pair_restitution(restitution, movers.soft_restitution[other])
            else:
                other = rigid_index[contacts.bodies[c][1]]
                friction = pair_friction(friction, movers.rigid_friction[other])
                restitution = pair_restitution(restitution, movers.rigid_restitution[other])
            if first_round == 1 and speed < -slow:
                contacts.bounce_speed[c] = -restitution * speed
            inverse_mass = inverse_effective_mass(contacts, movers, c, normal)
            if inverse_mass > zero:
                before = contacts.impulse[c]
                after = wp.max(before + (contacts.bounce_speed[c] - speed) / inverse_mass, zero)
                contacts.impulse[c] = after
                amount = (after - before) * normal
                # friction: at most mu times the normal impulse, and never more than stops the sliding
                along = relative - speed * normal
                sliding = wp.length(along)
                most = friction * after - contacts.friction_impulse[c]
                if sliding > zero and most > zero:
                    direction = along / sliding
                    rub = wp.min(sliding / inverse_effective_mass(contacts, movers, c, direction), most)
                    contacts.friction_impulse[c] = contacts.friction_impulse[c] + rub
                    amount -= rub * direction
                exchange(contacts, movers, sums, c, amount)

    @wp.func(inline=True)
    def change_vertex(i: int, dt: real, contacts: Contacts, movers: Movers, sums: Sums):
        if contacts.vertex_contacts[i] > 0:
            movers.v[i] = movers.v[i] + sums.velocity[i]
            movers.move[i] = movers.move[i] + dt * sums.velocity[i]
            sums.velocity[i] = vec()

    @wp.func(inline=True)
    def change_rigid(i: int, contacts: Contacts, movers: Movers, sums: Sums):
        if contacts.rigid_contacts[i] > 0:
            if movers.rigid_inverse_mass[i] > zero:
                movers.rigid_v[i] = movers.rigid_v[i] + movers.rigid_inverse_mass[i] * sums.rigid_momentum[i]
                movers.rigid_angular[i] = movers.rigid_angular[i] + sums.rigid_moment[i]
                movers.rigid_spin[i] = turn_by(movers.rigid_world_inertia[i], movers.rigid_angular[i])
            elif movers.rigid_driven_impulse.shape[0] > 0:
                movers.rigid_driven_impulse[i] = movers.rigid_driven_impulse[i] + sums.rigid_momentum[i]
                movers.rigid_driven_moment[i] = movers.rigid_driven_moment[i] + sums.rigid_moment[i]
            sums.rigid_momentum[i] = vec()
            sums.rigid_moment[i] = cross(vec(), vec())

    @n.kernel(__name__)
    def apply_impulses(dt: wp.array(dtype=real), contacts: Contacts, movers: Movers, sums: Sums):
        """Velocities take the sums, and so do the planned movements; thread i has vertex i and rigid body i."""
        i = wp.tid()
        if i < sums.velocity.shape[0]:
            change_vertex(at(i), dt[0], contacts, movers, sums)
        if i < sums.rigid_momentum.shape[0]:
            change_rigid(at(i), contacts, movers, sums)

    @n.kernel(__name__)
    def add_pushes(contact_lanes: int, dt: wp.array(dtype=real), contacts: Contacts, movers: Movers, sums: Sums):
        """Displacements that leave the skins' thickness between a vertex and a face at the end of the substep."""
        for c in range(wp.tid(), wp.min(contacts.count[0], contacts.first.shape[0]), contact_lanes):
            if contacts.separate[c] == 1:
                normal = contacts.normal[c]
                relative = weighted(contacts.first[c], contacts.first_weights[c], movers.move)
                body = contacts.rigid[c]
                if body < 0:
                    relative -= weighted(contacts.second[c], contacts.second_weights[c], movers.move)
                else:
                    relative -= dt[0] * rigid_velocity(movers, body, contacts.point[c])
                missing = contacts.thickness[c] - contacts.gap[c] - wp.dot(relative, normal)
                inverse_mass = inverse_effective_mass(contacts, movers, c, normal)
                if missing > zero and inverse_mass > zero:
                    exchange(contacts, movers, sums, c, (missing / inverse_mass) * normal)

    @wp.func(inline=True)
    def push_vertex(i: int, contacts: Contacts, movers: Movers, sums: Sums):
        if contacts.vertex_contacts[i] > 0:
            movers.move[i] = movers.move[i] + sums.velocity[i]
            sums.velocity[i] = vec()
            contacts.vertex_contacts[i] = 0

    @wp.func(inline=True)
    def push_rigid(i: int, contacts: Contacts, movers: Movers, sums: Sums):
        if contacts.rigid_contacts[i] > 0:
            if movers.rigid_inverse_mass[i] > zero:
                movers.rigid_push_move[i] = (
                    movers.rigid_push_move[i] + movers.rigid_inverse_mass[i] * sums.rigid_momentum[i]
                )
                movers.rigid_push_turn[i] = movers.rigid_push_turn[i] + turn_by(
                    movers.rigid_world_inertia[i], sums.rigid_moment[i]
                )
            sums.rigid_momentum[i] = vec()
            sums.rigid_moment[i] = cross(vec(), vec())
            contacts.rigid_contacts[i] = 0

    @n.kernel(__name__)
    def apply_pushes(contacts: Contacts, movers: Movers, sums: Sums):
        """Movements take the sums; velocities do not change. Everything is ready for the next substep."""
        i = wp.tid()
        if i < sums.velocity.shape[0]:
            push_vertex(at(i), contacts, movers, sums)
        if i < sums.rigid_momentum.shape[0]:
            push_rigid(at(i), contacts, movers, sums)

    return SimpleNamespace(
        Sums=Sums,
        add_impulses=add_impulses,
        apply_impulses=apply_impulses,
        add_pushes=add_pushes,
        apply_pushes=apply_pushes,
    )
