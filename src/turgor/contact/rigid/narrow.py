"""Narrow phase: contact points of near pairs, the velocities wanted there, and their warm impulses (B14)."""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.contact import materials
from turgor.contact.rigid import clip, round, sat
from turgor.contact.rigid.acceleration import ROUNDS, UNEQUAL
from turgor.contact.rigid.polytope import CAPSULE, SPHERE
from turgor.contact.rigid.records import POINTS, structs
from turgor.kernel.numbers import Numbers, at
from turgor.rigid import impulse, motion

__all__ = ["kernels"]

TOUCHING = 0.1  # of the slop: a gap that counts as none, so that all points of a face at rest are at rest together
PUSH_SHARE = 0.2  # of the depth, removed in a substep
PUSH_SPEED = 2.0  # m/s, the fastest removal
SLOP = 0.05  # of the skins: a length that does not matter, and the depth at which bodies rest


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """The kernel."""
    real, vec, spin_type = n.real, n.vec, n.spin
    c, t, r, surface = clip.kernels(n), structs(n), round.kernels(n), materials.kernels(n)
    mat, matrix, swing = motion.kernels(n).mat, motion.kernels(n).matrix, impulse.kernels(n).swing
    Shapes, put, reduced = t.Shapes, c.put, c.reduced
    Bodies, Walls, Pairs, Points, Warm = t.Bodies, t.Walls, t.Pairs, t.Points, t.Warm
    Rows, Rounds = t.Rows, t.Rounds
    collide = sat.kernels(n).collide
    round_on_piece, round_on_round = r.round_on_piece, r.round_on_round
    pair_friction, shared_restitution = surface.pair_friction, surface.shared_restitution
    pair_restitution = surface.pair_restitution
    zero = wp.constant(real(0.0))
    half = wp.constant(real(0.5))
    touching = wp.constant(real(TOUCHING))
    slop_share = wp.constant(real(SLOP))
    push_share = wp.constant(real(PUSH_SHARE))
    fastest = wp.constant(real(PUSH_SPEED))
    unequal = wp.constant(real(UNEQUAL))
    slow = wp.constant(real(materials.BOUNCE))
    sphere, capsule = wp.constant(SPHERE), wp.constant(CAPSULE)

    @wp.func
    def on_wall(
        s: Shapes,
        k: int,
        turn: mat,
        normal: vec,
        height: real,
        margin: real,
        slop: real,
        position: wp.array(dtype=vec),
        gap: wp.array(dtype=real),
        features: wp.array(dtype=int),
    ) -> int:
        """Points of a body near a wall `height` below its centre, relative to that centre."""
        count = wp.int32(0)
        piece = s.collider[at(k)].first_piece
        radius = s.collider[at(k)].radius
        down = wp.transpose(turn) * normal
        begin = s.piece[at(piece)].point_first
        for v in range(begin, s.piece[at(piece)].point_last):
            distance = wp.dot(down, s.point[at(v)]) + height - radius
            if distance <= margin:
                surface = turn * s.point[at(v)] - (radius + half * distance) * normal
                count = put(count, surface, distance, v - begin, normal, slop, position, gap, features)
        return reduced(count, normal, slop, position, gap, features)

    @wp.func
    def on_body(
        s: Shapes,
        i: int,
        j: int,
        piece_j: int,
        turn_a: mat,
        turn_b: mat,
        shift: vec,
        margin: real,
        slop: real,
        position: wp.array(dtype=vec),
        gap: wp.array(dtype=real),
        features: wp.array(dtype=int),
    ):
        """(count, normal) of colliders i and j, relative to i's centre along world axes; j's centre is at `shift`."""
        piece_i = s.collider[at(i)].first_piece
        back = wp.transpose(turn_a)
        count = wp.int32(0)
        normal = vec()
        round_a = s.collider[at(i)].kind == sphere or s.collider[at(i)].kind == capsule
        round_b = s.collider[at(j)].kind == sphere or s.collider[at(j)].kind == capsule
        if round_a:
            p = turn_a * s.point[s.piece[at(piece_i)].point_first]
            q = turn_a * s.point[s.piece[at(piece_i)].point_last - 1]
            if round_b:
                e = shift + turn_b * s.point[s.piece[at(piece_j)].point_first]
                f = shift + turn_b * s.point[s.piece[at(piece_j)].point_last - 1]
                count, normal = round_on_round(
                    p, q, s.collider[at(i)].radius, e, f, s.collider[at(j)].radius, margin, position, gap, features
                )
            else:
                into = wp.transpose(turn_b)
                count, normal = round_on_piece(
                    s,
                    piece_j,
                    into * (p - shift),
                    into * (q - shift),
                    s.collider[at(i)].radius,
                    margin,
                    position,
                    gap,
                    features,
                )
                normal = turn_b * normal
                for v in range(count):
                    position[v] = shift + turn_b * position[v]
            return count, normal
        if round_b:
            e = back * (shift + turn_b * s.point[s.piece[at(piece_j)].point_first])
            f = back * (shift + turn_b * s.point[s.piece[at(piece_j)].point_last - 1])
            count, normal = round_on_piece(s, piece_i, e, f, s.collider[at(j)].radius, margin, position, gap, features)
            normal = -normal
        else:
            count, normal = collide(
                s, piece_i, piece_j, back * turn_b, back * shift, margin, slop, position, gap, features
            )
        for v in range(count):
            position[v] = turn_a * position[v]
        return count, turn_a * normal

    @n.kernel(__name__)
    def find_manifolds(
        stride: int,
        dt: wp.array(dtype=real),
        shapes: Shapes,
        bodies: Bodies,
        walls: Walls,
        pairs: Pairs,
        points: Points,
        rows: Rows,
        pushes: Rows,
        rounds: Rounds,
        push_rounds: Rounds,
        warm: Warm,
        margin: wp.array(dtype=real),
        manifold_count: wp.array(dtype=wp.int32),
        held_count: wp.array(dtype=wp.int32),
    ):
        """Contact points of the pairs, the velocities wanted there, and the impulses of the last substep.

        Depth beyond the slop is to be removed, and its removal elsewhere must not make another point deeper than that.
        """
        h = dt[0]
        position = wp.zeros(shape=(wp.static(clip.BUFFER),), dtype=vec)
        gap = wp.zeros(shape=(wp.static(clip.BUFFER),), dtype=real)
        features = wp.zeros(shape=(wp.static(clip.BUFFER),), dtype=int)
        for index in range(wp.tid(), wp.min(pairs.count[0], pairs.capacity), stride):
            i = pairs.a[index]
            j = pairs.b[index]
            k = i % bodies.per_world
            turn = matrix(bodies.q[i])
            count = wp.int32(0)
            normal = vec()
            friction = zero
            bounce = zero
            slop = slop_share * bodies.skin[i]
            centre = vec()  # of the other body or wall
            v_other = vec()
            spin_other = spin_type(real(0.0))
            if j < 0:
                wall = -1 - j
                normal = walls.normal[wall]
                friction = pair_friction(bodies.friction[i], walls.friction[wall])
                bounce = shared_restitution(bodies.restitution[i], walls.restitution[wall])
                centre = walls.centre[wall]
                v_other = walls.velocity[wall]
                spin_other = walls.spin[wall]
                # the wall is at its pose at the end of the substep: its own movement counts as gap
                own = v_other + swing(spin_other, bodies.x[i] - centre)
                height = wp.dot(normal, bodies.x[i] - walls.point[wall]) + h * wp.dot(own, normal)
                count = on_wall(shapes, k, turn, normal, height, margin[i], slop, position, gap, features)
            else:
                l = j % bodies.per_world  # noqa: E741
                slop += slop_share * bodies.skin[j]
                friction = pair_friction(bodies.friction[i], bodies.friction[j])
                bounce = pair_restitution(bodies.restitution[i], bodies.restitution[j])
                centre = bodies.x[j]
                v_other = bodies.v[j]
                spin_other = bodies.spin[j]
                piece = shapes.collider[at(l)].first_piece + pairs.part[index]
                count, normal = on_body(
                    shapes, k, l, piece, turn, matrix(bodies.q[j]), centre - bodies.x[i], margin[i] + margin[j], slop,
                    position, gap, features,
                )  # fmt: skip
            pairs.point_count[index] = count
            pairs.normal[index] = normal
            pairs.friction[index] = friction
            pairs.slop[index] = slop
            if count > 0:
                wp.atomic_add(manifold_count, i, 1)
                lightness = bodies.inverse_mass[i]
                lightness_other = zero
                if j >= 0:
                    wp.atomic_add(manifold_count, j, 1)
                    lightness_other = bodies.inverse_mass[j]
                    if lightness == zero:
                        wp.atomic_add(held_count, j, 1)
                if lightness_other == zero:
                    wp.atomic_add(held_count, i, 1)
                heaviest = wp.min(lightness, lightness_other)
                if heaviest > zero and wp.max(lightness, lightness_other) > unequal * heaviest:
                    rounds.unsolved[i // bodies.per_world] = 1
                    rounds.left[0] = ROUNDS
                    push_rounds.unsolved[i // bodies.per_world] = 1
                    push_rounds.left[0] = ROUNDS
            # impulses of the same points in the last substep, if it had the pair
            before = wp.int32(-1)
            first = warm.first[i]
            for o in range(first, first + warm.number[i]):
                if warm.b[o] == j and warm.part[o] == pairs.part[index]:
                    before = o
            scale = zero
            if warm.dt[0] > zero:
                scale = h / warm.dt[0]
            lost = real(0.0)  # impulses of points that are gone
            lost_friction = vec()
            new = wp.int32(0)
            if before >= 0:
                for u in range(POINTS * before, POINTS * before + warm.point_count[before]):
                    lost += wp.max(warm.normal_impulse[u], zero)
                    lost_friction += warm.friction_impulse[u]
            for v in range(count):
                row = POINTS * index + v
                arm = position[v]
                arm_other = bodies.x[i] - centre + arm
                points.arm_a[row] = arm
                points.arm_b[row] = arm_other
                points.gap[row] = gap[v]
                points.feature[row] = features[v]
                deep = -wp.min(gap[v], zero) - slop
                pushes.target[row] = wp.min(wp.min(push_share * deep, deep), fastest * h)
                pushes.normal[row] = zero
                rows.normal[row] = zero
                rows.friction[row] = vec()
                touched_before = wp.bool(False)
                matched = wp.int32(-1)
                if before >= 0:
                    for u in range(POINTS * before, POINTS * before + warm.point_count[before]):
                        if warm.feature[u] == features[v]:
                            matched = u
                if matched >= 0:
                    old = warm.normal_impulse[matched]
                    touched_before = old != zero  # negative: an impact, which is not repeated
                    rows.normal[row] = scale * wp.max(old, zero)
                    along = warm.friction_impulse[matched]
                    rows.friction[row] = scale * (along - wp.dot(along, normal) * normal)
                    lost -= wp.max(old, zero)
                    lost_friction -= along
                    features[v] = -1
                else:
                    new += 1
                approach = -wp.dot(
                    normal,
                    bodies.v[i] + swing(bodies.spin[i], arm) - v_other - swing(spin_other, arm_other),
                )
                free = gap[v] - touching * slop
                wanted = -wp.max(free, zero) / wp.max(h, real(1e-9))
                points.impact[row] = 0
                if approach > slow and free < approach * h and not touched_before:
                    points.impact[row] = 1
                    if bounce > zero:
                        wanted = bounce * approach
                rows.target[row] = wanted
            # points that are new take over what those that are gone have carried
            if lost > zero and new > 0:
                portion = scale / real(new)
                lost_friction -= wp.dot(lost_friction, normal) * normal
                for v in range(count):
                    if features[v] >= 0:
                        rows.normal[POINTS * index + v] = portion * lost
                        rows.friction[POINTS * index + v] = portion * lost_friction

    return SimpleNamespace(find_manifolds=find_manifolds)
