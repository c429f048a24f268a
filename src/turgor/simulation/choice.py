"""Which solver `solver="auto"` runs: symplectic where few substeps are stable, implicit where it would crawl.

Explicit substeps grow with the square root of stiffness over mass, steps of the implicit solver hardly do: measured
(docs/solvers.md), both cost the same at 400 to 600 substeps per frame, from 162 to 2,562 vertices. Where finer skins
touch something their folds take ever more iterations, so they stay with more substeps. The choice is made when a
simulation is built, again when parameters were set, and when a running frame turns out to need many more.
"""

from __future__ import annotations

import logging
import math
from typing import TYPE_CHECKING, NamedTuple

from turgor.simulation.step import measures
from turgor.simulation.step.frame import Step
from turgor.simulation.step.implicit import ensure_known, unknown
from turgor.simulation.threads import threads_of
from turgor.solvers.plan import MIN_SUBSTEPS
from turgor.solvers.schemes import SCHEMES, scheme_of

if TYPE_CHECKING:
    from turgor.simulation.simulation import Simulation

__all__ = ["AUTO", "Choice", "choose", "made", "needed_substeps", "reconsider", "take", "take_over"]

AUTO = "auto"
CRAWL, FINE = 600, 2562  # substeps per frame, of skins of up to so many vertices
AGAIN = 1.5  # times as many before a running frame changes the choice: substeps follow every swing of a body

log = logging.getLogger("turgor")


class Choice(NamedTuple):
    """A solver, and why "auto" has chosen it; no reason where a user has named it."""

    solver: str
    reason: str = ""


def made(sim: Simulation, solver: str) -> Step:
    """The engine of a simulation with this solver, on its model and state."""
    settings, model, scheme = sim.settings, sim.model, scheme_of(solver)
    if scheme.implicit:
        ensure_known(model, settings)
    gathers = model.device.is_cuda if settings.assembly == "auto" else settings.assembly == "gather"
    return Step(
        model, sim.state, scheme,
        fps=settings.fps, substeps=settings.substeps if isinstance(settings.substeps, int) else None,
        max_substeps=settings.max_substeps, ledger=settings.ledger,
        accuracy=settings.accuracy if isinstance(settings.accuracy, float) else scheme.accuracy,
        gathers=model.fans_known and gathers, contact=settings.contact, readings=settings.readings,
        threads=threads_of(settings, model, scheme),
    )  # fmt: skip


def only_explicit(sim: Simulation) -> str:
    """Why the implicit solver is out of the question; empty if it is not."""
    settings = sim.settings
    if settings.substeps != "auto":
        return f"the number of substeps is given, {settings.substeps}"
    if settings.accuracy != "auto":
        return f"accuracy = {settings.accuracy:g} is asked for"
    if what := unknown(sim.model, settings):
        return f"the implicit solver does not know {what}"
    return "" if sim.vertices else "there is no soft body"


def crawl(sim: Simulation) -> float:
    """Substeps per frame that are too many."""
    model = sim.model
    largest = max((len(part.order) for part in model.parts), default=0)
    touches = model.walls.count or model.rigids.total or len(model.parts) > 1
    return CRAWL * max(1.0, largest / FINE) if touches else CRAWL


def by_substeps(sim: Simulation, count: int) -> Choice:
    """From the substeps per frame that the symplectic solver needs."""
    many = "over a billion" if count >= 10**9 else f"{count:,}"
    if count > min(crawl(sim), sim.settings.max_substeps):
        return Choice("implicit", f"the symplectic solver would need {many} substeps per frame")
    return Choice("symplectic", f"{many} substeps per frame are stable")


def needed_substeps(sim: Simulation) -> int:
    """Per frame, by the symplectic solver at the present state."""
    longest = measures.longest_steps(sim.engine, SCHEMES["symplectic"]).min(initial=math.inf)
    return max(int(min(math.ceil(1.0 / (sim.settings.fps * max(longest, 1e-30))), 1e9)), MIN_SUBSTEPS)


def choose(sim: Simulation) -> None:
    """The solver for the present state and parameters, where that is left to us."""
    if sim.settings.solver == AUTO:
        reason = only_explicit(sim)
        take(sim, Choice("symplectic", reason) if reason else by_substeps(sim, needed_substeps(sim)))


def reconsider(sim: Simulation) -> None:
    """After a frame: the other solver, where that is better by now."""
    if sim.settings.solver != AUTO:
        return
    if sim.solver == "implicit":
        if sim.engine.unsure:
            choose(sim)
    elif sim.engine.scratch.substeps.numpy()[0] > AGAIN * crawl(sim):
        take_over(sim)


def take_over(sim: Simulation) -> bool:
    """Where a frame took or asked for too many substeps: whether the implicit solver goes on from here."""
    if sim.settings.solver != AUTO or sim.solver == "implicit" or only_explicit(sim):
        return False
    take(sim, by_substeps(sim, int(sim.engine.scratch.substeps.numpy()[0])))
    return sim.solver == "implicit"


def take(sim: Simulation, choice: Choice) -> None:
    """Go on with this solver from the present state."""
    if choice.solver != sim.solver:
        engine = made(sim, choice.solver)
        measures.meet_positions(sim.engine)
        for array in (sim.state.dt, sim.state.pace):  # they begin anew
            array.zero_()
        if sim.frame_index:
            log.info("solver %s takes over at t = %.4g s: %s", choice.solver, sim.time, choice.reason)
        sim.engine = engine
        engine.changed()
    sim.engine.unsure = False
    sim.choice = choice
