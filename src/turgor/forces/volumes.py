"""Approximate volumes beside the exact one: bounding box, ball, ellipsoid (C2), Monte Carlo, subdivision (C9).

Each estimate replaces the exact sum in `volume_sum` before the gas law is applied. Bodies whose pressure does not
depend on it are not measured in a substep (`Model.pressing_method`), only when somebody looks.
"""

import functools
import math
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.kernel.numbers import FACE_SHARE, Numbers, at
from turgor.scene.data import VOLUMES

__all__ = ["kernels"]

EXACT, BOX, BALL, ELLIPSOID, MONTE_CARLO, SUBDIVISION = range(len(VOLUMES))


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """Kernels in the order they are launched: reset, bounds, reach, probes, faces, count, estimate."""
    real, vec, face, dim = n.real, n.vec, n.face, n.dim
    huge = wp.constant(real(1.0e30))
    share = wp.constant(real(FACE_SHARE[dim]))
    unit_ball = wp.constant(real(math.pi if dim == 2 else 4.0 / 3.0 * math.pi))
    last = wp.constant(dim - 1)

    @n.kernel(__name__)
    def reset_bounds(
        bound_low: wp.array(dtype=vec),
        bound_high: wp.array(dtype=vec),
        bound_reach: wp.array(dtype=real),
        probes_inside: wp.array(dtype=real),
    ):
        b = wp.tid()
        for axis in range(dim):
            bound_low[b][axis] = huge
            bound_high[b][axis] = -huge
        bound_reach[b] = real(0.0)
        probes_inside[b] = real(0.0)

    @n.kernel(__name__)
    def find_bounds(
        x: wp.array(dtype=vec),
        body: wp.array(dtype=int),
        method: wp.array(dtype=int),
        bound_low: wp.array(dtype=vec),
        bound_high: wp.array(dtype=vec),
    ):
        i = wp.tid()
        b = body[i]
        if method[b] != wp.static(EXACT):
            wp.atomic_min(bound_low, b, x[i])
            wp.atomic_max(bound_high, b, x[i])

    @n.kernel(__name__)
    def find_reach(
        x: wp.array(dtype=vec),
        body: wp.array(dtype=int),
        method: wp.array(dtype=int),
        bound_low: wp.array(dtype=vec),
        bound_high: wp.array(dtype=vec),
        bound_reach: wp.array(dtype=real),
    ):
        """Square of the factor by which the unit ball, or the ellipsoid in the box, must grow to hold all points."""
        i = wp.tid()
        b = body[i]
        if method[b] == wp.static(BALL) or method[b] == wp.static(ELLIPSOID):
            arm = x[i] - real(0.5) * (bound_low[b] + bound_high[b])
            if method[b] == wp.static(ELLIPSOID):
                half = real(0.5) * (bound_high[b] - bound_low[b])
                for axis in range(dim):
                    if half[axis] > real(0.0):
                        arm[axis] = arm[axis] / half[axis]
            wp.atomic_max(bound_reach, b, wp.dot(arm, arm))

    if dim == 2:

        @wp.func
        def crossing(x: wp.array(dtype=vec), corners: face, p: vec) -> vec:
            """Where the line through p along the last axis meets a face: height; +1 leaving, -1 entering, 0 missing."""
            a = x[corners[0]]
            b = x[corners[1]]
            if (a[0] <= p[0]) == (b[0] <= p[0]):
                return vec(real(0.0), real(0.0))
            height = a[1] + (b[1] - a[1]) * (p[0] - a[0]) / (b[0] - a[0])
            # counter-clockwise: an edge that runs towards -x has the inside below it
            return vec(height, wp.where(b[0] < a[0], real(1.0), real(-1.0)))

    else:

        @wp.func
        def side(a: vec, b: vec, p: vec) -> bool:
            """Whether p is left of the edge a-b seen along the last axis; the same for either direction of the edge.

            The end points are put in a fixed order first, so that two faces that share an edge agree exactly and no
            line slips between them.
            """
            if a[0] < b[0] or (a[0] == b[0] and a[1] < b[1]):
                return (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]) > real(0.0)
            return not ((a[0] - b[0]) * (p[1] - b[1]) - (a[1] - b[1]) * (p[0] - b[0]) > real(0.0))

        @wp.func
        def crossing(x: wp.array(dtype=vec), corners: face, p: vec) -> vec:
            """Where the line through p along the last axis meets a face: height; +1 leaving, -1 entering, 0 missing."""
            a = x[corners[0]]
            b = x[corners[1]]
            c = x[corners[2]]
            ab = side(a, b, p)
            if ab != side(b, c, p) or ab != side(c, a, p):
                return vec(real(0.0), real(0.0), real(0.0))
            normal = wp.cross(b - a, c - a)
            if normal[2] == real(0.0):
                return vec(real(0.0), real(0.0), real(0.0))
            height = a[2] - (normal[0] * (p[0] - a[0]) + normal[1] * (p[1] - a[1])) / normal[2]
            return vec(height, wp.where(normal[2] > real(0.0), real(1.0), real(-1.0)), real(0.0))

    @wp.func
    def span(low: real, high: real, start: real, size: real, count: int, middle: real) -> wp.vec2i:
        """First and last of the `count` cells of a side of the box that a face from low to high spans.

        middle: 0 if samples lie anywhere in their cells, ½ if they are in the middle of them; `slack` is for round-off.
        """
        scale = real(count) / size
        slack = real(1.0e-3) + real(1.0e-6) * real(count)
        first = wp.floor((low - start) * scale - slack + middle)
        final = wp.floor((high - start) * scale + slack - middle)
        return wp.vec2i(wp.max(int(first), 0), wp.min(int(final), count - 1))

    @n.kernel(__name__)
    def place_probes(
        probe_body: wp.array(dtype=int),
        probe_start: wp.array(dtype=int),
        samples: wp.array(dtype=int),
        bound_low: wp.array(dtype=vec),
        bound_high: wp.array(dtype=vec),
        clock: wp.array(dtype=wp.float64),
        probe_point: wp.array(dtype=vec),
        probe_winding: wp.array(dtype=int),
    ):
        """A random point of the box for each probe, new and reproducible at each time.

        Along the first axis each probe has its own slice of the box (stratified: the estimate has no bias, and varies
        less), so that a face only meets the probes of the slices that it spans.
        """
        t = wp.tid()
        b = probe_body[t]
        size = bound_high[b] - bound_low[b]
        rng = wp.rand_init(int(wp.uint32(clock[0] * wp.float64(1.0e6))), t)
        p = bound_low[b]
        p[0] = p[0] + size[0] * (real(t - probe_start[b]) + real(wp.randf(rng))) / real(samples[b])
        for axis in range(1, dim):
            p[axis] = p[axis] + size[axis] * real(wp.randf(rng))
        probe_point[t] = p
        probe_winding[t] = 0

    @n.kernel(__name__)
    def cross_faces(
        x: wp.array(dtype=vec),
        faces: wp.array(dtype=face),
        body: wp.array(dtype=int),
        method: wp.array(dtype=int),
        samples: wp.array(dtype=int),
        bound_low: wp.array(dtype=vec),
        bound_high: wp.array(dtype=vec),
        probe_start: wp.array(dtype=int),
        probe_point: wp.array(dtype=vec),
        probe_winding: wp.array(dtype=int),
        probes_inside: wp.array(dtype=real),
    ):
        """One face: what it adds to the winding around the probes below it, or to the length of columns inside."""
        corners = faces[at(wp.tid())]
        b = at(body[at(corners[0])])
        how = method[b]
        if how != wp.static(MONTE_CARLO) and how != wp.static(SUBDIVISION):
            return
        low = x[at(corners[0])]
        high = low
        for k in range(1, dim):
            low = wp.min(low, x[at(corners[k])])
            high = wp.max(high, x[at(corners[k])])
        size = bound_high[b] - bound_low[b]
        count = samples[b]
        if size[0] <= real(0.0):
            return
        if how == wp.static(MONTE_CARLO):
            slices = span(low[0], high[0], bound_low[b][0], size[0], count, real(0.0))
            for k in range(slices[0], slices[1] + 1):
                t = at(probe_start[b] + k)
                hit = crossing(x, corners, probe_point[t])
                if hit[1] != real(0.0) and hit[0] > probe_point[t][last]:
                    wp.atomic_add(probe_winding, t, int(hit[1]))
        else:
            length = real(0.0)
            p = bound_low[b]
            columns = span(low[0], high[0], bound_low[b][0], size[0], count, real(0.5))
            for i in range(columns[0], columns[1] + 1):
                p[0] = bound_low[b][0] + size[0] * (real(i) + real(0.5)) / real(count)
                if wp.static(dim == 2):
                    hit = crossing(x, corners, p)
                    length += hit[1] * (hit[0] - bound_low[b][last])
                elif size[1] > real(0.0):
                    rows = span(low[1], high[1], bound_low[b][1], size[1], count, real(0.5))
                    for j in range(rows[0], rows[1] + 1):
                        p[1] = bound_low[b][1] + size[1] * (real(j) + real(0.5)) / real(count)
                        hit = crossing(x, corners, p)
                        length += hit[1] * (hit[0] - bound_low[b][last])
            wp.atomic_add(probes_inside, b, length)

    @n.kernel(__name__)
    def count_probes(
        probe_body: wp.array(dtype=int), probe_winding: wp.array(dtype=int), probes_inside: wp.array(dtype=real)
    ):
        """Probes that the surface winds around are inside."""
        t = wp.tid()
        if probe_winding[t] > 0:
            wp.atomic_add(probes_inside, probe_body[t], real(1.0))

    @n.kernel(__name__)
    def estimate_volume(
        method: wp.array(dtype=int),
        samples: wp.array(dtype=int),
        bound_low: wp.array(dtype=vec),
        bound_high: wp.array(dtype=vec),
        bound_reach: wp.array(dtype=real),
        probes_inside: wp.array(dtype=real),
        volume_sum: wp.array(dtype=real),
        exact_volume: wp.array(dtype=real),
    ):
        b = at(wp.tid())
        how = method[b]
        exact_volume[b] = share * volume_sum[b]
        if how == wp.static(EXACT):
            return
        size = bound_high[b] - bound_low[b]
        box = size[0] * size[1]
        base = size[0]
        if wp.static(dim == 3):
            base = box
            box = box * size[last]
        volume = box
        if how == wp.static(BALL) or how == wp.static(ELLIPSOID):
            radius = wp.sqrt(bound_reach[b])
            volume = unit_ball * radius * radius
            if wp.static(dim == 3):
                volume = volume * radius
            if how == wp.static(ELLIPSOID):
                volume = volume * box / wp.static(real(2.0**dim))
        if how == wp.static(MONTE_CARLO):
            volume = box * probes_inside[b] / real(samples[b])
        if how == wp.static(SUBDIVISION):
            columns = real(samples[b])
            if wp.static(dim == 3):
                columns = columns * columns
            volume = base * probes_inside[b] / columns
        volume_sum[b] = volume / share

    return SimpleNamespace(
        reset_bounds=reset_bounds,
        find_bounds=find_bounds,
        find_reach=find_reach,
        place_probes=place_probes,
        cross_faces=cross_faces,
        count_probes=count_probes,
        estimate_volume=estimate_volume,
    )
