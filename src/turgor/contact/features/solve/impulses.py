"""Impulses at the contacts: no approach beyond what the gap allows, Coulomb friction, nothing pulled together (B14).

A round visits every contact and adds to its accumulated impulse what is still missing; the sum, not the addition, may
not pull. One after another on the CPU (Gauss-Seidel), forwards and backwards in turn; on a GPU all at once, each
divided by how much meets at its points (Jacobi). New contacts begin all at once on both: the order does not show.
"""

import functools
from types import SimpleNamespace
from typing import Any, no_type_check

import warp as wp

from turgor.contact.features.launch import FeatureLauncher
from turgor.contact.features.solve import constraints as contact_constraints
from turgor.contact.features.solve import sides
from turgor.kernel import native
from turgor.kernel.launch import begin_of
from turgor.kernel.numbers import Numbers, at
from turgor.model.model import Model

__all__ = ["Impulses", "kernels"]

BLOCK = 512  # threads of the block that solves a small world at once
MANY, LESS = 256, 64  # so many worlds have less threads each: there are enough of them


class Impulses:
    """The rounds of impulses over the constraints that the launcher knows."""

    def __init__(self, model: Model, launch: FeatureLauncher, at_once: bool) -> None:
        self.at_once = at_once  # a block of threads is enough for all rounds of a world: launches would take longer
        self.kernels, self.launch = kernels(model.numbers, launch.parallel), launch
        # of each soft point that contacts move: the one that does (6 times its row, and which of its points), on a GPU
        self.mover = launch.zeros(model.vertices * model.worlds if at_once else 0, wp.int32)
        self.no_round = launch.zeros(0, wp.int32)
        self.soft, self.rigid, self.worlds = model.vertices * model.worlds, model.rigids.total, model.worlds

    def solve_all(self, rounds: int) -> None:
        """From the forces of the substep before to those of this one."""
        block = BLOCK if self.worlds < MANY else LESS
        self.launch.blocks(self.kernels.solve_all, self.worlds, block, rounds=rounds, mover=self.mover)

    def warm_start(self) -> None:
        """Begin with the forces of the substep before, or a share of what is missing."""
        self.launch.walk_parts(self.kernels.share_out)
        self._by_worlds(self.kernels.warm_start)
        self.collect()

    def solve(self, backwards: bool) -> None:
        """One round, over the contacts in their order or backwards."""
        self._by_worlds(self.kernels.solve, backwards=int(backwards))
        self.collect()

    def _by_worlds(self, kernel: Any, **given: Any) -> None:
        """One contact after another; worlds are independent, so each thread takes the contacts of some of them."""
        walk = self.launch.walk_parts if self.worlds >= self.launch.threads else self.launch.walk
        walk(kernel, worlds=self.worlds, **given)

    def collect(self, sweep_round: Any = None) -> None:
        """On a GPU, apply what was summed up; sweep_round: of the sweep, which only counts contacts in the first."""
        if self.launch.parallel:
            number = self.no_round if sweep_round is None else sweep_round
            self.launch(self.kernels.collect, self.soft + self.rigid, soft=self.soft, sweep_round=number)

    def finish(self) -> None:
        """Keep the forces. Displacements follow the impulses when they meet the walls."""
        self.launch.walk(self.kernels.store_forces)


