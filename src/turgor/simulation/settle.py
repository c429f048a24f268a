"""A start without a jump: the shape of a body in the equilibrium of its springs and its gas."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from turgor.errors import UnstableError
from turgor.output.progress import waiting
from turgor.scene.data import SoftBody, Springs, rotation_matrix
from turgor.scene.scene import Scene
from turgor.scene.units import units_doubt
from turgor.simulation.step.relaxation import Relaxation
from turgor.simulation.warn import silent

if TYPE_CHECKING:
    from turgor.simulation.simulation import Simulation

__all__ = ["settle", "settled_positions"]

FloatArray = npt.NDArray[np.float64]

STEPS, STEPS_PER_EDGE = 20_000, 200  # at most: in all, and per edge across the body, as waves have to cross it
TOLERANCE = 1e-5  # of the largest force on a vertex at the start
ROUND_OFF = 1e-10  # of the force of a spring or of the gas at a vertex: a body at rest already has only round-off
ROUND = 10  # steps between two looks: at the forces, and at the longest stable step, which follows the shape
FURTHEST = 0.05  # edges that a vertex moves in a step: the stable step is that of the shape of now
FAR = 1e3  # sizes of the body: a vertex that is further away has no equilibrium to go to
SHOW = 1.0  # s between two reports

log = logging.getLogger("turgor")


def settle(sim: Simulation) -> None:
    """Relax bodies that are to start in equilibrium (settled=True), each alone; those that are alike only once."""
    known: dict[str, FloatArray] = {}
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


def settled_positions(body: SoftBody, glued: npt.NDArray[np.int32]) -> FloatArray:
    """(vertices, dim) m, where the body comes to rest without gravity, walls and motion; `glued` vertices stay.

    A Monte Carlo volume is another one at each look and has no equilibrium but in the mean: that of the exact volume.
    """
    from turgor.simulation.simulation import Simulation

    zero = (0.0,) * body.dim
    still = replace(
        body, velocity=zero, spin=0.0 if body.dim == 2 else zero, settled=False, drag=0.0, velocity_damping=None,
        drag_coefficient=0.0, drag_tangential=0.0, wind_drag=None, springs=Springs(stiffness=body.springs.stiffness),
        pins=tuple(np.union1d(body.pinned, glued).tolist()),
    )  # fmt: skip
    if body.volume == "monte-carlo":
        still = replace(still, volume="exact", samples=None)
    scene = Scene(dim=body.dim, gravity=zero, name="settle")
    scene.add(still)
    with silent():
        sim = Simulation(scene, precision="double", contact="none")
    with waiting(f"settling {body.name!r}") as report:
        return _relaxed(sim, still, report)


def _relaxed(sim: Simulation, body: SoftBody, report: Callable[[str], None]) -> FloatArray:
    """(vertices, dim) m, in the order of the shape: where all forces are below the tolerance."""
    relaxation = Relaxation(sim.engine, FURTHEST * _mean_edge(body))
    least = ROUND_OFF * _rough_force(body, float(sim[body.name].pressure))
    force = relaxation.largest_force()
    limit = max(TOLERANCE * force, least)
    far = FAR * float(np.linalg.norm(np.ptp(body.shape.vertices, axis=0)))
    most = max(STEPS, STEPS_PER_EDGE * round(len(body.shape.vertices) ** (1.0 / (body.dim - 1))))
    shown = time.perf_counter()
    for step in range(0, most, ROUND):
        if force <= limit and relaxation.largest_force() <= limit:
            log.debug("settled %r in %d steps", body.name, step)
            return sim[body.name].positions
        if not (np.isfinite(force) and float(np.abs(sim[body.name].positions).max()) < far):
            raise UnstableError(_no_equilibrium(body, f"flew apart after {step:,} steps of relaxation"))
        if time.perf_counter() - shown > SHOW:
            shown = time.perf_counter()
            report(f"step {step:,} of at most {most:,}, largest force {force / limit:.3g} times the tolerance")
        force = relaxation.run(ROUND)
    raise UnstableError(
        _no_equilibrium(
            body, f"still had {force / limit:.2g} times the allowed force after {most:,} steps of relaxation"
        )
    )


def _no_equilibrium(body: SoftBody, what: str) -> str:
    known = body.volume == "exact" or (body.gas is not None and body.gas.held)
    estimate = "" if known else f", or use volume = 'exact' instead of {body.volume!r}"
    doubt = units_doubt(body)
    units = f"it {doubt}; if its size is meant, " if doubt else ""
    return (
        f"body {body.name!r} found no equilibrium of springs and gas before the start (settled = true): it {what}; "
        f"{units}its springs may be too soft for its pressure: leave settled out, raise springs.stiffness, or lower "
        f"the gas pressure{estimate}"
    )


def _mean_edge(body: SoftBody) -> float:
    ends = body.shape.vertices[body.shape.edges]
    return float(np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1).mean())


def _rough_force(body: SoftBody, pressure: float) -> float:
    """N: about what a spring as long as its edge, and the gas on the faces around a vertex, can do."""
    edge = _mean_edge(body)
    return body.springs.stiffness * edge + abs(pressure) * edge ** (body.dim - 1)
