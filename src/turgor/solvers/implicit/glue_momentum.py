"""What a step owes the momentum of soft and rigid bodies that hang together by glue (`rigid_part.py` for free bodies).

Such a compound moves on its own where none of its points is pinned and none of its rigid bodies is moved from outside.
What is owed is given back as a rigid motion of all of it, which neither springs nor glue notice.
"""

import functools
from types import SimpleNamespace
from typing import Any, no_type_check

import numpy as np
import warp as wp

from turgor.kernel.numbers import Numbers, at
from turgor.solvers.implicit import glue_forces, rigid_part

__all__ = ["Compounds", "kernels"]


class Compounds:
    """Soft and rigid bodies of one world by what they hang together with; then of all worlds."""

    def __init__(self, implicit: Any, owner: Any) -> None:
        model, device = implicit.model, implicit.model.device
        soft, rigid, glue = len(model.parts), model.rigids.count, model.glue
        label = np.arange(soft + rigid)
        links = list(zip(model.body_host[glue.vertex_host], soft + glue.body_host, strict=True))
        for _ in range(soft + rigid):
            for a, b in links:
                label[[a, b]] = min(label[a], label[b])
        pinned = model.inverse_mass.numpy()[: model.vertices] <= 0.0
        pinned[glue.vertex_host] = False
        held = np.zeros(soft + rigid, bool)
        np.logical_or.at(held, label[model.body_host], pinned)
        for index, body in enumerate(model.rigids.bodies):
            held[label[soft + index]] |= body.kind != "dynamic"
        names = [name for name in np.unique(label[soft + glue.body_host]) if not held[name]]
        number = np.full(soft + rigid, -1)
        for place, name in enumerate(names):
            number[label == name] = place
        self.per_world, self.count = len(names), len(names) * model.worlds
        shifts = np.arange(model.worlds)[:, None] * self.per_world
        tables = [np.where(part < 0, -1, part + shifts).ravel() for part in (number[:soft], number[soft:])]
        self.soft_compound, self.rigid_compound = (model.int_array(table) for table in tables)
        self.model, self.total, self.world_bodies, self.world_rigids = model, implicit.count, soft, rigid
        self.kernels = kernels(model.numbers)
        n, row = model.numbers, rigid_part.kernels(model.numbers).row
        self.compound_sums = wp.zeros(self.count, dtype=row, device=device)
        self.compound_moments = wp.zeros(model.chunks, dtype=row, device=device)
        self.compound_centre, self.compound_velocity = (
            wp.zeros(self.count, dtype=n.wide, device=device) for _ in range(2)
        )
        self.compound_spin = wp.zeros(self.count, dtype=rigid_part.kernels(n).twist, device=device)
        self.world_glued, self.world_points = owner.count // model.worlds, owner.points // model.worlds
        self.launch = implicit.launch.extended(owner, self)

    def repay(self) -> None:
        """What momentum and angular momentum of each compound are owed."""
        if not self.count:
            return
        launch = self.launch
        launch.blocks(self.kernels.sum_compound, self.model.chunks, self.model.block_size)
        launch(self.kernels.add_glued, self.model.worlds)
        launch(self.kernels.find_owed, self.count)
        launch(self.kernels.repay_points, self.total)
        launch(self.kernels.repay_rigids, len(self.rigid_compound))


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """sum_compound, add_glued, find_owed, then repay_points and repay_rigids."""
    real, vec, dim, wide = n.real, n.vec, n.dim, n.wide
    part, force = rigid_part.kernels(n), glue_forces.kernels(n)
    row, twist, moment, put, get, second = part.row, part.twist, part.moment, part.put, part.get, part.second
    inertia_about, spin_of, swing = part.inertia_about, part.spin_of, part.swing
    put_vector, get_vector, total_of = part.put_vector, part.get_vector, part.total_of
    motion, inertia, twist_of = force.motion, force.inertia, force.twist_of
    full = part.inertia

    if dim == 2:

        @wp.func
        def own_inertia(inverse: inertia) -> full:
            return wp.float64(1.0) / wp.float64(inverse)

        @wp.func
        def with_spin(s: motion, turn: twist) -> motion:
            out = s
            out[2] = out[2] + turn
            return out

    else:

        @wp.func
        def own_inertia(inverse: inertia) -> full:
            return wp.inverse(full(inverse))

        @wp.func
        def with_spin(s: motion, turn: twist) -> motion:
            out = s
            for k in range(3):
                out[3 + k] = out[3 + k] + turn[k]
            return out

    @n.kernel(__name__)
    def sum_compound(
        chunk_body: wp.array(dtype=int),
        chunk_start: wp.array(dtype=int),
        reference: wp.array(dtype=int),
        x: wp.array(dtype=vec),
        v: wp.array(dtype=vec),
        v_start: wp.array(dtype=vec),
        force: wp.array(dtype=vec),
        contact_force: wp.array(dtype=vec),
        wall_force_now: wp.array(dtype=vec),
        mass: wp.array(dtype=real),
        inverse_mass: wp.array(dtype=real),
        body_gravity: wp.array(dtype=vec),
        drag: wp.array(dtype=real),
        decay: wp.array(dtype=real),
        dt: wp.array(dtype=real),
        compound_moments: wp.array(dtype=row),
    ):
        """Of the free points of a chunk about the body's first point: masses, what is owed; [16]: forces of walls."""
        chunk, lane = wp.tid()
        b = chunk_body[chunk]
        origin = wide(x[reference[b]])
        h = wp.float64(dt[0])
        slowing = drag[b] + decay[b]
        sums = row()
        for q in range(chunk_start[chunk] + lane, chunk_start[chunk + 1], wp.block_dim()):
            i = at(q)
            if inverse_mass[i] > real(0.0):
                m = wp.float64(mass[i])
                r = wide(x[i]) - origin
                outside = mass[i] * (body_gravity[b] - slowing * v[i])
                f = h * wide(force[i] - outside)
                rest = h * wide(contact_force[i] + outside) - m * (wide(v[i]) - wide(v_start[i]))
                sums[0] = sums[0] + m
                sums = put_vector(sums, 1, m * r)
                sums = put_vector(sums, 4, f + rest)
                sums = put(sums, 7, moment(r + h * wide(v[i]), f) + moment(r, rest))
                sums = second(sums, m, r)
                sums[16] = sums[16] + wp.float64(wp.length(wall_force_now[i]))
        whole = total_of(sums, lane)
        if lane == 0:
            compound_moments[chunk] = whole

    @wp.func
    def shifted(sums: row, to: wide) -> row:
        """The same about a place that is `to` behind: owed moments, first and second moments."""
        m = sums[0]
        first = get_vector(sums, 1)
        owed = get_vector(sums, 4)
        out = row()
        out[0] = m
        out[16] = sums[16]
        out = put_vector(out, 1, first + m * to)
        out = put_vector(out, 4, owed)
        out = put(out, 7, get(sums, 7) + moment(to, owed))
        for k in range(6):
            out[10 + k] = sums[10 + k]
        if wp.static(dim == 2):
            out[10] = out[10] + wp.float64(2.0) * wp.dot(to, first) + m * wp.dot(to, to)
        else:
            for k in range(3):
                j = (k + 1) % 3
                out[10 + k] = out[10 + k] + wp.float64(2.0) * to[k] * first[k] + m * to[k] * to[k]
                out[13 + k] = out[13 + k] + to[k] * first[j] + to[j] * first[k] + m * to[k] * to[j]
        return out

    @n.kernel(__name__)
    def add_glued(
        world_glued: int,
        glued_vertex: wp.array(dtype=int),
        glued_force: wp.array(dtype=vec),
        body: wp.array(dtype=int),
        reference: wp.array(dtype=int),
        chunk_first: wp.array(dtype=int),
        x: wp.array(dtype=vec),
        at_x: wp.array(dtype=vec),
        dt: wp.array(dtype=real),
        compound_moments: wp.array(dtype=row),
    ):
        """The forces on glued points, where they end: the body's other half of them is what free points have got."""
        h = wp.float64(dt[0])
        w = wp.tid()
        for g in range(w * world_glued, (w + 1) * world_glued):
            i = glued_vertex[g]
            b = body[i]
            f = h * wide(glued_force[g])
            origin = wide(x[reference[b]])
            sums = compound_moments[chunk_first[b]]
            sums = put_vector(sums, 4, f)
            sums = put(sums, 7, moment(wide(at_x[i]) - origin, f))
            compound_moments[chunk_first[b]] = sums

    @n.kernel(__name__)
    def find_owed(
        per_world: int,
        world_bodies: int,
        world_rigids: int,
        world_points: int,
        soft_compound: wp.array(dtype=int),
        rigid_compound: wp.array(dtype=int),
        chunk_first: wp.array(dtype=int),
        reference: wp.array(dtype=int),
        x: wp.array(dtype=vec),
        compound_moments: wp.array(dtype=row),
        rigid_x: wp.array(dtype=vec),
        rigid_inverse_mass: wp.array(dtype=real),
        rigid_world_inertia: wp.array(dtype=inertia),
        local_body: wp.array(dtype=int),
        rigid_wall_force_now: wp.array(dtype=vec),
        glue_contact: wp.array(dtype=motion),
        glue_free: wp.array(dtype=motion),
        glue_v: wp.array(dtype=motion),
        dt: wp.array(dtype=real),
        compound_centre: wp.array(dtype=wide),
        compound_velocity: wp.array(dtype=wide),
        compound_spin: wp.array(dtype=twist),
    ):
        """The rigid motion that gives it back; none where walls press."""
        c = wp.tid()
        w = c // per_world
        h = wp.float64(dt[0])
        origin = wide()
        known = bool(False)  # noqa: UP018
        sums = row()
        about = full(wp.float64(0.0))
        for b in range(w * world_bodies, (w + 1) * world_bodies):
            if soft_compound[b] == c:
                here = wide(x[reference[b]])
                if not known:
                    origin = here
                    known = True
                mine = row()
                for chunk in range(chunk_first[b], chunk_first[b + 1]):
                    mine += compound_moments[chunk]
                sums += shifted(mine, here - origin)
        for r in range(w * world_rigids, (w + 1) * world_rigids):
            if rigid_compound[r] == c:
                m = wp.float64(1.0) / wp.float64(rigid_inverse_mass[r])
                arm = wide(rigid_x[r]) - origin
                gained = glue_v[r] - glue_free[r]
                owed = wide()
                for k in range(wp.static(dim)):
                    owed[k] = h * glue_contact[r][k] - m * gained[k]
                own = own_inertia(rigid_world_inertia[r])
                turned = h * twist_of(glue_contact[r]) - own * twist_of(gained)
                sums[0] = sums[0] + m
                sums = put_vector(sums, 1, m * arm)
                sums = put_vector(sums, 4, owed)
                sums = put(sums, 7, moment(arm, owed) + turned)
                sums = second(sums, m, arm)
                about += own
        for p in range(w * world_points, (w + 1) * world_points):
            if rigid_compound[local_body[p]] == c:
                sums[16] = sums[16] + wp.float64(wp.length(rigid_wall_force_now[p]))
        centre = get_vector(sums, 1) / sums[0]
        owed = get_vector(sums, 4)
        turning = get(sums, 7) - moment(centre, owed)
        if sums[16] > wp.float64(0.0):
            owed = wide()
            turning = twist(wp.float64(0.0))
        compound_centre[c] = origin + centre
        compound_velocity[c] = owed / sums[0]
        compound_spin[c] = spin_of(inertia_about(sums, centre) + about, turning)

    @n.kernel(__name__)
    def repay_points(
        x: wp.array(dtype=vec),
        v: wp.array(dtype=vec),
        body: wp.array(dtype=int),
        inverse_mass: wp.array(dtype=real),
        soft_compound: wp.array(dtype=int),
        compound_centre: wp.array(dtype=wide),
        compound_velocity: wp.array(dtype=wide),
        compound_spin: wp.array(dtype=twist),
    ):
        """To free points."""
        i = at(wp.tid())
        c = soft_compound[at(body[i])]
        if c >= 0 and inverse_mass[i] > real(0.0):
            v[i] = v[i] + vec(compound_velocity[c] + swing(compound_spin[c], wide(x[i]) - compound_centre[c]))

    @n.kernel(__name__)
    def repay_rigids(
        rigid_compound: wp.array(dtype=int),
        rigid_x: wp.array(dtype=vec),
        compound_centre: wp.array(dtype=wide),
        compound_velocity: wp.array(dtype=wide),
        compound_spin: wp.array(dtype=twist),
        glue_v: wp.array(dtype=motion),
    ):
        """To rigid bodies."""
        r = wp.tid()
        c = rigid_compound[r]
        if c >= 0:
            s = glue_v[r]
            more = compound_velocity[c] + swing(compound_spin[c], wide(rigid_x[r]) - compound_centre[c])
            for k in range(wp.static(dim)):
                s[k] = s[k] + more[k]
            glue_v[r] = with_spin(s, compound_spin[c])

    return SimpleNamespace(
        sum_compound=sum_compound, add_glued=add_glued, find_owed=find_owed, repay_points=repay_points,
        repay_rigids=repay_rigids,
    )  # fmt: skip
