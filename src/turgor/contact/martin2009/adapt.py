"""As many collision particles as find contacts (B10; Martin 2009, section 7): `contact="particles-adaptive"`.

The paper has a fixed number of particles per body and names their number as future work: scaled by how many of them
generate intersections. Here a body of a pair gets more particles for the next substep, at most twice as many, when a
quarter of them found a contact, up to MOST_TIMES the paper's number; and half as many when fewer than a sixteenth did,
down to LEAST_PARTICLES. New ones begin beside those that found a contact, on features that are free; those without
contact leave first.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.contact.martin2009.placement import LEAST_PARTICLES
from turgor.kernel.numbers import Numbers, at

__all__ = ["FEW", "MANY", "kernels"]

MANY = 4  # one in this many found a contact: more particles
FEW = 16  # fewer than one in this many did: fewer particles


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """The kernel `adapt_counts`, which follows the tests of the features."""
    many = wp.constant(MANY)
    few = wp.constant(FEW)
    least = wp.constant(LEAST_PARTICLES)

    @wp.func
    def free_neighbour(
        feature: int,
        first: int,
        last: int,
        neighbour_start: wp.array(dtype=int),
        neighbours: wp.array(dtype=int),
        particle_feature: wp.array(dtype=int),
    ) -> int:
        """A feature beside this one on which none of the particles first .. last rests; -1: there is none."""
        for k in range(neighbour_start[at(feature)], neighbour_start[at(feature + 1)]):
            there = neighbours[at(k)]
            taken = wp.int32(0)
            for j in range(first, last):
                if particle_feature[at(j)] == there:
                    taken = 1
            if taken == 0:
                return there
        return -1

    @wp.func
    def next_count(
        first: int,
        active: int,
        room: int,
        neighbour_start: wp.array(dtype=int),
        neighbours: wp.array(dtype=int),
        particle_feature: wp.array(dtype=int),
        particle_hit: wp.array(dtype=int),
    ) -> int:
        """Particles of a body of a pair in the next substep; its own are first .. first + active."""
        hits = wp.int32(0)
        for j in range(first, first + active):
            hits += particle_hit[at(j)]
        if hits * many >= active and active < room:
            wanted = wp.min(2 * active, room)
            used = wp.int32(active)
            for j in range(first, first + active):
                if used < wanted and particle_hit[at(j)] == 1:
                    there = free_neighbour(
                        particle_feature[at(j)], first, first + used, neighbour_start, neighbours, particle_feature
                    )
                    if there >= 0:
                        particle_feature[at(first + used)] = there
                        used += 1
            return used
        if hits * few < active and active > least:
            wanted = wp.max(active // 2, least)
            low = wp.int32(first)
            for j in range(first + wanted, first + active):
                if particle_hit[at(j)] == 1:  # it takes the place of one that found nothing
                    while particle_hit[at(low)] == 1:
                        low += 1
                    idle = particle_feature[at(low)]
                    particle_feature[at(low)] = particle_feature[at(j)]
                    particle_feature[at(j)] = idle
                    low += 1
            return wanted
        return active

    @n.kernel(__name__)
    def adapt_counts(
        pair_lanes: int,
        pair_count: wp.array(dtype=int),
        found_soft: wp.array(dtype=int),
        particle_counts: wp.array(dtype=wp.vec2i),  # room for particles on the first and on the second body
        particle_start: wp.array(dtype=int),
        neighbour_start: wp.array(dtype=int),
        neighbours: wp.array(dtype=int),
        particle_feature: wp.array(dtype=int),
        particle_active: wp.array(dtype=wp.vec2i),  # those in use, of each pair of each world
        particle_hit: wp.array(dtype=int),  # 1: found a contact in this substep
    ):
        """How many particles both bodies of each pair have in the next substep."""
        row = wp.tid()
        pairs = particle_start.shape[0] - 1
        for slot in range(row, wp.min(pair_count[0], found_soft.shape[0]), pair_lanes):
            flat = at(found_soft[slot])
            p = found_soft[slot] % pairs
            first = (found_soft[slot] // pairs) * particle_start[pairs] + particle_start[p]
            counts = particle_active[flat]
            for side in range(2):
                if side == 1:
                    first = first + particle_counts[p][0]
                counts[side] = next_count(
                    first, counts[side], particle_counts[p][side], neighbour_start, neighbours, particle_feature,
                    particle_hit,
                )  # fmt: skip
            particle_active[flat] = counts

    return SimpleNamespace(adapt_counts=adapt_counts)
