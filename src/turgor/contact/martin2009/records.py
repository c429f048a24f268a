"""Contacts of one substep: two sides, a point, a normal and a gap.

The first side is always of a soft body: up to three vertices with weights that add up to one. The second side is the
same of another soft body, or a point of a rigid body. The normal points from the second side to the first.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.kernel.numbers import Numbers, at

__all__ = ["kernels"]


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """The struct `Contacts`, `add_contact`, and the type of `weights`."""
    real, vec = n.real, n.vec
    weights_type = wp.vec3f if n.precision == "single" else wp.vec3d

    @wp.struct
    class Contacts:
        """One entry per contact; the capacity is the length of the arrays."""

        count: wp.array(dtype=int)  # (1,) found; may exceed the capacity
        overflow: wp.array(dtype=int)
        vertex_contacts: wp.array(dtype=int)  # number of contacts at each soft vertex
        rigid_contacts: wp.array(dtype=int)  # and at each rigid body
        first: wp.array(dtype=wp.vec3i)
        first_weights: wp.array(dtype=weights_type)
        second: wp.array(dtype=wp.vec3i)
        second_weights: wp.array(dtype=weights_type)
        rigid: wp.array(dtype=int)  # flat rigid body of the second side, or -1
        bodies: wp.array(dtype=wp.vec2i)  # flat contact bodies
        point: wp.array(dtype=vec)  # on the second side, m
        normal: wp.array(dtype=vec)
        gap: wp.array(dtype=real)  # m along the normal; negative: inside each other
        thickness: wp.array(dtype=real)  # m: the gap that should remain
        separate: wp.array(dtype=int)  # 1: penetration is removed
        bounce_speed: wp.array(dtype=real)  # m/s: relative normal velocity after the impact
        impulse: wp.array(dtype=real)  # N s along the normal
        friction_impulse: wp.array(dtype=real)  # N s of friction so far

    @wp.func
    def count_contact(corners: wp.vec3i, weights: weights_type, vertex_contacts: wp.array(dtype=int)):
        for k in range(3):
            if weights[k] != real(0.0):
                wp.atomic_add(vertex_contacts, at(corners[k]), 1)

    @wp.func
    def add_contact(
        contacts: Contacts,
        bodies: wp.vec2i,
        first: wp.vec3i,
        first_weights: weights_type,
        second: wp.vec3i,
        second_weights: weights_type,
        rigid: int,
        point: vec,
        normal: vec,
        gap: real,
        thickness: real,
        separate: int,
    ):
        """A new contact, unless the arrays are full."""
        c = wp.atomic_add(contacts.count, 0, 1)
        if c >= contacts.first.shape[0]:
            contacts.overflow[0] = 1
            return
        contacts.bodies[c] = bodies
        contacts.first[c] = first
        contacts.first_weights[c] = first_weights
        contacts.second[c] = second
        contacts.second_weights[c] = second_weights
        contacts.rigid[c] = rigid
        contacts.point[c] = point
        contacts.normal[c] = normal
        contacts.gap[c] = gap
        contacts.thickness[c] = thickness
        contacts.separate[c] = separate
        contacts.bounce_speed[c] = real(0.0)
        contacts.impulse[c] = real(0.0)
        contacts.friction_impulse[c] = real(0.0)
        count_contact(first, first_weights, contacts.vertex_contacts)
        if rigid >= 0:
            wp.atomic_add(contacts.rigid_contacts, rigid, 1)
        else:
            count_contact(second, second_weights, contacts.vertex_contacts)

    return SimpleNamespace(Contacts=Contacts, add_contact=add_contact, weights=weights_type)
