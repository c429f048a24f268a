"""Impulses at the contacts: no approach beyond what the gap allows, Coulomb friction, nothing pulled together (B14).

A round visits every contact and adds to its accumulated impulse what is still missing; the sum, not the addition, may
not pull. One after another on the CPU (Gauss-Seidel), forwards and backwards in turn; on a GPU all at once, each
divided by how much meets at its points (Jacobi). New contacts begin all at once on both: the order does not show.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.contact.features.launch import FeatureLauncher
from turgor.contact.features.solve import constraints as contact_constraints
from turgor.contact.features.solve import sides
from turgor.kernel.numbers import Numbers, at
from turgor.model.model import Model

__all__ = ["Impulses", "kernels"]


class Impulses:
    """The rounds of impulses over the constraints that the launcher knows."""

    def __init__(self, model: Model, launch: FeatureLauncher) -> None:
        self.kernels, self.launch = kernels(model.numbers, launch.parallel), launch
        self.soft, self.rigid = model.vertices * model.worlds, model.rigids.total

    def warm_start(self) -> None:
        """Begin with the forces of the substep before, or a share of what is missing."""
        self.launch.walk(self.kernels.share_out)
        self.launch.walk(self.kernels.warm_start)
        self.collect()

    def solve(self, backwards: bool) -> None:
        """One round, over the contacts in their order or backwards."""
        self.launch.walk(self.kernels.solve, backwards=int(backwards))
        self.collect()

    def collect(self) -> None:
        """On a GPU, apply what was summed up."""
        if self.launch.parallel:
            self.launch(self.kernels.collect, self.soft + self.rigid, soft=self.soft)

    def finish(self) -> None:
        """Displacements follow the impulses."""
        self.launch.walk(self.kernels.store_forces)
        self.follow()

    def follow(self) -> None:
        """The displacement follows what contact did to the velocity."""
        self.launch(self.kernels.follow, self.soft)


@functools.cache
@no_type_check
def kernels(n: Numbers, parallel: bool) -> SimpleNamespace:
    """share_out, warm_start, rounds of solve (collect, if parallel), store_forces, follow."""
    real, vec, dim = n.real, n.vec, n.dim
    variant = f"{__name__}{'_parallel' if parallel else ''}"
    side, made = sides.kernels(n, parallel), contact_constraints.kernels(n, parallel)
    Dynamics, Constraints = side.Dynamics, made.Constraints
    side_mobility, push_side, share_of = side.side_mobility, side.push_side, side.share_of
    cross, swing, turn_by = side.cross, side.swing, side.turn_by
    relative_velocity, can_turn = side.relative_velocity, side.can_turn
    angular_momentum_of_side, turn_side = side.angular_momentum_of_side, side.turn_side
    push_and_turn_side = side.push_and_turn_side
    is_moved, taken_move, taken_turn = side.is_moved, side.taken_move, side.taken_turn

    @n.kernel(variant)
    def share_out(dynamics: Dynamics, constraints: Constraints, stride: int):
        """New contacts begin with their share of what is missing, all at the same velocities: order does not show."""
        for r in range(wp.tid(), wp.min(constraints.count[0], constraints.pair.shape[0]), stride):
            row = at(r)
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
    def warm_start(dynamics: Dynamics, constraints: Constraints, stride: int):
        """Begin with the forces of the substep before: what lies on something is then nearly solved already."""
        for r in range(wp.tid(), wp.min(constraints.count[0], constraints.pair.shape[0]), stride):
            row = at(r)
            old = constraints.impulse[row]
            if old > real(0.0):
                first = constraints.first[row]
                second = constraints.second[row]
                rigids = constraints.rigids[row]
                place = constraints.place[row]
                p = old * constraints.normal[row]
                push_side(dynamics, rigids[0], p, place, first, constraints.first_weight[row])
                push_side(dynamics, rigids[1], -p, place, second, constraints.second_weight[row])

    @n.kernel(variant)
    def store_forces(constraints: Constraints, dt: wp.array(dtype=real), warm_force: wp.array(dtype=real), stride: int):
        """Keep the forces for the next substep; those of a bounce do not last."""
        for r in range(wp.tid(), wp.min(constraints.count[0], constraints.pair.shape[0]), stride):
            if constraints.bounces[at(r)] == 0:
                warm_force[at(constraints.candidate[at(r)])] = constraints.impulse[at(r)] / dt[0]

    @wp.func(inline=True)
    def apply_impulse(dynamics: Dynamics, rigid: int, p: vec, place: vec, ids: wp.vec3i, w: vec):
        """As push_side; on the CPU soft points are pushed here, where most of the time is spent."""
        if wp.static(parallel) or rigid >= 0:
            push_side(dynamics, rigid, p, place, ids, w)
        else:
            for k in range(dim):
                if w[k] != real(0.0):
                    i = at(ids[k])
                    wall = dynamics.wall_contact_normal[i]
                    into = wp.min(wp.dot(p, wall), real(0.0))
                    share = w[k] * dynamics.soft_inverse_mass[i]
                    dynamics.point_v[i] = dynamics.point_v[i] + share * (p - into * wall)

    @n.kernel(variant)
    def solve(dynamics: Dynamics, constraints: Constraints, backwards: int, stride: int):
        """One round over all contacts."""
        count = wp.min(constraints.count[0], constraints.pair.shape[0])
        for r in range(wp.tid(), count, stride):
            row = at(wp.where(backwards != 0, count - 1 - r, r))
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
                        if wp.static(parallel):  # all of its points are soft
                            push_and_turn_side(dynamics, p, first, w, centre, back)
                            push_and_turn_side(dynamics, -p, second, u, centre, back)
                            continue
                        turn_side(dynamics, first, centre, back)
                        turn_side(dynamics, second, centre, back)
                apply_impulse(dynamics, rigids[0], p, place, first, w)
                apply_impulse(dynamics, rigids[1], -p, place, second, u)

    @n.kernel(variant)
    def collect(dynamics: Dynamics, soft: int):
        """Apply the sums of a parallel round: to the soft points, then to the rigid bodies."""
        t = wp.tid()
        if t < soft:
            if is_moved(dynamics.sums, t):
                dynamics.point_v[t] = dynamics.point_v[t] + taken_move(dynamics.sums, t)
        else:
            r = t - soft
            dynamics.rigid_v[r] = dynamics.rigid_v[r] + dynamics.rigid_inverse_mass[r] * taken_move(dynamics.sums, t)
            moment = taken_turn(dynamics.moment_sums, r)
            dynamics.rigid_angular[r] = dynamics.rigid_angular[r] + moment
            dynamics.rigid_spin[r] = dynamics.rigid_spin[r] + turn_by(dynamics.rigid_world_inertia[r], moment)

    @n.kernel(variant)
    def follow(
        dt: wp.array(dtype=real),
        v: wp.array(dtype=vec),
        v_free: wp.array(dtype=vec),
        soft_inverse_mass: wp.array(dtype=real),
        move: wp.array(dtype=vec),
    ):
        """The displacement follows what contact did to the velocity."""
        i = at(wp.tid())
        if soft_inverse_mass[i] > real(0.0):
            move[i] = move[i] + dt[0] * (v[i] - v_free[i])

    return SimpleNamespace(
        share_out=share_out,
        warm_start=warm_start,
        store_forces=store_forces,
        solve=solve,
        collect=collect,
        follow=follow,
    )
