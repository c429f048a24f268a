"""Glue a soft body or cloth to a rigid body that is near, as both are now. No browser.

The engine glues vertices where the scene describes them. So both bodies are described where they are now: the soft one
as its shape fits best what it has become, above all where it is glued (Kabsch 1976, "A solution for the best rotation
to relate two sets of vectors"). What is glued goes there, and the rest follows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from turgor.errors import SceneError
from turgor.model.rotations import angle_of, matrices_of, quaternion_of
from turgor.scene.data import Body
from turgor.scene.rigid import RigidBody
from turgor.scene.scene import Scene
from turgor.viewer.world.history import one_step
from turgor.viewer.world.world import World

__all__ = ["glue", "partners", "unglue"]

FloatArray = npt.NDArray[np.float64]
NEAR = 0.25  # of the soft body's size: bodies that are further apart are not glued
PATCH = 0.25  # of an edge of the soft body: vertices that are so much further than the nearest one are glued, too
ASIDE = 0.01  # weight, in the fit, of vertices that are not glued


def partners(world: World, name: str) -> list[str]:
    """Names of the bodies that a body can be glued to."""
    rigid = isinstance(world.scene[name], RigidBody)
    return [body.name for body in (world.scene.bodies if rigid else world.scene.rigid_bodies)]


@one_step
def glue(world: World, one: str, other: str) -> tuple[int, ...]:
    """Glue the vertices of a soft body that are at a rigid body to it; in any order. Returns their numbers."""
    things = [world.scene[name] for name in (one, other)]
    soft = next((thing for thing in things if isinstance(thing, Body)), None)
    rigid = next((thing for thing in things if isinstance(thing, RigidBody)), None)
    if soft is None or rigid is None:
        raise SceneError(
            f"{one} and {other} cannot be glued: one of two must be soft or a cloth, and the other one rigid"
        )
    if any((entry.body, entry.rigid) == (soft.name, rigid.name) for entry in world.scene.attachments):
        raise SceneError(f"{soft.name} and {rigid.name} are glued already: take off the glue to glue them anew")
    vertices = _patch(world, soft, rigid)
    scene = world.scene.copy()
    _replace(scene, replace(rigid, **_pose(world, rigid)))
    _replace(scene, replace(soft, **_fit(world, soft, vertices)))
    scene.attach(soft.name, vertices, rigid.name)
    world.take_over(scene)
    return vertices


@one_step
def unglue(world: World, name: str) -> None:
    """Take off all glue of a body."""
    scene = world.scene.copy()
    scene.attachments[:] = [entry for entry in scene.attachments if name not in (entry.body, entry.rigid)]
    if len(scene.attachments) == len(world.scene.attachments):
        raise SceneError(f"{name} is not glued to anything")
    world.take_over(scene)


def _replace(scene: Scene, body: Any) -> None:
    for things in (scene.soft_bodies, scene.cloths, scene.rigid_bodies):
        for index, thing in enumerate(things):
            if thing.name == body.name:
                things[index] = body


def _patch(world: World, soft: Body, rigid: RigidBody) -> tuple[int, ...]:
    """The vertices of a soft body that are nearest to a rigid one, and neither pinned nor glued."""
    points = np.asarray(world.sim[soft.name].positions, np.float64)
    far = _distances(points, np.asarray(world.sim[rigid.name].positions, np.float64), rigid.shape.faces)
    size = float(np.ptp(points, axis=0).max())
    if far.min() > NEAR * size:
        raise SceneError(
            f"{soft.name} and {rigid.name} are {far.min():.2g} m apart: drag one to the other, and glue them there"
        )
    taken = {int(vertex) for vertex in soft.pinned}
    for entry in world.scene.attachments:
        if entry.body == soft.name:
            taken |= {int(vertex) for vertex in soft.chosen_vertices(entry.vertices)}
    faces = soft.shape.faces
    edge = float(np.median(np.linalg.norm(points[faces[:, 0]] - points[faces[:, 1]], axis=1)))
    order = [int(vertex) for vertex in far.argsort() if int(vertex) not in taken]
    if not order or far[order[0]] > NEAR * size:
        raise SceneError(f"{soft.name} is pinned or glued already where {rigid.name} is: free it there first")
    limit = far[order[0]] + PATCH * edge
    close = [vertex for number, vertex in enumerate(order) if far[vertex] <= limit or number < points.shape[1]]
    return tuple(sorted(close))


def _pose(world: World, rigid: RigidBody) -> dict[str, Any]:
    """Where a rigid body is now, as a description."""
    view = world.sim.rigid_bodies[rigid.name]
    origin = view.from_shape(np.zeros(rigid.dim))
    turn = matrices_of(np.atleast_1d(np.asarray(view.rotation)) if rigid.dim == 2 else np.asarray(view.rotation)[None])[
        0
    ]
    return {"at": tuple(np.asarray(origin).tolist()), "rotation": _rotation(turn)}


def _fit(world: World, soft: Body, vertices: tuple[int, ...]) -> dict[str, Any]:
    """Where a soft body's shape is now: the rotation and place with the least squares of distances, weighted."""
    now, shape = np.asarray(world.sim[soft.name].positions, np.float64), soft.shape.vertices
    weights = np.full(len(now), ASIDE)
    weights[list(vertices)] = 1.0
    weights /= weights.sum()
    there, here = weights @ now, weights @ shape
    left, _, right = np.linalg.svd((now - there).T @ (weights[:, None] * (shape - here)))
    signs = np.ones(len(there))
    signs[-1] = np.sign(np.linalg.det(left @ right))  # a rotation, not a mirror
    turn = left @ np.diag(signs) @ right
    return {"at": tuple((there - turn @ here).tolist()), "rotation": _rotation(turn)}


def _rotation(turn: FloatArray) -> Any:
    """An angle in 2D, axis times angle in 3D."""
    if len(turn) == 2:
        return angle_of(turn)
    *axis, real = quaternion_of(turn).tolist()
    length = float(np.linalg.norm(axis))
    angle = 2.0 * np.arctan2(length, real)
    return tuple((np.array(axis) * (angle / length if length > 0.0 else 0.0)).tolist())


def _distances(points: FloatArray, corners: FloatArray, faces: Any) -> FloatArray:
    """(n,) m: from each point to the nearest face: an edge of it, or its inside where the point is above that."""
    sides = range(faces.shape[1]) if faces.shape[1] == 3 else (0,)
    nearest = np.full(len(points), np.inf)
    for face in corners[faces]:
        for side in sides:
            a, b = face[side], face[(side + 1) % len(face)]
            share = np.clip((points - a) @ (b - a) / max(float((b - a) @ (b - a)), 1e-300), 0.0, 1.0)
            nearest = np.minimum(nearest, np.linalg.norm(points - a - share[:, None] * (b - a), axis=1))
        if len(face) == 3:
            normal = np.cross(face[1] - face[0], face[2] - face[0])
            normal /= max(float(np.linalg.norm(normal)), 1e-300)
            inward = [np.cross(normal, face[(k + 1) % 3] - face[k]) for k in range(3)]
            above = np.all([(points - face[k]) @ inward[k] >= 0.0 for k in range(3)], axis=0)
            nearest = np.where(above, np.minimum(nearest, np.abs((points - face[0]) @ normal)), nearest)
    return nearest
