"""Beside section 3.3 of Matyka & Ollila 2003: the implicit solver at any stiffness and pressure, a step a frame.

The paper asks which integrator stands which parameters. `implicit` is meant to stand all of them, so the map here is as
wide as numbers of real skins and gases are, and wider; each cell is a run, and a run that fails is shown as failed. To
stay finite is not enough: a step that ends higher than it began (springs, gas, weight and motion together) is wrong,
however finite. The symplectic method is not asked that, as its energy swings.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from turgor import shapes
from turgor.errors import TurgorWarning, UnstableError
from turgor.model.saved import Saved, restore, saved
from turgor.papers.drawing.plot import cell_map
from turgor.papers.report.blocks import Block, Row, Svg, Table, Text
from turgor.scene import Gas, Scene, Springs
from turgor.simulation.simulation import Simulation

__all__ = ["AMBIENTS", "STEPS", "FiniteMap", "blocks", "cell_colors", "finite_map", "settings_scene", "summary"]

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

SOLVERS = {"implicit": "implicit", "symplectic": "symplectic"}
AMBIENTS = (0.0, 101_325.0)  # Pa (N/m in 2D): nothing outside, and air
STEPS = (1 / 30, 1 / 60, 1 / 240)  # s, one per frame
FRAMES = 10
RADIUS, GAP, SPEED = 0.5, 0.01, 1.0  # m, m, m/s: the ground is hit in the first steps
STIFFNESS = (-2, 10)  # powers of ten, N/m
GAUGE = (-1, 7)  # powers of ten, Pa (N/m in 2D)
GROWTH = 0.01  # of kinetic energy and gas at the start, by which a run may end higher: friction is in no potential
GREEN, PURPLE, YELLOW, BLUE, RED = "#3d9a64", "#8a5fb0", "#e9c65a", "#6f9fd8", "#cf5a52"
LEGEND = {
    GREEN: "finite", PURPLE: "finite, gains energy", YELLOW: "fails in air", BLUE: "fails in empty space", RED: "fails",
}  # fmt: skip


@dataclass(frozen=True)
class FiniteMap:
    """Of one solver, dimension and step: [a, j, i] is the run with AMBIENTS[a], gauge pressure j, stiffness i."""

    stiffness: FloatArray  # N/m
    gauge: FloatArray  # Pa, entered at the rest volume
    finite: BoolArray  # whether it stays finite
    grows: BoolArray  # whether it does, and its energy has grown; False where the solver is not asked


def settings_scene(dim: int, stiffness: float = 1e4, gauge: float = 1.0, ambient: float = AMBIENTS[1]) -> Scene:
    """A ball of 1 kg just above the ground, thrown at it; turned, so that it does not land on a vertex."""
    across = (0.0,) * (dim - 1)
    shape = shapes.icosphere(radius=RADIUS, subdivisions=1) if dim == 3 else shapes.circle(radius=RADIUS, points=24)
    scene = Scene(name="settings", dim=dim)
    scene.add_ground(friction=0.5)
    scene.add_soft_body(
        shape, name="ball", mass=1.0, springs=Springs(stiffness), gas=Gas.at(gauge=gauge, ambient=ambient),
        rotation=(0.3, 0.2, 0.1) if dim == 3 else 0.1, at=(*across, RADIUS + GAP), velocity=(*across, -SPEED),
    )  # fmt: skip
    return scene


def finite_map(solver: str, dim: int, step: float, stiffness: FloatArray, gauge: FloatArray) -> FiniteMap:
    """A run for each setting: FRAMES frames of one step each, in double precision.

    Recording a frame takes longer than a run, and depends on no parameter. So one simulation runs all settings, each
    from the same start: state, and what the implicit solver keeps from step to step.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TurgorWarning)  # most settings are absurd, and meant to be
        sim = Simulation(
            settings_scene(dim), solver=solver, substeps=1, fps=1.0 / step, contact="none", precision="double"
        )
    owners: list[Saved] = [sim.state, *([sim.engine.implicit] if sim.engine.implicit is not None else [])]
    start = [{name: array.copy() for name, array in saved(owner).items()} for owner in owners]
    ball, runs = sim["ball"], []
    for ambient, pressure, springs in itertools.product(AMBIENTS, gauge, stiffness):
        for owner, arrays in zip(owners, start, strict=True):
            restore(owner, arrays)
        ball.stiffness, ball.ambient = float(springs), ambient
        ball.gauge_pressure = float(pressure)
        sim.engine.changed()
        runs.append(_run(sim, float(pressure)))
    shape = len(AMBIENTS), len(gauge), len(stiffness)
    finite, grows = (np.array(column, bool).reshape(shape) for column in zip(*runs, strict=True))
    return FiniteMap(stiffness, gauge, finite, grows)


def _run(sim: Simulation, gauge: float) -> tuple[bool, bool]:
    """Whether all points stay finite and within a million sizes of the body, as the engine checks; and energy grows."""
    asked = sim.solver == "implicit"
    before = sim.energy() if asked else None
    try:
        for _ in range(FRAMES):
            sim.step()
    except UnstableError:
        return False, False
    if before is None:
        return sim.finite, False
    scale = before.kinetic + gauge * float(sim["ball"].rest_volume)
    return sim.finite, not sim.energy().total <= before.total + GROWTH * scale


