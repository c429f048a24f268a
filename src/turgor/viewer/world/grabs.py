"""Bodies that pointers hold, each by a vertex or, if it is rigid, by a point, as on a rubber band."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from turgor.errors import SceneError
from turgor.scene.data import Body

if TYPE_CHECKING:
    from turgor.viewer.world.world import World

__all__ = ["BAND", "PULL", "Grabs", "strongest_pull"]

BAND = 2.0 * math.pi * 3.0  # rad/s: a body hangs on a pointer's rubber band like on a spring of 3 Hz
BAND_DAMPING = 0.35  # of critical
# m/s²: what a band gives a body at most, beside carrying its weight. It pulls at one vertex: a stronger one draws the
# skin into a spike, which folds, and the contacts of the folds take all the time.
PULL = 20.0


class Grabs:
    """What is held. Belongs to the world's thread."""

    def __init__(self) -> None:
        self.held: dict[str, tuple[int, Any]] = {}  # name -> vertex, target (m)
        self.forces: dict[str, Any] = {}  # name -> (dim,) N
        self._points: dict[str, Any] = {}  # of rigid bodies, in the coordinates of their shapes

    def pull(self, world: World, name: str, vertex: int, target: Any, point: Any = None) -> None:
        """Pull a vertex of a body to a target (m); with `strongest_pull` at most, if called for each new frame.

        point: where (m) a rigid body is taken hold of, when it is; calls without it move the target.
        """
        sim = world.sim
        view = sim[name]
        mass = float(view.mass)
        stiffness, damping = mass * BAND**2, 2.0 * BAND_DAMPING * mass * BAND
        if isinstance(world.scene[name], Body):  # the band must not ask for much shorter steps than the body does
            rate = sim.settings.fps * max(sim.substeps, 8)
            light = float(view.masses[vertex])
            stiffness, damping = min(stiffness, light * rate**2), min(damping, 0.5 * light * rate)
        elif point is not None:
            self._points[name] = sim.rigid_bodies[name].to_shape(point)
        place = self._place(world, name, vertex)
        gap = np.asarray(target, np.float64) - place
        reach = strongest_pull(world, name) / max(stiffness, 1e-300)  # m
        slack = min(1.0, reach / max(float(np.linalg.norm(gap)), 1e-12))
        gap, damping = slack * gap, slack * damping  # far from its target a body may be quick
        sim.grab(name, vertex, place + gap, stiffness, damping, self._points.get(name))
        self.held[name], self.forces[name] = (vertex, target), stiffness * gap

    def drop(self, world: World, name: str) -> None:
        """Let go of a body; it keeps its velocity."""
        self._points.pop(name, None)
        self.forces.pop(name, None)
        if self.held.pop(name, None) is not None and name in world.sim.names:
            world.sim.release(name)

    def held_point(self, world: World, name: str) -> Any:
        """(dim,) m: where the point is by which a body is held."""
        return self._place(world, name, self.held[name][0])

    def _place(self, world: World, name: str, vertex: int) -> Any:
        point = self._points.get(name)
        if point is not None:
            return world.sim.rigid_bodies[name].from_shape(point)
        positions = world.sim[name].positions
        if not 0 <= vertex < len(positions):
            raise SceneError(f"{name} has vertices 0 to {len(positions) - 1}, and not {vertex}")
        return positions[vertex]


def strongest_pull(world: World, name: str) -> float:
    """N: the most that a pointer pulls a body with."""
    return float(world.sim[name].mass) * (float(np.linalg.norm(world.sim.gravity)) + PULL)
