"""The hand that pulls a body (A9): a rubber band from one vertex to a target, one per body."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from turgor.errors import SceneError

if TYPE_CHECKING:
    from turgor.simulation.simulation import Simulation

__all__ = ["grab", "release"]


def grab(sim: Simulation, body: str, vertex: Any, target: Any, stiffness: Any, damping: Any) -> None:
    """Take hold of a vertex (the user's index) in all worlds."""
    index = sim[body].index
    model = sim.model
    count = len(model.parts[index].order)
    if not isinstance(vertex, (int, np.integer)) or isinstance(vertex, bool) or not 0 <= vertex < count:
        raise SceneError(f"grab: {body!r} has vertices 0 to {count - 1}, got {vertex!r}")
    try:
        goal = np.asarray(target, np.float64)
        band, dashpot = float(stiffness), None if damping is None else float(damping)
    except (TypeError, ValueError):
        raise SceneError(f"grab: target, stiffness and damping must be numbers, got {target!r}") from None
    if goal.shape != (sim.scene.dim,) or not np.all(np.isfinite(goal)):
        raise SceneError(f"grab: target must be {sim.scene.dim} finite numbers, got {target!r}")
    for name, value in (("stiffness", band), ("damping", dashpot)):
        if value is not None and not (math.isfinite(value) and value >= 0.0):
            raise SceneError(f"grab: {name} must be >= 0, got {value!r}")
    place = int(model.internal[model.starts[index] + vertex])
    if dashpot is None:
        dashpot = 2.0 * math.sqrt(band * float(model.mass.numpy()[place]))
    _set(sim, index, "grab_vertex", place + np.arange(sim.worlds) * model.vertices)
    _set(sim, index, "grab_target", np.tile(goal - model.anchor, (sim.worlds, 1)))
    _set(sim, index, "grab_stiffness", np.full(sim.worlds, band))
    _set(sim, index, "grab_damping", np.full(sim.worlds, dashpot))


def release(sim: Simulation, body: str) -> None:
    """Let go."""
    _set(sim, sim[body].index, "grab_vertex", np.full(sim.worlds, -1))


def _set(sim: Simulation, index: int, name: str, values: Any) -> None:
    array = getattr(sim.state, name)
    table = array.numpy().copy()
    table[index :: len(sim.model.parts)] = values
    array.assign(table)
