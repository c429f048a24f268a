"""Matyka & Ollila 2003, Pressure Model of Soft Body Simulation: its figures, and what its text claims."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from turgor.bench import growth
from turgor.papers.drawing.plot import Curve, chart
from turgor.papers.matyka2003 import any_stiffness, bounding, hand, scenes, stability, volumes
from turgor.papers.report.blocks import Block, Compared, Svg, Table, Text
from turgor.papers.report.item import Item
from turgor.simulation.simulation import Simulation

__all__ = ["ITEMS", "per_vertex", "pressure_times", "slope", "two_gases"]

FloatArray = npt.NDArray[np.float64]
PAPER_MS, PAPER_VERTICES = 6.0, 8000  # ends of the axes of figure 6
SIZES = growth.SIZES


# figure 6 -------------------------------------------------------------------------------------------------------------


def pressure_times(sizes: Sequence[tuple[int, int]], repeats: int = 1) -> dict[str, dict[int, float]]:
    """Device -> vertices -> ms of the pressure force; the least of some repeats, as noise only ever adds."""
    found: dict[str, dict[int, float]] = {}
    for _ in range(repeats):
        for device, result in growth.pressure(tuple(sizes)).items():
            times = found.setdefault(device, {})
            for row in result["rows"]:
                count = int(row["vertices"])
                times[count] = min(row["ms"], times.get(count, np.inf))
    return found


def slope(times: dict[int, float], least: int = 0) -> float:
    """Slope of log time over log vertices of those with `least` vertices or more."""
    chosen = sorted(count for count in times if count >= least)
    return float(np.polyfit(np.log(chosen), np.log([times[count] for count in chosen]), 1)[0])


def per_vertex(times: dict[int, float]) -> dict[int, float]:
    """Vertices -> ns per vertex."""
    return {count: 1e6 * ms / count for count, ms in times.items()}


def figure_6(quick: bool) -> list[Block]:
    """Figure 6 of the report."""
    small = [size for size in SIZES if size[0] * size[1] <= PAPER_VERTICES]
    found = pressure_times(small, 1 if quick else 3)
    if not quick:
        for device, times in pressure_times([*small[-1:], *SIZES[len(small) :]]).items():
            found[device] = times | found[device]
    sizes = sorted(next(iter(found.values())))
    curves = [
        Curve(f"turgor, {device}", sizes, [times[n] for n in sizes], marks=True) for device, times in found.items()
    ]
    paper = Curve(
        "2003: where its axes end (8,000 vertices, 6 ms)",
        [float(sizes[0]), float(PAPER_VERTICES), float(PAPER_VERTICES)],
        [PAPER_MS, PAPER_MS, min(times[sizes[0]] for times in found.values())],
        dashed=True,
    )
    each = {device: per_vertex(times) for device, times in found.items()}
    rows = [[n, *(cell for device in found for cell in (found[device][n], each[device][n]))] for n in sizes]
    header = ["vertices", *(cell for device in found for cell in (f"{device}, ms", f"{device}, ns per vertex"))]
    cpu = found["cpu"][PAPER_VERTICES]
    return [
        Text(
            "Time of the pressure force (volume, pressure, force on each point) against vertices. The paper's plot "
            "(Athlon XP, 1.8 GHz) is a straight line on axes to 8,000 vertices and 6 ms; its numbers are not in the "
            "text, so there is no ratio to give."
        ),
        Svg(chart([*curves, paper], "vertices", "ms", log_x=True, log_y=True)),
        Compared([(f"ms for the pressure force on {PAPER_VERTICES:,} vertices", "on an axis to 6", cpu)]),
        Table(
            header, rows,
            "One CPU thread. A GPU adds springs and faces in one pass over the vertices, which is what is timed "
            "there: the springs are in it. Per vertex small bodies cost more, as each launch has its own cost.",
        ),
        Text(
            "; ".join(
                f"On {device} time grows with vertices to the power {slope(times, 1000):.2f} from 1,000 on, and a "
                f"vertex takes {min(each[device].values()):.3g} to {max(each[device].values()):.3g} ns over all sizes"
                for device, times in found.items()
            )
            + f". At 8,000 vertices one CPU thread takes {cpu:.3g} ms."
            + ("" if len(found) > 1 else " No GPU was found on this machine."),
            "measured",
        ),
    ]  # fmt: skip


# fixed and free pressure ----------------------------------------------------------------------------------------------


def two_gases(seconds: float = 1.5) -> dict[str, dict[str, FloatArray]]:
    """The ball of drop falls, the amount of gas fixed ("free") or the pressure ("held"): t, P, V, z over frames."""
    found = {}
    for name, held in (("free", False), ("held", True)):
        scene = scenes.paper_ball()
        scene.set("ball.gas.held", held)
        sim = Simulation(scene)
        rows = []
        for _ in range(round(seconds * sim.settings.fps)):
            ball = sim["ball"]
            rows.append((sim.time, ball.pressure, ball.volume, ball.center[2]))
            sim.step()
        found[name] = dict(zip("tPVz", np.array(rows).T, strict=True))
    return found


def fixed_or_free(quick: bool) -> list[Block]:
    """Fixed or non-fixed pressure, in the report."""
    found = two_gases(1.0 if quick else 2.0)
    names = {"free": "amount of gas fixed, P = nRT/V", "held": "pressure fixed by a pump"}
    rows: list[list[Any]] = []
    for name, run in found.items():
        product = run["P"] * run["V"]
        low = int(np.argmin(run["z"][:60]))
        change = [np.ptp(run["P"]) / run["P"][0], np.ptp(product) / product[0], run["V"].min() / run["V"][0]]
        rows.append([names[name], run["P"].max(), *change, run["z"][low:].max()])
    header = [
        "",
        "largest pressure, Pa",
        "P varies by",
        "P·V varies by",
        "smallest V / V at the start",
        "bounces to, m",
    ]
    curves = [Curve(names[name], run["t"], run["P"]) for name, run in found.items()]
    return [
        Text("The paper keeps the amount of gas and the temperature, and mentions fixed pressure as the other choice."),
        Svg(chart(curves, "time, s", "pressure, Pa", height=280), "The ball of `drop` hits the floor."),
        Table(header, rows, "P and V vary as shares of their first value."),
        Text(
            f"With the gas fixed, P·V stays the same to {rows[0][3]:.1g} (Boyle) while P rises by "
            f"{rows[0][1] / found['free']['P'][0] - 1:.0%}; with a pump P varies by {rows[1][2]:.1g}.",
            "measured",
        ),
    ]


MESH = "--set ball.shape.icosphere.subdivisions=2"
ITEMS: tuple[Item, ...] = (
    Item(
        "2003-figure-1", "2003", "Figure 1", "Five balls in a box that turns",
        "turgor run five-balls -o five-balls.mp4",
        scenes.five_balls, ("C1", "C4", "C5"),
    ),
    Item(
        "2003-hanging-ball", "2003", "Figure 1, section 4", "The hanging ball at four pressures",
        f"turgor run hanging-ball --set ball.gas.gauge=2 --set ball.drag=3 {MESH} -o hanging.mp4",
        scenes.four_pressures, ("C5",),
    ),
    Item(
        "2003-figures-2-4", "2003", "Figures 2 to 4", "From cloth in the wind to a closed body",
        "turgor run flag --set flag.pins=edges --set flag.at=[0,0,0.75] --set flag.rotation=[0,0,0] "
        "--set gravity=[0,0,0] --set wind=[0,-1,0] --look view=[-146,14] -o cloth.mp4",
        scenes.cloth, ("C5", "D2", "D3"),
    ),
    Item(
        "2003-section-2", "2003", "Section 2.3", "Fixed or free pressure",
        f"turgor run drop {MESH} --set ball.gas.held=true -o held.mp4",
        fixed_or_free, ("C8",),
    ),
    Item(
        "2003-figure-5", "2003", "Figure 5", "Volume by bounding objects",
        f"turgor run drop {MESH} --set ball.volume=ellipsoid -o ellipsoid.mp4",
        volumes.figure, ("C2", "C9"),
    ),
    Item(
        "2003-footnote-3", "2003", "Footnote 3", "Pressure along point normals",
        "turgor run hand-and-ball --set hand.pressure_force=vertex-normals --set hand.settled=false --set hand.pins=[] "
        "--set gravity=[0,0,0] --seconds 1 -o flies.mp4",
        volumes.footnote, ("C7",),
    ),
    Item(
        "2003-section-3-3", "2003", "Section 3.3", "Which steps the integrators stand",
        "turgor run drop --solver midpoint --substeps auto -o midpoint.mp4",
        stability.blocks, ("C3",),
    ),
    Item(
        "2003-section-3-3-implicit", "2003", "Section 3.3, and beyond", "Any stiffness and pressure, implicit",
        "turgor run drop --solver implicit --set ball.springs.stiffness=1e6 -o implicit.mp4",
        any_stiffness.blocks, ("X2",),
    ),
    Item(
        "2003-section-3-5", "2003", "Section 3.5 and footnote 4", "Collision by bounding objects: what they fit",
        "turgor bench bounding",
        bounding.blocks, ("C4",),
    ),
    Item(
        "2003-figure-6", "2003", "Figure 6", "Time of the pressure force against vertices", "turgor bench pressure",
        figure_6, ("C6",),
    ),
    Item(
        "2003-figure-7", "2003", "Figure 7", "A bouncing ball with velocity vectors",
        f"turgor run drop {MESH} --look velocities=true -o drop.mp4",
        scenes.bouncing_ball, ("C5", "D7"),
    ),
    Item(
        "2003-figure-8", "2003", "Figure 8", "A hand is hit by a ball", "turgor run hand-and-ball -o hand.mp4",
        hand.hand, ("C4", "C5"),
    ),
)  # fmt: skip
