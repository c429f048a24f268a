"""Matyka 2004 in motion: the pump, the wall, three dimensions, and the mouse."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from turgor import gallery
from turgor.papers.drawing.line_drawing import Drawing
from turgor.papers.drawing.plot import Curve, chart
from turgor.papers.drawing.stills import cover, jpeg, stills, strip
from turgor.papers.gallery_scenes import drop_2d, empty_ring
from turgor.papers.report.blocks import Block, Picture, Svg, Table, Text
from turgor.scene import Scene
from turgor.simulation.simulation import Simulation

__all__ = [
    "ScriptedMouse", "fall_of", "inflate", "loose_points", "mouse",
    "mouse_at", "mouse_scene", "rebound", "solid", "wall",
]  # fmt: skip

FloatArray = npt.NDArray[np.float64]
G = 9.81  # m/s²
LOSS = 0.1  # the paper's loss coefficient of a wall
BALL, RED, BLUE = "#3f8fd6", "#c92f36", "#2b4a7d"


# Sections 5.1 and 6: inflation, the wall, the mass -----------------------------------------------------------------


def inflate(quick: bool) -> list[Block]:
    """Gas is pumped in; then the ball falls."""
    sim = Simulation(gallery.load("inflate-2d"))
    moments, heights, areas, pressures = [], [], [], []

    def note(sim: Simulation) -> None:
        moments.append(sim.time)
        heights.append(float(sim["ball"].center[1]))
        areas.append(float(sim["ball"].volume))
        pressures.append(float(sim["ball"].pressure))

    times = [0.0, 1.0, 2.0, 2.4, 3.0] if quick else [0.0, 1.0, 2.0, 2.4, 2.7, 6.0]
    pictures = stills(sim, times, (196, 300), note, color_by="pressure", limits=(0.0, 60.0))
    full = next(k for k, moment in enumerate(moments) if moment >= 2.0 - 1e-6)
    chosen = [Curve("area, m²", moments, areas), Curve("height of the centre, m", moments, heights)]
    return [
        Text(
            "In the paper gas is pumped in step by step, and gravity is switched on by the final pressure. In turgor "
            "`inflate` is the time of pumping and `gravity_waits` is that switch."
        ),
        Picture(
            jpeg(strip(pictures, times)),
            "Colour follows the pressure: blue low, red high.",
            "A ball grows, then falls",
            cover=cover(strip(pictures[1:3])),
        ),
        Svg(chart(chosen, "time, s", "area, m²; height, m", height=260)),
        Text(
            f"The area grows from {areas[0]:.3f} to {areas[full]:.3f} m² in 2 s while the centre moves by "
            f"{abs(heights[full] - heights[0]):.0e} m; then the ball falls. The pressure rises to "
            f"{max(pressures[: full + 1]):.0f} N/m.",
            "measured",
        ),
    ]


def loose_scene(loss: float) -> Scene:
    """Points on a circle, without springs and gas, above the floor."""
    scene = empty_ring()
    for path, value in (("ball.springs", {"stiffness": 0.0}), ("ball.drag", 0.0), ("ground.restitution", loss)):
        scene.set(path, value)
    return scene


def resting_speeds(loss: float, step: float = 1e-3) -> tuple[float, float]:
    """m/s: of points that have fallen on the floor and lie there; in turgor, and by the listing's own lines."""
    sim = Simulation(loose_scene(loss), contact="none", fps=1.0 / step, substeps=1)
    sim.run(4.0)
    place, speed = 0.0, 0.0
    for _ in range(1000):
        speed -= G * step
        place += speed * step
        if place < 0.0:
            place, speed = 0.0, -loss * speed
    return float(np.abs(sim["ball"].velocities).max()), abs(speed)


def loose_points(loss: float) -> float:
    """Speed after over speed before the impact, of points without springs and gas that fall on the floor."""
    sim = Simulation(loose_scene(loss), contact="none", fps=240)
    lowest = int(np.argmin(sim["ball"].positions[:, 1]))
    impact = math.sqrt(2.0 * float(sim["ball"].positions[lowest, 1]) / G)
    sim.run(impact + 0.02)
    after = float(sim["ball"].velocities[lowest, 1]) + G * (sim.time - impact)  # at the moment of the impact
    return after / (G * impact)


