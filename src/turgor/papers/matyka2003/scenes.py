"""Matyka & Ollila 2003: its scenes (figures 1, 7, 8 and the hanging ball) and the cloth of figures 2 and 3."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from turgor import gallery, shapes
from turgor.papers.drawing.line_drawing import Drawing, Shading, projected
from turgor.papers.drawing.plot import Curve, chart
from turgor.papers.drawing.stills import cover, jpeg, stills, strip
from turgor.papers.gallery_scenes import one_ball
from turgor.papers.matyka2003.ways import Stopwatch, beside
from turgor.papers.report.blocks import Block, Compared, Picture, Row, Svg, Table, Text
from turgor.scene import Scene
from turgor.simulation.simulation import Simulation

__all__ = ["Hanging", "bouncing_ball", "cloth", "cloth_depths", "five_balls", "four_pressures", "hang", "slide"]

FloatArray = npt.NDArray[np.float64]
CLOTH_VIEW = (-146.0, 14.0)  # azimuth and elevation, degrees: the side to which the wind bulges the cloth
PRESSURES = (2.0, 10.0, 40.0, 160.0)  # Pa, gauge at the rest volume
GRAVITY = 9.81


# figure 1 -------------------------------------------------------------------------------------------------------------


class Deepest:
    """The deepest penetration between bodies that contact reports in any frame, mm."""

    def __init__(self) -> None:
        self.depth = 0.0

    def look(self, sim: Simulation) -> None:
        """At the contacts of now."""
        self.depth = max(self.depth, sim.contacts().max_penetration)

    def found(self) -> list[float]:
        """In mm."""
        return [1e3 * self.depth]


def five_balls(quick: bool) -> list[Block]:
    """Figure 1 of the report."""
    sim = Simulation(gallery.load("five-balls"))
    times = (0.0, 1.0, 2.0) if quick else (0.0, 2.0, 4.5, 7.5)
    pictures = stills(sim, times, (400 if quick else 300, 300))
    bodies = sim.scene.soft_bodies
    found, table = beside(
        lambda: gallery.load("five-balls"), 0.5 if quick else 2.0, ["deepest in contact, mm"], Deepest,
        caption="Deepest: what contact itself reports, and bounding objects overlap before bodies do.",
    )  # fmt: skip
    ours, paper = found[0], found[-1]
    rows: list[tuple[str, Any, Any]] = [
        ("vertices of a ball", 162, len(bodies[0].shape.vertices)),
        ("faces of a ball", 320, len(bodies[0].shape.faces)),
        ("frames per second, turgor's solver and contact of all features", None, ours.fps),
        ("frames per second, midpoint and bounding objects as in the paper", "40 to 50 (800 MHz Duron)", paper.fps),
        ("deepest penetration now, mm", None, 1e3 * sim.contacts().max_penetration),
    ]
    return [
        Text("Five balls bounce in a box that turns, with collisions; real time on the computer of the day."),
        Picture(
            jpeg(strip(pictures, times)),
            "The box turns at 0.6 rad/s.",
            cover=cover(pictures[-1]),
        ),
        Compared(rows, "Frames of 1/60 s simulated per second of processor time, not drawn."),
        table,
        Text(
            f"The same meshes run at {ours.fps:,.0f} frames per second, {ours.fps / 60:.1f} times real time, with "
            f"exact contact between all features and friction; with the paper's solver and bounding objects "
            f"(`--solver midpoint --contact bounding`) at {paper.fps:,.0f}, with {paper.substeps} substeps per frame "
            f"instead of {ours.substeps}: midpoint feeds energy to what swings unless its steps are short.",
            "measured",
        ),
    ]


# the hanging ball -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Hanging:
    """A ball that hangs from its topmost point, at rest."""

    filled: float  # Pa, gauge at the rest volume
    gauge: float  # Pa, as it hangs
    volume: float  # m³
    height: float  # m
    width: float  # m
    drop: float  # m from the pin to the centre of mass

    @property
    def sag(self) -> float:
        """How much deeper the centre hangs than in a round ball of the same volume, as a share of its radius."""
        radius: float = (3.0 * self.volume / (4.0 * math.pi)) ** (1.0 / 3.0)
        return self.drop / radius - 1.0


def hanging_scene(pressures: Sequence[float]) -> Scene:
    """The balls of hanging-ball with the paper's mesh, side by side; more drag, so that they come to rest."""
    scene = gallery.load("hanging-ball")
    (ball,) = scene.soft_bodies
    shape = shapes.icosphere(radius=0.5, subdivisions=2)
    scene.soft_bodies.clear()
    for index, pressure in enumerate(pressures):
        assert ball.gas is not None
        scene.add(
            replace(
                ball, shape=shape, name=f"ball-{index}", at=(1.4 * (index - 0.5 * (len(pressures) - 1)), 0.0, 1.5),
                gas=replace(ball.gas, gauge=pressure), drag=3.0,
            )
        )  # fmt: skip
    return scene


