"""How much energy a scene has to give, in round numbers: of its motion at the start, heights, wind, moving walls."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from turgor.scene.data import Body
from turgor.scene.rigid import RigidBody
from turgor.scene.scene import Scene

__all__ = ["energy_scale"]


def energy_scale(scene: Scene) -> float:
    """J, of everything together: ½ m v² with the fastest thing around, and m g times the extent of the scene."""
    bodies: list[Body | RigidBody] = [*scene.bodies, *scene.rigid_bodies]
    places = [np.zeros((1, scene.dim)), *(body.positions for body in bodies)]
    places += [np.array([wall.point]) for wall in scene.planes]
    points = np.concatenate([*places, *(_corners(box) for box in scene.containers)])
    if scene.grounds:
        points = np.concatenate([points, [[0.0] * (scene.dim - 1) + [wall.height] for wall in scene.grounds]])
    extent = float(np.linalg.norm(np.ptp(points, axis=0)))
    total = sum(body.mass for body in bodies)
    fastest = max([_size(scene.wind), *(_size(wall.velocity) for wall in scene.planes)])
    fastest = max([fastest, *(_size(box.spin) * _size(box.size) for box in scene.containers)])
    own = sum(0.5 * body.mass * _speed(body) ** 2 for body in bodies)
    return own + 0.5 * total * fastest**2 + total * _size(scene.gravity) * extent


def _speed(body: Any) -> float:
    """m/s, of the fastest point at the start."""
    reach = float(np.linalg.norm(np.ptp(body.shape.vertices, axis=0)))
    return _size(body.velocity) + _size(getattr(body, "spin", 0.0)) * reach


def _size(vector: Any) -> float:
    return math.hypot(*vector) if isinstance(vector, tuple) else abs(float(vector))


def _corners(box: Any) -> Any:
    half = 0.5 * np.array(box.size)
    return np.array(box.at) + np.stack([-half, half])
