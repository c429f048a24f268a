"""Rigid bodies as arrays: mass properties, colliders, pose and momentum, and the glue between them and soft bodies.

Everything about a rigid body is told in its principal frame: origin at the centre of mass, axes along the principal
axes of inertia, so that the inertia is three numbers. The user's shape frame differs by `props.center` and
`props.rotation`. World w holds the bodies w*K .. (w+1)*K; positions are relative to the model's anchor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import warp as wp

from turgor.kernel.numbers import Numbers
from turgor.model.parts import Part
from turgor.model.rotations import angle_of, quaternion_of
from turgor.scene.data import rotation_matrix
from turgor.scene.rigid import RIGID_KINDS, RigidBody
from turgor.scene.scene import Scene
from turgor.scene.validate import context
from turgor.shapes.hull import convex_hull
from turgor.shapes.mass import MassProperties, capsule_inertia, mass_properties, solid, sphere_inertia

__all__ = ["Collider", "Rigids"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int32]

SKIN = 0.01  # of the smallest extent of the shape


@dataclass(frozen=True)
class Collider:
    """What others touch, in the principal frame: points and faces, thickened by `radius`."""

    kind: str  # "hull" | "sphere" | "capsule" | "mesh"
    points: FloatArray  # (n, dim) m; a sphere has one, a capsule two
    faces: IntArray  # (m, dim); a hull's look outwards (2D: counter-clockwise); a sphere has [[0, 0, 0]]
    radius: float  # m; 0 for a hull and a mesh
    skin: float  # m


class Rigids:
    """The rigid bodies of all worlds. `PROPER`: what is saved and hashed."""

    PROPER = (
        "x", "v", "q", "angular", "spin", "inverse_mass", "inverse_inertia", "friction", "restitution",
        "grab_on", "grab_local", "grab_target", "grab_stiffness", "grab_damping",
    )  # fmt: skip

    def __init__(
        self,
        scene: Scene,
        numbers: Numbers,
        worlds: int,
        device: Any,
        anchor: FloatArray,
        parts: Sequence[Part],
        starts: npt.NDArray[np.int64],
    ) -> None:
        self.numbers, self.worlds, self.device = numbers, worlds, device
        self.bodies = list(scene.rigid_bodies)
        self.count = len(self.bodies)  # per world
        self.total = self.count * worlds
        self._find_glue(scene, parts, starts)
        self.props = [self._props(index, parts, starts) for index in range(self.count)]
        self.shape_points = [
            _principal(body.shape.vertices, props) for body, props in zip(self.bodies, self.props, strict=True)
        ]
        self.collision = [_collider(body, props) for body, props in zip(self.bodies, self.props, strict=True)]
        self._parameters()
        self._start(anchor)
        self._glue(parts, starts)

    # what does not change -------------------------------------------------------------------------------------------

    def _find_glue(self, scene: Scene, parts: Sequence[Part], starts: npt.NDArray[np.int64]) -> None:
        """Host, one world: which vertex (internal order) hangs on which rigid body."""
        soft = {body.name: index for index, body in enumerate(scene.bodies)}
        hard = {body.name: index for index, body in enumerate(self.bodies)}
        vertices: list[int] = []
        owners: list[int] = []
        for entry in scene.attachments:
            index = soft[entry.body]
            chosen = np.isin(parts[index].order, scene.bodies[index].chosen_vertices(entry.vertices))
            found = (np.flatnonzero(chosen) + starts[index]).tolist()
            vertices += found
            owners += [hard[entry.rigid]] * len(found)
        self.glued_vertex_host = np.array(vertices, np.int32)
        self.glued_body_host = np.array(owners, np.int32)

    def glued_vertices(self, first: int, last: int) -> IntArray:
        """The glued ones of the vertices first .. last of a world, counted from `first`, in internal order."""
        mine = self.glued_vertex_host[(self.glued_vertex_host >= first) & (self.glued_vertex_host < last)]
        return np.asarray(mine - first, np.int32)

    def _glued(self, index: int, parts: Sequence[Part], starts: npt.NDArray[np.int64]) -> tuple[FloatArray, FloatArray]:
        """Masses (g,) kg and world positions (g, dim) m of the vertices glued to a body."""
        mine = self.glued_vertex_host[self.glued_body_host == index]
        owner = np.searchsorted(starts, mine, side="right") - 1
        pairs = [(parts[b], v - starts[b]) for b, v in zip(owner, mine, strict=True)]
        masses = np.array([part.masses[v] for part, v in pairs])
        places = np.array([part.positions[v] for part, v in pairs]).reshape(-1, self.numbers.dim)
        return masses, places

    def _props(self, index: int, parts: Sequence[Part], starts: npt.NDArray[np.int64]) -> MassProperties:
        """Of the solid and, if it is free to move, all that is glued to it; along the axes of its shape."""
        body = self.bodies[index]
        own = _solid_properties(body)
        if body.kind != "dynamic":
            return own
        masses, places = self._glued(index, parts, starts)
        return own.with_points(masses, (places - np.array(body.at)) @ rotation_matrix(body.rotation))

    def _parameters(self) -> None:
        spin_zero = np.zeros(3) if self.numbers.dim == 3 else np.zeros(1)
        free = [body.kind == "dynamic" for body in self.bodies]
        masses = np.array([props.mass for props in self.props])
        self.inverse_mass = self.reals(np.where(free, 1.0 / masses, 0.0) if self.count else [])
        inverse = [1.0 / p.moments if f else spin_zero for p, f in zip(self.props, free, strict=True)]
        self.inverse_inertia = self.spins(inverse)
        self.kind = self.ints([RIGID_KINDS.index(body.kind) for body in self.bodies])
        self.world = wp.array(
            np.repeat(np.arange(self.worlds, dtype=np.int32), self.count), dtype=wp.int32, device=self.device
        )
        self.friction = self.reals([-1.0 if body.friction is None else body.friction for body in self.bodies])
        self.restitution = self.reals([-1.0 if b.restitution is None else b.restitution for b in self.bodies])
        self.radius = self.reals([collider.radius for collider in self.collision])
        self.skin = self.reals([collider.skin for collider in self.collision])
        self.size = self.reals([float(np.ptp(body.shape.vertices, axis=0).max()) for body in self.bodies])

    # what changes ---------------------------------------------------------------------------------------------------

    def _start(self, anchor: FloatArray) -> None:
        n = self.numbers
        turns = [rotation_matrix(body.rotation) for body in self.bodies]
        rows = list(zip(self.bodies, self.props, turns, strict=True))
        self.x = self.vectors([np.array(body.at) + turn @ props.center - anchor for body, props, turn in rows])
        self.v = self.vectors([body.velocity for body in self.bodies])
        self.q = self.poses([turn @ props.rotation for _, props, turn in rows])
        self.spin = self.spins([body.spin for body in self.bodies])
        self.angular = self.spins([_angular(body, props, turn) for body, props, turn in rows])
        self.world_inertia = self._inverse_inertias(rows)
        pose = n.real if n.dim == 2 else wp.quatf if n.precision == "single" else wp.quatd
        for name, kind in (("x", n.vec), ("v", n.vec), ("q", pose), ("angular", n.spin), ("spin", n.spin)):
            setattr(self, f"{name}_good", wp.clone(getattr(self, name)) if self.total else self._zeros(kind))
        self.force, self.push_move = self._zeros(n.vec), self._zeros(n.vec)  # N; m
        self.torque, self.push_turn = self._zeros(n.spin), self._zeros(n.spin)  # N m; rad
        self.scale = self.reals([1.0] * self.count)
        self.grab_on = self._zeros(wp.int32)
        self.grab_local, self.grab_target = self._zeros(n.vec), self._zeros(n.vec)  # m: principal frame; from anchor
        self.grab_stiffness, self.grab_damping = self._zeros(n.real), self._zeros(n.real)  # N/m; N s/m

    # set in _start, for the type checker
    x_good: Any
    v_good: Any
    q_good: Any
    angular_good: Any
    spin_good: Any

    def _inverse_inertias(self, rows: Sequence[tuple[RigidBody, MassProperties, FloatArray]]) -> Any:
        """Inverse inertia in world axes at the start; a substep refreshes it."""
        n = self.numbers
        if n.dim == 2:
            return self.reals([1.0 / float(p.moments[0]) if b.kind == "dynamic" else 0.0 for b, p, _ in rows])
        kind = wp.mat33f if n.precision == "single" else wp.mat33d
        inverse = [
            turn @ np.linalg.inv(props.inertia) @ turn.T if body.kind == "dynamic" else np.zeros((3, 3))
            for body, props, turn in rows
        ]
        return self._tiled(np.array(inverse).reshape(-1, 3, 3), kind)

    def _glue(self, parts: Sequence[Part], starts: npt.NDArray[np.int64]) -> None:
        """Device arrays of the glue, and the velocities that glued vertices start with."""
        dim, vertices = self.numbers.dim, int(starts[-1])
        count = len(self.glued_vertex_host)
        local = np.zeros((count, dim))
        self.glued_velocities = np.zeros((count, dim))
        for index, body in enumerate(self.bodies):
            mine = self.glued_body_host == index
            if not mine.any():
                continue
            props, turn = self.props[index], rotation_matrix(body.rotation)
            _, places = self._glued(index, parts, starts)
            arms = places - (np.array(body.at) + turn @ props.center)
            local[mine] = arms @ (turn @ props.rotation)
            self.glued_velocities[mine] = np.array(body.velocity) + swing(body.spin, arms)
        self.glued_count = count * self.worlds
        worlds = np.repeat(np.arange(self.worlds), count)
        self.glued_vertex = self._plain(np.tile(self.glued_vertex_host, self.worlds) + worlds * vertices, wp.int32)
        self.glued_body = self._plain(np.tile(self.glued_body_host, self.worlds) + worlds * self.count, wp.int32)
        self.glued_local = self._tiled(local, self.numbers.vec)

    # device arrays, the same in every world -------------------------------------------------------------------------

    def _plain(self, values: Any, dtype: Any) -> Any:
        kind: Any = np.int32 if dtype is wp.int32 else self.numbers.dtype
        return wp.array(np.ascontiguousarray(values, kind), dtype=dtype, device=self.device)

    def _tiled(self, values: npt.NDArray[Any], dtype: Any) -> Any:
        return self._plain(np.tile(values, (self.worlds,) + (1,) * (values.ndim - 1)), dtype)

    def _zeros(self, dtype: Any) -> Any:
        return wp.zeros(self.total, dtype=dtype, device=self.device)

    def ints(self, values: Any) -> Any:
        """One whole number per body."""
        return self._tiled(np.asarray(values, np.int32).reshape(-1), wp.int32)

    def reals(self, values: Any) -> Any:
        """One number per body."""
        return self._tiled(np.asarray(values, np.float64).reshape(-1), self.numbers.real)

    def vectors(self, values: Any) -> Any:
        """One vector per body."""
        return self._tiled(np.asarray(values, np.float64).reshape(-1, self.numbers.dim), self.numbers.vec)

    def spins(self, values: Any) -> Any:
        """One angular quantity per body: a vector in 3D, a number in 2D."""
        return self.vectors(values) if self.numbers.dim == 3 else self.reals(values)

    def poses(self, matrices: Sequence[FloatArray]) -> Any:
        """One orientation per body, from matrices (dim, dim)."""
        if self.numbers.dim == 2:
            return self.reals([angle_of(matrix) for matrix in matrices])
        kind = wp.quatf if self.numbers.precision == "single" else wp.quatd
        return self._tiled(np.array([quaternion_of(matrix) for matrix in matrices]).reshape(-1, 4), kind)


def swing(spin: Any, arms: FloatArray) -> FloatArray:
    """(n, dim) m/s: velocities of points at `arms` that turn with `spin`."""
    if arms.shape[1] == 3:
        return np.asarray(np.cross(np.asarray(spin, np.float64), arms))
    return float(np.asarray(spin)) * np.stack([-arms[:, 1], arms[:, 0]], axis=1)


def _angular(body: RigidBody, props: MassProperties, turn: FloatArray) -> Any:
    """Angular momentum in world axes at the start; 0 for a body that forces do not move."""
    if body.dim == 2:
        return float(props.moments[0]) * float(np.asarray(body.spin)) * (body.kind == "dynamic")
    return turn @ props.inertia @ turn.T @ np.array(body.spin) * (body.kind == "dynamic")


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


def _skin(body: RigidBody) -> float:
    """m: 1 % of the smallest extent; of the mean edge for a sheet, which may have none."""
    shape = body.shape
    if shape.closed:
        return SKIN * float(np.ptp(shape.vertices, axis=0).min())
    edges = shape.vertices[shape.edges]
    return SKIN * float(np.linalg.norm(edges[:, 1] - edges[:, 0], axis=1).mean())
