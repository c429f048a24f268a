"""Going on in another simulation: the state of bodies and walls that both have, carried over by name.

For changes that need a simulation to be built anew while it runs: bodies added or pinned, another solver or contact.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from turgor.simulation.views.body import BodyView
from turgor.simulation.views.rigid import RigidView
from turgor.simulation.views.wall import go_on_with

if TYPE_CHECKING:
    from turgor.scene.scene import Scene
    from turgor.simulation.simulation import Simulation

__all__ = ["carry", "rebuilt"]


def rebuilt(old: Simulation, scene: Scene, fps: float | None = None, ledger: bool | None = None) -> Simulation:
    """A simulation of `scene`, on the same device, that goes on from the state of `old`.

    fps: 1/s, else the scene's; ledger: whether to keep one, else as `old` does.
    """
    from turgor.simulation.simulation import Simulation

    relaxed = scene.copy()
    for body in [body for body in relaxed.soft_bodies if body.settled and body.name in old.names]:
        relaxed.set(f"{body.name}.settled", False)  # it has settled already
    new = Simulation(relaxed, old.device, ledger=old.settings.ledger if ledger is None else ledger, fps=fps)
    new.scene = scene
    carry(old, new)
    return new


def carry(old: Simulation, new: Simulation) -> None:
    """Time, positions, velocities and wall poses of `old`; parameters are those that `new` was described with.

    Pinned vertices stay where they are now. A body that is only in one of the two, or has other vertices, is left.
    """
    new.state.clock.assign(old.state.clock.numpy())
    new.frame_index = round(new.time * new.settings.fps)
    for name in new.names:
        if name not in old.names:
            continue
        source, target = old[name], new[name]
        if isinstance(source, RigidView) and isinstance(target, RigidView):
            target.center, target.rotation = source.center, source.rotation
            if target.kind != "static":
                target.velocity, target.spin = source.velocity, source.spin
        elif isinstance(source, BodyView) and isinstance(target, BodyView) and _alike(source, target):
            target.positions = source.positions
            velocities = source.velocities.copy()
            velocities[..., new.model.bodies[target.index].pinned, :] = 0.0
            target.velocities = velocities
    _carry_walls(old, new)


def _alike(one: BodyView, other: BodyView) -> bool:
    return one.positions.shape == other.positions.shape


def _shape_of(sim: Simulation, name: str) -> tuple[type, Any]:
    """What must be equal for a wall's pose to be carried over."""
    wall = sim.scene[name]
    return type(wall), getattr(wall, "size", getattr(wall, "height", None))


def _carry_walls(old: Simulation, new: Simulation) -> None:
    """A wall goes on from its pose with the motion that `new` was described with."""
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
        go_on_with(new, name, "spin", np.asarray(new.walls[name].spin, new.model.numbers.dtype))
