"""Rebuilding a running simulation for a change that its arrays cannot take: bodies added or pinned, another solver.

A rebuilt simulation is made with the settings of the old one, unless they are what changes, and goes on from its state:
what both have is matched by name.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from turgor.model.rotations import swing
from turgor.scene.data import AIR, Body
from turgor.scene.walls import Container, Plane
from turgor.simulation.settings import RunSettings
from turgor.simulation.views.body import BodyView
from turgor.simulation.views.rigid import RigidView

if TYPE_CHECKING:
    from turgor.scene.scene import Scene
    from turgor.scene.settings import Settings
    from turgor.simulation.simulation import Simulation

__all__ = ["carry", "fresh", "rebound", "rebuilt"]

# What a user may set on a running simulation. The gas in this order: setting the temperature changes nRT.
SOFT_PARAMETERS = (
    "stiffness",
    "damping",
    "bending",
    "young",
    "poisson",
    "thickness",
    "viscosity",
    "drag",
    *AIR,
    "wind_drag",
    "friction",
    "restitution",
)
GAS_PARAMETERS = ("ambient", "temperature", "nRT")
SURFACE_PARAMETERS = ("friction", "restitution")
RIGID_PARAMETERS = (*SURFACE_PARAMETERS, *AIR)


def fresh(old: Simulation, scene: Scene, *, settings: Settings | None = None, ledger: bool | None = None) -> Simulation:
    """A simulation of `scene` at its start. What is left out is as in `old`: settings, device, worlds, ledger, ..."""
    from turgor.simulation.simulation import Simulation

    described = scene.copy()
    ran = settings if isinstance(settings, RunSettings) else old.settings
    described.simulation = ran.of_scene() if settings is None or settings is ran else settings
    kept = ran.ledger if ledger is None else ledger
    new = Simulation(
        described, ran.device, worlds=ran.worlds, ledger=kept, readings=ran.readings, threads=ran.threads,
        assembly=ran.assembly,
    )  # fmt: skip
    new.scene = scene
    return new


def rebuilt(
    old: Simulation, scene: Scene, *, settings: Settings | None = None, ledger: bool | None = None
) -> Simulation:
    """As `fresh`, going on from the state of `old`."""
    relaxed = scene.copy()
    for body in [body for body in relaxed.soft_bodies if body.settled and body.name in old.names]:
        relaxed.set(f"{body.name}.settled", False)  # it has settled already
    new = fresh(old, relaxed, settings=settings, ledger=ledger)
    new.scene = scene
    carry(old, new)
    return new


def carry(old: Simulation, new: Simulation) -> None:
    """Time, positions, velocities and wall poses of `old`, and its parameters where the description is the same.

    Pinned vertices stay where they are now. A body that is only in one of the two, or has other vertices, is left.
    """
    new.state.clock.assign(old.state.clock.numpy())
    new.frame_index = round(new.time * new.settings.fps)
    for name in ("gravity", "wind", "air_density"):
        if getattr(new.scene, name) == getattr(old.scene, name):
            _set(old, new, name)
    same_glue = old.scene.attachments == new.scene.attachments
    for name in [name for name in new.names if name in old.names]:
        source, target = old[name], new[name]
        if isinstance(source, RigidView) and isinstance(target, RigidView):
            _carry_rigid(source, target, same_glue)
        elif isinstance(source, BodyView) and isinstance(target, BodyView) and _alike(source, target):
            _carry_soft(source, target, new.model.bodies[target.index].pinned)
        if _same(old.scene[name], new.scene[name]):
            for parameter in (*_parameters(old.scene[name]), *(("mass",) if same_glue else ())):
                _set(source, target, parameter)
    _carry_walls(old, new)


def _carry_rigid(source: RigidView, target: RigidView, same_glue: bool) -> None:
    """Its shape stays where it is. With other glue its centre of mass is elsewhere, and has the velocity of there."""
    target.center, target.rotation = source.center, source.rotation
    if not same_glue:
        target.center = source.from_shape(target.to_shape(target.center))
    if target.kind != "static":
        target.velocity, target.spin = source.velocity, source.spin
    if not same_glue and target.kind != "static":
        arms = np.atleast_2d(target.center - source.center)
        spins = np.asarray(source.spin).reshape(len(arms), -1)
        turning = [
            swing(spin if len(spin) == 3 else spin[0], arm[None])[0] for spin, arm in zip(spins, arms, strict=True)
        ]
        target.velocity = source.velocity + np.reshape(turning, source.velocity.shape)


def _carry_soft(source: BodyView, target: BodyView, pinned: Any) -> None:
    target.positions = source.positions
    velocities = source.velocities.copy()
    velocities[..., pinned, :] = 0.0
    target.velocities = velocities


def _parameters(body: Any) -> tuple[str, ...]:
    """Names of what can be set on a running body of this description."""
    if not isinstance(body, Body):
        return RIGID_PARAMETERS
    return SOFT_PARAMETERS + (GAS_PARAMETERS if getattr(body, "gas", None) is not None else ())


def _set(source: Any, target: Any, name: str) -> None:
    """A parameter that differs: setting one may add a stage to the step."""
    value = getattr(source, name)
    if np.any(np.asarray(value) != np.asarray(getattr(target, name))):
        setattr(target, name, value)


def _alike(one: BodyView, other: BodyView) -> bool:
    return one.positions.shape == other.positions.shape


def _same(before: Any, after: Any) -> bool:
    """Whether two descriptions are the same but for the pins."""
    if isinstance(before, Body) and type(before) is type(after):
        after = replace(after, pins=before.pins)
    return bool(before == after)


def _shape_of(sim: Simulation, name: str) -> tuple[type, Any]:
    """What must be equal for a wall's pose to be carried over."""
    wall = sim.scene[name]
    return type(wall), getattr(wall, "size", getattr(wall, "height", None))


def _carry_walls(old: Simulation, new: Simulation) -> None:
    """A wall goes on from its pose; with its motion of now, or that of a new description."""
    for name, sides in new.model.walls.index.items():
        before = old.model.walls.index.get(name)
        if before is None or _shape_of(old, name) != _shape_of(new, name):
            continue
        shift = old.model.anchor - new.model.anchor
        for part in ("normal", "centre", "point"):
            values = getattr(old.state.walls, part).numpy()[before]
            table = getattr(new.state.walls, part).numpy().copy()
            table[sides] = values if part == "normal" else values + shift
            getattr(new.state.walls, part).assign(table)
        wall, unchanged = new.scene[name], old.scene[name] == new.scene[name]
        if unchanged:
            for parameter in SURFACE_PARAMETERS:
                _set(old.walls[name], new.walls[name], parameter)
        motion = "spin" if isinstance(wall, Container) else "velocity" if isinstance(wall, Plane) else None
        if motion is not None:  # setting it makes the pose of now the one that it starts from
            setattr(new.walls[name], motion, getattr((old if unchanged else new).walls[name], motion))


def rebound(view: Any, sim: Simulation, held: Any = None) -> Any:
    """`view` as a view of `sim`, in the object `held` that a user may have, where it is of the same kind."""
    kept = held if type(held) is type(view) else view
    vars(kept).update(vars(view), _sim=sim)
    return kept
