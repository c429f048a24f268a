"""Impulses at the contact points of rigid bodies: Gauss-Seidel over the pairs, or all pairs at once (B14, B15, law 9).

A pass visits each pair and corrects the accumulated impulses of its points: the normal one is never negative, the one
of friction stays within its cone. Equal and opposite impulses act at one point, so momentum and angular momentum are
kept. On the CPU a pair sees what the pair before it did. In parallel each body is split into as many parts as it has
pairs, which move independently during a pass (mass splitting; Tonge et al. 2012): a pass is then a sum over pairs,
taken in integers, so that the order of threads does not matter.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.contact.rigid.records import POINTS, structs
from turgor.kernel import fixed_sum
from turgor.kernel.numbers import Numbers
from turgor.rigid import impulse

__all__ = ["kernels"]

PUSH_SHARE = 0.2  # of the depth, removed in a substep
PUSH_SPEED = 2.0  # m/s, the fastest removal


@functools.cache
@no_type_check
def kernels(n: Numbers, parallel: bool) -> SimpleNamespace:
    """Kernels; `parallel`: threads run at the same time."""
    real, vec, spin_type = n.real, n.vec, n.spin
    t, i, w = structs(n), impulse.kernels(n), fixed_sum.kernels(n)
    add_move, add_turn, taken_move, taken_turn = w.add_move, w.add_turn, w.taken_move, w.taken_turn
    Bodies, Walls, Pairs, Points, Warm, Sums = t.Bodies, t.Walls, t.Pairs, t.Points, t.Warm, t.Sums
    cross, swing, turn_by, mobility, inner = i.cross, i.swing, i.turn_by, i.mobility, i.inner
    inertia = i.inertia
    zero = wp.constant(real(0.0))
    one = wp.constant(real(1.0))
    share = wp.constant(real(PUSH_SHARE))
    fastest = wp.constant(real(PUSH_SPEED))
    dim = n.dim
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
        """Effective masses of the points."""
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
                for row in range(POINTS * index, POINTS * index + count):
                    arm_a = points.arm_a[row]
                    arm_b = points.arm_b[row]
                    along = mobility(mass_a, inertia_a, arm_a, normal) + mobility(mass_b, inertia_b, arm_b, normal)
                    points.normal_mass[row] = one / along
                    points.tangent_mass[row] = one / tangent_inverse_mass(
                        normal, mass_a, inertia_a, arm_a, mass_b, inertia_b, arm_b
                    )

    @wp.func(inline=True)  # a call would copy the structs
    def act(bodies: Bodies, sums: Sums, body: int, total: vec, moment: spin_type):
        """An impulse and its moment on a body; in parallel into its sums, where moments are divided by its size."""
        mass = bodies.inverse_mass[body]
        if mass > zero:
            if wp.static(parallel):
                add_move(sums.linear, body, mass * total)
                add_turn(sums.angular, body, (mass / sums.radius[body]) * moment)
            else:
                bodies.v[body] = bodies.v[body] + mass * total
                bodies.angular[body] = bodies.angular[body] + moment
                bodies.spin[body] = bodies.spin[body] + turn_by(bodies.world_inertia[body], moment)

    @n.kernel(module)
    def warm_start(
        stride: int,
        bodies: Bodies,
        pairs: Pairs,
        points: Points,
        sums: Sums,
    ):
        """The impulses that the points start with."""
        for index in range(wp.tid(), wp.min(pairs.count[0], pairs.capacity), stride):
            i = pairs.a[index]
            j = pairs.b[index]
            total = vec()
            moment_a = spin_type(zero)
            moment_b = spin_type(zero)
            for row in range(POINTS * index, POINTS * index + pairs.point_count[index]):
                force = points.normal_impulse[row] * pairs.normal[index] + points.friction_impulse[row]
                total += force
                moment_a += cross(points.arm_a[row], force)
                moment_b -= cross(points.arm_b[row], force)
            if pairs.point_count[index] > 0:
                act(bodies, sums, i, total, moment_a)
                if j >= 0:
                    act(bodies, sums, j, -total, moment_b)

    @n.kernel(module)
    def solve(
        stride: int,
        bodies: Bodies,
        walls: Walls,
        pairs: Pairs,
        points: Points,
        manifold_count: wp.array(dtype=wp.int32),
        sums: Sums,
    ):
        """A pass over the pairs: friction of each point within its normal impulse so far, then the normal one.

        In this order, because a depth that is left is worse than a friction that is a little late.
        """
        for index in range(wp.tid(), wp.min(pairs.count[0], pairs.capacity), stride):
            count = pairs.point_count[index]
            if count > 0:
                i = pairs.a[index]
                j = pairs.b[index]
                normal = pairs.normal[index]
                friction = pairs.friction[index]
                split = split_count(manifold_count, i)
                mass_a = split * bodies.inverse_mass[i]
                inertia_a = split * bodies.world_inertia[i]
                v_a = bodies.v[i]
                spin_a = bodies.spin[i]
                mass_b = zero
                inertia_b = inertia(zero)
                v_b = vec()
                spin_b = spin_type(zero)
                if j >= 0:
                    split = split_count(manifold_count, j)
                    mass_b = split * bodies.inverse_mass[j]
                    inertia_b = split * bodies.world_inertia[j]
                    v_b = bodies.v[j]
                    spin_b = bodies.spin[j]
                else:
                    v_b = walls.velocity[-1 - j]
                    spin_b = walls.spin[-1 - j]
                total = vec()
                moment_a = spin_type(zero)
                moment_b = spin_type(zero)
                for row in range(POINTS * index, POINTS * index + count):
                    arm_a = points.arm_a[row]
                    arm_b = points.arm_b[row]
                    normal_before = points.normal_impulse[row]
                    friction_before = points.friction_impulse[row]
                    if normal_before > zero or wp.length_sq(friction_before) > zero:
                        velocity = v_a + swing(spin_a, arm_a) - v_b - swing(spin_b, arm_b)
                        now = friction_before - points.tangent_mass[row] * (
                            velocity - wp.dot(velocity, normal) * normal
                        )
                        size = wp.length(now)
                        if size > friction * normal_before:
                            now *= friction * normal_before / size
                        points.friction_impulse[row] = now
                        force = now - friction_before
                        turn_a = cross(arm_a, force)
                        turn_b = -cross(arm_b, force)
                        v_a += mass_a * force
                        v_b -= mass_b * force
                        spin_a += turn_by(inertia_a, turn_a)
                        spin_b += turn_by(inertia_b, turn_b)
                        total += force
                        moment_a += turn_a
                        moment_b += turn_b
                    velocity = v_a + swing(spin_a, arm_a) - v_b - swing(spin_b, arm_b)
                    more = wp.max(
                        points.normal_mass[row] * (points.target_speed[row] - wp.dot(velocity, normal)), -normal_before
                    )
                    if more != zero:
                        points.normal_impulse[row] = normal_before + more
                        force = more * normal
                        turn_a = cross(arm_a, force)
                        turn_b = -cross(arm_b, force)
                        v_a += mass_a * force
                        v_b -= mass_b * force
                        spin_a += turn_by(inertia_a, turn_a)
                        spin_b += turn_by(inertia_b, turn_b)
                        total += force
                        moment_a += turn_a
                        moment_b += turn_b
                act(bodies, sums, i, total, moment_a)
                if j >= 0:
                    act(bodies, sums, j, -total, moment_b)

    @n.kernel(module)
    def apply_sums(bodies: Bodies, sums: Sums):
        """What all pairs together did to a body."""
        i = wp.tid()
        mass = bodies.inverse_mass[i]
        if mass > zero:
            moment = (sums.radius[i] / mass) * taken_turn(sums.angular, i)
            bodies.v[i] = bodies.v[i] + taken_move(sums.linear, i)
            bodies.angular[i] = bodies.angular[i] + moment
            bodies.spin[i] = bodies.spin[i] + turn_by(bodies.world_inertia[i], moment)

    @wp.func(inline=True)
    def move_apart(bodies: Bodies, sums: Sums, body: int, arm: vec, force: vec):
        """As `act`, for displacements."""
        if bodies.inverse_mass[body] > zero:
            move = bodies.inverse_mass[body] * force
            turn = turn_by(bodies.world_inertia[body], cross(arm, force))
            if wp.static(parallel):
                add_move(sums.linear, body, move)
                add_turn(sums.angular, body, turn)
            else:
                bodies.push_move[body] = bodies.push_move[body] + move
                bodies.push_turn[body] = bodies.push_turn[body] + turn

    @n.kernel(module)
    def push(
        stride: int,
        dt: wp.array(dtype=real),
        bodies: Bodies,
        pairs: Pairs,
        points: Points,
        sums: Sums,
    ):
        """A pass that moves points apart that are deeper than the slop; velocities do not change."""
        for index in range(wp.tid(), wp.min(pairs.count[0], pairs.capacity), stride):
            i = pairs.a[index]
            j = pairs.b[index]
            normal = pairs.normal[index]
            for row in range(POINTS * index, POINTS * index + pairs.point_count[index]):
                deep = -points.gap[row] - pairs.slop[index]
                if deep > zero:
                    arm_a = points.arm_a[row]
                    arm_b = points.arm_b[row]
                    # in parallel the points of a pair all see the state at the start of the pass: each takes a share
                    portion = one
                    if wp.static(parallel):
                        portion = one / real(pairs.point_count[index])
                    moved = wp.dot(bodies.push_move[i] + swing(bodies.push_turn[i], arm_a), normal)
                    if j >= 0:
                        moved -= wp.dot(bodies.push_move[j] + swing(bodies.push_turn[j], arm_b), normal)
                    wanted = wp.min(share * deep, fastest * dt[0])
                    before = points.push_impulse[row]
                    more = wp.max(portion * points.normal_mass[row] * (wanted - moved), -before)
                    points.push_impulse[row] = before + more
                    force = more * normal
                    move_apart(bodies, sums, i, arm_a, force)
                    if j >= 0:
                        move_apart(bodies, sums, j, arm_b, -force)

    @n.kernel(module)
    def apply_pushes(bodies: Bodies, sums: Sums):
        """What all pairs together moved a body."""
        i = wp.tid()
        bodies.push_move[i] = bodies.push_move[i] + taken_move(sums.linear, i)
        bodies.push_turn[i] = bodies.push_turn[i] + taken_turn(sums.angular, i)

    @n.kernel(module)
    def store_owners(dt: wp.array(dtype=real), pairs: Pairs, warm: Warm):
        """Which pairs a body owned."""
        i = wp.tid()
        if i == 0:
            warm.dt[0] = dt[0]
        warm.first[i] = pairs.first[i]
        warm.number[i] = pairs.number[i]

    @n.kernel(module)
    def store(stride: int, pairs: Pairs, points: Points, warm: Warm):
        """The impulses, for the next substep."""
        for index in range(wp.tid(), wp.min(pairs.count[0], pairs.capacity), stride):
            warm.b[index] = pairs.b[index]
            warm.part[index] = pairs.part[index]
            warm.point_count[index] = pairs.point_count[index]
            for row in range(POINTS * index, POINTS * index + pairs.point_count[index]):
                warm.feature[row] = points.feature[row]
                warm.normal_impulse[row] = points.normal_impulse[row]
                warm.friction_impulse[row] = points.friction_impulse[row]
                if points.impact[row] == 1 and points.normal_impulse[row] > zero:  # not repeated, but they have touched
                    warm.normal_impulse[row] = real(-1e-30)
                    warm.friction_impulse[row] = vec()

    return SimpleNamespace(
        prepare=prepare,
        warm_start=warm_start,
        solve=solve,
        apply_sums=apply_sums,
        push=push,
        apply_pushes=apply_pushes,
        store_owners=store_owners,
        store=store,
    )
