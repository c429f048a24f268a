"""Matyka 2004, section 6 and appendix B: Euler, what the listing really does, and Heun; largest step and error."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from turgor import gallery
from turgor.errors import UnstableError
from turgor.papers.drawing.plot import Curve, chart
from turgor.papers.report.blocks import Block, Svg, Table, Text
from turgor.simulation.simulation import Simulation

__all__ = ["NAMES", "Errors", "blocks", "errors", "largest_step", "order", "spring_limit"]

FloatArray = npt.NDArray[np.float64]
FRAME = 0.1  # s; every step divides it
NAMES = {"euler": "Euler, textbook", "symplectic": "Euler, as listed", "heun": "Heun", "midpoint": "midpoint"}
EVALUATIONS = {"euler": 1, "symplectic": 1, "heun": 2, "midpoint": 2}
KICK = 0.05  # m/s: random velocities that excite every mode of the ring
GROWTH = 10.0  # of the energy above equilibrium: beyond, a run counts as unstable
FINEST = 2**13  # steps per frame at which the search for a stable step gives up
FINER = 4  # the reference's step is this much shorter than the shortest


@functools.cache
def _settled() -> FloatArray:
    return np.asarray(Simulation(gallery.load("drop-2d"), precision="double")["ball"].positions)


def ring(solver: str, substeps: int, *, damped: bool) -> Simulation:
    """The ball of drop-2d in equilibrium, afloat (no gravity, no floor)."""
    scene = gallery.load("drop-2d")
    scene.grounds.clear()
    scene.gravity = (0.0, 0.0)
    scene.set("ball.settled", False)
    if not damped:
        scene.set("ball.springs.damping", 0.0)
        scene.set("ball.drag", 0.0)
    sim = Simulation(
        scene, solver=solver, substeps=substeps, fps=1.0 / FRAME, precision="double", contact="none",
        max_substeps=FINER * FINEST,
    )  # fmt: skip
    sim["ball"].positions = _settled()
    return sim


def keeps_quiet(solver: str, substeps: int, *, damped: bool, seconds: float) -> bool:
    """With a random velocity at each point: whether the energy never gets more than GROWTH times what these put in.

    (The energy of a symplectic method that is stable still goes up and down, by a factor near its limit.)
    """
    sim = ring(solver, substeps, damped=damped)
    sim["ball"].velocities = KICK * np.random.default_rng(4).normal(size=_settled().shape)
    whole = float(sim.energy().total)
    start = float(sim.energy().kinetic)
    try:
        for _ in range(round(seconds / FRAME)):
            sim.step()
            if float(sim.energy().total) > whole + (GROWTH - 1.0) * start:
                return False
    except UnstableError:
        return False
    return True


def largest_step(solver: str, *, damped: bool, seconds: float = 1.0, halvings: int = 3) -> float:
    """s: the largest step that keeps quiet, by halving the interval (of its logarithm); 0 if none down to FINEST is."""
    quiet = 16
    while not keeps_quiet(solver, quiet, damped=damped, seconds=seconds):
        quiet *= 2
        if quiet > FINEST:
            return 0.0
    loud = quiet // 2
    for _ in range(halvings):
        middle = round(math.sqrt(loud * quiet))
        if middle in (loud, quiet):
            break
        if keeps_quiet(solver, middle, damped=damped, seconds=seconds):
            quiet = middle
        else:
            loud = middle
    return FRAME / quiet


def spring_limit() -> float:
    """s: 2/ω, where ω² = 4 k/m is the stiffest mode of a ring of springs: neighbours move against each other."""
    body = gallery.load("drop-2d").soft_bodies[0]
    return 2.0 / math.sqrt(4.0 * body.springs.stiffness * len(body.shape.vertices) / body.mass)


@dataclass(frozen=True)
class Errors:
    """Of one integrator: the error of the positions (m, root mean square) after FRAME, for several steps (s)."""

    steps: FloatArray
    errors: FloatArray


def errors(solver: str, counts: Sequence[int]) -> Errors:
    """Of a ball that was stretched by 5 % and spun; against Runge-Kutta 4 with short steps; inf where it blew up."""
    exact = _end("rk4", FINER * max(counts))
    found = [float(np.sqrt(np.mean((_end(solver, count) - exact) ** 2))) for count in counts]
    return Errors(FRAME / np.asarray(counts, np.float64), np.asarray(found))


@functools.cache
def _end(solver: str, substeps: int) -> FloatArray:
    sim = ring(solver, substeps, damped=False)
    middle = _settled().mean(axis=0)
    sim["ball"].positions = middle + (_settled() - middle) * (1.05, 0.97)
    sim["ball"].velocities = (_settled() - middle)[:, ::-1] * (-1.0, 2.0)
    try:
        sim.step()
    except UnstableError:
        return np.full_like(_settled(), math.inf)
    return np.asarray(sim["ball"].positions)


def order(found: Errors, points: int = 4) -> float:
    """Slope of log error over log step, fitted to the `points` shortest steps."""
    chosen = np.argsort(found.steps)[:points]
    slope, _ = np.polyfit(np.log(found.steps[chosen]), np.log(found.errors[chosen]), 1)
    return float(slope)


def blocks(quick: bool) -> list[Block]:
    """Appendix B of the report."""
    counts = [2**k for k in range(5, 11 if quick else 13)]
    found = {solver: errors(solver, counts) for solver in NAMES}
    seconds, halvings = (0.5, 2) if quick else (2.0, 5)
    limits = {
        solver: [largest_step(solver, damped=damped, seconds=seconds, halvings=halvings) for damped in (True, False)]
        for solver in ("euler", "symplectic", "heun")
    }
    rows = [
        [
            NAMES[solver],
            EVALUATIONS[solver],
            _milliseconds(limits[solver][0]),
            _milliseconds(limits[solver][1]),
            1e3 * limits[solver][0] / EVALUATIONS[solver],
            order(found[solver]),
        ]
        for solver in limits
    ]
    header = ["integrator", "forces per step", "damped, ms", "no damping, ms", "damped, ms per force", "order"]
    curves = [
        Curve(f"{name}: slope {order(found[solver]):.2f}", found[solver].steps, found[solver].errors, marks=True)
        for solver, name in NAMES.items()
    ]
    heun, listed, euler = (limits[solver] for solver in ("heun", "symplectic", "euler"))
    again = heun[0] / euler[0] if euler[0] else math.inf
    return [
        Text(
            "The paper integrates with Euler for simplicity and recommends Heun's predictor-corrector as second order, "
            "with larger steps or stiffer springs. Here the ball of `drop-2d` floats in equilibrium and every point "
            "gets a small random velocity, so that all modes ring."
        ),
        Table(
            header, rows,
            "Largest stable step (as damped as `drop-2d`, and not at all), that step per evaluation of the forces, and "
            f"the order measured. Stable: in {seconds:g} s the energy never gets {GROWTH:g} times what the random "
            "velocities put in. Without damping Euler and Heun are stable at no step: the longer one looks, the less.",
        ),
        Svg(
            chart(curves, "step, s", f"error of the positions after {FRAME:g} s, m", log_x=True, log_y=True),
            "Error against step, of a ball that starts stretched and spinning (no damping, double precision; the "
            f"reference is Runge-Kutta 4 with a step {FINER} times finer than the finest). What is missing blew up.",
        ),
        Text(
            f"Measured orders: Euler {order(found['euler']):.2f}, the listing {order(found['symplectic']):.2f}, "
            f"Heun {order(found['heun']):.2f}, midpoint {order(found['midpoint']):.2f}. Heun is stable at steps "
            f"{_times(again)} as long as textbook Euler's with damping: the paper's advice holds against that Euler.",
            "measured",
        ),
        Text(
            "What the paper lists under the name of Euler updates the velocity first and moves with the new one: that "
            f"is the symplectic Euler method. Its largest step is {1e3 * listed[0]:.2g} ms with damping, against "
            f"{1e3 * heun[0]:.2g} ms of Heun, which needs two evaluations of all forces per step; without damping "
            f"{1e3 * listed[1]:.2f} ms (by theory 2/ω = {1e3 * spring_limit():.2f} ms) against {1e3 * heun[1]:.2g} ms. "
            "So as far as stability goes, the change to Heun that appendix B recommends gains nothing per unit of "
            "work; it gains accuracy.",
            "wrong",
        ),
        Text(
            "Appendix B calls Heun's scheme semi-implicit; it is explicit. Both slopes come from known states, and "
            "undamped oscillations grow at any step, by a factor 1 + (ωΔt)⁴/8 (Euler: 1 + (ωΔt)²/2).",
            "wrong",
        ),
    ]  # fmt: skip


def _milliseconds(step: float) -> float | str:
    return 1e3 * step if step else f"below {1e3 * FRAME / FINEST:.2g}"


def _times(ratio: float) -> str:
    return f"{ratio:.0f} times" if math.isfinite(ratio) else "infinitely many times"