def fall_of(mass: float) -> float:
    """m/s²: acceleration of the falling ball, all of whose points weigh `mass` (kg) each."""
    scene = drop_2d(ball__mass=48 * mass, ball__drag=0.0)
    sim = Simulation(scene, contact="none")
    sim.run(0.2)
    return -float(sim["ball"].velocities[:, 1].mean()) / sim.time


def rebound(loss: float) -> float:
    """m: how high the centre of the ball of drop-2d comes after its first impact."""
    sim = Simulation(drop_2d(ground__restitution=loss))
    heights = []
    for _ in range(80):
        sim.step()
        heights.append(float(sim["ball"].center[1]))
    return max(heights[int(np.argmin(heights[:50])) :])


def wall(quick: bool) -> list[Block]:
    """The loss coefficient of the floor, and the mass in the listing."""
    losses = (LOSS, 0.5) if quick else (LOSS, 0.3, 0.5, 0.9)
    rows = [[loss, loose_points(loss), rebound(loss)] for loss in losses]
    sim = Simulation(gallery.load("drop-2d"))
    times = [0.0, 0.5, 0.6, 0.75, 0.95]
    pictures = stills(sim, times, (232, 300), velocities=True)
    falls = [[mass, fall_of(mass), G * mass] for mass in (0.5, 1.0, 2.0)]
    ours, listed = resting_speeds(0.5)
    return [
        Text(
            "A point that would pass the floor is stopped there, and its vertical velocity is reversed and multiplied "
            "by 0.1. turgor's `restitution` is that coefficient, for the normal velocity at a wall of any direction."
        ),
        Picture(
            jpeg(strip(pictures, times)), "The ball hits the floor (restitution 0.1), with velocity vectors.",
            "A bounce", cover=cover(strip(pictures[2:4])),
        ),
        Table(
            ["restitution", "speed after / before, loose points", "centre's height after the bounce, m"], rows,
            "Loose points have neither springs nor gas. The ball falls from 1.5 m.",
        ),
        Text(
            f"With the paper's 0.1 a loose point keeps {100 * rows[losses.index(LOSS)][1]:.1f} % of its speed. The "
            "ball's bounce hardly depends on it: what bounces is the gas and the skin, not the points.",
            "measured",
        ),
        Table(
            ["mass of each point, kg", "turgor, m/s²", "the listing, m/s²"], falls,
            "Acceleration of the falling ball. The listing's column is its own line, vy += fy dt with fy = m g.",
        ),
        Text(
            "The listing divides the horizontal force by the mass, the vertical one not: heavy points fall faster, "
            "and springs and gas act unequally along the two axes. It is right only for points of 1 kg.",
            "wrong",
        ),
        Text(
            "The listing's floor reflects what gravity has given a point in the same step, so that a point never lies "
            f"still: with a step of 1 ms and a coefficient of 0.5 it goes on with {1e3 * listed:.1f} mm/s for ever. "
            f"turgor reflects the velocity of the hit, and the point rests ({1e3 * ours:.1g} mm/s).",
            "wrong",
        ),
    ]  # fmt: skip


# Figures 4 and 5 -----------------------------------------------------------------------------------------------------


def solid(quick: bool) -> list[Block]:
    """Three balls in 3D."""
    sim = Simulation(gallery.load("drop"))
    times = [0.0, 0.5, 0.8] if quick else [0.0, 0.5, 0.8, 4.0]
    pictures = stills(sim, times, (400, 300))
    rows = [
        [name, float(sim[name].gauge_pressure), float(sim[name].volume), float(np.ptp(sim[name].positions[:, 2]))]
        for name in ("limp", "ball", "firm")
    ]
    return [
        Text("The same model in three dimensions. In turgor the same code runs both: a scene says `dim = 3`."),
        Picture(
            jpeg(strip(pictures, times)),
            "Three balls with little, more and much gas (642 points each).",
            "Three balls",
            cover=cover(pictures[2]),
        ),
        Table(["ball", "gauge pressure, Pa", "volume, m³", "height of the body, m"], rows, f"At {sim.time:.1f} s."),
    ]


