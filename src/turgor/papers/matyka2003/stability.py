"""Matyka & Ollila 2003, section 3.3: which steps and stiffnesses Euler, midpoint, RK4 and others can stand."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from turgor import shapes
from turgor.papers.drawing.plot import cell_map
from turgor.papers.report.blocks import Block, Row, Svg, Table, Text
from turgor.scene import Gas, Scene, Springs
from turgor.simulation.simulation import Simulation
from turgor.simulation.views.body import BodyView

__all__ = ["SOLVERS", "StabilityMap", "agreement", "blocks", "limit", "predicted", "stability_map", "top_frequency"]

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
SOLVERS = {"euler": "Euler", "midpoint": "midpoint", "rk4": "Runge-Kutta 4", "symplectic": "symplectic", "heun": "Heun"}
EVALUATIONS = {"euler": 1, "midpoint": 2, "rk4": 4, "symplectic": 1, "heun": 2}
REACH = {"euler": 0.0, "midpoint": 0.0, "rk4": 2.83, "symplectic": 2.0, "heun": 0.0}  # of omega dt, without damping
PAPER = ("euler", "midpoint", "rk4")  # what section 3.3 tried

MASS, PRESSURE = 1.0, 1000.0  # kg; Pa inside and outside: the rest shape is in balance at any stiffness
DASHPOT = 0.2  # N s/m, as the balls of five-balls have
KICK = 1e-3  # m/s: random velocities that excite every mode
GROWTH = 10.0  # times the root mean square velocity of the start: that is called unstable
SECONDS, LEAST = 1.0, 200  # length of a run: s, and at least this many steps
CAREFUL, BETWEEN = 24, 25  # steps: the first are all checked, later ones only at intervals
HEAVY = 1e9  # kg: what has become unstable is stopped by its inertia
GREEN, YELLOW, BLUE, RED = "#3d9a64", "#e9c65a", "#6f9fd8", "#cf5a52"
LEGEND = {GREEN: "stable", YELLOW: "only damped", BLUE: "only undamped", RED: "unstable"}


@dataclass(frozen=True)
class StabilityMap:
    """Of one integrator: stable[d, j, i] with dashpots (d = 0) or without (d = 1), step j, stiffness i."""

    stiffness: FloatArray  # N/m
    steps: FloatArray  # s
    stable: BoolArray


@functools.cache
def _shape() -> shapes.Shape:
    return shapes.icosphere(radius=0.5, subdivisions=1)


def _scene() -> Scene:
    scene = Scene(name="afloat", gravity=(0.0, 0.0, 0.0))
    gas = Gas.at(gauge=0.0, ambient=PRESSURE)
    scene.add_soft_body(_shape(), name="ball", mass=MASS, springs=Springs(100.0, DASHPOT), gas=gas)
    return scene


def stability_map(solver: str, stiffness: FloatArray, steps: FloatArray) -> StabilityMap:
    """Real runs: for each step one simulation, whose worlds have all the stiffnesses, with dashpots and without."""
    rows = [_row(solver, stiffness, float(step)) for step in steps]
    return StabilityMap(stiffness, steps, np.stack(rows, axis=1))


def _row(solver: str, stiffness: FloatArray, step: float) -> BoolArray:
    """(2, stiffnesses): whether the velocities stay below GROWTH times those of the start."""
    count = len(stiffness)
    sim = Simulation(_scene(), solver=solver, substeps=1, fps=1.0 / step, contact="none", worlds=2 * count)
    ball = sim["ball"]
    ball.stiffness = np.tile(stiffness, 2)
    ball.damping = np.repeat([DASHPOT, 0.0], count)
    ball.velocities = KICK * np.random.default_rng(3).normal(size=_shape().vertices.shape)
    start = _speeds(ball.velocities)
    stable = np.ones(2 * count, bool)
    total = max(LEAST, round(SECONDS / step))
    for done in range(1, total + 1):
        sim.step()
        if done > CAREFUL and done % BETWEEN and done < total:
            continue
        grown = stable & (_speeds(ball.velocities) > GROWTH * start)
        if grown.any():
            stable &= ~grown
            _stop(ball, stable)
        if not stable.any():
            break
    return stable.reshape(2, count)


def _speeds(velocities: FloatArray) -> FloatArray:
    return np.asarray(np.sqrt(np.mean(velocities**2, axis=(1, 2))))


def _stop(ball: BodyView, stable: BoolArray) -> None:
    """Worlds that are not stable go back to rest and become too heavy to leave it again."""
    keep = stable[:, None, None]
    ball.positions = np.where(keep, ball.positions, _shape().vertices)
    ball.velocities = np.where(keep, ball.velocities, 0.0)
    ball.mass = np.where(stable, MASS, HEAVY)


# theory ---------------------------------------------------------------------------------------------------------------


@functools.cache
def _modes() -> tuple[FloatArray, FloatArray, FloatArray]:
    """Linear theory about the rest shape, for mass-weighted coordinates.

    Springs: stiffness times the sum of n nᵀ over them; dashpots likewise. Gas: (P/V) grad V grad Vᵀ. In the basis that
    makes the first diagonal (entries s), grad V touches only the modes of full symmetry. Gives s of the modes without
    gas, and of those with gas: diagonal s, and the gas matrix.
    """
    shape = _shape()
    count = len(shape.vertices)
    matrix = np.zeros((count, 3, count, 3))
    for a, b in shape.edges:
        along = shape.vertices[b] - shape.vertices[a]
        outer = np.outer(along, along) / (along @ along)
        matrix[a, :, a] += outer
        matrix[b, :, b] += outer
        matrix[a, :, b] -= outer
        matrix[b, :, a] -= outer
    gradient = np.zeros((count, 3))
    corners = shape.vertices[shape.faces]
    for corner in range(3):
        share = np.cross(corners[:, (corner + 1) % 3], corners[:, (corner + 2) % 3]) / 6.0
        np.add.at(gradient, shape.faces[:, corner], share)
    values, vectors = np.linalg.eigh(matrix.reshape(3 * count, 3 * count) * (count / MASS))
    push = vectors.T @ gradient.ravel() * math.sqrt(PRESSURE / shape.volume * count / MASS)
    touched = np.abs(push) > 1e-6 * np.abs(push).max()
    return values[~touched], np.diag(values[touched]), np.outer(push[touched], push[touched])


def top_frequency(stiffness: float) -> float:
    """1/s: the highest angular frequency of springs and gas."""
    plain, own, gas = _modes()
    return math.sqrt(max(stiffness * float(plain.max()), float(np.linalg.eigvalsh(stiffness * own + gas).max())))


def gas_rules_below() -> float:
    """N/m: the stiffness below which breathing, and so the gas, has the highest frequency."""
    plain, own, gas = _modes()
    low, high = 0.0, 1e6
    for _ in range(60):
        middle = 0.5 * (low + high)
        breathing = float(np.linalg.eigvalsh(middle * own + gas).max())
        low, high = (middle, high) if breathing > middle * float(plain.max()) else (low, middle)
    return low


def growth_per_step(solver: str, stiffness: float, dashpot: float, step: float) -> float:
    """Largest absolute eigenvalue of what the integrator does to the linear system in one step."""
    plain, own, gas = _modes()
    single = (stiffness * plain)[:, None, None], (dashpot * plain)[:, None, None]
    together = (stiffness * own + gas)[None], (dashpot * own)[None]
    return max(_radius(solver, k, c, step) for k, c in (single, together))


def _radius(solver: str, k: FloatArray, c: FloatArray, step: float) -> float:
    """k, c: stacks of (n, n) matrices of x'' = -k x - c x'."""
    one = np.broadcast_to(np.eye(k.shape[-1]), k.shape)
    if solver == "symplectic":
        slowed, pulled = one - step * c, -step * k
        matrix = _blocks(one + step * pulled, step * slowed, pulled, slowed)
        return float(np.abs(np.linalg.eigvals(matrix)).max())
    z = step * np.linalg.eigvals(_blocks(0 * one, one, -k, -c))
    order = {"euler": 1, "midpoint": 2, "heun": 2, "rk4": 4}[solver]
    return float(np.abs(sum(z**n / math.factorial(n) for n in range(order + 1))).max())


