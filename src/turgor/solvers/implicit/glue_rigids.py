"""Rigid bodies that soft vertices are glued to, against other rigid bodies, inside the solve.

The points at which they touch are those of rigid contact (`contact/rigid`) where the step begins. They press as walls
do, on glued bodies where the trial velocities lead and on others as they move; those get the reaction when the step
ends.
Glued bodies are held a little in front of the others, where rigid contact, which comes later, has nothing to add.
"""

import functools
from types import SimpleNamespace
from typing import Any, no_type_check

import warp as wp

from turgor.contact import materials, pair_sums
from turgor.contact.rigid.records import POINTS
from turgor.contact.rigid.records import structs as records_of
from turgor.kernel import structs
from turgor.kernel.numbers import Numbers
from turgor.rigid import impulse
from turgor.solvers.implicit import glue_forces, walls, whole
from turgor.solvers.implicit.glue_contacts import FALLS, SKINS
from turgor.solvers.implicit.walls import HARDNESS

__all__ = ["GluedTouching", "kernels"]


class GluedTouching:
    """Launched beside the contacts of glued bodies with walls."""

    def __init__(self, contacts: Any, glue: Any, readings: Any) -> None:
        model, n = glue.model, glue.model.numbers
        self.contacts, self.kernels, self.state = contacts, kernels(n), contacts.state.rigid
        self.v_seen, self.spin_seen = model.rigids.zeros(n.vec), model.rigids.zeros(n.spin)  # m/s, rad/s, of others
        self.world_bodies = len(model.parts)
        kind = pair_sums.kernels(n).Table
        self.table = structs.zeros(kind, 0, model.device, bodies=0, width=0, bits=0)
        if readings is not None:
            self.table = readings.pairs.table
        self.launch = glue.launch.extended(rigid=[self])

    def _launch(self, kernel: Any, **given: Any) -> None:
        given |= {"pairs": self.contacts.pairs, "points": self.contacts.points, "stride": self.contacts.stride}
        self.launch(kernel, self.contacts.stride, **given)

    def find(self) -> None:
        """Where bodies touch, once per step."""
        self.contacts.find()
        wp.copy(self.v_seen, self.state.v)
        wp.copy(self.spin_seen, self.state.spin)

    def press(self) -> None:
        """Forces at the trial velocities."""
        self._launch(self.kernels.press_rigids)

    def react(self) -> None:
        """What the other bodies get."""
        self._launch(self.kernels.react, table=self.table, world_bodies=self.world_bodies)


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """press_rigids with each evaluation of forces, react once."""
    real, vec, dim, spin_type, wide = n.real, n.vec, n.dim, n.spin, n.wide
    t, force = records_of(n), glue_forces.kernels(n)
    Pairs, Points = t.Pairs, t.Points
    motion, square, wide_block, inertia = force.motion, force.square, force.wide_block, force.inertia
    unknown, onto, block_onto, move_of = force.unknown, force.onto, force.block_onto, whole.kernels(n).move_of
    push_of, shared_restitution = walls.kernels(n).push_of, materials.kernels(n).shared_restitution
    Table, add_to_pair = pair_sums.kernels(n).Table, pair_sums.kernels(n).add_to_pair
    cross, swing, turn_by = impulse.kernels(n).cross, impulse.kernels(n).swing, impulse.kernels(n).turn_by

    @wp.func
    def velocity_of(
        r: int,
        arm: vec,
        on: int,
        inverse_mass: real,
        s: motion,
        v: wp.array(dtype=vec),
        spin: wp.array(dtype=spin_type),
    ) -> vec:
        """Of a point of a body, at the trial velocities if it is an unknown."""
        if unknown(on, inverse_mass):
            return vec(move_of(s, wide(arm)))
        return v[r] + swing(spin[r], arm)

    @wp.func
    def hardness_of(on: int, inverse_mass: real, hung: real) -> real:
        """kg; what does not yield has no limit."""
        if inverse_mass <= real(0.0):
            return real(1.0e30)
        if on != 0:
            return real(1.0) / inverse_mass + hung
        return real(1.0) / inverse_mass

    @wp.func
    def force_at(
        row: int,
        a: int,
        b: int,
        normal: vec,
        mu: real,
        points: Points,
        glue_on: wp.array(dtype=int),
        hung_mass: wp.array(dtype=real),
        rigid_inverse_mass: wp.array(dtype=real),
        rigid_restitution: wp.array(dtype=real),
        rigid_skin: wp.array(dtype=real),
        rigid_size: wp.array(dtype=real),
        rigid_v: wp.array(dtype=vec),
        rigid_spin: wp.array(dtype=spin_type),
        glue_free: wp.array(dtype=motion),
        glue_trial: wp.array(dtype=motion),
        down: real,
        h: real,
        c: real,
    ):
        """(force on a, hardness along the normal and across)."""
        m_a = rigid_inverse_mass[a]
        m_b = rigid_inverse_mass[b]
        v = velocity_of(a, points.arm_a[row], glue_on[a], m_a, glue_trial[a], rigid_v, rigid_spin)
        v -= velocity_of(b, points.arm_b[row], glue_on[b], m_b, glue_trial[b], rigid_v, rigid_spin)
        start = velocity_of(a, points.arm_a[row], glue_on[a], m_a, glue_free[a], rigid_v, rigid_spin)
        start -= velocity_of(b, points.arm_b[row], glue_on[b], m_b, glue_free[b], rigid_v, rigid_spin)
        mass = wp.min(hardness_of(glue_on[a], m_a, hung_mass[a]), hardness_of(glue_on[b], m_b, hung_mass[b]))
        hard = real(HARDNESS) * c * mass
        lift = real(SKINS) * (rigid_skin[a] + rigid_skin[b]) + real(FALLS) * down * h * h
        bounce = shared_restitution(rigid_restitution[a], rigid_restitution[b])
        off = (points.gap[row] - lift) * normal
        sticks = real(1.0e30) * normal
        pressing, along, holding = push_of(
            off, normal, v, start, vec(), real(1.0), bounce, hard, rigid_size[a], vec(), sticks, h
        )
        size = wp.length(along)
        if size > mu * pressing:
            holding *= mu * pressing / size
            along *= mu * pressing / size
        return pressing * normal + along, wp.where(pressing > real(0.0), hard, real(0.0)), holding

    @n.kernel(__name__)
    def press_rigids(
        pairs: Pairs,
        points: Points,
        glue_on: wp.array(dtype=int),
        hung_mass: wp.array(dtype=real),
        gravity: wp.array(dtype=vec),
        rigid_world: wp.array(dtype=int),
        rigid_inverse_mass: wp.array(dtype=real),
        rigid_restitution: wp.array(dtype=real),
        rigid_skin: wp.array(dtype=real),
        rigid_size: wp.array(dtype=real),
        rigid_v_seen: wp.array(dtype=vec),
        rigid_spin_seen: wp.array(dtype=spin_type),
        glue_free: wp.array(dtype=motion),
        glue_trial: wp.array(dtype=motion),
        dt: wp.array(dtype=real),
        glue_contact: wp.array(dtype=motion),
        glue_load: wp.array(dtype=square),
        stride: int,
    ):
        """Forces and loads on glued bodies."""
        unit = wp.identity(n=wp.static(dim), dtype=real)
        for index in range(wp.tid(), wp.min(pairs.count[0], pairs.capacity), stride):
            a = pairs.a[index]
            b = pairs.b[index]
            if b >= 0:
                first = unknown(glue_on[a], rigid_inverse_mass[a])
                second = unknown(glue_on[b], rigid_inverse_mass[b])
                if first or second:
                    normal = pairs.normal[index]
                    down = wp.length(gravity[rigid_world[a]])
                    for row in range(POINTS * index, POINTS * index + pairs.point_count[index]):
                        f, hard, holding = force_at(
                            row, a, b, normal, pairs.friction[index], points, glue_on, hung_mass, rigid_inverse_mass,
                            rigid_restitution, rigid_skin, rigid_size, rigid_v_seen, rigid_spin_seen, glue_free,
                            glue_trial, down, dt[0], real(1.0) / dt[0],
                        )  # fmt: skip
                        if hard > real(0.0):
                            across = wp.outer(normal, normal)
                            stiff = wide_block(hard * across + holding * (unit - across))
                            if first:
                                arm = wide(points.arm_a[row])
                                wp.atomic_add(glue_contact, a, onto(arm, wide(f)))
                                wp.atomic_add(glue_load, a, block_onto(arm, stiff))
                            if second:
                                arm = wide(points.arm_b[row])
                                wp.atomic_add(glue_contact, b, onto(arm, wide(-f)))
                                wp.atomic_add(glue_load, b, block_onto(arm, stiff))

    @wp.func
    def push_body(
        r: int,
        arm: vec,
        p: vec,
        inverse_mass: real,
        world_inertia: inertia,
        rigid_v: wp.array(dtype=vec),
        rigid_angular: wp.array(dtype=spin_type),
        rigid_spin: wp.array(dtype=spin_type),
        driven_impulse: wp.array(dtype=vec),
        driven_moment: wp.array(dtype=spin_type),
    ):
        """An impulse at a point of a body that is no unknown."""
        moment = cross(arm, p)
        if inverse_mass > real(0.0):
            wp.atomic_add(rigid_v, r, inverse_mass * p)
            wp.atomic_add(rigid_angular, r, moment)
            wp.atomic_add(rigid_spin, r, turn_by(world_inertia, moment))
        elif driven_impulse.shape[0] > 0:
            wp.atomic_add(driven_impulse, r, p)
            wp.atomic_add(driven_moment, r, moment)

    @n.kernel(__name__)
    def react(
        pairs: Pairs,
        points: Points,
        glue_on: wp.array(dtype=int),
        hung_mass: wp.array(dtype=real),
        gravity: wp.array(dtype=vec),
        rigid_world: wp.array(dtype=int),
        rigid_inverse_mass: wp.array(dtype=real),
        rigid_world_inertia: wp.array(dtype=inertia),
        rigid_restitution: wp.array(dtype=real),
        rigid_skin: wp.array(dtype=real),
        rigid_size: wp.array(dtype=real),
        rigid_v: wp.array(dtype=vec),
        rigid_spin: wp.array(dtype=spin_type),
        rigid_v_seen: wp.array(dtype=vec),
        rigid_spin_seen: wp.array(dtype=spin_type),
        rigid_angular: wp.array(dtype=spin_type),
        rigid_driven_impulse: wp.array(dtype=vec),
        rigid_driven_moment: wp.array(dtype=spin_type),
        glue_free: wp.array(dtype=motion),
        glue_trial: wp.array(dtype=motion),
        dt: wp.array(dtype=real),
        world_bodies: int,
        world_rigids: int,
        table: Table,
        stride: int,
    ):
        """The other side of each force; and, for readings, its sum per pair."""
        h = dt[0]
        for index in range(wp.tid(), wp.min(pairs.count[0], pairs.capacity), stride):
            a = pairs.a[index]
            b = pairs.b[index]
            if b >= 0:
                first = unknown(glue_on[a], rigid_inverse_mass[a])
                second = unknown(glue_on[b], rigid_inverse_mass[b])
                if first or second:
                    down = wp.length(gravity[rigid_world[a]])
                    for row in range(POINTS * index, POINTS * index + pairs.point_count[index]):
                        f, hard, _holding = force_at(
                            row, a, b, pairs.normal[index], pairs.friction[index], points, glue_on, hung_mass,
                            rigid_inverse_mass, rigid_restitution, rigid_skin, rigid_size, rigid_v_seen,
                            rigid_spin_seen, glue_free, glue_trial, down, h, real(1.0) / dt[0],
                        )  # fmt: skip
                        if hard > real(0.0) and table.key.shape[0] > 0:
                            begin = rigid_world[a] * (world_bodies + world_rigids) + world_bodies
                            add_to_pair(table, begin + a % world_rigids, begin + b % world_rigids, h * f)
                        if hard > real(0.0) and first != second:
                            r = wp.where(first, b, a)
                            arm = wp.where(first, points.arm_b[row], points.arm_a[row])
                            p = wp.where(first, -h, h) * f
                            push_body(
                                r, arm, p, rigid_inverse_mass[r], rigid_world_inertia[r], rigid_v, rigid_angular,
                                rigid_spin, rigid_driven_impulse, rigid_driven_moment,
                            )  # fmt: skip

    return SimpleNamespace(press_rigids=press_rigids, react=react)
