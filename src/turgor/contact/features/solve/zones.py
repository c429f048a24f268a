"""Impact zones: what impulses cannot keep apart moves on together, as one rigid body, for this substep.

After Provot 1997 and Bridson et al. 2002. The points and rigid bodies of features that would still pass through each
other are joined; what belongs together is found by union and find, so it does not depend on the order of threads. A
zone keeps the momentum and the angular momentum of its members: with r and v about its centre, Σ m v = M V and
Σ m r × v = I Ω. Its members move along straight lines, x + h (V + Ω × r). That is a linear map of the zone which only
stretches: no two of them come closer. Zones grow until nothing passes through anything.

A zone with a pinned point or a body of infinite mass goes where that one goes; one that would enter a wall is stopped
by it, along the wall's normal: there the momentum goes to what stops it.

Sums are taken in integers, relative to the largest mass, distance and speed of a zone: none of its members adds more
than one, and the unit is as small as their number allows.
"""

import functools
from types import SimpleNamespace
from typing import Any, no_type_check

import numpy as np
import warp as wp

from turgor.contact import pair_sums
from turgor.contact.features.launch import FeatureLauncher
from turgor.contact.features.solve import sides
from turgor.kernel import structs
from turgor.kernel.numbers import Numbers, at, numbers
from turgor.model.model import Model
from turgor.model.surfaces import Surfaces
from turgor.rigid import impulse

__all__ = ["Zones", "kernels"]

RANGE = 2.0**60  # of sums
NOBODY = 0x7FFFFFFF
CORNER = 4  # passes over walls, for zones in corners
THIN = 1.0e-10  # of the cube of its trace: determinant of an inertia below which its points lie in a line


class Zones:
    """Who belongs to which zone. Nodes are soft points, then rigid bodies."""

    def __init__(self, model: Model, surfaces: Surfaces, launch: FeatureLauncher) -> None:
        n, zeros = model.numbers, launch.zeros
        soft, rigid = model.vertices * model.worlds, model.rigids.total
        self.rigid_body = model.int_array(np.flatnonzero(surfaces.rigid_index.numpy() >= 0))  # contact body of each
        self.kernels, self.has_walls = kernels(n, launch.parallel), model.walls.count > 0
        nodes, most = soft + rigid, (soft + rigid) // 2 + 1  # a zone has at least two members
        self.zone_count, self.member_count = zeros(1, wp.int32), zeros(1, wp.int32)
        sizes = dict.fromkeys(("parent", "slot", "joined", "members"), nodes)
        self.zones = structs.zeros(
            self.kernels.Zones, most, launch.device, count=self.zone_count, member_count=self.member_count,
            sums=most * self.kernels.terms, depth=most * model.walls.count, **sizes,
        )  # fmt: skip
        self.zones.parent.fill_(-1)
        self.launch = launch.extended(self)

    def move(self, table: Any) -> None:
        """Those that have grown in this round get their common motion; table: of impulses per pair of bodies."""
        walk, k = self.launch.walk, self.kernels
        self.zone_count.zero_()
        walk(k.number_zones)
        walk(k.measure_zones)
        walk(k.sum_zones)
        walk(k.solve_zones)
        if self.has_walls:
            walk(k.meet_walls)
            walk(k.leave_walls)
        walk(k.move_members, table=table)

    def dissolve(self) -> None:
        """The displacements of members are what their velocities ask for; then there are no zones."""
        self.launch.walk(self.kernels.dissolve)
        self.member_count.zero_()


