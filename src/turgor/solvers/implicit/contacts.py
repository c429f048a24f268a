"""Contacts inside an implicit step: forces that hold the surfaces apart where the trial velocities lead.

A contact that would end nearer than half of its skins presses with r (g_rest - g)/h, g the gap at the end of the step
and r a few times the inertia and stiffness of its points in the matrix (`solvers/implicit/walls.py`); friction holds
with r times its slip, and with no more than mu times the force of the round before. Its two forces act at two points:
what moment friction would have is taken back by turning the soft points of the contact.

Rigid bodies have six velocities each and only inertia, so they are not among the unknowns of the solve: for given
velocities of the soft points theirs follow from the forces of their contacts.
"""

import functools
from types import SimpleNamespace
from typing import Any, no_type_check

import warp as wp

from turgor.contact.features.solve import constraints as contact_constraints
from turgor.contact.features.solve import sides
from turgor.contact.features.solve.constraints import REST
from turgor.kernel.numbers import Numbers, at
from turgor.solvers.implicit import system, walls
from turgor.solvers.implicit.walls import HARDNESS

__all__ = ["PressedPairs", "kernels"]

TURNS = 3  # in which the velocities of rigid bodies follow


class PressedPairs:
    """Launches the kernels on the contacts of a method."""

    def __init__(self, method: Any, implicit: Any) -> None:
        constraints, state = method.constraints, implicit.owner.state
        n, launch, self.rigids = constraints.numbers, constraints.launch, implicit.model.rigids.total
        self.kernels, self.state, self.constraints = kernels(n, launch.parallel), state, constraints
        self.impulses = method.impulses
        self.world_bend, self.world_surfaces = implicit.system.world_bend, method.surfaces.bodies
        self.rigid_trial_v, self.rigid_free_v = (launch.zeros(self.rigids, n.vec) for _ in range(2))
        self.rigid_trial_spin, self.rigid_free_spin = (launch.zeros(self.rigids, n.spin) for _ in range(2))
        self.rigid_sums = launch.zeros(self.rigids, self.kernels.sums)
        glue = implicit.glue  # bodies that are among the unknowns themselves
        self.glue_on = launch.zeros(self.rigids, wp.int32) if glue is None else glue.glue_on
        names = ("trial_v", "contact_force", "direction", "stirred")
        given = {name: getattr(implicit.system, name) for name in names}
        given |= {"hardness": implicit.hardness, "in_round": implicit.in_round}
        self.point_load = implicit.system.load
        self.launch = launch.extended(self, given)
        self.allocate()
        implicit.system.bend = self.bend

    def allocate(self) -> None:
        """Arrays for as many contacts as there may be."""
        n, size = self.constraints.numbers, self.constraints.capacity
        self.pair_force_round, self.pair_force_now = (self.launch.zeros(size, n.real) for _ in range(2))
        self.pair_friction_now = self.launch.zeros(size, n.vec)
        self.pair_hard = self.launch.zeros(size, wp.vec2d)  # N s/m: along the normal, and across

    def begin(self) -> None:
        """Of a step: friction is limited by the forces of the step before; rigid bodies as forces alone move them."""
        self.launch.walk(self.kernels.begin_pairs)
        if self.rigids:
            for mine in (self.rigid_free_v, self.rigid_trial_v):
                wp.copy(mine, self.state.rigid.v)
            for mine in (self.rigid_free_spin, self.rigid_trial_spin):
                wp.copy(mine, self.state.rigid.spin)

    def press(self) -> None:
        """Add the forces of contacts to those of walls."""
        for _ in range(TURNS if self.rigids else 0):
            self.rigid_sums.zero_()
            self.launch.walk(self.kernels.load_rigids)
            self.launch(self.kernels.move_rigids, self.rigids)
        self.launch.walk(self.kernels.press_pairs, load=self.point_load)

    def bend(self) -> None:
        """What contacts add to the curvature along a direction."""
        self.world_bend.zero_()
        self.launch.walk(self.kernels.bend_pairs)

    def keep(self) -> None:
        """Forces of this round limit the friction of the next."""
        self.launch.walk(self.kernels.keep_pairs)

    def end(self) -> None:
        """Rigid bodies get what the soft points gave; impulses are kept for those who look."""
        self.launch.walk(self.kernels.store_pairs)
        self.impulses.launch.walk(self.impulses.kernels.store_forces)
        if self.rigids:
            self.rigid_sums.zero_()
            self.launch.walk(self.kernels.load_rigids)
            self.launch(self.kernels.push_rigids, self.rigids)


