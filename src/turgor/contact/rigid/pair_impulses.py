"""The impulses of a substep between rigid bodies and on walls, summed per pair."""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.contact import pair_sums
from turgor.contact.rigid.records import POINTS, structs
from turgor.kernel.numbers import Numbers

__all__ = ["kernels"]


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """sum_pairs, after the rounds of impulses."""
    real, vec = n.real, n.vec
    t, sums = structs(n), pair_sums.kernels(n)
    Bodies, Pairs, Points = t.Bodies, t.Pairs, t.Points
    Table, add_to_pair = sums.Table, sums.add_to_pair

    @wp.func
    def contact_body(soft: int, per_world: int, rigid: int) -> int:
        """Its number among the bodies of all worlds, where the rigid ones of a world follow its `soft` ones."""
        return rigid + soft * (rigid / per_world + 1)

    @n.kernel(__name__)
    def sum_pairs(stride: int, soft: int, bodies: Bodies, pairs: Pairs, points: Points, table: Table):
        """soft: soft bodies per world."""
        for index in range(wp.tid(), wp.min(pairs.count[0], pairs.capacity), stride):
            total = vec()
            for row in range(POINTS * index, POINTS * index + pairs.point_count[index]):
                total += points.normal_impulse[row] * pairs.normal[index] + points.friction_impulse[row]
            if wp.length_sq(total) > real(0.0):
                second = table.bodies - 1 - pairs.b[index]
                if pairs.b[index] >= 0:
                    second = contact_body(soft, bodies.per_world, pairs.b[index])
                add_to_pair(table, contact_body(soft, bodies.per_world, pairs.a[index]), second, total)

    return SimpleNamespace(sum_pairs=sum_pairs)