@functools.cache
@no_type_check
def kernels(n: Numbers, parallel: bool) -> SimpleNamespace:
    """Struct `Zones`, functions join and is_together, and the kernels in the order of a round; dissolve at the end."""
    real, vec, spin_type, dim = n.real, n.vec, n.spin, n.dim
    variant = f"{__name__}{'_parallel' if parallel else ''}"
    exact = numbers(dim, "double")
    vec_d, spin_d, push = exact.vec, exact.spin, impulse.kernels(exact)
    cross, swing, turn_by, inertia = push.cross, push.swing, push.turn_by, push.inertia
    Dynamics, moment_of = sides.kernels(n, parallel).Dynamics, impulse.kernels(n).cross
    sums = pair_sums.kernels(n)
    Table, add_to_pair = sums.Table, sums.add_to_pair
    turns, moments = (1, 1) if dim == 2 else (3, 6)
    terms = 1 + 2 * dim + turns + moments  # of the sums: mass, place, velocity, angular momentum, inertia

    @wp.struct
    class Zones:
        """Members, by node; and zones, by slot."""

        parent: wp.array(dtype=int)  # node: towards the least node of the zone; -1: in none
        slot: wp.array(dtype=int)  # of the zone, at its least node
        joined: wp.array(dtype=int)  # node: round in which it was joined last
        members: wp.array(dtype=int)
        member_count: wp.array(dtype=int)
        count: wp.array(dtype=int)
        grown: wp.array(dtype=int)  # round
        anchor: wp.array(dtype=int)  # least node of infinite mass, or NOBODY
        root: wp.array(dtype=int)  # least node
        many: wp.array(dtype=int)  # members
        mass: wp.array(dtype=real)  # largest of a member, kg
        size: wp.array(dtype=real)  # largest distance from the root, m
        speed: wp.array(dtype=real)  # largest relative to the root, m/s
        sums: wp.array(dtype=wp.int64)
        centre: wp.array(dtype=vec_d)  # m, from the root
        velocity: wp.array(dtype=vec_d)  # m/s, of the centre, relative to the root's
        spin: wp.array(dtype=spin_d)  # rad/s
        root_velocity: wp.array(dtype=vec)  # m/s, before the zone moves
        depth: wp.array(dtype=real)  # m, per wall: of the deepest point

    # who belongs together -------------------------------------------------------------------------------------------

    @wp.func
    def parent_of(parent: wp.array(dtype=int), node: int) -> int:
        """As other threads have left it: a plain read may see what this processor has in its cache."""
        if wp.static(parallel):
            return wp.atomic_add(parent, node, 0)
        return parent[at(node)]

    @wp.func
    def root_of(parent: wp.array(dtype=int), node: int) -> int:
        up = node
        above = parent_of(parent, up)
        while above != up:
            up = above
            above = parent_of(parent, up)
        return up

    @wp.func
    def enter(zones: Zones, node: int, turn: int):
        """Make a node a member."""
        if wp.atomic_cas(zones.parent, node, -1, node) == -1:
            zones.members[wp.atomic_add(zones.member_count, 0, 1)] = node
        zones.joined[at(node)] = turn

    @wp.func
    def join(zones: Zones, a: int, b: int):
        """Unite the zones of two members: the larger root hangs on the smaller one."""
        one = root_of(zones.parent, a)
        two = root_of(zones.parent, b)
        while one != two:
            high = wp.max(one, two)
            low = wp.min(one, two)
            if wp.atomic_cas(zones.parent, high, high, low) == high:
                one = low
                two = low
            else:  # another thread was faster
                one = root_of(zones.parent, high)
                two = root_of(zones.parent, low)

    @wp.func
    def is_together(zones: Zones, a: int, b: int) -> bool:
        """Whether two nodes are in one zone."""
        if parent_of(zones.parent, a) < 0 or parent_of(zones.parent, b) < 0:
            return False
        return root_of(zones.parent, a) == root_of(zones.parent, b)

    # nodes ----------------------------------------------------------------------------------------------------------

    @wp.func
    def node_place(dynamics: Dynamics, node: int) -> vec:
        soft = dynamics.soft_inverse_mass.shape[0]
        if node < soft:
            return dynamics.points[at(node)]
        return dynamics.rigid_x[node - soft]

    @wp.func
    def node_velocity(dynamics: Dynamics, node: int) -> vec:
        soft = dynamics.soft_inverse_mass.shape[0]
        if node < soft:
            return dynamics.point_v[at(node)]
        return dynamics.rigid_v[node - soft]

    @wp.func
    def node_inverse_mass(dynamics: Dynamics, node: int) -> real:
        soft = dynamics.soft_inverse_mass.shape[0]
        if node < soft:
            return dynamics.soft_inverse_mass[at(node)]
        return dynamics.rigid_inverse_mass[node - soft]

    # moments of mass ------------------------------------------------------------------------------------------------

    if dim == 2:

        @wp.func
        def as_exact(v: vec) -> vec_d:
            return vec_d(wp.float64(v[0]), wp.float64(v[1]))

        @wp.func
        def rounded(v: vec_d) -> vec:
            return vec(real(v[0]), real(v[1]))

        @wp.func
        def exact_spin(s: spin_type) -> spin_d:
            return wp.float64(s)

        @wp.func
        def rounded_spin(s: spin_d) -> spin_type:
            return real(s)

        @wp.func
        def own_inertia(dynamics: Dynamics, r: int) -> inertia:
            """Of a rigid body in world axes."""
            return wp.float64(1.0) / wp.float64(dynamics.rigid_world_inertia[r])

        @wp.func
        def largest_moment(i: inertia) -> wp.float64:
            return i

        @wp.func
        def turn_speed(spin: spin_type) -> real:
            return wp.abs(spin)

        @wp.func
        def about(r: vec_d) -> inertia:
            """Inertia of a unit mass."""
            return wp.dot(r, r)

        @wp.func
        def put(sums: wp.array(dtype=wp.int64), first: int, per_unit: wp.float64, momentum: spin_d, i: inertia):
            """Add an angular momentum and an inertia."""
            wp.atomic_add(sums, first, wp.int64(wp.round(momentum * per_unit)))
            wp.atomic_add(sums, first + 1, wp.int64(wp.round(i * per_unit)))

        @wp.func
        def momentum_sum(sums: wp.array(dtype=wp.int64), first: int, unit: wp.float64) -> spin_d:
            return wp.float64(sums[first]) * unit

        @wp.func
        def inertia_sum(sums: wp.array(dtype=wp.int64), first: int, unit: wp.float64) -> inertia:
            return wp.float64(sums[first + 1]) * unit

        @wp.func
        def spin_for(i: inertia, momentum: spin_d) -> spin_d:
            """The spin with an angular momentum."""
            if i <= wp.float64(0.0):
                return wp.float64(0.0)
            return momentum / i

    else:

        @wp.func
        def as_exact(v: vec) -> vec_d:
            return vec_d(wp.float64(v[0]), wp.float64(v[1]), wp.float64(v[2]))

        @wp.func
        def rounded(v: vec_d) -> vec:
            return vec(real(v[0]), real(v[1]), real(v[2]))

        @wp.func
        def exact_spin(s: spin_type) -> spin_d:
            return as_exact(s)

        @wp.func
        def rounded_spin(s: spin_d) -> spin_type:
            return rounded(s)

        @wp.func
        def own_inertia(dynamics: Dynamics, r: int) -> inertia:
            """Of a rigid body in world axes."""
            i = dynamics.rigid_world_inertia[r]
            out = inertia()
            for row in range(3):
                for column in range(3):
                    out[row, column] = wp.float64(i[row, column])
            return wp.inverse(out)

        @wp.func
        def largest_moment(i: inertia) -> wp.float64:
            """A bound of it."""
            return wp.trace(i)

        @wp.func
        def turn_speed(spin: spin_type) -> real:
            return wp.length(spin)

        @wp.func
        def about(r: vec_d) -> inertia:
            """Inertia of a unit mass."""
            return wp.dot(r, r) * wp.identity(3, dtype=wp.float64) - wp.outer(r, r)

        @wp.func
        def put(sums: wp.array(dtype=wp.int64), first: int, per_unit: wp.float64, momentum: spin_d, i: inertia):
            """Add an angular momentum and an inertia."""
            for k in range(3):
                wp.atomic_add(sums, first + k, wp.int64(wp.round(momentum[k] * per_unit)))
                wp.atomic_add(sums, first + 3 + k, wp.int64(wp.round(i[k, k] * per_unit)))
                wp.atomic_add(sums, first + 6 + k, wp.int64(wp.round(i[k, (k + 1) % 3] * per_unit)))

        @wp.func
        def momentum_sum(sums: wp.array(dtype=wp.int64), first: int, unit: wp.float64) -> spin_d:
            return unit * vec_d(wp.float64(sums[first]), wp.float64(sums[first + 1]), wp.float64(sums[first + 2]))

        @wp.func
        def inertia_sum(sums: wp.array(dtype=wp.int64), first: int, unit: wp.float64) -> inertia:
            out = inertia()
            for k in range(3):
                out[k, k] = wp.float64(sums[first + 3 + k]) * unit
                out[k, (k + 1) % 3] = wp.float64(sums[first + 6 + k]) * unit
                out[(k + 1) % 3, k] = wp.float64(sums[first + 6 + k]) * unit
            return out

        @wp.func
        def spin_for(i: inertia, momentum: spin_d) -> spin_d:
            """The spin with an angular momentum. Points in a line have none along it, and equal moments across it."""
            size = wp.trace(i)
            if not (size > wp.float64(0.0)):
                return spin_d()
            if wp.determinant(i) > wp.float64(THIN) * size * size * size:
                return wp.inverse(i) * momentum
            return (wp.float64(2.0) / size) * momentum

    @wp.func
    def scales(zones: Zones, s: int):
        """(m, m/s) of the sums of a zone."""
        length = wp.float64(zones.size[s])
        speed = wp.float64(zones.speed[s])
        if length <= wp.float64(0.0):
            length = wp.float64(1.0)
        if speed <= wp.float64(0.0):
            speed = wp.float64(1.0)
        return length, speed

    # a round --------------------------------------------------------------------------------------------------------

    @n.kernel(variant)
    def number_zones(zones: Zones, stride: int):
        """A slot for each zone; every member points at its root."""
        for m in range(wp.tid(), zones.member_count[0], stride):
            node = at(zones.members[at(m)])
            root = root_of(zones.parent, node)
            zones.parent[node] = root
            if root == node:
                s = at(wp.atomic_add(zones.count, 0, 1))
                zones.slot[node] = s
                zones.root[s] = node
                zones.grown[s] = 0
                zones.anchor[s] = NOBODY
                zones.many[s] = 0
                zones.mass[s] = real(0.0)
                zones.size[s] = real(0.0)
                zones.speed[s] = real(0.0)
                for t in range(terms):
                    zones.sums[s * terms + t] = wp.int64(0)

    @n.kernel(variant)
    def measure_zones(zones: Zones, dynamics: Dynamics, stride: int):
        """Whether a zone has grown, what holds it, and the scales of its sums."""
        for m in range(wp.tid(), zones.member_count[0], stride):
            node = at(zones.members[at(m)])
            root = at(zones.parent[node])
            s = zones.slot[root]
            wp.atomic_max(zones.grown, s, zones.joined[node])
            wp.atomic_add(zones.many, s, 1)
            inverse_mass = node_inverse_mass(dynamics, node)
            if inverse_mass > real(0.0):
                wp.atomic_max(zones.mass, s, real(1.0) / inverse_mass)
                apart = node_velocity(dynamics, node) - node_velocity(dynamics, root)
                size = wp.length(node_place(dynamics, node) - node_place(dynamics, root))
                speed = wp.length(apart)
                r = node - dynamics.soft_inverse_mass.shape[0]
                if r >= 0:  # at the radius of gyration
                    around = largest_moment(own_inertia(dynamics, r)) * wp.float64(inverse_mass)
                    size = wp.max(size, real(wp.sqrt(around)))
                    speed = wp.max(speed, size * turn_speed(dynamics.rigid_spin[r]))
                wp.atomic_max(zones.size, s, size)
                wp.atomic_max(zones.speed, s, speed)
            else:
                wp.atomic_min(zones.anchor, s, node)

    @n.kernel(variant)
    def sum_zones(zones: Zones, dynamics: Dynamics, rounds: wp.array(dtype=int), stride: int):
        """Mass, momentum and moments of the zones that have grown, about their roots."""
        for m in range(wp.tid(), zones.member_count[0], stride):
            node = at(zones.members[at(m)])
            root = at(zones.parent[node])
            s = at(zones.slot[root])
            inverse_mass = node_inverse_mass(dynamics, node)
            if zones.grown[s] == rounds[0] and zones.anchor[s] == NOBODY and inverse_mass > real(0.0):
                length, speed = scales(zones, s)
                per_unit = wp.float64(RANGE) / wp.float64(zones.many[s])
                mass = wp.float64(1.0) / (wp.float64(inverse_mass) * wp.float64(zones.mass[s]))
                r = as_exact(node_place(dynamics, node) - node_place(dynamics, root)) / length
                v = as_exact(node_velocity(dynamics, node) - node_velocity(dynamics, root)) / speed
                momentum = mass * cross(r, v)
                inertia_here = mass * about(r)
                body = node - dynamics.soft_inverse_mass.shape[0]
                if body >= 0:
                    per = wp.float64(1.0) / (wp.float64(zones.mass[s]) * length)
                    momentum += (per / speed) * exact_spin(dynamics.rigid_angular[body])
                    inertia_here += (per / length) * own_inertia(dynamics, body)
                first = s * terms
                wp.atomic_add(zones.sums, first, wp.int64(wp.round(mass * per_unit)))
                for d in range(dim):
                    wp.atomic_add(zones.sums, first + 1 + d, wp.int64(wp.round(mass * r[d] * per_unit)))
                    wp.atomic_add(
                        zones.sums, first + wp.static(1 + dim) + d, wp.int64(wp.round(mass * v[d] * per_unit))
                    )
                put(zones.sums, first + wp.static(1 + 2 * dim), per_unit, momentum, inertia_here)

    @n.kernel(variant)
    def solve_zones(
        zones: Zones, dynamics: Dynamics, rounds: wp.array(dtype=int), wall_normal: wp.array(dtype=vec), stride: int
    ):
        """The rigid motion of each zone that has grown, relative to its root."""
        walls = wall_normal.shape[0]
        for k in range(wp.tid(), zones.count[0], stride):
            s = at(k)
            if zones.grown[s] == rounds[0]:
                root = zones.root[s]
                anchor = zones.anchor[s]
                zones.root_velocity[s] = node_velocity(dynamics, root)
                if anchor == NOBODY:
                    length, speed = scales(zones, s)
                    unit = wp.float64(zones.many[s]) / wp.float64(RANGE)
                    first = s * terms
                    mass = wp.float64(zones.sums[first]) * unit
                    centre = vec_d()
                    velocity = vec_d()
                    for d in range(dim):
                        centre[d] = wp.float64(zones.sums[first + 1 + d]) * unit / mass
                        velocity[d] = wp.float64(zones.sums[first + wp.static(1 + dim) + d]) * unit / mass
                    momentum = momentum_sum(zones.sums, first + wp.static(1 + 2 * dim), unit) - mass * cross(
                        centre, velocity
                    )
                    around = inertia_sum(zones.sums, first + wp.static(1 + 2 * dim), unit) - mass * about(centre)
                    zones.centre[s] = length * centre
                    zones.velocity[s] = speed * velocity
                    zones.spin[s] = (speed / length) * spin_for(around, momentum)
                else:
                    zones.centre[s] = as_exact(node_place(dynamics, anchor) - node_place(dynamics, root))
                    zones.velocity[s] = as_exact(node_velocity(dynamics, anchor) - node_velocity(dynamics, root))
                    zones.spin[s] = spin_d(wp.float64(0.0))
                    body = anchor - dynamics.soft_inverse_mass.shape[0]
                    if body >= 0:
                        zones.spin[s] = exact_spin(dynamics.rigid_spin[body])
                for w in range(walls):
                    zones.depth[s * walls + w] = real(0.0)

    @wp.func
    def zone_velocity(zones: Zones, s: int, r: vec) -> vec:
        """Of a point at r from the root."""
        here = zones.velocity[s] + swing(zones.spin[s], as_exact(r) - zones.centre[s])
        return zones.root_velocity[s] + rounded(here)

    @n.kernel(variant)
    def meet_walls(
        zones: Zones,
        dynamics: Dynamics,
        rounds: wp.array(dtype=int),
        dt: wp.array(dtype=real),
        wall_normal: wp.array(dtype=vec),
        wall_point: wp.array(dtype=vec),
        stride: int,
    ):
        """How deep the soft points of a zone would enter each wall."""
        walls = wall_normal.shape[0]
        for m in range(wp.tid(), zones.member_count[0], stride):
            node = at(zones.members[at(m)])
            root = at(zones.parent[node])
            s = at(zones.slot[root])
            if zones.grown[s] == rounds[0] and zones.anchor[s] == NOBODY and node < dynamics.soft_inverse_mass.shape[0]:
                x = dynamics.points[node]
                there = x + dt[0] * zone_velocity(zones, s, x - node_place(dynamics, root))
                for w in range(walls):
                    deep = -wp.dot(there - wall_point[w], wall_normal[w])
                    if deep > real(0.0):
                        wp.atomic_max(zones.depth, s * walls + w, deep)

    @n.kernel(variant)
    def leave_walls(
        zones: Zones,
        rounds: wp.array(dtype=int),
        dt: wp.array(dtype=real),
        wall_normal: wp.array(dtype=vec),
        stride: int,
    ):
        """Walls stop zones: their deepest points end on the wall."""
        walls = wall_normal.shape[0]
        for k in range(wp.tid(), zones.count[0], stride):
            s = at(k)
            if zones.grown[s] == rounds[0]:
                out = vec()
                for _turn in range(CORNER):
                    for w in range(walls):
                        left = zones.depth[s * walls + w] - wp.dot(out, wall_normal[w])
                        if zones.depth[s * walls + w] > real(0.0) and left > real(0.0):
                            out += left * wall_normal[w]
                zones.velocity[s] = zones.velocity[s] + as_exact(out) / wp.float64(dt[0])

    @wp.func
    def drive(dynamics: Dynamics, anchor: int, node: int, lost: vec):
        """What a member loses goes to the body that holds its zone; for the ledger."""
        body = anchor - dynamics.soft_inverse_mass.shape[0]
        if anchor != NOBODY and body >= 0 and dynamics.rigid_driven_impulse.shape[0] > 0:
            p = lost / node_inverse_mass(dynamics, node)
            wp.atomic_add(dynamics.rigid_driven_impulse, body, p)
            arm = node_place(dynamics, node) - dynamics.rigid_x[body]
            wp.atomic_add(dynamics.rigid_driven_moment, body, moment_of(arm, p))

    @wp.func
    def body_of(dynamics: Dynamics, point_body: wp.array(dtype=int), rigid_body: wp.array(dtype=int), node: int) -> int:
        """Contact body of a node."""
        soft = dynamics.soft_inverse_mass.shape[0]
        if node < soft:
            return point_body[at(node)]
        return rigid_body[node - soft]

    @n.kernel(variant)
    def move_members(
        zones: Zones,
        dynamics: Dynamics,
        rounds: wp.array(dtype=int),
        dt: wp.array(dtype=real),
        move: wp.array(dtype=vec),
        rigid_size: wp.array(dtype=real),
        rigid_body: wp.array(dtype=int),
        point_body: wp.array(dtype=int),
        unmade_move: wp.array(dtype=real),
        rigid_push_move: wp.array(dtype=vec),
        rigid_push_turn: wp.array(dtype=spin_type),
        round_number: wp.array(dtype=int),
        stirred: wp.array(dtype=int),
        table: Table,
        stride: int,
    ):
        """Members take over the motion of their zone; and how far that leads from what was asked for.

        For readings, what a zone does to a body counts as done by the body that holds the zone or has its root: between
        two bodies, as most are, this is the force between them.
        """
        h = dt[0]
        for m in range(wp.tid(), zones.member_count[0], stride):
            node = at(zones.members[at(m)])
            root = at(zones.parent[node])
            s = at(zones.slot[root])
            if zones.grown[s] == rounds[0] and node_inverse_mass(dynamics, node) > real(0.0):
                v = zone_velocity(zones, s, node_place(dynamics, node) - node_place(dynamics, root))
                r = node - dynamics.soft_inverse_mass.shape[0]
                stirred[node] = round_number[0]
                if table.key.shape[0] > 0:
                    hub = wp.where(zones.anchor[s] == NOBODY, root, zones.anchor[s])
                    one = body_of(dynamics, point_body, rigid_body, node)
                    other = body_of(dynamics, point_body, rigid_body, hub)
                    if one != other:
                        changed = (v - node_velocity(dynamics, node)) / node_inverse_mass(dynamics, node)
                        add_to_pair(table, one, other, changed)
                if r < 0:
                    drive(dynamics, zones.anchor[s], node, dynamics.point_v[node] - v)
                    dynamics.point_v[node] = v
                    wp.atomic_max(unmade_move, point_body[node], wp.length(h * v - move[node]))
                else:
                    spin = rounded_spin(zones.spin[s])
                    drive(dynamics, zones.anchor[s], node, dynamics.rigid_v[r] - v)
                    apart = wp.length(h * (v - dynamics.rigid_v[r]) - rigid_push_move[r])
                    turned = turn_speed(h * (spin - dynamics.rigid_spin[r]) - rigid_push_turn[r])
                    wp.atomic_add(unmade_move, rigid_body[r], apart + turned * rigid_size[r])
                    dynamics.rigid_v[r] = v
                    dynamics.rigid_spin[r] = spin
                    dynamics.rigid_angular[r] = rounded_spin(turn_by(own_inertia(dynamics, r), zones.spin[s]))
                    rigid_push_move[r] = vec()
                    rigid_push_turn[r] = spin_type(real(0.0))

    @n.kernel(variant)
    def dissolve(
        zones: Zones, dt: wp.array(dtype=real), v_free: wp.array(dtype=vec), move: wp.array(dtype=vec), stride: int
    ):
        """Displacements that, when they follow the velocities, are those of the zones; members are free again."""
        for m in range(wp.tid(), zones.member_count[0], stride):
            node = at(zones.members[at(m)])
            zones.parent[node] = -1
            if node < move.shape[0]:
                move[node] = dt[0] * v_free[node]

    return SimpleNamespace(
        Zones=Zones,
        terms=terms,
        enter=enter,
        join=join,
        is_together=is_together,
        number_zones=number_zones,
        measure_zones=measure_zones,
        sum_zones=sum_zones,
        solve_zones=solve_zones,
        meet_walls=meet_walls,
        leave_walls=leave_walls,
        move_members=move_members,
        dissolve=dissolve,
    )