def _blocks(a: FloatArray, b: FloatArray, c: FloatArray, d: FloatArray) -> FloatArray:
    return np.concatenate([np.concatenate([a, b], -1), np.concatenate([c, d], -1)], -2)


def predicted(solver: str, stiffness: float, dashpot: float, step: float) -> bool:
    """What linear theory says of a run: one of all modes has to grow until the whole has grown by GROWTH."""
    steps = max(LEAST, round(SECONDS / step))
    share = math.sqrt(3 * len(_shape().vertices))
    return steps * math.log(growth_per_step(solver, stiffness, dashpot, step)) <= math.log(GROWTH * share)


def limit(solver: str, stiffness: float, dashpot: float) -> float:
    """s: the longest step at which theory calls a run stable."""
    low, high = 1e-7, 1.0
    for _ in range(40):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if predicted(solver, stiffness, dashpot, middle) else (low, middle)
    return low


def agreement(solver: str, found: StabilityMap) -> tuple[int, int]:
    """Runs that went as theory says, and all runs."""
    theory = [
        [[predicted(solver, k, dashpot, step) for k in found.stiffness] for step in found.steps]
        for dashpot in (DASHPOT, 0.0)
    ]
    return int((np.array(theory) == found.stable).sum()), found.stable.size


# the report -----------------------------------------------------------------------------------------------------------


