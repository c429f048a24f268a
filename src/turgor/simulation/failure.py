"""What to say when a frame has failed: which body, when, and what to change."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from turgor.errors import UnstableError
from turgor.kernel.status import FINE, TOO_STIFF
from turgor.solvers.schemes import SCHEMES

if TYPE_CHECKING:
    from turgor.simulation.simulation import Simulation

__all__ = ["ensure_fine", "failure_of"]


def ensure_fine(sim: Simulation) -> None:
    """Raise UnstableError if a frame has failed since the last look."""
    if sim.engine.look() == FINE:
        return
    sim.frame_index = round(sim.time * sim.settings.fps)
    failure = failure_of(sim)
    sim.engine.scratch.status.zero_()  # the state is that of the last good frame: it can be looked at, changed, and run
    sim.engine.changed()  # contact lists may be of positions that were given up
    raise failure


def failure_of(sim: Simulation) -> UnstableError:
    """The error for a simulation whose status is not fine."""
    status, culprit = (int(value) for value in sim.engine.scratch.status.numpy())
    settings = sim.settings
    where = f"body {_culprit(sim, culprit)!r} at t = {sim.time:.4g} s"
    if status == TOO_STIFF:
        precise = math.isfinite(sim.engine.accuracy)
        limits = "fps, max_substeps or accuracy" if precise else "fps or max_substeps"
        steady = SCHEMES[settings.solver].imaginary > 0.0 and not (precise and SCHEMES[settings.solver].drifts)
        other = "" if steady else ", add damping, or use solver='symplectic'"
        return UnstableError(
            f"{where} needs {_count(sim.substeps)} substeps per frame with solver {settings.solver!r}, more than "
            f"max_substeps = {settings.max_substeps}: lower its stiffness, damping or gas pressure, raise its mass, "
            f"raise {limits}{other}"
        )
    rigid = culprit >= len(sim.model.bodies) * sim.worlds
    change = "lower its velocity, spin or the forces on it" if rigid else "lower its stiffness or gas pressure"
    remedy = (
        f"{change}, raise its mass, or give a larger fixed number of substeps"
        if settings.substeps == "auto"
        else f"raise substeps (now {settings.substeps}) or use substeps='auto'"
    )
    return UnstableError(f"{where} diverged with solver {settings.solver!r}: {remedy}")


def _culprit(sim: Simulation, index: int) -> str:
    """Name of a body by its place in the status: the soft bodies of all worlds, then the rigid ones of all worlds."""
    soft, rigid = sim.model.bodies, sim.model.rigids.bodies
    if index < len(soft) * sim.worlds:
        return soft[index % len(soft)].name
    return rigid[(index - len(soft) * sim.worlds) % len(rigid)].name


def _count(number: int) -> str:
    return "over a billion" if number >= 10**9 else f"{number:,}"
