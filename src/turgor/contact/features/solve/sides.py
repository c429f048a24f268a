"""The two sides of a contact: what moves there, how fast, how easily, and what an impulse does to it (B14).

A side is up to three soft points with weights, or a point of a rigid body. Impulses are equal and opposite. Normal ones
act along the line through both contact points, so they have no moment; tangential ones act at two points that are a
skin apart, and the moment of that couple is taken back by turning the four points of the contact as a whole, so that
angular momentum is kept too: in mass-weighted terms, the impulse is projected on those that have no moment.
"""

import functools
from types import SimpleNamespace

import warp as wp

from turgor.kernel.numbers import Numbers, at
from turgor.rigid import impulse

__all__ = ["UNITS", "kernels"]

UNITS = 2.0**44  # of the parallel solver's sums: whole numbers of 6e-14 m/s or kg m/s, added in any order alike


@functools.cache
def kernels(n: Numbers, parallel: bool) -> SimpleNamespace:
    """Structs `Movers` and functions. parallel: impulses are summed in whole numbers, and applied between rounds."""
    real, vec, spin_type = n.real, n.vec, n.spin
    vec4 = wp.vec4f if n.precision == "single" else wp.vec4d
    push = impulse.kernels(n)
    inertia, cross, swing, turn_by, mobility = push.inertia, push.cross, push.swing, push.turn_by, push.mobility
    units = wp.constant(wp.float64(UNITS))
    dim = n.dim
    spins = 1 if dim == 2 else 3

    @wp.struct
    class Movers:
        """All that contact can move."""

        points: wp.array(dtype=vec)  # soft vertices, then points of rigid bodies
        v: wp.array(dtype=vec)
        inverse_mass: wp.array(dtype=real)  # of the soft vertices
        pressed: wp.array(dtype=vec)  # normal of the wall that a soft vertex is pressed against, or zero
        x: wp.array(dtype=vec)  # rigid bodies
        rigid_v: wp.array(dtype=vec)
        angular: wp.array(dtype=spin_type)
        spin: wp.array(dtype=spin_type)
        rigid_mass: wp.array(dtype=real)  # inverse
        world_inertia: wp.array(dtype=inertia)  # inverse
        rows: wp.array(dtype=int)  # contacts at each soft vertex, then at each rigid body (parallel only)
        sums: wp.array(dtype=wp.int64)  # of impulses, in UNITS (parallel only)

    @wp.func
    def yielding(m: Movers, i: int, p: vec) -> vec:
        """Change of velocity of a soft point by an impulse; what presses it against a wall goes into the wall."""
        wall = m.pressed[at(i)]
        into = wp.min(wp.dot(p, wall), real(0.0))
        return m.inverse_mass[at(i)] * (p - into * wall)

    @wp.func
    def side_mobility(m: Movers, rigid: int, place: vec, direction: vec, i: int, j: int, k: int, w: vec) -> real:
        """Velocity along a direction that a unit impulse along it gives to the contact point."""
        if rigid >= 0:
            return mobility(m.rigid_mass[rigid], m.world_inertia[rigid], place - m.x[rigid], direction)
        total = w[0] * w[0] * wp.dot(yielding(m, i, direction), direction)
        if w[1] != real(0.0):
            total += w[1] * w[1] * wp.dot(yielding(m, j, direction), direction)
        if wp.static(dim == 3):
            if w[2] != real(0.0):
                total += w[2] * w[2] * wp.dot(yielding(m, k, direction), direction)
        return total

    if parallel:

        @wp.func
        def give(m: Movers, i: int, dv: vec):
            """Change of velocity of a soft point."""
            for axis in range(dim):
                wp.atomic_add(m.sums, i * dim + axis, wp.int64(wp.round(wp.float64(dv[axis]) * units)))

        @wp.func
        def give_rigid(m: Movers, rigid: int, p: vec, place: vec):
            """Impulse at a place of a rigid body."""
            if m.rigid_mass[rigid] > real(0.0):
                base = m.inverse_mass.shape[0] * dim + rigid * wp.static(dim + spins)
                moment = cross(place - m.x[rigid], p)
                for axis in range(dim):
                    wp.atomic_add(m.sums, base + axis, wp.int64(wp.round(wp.float64(p[axis]) * units)))
                if wp.static(dim == 2):
                    wp.atomic_add(m.sums, base + dim, wp.int64(wp.round(wp.float64(moment) * units)))
                else:
                    for axis in range(3):
                        wp.atomic_add(m.sums, base + dim + axis, wp.int64(wp.round(wp.float64(moment[axis]) * units)))

        @wp.func
        def side_rows(m: Movers, rigid: int, i: int, j: int, k: int, w: vec) -> int:
            """Most contacts at any point of the side: an impulse is divided by it, as all act at once."""
            if rigid >= 0:
                return m.rows[m.inverse_mass.shape[0] + rigid]
            most = m.rows[at(i)]
            if w[1] != real(0.0):
                most = wp.max(most, m.rows[at(j)])
            if wp.static(dim == 3):
                if w[2] != real(0.0):
                    most = wp.max(most, m.rows[at(k)])
            return most

        @wp.func
        def count_side(m: Movers, rigid: int, i: int, j: int, k: int, w: vec):
            if rigid >= 0:
                wp.atomic_add(m.rows, m.inverse_mass.shape[0] + rigid, 1)
            else:
                wp.atomic_add(m.rows, i, 1)
                if w[1] != real(0.0):
                    wp.atomic_add(m.rows, j, 1)
                if wp.static(dim == 3):
                    if w[2] != real(0.0):
                        wp.atomic_add(m.rows, k, 1)

    else:

        @wp.func
        def give(m: Movers, i: int, dv: vec):
            """Change of velocity of a soft point."""
            m.v[at(i)] = m.v[at(i)] + dv

        @wp.func
        def give_rigid(m: Movers, rigid: int, p: vec, place: vec):
            """Impulse at a place of a rigid body."""
            if m.rigid_mass[rigid] > real(0.0):
                moment = cross(place - m.x[rigid], p)
                m.rigid_v[rigid] = m.rigid_v[rigid] + m.rigid_mass[rigid] * p
                m.angular[rigid] = m.angular[rigid] + moment
                m.spin[rigid] = m.spin[rigid] + turn_by(m.world_inertia[rigid], moment)

        @wp.func
        def side_rows(m: Movers, rigid: int, i: int, j: int, k: int, w: vec) -> int:
            return 1

        @wp.func
        def count_side(m: Movers, rigid: int, i: int, j: int, k: int, w: vec):
            pass

    @wp.func
    def push_side(m: Movers, rigid: int, p: vec, place: vec, i: int, j: int, k: int, w: vec):
        """Impulse p on a side."""
        if rigid >= 0:
            give_rigid(m, rigid, p, place)
        else:
            give(m, i, w[0] * yielding(m, i, p))
            if w[1] != real(0.0):
                give(m, j, w[1] * yielding(m, j, p))
            if wp.static(dim == 3):
                if w[2] != real(0.0):
                    give(m, k, w[2] * yielding(m, k, p))

    if n.dim == 2:

        @wp.func
        def spread_of(mass: real, arm: vec) -> inertia:
            return mass * wp.dot(arm, arm)

        @wp.func
        def inverse_of(i: inertia) -> inertia:
            if i <= real(0.0):
                return real(0.0)
            return real(1.0) / i

        @wp.func
        def turns(inverse: inertia) -> bool:
            """Whether there is an inertia at all."""
            return inverse > real(0.0)

    else:

        @wp.func
        def spread_of(mass: real, arm: vec) -> inertia:
            """Inertia of a point mass."""
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
        def turns(inverse: inertia) -> bool:
            """Whether there is an inertia at all."""
            return wp.trace(inverse) > real(0.0)

    return SimpleNamespace(
        Movers=Movers,
        vec4=vec4,
        inertia=inertia,
        cross=cross,
        swing=swing,
        turn_by=turn_by,
        give=give,
        side_mobility=side_mobility,
        yielding=yielding,
        side_rows=side_rows,
        count_side=count_side,
        push_side=push_side,
        spread_of=spread_of,
        inverse_of=inverse_of,
        turns=turns,
        spins=spins,
    )
