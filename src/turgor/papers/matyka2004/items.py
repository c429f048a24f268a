"""Matyka 2004, "How to implement a pressure soft body model": its figures and sections, by the engine."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from turgor import gallery, shapes
from turgor.papers.drawing.line_drawing import Drawing
from turgor.papers.drawing.stills import cover, jpeg, stills, strip
from turgor.papers.gallery_scenes import drop_2d, empty_ring
from turgor.papers.matyka2004 import areas, integrators, motion
from turgor.papers.matyka2004.diagrams import algorithm_diagram, structure_diagram
from turgor.papers.report.blocks import Block, Picture, Svg, Table, Text
from turgor.papers.report.item import Item
from turgor.simulation.simulation import Simulation
from turgor.simulation.step.profile import stage_times

__all__ = ["ITEMS"]

FloatArray = npt.NDArray[np.float64]
LISTED_PI = 3.14  # the paper's
BALL, RED, BLUE = "#3f8fd6", "#c92f36", "#2b4a7d"


# Figures 1 and 2: the mesh and what is kept of it ---------------------------------------------------------------------


def listed_ring(points: int, radius: float = 0.5) -> FloatArray:
    """(points, 2) m: the paper's circle, with its 3.14 for pi."""
    angle = np.arange(1, points + 1) * 2.0 * LISTED_PI / points
    return np.stack([radius * np.sin(angle), radius * np.cos(angle)], axis=1)


def closing_edge(points: int) -> float:
    """Length of the edge that closes the paper's circle over that of the others."""
    ring = listed_ring(points)
    lengths = np.linalg.norm(np.roll(ring, -1, axis=0) - ring, axis=1)
    return float(lengths[-1] / lengths[0])


def mesh(quick: bool) -> list[Block]:
    """The ring, drawn and counted."""
    sim = Simulation(drop_2d(ball__shape__circle__points=20, ball__settled=False))
    body = sim.scene.soft_bodies[0]
    points, edges = body.shape.vertices, body.shape.faces
    drawing = Drawing((-0.68, -0.6), (0.68, 0.6), 400)
    drawing.outline(points, BALL, "none", 0.18)
    middles = points[edges].mean(axis=1)
    drawing.lines(np.concatenate([middles, 1.17 * middles]), [(k, k + len(edges)) for k in range(len(edges))], BLUE)
    drawing.lines(points, edges, BALL, 2.5)
    drawing.dots(points, RED)
    counts = (20, 48, 200)
    rows: list[list[Any]] = [
        [
            count,
            len(shapes.circle(0.5, count).edges),
            count + 1,
            shapes.circle(0.5, count).volume / (math.pi * 0.25),
            f"{100 * (closing_edge(count) - 1):.1f} % longer",
        ]
        for count in counts
    ]
    return [
        Text(
            "The paper's soft ball: material points on a circle, joined to their neighbours by springs and to nothing "
            "else, so that only the gas keeps it open."
        ),
        Svg(
            drawing.svg(),
            "20 points (red), 20 springs (blue) and the outward normals (dark), as the engine holds them.",
        ),
        Table(
            ["points", "springs (turgor)", "springs (paper: NUMP + 1)", "area / circle", "closing edge in the listing"],
            rows,
            digits=4,
        ),
        Text(
            f"A closed ring of N points has N springs: {len(sim.model.springs)} here.",
            "measured",
        ),
        Text(
            "The paper gives the number of springs as one more than that of the points; its loops over area and "
            "pressure stop one short of it. Its circle takes 3.14 for π, so the edge that closes it is longer than the "
            f"others, and by more the more points there are: {100 * (closing_edge(1000) - 1):.0f} % with 1000. In "
            "turgor the points are evenly spaced.",
            "wrong",
        ),
    ]


MEANINGS = {
    "state.x": "position",
    "state.v": "velocity",
    "scratch.f": "force",
    "scratch.area": "area vector",
    "model.springs": "two points",
    "model.rest": "rest length",
}


