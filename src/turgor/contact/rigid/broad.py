"""Which rigid bodies and walls are near each other: bounds and pairs (B14).

A pair belongs to one body, its owner, whose pairs lie side by side: the owner's thread finds them, and the impulses of
the last substep are looked up in the owner's old pairs.
"""

import functools
from types import SimpleNamespace

import warp as wp

from turgor.contact.rigid.polytope import MESH
from turgor.contact.rigid.records import tables
from turgor.kernel.numbers import Numbers, at
from turgor.rigid import motion

__all__ = ["kernels"]


@functools.cache
def kernels(n: Numbers) -> SimpleNamespace:
    """In the order of a substep."""
    real, vec, spin_type = n.real, n.vec, n.spin
    m, t = motion.kernels(n), tables(n)
    pose, rotate_back = m.pose, m.rotate_back
    mat, Shapes, Bodies, Walls, Pairs = t.mat, t.Shapes, t.Bodies, t.Walls, t.Pairs
    zero = wp.constant(real(0.0))
    mesh = wp.constant(MESH)

    if n.dim == 2:

        @wp.func
        def matrix(q: pose) -> mat:
            c = wp.cos(q)
            s = wp.sin(q)
            return mat(c, -s, s, c)

        @wp.func
        def speed(spin: spin_type) -> real:
            return wp.abs(spin)

        @wp.func
        def single(v: vec) -> wp.vec3f:
            return wp.vec3f(wp.float32(v[0]), wp.float32(v[1]), wp.float32(0.0))

    else:

        @wp.func
        def matrix(q: pose) -> mat:
            return wp.quat_to_matrix(q)

        @wp.func
        def speed(spin: spin_type) -> real:
            return wp.length(spin)

        @wp.func
        def single(v: vec) -> wp.vec3f:
            return wp.vec3f(wp.float32(v[0]), wp.float32(v[1]), wp.float32(v[2]))

    @wp.func
    def spread(turn: mat, extent: vec) -> vec:
        """Half extents of the bounds of a turned box."""
        out = vec()
        for i in range(wp.static(n.dim)):
            for j in range(wp.static(n.dim)):
                out[i] = out[i] + wp.abs(turn[i, j]) * extent[j]
        return out

    @n.kernel(__name__)
    def find_bounds(
        dt: wp.array(dtype=real),
        s: Shapes,
        b: Bodies,
        middle: wp.array(dtype=vec),
        extent: wp.array(dtype=vec),
        reach: wp.array(dtype=real),
        count: wp.array(dtype=wp.int32),
        sharing: wp.array(dtype=wp.int32),
    ):
        """Bounds of a body, with its skin and as far as it may come in this substep."""
        i = wp.tid()
        if i == 0:
            count[0] = 0
        k = i % b.per_world
        turn = matrix(b.q[i])
        grow = b.skin[i] + dt[0] * (wp.length(b.v[i]) + speed(b.spin[i]) * s.collider[at(k)].reach)
        middle[i] = b.x[i] + turn * s.collider[at(k)].middle
        around = spread(turn, s.collider[at(k)].half)
        for d in range(wp.static(n.dim)):
            around[d] = around[d] + s.collider[at(k)].round + grow
        extent[i] = around
        reach[i] = grow
        sharing[i] = 0

    @wp.func
    def apart(a: vec, size_a: vec, b: vec, size_b: vec) -> bool:
        """Whether two boxes have room between them."""
        return wp.max(wp.abs(a - b) - size_a - size_b) > zero

    @wp.func
    def note(p: Pairs, index: int, a: int, b: int, part: int) -> int:
        if index < p.capacity:
            p.a[index] = a
            p.b[index] = b
            p.part[index] = part
        return index + 1

    @wp.func
    def partners(
        i: int,
        start: int,
        write: int,
        with_bodies: int,
        s: Shapes,
        b: Bodies,
        w: Walls,
        p: Pairs,
        middle: wp.array(dtype=vec),
        extent: wp.array(dtype=vec),
    ) -> int:
        """Number of the pairs that body i owns; they are written from `start` on."""
        k = i % b.per_world
        if s.collider[at(k)].kind == mesh:
            return 0
        index = int(start)
        here = middle[i]
        size = extent[i]
        free = b.kind[i] == 0
        if free:
            for h in range(w.count):
                normal = w.normal[h]
                if wp.dot(normal, here - w.point[h]) < wp.dot(wp.abs(normal), size):
                    if write == 1:
                        note(p, index, i, -1 - h, 0)
                    index += 1
        if with_bodies == 1:
            first = i - k
            for j in range(i + 1, first + b.per_world):
                near = not apart(here, size, middle[at(j)], extent[at(j)])
                if near and (free or b.kind[at(j)] == 0) and s.collider[at(j - first)].kind != mesh:
                    if write == 1:
                        note(p, index, i, j, 0)
                    index += 1
            for m in range(s.meshes.shape[0]):
                j = first + s.meshes[m]
                if free and not apart(here, size, middle[at(j)], extent[at(j)]):
                    shape = s.collider[at(j - first)]
                    local = rotate_back(b.q[j], here - b.x[j])
                    turn = matrix(b.q[j])
                    grown = spread(wp.transpose(turn), size) + extent[j] - spread(turn, shape.half)
                    query = wp.bvh_query_aabb(shape.tree, single(local - grown), single(local + grown))
                    part = wp.int32(0)
                    while wp.bvh_query_next(query, part):
                        if write == 1:
                            note(p, index, i, j, part)
                        index += 1
        return index - start

    @wp.func
    def own(p: Pairs, i: int, start: int, number: int):
        """The range of a body's pairs, as far as there is room."""
        if start + number > p.capacity:
            wp.atomic_max(p.overflow, 0, start + number)
        p.first[i] = wp.min(start, p.capacity)
        p.number[i] = wp.min(number, p.capacity - p.first[i])

    @n.kernel(__name__)
    def find_pairs(
        with_bodies: int,
        s: Shapes,
        b: Bodies,
        w: Walls,
        p: Pairs,
        middle: wp.array(dtype=vec),
        extent: wp.array(dtype=vec),
    ):
        """The pairs that a body owns, side by side; one thread after the other."""
        i = wp.tid()
        start = p.count[0]
        number = partners(i, start, 1, with_bodies, s, b, w, p, middle, extent)
        p.count[0] = start + number
        own(p, i, start, number)

    # in parallel: count, add up, write; so the order is always the same

    @n.kernel(__name__)
    def count_pairs(
        with_bodies: int,
        s: Shapes,
        b: Bodies,
        w: Walls,
        p: Pairs,
        middle: wp.array(dtype=vec),
        extent: wp.array(dtype=vec),
        numbers: wp.array(dtype=wp.int32),
    ):
        """How many pairs a body owns."""
        i = wp.tid()
        numbers[i] = partners(i, 0, 0, with_bodies, s, b, w, p, middle, extent)

    @n.kernel(__name__)
    def count_worlds(per_world: int, numbers: wp.array(dtype=wp.int32), totals: wp.array(dtype=wp.int32)):
        """How many pairs a world has."""
        world = wp.tid()
        total = wp.int32(0)
        for i in range(world * per_world, (world + 1) * per_world):
            total += numbers[i]
        totals[world] = total

    @n.kernel(__name__)
    def write_pairs(
        with_bodies: int,
        s: Shapes,
        b: Bodies,
        w: Walls,
        p: Pairs,
        middle: wp.array(dtype=vec),
        extent: wp.array(dtype=vec),
        numbers: wp.array(dtype=wp.int32),
        totals: wp.array(dtype=wp.int32),
    ):
        """The pairs that a body owns, behind those of all bodies before it."""
        i = wp.tid()
        world = i // b.per_world
        start = wp.int32(0)
        for other in range(world):
            start += totals[other]
        for j in range(world * b.per_world, i):
            start += numbers[j]
        number = partners(i, start, 1, with_bodies, s, b, w, p, middle, extent)
        if i == numbers.shape[0] - 1:
            p.count[0] = start + number
        own(p, i, start, number)

    return SimpleNamespace(
        find_bounds=find_bounds,
        find_pairs=find_pairs,
        count_pairs=count_pairs,
        count_worlds=count_worlds,
        write_pairs=write_pairs,
    )
