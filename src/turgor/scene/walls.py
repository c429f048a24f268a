"""The walls of a scene: ground, planes and containers, as plain frozen data. SI units."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from turgor.errors import SceneError
from turgor.scene.described import described
from turgor.scene.validate import ZERO, Rotation, Vector, check_name, number, put, turn, vector

__all__ = ["Container", "Ground", "Plane", "Wall"]


def _surface(wall: Any) -> dict[str, float]:
    return {
        "friction": number("friction", wall.friction, low=0.0),
        "restitution": number("restitution", wall.restitution, low=0.0, high=1.0),
    }


@described
@dataclass(frozen=True)
class Ground:
    """Horizontal floor; bodies stay above it."""

    height: Annotated[float, "m", "along the vertical axis"] = 0.0
    friction: Annotated[float, "", "Coulomb coefficient"] = 0.5
    restitution: Annotated[float, "", "0..1: share of the normal velocity kept"] = 0.1
    name: Annotated[str, "", "unique in the scene; empty: the scene gives one"] = "ground"

    def __post_init__(self) -> None:
        put(self, height=number("height", self.height), name=check_name("name", self.name), **_surface(self))


@described
@dataclass(frozen=True)
class Plane:
    """Half space; bodies stay on the side its normal points to."""

    point: Annotated[Vector, "m", "any point of the plane"]
    normal: Annotated[Vector, "", "towards the free side; any length, stored with length 1"]
    velocity: Annotated[Vector, "m/s", "constant"] = ZERO
    friction: Annotated[float, "", "Coulomb coefficient"] = 0.5
    restitution: Annotated[float, "", "0..1: share of the normal velocity kept"] = 0.1
    name: Annotated[str, "", "unique in the scene; empty: the scene gives one"] = ""

    def __post_init__(self) -> None:
        point = vector("point", self.point, None)
        normal = np.array(vector("normal", self.normal, len(point)))
        largest = np.abs(normal).max()
        if largest == 0.0:
            raise SceneError("normal must not be zero: it points to the free side of the plane")
        if abs(math.hypot(*normal) - 1.0) > 1e-12:  # a unit normal stays as it is, bit for bit
            normal = normal / largest  # first to a length of 1 to sqrt(3), where nothing over- or underflows
            normal = normal / math.hypot(*normal)
        put(
            self,
            point=point,
            normal=tuple(normal.tolist()),
            velocity=vector("velocity", self.velocity, len(point)),
            name=check_name("name", self.name),
            **_surface(self),
        )

    @property
    def dim(self) -> int:
        """2 or 3."""
        return len(self.point)


@described
@dataclass(frozen=True)
class Container:
    """A box (2D: rectangle) seen from inside, that may turn about its centre."""

    size: Annotated[Vector, "m", "inner lengths along its own axes"]
    at: Annotated[Vector, "m", "its centre"] = ZERO
    rotation: Annotated[Rotation, "rad", "at the start: an angle in 2D, axis times angle in 3D"] = ZERO
    spin: Annotated[Rotation, "rad/s", "about its centre, constant"] = ZERO
    friction: Annotated[float, "", "Coulomb coefficient"] = 0.5
    restitution: Annotated[float, "", "0..1: share of the normal velocity kept"] = 0.1
    name: Annotated[str, "", "unique in the scene; empty: the scene gives one"] = ""

    def __post_init__(self) -> None:
        size = vector("size", self.size, None)
        put(
            self,
            size=tuple(number(f"size[{i}]", length, above=0.0) for i, length in enumerate(size)),
            at=vector("at", self.at, len(size)),
            rotation=turn("rotation", self.rotation, len(size)),
            spin=turn("spin", self.spin, len(size)),
            name=check_name("name", self.name),
            **_surface(self),
        )

    @property
    def dim(self) -> int:
        """2 or 3."""
        return len(self.size)


Wall = Ground | Plane | Container
