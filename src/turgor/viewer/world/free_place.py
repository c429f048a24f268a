"""Places for new bodies: free of other bodies, on the free side of all walls; also where a person has clicked."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import numpy.typing as npt

from turgor.errors import SceneError
from turgor.viewer.world.world import World

__all__ = ["Click", "body_boxes", "free_place", "inside_walls", "is_free"]

FloatArray = npt.NDArray[np.float64]
LAYERS, COLUMNS = 12, 4  # places that are tried, inside a container: layers, and columns to each side of the middle
MARGIN = 1e-6  # of a body's reach, so that what lies on a wall is not inside it by rounding


def free_place(world: World, half: FloatArray, center: Any = None) -> FloatArray:
    """(dim,) m: a place for a body that reaches `half` (m) along each axis.

    The lowest free one from `center` (m) on upwards; without one, above the picture's middle, and in a container the
    topmost free one.
    """
    frame, layout = world.frame(), world.layout
    lows, highs = corners = _corners(world)
    boxes = [
        (wall.size, pose) for wall, pose in zip(layout.walls, frame.walls, strict=True) if wall.kind == "container"
    ]
    given = center is not None
    for place in _candidates(center if given else world.picture_center(), half, lows, highs, [] if given else boxes):
        if is_free(world, place, half, corners):
            return np.asarray(place)
    size = 2.0 * float(half.max())
    raise SceneError(f"there is no free place of {size:.2g} m: choose a smaller size, or remove a body")


def is_free(
    world: World, place: FloatArray, half: FloatArray, corners: tuple[FloatArray, FloatArray] | None = None
) -> bool:
    """Whether a box about `place` is free of bodies (if known, between these corners) and on the free side of walls."""
    lows, highs = _corners(world) if corners is None else corners
    apart = (place - half > highs) | (place + half < lows) if len(lows) else np.ones((1, 1), bool)
    return bool(apart.any(axis=1).all()) and inside_walls(world, place, half)


def body_boxes(world: World) -> dict[str, tuple[FloatArray, FloatArray]]:
    """By name, m: the lowest and the highest corner of each body."""
    positions = world.frame().positions
    parts = {body.name: positions[body.start : body.start + body.count] for body in world.layout.bodies}
    return {name: (part.min(axis=0), part.max(axis=0)) for name, part in parts.items()}


def _corners(world: World) -> tuple[FloatArray, FloatArray]:
    """(n, dim) each: of all bodies."""
    boxes = body_boxes(world).values()
    return np.array([low for low, _ in boxes]), np.array([high for _, high in boxes])


def _candidates(center: Any, half: FloatArray, lows: FloatArray, highs: FloatArray, boxes: list[Any]) -> Any:
    """Places from the best one on."""
    dim = len(half)
    if not boxes:
        if center is None:
            center = (lows.min(axis=0) + highs.max(axis=0)) / 2.0 if len(lows) else np.zeros(dim)
        top = float(highs[:, -1].max()) if len(highs) else 0.0
        for height in np.arange(center[-1], max(top, center[-1]) + 2.0 * LAYERS * half[-1], 0.25 * half[-1]):
            yield np.array([*center[:-1], height])
        return
    size, pose = boxes[0]
    reach = np.abs(pose.rotation) @ np.array(size) / 2.0
    columns = np.linspace(-1.0, 1.0, 2 * COLUMNS + 1)
    sides = sorted(itertools.product(columns, repeat=dim - 1), key=lambda side: sum(part**2 for part in side))
    for height in np.linspace(1.0, -1.0, LAYERS):
        for side in sides:
            yield pose.position + np.array([*side, height]) * np.maximum(reach - half, 0.0)


def inside_walls(world: World, place: FloatArray, half: FloatArray) -> bool:
    """Whether a box about `place` is on the free side of all walls."""
    near = MARGIN * float(half.max())
    for wall, pose in zip(world.layout.walls, world.frame().walls, strict=True):
        away = place - pose.position
        if wall.kind == "container":
            own, room = pose.rotation.T @ away, np.abs(pose.rotation.T) @ half
            if np.any(np.abs(own) + room > np.array(wall.size) / 2.0 + near):
                return False
        elif float(np.dot(wall.normal, away)) < float(np.abs(wall.normal) @ half) - near:
            return False
    return True


def into_walls(world: World, place: FloatArray, half: FloatArray) -> FloatArray:
    """(dim,) m: the place moved so far that a box about it is on the free side of each wall."""
    layout, frame = world.layout, world.frame()
    for wall, pose in zip(layout.walls, frame.walls, strict=True):
        away = place - pose.position
        if wall.kind == "container":
            own, room = pose.rotation.T @ away, np.abs(pose.rotation.T) @ half
            most = np.maximum(np.array(wall.size) / 2.0 - room, 0.0)
            place = pose.position + pose.rotation @ np.clip(own, -most, most) if np.any(np.abs(own) > most) else place
        else:
            normal = np.array(wall.normal)
            place = place + max(float(np.abs(normal) @ half - normal @ away), 0.0) * normal
    return place


class Click:
    """Where a person has clicked: a ray of the scene (3D), or a point of it (2D); `free_place` for a new body."""

    def __init__(self, origin: FloatArray, direction: FloatArray, body: FloatArray | None) -> None:
        """origin, direction: (3,) m, of the view. body: (3,) m, where the ray meets the first body."""
        self._origin, self._direction, self._body = origin, direction / np.linalg.norm(direction), body

    def __call__(self, world: World, half: FloatArray) -> FloatArray:
        """(dim,) m: on what was clicked, or where the picture's middle is as far away; higher, where that is taken."""
        if world.scene.dim == 2:  # the scene is the plane y = 0 of the view
            point = self._origin - self._direction * self._origin[1] / (self._direction[1] or 1e-9)
            return free_place(world, half, into_walls(world, point[[0, 2]], half))
        depth = None if self._body is None else float((self._body - self._origin) @ self._direction)
        depths = [*([] if depth is None else [depth]), *self._walls(world)]
        up = np.array([0.0, 0.0, half[2]])
        if depths:
            return free_place(world, half, into_walls(world, self._origin + min(depths) * self._direction + up, half))
        middle = world.picture_center()
        middle = world.frame().positions.mean(axis=0) if middle is None else np.asarray(middle)
        far = max(float((middle - self._origin) @ self._direction), float(half.max()))
        return free_place(world, half, into_walls(world, self._origin + far * self._direction, half))

    def _walls(self, world: World) -> list[float]:
        """m along the ray: where it meets floors and planes from their free side, and leaves containers."""
        found: list[float] = []
        for wall, pose in zip(world.layout.walls, world.frame().walls, strict=True):
            away = self._origin - pose.position
            if wall.kind == "container":
                own, along = pose.rotation.T @ away, pose.rotation.T @ self._direction
                safe = np.where(np.abs(along) < 1e-12, 1e-12, along)
                ends = np.sort([(sign * np.array(wall.size) / 2.0 - own) / safe for sign in (-1.0, 1.0)], axis=0)
                if ends[0].max() < ends[1].min() and ends[1].min() > 0.0:
                    found.append(float(ends[1].min()))
            else:
                normal = np.array(wall.normal)
                if (fall := -float(normal @ self._direction)) > 1e-9 and (height := float(normal @ away)) > 0.0:
                    found.append(height / fall)
        return found
