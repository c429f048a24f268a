"""From candidates to contacts: where two features are closest, along which normal, and what must hold there (X1).

A pair of features counts where it is a true closest pair of the two surfaces (`geometry/ownership.py`). Normals follow
the gap, which is never zero: bodies keep their skins apart, half of them at rest, and what lies between half and the
whole is used up gently. Where nearly all is used up, some is given back, by a slow velocity: a displacement beside the
velocity would change the angular momentum of what slides, by Σ m δ × v.
"""

import functools
from types import SimpleNamespace
from typing import Any, no_type_check

import numpy as np
import numpy.typing as npt
import warp as wp

from turgor.contact import materials
from turgor.contact.features.launch import CONSTRAINTS, WORLD_ROWS, FeatureLauncher, started_with
from turgor.contact.features.search.candidates import URGENT
from turgor.contact.features.solve import sides
from turgor.contact.features.solve.world_rows import WorldRows
from turgor.contact.geometry import ownership
from turgor.contact.geometry.advancement import VERTEX_FACE
from turgor.contact.materials import BOUNCE
from turgor.kernel import structs
from turgor.kernel.board import LINE
from turgor.kernel.launch import begin_of
from turgor.kernel.numbers import Numbers, at
from turgor.model.model import Model
from turgor.model.surfaces import Surfaces

__all__ = ["ContactConstraints", "kernels"]

REST = 0.5  # share of the skins that is left between bodies at rest
CLOSING = 0.8  # share of the distance to it that a substep may use
SLACK = 0.5  # contacts are made if the gap will be less than 1 + SLACK times the thickness
DEEP = 0.2  # share of the skins below which the gap is given back
REMOVAL = 0.02  # s: time in which it is
RESIDENT = 512  # threads of make_constraints that are to find room on a GPU's multiprocessor
STICKING = 100.0  # friction of contacts that had to be stopped


class ContactConstraints:
    """The contacts of a substep."""

    def __init__(self, model: Model, surfaces: Surfaces, launch: FeatureLauncher) -> None:
        self.numbers, self.kernels = model.numbers, kernels(model.numbers, launch.parallel)
        self.by_world = WorldRows(model, launch)
        self.counts = launch.zeros(2 + self.by_world.worlds, wp.int32)
        self.count, self.awake_count = self.counts[:1], self.counts[1:2]  # contacts; candidates that are awake
        self.world_count = self.counts[2:] if self.by_world.worlds else launch.zeros(0, wp.int32)  # contacts of each
        self.part_counts = launch.zeros(LINE * launch.threads, wp.int32)  # of each thread, a cache line apart
        self.capacity = started_with(1, surfaces.point_count)
        self.surface = launch.struct(self.kernels.Faces)
        self.launch = launch.extended(self)
        self.allocate()

    def allocate(self) -> None:
        """Arrays of the present capacity."""
        self.constraints = structs.zeros(self.kernels.Constraints, self.capacity, self.launch.device, count=self.count)
        self.by_world.allocate()
        self.world_rows, self.rows_per_world = self.by_world.rows, self.by_world.capacity

    def make(self) -> None:
        """From the candidates that are awake."""
        self.counts.zero_()
        if self.launch.parallel:
            self.launch.walk(self.kernels.find_awake, over="candidates")
        if self.launch.sharing == 1:
            self.launch.walk(self.kernels.make_constraints, found=self.count)
        else:
            self.part_counts.zero_()
            self.launch.walk_parts(self.kernels.make_constraints, found=self.part_counts)
            self.launch(self.kernels.join_parts, 1, parts=self.launch.sharing)

    def found(self, pairs: npt.NDArray[Any]) -> dict[str, npt.NDArray[Any]]:
        """The contacts that carry an impulse; pairs: of bodies."""
        c, count = self.constraints, min(int(self.count.numpy()[0]), self.capacity)
        active = c.impulse.numpy()[:count] > 0.0

        def of(array: Any) -> npt.NDArray[np.float64]:
            return np.asarray(array.numpy()[:count][active], np.float64)

        return {
            "pair": pairs[c.pair.numpy()[:count]][active],
            "point": of(c.place),
            "normal": of(c.normal),
            "depth": of(c.thickness) - of(c.gap),
            "impulse": of(c.impulse),
            "friction": of(c.friction_impulse),
            "first_points": c.first.numpy()[:count][active],
            "first_weights": of(c.first_weight),
            "second_points": c.second.numpy()[:count][active],
            "second_weights": of(c.second_weight),
        }


