"""Structs of the rigid contact search and solver: colliders, bodies, walls, pairs, contact points, warm impulses."""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.kernel.numbers import Numbers
from turgor.rigid import impulse, motion

__all__ = ["POINTS", "structs"]

POINTS = 4  # most contact points of a pair: pair i has the rows POINTS i .. POINTS i + point_count[i]


@functools.cache
@no_type_check
def structs(n: Numbers) -> SimpleNamespace:
    """Warp structs."""
    real, vec, spin_type = n.real, n.vec, n.spin
    pose, inertia = motion.kernels(n).pose, impulse.kernels(n).inertia

    @wp.struct
    class Collider:
        """The shape of a body for contact; one entry per body of a world."""

        kind: int  # turgor.contact.rigid.polytope: HULL, SPHERE, CAPSULE, MESH
        first_piece: int
        radius: real  # m, around the points
        reach: real  # m, from the centre of mass to the farthest point
        middle: vec  # of the bounds of the points
        half: vec
        bvh: wp.uint64  # of the pieces of a mesh

    @wp.struct
    class Piece:
        """A convex piece: ranges of points, faces and edges."""

        point_first: int
        point_last: int
        face_first: int
        face_last: int
        edge_first: int
        edge_last: int
        rough: int  # 0: a part of a smooth mesh: only its faces take part in contact
        centre: vec

    @wp.struct
    class Face:
        """A flat polygon: normal · x = offset, corners counter-clockwise seen from outside."""

        normal: vec
        offset: real
        first: int
        last: int

    @wp.struct
    class Edge:
        """From `start` along `along`, with the normals of its two faces; right x left runs along it."""

        start: vec
        along: vec
        left: vec
        right: vec

    # few arrays: functions get structs by value
    @wp.struct
    class Shapes:
        """All colliders, in the principal frames of their bodies."""

        collider: wp.array(dtype=Collider)
        piece: wp.array(dtype=Piece)
        point: wp.array(dtype=vec)
        face: wp.array(dtype=Face)
        corner: wp.array(dtype=vec)  # of faces
        side: wp.array(dtype=vec)  # outward normal of the side that ends at a corner, in the plane of the face
        edge: wp.array(dtype=Edge)
        meshes: wp.array(dtype=wp.int32)  # the colliders that are meshes

    @wp.struct
    class Bodies:
        """Of model.rigids, and their state."""

        per_world: int
        kind: wp.array(dtype=wp.int32)
        skin: wp.array(dtype=real)
        friction: wp.array(dtype=real)
        restitution: wp.array(dtype=real)
        inverse_mass: wp.array(dtype=real)
        world_inertia: wp.array(dtype=inertia)
        x: wp.array(dtype=vec)
        q: wp.array(dtype=pose)
        v: wp.array(dtype=vec)
        angular: wp.array(dtype=spin_type)
        spin: wp.array(dtype=spin_type)
        push_move: wp.array(dtype=vec)
        push_turn: wp.array(dtype=spin_type)

    @wp.struct
    class Walls:
        """Of model.walls, as they are at the end of the substep."""

        count: int
        normal: wp.array(dtype=vec)
        point: wp.array(dtype=vec)
        centre: wp.array(dtype=vec)
        velocity: wp.array(dtype=vec)
        spin: wp.array(dtype=spin_type)
        friction: wp.array(dtype=real)
        restitution: wp.array(dtype=real)

    @wp.struct
    class Pairs:
        """Near pairs of this substep: body a, and body b or wall -1 - b; the manifold has up to POINTS points."""

        capacity: int
        count: wp.array(dtype=wp.int32)  # (1,) may be more than the capacity
        overflow: wp.array(dtype=wp.int32)  # (1,) the count when it was more than the capacity, else 0
        first: wp.array(dtype=wp.int32)  # per body: the first of its pairs, and their number
        number: wp.array(dtype=wp.int32)
        a: wp.array(dtype=wp.int32)
        b: wp.array(dtype=wp.int32)
        part: wp.array(dtype=wp.int32)  # triangle of a mesh
        point_count: wp.array(dtype=wp.int32)
        normal: wp.array(dtype=vec)  # from b to a
        friction: wp.array(dtype=real)
        slop: wp.array(dtype=real)  # m, depth that is left alone

    @wp.struct
    class Points:
        """Contact points: POINTS rows per pair."""

        arm_a: wp.array(dtype=vec)  # m, from the centre of a
        arm_b: wp.array(dtype=vec)
        gap: wp.array(dtype=real)  # m
        target_speed: wp.array(dtype=real)  # m/s, least velocity along the normal
        normal_mass: wp.array(dtype=real)  # kg, effective mass along the normal
        tangent_mass: wp.array(dtype=real)  # kg, smallest effective mass across it
        feature: wp.array(dtype=wp.int32)  # what made the point
        normal_impulse: wp.array(dtype=real)  # N s, so far
        friction_impulse: wp.array(dtype=vec)  # N s, so far
        push_impulse: wp.array(dtype=real)  # kg m of the removal of depth, so far
        impact: wp.array(dtype=wp.int32)  # 1: an impact in this substep

    @wp.struct
    class Sums:
        """What all pairs together do to a body in a pass, in integers (kernel.fixed_sum); parallel only."""

        linear: wp.array(dtype=wp.int64)
        angular: wp.array(dtype=wp.int64)
        radius: wp.array(dtype=real)  # m: the size of a body

    @wp.struct
    class Warm:
        """Pairs and impulses of the last substep, from which this one starts."""

        dt: wp.array(dtype=real)  # (1,) s
        first: wp.array(dtype=wp.int32)  # per body
        number: wp.array(dtype=wp.int32)
        b: wp.array(dtype=wp.int32)  # per pair
        part: wp.array(dtype=wp.int32)
        point_count: wp.array(dtype=wp.int32)
        feature: wp.array(dtype=wp.int32)  # per point
        normal_impulse: wp.array(dtype=real)
        friction_impulse: wp.array(dtype=vec)

    return SimpleNamespace(
        Collider=Collider,
        Piece=Piece,
        Face=Face,
        Edge=Edge,
        Shapes=Shapes,
        Bodies=Bodies,
        Walls=Walls,
        Pairs=Pairs,
        Points=Points,
        Sums=Sums,
        Warm=Warm,
    )
