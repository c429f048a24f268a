"""Contact of balls and capsules: closest points of their core, a point or a segment, with their radius around it (B14).

Cores do not overlap anything as long as contacts are solved in time, so its closest points give the normal; a core
inside a hull leaves through the nearest face. A capsule that lies along a face or along another capsule gets
two points, so that it rests.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.contact.geometry import closest
from turgor.contact.rigid.records import structs
from turgor.kernel.numbers import Numbers, at

__all__ = ["kernels"]

LYING = 0.98  # cosine of the angle between the direction to a capsule and the face it lies on


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """Device functions; each fills the buffers and returns (count, normal from the second to the first)."""
    real, vec = n.real, n.vec
    c = closest.kernels(n)
    size, unit = c.size, c.unit
    closest_on_edge, closest_between_edges = c.closest_on_edge, c.closest_between_edges
    Shapes = structs(n).Shapes
    zero = wp.constant(real(0.0))
    one = wp.constant(real(1.0))
    far = wp.constant(real(1e30))
    lying = wp.constant(real(LYING))

    if n.dim == 2:

        @wp.func
        def nearest(s: Shapes, piece: int, p: vec, q: vec):
            """(share of p-q, gap vector, face) from a piece to the ball core p; only sides that it is in front of."""
            best = far
            gap = vec()
            share = zero
            face = int(s.piece[at(piece)].face_first)
            for f in range(s.piece[at(piece)].face_first, s.piece[at(piece)].face_last):
                if wp.dot(s.face[at(f)].normal, p) >= s.face[at(f)].offset:
                    begin = s.face[at(f)].first
                    _, r = closest_on_edge(p, s.corner[at(begin)], s.corner[at(begin + 1)])
                    if wp.dot(r, r) < best:
                        best = wp.dot(r, r)
                        gap = r
                        face = f
            return share, gap, face

        @wp.func
        def over_face(s: Shapes, f: int, p: vec, q: vec):
            """(first, last): the part of the core over a side."""
            return zero, one

    else:
        closest_on_triangle, closest_edge_triangle = c.closest_on_triangle, c.closest_edge_triangle

        @wp.func
        def nearest(s: Shapes, piece: int, p: vec, q: vec):
            """(share of p-q, gap vector, face) from a piece to the core p-q; only faces that it is in front of."""
            best = far
            gap = vec()
            share = zero
            face = int(s.piece[at(piece)].face_first)
            ball = wp.length_sq(q - p) <= zero
            for f in range(s.piece[at(piece)].face_first, s.piece[at(piece)].face_last):
                normal = s.face[at(f)].normal
                if wp.max(wp.dot(normal, p), wp.dot(normal, q)) >= s.face[at(f)].offset:
                    begin = s.face[at(f)].first
                    a = s.corner[at(begin)]
                    for m in range(begin + 1, s.face[at(f)].last - 1):
                        r = vec()
                        t = zero
                        if ball:
                            _, r = closest_on_triangle(p, a, s.corner[at(m)], s.corner[at(m + 1)])
                        else:
                            t, _, r = closest_edge_triangle(p, q, a, s.corner[at(m)], s.corner[at(m + 1)])
                        if wp.dot(r, r) < best:
                            best = wp.dot(r, r)
                            gap = r
                            share = t
                            face = f
            return share, gap, face

        @wp.func
        def over_face(s: Shapes, f: int, p: vec, q: vec):
            """(first, last): the part of the core over a face, as shares of p-q; first > last: none."""
            first = zero
            last = one
            begin = s.face[at(f)].first
            end = s.face[at(f)].last
            for m in range(begin, end):
                at_p = wp.dot(p - s.corner[at(m)], s.side[at(m)])
                at_q = wp.dot(q - s.corner[at(m)], s.side[at(m)])
                if at_p > zero and at_q > zero:
                    last = real(-1.0)
                elif at_p > zero:
                    first = wp.max(first, at_p / (at_p - at_q))
                elif at_q > zero:
                    last = wp.min(last, at_p / (at_p - at_q))
            return first, last

    @wp.func
    def deepest(s: Shapes, piece: int, p: vec, q: vec) -> int:
        """The face that the core is least behind."""
        best = -far
        face = int(s.piece[at(piece)].face_first)
        for f in range(s.piece[at(piece)].face_first, s.piece[at(piece)].face_last):
            ahead = wp.min(wp.dot(s.face[at(f)].normal, p), wp.dot(s.face[at(f)].normal, q)) - s.face[at(f)].offset
            if ahead > best:
                best = ahead
                face = f
        return face

    @wp.func
    def round_on_piece(
        s: Shapes,
        piece: int,
        p: vec,
        q: vec,
        radius: real,
        margin: real,
        position: wp.array(dtype=vec),
        gap: wp.array(dtype=real),
        features: wp.array(dtype=int),
    ):
        """A core p-q with a radius on a piece, in the frame of the piece."""
        t, r, face = nearest(s, piece, p, q)
        distance = size(r)
        normal = unit(r)
        ball = wp.length_sq(q - p) <= zero
        flat = wp.dot(normal, s.face[at(face)].normal) > lying
        if distance <= zero:
            face = deepest(s, piece, p, q)
            normal = s.face[at(face)].normal
            flat = True
            distance = wp.min(wp.dot(normal, p), wp.dot(normal, q)) - s.face[at(face)].offset
        if distance - radius > margin:
            return 0, vec()
        if flat and not ball:
            normal = s.face[at(face)].normal
            first, last = over_face(s, face, p, q)
            if first <= last:
                count = wp.int32(0)
                for k in range(2):
                    u = first
                    if k == 1:
                        u = last
                    core = p + u * (q - p)
                    away = wp.dot(normal, core) - s.face[at(face)].offset - radius
                    if away <= margin:
                        position[count] = core - (radius + real(0.5) * away) * normal
                        gap[count] = away
                        features[count] = 1 + k
                        count += 1
                return count, normal
            normal = unit(r)
            if size(r) <= zero:
                normal = s.face[at(face)].normal
        # one point: the end of the core, or where it is closest
        if size(r) <= zero:
            t = zero
            if wp.dot(normal, p) > wp.dot(normal, q):
                t = one
        core = p + t * (q - p)
        position[0] = core - (real(0.5) * (distance + radius)) * normal
        gap[0] = distance - radius
        features[0] = 0
        return 1, normal

    @wp.func
    def round_on_round(
        p: vec,
        q: vec,
        radius: real,
        a: vec,
        b: vec,
        other: real,
        margin: real,
        position: wp.array(dtype=vec),
        gap: wp.array(dtype=real),
        features: wp.array(dtype=int),
    ):
        """A core p-q with a radius on a core a-b with another."""
        s, _, r = closest_between_edges(p, q, a, b)
        distance = size(r)
        if distance - radius - other > margin:
            return 0, vec()
        normal = unit(r)
        if distance <= zero:  # cores that cross: apart along any direction, the last axis
            normal[wp.static(n.dim - 1)] = one
        count = wp.int32(0)
        d = q - p
        e = b - a
        dd = wp.dot(d, d)
        ee = wp.dot(e, e)
        de = wp.dot(d, e)
        if dd > zero and ee > zero and de * de > lying * lying * dd * ee:
            # side by side: the ends of the common section
            from_a = wp.dot(a - p, d) / dd
            from_b = wp.dot(b - p, d) / dd
            first = wp.clamp(wp.min(from_a, from_b), zero, one)
            last = wp.clamp(wp.max(from_a, from_b), zero, one)
            if (last - first) * (last - first) * dd > real(1e-4) * wp.min(dd, ee):
                for k in range(2):
                    u = first
                    if k == 1:
                        u = last
                    core = p + u * d
                    w = wp.clamp(wp.dot(core - a, e) / ee, zero, one)
                    away = wp.dot(core - a - w * e, normal) - radius - other
                    if away <= margin:
                        position[count] = core - (radius + real(0.5) * away) * normal
                        gap[count] = away
                        features[count] = 1 + k
                        count += 1
                return count, normal
        away = distance - radius - other
        position[0] = p + s * d - (radius + real(0.5) * away) * normal
        gap[0] = away
        features[0] = 0
        return 1, normal

    return SimpleNamespace(round_on_piece=round_on_piece, round_on_round=round_on_round)
