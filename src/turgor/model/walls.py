"""The walls of a scene as half spaces: ground and planes are one each, a container is two per axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import warp as wp

from turgor.kernel.numbers import Numbers
from turgor.scene.data import rotation_matrix
from turgor.scene.walls import Container, Ground, Plane, Wall

__all__ = ["Walls"]

FloatArray = npt.NDArray[np.float64]


class Walls:
    """Device arrays, one entry per half space; `index` says which half spaces belong to a wall of the scene."""

    CHANGING = ("normal0", "arm0", "centre0", "velocity", "spin", "since", "normal", "centre", "point", "friction",
                "restitution")  # fmt: skip

    def __init__(self, walls: Sequence[Wall], n: Numbers, anchor: FloatArray, device: Any) -> None:
        self.scene = list(walls)
        self.index: dict[str, list[int]] = {}
        normals: list[FloatArray] = []
        arms: list[FloatArray] = []
        centres: list[FloatArray] = []
        velocities: list[FloatArray] = []
        spins: list[Any] = []
        surface: list[tuple[float, float]] = []
        no_spin: Any = 0.0 if n.dim == 2 else (0.0, 0.0, 0.0)
        self.moving = False
        for wall in walls:
            centre, sides, spin = _half_spaces(wall, n.dim, no_spin)
            velocity = np.array(wall.velocity) if isinstance(wall, Plane) else np.zeros(n.dim)
            self.moving = self.moving or bool(np.any(velocity)) or spin != no_spin
            self.index[wall.name] = list(range(len(normals), len(normals) + len(sides)))
            for normal, arm in sides:
                normals.append(normal)
                arms.append(arm)
                centres.append(centre - anchor)
                velocities.append(velocity)
                spins.append(spin)
                surface.append((wall.friction, wall.restitution))

        def vectors(rows: list[FloatArray]) -> Any:
            return wp.array(np.array(rows, n.dtype).reshape(-1, n.dim), dtype=n.vec, device=device)

        def scalars(rows: list[float]) -> Any:
            return wp.array(np.array(rows, n.dtype), dtype=n.real, device=device)

        self.count = len(normals)
        self.normal0, self.arm0, self.centre0 = vectors(normals), vectors(arms), vectors(centres)
        self.velocity = vectors(velocities)
        self.spin = scalars(spins) if n.dim == 2 else vectors(spins)
        self.since = wp.zeros(self.count, dtype=wp.float64, device=device)
        self.normal, self.centre = wp.clone(self.normal0), wp.clone(self.centre0)
        self.point = vectors([a + c for a, c in zip(arms, centres, strict=True)])
        self.friction = scalars([friction for friction, _ in surface])
        self.restitution = scalars([restitution for _, restitution in surface])


def _half_spaces(wall: Wall, dim: int, no_spin: Any) -> tuple[FloatArray, list[tuple[FloatArray, FloatArray]], Any]:
    """(centre, [(normal, arm from the centre to the plane)], spin)."""
    if isinstance(wall, Ground):
        up = np.eye(dim)[-1]
        return wall.height * up, [(up, np.zeros(dim))], no_spin
    if isinstance(wall, Plane):
        return np.array(wall.point), [(np.array(wall.normal), np.zeros(dim))], no_spin
    assert isinstance(wall, Container)
    axes = rotation_matrix(wall.rotation).T  # rows: the box's own axes in the world
    sides = [
        (-sign * axes[axis], sign * wall.size[axis] / 2 * axes[axis]) for axis in range(dim) for sign in (-1.0, 1.0)
    ]
    return np.array(wall.at), sides, wall.spin
