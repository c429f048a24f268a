"""The energy ledger of rigid contact: what moving walls and driven bodies do is work from outside."""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.contact.rigid.records import POINTS, structs
from turgor.kernel.numbers import Numbers
from turgor.rigid import impulse

__all__ = ["kernels"]


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """driven_work, after the rounds of impulses."""
    real, vec = n.real, n.vec
    t, swing = structs(n), impulse.kernels(n).swing
    Bodies, Walls, Pairs, Points = t.Bodies, t.Walls, t.Pairs, t.Points

    @wp.func
    def at_point(point: int, index: int, pairs: Pairs, points: Points) -> vec:
        """The impulse on the first body, N s."""
        return points.normal_impulse[point] * pairs.normal[index] + points.friction_impulse[point]

    @n.kernel(__name__)
    def driven_work(
        stride: int,
        bodies: Bodies,
        walls: Walls,
        pairs: Pairs,
        points: Points,
        rigid_dissipated: wp.array(dtype=wp.float64),
        rigid_work: wp.array(dtype=wp.float64),
    ):
        """Impulse times velocity. It is a loss too: contact has taken from the bodies what it lost, less this."""
        for index in range(wp.tid(), wp.min(pairs.count[0], pairs.capacity), stride):
            i = pairs.a[index]
            j = pairs.b[index]
            given = real(0.0)
            for row in range(POINTS * index, POINTS * index + pairs.point_count[index]):
                push = at_point(row, index, pairs, points)
                if j < 0:
                    given += wp.dot(push, walls.velocity[-1 - j] + swing(walls.spin[-1 - j], points.arm_b[row]))
                elif bodies.inverse_mass[j] <= real(0.0):
                    given += wp.dot(push, bodies.v[j] + swing(bodies.spin[j], points.arm_b[row]))
                if bodies.inverse_mass[i] <= real(0.0):
                    given -= wp.dot(push, bodies.v[i] + swing(bodies.spin[i], points.arm_a[row]))
            if given != real(0.0):
                wp.atomic_add(rigid_dissipated, i, wp.float64(given))
                wp.atomic_add(rigid_work, i, wp.float64(given))

    return SimpleNamespace(driven_work=driven_work)