@functools.cache
@no_type_check
def kernels(n: Numbers, parallel: bool) -> SimpleNamespace:
    """Struct `Constraints` and the kernel make_constraints."""
    real, vec, dim = n.real, n.vec, n.dim
    variant = f"{__name__}{'_parallel' if parallel else ''}"
    side = sides.kernels(n, parallel)
    inertia, Dynamics = side.inertia, side.Dynamics
    relative_velocity, side_mobility, load_side = side.relative_velocity, side.side_mobility, side.load_side
    inertia_of_points = side.inertia_of_points
    owner = ownership.kernels(n)
    closest_to_face, closest_of_edges, corners = owner.closest_to_face, owner.closest_of_edges, owner.corners
    Faces, is_owned, are_ridges = owner.Faces, owner.is_owned, owner.are_ridges
    pair_friction, shared_restitution = materials.kernels(n).pair_friction, materials.kernels(n).shared_restitution

    @wp.struct
    class Constraints:
        """Contacts of this substep. A side has points (at most three, with weights) or a rigid body, and a place."""

        count: wp.array(dtype=int)
        pair: wp.array(dtype=int)
        candidate: wp.array(dtype=int)
        first: wp.array(dtype=wp.vec3i)  # points of the first side
        second: wp.array(dtype=wp.vec3i)
        first_weight: wp.array(dtype=vec)
        second_weight: wp.array(dtype=vec)
        rigids: wp.array(dtype=wp.vec2i)  # rigid body of each side, or -1
        place: wp.array(dtype=vec)  # m: where impulses act on rigid bodies
        normal: wp.array(dtype=vec)  # from the second side to the first
        gap: wp.array(dtype=real)  # m
        thickness: wp.array(dtype=real)  # m
        min_speed: wp.array(dtype=real)  # m/s: least normal velocity allowed
        bounces: wp.array(dtype=int)  # whether that is one of a bounce
        effective_mass: wp.array(dtype=real)  # kg: along the normal
        friction: wp.array(dtype=real)
        centre: wp.array(dtype=vec)  # m: centre of mass of the soft points
        inverse_inertia: wp.array(dtype=inertia)  # of the soft points about it; zero where not needed
        impulse: wp.array(dtype=real)  # N s along the normal
        friction_impulse: wp.array(dtype=vec)  # N s across it

    @wp.func
    def own_or(soft: int, rigid: int, of_soft: wp.array(dtype=real), of_rigid: wp.array(dtype=real)) -> real:
        if soft >= 0:
            return of_soft[soft]
        return of_rigid[rigid]

    @n.kernel(variant)
    def find_awake(
        overlapping: wp.array(dtype=int),
        pair_travel_end: wp.array(dtype=real),
        candidate_count: wp.array(dtype=int),
        candidates: wp.array(dtype=wp.vec4i),
        wake_travel: wp.array(dtype=real),
        warm_force: wp.array(dtype=real),
        chosen: wp.array(dtype=int),
        awake_count: wp.array(dtype=int),
        stride: int,
    ):
        """On a GPU the few that are awake are listed first: no thread waits for its neighbours."""
        for c in range(wp.tid(), wp.min(candidate_count[0], candidates.shape[0]), stride):
            pair = at(candidates[at(c)][0])
            if wake_travel[at(c)] <= pair_travel_end[pair] and overlapping[pair] == 0:
                chosen[at(wp.atomic_add(awake_count, 0, 1))] = c
            elif warm_force[at(c)] != real(0.0):
                warm_force[at(c)] = real(0.0)

    @functools.partial(n.kernel(variant), launch_bounds=(256, RESIDENT // 256))
    def make_constraints(
        dynamics: Dynamics,
        constraints: Constraints,
        rest: wp.array(dtype=vec),
        point_body: wp.array(dtype=int),
        surface: Faces,
        edges: wp.array(dtype=wp.vec4i),
        soft_index: wp.array(dtype=int),
        rigid_index: wp.array(dtype=int),
        thickness: wp.array(dtype=real),
        rigid_radius: wp.array(dtype=real),
        soft_friction: wp.array(dtype=real),
        rigid_friction: wp.array(dtype=real),
        soft_restitution: wp.array(dtype=real),
        rigid_restitution: wp.array(dtype=real),
        dt: wp.array(dtype=real),
        pairs: wp.array(dtype=wp.vec2i),
        overlapping: wp.array(dtype=int),
        pair_travel: wp.array(dtype=real),
        pair_travel_end: wp.array(dtype=real),
        candidate_count: wp.array(dtype=int),
        candidates: wp.array(dtype=wp.vec4i),
        wake_travel: wp.array(dtype=real),
        warm_force: wp.array(dtype=real),
        chosen: wp.array(dtype=int),
        awake_count: wp.array(dtype=int),
        overflow: wp.array(dtype=int),
        world: wp.array(dtype=int),
        world_count: wp.array(dtype=int),
        world_rows: wp.array(dtype=int),
        rows_per_world: int,
        found: wp.array(dtype=int),  # contacts of each part of the candidates
        stride: int,
        part: int,
        parts: int,
    ):
        """The contacts of this substep among the candidates that are awake."""
        h = dt[0]
        count = wp.min(candidate_count[0], candidates.shape[0])
        if wp.static(parallel):
            count = awake_count[0]
        start = begin_of(part, parts, constraints.pair.shape[0])  # of the rows of this part
        rows = begin_of(part + 1, parts, constraints.pair.shape[0]) - start
        for t in range(begin_of(part, parts, count) + wp.tid(), begin_of(part + 1, parts, count), stride):
            c = t
            if wp.static(parallel):
                c = chosen[at(t)]
            candidate = candidates[at(c)]
            pair = at(candidate[0])
            old = warm_force[at(c)]
            if old != real(0.0):
                warm_force[at(c)] = real(0.0)
            if wake_travel[at(c)] <= pair_travel_end[pair] and overlapping[pair] == 0:
                ids = pairs[pair]
                ahead = pair_travel_end[pair] - pair_travel[pair]
                urgent = wake_travel[at(c)] < real(0.5 * URGENT)
                skin = thickness[at(ids[0])] + thickness[at(ids[1])]
                first = wp.vec3i()
                second = wp.vec3i()
                w = vec()
                u = vec()
                gap = vec()
                a = at(ids[0])
                b = at(ids[1])
                if candidate[3] == VERTEX_FACE:
                    i = at(candidate[1])
                    f = surface.faces[at(candidate[2])]
                    u, gap = closest_to_face(dynamics.points[i], f, dynamics.points)
                    w[0] = real(1.0)
                    first = wp.vec3i(i, i, i)
                    second = corners(f)
                    if point_body[i] != a:
                        b = a
                        a = at(ids[1])
                else:
                    first, second, w, u, gap = closest_of_edges(
                        edges[at(candidate[1])], edges[at(candidate[2])], dynamics.points
                    )
                distance = wp.length(gap)
                if a == b:  # a fine mesh may be nearer to itself than its skin: what is so at rest is no contact
                    between = vec()
                    for k in range(dim):
                        between += w[k] * rest[at(first[k])] - u[k] * rest[at(second[k])]
                    skin = wp.min(skin, real(0.5) * wp.length(between))
                wake_travel[at(c)] = pair_travel[pair] + distance - skin
                counts = distance - skin <= ahead and distance > real(0.0)
                if counts and not urgent:  # by shape first: of the edges within reach, one in ten is a ridge
                    if candidate[3] == VERTEX_FACE:
                        counts = is_owned(u, gap, at(candidate[2]), surface, dynamics.points)
                    else:
                        counts = are_ridges(
                            edges[at(candidate[1])], edges[at(candidate[2])], w, u, gap, dynamics.points
                        )
                if counts:
                    rigids = wp.vec2i(rigid_index[a], rigid_index[b])
                    round_off = real(0.0)
                    if rigids[0] >= 0:
                        round_off = rigid_radius[rigids[0]]
                    if rigids[1] >= 0:
                        round_off = rigid_radius[rigids[1]]
                    skin -= round_off
                    clear = distance - round_off  # m, between the surfaces
                    place = vec()  # on the soft side, so that nothing is left of the moment of friction
                    if rigids[0] < 0:
                        for k in range(dim):
                            place += w[k] * dynamics.points[at(first[k])]
                    else:
                        for k in range(dim):
                            place += u[k] * dynamics.points[at(second[k])]
                    normal = gap / distance
                    relative = relative_velocity(dynamics, rigids, place, first, w, second, u)
                    speed = wp.dot(relative, normal)
                    inverse_mass = real(0.0)
                    counts = urgent or clear + h * speed < real(1.0 + SLACK) * skin
                    if counts:
                        inverse_mass = side_mobility(dynamics, rigids[0], place, normal, first, w)
                        inverse_mass += side_mobility(dynamics, rigids[1], place, -normal, second, u)
                    if inverse_mass > real(0.0):
                        slot = wp.atomic_add(found, part * LINE, 1)
                        if slot < rows:
                            row = at(start + slot)
                            constraints.pair[row] = pair
                            constraints.candidate[row] = c
                            constraints.first[row] = first
                            constraints.second[row] = second
                            constraints.first_weight[row] = w
                            constraints.second_weight[row] = u
                            constraints.rigids[row] = rigids
                            constraints.place[row] = place
                            constraints.normal[row] = normal
                            constraints.gap[row] = clear
                            constraints.thickness[row] = skin
                            constraints.effective_mass[row] = real(1.0) / inverse_mass
                            constraints.impulse[row] = h * old
                            constraints.friction_impulse[row] = vec()
                            constraints.friction[row] = pair_friction(
                                own_or(soft_index[a], rigids[0], soft_friction, rigid_friction),
                                own_or(soft_index[b], rigids[1], soft_friction, rigid_friction),
                            )
                            bounce = shared_restitution(
                                own_or(soft_index[a], rigids[0], soft_restitution, rigid_restitution),
                                own_or(soft_index[b], rigids[1], soft_restitution, rigid_restitution),
                            )
                            rested = real(REST) * skin
                            min_speed = real(0.0)
                            if clear > rested:
                                min_speed = -real(CLOSING) * (clear - rested) / h
                            elif clear < real(DEEP) * skin:
                                missing = real(DEEP) * skin - clear
                                min_speed = wp.min(missing / real(REMOVAL), real(0.2) * missing / h)
                            constraints.bounces[row] = 0
                            if speed < min_speed and speed < -real(BOUNCE) and bounce > real(0.0):
                                min_speed = wp.max(min_speed, -bounce * speed)
                                constraints.bounces[row] = 1
                            if urgent:  # it had to be stopped: no more approach, and no slip
                                min_speed = wp.max(min_speed, real(0.0))
                                constraints.friction[row] = real(STICKING)
                            constraints.min_speed[row] = min_speed
                            # soft points that take back the moment of friction
                            constraints.inverse_inertia[row] = inertia(real(0.0))
                            if rigids[0] < 0 and rigids[1] < 0:
                                centre, inverse_inertia = inertia_of_points(dynamics, first, second)
                                constraints.centre[row] = centre
                                constraints.inverse_inertia[row] = inverse_inertia
                            if parts == 1:  # else when the parts are joined, as threads may share points
                                load_side(dynamics, rigids[0], first, w)
                                load_side(dynamics, rigids[1], second, u)
                            if wp.static(parallel):
                                if world_rows.shape[0] > 0:
                                    w0 = at(world[a])
                                    place_there = wp.atomic_add(world_count, w0, 1)
                                    if place_there < rows_per_world:
                                        world_rows[at(w0 * rows_per_world + place_there)] = row
                                    else:
                                        overflow[0] = 1
                                        wp.atomic_max(overflow, WORLD_ROWS, place_there + 1)
                        else:
                            overflow[0] = 1
                            wp.atomic_max(overflow, CONSTRAINTS, parts * (slot + 1))

    @wp.func
    def move_row(constraints: Constraints, row: int, to: int):
        constraints.pair[to] = constraints.pair[row]
        constraints.candidate[to] = constraints.candidate[row]
        constraints.first[to] = constraints.first[row]
        constraints.second[to] = constraints.second[row]
        constraints.first_weight[to] = constraints.first_weight[row]
        constraints.second_weight[to] = constraints.second_weight[row]
        constraints.rigids[to] = constraints.rigids[row]
        constraints.place[to] = constraints.place[row]
        constraints.normal[to] = constraints.normal[row]
        constraints.gap[to] = constraints.gap[row]
        constraints.thickness[to] = constraints.thickness[row]
        constraints.min_speed[to] = constraints.min_speed[row]
        constraints.bounces[to] = constraints.bounces[row]
        constraints.effective_mass[to] = constraints.effective_mass[row]
        constraints.friction[to] = constraints.friction[row]
        constraints.centre[to] = constraints.centre[row]
        constraints.inverse_inertia[to] = constraints.inverse_inertia[row]
        constraints.impulse[to] = constraints.impulse[row]
        constraints.friction_impulse[to] = constraints.friction_impulse[row]

    @n.kernel(variant)
    def join_parts(dynamics: Dynamics, constraints: Constraints, part_counts: wp.array(dtype=int), parts: int):
        """The rows of all parts one behind the other: in the order of one thread."""
        total = int(0)  # noqa: RUF046, UP018
        for part in range(parts):
            start = begin_of(part, parts, constraints.pair.shape[0])
            rows = begin_of(part + 1, parts, constraints.pair.shape[0]) - start
            for k in range(wp.min(part_counts[part * LINE], rows)):
                row = at(total)
                if part > 0:
                    move_row(constraints, at(start + k), row)
                rigids = constraints.rigids[row]
                load_side(dynamics, rigids[0], constraints.first[row], constraints.first_weight[row])
                load_side(dynamics, rigids[1], constraints.second[row], constraints.second_weight[row])
                total += 1
        constraints.count[0] = total

    return SimpleNamespace(
        Constraints=Constraints,
        Faces=Faces,
        find_awake=find_awake,
        make_constraints=make_constraints,
        join_parts=join_parts,
    )
