"""Bodies that a user adds: of a material that suits the scene, above the picture's middle. No browser."""

from __future__ import annotations

import itertools
import math
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from turgor import shapes
from turgor.errors import SceneError, TurgorError
from turgor.scene.data import SoftBody, Springs
from turgor.scene.gas import Gas
from turgor.scene.rigid import RigidBody
from turgor.shapes import Shape
from turgor.viewer.world.world import World

__all__ = ["FLAT", "SOLID", "add_shape", "add_shapes", "common_size", "made"]

FloatArray = npt.NDArray[np.float64]
SOLID = ("ball", "box", "cone", "letter")  # what can be added in 3D
FLAT = ("circle", "square", "star")  # and in 2D
ROUND = ("ball", "circle")
PART = 0.5  # of half the diagonal of what the camera shows, at most
FILLS = 0.5  # of the shortest side of a container, at most
GAP = 0.04  # of a body's size that is left free around it
GROWN = 1.1  # gas swells a body at least by this
LAYERS, COLUMNS = 12, 4  # places that are tried, inside a container: layers, and columns to each side of the middle
FEW = 300  # vertices: a scene of coarser balls gets coarse balls
ANGULAR_GAUGE = 0.3  # of the gauge pressure of balls: corners are to stay
ANGULAR_BENDING = 0.06  # of stiffness × edge², N m/rad: as the soft cubes of "torus-and-cubes"
SHORT = 5.0  # percent of the edges are shorter than the one that bending is made for
QUICK = 2.0  # times as fast as the scene's own a new body may ring: it takes that many times the substeps


@dataclass(frozen=True)
class _Material:
    """What new bodies are like: the scene's first body with gas, or a good one."""

    size: float  # m
    count: int  # vertices
    mass: float  # kg
    stiffness: float  # N/m
    damping: float  # N s/m
    gauge: float  # Pa
    ambient: float  # Pa
    friction: float | None = 0.5
    restitution: float | None = None
    drag: float = 0.4


BALL = _Material(0.7, 162, 0.5, 120.0, 0.15, 150.0, 1000.0)  # as in "ball-on-cloth"
DISC = _Material(0.56, 32, 0.5, 1500.0, 1.0, 100.0, 500.0, 0.1, None, 0.3)  # as in "jelly-2d"


def made(what: str, size: float, letter: str = "A", fine: bool = False) -> Shape:
    """A shape about its middle, `size` m long (a letter: high)."""
    if what == "ball":
        return shapes.icosphere(size / 2.0, 3 if fine else 2)
    if what == "box":
        return shapes.box((size, size, size), 5)
    if what == "cone":
        return shapes.cone(0.45 * size, size, 14, 18)
    if what == "circle":
        return shapes.circle(size / 2.0, 48 if fine else 32)
    if what == "square":
        return shapes.polygon(4, size / 2.0, 32)
    if what == "star":
        return shapes.star(5, size / 2.0, size / 4.0, 40)
    one = unicodedata.normalize("NFC", letter.strip())  # an accent typed after its letter belongs to it
    if len(one) != 1:
        raise SceneError(f"letter: one letter is needed, got {letter!r}")
    parts = shapes.text(one, size, 0.3 * size, size / 10.0)
    return max(parts, key=lambda part: part.volume)


def common_size(world: World) -> float:
    """m: the middle one of the bodies' longest sides; at most a part of the picture, and of a container."""
    extents = [float(np.ptp(body.shape.vertices, axis=0).max()) for body in _bodies(world)]
    most = [PART * _radius(world), *(FILLS * min(box.size) for box in world.scene.containers)]
    return min([float(np.median(extents)) if extents else math.inf, *most])


def _radius(world: World) -> float:
    """m: half the diagonal of the bodies, their feet on the ground, and containers."""
    frame, layout = world.frame(), world.layout
    parts = [frame.positions]
    for wall, pose in zip(layout.walls, frame.walls, strict=True):
        if wall.kind == "container":
            parts += [pose.position + sign * np.array(wall.size)[None] / 2.0 for sign in (-1.0, 1.0)]
        elif (normal := np.array(wall.normal))[-1] > 0.5:
            parts.append(frame.positions - ((frame.positions - pose.position) @ normal)[:, None] * normal)
    points = np.concatenate(parts)
    return float(np.linalg.norm(np.ptp(points, axis=0))) / 2.0 if len(points) else 1.0