MOUSE = np.array([[0.65, 0.62], [1.3, 0.8], [1.1, 1.2], [-0.2, 1.3], [-1.3, 0.9]])  # m: where the mouse goes
PULL = (0.5, 1.7)  # s: when the button is pressed and let go
REST = 15.0  # s: long enough for the swings to die


def mouse_at(time: float) -> FloatArray:
    """m: the scripted mouse."""
    share = np.clip((time - PULL[0]) / (PULL[1] - PULL[0]), 0.0, 1.0) * (len(MOUSE) - 1)
    return np.array([np.interp(share, np.arange(len(MOUSE)), MOUSE[:, axis]) for axis in range(2)])


class ScriptedMouse:
    """Presses the button on the point that is nearest to the mouse, drags it along the path and lets go."""

    def __init__(self) -> None:
        self.vertex = -1
        self.distances: list[float] = []  # m, from the point that is held to the mouse

    def __call__(self, sim: Simulation) -> None:
        """Called before each step."""
        if not PULL[0] <= sim.time < PULL[1]:
            sim.release("ball")
            return
        target, points = mouse_at(sim.time), sim["ball"].positions
        if self.vertex < 0:
            self.vertex = int(np.argmin(np.linalg.norm(points - target, axis=1)))
        self.distances.append(float(np.linalg.norm(points[self.vertex] - target)))
        sim.grab("ball", self.vertex, target.tolist(), stiffness=400.0)


def mouse_scene() -> Scene:
    """The ball of drop-2d on the floor, softer than there."""
    return drop_2d(ball__at=(0.0, 0.65), ball__springs__stiffness=500.0, ball__gas__nRT=20.0)


def mouse(quick: bool) -> list[Block]:
    """The ball is dragged along the path of the mouse."""
    sim, pointer = Simulation(mouse_scene()), ScriptedMouse()
    times = [0.5, 0.8, 1.1, 1.4, 1.7, 1.9]
    shapes_seen: list[tuple[float, FloatArray]] = []
    pressures: list[float] = []

    def before(sim: Simulation) -> None:
        pointer(sim)
        pressures.append(float(sim["ball"].pressure))
        if any(abs(sim.time - time) < 0.4 / sim.settings.fps for time in times[:-1]):
            shapes_seen.append((sim.time, sim["ball"].positions))

    pictures = stills(sim, times, (390, 200), before, velocities=True, normals=True)
    drawing = Drawing((-2.2, -0.1), (2.2, 1.7), 640)
    drawing.path(np.array([[-2.2, 0.0], [2.2, 0.0]]))
    for _, points in shapes_seen:
        drawing.outline(points, BALL, BALL, 0.16)
    for time, points in shapes_seen:
        drawing.path(np.array([points[pointer.vertex], mouse_at(time)]), "#e08a1e")
        drawing.dots(points[pointer.vertex][None], BLUE)
        drawing.dots(mouse_at(time)[None], RED)
        drawing.text(mouse_at(time) + np.array([0.0, 0.13]), f"{time:.1f} s")
    drawing.path(MOUSE, RED, dashed=True)
    sim.run(REST)
    untouched = Simulation(mouse_scene())
    untouched.run(REST)
    alone = untouched["ball"].volume
    return [
        Text(
            "The user plays with the ball: the mouse pulls one point as on a rubber band. Here a script moves the "
            "mouse (`sim.grab`), so that the picture is the same each time; `turgor play` gives the mouse to you."
        ),
        Picture(
            jpeg(np.concatenate([strip(pictures[:3], times[:3]), strip(pictures[3:], times[3:])])),
            f"Pressed at {PULL[0]} s, let go at {PULL[1]} s; red: velocities, dark blue: normals, both of which the "
            "paper suggests to draw.",
            "A soft ball that is dragged by the mouse",
            cover=cover(pictures[1]),
        ),
        Svg(
            drawing.svg(), "The same moments in one: mouse (red, path dashed), rubber band (orange), held point (blue)."
        ),
        Text(
            f"While it is dragged the held point stays within {max(pointer.distances):.2f} m of the mouse, the "
            f"pressure varies between {min(pressures):.0f} and {max(pressures):.0f} N/m. When it has come to rest its "
            f"area is that of a ball nobody touched, within {100 * abs(sim['ball'].volume / alone - 1):.1g} %.",
            "measured",
        ),
    ]
