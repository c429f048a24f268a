"""What a user sees of one wall of a running simulation: its surface and its motion, which may be set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from turgor.errors import SceneError
from turgor.scene.validate import number, turn, vector
from turgor.scene.walls import Container, Plane

if TYPE_CHECKING:
    from turgor.simulation.simulation import Simulation

__all__ = ["WallView"]


class WallView:
    """Surface and motion of one wall; it is the same in all worlds."""

    def __init__(self, sim: Simulation, name: str) -> None:
        self._sim = sim
        self._walls, self._state = sim.model.walls, sim.state.walls
        self._sides = self._walls.index[name]
        self._wall = next(wall for wall in self._walls.scene if wall.name == name)
        self.name = name

    @property
    def friction(self) -> float:
        """Coulomb coefficient. May be set."""
        return float(self._walls.friction.numpy()[self._sides[0]])

    @friction.setter
    def friction(self, value: Any) -> None:
        self._write("friction", number(f"{self.name}.friction", value, low=0.0))

    @property
    def restitution(self) -> float:
        """0..1. May be set."""
        return float(self._walls.restitution.numpy()[self._sides[0]])

    @restitution.setter
    def restitution(self, value: Any) -> None:
        self._write("restitution", number(f"{self.name}.restitution", value, low=0.0, high=1.0))

    @property
    def spin(self) -> Any:
        """rad/s of a container: a vector in 3D, a number in 2D. May be set; it goes on from where it is."""
        spin = np.asarray(self._state.spin.numpy()[self._sides[0]], np.float64)
        return float(spin) if spin.ndim == 0 else spin

    @spin.setter
    def spin(self, value: Any) -> None:
        if not isinstance(self._wall, Container):
            raise SceneError(f"{self.name}.spin: only a container turns")
        self._move("spin", turn(f"{self.name}.spin", _plain(value), self._sim.scene.dim))

    @property
    def velocity(self) -> npt.NDArray[np.float64]:
        """(dim,) m/s of a plane. May be set; it goes on from where it is."""
        return np.asarray(self._state.velocity.numpy()[self._sides[0]], np.float64)

    @velocity.setter
    def velocity(self, value: Any) -> None:
        if not isinstance(self._wall, Plane):
            raise SceneError(f"{self.name}.velocity: only a plane moves along")
        self._move("velocity", vector(f"{self.name}.velocity", _plain(value), self._sim.scene.dim))

    def _write(self, name: str, value: Any) -> None:
        array = getattr(self._walls if name in self._walls.SAVED else self._state, name)
        table = array.numpy().copy()
        table[self._sides] = value
        array.assign(table)

    def _move(self, name: str, value: Any) -> None:
        """Sets a motion: the pose of now becomes the one that it starts from."""
        self._sim.ensure_fine()
        state = self._state
        normal, centre, point = (getattr(state, part).numpy()[self._sides] for part in ("normal", "centre", "point"))
        self._write("normal0", normal)
        self._write("centre0", centre)
        self._write("arm0", point - centre)
        self._write("since", self._sim.time)
        self._write(name, value)
        if np.any(value) and not state.moving:
            state.moving = True
            self._sim._step.record_again()


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else value