def hang(sim: Simulation) -> list[Hanging]:
    """What the balls of a hanging_scene measure now."""
    found = []
    for body in sim.scene.soft_bodies:
        view, (pin,) = sim[body.name], body.pinned
        points = view.positions
        size = np.ptp(points, axis=0)
        assert body.gas is not None
        assert body.gas.gauge is not None
        drop = float(points[pin, 2] - view.center[2])
        found.append(Hanging(body.gas.gauge, view.gauge_pressure, view.volume, size[2], size[0], drop))
    return found


class Sags:
    """The sags of the balls of a hanging_scene at the end, %."""

    def __init__(self) -> None:
        self.sags: list[float] = []

    def look(self, sim: Simulation) -> None:
        """The last look counts."""
        self.sags = [100.0 * ball.sag for ball in hang(sim)]

    def found(self) -> list[float]:
        """In the order of the balls."""
        return self.sags


def four_pressures(quick: bool) -> list[Block]:
    """The hanging ball of the report."""
    sim = Simulation(hanging_scene(PRESSURES), contact="none")
    pictures = stills(sim, [3.0 if quick else 6.0], (1000, 380), view=(-90.0, 5.0))
    found = hang(sim)
    _, table = beside(
        lambda: hanging_scene(PRESSURES), 3.0 if quick else 6.0, [f"{p:g} Pa" for p in PRESSURES], Sags, ["none"],
        "Under each pressure the sag, %: at rest both have to agree.",
    )  # fmt: skip
    rows = [
        [ball.filled, ball.gauge, ball.volume, ball.height, ball.width, ball.height / ball.width, f"{ball.sag:.0%}"]
        for ball in found
    ]
    header = [
        "filled to, Pa", "pressure as it hangs, Pa", "volume, m³", "height, m", "width, m", "height / width", "sag",
    ]  # fmt: skip
    return [
        Text("A ball hangs from one point; the paper shows it at different pressures, without numbers."),
        Picture(
            jpeg(pictures[0]),
            f"Filled to {', '.join(f'{p:g}' for p in PRESSURES)} Pa, no air outside.",
            cover=cover(pictures[0][:, 90:515]),
        ),
        Table(
            header, rows,
            "Sag: how much further the centre is below the pin than in a round ball of the same volume, as a share of "
            "its radius. Law: more gas, less sag, and rounder.",
        ),
        table,
        Text(
            f"From {found[0].filled:g} to {found[-1].filled:g} Pa the sag falls from {found[0].sag:.0%} to "
            f"{found[-1].sag:.0%} and height over width from {found[0].height / found[0].width:.2f} to "
            f"{found[-1].height / found[-1].width:.2f}.",
            "measured",
        ),
    ]  # fmt: skip


# figures 2 to 4 -------------------------------------------------------------------------------------------------------


def cloth_scene() -> Scene:
    """The flag with all its edges fixed, no gravity, wind along its normal."""
    scene = gallery.load("flag")
    scene.set("flag.pins", "edges")
    scene.set("flag.at", (0.0, 0.0, 0.75))
    scene.set("flag.rotation", (0.0, 0.0, 0.0))
    scene.gravity = (0.0, 0.0, 0.0)
    scene.wind = (0.0, -1.0, 0.0)
    return scene


def cloth_depths(winds: FloatArray, seconds: float = 2.0) -> tuple[FloatArray, FloatArray]:
    """Of the cloth in several winds (m/s): depth of its middle at the end (m), and the force on it at the start (N)."""
    sim = Simulation(cloth_scene(), worlds=len(winds), contact="none", fps=30.0)
    sim.wind = np.stack([0 * winds, -winds, 0 * winds], axis=1)
    force = -sim["flag"].forces[..., 1].sum(axis=-1)
    sim.run(seconds)
    return -sim["flag"].positions[..., 1].min(axis=1), np.asarray(force)


