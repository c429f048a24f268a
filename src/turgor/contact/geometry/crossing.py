"""Whether faces cross, and whether a point is inside a closed surface."""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.contact.geometry import closest
from turgor.kernel.numbers import Numbers, at

__all__ = ["kernels"]


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """crosses, angle, to_face; faces are segments in 2D."""
    real, vec, dim, face = n.real, n.vec, n.dim, n.face
    near = closest.kernels(n)

    if dim == 2:

        @wp.func
        def orientation(a: vec, b: vec, c: vec) -> real:
            return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])

        @wp.func
        def crosses(i: int, f: face, g: face, points: wp.array(dtype=vec)) -> bool:
            """Whether two segments cross."""
            a = points[at(f[0])]
            b = points[at(f[1])]
            c = points[at(g[0])]
            d = points[at(g[1])]
            if orientation(a, b, c) * orientation(a, b, d) >= real(0.0):
                return False
            return orientation(c, d, a) * orientation(c, d, b) < real(0.0)

        @wp.func
        def angle(p: vec, f: face, points: wp.array(dtype=vec)) -> real:
            """Angle under which p sees a segment, in turns: their sum is 1 inside and 0 outside."""
            a = points[at(f[0])] - p
            b = points[at(f[1])] - p
            return wp.atan2(a[0] * b[1] - a[1] * b[0], wp.dot(a, b)) * real(0.15915494309189535)

        @wp.func
        def to_face(p: vec, f: face, points: wp.array(dtype=vec)) -> vec:
            """From a point to its closest point on a face."""
            _t, gap = near.closest_on_edge(p, points[at(f[0])], points[at(f[1])])
            return -gap

    else:

        @wp.func
        def side_of(a: vec, b: vec, c: vec, d: vec) -> real:
            return wp.dot(wp.cross(b - a, c - a), d - a)

        @wp.func
        def crosses(i: int, f: face, g: face, points: wp.array(dtype=vec)) -> bool:
            """Whether edge i of a triangle passes through another."""
            p = points[at(f[i])]
            q = points[at(f[(i + 1) % 3])]
            a = points[at(g[0])]
            b = points[at(g[1])]
            c = points[at(g[2])]
            if side_of(a, b, c, p) * side_of(a, b, c, q) >= real(0.0):
                return False
            one = side_of(p, q, a, b)
            two = side_of(p, q, b, c)
            three = side_of(p, q, c, a)
            return (one > real(0.0) and two > real(0.0) and three > real(0.0)) or (
                one < real(0.0) and two < real(0.0) and three < real(0.0)
            )

        @wp.func
        def angle(p: vec, f: face, points: wp.array(dtype=vec)) -> real:
            """Solid angle under which p sees a face, in full spheres (van Oosterom & Strackee 1983)."""
            a = points[at(f[0])] - p
            b = points[at(f[1])] - p
            c = points[at(f[2])] - p
            la = wp.length(a)
            lb = wp.length(b)
            lc = wp.length(c)
            down = la * lb * lc + wp.dot(a, b) * lc + wp.dot(b, c) * la + wp.dot(c, a) * lb
            return wp.atan2(wp.dot(a, wp.cross(b, c)), down) * real(0.15915494309189535)

        @wp.func
        def to_face(p: vec, f: face, points: wp.array(dtype=vec)) -> vec:
            """From a point to its closest point on a face."""
            _w, gap = near.closest_on_triangle(p, points[at(f[0])], points[at(f[1])], points[at(f[2])])
            return -gap

    return SimpleNamespace(crosses=crosses, angle=angle, to_face=to_face)
