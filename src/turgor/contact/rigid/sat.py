"""Contact of two convex pieces by separating axes: face normals and edge x edge, then a clipped manifold (B14).

The gap of two convex bodies along any axis is at most their distance, and for some face normal or some cross product
of edges it is exactly the distance, or the depth, except between two corners, where it is a little less. Edge pairs
matter only where their arcs on the Gauss sphere cross (Gregorius 2013, "The Separating Axis Test between Convex
Polyhedra"). A face that wins is the reference: the face opposite is clipped to its sides, and the points left make the
manifold, at most four. Everything happens in the frame of piece a, where b's points are turn p + shift.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.contact.rigid import clip as clipping
from turgor.contact.rigid.records import structs
from turgor.kernel.numbers import Numbers, at
from turgor.rigid import motion

__all__ = ["kernels"]

# Tangents of edges that are closer to parallel than this make no axis; the faces beside them give the same axis.
PARALLEL = 1e-3
# An edge pair must be better than a face by this share of the depth: the manifold of a face is more stable.
EDGE_SHARE = 0.9


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """Device functions."""
    real, vec = n.real, n.vec
    c = clipping.kernels(n)
    mat, Shapes = motion.kernels(n).mat, structs(n).Shapes
    clip, reduced, put, beside = c.clip, c.reduced, c.put, c.beside
    zero = wp.constant(real(0.0))
    one = wp.constant(real(1.0))
    far = wp.constant(real(1e30))
    parallel2 = wp.constant(real(PARALLEL * PARALLEL))
    edge_share = wp.constant(real(EDGE_SHARE))

    @wp.func
    def lowest(s: Shapes, piece: int, d: vec) -> real:
        """Smallest d·p of a piece's points."""
        least = far
        for i in range(s.piece[at(piece)].point_first, s.piece[at(piece)].point_last):
            least = wp.min(least, wp.dot(d, s.point[at(i)]))
        return least

    @wp.func
    def lowest_point(s: Shapes, piece: int, d: vec) -> int:
        """The point with the smallest d·p."""
        least = far
        found = wp.int32(0)
        for i in range(s.piece[at(piece)].point_first, s.piece[at(piece)].point_last):
            along = wp.dot(d, s.point[at(i)])
            if along < least:
                least = along
                found = i
        return found

    @wp.func
    def face_gap(s: Shapes, a: int, b: int, turn: mat, shift: vec, margin: real):
        """(gap, face) of a's face with the largest gap to b; the search ends at one larger than the margin."""
        back = wp.transpose(turn)
        middle = turn * s.piece[at(b)].centre + shift
        best = -far
        face = int(s.piece[at(a)].face_first)
        for f in range(s.piece[at(a)].face_first, s.piece[at(a)].face_last):
            normal = s.face[at(f)].normal
            offset = s.face[at(f)].offset
            if wp.dot(normal, middle) - offset > best:  # b's lowest point is not higher than its middle
                gap = lowest(s, b, back * normal) + wp.dot(normal, shift) - offset
                if gap > best:
                    best = gap
                    face = f
                    if best > margin:
                        return best, face
        return best, face

    if n.dim == 2:

        @wp.func
        def edge_gap(s: Shapes, a: int, b: int, turn: mat, shift: vec, margin: real):
            return -far, wp.int32(0), wp.int32(0), vec()

        @wp.func
        def edge_point(s: Shapes, i: int, j: int, turn: mat, shift: vec) -> vec:
            return vec()

    else:

        @wp.func
        def edge_gap(s: Shapes, a: int, b: int, turn: mat, shift: vec, margin: real):
            """(gap, edge of a, edge of b, axis from a to b) of the pair of edges with the largest gap."""
            best = -far
            first = wp.int32(0)
            second = wp.int32(0)
            axis = vec()
            for j in range(s.piece[at(b)].edge_first, s.piece[at(b)].edge_last):
                start = turn * s.edge[at(j)].start + shift
                along = turn * (s.edge[at(j)].along)
                c = turn * s.edge[at(j)].left
                d = turn * s.edge[at(j)].right
                for i in range(s.piece[at(a)].edge_first, s.piece[at(a)].edge_last):
                    own = s.edge[at(i)].along
                    # arcs of a and of -b cross: the ends of each lie on both sides of the other, in one hemisphere
                    c_side = wp.dot(c, own)
                    if c_side * wp.dot(d, own) < zero:
                        l_side = wp.dot(s.edge[at(i)].left, along)
                        r_side = wp.dot(s.edge[at(i)].right, along)
                        if l_side * r_side < zero and c_side * r_side < zero:
                            cross = wp.cross(own, along)
                            size2 = wp.dot(cross, cross)
                            if size2 > parallel2 * wp.dot(own, own) * wp.dot(along, along):
                                out = cross / wp.sqrt(size2)
                                if wp.dot(out, s.edge[at(i)].left + s.edge[at(i)].right) < zero:
                                    out = -out
                                gap = wp.dot(out, start - s.edge[at(i)].start)
                                if gap > best:
                                    best = gap
                                    first = i
                                    second = j
                                    axis = out
                                    if best > margin:
                                        return best, first, second, axis
            return best, first, second, axis

        @wp.func
        def edge_point(s: Shapes, i: int, j: int, turn: mat, shift: vec) -> vec:
            """Middle of the closest points of two edges that are not parallel."""
            p = s.edge[at(i)].start
            d = s.edge[at(i)].along
            q = turn * s.edge[at(j)].start + shift
            e = turn * s.edge[at(j)].along
            r = q - p
            dd = wp.dot(d, d)
            ee = wp.dot(e, e)
            de = wp.dot(d, e)
            below = dd * ee - de * de
            u = wp.clamp((wp.dot(r, d) * ee - wp.dot(r, e) * de) / below, zero, one)
            w = wp.clamp((u * de - wp.dot(r, e)) / ee, zero, one)
            return real(0.5) * (p + u * d + q + w * e)

    @wp.func
    def collide(
        s: Shapes,
        a: int,
        b: int,
        turn: mat,
        shift: vec,
        margin: real,
        slop: real,
        position: wp.array(dtype=vec),
        gap: wp.array(dtype=real),
        features: wp.array(dtype=int),
    ):
        """(count, normal from b to a) of the manifold within the margin, in a's frame; positions midway in the gap.

        `slop`: a length that does not matter. A face of a wins ties within it, and any face over edges.
        """
        gap_a, face_a = face_gap(s, a, b, turn, shift, margin)
        if gap_a > margin:
            return 0, vec()
        back = wp.transpose(turn)
        shift_back = -(back * shift)
        gap_b, face_b = face_gap(s, b, a, back, shift_back, margin)
        if gap_b > margin:
            return 0, vec()
        bias = real(2.0) * slop  # resting bodies are as deep as the slop, and still clear of it
        count = wp.int32(0)
        normal = vec()
        best = wp.max(gap_a, gap_b)
        rough = s.piece[at(b)].rough
        first = gap_a + slop >= gap_b and rough == 1  # a's face is the reference
        if first:
            normal = -s.face[at(face_a)].normal
            count = clip(s, a, face_a, b, turn, shift, margin, slop, 0, position, gap, features)
            best = gap_a
        else:
            normal = turn * s.face[at(face_b)].normal
            count = clip(s, b, face_b, a, back, shift_back, margin, slop, 1, position, gap, features)
            best = gap_b
            for i in range(count):
                position[i] = turn * position[i] + shift
        least = far
        for i in range(count):
            least = wp.min(least, gap[i])
        corner = vec()
        if least > best + slop:  # the face most opposite need not have the lowest corner
            over = zero
            if first:
                corner = turn * s.point[at(lowest_point(s, b, -(back * normal)))] + shift
                over = beside(s, face_a, corner)
                corner += (real(0.5) * best) * normal
            else:
                corner = s.point[at(lowest_point(s, a, normal))]
                over = beside(s, face_b, back * corner + shift_back)
                corner -= (real(0.5) * best) * normal
            if over <= slop:
                count = put(count, corner, best, 5 - wp.int32(first), normal, slop, position, gap, features)
                least = best
        if best < -bias and least > zero:  # they overlap, but not over this face
            count = 0
        # A point over the face and in both gaps: the bodies are no farther apart than that, whatever the axis.
        if rough == 0 or (least <= best + slop and best > -bias):
            return reduced(count, normal, slop, position, gap, features), normal
        gap_e, i, j, axis = edge_gap(s, a, b, turn, shift, margin)
        if gap_e > margin:
            return 0, vec()
        if gap_e > wp.max(best, edge_share * best) + bias or (count == 0 and gap_e > best):
            position[0] = edge_point(s, i, j, turn, shift)
            gap[0] = gap_e
            features[0] = 6 | ((i - s.piece[at(a)].edge_first) << 3) | ((j - s.piece[at(b)].edge_first) << 17)
            return 1, -axis
        if count == 0 and best < zero:  # deep in each other, and neither face over the other
            position[0] = corner
            gap[0] = best
            features[0] = 5
            return 1, normal
        return reduced(count, normal, slop, position, gap, features), normal

    return SimpleNamespace(collide=collide, face_gap=face_gap)
