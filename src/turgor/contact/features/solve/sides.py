"""The two sides of a contact: what moves there, how fast, how easily, and what an impulse does to it (B14).

A side is up to three soft points with weights, or a point of a rigid body. Impulses are equal and opposite. Normal ones
act along the line through both contact points, so they have no moment; others act at two points that are a skin apart,
and the moment of that couple is taken back by a rotation of the four points of the contact, so that angular momentum is
kept too: in mass-weighted terms, the impulse is projected on those that have no moment.
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

LOAD = 1024
THIN = {"single": 1.0e-5, "double": 1.0e-12}  # of the cube of its trace: least determinant of an inertia that turns
UNIT = 2.0**-44  # m/s or kg m/s: of the parallel solver's sums


def dynamics_of(model: Model, launch: FeatureLauncher) -> Any:
    """The struct `Dynamics` of a model."""
    n, soft, rigid = model.numbers, model.vertices * model.worlds, model.rigids.total
    summed = soft + rigid if launch.parallel else 0
    turns = fixed_sum.kernels(n).turns * rigid if launch.parallel else 0
    return launch.struct(
        kernels(n, launch.parallel).Dynamics, load=launch.zeros(soft + rigid, wp.int32),
        sums=launch.zeros(summed * n.dim, wp.int64), moment_sums=launch.zeros(turns, wp.int64),
    )  # fmt: skip


@functools.cache
@no_type_check
def kernels(n: Numbers, parallel: bool) -> SimpleNamespace:
    """Struct `Dynamics` and functions. parallel: impulses are summed in integers, and applied between rounds."""
    real, vec, spin_type, dim = n.real, n.vec, n.spin, n.dim
    push, integers = impulse.kernels(n), fixed_sum.kernels(n, UNIT, wp.round)
    inertia, cross, swing, turn_by, mobility = push.inertia, push.cross, push.swing, push.turn_by, push.mobility
    add_move, add_turn = integers.add_move, integers.add_turn
    load_unit = wp.constant(real(LOAD))
    thin = wp.constant(real(THIN[n.precision]))

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
        # contacts at each soft vertex by weight, then at each rigid body, in units of 1 / LOAD
        load: wp.array(dtype=int)
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
    def load_side(dynamics: Dynamics, rigid: int, ids: wp.vec3i, w: vec):
        """Count a contact at a side, with its weights."""
        if rigid >= 0:
            wp.atomic_add(dynamics.load, dynamics.soft_inverse_mass.shape[0] + rigid, LOAD)
        else:
            for k in range(dim):
                if w[k] != real(0.0):
                    wp.atomic_add(dynamics.load, ids[k], int(wp.ceil(w[k] * load_unit)))

    @wp.func
    def side_load(dynamics: Dynamics, rigid: int, mobility_here: real, ids: wp.vec3i, w: vec):
        """(sum over all contacts of the velocity that a unit impulse there gives this side at most, the own part)."""
        if rigid >= 0:
            many = real(dynamics.load[dynamics.soft_inverse_mass.shape[0] + rigid]) / load_unit
            return many * mobility_here, mobility_here
        total = real(0.0)
        own = real(0.0)
        for k in range(dim):
            if w[k] != real(0.0):
                each = w[k] * dynamics.soft_inverse_mass[at(ids[k])]
                total += each * real(dynamics.load[at(ids[k])]) / load_unit
                own += each * w[k]
        return total, own

    @wp.func
    def share_of(
        dynamics: Dynamics, rigids: wp.vec2i, place: vec, normal: vec, first: wp.vec3i, w: vec, second: wp.vec3i, u: vec
    ) -> real:
        """Share of an impulse that a contact may apply where all act at once: 1 / (row sum of the couplings / own).

        With it D, the row sums, and A, the couplings, D - A is positive semidefinite, so such rounds converge.
        """
        there = real(0.0)
        if rigids[0] >= 0:
            there = side_mobility(dynamics, rigids[0], place, normal, first, w)
        total, own = side_load(dynamics, rigids[0], there, first, w)
        there = real(0.0)
        if rigids[1] >= 0:
            there = side_mobility(dynamics, rigids[1], place, normal, second, u)
        other_total, other_own = side_load(dynamics, rigids[1], there, second, u)
        return (own + other_own) / wp.max(total + other_total, own + other_own)

    @wp.func
    def push_side(dynamics: Dynamics, rigid: int, p: vec, place: vec, ids: wp.vec3i, w: vec):
        """Impulse p on a side."""
        if rigid >= 0:
            push_rigid(dynamics, rigid, p, place)
        else:
            for k in range(dim):
                if w[k] != real(0.0):
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
            if not (det > thin * size * size * size):
                return inertia(real(0.0))
            return wp.inverse(i)

        @wp.func
        def can_turn(inverse: inertia) -> bool:
            """Whether there is an inertia at all."""
            return wp.trace(inverse) > real(0.0)

    @wp.func
    def is_new(ids: wp.vec3i, k: int) -> bool:
        """Whether point k of a side was not there before: a vertex is listed three times, an edge has its end twice."""
        return k == 0 or ids[k] != ids[wp.max(k - 1, 0)]

    @wp.func
    def contact_point(dynamics: Dynamics, ids: wp.vec3i, w: vec) -> vec:
        """Of a soft side."""
        place = vec()
        for k in range(dim):
            place += w[k] * dynamics.points[at(ids[k])]
        return place

    @wp.func
    def mass_of_side(dynamics: Dynamics, ids: wp.vec3i):
        """(mass, mass times place) of the points of a soft side; mass -1 if one of them is pinned."""
        mass = real(0.0)
        moment = vec()
        pinned = bool(False)  # noqa: UP018
        for k in range(dim):
            if is_new(ids, k):
                m1 = dynamics.soft_inverse_mass[at(ids[k])]
                if m1 <= real(0.0):
                    pinned = True
                else:
                    mass += real(1.0) / m1
                    moment += dynamics.points[at(ids[k])] / m1
        if pinned:
            mass = real(-1.0)
        return mass, moment

    @wp.func
    def inertia_of_side(dynamics: Dynamics, ids: wp.vec3i, centre: vec) -> inertia:
        """Of the points of a soft side about a centre."""
        total = inertia(real(0.0))
        for k in range(dim):
            if is_new(ids, k):
                i = at(ids[k])
                total += point_inertia(real(1.0) / dynamics.soft_inverse_mass[i], dynamics.points[i] - centre)
        return total

    @wp.func
    def inertia_of_points(dynamics: Dynamics, first: wp.vec3i, second: wp.vec3i):
        """(centre of mass, inverse inertia about it) of the points of two soft sides; zero if one is pinned."""
        mass, moment = mass_of_side(dynamics, first)
        other_mass, other_moment = mass_of_side(dynamics, second)
        centre = vec()
        inverse = inertia(real(0.0))
        if mass > real(0.0) and other_mass > real(0.0):
            centre = (moment + other_moment) / (mass + other_mass)
            around = inertia_of_side(dynamics, first, centre) + inertia_of_side(dynamics, second, centre)
            inverse = inverse_of(around)
        return centre, inverse

    @wp.func
    def angular_momentum_of_side(dynamics: Dynamics, ids: wp.vec3i, centre: vec) -> spin_type:
        """About a centre, of the points of a soft side."""
        total = spin_type(real(0.0))
        for k in range(dim):
            if is_new(ids, k):
                i = at(ids[k])
                total += cross(dynamics.points[i] - centre, dynamics.point_v[i] / dynamics.soft_inverse_mass[i])
        return total

    @wp.func
    def turn_side(dynamics: Dynamics, ids: wp.vec3i, centre: vec, spin: spin_type):
        """Turn the points of a soft side about a centre."""
        for k in range(dim):
            if is_new(ids, k):
                add_velocity(dynamics, ids[k], swing(spin, dynamics.points[at(ids[k])] - centre))

    @wp.func
    def move_side(dynamics: Dynamics, p: vec, ids: wp.vec3i, w: vec, centre: vec, spin: spin_type):
        """As push_side and turn_side, of soft points."""
        for k in range(dim):
            if is_new(ids, k):  # the others have no weight
                change = swing(spin, dynamics.points[at(ids[k])] - centre)
                if w[k] != real(0.0):
                    change += w[k] * velocity_change(dynamics, ids[k], p)
                add_velocity(dynamics, ids[k], change)

    return SimpleNamespace(
        Dynamics=Dynamics,
        move_side=move_side,
        inertia=inertia,
        cross=cross,
        swing=swing,
        turn_by=turn_by,
        add_velocity=add_velocity,
        velocity_change=velocity_change,
        relative_velocity=relative_velocity,
        side_mobility=side_mobility,
        load_side=load_side,
        share_of=share_of,
        push_side=push_side,
        inner=push.inner,
        inverse_of=inverse_of,
        point_inertia=point_inertia,
        can_turn=can_turn,
        contact_point=contact_point,
        is_new=is_new,
        inertia_of_points=inertia_of_points,
        angular_momentum_of_side=angular_momentum_of_side,
        turn_side=turn_side,
        is_moved=integers.is_moved,
        taken_move=integers.taken_move,
        taken_turn=integers.taken_turn,
    )
