"""Velocities that belong to the middle of a substep, when substeps change their length (the symplectic solver).

Positions x_n at the ends and velocities in the middles make a leapfrog: the kick between the middles of two substeps a
and b is (a + b)/2 times the acceleration at x_n. The velocity update kicks by b; what it lacks, (a - b)/2, is given
here before it. Without that each change adds (b - a)/2 times the power of the forces to the energy, and steps that
shorten in each swing of a body pump it up.

In flight gravity and drag are left out, so that momentum is that of the whole time. Where a body is supported by a
wall, pins or a grab they count, as they are what its own forces balance; points that lie on a wall are left out: it
carries what acts on them.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.kernel.numbers import Numbers, at
from turgor.solvers import velocity

__all__ = ["kernels"]


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """find_support, shift_velocities: in this order, with the forces of the present state."""
    real, vec = n.real, n.vec
    acceleration = velocity.accelerations(n).acceleration

    @wp.func
    def lies(x: vec, a: vec, dt: real, normal: wp.array(dtype=vec), point: wp.array(dtype=vec)) -> bool:
        """Whether a point lies on a wall: its forces alone bring it behind (as `walls.held`)."""
        found = bool(False)  # noqa: UP018 (a variable in Warp's language, not a constant)
        for w in range(normal.shape[0]):
            h = at(w)
            if wp.dot(x + dt * dt * a - point[h], normal[h]) < real(0.0):
                found = True
        return found

    @n.kernel(__name__)
    def find_support(
        x: wp.array(dtype=vec),
        v: wp.array(dtype=vec),
        f: wp.array(dtype=vec),
        area: wp.array(dtype=vec),
        body: wp.array(dtype=int),
        inverse_mass: wp.array(dtype=real),
        push: wp.array(dtype=real),
        body_gravity: wp.array(dtype=vec),
        drag: wp.array(dtype=real),
        wall_normal: wp.array(dtype=vec),
        wall_point: wp.array(dtype=vec),
        grab_vertex: wp.array(dtype=int),
        dt: wp.array(dtype=real),
        supported: wp.array(dtype=int),
    ):
        """Which bodies are held from outside."""
        i = at(wp.tid())
        b = at(body[i])
        a = acceleration(f[i], area[i], v[i], inverse_mass[i], push[b], body_gravity[b], drag[b])
        pinned = inverse_mass[i] == real(0.0) or grab_vertex[b] >= 0
        if pinned or lies(x[i], a, dt[0], wall_normal, wall_point):
            supported[b] = 1

    @n.kernel(__name__)
    def shift_velocities(
        step_change: wp.array(dtype=real),  # s: b - a
        supported: wp.array(dtype=int),
        x: wp.array(dtype=vec),
        f: wp.array(dtype=vec),
        area: wp.array(dtype=vec),
        clear: int,  # the accumulators must be zero after use
        body: wp.array(dtype=int),
        inverse_mass: wp.array(dtype=real),
        push: wp.array(dtype=real),
        body_gravity: wp.array(dtype=vec),
        drag: wp.array(dtype=real),
        wall_normal: wp.array(dtype=vec),
        wall_point: wp.array(dtype=vec),
        dt: wp.array(dtype=real),  # s: b
        v: wp.array(dtype=vec),
    ):
        i = at(wp.tid())
        b = at(body[i])
        m1 = inverse_mass[i]
        a = acceleration(f[i], area[i], vec(), m1, push[b], vec(), real(0.0))
        if supported[b] != 0:
            a = acceleration(f[i], area[i], v[i], m1, push[b], body_gravity[b], drag[b])
            if lies(x[i], a, dt[0], wall_normal, wall_point):
                a = vec()
        if m1 > real(0.0):
            v[i] -= real(0.5) * step_change[0] * a
        if clear != 0:
            f[i] = vec()
            area[i] = vec()

    return SimpleNamespace(find_support=find_support, shift_velocities=shift_velocities)
