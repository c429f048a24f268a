"""Impulses at the contact points of rigid bodies: Gauss-Seidel over the pairs, or all pairs at once (B14, B15, law 9).

A pass visits each pair and corrects the accumulated impulses of its points: the normal one is never negative, the one
of friction stays within its cone. Equal and opposite impulses act at one point, so momentum and angular momentum are
kept. On the CPU a pair sees what the pair before it did. In parallel each body is split into as many parts as it has
pairs, which move apart for the length of a pass (mass splitting; Tonge et al. 2012): a pass is then a sum over pairs,
taken in whole numbers, so that the order of threads does not matter.
"""

import functools
from types import SimpleNamespace

import warp as wp

from turgor.contact.rigid.records import tables
from turgor.kernel import fixed_sum
from turgor.kernel.numbers import Numbers
from turgor.rigid import impulse

__all__ = ["kernels"]

SHARE = 0.2  # of the depth removed in a substep
FASTEST = 2.0  # m/s, of that removal


@functools.cache
def kernels(n: Numbers, parallel: bool) -> SimpleNamespace:
    """Kernels; `parallel`: threads run at the same time."""
    real, vec, spin_type = n.real, n.vec, n.spin
    t, i, w = tables(n), impulse.kernels(n), fixed_sum.kernels(n)
    add_move, add_turn, taken_move, taken_turn = w.add_move, w.add_turn, w.taken_move, w.taken_turn
    Bodies, Walls, Pairs, Kept = t.Bodies, t.Walls, t.Pairs, t.Kept
    cross, swing, turn_by, mobility, inner = i.cross, i.swing, i.turn_by, i.mobility, i.inner
    inertia = i.inertia
    zero = wp.constant(real(0.0))
    one = wp.constant(real(1.0))
    share = wp.constant(real(SHARE))
    fastest = wp.constant(real(FASTEST))
    dim = n.dim
    module = f"{__name__}_at_once" if parallel else __name__

    if dim == 2:

        @wp.func
        def across(
            normal: vec, mass_a: real, inertia_a: inertia, arm_a: vec, mass_b: real, inertia_b: inertia, arm_b: vec
        ) -> real:
            """Largest inverse effective mass across the normal."""
            side = vec(-normal[1], normal[0])
            return mobility(mass_a, inertia_a, arm_a, side) + mobility(mass_b, inertia_b, arm_b, side)

    else:

        @wp.func
        def across(
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
    def parts(sharing: wp.array(dtype=wp.int32), body: int) -> real:
        """Into how many parts a body is split."""
        if wp.static(parallel):
            return real(wp.max(sharing[body], 1))
        return one

    @n.kernel(module)
    def prepare(stride: int, b: Bodies, p: Pairs, sharing: wp.array(dtype=wp.int32)):
        """Effective masses of the points."""
        for index in range(wp.tid(), wp.min(p.count[0], p.capacity), stride):
            i = p.a[index]
            j = p.b[index]
            count = p.points[index]
            if count > 0:
                normal = p.normal[index]
                split = parts(sharing, i)
                mass_a = split * b.inverse_mass[i]
                inertia_a = split * b.world_inertia[i]
                mass_b = zero
                inertia_b = inertia(zero)
                if j >= 0:
                    split = parts(sharing, j)
                    mass_b = split * b.inverse_mass[j]
                    inertia_b = split * b.world_inertia[j]
                for row in range(4 * index, 4 * index + count):
                    arm_a = p.arm_a[row]
                    arm_b = p.arm_b[row]
                    along = mobility(mass_a, inertia_a, arm_a, normal) + mobility(mass_b, inertia_b, arm_b, normal)
                    p.give[row] = one / along
                    p.slip[row] = one / across(normal, mass_a, inertia_a, arm_a, mass_b, inertia_b, arm_b)

    @wp.func
    def act(
        body: int,
        total: vec,
        moment: spin_type,
        inverse_mass: wp.array(dtype=real),
        world_inertia: wp.array(dtype=inertia),
        v: wp.array(dtype=vec),
        angular: wp.array(dtype=spin_type),
        spin: wp.array(dtype=spin_type),
    ):
        """An impulse and its moment on a body."""
        mass = inverse_mass[body]
        if mass > zero:
            v[body] = v[body] + mass * total
            angular[body] = angular[body] + moment
            spin[body] = spin[body] + turn_by(world_inertia[body], moment)

    @wp.func
    def gather(
        body: int,
        total: vec,
        moment: spin_type,
        inverse_mass: wp.array(dtype=real),
        moves: wp.array(dtype=wp.int64),
        twists: wp.array(dtype=wp.int64),
        sizes: wp.array(dtype=real),
    ):
        """The same into sums."""
        mass = inverse_mass[body]
        if mass > zero:
            add_move(moves, body, mass * total)
            add_turn(twists, body, (mass / sizes[body]) * moment)

    @n.kernel(module)
    def warm_start(
        stride: int,
        b: Bodies,
        p: Pairs,
        moves: wp.array(dtype=wp.int64),
        twists: wp.array(dtype=wp.int64),
        sizes: wp.array(dtype=real),
    ):
        """The impulses that the points start with."""
        for index in range(wp.tid(), wp.min(p.count[0], p.capacity), stride):
            i = p.a[index]
            j = p.b[index]
            total = vec()
            moment_a = spin_type(zero)
            moment_b = spin_type(zero)
            for row in range(4 * index, 4 * index + p.points[index]):
                force = p.impulse[row] * p.normal[index] + p.slide[row]
                total += force
                moment_a += cross(p.arm_a[row], force)
                moment_b -= cross(p.arm_b[row], force)
            if p.points[index] > 0:
                if wp.static(parallel):
                    gather(i, total, moment_a, b.inverse_mass, moves, twists, sizes)
                    if j >= 0:
                        gather(j, -total, moment_b, b.inverse_mass, moves, twists, sizes)
                else:
                    act(i, total, moment_a, b.inverse_mass, b.world_inertia, b.v, b.angular, b.spin)
                    if j >= 0:
                        act(j, -total, moment_b, b.inverse_mass, b.world_inertia, b.v, b.angular, b.spin)

    @n.kernel(module)
    def solve(
        stride: int,
        b: Bodies,
        w: Walls,
        p: Pairs,
        sharing: wp.array(dtype=wp.int32),
        moves: wp.array(dtype=wp.int64),
        twists: wp.array(dtype=wp.int64),
        sizes: wp.array(dtype=real),
    ):
        """A pass over the pairs: friction of each point within its normal impulse so far, then the normal one.

        In this order, as depth cannot be taken back, and friction a little late can."""
        for index in range(wp.tid(), wp.min(p.count[0], p.capacity), stride):
            count = p.points[index]
            if count > 0:
                i = p.a[index]
                j = p.b[index]
                normal = p.normal[index]
                friction = p.friction[index]
                split = parts(sharing, i)
                mass_a = split * b.inverse_mass[i]
                inertia_a = split * b.world_inertia[i]
                v_a = b.v[i]
                spin_a = b.spin[i]
                mass_b = zero
                inertia_b = inertia(zero)
                v_b = vec()
                spin_b = spin_type(zero)
                if j >= 0:
                    split = parts(sharing, j)
                    mass_b = split * b.inverse_mass[j]
                    inertia_b = split * b.world_inertia[j]
                    v_b = b.v[j]
                    spin_b = b.spin[j]
                else:
                    v_b = w.velocity[-1 - j]
                    spin_b = w.spin[-1 - j]
                total = vec()
                moment_a = spin_type(zero)
                moment_b = spin_type(zero)
                for row in range(4 * index, 4 * index + count):
                    arm_a = p.arm_a[row]
                    arm_b = p.arm_b[row]
                    had = p.impulse[row]
                    held = p.slide[row]
                    if had > zero or wp.length_sq(held) > zero:
                        velocity = v_a + swing(spin_a, arm_a) - v_b - swing(spin_b, arm_b)
                        now = held - p.slip[row] * (velocity - wp.dot(velocity, normal) * normal)
                        size = wp.length(now)
                        if size > friction * had:
                            now *= friction * had / size
                        p.slide[row] = now
                        force = now - held
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
                    more = wp.max(p.give[row] * (p.wanted[row] - wp.dot(velocity, normal)), -had)
                    if more != zero:
                        p.impulse[row] = had + more
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
                if wp.static(parallel):
                    gather(i, total, moment_a, b.inverse_mass, moves, twists, sizes)
                    if j >= 0:
                        gather(j, -total, moment_b, b.inverse_mass, moves, twists, sizes)
                else:
                    act(i, total, moment_a, b.inverse_mass, b.world_inertia, b.v, b.angular, b.spin)
                    if j >= 0:
                        act(j, -total, moment_b, b.inverse_mass, b.world_inertia, b.v, b.angular, b.spin)

    @n.kernel(module)
    def apply_sums(
        b: Bodies, moves: wp.array(dtype=wp.int64), twists: wp.array(dtype=wp.int64), sizes: wp.array(dtype=real)
    ):
        """What all pairs together did to a body."""
        i = wp.tid()
        mass = b.inverse_mass[i]
        if mass > zero:
            moment = (sizes[i] / mass) * taken_turn(twists, i)
            b.v[i] = b.v[i] + taken_move(moves, i)
            b.angular[i] = b.angular[i] + moment
            b.spin[i] = b.spin[i] + turn_by(b.world_inertia[i], moment)

    @n.kernel(module)
    def push(
        stride: int,
        dt: wp.array(dtype=real),
        b: Bodies,
        p: Pairs,
        sharing: wp.array(dtype=wp.int32),
        moves: wp.array(dtype=wp.int64),
        twists: wp.array(dtype=wp.int64),
    ):
        """A pass that moves points apart that are deeper than they may be; no velocity comes of it."""
        for index in range(wp.tid(), wp.min(p.count[0], p.capacity), stride):
            i = p.a[index]
            j = p.b[index]
            normal = p.normal[index]
            for row in range(4 * index, 4 * index + p.points[index]):
                deep = -p.gap[row] - p.slack[index]
                if deep > zero:
                    arm_a = p.arm_a[row]
                    arm_b = p.arm_b[row]
                    # in parallel the points of a pair all start from where the pass began: each takes its share
                    points = one
                    if wp.static(parallel):
                        points = one / real(p.points[index])
                    moved = wp.dot(b.push_move[i] + swing(b.push_turn[i], arm_a), normal)
                    if j >= 0:
                        moved -= wp.dot(b.push_move[j] + swing(b.push_turn[j], arm_b), normal)
                    wanted = wp.min(share * deep, fastest * dt[0])
                    had = p.pushed[row]
                    more = wp.max(points * p.give[row] * (wanted - moved), -had)
                    p.pushed[row] = had + more
                    force = more * normal
                    shove(b, i, arm_a, force, moves, twists)
                    if j >= 0:
                        shove(b, j, arm_b, -force, moves, twists)

    @wp.func
    def shove(
        b: Bodies,
        body: int,
        arm: vec,
        force: vec,
        moves: wp.array(dtype=wp.int64),
        twists: wp.array(dtype=wp.int64),
    ):
        if b.inverse_mass[body] > zero:
            move = b.inverse_mass[body] * force
            turn = turn_by(b.world_inertia[body], cross(arm, force))
            if wp.static(parallel):
                add_move(moves, body, move)
                add_turn(twists, body, turn)
            else:
                b.push_move[body] = b.push_move[body] + move
                b.push_turn[body] = b.push_turn[body] + turn

    @n.kernel(module)
    def apply_pushes(b: Bodies, moves: wp.array(dtype=wp.int64), twists: wp.array(dtype=wp.int64)):
        """What all pairs together moved a body."""
        i = wp.tid()
        b.push_move[i] = b.push_move[i] + taken_move(moves, i)
        b.push_turn[i] = b.push_turn[i] + taken_turn(twists, i)

    @n.kernel(module)
    def store_owners(dt: wp.array(dtype=real), p: Pairs, old: Kept):
        """Which pairs a body owned."""
        i = wp.tid()
        if i == 0:
            old.dt[0] = dt[0]
        old.first[i] = p.first[i]
        old.number[i] = p.number[i]

    @n.kernel(module)
    def store(stride: int, p: Pairs, old: Kept):
        """The impulses, for the next substep."""
        for index in range(wp.tid(), wp.min(p.count[0], p.capacity), stride):
            old.b[index] = p.b[index]
            old.part[index] = p.part[index]
            old.points[index] = p.points[index]
            for row in range(4 * index, 4 * index + p.points[index]):
                old.mark[row] = p.mark[row]
                old.impulse[row] = p.impulse[row]
                old.slide[row] = p.slide[row]
                if p.blow[row] == 1 and p.impulse[row] > zero:  # does not come again, but they have touched
                    old.impulse[row] = real(-1e-30)
                    old.slide[row] = vec()

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
