"""Which rigid bodies and walls are near each other: bounds and pairs (B14).

A pair belongs to one body, its owner, whose pairs lie side by side: the owner's thread finds them, and the impulses of
the last substep are looked up in the pairs that it owned then.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.contact.rigid.polytope import MESH
from turgor.contact.rigid.records import structs
from turgor.kernel.numbers import Numbers, at
from turgor.model.rigids import DYNAMIC
from turgor.rigid import motion

__all__ = ["kernels"]


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """In the order of a substep."""
    real, vec, spin_type = n.real, n.vec, n.spin
    m, t = motion.kernels(n), structs(n)
    mat, matrix, rotate_back = m.mat, m.matrix, m.rotate_back
    Shapes, Bodies, Walls, Pairs, Rounds = t.Shapes, t.Bodies, t.Walls, t.Pairs, t.Rounds
    zero = wp.constant(real(0.0))
    mesh = wp.constant(MESH)

    if n.dim == 2:

        @wp.func
        def spin_rate(spin: spin_type) -> real:
            return wp.abs(spin)

        @wp.func
        def single(v: vec) -> wp.vec3f:
            return wp.vec3f(wp.float32(v[0]), wp.float32(v[1]), wp.float32(0.0))

    else:

        @wp.func
        def spin_rate(spin: spin_type) -> real:
            return wp.length(spin)

        @wp.func
        def single(v: vec) -> wp.vec3f:
            return wp.vec3f(wp.float32(v[0]), wp.float32(v[1]), wp.float32(v[2]))

    @wp.func
    def turned_extent(turn: mat, extent: vec) -> vec:
        """Half extents of the bounds of a turned box."""
        out = vec()
        for i in range(wp.static(n.dim)):
            for j in range(wp.static(n.dim)):
                out[i] = out[i] + wp.abs(turn[i, j]) * extent[j]
        return out

    @n.kernel(__name__)
    def find_bounds(
        dt: wp.array(dtype=real),
        shapes: Shapes,
        bodies: Bodies,
        box_centre: wp.array(dtype=vec),
        box_half: wp.array(dtype=vec),
        margin: wp.array(dtype=real),
        pair_count: wp.array(dtype=wp.int32),
        manifold_count: wp.array(dtype=wp.int32),
        held_count: wp.array(dtype=wp.int32),
        push_angular: wp.array(dtype=spin_type),
        rounds: Rounds,
        push_rounds: Rounds,
    ):
        """Bounds of a body, with its skin and the distance that it may move in this substep; counts begin at zero."""
        i = wp.tid()
        if i == 0:
            pair_count[0] = 0
        k = i % bodies.per_world
        if k == 0:
            rounds.unsolved[i // bodies.per_world] = 0
            push_rounds.unsolved[i // bodies.per_world] = 0
        turn = matrix(bodies.q[i])
        grow = bodies.skin[i] + dt[0] * (
            wp.length(bodies.v[i]) + spin_rate(bodies.spin[i]) * shapes.collider[at(k)].reach
        )
        box_centre[i] = bodies.x[i] + turn * shapes.collider[at(k)].middle
        around = turned_extent(turn, shapes.collider[at(k)].half)
        for d in range(wp.static(n.dim)):
            around[d] = around[d] + shapes.collider[at(k)].radius + grow
        box_half[i] = around
        margin[i] = grow
        manifold_count[i] = 0
        held_count[i] = 0
        push_angular[i] = spin_type(real(0.0))

    @wp.func
    def apart(a: vec, size_a: vec, b: vec, size_b: vec) -> bool:
        """Whether two boxes are disjoint."""
        return wp.max(wp.abs(a - b) - size_a - size_b) > zero

    @wp.func
    def write_pair(p: Pairs, index: int, a: int, b: int, part: int) -> int:
        if index < p.capacity:
            p.a[index] = a
            p.b[index] = b
            p.part[index] = part
        return index + 1

    @wp.func
    def find_partners(
        i: int,
        start: int,
        write: int,
        between_bodies: int,
        s: Shapes,
        b: Bodies,
        w: Walls,
        p: Pairs,
        box_centre: wp.array(dtype=vec),
        box_half: wp.array(dtype=vec),
    ) -> int:
        """Number of the pairs that body i owns; they are written from `start` on."""
        k = i % b.per_world
        if s.collider[at(k)].kind == mesh:
            return 0
        index = int(start)
        here = box_centre[i]
        size = box_half[i]
        free = b.kind[i] == DYNAMIC
        if free:
            for h in range(w.count):
                normal = w.normal[h]
                if wp.dot(normal, here - w.point[h]) < wp.dot(wp.abs(normal), size):
                    if write == 1:
                        write_pair(p, index, i, -1 - h, 0)
                    index += 1
        if between_bodies == 1:
            first = i - k
            for j in range(i + 1, first + b.per_world):
                near = not apart(here, size, box_centre[at(j)], box_half[at(j)])
                if near and (free or b.kind[at(j)] == DYNAMIC) and s.collider[at(j - first)].kind != mesh:
                    if write == 1:
                        write_pair(p, index, i, j, 0)
                    index += 1
            for m in range(s.meshes.shape[0]):
                j = first + s.meshes[m]
                if free and not apart(here, size, box_centre[at(j)], box_half[at(j)]):
                    shape = s.collider[at(j - first)]
                    local = rotate_back(b.q[j], here - b.x[j])
                    turn = matrix(b.q[j])
                    grown = turned_extent(wp.transpose(turn), size) + box_half[j] - turned_extent(turn, shape.half)
                    query = wp.bvh_query_aabb(shape.bvh, single(local - grown), single(local + grown))
                    part = wp.int32(0)
                    while wp.bvh_query_next(query, part):
                        if write == 1:
                            write_pair(p, index, i, j, part)
                        index += 1
        return index - start

    @wp.func
    def set_range(p: Pairs, i: int, start: int, number: int):
        """The range of a body's pairs, as far as the capacity goes."""
        if start + number > p.capacity:
            wp.atomic_max(p.overflow, 0, start + number)
        p.first[i] = wp.min(start, p.capacity)
        p.number[i] = wp.min(number, p.capacity - p.first[i])

    @n.kernel(__name__)
    def find_pairs(
        between_bodies: int,
        shapes: Shapes,
        bodies: Bodies,
        walls: Walls,
        pairs: Pairs,
        box_centre: wp.array(dtype=vec),
        box_half: wp.array(dtype=vec),
    ):
        """The pairs that a body owns, side by side; threads run one after the other."""
        i = wp.tid()
        start = pairs.count[0]
        number = find_partners(i, start, 1, between_bodies, shapes, bodies, walls, pairs, box_centre, box_half)
        pairs.count[0] = start + number
        set_range(pairs, i, start, number)

    # in parallel: count, add up, write, so that the order does not depend on that of the threads

    @n.kernel(__name__)
    def count_pairs(
        between_bodies: int,
        shapes: Shapes,
        bodies: Bodies,
        walls: Walls,
        pairs: Pairs,
        box_centre: wp.array(dtype=vec),
        box_half: wp.array(dtype=vec),
        body_pairs: wp.array(dtype=wp.int32),
    ):
        """How many pairs a body owns."""
        i = wp.tid()
        body_pairs[i] = find_partners(i, 0, 0, between_bodies, shapes, bodies, walls, pairs, box_centre, box_half)

    @n.kernel(__name__)
    def count_worlds(bodies: Bodies, body_pairs: wp.array(dtype=wp.int32), world_pairs: wp.array(dtype=wp.int32)):
        """How many pairs a world has."""
        world = wp.tid()
        total = wp.int32(0)
        for i in range(world * bodies.per_world, (world + 1) * bodies.per_world):
            total += body_pairs[i]
        world_pairs[world] = total

    @n.kernel(__name__)
    def write_pairs(
        between_bodies: int,
        shapes: Shapes,
        bodies: Bodies,
        walls: Walls,
        pairs: Pairs,
        box_centre: wp.array(dtype=vec),
        box_half: wp.array(dtype=vec),
        body_pairs: wp.array(dtype=wp.int32),
        world_pairs: wp.array(dtype=wp.int32),
    ):
        """The pairs that a body owns, after those of all bodies before it."""
        i = wp.tid()
        world = i // bodies.per_world
        start = wp.int32(0)
        for other in range(world):
            start += world_pairs[other]
        for j in range(world * bodies.per_world, i):
            start += body_pairs[j]
        number = find_partners(i, start, 1, between_bodies, shapes, bodies, walls, pairs, box_centre, box_half)
        if i == body_pairs.shape[0] - 1:
            pairs.count[0] = start + number
        set_range(pairs, i, start, number)

    return SimpleNamespace(
        find_bounds=find_bounds,
        find_pairs=find_pairs,
        count_pairs=count_pairs,
        count_worlds=count_worlds,
        write_pairs=write_pairs,
    )
