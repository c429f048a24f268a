"""Relaxation of a whole scene by FIRE (Bitzek et al. 2006), on top of the engine's own substeps.

A substep changes the velocity of a point by dv = dt F / m, where F is all that acts on it: forces, walls, contact and
friction. That is all FIRE needs: while the power m dv·v is positive, velocities are turned towards dv (in the norm of
kinetic energy, so that none is added); else they are taken out. The motion of a body as a whole, its breathing (along
the force of its gas, which is by far its stiffest) and the rest of its motion are judged apart, so that fast vibrations
do not stop slow motion. A soft body that falls freely is driven harder and harder, as FIRE lengthens its steps, up to a
speed at which it can land. A rigid body keeps all of its motion, rotation included, or none.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.kernel.numbers import Numbers, at
from turgor.rigid import impulse
from turgor.solvers.relax import ALPHA, DELAY, SHRINK

__all__ = ["ALPHA", "LARGEST", "NET", "SUMS", "kernels"]

GROW, DRIVE = 1.1, 100.0  # of the drive of a body that falls freely, per substep; at most
ALONG = 0.3  # times a change of velocity that are added to it at most: more would make fast vibrations unstable
FREE = 0.5  # share of its weight that may be missing from what acts on a body that falls freely

# columns of `sums`, per body: soft ones first, then rigid ones
POWER, CHANGE2, SPEED2, CHANGE, SPEED, MOST = 0, 1, 2, 3, 6, 9  # J; momenta, N s; the square of the largest of a point
AREA, AREA2, BREATH, BREATH_CHANGE = 10, 13, 14, 15  # face vectors A, |A|²/m, and their products with v and dv
SUMS = 16
LARGEST, NET = 0, 1  # columns of `left`: N, on a point (rigid: N m, the moment); N, on the body


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """After a substep: sum_points, sum_rigid, decide, turn_points, turn_rigid. largest_loads: what acts on points."""
    real, vec, spin_type, wide, dim = n.real, n.vec, n.spin, n.wide, n.dim
    inner = impulse.kernels(n).inner

    @n.kernel(__name__)
    def sum_points(
        v: wp.array(dtype=vec),
        v_before: wp.array(dtype=vec),
        mass: wp.array(dtype=real),
        inverse_mass: wp.array(dtype=real),
        body: wp.array(dtype=int),
        faces_around: wp.array(dtype=vec),
        sums: wp.array2d(dtype=wp.float64),
    ):
        """Of the points that are free to move."""
        i = at(wp.tid())
        if inverse_mass[i] > real(0.0):
            b = at(body[i])
            m = wp.float64(mass[i])
            now = wide(v[i])
            change = now - wide(v_before[i])
            wp.atomic_add(sums, b, POWER, m * wp.dot(change, now))
            wp.atomic_add(sums, b, CHANGE2, m * wp.dot(change, change))
            wp.atomic_add(sums, b, SPEED2, m * wp.dot(now, now))
            for d in range(wp.static(dim)):
                wp.atomic_add(sums, b, CHANGE + d, m * change[d])
                wp.atomic_add(sums, b, SPEED + d, m * now[d])
            wp.atomic_max(sums, b, MOST, m * m * wp.dot(change, change))
            area = wide(faces_around[i])
            for d in range(wp.static(dim)):
                wp.atomic_add(sums, b, AREA + d, area[d])
            wp.atomic_add(sums, b, AREA2, wp.dot(area, area) / m)
            wp.atomic_add(sums, b, BREATH, wp.dot(area, now))
            wp.atomic_add(sums, b, BREATH_CHANGE, wp.dot(area, change))

    @n.kernel(__name__)
    def sum_rigid(
        first: int,  # of the rigid bodies in `sums`
        rigid_v: wp.array(dtype=vec),
        rigid_spin: wp.array(dtype=spin_type),
        rigid_angular: wp.array(dtype=spin_type),
        rigid_inverse_mass: wp.array(dtype=real),
        rigid_v_before: wp.array(dtype=vec),
        rigid_spin_before: wp.array(dtype=spin_type),
        rigid_angular_before: wp.array(dtype=spin_type),
        sums: wp.array2d(dtype=wp.float64),
    ):
        """Translation and rotation add up to the same sums; MOST is the square of the moment."""
        r = at(wp.tid())
        if rigid_inverse_mass[r] > real(0.0):
            b = at(first + r)
            m = wp.float64(1.0) / wp.float64(rigid_inverse_mass[r])
            now = wide(rigid_v[r])
            change = now - wide(rigid_v_before[r])
            moment = rigid_angular[r] - rigid_angular_before[r]
            turn = rigid_spin[r] - rigid_spin_before[r]
            sums[b, POWER] = m * wp.dot(change, now) + wp.float64(inner(moment, rigid_spin[r]))
            sums[b, CHANGE2] = m * wp.dot(change, change) + wp.float64(inner(moment, turn))
            sums[b, SPEED2] = m * wp.dot(now, now) + wp.float64(inner(rigid_angular[r], rigid_spin[r]))
            for d in range(wp.static(dim)):
                sums[b, CHANGE + d] = m * change[d]
                sums[b, SPEED + d] = m * now[d]
            sums[b, MOST] = wp.float64(inner(moment, moment))

    @wp.func
    def fire(power: wp.float64, change2: wp.float64, speed2: wp.float64, before: wp.vec4d):
        """(share of v that is kept, share of dv that is added, FIRE's alpha, substeps downhill)."""
        nought = wp.float64(0.0)
        if not (power > nought and change2 > nought):
            return wp.vec4d(nought, nought, wp.float64(ALPHA), nought)
        turn = before[2]
        downhill = before[3] + wp.float64(1.0)
        ratio = wp.sqrt(wp.max(speed2, nought) / change2)
        turned = wp.min(turn, wp.float64(ALONG) / wp.max(ratio, wp.float64(1.0e-300)))
        along = turned * ratio
        kept = wp.float64(1.0) - turned
        if downhill > wp.float64(DELAY):
            turn = wp.float64(SHRINK) * turn
        return wp.vec4d(kept, along, turn, downhill)

    @wp.func
    def unturned(factors: wp.vec4d) -> wp.vec4d:
        """All of v or nothing, and nothing of dv."""
        kept = wp.where(factors[0] > wp.float64(0.0), wp.float64(1.0), wp.float64(0.0))
        return wp.vec4d(kept, wp.float64(0.0), factors[2], factors[3])

    @n.kernel(__name__)
    def decide(
        first: int,  # rigid body: what hits it is not to be amplified
        hold: wp.array(dtype=int),  # 1: nothing keeps a velocity
        dt: wp.array(dtype=real),
        free_mass: wp.array(dtype=wp.float64),  # kg, of what is free to move
        weight: wp.array(dtype=wide),  # N
        top_speed: wp.array(dtype=wp.float64),  # m/s, to which a body that falls is driven
        sums: wp.array2d(dtype=wp.float64),
        whole: wp.array(dtype=wp.vec4d),
        inside: wp.array(dtype=wp.vec4d),
        breath: wp.array(dtype=wp.vec4d),
        drive: wp.array(dtype=wp.float64),
        mean: wp.array(dtype=wide),
        mean_change: wp.array(dtype=wide),
        mean_area: wp.array(dtype=wide),  # m²/kg
        swell: wp.array(dtype=wp.vec2d),  # share of u = A/m - mean_area in v, and in dv
        left: wp.array2d(dtype=wp.float64),
    ):
        """What each body keeps of its velocities, and what it gets of their change."""
        b = at(wp.tid())
        m = wp.max(free_mass[b], wp.float64(1.0e-300))
        momentum = wide()
        change = wide()
        area = wide()
        for d in range(wp.static(dim)):
            area[d] = sums[b, AREA + d]
            momentum[d] = sums[b, SPEED + d]
            change[d] = sums[b, CHANGE + d]
        power = wp.dot(momentum, change) / m
        change2 = wp.dot(change, change) / m
        speed2 = wp.dot(momentum, momentum) / m
        whole[b] = fire(power, change2, speed2, whole[b])
        size = sums[b, AREA2] - wp.dot(area, area) / m  # u·u in the norm of kinetic energy
        swelling = wp.vec2d()
        if size > wp.float64(1.0e-9) * sums[b, AREA2]:
            u_v = sums[b, BREATH] - wp.dot(area, momentum) / m
            u_change = sums[b, BREATH_CHANGE] - wp.dot(area, change) / m
            swelling = wp.vec2d(u_v / size, u_change / size)
            breath[b] = fire(u_v * u_change, u_change * u_change, u_v * u_v, breath[b])
            power += u_v * u_change / size
            change2 += u_change * u_change / size
            speed2 += u_v * u_v / size
        inside[b] = fire(sums[b, POWER] - power, sums[b, CHANGE2] - change2, sums[b, SPEED2] - speed2, inside[b])
        if b >= first:
            whole[b] = unturned(fire(sums[b, POWER], sums[b, CHANGE2], sums[b, SPEED2], whole[b]))
            inside[b] = whole[b]
        step = wp.float64(dt[0])
        missing = wp.length(change - step * weight[b])
        falls = missing < wp.float64(FREE) * step * wp.length(weight[b])
        if falls and wp.length(momentum) < m * top_speed[b]:
            drive[b] = wp.min(wp.float64(GROW) * drive[b], wp.float64(DRIVE))
        else:
            drive[b] = wp.float64(1.0)
        if hold[0] != 0:
            whole[b] = wp.vec4d(wp.float64(0.0), wp.float64(0.0), wp.float64(ALPHA), wp.float64(0.0))
            inside[b] = whole[b]
            breath[b] = whole[b]
            drive[b] = wp.float64(1.0)
        factor = whole[b]
        more = wp.where(factor[0] > wp.float64(0.0), drive[b] - wp.float64(1.0), wp.float64(0.0))
        mean[b] = momentum / m
        mean_change[b] = change / m
        mean_area[b] = area / m
        swell[b] = swelling
        whole[b] = wp.vec4d(factor[0], factor[1] + more, factor[2], factor[3])
        left[b, NET] = wp.length(change) / step
        left[b, LARGEST] = wp.sqrt(sums[b, MOST]) / step
        for k in range(SUMS):
            sums[b, k] = wp.float64(0.0)

    @n.kernel(__name__)
    def turn_points(
        body: wp.array(dtype=int),
        inverse_mass: wp.array(dtype=real),
        whole: wp.array(dtype=wp.vec4d),
        inside: wp.array(dtype=wp.vec4d),
        breath: wp.array(dtype=wp.vec4d),
        mean: wp.array(dtype=wide),
        mean_change: wp.array(dtype=wide),
        mean_area: wp.array(dtype=wide),
        swell: wp.array(dtype=wp.vec2d),
        faces_around: wp.array(dtype=vec),
        v: wp.array(dtype=vec),
        v_before: wp.array(dtype=vec),
    ):
        i = at(wp.tid())
        b = at(body[i])
        if inverse_mass[i] > real(0.0):
            now = wide(v[i])
            change = now - wide(v_before[i])
            u = wp.float64(inverse_mass[i]) * wide(faces_around[i]) - mean_area[b]
            breathing = swell[b][0] * u
            breathing_change = swell[b][1] * u
            v[i] = vec(
                whole[b][0] * mean[b]
                + whole[b][1] * mean_change[b]
                + breath[b][0] * breathing
                + breath[b][1] * breathing_change
                + inside[b][0] * (now - mean[b] - breathing)
                + inside[b][1] * (change - mean_change[b] - breathing_change)
            )
        v_before[i] = v[i]

    @n.kernel(__name__)
    def turn_rigid(
        first: int,
        rigid_inverse_mass: wp.array(dtype=real),
        whole: wp.array(dtype=wp.vec4d),
        inside: wp.array(dtype=wp.vec4d),
        rigid_v: wp.array(dtype=vec),
        rigid_spin: wp.array(dtype=spin_type),
        rigid_angular: wp.array(dtype=spin_type),
        rigid_v_before: wp.array(dtype=vec),
        rigid_spin_before: wp.array(dtype=spin_type),
        rigid_angular_before: wp.array(dtype=spin_type),
    ):
        r = at(wp.tid())
        b = at(first + r)
        if rigid_inverse_mass[r] > real(0.0):
            kept = real(inside[b][0])
            along = real(inside[b][1])
            rigid_v[r] = real(whole[b][0]) * rigid_v[r] + real(whole[b][1]) * (rigid_v[r] - rigid_v_before[r])
            rigid_spin[r] = kept * rigid_spin[r] + along * (rigid_spin[r] - rigid_spin_before[r])
            rigid_angular[r] = kept * rigid_angular[r] + along * (rigid_angular[r] - rigid_angular_before[r])
        rigid_v_before[r] = rigid_v[r]
        rigid_spin_before[r] = rigid_spin[r]
        rigid_angular_before[r] = rigid_angular[r]

    @n.kernel(__name__)
    def largest_loads(
        f: wp.array(dtype=vec),
        area: wp.array(dtype=vec),
        body: wp.array(dtype=int),
        mass: wp.array(dtype=real),
        push: wp.array(dtype=real),
        body_gravity: wp.array(dtype=vec),
        loads: wp.array(dtype=wp.float64),
    ):
        """N, per body: the largest force of springs, of gas or of gravity on a point. The accumulators are cleared."""
        i = at(wp.tid())
        b = at(body[i])
        load = wp.max(wp.length(f[i]), wp.length(push[b] * area[i]))
        wp.atomic_max(loads, b, wp.float64(wp.max(load, mass[i] * wp.length(body_gravity[b]))))
        f[i] = vec()
        area[i] = vec()

    return SimpleNamespace(
        sum_points=sum_points, sum_rigid=sum_rigid, decide=decide, turn_points=turn_points, turn_rigid=turn_rigid,
        largest_loads=largest_loads,
    )  # fmt: skip
