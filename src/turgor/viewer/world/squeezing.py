"""Squeeze a body between two plates: where they stand, and how far they go. No browser."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from turgor import shapes
from turgor.errors import SceneError
from turgor.scene.data import SoftBody
from turgor.scene.rigid import RigidBody
from turgor.viewer.world.added_bodies import free_name
from turgor.viewer.world.free_place import body_boxes, inside_walls
from turgor.viewer.world.history import one_step
from turgor.viewer.world.plates import Pair
from turgor.viewer.world.world import World

__all__ = ["open_plates", "plates", "remove_plates", "squeeze"]

FloatArray = npt.NDArray[np.float64]
STEM = "plate"
THICK = 0.08  # of the body's size
CLEAR = 0.06  # of it: between body and plate at first
WIDE = 0.25  # of it: how far a plate reaches beyond the body, which becomes wider, on each side
COLOR = (0.62, 0.64, 0.68)


def plates(world: World) -> Pair | None:
    """The names of the plates, if there are any."""
    ours = [body for body in world.scene.rigid_bodies if body.name in world.came and body.name.startswith(STEM)]
    names = [body.name for body in ours if body.kind == "kinematic"]
    return (names[0], names[1]) if len(names) >= 2 else None


@one_step
def squeeze(world: World, name: str, share: float, speed: float) -> Pair:
    """Plates about a body come together until `share` of its breadth is left between them, each with `speed` (m/s).

    Where plates stand about it already, they go on from where they are. Returns the plates' names.
    """
    if not isinstance(world.scene[name], SoftBody):
        raise SceneError(f"{name} cannot be squeezed: select a soft body that is closed")
    if not 0.0 < share < 1.0:
        raise SceneError(f"squeeze to a share between 0 and 1 of its breadth, not {share:g}")
    if not speed > 0.0:
        raise SceneError(f"the plates need a speed above 0, not {speed:g} m/s")
    pair = plates(world)
    if pair is not None and not _about(world, name, pair):
        remove_plates(world)
        pair = None
    if pair is None:
        pair = _put(world, name)
    apart = _apart(world, pair)
    thick = float(np.ptp(_plates(world, pair)[0].shape.vertices, axis=0)[apart.argmax()])
    breadth = (float(apart.max()) - thick) / (1.0 + 2.0 * CLEAR)  # of the body, when they were put there
    world.plates.send(pair, share * breadth + thick, speed)
    return pair


def open_plates(world: World, speed: float) -> None:
    """They go back to where they were put."""
    pair = plates(world)
    if pair is None:
        raise SceneError("there are no plates: squeeze a body first")
    world.plates.send(pair, float(_apart(world, pair).max()), speed)


@one_step
def remove_plates(world: World) -> None:
    """Take them away."""
    pair = plates(world)
    if pair is None:
        raise SceneError("there are no plates to take away")
    for name in pair:
        world.remove(name)


def _about(world: World, name: str, pair: Pair) -> bool:
    """Whether a body's centre is between the plates."""
    boxes = body_boxes(world)
    low, high = (np.minimum(*(boxes[plate][0] for plate in pair)), np.maximum(*(boxes[plate][1] for plate in pair)))
    middle = (boxes[name][0] + boxes[name][1]) / 2.0
    return bool(np.all(middle > low) and np.all(middle < high))


def _put(world: World, name: str) -> Pair:
    """Add plates where there is room: to its left and right, else before and behind it, else below and above."""
    boxes = body_boxes(world)
    others = [box for other, box in boxes.items() if other != name]
    for centers, half in _sites(world, *boxes[name]):
        free = all(np.any((center - half > high) | (center + half < low)) for center in centers for low, high in others)
        if free and all(inside_walls(world, center, half) for center in centers):
            shape = _plate(2.0 * half)
            one, other = (
                world.add(
                    RigidBody(shape, name=free_name(world, STEM), at=_tuple(center), kind="kinematic", color=COLOR)
                )
                for center in centers
            )
            return one, other
    raise SceneError(f"there is no room for plates about {name}: drag it away from the others, or from the walls")


def _sites(world: World, low: FloatArray, high: FloatArray) -> Iterator[tuple[list[FloatArray], FloatArray]]:
    """Centres of both plates, and how far each reaches from there, for each axis."""
    extent, dim = high - low, len(low)
    size = float(extent.max())
    floors = [pose.position[-1] for wall, pose in _floors(world)]
    for axis in range(dim):
        lower, upper = low - WIDE * extent, high + WIDE * extent
        if floors and axis != dim - 1:
            lower[-1] = max(lower[-1], max(floors))
        half, middle = (upper - lower) / 2.0, (upper + lower) / 2.0
        half[axis] = THICK * size / 2.0
        centers = []
        for sign, side in ((-1.0, low), (1.0, high)):
            center = middle.copy()
            center[axis] = side[axis] + sign * (CLEAR * extent[axis] + half[axis])
            centers.append(center)
        yield centers, half


def _floors(world: World) -> list[tuple[Any, Any]]:
    walls = zip(world.layout.walls, world.frame().walls, strict=True)
    return [(wall, pose) for wall, pose in walls if wall.kind != "container" and wall.normal[-1] > 0.99]


def _plate(size: FloatArray) -> shapes.Shape:
    if len(size) == 3:
        return shapes.box(size.tolist())
    x, y = size / 2.0
    return shapes.outline([(-x, -y), (x, -y), (x, y), (-x, y)])


def _plates(world: World, pair: Pair) -> list[Any]:
    return [world.scene[name] for name in pair]


def _apart(world: World, pair: Pair) -> FloatArray:
    """(dim,) m: between their centres along each axis, as they were put there."""
    one, other = _plates(world, pair)
    return np.asarray(np.abs(np.subtract(other.at, one.at)))


def _tuple(values: FloatArray) -> tuple[float, ...]:
    return tuple(values.tolist())
