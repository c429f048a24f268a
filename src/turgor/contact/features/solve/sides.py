"""The two sides of a contact: what moves there, how fast, how easily, and what an impulse does to it (B14).

A side is up to three soft points with weights, or a point of a rigid body. Impulses are equal and opposite. Normal ones
act along the line through both contact points, so they have no moment; tangential ones act at two points that are a
skin apart, and the moment of that couple is taken back by a rotation of the four points of the contact, so that
angular momentum is kept too: in mass-weighted terms, the impulse is projected on those that have no moment.
"""

import functools
from types import SimpleNamespace
from typing import Any, no_type_check

import warp as wp

from turgor.contact.features.launch import FeatureLauncher
from turgor.kernel import fixed_sum
from turgor.kernel.numbers import Numbers, at
from turgor.model.model import Model
from turgor.rigid import impulse

__all__ = ["dynamics_of", "kernels"]

UNIT = 2.0**-44  # m/s or kg m/s: of the parallel solver's sums


def dynamics_of(model: Model, launch: FeatureLauncher) -> Any:
    """The struct `Dynamics` of a model."""
    n, soft, rigid = model.numbers, model.vertices * model.worlds, model.rigids.total
    movable = soft + rigid if launch.parallel else 0
    turns = fixed_sum.kernels(n).turns * rigid if launch.parallel else 0
    return launch.struct(
        kernels(n, launch.parallel).Dynamics, contacts=launch.zeros(movable, wp.int32),
        sums=launch.zeros(movable * n.dim, wp.int64), moment_sums=launch.zeros(turns, wp.int64),
    )  # fmt: skip


