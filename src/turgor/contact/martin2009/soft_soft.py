"""Feature tests between the particles of two soft bodies (B11; Martin 2009, 5.2.1.1), which find their contacts.

Each particle of one body is tested against each of the other: first the distance of their positions, then the test of
their two features. The normal points from the higher feature to the lower (from the second body's to the first's for
equals). Where both surfaces show that one has passed through the other (the gap points into the higher feature's body
and out of the lower one's), the normal is reversed and the gap is negative: the paper gets this from taking the
surface's normal. A vertex behind a face is also tested by ray parity, since surfaces that cross at a slant do not show
it. Such contacts are found up to an edge deep, beyond the skin: the paper's two skins were most of an edge, and
bodies that are pressed together would stay inside each other. A cloth has no inside, and its normal decides nothing.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.contact.geometry import closest, feature_tests
from turgor.contact.martin2009 import particles, records, soft_rigid
from turgor.kernel.numbers import Numbers, at

__all__ = ["kernels"]

DEPTH = 1.0  # of the mean edge length: depth up to which crossed features are separated
FACING = 0.5  # cosine: how well the gap must agree with a surface's normal to prove that it has been crossed


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """The kernel `test_particles`."""
    real, vec = n.real, n.vec
    tests, near, table = feature_tests.kernels(n), closest.kernels(n), records.kernels(n)
    Contacts, add_contact, weights_type = table.Contacts, table.add_contact, table.weights
    middle = particles.kernels(n).middle
    has_inside = soft_rigid.kernels(n).has_inside
    vertex_vertex, vertex_edge = tests.vertex_vertex, tests.vertex_edge
    unit, closest_on_edge = near.unit, near.closest_on_edge
    depth_share = wp.constant(real(DEPTH))
    facing = wp.constant(real(FACING))
    zero = wp.constant(real(0.0))
    one = wp.constant(real(1.0))

    @wp.func
    def corner_count(corners: wp.vec3i) -> int:
        if corners[1] < 0:
            return 1
        if corners[2] < 0:
            return 2
        return 3

    @wp.func
    def in_world(corners: wp.vec3i, shift: int) -> wp.vec3i:
        """Flat points; a feature with fewer than three corners repeats its first."""
        a = corners[0] + shift
        b = wp.where(corners[1] < 0, a, corners[1] + shift)
        c = wp.where(corners[2] < 0, a, corners[2] + shift)
        return wp.vec3i(a, b, c)

    if n.dim == 2:

        @wp.func
        def face_vector(face: wp.vec3i, x: wp.array(dtype=vec)) -> vec:
            e = x[at(face[1])] - x[at(face[0])]
            return vec(e[1], -e[0])

        @wp.func
        def meet(m1: int, m2: int, a: wp.vec3i, b: wp.vec3i, x: wp.array(dtype=vec), reach: real):
            """(hit, point on the first, on the second, normal, distance) of features of m1 <= m2 corners."""
            a0 = x[at(a[0])]
            a1 = x[at(a[1])]
            b0 = x[at(b[0])]
            b1 = x[at(b[1])]
            if m2 == 1:
                hit, p, q, normal, distance = vertex_vertex(a0, b0, reach)
                return hit, p, q, normal, distance
            hit, p, q, normal, distance = vertex_edge(a0, b0, b1, reach)
            if m1 == 1:
                return hit, p, q, normal, distance
            # two edges in a plane: the best of each end against the other edge
            hit_other, p_other, q_other, normal_other, other = vertex_edge(a1, b0, b1, reach)
            if other < distance:
                hit, p, q, normal, distance = hit_other, p_other, q_other, normal_other, other
            hit_other, q_other, p_other, normal_other, other = vertex_edge(b0, a0, a1, reach)
            if other < distance:
                hit, p, q, normal, distance = hit_other, p_other, q_other, -normal_other, other
            hit_other, q_other, p_other, normal_other, other = vertex_edge(b1, a0, a1, reach)
            if other < distance:
                hit, p, q, normal, distance = hit_other, p_other, q_other, -normal_other, other
            return hit, p, q, normal, distance

        @wp.func
        def weights_at(p: vec, corners: wp.vec3i, count: int, x: wp.array(dtype=vec)) -> weights_type:
            """Weights of a feature's corners for a point on it."""
            if count == 1:
                return weights_type(one, zero, zero)
            t, _gap = closest_on_edge(p, x[at(corners[0])], x[at(corners[1])])
            return weights_type(one - t, t, zero)

    else:
        vertex_triangle, edge_edge = tests.vertex_triangle, tests.edge_edge
        edge_triangle, triangle_triangle = tests.edge_triangle, tests.triangle_triangle
        closest_on_triangle = near.closest_on_triangle

        @wp.func
        def face_vector(face: wp.vec3i, x: wp.array(dtype=vec)) -> vec:
            a = x[at(face[0])]
            return wp.cross(x[at(face[1])] - a, x[at(face[2])] - a)

        @wp.func
        def meet(m1: int, m2: int, a: wp.vec3i, b: wp.vec3i, x: wp.array(dtype=vec), reach: real):
            """(hit, point on the first, on the second, normal, distance) of features of m1 <= m2 corners."""
            a0 = x[at(a[0])]
            a1 = x[at(a[1])]
            b0 = x[at(b[0])]
            b1 = x[at(b[1])]
            b2 = x[at(b[2])]
            if m2 == 1:
                hit, p, q, normal, distance = vertex_vertex(a0, b0, reach)
                return hit, p, q, normal, distance
            if m1 == 1 and m2 == 2:
                hit, p, q, normal, distance = vertex_edge(a0, b0, b1, reach)
                return hit, p, q, normal, distance
            if m1 == 1:
                hit, p, q, normal, distance = vertex_triangle(a0, b0, b1, b2, reach)
                return hit, p, q, normal, distance
            if m2 == 2:
                hit, p, q, normal, distance = edge_edge(a0, a1, b0, b1, reach)
                return hit, p, q, normal, distance
            if m1 == 2:
                hit, p, q, normal, distance = edge_triangle(a0, a1, b0, b1, b2, reach)
                return hit, p, q, normal, distance
            hit, p, q, normal, distance = triangle_triangle(a0, a1, x[at(a[2])], b0, b1, b2, reach)
            return hit, p, q, normal, distance

        @wp.func
        def weights_at(p: vec, corners: wp.vec3i, count: int, x: wp.array(dtype=vec)) -> weights_type:
            """Weights of a feature's corners for a point on it."""
            if count == 1:
                return weights_type(one, zero, zero)
            if count == 2:
                t, _gap = closest_on_edge(p, x[at(corners[0])], x[at(corners[1])])
                return weights_type(one - t, t, zero)
            weights, _gap = closest_on_triangle(p, x[at(corners[0])], x[at(corners[1])], x[at(corners[2])])
            return weights

    @wp.func
    def outwards(
        feature: int,
        shift: int,
        corners: wp.array(dtype=wp.vec3i),
        neighbour_start: wp.array(dtype=int),
        neighbours: wp.array(dtype=int),
        x: wp.array(dtype=vec),
    ) -> vec:
        """Unit normal of the surface at a feature: its own face's, or the mean of the faces it is part of."""
        own = corners[at(feature)]
        if corner_count(own) == wp.static(n.dim):
            return unit(face_vector(in_world(own, shift), x))
        total = vec()
        for k in range(neighbour_start[at(feature)], neighbour_start[at(feature + 1)]):
            around = corners[at(neighbours[at(k)])]
            if corner_count(around) == wp.static(n.dim):
                total += face_vector(in_world(around, shift), x)
        return unit(total)

    @wp.func
    def reach_of(corners: wp.vec3i, centre: vec, x: wp.array(dtype=vec)) -> real:
        """Farthest corner from the middle of a feature."""
        reach = wp.length(x[at(corners[0])] - centre)
        reach = wp.max(reach, wp.length(x[at(corners[1])] - centre))
        return wp.max(reach, wp.length(x[at(corners[2])] - centre))

    @n.kernel(__name__)
    def test_particles(
        pair_lanes: int,
        element_lanes: int,
        pair_count: wp.array(dtype=int),
        found_soft: wp.array(dtype=int),
        soft_pairs: wp.array(dtype=wp.vec2i),
        particle_counts: wp.array(dtype=wp.vec2i),  # room for particles, and those in use
        particle_active: wp.array(dtype=wp.vec2i),
        particle_start: wp.array(dtype=int),
        corners: wp.array(dtype=wp.vec3i),
        neighbour_start: wp.array(dtype=int),
        neighbours: wp.array(dtype=int),
        soft_points: int,
        bodies: int,
        thickness: wp.array(dtype=real),
        edge_size: wp.array(dtype=real),
        closed: wp.array(dtype=int),
        particle_feature: wp.array(dtype=int),
        particle_position: wp.array(dtype=vec),
        particle_hit: wp.array(dtype=int),  # 1: this particle found a contact; empty where nobody asks
        face_start: wp.array(dtype=int),  # of each contact body
        faces: wp.array(dtype=n.face),
        points: wp.array(dtype=vec),
        move: wp.array(dtype=vec),
        contacts: Contacts,
    ):
        """Contacts between the features on which the particles rest."""
        row, column = wp.tid()
        pairs = particle_start.shape[0] - 1
        for slot in range(row, wp.min(pair_count[0], found_soft.shape[0]), pair_lanes):
            world = found_soft[slot] // pairs
            p = found_soft[slot] % pairs
            shift = world * soft_points
            first = world * particle_start[pairs] + particle_start[p]
            body_a = world * bodies + soft_pairs[p][0]
            body_b = world * bodies + soft_pairs[p][1]
            thick = thickness[body_a] + thickness[body_b]
            depth = real(0.5) * depth_share * (edge_size[body_a] + edge_size[body_b])
            others = particle_active[at(found_soft[slot])][1]
            for k in range(column, particle_active[at(found_soft[slot])][0] * others, element_lanes):
                i = first + k // others
                j = first + particle_counts[p][0] + k % others
                feature_1 = particle_feature[at(i)]
                feature_2 = particle_feature[at(j)]
                centre_1 = particle_position[at(i)]
                centre_2 = particle_position[at(j)]
                body_1 = body_a
                body_2 = body_b
                if corner_count(corners[at(feature_1)]) > corner_count(corners[at(feature_2)]):
                    feature_1, feature_2 = feature_2, feature_1
                    centre_1, centre_2 = centre_2, centre_1
                    body_1, body_2 = body_2, body_1
                m1 = corner_count(corners[at(feature_1)])
                m2 = corner_count(corners[at(feature_2)])
                one_side = in_world(corners[at(feature_1)], shift)
                other_side = in_world(corners[at(feature_2)], shift)
                coming = middle(corners[at(feature_1)], shift, move) - middle(corners[at(feature_2)], shift, move)
                reach = wp.max(thick, depth) + wp.length(coming)
                bound = reach + reach_of(one_side, centre_1, points) + reach_of(other_side, centre_2, points)
                if wp.length(centre_1 - centre_2) <= bound:
                    hit, point_1, point_2, normal, distance = meet(m1, m2, one_side, other_side, points, reach)
                    if hit:
                        out_1 = outwards(feature_1, shift, corners, neighbour_start, neighbours, points)
                        out_2 = outwards(feature_2, shift, corners, neighbour_start, neighbours, points)
                        if distance <= zero or wp.length_sq(normal) == zero:
                            normal = out_2
                        gap = distance
                        # from -1 (the surfaces have passed through each other) to 1 (they face each other)
                        side = one
                        if closed[body_2] == 1:
                            side = wp.dot(normal, out_2)
                        if closed[body_1] == 1:
                            opposite = -wp.dot(normal, out_1)
                            side = wp.where(side * opposite > zero, opposite, zero)
                            if closed[body_2] == 1 and wp.abs(wp.dot(normal, out_2)) < wp.abs(side):
                                side = wp.dot(normal, out_2)
                        # surfaces that cross at a slant: decided by whether a vertex behind a face is inside
                        in_doubt = m1 == 1 and m2 == wp.static(n.dim) and side >= -facing
                        in_doubt = in_doubt and closed[body_2] == 1 and wp.dot(normal, out_2) < -facing
                        begin = face_start[body_2]
                        end = face_start[body_2 + 1]
                        if has_inside(wp.where(in_doubt, 1, 0), points[at(one_side[0])], begin, end, faces, points):
                            side = -one
                        if side < -facing:
                            normal = -normal
                            gap = -distance
                        weights_1 = weights_at(point_1, one_side, m1, points)
                        weights_2 = weights_at(point_2, other_side, m2, points)
                        relative = vec()
                        for c in range(3):
                            relative += weights_1[c] * move[at(one_side[c])] - weights_2[c] * move[at(other_side[c])]
                        certain = side > zero or side < -facing  # else an impulse might pull
                        if certain and gap + wp.dot(relative, normal) < thick and gap > -depth:
                            if particle_hit.shape[0] > 0:
                                particle_hit[at(i)] = 1
                                particle_hit[at(j)] = 1
                            separate = wp.where(m1 == 1 and m2 == wp.static(n.dim), 1, 0)
                            add_contact(
                                contacts, wp.vec2i(body_1, body_2), one_side, weights_1, other_side, weights_2, -1,
                                point_2, normal, gap, thick, separate,
                            )  # fmt: skip

    return SimpleNamespace(test_particles=test_particles)
