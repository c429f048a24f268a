"""Matyka & Ollila 2003: its scenes (figures 1, 7, 8 and the hanging ball) and the cloth of figures 2 and 3."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from turgor import gallery, shapes
from turgor.papers.drawing.line_drawing import Drawing, Shading, projected
from turgor.papers.drawing.plot import Curve, chart
from turgor.papers.drawing.stills import cover, jpeg, stills, strip
from turgor.papers.gallery_scenes import one_ball
from turgor.papers.report.blocks import Block, Compared, Picture, Row, Svg, Table, Text
from turgor.scene import Scene
from turgor.simulation.simulation import Simulation

__all__ = ["Hanging", "bouncing_ball", "cloth", "cloth_depths", "five_balls", "four_pressures", "hand", "hang", "slide"]

FloatArray = npt.NDArray[np.float64]
CLOTH_VIEW = (-146.0, 14.0)  # azimuth and elevation, degrees: the side to which the wind bulges the cloth
PRESSURES = (2.0, 10.0, 40.0, 160.0)  # Pa, gauge at the rest volume
GRAVITY = 9.81


class Stopwatch:
    """Called before every frame; measures the frames simulated per second (the median: pauses do not count)."""

    def __init__(self, look: Callable[[Simulation], None] = lambda sim: None) -> None:
        self._look = look  # its time does not count
        self._called: list[float] = []
        self._left: list[float] = []

    def __call__(self, sim: Simulation) -> None:
        self._called.append(time.perf_counter())
        self._look(sim)
        self._left.append(time.perf_counter())

    @property
    def fps(self) -> float:
        """Of all frames but the last, whose end is not known."""
        return 1.0 / float(np.median(np.array(self._called[1:]) - np.array(self._left[:-1])))


# figure 1 -------------------------------------------------------------------------------------------------------------


def five_balls(quick: bool) -> list[Block]:
    """Figure 1 of the report."""
    watch, paper = Stopwatch(), Stopwatch()
    sim = Simulation(gallery.load("five-balls"))
    times = (0.0, 1.0, 2.0) if quick else (0.0, 2.0, 4.5, 7.5)
    pictures = stills(sim, times, (400 if quick else 300, 300), watch)
    bodies = sim.scene.soft_bodies
    by_bounds = Simulation(gallery.load("five-balls"), contact="bounding")
    for _ in range(30 if quick else 120):
        paper(by_bounds)
        by_bounds.step()
    rows: list[tuple[str, Any, Any]] = [
        ("vertices of a ball", 162, len(bodies[0].shape.vertices)),
        ("faces of a ball", 320, len(bodies[0].shape.faces)),
        ("frames per second, contact of all features", None, watch.fps),
        ("frames per second, contact by bounding objects as in the paper", "40 to 50 (800 MHz Duron)", paper.fps),
        ("deepest penetration now, mm", None, 1e3 * sim.contacts().max_penetration),
    ]
    return [
        Text("Five balls bounce in a box that turns, with collisions; real time on the computer of the day."),
        Picture(
            jpeg(strip(pictures, times)),
            "The box turns at 0.6 rad/s.",
            cover=cover(pictures[-1]),
        ),
        Compared(rows, "Frames simulated per second on one CPU thread, 1/60 s each, not drawn."),
        Text(
            f"The same meshes run at {watch.fps:,.0f} frames per second, {watch.fps / 60:.1f} times real time, with "
            "exact contact between all features and friction; the paper's bounding objects are there to compare "
            "(`--contact bounding`).",
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


def four_pressures(quick: bool) -> list[Block]:
    """The hanging ball of the report."""
    sim = Simulation(hanging_scene(PRESSURES), contact="none")
    pictures = stills(sim, [3.0 if quick else 6.0], (1000, 380), view=(-90.0, 5.0))
    found = hang(sim)
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
    return [
        Text("A ball falls, flattens and bounces; velocity vectors show what moves which way."),
        Picture(
            jpeg(strip(pictures, times)),
            "A vector is the way of a point in 0.06 s.",
            cover=cover(strip(pictures[2:4])),
        ),
        Compared(rows),
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


# figure 8 -------------------------------------------------------------------------------------------------------------


def hand(quick: bool) -> list[Block]:
    """Figure 8 of the report."""
    sim = Simulation(gallery.load("hand-and-ball"))
    body = sim.scene.soft_bodies[0]
    rest = sim["hand"].positions
    volume = float(sim["hand"].volume)
    moved, smallest = [0.0], [volume]
    start = sim.rigid_bodies["ball"].velocity.copy()

    def look(sim: Simulation) -> None:
        moved.append(float(np.linalg.norm(sim["hand"].positions - rest, axis=1).max()))
        smallest.append(float(sim["hand"].volume))

    watch = Stopwatch(look)
    times = (0.0, 0.45, 0.6) if quick else (0.0, 0.4, 0.5, 0.7)
    pictures = stills(sim, times, (400 if quick else 300, 300), watch, zoom=1.3)
    end = sim.rigid_bodies["ball"].velocity
    wrist = float(np.abs(sim["hand"].positions[body.pinned] - rest[body.pinned]).max())
    rows: list[tuple[str, Any, Any]] = [
        ("vertices of the hand", "386 (figure 8), about 370 (text)", len(body.shape.vertices)),
        ("faces of the hand", "768 (figure 8), 736 (text)", len(body.shape.faces)),
        ("frames per second", "50 (40 to 50 in the text)", watch.fps),
        ("substeps per frame, for springs this stiff", None, sim.substeps),
        ("ball towards the hand: at the start, m/s", None, start[1]),
        ("ball towards the hand: at the end, m/s", None, end[1]),
        ("largest displacement of a point of the hand, m", None, max(moved)),
        ("smallest volume / volume at rest", None, min(smallest) / volume),
        ("displacement of the wrist, m", None, wrist),
    ]
    return [
        Text("A user hits a soft hand with a rigid ball. Here the ball is thrown; `turgor play` lets you pull it."),
        Picture(
            jpeg(strip(pictures)),
            "At " + ", ".join(f"{moment:g}" for moment in times) + " s.",
            cover=cover(pictures[1], top=0.0),
        ),
        Compared(rows, "The paper gives two sizes of its hand; both fit a closed mesh: F = 2V − 4."),
        Text(
            f"The ball comes with {start[1]:.1f} m/s and goes with {end[1]:.1f} m/s; the hand gives way by "
            f"{max(moved):.2f} m, loses at most {1 - min(smallest) / volume:.1%} of its volume; the wrist is held.",
            "measured",
        ),
    ]