def blown_cloth(sim: Simulation) -> str:
    """The cloth of a cloth_scene as it is now, seen from where the wind blows to, and the wind as arrows."""
    (cloth,) = sim.scene.cloths
    points = sim["flag"].positions - (0.0, 0.0, 0.75)
    edge = float(points[:, 0].min())
    drawing = Drawing((-1.45, -0.72), (0.8, 0.72), 440)
    for height in (-0.3, 0.0, 0.3):
        tail, tip = projected(np.array([(edge, 1.0, height), (edge, 0.12, height)]), CLOTH_VIEW)
        drawing.arrow(tail, tip, "#c92f36", 2.6)
    drawing.text((-1.05, 0.62), "wind", "#c92f36")
    drawing.surface(
        points, cloth.shape.faces, CLOTH_VIEW, Shading("#dfecf9", "#dfecf9", line="#5b7eb0", width=0.6, lit=True)
    )
    drawing.dots(projected(points, CLOTH_VIEW)[cloth.pinned], "#2b4a7d", 1.8)
    return drawing.svg()


def cloth(quick: bool) -> list[Block]:
    """Figures 2, 3 and 4 of the report."""
    sim = Simulation(cloth_scene(), contact="none")
    flat = blown_cloth(sim)
    pictures = stills(sim, [1.0], (480, 320), view=CLOTH_VIEW, texture="none", zoom=1.05)
    bulged = blown_cloth(sim)
    winds = np.array([0.25, 0.5, 1.0, 2.0, 4.0])
    depths, forces = cloth_depths(winds, 1.0 if quick else 2.0)
    power = float(np.polyfit(np.log(winds), np.log(depths), 1)[0])
    points, drag = len(sim.scene.cloths[0].shape.vertices), sim.scene.cloths[0].wind_drag or 0.0
    rows = [
        [wind, force, points * drag * wind, depth] for wind, force, depth in zip(winds, forces, depths, strict=True)
    ]
    ball = Simulation(one_ball(ball__shape__icosphere__subdivisions=2, ball__settled=True, ball__at=(0.0, 0.0, 0.55)))
    shape = ball.scene.soft_bodies[0].shape
    (solid,) = stills(ball, [0.0], (340, 300), zoom=1.15)
    net = Drawing((-0.62, -0.55), (0.62, 0.55), 340)
    net.surface(shape.vertices, shape.faces, shading=Shading("#ffffff", width=1.0))
    law = Curve("slope 1/3", winds, depths[0] * (winds / winds[0]) ** (1 / 3), dashed=True)
    return [
        Text(
            "The idea of the paper: wind bulges a cloth whose edges are fixed; close the surface and put the wind "
            "inside, and it becomes pressure. Wind pushes each point with c ((w − v)·n) n."
        ),
        Row(
            [
                Svg(flat, "Figure 2: the cloth, its fixed edges (dots) and the wind along its normal (red)."),
                Svg(bulged, "Figure 3: the same cloth after 1 s in a wind of 1 m/s."),
            ]
        ),
        Picture(jpeg(pictures[0]), "The bulged cloth as the engine draws it.", width=480, cover=cover(pictures[0])),
        Svg(
            chart([Curve("measured", winds, depths, line=False), law], "wind, m/s", "depth, m", log_x=True, log_y=True),
            "Depth of the middle against wind.",
        ),
        Table(["wind, m/s", "force on the cloth at the start, N", "c w times the points, N", "depth at rest, m"], rows),
        Text(
            f"The depth grows with the wind to the power {power:.3f}. A membrane without tension at rest has 1/3: the "
            "stretch grows with the square of the depth, and its pull towards the plane with the cube.",
            "measured",
        ),
        Row(
            [
                Picture(jpeg(solid), "Figure 4: solid.", width=340),
                Svg(net.svg(), f"Figure 4: its {len(shape.edges)} springs, those in front."),
            ]
        ),
    ]


# figure 7 -------------------------------------------------------------------------------------------------------------


