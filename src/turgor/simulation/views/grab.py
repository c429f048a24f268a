"""The hand that pulls a body (A9): a rubber band from one vertex to a target, one per body."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from turgor.errors import SceneError
from turgor.simulation.views.rigid import RigidView

if TYPE_CHECKING:
    from turgor.simulation.simulation import Simulation

__all__ = ["grab", "release"]


def grab(sim: Simulation, body: str, vertex: Any, target: Any, stiffness: Any, damping: Any, point: Any) -> None:
    """Take hold of a vertex (the user's index; rigid: of its shape, or of any point of it) in all worlds."""
    view = sim[body]
    index, model = view.index, sim.model
    rigid = isinstance(view, RigidView)
    if rigid and view.kind != "dynamic":
        raise SceneError(f"grab: {body!r} is {view.kind} and follows no force; set its velocity or center instead")
    count = len((model.rigids.bodies if rigid else model.bodies)[index].shape.vertices)
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
    place = -1 if rigid else int(model.internal[model.starts[index] + vertex])
    if dashpot is None:
        mass = float(np.max(view.mass)) if rigid else float(model.mass.numpy()[place])
        dashpot = 2.0 * math.sqrt(band * mass)
    if rigid:
        _set(sim, view, "grab_on", np.ones(sim.worlds))
        local = model.rigids.shape_points[index][vertex] if point is None else _local(sim, index, point)
        _set(sim, view, "grab_local", np.tile(local, (sim.worlds, 1)))
    else:
        _set(sim, view, "grab_vertex", place + np.arange(sim.worlds) * model.vertices)
    _set(sim, view, "grab_target", np.tile(goal - model.anchor, (sim.worlds, 1)))
    _set(sim, view, "grab_stiffness", np.full(sim.worlds, band))
    _set(sim, view, "grab_damping", np.full(sim.worlds, dashpot))


def _local(sim: Simulation, index: int, point: Any) -> Any:
    """A point in the coordinates of a rigid body's shape, along its principal axes from its centre of mass."""
    place = np.asarray(point, np.float64)
    if place.shape != (sim.scene.dim,) or not np.all(np.isfinite(place)):
        raise SceneError(f"grab: point must be {sim.scene.dim} finite numbers, got {point!r}")
    props = sim.model.rigids.props[index]
    return (place - props.center) @ props.rotation


def release(sim: Simulation, body: str) -> None:
    """Let go."""
    view = sim[body]
    if isinstance(view, RigidView):
        _set(sim, view, "grab_on", np.zeros(sim.worlds))
    else:
        _set(sim, view, "grab_vertex", np.full(sim.worlds, -1))


def _set(sim: Simulation, view: Any, name: str, values: Any) -> None:
    """Writes an entry of the body in every world; soft and rigid bodies have tables of their own."""
    rigid = isinstance(view, RigidView)
    array = getattr(sim.state.rigid if rigid else sim.state, name)
    table = array.numpy().copy()
    table[view.index :: sim.model.rigids.count if rigid else len(sim.model.parts)] = values
    array.assign(table)
