"""One wall of a running simulation: its surface and its motion, which may be set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from turgor.errors import SceneError
from turgor.scene.validate import number, turn, vector
from turgor.scene.walls import Container, Plane
from turgor.simulation.failure import ensure_fine
from turgor.simulation.views.view import Angular, FloatArray, Point, View

if TYPE_CHECKING:
    from turgor.simulation.simulation import Simulation

__all__ = ["WallView", "go_on_with"]


class WallView(View):
    """Surface and motion of one wall; it is the same in all worlds."""

    def __init__(self, sim: Simulation, index: int) -> None:
        self._walls, self._state = sim.model.walls, sim.state.walls
        self._wall = self._walls.scene[index]
        self._sides = self._walls.index[self._wall.name]
        super().__init__(sim, self._wall.name, index)

    @property
    def friction(self) -> float:
        """Coulomb coefficient (no unit). May be set."""
        return float(self._walls.friction.numpy()[self._sides[0]])

    @friction.setter
    def friction(self, value: float) -> None:
        _write(self._sim, self.name, "friction", number(f"{self.name}.friction", value, low=0.0))

    @property
    def restitution(self) -> float:
        """0..1 (no unit): share of the normal velocity kept. May be set."""
        return float(self._walls.restitution.numpy()[self._sides[0]])

    @restitution.setter
    def restitution(self, value: float) -> None:
        _write(self._sim, self.name, "restitution", number(f"{self.name}.restitution", value, low=0.0, high=1.0))

    @property
    def spin(self) -> Angular:
        """rad/s of a container: a vector in 3D, a number in 2D. May be set; it goes on from where it is."""
        spin = np.asarray(self._state.spin.numpy()[self._sides[0]], np.float64)
        return float(spin) if spin.ndim == 0 else spin

    @spin.setter
    def spin(self, value: float | Point) -> None:
        if not isinstance(self._wall, Container):
            raise SceneError(f"{self.name}.spin: only a container turns")
        go_on_with(self._sim, self.name, "spin", turn(f"{self.name}.spin", _plain(value), self._sim.scene.dim))

    @property
    def velocity(self) -> FloatArray:
        """(dim,) m/s of a plane. May be set; it goes on from where it is."""
        return np.asarray(self._state.velocity.numpy()[self._sides[0]], np.float64)

    @velocity.setter
    def velocity(self, value: Point) -> None:
        if not isinstance(self._wall, Plane):
            raise SceneError(f"{self.name}.velocity: only a plane moves along")
        go_on_with(
            self._sim, self.name, "velocity", vector(f"{self.name}.velocity", _plain(value), self._sim.scene.dim)
        )


def go_on_with(sim: Simulation, wall: str, motion: str, value: Any) -> None:
    """Sets the "spin" or "velocity" of a wall: its present pose becomes the one that it starts from."""
    ensure_fine(sim)
    state, sides = sim.state.walls, sim.model.walls.index[wall]
    normal, centre, point = (getattr(state, part).numpy()[sides] for part in ("normal", "centre", "point"))
    start = {"normal0": normal, "centre0": centre, "arm0": point - centre, "since": sim.time, motion: value}
    for name, values in start.items():
        _write(sim, wall, name, values)
    if np.any(value) and not state.moving:
        state.moving = True
        sim.engine.replay.record_again()


def _write(sim: Simulation, wall: str, name: str, values: Any) -> None:
    sim.catch_up()  # frames that are still to be computed have the old values
    walls = sim.model.walls
    array = getattr(walls if name in walls.SAVED else sim.state.walls, name)
    table = array.numpy().copy()
    table[walls.index[wall]] = values
    array.assign(table)
    sim.engine.disturb()


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else value
