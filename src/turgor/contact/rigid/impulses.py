"""Impulses at the contact points of rigid bodies: Gauss-Seidel over the pairs, or all pairs at once (B14, B15, law 9).

A pass visits each pair and corrects the accumulated impulses of its points: the normal ones are never negative, those
of friction stay within their cones. Equal and opposite impulses act at one point, so momentum and angular momentum are
kept. The points of a pair are corrected together, so that a symmetric contact stays symmetric. On the CPU a pair sees
what the pair before it did. In parallel each body is split into as many parts as it has
pairs, which move independently during a pass (mass splitting; Tonge et al. 2012): a pass is then a sum over pairs,
taken in integers, so that the order of threads does not matter.

The same passes remove depth: there a velocity is a displacement (`Motion`, `Rows`), and there is no friction.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.contact.rigid import manifold
from turgor.contact.rigid.records import POINTS, structs
from turgor.kernel import fixed_sum
from turgor.kernel.numbers import Numbers, at
from turgor.rigid import impulse

__all__ = ["ALL", "HELD", "UNEVEN", "kernels"]

# which pairs a pass visits
ALL = 0
UNEVEN = 1  # those of worlds that need more passes (turgor.contact.rigid.acceleration)
HELD = 2  # those with walls and with bodies that nothing moves


@functools.cache
@no_type_check
def kernels(n: Numbers, parallel: bool) -> SimpleNamespace:
    """Kernels; `parallel`: threads run at the same time."""
    real, vec, spin_type = n.real, n.vec, n.spin
    t, i, w, m = structs(n), impulse.kernels(n), fixed_sum.kernels(n), manifold.kernels(n)
    add_move, add_turn, taken_move, taken_turn = w.add_move, w.add_turn, w.taken_move, w.taken_turn
    Bodies, Walls, Pairs, Points, Warm, Sums = t.Bodies, t.Walls, t.Pairs, t.Points, t.Warm, t.Sums
    Motion, Rows, each, table = t.Motion, t.Rows, t.each, t.table
    cross, swing, turn_by, mobility, inner = i.cross, i.swing, i.turn_by, i.mobility, i.inner
    inertia, inverse, swept = i.inertia, m.inverse, m.swept
    zero = wp.constant(real(0.0))
    one = wp.constant(real(1.0))
    dim = n.dim
    steps = wp.types.matrix(shape=(2 if dim == 2 else POINTS, dim), dtype=real)  # a vector per point
    module = f"{__name__}_at_once" if parallel else __name__

    if dim == 2:

        @wp.func
        def tangent_inverse_mass(
            normal: vec, mass_a: real, inertia_a: inertia, arm_a: vec, mass_b: real, inertia_b: inertia, arm_b: vec
        ) -> real:
            """Largest inverse effective mass across the normal."""
            side = vec(-normal[1], normal[0])
            return mobility(mass_a, inertia_a, arm_a, side) + mobility(mass_b, inertia_b, arm_b, side)

    else:

        @wp.func
        def tangent_inverse_mass(
            normal: vec, mass_a: real, inertia_a: inertia, arm_a: vec, mass_b: real, inertia_b: inertia, arm_b: vec
        ) -> real:
            """Largest inverse effective mass across the normal: of the 2 x 2 matrix of both tangents."""
            u = vec(normal[1], -normal[0], zero)
            if wp.abs(normal[2]) > real(0.7):
                u = vec(zero, normal[2], -normal[1])
            u = wp.normalize(u)
            w = wp.cross(normal, u)
            uu = mobility(mass_a, inertia_a, arm_a, u) + mobility(mass_b, inertia_b, arm_b, u)
            ww = mobility(mass_a, inertia_a, arm_a, w) + mobility(mass_b, inertia_b, arm_b, w)
            uw = inner(cross(arm_a, u), turn_by(inertia_a, cross(arm_a, w)))
            uw += inner(cross(arm_b, u), turn_by(inertia_b, cross(arm_b, w)))
            half = real(0.5) * (uu - ww)
            return real(0.5) * (uu + ww) + wp.sqrt(half * half + uw * uw)

    @wp.func
    def split_count(manifold_count: wp.array(dtype=wp.int32), body: int) -> real:
        """Into how many parts a body is split."""
        if wp.static(parallel):
            return real(wp.max(manifold_count[body], 1))
        return one

    @n.kernel(module)
    def prepare(stride: int, bodies: Bodies, pairs: Pairs, points: Points, manifold_count: wp.array(dtype=wp.int32)):
        """What impulses at the points of a pair do to their velocities."""
        for index in range(wp.tid(), wp.min(pairs.count[0], pairs.capacity), stride):
            i = pairs.a[index]
            j = pairs.b[index]
            count = pairs.point_count[index]
            if count > 0:
                normal = pairs.normal[index]
                split = split_count(manifold_count, i)
                mass_a = split * bodies.inverse_mass[i]
                inertia_a = split * bodies.world_inertia[i]
                mass_b = zero
                inertia_b = inertia(zero)
                if j >= 0:
                    split = split_count(manifold_count, j)
                    mass_b = split * bodies.inverse_mass[j]
                    inertia_b = split * bodies.world_inertia[j]
                response = table()
                first = POINTS * index
                for p in range(count):
                    arm_a = points.arm_a[first + p]
                    arm_b = points.arm_b[first + p]
                    points.tangent_mass[first + p] = one / tangent_inverse_mass(
                        normal, mass_a, inertia_a, arm_a, mass_b, inertia_b, arm_b
                    )
                    turn_a = turn_by(inertia_a, cross(arm_a, normal))
                    turn_b = turn_by(inertia_b, cross(arm_b, normal))
                    for o in range(p + 1):
                        along = mass_a + mass_b + inner(cross(points.arm_a[first + o], normal), turn_a)
                        along += inner(cross(points.arm_b[first + o], normal), turn_b)
                        response[p, o] = along
                        response[o, p] = along
                pairs.response[index] = response
                if count > 1:
                    pairs.inverse[index] = inverse(response, count)

    @wp.func(inline=True)  # a call would copy the structs
    def act(motion: Motion, bodies: Bodies, sums: Sums, body: int, total: vec, moment: spin_type):
        """An impulse and its moment on a body; in parallel into its sums, where moments are divided by its size."""
        mass = bodies.inverse_mass[body]
        if mass > zero:
            if wp.static(parallel):
                add_move(sums.linear, body, mass * total)
                add_turn(sums.angular, body, (mass / sums.radius[body]) * moment)
            else:
                motion.v[body] = motion.v[body] + mass * total
                motion.angular[body] = motion.angular[body] + moment
                motion.spin[body] = motion.spin[body] + turn_by(bodies.world_inertia[body], moment)

    @n.kernel(module)
    def warm_start(stride: int, bodies: Bodies, pairs: Pairs, points: Points, motion: Motion, rows: Rows, sums: Sums):
        """The impulses that the points start with."""
        for index in range(wp.tid(), wp.min(pairs.count[0], pairs.capacity), stride):
            i = pairs.a[index]
            j = pairs.b[index]
            total = vec()
            moment_a = spin_type(real(0.0))
            moment_b = spin_type(real(0.0))
            for row in range(POINTS * index, POINTS * index + pairs.point_count[index]):
                force = rows.normal[row] * pairs.normal[index] + rows.friction[row]
                total += force
                moment_a += cross(points.arm_a[row], force)
                moment_b -= cross(points.arm_b[row], force)
            if pairs.point_count[index] > 0:
                act(motion, bodies, sums, i, total, moment_a)
                if j >= 0:
                    act(motion, bodies, sums, j, -total, moment_b)

    @n.kernel(module)
    def solve(
        stride: int,
        which: int,
        backward: int,
        slides: int,
        rubs: int,
        bodies: Bodies,
        walls: Walls,
        pairs: Pairs,
        points: Points,
        motion: Motion,
        rows: Rows,
        manifold_count: wp.array(dtype=wp.int32),
        held_count: wp.array(dtype=wp.int32),
        unsolved: wp.array(dtype=wp.int32),
        sums: Sums,
    ):
        """A pass over the pairs: friction within the normal impulses so far, then the normal ones.

        In this order, because a depth that is left is worse than a friction that is a little late. The friction of all
        points takes one step from the same velocities, as far as it lowers the energy. `slides`: 0 for displacements,
        which do not know the motion of walls; `rubs`: 1 with friction.
        """
        number = wp.min(pairs.count[0], pairs.capacity)
        for turn in range(wp.tid(), number, stride):
            index = at(wp.where(backward == 1, number - 1 - turn, turn))
            i = at(pairs.a[index])
            j = pairs.b[index]
            count = pairs.point_count[index]
            inverse_a = bodies.inverse_mass[i]
            inverse_b = zero
            if j >= 0:
                inverse_b = bodies.inverse_mass[at(j)]
            if which == HELD and inverse_a > zero and inverse_b > zero:
                count = 0
            if slides == 0 and count > 0:  # nothing is deep, and nothing is pushed
                still = wp.length_sq(motion.v[i]) == zero
                if j >= 0:
                    still = still and wp.length_sq(motion.v[at(j)]) == zero
                if still:
                    for row in range(POINTS * index, POINTS * index + count):
                        still = still and rows.target[row] <= zero
                    if still:
                        count = 0
            if which == UNEVEN and unsolved[i // bodies.per_world] == 0:
                count = 0
            if count > 0:
                first = POINTS * index
                normal = pairs.normal[index]
                part = one  # a pass over few pairs splits the bodies less often
                if wp.static(parallel) and which == HELD:
                    part = split_count(held_count, i) / split_count(manifold_count, i)
                    if inverse_a == zero:
                        part = split_count(held_count, j) / split_count(manifold_count, j)
                split = part * split_count(manifold_count, i)
                mass_a = split * inverse_a
                inertia_a = split * bodies.world_inertia[i]
                mass_b = zero
                inertia_b = inertia(zero)
                v_a = motion.v[i]
                spin_a = motion.spin[i]
                v_b = vec()
                spin_b = spin_type(real(0.0))
                if j >= 0:
                    split = part * split_count(manifold_count, j)
                    mass_b = split * inverse_b
                    inertia_b = split * bodies.world_inertia[at(j)]
                    v_b = motion.v[at(j)]
                    spin_b = motion.spin[at(j)]
                elif slides == 1:
                    v_b = walls.velocity[at(-1 - j)]
                    spin_b = walls.spin[at(-1 - j)]
                total = vec()
                moment_a = spin_type(real(0.0))
                moment_b = spin_type(real(0.0))
                sticking = wp.int32(0)
                if rubs == 1:
                    friction = pairs.friction[index]
                    step = steps()
                    slope = real(0.0)
                    along = vec()
                    along_a = spin_type(real(0.0))
                    along_b = spin_type(real(0.0))
                    for p in range(count):
                        row = at(first + p)
                        before = rows.friction[row]
                        limit = friction * rows.normal[row]
                        size2 = wp.length_sq(before)
                        if limit > zero or size2 > zero:
                            sticking = wp.int32(1)
                            arm_a = points.arm_a[row]
                            arm_b = points.arm_b[row]
                            if size2 > limit * limit:  # the cone has become smaller
                                less = (limit / wp.sqrt(size2) - one) * before
                                before += less
                                rows.friction[row] = before
                                total += less
                                moment_a += cross(arm_a, less)
                                moment_b -= cross(arm_b, less)
                            velocity = v_a + swing(spin_a, arm_a) - v_b - swing(spin_b, arm_b)
                            velocity -= wp.dot(velocity, normal) * normal
                            now = before - (points.tangent_mass[row] / part) * velocity
                            size2 = wp.length_sq(now)
                            if size2 > limit * limit:
                                now *= limit / wp.sqrt(size2)
                            ahead = now - before
                            step[p] = ahead
                            slope -= wp.dot(ahead, velocity)
                            along += ahead
                            along_a += cross(arm_a, ahead)
                            along_b -= cross(arm_b, ahead)
                    if sticking == 1:
                        # along the step the energy is -share slope + share²/2 curve
                        turn_a = turn_by(inertia_a, along_a)
                        turn_b = turn_by(inertia_b, along_b)
                        slope -= (mass_a + mass_b) * wp.dot(total, along) + inner(moment_a, turn_a)
                        slope -= inner(moment_b, turn_b)
                        curve = (mass_a + mass_b) * wp.length_sq(along) + inner(along_a, turn_a)
                        curve += inner(along_b, turn_b)
                        share = one
                        if slope < curve and curve > zero:
                            share = wp.max(slope, zero) / curve
                        for p in range(count):
                            row = at(first + p)
                            rows.friction[row] = rows.friction[row] + share * step[p]
                        total += share * along
                        moment_a += share * along_a
                        moment_b += share * along_b
                        v_a += mass_a * total
                        v_b -= mass_b * total
                        spin_a += turn_by(inertia_a, moment_a)
                        spin_b += turn_by(inertia_b, moment_b)
                old = each()
                speed = each()
                pressing = wp.int32(0)
                for p in range(count):
                    row = at(first + p)
                    velocity = v_a + swing(spin_a, points.arm_a[row]) - v_b - swing(spin_b, points.arm_b[row])
                    speed[p] = (wp.dot(velocity, normal) - rows.target[row]) / part
                    old[p] = rows.normal[row]
                    if speed[p] < zero or old[p] > zero:
                        pressing += 1
                if pressing > 0:
                    # the change counts, not the difference of sums: they have too few digits for the lightest bodies
                    change = each()
                    if count == 1:
                        change[0] = wp.max(-speed[0] / pairs.response[index][0, 0], -old[0])
                    else:
                        if pressing == count:
                            change = -(pairs.inverse[index] * speed)
                        if pressing < count or wp.min(old + change) < zero:
                            change = swept(old, speed, pairs.response[index], count, which == UNEVEN)
                    for p in range(count):
                        row = at(first + p)
                        force = change[p] * normal
                        rows.normal[row] = wp.max(old[p] + change[p], zero)
                        total += force
                        moment_a += cross(points.arm_a[row], force)
                        moment_b -= cross(points.arm_b[row], force)
                if pressing > 0 or sticking == 1:
                    act(motion, bodies, sums, i, total, moment_a)
                    if j >= 0:
                        act(motion, bodies, sums, j, -total, moment_b)

    @n.kernel(module)
    def apply_sums(bodies: Bodies, motion: Motion, sums: Sums):
        """What all pairs together did to a body."""
        i = wp.tid()
        mass = bodies.inverse_mass[i]
        if mass > zero:
            moment = (sums.radius[i] / mass) * taken_turn(sums.angular, i)
            motion.v[i] = motion.v[i] + taken_move(sums.linear, i)
            motion.angular[i] = motion.angular[i] + moment
            motion.spin[i] = motion.spin[i] + turn_by(bodies.world_inertia[i], moment)

    @n.kernel(module)
    def store_owners(dt: wp.array(dtype=real), pairs: Pairs, warm: Warm):
        """Which pairs a body owned."""
        i = wp.tid()
        if i == 0:
            warm.dt[0] = dt[0]
        warm.first[i] = pairs.first[i]
        warm.number[i] = pairs.number[i]

    @n.kernel(module)
    def store(stride: int, pairs: Pairs, points: Points, rows: Rows, warm: Warm):
        """The impulses, for the next substep."""
        for index in range(wp.tid(), wp.min(pairs.count[0], pairs.capacity), stride):
            warm.b[index] = pairs.b[index]
            warm.part[index] = pairs.part[index]
            warm.point_count[index] = pairs.point_count[index]
            for row in range(POINTS * index, POINTS * index + pairs.point_count[index]):
                warm.feature[row] = points.feature[row]
                warm.normal_impulse[row] = rows.normal[row]
                warm.friction_impulse[row] = rows.friction[row]
                if points.impact[row] == 1 and rows.normal[row] > zero:  # not repeated, but they have touched
                    warm.normal_impulse[row] = real(-1e-30)
                    warm.friction_impulse[row] = vec()

    @n.kernel(module)
    def keep_moment(
        stride: int, bodies: Bodies, pairs: Pairs, motion: Motion, pushed: Motion, pushes: Rows, sums: Sums
    ):
        """The angular momentum that displacements would change goes back to the bodies.

        A pair that is displaced by δ with M_a δ_a = -M_b δ_b = p n has p n x (v_a - v_b) more about any point.
        """
        for index in range(wp.tid(), wp.min(pairs.count[0], pairs.capacity), stride):
            i = at(pairs.a[index])
            j = pairs.b[index]
            if j >= 0 and pairs.point_count[index] > 0:
                moved = wp.length_sq(pushed.v[i]) > zero and wp.length_sq(pushed.v[at(j)]) > zero  # not in a zone
                if moved and bodies.inverse_mass[i] > zero and bodies.inverse_mass[at(j)] > zero:
                    total = real(0.0)
                    for row in range(POINTS * index, POINTS * index + pairs.point_count[index]):
                        total += pushes.normal[row]
                    if total > zero:
                        more = cross(total * pairs.normal[index], motion.v[i] - motion.v[at(j)])
                        share = bodies.inverse_mass[at(j)] / (bodies.inverse_mass[i] + bodies.inverse_mass[at(j)])
                        act(motion, bodies, sums, i, vec(), -share * more)
                        act(motion, bodies, sums, j, vec(), (share - one) * more)

    return SimpleNamespace(
        keep_moment=keep_moment,
        act=act,
        prepare=prepare,
        warm_start=warm_start,
        solve=solve,
        apply_sums=apply_sums,
        store_owners=store_owners,
        store=store,
    )
