"""Exact closest points between points, edges and triangles, for any input: parallel, touching, crossing, degenerate.

Each search takes the best of a few candidates: the optimum lies inside both features, or on the border of one, which
is a smaller search. A candidate is always a pair of points on the features, judged by its measured distance, so a
badly conditioned one can lose but never mislead. Inside candidates are solved after one edge, a triangle's longest,
is projected out (Gram-Schmidt), which acts like moving a corner by eps × size: distances are good to a few eps ×
size, even for slivers, where Ericson's quotients of products of dot products (Real-Time Collision Detection, 5.1) lose
half the digits or more. Everything is relative to a corner and scaled by the largest coordinate difference:
neither the place nor the size of the features costs digits, and squares do not under- or overflow.

Weights are shares of the corners: t of an edge means (1 - t) a + t b. `gap` goes from the second feature to the first;
its `size` is the distance (plain `wp.length` underflows for very small ones). A gap within round-off of the features'
size, `NOISE` eps, is exactly zero: its direction would be noise. Above it, the direction is good to
√(2 × error / distance): near a rim two candidates may be equally far to the last digit and that much apart.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import numpy as np
import warp as wp

from turgor.kernel.numbers import Numbers

__all__ = ["NOISE", "kernels"]

NOISE = 8.0  # eps; distances below this share of the features' size count as touching


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """Device functions; triangles only in 3D."""
    real, vec = n.real, n.vec
    noise = wp.constant(real(NOISE * float(np.finfo(n.dtype).eps)))
    far = wp.constant(real(1e10))  # more than any scaled distance
    zero = wp.constant(real(0.0))
    one = wp.constant(real(1.0))

    @wp.func
    def extent(v: vec) -> real:
        """Largest coordinate, in size."""
        return wp.max(wp.abs(v))

    @wp.func
    def size(v: vec) -> real:
        """Length, without under- or overflow."""
        m = extent(v)
        if m <= zero:
            return zero
        return m * wp.length(v / m)

    @wp.func
    def unit(v: vec) -> vec:
        """Direction; zero for the zero vector."""
        m = extent(v)
        if m <= zero:
            return vec()
        return wp.normalize(v / m)

    @wp.func
    def settled(r: vec, scale: real) -> vec:
        """A scaled gap in its true size, or zero when it is only round-off."""
        if wp.dot(r, r) <= noise * noise:
            return vec()
        return scale * r

    @wp.func
    def near_edge(q: vec, e: vec) -> real:
        """t of the point of the edge 0-e closest to q."""
        e2 = wp.dot(e, e)
        if e2 <= zero:
            return zero
        return wp.clamp(wp.dot(q, e) / e2, zero, one)

    @wp.func
    def near_lines(r: vec, d: vec, e: vec):
        """(s, t) with s d closest to r + t e: the inside candidate of two edges."""
        length = wp.length(d)
        if length <= zero:
            return zero, zero
        u = d / length
        across = e - wp.dot(e, u) * u
        across2 = wp.dot(across, across)
        t = zero
        if across2 > zero:  # not parallel
            t = wp.clamp(-wp.dot(r - wp.dot(r, u) * u, across) / across2, zero, one)
        s = wp.clamp(wp.dot(r + t * e, u) / length, zero, one)
        return s, t

    @wp.func
    def near_edges(r: vec, d: vec, e: vec):
        """(s, t, gap s d - (r + t e)) of the edges 0-d and r-(r + e)."""
        s, t = near_lines(r, d, e)
        gap = s * d - r - t * e
        # an end of one edge against the other edge
        t_end = near_edge(-r, e)
        other = -r - t_end * e
        if wp.dot(other, other) < wp.dot(gap, gap):
            s, t, gap = zero, t_end, other
        t_end = near_edge(d - r, e)
        other = d - r - t_end * e
        if wp.dot(other, other) < wp.dot(gap, gap):
            s, t, gap = one, t_end, other
        s_end = near_edge(r, d)
        other = s_end * d - r
        if wp.dot(other, other) < wp.dot(gap, gap):
            s, t, gap = s_end, zero, other
        s_end = near_edge(r + e, d)
        other = s_end * d - r - e
        if wp.dot(other, other) < wp.dot(gap, gap):
            s, t, gap = s_end, one, other
        return s, t, gap

    @wp.func
    def closest_on_edge(p: vec, a: vec, b: vec):
        """(t, gap) of a point and an edge."""
        q = p - a
        e = b - a
        scale = wp.max(extent(q), extent(e))
        if scale <= zero:
            return zero, vec()
        q /= scale
        e /= scale
        t = near_edge(q, e)
        return t, settled(q - t * e, scale)

    @wp.func
    def closest_between_edges(a: vec, b: vec, c: vec, d: vec):
        """(s, t, gap) of the edges a-b and c-d."""
        r = c - a
        first = b - a
        second = d - c
        scale = wp.max(extent(r), wp.max(extent(first), extent(second)))
        if scale <= zero:
            return zero, zero, vec()
        s, t, gap = near_edges(r / scale, first / scale, second / scale)
        return s, t, settled(gap, scale)

    shared = SimpleNamespace(
        size=size, unit=unit, closest_on_edge=closest_on_edge, closest_between_edges=closest_between_edges
    )
    if n.dim == 2:
        return shared

    @wp.func
    def height(base: vec, apex: vec) -> vec:
        """From the line 0-base to the apex, at right angles."""
        u = wp.normalize(base)
        return apex - wp.dot(apex, u) * u

    @wp.func
    def facing(e: vec, f: vec) -> vec:
        """Unit normal of the triangle 0, e, f; zero without area. From the longest edge, the exact one."""
        g = f - e
        e2 = wp.dot(e, e)
        f2 = wp.dot(f, f)
        g2 = wp.dot(g, g)
        if e2 >= f2 and e2 >= g2:
            return wp.normalize(wp.cross(wp.normalize(e), unit(height(e, f))))
        if f2 >= g2:
            return wp.normalize(wp.cross(unit(height(f, e)), wp.normalize(f)))
        return wp.normalize(wp.cross(wp.normalize(g), unit(height(g, -e))))

    @wp.func
    def near_inside(q: vec, base: vec, apex: vec):
        """Weights of base and apex for q's projection on the triangle 0, base, apex; base is the longest edge."""
        length = wp.length(base)
        h = height(base, apex)
        h2 = wp.dot(h, h)
        if length <= zero or h2 <= zero:
            return zero, zero
        u = base / length
        up = wp.clamp(wp.dot(q - wp.dot(q, u) * u, h) / h2, zero, one)
        along = wp.clamp(wp.dot(q - up * apex, u) / length, zero, one - up)
        return along, up

    @wp.func
    def near_triangle(q: vec, e: vec, f: vec):
        """(weights, gap q - point) of q and the triangle 0, e, f."""
        g = f - e
        e2 = wp.dot(e, e)
        f2 = wp.dot(f, f)
        g2 = wp.dot(g, g)
        v = zero
        w = zero
        if e2 >= f2 and e2 >= g2:
            v, w = near_inside(q, e, f)
        elif f2 >= g2:
            w, v = near_inside(q, f, e)
        else:
            along, up = near_inside(q - e, g, -e)
            w = along
            v = one - up - along
        gap = q - v * e - w * f
        # the three edges
        t = near_edge(q, e)
        other = q - t * e
        if wp.dot(other, other) < wp.dot(gap, gap):
            v, w, gap = t, zero, other
        t = near_edge(q, f)
        other = q - t * f
        if wp.dot(other, other) < wp.dot(gap, gap):
            v, w, gap = zero, t, other
        t = near_edge(q - e, g)
        other = q - e - t * g
        if wp.dot(other, other) < wp.dot(gap, gap):
            v, w, gap = one - t, t, other
        return vec(wp.max(one - v - w, zero), v, w), gap

    @wp.func
    def near_pierce(o: vec, d: vec, e: vec, f: vec):
        """(t, weights, gap) where the edge o-(o + d) goes through the plane of 0, e, f; a far gap if it does not."""
        normal = facing(e, f)
        start = wp.dot(o, normal)
        end = wp.dot(o + d, normal)
        if (start < zero) == (end < zero):
            return zero, vec(one, zero, zero), vec(far, zero, zero)
        t = start / (start - end)
        weights, gap = near_triangle(o + t * d, e, f)
        return t, weights, gap

    @wp.func
    def near_rim(o: vec, d: vec, e: vec, f: vec):
        """(t, weights, gap) of the edge o-(o + d) and the three edges of the triangle 0, e, f."""
        t, s, gap = near_edges(-o, d, e)
        weights = vec(one - s, s, zero)
        t_other, s, other = near_edges(-o, d, f)
        if wp.dot(other, other) < wp.dot(gap, gap):
            t, weights, gap = t_other, vec(one - s, zero, s), other
        t_other, s, other = near_edges(e - o, d, f - e)
        if wp.dot(other, other) < wp.dot(gap, gap):
            t, weights, gap = t_other, vec(zero, one - s, s), other
        return t, weights, gap

    @wp.func
    def near_edge_triangle(o: vec, d: vec, e: vec, f: vec):
        """(t, weights, gap) of the edge o-(o + d), its far end left out, and the triangle 0, e, f."""
        t, weights, gap = near_rim(o, d, e, f)
        weights_other, other = near_triangle(o, e, f)
        if wp.dot(other, other) < wp.dot(gap, gap):
            t, weights, gap = zero, weights_other, other
        t_other, weights_other, other = near_pierce(o, d, e, f)
        if wp.dot(other, other) < wp.dot(gap, gap):
            t, weights, gap = t_other, weights_other, other
        return t, weights, gap

    @wp.func
    def edge_weights(i: int, t: real) -> vec:
        """Weights of the three corners for the point t of the edge that starts at corner i."""
        if i == 0:
            return vec(one - t, t, zero)
        if i == 1:
            return vec(zero, one - t, t)
        return vec(t, zero, one - t)

    @wp.func
    def corner(i: int, a: vec, b: vec, c: vec) -> vec:
        if i == 0:
            return a
        if i == 1:
            return b
        return c

    @wp.func
    def closest_on_triangle(p: vec, a: vec, b: vec, c: vec):
        """(weights, gap) of a point and a triangle."""
        q = p - a
        e = b - a
        f = c - a
        scale = wp.max(extent(q), wp.max(extent(e), extent(f)))
        if scale <= zero:
            return vec(one, zero, zero), vec()
        weights, gap = near_triangle(q / scale, e / scale, f / scale)
        return weights, settled(gap, scale)

    @wp.func
    def closest_edge_triangle(a: vec, b: vec, c: vec, d: vec, e: vec):
        """(t, weights, gap) of the edge a-b and the triangle c, d, e; the gap is zero when they cross."""
        o = a - c
        along = b - a
        second = d - c
        third = e - c
        scale = wp.max(wp.max(extent(o), extent(along)), wp.max(extent(second), extent(third)))
        if scale <= zero:
            return zero, vec(one, zero, zero), vec()
        o /= scale
        along /= scale
        second /= scale
        third /= scale
        t, weights, gap = near_edge_triangle(o, along, second, third)
        weights_end, end = near_triangle(o + along, second, third)
        if wp.dot(end, end) < wp.dot(gap, gap):
            t, weights, gap = one, weights_end, end
        return t, weights, settled(gap, scale)

    @wp.func
    def closest_triangles(a: vec, b: vec, c: vec, d: vec, e: vec, f: vec):
        """(weights, weights, gap) of the triangles a, b, c and d, e, f; the gap is zero when they cross."""
        scale = wp.max(wp.max(extent(b - a), extent(c - a)), wp.max(extent(e - d), extent(f - d)))
        scale = wp.max(scale, extent(d - a))
        first = vec(one, zero, zero)
        second = vec(one, zero, zero)
        if scale <= zero:
            return first, second, vec()
        gap = vec(far, zero, zero)
        # each edge of the first, with its start, against the second
        for i in range(3):
            start = corner(i, a, b, c)
            along = (corner((i + 1) % 3, a, b, c) - start) / scale
            t, weights, other = near_edge_triangle((start - d) / scale, along, (e - d) / scale, (f - d) / scale)
            if wp.dot(other, other) < wp.dot(gap, gap):
                first, second, gap = edge_weights(i, t), weights, other
        # the corners of the second against the first, and its edges through the first
        for i in range(3):
            start = corner(i, d, e, f)
            along = (corner((i + 1) % 3, d, e, f) - start) / scale
            weights, other = near_triangle((start - a) / scale, (b - a) / scale, (c - a) / scale)
            if wp.dot(other, other) < wp.dot(gap, gap):
                first, second, gap = weights, edge_weights(i, zero), -other
            t, weights, other = near_pierce((start - a) / scale, along, (b - a) / scale, (c - a) / scale)
            if wp.dot(other, other) < wp.dot(gap, gap):
                first, second, gap = weights, edge_weights(i, t), -other
        return first, second, settled(gap, scale)

    @wp.func
    def triangle_normal(a: vec, b: vec, c: vec) -> vec:
        """Unit normal, counter-clockwise seen from its tip; zero for a triangle without area."""
        e = b - a
        f = c - a
        scale = wp.max(extent(e), extent(f))
        if scale <= zero:
            return vec()
        return facing(e / scale, f / scale)

    return SimpleNamespace(
        **vars(shared),
        closest_on_triangle=closest_on_triangle,
        closest_edge_triangle=closest_edge_triangle,
        closest_triangles=closest_triangles,
        triangle_normal=triangle_normal,
    )
