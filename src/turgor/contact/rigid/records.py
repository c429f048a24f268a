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
    single = n.precision == "single"
    # a number per point of a manifold, and one per two of them; flat manifolds have at most two points
    if n.dim == 2:
        each, table = (wp.vec2f, wp.mat22f) if single else (wp.vec2d, wp.mat22d)
    else:
        each, table = (wp.vec4f, wp.mat44f) if single else (wp.vec4d, wp.mat44d)

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
        spin: wp.array(dtype=spin_type)

    @wp.struct
    class Motion:
        """What impulses change: velocities, or the displacements that remove depth."""

        v: wp.array(dtype=vec)  # m/s, or m
        angular: wp.array(dtype=spin_type)  # kg m²/s, or kg m²
        spin: wp.array(dtype=spin_type)  # rad/s, or rad

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
        response: wp.array(dtype=table)  # 1/kg: normal velocities of the points for unit normal impulses
        inverse: wp.array(dtype=table)  # kg: of it, slightly regularised

    @wp.struct
    class Points:
        """Contact points: POINTS rows per pair."""

        arm_a: wp.array(dtype=vec)  # m, from the centre of a
        arm_b: wp.array(dtype=vec)
        gap: wp.array(dtype=real)  # m
        tangent_mass: wp.array(dtype=real)  # kg, smallest effective mass across the normal
        feature: wp.array(dtype=wp.int32)  # what made the point
        impact: wp.array(dtype=wp.int32)  # 1: an impact in this substep
        normal_impulse: wp.array(dtype=real)  # N s
        friction_impulse: wp.array(dtype=vec)  # N s

    @wp.struct
    class Rows:
        """What is wanted of the contact points, and their impulses so far: of velocities, or of displacements."""

        target: wp.array(dtype=real)  # m/s, or m: least velocity, or displacement, along the normal
        normal: wp.array(dtype=real)  # N s, or kg m
        friction: wp.array(dtype=vec)  # N s; displacements have none

    @wp.struct
    class Rounds:
        """Rounds of turgor.contact.rigid.acceleration: where the present one began, and what the last one changed."""

        left: wp.array(dtype=wp.int32)  # (1,) rounds
        open: wp.array(dtype=wp.int32)  # (1,) worlds that need another one
        unsolved: wp.array(dtype=wp.int32)  # per world: 1 while it gets rounds
        along_z: wp.array(dtype=real)  # per world: how far the extrapolation goes along the pass
        along_p: wp.array(dtype=real)  # per world: and along what the last round changed
        back: wp.array(dtype=real)  # per world: the share of it that was too much
        v: wp.array(dtype=vec)  # per body, as in Motion
        angular: wp.array(dtype=spin_type)
        spin: wp.array(dtype=spin_type)
        v_step: wp.array(dtype=vec)
        angular_step: wp.array(dtype=spin_type)
        spin_step: wp.array(dtype=spin_type)
        normal: wp.array(dtype=real)  # per point, as in Rows
        friction: wp.array(dtype=vec)
        normal_step: wp.array(dtype=real)
        friction_step: wp.array(dtype=vec)

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
        each=each,
        table=table,
        Motion=Motion,
        Rows=Rows,
        Rounds=Rounds,
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