def add_shape(world: World, shape: Shape, what: str, rigid: bool, **skin: Any) -> str:
    """Add a body of this shape to the world; returns its name."""
    (name,) = add_shapes(world, [shape], what, rigid, **skin)
    return name


def add_shapes(
    world: World, parts: Sequence[Shape], what: str, rigid: bool, material: str | None = None, self_contact: bool = True
) -> list[str]:
    """Add a body of each shape, in their places to each other; returns their names. All of them are added, or none.

    material: the name of a preset; None: as the scene's own bodies are.
    """
    grown = 1.0 if rigid else max(GROWN, _growth(world))
    low = np.min([part.vertices.min(axis=0) for part in parts], axis=0)
    high = np.max([part.vertices.max(axis=0) for part in parts], axis=0)
    middle, half = (low + high) / 2.0, (high - low) / 2.0 * grown + GAP * float((high - low).max())
    at = tuple((free_place(world, half) - middle).tolist())
    names: list[str] = []
    try:
        for part in parts:
            place: dict[str, Any] = {"at": at}
            place["name"] = next(n for k in itertools.count(1) if (n := f"{what}-{k}") not in world.scene.names)
            if rigid:
                body: SoftBody | RigidBody = _rigid(world, part, what, **place)
            elif material is not None:
                body = SoftBody(part, material=material, self_contact=self_contact, **place)
            else:
                body = _soft(world, part, what, self_contact=self_contact, **place)
            names.append(world.add(body))
    except TurgorError:
        for name in names:
            world.remove(name)
        raise
    return names


def _soft(world: World, shape: Shape, what: str, **place: Any) -> SoftBody:
    """Strained as much by its gas as the scene's own: tension = pressure × radius, so k grows with size (2D: count).

    Of the same material, if the scene's own are of one: a preset knows its pressure, another keeps its strain.
    """
    own = _first(world)
    if own is not None and own.material is not None:
        assert own.gas is not None
        filled: dict[str, Any] = {}
        if own.membrane is own.material:
            size = float(np.ptp(shape.vertices, axis=0).max())
            gauge = world.gas(own.name)["gauge"] * float(np.ptp(own.shape.vertices, axis=0).max()) / size  # type: ignore[index]
            filled["gas"] = Gas(gauge=gauge, ambient=own.gas.ambient, pressure_at="equilibrium")
        surface = {key: getattr(own, key) for key in ("friction", "restitution", "drag_coefficient", "drag")}
        return SoftBody(shape, material=own.material, **filled, **surface, **place)
    like, size, count = _material(world), float(np.ptp(shape.vertices, axis=0).max()), len(shape.vertices)
    flat = shape.dim == 2
    stiffness = like.stiffness * (count / like.count if flat else size / like.size)
    skin = like.mass * (size / like.size) ** (1 if flat else 2)  # of the same thickness
    slow = like.mass * (count / like.count) * (stiffness / like.stiffness) / QUICK**2
    mass = max(skin, slow)
    heavier = stiffness * mass / count / (like.stiffness * like.mass / like.count)
    angular = what not in ROUND
    return SoftBody(
        shape,
        mass=mass,
        springs=Springs(stiffness, like.damping * math.sqrt(heavier)),
        bending=ANGULAR_BENDING * stiffness * _short_edge(shape) ** 2 if angular else 0.0,
        gas=Gas(gauge=like.gauge * (ANGULAR_GAUGE if angular and not flat else 1.0), ambient=like.ambient),
        settled=True,
        friction=like.friction,
        restitution=like.restitution,
        drag=like.drag,
        **place,
    )


