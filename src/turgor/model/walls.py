"""The walls of a scene as half spaces: ground and planes are one each, a container is two per axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import warp as wp

from turgor.kernel.numbers import Numbers
from turgor.scene.data import rotation_matrix
from turgor.scene.walls import Container, Ground, Plane, Wall

__all__ = ["WallState", "Walls"]

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class HalfSpace:
    """One side of a wall at time 0."""

    normal: FloatArray  # (dim,) towards the free side
    arm: FloatArray  # (dim,) m from the wall's centre to a point of the plane
    centre: FloatArray  # (dim,) m: the wall turns about it
    velocity: FloatArray  # (dim,) m/s
    spin: Any  # rad/s


class Walls:
    """The half spaces and their surface parameters; `index` says which half spaces belong to a wall of the scene."""

    SAVED: tuple[str, ...] = ("friction", "restitution")

    def __init__(self, walls: Sequence[Wall], numbers: Numbers, device: Any) -> None:
        self.scene, self.numbers, self.device = list(walls), numbers, device
        self.index: dict[str, list[int]] = {}
        self.half_spaces: list[HalfSpace] = []
        surface: list[tuple[float, float]] = []
        for wall in walls:
            sides = _half_spaces(wall, numbers.dim)
            self.index[wall.name] = list(range(len(surface), len(surface) + len(sides)))
            self.half_spaces += sides
            surface += [(wall.friction, wall.restitution)] * len(sides)
        self.count = len(surface)
        self.friction = self.scalars([friction for friction, _ in surface])
        self.restitution = self.scalars([restitution for _, restitution in surface])

    def vectors(self, rows: Sequence[FloatArray]) -> Any:
        """Device array of one vector per half space."""
        n = self.numbers
        return wp.array(np.array(rows, n.dtype).reshape(-1, n.dim), dtype=n.vec, device=self.device)

    def scalars(self, rows: Sequence[float]) -> Any:
        """Device array of one number per half space."""
        return wp.array(np.array(rows, self.numbers.dtype), dtype=self.numbers.real, device=self.device)


class WallState:
    """Where the half spaces are: the pose at the time `since` and the motion from then on, and the pose now."""

    SAVED: tuple[str, ...] = ("normal0", "arm0", "centre0", "velocity", "spin", "since", "normal", "centre", "point")

    def __init__(self, walls: Walls, anchor: FloatArray) -> None:
        sides, dim = walls.half_spaces, walls.numbers.dim
        self.moving = any(bool(np.any(side.velocity)) or bool(np.any(side.spin)) for side in sides)  # host; may be set
        self.normal0, self.arm0 = walls.vectors([s.normal for s in sides]), walls.vectors([s.arm for s in sides])
        self.centre0 = walls.vectors([side.centre - anchor for side in sides])
        self.velocity = walls.vectors([side.velocity for side in sides])
        spins = [side.spin for side in sides]
        self.spin = walls.scalars(spins) if dim == 2 else walls.vectors(spins)
        self.since = wp.zeros(walls.count, dtype=wp.float64, device=walls.device)  # s
        self.normal, self.centre = wp.clone(self.normal0), wp.clone(self.centre0)
        self.point = walls.vectors([side.arm + (side.centre - anchor) for side in sides])


def _half_spaces(wall: Wall, dim: int) -> list[HalfSpace]:
    """The sides of a wall."""
    still, no_arm = np.zeros(dim), np.zeros(dim)
    no_spin: Any = 0.0 if dim == 2 else (0.0, 0.0, 0.0)
    if isinstance(wall, Ground):
        up = np.eye(dim)[-1]
        return [HalfSpace(up, no_arm, wall.height * up, still, no_spin)]
    if isinstance(wall, Plane):
        return [HalfSpace(np.array(wall.normal), no_arm, np.array(wall.point), np.array(wall.velocity), no_spin)]
    assert isinstance(wall, Container)
    axes = rotation_matrix(wall.rotation).T  # rows: the box's own axes in the world
    return [
        HalfSpace(-sign * axes[axis], sign * wall.size[axis] / 2 * axes[axis], np.array(wall.at), still, wall.spin)
        for axis in range(dim)
        for sign in (-1.0, 1.0)
    ]