@functools.cache
@no_type_check
def kernels(n: Numbers, parallel: bool) -> SimpleNamespace:
    """share_out, warm_start, rounds of solve (collect, if parallel), store_forces."""
    real, vec, dim, spin_type = n.real, n.vec, n.dim, n.spin
    variant = f"{__name__}{'_parallel' if parallel else ''}"
    side, made = sides.kernels(n, parallel), contact_constraints.kernels(n, parallel)
    Dynamics, Constraints = side.Dynamics, made.Constraints
    side_mobility, push_side, share_of = side.side_mobility, side.push_side, side.share_of
    cross, swing, turn_by = side.cross, side.swing, side.turn_by
    relative_velocity, can_turn = side.relative_velocity, side.can_turn
    move_side = side.move_side
    angular_momentum_of_side, turn_side = side.angular_momentum_of_side, side.turn_side
    is_moved, taken_move, taken_turn = side.is_moved, side.taken_move, side.taken_turn

    @wp.func(inline=True)
    def share_out_one(dynamics: Dynamics, constraints: Constraints, row: int):
        if constraints.impulse[row] == real(0.0):
            first = constraints.first[row]
            second = constraints.second[row]
            w = constraints.first_weight[row]
            u = constraints.second_weight[row]
            rigids = constraints.rigids[row]
            relative = relative_velocity(dynamics, rigids, constraints.place[row], first, w, second, u)
            normal = constraints.normal[row]
            missing = constraints.min_speed[row] - wp.dot(relative, normal)
            if missing > real(0.0):
                share = share_of(dynamics, rigids, constraints.place[row], normal, first, w, second, u)
                constraints.impulse[row] = share * constraints.effective_mass[row] * missing

    @n.kernel(variant)
    def share_out(dynamics: Dynamics, constraints: Constraints, stride: int, part: int, parts: int):
        """New contacts begin with their share of what is missing, all at the same velocities: order does not show."""
        count = wp.min(constraints.count[0], constraints.pair.shape[0])
        for r in range(begin_of(part, parts, count) + wp.tid(), begin_of(part + 1, parts, count), stride):
            share_out_one(dynamics, constraints, at(r))

    @wp.func(inline=True)
    def warm_start_one(dynamics: Dynamics, constraints: Constraints, row: int):
        old = constraints.impulse[row]
        if old > real(0.0):
            first = constraints.first[row]
            second = constraints.second[row]
            rigids = constraints.rigids[row]
            place = constraints.place[row]
            p = old * constraints.normal[row]
            push_side(dynamics, rigids[0], p, place, first, constraints.first_weight[row])
            push_side(dynamics, rigids[1], -p, place, second, constraints.second_weight[row])

    @wp.func(inline=True)
    def is_mine(
        constraints: Constraints,
        row: int,
        pairs: wp.array(dtype=wp.vec2i),
        world: wp.array(dtype=int),
        worlds: int,
        part: int,
        parts: int,
    ) -> bool:
        """Whether a contact is in one of the worlds of this part."""
        mine = True
        if parts > 1:
            w = world[at(pairs[at(constraints.pair[row])][0])]
            mine = w >= begin_of(part, parts, worlds) and w < begin_of(part + 1, parts, worlds)
        return mine

    @n.kernel(variant)
    def warm_start(
        dynamics: Dynamics,
        constraints: Constraints,
        pairs: wp.array(dtype=wp.vec2i),
        world: wp.array(dtype=int),
        worlds: int,
        stride: int,
        part: int,
        parts: int,
    ):
        """Begin with the forces of the substep before: what lies on something is then nearly solved already."""
        for r in range(wp.tid(), wp.min(constraints.count[0], constraints.pair.shape[0]), stride):
            if is_mine(constraints, at(r), pairs, world, worlds, part, parts):
                warm_start_one(dynamics, constraints, at(r))

    @wp.func(inline=True)
    def store_force(constraints: Constraints, h: real, warm_force: wp.array(dtype=real), row: int):
        if constraints.bounces[row] == 0:
            warm_force[at(constraints.candidate[row])] = constraints.impulse[row] / h

    @n.kernel(variant)
    def store_forces(constraints: Constraints, dt: wp.array(dtype=real), warm_force: wp.array(dtype=real), stride: int):
        """Keep the forces for the next substep; those of a bounce do not last."""
        for r in range(wp.tid(), wp.min(constraints.count[0], constraints.pair.shape[0]), stride):
            store_force(constraints, dt[0], warm_force, at(r))

    @wp.func(inline=True)
    def apply_impulse(dynamics: Dynamics, rigid: int, p: vec, place: vec, ids: wp.vec3i, w: vec):
        """As push_side; soft points are pushed here, where most of the time is spent on the CPU."""
        if rigid >= 0:
            push_side(dynamics, rigid, p, place, ids, w)
        else:
            for k in range(dim):
                if w[k] != real(0.0):
                    i = at(ids[k])
                    wall = dynamics.wall_contact_normal[i]
                    into = wp.min(wp.dot(p, wall), real(0.0))
                    share = w[k] * dynamics.soft_inverse_mass[i]
                    dynamics.point_v[i] = dynamics.point_v[i] + share * (p - into * wall)

    @wp.func(inline=True)
    def solve_one(dynamics: Dynamics, constraints: Constraints, row: int):
        first = constraints.first[row]
        second = constraints.second[row]
        w = constraints.first_weight[row]
        u = constraints.second_weight[row]
        rigids = constraints.rigids[row]
        place = constraints.place[row]
        normal = constraints.normal[row]
        relative = relative_velocity(dynamics, rigids, place, first, w, second, u)
        speed = wp.dot(relative, normal)
        before = constraints.impulse[row]
        if before > real(0.0) or speed < constraints.min_speed[row]:
            effective = constraints.effective_mass[row]
            if wp.static(parallel):
                effective *= share_of(dynamics, rigids, place, normal, first, w, second, u)
            after = wp.max(before + effective * (constraints.min_speed[row] - speed), real(0.0))
            constraints.impulse[row] = after
            p = (after - before) * normal
            centre = vec()
            back = spin_type(real(0.0))  # by which the points take back the moment of friction
            # friction: what the velocity across the normal still needs, within the cone of the normal impulse
            mu = constraints.friction[row]
            friction_before = constraints.friction_impulse[row]
            if mu > real(0.0):
                inverse_inertia = constraints.inverse_inertia[row]
                lever = constraints.gap[row] * normal
                slip = relative - speed * normal
                slip_mass = effective
                soft = rigids[0] < 0 and rigids[1] < 0
                free = can_turn(inverse_inertia)  # none of the points is pinned
                if free:
                    centre = constraints.centre[row]
                    momentum = angular_momentum_of_side(dynamics, first, centre)
                    momentum += angular_momentum_of_side(dynamics, second, centre)
                    turned = turn_by(inverse_inertia, momentum)
                    slip -= swing(turned, lever)
                if not soft:
                    along = wp.normalize(slip)
                    inverse_mass = side_mobility(dynamics, rigids[0], place, -along, first, w)
                    inverse_mass += side_mobility(dynamics, rigids[1], place, along, second, u)
                    if inverse_mass > real(0.0):  # else there is no slip
                        slip_mass = effective / (constraints.effective_mass[row] * inverse_mass)
                wanted = friction_before - slip_mass * slip
                wanted -= wp.dot(wanted, normal) * normal
                size = wp.length(wanted)
                limit = mu * after
                if size > limit:
                    wanted *= limit / size
                change = wanted - friction_before
                constraints.friction_impulse[row] = wanted
                p += change
                if free:
                    back = -turn_by(inverse_inertia, cross(lever, change))
                    if wp.static(not parallel):
                        turn_side(dynamics, first, centre, back)
                        turn_side(dynamics, second, centre, back)
            if wp.static(parallel):
                if rigids[0] < 0 and rigids[1] < 0:  # impulse and rotation in one sum
                    move_side(dynamics, p, first, w, centre, back)
                    move_side(dynamics, -p, second, u, centre, back)
                else:
                    push_side(dynamics, rigids[0], p, place, first, w)
                    push_side(dynamics, rigids[1], -p, place, second, u)
            else:
                apply_impulse(dynamics, rigids[0], p, place, first, w)
                apply_impulse(dynamics, rigids[1], -p, place, second, u)

    @n.kernel(variant)
    def solve(
        dynamics: Dynamics,
        constraints: Constraints,
        pairs: wp.array(dtype=wp.vec2i),
        world: wp.array(dtype=int),
        worlds: int,
        backwards: int,
        stride: int,
        part: int,
        parts: int,
    ):
        """One round over all contacts."""
        count = wp.min(constraints.count[0], constraints.pair.shape[0])
        for r in range(wp.tid(), count, stride):
            row = at(wp.where(backwards != 0, count - 1 - r, r))
            if is_mine(constraints, row, pairs, world, worlds, part, parts):
                solve_one(dynamics, constraints, row)

    @wp.func(inline=True)
    def collect_point(dynamics: Dynamics, i: int):
        if is_moved(dynamics.sums, i):
            dynamics.point_v[i] = dynamics.point_v[i] + taken_move(dynamics.sums, i)

    @n.kernel(variant)
    def collect(dynamics: Dynamics, soft: int, sweep_round: wp.array(dtype=int)):
        """Apply the sums of a parallel round: to the soft points, then to the rigid bodies."""
        if sweep_round.shape[0] > 0:
            if sweep_round[0] == 1:
                return
        t = wp.tid()
        if t < soft:
            collect_point(dynamics, t)
        else:
            r = t - soft
            dynamics.rigid_v[r] = dynamics.rigid_v[r] + dynamics.rigid_inverse_mass[r] * taken_move(dynamics.sums, t)
            moment = taken_turn(dynamics.moment_sums, r)
            dynamics.rigid_angular[r] = dynamics.rigid_angular[r] + moment
            dynamics.rigid_spin[r] = dynamics.rigid_spin[r] + turn_by(dynamics.rigid_world_inertia[r], moment)

    solve_all = None
    if parallel:
        barrier = native.kernels(n).barrier

        @wp.func(inline=True)
        def row_of(world_rows: wp.array(dtype=int), first: int, r: int) -> int:
            """The r-th contact of a world whose places begin at `first`; of all, where there is one world."""
            row = r
            if world_rows.shape[0] > 0:
                row = world_rows[at(first + r)]
            return at(row)

        @wp.func(inline=True)
        def claim(constraints: Constraints, mover: wp.array(dtype=int), row: int):
            """The points of a contact are moved by it, unless others claim them later."""
            for k in range(dim):
                mover[at(constraints.first[row][k])] = 6 * row + k
                mover[at(constraints.second[row][k])] = 6 * row + 3 + k

        @wp.func(inline=True)
        def collect_claimed(dynamics: Dynamics, constraints: Constraints, mover: wp.array(dtype=int), row: int):
            """As `collect`, of the points that this contact moves."""
            first = constraints.first[row]
            second = constraints.second[row]
            for k in range(dim):
                if mover[at(first[k])] == 6 * row + k:
                    collect_point(dynamics, at(first[k]))
                if mover[at(second[k])] == 6 * row + 3 + k:
                    collect_point(dynamics, at(second[k]))

        @functools.partial(n.kernel(f"{variant}_at_once"), launch_bounds=BLOCK)
        def solve_all(
            dynamics: Dynamics,
            constraints: Constraints,
            dt: wp.array(dtype=real),
            warm_force: wp.array(dtype=real),
            mover: wp.array(dtype=int),
            world_count: wp.array(dtype=int),
            world_rows: wp.array(dtype=int),
            rows_per_world: int,
            rounds: int,
        ):
            """From warm_start to store_forces by a block of threads per world, with barriers in place of launches."""
            w, lane = wp.tid()
            count = wp.min(constraints.count[0], constraints.pair.shape[0])
            if world_rows.shape[0] > 0:
                count = wp.min(world_count[w], rows_per_world)
            if count == 0:
                return
            begin = w * rows_per_world
            for r in range(lane, count, wp.block_dim()):
                row = row_of(world_rows, begin, r)
                claim(constraints, mover, row)
                share_out_one(dynamics, constraints, row)
                warm_start_one(dynamics, constraints, row)
            barrier()
            for r in range(lane, count, wp.block_dim()):
                collect_claimed(dynamics, constraints, mover, row_of(world_rows, begin, r))
            barrier()
            for _ in range(rounds):
                for r in range(lane, count, wp.block_dim()):
                    solve_one(dynamics, constraints, row_of(world_rows, begin, r))
                barrier()
                for r in range(lane, count, wp.block_dim()):
                    collect_claimed(dynamics, constraints, mover, row_of(world_rows, begin, r))
                barrier()
            for r in range(lane, count, wp.block_dim()):
                store_force(constraints, dt[0], warm_force, row_of(world_rows, begin, r))

    return SimpleNamespace(
        solve_all=solve_all,
        share_out=share_out,
        warm_start=warm_start,
        store_forces=store_forces,
        solve=solve,
        collect=collect,
    )
