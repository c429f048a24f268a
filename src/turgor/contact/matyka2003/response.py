"""Points that are inside a bounding object: cut the movement, push out, split the velocity and scale each part (C4).

The paper has no reaction. Here the opposite impulse goes to the other body: to a rigid one at the contact point,
to all points of a soft one in proportion to their masses, so that all get the same velocity. Momentum is conserved;
angular momentum of soft bodies only where the impulse points to the centre of mass, which it does for balls.

All contacts of a pass act at once. So that together they do not add energy, each gets a share of the bodies that
take part in several (mass splitting): each part collides for itself, and the parts of a body are joined afterwards,
which can only lose energy. A single contact gets the whole bodies, and is exact. Bodies that are hit and hit others in
one pass are halved; two passes, one per order of the pair, keep this to chains of three.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.contact import materials, pair_sums
from turgor.contact import movers as moved
from turgor.contact.materials import BOUNCE
from turgor.contact.matyka2003 import bounds
from turgor.contact.matyka2003 import objects as bounding_shapes
from turgor.kernel.numbers import Numbers, at
from turgor.rigid import impulse, motion

__all__ = ["PUSH_RATE", "kernels"]

PUSH_RATE = 1.0  # 1/s: overlap is removed by at most this share of the object's smallest half axis per second
DEEP = 0.25  # of the smallest half axis: deeper points leave with their body, along the direction of its centre


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """In the order of a pass: begin_pass, find_contacts, solve, apply; then spread, once."""
    real, vec = n.real, n.vec
    shapes, measured = bounding_shapes.kernels(n), bounds.kernels(n)
    Bodies, Objects, Drift = measured.Bodies, measured.Objects, measured.Drift
    surface, all_moved = materials.kernels(n), moved.kernels(n)
    Movers, rigid_velocity = all_moved.Movers, all_moved.rigid_velocity
    pair_friction, pair_restitution = surface.pair_friction, surface.pair_restitution
    collide, inside, may_be_inside = shapes.collide, shapes.inside, shapes.may_be_inside
    exit_distance, nearest_exit = shapes.exit_distance, shapes.nearest_exit
    turning, push = motion.kernels(n), impulse.kernels(n)
    rotate, rotate_back = turning.rotate, turning.rotate_back
    cross, turn_by, mobility = push.cross, push.turn_by, push.mobility
    Table, add_to_pair = pair_sums.kernels(n).Table, pair_sums.kernels(n).add_to_pair
    bounce_speed = wp.constant(real(BOUNCE))
    push_rate = wp.constant(real(PUSH_RATE))
    deep = wp.constant(real(DEEP))

    @wp.struct
    class Contacts:
        """The contacts of both passes, and what is counted in one pass."""

        count: wp.array(dtype=int)  # (2,): of all, and of the first pass
        capacity: int
        point: wp.array(dtype=int)
        pair: wp.array(dtype=wp.vec2i)  # body of the point, body of the object
        normal: wp.array(dtype=vec)
        depth: wp.array(dtype=real)  # m
        weight: wp.array(dtype=real)  # kg: share of the object's body in proportion to it
        impulse: wp.array(dtype=vec)  # N s, on the point
        shift: wp.array(dtype=vec)  # kg m, on the point: what moves it out
        hits: wp.array(dtype=int)  # contacts of a soft point
        body_hits: wp.array(dtype=int)  # contacts of a body's points
        body_weight: wp.array(dtype=real)  # contacts of its object

    # inline: a call would copy the structs
    @wp.func(inline=True)
    def body_velocity(m: Movers, objects: Objects, body: int, rigid: int, place: vec) -> vec:
        """Mean velocity of a soft body, or velocity of a rigid one at a place."""
        if rigid >= 0:
            return rigid_velocity(m, rigid, place)
        return objects.velocity[body]

    @wp.func(inline=True)
    def point_velocity(m: Movers, drift: Drift, points: wp.array(dtype=vec), body: int, rigid: int, i: int) -> vec:
        if rigid >= 0:
            return rigid_velocity(m, rigid, points[i])
        return m.v[i] + drift.velocity[body]

    @n.kernel(__name__)
    def begin_pass(contacts: Contacts):
        b = wp.tid()
        contacts.body_hits[b] = 0
        contacts.body_weight[b] = real(0.0)
        if b == 0:
            contacts.count[1] = wp.min(contacts.count[0], contacts.capacity)

    @n.kernel(__name__)
    def find_contacts(
        upwards: int,  # 1: pairs whose first body has the smaller number, 0: the others
        lanes: int,
        boxed: int,  # 1: a point is tested against a box first, then against the ellipsoid
        pair: wp.array(dtype=wp.vec2i),
        pair_count: wp.array(dtype=int),
        dt: wp.array(dtype=real),
        points: wp.array(dtype=vec),
        bodies: Bodies,
        objects: Objects,
        drift: Drift,
        movers: Movers,
        contacts: Contacts,
        overflow: wp.array(dtype=int),
    ):
        """Points of a that end inside the object of b, or pass through it."""
        k, lane = wp.tid()
        if k >= pair_count[0]:
            return
        a = at(pair[k][0])
        b = at(pair[k][1])
        if int(a < b) != upwards:
            return
        h = dt[0]
        ra = bodies.rigid_index[a]
        rb = bodies.rigid_index[b]
        shape = bodies.shape[b]
        half = objects.half[b]
        centre = objects.centre[b]
        if rb < 0:
            centre = centre + drift.shift[b]
        # a body whose centre is inside leaves in one direction, instead of being torn to all sides
        centre_inside = False
        out = vec()
        if bodies.closed[a] != 0:
            middle = objects.centre[a] - centre
            if rb >= 0:
                middle = rotate_back(objects.orientation[b], middle)
            if inside(shape, half, middle):
                centre_inside = True
                _, out = nearest_exit(shape, half, middle)
        for p in range(bodies.point_start[a] + lane, bodies.point_end[a], lanes):
            i = at(p)
            place = points[i]
            step = vec()
            inverse = real(0.0)
            if ra >= 0:
                step = h * point_velocity(movers, drift, points, a, ra, i)
                inverse = movers.rigid_inverse_mass[ra]
            else:
                step = movers.move[i] + drift.shift[a]
                inverse = movers.soft_inverse_mass[i]
            relative = step - h * body_velocity(movers, objects, b, rb, place)
            end = place + step - centre
            start = end - relative
            if rb >= 0:
                end = rotate_back(objects.orientation[b], end)
                start = rotate_back(objects.orientation[b], start)
            depth = real(-1.0)
            normal = vec()
            if may_be_inside(boxed, shape, half, end):
                depth, normal = collide(shape, half, start, end)
            if depth >= real(0.0) and (inverse > real(0.0) or objects.inverse_mass[b] > real(0.0)):
                if centre_inside and depth > deep * wp.min(half):
                    depth = exit_distance(shape, half, end, out)
                    normal = out
                if rb >= 0:
                    normal = rotate(objects.orientation[b], normal)
                slot = wp.atomic_add(contacts.count, 0, 1)
                if slot >= contacts.capacity:
                    overflow[0] = 1
                else:
                    weight = real(1.0)
                    if inverse > real(0.0):
                        weight = real(1.0) / inverse
                        if ra >= 0:
                            weight = weight / real(bodies.point_end[a] - bodies.point_start[a])
                    else:
                        weight = real(1.0) / objects.inverse_mass[b]
                    c = at(slot)
                    contacts.point[c] = i
                    contacts.pair[c] = wp.vec2i(a, b)
                    contacts.normal[c] = normal
                    contacts.depth[c] = depth
                    contacts.weight[c] = weight
                    wp.atomic_add(contacts.body_hits, a, 1)
                    wp.atomic_add(contacts.body_weight, b, weight)
                    if ra < 0:
                        wp.atomic_add(contacts.hits, i, 1)

    @wp.func(inline=True)
    def side_mobility(m: Movers, inverse: real, rigid: int, place: vec, direction: vec) -> real:
        if rigid >= 0:
            return mobility(
                m.rigid_inverse_mass[rigid], m.rigid_world_inertia[rigid], place - m.rigid_x[rigid], direction
            )
        return inverse

    @n.kernel(__name__)
    def solve(
        dt: wp.array(dtype=real),
        points: wp.array(dtype=vec),
        bodies: Bodies,
        objects: Objects,
        drift: Drift,
        movers: Movers,
        contacts: Contacts,
    ):
        """The impulse of each contact, and how far it moves the point out; nothing is changed yet."""
        c = wp.tid()
        if c < contacts.count[1] or c >= wp.min(contacts.count[0], contacts.capacity):
            return
        h = dt[0]
        i = at(contacts.point[c])
        a = at(contacts.pair[c][0])
        b = at(contacts.pair[c][1])
        ra = bodies.rigid_index[a]
        rb = bodies.rigid_index[b]
        normal = contacts.normal[c]
        place = points[i]
        share_a = real(1.0)
        inverse_a = real(0.0)
        step = vec()
        friction = real(0.0)
        restitution = real(0.0)
        velocity = point_velocity(movers, drift, points, a, ra, i)
        if ra >= 0:
            share_a = real(1.0) / real(contacts.body_hits[a])
            step = h * velocity
            friction = movers.rigid_friction[ra]
            restitution = movers.rigid_restitution[ra]
        else:
            share_a = real(1.0) / real(contacts.hits[i])
            inverse_a = movers.soft_inverse_mass[i]
            step = movers.move[i] + drift.shift[a]
            friction = movers.soft_friction[bodies.soft_index[a]]
            restitution = movers.soft_restitution[bodies.soft_index[a]]
        share_b = contacts.weight[c] / contacts.body_weight[b]
        if rb >= 0:
            friction = pair_friction(friction, movers.rigid_friction[rb])
            restitution = pair_restitution(restitution, movers.rigid_restitution[rb])
        else:
            friction = pair_friction(friction, movers.soft_friction[bodies.soft_index[b]])
            restitution = pair_restitution(restitution, movers.soft_restitution[bodies.soft_index[b]])
        if contacts.body_weight[a] > real(0.0):
            share_a = real(0.5) * share_a
        if contacts.body_hits[b] > 0:
            share_b = real(0.5) * share_b
        other = body_velocity(movers, objects, b, rb, place)
        relative = velocity - other
        normal_inverse_mass = side_mobility(movers, inverse_a, ra, place, normal) / share_a
        normal_inverse_mass += side_mobility(movers, objects.inverse_mass[b], rb, place, normal) / share_b
        approach = wp.dot(relative, normal)
        size = real(0.0)
        rub = vec()
        if approach < real(0.0):
            # the normal part is reflected (the paper says the tangent part) and scaled by the restitution
            if approach > -bounce_speed:
                restitution = real(0.0)
            size = -(real(1.0) + restitution) * approach / normal_inverse_mass
            # the tangent part is scaled by what Coulomb's friction leaves of it
            slide = relative - approach * normal
            speed = wp.length(slide)
            if speed > real(0.0):
                slide = slide / speed
                slide_inverse_mass = side_mobility(movers, inverse_a, ra, place, slide) / share_a
                slide_inverse_mass += side_mobility(movers, objects.inverse_mass[b], rb, place, slide) / share_b
                rub = -wp.min(friction * size, speed / slide_inverse_mass) * slide
        # what this substep would add to the overlap is cut; what is there already is removed slowly
        gain = wp.max(-wp.dot(step - h * other, normal), real(0.0))
        out = wp.min(contacts.depth[c], gain + h * push_rate * wp.min(objects.half[b]))
        contacts.impulse[c] = size * normal + rub
        contacts.shift[c] = (out / normal_inverse_mass) * normal + h * rub

    @wp.func(inline=True)
    def push_rigid(m: Movers, rigid: int, place: vec, impulse: vec, shift: vec, normal: vec, h: real):
        """A new velocity moves a rigid body in this substep already; only the rest is pushed."""
        inverse = m.rigid_inverse_mass[rigid]
        if inverse > real(0.0):
            arm = place - m.rigid_x[rigid]
            moment = cross(arm, impulse)
            wp.atomic_add(m.rigid_v, rigid, inverse * impulse)
            wp.atomic_add(m.rigid_angular, rigid, moment)
            wp.atomic_add(m.rigid_spin, rigid, turn_by(m.rigid_world_inertia[rigid], moment))
            rest = wp.dot(shift - h * impulse, normal)
            if rest > real(0.0):
                wp.atomic_add(m.rigid_push_move, rigid, (inverse * rest) * normal)
                wp.atomic_add(
                    m.rigid_push_turn, rigid, turn_by(m.rigid_world_inertia[rigid], cross(arm, rest * normal))
                )
        elif m.rigid_driven_impulse.shape[0] > 0:
            wp.atomic_add(m.rigid_driven_impulse, rigid, impulse)
            wp.atomic_add(m.rigid_driven_moment, rigid, cross(place - m.rigid_x[rigid], impulse))

    @n.kernel(__name__)
    def apply(
        dt: wp.array(dtype=real),
        points: wp.array(dtype=vec),
        bodies: Bodies,
        objects: Objects,
        drift: Drift,
        movers: Movers,
        contacts: Contacts,
    ):
        """Impulse and displacement, equal and opposite on both bodies."""
        c = wp.tid()
        if c < contacts.count[1] or c >= wp.min(contacts.count[0], contacts.capacity):
            return
        i = at(contacts.point[c])
        a = at(contacts.pair[c][0])
        b = at(contacts.pair[c][1])
        impulse = contacts.impulse[c]
        shift = contacts.shift[c]
        normal = contacts.normal[c]
        if bodies.rigid_index[a] >= 0:
            push_rigid(movers, bodies.rigid_index[a], points[i], impulse, shift, normal, dt[0])
        else:
            contacts.hits[i] = 0
            if movers.soft_inverse_mass[i] > real(0.0):
                wp.atomic_add(movers.v, i, movers.soft_inverse_mass[i] * impulse)
                wp.atomic_add(movers.move, i, movers.soft_inverse_mass[i] * shift)
                wp.atomic_add(objects.velocity, a, objects.inverse_mass[a] * impulse)
        if bodies.rigid_index[b] >= 0:
            push_rigid(movers, bodies.rigid_index[b], points[i], -impulse, -shift, -normal, dt[0])
        else:
            inverse = objects.inverse_mass[b]
            wp.atomic_add(drift.velocity, b, -(inverse * impulse))
            wp.atomic_add(drift.shift, b, -(inverse * shift))
            wp.atomic_add(objects.velocity, b, -(inverse * impulse))

    @n.kernel(__name__)
    def spread(point_body: wp.array(dtype=int), drift: Drift, movers: Movers):
        """The drift of a soft body goes to all its free points."""
        i = wp.tid()
        if movers.soft_inverse_mass[i] > real(0.0):
            b = at(point_body[i])
            movers.v[i] = movers.v[i] + drift.velocity[b]
            movers.move[i] = movers.move[i] + drift.shift[b]

    @n.kernel(__name__)
    def sum_pairs(contacts: Contacts, table: Table):
        """Of both passes."""
        c = wp.tid()
        if c < wp.min(contacts.count[0], contacts.capacity):
            add_to_pair(table, contacts.pair[c][0], contacts.pair[c][1], contacts.impulse[c])

    return SimpleNamespace(
        sum_pairs=sum_pairs,
        Contacts=Contacts,
        begin_pass=begin_pass,
        find_contacts=find_contacts,
        solve=solve,
        apply=apply,
        spread=spread,
    )
