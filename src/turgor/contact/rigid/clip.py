"""Points of a contact between two flat faces: the overlap of the faces, seen along a normal, reduced to four points.

Positions, gaps and features (what made a point, to recognise it in the next substep) are small local arrays.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.contact.rigid.records import POINTS, structs
from turgor.kernel.numbers import Numbers, at
from turgor.rigid import motion

__all__ = ["BUFFER", "kernels"]

BUFFER = 16  # points of a manifold before it is reduced


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """Device functions."""
    real, vec = n.real, n.vec
    mat, Shapes = motion.kernels(n).mat, structs(n).Shapes
    zero = wp.constant(real(0.0))
    one = wp.constant(real(1.0))
    far = wp.constant(real(1e30))
    buffer = wp.constant(BUFFER)

    if n.dim == 2:

        @wp.func
        def span(a: vec, b: vec, p: vec, normal: vec) -> real:
            """Twice the area of a triangle, seen along the normal; in 2D three points never need it."""
            return zero

    else:

        @wp.func
        def span(a: vec, b: vec, p: vec, normal: vec) -> real:
            """Twice the area of a triangle, seen along the normal."""
            return wp.dot(wp.cross(b - a, p - a), normal)

    @wp.func
    def exchange(
        i: int, j: int, position: wp.array(dtype=vec), gap: wp.array(dtype=real), features: wp.array(dtype=int)
    ):
        position_i = position[i]
        gap_i = gap[i]
        feature_i = features[i]
        position[i] = position[j]
        gap[i] = gap[j]
        features[i] = features[j]
        position[j] = position_i
        gap[j] = gap_i
        features[j] = feature_i

    @wp.func
    def reduced(
        count: int,
        normal: vec,
        slop: real,
        position: wp.array(dtype=vec),
        gap: wp.array(dtype=real),
        features: wp.array(dtype=int),
    ) -> int:
        """At most 4 points (2 in 2D): the deepest, the farthest from it, and those that span most on either side.

        Of points equally deep within `slop` the first one counts, so that round-off does not change the choice.
        """
        most = wp.static(2 if n.dim == 2 else POINTS)
        if count <= most:
            return count
        least = far
        for i in range(count):
            least = wp.min(least, gap[i])
        pick = wp.int32(0)
        for i in range(count - 1, -1, -1):
            if gap[i] <= least + slop:
                pick = i
        exchange(0, pick, position, gap, features)
        best = real(-1.0)
        for i in range(1, count):
            d = position[i] - position[0]
            if wp.dot(d, d) > best:
                best = wp.dot(d, d)
                pick = i
        exchange(1, pick, position, gap, features)
        if most == 2:
            return 2
        up = zero
        down = zero
        left = wp.int32(-1)
        right = wp.int32(-1)
        for i in range(2, count):
            area = span(position[0], position[1], position[i], normal)
            if area > up:
                up = area
                left = i
            if area < down:
                down = area
                right = i
        left_over = wp.int32(2)
        if left >= 0:
            exchange(2, left, position, gap, features)
            if right == 2:
                right = left
            left_over = 3
        if right >= 0:
            exchange(left_over, right, position, gap, features)
            left_over += 1
        return left_over

    @wp.func
    def put(
        count: int,
        p: vec,
        distance: real,
        feature: int,
        normal: vec,
        slop: real,
        position: wp.array(dtype=vec),
        gap: wp.array(dtype=real),
        features: wp.array(dtype=int),
    ) -> int:
        """Add a point; a full buffer is reduced first."""
        k = count
        if k == buffer:
            k = reduced(count, normal, slop, position, gap, features)
        position[k] = p
        gap[k] = distance
        features[k] = feature
        return k + 1

    @wp.func
    def opposite(s: Shapes, piece: int, d: vec) -> int:
        """The face of a piece whose normal is most opposite to d."""
        least = far
        face = wp.int32(0)
        for f in range(s.piece[at(piece)].face_first, s.piece[at(piece)].face_last):
            along = wp.dot(s.face[at(f)].normal, d)
            if along < least:
                least = along
                face = f
        return face

    if n.dim == 2:

        @wp.func
        def beside(s: Shapes, face: int, p: vec) -> real:
            """How far a point is beyond the ends of a side."""
            start = s.corner[at(s.face[at(face)].first)]
            along = s.corner[at(s.face[at(face)].first + 1)] - start
            length = wp.length(along)
            t = wp.dot(p - start, along) / length
            return wp.max(-t, t - length)

        @wp.func
        def clip(
            s: Shapes,
            a: int,
            face: int,
            b: int,
            turn: mat,
            shift: vec,
            margin: real,
            slop: real,
            swapped: int,
            position: wp.array(dtype=vec),
            gap: wp.array(dtype=real),
            features: wp.array(dtype=int),
        ) -> int:
            """The part of b's opposite side that lies over side `face` of a: its ends, within the margin."""
            normal = s.face[at(face)].normal
            other = opposite(s, b, wp.transpose(turn) * normal)
            start = s.corner[at(s.face[at(face)].first)]
            along = s.corner[at(s.face[at(face)].first + 1)] - start
            length = wp.length(along)
            along /= length
            p = turn * s.corner[at(s.face[at(other)].first)] + shift
            e = turn * s.corner[at(s.face[at(other)].first + 1)] + shift - p
            at_p = wp.dot(p - start, along)
            rate = wp.dot(e, along)
            first = zero
            last = one
            low = -slop - at_p
            high = length + slop - at_p
            if wp.abs(rate) > slop * real(1e-3):
                first = wp.max(first, wp.min(low / rate, high / rate))
                last = wp.min(last, wp.max(low / rate, high / rate))
            elif low > zero or high < zero:
                return 0
            count = wp.int32(0)
            if first <= last:
                for k in range(2):
                    t = first
                    if k == 1:
                        t = last
                    point = p + t * e
                    distance = wp.dot(normal, point) - s.face[at(face)].offset
                    if distance <= margin:
                        feature = (
                            swapped
                            | (k << 1)
                            | ((face - s.piece[at(a)].face_first) << 3)
                            | ((other - s.piece[at(b)].face_first) << 17)
                        )
                        position[count] = point - (real(0.5) * distance) * normal
                        gap[count] = distance
                        features[count] = feature
                        count += 1
            return count

    else:

        @wp.func
        def beside(s: Shapes, face: int, p: vec) -> real:
            """How far a point is beyond the sides of a face."""
            farthest = -far
            for m in range(s.face[at(face)].first, s.face[at(face)].last):
                farthest = wp.max(farthest, wp.dot(p - s.corner[at(m)], s.side[at(m)]))
            return farthest

        @wp.func
        def clip(
            s: Shapes,
            a: int,
            face: int,
            b: int,
            turn: mat,
            shift: vec,
            margin: real,
            slop: real,
            swapped: int,
            position: wp.array(dtype=vec),
            gap: wp.array(dtype=real),
            features: wp.array(dtype=int),
        ) -> int:
            """Corners of the overlap of a's face and b's opposite face, seen along a's normal, within the margin.

            They are b's corners over the face, crossings of b's edges with its sides, and its corners under b's face.
            Sides count `slop` further out than they are, so that faces of the same outline give b's corners alone.
            """
            normal = s.face[at(face)].normal
            offset = s.face[at(face)].offset
            other = opposite(s, b, wp.transpose(turn) * normal)
            tilt = wp.dot(turn * s.face[at(other)].normal, normal)
            begin = s.face[at(face)].first
            end = s.face[at(face)].last
            begin_b = s.face[at(other)].first
            end_b = s.face[at(other)].last
            count = wp.int32(0)
            p = turn * s.corner[at(end_b - 1)] + shift
            for k in range(begin_b, end_b):
                q = turn * s.corner[at(k)] + shift
                e = q - p
                first = zero
                last = one
                enters = wp.int32(0)
                leaves = wp.int32(0)
                for m in range(begin, end):
                    corner = s.corner[at(m)]
                    out = s.side[at(m)]
                    at_p = wp.dot(p - corner, out) - slop
                    at_q = wp.dot(q - corner, out) - slop
                    if at_p > zero and at_q > zero:
                        last = real(-1.0)
                    elif at_p > zero:
                        t = at_p / (at_p - at_q)
                        if t > first:
                            first = t
                            enters = m - begin + 1
                    elif at_q > zero:
                        t = at_p / (at_p - at_q)
                        if t < last:
                            last = t
                            leaves = m - begin + 1
                if first <= last:
                    index = (k - begin_b) << 3
                    if first > zero:
                        point = p + first * e
                        distance = wp.dot(normal, point) - offset
                        if distance <= margin:
                            feature = swapped | 2 | index | (enters << 17)
                            count = put(count, point - (real(0.5) * distance) * normal, distance, feature, normal,
                                        slop, position, gap, features)  # fmt: skip
                    point = p + last * e
                    distance = wp.dot(normal, point) - offset
                    if distance <= margin:
                        feature = swapped | index | (leaves << 17)
                        count = put(count, point - (real(0.5) * distance) * normal, distance, feature, normal,
                                    slop, position, gap, features)  # fmt: skip
                p = q
            if tilt < real(-0.05):
                level = turn * s.face[at(other)].normal
                base = turn * s.corner[at(begin_b)] + shift
                for m in range(begin, end):
                    corner = s.corner[at(m)]
                    inside = wp.int32(1)
                    p = turn * s.corner[at(end_b - 1)] + shift
                    for k in range(begin_b, end_b):
                        q = turn * s.corner[at(k)] + shift
                        out = wp.cross(normal, q - p)  # b's face runs clockwise, seen from a
                        if wp.dot(corner - p, out) > -slop * wp.length(out):
                            inside = 0
                        p = q
                    if inside == 1:
                        distance = wp.dot(base - corner, level) / tilt
                        if distance <= margin:
                            feature = swapped | 4 | ((m - begin) << 3)
                            count = put(count, corner + (real(0.5) * distance) * normal, distance, feature, normal,
                                        slop, position, gap, features)  # fmt: skip
            return count

    return SimpleNamespace(put=put, reduced=reduced, clip=clip, beside=beside)
