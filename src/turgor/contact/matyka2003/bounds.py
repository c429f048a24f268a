"""The bounding objects of all bodies at the end of a substep, and pairs of bodies whose boxes meet (C4)."""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.contact.matyka2003.objects import BALL, BOX
from turgor.kernel.blocks import block_max, block_min, block_sum
from turgor.kernel.numbers import Numbers, at
from turgor.rigid import motion

__all__ = ["kernels"]


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """Structs and kernels: `Bodies` does not change; `measure` renews `Objects` in each substep."""
    real, vec, dim, spin_type = n.real, n.vec, n.dim, n.spin
    turning = motion.kernels(n)
    pose, rotate, turned = turning.pose, turning.rotate, turning.turned
    huge = wp.constant(real(1.0e30))
    flat = wp.constant(real(1.0e-4))  # smallest half axis, share of the largest

    @wp.struct
    class Bodies:
        """The contact bodies of all worlds."""

        point_start: wp.array(dtype=int)
        point_end: wp.array(dtype=int)
        rigid_index: wp.array(dtype=int)  # flat, -1: soft
        soft_index: wp.array(dtype=int)  # flat, -1: rigid
        world_first: wp.array(dtype=int)  # contact bodies of its world
        world_last: wp.array(dtype=int)
        closed: wp.array(dtype=int)
        shape: wp.array(dtype=int)  # BOX, BALL, ELLIPSOID
        margin: wp.array(dtype=real)  # m: added to a sheet, which has no thickness of its own
        local_centre: wp.array(dtype=vec)  # m, of a rigid body's object, principal axes
        local_half: wp.array(dtype=vec)  # m
        excluded_start: wp.array(dtype=int)  # bodies it is glued to, with which it has no contact
        excluded: wp.array(dtype=int)

    @wp.struct
    class Objects:
        """The bounding objects, one per contact body, and the mean motion of the body."""

        centre: wp.array(dtype=vec)  # m
        half: wp.array(dtype=vec)  # m
        orientation: wp.array(dtype=pose)  # of a rigid body; soft ones are along the world's axes
        low: wp.array(dtype=vec)  # m: box around the path of the object
        high: wp.array(dtype=vec)
        path_low: wp.array(dtype=vec)  # m: box around the paths of the points
        path_high: wp.array(dtype=vec)
        velocity: wp.array(dtype=vec)  # m/s, of a soft body's free points, weighted with their masses
        inverse_mass: wp.array(dtype=real)  # 1/kg, of all its free points; 0: nothing moves it

    @wp.struct
    class Drift:
        """What contact does to all points of a soft body alike."""

        shift: wp.array(dtype=vec)  # m
        velocity: wp.array(dtype=vec)  # m/s

    @wp.func
    def least(p: vec) -> vec:
        """Of all threads of the block, per axis."""
        out = vec()
        for axis in range(dim):
            found = block_min(p[axis])
            out[axis] = found
        return out

    @wp.func
    def total(p: vec) -> vec:
        out = vec()
        for axis in range(dim):
            found = block_sum(p[axis])
            out[axis] = found
        return out

    @wp.func
    def axis_reach(q: pose, half: vec) -> vec:
        """Half size, along the world's axes, of a turned box."""
        out = vec()
        for axis in range(dim):
            unit = vec()
            unit[axis] = half[axis]
            out += wp.abs(rotate(q, unit))
        return out

    @n.kernel(__name__)
    def measure(
        bodies: Bodies,
        dt: wp.array(dtype=real),
        points: wp.array(dtype=vec),
        point_v: wp.array(dtype=vec),
        move: wp.array(dtype=vec),  # of the soft points
        soft_inverse_mass: wp.array(dtype=real),
        rigid_x: wp.array(dtype=vec),
        rigid_v: wp.array(dtype=vec),
        rigid_q: wp.array(dtype=pose),
        rigid_spin: wp.array(dtype=spin_type),
        rigid_inverse_mass: wp.array(dtype=real),
        objects: Objects,
        drift: Drift,
    ):
        """One block per body: the object that holds all its points at the end of the substep."""
        b, lane = wp.tid()
        h = dt[0]
        r = bodies.rigid_index[b]
        start = bodies.point_start[b]
        end = bodies.point_end[b]
        low = vec()
        path_low = vec()
        high = vec()  # negative, so that all are minima
        path_high = vec()
        for axis in range(dim):
            low[axis] = huge
            path_low[axis] = huge
            high[axis] = huge
            path_high[axis] = huge
        momentum = vec()
        velocity_sum = vec()
        mass = real(0.0)
        for p in range(start + lane, end, wp.block_dim()):
            i = at(p)
            here = points[i]
            there = here + h * point_v[i]
            if r < 0:
                there = here + move[i]
                velocity_sum += point_v[i]
                if soft_inverse_mass[i] > real(0.0):
                    own = real(1.0) / soft_inverse_mass[i]
                    mass += own
                    momentum += own * point_v[i]
            low = wp.min(low, there)
            high = wp.min(high, -there)
            path_low = wp.min(path_low, here)
            path_high = wp.min(path_high, -here)
        low = least(low)
        high = -least(high)
        path_low = wp.min(least(path_low), low)
        path_high = wp.max(-least(path_high), high)
        momentum = total(momentum)
        velocity_sum = total(velocity_sum)
        all_mass = block_sum(mass)
        centre = real(0.5) * (low + high)
        half = real(0.5) * (high - low)
        for axis in range(dim):
            half[axis] = wp.max(half[axis], wp.max(flat * wp.max(half), real(1.0e-12)))
        if bodies.shape[b] == wp.static(BALL):
            widest = wp.max(half)
            for axis in range(dim):
                half[axis] = widest
        # the factor by which the unit ball of these axes must grow to hold all points
        reach = real(0.0)
        if r < 0 and bodies.shape[b] != wp.static(BOX):
            for p in range(start + lane, end, wp.block_dim()):
                i = at(p)
                reach = wp.max(reach, wp.length(wp.cw_div(points[i] + move[i] - centre, half)))
        growth = block_max(reach)
        if lane == 0:
            speed = velocity_sum / real(wp.max(end - start, 1))
            inverse = real(0.0)
            reach_world = half
            if r >= 0:
                q = turned(rigid_q[r], rigid_spin[r], h)
                centre = rigid_x[r] + h * rigid_v[r] + rotate(q, bodies.local_centre[b])
                half = bodies.local_half[b]
                speed = rigid_v[r]
                inverse = rigid_inverse_mass[r]
                objects.orientation[b] = q
                reach_world = axis_reach(q, half)
            else:
                if bodies.shape[b] == wp.static(BOX):
                    for axis in range(dim):
                        half[axis] = half[axis] + bodies.margin[b]
                else:
                    half = half * wp.max(growth, real(1.0e-12))
                if all_mass > real(0.0):
                    inverse = real(1.0) / all_mass
                    speed = momentum * inverse
                reach_world = half
            back = h * speed
            objects.centre[b] = centre
            objects.half[b] = half
            objects.low[b] = wp.min(centre, centre - back) - reach_world
            objects.high[b] = wp.max(centre, centre - back) + reach_world
            objects.path_low[b] = path_low
            objects.path_high[b] = path_high
            objects.velocity[b] = speed
            objects.inverse_mass[b] = inverse
            drift.shift[b] = vec()
            drift.velocity[b] = vec()

    @n.kernel(__name__)
    def find_pairs(
        bodies: Bodies,
        objects: Objects,
        pair: wp.array(dtype=wp.vec2i),
        pair_count: wp.array(dtype=int),
        overflow: wp.array(dtype=int),
    ):
        """(a, b): points of a may meet the object of b, because their boxes do."""
        a = wp.tid()
        low = objects.path_low[a]
        high = objects.path_high[a]
        for c in range(bodies.world_first[a], bodies.world_last[a]):
            b = at(c)
            meets = b != a
            for axis in range(dim):
                if low[axis] > objects.high[b][axis] or high[axis] < objects.low[b][axis]:
                    meets = False
            if meets and (bodies.rigid_index[a] < 0 or bodies.rigid_index[b] < 0):
                for s in range(bodies.excluded_start[a], bodies.excluded_start[a + 1]):
                    if bodies.excluded[s] == b:
                        meets = False
                if meets and (objects.inverse_mass[a] > real(0.0) or objects.inverse_mass[b] > real(0.0)):
                    slot = wp.atomic_add(pair_count, 0, 1)
                    if slot < pair.shape[0]:
                        pair[at(slot)] = wp.vec2i(a, b)
                    else:
                        overflow[0] = 1

    return SimpleNamespace(Bodies=Bodies, Objects=Objects, Drift=Drift, measure=measure, find_pairs=find_pairs)
