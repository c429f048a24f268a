"""The impulses of a substep, summed per pair of bodies."""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.contact import pair_sums
from turgor.contact.features.solve import constraints as contact_constraints
from turgor.kernel.numbers import Numbers, at

__all__ = ["kernels"]


@functools.cache
@no_type_check
def kernels(n: Numbers, parallel: bool) -> SimpleNamespace:
    """sum_pairs, after the rounds of impulses."""
    real = n.real
    Constraints = contact_constraints.kernels(n, parallel).Constraints
    sums = pair_sums.kernels(n)
    Table, add_to_pair = sums.Table, sums.add_to_pair

    @n.kernel(f"{__name__}{'_parallel' if parallel else ''}")
    def sum_pairs(constraints: Constraints, point_body: wp.array(dtype=int), table: Table, stride: int):
        """Of different bodies: what a body does to itself is no force on it."""
        for r in range(wp.tid(), wp.min(constraints.count[0], constraints.pair.shape[0]), stride):
            row = at(r)
            if constraints.impulse[row] > real(0.0):
                first = point_body[at(constraints.first[row][0])]
                second = point_body[at(constraints.second[row][0])]
                if first != second:
                    p = constraints.impulse[row] * constraints.normal[row] + constraints.friction_impulse[row]
                    add_to_pair(table, first, second, p)

    return SimpleNamespace(sum_pairs=sum_pairs)
