"""A point against a bounding object (C4): ellipsoid, ball or box, in the object's own axes, centred at zero.

The paper moves a point that is inside iteratively until it is outside, by a rule it does not state. Here it climbs the
implicit function f(p) = |p / half| - 1, half a Newton step at a time; f is convex, so the last, whole step ends
outside, near the closest point of the surface. The normal there is that of the contact, and the depth is measured to
the plane that touches the object with this normal: a point moved by it is outside, whatever the steps did.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.kernel.numbers import Numbers

__all__ = ["BALL", "BOX", "ELLIPSOID", "kernels"]

BOX, BALL, ELLIPSOID = range(3)
HALF_STEPS = 8  # they leave 2⁻⁸ of the distance; the whole step after them overshoots by about the square of that


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """Device functions. `half`: half axes of the object, all above zero; a ball's are equal."""
    real, vec, dim = n.real, n.vec, n.dim
    huge = wp.constant(real(1.0e30))

    @wp.func
    def level(half: vec, p: vec) -> real:
        """|p / half|: below 1 inside an ellipsoid."""
        return wp.length(wp.cw_div(p, half))

    @wp.func
    def inside(shape: int, half: vec, p: vec) -> bool:
        if shape != wp.static(BOX):
            return level(half, p) < real(1.0)
        within = True
        for axis in range(dim):
            if wp.abs(p[axis]) >= half[axis]:
                within = False
        return within

    @wp.func
    def may_be_inside(boxed: int, shape: int, half: vec, p: vec) -> bool:
        """Whether a point is inside a box about the ellipsoid or ball; not asked unless `boxed` (footnote 4)."""
        if boxed == 0 or shape == wp.static(BOX):
            return True
        return inside(wp.static(BOX), half, p)

    @wp.func
    def along(axis: int, sign: real) -> vec:
        out = vec()
        out[axis] = sign
        return out

    @wp.func
    def out_of_ellipsoid(half: vec, p: vec):
        """(depth, normal) of a point inside."""
        here = p
        if wp.dot(p, p) <= real(0.0):  # the centre: the shortest half axis
            shortest = 0
            for axis in range(dim):
                if half[axis] < half[shortest]:
                    shortest = axis
            return half[shortest], along(shortest, real(1.0))
        slope = vec()
        for turn in range(wp.static(HALF_STEPS + 1)):
            f = level(half, here)
            slope = wp.cw_div(wp.cw_div(here, half), half) / f  # of f, not zero
            step = (real(1.0) - f) / wp.dot(slope, slope)
            if turn < wp.static(HALF_STEPS):
                step = real(0.5) * step
            here = here + step * slope
        normal = wp.normalize(wp.cw_div(wp.cw_div(here, half), half))
        # the touching plane at the place reached: h(normal) = |half * normal| is the object's reach along the normal
        return wp.length(wp.cw_mul(half, normal)) - wp.dot(p, normal), normal

    @wp.func
    def out_of_box(half: vec, p: vec):
        """(depth, normal) of a point inside: the nearest face."""
        depth = huge
        normal = vec()
        for axis in range(dim):
            gap = half[axis] - wp.abs(p[axis])
            if gap < depth:
                depth = gap
                normal = along(axis, wp.where(p[axis] < real(0.0), real(-1.0), real(1.0)))
        return depth, normal

    @wp.func
    def into_box(half: vec, start: vec, end: vec):
        """(depth, normal) of the end of a path that enters the box from outside, even if it leaves it; depth < 0: none.

        The point leaves by the face through which it entered: a thin box cannot be crossed in one substep.
        """
        path = end - start
        enter = -huge
        leave = huge
        face = 0
        for axis in range(dim):
            d = path[axis]
            if wp.abs(d) <= real(1.0e-20):
                if wp.abs(start[axis]) >= half[axis]:
                    leave = -huge
            else:
                first = -(start[axis] / d) - half[axis] / wp.abs(d)
                second = -(start[axis] / d) + half[axis] / wp.abs(d)
                if first > enter:
                    enter = first
                    face = axis
                leave = wp.min(leave, second)
        if enter < real(0.0) or enter > real(1.0) or enter >= leave:
            return real(-1.0), vec()
        side = wp.where(path[face] < real(0.0), real(1.0), real(-1.0))
        return half[face] - side * end[face], along(face, side)

    @wp.func
    def within_box(half: vec, start: vec, end: vec):
        """(depth, normal) of the end of a path that starts inside: out of the face that was nearest at the start.

        The nearest at the end may be the opposite one, and the point would cross the box; beside the box it is free.
        """
        _, normal = out_of_box(half, start)
        for axis in range(dim):
            if normal[axis] == real(0.0) and wp.abs(end[axis]) >= half[axis]:
                return real(-1.0), normal
        return wp.dot(half, wp.abs(normal)) - wp.dot(end, normal), normal

    @wp.func
    def collide(shape: int, half: vec, start: vec, end: vec):
        """(depth, normal) of a point that moves from start to end; depth < 0: it does not touch."""
        depth = real(-1.0)
        normal = vec()
        if shape == wp.static(BOX):
            if inside(shape, half, start):
                depth, normal = within_box(half, start, end)
            else:
                depth, normal = into_box(half, start, end)
        elif inside(shape, half, end):
            depth, normal = out_of_ellipsoid(half, end)
        return depth, normal

    @wp.func
    def exit_distance(shape: int, half: vec, p: vec, direction: vec) -> real:
        """Distance to the surface from a point inside, along a unit direction."""
        if shape == wp.static(BOX):
            distance = huge
            for axis in range(dim):
                part = wp.abs(direction[axis])
                if part > real(1.0e-6):
                    side = wp.where(direction[axis] < real(0.0), real(-1.0), real(1.0))
                    distance = wp.min(distance, (half[axis] - side * p[axis]) / part)
            return distance
        s = wp.cw_div(p, half)
        d = wp.cw_div(direction, half)
        d2 = wp.dot(d, d)
        b = wp.dot(s, d)
        return (wp.sqrt(wp.max(b * b - d2 * (wp.dot(s, s) - real(1.0)), real(0.0))) - b) / d2

    @wp.func
    def nearest_exit(shape: int, half: vec, p: vec):
        """(depth, normal) of a point inside, whatever the shape."""
        if shape == wp.static(BOX):
            depth, normal = out_of_box(half, p)
            return depth, normal
        depth, normal = out_of_ellipsoid(half, p)
        return depth, normal

    return SimpleNamespace(
        inside=inside, may_be_inside=may_be_inside, collide=collide, exit_distance=exit_distance,
        nearest_exit=nearest_exit,
    )  # fmt: skip