def paper_ball() -> Scene:
    """The `ball` of drop alone, with the paper's mesh."""
    return one_ball(ball__shape__icosphere__subdivisions=2, ball__settled=True)


def slide(speed: float = 1.0) -> tuple[FloatArray, FloatArray]:
    """Velocity (m/s) of a ball before and after it hits a floor without friction at an angle."""
    scene = paper_ball()
    scene.set("ball.velocity", (speed, 0.0, -3.0))
    scene.set("ball.at", (0.0, 0.0, 0.8))
    scene.set("ball.drag", 0.0)
    scene.set("ground.friction", 0.0)
    scene.gravity = (0.0, 0.0, 0.0)
    sim = Simulation(scene)
    before = sim["ball"].momentum / sim["ball"].mass
    sim.run(1.0)
    return before, sim["ball"].momentum / sim["ball"].mass


class Bounce:
    """How a ball falls and bounces: fastest fall (m/s), lowest and then highest centre (m)."""

    def __init__(self) -> None:
        self.track: list[tuple[float, float]] = []

    def look(self, sim: Simulation) -> None:
        """Height and speed upwards of the centre."""
        ball = sim["ball"]
        self.track.append((float(ball.center[2]), float(ball.momentum[2] / ball.mass)))

    def found(self) -> list[float]:
        """Of the whole run; the lowest point is in its first second."""
        heights, speeds = (np.array(column) for column in zip(*self.track, strict=True))
        low = int(np.argmin(heights[:60]))
        return [-float(speeds.min()), float(heights[low]), float(heights[low:].max())]


def bouncing_ball(quick: bool) -> list[Block]:
    """Figure 7 of the report."""
    sim = Simulation(paper_ball())
    start = sim["ball"].center[2]
    track: list[tuple[float, float, float]] = []

    def look(sim: Simulation) -> None:
        track.append((sim.time, float(sim["ball"].center[2]), float(sim["ball"].momentum[2])))

    watch = Stopwatch(look)
    times = (0.0, 0.4, 0.55, 0.75) if quick else (0.0, 0.4, 0.55, 0.75, 1.0)
    pictures = stills(sim, times, (240, 300), watch, velocities=True, velocity_seconds=0.06)
    while sim.time < 1.5:
        watch(sim)
        sim.step()
    moments, heights, momentum = (np.array(column) for column in zip(*track, strict=True))
    fall = int(np.argmin(momentum))
    low = int(np.argmin(heights[:60]))
    drag = sim.scene.soft_bodies[0].drag
    rows: list[tuple[str, Any, Any]] = [
        ("vertices", 162, sim.vertices),
        ("faces", 320, len(sim.scene.soft_bodies[0].shape.faces)),
        ("frames per second", 50, watch.fps),
        ("fastest fall, m/s", None, -float(momentum[fall]) / sim["ball"].mass),
        ("free fall with this drag until then, m/s", None, GRAVITY / drag * (1 - math.exp(-drag * moments[fall]))),
        ("height of the centre at the start, m", None, start),
        ("lowest, m", None, heights[low]),
        ("highest after the bounce, m", None, heights[low:].max()),
    ]
    before, after = slide()
    _, table = beside(
        paper_ball, 1.5, ["fastest fall, m/s", "lowest, m", "highest after the bounce, m"], Bounce, ["none"],
    )  # fmt: skip
    return [
        Text("A ball falls, flattens and bounces; velocity vectors show what moves which way."),
        Picture(
            jpeg(strip(pictures, times)),
            "A vector is the way of a point in 0.06 s.",
            cover=cover(strip(pictures[2:4])),
        ),
        Compared(rows, "Frames of 1/60 s simulated per second of processor time, not drawn."),
        table,
        Svg(
            chart([Curve("momentum", moments, momentum)], "time, s", "momentum upwards, kg m/s", height=260),
            "The momentum that the paper's vectors are to show.",
        ),
        Text(
            "Section 3.5 says that at a collision the tangent part of the velocity is reflected; it is the "
            f"normal part. A ball thrown at a smooth floor with ({before[0]:.2f}, {before[2]:.2f}) m/s along and "
            f"across it leaves with ({after[0]:.2f}, {after[2]:.2f}) m/s. As the paper has it, it would turn back "
            "and go on through the floor.",
            "wrong",
        ),
    ]
