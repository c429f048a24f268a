"""Soft against rigid: vertices of each inside the other (B12; Martin 2009, 5.2.2).

A soft vertex is inside a convex body when it is behind all its faces; the face with the least depth gives the normal.
A rigid vertex is inside a closed soft body when a ray from it crosses the surface an odd number of times; the closest
face gives the normal. Both also touch from outside, within the skins. Balls and capsules are points and edges
with a large skin, and a mesh collider has two sides and no inside: their closest face gives the normal.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.contact.geometry import closest
from turgor.contact.martin2009 import records
from turgor.kernel.numbers import Numbers, at
from turgor.rigid import impulse

__all__ = ["kernels"]


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """The kernels `test_soft_vertices` and `test_rigid_vertices`, and the device function `is_inside`."""
    real, vec, face, spin_type, dim = n.real, n.vec, n.face, n.spin, n.dim
    swing = impulse.kernels(n).swing
    near, table = closest.kernels(n), records.kernels(n)
    Contacts, add_contact, weights_type = table.Contacts, table.add_contact, table.weights
    size, unit = near.size, near.unit
    zero = wp.constant(real(0.0))
    one = wp.constant(real(1.0))

    if dim == 2:
        closest_on_edge = near.closest_on_edge

        @wp.func
        def face_normal(f: face, x: wp.array(dtype=vec)) -> vec:
            e = unit(x[at(f[1])] - x[at(f[0])])
            return vec(e[1], -e[0])

        @wp.func
        def near_face(p: vec, f: face, x: wp.array(dtype=vec)):
            """(weights, gap from the face to p)."""
            t, gap = closest_on_edge(p, x[at(f[0])], x[at(f[1])])
            return weights_type(one - t, t, zero), gap

        @wp.func
        def ray_hits(p: vec, f: face, x: wp.array(dtype=vec)) -> int:
            """1 if the ray from p along +y crosses the edge; a shared end belongs to one edge only."""
            a = x[at(f[0])]
            b = x[at(f[1])]
            if (a[0] <= p[0]) == (b[0] <= p[0]):
                return 0
            if a[1] + (b[1] - a[1]) * ((p[0] - a[0]) / (b[0] - a[0])) > p[1]:
                return 1
            return 0

        @wp.func
        def corners_of(f: face) -> wp.vec3i:
            return wp.vec3i(f[0], f[1], f[0])

    else:
        closest_on_triangle, triangle_normal = near.closest_on_triangle, near.triangle_normal

        @wp.func
        def face_normal(f: face, x: wp.array(dtype=vec)) -> vec:
            return triangle_normal(x[at(f[0])], x[at(f[1])], x[at(f[2])])

        @wp.func
        def near_face(p: vec, f: face, x: wp.array(dtype=vec)):
            """(weights, gap from the face to p)."""
            weights, gap = closest_on_triangle(p, x[at(f[0])], x[at(f[1])], x[at(f[2])])
            return weights, gap

        @wp.func
        def left_of(a: vec, b: vec, p: vec) -> bool:
            """Side of the edge a-b seen along z, with its ends in a fixed order: faces that share it agree exactly."""
            if a[0] < b[0] or (a[0] == b[0] and a[1] < b[1]):
                return (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]) > zero
            return not ((a[0] - b[0]) * (p[1] - b[1]) - (a[1] - b[1]) * (p[0] - b[0]) > zero)

        @wp.func
        def ray_hits(p: vec, f: face, x: wp.array(dtype=vec)) -> int:
            """1 if the ray from p along +z crosses the triangle."""
            a = x[at(f[0])]
            b = x[at(f[1])]
            c = x[at(f[2])]
            left = left_of(a, b, p)
            if left != left_of(b, c, p) or left != left_of(c, a, p):
                return 0
            normal = wp.cross(b - a, c - a)
            if normal[2] == zero:
                return 0
            if wp.dot(a - p, normal) / normal[2] > zero:
                return 1
            return 0

        @wp.func
        def corners_of(f: face) -> wp.vec3i:
            return wp.vec3i(f[0], f[1], f[2])

    @wp.func
    def is_inside(p: vec, first: int, last: int, faces: wp.array(dtype=face), x: wp.array(dtype=vec)) -> bool:
        """Whether a ray from p crosses the faces first .. last an odd number of times."""
        hits = wp.int32(0)
        for k in range(first, last):
            hits += ray_hits(p, faces[at(k)], x)
        return hits % 2 == 1

    @wp.func
    def has_inside(
        closed: int, p: vec, first: int, last: int, faces: wp.array(dtype=face), x: wp.array(dtype=vec)
    ) -> bool:
        """The same for a surface that may be open: nothing is inside it, and no ray is cast."""
        if closed == 0:
            return False
        return is_inside(p, first, last, faces, x)

    @wp.func
    def in_box(p: vec, low: vec, high: vec, margin: real) -> bool:
        result = wp.bool(True)
        for axis in range(dim):
            if p[axis] < low[axis] - margin or p[axis] > high[axis] + margin:
                result = False
        return result

    @wp.func(inline=True)
    def box_distance_sq(p: vec, f: face, x: wp.array(dtype=vec)) -> real:
        """From the box around a face: no more than from the face itself, and found sooner."""
        low = x[at(f[0])]
        high = low
        for corner in range(1, dim):
            low = wp.min(low, x[at(f[corner])])
            high = wp.max(high, x[at(f[corner])])
        return wp.length_sq(wp.max(wp.max(low - p, p - high), vec()))

    @wp.func
    def closest_face(p: vec, first: int, last: int, faces: wp.array(dtype=face), x: wp.array(dtype=vec)):
        """(face, weights, gap, distance) of the face closest to p; no face (-1) where the distances are no numbers."""
        best = wp.int32(-1)
        best_distance = real(1.0e15)
        best_weights = weights_type()
        best_gap = vec()
        for k in range(first, last):
            if box_distance_sq(p, faces[at(k)], x) < best_distance * best_distance:
                weights, gap = near_face(p, faces[at(k)], x)
                distance = size(gap)
                if distance < best_distance:
                    best = k
                    best_distance = distance
                    best_weights = weights
                    best_gap = gap
        return best, best_weights, best_gap, best_distance

    @wp.func
    def from_hull(p: vec, reach: real, first: int, last: int, faces: wp.array(dtype=face), x: wp.array(dtype=vec)):
        """(normal, distance) of p from a convex body, negative inside; exact only up to `reach`."""
        height = real(-1.0e30)
        normal = vec()
        for k in range(first, last):
            out = face_normal(faces[at(k)], x)
            above = wp.dot(p - x[at(faces[at(k)][0])], out)
            if above > height and wp.length_sq(out) > zero:
                height = above
                normal = out
                if height > reach:  # far enough
                    break
        if height > zero and height <= reach:
            _k, _weights, gap, distance = closest_face(p, first, last, faces, x)
            if distance > real(1.001) * height:  # beside the face: the closest point is on an edge or a corner
                height = distance
                normal = unit(gap)
        return normal, height

    @n.kernel(__name__)
    def test_soft_vertices(
        pair_lanes: int,
        element_lanes: int,
        pair_count: wp.array(dtype=int),
        found_mixed: wp.array(dtype=int),
        mixed_pairs: wp.array(dtype=wp.vec2i),  # soft, rigid
        bodies: int,
        dt: wp.array(dtype=real),
        box_low: wp.array(dtype=vec),
        box_high: wp.array(dtype=vec),
        thickness: wp.array(dtype=real),
        convex: wp.array(dtype=int),  # 1: a hull with an inside
        rigid_index: wp.array(dtype=int),
        point_start: wp.array(dtype=int),
        point_end: wp.array(dtype=int),
        face_start: wp.array(dtype=int),
        faces: wp.array(dtype=face),
        glued_to: wp.array(dtype=int),  # rigid body of each soft vertex, or -1
        points: wp.array(dtype=vec),  # all points
        move: wp.array(dtype=vec),
        rigid_x: wp.array(dtype=vec),
        rigid_v: wp.array(dtype=vec),
        rigid_spin: wp.array(dtype=spin_type),
        contacts: Contacts,
    ):
        """Each soft vertex against a rigid body."""
        row, column = wp.tid()
        pairs = mixed_pairs.shape[0]
        for slot in range(row, wp.min(pair_count[1], found_mixed.shape[0]), pair_lanes):
            world = found_mixed[slot] // pairs
            pair = mixed_pairs[found_mixed[slot] % pairs]
            soft = world * bodies + pair[0]
            rigid = world * bodies + pair[1]
            body = rigid_index[rigid]
            thick = thickness[soft] + thickness[rigid]
            first = face_start[rigid]
            last = face_start[rigid + 1]
            for i in range(point_start[soft] + column, point_end[soft], element_lanes):
                p = points[at(i)]
                relative = move[at(i)] - dt[0] * (rigid_v[body] + swing(rigid_spin[body], p - rigid_x[body]))
                reach = thick + wp.length(relative)
                if in_box(p, box_low[rigid], box_high[rigid], reach) and glued_to[at(i)] != body:
                    normal = vec()
                    gap = real(1.0e30)
                    if convex[rigid] == 1:
                        normal, gap = from_hull(p, reach, first, last, faces, points)
                    else:
                        k, _weights, arm, distance = closest_face(p, first, last, faces, points)
                        normal = unit(arm)
                        gap = distance
                        if k >= 0 and wp.length_sq(normal) == zero:
                            normal = face_normal(faces[at(k)], points)
                    soon = gap + wp.dot(relative, normal)
                    if soon < thick and gap <= reach and wp.length_sq(normal) > zero:
                        add_contact(
                            contacts, wp.vec2i(soft, rigid), wp.vec3i(i, i, i), weights_type(one, zero, zero),
                            wp.vec3i(0, 0, 0), weights_type(), body, p - gap * normal, normal, gap, thick, 1,
                        )  # fmt: skip

    @n.kernel(__name__)
    def test_rigid_vertices(
        pair_lanes: int,
        element_lanes: int,
        pair_count: wp.array(dtype=int),
        found_mixed: wp.array(dtype=int),
        mixed_pairs: wp.array(dtype=wp.vec2i),
        bodies: int,
        dt: wp.array(dtype=real),
        box_low: wp.array(dtype=vec),
        box_high: wp.array(dtype=vec),
        thickness: wp.array(dtype=real),
        closed: wp.array(dtype=int),
        rigid_index: wp.array(dtype=int),
        point_start: wp.array(dtype=int),
        point_end: wp.array(dtype=int),
        face_start: wp.array(dtype=int),
        faces: wp.array(dtype=face),
        glued_to: wp.array(dtype=int),
        points: wp.array(dtype=vec),
        move: wp.array(dtype=vec),
        rigid_x: wp.array(dtype=vec),
        rigid_v: wp.array(dtype=vec),
        rigid_spin: wp.array(dtype=spin_type),
        contacts: Contacts,
    ):
        """Each collision point of a rigid body against the faces of a soft body."""
        row, column = wp.tid()
        pairs = mixed_pairs.shape[0]
        for slot in range(row, wp.min(pair_count[1], found_mixed.shape[0]), pair_lanes):
            world = found_mixed[slot] // pairs
            pair = mixed_pairs[found_mixed[slot] % pairs]
            soft = world * bodies + pair[0]
            rigid = world * bodies + pair[1]
            body = rigid_index[rigid]
            thick = thickness[soft] + thickness[rigid]
            first = face_start[soft]
            last = face_start[soft + 1]
            for i in range(point_start[rigid] + column, point_end[rigid], element_lanes):
                p = points[at(i)]
                coming = dt[0] * (rigid_v[body] + swing(rigid_spin[body], p - rigid_x[body]))
                if in_box(p, box_low[soft], box_high[soft], thick + wp.length(coming)):
                    k, weights, arm, distance = closest_face(p, first, last, faces, points)
                    f = corners_of(faces[at(wp.max(k, first))])
                    relative = coming
                    glued = wp.bool(False)
                    for c in range(3):
                        relative -= weights[c] * move[at(f[c])]
                        if glued_to[at(f[c])] == body:
                            glued = True
                    normal = unit(arm)  # from the soft face to the rigid point
                    gap = distance
                    if k >= 0 and wp.length_sq(normal) == zero:
                        normal = face_normal(faces[at(k)], points)
                    elif has_inside(closed[soft], p, first, last, faces, points):
                        normal = -normal
                        gap = -distance
                    near_enough = gap + wp.dot(relative, normal) < thick and gap <= thick + wp.length(relative)
                    if k >= 0 and near_enough and not glued:
                        add_contact(
                            contacts, wp.vec2i(soft, rigid), f, weights, wp.vec3i(0, 0, 0), weights_type(),
                            body, p, -normal, gap, thick, 1,
                        )  # fmt: skip

    return SimpleNamespace(
        is_inside=is_inside,
        has_inside=has_inside,
        test_soft_vertices=test_soft_vertices,
        test_rigid_vertices=test_rigid_vertices,
    )
