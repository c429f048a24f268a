"""Rounds that converge for unequal masses: passes over the pairs as the preconditioner of conjugate gradients.

With a heavy body on a light one on the ground, a pass over the pairs takes only the share m/M of the error away: the
light one yields. Impulses λ minimise the energy f(λ) = ½ λ·Aλ + b·λ, where A is the response of all points to all
impulses, and the gradient g = Aλ + b is the velocity at the points beyond what is wanted. A round makes a pass, which
changes λ by z, and then goes to the minimum of f in the plane of z and p, what the last round changed. As long as
impulses stay within their bounds this is the preconditioned method of conjugate gradients ("locally optimal", Knyazev
2001); its preconditioner has to be symmetric, so the pass is one to and fro, or one over all pairs at once. Impulses
that leave their bounds are put back, and the step is shortened to the minimum of f along what is left of it: the bounds
are convex, so the energy never rises. Points that do not press, and friction that slides, do not take part: the
friction there follows from the normal impulse, not from the energy.

Inner products with A are kinetic energies: z·Ap = Σ m Δv(z)·Δv(p) + ΔL(z)·Δω(p) over the bodies. Each world has rounds
of its own until its points are at rest, so no world depends on another one.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.contact.rigid import impulses
from turgor.contact.rigid.records import POINTS, structs
from turgor.kernel.blocks import block_max, block_sum
from turgor.kernel.numbers import Numbers
from turgor.rigid import impulse

__all__ = ["BLOCK", "ROUNDS", "UNEQUAL", "kernels"]

UNEQUAL = 8.0  # ratio of the masses of two touching bodies above which a world gets these rounds
ROUNDS = 48  # at most, per substep
EXACT = 1e-3  # of the slop: a round after which no point comes nearer than this in the substep is the last one
PARALLEL = 1e-7  # of the squared lengths: directions whose sine squared is less count as one
FARTHEST = 1e6  # passes that an extrapolation may be worth: a number of single precision, whatever is divided by what
STICKING = 0.999  # of the cone: friction beyond this slides
BLOCK = 128  # threads per world on a GPU


@functools.cache
@no_type_check
def kernels(n: Numbers, parallel: bool) -> SimpleNamespace:
    """In the order of a round: keep_bodies, keep_rows, (a pass), measure, extrapolate, judge, go_back, next_round."""
    real, vec, spin_type = n.real, n.vec, n.spin
    t, i = structs(n), impulse.kernels(n)
    Bodies, Walls, Pairs, Points = t.Bodies, t.Walls, t.Pairs, t.Points
    Motion, Rows, Rounds, Sums = t.Motion, t.Rows, t.Rounds, t.Sums
    cross, swing, inner, act = i.cross, i.swing, i.inner, impulses.kernels(n, parallel).act
    zero = wp.constant(real(0.0))
    none = wp.constant(wp.float64(0.0))
    exact = wp.constant(real(EXACT))
    tiny = wp.constant(real(n.tiny))
    parallel_share = wp.constant(wp.float64(PARALLEL))
    farthest = wp.constant(wp.float64(FARTHEST))
    sticking = wp.constant(real(STICKING))
    module = f"{__name__}_at_once" if parallel else __name__

    @n.kernel(module)
    def keep_bodies(bodies: Bodies, motion: Motion, rounds: Rounds):
        """What the last round changed, and where this one begins."""
        i = wp.tid()
        if rounds.unsolved[i // bodies.per_world] == 1:
            if rounds.left[0] < ROUNDS:
                rounds.v_step[i] = motion.v[i] - rounds.v[i]
                rounds.angular_step[i] = motion.angular[i] - rounds.angular[i]
                rounds.spin_step[i] = motion.spin[i] - rounds.spin[i]
            else:
                rounds.v_step[i] = vec()
                rounds.angular_step[i] = spin_type(real(0.0))
                rounds.spin_step[i] = spin_type(real(0.0))
            rounds.v[i] = motion.v[i]
            rounds.angular[i] = motion.angular[i]
            rounds.spin[i] = motion.spin[i]

    @n.kernel(module)
    def keep_rows(stride: int, bodies: Bodies, pairs: Pairs, rows: Rows, rounds: Rounds):
        """The same for impulses."""
        for index in range(wp.tid(), wp.min(pairs.count[0], pairs.capacity), stride):
            if rounds.unsolved[pairs.a[index] // bodies.per_world] == 1:
                for row in range(POINTS * index, POINTS * index + pairs.point_count[index]):
                    rounds.normal_step[row] = zero
                    rounds.friction_step[row] = vec()
                    if rounds.left[0] < ROUNDS:
                        rounds.normal_step[row] = rows.normal[row] - rounds.normal[row]
                        rounds.friction_step[row] = rows.friction[row] - rounds.friction[row]
                    rounds.normal[row] = rows.normal[row]
                    rounds.friction[row] = rows.friction[row]

    @wp.func
    def sticks(normal: real, friction: vec, coefficient: real) -> bool:
        """Whether a friction is well within its cone: one that slides follows the normal impulse, not the energy."""
        limit = sticking * coefficient * normal
        return wp.length_sq(friction) < limit * limit

    @wp.func(inline=True)
    def pairs_of(world: int, last_world: int, bodies: Bodies, pairs: Pairs):
        """The range of a world's pairs."""
        end = wp.min(pairs.count[0], pairs.capacity)
        if world < last_world:
            end = pairs.first[(world + 1) * bodies.per_world]
        return pairs.first[world * bodies.per_world], end

    @wp.func(inline=True)
    def velocity_of_other(slides: int, walls: Walls, motion: Motion, j: int):
        """Velocity and spin of the body or wall of a pair."""
        v = vec()
        spin = spin_type(real(0.0))
        if j >= 0:
            v = motion.v[j]
            spin = motion.spin[j]
        elif slides == 1:
            v = walls.velocity[-1 - j]
            spin = walls.spin[-1 - j]
        return v, spin

    @n.kernel(module)
    def measure(
        slides: int,
        last_world: int,
        dt: wp.array(dtype=real),
        bodies: Bodies,
        walls: Walls,
        pairs: Pairs,
        points: Points,
        motion: Motion,
        rows: Rows,
        rounds: Rounds,
    ):
        """Where in the plane of the pass z and the last round p the energy is least, and whether the points rest."""
        world, lane = wp.tid()
        unsolved = rounds.unsolved[world]
        slope_z = wp.float64(0.0)
        slope_p = wp.float64(0.0)
        zz = wp.float64(0.0)
        zp = wp.float64(0.0)
        pp = wp.float64(0.0)
        moving = int(0)  # noqa: RUF046, UP018 (a variable in Warp's language, not a constant)
        begin, end = pairs_of(world, last_world, bodies, pairs)
        last_body = world * bodies.per_world
        if unsolved == 1:
            last_body += bodies.per_world
        else:
            end = begin
        # displacements count as they are, velocities over the substep
        time = wp.where(slides == 1, dt[0], real(1.0))
        for index in range(begin + lane, end, wp.block_dim()):
            i = pairs.a[index]
            normal = pairs.normal[index]
            v_b, spin_b = velocity_of_other(slides, walls, motion, pairs.b[index])
            for row in range(POINTS * index, POINTS * index + pairs.point_count[index]):
                velocity = motion.v[i] + swing(motion.spin[i], points.arm_a[row])
                velocity -= v_b + swing(spin_b, points.arm_b[row])
                beyond = wp.dot(velocity, normal) - rows.target[row]
                if beyond < zero or rows.normal[row] > zero:
                    if wp.abs(beyond) * time > exact * pairs.slop[index]:
                        moving = int(1)  # noqa: RUF046, UP018
                if rows.normal[row] > zero:
                    slope_z += wp.float64((rows.normal[row] - rounds.normal[row]) * beyond)
                    slope_p += wp.float64(rounds.normal_step[row] * beyond)
                    if sticks(rows.normal[row], rows.friction[row], pairs.friction[index]):
                        slope_z += wp.float64(wp.dot(rows.friction[row] - rounds.friction[row], velocity))
                        slope_p += wp.float64(wp.dot(rounds.friction_step[row], velocity))
        for k in range(world * bodies.per_world + lane, last_body, wp.block_dim()):
            if bodies.inverse_mass[k] > zero:
                mass = wp.float64(1.0) / wp.float64(bodies.inverse_mass[k])
                v = motion.v[k] - rounds.v[k]
                spin = motion.spin[k] - rounds.spin[k]
                zz += mass * wp.float64(wp.dot(v, v)) + wp.float64(inner(motion.angular[k] - rounds.angular[k], spin))
                zp += mass * wp.float64(wp.dot(v, rounds.v_step[k])) + wp.float64(inner(rounds.angular_step[k], spin))
                pp += mass * wp.float64(wp.dot(rounds.v_step[k], rounds.v_step[k]))
                pp += wp.float64(inner(rounds.angular_step[k], rounds.spin_step[k]))
            rounds.v_step[k] = motion.v[k]
            rounds.angular_step[k] = motion.angular[k]
            rounds.spin_step[k] = motion.spin[k]
        sum_slope_z = block_sum(slope_z)
        sum_slope_p = block_sum(slope_p)
        sum_zz = block_sum(zz)
        sum_zp = block_sum(zp)
        sum_pp = block_sum(pp)
        any_moving = block_max(moving)
        if lane == 0 and unsolved == 1:
            along_z = wp.float64(0.0)
            along_p = wp.float64(0.0)
            if any_moving == 0 or sum_zz == none:
                rounds.unsolved[world] = 0
            elif rounds.left[0] > 1:  # the last round ends with a pass
                wp.atomic_add(rounds.open, 0, 1)
                det = sum_zz * sum_pp - sum_zp * sum_zp
                along_z = -sum_slope_z / sum_zz
                if det > parallel_share * sum_zz * sum_pp:
                    along_z = (sum_zp * sum_slope_p - sum_pp * sum_slope_z) / det
                    along_p = (sum_zp * sum_slope_z - sum_zz * sum_slope_p) / det
            rounds.along_z[world] = real(wp.clamp(along_z, -farthest, farthest))
            rounds.along_p[world] = real(wp.clamp(along_p, -farthest, farthest))

    @n.kernel(module)
    def extrapolate(
        stride: int,
        bodies: Bodies,
        pairs: Pairs,
        points: Points,
        motion: Motion,
        rows: Rows,
        rounds: Rounds,
        sums: Sums,
    ):
        """To the minimum in that plane; impulses that leave their bounds are put back. The step is kept."""
        for index in range(wp.tid(), wp.min(pairs.count[0], pairs.capacity), stride):
            i = pairs.a[index]
            j = pairs.b[index]
            world = i // bodies.per_world
            count = pairs.point_count[index]
            if rounds.unsolved[world] == 1 and count > 0:
                normal = pairs.normal[index]
                along_z = rounds.along_z[world]
                along_p = rounds.along_p[world]
                total = vec()
                moment_a = spin_type(real(0.0))
                moment_b = spin_type(real(0.0))
                for row in range(POINTS * index, POINTS * index + count):
                    old = rows.normal[row]
                    slip = rows.friction[row]
                    ahead = along_z * (old - rounds.normal[row]) + along_p * rounds.normal_step[row]
                    aside = along_z * (slip - rounds.friction[row]) + along_p * rounds.friction_step[row]
                    new = wp.where(old > zero, wp.max(old + ahead, zero), old)
                    turned = wp.where(sticks(old, slip, pairs.friction[index]), slip + aside, slip)
                    limit = pairs.friction[index] * new
                    size = wp.length(turned)
                    turned = wp.where(size > limit, (limit / wp.max(size, tiny)) * turned, turned)
                    rows.normal[row] = new
                    rows.friction[row] = turned
                    rounds.normal_step[row] = new - old
                    rounds.friction_step[row] = turned - slip
                    force = (new - old) * normal + turned - slip
                    total += force
                    moment_a += cross(points.arm_a[row], force)
                    moment_b -= cross(points.arm_b[row], force)
                act(motion, bodies, sums, i, total, moment_a)
                if j >= 0:
                    act(motion, bodies, sums, j, -total, moment_b)

    @n.kernel(module)
    def judge(
        slides: int,
        last_world: int,
        bodies: Bodies,
        walls: Walls,
        pairs: Pairs,
        points: Points,
        motion: Motion,
        rows: Rows,
        rounds: Rounds,
    ):
        """How much of the step is too much: behind the minimum of the energy along it."""
        world, lane = wp.tid()
        unsolved = rounds.unsolved[world]
        slope = wp.float64(0.0)  # at the end of the step
        curve = wp.float64(0.0)
        begin, end = pairs_of(world, last_world, bodies, pairs)
        last_body = world * bodies.per_world
        if unsolved == 1:
            last_body += bodies.per_world
        else:
            end = begin
        for index in range(begin + lane, end, wp.block_dim()):
            i = pairs.a[index]
            v_b, spin_b = velocity_of_other(slides, walls, motion, pairs.b[index])
            for row in range(POINTS * index, POINTS * index + pairs.point_count[index]):
                velocity = motion.v[i] + swing(motion.spin[i], points.arm_a[row])
                velocity -= v_b + swing(spin_b, points.arm_b[row])
                beyond = wp.dot(velocity, pairs.normal[index]) - rows.target[row]
                slope += wp.float64(rounds.normal_step[row] * beyond)
                slope += wp.float64(wp.dot(rounds.friction_step[row], velocity))
        for k in range(world * bodies.per_world + lane, last_body, wp.block_dim()):
            if bodies.inverse_mass[k] > zero:
                v = motion.v[k] - rounds.v_step[k]
                curve += wp.float64(wp.dot(v, v)) / wp.float64(bodies.inverse_mass[k])
                curve += wp.float64(
                    inner(motion.angular[k] - rounds.angular_step[k], motion.spin[k] - rounds.spin_step[k])
                )
        sum_slope = block_sum(slope)
        sum_curve = block_sum(curve)
        if lane == 0 and unsolved == 1:
            back = wp.float64(0.0)
            if sum_slope > wp.float64(1e-3) * sum_curve:
                back = wp.min(sum_slope / sum_curve, wp.float64(1.0))
            rounds.back[world] = real(back)

    @n.kernel(module)
    def go_back(
        stride: int,
        bodies: Bodies,
        pairs: Pairs,
        points: Points,
        motion: Motion,
        rows: Rows,
        rounds: Rounds,
        sums: Sums,
    ):
        """By what was too much."""
        for index in range(wp.tid(), wp.min(pairs.count[0], pairs.capacity), stride):
            i = pairs.a[index]
            j = pairs.b[index]
            world = i // bodies.per_world
            count = pairs.point_count[index]
            back = rounds.back[world]
            if rounds.unsolved[world] == 1 and count > 0 and back > zero:
                total = vec()
                moment_a = spin_type(real(0.0))
                moment_b = spin_type(real(0.0))
                for row in range(POINTS * index, POINTS * index + count):
                    less = back * rounds.normal_step[row]
                    less_friction = back * rounds.friction_step[row]
                    rows.normal[row] = wp.max(rows.normal[row] - less, zero)
                    rows.friction[row] = rows.friction[row] - less_friction
                    force = -less * pairs.normal[index] - less_friction
                    total += force
                    moment_a += cross(points.arm_a[row], force)
                    moment_b -= cross(points.arm_b[row], force)
                act(motion, bodies, sums, i, total, moment_a)
                if j >= 0:
                    act(motion, bodies, sums, j, -total, moment_b)

    @n.kernel(module)
    def next_round(rounds: Rounds):
        """Whether there is a next one."""
        rounds.left[0] = wp.where(rounds.open[0] > 0, rounds.left[0] - 1, 0)
        rounds.open[0] = 0

    return SimpleNamespace(
        keep_bodies=keep_bodies,
        keep_rows=keep_rows,
        measure=measure,
        extrapolate=extrapolate,
        judge=judge,
        go_back=go_back,
        next_round=next_round,
    )
