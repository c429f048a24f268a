"""Bodies that start inside each other: found once, then separated along the short way out, gently and rigidly.

The other stages keep surfaces from crossing; they cannot say which side is right once surfaces have crossed. So pairs
of closed bodies whose surfaces cross when a scene starts (or after positions were set by hand) are put on a list. While
a pair is on it, its features do not touch. Every frame the points of one that are inside the other give the short way
out (from each to the nearest surface, summed). Along it an impulse gives the bodies a speed that separates them in
about a quarter of a second; its moment is taken back by turning both. When nothing crosses and nothing is inside, that
speed is taken from them again, and the pair leaves the list. A body wholly inside another from the start is not on it:
a ball may live in a balloon.
"""

import functools
from types import SimpleNamespace
from typing import Any, no_type_check

import numpy as np
import warp as wp

from turgor.contact.features.launch import OVERLAPS, FeatureLauncher
from turgor.contact.features.solve import sides
from turgor.contact.geometry import crossing
from turgor.kernel.numbers import Numbers, at
from turgor.model.model import Model
from turgor.model.surfaces import Surfaces

__all__ = ["Overlaps", "kernels"]

TIME = 0.25  # s: in which an overlap is undone
FASTEST = 1.0  # m/s
CREEP = 0.2  # slowest, in edge lengths per TIME


class Overlaps:
    """Pairs of bodies that overlap, their directions out of each other, and which of the pairs with lists they are."""

    SAVED = ("overlap_count", "overlap_pairs", "exit_direction", "exit_speed", "overlapping")

    def __init__(self, model: Model, surfaces: Surfaces, launch: FeatureLauncher, pairs: int) -> None:
        self.numbers, self.kernels = model.numbers, kernels(model.numbers, launch.parallel)
        radii = [0.0] * surfaces.soft_bodies + [collider.radius for collider in model.rigids.collision]
        self.radius = model.real_array(np.tile(radii, model.worlds))  # m, of contact bodies; 0 if not round
        self.overlap_count = launch.zeros(1, wp.int32)
        self.capacity = 4 * surfaces.bodies * model.worlds + 64
        self.launch = launch.extended(self)
        self.allocate(pairs)

    def allocate(self, pairs: int) -> None:
        """Lists of the present capacity, and a mark for as many pairs with lists."""
        n, zeros, size = self.numbers, self.launch.zeros, self.capacity
        self.pair_capacity = pairs
        self.overlapping = zeros(pairs, wp.int32)
        self.overlap_pairs = zeros(size, wp.vec2i)
        self.exit_direction = zeros(size, n.vec)  # of the first body out of the second
        self.exit_speed, self.separated = zeros(size, n.real), zeros(size, wp.int32)  # m/s

    def forget(self) -> None:
        """No overlap is known."""
        self.overlap_count.zero_()

    def forget_worlds(self, chosen: Any) -> None:
        """No overlap is known in the chosen worlds."""
        self.launch(self.kernels.drop_overlaps, 1, chosen=chosen)

    def find(self) -> None:
        """Pairs of bodies that overlap now."""
        self.launch(self.kernels.find_overlaps, self.pair_capacity)

    def mark(self) -> None:
        """Which of the pairs with lists overlap."""
        self.launch.walk(self.kernels.mark_overlapping)

    def judge(self) -> None:
        """The short way out of each overlap, and whether there is one any more."""
        self.launch(self.kernels.judge_overlaps, self.capacity)

    def separate(self) -> None:
        """A speed along the way out; pairs that are apart lose it, and leave the list."""
        self.launch(self.kernels.separate, 1)