def cell_colors(found: FiniteMap) -> list[list[str]]:
    """One row per pressure, one colour per stiffness."""
    bare, air = found.finite
    grows = found.grows.any(axis=0)
    chosen = np.select([~bare & ~air, ~air, ~bare, grows], [RED, YELLOW, BLUE, PURPLE], GREEN)
    return [[str(color) for color in row] for row in chosen]


# the report -----------------------------------------------------------------------------------------------------------


def blocks(quick: bool) -> list[Block]:
    """The maps of both solvers, in 2D and 3D; quick: every second order of stiffness, every fourth of pressure."""
    stiffness, gauge = _powers(STIFFNESS, 2 if quick else 1), _powers(GAUGE, 4 if quick else 1)
    maps = {
        (solver, dim, step): finite_map(solver, dim, step, stiffness, gauge)
        for solver, dim, step in itertools.product(SOLVERS, (2, 3), STEPS)
    }
    every = "every second order of stiffness and every fourth of pressure" if quick else "every order"
    return [
        Text(
            "What the paper could not have: a solver whose step does not depend on the stiffness. A ball of 1 kg (42 "
            "points, or 24 in 2D) is thrown at the ground from 1 cm above it with 1 m/s, and run for "
            f"{FRAMES} frames of **one** step each, without damping or contact with itself. Stiffness from 10 mN/m to "
            f"10 GN/m, pressures from 0.1 Pa to 10 MPa above that outside ({every}), with and without air outside. A "
            "run fails when a point is not finite, or a million sizes away from its body. The implicit solver must not "
            f"gain energy either: not more than {GROWTH:.0%} of that of motion and gas at the start."
        ),
        *(Row(_pictures(maps, solver, stiffness, gauge), least=280) for solver in SOLVERS),
        _table(maps),
        Text(summary(maps), "measured"),
    ]


def _powers(ends: tuple[int, int], every: int) -> FloatArray:
    return np.array([10.0**power for power in range(ends[0], ends[1] + 1, every)])


Maps = dict[tuple[str, int, float], FiniteMap]


def _pictures(maps: Maps, solver: str, stiffness: FloatArray, gauge: FloatArray) -> list[Block]:
    colors = {key: cell_colors(found) for key, found in maps.items() if key[0] == solver}
    used = {color for table in colors.values() for row in table for color in row}
    legend = [(color, meaning) for color, meaning in LEGEND.items() if color in used]
    return [
        Svg(
            cell_map(
                stiffness, gauge, colors[solver, dim, step], "spring stiffness, N/m", f"gauge pressure, {unit}", legend,
                width=340, height=280, title=f"{SOLVERS[solver]}, {dim}D, step 1/{1 / step:.0f} s",
            )
        )
        for (dim, unit), step in itertools.product(((2, "N/m"), (3, "Pa")), STEPS)
    ]  # fmt: skip


def _table(maps: Maps) -> Table:
    rows = []
    for solver, dim in itertools.product(SOLVERS, (2, 3)):
        counts = [[int(maps[solver, dim, step].finite.sum()), maps[solver, dim, step].finite.size] for step in STEPS]
        rows.append([f"{SOLVERS[solver]}, {dim}D", *(f"{good:,} of {runs:,}" for good, runs in counts)])
    return Table(["", *(f"step 1/{1 / step:.0f} s" for step in STEPS)], rows, "Runs that stay finite.")


def summary(maps: Maps) -> str:
    """How many runs stay finite, and where the implicit solver does not do as it should."""
    sentences = []
    for solver, title in SOLVERS.items():
        chosen = [found for key, found in maps.items() if key[0] == solver]
        good, runs = sum(int(found.finite.sum()) for found in chosen), sum(found.finite.size for found in chosen)
        sentences.append(f"{title}: {good:,} of {runs:,} runs stay finite ({good / runs:.1%}).")
    implicit = [(key, found) for key, found in maps.items() if key[0] == "implicit"]
    failed = [words for key, found in implicit for words in _in_words(key, found, ~found.finite)]
    growing = [words for key, found in implicit for words in _in_words(key, found, found.grows)]
    if failed:
        sentences.append(f"The implicit solver fails at {_listed(failed)}.")
    if growing:
        sentences.append(f"It stays finite, but gains energy, at {_listed(growing)}.")
    return " ".join(sentences)


def _in_words(key: tuple[str, int, float], found: FiniteMap, chosen: BoolArray) -> list[str]:
    """Each setting that is chosen."""
    _, dim, step = key
    return [
        f"{found.stiffness[i]:g} N/m with {found.gauge[j]:g} "
        f"{'Pa' if dim == 3 else 'N/m'} {'in air' if AMBIENTS[a] else 'in empty space'} ({dim}D, 1/{1 / step:.0f} s)"
        for a, j, i in np.argwhere(chosen)
    ]


def _listed(words: Sequence[str], most: int = 8) -> str:
    rest = f" and {len(words) - most:,} more" if len(words) > most else ""
    return "; ".join(words[:most]) + rest
