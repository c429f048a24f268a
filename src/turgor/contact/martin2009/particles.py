"""Collision particles that look for the closest features of two soft bodies (B10; Martin 2009, 5.2.1).

A particle rests in the middle of a feature. The cost of a position: the sum of 1/d² over the particles of the same body
less twice the sum over those of the other body; it moves to the cheapest neighbouring feature or stays. Rounds end when
fewer than four particles of the pair moved, or after ten. Particles move one after the other: each move then lowers
the sum of all pairs' costs, so they settle; if all moved at once, half of them would oscillate.

A feature that a particle of the same body occupies is not available, as 1/d² says. Attraction does not grow within a
quarter of an edge: two particles of touching bodies would never separate again.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.kernel.blocks import block_min
from turgor.kernel.numbers import Numbers, at

__all__ = ["BLOCK", "kernels"]

ROUNDS = 10
STILL = 4  # a pair continues while at least this many particles move
ATTRACTION = 2.0
CORE = 0.25  # of an edge: attraction does not grow within this distance
BLOCK = 32  # GPU threads for a pair: each tries a neighbour


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """`place_particles` where their features are now, then `move_particles`."""
    real, vec = n.real, n.vec
    core = wp.constant(real(CORE))
    attraction = wp.constant(real(ATTRACTION))
    rounds_limit = wp.constant(ROUNDS)
    still = wp.constant(STILL)
    none = wp.constant(0x7FFFFFFF)

    @wp.func
    def middle(corners: wp.vec3i, shift: int, x: wp.array(dtype=vec)) -> vec:
        """Average of a feature's corners; `shift`: first point of the world."""
        total = x[at(corners[0] + shift)]
        if corners[1] < 0:
            return total
        total += x[at(corners[1] + shift)]
        if corners[2] < 0:
            return real(0.5) * total
        return (total + x[at(corners[2] + shift)]) / real(3.0)

    @n.kernel(__name__)
    def place_particles(
        pair_lanes: int,  # threads of the grid: thread t takes the pairs t, t + pair_lanes ..., as for elements
        element_lanes: int,
        pair_count: wp.array(dtype=int),
        found_soft: wp.array(dtype=int),  # pairs whose spheres meet
        particle_start: wp.array(dtype=int),  # first particle of each pair, one world; one more at the end
        corners: wp.array(dtype=wp.vec3i),
        soft_points: int,
        points: wp.array(dtype=vec),
        particle_feature: wp.array(dtype=int),
        particle_position: wp.array(dtype=vec),
        particle_hit: wp.array(dtype=int),  # empty where nobody asks which particles find contacts
    ):
        row, column = wp.tid()
        pairs = particle_start.shape[0] - 1
        for slot in range(row, wp.min(pair_count[0], found_soft.shape[0]), pair_lanes):
            world = found_soft[slot] // pairs
            p = found_soft[slot] % pairs
            base = world * particle_start[pairs]
            for i in range(base + particle_start[p] + column, base + particle_start[p + 1], element_lanes):
                particle_position[at(i)] = middle(corners[at(particle_feature[at(i)])], world * soft_points, points)
                if particle_hit.shape[0] > 0:
                    particle_hit[at(i)] = 0

    @wp.func
    def cost(
        spot: vec,
        feature: int,
        me: int,
        own_first: int,
        own_last: int,
        other_first: int,
        other_last: int,
        nearest2: real,
        place: wp.array(dtype=int),
        position: wp.array(dtype=vec),
    ) -> real:
        """Of resting at `spot`, among the particles of its own body and those of the other."""
        total = real(0.0)
        for j in range(other_first, other_last):
            arm = position[at(j)] - spot
            total -= attraction / wp.max(wp.dot(arm, arm), nearest2)
        for j in range(own_first, own_last):
            if j != me:
                if place[at(j)] == feature:
                    return real(1.0e30)
                arm = position[at(j)] - spot
                total += real(1.0) / wp.max(wp.dot(arm, arm), real(1.0e-6) * nearest2)
        return total

    @n.kernel(__name__)
    def move_particles(
        pair_lanes: int,
        pair_count: wp.array(dtype=int),
        found_soft: wp.array(dtype=int),
        soft_pairs: wp.array(dtype=wp.vec2i),
        particle_counts: wp.array(dtype=wp.vec2i),  # room for particles on the first and on the second body
        particle_active: wp.array(dtype=wp.vec2i),  # those in use, of each pair of each world
        particle_start: wp.array(dtype=int),
        corners: wp.array(dtype=wp.vec3i),
        neighbour_start: wp.array(dtype=int),
        neighbours: wp.array(dtype=int),
        soft_points: int,
        bodies: int,
        edge_size: wp.array(dtype=real),
        points: wp.array(dtype=vec),
        particle_feature: wp.array(dtype=int),
        particle_position: wp.array(dtype=vec),
        progress: wp.array(dtype=wp.vec2i),  # rounds made, and particles that moved in the last one
    ):
        """One block per pair. All its threads reach the same decision and write it: none has to wait for another."""
        row, thread = wp.tid()
        width = wp.block_dim()
        pairs = particle_start.shape[0] - 1
        for slot in range(row, wp.min(pair_count[0], found_soft.shape[0]), pair_lanes):
            world = found_soft[slot] // pairs
            p = found_soft[slot] % pairs
            first = world * particle_start[pairs] + particle_start[p]
            active = particle_active[at(found_soft[slot])]
            second = first + particle_counts[p][0]
            edge_a = edge_size[world * bodies + soft_pairs[p][0]]
            edge_b = edge_size[world * bodies + soft_pairs[p][1]]
            near = core * wp.max(edge_a, edge_b)
            rounds = wp.int32(0)
            moved = wp.int32(still)
            while moved >= still and rounds < rounds_limit:
                moved = wp.int32(0)
                for k in range(active[0] + active[1]):
                    own_first = first
                    own_last = first + active[0]
                    other_first = second
                    other_last = second + active[1]
                    i = first + k
                    if k >= active[0]:
                        i = second + k - active[0]
                        own_first, other_first = other_first, own_first
                        own_last, other_last = other_last, own_last
                    here = particle_feature[at(i)]
                    around = neighbour_start[at(here)]
                    # 0: stay; c > 0: go to the neighbour before c
                    choice = wp.int32(0)
                    least = real(1.0e30)
                    for c in range(thread, neighbour_start[at(here + 1)] - around + 1, width):
                        there = here
                        spot = particle_position[at(i)]
                        if c > 0:
                            there = neighbours[at(around + c - 1)]
                            spot = middle(corners[at(there)], world * soft_points, points)
                        price = cost(
                            spot,
                            there,
                            i,
                            own_first,
                            own_last,
                            other_first,
                            other_last,
                            near * near,
                            particle_feature,
                            particle_position,
                        )
                        if price < least:
                            least = price
                            choice = c
                    cheapest = block_min(least)
                    if least > cheapest:
                        choice = none
                    choice = block_min(choice)
                    if choice > 0:
                        there = neighbours[at(around + choice - 1)]
                        particle_feature[at(i)] = there
                        particle_position[at(i)] = middle(corners[at(there)], world * soft_points, points)
                        moved += 1
                rounds += 1
            progress[slot] = wp.vec2i(rounds, moved)

    return SimpleNamespace(middle=middle, place_particles=place_particles, move_particles=move_particles)