def blocks(quick: bool) -> list[Block]:
    """Section 3.3 of the report."""
    stiffness = np.logspace(1.0, 4.0, 7 if quick else 13)
    steps = np.logspace(-3.0, -1.0, 7) if quick else np.logspace(-4.0, -1.0, 16)
    maps = {solver: stability_map(solver, stiffness, steps) for solver in SOLVERS}
    agreed = [agreement(solver, found) for solver, found in maps.items()]
    matching, runs = (sum(column) for column in zip(*agreed, strict=True))
    colors = {solver: _colors(found) for solver, found in maps.items()}
    used = {color for table in colors.values() for row in table for color in row}
    legend = [(color, meaning) for color, meaning in LEGEND.items() if color in used]
    pictures = [
        Svg(
            cell_map(
                stiffness, 1e3 * steps, colors[solver], "spring stiffness, N/m", "step, ms", legend,
                width=440, height=330, title=SOLVERS[solver],
            )
        )
        for solver in maps
    ]  # fmt: skip
    shares = {solver: float(found.stable[0].mean()) for solver, found in maps.items()}
    per_work = {solver: _largest(found, 0) / EVALUATIONS[solver] for solver, found in maps.items()}
    best = max(per_work, key=lambda solver: per_work[solver])
    return [
        Text(
            "The paper integrates with Euler, midpoint and Runge-Kutta 4, and settles on midpoint as it was stable for "
            "some parameters; it gives no numbers. Here a ball of 42 points floats in balance (gas and outside at "
            f"{PRESSURE:,.0f} Pa, {MASS:g} kg), every point gets a small random velocity, and each cell is one run of "
            f"the engine over {SECONDS:g} s (at least {LEAST} steps). A run is unstable once the root mean square "
            f"velocity is {GROWTH:g} times that of the start. Each run is made with a dashpot of {DASHPOT:g} N s/m in "
            "every spring and without."
        ),
        Row(pictures),
        _table(maps),
        Text(
            f"{matching:,} of {runs:,} runs went as linear theory says (eigenvalues of springs, dashpots and gas, run "
            "through each integrator). With dashpots, "
            + ", ".join(f"{SOLVERS[solver]} {shares[solver]:.0%}" for solver in SOLVERS)
            + f" of the map is stable. Below {gas_rules_below():.0f} N/m the gas, not the springs, sets the limit.",
            "measured",
        ),
        Text(
            "The midpoint rule is not the stablest of the three: Runge-Kutta 4 covers "
            f"{shares['rk4']:.0%} of the map against {shares['midpoint']:.0%}. Without damping neither Euler nor "
            "midpoint nor Heun is stable at any step: oscillations grow by (ωΔt)²/2 or (ωΔt)⁴/8 per step, and what is "
            f"green there only grows too slowly to be seen in {SECONDS:g} s. With dashpots c on springs k Euler needs "
            "Δt < c/k whatever the mass, and less where gas adds stiffness. The longest step per evaluation of the "
            f"forces, at {_middle(stiffness):,.0f} N/m, is that of {SOLVERS[best]} ({1e3 * per_work[best]:.3g} ms; "
            f"midpoint {1e3 * per_work['midpoint']:.3g} ms). turgor's default is the symplectic method.",
            "wrong",
        ),
    ]


def _table(maps: dict[str, StabilityMap]) -> Table:
    stiffness, steps = next((_middle(found.stiffness), found.steps) for found in maps.values())
    rows = [
        [
            SOLVERS[solver] + ("" if solver in PAPER else " *"),
            EVALUATIONS[solver],
            REACH[solver],
            _largest(found, 1) * top_frequency(stiffness),
            _against(_largest(found, 1), limit(solver, stiffness, 0.0), found),
            _against(_largest(found, 0), limit(solver, stiffness, DASHPOT), found),
        ]
        for solver, found in maps.items()
    ]
    header = ["integrator", "forces per step", "ωΔt, theory", "ωΔt, run", "undamped, ms", "with dashpots, ms"]
    return Table(
        header,
        rows,
        f"The longest stable step at {stiffness:,.0f} N/m (top frequency {top_frequency(stiffness):.0f}/s), of steps "
        f"a factor {steps[1] / steps[0]:.2f} apart. ωΔt: without damping; theory for ever, run for {SECONDS:g} s. "
        "In brackets the theory for runs as long as these. * not in the paper.",
    )


def _middle(values: Sequence[float] | FloatArray) -> float:
    return float(values[len(values) // 2])


def _largest(found: StabilityMap, kind: int) -> float:
    """s: the longest stable step of those tried at the middle stiffness; 0 if none was."""
    good = found.steps[found.stable[kind, :, len(found.stiffness) // 2]]
    return float(good.max()) if len(good) else 0.0


def _against(step: float, theory: float, found: StabilityMap) -> str:
    measured = f"{1e3 * step:.3g}" if step else f"below {1e3 * found.steps.min():.2g}"
    return f"{measured} ({1e3 * theory:.3g})"


def _colors(found: StabilityMap) -> list[list[str]]:
    names = {(True, True): GREEN, (True, False): YELLOW, (False, True): BLUE, (False, False): RED}
    damped, free = found.stable
    return [[names[bool(a), bool(b)] for a, b in zip(*rows, strict=True)] for rows in zip(damped, free, strict=True)]
