"""Kernels that all tasks share: sums over bodies, the pump, random starts, and what a policy gets to see."""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.kernel.numbers import FACE_SHARE, Numbers, at

__all__ = ["kernels"]


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """In the order of a control period: measure, pump (frame by frame), then observe (of the task) and judge."""
    real, vec, face, dim = n.real, n.vec, n.face, n.dim
    share = wp.constant(real(FACE_SHARE[dim]))
    huge = wp.constant(real(1.0e30))
    last = wp.constant(dim - 1)

    if dim == 2:

        @wp.func
        def cone(x: wp.array(dtype=vec), corners: face, tip: vec) -> real:
            """Twice the area between a segment and a point."""
            a = x[at(corners[0])] - tip
            b = x[at(corners[1])] - tip
            return a[0] * b[1] - a[1] * b[0]

    else:

        @wp.func
        def cone(x: wp.array(dtype=vec), corners: face, tip: vec) -> real:
            """Six times the volume between a triangle and a point."""
            a = x[at(corners[0])] - tip
            return wp.dot(a, wp.cross(x[at(corners[1])] - tip, x[at(corners[2])] - tip))

    @n.kernel(__name__)
    def measure(
        x: wp.array(dtype=vec),
        v: wp.array(dtype=vec),
        mass: wp.array(dtype=real),
        faces: wp.array(dtype=face),
        vertex_start: wp.array(dtype=int),
        face_start: wp.array(dtype=int),
        center_out: wp.array(dtype=vec),
        velocity_out: wp.array(dtype=vec),
        volume_out: wp.array(dtype=real),
        low_out: wp.array(dtype=real),
    ):
        """Centre of mass, its velocity, volume and lowest point of a body; one thread each, so sums keep their order.

        The volume is summed about a vertex of the body, where single precision loses least.
        """
        b = at(wp.tid())
        first = vertex_start[b]
        tip = x[at(first)]
        arm = vec()
        momentum = vec()
        total = real(0.0)
        low = huge
        for i in range(first, vertex_start[b + 1]):
            arm += mass[at(i)] * (x[at(i)] - tip)
            momentum += mass[at(i)] * v[at(i)]
            total += mass[at(i)]
            low = wp.min(low, x[at(i)][last])
        cones = real(0.0)
        for k in range(face_start[b], face_start[b + 1]):
            cones += cone(x, faces[at(k)], tip)
        center_out[b] = tip + arm / total
        velocity_out[b] = momentum / total
        volume_out[b] = share * cones
        low_out[b] = low

    @n.kernel(__name__)
    def pump(
        action: wp.array2d(dtype=wp.float32),
        cell: wp.array(dtype=int),
        bodies: int,
        gauge_low: real,
        gauge_high: real,
        amount_low: real,  # of the gas that fills the cell at rest without gauge pressure
        amount_high: real,
        most: real,  # J that a pump moves in a frame
        volume: wp.array(dtype=real),
        rest_volume: wp.array(dtype=real),
        ambient: wp.array(dtype=real),
        nRT: wp.array(dtype=real),
        moved: wp.array(dtype=real),
    ):
        """Gas goes towards the target pressure at the present volume, nRT -> (ambient + gauge) V, within its bounds."""
        w = wp.tid()
        total = real(0.0)
        for c in range(cell.shape[0]):
            b = at(w * bodies + cell[c])
            wish = real(0.5) * (wp.clamp(real(action[w, c]), real(-1.0), real(1.0)) + real(1.0))
            target = (ambient[b] + gauge_low + wish * (gauge_high - gauge_low)) * volume[b]
            unit = ambient[b] * rest_volume[b]
            target = wp.clamp(target, amount_low * unit, amount_high * unit)
            change = wp.clamp(target - nRT[b], -most, most)
            nRT[b] = nRT[b] + change
            total += wp.abs(change)
        moved[w] += total

    @n.kernel(__name__)
    def start(
        chosen: wp.array(dtype=wp.int32),
        seed: wp.array(dtype=wp.int32),
        episode: wp.array(dtype=wp.int32),
        vertices: int,
        rigids: int,
        bodies: int,
        cell: wp.array(dtype=int),
        speed: real,
        gauge_low: real,
        gauge_high: real,
        rest_volume: wp.array(dtype=real),
        ambient: wp.array(dtype=real),
        rigid_inverse_mass: wp.array(dtype=real),
        rigid_v: wp.array(dtype=vec),
        v: wp.array(dtype=vec),
        nRT: wp.array(dtype=real),
        steps: wp.array(dtype=wp.int32),
        moved: wp.array(dtype=real),
    ):
        """The chosen worlds begin an episode: one velocity for all bodies, and an amount of gas per cell, at random."""
        w = wp.tid()
        if chosen[w] == 0:
            return
        episode[w] = episode[w] + 1
        steps[w] = 0
        moved[w] = real(0.0)
        rng = wp.rand_init(seed[w], episode[w])
        push = vec()
        for axis in range(dim):
            push[axis] = speed * real(wp.randf(rng, -1.0, 1.0))
        for i in range(w * vertices, (w + 1) * vertices):
            v[at(i)] = v[at(i)] + push
        for k in range(w * rigids, (w + 1) * rigids):
            if rigid_inverse_mass[k] > real(0.0):
                rigid_v[k] = rigid_v[k] + push
        for c in range(cell.shape[0]):
            b = at(w * bodies + cell[c])
            gauge = gauge_low + (gauge_high - gauge_low) * real(wp.randf(rng))
            nRT[b] = (ambient[b] + gauge) * rest_volume[b]

    @n.kernel(__name__)
    def judge(
        reading: wp.array2d(dtype=wp.float32),
        gain: wp.array(dtype=real),
        ended: wp.array(dtype=wp.int32),
        moved: wp.array(dtype=real),
        chosen: wp.array(dtype=wp.int32),  # worlds that have just begun
        failed: wp.array(dtype=wp.int32),  # worlds that have become unstable in this period
        least: wp.array(dtype=wp.float32),
        most: wp.array(dtype=wp.float32),
        price: real,
        limit: int,
        steps: wp.array(dtype=wp.int32),
        observation: wp.array2d(dtype=wp.float32),
        reward: wp.array(dtype=wp.float32),
        terminated: wp.array(dtype=wp.bool),
        truncated: wp.array(dtype=wp.bool),
    ):
        """What a policy gets: readings within their bounds, and the gain less the price of pumping.

        A world that has become unstable keeps its last observation and gains nothing.
        """
        w = wp.tid()
        cost = price * moved[w]
        moved[w] = real(0.0)
        if failed[w] == 0:
            for k in range(least.shape[0]):
                observation[w, k] = wp.clamp(reading[w, k], least[k], most[k])
        if chosen[w] != 0:
            reward[w] = 0.0
            terminated[w] = False
            truncated[w] = False
            return
        steps[w] = steps[w] + 1
        over = failed[w] != 0 or ended[w] != 0
        terminated[w] = over
        truncated[w] = not over and steps[w] >= limit
        reward[w] = wp.where(failed[w] != 0, wp.float32(0.0), wp.float32(gain[w] - cost))

    return SimpleNamespace(measure=measure, pump=pump, start=start, judge=judge)
