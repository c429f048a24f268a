"""Matyka 2007, the poster "The pressure soft body": its figures, by the engine."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from turgor import gallery, shapes
from turgor.papers.drawing.line_drawing import Drawing, projected, view_axes
from turgor.papers.drawing.stills import cover, jpeg, stills, strip
from turgor.papers.gallery_scenes import one_ball
from turgor.papers.matyka2007 import cloth
from turgor.papers.matyka2007.scheme import scheme
from turgor.papers.report.blocks import Block, Picture, Row, Svg, Table, Text
from turgor.papers.report.item import Item
from turgor.scene import Gas, Scene, Springs
from turgor.shapes import Shape
from turgor.simulation.simulation import Simulation

__all__ = ["ITEMS"]

FloatArray = npt.NDArray[np.float64]
G = 9.81  # m/s²
BLUE, RED, DARK = "#3f8fd6", "#c92f36", "#2b4a7d"
ATMOSPHERE = 101_325.0  # Pa
LETTERS = "MPTL"
LOW, HIGH = 5.0, 3000.0  # Pa: gauge pressure of the letters at rest volume


# Figure 1: the falling ball ------------------------------------------------------------------------------------------


def fall_speed(time: float, drag: float) -> float:
    """m/s of a body that falls from rest with the drag rate `drag` (1/s)."""
    return G / drag * -math.expm1(-drag * time)


def falling(quick: bool) -> list[Block]:
    """The ball falls; its velocities in red."""
    sim = Simulation(one_ball(ball__shape__icosphere__subdivisions=2, ball__settled=True))
    drag = sim.scene.soft_bodies[0].drag
    rows: list[list[Any]] = []
    times = [0.15, 0.3, 0.45, 0.6, 0.75]

    def look(sim: Simulation) -> None:
        if any(abs(sim.time - time) < 0.4 / sim.settings.fps for time in times):
            rows.append(state(sim, drag))

    pictures = stills(sim, times, (238, 300), look, velocities=True, velocity_seconds=0.06)
    rows.append(state(sim, drag))
    nrt = float(sim["ball"].nRT)
    spread = max(abs(row[4] * row[5] / nrt - 1.0) for row in rows)
    return [
        Text("The poster's first picture: a ball with gas falls on the ground; red are the velocities of its points."),
        Picture(
            jpeg(strip(pictures, times)), "Falling, flattened, bouncing; a line is the way of a point in 0.06 s.",
            "A ball with red velocity vectors", cover=cover(strip(pictures[2:4])),
        ),
        Table(
            ["time, s", "fall speed, m/s", "the law, m/s", "fastest point, m/s", "pressure, Pa", "volume, m³"],
            rows, "The ball of `drop` with 162 points. The law is free fall with drag, until the floor is touched.",
        ),
        Text(
            f"In the air the centre falls with {100 * rows[1][1] / rows[1][2]:.2f} % of the speed of the law at 0.3 "
            f"s; on the floor the volume shrinks to {min(row[5] for row in rows) / max(row[5] for row in rows):.2f} "
            f"of its largest, and P·V stays nRT within {spread:.0e}.",
            "measured",
        ),
    ]  # fmt: skip


def state(sim: Simulation, drag: float) -> list[Any]:
    """A row of the table."""
    ball = sim["ball"]
    speed = -float(ball.momentum[2]) / float(ball.mass)
    fastest = float(np.linalg.norm(ball.velocities, axis=1).max())
    return [sim.time, speed, fall_speed(sim.time, drag), fastest, float(ball.pressure), float(ball.volume)]


# Figures 4, 5 and 6: closed shapes, the laws, the gas ---------------------------------------------------------------


def closed_shapes() -> dict[str, Shape]:
    """Some that turgor weaves."""
    return {
        "ball": shapes.icosphere(0.5, 2),
        "torus": shapes.torus(0.42, 0.17),
        "cat": shapes.cat(),
        "letter": shapes.letter("M", size=1.0, depth=0.3),
    }


def woven(quick: bool) -> list[Block]:
    """Closed shapes as nets of springs."""
    drawing, rows = Drawing((-0.6, -0.66), (4.2, 0.55), 940), []
    for number, (name, shape) in enumerate(closed_shapes().items()):
        flat = projected(shape.vertices)
        middle = 0.5 * (flat.min(axis=0) + flat.max(axis=0)) @ view_axes()[:2]
        size = float(np.ptp(flat, axis=0).max())
        drawing.surface((shape.vertices - middle) / size + 1.2 * number * view_axes()[0], shape.faces)
        drawing.text((1.2 * number, -0.62), name)
        counts = len(shape.vertices), len(shape.edges), len(shape.faces)
        rows.append([name, *counts, counts[0] - counts[1] + counts[2], shape.volume])
    return [
        Text("A closed body is woven like the cloth: a point at each vertex, a spring on each edge, and no hole."),
        Svg(drawing.svg(), "Shapes of turgor, as woven."),
        Table(
            ["shape", "points", "springs", "faces", "points − springs + faces", "volume, m³"], rows,
            "The fifth column is 2 for a closed surface without holes through it, 0 for a torus.",
        ),
    ]  # fmt: skip


def law_values() -> list[tuple[str, str, float, float]]:
    """Each law, what is measured of it on the ball of drop, turgor's value and the law's."""
    sim = Simulation(one_ball(), precision="double")
    ball, body = sim["ball"], sim.scene.soft_bodies[0]
    stretch, sphere = 1.1, 4.0 / 3.0 * math.pi * 0.5**3

    def virial() -> float:
        return float(np.sum(ball.forces * (ball.positions - ball.center)))

    weight, push = float(ball.forces[:, 2].sum()), virial()
    ball.positions = ball.center + (ball.positions - ball.center) * stretch
    lengths = np.linalg.norm(np.diff(body.shape.vertices[body.shape.edges], axis=1)[:, 0], axis=1)
    pull = -body.springs.stiffness * (stretch - 1.0) * stretch * float(np.sum(lengths**2))
    nrt = float(ball.nRT)  # of a gas without ambient pressure
    return [
        ("Newton's second law", "sum of all forces in the air, N", weight, -G * float(ball.mass)),
        ("Hooke's law", "sum of f·x of the springs, stretched by 10 %, J", virial() - 3.0 * nrt, pull),
        ("ideal gas law", "P V when stretched, J", float(ball.pressure) * float(ball.volume), nrt),
        ("pressure force", "sum of f·x of the gas, J", push, 3.0 * nrt),
        ("Gauss' theorem", "volume of 1,280 triangles in a sphere, m³", float(ball.rest_volume), sphere),
    ]


def laws(quick: bool) -> list[Block]:
    """The laws of the scheme, measured."""
    return [
        Text(
            "The poster's scheme of what goes into the model: Newton's second law, Hooke's law, the ideal gas law of "
            "statistical physics, pressure, and numerical integration of ordinary differential equations. Each can be "
            "measured on the ball of `drop`."
        ),
        Svg(
            scheme(),
            "Blue: parts of the poster's scheme, each with the file of turgor that has it; grey: turgor's own.",
        ),
        Table(["law", "what is measured", "turgor", "law's value"], law_values(), digits=6),
        Text(
            "A sphere of flat triangles holds a little less than the round one. The order of the integrators is "
            "measured under 2004, appendix B."
        ),
    ]


def pressed(ratio: float) -> tuple[FloatArray, FloatArray, float]:
    """A ring with P = ratio · P₀: points (m), forces of the gas on them (N), net outward force per length (N/m)."""
    scene = Scene(dim=2, gravity=(0.0, 0.0))
    gas = Gas(absolute=100.0 * ratio, ambient=100.0)
    scene.add_soft_body(shapes.circle(0.5, 24), name="ring", springs=Springs(stiffness=0.0), gas=gas)
    sim = Simulation(scene, precision="double")
    points, forces = sim["ring"].positions, sim["ring"].forces
    virial = float(np.sum(forces * points))
    return points, forces, virial / (2.0 * float(sim["ring"].volume))


def swollen(ratio: float, seconds: float = 1.0) -> float:
    """Volume over rest volume of the ball of drop, afloat, with gas of ratio · P₀ inside and P₀ = 60 Pa outside."""
    scene = one_ball()
    scene.gravity = (0.0, 0.0, 0.0)
    scene.grounds.clear()
    scene.set("ball.gas", Gas(absolute=60.0 * ratio, ambient=60.0))
    scene.set("ball.drag", 8.0)
    sim = Simulation(scene, contact="none")
    sim.run(seconds)
    return float(sim["ball"].volume) / float(sim["ball"].rest_volume)


def inside(quick: bool) -> list[Block]:
    """A ring at three pressures."""
    drawings, rows = [], []
    for ratio in (1.0, 1.5, 2.0):
        points, forces, net = pressed(ratio)
        drawing = Drawing((-0.85, -0.85), (0.85, 0.85), 260)
        drawing.outline(points, BLUE, DARK, 0.15 * ratio)
        tips = points + 0.025 * forces
        if net > 1e-9:
            pairs = [(k, k + len(points)) for k in range(len(points))]
            drawing.lines(np.concatenate([points, tips]), pairs, RED, 2.0)
        drawing.text((0.0, 0.0), f"P = {ratio:g} P₀")
        drawings.append(Svg(drawing.svg()))
        rows.append([f"{ratio:g}", round(net / 100.0, 9), ratio, swollen(ratio)])
    wrong = (ATMOSPHERE + 60.0) / 60.0
    return [
        Text(
            "The gas inside has a pressure P above that of the air, P₀; the difference pushes the skin outwards and "
            "keeps the shape. Red: the force on each point of a ring, as the engine computes it."
        ),
        Row(drawings, least=220),
        Table(
            ["P / P₀", "force per length / P₀, turgor", "equation (2), with P alone", "ball: volume / rest volume"],
            rows,
            "The last column is the ball of `drop` at rest in P₀ = 60 Pa.",
        ),
        Text(
            "Equation (2) of the poster has P alone, though its figure 6 says that the difference acts. The force is "
            "(P − P₀) A n: with P = P₀ nothing pushes, and the ball keeps its rest volume. In real air it matters: a "
            f"ball with 60 Pa above 1 atm would be pushed {wrong:,.0f} times too hard.",
            "wrong",
        ),
    ]  # fmt: skip


# Figure 7: the letters -----------------------------------------------------------------------------------------------


def letters_at(gauge: float, pumping: float = 1.5) -> Simulation:
    """The scene `letters`, each letter with this gauge pressure at its rest volume, pumped in within `pumping` s."""
    scene = gallery.load("letters")
    for name in LETTERS:
        scene.set(f"{name}.gas.gauge", gauge)
        scene.set(f"{name}.gas.inflate", pumping)
    return Simulation(scene)


def letter_rows(low: Simulation, high: Simulation) -> list[list[Any]]:
    """Volumes over rest volume, and depths (m), at low and at high pressure."""
    return [
        [
            name, float(low[name].rest_volume), float(low[name].volume), float(high[name].volume),
            float(high[name].volume) / float(low[name].volume),
            *(float(np.ptp(sim[name].positions[:, 1])) for sim in (low, high)),
        ]
        for name in LETTERS
    ]  # fmt: skip


def letters(quick: bool) -> list[Block]:
    """The letters, slim and swollen."""
    pumping, seconds = (0.3, 0.5) if quick else (1.5, 3.0)
    sims = [letters_at(gauge, pumping) for gauge in (LOW, HIGH)]
    for sim in sims:
        sim.run(seconds)
    pictures = [stills(sim, [sim.time], (590, 330), zoom=1.05)[0] for sim in sims]
    rows = letter_rows(*sims)
    growth = [row[4] for row in rows]
    return [
        Text("The letters of the conference MPTL as closed bodies: the same objects under lower and higher pressure."),
        Picture(jpeg(strip(pictures)), f"Left: {LOW:g} Pa, right: {HIGH:g} Pa above ambient.", "Letters, slim and fat",
            cover=cover(pictures[1]),
        ),
        Table(
            ["letter", "volume at rest, m³", f"at {LOW:g} Pa, m³", f"at {HIGH:g} Pa, m³", "high / low",
             f"depth at {LOW:g} Pa, m", f"depth at {HIGH:g} Pa, m"],
            rows, f"After {seconds:g} s; gas is pumped in for {pumping:g} s. Pressures are those at the rest volume.",
        ),
        Text(
            f"High pressure makes the letters {min(growth):.2f} to {max(growth):.2f} times as voluminous as low "
            "pressure. The poster gives no numbers for its letters.",
            "measured",
        ),
    ]  # fmt: skip


ITEMS: tuple[Item, ...] = (
    Item("2007-figure-1", "2007", "Figure 1", "A falling ball with its velocities in red",
         "turgor run drop --set ball.shape.icosphere.subdivisions=2 --look velocities=true -o drop.mp4", falling,
         ("D1", "D7")),
    Item("2007-figure-2", "2007", "Figure 2", "The spring-mass model of cloth",
         "turgor run flag --set 'wind=[0,0,0]' -o cloth.mp4 --look texture=none", cloth.cloth, ("D2",)),
    Item("2007-figure-3", "2007", "Figure 3", "A flag in the wind (1, 0, 0)",
         "turgor run flag -o flag.mp4", cloth.flag, ("D2", "D3", "D4")),
    Item("2007-figure-4", "2007", "Figure 4", "Closed shapes woven of springs",
         "turgor run cat-and-sphere -o cat.mp4", woven, ("D1",)),
    Item("2007-figure-5", "2007", "Figure 5", "Physics and methods behind the model",
         "turgor play drop", laws, ("D1", "D8")),
    Item("2007-figure-6", "2007", "Figure 6", "Gas under pressure inside, air outside",
         "turgor run drop --set 'ball.gas={gauge=60,ambient=60}' -o drop.mp4", inside, ("D5",)),
    Item("2007-figure-7", "2007", "Figure 7", "The letters MPTL at low and at high pressure",
         "turgor run letters " + " ".join(f"--set {name}.gas.gauge=3000" for name in LETTERS) + " -o letters.mp4",
         letters, ("D6",)),
)  # fmt: skip