@functools.cache
@no_type_check
def kernels(n: Numbers, parallel: bool) -> SimpleNamespace:
    """find_overlaps and mark_overlapping after a search, judge_overlaps once per frame, separate in each substep."""
    real, vec, spin_type, dim, face = n.real, n.vec, n.spin, n.dim, n.face
    variant = f"{__name__}{'_parallel' if parallel else ''}"
    geometry = crossing.kernels(n)
    crosses, angle, to_face = geometry.crosses, geometry.angle, geometry.to_face
    side = sides.kernels(n, parallel)
    Dynamics, inertia, inverse_of, point_inertia = side.Dynamics, side.inertia, side.inverse_of, side.point_inertia
    cross, swing, turn_by = side.cross, side.swing, side.turn_by
    half_turn = wp.constant(real(0.5))

    @wp.func
    def surfaces_cross(
        a: int, b: int, points: wp.array(dtype=vec), faces: wp.array(dtype=face),
        face_start: wp.array(dtype=int), body_low: wp.array(dtype=vec), body_high: wp.array(dtype=vec),
    ) -> int:  # fmt: skip
        """Whether the surfaces of two bodies cross; faces outside the other's box are skipped."""
        found = int(0)  # noqa: RUF046, UP018
        for i in range(face_start[a], face_start[a + 1]):
            if found == 0:
                f = faces[at(i)]
                if is_near_box(f, points, body_low[b], body_high[b]):
                    for j in range(face_start[b], face_start[b + 1]):
                        g = faces[at(j)]
                        for k in range(dim):
                            if crosses(k, f, g, points) or crosses(k, g, f, points):
                                found = 1
        return found

    @wp.func
    def is_near_box(f: face, points: wp.array(dtype=vec), low: vec, high: vec) -> bool:
        lowest = points[at(f[0])]
        highest = lowest
        for k in range(1, dim):
            lowest = wp.min(lowest, points[at(f[k])])
            highest = wp.max(highest, points[at(f[k])])
        for axis in range(dim):
            if lowest[axis] > high[axis] or highest[axis] < low[axis]:
                return False
        return True

    @wp.func
    def depth_of(
        p: vec, b: int, points: wp.array(dtype=vec), faces: wp.array(dtype=face), face_start: wp.array(dtype=int)
    ):
        """(whether p is inside b, vector to its nearest surface)."""
        turns = real(0.0)
        shortest = vec()
        least = real(1.0e30)
        for j in range(face_start[b], face_start[b + 1]):
            f = faces[at(j)]
            turns += angle(p, f, points)
            out = to_face(p, f, points)
            if wp.dot(out, out) < least:
                least = wp.dot(out, out)
                shortest = out
        return wp.abs(turns) > half_turn, shortest

    @n.kernel(variant)
    def find_overlaps(
        points: wp.array(dtype=vec),
        faces: wp.array(dtype=face),
        face_start: wp.array(dtype=int),
        point_start: wp.array(dtype=int),
        point_end: wp.array(dtype=int),
        closed: wp.array(dtype=int),
        radius: wp.array(dtype=real),
        body_low: wp.array(dtype=vec),
        body_high: wp.array(dtype=vec),
        pair_count: wp.array(dtype=int),
        pairs: wp.array(dtype=wp.vec2i),
        overlap_count: wp.array(dtype=int),
        overlap_pairs: wp.array(dtype=wp.vec2i),
        exit_direction: wp.array(dtype=vec),
        exit_speed: wp.array(dtype=real),
        separated: wp.array(dtype=int),
        world: wp.array(dtype=int),
        world_untested: wp.array(dtype=int),
        overflow: wp.array(dtype=int),
    ):
        """Pairs of closed bodies whose surfaces cross, and round bodies that reach into another."""
        pair = wp.tid()
        if pair < wp.min(pair_count[0], pairs.shape[0]):
            ids = pairs[pair]
            a = ids[0]
            b = ids[1]
            if a != b and closed[a] != 0 and closed[b] != 0 and world_untested[at(world[a])] != 0:
                found = int(0)  # noqa: RUF046, UP018
                if radius[a] == real(0.0) and radius[b] == real(0.0):
                    found = surfaces_cross(a, b, points, faces, face_start, body_low, body_high)
                else:
                    ball = a
                    body = b
                    if radius[b] > real(0.0):
                        ball = b
                        body = a
                    for i in range(point_start[ball], point_end[ball]):
                        inside, out = depth_of(points[at(i)], body, points, faces, face_start)
                        if inside or wp.length(out) < radius[ball]:
                            found = 1
                if found != 0:
                    slot = wp.atomic_add(overlap_count, 0, 1)
                    if slot < overlap_pairs.shape[0]:
                        overlap_pairs[slot] = ids
                        exit_direction[slot] = vec()  # until the next frame judges it
                        exit_speed[slot] = real(0.0)
                        separated[slot] = 0
                    else:
                        overflow[0] = 1
                        wp.atomic_max(overflow, OVERLAPS, slot + 1)

    @n.kernel(variant)
    def drop_overlaps(
        chosen: wp.array(dtype=int),
        world: wp.array(dtype=int),
        overlap_count: wp.array(dtype=int),
        overlap_pairs: wp.array(dtype=wp.vec2i),
        exit_direction: wp.array(dtype=vec),
        exit_speed: wp.array(dtype=real),
    ):
        """One thread: the list without the pairs of some worlds, the others in their order."""
        kept = int(0)  # noqa: RUF046, UP018
        for t in range(wp.min(overlap_count[0], overlap_pairs.shape[0])):
            if chosen[at(world[at(overlap_pairs[t][0])])] == 0:
                overlap_pairs[kept] = overlap_pairs[t]
                exit_direction[kept] = exit_direction[t]
                exit_speed[kept] = exit_speed[t]
                kept += 1
        overlap_count[0] = kept

    @n.kernel(variant)
    def mark_overlapping(
        pair_count: wp.array(dtype=int),
        pairs: wp.array(dtype=wp.vec2i),
        overlap_count: wp.array(dtype=int),
        overlap_pairs: wp.array(dtype=wp.vec2i),
        overlapping: wp.array(dtype=int),
        stride: int,
    ):
        """Which of the pairs are on the list."""
        for p in range(wp.tid(), wp.min(pair_count[0], pairs.shape[0]), stride):
            known = int(0)  # noqa: RUF046, UP018
            for t in range(wp.min(overlap_count[0], overlap_pairs.shape[0])):
                if overlap_pairs[t][0] == pairs[p][0] and overlap_pairs[t][1] == pairs[p][1]:
                    known = 1
            overlapping[p] = known

    @n.kernel(variant)
    def judge_overlaps(
        points: wp.array(dtype=vec),
        faces: wp.array(dtype=face),
        face_start: wp.array(dtype=int),
        point_start: wp.array(dtype=int),
        point_end: wp.array(dtype=int),
        radius: wp.array(dtype=real),
        edge_size: wp.array(dtype=real),
        body_low: wp.array(dtype=vec),
        body_high: wp.array(dtype=vec),
        overlap_count: wp.array(dtype=int),
        overlap_pairs: wp.array(dtype=wp.vec2i),
        exit_direction: wp.array(dtype=vec),
        exit_speed: wp.array(dtype=real),
        separated: wp.array(dtype=int),
    ):
        """The short way out of each overlap, and how fast; or that there is none any more."""
        t = wp.tid()
        if t < wp.min(overlap_count[0], overlap_pairs.shape[0]):
            ids = overlap_pairs[t]
            out = vec()
            deepest = real(0.0)
            centre = vec()
            for side in range(2):
                a = ids[side]
                b = ids[1 - side]
                sign = real(1 - 2 * side)
                middle = vec()
                for i in range(point_start[a], point_end[a]):
                    p = points[at(i)]
                    middle += p
                    within = bool(True)  # noqa: UP018
                    for axis in range(dim):
                        if p[axis] + radius[a] < body_low[b][axis] or p[axis] - radius[a] > body_high[b][axis]:
                            within = False
                    if within and radius[b] == real(0.0):
                        inside, shortest = depth_of(p, b, points, faces, face_start)
                        size = wp.length(shortest)
                        if radius[a] > real(0.0) and size > real(0.0):
                            # the centre of a ball: out by its radius too, or by what is left of it
                            if inside:
                                shortest *= (size + radius[a]) / size
                            else:
                                shortest *= -wp.max(radius[a] - size, real(0.0)) / size
                            inside = wp.length(shortest) > real(0.0)
                        if inside:
                            out += sign * shortest
                            deepest = wp.max(deepest, wp.length(shortest))
                centre += (sign / real(point_end[a] - point_start[a])) * middle
            crossing = int(0)  # noqa: RUF046, UP018
            if radius[ids[0]] == real(0.0) and radius[ids[1]] == real(0.0):
                crossing = surfaces_cross(ids[0], ids[1], points, faces, face_start, body_low, body_high)
            separated[t] = 0
            if deepest == real(0.0) and crossing == 0:
                separated[t] = 1
            if wp.length(out) < real(1.0e-3) * deepest or deepest == real(0.0):
                out = centre
            if wp.length(out) <= real(0.0):
                out[wp.static(dim - 1)] = real(1.0)
            exit_direction[t] = wp.normalize(out)
            slowest = real(CREEP) * wp.min(edge_size[ids[0]], edge_size[ids[1]])
            exit_speed[t] = wp.min(wp.max(deepest, slowest) / real(TIME), real(FASTEST))

    @wp.func
    def body_mass(dynamics: Dynamics, r: int, first: int, last: int):
        """(inverse mass, centre of mass, its velocity) of a rigid or soft body; pinned ones have infinite mass."""
        if r >= 0:
            return dynamics.rigid_inverse_mass[r], dynamics.rigid_x[r], dynamics.rigid_v[r]
        mass = real(0.0)
        origin = dynamics.points[at(first)]
        place = vec()
        momentum = vec()
        pinned = bool(False)  # noqa: UP018
        for i in range(first, last):
            m1 = dynamics.soft_inverse_mass[at(i)]
            if m1 > real(0.0):
                mass += real(1.0) / m1
                place += (dynamics.points[at(i)] - origin) / m1
                momentum += dynamics.point_v[at(i)] / m1
            else:
                pinned = True
        if pinned:
            return real(0.0), origin, vec()
        return real(1.0) / mass, origin + place / mass, momentum / mass

    @wp.func
    def body_inertia(dynamics: Dynamics, r: int, first: int, last: int, centre: vec) -> inertia:
        """About its centre of mass."""
        if r >= 0:
            return inverse_of(dynamics.rigid_world_inertia[r])
        total = inertia(real(0.0))
        for i in range(first, last):
            total += point_inertia(real(1.0) / dynamics.soft_inverse_mass[at(i)], dynamics.points[at(i)] - centre)
        return total

    @wp.func
    def push_body(
        dynamics: Dynamics, r: int, first: int, last: int, centre: vec, dv: vec, spin: spin_type, own: inertia
    ):
        """Change the velocity and the spin of a body."""
        if r >= 0:
            dynamics.rigid_v[r] = dynamics.rigid_v[r] + dv
            dynamics.rigid_spin[r] = dynamics.rigid_spin[r] + spin
            dynamics.rigid_angular[r] = dynamics.rigid_angular[r] + turn_by(own, spin)
        else:
            for i in range(first, last):
                dynamics.point_v[at(i)] = dynamics.point_v[at(i)] + dv + swing(spin, dynamics.points[at(i)] - centre)

    @n.kernel(variant)
    def separate(
        dynamics: Dynamics,
        point_start: wp.array(dtype=int),
        point_end: wp.array(dtype=int),
        rigid_index: wp.array(dtype=int),
        overlap_count: wp.array(dtype=int),
        overlap_pairs: wp.array(dtype=wp.vec2i),
        exit_direction: wp.array(dtype=vec),
        exit_speed: wp.array(dtype=real),
        separated: wp.array(dtype=int),
        world: wp.array(dtype=int),
        all_stale: wp.array(dtype=int),
        world_stale: wp.array(dtype=int),
    ):
        """One thread, as bodies may be in several overlaps: the speed along the way out, or its end."""
        remaining = int(0)  # noqa: RUF046, UP018
        for t in range(wp.min(overlap_count[0], overlap_pairs.shape[0])):
            a = at(overlap_pairs[t][0])
            b = at(overlap_pairs[t][1])
            ra = rigid_index[a]
            rb = rigid_index[b]
            inverse_mass, centre, velocity = body_mass(dynamics, ra, point_start[a], point_end[a])
            other_inverse_mass, other_centre, other_velocity = body_mass(dynamics, rb, point_start[b], point_end[b])
            total = inverse_mass + other_inverse_mass
            if total > real(0.0):
                way = exit_direction[t]
                apart = wp.dot(velocity - other_velocity, way)
                wanted = wp.max(exit_speed[t] - apart, real(0.0))
                if separated[t] != 0:
                    wanted = -wp.clamp(apart, real(0.0), exit_speed[t])
                p = (wanted / total) * way
                spin = spin_type(real(0.0))
                own = inertia(real(0.0))
                other = inertia(real(0.0))
                if inverse_mass > real(0.0) and other_inverse_mass > real(0.0):
                    own = body_inertia(dynamics, ra, point_start[a], point_end[a], centre)
                    other = body_inertia(dynamics, rb, point_start[b], point_end[b], other_centre)
                    spin = -turn_by(inverse_of(own + other), cross(centre - other_centre, p))
                if inverse_mass > real(0.0):
                    push_body(dynamics, ra, point_start[a], point_end[a], centre, inverse_mass * p, spin, own)
                if other_inverse_mass > real(0.0):
                    dv = -other_inverse_mass * p
                    push_body(dynamics, rb, point_start[b], point_end[b], other_centre, dv, spin, other)
            if separated[t] == 0:
                overlap_pairs[remaining] = overlap_pairs[t]
                exit_direction[remaining] = exit_direction[t]
                exit_speed[remaining] = exit_speed[t]
                remaining += 1
            else:  # their features are looked for
                separated[t] = 0
                all_stale[0] = 1
                world_stale[at(world[a])] = 1
        overlap_count[0] = remaining

    return SimpleNamespace(
        find_overlaps=find_overlaps,
        drop_overlaps=drop_overlaps,
        mark_overlapping=mark_overlapping,
        judge_overlaps=judge_overlaps,
        separate=separate,
    )