@functools.cache
@no_type_check
def kernels(n: Numbers, parallel: bool) -> SimpleNamespace:
    """Struct `Dynamics` and functions. parallel: impulses are summed in integers, and applied between rounds."""
    real, vec, spin_type, dim = n.real, n.vec, n.spin, n.dim
    push, integers = impulse.kernels(n), fixed_sum.kernels(n, UNIT, wp.round)
    inertia, cross, swing, turn_by, mobility = push.inertia, push.cross, push.swing, push.turn_by, push.mobility
    add_move, add_turn = integers.add_move, integers.add_turn

    @wp.struct
    class Dynamics:
        """Positions, velocities and inverse masses of all that impulses can move."""

        points: wp.array(dtype=vec)  # soft vertices, then points of rigid bodies
        point_v: wp.array(dtype=vec)
        soft_inverse_mass: wp.array(dtype=real)
        wall_contact_normal: wp.array(dtype=vec)  # of the wall that a soft vertex is pressed against, or zero
        rigid_x: wp.array(dtype=vec)
        rigid_v: wp.array(dtype=vec)
        rigid_angular: wp.array(dtype=spin_type)
        rigid_spin: wp.array(dtype=spin_type)
        rigid_inverse_mass: wp.array(dtype=real)
        rigid_world_inertia: wp.array(dtype=inertia)  # inverse
        rigid_driven_impulse: wp.array(dtype=vec)  # on bodies that are moved from outside; empty without a ledger
        rigid_driven_moment: wp.array(dtype=spin_type)
        contacts: wp.array(dtype=int)  # at each soft vertex, then at each rigid body (parallel only)
        sums: wp.array(dtype=wp.int64)  # velocity changes of soft vertices, then impulses on rigid bodies (parallel)
        moment_sums: wp.array(dtype=wp.int64)  # angular impulses on rigid bodies (parallel only)

    @wp.func
    def velocity_change(dynamics: Dynamics, i: int, p: vec) -> vec:
        """Of a soft point by an impulse; what presses it against a wall goes into the wall."""
        wall = dynamics.wall_contact_normal[at(i)]
        into = wp.min(wp.dot(p, wall), real(0.0))
        return dynamics.soft_inverse_mass[at(i)] * (p - into * wall)

    @wp.func
    def side_mobility(dynamics: Dynamics, rigid: int, place: vec, direction: vec, ids: wp.vec3i, w: vec) -> real:
        """Velocity along a direction that a unit impulse along it gives to the contact point: an inverse mass."""
        if rigid >= 0:
            arm = place - dynamics.rigid_x[rigid]
            return mobility(dynamics.rigid_inverse_mass[rigid], dynamics.rigid_world_inertia[rigid], arm, direction)
        total = w[0] * w[0] * wp.dot(velocity_change(dynamics, ids[0], direction), direction)
        if w[1] != real(0.0):
            total += w[1] * w[1] * wp.dot(velocity_change(dynamics, ids[1], direction), direction)
        if wp.static(dim == 3):
            if w[2] != real(0.0):
                total += w[2] * w[2] * wp.dot(velocity_change(dynamics, ids[2], direction), direction)
        return total

    @wp.func(inline=True)
    def relative_velocity(
        dynamics: Dynamics, rigids: wp.vec2i, place: vec, first: wp.vec3i, w: vec, second: wp.vec3i, u: vec
    ) -> vec:
        """Of the first side against the second."""
        relative = vec()
        if rigids[0] >= 0:
            r = at(rigids[0])
            relative += dynamics.rigid_v[r] + swing(dynamics.rigid_spin[r], place - dynamics.rigid_x[r])
        else:
            for k in range(dim):
                relative += w[k] * dynamics.point_v[at(first[k])]
        if rigids[1] >= 0:
            r = at(rigids[1])
            relative -= dynamics.rigid_v[r] + swing(dynamics.rigid_spin[r], place - dynamics.rigid_x[r])
        else:
            for k in range(dim):
                relative -= u[k] * dynamics.point_v[at(second[k])]
        return relative

    if parallel:

        @wp.func
        def add_velocity(dynamics: Dynamics, i: int, dv: vec):
            """To a soft point."""
            add_move(dynamics.sums, i, dv)

        @wp.func
        def push_rigid(dynamics: Dynamics, rigid: int, p: vec, place: vec):
            """Impulse at a place of a rigid body."""
            if dynamics.rigid_inverse_mass[rigid] > real(0.0):
                add_move(dynamics.sums, dynamics.soft_inverse_mass.shape[0] + rigid, p)
                add_turn(dynamics.moment_sums, rigid, cross(place - dynamics.rigid_x[rigid], p))
            elif dynamics.rigid_driven_impulse.shape[0] > 0:
                wp.atomic_add(dynamics.rigid_driven_impulse, rigid, p)
                wp.atomic_add(dynamics.rigid_driven_moment, rigid, cross(place - dynamics.rigid_x[rigid], p))

        @wp.func
        def side_contacts(dynamics: Dynamics, rigid: int, ids: wp.vec3i, w: vec) -> int:
            """Most contacts at any point of the side: an impulse is divided by it, as all act at once."""
            if rigid >= 0:
                return dynamics.contacts[dynamics.soft_inverse_mass.shape[0] + rigid]
            most = dynamics.contacts[at(ids[0])]
            for k in range(1, dim):
                if w[k] != real(0.0):
                    most = wp.max(most, dynamics.contacts[at(ids[k])])
            return most

        @wp.func
        def count_side(dynamics: Dynamics, rigid: int, ids: wp.vec3i, w: vec):
            if rigid >= 0:
                wp.atomic_add(dynamics.contacts, dynamics.soft_inverse_mass.shape[0] + rigid, 1)
            else:
                wp.atomic_add(dynamics.contacts, ids[0], 1)
                for k in range(1, dim):
                    if w[k] != real(0.0):
                        wp.atomic_add(dynamics.contacts, ids[k], 1)

    else:

        @wp.func
        def add_velocity(dynamics: Dynamics, i: int, dv: vec):
            """To a soft point."""
            dynamics.point_v[at(i)] = dynamics.point_v[at(i)] + dv

        @wp.func
        def push_rigid(dynamics: Dynamics, rigid: int, p: vec, place: vec):
            """Impulse at a place of a rigid body."""
            inverse_mass = dynamics.rigid_inverse_mass[rigid]
            if inverse_mass > real(0.0):
                moment = cross(place - dynamics.rigid_x[rigid], p)
                dynamics.rigid_v[rigid] = dynamics.rigid_v[rigid] + inverse_mass * p
                dynamics.rigid_angular[rigid] = dynamics.rigid_angular[rigid] + moment
                turned = turn_by(dynamics.rigid_world_inertia[rigid], moment)
                dynamics.rigid_spin[rigid] = dynamics.rigid_spin[rigid] + turned
            elif dynamics.rigid_driven_impulse.shape[0] > 0:
                wp.atomic_add(dynamics.rigid_driven_impulse, rigid, p)
                wp.atomic_add(dynamics.rigid_driven_moment, rigid, cross(place - dynamics.rigid_x[rigid], p))

        @wp.func
        def side_contacts(dynamics: Dynamics, rigid: int, ids: wp.vec3i, w: vec) -> int:
            return 1

        @wp.func
        def count_side(dynamics: Dynamics, rigid: int, ids: wp.vec3i, w: vec):
            pass

    @wp.func
    def push_side(dynamics: Dynamics, rigid: int, p: vec, place: vec, ids: wp.vec3i, w: vec):
        """Impulse p on a side."""
        if rigid >= 0:
            push_rigid(dynamics, rigid, p, place)
        else:
            for k in range(dim):
                if k == 0 or w[k] != real(0.0):
                    add_velocity(dynamics, ids[k], w[k] * velocity_change(dynamics, ids[k], p))

    if dim == 2:

        @wp.func
        def point_inertia(mass: real, arm: vec) -> inertia:
            return mass * wp.dot(arm, arm)

        @wp.func
        def inverse_of(i: inertia) -> inertia:
            if i <= real(0.0):
                return real(0.0)
            return real(1.0) / i

        @wp.func
        def can_turn(inverse: inertia) -> bool:
            """Whether there is an inertia at all."""
            return inverse > real(0.0)

    else:

        @wp.func
        def point_inertia(mass: real, arm: vec) -> inertia:
            """Of a point mass."""
            return mass * (wp.dot(arm, arm) * wp.identity(3, dtype=real) - wp.outer(arm, arm))

        @wp.func
        def inverse_of(i: inertia) -> inertia:
            """Zero for points in a line, which have no inertia about it."""
            size = wp.trace(i)
            det = wp.determinant(i)
            if not (det > real(1.0e-5) * size * size * size):
                return inertia(real(0.0))
            return wp.inverse(i)

        @wp.func
        def can_turn(inverse: inertia) -> bool:
            """Whether there is an inertia at all."""
            return wp.trace(inverse) > real(0.0)

    return SimpleNamespace(
        Dynamics=Dynamics,
        inertia=inertia,
        cross=cross,
        swing=swing,
        turn_by=turn_by,
        add_velocity=add_velocity,
        velocity_change=velocity_change,
        relative_velocity=relative_velocity,
        side_mobility=side_mobility,
        side_contacts=side_contacts,
        count_side=count_side,
        push_side=push_side,
        point_inertia=point_inertia,
        inverse_of=inverse_of,
        can_turn=can_turn,
        taken_move=integers.taken_move,
        taken_turn=integers.taken_turn,
    )
