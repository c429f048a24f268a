"""The bodies that are awake as a simulation of their own, and what goes between it and the whole one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from turgor.model.model import BODY_PARAMETERS
from turgor.simulation.rebuild import fresh
from turgor.simulation.warn import silent

if TYPE_CHECKING:
    from turgor.scene.scene import Scene
    from turgor.simulation.simulation import Simulation

__all__ = ["hand_over", "put", "simulation_without", "take_over"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

VERTEX_TABLES = ("mass", "inverse_mass")  # of the model
BODY_TABLES = ("grab_stiffness", "grab_damping", "dissipated", "work", "vibration", "energy_error")  # of the state
SHARED = ("clock", "dt", "pace")
PLACES = ("x", "grab_target", "centre0", "centre", "point")  # relative to the anchor


def simulation_without(sim: Simulation, names: set[str]) -> Simulation:
    """A simulation of the scene without these bodies, at its start."""
    settings = replace(sim.settings, solver=sim.solver, sleeping=False)
    with silent():  # what is to be said of these bodies has been said
        return fresh(sim, _without(sim.scene, names), settings=settings)


def take_over(sim: Simulation, awake: Simulation) -> None:
    """The motion of the awake becomes that of the whole."""
    soft, rigid, vertices = _places(sim, awake)
    shift = awake.model.anchor - sim.model.anchor
    for name in SHARED:
        getattr(sim.state, name).assign(getattr(awake.state, name).numpy())
    sim.engine.scratch.substeps.assign(awake.engine.scratch.substeps.numpy())
    if len(soft):
        put(sim.state.x, vertices, awake.state.x.numpy() + shift)
        put(sim.state.v, vertices, awake.state.v.numpy())
        put(sim.engine.scratch.wall_impulse, vertices, awake.engine.scratch.wall_impulse.numpy())
        for name in ("dissipated", "work", "vibration", "energy_error"):
            put(getattr(sim.state, name), soft, getattr(awake.state, name).numpy())
    if len(rigid):
        for name in sim.state.rigid.CHANGED:
            values = getattr(awake.state.rigid, name).numpy()
            put(getattr(sim.state.rigid, name), rigid, values + shift if name in PLACES else values)
    for name in ("normal", "centre", "point"):
        values = getattr(awake.state.walls, name).numpy()
        getattr(sim.state.walls, name).assign(values + shift if name in PLACES else values)
    sim.engine.fresh = False


def hand_over(sim: Simulation, awake: Simulation, bodies: set[int] | None) -> None:
    """The state and the parameters of some bodies of the whole become those of the awake; None: of all."""
    soft, rigid, vertices = _places(sim, awake)
    shift = sim.model.anchor - awake.model.anchor
    own_soft, own_rigid = np.arange(len(soft)), np.arange(len(rigid))
    own = np.arange(len(vertices))
    if bodies is not None:
        chosen = np.isin(soft, list(bodies))
        own = np.flatnonzero(np.repeat(chosen, np.diff(awake.model.starts)))
        own_soft = np.flatnonzero(chosen)
        own_rigid = np.flatnonzero(np.isin(rigid + len(sim.model.parts), list(bodies)))
    else:
        _hand_over_world(sim, awake, shift)
    if len(own_soft):
        there = soft[own_soft]
        for name in (*BODY_PARAMETERS, *VERTEX_TABLES):
            to, from_ = (own, vertices[own]) if name in VERTEX_TABLES else (own_soft, there)
            put(getattr(awake.model, name), to, getattr(sim.model, name).numpy()[from_])
        for name in BODY_TABLES:
            put(getattr(awake.state, name), own_soft, getattr(sim.state, name).numpy()[there])
        put(awake.state.grab_target, own_soft, sim.state.grab_target.numpy()[there] + shift)
        grabbed = sim.state.grab_vertex.numpy()[there]
        moved = np.where(grabbed < 0, -1, grabbed - sim.model.starts[there] + awake.model.starts[own_soft])
        put(awake.state.grab_vertex, own_soft, moved)
        awake.state.temperatures[:, own_soft] = sim.state.temperatures[:, there]
        put(awake.state.x, own, sim.state.x.numpy()[vertices[own]] + shift)
        put(awake.state.v, own, sim.state.v.numpy()[vertices[own]])
    if len(own_rigid):
        there = rigid[own_rigid]
        for name in sim.model.rigids.SAVED:
            put(getattr(awake.model.rigids, name), own_rigid, getattr(sim.model.rigids, name).numpy()[there])
        for name in sim.state.rigid.SAVED:
            values = getattr(sim.state.rigid, name).numpy()[there]
            put(getattr(awake.state.rigid, name), own_rigid, values + shift if name in PLACES else values)
    awake.engine.changed(moved=bodies is None)


def _hand_over_world(sim: Simulation, awake: Simulation, shift: FloatArray) -> None:
    """Time, gravity, air and walls."""
    awake.frame_index = sim.frame_index
    for name in SHARED:
        getattr(awake.state, name).assign(getattr(sim.state, name).numpy())
    for name in ("gravity", "wind", "air_density"):
        getattr(awake.model, name).assign(getattr(sim.model, name).numpy())
    for name in sim.model.walls.SAVED:
        getattr(awake.model.walls, name).assign(getattr(sim.model.walls, name).numpy())
    for name in sim.state.walls.SAVED:
        values = getattr(sim.state.walls, name).numpy()
        getattr(awake.state.walls, name).assign(values + shift if name in PLACES else values)
    if awake.model.feels_air != sim.model.feels_air or awake.model.rigids.feels_air != sim.model.rigids.feels_air:
        awake.model.feels_air, awake.model.rigids.feels_air = sim.model.feels_air, sim.model.rigids.feels_air
        awake.engine.replay.record_again()


def _places(sim: Simulation, awake: Simulation) -> tuple[IntArray, IntArray, IntArray]:
    """Where the soft bodies, the rigid bodies and the vertices of the awake are in the whole."""
    soft = np.array([sim.bodies[name].index for name in awake.bodies], np.int64)
    rigid = np.array([sim.rigid_bodies[name].index for name in awake.rigid_bodies], np.int64)
    ranges = [np.arange(sim.model.starts[b], sim.model.starts[b + 1]) for b in soft]
    return soft, rigid, np.concatenate([*ranges, np.zeros(0, np.int64)]).astype(np.int64)


def put(array: Any, places: IntArray, values: Any) -> None:
    """Writes some entries of a device array."""
    table = array.numpy()  # on the CPU the memory itself
    table[places] = values
    if array.device.is_cuda:
        array.assign(table)


def _without(scene: Scene, names: set[str]) -> Scene:
    """The scene without these bodies, and with nothing to settle."""
    left = scene.copy()
    left.attachments[:] = [entry for entry in scene.attachments if not {entry.body, entry.rigid} & names]
    left.soft_bodies[:] = [body for body in scene.soft_bodies if body.name not in names]
    left.cloths[:] = [body for body in scene.cloths if body.name not in names]
    left.rigid_bodies[:] = [body for body in scene.rigid_bodies if body.name not in names]
    for body in [body for body in left.soft_bodies if body.settled]:
        left.set(f"{body.name}.settled", False)
    return left
