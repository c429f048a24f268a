"""Rigid bodies as static arrays: mass properties, colliders and parameters.

Everything is expressed in the principal frame of a body: origin at the centre of mass, axes along the principal axes of
inertia, so that the inertia is three numbers. The user's shape frame differs by `props.center` and
`props.rotation`. World w holds the bodies w*K .. (w+1)*K; positions are relative to the model's anchor.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import warp as wp

from turgor.kernel.numbers import Numbers
from turgor.model.air_patches import Patches, ball_patches, face_patches
from turgor.model.glue import Glue
from turgor.model.rotations import angle_of, quaternion_of
from turgor.model.tiling import tiled
from turgor.scene.data import rotation_matrix
from turgor.scene.rigid import RIGID_KINDS, RigidBody
from turgor.scene.scene import Scene
from turgor.scene.validate import context
from turgor.shapes.hull import convex_hull
from turgor.shapes.mass import MassProperties, capsule_inertia, mass_properties, solid, sphere_inertia

__all__ = ["DYNAMIC", "Collider", "Rigids"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int32]

DYNAMIC = RIGID_KINDS.index("dynamic")
SKIN = 0.01  # of the smallest extent of the shape


@dataclass(frozen=True)
class Collider:
    """What others touch, in the principal frame: points and faces, thickened by `radius`."""

    kind: str  # "hull" | "sphere" | "capsule" | "mesh"
    points: FloatArray  # (n, dim) m; a sphere has one, a capsule two
    faces: IntArray  # (m, dim); a hull's look outwards (2D: counter-clockwise); a sphere has [[0, 0, 0]]
    radius: float  # m; 0 for a hull and a mesh
    skin: float  # m


class AirSurface:
    """The patches of all bodies; worlds share them."""

    def __init__(self, rigids: Rigids, patches: Sequence[Patches]) -> None:
        ends = np.cumsum([0, *(len(patch.areas) for patch in patches)])
        self.start, self.end = rigids.ints(ends[:-1]), rigids.ints(ends[1:])  # of each body in each world
        none, vec = np.zeros((0, rigids.numbers.dim)), rigids.numbers.vec
        self.point = rigids.array(np.concatenate([none, *(patch.points for patch in patches)]), vec)
        self.normal = rigids.array(np.concatenate([none, *(patch.normals for patch in patches)]), vec)
        areas = np.concatenate([np.zeros(0), *(patch.areas for patch in patches)])
        self.area = rigids.array(areas, rigids.numbers.real)


class Rigids:
    """The rigid bodies of all worlds. `SAVED`: parameters that can be set while a simulation runs."""

    SAVED: tuple[str, ...] = (
        "inverse_mass", "inverse_inertia", "friction", "restitution", "drag_coefficient", "drag_tangential",
    )  # fmt: skip

    def __init__(self, scene: Scene, numbers: Numbers, worlds: int, device: Any, glue: Glue) -> None:
        self.numbers, self.worlds, self.device = numbers, worlds, device
        self.bodies = list(scene.rigid_bodies)
        self.count = len(self.bodies)  # per world
        self.total = self.count * worlds
        self.props = [_properties(body, index, glue) for index, body in enumerate(self.bodies)]
        self.shape_points = [
            _principal(body.shape.vertices, props) for body, props in zip(self.bodies, self.props, strict=True)
        ]
        self.collision = [_collider(body, props) for body, props in zip(self.bodies, self.props, strict=True)]
        self.collision_points = sum(len(collider.points) for collider in self.collision)  # per world

        spin_zero = np.zeros(3) if numbers.dim == 3 else np.zeros(1)
        free = [body.kind == "dynamic" for body in self.bodies]
        masses = np.array([props.mass for props in self.props])
        self.inverse_mass = self.reals(np.where(free, 1.0 / masses, 0.0) if self.count else [])
        inverse = [1.0 / p.moments if f else spin_zero for p, f in zip(self.props, free, strict=True)]
        self.inverse_inertia = self.spins(inverse)
        self.kind = self.ints([RIGID_KINDS.index(body.kind) for body in self.bodies])
        self.world = self.tiled(np.zeros(self.count), wp.int32, 1)
        self.friction = self.reals([-1.0 if body.friction is None else body.friction for body in self.bodies])
        self.restitution = self.reals([-1.0 if b.restitution is None else b.restitution for b in self.bodies])
        self._air()
        self.radius = self.reals([collider.radius for collider in self.collision])
        self.skin = self.reals([collider.skin for collider in self.collision])
        self.size = self.reals([float(np.ptp(body.shape.vertices, axis=0).max()) for body in self.bodies])

    def _air(self) -> None:
        """Coefficients of the air, and the patches of all surfaces that it acts on."""
        self.drag_coefficient = self.reals([body.drag_coefficient for body in self.bodies])
        self.drag_tangential = self.reals([body.drag_tangential for body in self.bodies])
        self.feels_air = any(any(body.air_drag) for body in self.bodies)
        patches = [
            _patches(body, collider, points)
            for body, collider, points in zip(self.bodies, self.collision, self.shape_points, strict=True)
        ]
        self.patches = AirSurface(self, patches)

    # device arrays, the same in every world -------------------------------------------------------------------------

    def array(self, values: Any, dtype: Any) -> Any:
        """Device array of the values as they are."""
        kind: Any = np.int32 if dtype is wp.int32 else self.numbers.dtype
        return wp.array(np.ascontiguousarray(values, kind), dtype=dtype, device=self.device)

    def tiled(self, values: npt.NDArray[Any], dtype: Any, shift: int = 0) -> Any:
        """Device array of the values of one world, repeated for all worlds; indices are shifted from world to world."""
        kind: Any = np.int32 if dtype is wp.int32 else self.numbers.dtype
        return tiled(np.asarray(values, kind), self.worlds, dtype, self.device, shift)

    def zeros(self, dtype: Any) -> Any:
        """One zero per body."""
        return wp.zeros(self.total, dtype=dtype, device=self.device)

    def ints(self, values: Any) -> Any:
        """One integer per body."""
        return self.tiled(np.asarray(values, np.int32).reshape(-1), wp.int32)

    def reals(self, values: Any) -> Any:
        """One number per body."""
        return self.tiled(np.asarray(values, np.float64).reshape(-1), self.numbers.real)

    def vectors(self, values: Any) -> Any:
        """One vector per body."""
        return self.tiled(np.asarray(values, np.float64).reshape(-1, self.numbers.dim), self.numbers.vec)

    def spins(self, values: Any) -> Any:
        """One angular quantity per body: a vector in 3D, a number in 2D."""
        return self.vectors(values) if self.numbers.dim == 3 else self.reals(values)

    def poses(self, matrices: Sequence[FloatArray]) -> Any:
        """One orientation per body, from matrices (dim, dim)."""
        if self.numbers.dim == 2:
            return self.reals([angle_of(matrix) for matrix in matrices])
        kind = wp.quatf if self.numbers.precision == "single" else wp.quatd
        return self.tiled(np.array([quaternion_of(matrix) for matrix in matrices]).reshape(-1, 4), kind)


def _properties(body: RigidBody, index: int, glue: Glue) -> MassProperties:
    """Of the solid and, if it is free to move, all that is glued to it; along the axes of its shape."""
    own = _solid_properties(body)
    if body.kind != "dynamic":
        return own
    mine = glue.body_host == index
    arms = (glue.positions[mine] - np.array(body.at)) @ rotation_matrix(body.rotation)
    return own.with_points(glue.masses[mine], arms)


def _solid_properties(body: RigidBody) -> MassProperties:
    """Balls and capsules are round, whatever their mesh; a sheet has no inside, and turns about its middle."""
    shape, kind, mass = body.shape, body.resolved_collider, body.mass
    middle = np.zeros(shape.dim)
    if kind == "sphere":
        if shape.dim == 2:
            return solid(mass, middle, np.array(0.5 * mass * body.radius**2))
        return solid(mass, middle, np.diag(sphere_inertia(mass, body.radius)))
    if kind == "capsule":
        return solid(mass, middle, np.diag(capsule_inertia(mass, body.radius, body.height)))
    if shape.closed:
        return mass_properties(shape, mass)
    return solid(mass, shape.vertices.mean(axis=0), mass * np.eye(3))


def _principal(points: FloatArray, props: MassProperties) -> FloatArray:
    """Points of the shape in the principal frame."""
    return np.asarray((points - props.center) @ props.rotation)


def _collider(body: RigidBody, props: MassProperties) -> Collider:
    shape, kind = body.shape, body.resolved_collider
    skin = _skin(body) if body.skin is None else body.skin
    if kind == "sphere":
        return Collider(
            kind, _principal(np.zeros((1, body.dim)), props), np.zeros((1, body.dim), np.int32), body.radius, skin
        )
    if kind == "capsule":
        ends = np.array([[0.0, 0.0, -0.5], [0.0, 0.0, 0.5]]) * body.height
        return Collider(kind, _principal(ends, props), np.array([[0, 1, 1]], np.int32), body.radius, skin)
    if kind == "hull":
        with context(f"rigid_body {body.name!r}"):
            shape = convex_hull(shape.vertices)
    return Collider(kind, _principal(shape.vertices, props), shape.faces, 0.0, skin)


def _patches(body: RigidBody, collider: Collider, points: FloatArray) -> Patches:
    """What the air meets: the collision surface of a body that it can move; `points`: the shape, principal frame."""
    if body.kind != "dynamic":
        return Patches(np.zeros((0, body.dim)), np.zeros((0, body.dim)), np.zeros(0))
    if collider.kind == "sphere":
        return ball_patches(collider.points[0], collider.radius)
    if collider.kind == "capsule":
        area = 2.0 * math.pi * body.radius * (body.height + 2.0 * body.radius)
        return face_patches(points, body.shape.faces, area)
    return face_patches(collider.points, collider.faces)


def _skin(body: RigidBody) -> float:
    """m: 1 % of the smallest extent; of the mean edge for a sheet, which may have none."""
    shape = body.shape
    if shape.closed:
        return SKIN * float(np.ptp(shape.vertices, axis=0).min())
    edges = shape.vertices[shape.edges]
    return SKIN * float(np.linalg.norm(edges[:, 1] - edges[:, 0], axis=1).mean())
