"""What to say when a frame has failed: which body, when, and what to change."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from turgor.errors import UnstableError
from turgor.forces.nonconservative import LIMIT, MADE
from turgor.kernel.status import FINE, NOT_FINITE, RUNAWAY, TOO_STIFF
from turgor.scene.data import Placed, SoftBody
from turgor.scene.units import units_doubt
from turgor.simulation.choice import take_over
from turgor.simulation.step.implicit import unknown

if TYPE_CHECKING:
    from turgor.simulation.simulation import Simulation

__all__ = ["ensure_fine", "failure_of"]

FloatArray = npt.NDArray[np.float64]


def ensure_fine(sim: Simulation) -> None:
    """Raise UnstableError if a frame has failed since the last look."""
    status = sim.engine.replay.look()
    missing, sim.engine.replay.missing = sim.engine.replay.missing, 0
    if status == FINE:
        return
    if status == TOO_STIFF and take_over(sim):
        for _ in range(missing):
            sim.engine.replay.run()
        ensure_fine(sim)
        return
    sim.frame_index = round(sim.time * sim.settings.fps)
    failure = failure_of(sim)
    sim.engine.replay.clear_failure()  # the state is that of the last good frame: it can be looked at, changed, and run
    if status == TOO_STIFF:
        sim.state.pace.zero_()  # what was too many is not kept up
    if sim.worlds == 1:
        sim.engine.changed()  # contact lists may be of positions that were given up; `restart` does so for worlds
    raise failure


def failure_of(sim: Simulation) -> UnstableError:
    """The error for a simulation whose status is not fine."""
    status, culprit = (int(value) for value in sim.engine.scratch.status.numpy())
    if sim.worlds == 1:
        return UnstableError(_sentence(sim, status, culprit))
    failed = reversed(_failed(sim, status, culprit).items())  # the first of a world tells for it
    reasons = {_world(sim, index): _sentence(sim, why, index) for index, why in failed}
    first = _world(sim, culprit)
    more = f" ({len(reasons) - 1:,} more of {sim.worlds:,} worlds failed too)" if len(reasons) > 1 else ""
    return UnstableError(f"world {first}: {reasons[first]}{more}", reasons)


def _failed(sim: Simulation, status: int, culprit: int) -> dict[int, int]:
    """Bodies that failed, by their places in the status -> why; the one that was named comes first."""
    scratch = sim.engine.scratch
    failed = dict.fromkeys(np.flatnonzero(scratch.body_failed.numpy()).tolist(), NOT_FINITE)
    if status == TOO_STIFF:
        failed |= dict.fromkeys(np.flatnonzero(_needed(sim) > sim.settings.max_substeps).tolist(), TOO_STIFF)
    if status == RUNAWAY:
        moved, there, made = (array.numpy() for array in (scratch.moving, scratch.available, scratch.made))
        ran = (moved > LIMIT * there) & (made > MADE * moved)
        failed |= {body: RUNAWAY for body in np.flatnonzero(ran).tolist() if body in failed}
    return {culprit: status} | {body: failed[body] for body in sorted(failed) if body != culprit}


def _needed(sim: Simulation) -> FloatArray:
    """(bodies of all worlds,) substeps per frame that each asks for."""
    bound = np.asarray(sim.engine.scratch.step_bound.numpy(), np.float64)
    return np.minimum(np.ceil(sim.engine.frame_time / np.maximum(np.nan_to_num(bound), 1e-30)), 1e9)


def _sentence(sim: Simulation, status: int, culprit: int) -> str:
    """Which body, when, and what to change."""
    settings = sim.settings
    body = _culprit(sim, culprit)
    where, doubt = f"body {body.name!r} at t = {sim.time:.4g} s", units_doubt(body)
    units = f"it {doubt}; if its size is meant, " if doubt else ""
    made = _made(sim, culprit)
    if status == RUNAWAY:
        scratch = sim.engine.scratch
        moved, there = (float(array.numpy()[culprit]) for array in (scratch.moving, scratch.available))
        return f"{where} moves with {moved:.2g} J, where gas and scene hold {there:.2g} J: {made}"
    if made:
        return f"{where} diverged with solver {sim.solver!r}: {made}"
    if status == TOO_STIFF:
        precise = math.isfinite(sim.engine.accuracy)
        limits = "fps, max_substeps or accuracy" if precise else "fps or max_substeps"
        scheme = sim.engine.scheme
        steady = scheme.imaginary > 0.0 and not (precise and scheme.drifts)
        other = ", or use solver='implicit'" if steady else ", add damping, or use solver='symplectic'"
        if steady and unknown(sim.model, settings):
            other = ""
        needed = sim.substeps if sim.worlds == 1 else int(max(_needed(sim)[culprit], settings.max_substeps + 1))
        return (
            f"{where} needs {_count(needed)} substeps per frame with solver {sim.solver!r}, more than "
            f"max_substeps = {settings.max_substeps}: {units}lower its stiffness, damping or gas "
            f"pressure, raise its mass, raise {limits}{other}"
        )
    rigid = culprit >= len(sim.model.bodies) * sim.worlds
    change = "lower its velocity, spin or the forces on it" if rigid else "lower its stiffness or gas pressure"
    remedy = (
        f"{change}, raise its mass, or give a larger fixed number of substeps"
        if settings.substeps == "auto"
        else f"raise substeps (now {settings.substeps}) or use substeps='auto'"
    )
    return f"{where} diverged with solver {sim.solver!r}: {units}{remedy}"


def _made(sim: Simulation, index: int) -> str:
    """What to say of a body into which a pressure law that is not conservative has put energy; empty if it has not."""
    if not sim.model.may_run_away or index >= len(sim.model.bodies) * sim.worlds:
        return ""
    body = sim.model.bodies[index % len(sim.model.bodies)]
    made, moved = (float(array.numpy()[index]) for array in (sim.engine.scratch.made, sim.engine.scratch.moving))
    if not isinstance(body, SoftBody) or not made > MADE * moved > 0.0:
        return ""
    laws = {"volume": "exact", "pressure_force": "gradient", "pressure_scaling": False}
    others = {name: value for name, value in laws.items() if getattr(body, name) != value}
    now = " and ".join(f"{name} = {getattr(body, name)!r}" for name in others)
    exact = " and ".join(f"{name} = {value!r}" for name, value in others.items())
    what = "volume is an estimate that" if list(others) == ["volume"] else "pressure law"
    return f"its {what} is not conservative ({now}), and has made {made:.2g} J: use {exact}, or add damping or drag"


def _culprit(sim: Simulation, index: int) -> Placed:
    """A body by its place in the status: the soft bodies of all worlds, then the rigid ones of all worlds."""
    soft, rigid = sim.model.bodies, sim.model.rigids.bodies
    if index < len(soft) * sim.worlds:
        return soft[index % len(soft)]
    return rigid[(index - len(soft) * sim.worlds) % len(rigid)]


def _world(sim: Simulation, index: int) -> int:
    """The world of a body, by its place in the status."""
    soft, rigid = len(sim.model.bodies), len(sim.model.rigids.bodies)
    return index // soft if index < soft * sim.worlds else (index - soft * sim.worlds) // rigid


def _count(number: int) -> str:
    return "over a billion" if number >= 10**9 else f"{number:,}"