@functools.cache
@no_type_check
def kernels(n: Numbers, parallel: bool) -> SimpleNamespace:
    """load_rigids, move_rigids, then press_pairs with each evaluation of forces; bend_pairs with each direction."""
    real, vec, dim, spin_type = n.real, n.vec, n.dim, n.spin
    Constraints = contact_constraints.kernels(n, parallel).Constraints
    side = sides.kernels(n, parallel)
    Dynamics, swing, cross, turn_by, can_turn = side.Dynamics, side.swing, side.cross, side.turn_by, side.can_turn
    side_mobility, contact_point, is_new = side.side_mobility, side.contact_point, side.is_new
    block, held_by = system.kernels(n).block, walls.kernels(n).held_by
    variant = f"{__name__}{'_parallel' if parallel else ''}"
    modes = 3 if dim == 2 else 6
    sums = wp.types.vector(length=modes + modes * modes, dtype=wp.float64)
    square = wp.types.matrix(shape=(modes, modes), dtype=wp.float64)
    motion = wp.types.vector(length=modes, dtype=wp.float64)
    inertia = side.inertia

    @wp.func
    def side_velocity(
        dynamics: Dynamics,
        rigid: int,
        place: vec,
        ids: wp.vec3i,
        w: vec,
        v: wp.array(dtype=vec),
        rigid_v: wp.array(dtype=vec),
        rigid_spin: wp.array(dtype=spin_type),
    ) -> vec:
        """Of the contact point on one side."""
        if rigid >= 0:
            return rigid_v[rigid] + swing(rigid_spin[rigid], place - dynamics.rigid_x[rigid])
        total = vec()
        for k in range(wp.static(dim)):
            if w[k] != real(0.0):
                total += w[k] * v[at(ids[k])]
        return total

    @wp.func
    def softness(
        dynamics: Dynamics, rigid: int, place: vec, normal: vec, ids: wp.vec3i, w: vec, hardness: wp.array(dtype=real),
        h: real,
    ) -> real:  # fmt: skip
        """1 / hardness of a side."""
        if rigid >= 0:
            return h * side_mobility(dynamics, rigid, place, normal, ids, w) / real(HARDNESS)
        total = real(0.0)
        for k in range(wp.static(dim)):
            i = at(ids[k])
            if w[k] != real(0.0) and dynamics.soft_inverse_mass[i] > real(0.0):
                total += w[k] * w[k] / hardness[i]
        return total

    @wp.func
    def force_of(
        constraints: Constraints,
        row: int,
        dynamics: Dynamics,
        v: wp.array(dtype=vec),
        rigid_v: wp.array(dtype=vec),
        rigid_spin: wp.array(dtype=spin_type),
        hardness: wp.array(dtype=real),
        known: real,
        h: real,
    ):
        """(along the normal, friction, hardness of both) of a contact at trial velocities."""
        rigids = constraints.rigids[row]
        place = constraints.place[row]
        first = constraints.first[row]
        second = constraints.second[row]
        w = constraints.first_weight[row]
        u = constraints.second_weight[row]
        normal = constraints.normal[row]
        soft = softness(dynamics, rigids[0], place, normal, first, w, hardness, h)
        soft += softness(dynamics, rigids[1], place, normal, second, u, hardness, h)
        pressing = real(0.0)
        along = vec()
        r = real(0.0)
        hard = real(0.0)
        if soft > real(0.0):
            relative = side_velocity(dynamics, rigids[0], place, first, w, v, rigid_v, rigid_spin)
            relative -= side_velocity(dynamics, rigids[1], place, second, u, v, rigid_v, rigid_spin)
            s = wp.dot(relative, normal)
            least = (real(REST) * constraints.thickness[row] - constraints.gap[row]) / h
            if constraints.bounces[row] != 0:
                least = wp.max(least, constraints.min_speed[row])
            if s < least:
                r = real(1.0) / soft
                pressing = r * (least - s)
                along, hard = held_by(-r * (relative - s * normal), constraints.friction[row] * known, r)
        return pressing, along, r, hard

    @wp.func
    def push(ids: wp.vec3i, w: vec, f: vec, stiff: block, force: wp.array(dtype=vec), load: wp.array(dtype=block)):
        """Force on a soft side, and its load."""
        for k in range(wp.static(dim)):
            if w[k] != real(0.0):
                wp.atomic_add(force, ids[k], w[k] * f)
                wp.atomic_add(load, ids[k], (w[k] * w[k]) * stiff)

    @wp.func
    def turn_points(dynamics: Dynamics, ids: wp.vec3i, centre: vec, back: spin_type, force: wp.array(dtype=vec)):
        """Forces that turn the points of a soft side about a centre."""
        for k in range(wp.static(dim)):
            if is_new(ids, k):
                i = at(ids[k])
                f = swing(back, dynamics.points[i] - centre) / dynamics.soft_inverse_mass[i]
                wp.atomic_add(force, ids[k], f)

    @n.kernel(variant)
    def press_pairs(
        constraints: Constraints,
        dynamics: Dynamics,
        trial_v: wp.array(dtype=vec),
        rigid_trial_v: wp.array(dtype=vec),
        rigid_trial_spin: wp.array(dtype=spin_type),
        hardness: wp.array(dtype=real),
        dt: wp.array(dtype=real),
        pair_force_round: wp.array(dtype=real),
        pair_force_now: wp.array(dtype=real),
        pair_friction_now: wp.array(dtype=vec),
        pair_hard: wp.array(dtype=wp.vec2d),
        contact_force: wp.array(dtype=vec),
        load: wp.array(dtype=block),
        stride: int,
    ):
        """The force of each contact on its soft points, and its derivative."""
        unit = wp.identity(n=wp.static(dim), dtype=real)
        for c in range(wp.tid(), wp.min(constraints.count[0], constraints.pair.shape[0]), stride):
            row = at(c)
            pressing, along, r, hard = force_of(
                constraints, row, dynamics, trial_v, rigid_trial_v, rigid_trial_spin, hardness, pair_force_round[row],
                dt[0],
            )  # fmt: skip
            pair_force_now[row] = pressing
            pair_friction_now[row] = along
            pair_hard[row] = wp.vec2d(wp.float64(r), wp.float64(hard))
            if r > real(0.0):
                rigids = constraints.rigids[row]
                first = constraints.first[row]
                second = constraints.second[row]
                w = constraints.first_weight[row]
                u = constraints.second_weight[row]
                normal = constraints.normal[row]
                f = pressing * normal + along
                stiff = r * wp.outer(normal, normal) + hard * (unit - wp.outer(normal, normal))
                if rigids[0] < 0:
                    push(first, w, f, stiff, contact_force, load)
                if rigids[1] < 0:
                    push(second, u, -f, stiff, contact_force, load)
                inverse = constraints.inverse_inertia[row]
                if rigids[0] < 0 and rigids[1] < 0 and can_turn(inverse):
                    lever = contact_point(dynamics, first, w) - contact_point(dynamics, second, u)
                    back = -turn_by(inverse, cross(lever, f))
                    turn_points(dynamics, first, constraints.centre[row], back, contact_force)
                    turn_points(dynamics, second, constraints.centre[row], back, contact_force)

    @n.kernel(variant)
    def bend_pairs(
        constraints: Constraints,
        pairs: wp.array(dtype=wp.vec2i),
        world_surfaces: int,
        direction: wp.array(dtype=vec),
        pair_hard: wp.array(dtype=wp.vec2d),
        world_bend: wp.array(dtype=real),
        stride: int,
    ):
        """Per world: what the curvature along a direction is more than that of the loads, point by point."""
        for c in range(wp.tid(), wp.min(constraints.count[0], constraints.pair.shape[0]), stride):
            row = at(c)
            r = real(pair_hard[row][0])
            hard = real(pair_hard[row][1])
            rigids = constraints.rigids[row]
            if r > real(0.0):
                first = constraints.first[row]
                second = constraints.second[row]
                normal = constraints.normal[row]
                p = vec()
                more = real(0.0)
                for k in range(wp.static(dim)):
                    if rigids[0] < 0:
                        pw = constraints.first_weight[row][k] * direction[at(first[k])]
                        sw = wp.dot(pw, normal)
                        p += pw
                        more -= r * sw * sw + hard * (wp.dot(pw, pw) - sw * sw)
                    if rigids[1] < 0:
                        pu = constraints.second_weight[row][k] * direction[at(second[k])]
                        su = wp.dot(pu, normal)
                        p -= pu
                        more -= r * su * su + hard * (wp.dot(pu, pu) - su * su)
                s = wp.dot(p, normal)
                more += r * s * s + hard * (wp.dot(p, p) - s * s)
                wp.atomic_add(world_bend, pairs[constraints.pair[row]][0] // world_surfaces, more)

    @n.kernel(variant)
    def begin_pairs(
        constraints: Constraints, pair_force_round: wp.array(dtype=real), dt: wp.array(dtype=real), stride: int
    ):
        """Contacts begin with what their candidates had before."""
        for c in range(wp.tid(), wp.min(constraints.count[0], constraints.pair.shape[0]), stride):
            pair_force_round[at(c)] = constraints.impulse[at(c)] / dt[0]

    @n.kernel(variant)
    def keep_pairs(
        constraints: Constraints,
        pairs: wp.array(dtype=wp.vec2i),
        world_surfaces: int,
        in_round: wp.array(dtype=int),
        pair_force_now: wp.array(dtype=real),
        pair_force_round: wp.array(dtype=real),
        stride: int,
    ):
        """Forces of this round, in worlds that take part."""
        for c in range(wp.tid(), wp.min(constraints.count[0], constraints.pair.shape[0]), stride):
            row = at(c)
            if in_round[pairs[constraints.pair[row]][0] // world_surfaces] != 0:
                pair_force_round[row] = pair_force_now[row]

    @n.kernel(variant)
    def store_pairs(
        constraints: Constraints,
        pair_force_now: wp.array(dtype=real),
        pair_friction_now: wp.array(dtype=vec),
        dt: wp.array(dtype=real),
        stride: int,
    ):
        """Impulses along the normals and across."""
        for c in range(wp.tid(), wp.min(constraints.count[0], constraints.pair.shape[0]), stride):
            constraints.impulse[at(c)] = dt[0] * pair_force_now[at(c)]
            constraints.friction_impulse[at(c)] = dt[0] * pair_friction_now[at(c)]

    # rigid bodies ---------------------------------------------------------------------------------------------------

    if dim == 2:

        @wp.func
        def mode(arm: vec, k: int) -> vec:
            if k == 0:
                return vec(real(1.0), real(0.0))
            if k == 1:
                return vec(real(0.0), real(1.0))
            return vec(-arm[1], arm[0])

        @wp.func
        def with_inertia(matrix: square, inverse: inertia, c: wp.float64) -> square:
            out = matrix
            if inverse > real(0.0):
                out[2, 2] = out[2, 2] + c / wp.float64(inverse)
            return out

        @wp.func
        def spin_part(m: motion) -> spin_type:
            return real(m[2])

    else:

        @wp.func
        def mode(arm: vec, k: int) -> vec:
            e = vec()
            e[k % 3] = real(1.0)
            if k < 3:
                return e
            return wp.cross(e, arm)

        @wp.func
        def with_inertia(matrix: square, inverse: inertia, c: wp.float64) -> square:
            out = matrix
            own = wp.inverse(inverse)
            for i in range(3):
                for j in range(3):
                    out[3 + i, 3 + j] = out[3 + i, 3 + j] + c * wp.float64(own[i, j])
            return out

        @wp.func
        def spin_part(m: motion) -> spin_type:
            return vec(real(m[3]), real(m[4]), real(m[5]))

    @wp.func
    def load_rigid(dynamics: Dynamics, rigid: int, place: vec, f: vec, stiff: block, rigid_sums: wp.array(dtype=sums)):
        """Force and load of a contact on a rigid body."""
        arm = place - dynamics.rigid_x[rigid]
        mine = sums()
        for k in range(wp.static(modes)):
            ek = mode(arm, k)
            mine[k] = wp.float64(wp.dot(ek, f))
            pushed = stiff * ek
            for l in range(wp.static(modes)):  # noqa: E741
                mine[wp.static(modes) + wp.static(modes) * k + l] = wp.float64(wp.dot(mode(arm, l), pushed))
        wp.atomic_add(rigid_sums, rigid, mine)

    @n.kernel(variant)
    def load_rigids(
        constraints: Constraints,
        dynamics: Dynamics,
        trial_v: wp.array(dtype=vec),
        rigid_trial_v: wp.array(dtype=vec),
        rigid_trial_spin: wp.array(dtype=spin_type),
        hardness: wp.array(dtype=real),
        dt: wp.array(dtype=real),
        pair_force_round: wp.array(dtype=real),
        rigid_sums: wp.array(dtype=sums),
        stride: int,
    ):
        """Forces and loads of contacts on rigid bodies."""
        unit = wp.identity(n=wp.static(dim), dtype=real)
        for c in range(wp.tid(), wp.min(constraints.count[0], constraints.pair.shape[0]), stride):
            row = at(c)
            rigids = constraints.rigids[row]
            if rigids[0] >= 0 or rigids[1] >= 0:
                pressing, along, r, hard = force_of(
                    constraints, row, dynamics, trial_v, rigid_trial_v, rigid_trial_spin, hardness,
                    pair_force_round[row], dt[0],
                )  # fmt: skip
                if r > real(0.0):
                    normal = constraints.normal[row]
                    f = pressing * normal + along
                    stiff = r * wp.outer(normal, normal) + hard * (unit - wp.outer(normal, normal))
                    if rigids[0] >= 0:
                        load_rigid(dynamics, rigids[0], constraints.place[row], f, stiff, rigid_sums)
                    if rigids[1] >= 0:
                        load_rigid(dynamics, rigids[1], constraints.place[row], -f, stiff, rigid_sums)

    @n.kernel(variant)
    def move_rigids(
        dynamics: Dynamics,
        rigid_free_v: wp.array(dtype=vec),
        rigid_free_spin: wp.array(dtype=spin_type),
        rigid_trial_v: wp.array(dtype=vec),
        rigid_trial_spin: wp.array(dtype=spin_type),
        rigid_sums: wp.array(dtype=sums),
        dt: wp.array(dtype=real),
        rigid_world: wp.array(dtype=int),
        glue_on: wp.array(dtype=int),
        stirred: wp.array(dtype=int),
    ):
        """One round of Newton's method for six velocities: inertia and contacts balance.

        Worlds whose trial velocities are those of the last time are left alone: theirs is not to depend on others.
        """
        b = wp.tid()
        m1 = dynamics.rigid_inverse_mass[b]
        if m1 > real(0.0) and glue_on[b] == 0 and stirred[rigid_world[b]] != 0:
            found = rigid_sums[b]
            c = wp.float64(1.0) / wp.float64(dt[0])
            matrix = square()
            for k in range(wp.static(dim)):
                matrix[k, k] = c / wp.float64(m1)
            matrix = with_inertia(matrix, dynamics.rigid_world_inertia[b], c)
            behind = motion()
            gain = rigid_trial_v[b] - rigid_free_v[b]
            for k in range(wp.static(dim)):
                behind[k] = wp.float64(gain[k])
            if wp.static(dim == 2):
                behind[2] = wp.float64(rigid_trial_spin[b] - rigid_free_spin[b])
            else:
                turned = rigid_trial_spin[b] - rigid_free_spin[b]
                for k in range(3):
                    behind[3 + k] = wp.float64(turned[k])
            right = motion()
            for k in range(wp.static(modes)):
                right[k] = found[k]
                for l in range(wp.static(modes)):  # noqa: E741
                    right[k] = right[k] - matrix[k, l] * behind[l]
            for k in range(wp.static(modes)):
                for l in range(wp.static(modes)):  # noqa: E741
                    matrix[k, l] = matrix[k, l] + found[wp.static(modes) + wp.static(modes) * k + l]
            for k in range(wp.static(modes)):
                for j in range(k + 1, wp.static(modes)):
                    share = matrix[j, k] / matrix[k, k]
                    for l in range(k, wp.static(modes)):  # noqa: E741
                        matrix[j, l] = matrix[j, l] - share * matrix[k, l]
                    right[j] = right[j] - share * right[k]
            for back in range(wp.static(modes)):
                k = wp.static(modes) - 1 - back
                total = right[k]
                for l in range(k + 1, wp.static(modes)):  # noqa: E741
                    total -= matrix[k, l] * right[l]
                right[k] = total / matrix[k, k]
            move = vec()
            for k in range(wp.static(dim)):
                move[k] = real(right[k])
            rigid_trial_v[b] = rigid_trial_v[b] + move
            rigid_trial_spin[b] = rigid_trial_spin[b] + spin_part(right)

    @n.kernel(variant)
    def push_rigids(dynamics: Dynamics, rigid_sums: wp.array(dtype=sums), dt: wp.array(dtype=real)):
        """The impulses of this step; those on bodies that are moved from outside are noted for the ledger."""
        b = wp.tid()
        m1 = dynamics.rigid_inverse_mass[b]
        found = rigid_sums[b]
        taken = motion()
        p = vec()
        for k in range(wp.static(modes)):
            taken[k] = wp.float64(dt[0]) * found[k]
        for k in range(wp.static(dim)):
            p[k] = real(taken[k])
        moment = spin_part(taken)
        if m1 <= real(0.0):
            if dynamics.rigid_driven_impulse.shape[0] > 0:
                dynamics.rigid_driven_impulse[b] = dynamics.rigid_driven_impulse[b] + p
                dynamics.rigid_driven_moment[b] = dynamics.rigid_driven_moment[b] + moment
        else:
            dynamics.rigid_v[b] = dynamics.rigid_v[b] + m1 * p
            dynamics.rigid_angular[b] = dynamics.rigid_angular[b] + moment
            dynamics.rigid_spin[b] = dynamics.rigid_spin[b] + turn_by(dynamics.rigid_world_inertia[b], moment)

    return SimpleNamespace(
        sums=sums, press_pairs=press_pairs, bend_pairs=bend_pairs, begin_pairs=begin_pairs, store_pairs=store_pairs,
        keep_pairs=keep_pairs, load_rigids=load_rigids, move_rigids=move_rigids, push_rigids=push_rigids,
    )  # fmt: skip
