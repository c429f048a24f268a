"""The bounding objects of all bodies at the end of a substep, and which of them may meet (C4): boxes first."""

import functools
from types import SimpleNamespace

import warp as wp

from turgor.contact.matyka2003.objects import BALL, BOX
from turgor.kernel.numbers import Numbers, at
from turgor.rigid import motion

__all__ = ["kernels"]


@functools.cache
def kernels(n: Numbers) -> SimpleNamespace:
    """Structs and kernels: `Bodies` does not change; `Objects` is made by `measure` in each substep."""
    real, vec, dim, spin_type = n.real, n.vec, n.dim, n.spin
    turning = motion.kernels(n)
    pose, rotate, turned = turning.pose, turning.rotate, turning.turned
    huge = wp.constant(real(1.0e30))
    flat = wp.constant(real(1.0e-4))  # smallest half axis, share of the largest

    @wp.struct
    class Bodies:
        """The contact bodies of all worlds."""

        start: wp.array(dtype=int)  # points
        end: wp.array(dtype=int)
        rigid: wp.array(dtype=int)  # flat index, -1: soft
        soft: wp.array(dtype=int)  # flat index, -1: rigid
        first: wp.array(dtype=int)  # contact bodies of its world
        last: wp.array(dtype=int)
        closed: wp.array(dtype=int)
        shape: wp.array(dtype=int)  # BOX, BALL, ELLIPSOID
        margin: wp.array(dtype=real)  # m: added to a sheet, which has no thickness of its own
        local_centre: wp.array(dtype=vec)  # m, of a rigid body's object, principal axes
        local_half: wp.array(dtype=vec)  # m
        stranger_start: wp.array(dtype=int)  # bodies it is glued to, which it does not touch
        stranger: wp.array(dtype=int)

    @wp.struct
    class Objects:
        """The bounding objects, one per contact body, and the motion of the body as a whole."""

        centre: wp.array(dtype=vec)  # m
        half: wp.array(dtype=vec)  # m
        frame: wp.array(dtype=pose)  # of a rigid body; soft ones are along the world's axes
        low: wp.array(dtype=vec)  # m: box around the object's way
        high: wp.array(dtype=vec)
        points_low: wp.array(dtype=vec)  # m: box around the points' ways
        points_high: wp.array(dtype=vec)
        velocity: wp.array(dtype=vec)  # m/s, of a soft body's free points, weighted with their masses
        inverse_mass: wp.array(dtype=real)  # 1/kg, of all its free points; 0: nothing moves it

    @wp.func
    def least(p: vec) -> vec:
        """Of all threads of the block, per axis."""
        out = vec()
        for axis in range(dim):
            found = wp.tile_min(wp.tile(p[axis]))
            out[axis] = found[0]
        return out

    @wp.func
    def total(p: vec) -> vec:
        out = vec()
        for axis in range(dim):
            found = wp.tile_sum(wp.tile(p[axis]))
            out[axis] = found[0]
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
        v: wp.array(dtype=vec),
        move: wp.array(dtype=vec),  # of the soft points
        inverse_mass: wp.array(dtype=real),
        rigid_x: wp.array(dtype=vec),
        rigid_v: wp.array(dtype=vec),
        rigid_q: wp.array(dtype=pose),
        rigid_spin: wp.array(dtype=spin_type),
        rigid_inverse_mass: wp.array(dtype=real),
        objects: Objects,
        drift: wp.array(dtype=vec),
        kick: wp.array(dtype=vec),
    ):
        """One block per body: the object that holds all its points at the end of the substep."""
        b, lane = wp.tid()
        h = dt[0]
        r = bodies.rigid[b]
        start = bodies.start[b]
        end = bodies.end[b]
        low = vec()
        low_way = vec()
        high = vec()  # negative, so that all are minima
        high_way = vec()
        for axis in range(dim):
            low[axis] = huge
            low_way[axis] = huge
            high[axis] = huge
            high_way[axis] = huge
        momentum = vec()
        plain = vec()
        mass = real(0.0)
        for p in range(start + lane, end, wp.block_dim()):
            i = at(p)
            here = points[i]
            there = here + h * v[i]
            if r < 0:
                there = here + move[i]
                plain += v[i]
                if inverse_mass[i] > real(0.0):
                    own = real(1.0) / inverse_mass[i]
                    mass += own
                    momentum += own * v[i]
            low = wp.min(low, there)
            high = wp.min(high, -there)
            low_way = wp.min(low_way, here)
            high_way = wp.min(high_way, -here)
        low = least(low)
        high = -least(high)
        low_way = wp.min(least(low_way), low)
        high_way = wp.max(-least(high_way), high)
        momentum = total(momentum)
        plain = total(plain)
        all_mass = wp.tile_sum(wp.tile(mass))
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
        growth = wp.tile_max(wp.tile(reach))
        if lane == 0:
            speed = plain / real(wp.max(end - start, 1))
            inverse = real(0.0)
            reach_world = half
            if r >= 0:
                q = turned(rigid_q[r], rigid_spin[r], h)
                centre = rigid_x[r] + h * rigid_v[r] + rotate(q, bodies.local_centre[b])
                half = bodies.local_half[b]
                speed = rigid_v[r]
                inverse = rigid_inverse_mass[r]
                objects.frame[b] = q
                reach_world = axis_reach(q, half)
            else:
                if bodies.shape[b] == wp.static(BOX):
                    for axis in range(dim):
                        half[axis] = half[axis] + bodies.margin[b]
                else:
                    half = half * wp.max(growth[0], real(1.0e-12))
                if all_mass[0] > real(0.0):
                    inverse = real(1.0) / all_mass[0]
                    speed = momentum * inverse
                reach_world = half
            back = h * speed
            objects.centre[b] = centre
            objects.half[b] = half
            objects.low[b] = wp.min(centre, centre - back) - reach_world
            objects.high[b] = wp.max(centre, centre - back) + reach_world
            objects.points_low[b] = low_way
            objects.points_high[b] = high_way
            objects.velocity[b] = speed
            objects.inverse_mass[b] = inverse
            drift[b] = vec()
            kick[b] = vec()

    @n.kernel(__name__)
    def find_pairs(
        bodies: Bodies,
        objects: Objects,
        capacity: int,
        pair: wp.array(dtype=wp.vec2i),
        pair_count: wp.array(dtype=int),
        overflow: wp.array(dtype=int),
    ):
        """(a, b): points of a may meet the object of b, because their boxes do."""
        a = wp.tid()
        low = objects.points_low[a]
        high = objects.points_high[a]
        for c in range(bodies.first[a], bodies.last[a]):
            b = at(c)
            meets = b != a
            for axis in range(dim):
                if low[axis] > objects.high[b][axis] or high[axis] < objects.low[b][axis]:
                    meets = False
            if meets and (bodies.rigid[a] < 0 or bodies.rigid[b] < 0):
                for s in range(bodies.stranger_start[a], bodies.stranger_start[a + 1]):
                    if bodies.stranger[s] == b:
                        meets = False
                if meets and (objects.inverse_mass[a] > real(0.0) or objects.inverse_mass[b] > real(0.0)):
                    slot = wp.atomic_add(pair_count, 0, 1)
                    if slot < capacity:
                        pair[at(slot)] = wp.vec2i(a, b)
                    else:
                        overflow[0] = 1

    return SimpleNamespace(Bodies=Bodies, Objects=Objects, measure=measure, find_pairs=find_pairs)