def structures(quick: bool) -> list[Block]:
    """What is kept per point and spring."""
    sim = Simulation(drop_2d(ball__settled=False))
    model, state, scratch = sim.model, sim.state, sim.engine.scratch

    def size(*arrays: Any) -> int:
        return sum(array.numpy().nbytes // len(array) for array in arrays)

    kept = {
        "state.x": state.x, "state.v": state.v, "scratch.f": scratch.f, "scratch.area": scratch.area,
        "model.springs": model.springs, "model.rest": model.rest,
    }  # fmt: skip
    entries = {name: f"{MEANINGS[name]}, {size(array)} bytes" for name, array in kept.items()}
    of_springs = ("model.springs", "model.rest")
    drawn = structure_diagram(
        {name: text for name, text in entries.items() if name not in of_springs},
        {name: entries[name] for name in of_springs},
    )
    rows: list[list[Any]] = [
        ["point: position, velocity, force", 24, size(state.x, state.v, scratch.f)],
        ["spring: two points, rest length", 12, size(model.springs, model.rest)],
        ["spring: normal", 8, "0: taken from the edge where it is used"],
        ["point: mass and inverse mass", "one constant", size(model.mass, model.inverse_mass)],
        ["point: area vector (the volume's gradient)", "none", size(scratch.area)],
    ]
    return [
        Text(
            "The paper keeps two tables of structures, points and springs. turgor keeps one array per quantity "
            "(the processor reads only what a stage needs), in the same single precision."
        ),
        Svg(
            drawn,
            "Left: the paper's structures; springs name their points. Right: arrays of the engine (blue: an "
            "entry per point, green: per spring).",
        ),
        Table(["what is kept", "paper, bytes", "turgor, bytes"], rows, "Per point or spring in 2D; turgor's measured."),
    ]


# Figure 3: the algorithm -------------------------------------------------------------------------------------------

PRESSURE_STAGES = ("faces", "gas")
STAGES = {  # in the order in which they run, named as the engine names them
    "springs": "spring forces with damping",
    "faces": "edge normals, area (Gauss), its gradient",
    "gas": "pressure by the gas law; gravity; mouse",
    "integrate": "sum of forces, velocity, position, floor",
}


def stage_table(points: int) -> dict[str, float]:
    """Seconds of each stage of a substep of the ball of drop-2d with this many points."""
    sim = Simulation(drop_2d(ball__shape__circle__points=points, ball__settled=False), contact="none")
    sim.prepare()
    times = stage_times(sim.engine)
    return {name: times[name] for name in STAGES}


def pressure_share(times: dict[str, float]) -> float:
    """Of the time of a substep."""
    return sum(times[name] for name in PRESSURE_STAGES) / sum(times.values())


def algorithm(quick: bool) -> list[Block]:
    """The ring without and with gas, and the time of each stage."""
    seconds = 1.5 if quick else 3.0
    times = [0.0, 0.55, 0.75, seconds]
    pictures, shares = [], []
    for scene in (empty_ring(), gallery.load("drop-2d")):
        sim = Simulation(scene)
        start = sim["ball"].volume
        pictures.append(stills(sim, times, (294, 270)))
        shares.append(sim["ball"].volume / start)
    count = 4_800 if quick else 9_600
    small, large = stage_table(48), stage_table(count)
    rows = [
        [name, what, "added by pressure" if name in PRESSURE_STAGES else "both", 1e6 * small[name],
         1e9 * large[name] / count]
        for name, what in STAGES.items()
    ]  # fmt: skip
    return [
        Text(
            "The paper sets the algorithm of a spring-mass model beside that of the pressure model: the same steps, "
            "and one force more. Below are turgor's own stages of a substep, and the ring without and with gas."
        ),
        Svg(
            algorithm_diagram(STAGES, PRESSURE_STAGES),
            "Red: what pressure adds. The stages of turgor have the names that the engine gives them; they are "
            "repeated for each substep (inner arrow) of a frame (outer arrow).",
        ),
        Picture(
            jpeg(np.concatenate([strip(part, times) for part in pictures])),
            "Top: springs alone; the ring falls and collapses. Bottom: the same ring with gas, which holds "
            "it open from the start.",
            "A spring-mass ring that collapses on the floor, above the same ring inflated",
            cover=cover(strip([part[2] for part in pictures])),
        ),
        Table(
            ["stage", "what it does", "model", "48 points, µs", f"{count:,} points, ns per point"], rows,
            "One thread. The force loop of the paper is the first three rows, integration and walls the last.",
        ),
        Text(
            f"After {seconds:g} s the ring without gas has {100 * shares[0]:.0f} % of its area left, the one with gas "
            f"{100 * shares[1]:.0f} %. Pressure takes {100 * pressure_share(large):.0f} % of a substep of "
            f"{count:,} points ({100 * pressure_share(small):.0f} % of 48, where starting a stage counts most). turgor "
            "runs the stage `faces` for bodies without gas, too, since it reports their volume.",
            "measured",
        ),
    ]  # fmt: skip


ITEMS: tuple[Item, ...] = (
    Item("2004-figure-1", "2004", "Figure 1", "The two-dimensional mesh",
         "turgor run drop-2d --set ball.shape.circle.points=20 -o ring.png", mesh, ("A1",)),
    Item("2004-figure-2", "2004", "Figure 2", "What is kept of points and springs",
         "turgor scenes drop-2d", structures, ("A1", "A3")),
    Item("2004-figure-3", "2004", "Figure 3", "The algorithm with and without pressure",
         "turgor run drop-2d --set ball.settled=false --set ball.gas=none -o collapse.mp4", algorithm, ("A3", "A4")),
    Item("2004-section-5-1", "2004", "Section 5.1", "Gas is pumped in, then gravity acts",
         "turgor run inflate-2d -o inflate-2d.mp4 --look color_by=pressure", motion.inflate, ("A2", "A8")),
    Item("2004-section-5-3", "2004", "Section 5.3 and appendix A", "The area, and the pressure force",
         "turgor run drop-2d --set ball.volume=box --json", areas.blocks, ("A4", "A5")),
    Item("2004-section-6", "2004", "Section 6", "The wall, and the mass",
         "turgor run drop-2d -o drop-2d.mp4 --look velocities=true", motion.wall, ("A7", "A8")),
    Item("2004-appendix-b", "2004", "Section 6 and appendix B", "Euler against Heun",
         "turgor run drop-2d --solver heun --substeps 12 --json", integrators.blocks, ("A6",)),
    Item("2004-figure-4", "2004", "Figure 4", "The three-dimensional version",
         "turgor run drop -o drop.mp4", motion.solid, ("D1", "B1", "B2")),
    Item("2004-figure-5", "2004", "Figure 5", "The user plays with the ball",
         "turgor play drop-2d", motion.mouse, ("A8", "A9")),
)  # fmt: skip