def _short_edge(shape: Shape) -> float:
    """m: an edge that few are shorter than."""
    ends = shape.vertices[np.stack([shape.faces, np.roll(shape.faces, -1, axis=1)], axis=-1)]
    return float(np.percentile(np.linalg.norm(ends[..., 0, :] - ends[..., 1, :], axis=-1), SHORT))


def _rigid(world: World, shape: Shape, what: str, **place: Any) -> RigidBody:
    """As dense as the scene's rigid bodies, else as heavy as a soft body of this size."""
    size = float(np.ptp(shape.vertices, axis=0).max())
    like, others = _material(world), [body for body in world.scene.rigid_bodies if body.kind == "dynamic"]
    if others and others[0].shape.volume > 0.0:
        mass = others[0].mass * shape.volume / others[0].shape.volume
    else:
        mass = like.mass * (size / like.size) ** shape.dim
    return RigidBody(shape, mass=mass, **place)


def _first(world: World) -> SoftBody | None:
    """The scene's first body that is blown up."""
    pressures = ((body, world.gas(body.name)) for body in world.scene.soft_bodies)
    return next((body for body, gas in pressures if gas is not None and gas["gauge"] > 0.0), None)


def _material(world: World) -> _Material:
    body = _first(world)
    gas = None if body is None else world.gas(body.name)
    if body is None or gas is None:
        return DISC if world.scene.dim == 2 else BALL
    return _Material(
        float(np.ptp(body.shape.vertices, axis=0).max()), len(body.shape.vertices), body.mass, body.springs.stiffness,
        body.springs.damping, gas["gauge"], gas["ambient"], body.friction, body.restitution, body.drag,
    )  # fmt: skip


def is_fine(world: World) -> bool:
    """Whether the scene's own bodies have many vertices."""
    return _material(world).count > FEW


# a free place ---------------------------------------------------------------------------------------------------------


def free_place(world: World, half: FloatArray) -> FloatArray:
    """(dim,) m: a place above the picture's middle for a body that reaches `half` (m) along each axis.

    The lowest free one above it; in a container the topmost free one.
    """
    frame, layout = world.frame(), world.layout
    parts = [frame.positions[body.start : body.start + body.count] for body in layout.bodies]
    lows, highs = (np.array([end(part, axis=0) for part in parts]) for end in (np.min, np.max))
    boxes = [
        (wall.size, pose) for wall, pose in zip(layout.walls, frame.walls, strict=True) if wall.kind == "container"
    ]
    place: FloatArray
    for place in _candidates(world.picture_center(), half, lows, highs, boxes):
        apart = (place - half > highs) | (place + half < lows) if len(parts) else np.ones((1, 1), bool)
        if apart.any(axis=1).all() and _inside(layout, frame, place, half):
            return place
    size = 2.0 * float(half.max())
    raise SceneError(f"there is no free place of {size:.2g} m: choose a smaller size, or remove a body")


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


def _inside(layout: Any, frame: Any, place: FloatArray, half: FloatArray) -> bool:
    """Whether a box about `place` is on the free side of all walls."""
    for wall, pose in zip(layout.walls, frame.walls, strict=True):
        away = place - pose.position
        if wall.kind == "container":
            own, room = pose.rotation.T @ away, np.abs(pose.rotation.T) @ half
            if np.any(np.abs(own) + room > np.array(wall.size) / 2.0):
                return False
        elif float(np.dot(wall.normal, away)) < float(np.abs(wall.normal) @ half):
            return False
    return True


def _growth(world: World) -> float:
    """How many times longer gas makes the scene's bodies than they were described."""
    frame = world.frame()
    ratios = [
        float(frame.volumes[index]) / float(world.sim[body.name].rest_volume)
        for index, body in enumerate(world.scene.bodies)
        if isinstance(body, SoftBody) and body.gas is not None
    ]
    return float(np.median(ratios)) ** (1.0 / world.scene.dim) if ratios else 1.0


def _bodies(world: World) -> list[SoftBody | RigidBody]:
    """The bodies that a new one is compared with: not cloths and not what is fixed."""
    moving = [body for body in world.scene.rigid_bodies if body.kind == "dynamic"]
    return [*world.scene.soft_bodies, *moving]
