"""Broad phase: a sphere about the axis-aligned box of each body, through the box's corners (B9; Martin 2009, 5.1).

The box holds all points of the body now and where their velocities take them in this substep.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.kernel.numbers import Numbers, at

__all__ = ["kernels"]


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """In the order they are launched: reset, bounds, pairs."""
    real, vec, dim = n.real, n.vec, n.dim
    huge = wp.constant(real(1.0e30))

    @n.kernel(__name__)
    def reset_boxes(
        box_low: wp.array(dtype=vec),
        box_high: wp.array(dtype=vec),
        pair_count: wp.array(dtype=int),  # (2,) pairs found: soft-soft, soft-rigid
        contact_count: wp.array(dtype=int),  # (1,) contacts found
    ):
        b = wp.tid()
        for axis in range(dim):
            box_low[b][axis] = huge
            box_high[b][axis] = -huge
        if b < 2:  # there are at least two bodies
            pair_count[b] = 0
            contact_count[0] = 0

    @n.kernel(__name__)
    def find_boxes(
        points: wp.array(dtype=vec),
        point_v: wp.array(dtype=vec),
        point_body: wp.array(dtype=int),
        dt: wp.array(dtype=real),
        box_low: wp.array(dtype=vec),
        box_high: wp.array(dtype=vec),
    ):
        i = at(wp.tid())
        b = at(point_body[i])
        now = points[i]
        soon = now + dt[0] * point_v[i]
        wp.atomic_min(box_low, b, wp.min(now, soon))
        wp.atomic_max(box_high, b, wp.max(now, soon))

    @wp.func
    def spheres_meet(low_a: vec, high_a: vec, low_b: vec, high_b: vec, thickness: real) -> bool:
        """Centres closer than the radii, half the boxes' diagonals, and what the bodies' skins add."""
        centres = real(0.5) * (low_a + high_a - low_b - high_b)
        reach = real(0.5) * (wp.length(high_a - low_a) + wp.length(high_b - low_b)) + thickness
        return wp.dot(centres, centres) <= reach * reach

    @n.kernel(__name__)
    def find_pairs(
        kind: int,  # 0: soft-soft, 1: soft-rigid
        pair_bodies: wp.array(dtype=wp.vec2i),  # bodies of each pair, one world
        bodies: int,  # contact bodies per world
        box_low: wp.array(dtype=vec),
        box_high: wp.array(dtype=vec),
        thickness: wp.array(dtype=real),
        pair_count: wp.array(dtype=int),
        found: wp.array(dtype=int),  # world * pairs + pair
        overflow: wp.array(dtype=int),
    ):
        world, p = wp.tid()
        pair = pair_bodies[p]
        a = world * bodies + pair[0]
        b = world * bodies + pair[1]
        if not spheres_meet(box_low[a], box_high[a], box_low[b], box_high[b], thickness[a] + thickness[b]):
            return
        slot = wp.atomic_add(pair_count, kind, 1)
        if slot < found.shape[0]:
            found[slot] = world * pair_bodies.shape[0] + p
        else:
            overflow[0] = 1

    return SimpleNamespace(
        reset_boxes=reset_boxes, find_boxes=find_boxes, find_pairs=find_pairs, spheres_meet=spheres_meet
    )
