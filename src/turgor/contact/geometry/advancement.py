"""Conservative advancement: the share of their straight movements that two features can make without coming too close.

After Mirtich 1996 (Impulse-based Dynamic Simulation of Rigid Body Systems), for a vertex and a face or for two edges.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.contact.geometry import closest_fast
from turgor.kernel.numbers import Numbers

__all__ = ["EDGE_EDGE", "GAP_LEFT", "VERTEX_FACE", "kernels"]

VERTEX_FACE, EDGE_EDGE = 0, 1  # kinds of pairs of features
GAP_LEFT = 0.1  # share of the present gap that must be left, where that is less than the gap asked for
LOOKS = 40  # along a movement; what is not decided then ends there, which is safe


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """safe_share, closing. A vertex is a, its face b, c, d (b, c in 2D); edges are a-b and c-d; ma ...: their moves."""
    real, vec, dim = n.real, n.vec, n.dim
    near = closest_fast.kernels(n)
    gap_left = wp.constant(real(GAP_LEFT))
    most_of = wp.constant(real(1.0 - GAP_LEFT))

    if dim == 2:

        @wp.func
        def meeting(kind: int, a: vec, b: vec, c: vec, d: vec):
            """(weights of the first side, of the second, gap)."""
            t, gap = near.point_segment(a, b, c)
            return vec(real(1.0), real(0.0)), vec(real(1.0) - t, t), gap

    else:

        @wp.func
        def meeting(kind: int, a: vec, b: vec, c: vec, d: vec):
            """(weights of the first side, of the second, gap)."""
            if kind == VERTEX_FACE:
                u, gap = near.point_triangle(a, b, c, d)
                return vec(real(1.0), real(0.0), real(0.0)), u, gap
            s, t, gap = near.segments(a, b, c, d)
            return vec(real(1.0) - s, s, real(0.0)), vec(real(1.0) - t, t, real(0.0)), gap

    @wp.func
    def clearance(kind: int, n: vec, a: vec, b: vec, c: vec, d: vec) -> real:
        """Least distance along n between the two features: positive if a plane across n lies between them."""
        pa = wp.dot(n, a)
        pb = wp.dot(n, b)
        pc = wp.dot(n, c)
        pd = wp.dot(n, d)
        if kind == VERTEX_FACE:
            return pa - wp.max(pb, wp.max(pc, pd))
        return wp.min(pa, pb) - wp.max(pc, pd)

    @wp.func
    def closing(kind: int, w: vec, u: vec, ma: vec, mb: vec, mc: vec, md: vec) -> vec:
        """Movement of the first contact point against the second."""
        if wp.static(dim == 2):
            return ma - u[0] * mb - u[1] * mc
        if kind == VERTEX_FACE:
            return ma - u[0] * mb - u[1] * mc - u[wp.static(dim - 1)] * md
        return w[0] * ma + w[1] * mb - u[0] * mc - u[1] * md

    @wp.func
    def safe_share(kind: int, a: vec, b: vec, c: vec, d: vec, ma: vec, mb: vec, mc: vec, md: vec, round_off: real,
                   enough: real):  # fmt: skip
        """(share of the movements that may be made, weights of both sides and direction of the gap there).

        Along the direction n of the gap, the distance between the features is a concave function of time, so it stays
        above its chord to the end of the movement: that far one can go, and look again. What slides along at the least
        gap may use half of it.
        round_off: radii of round bodies; enough: the gap that must be left, unless the features are closer already.
        """
        share = real(0.0)
        least = real(0.0)
        w, u, gap = meeting(kind, a, b, c, d)
        for turn in range(LOOKS):
            distance = wp.length(gap)
            if distance <= real(0.0):  # features that coincide from the start cannot be told apart, and are let go
                return wp.where(turn == 0, real(1.0), share), w, u, gap
            n = gap / distance
            clear = distance - round_off
            if turn == 0:
                least = wp.min(wp.max(gap_left * clear, enough), most_of * clear)
                if clear <= real(0.0):  # round bodies that overlap already are pushed apart, not stopped
                    return real(1.0), w, u, gap
            end = clearance(kind, n, a + ma, b + mb, c + mc, d + md) - round_off
            if end >= least:
                return real(1.0), w, u, gap
            if clear < least and wp.dot(closing(kind, w, u, ma, mb, mc, md), n) < real(0.0):
                return share, w, u, gap
            if clear <= real(0.51) * least:
                return share, w, u, gap
            share += (real(1.0) - share) * (clear - real(0.5) * least) / (clear - end)
            if share >= real(1.0):
                return real(1.0), w, u, gap
            w, u, gap = meeting(kind, a + share * ma, b + share * mb, c + share * mc, d + share * md)
        return share, w, u, gap

    return SimpleNamespace(safe_share=safe_share, closing=closing)
