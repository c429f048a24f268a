"""Two plates that squeeze a body. They are kinematic rigid bodies of the scene, at rest there; what moves them is a
person, as it is with bodies that are dragged. So a scene that is kept, or reset, has them open and at rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from turgor.simulation.simulation import Simulation

__all__ = ["Pair", "Plates"]

FloatArray = npt.NDArray[np.float64]
Pair = tuple[str, str]
THERE = 1e-5  # of their distance: as near to where they shall be


class Plates:
    """Pairs of plates on their way: how far apart their centres shall be, and how fast each of them goes."""

    def __init__(self) -> None:
        self._ways: dict[Pair, tuple[float, float]] = {}  # pair -> m, m/s

    def send(self, pair: Pair, distance: float, speed: float) -> None:
        """Until their centres are so far apart (m), each with `speed` (m/s)."""
        self._ways[pair] = (distance, speed)

    def moving(self, pair: Pair) -> bool:
        """Whether they are on their way."""
        return pair in self._ways

    def end(self) -> None:
        """All stand still, as the scene describes them."""
        self._ways.clear()

    def go_on(self, sim: Simulation) -> None:
        """Give them the velocities with which they are where they shall be, or nearer, after the next frame."""
        for pair, (goal, speed) in list(self._ways.items()):
            if not all(name in sim.names for name in pair):
                continue  # taken back; they may come again
            one, other = (sim.rigid_bodies[name] for name in pair)
            way: FloatArray = np.atleast_2d(other.center - one.center)[0]  # the same in all worlds
            distance = float(np.linalg.norm(way))
            left = (distance - goal) / 2.0
            velocity: Any = np.zeros_like(way)
            if abs(left) <= THERE * goal:
                del self._ways[pair]
            else:
                velocity = way / distance * float(np.clip(left * sim.settings.fps, -speed, speed))
            one.velocity, other.velocity = velocity, -velocity
