"""A start without a jump: the shape of a body in the equilibrium of its springs and its gas."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from turgor.errors import UnstableError
from turgor.scene.data import SoftBody, Springs, rotation_matrix
from turgor.scene.scene import Scene
from turgor.simulation.views.body import BodyView

if TYPE_CHECKING:
    from turgor.simulation.simulation import Simulation

__all__ = ["settle", "settled_positions"]

STEPS = 6000  # at most
TOLERANCE = 1e-4  # of the largest force on a vertex at the start
ROUND_OFF = 1e-10  # of the force of a spring or of the gas at a vertex: a body at rest already has only round-off
ALPHA, SHRINK, DELAY = 0.1, 0.99, 5  # FIRE's own constants


def settle(sim: Simulation) -> None:
    """Relax bodies that are to start in equilibrium (settled=True), each alone; those that are alike only once."""
    known: dict[str, npt.NDArray[np.float64]] = {}
    for body in sim.model.bodies:
        if isinstance(body, SoftBody) and body.settled:
            origin = (0.0,) * body.dim
            turn = 0.0 if body.dim == 2 else origin
            glued = sim[body.name].glued
            held = tuple(np.union1d(body.pinned, glued).tolist())
            alike = replace(body, at=origin, rotation=turn, velocity=origin, spin=turn, pins=held, color=None)
            key = repr((replace(alike, name="alike"), alike.shape.recipe))
            if key not in known:
                known[key] = settled_positions(alike, glued)
            sim[body.name].positions = known[key] @ rotation_matrix(body.rotation).T + np.array(body.at)


def settled_positions(body: SoftBody, glued: npt.NDArray[np.int32]) -> npt.NDArray[np.float64]:
    """(vertices, dim) m, where the body comes to rest without gravity, walls and motion; `glued` vertices stay.

    FIRE (Bitzek et al. 2006): the body moves freely, its velocities are turned towards the forces while that gains
    speed, and are taken out as soon as it would climb. No damping coefficient has to be guessed.
    """
    from turgor.simulation.simulation import Simulation

    zero = (0.0,) * body.dim
    still = replace(
        body, velocity=zero, spin=0.0 if body.dim == 2 else zero, settled=False, drag=0.0, velocity_damping=None,
        drag_coefficient=0.0, drag_tangential=0.0, wind_drag=None, springs=Springs(stiffness=body.springs.stiffness),
        pins=tuple(np.union1d(body.pinned, glued).tolist()),
    )  # fmt: skip
    scene = Scene(dim=body.dim, gravity=zero, name="settle")
    scene.add(still)
    probe = Simulation(scene, precision="double", solver="symplectic", fps=240, contact="none")
    probe.step()
    frame = float(probe.engine.scratch.step_bound.numpy().min())  # as short as one stable step
    sim = Simulation(scene, precision="double", solver="symplectic", fps=1.0 / frame, contact="none")
    view: BodyView = sim[body.name]
    free = np.ones((len(body.shape.vertices), 1))
    free[still.pinned] = 0.0

    limit, alpha, downhill = 0.0, ALPHA, 0
    least = ROUND_OFF * _rough_force(body, float(view.pressure))
    for step in range(STEPS):
        forces = free * view.forces
        largest = float(np.linalg.norm(forces, axis=1).max())
        limit = limit or max(TOLERANCE * largest, least)
        if largest <= limit:
            return view.positions
        velocities = view.velocities
        if np.sum(forces * velocities) > 0.0:
            downhill += 1
            speed = np.linalg.norm(velocities)
            view.velocities = (1.0 - alpha) * velocities + alpha * speed * forces / np.linalg.norm(forces)
            alpha *= SHRINK if downhill > DELAY else 1.0
        elif step:
            view.velocities = 0.0
            alpha, downhill = ALPHA, 0
        sim.step()
    raise UnstableError(
        f"body {body.name!r} found no equilibrium of springs and gas in {STEPS} steps: its springs may be too soft for "
        "its pressure; leave settled out, or raise springs.stiffness"
    )


def _rough_force(body: SoftBody, pressure: float) -> float:
    """N: about what a spring as long as its edge, and the gas on the faces around a vertex, can do."""
    ends = body.shape.vertices[body.shape.edges]
    edge = float(np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1).mean())
    return body.springs.stiffness * edge + abs(pressure) * edge ** (body.dim - 1)
