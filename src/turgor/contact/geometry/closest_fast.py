"""Closest points of a point and a triangle, and of two segments, fast: for the many candidates of a substep.

After Ericson, Real-Time Collision Detection (2005), 5.1.5 and 5.1.9, with differences taken first, so that the place
does not cost digits. For slivers `closest.py` is more exact; here a small error only moves a contact point a little.
Weights that are zero are exactly zero: they tell on which edge or corner the closest point lies.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.kernel.numbers import Numbers

__all__ = ["kernels"]


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """Device functions; gap: from the second feature to the first."""
    real, vec = n.real, n.vec
    zero = wp.constant(real(0.0))
    one = wp.constant(real(1.0))
    tiny = wp.constant(real(n.tiny))

    @wp.func
    def point_segment(p: vec, a: vec, b: vec):
        """(t, gap) of a point and the segment a-b."""
        e = b - a
        q = p - a
        t = wp.clamp(wp.dot(q, e) / wp.max(wp.dot(e, e), tiny), zero, one)
        return t, q - t * e

    if n.dim == 2:
        return SimpleNamespace(point_segment=point_segment)

    @wp.func
    def point_triangle(p: vec, a: vec, b: vec, c: vec):
        """(weights, gap) of a point and a triangle."""
        ab = b - a
        ac = c - a
        ap = p - a
        d1 = wp.dot(ab, ap)
        d2 = wp.dot(ac, ap)
        if d1 <= zero and d2 <= zero:
            return vec(one, zero, zero), ap
        bp = p - b
        d3 = wp.dot(ab, bp)
        d4 = wp.dot(ac, bp)
        if d3 >= zero and d4 <= d3:
            return vec(zero, one, zero), bp
        vc = d1 * d4 - d3 * d2
        if vc <= zero and d1 >= zero and d3 <= zero:
            t = d1 / wp.max(d1 - d3, tiny)
            return vec(one - t, t, zero), ap - t * ab
        cp = p - c
        d5 = wp.dot(ab, cp)
        d6 = wp.dot(ac, cp)
        if d6 >= zero and d5 <= d6:
            return vec(zero, zero, one), cp
        vb = d5 * d2 - d1 * d6
        if vb <= zero and d2 >= zero and d6 <= zero:
            t = d2 / wp.max(d2 - d6, tiny)
            return vec(one - t, zero, t), ap - t * ac
        va = d3 * d6 - d5 * d4
        if va <= zero and d4 - d3 >= zero and d5 - d6 >= zero:
            t = (d4 - d3) / wp.max((d4 - d3) + (d5 - d6), tiny)
            return vec(zero, one - t, t), bp - t * (c - b)
        denominator = one / wp.max(va + vb + vc, tiny * tiny)
        v = vb * denominator
        w = vc * denominator
        return vec(one - v - w, v, w), ap - v * ab - w * ac

    @wp.func
    def segments(a: vec, b: vec, c: vec, d: vec):
        """(s, t, gap) of the segments a-b and c-d."""
        d1 = b - a
        d2 = d - c
        r = a - c
        e1 = wp.dot(d1, d1)
        e2 = wp.dot(d2, d2)
        f = wp.dot(d2, r)
        g = wp.dot(d1, r)
        h = wp.dot(d1, d2)
        s = zero
        spread = e1 * e2 - h * h
        if spread > real(1.0e-6) * e1 * e2:  # not parallel
            s = wp.clamp((h * f - g * e2) / spread, zero, one)
        t = (h * s + f) / wp.max(e2, tiny)
        if t <= zero:
            t = zero
            s = wp.clamp(-g / wp.max(e1, tiny), zero, one)
        elif t >= one:
            t = one
            s = wp.clamp((h - g) / wp.max(e1, tiny), zero, one)
        return s, t, r + s * d1 - t * d2

    return SimpleNamespace(point_segment=point_segment, point_triangle=point_triangle, segments=segments)
