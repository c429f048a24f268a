"""Matyka & Ollila 2003, section 3.1 and figure 5: volumes by bounding objects; footnote 3: point normals."""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from turgor import shapes
from turgor.papers.drawing.line_drawing import Drawing, Shading, projected, view_axes
from turgor.papers.drawing.plot import Curve, chart
from turgor.papers.matyka2003.scenes import paper_ball
from turgor.papers.report.blocks import Block, Svg, Table, Text
from turgor.scene import Gas, Scene, Springs
from turgor.shapes.shape import Shape
from turgor.simulation.simulation import Simulation
from turgor.simulation.step.profile import stage_times

__all__ = [
    "METHODS",
    "Squash",
    "balance",
    "bodies",
    "estimate",
    "figure",
    "footnote",
    "measure_squash",
    "self_speed",
    "swelling",
]

FloatArray = npt.NDArray[np.float64]
METHODS: dict[str, tuple[str, int | None]] = {  # name: method and samples
    "exact": ("exact", None),
    "box": ("box", None),
    "ball": ("ball", None),
    "ellipsoid": ("ellipsoid", None),
    "Monte Carlo, 512 points": ("monte-carlo", 512),
    "Monte Carlo, 16,384 points": ("monte-carlo", 16_384),
    "subdivision, 16 × 16 columns": ("subdivision", 16),
    "subdivision, 64 × 64 columns": ("subdivision", 64),
}
INSCRIBED = "ellipsoid inside the box"
SAMPLED = "Monte Carlo, 512 points"
SLOW = ("Monte Carlo, 16,384 points", "subdivision, 64 × 64 columns")  # left out of a quick report
BOUNDS = ("box", "ball", "ellipsoid")
COLORS = {"box": "#2f5fb3", "ball": "#2f8f5b", "ellipsoid": "#c92f36"}
VIEW = (-60.0, 14.0)
GAUGE = 500.0  # Pa, in the hand


@functools.cache
def bodies() -> dict[str, Shape]:
    """The paper's ball, an ellipsoid of half axes 0.5, 0.35 and 0.25 m, and the hand."""
    ball = shapes.icosphere(radius=0.5, subdivisions=2)
    ellipsoid = shapes.mesh(ball.vertices * (1.0, 0.7, 0.5), ball.faces)
    return {"ball": ball, "ellipsoid": ellipsoid, "hand": shapes.hand()}


def estimate(shape: Shape, method: str, samples: int | None = None, timed: bool = False) -> tuple[float, float]:
    """m³, as the engine measures it; and µs that the estimate takes (nan unless timed; exact: the pressure force)."""
    scene = Scene(name="measured", gravity=(0.0, 0.0, 0.0))
    scene.add_soft_body(shape, name="body", gas=Gas(nRT=1.0), volume=method, samples=samples)
    sim = Simulation(scene, contact="none")
    volume = float(sim["body"].volume)
    if not timed:
        return volume, math.nan
    if samples is None:
        times = stage_times(sim.engine)
        return volume, 1e6 * (times["volume estimate"] if method != "exact" else times["faces"])
    best = math.inf
    for _ in range(3):  # milliseconds: what else is measured does not count
        sim["body"].positions = shape.vertices
        begin = time.perf_counter()
        sim.measure()
        best = min(best, time.perf_counter() - begin)
    return volume, 1e6 * best


def figure(quick: bool) -> list[Block]:
    """Figure 5 of the report."""
    squash = measure_squash(3 if quick else 1)
    deepest = int(np.argmin(squash.volumes["exact"]))
    change = {name: float(values[deepest] / values[0] - 1.0) for name, values in squash.volumes.items()}
    curves = [Curve(name, squash.times, values / values[0]) for name, values in squash.volumes.items()]
    shown = bodies()
    groups = [*((shown["hand"], [bound]) for bound in BOUNDS), (shown["ball"], BOUNDS), (shown["ellipsoid"], BOUNDS)]
    return [
        Text(
            "The paper takes the volume of a box, a ball or an ellipsoid around the body, says that only its change "
            "matters, and that the ellipsoid is best for the hand; Monte Carlo and subdivision are its future work. "
            "turgor has all of them beside the exact volume (signed tetrahedra)."
        ),
        Svg(
            _drawing(groups),
            "The hand in box (blue), ball (green) and ellipsoid (red); a ball and an ellipsoid in all three.",
        ),
        *_compared(quick),
        Svg(
            chart(curves, "time, s", "volume / volume at the start"),
            "The ball of `drop` falls on the floor: one run (with the exact volume), measured in four ways.",
        ),
        Text(
            f"The change of volume is wrong too: when the ball is squashed most, its volume is {change['exact']:+.1%}, "
            + ", ".join(f"that of the {name} {change[name]:+.1%}" for name in BOUNDS)
            + ". A ball that is pressed flat gets wider, so the ball around it grows and the pressure in it would fall "
            "just when it has to rise.",
            "wrong",
        ),
    ]


def _compared(quick: bool) -> list[Block]:
    """The table of volumes, and what it says."""
    methods = {name: how for name, how in METHODS.items() if not (quick and name in SLOW)}
    found = {
        body: {name: estimate(shape, *how, timed=body == "hand") for name, how in methods.items()}
        for body, shape in bodies().items()
    }
    for volumes in found.values():
        volumes[INSCRIBED] = volumes["box"][0] * math.pi / 6.0, math.nan
    rows = []
    for name in (*METHODS, INSCRIBED):
        if name in found["hand"]:
            cells: list[Any] = []
            for volumes in found.values():
                error = 100.0 * (volumes[name][0] / volumes["exact"][0] - 1.0)
                cells += [volumes[name][0], None if name == "exact" else error]
            rows.append([name, *cells, found["hand"][name][1]])
    hand = found["hand"]
    times = {name: volumes[0] / hand["exact"][0] for name, volumes in hand.items()}
    arms = np.abs(bodies()["hand"].vertices) / (0.5 * np.ptp(bodies()["hand"].vertices, axis=0))
    outside = float(np.mean(np.linalg.norm(arms, axis=1) > 1.0))
    header = ["volume by", *(part for body in found for part in (f"{body}, m³", "error, %")), "µs for the hand"]
    best = min(BOUNDS, key=lambda name: times[name])
    return [
        Table(
            header, rows,
            "The exact volume of the ball is that of its polyhedron of 320 faces. Time: one CPU thread; for the exact "
            "volume it is that of the whole pressure force, with which the volume comes; the others come on top of it.",
        ),
        Text(
            f"Around our hand the box has {times['box']:.1f} times its volume, the ball {times['ball']:.1f} times, the "
            f"ellipsoid {times['ellipsoid']:.1f} times (the smallest of the box's proportions around all points). "
            f"The tightest is the {best}; the paper prefers the ellipsoid for its hand. An ellipsoid inside the box "
            f"has {times[INSCRIBED]:.1f} times the volume, but {outside:.0%} of the points stick out of it. Ball and "
            "ellipsoid are good for what they are like, and only for that.",
            "measured" if best == "ellipsoid" else "wrong",
        ),
        Text(
            "Monte Carlo and subdivision converge, and are slow, both as the paper expects: they test every face for "
            f"every probe ({hand[SAMPLED][1] / hand['exact'][1]:,.0f} times the exact volume's time). "
            "The exact volume is both better and cheaper than any of them: one product per face.",
            "measured",
        ),
    ]  # fmt: skip


@dataclass(frozen=True)
class Squash:
    """A ball that falls on the floor: its volume by several methods over time."""

    times: FloatArray  # s
    volumes: dict[str, FloatArray]  # m³


def measure_squash(every: int = 1, seconds: float = 1.2) -> Squash:
    """One run of the `ball` of drop with the paper's mesh; at intervals it is measured by each method."""
    sims = {method: Simulation(_ball(method), contact="none") for method in ("exact", *BOUNDS)}
    sim = sims["exact"]
    times: list[float] = []
    volumes: dict[str, list[float]] = {method: [] for method in sims}
    for frame in range(round(seconds * sim.settings.fps) + 1):
        if frame % every == 0:
            times.append(sim.time)
            for method, other in sims.items():
                if other is not sim:
                    other["ball"].positions = sim["ball"].positions
                volumes[method].append(float(other["ball"].volume))
        sim.step()
    return Squash(np.array(times), {method: np.array(values) for method, values in volumes.items()})


def _ball(method: str) -> Scene:
    scene = paper_ball()
    scene.set("ball.settled", method == "exact")
    scene.set("ball.volume", method)
    return scene


def _drawing(groups: Sequence[tuple[Shape, Sequence[str]]]) -> str:
    """Bodies side by side: the springs of each, and what is around it."""
    left, scenes = 0.0, []
    for shape, bounds in groups:
        middle = 0.5 * (shape.vertices.min(axis=0) + shape.vertices.max(axis=0))
        points = shape.vertices - middle
        lines = [(COLORS[name], projected(line, VIEW)) for name in bounds for line in _around(name, points)]
        everything = np.concatenate([line for _, line in lines])
        shift = np.array([left - everything[:, 0].min(), 0.0])
        aside = points + shift[0] * view_axes(VIEW)[0]
        scenes.append((shape, aside, [(color, line + shift) for color, line in lines]))
        left += float(np.ptp(everything[:, 0])) + 0.15
    ends = np.concatenate([line for _, _, lines in scenes for _, line in lines])
    sheet = Drawing(ends.min(axis=0), ends.max(axis=0), 900)
    for shape, points, lines in scenes:
        sheet.surface(points, shape.faces, VIEW, Shading("#f2f5f8", line="#8a94a0", width=0.7))
        for color, line in lines:
            sheet.path(line, color)
    return sheet.svg()


def _around(bound: str, points: FloatArray) -> list[FloatArray]:
    """Lines of a bounding object of points whose box is centred at the origin."""
    half = points.max(axis=0)
    if bound == "box":
        x, y, z = half
        ring = np.array([(-x, -y), (x, -y), (x, y), (-x, y), (-x, -y)])
        loops = [np.column_stack([ring, np.full(5, height)]) for height in (-z, z)]
        return [*loops, *(np.array([(a, b, -z), (a, b, z)]) for a, b in ring[:4])]
    axes = half if bound == "ellipsoid" else np.ones(3)
    radius = float(np.linalg.norm(points / axes, axis=1).max())
    angle = np.linspace(0.0, 2 * math.pi, 73)
    circle = np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    turns = [*((np.cos(t), np.sin(t)) for t in np.linspace(0.0, math.pi, 6, endpoint=False))]
    meridians = [np.stack([circle[:, 0] * c, circle[:, 0] * s, circle[:, 1]], axis=1) for c, s in turns]
    heights = np.linspace(-1.0, 1.0, 7)[1:-1]
    parallels = [circle * math.sqrt(1.0 - h * h) + (0.0, 0.0, h) for h in heights]
    return [line * axes * radius for line in (*meridians, *parallels)]


# footnote 3 -----------------------------------------------------------------------------------------------------------


def _hand(force: str) -> Scene:
    scene = Scene(name="afloat", gravity=(0.0, 0.0, 0.0))
    scene.add_soft_body(
        shapes.hand(), name="hand", springs=Springs(3000.0, 2.0), gas=Gas.at(gauge=GAUGE, ambient=1000.0),
        pressure_force=force,
    )  # fmt: skip
    return scene


def balance(force: str) -> tuple[float, float, float]:
    """Of the hand at rest: sum of the pressure forces (N), of their moments (N m), and the sum of their sizes (N)."""
    sim = Simulation(_hand(force), contact="none", precision="double")
    forces, arms = sim["hand"].forces, sim["hand"].positions - sim["hand"].center
    moment = np.cross(arms, forces).sum(axis=0)
    sizes = np.linalg.norm(forces, axis=1)
    return float(np.linalg.norm(forces.sum(axis=0))), float(np.linalg.norm(moment)), float(sizes.sum())


def self_speed(force: str, seconds: float = 1.0) -> tuple[FloatArray, FloatArray]:
    """The hand, let go at rest in empty space: times (s) and speed of its centre of mass (m/s)."""
    sim = Simulation(_hand(force), contact="none")
    times, speeds = [0.0], [0.0]
    for _ in range(round(seconds * sim.settings.fps)):
        sim.step()
        times.append(sim.time)
        speeds.append(float(np.linalg.norm(sim["hand"].momentum)) / float(sim["hand"].mass))
    return np.array(times), np.array(speeds)


def swelling() -> float:
    """Volume of the paper's ball, free and at rest, with the force divided by the number of faces over that with the
    exact gradient; both begin as the same ball with the same gas."""
    volumes = []
    for force in ("vertex-normals-divided", "gradient"):
        scene = Scene(name="afloat", gravity=(0.0, 0.0, 0.0))
        scene.add_soft_body(
            bodies()["ball"], name="ball", springs=Springs(150.0, 2.0), gas=Gas(gauge=GAUGE, ambient=0.0), drag=5.0,
            pressure_force=force,
        )  # fmt: skip
        sim = Simulation(scene, contact="none")
        sim.run(2.0)
        volumes.append(float(sim["ball"].volume))
    return volumes[0] / volumes[1]


def footnote(quick: bool) -> list[Block]:
    """Footnote 3 of the report."""
    names = {
        "gradient": "exact gradient of the volume",
        "vertex-normals": "along the mean normal, a third of each face",
        "vertex-normals-divided": "along the mean normal, divided by the faces",
    }
    sums = {force: balance(force) for force in names}
    flights = {force: self_speed(force, 0.3 if quick else 1.0) for force in names}
    rows = [
        [names[force], total, net, net / total, moment, flights[force][1][-1]]
        for force, (net, moment, total) in sums.items()
    ]
    header = [
        "pressure force", "sum of sizes, N", "net force, N", "net / sum", "net moment, N m", "speed at the end, m/s",
    ]  # fmt: skip
    last = flights["gradient"][0][-1]
    kept, flown, literal = (flights[force][1][-1] for force in names)
    net, _, total = sums["vertex-normals"]
    less = sums["vertex-normals-divided"][2] / sums["gradient"][2]
    return [
        Text(
            "Footnote 3 lets the pressure push each point along the mean of the normals of its faces, and says to "
            "divide by the number of faces that contain the point. It can be read in two ways. That division is the "
            "one that makes a mean of a sum of normals: then a point gets a third of each of its faces' forces "
            '(`pressure_force = "vertex-normals"`). Or the force itself is divided, P·ΣA/N '
            '(`"vertex-normals-divided"`), as it stands there. turgor pushes along the exact gradient of the volume, a '
            "third of each face's force to each corner; both readings are options."
        ),
        Table(
            header,
            rows,
            f"The hand at {GAUGE:g} Pa, no gravity, nothing near; double precision at rest, let go for {last:.1f} s.",
        ),
        Svg(
            chart([Curve(names[force], *flights[force]) for force in names], "time, s", "speed of the centre, m/s"),
            "A closed body in empty space has to stay where it is.",
        ),
        Text(
            f"Point normals leave a net force of {net:.3g} N ({net / total:.2%} of all forces): the hand flies off by "
            f"itself, {flown:.3g} m/s after {last:.1f} s ({literal:.3g} m/s with the division); with the exact "
            f"gradient it stays ({kept:.1g} m/s).",
            "wrong",
        ),
        Text(
            f"Divided by the number of faces the forces are {less:.2f} times as large as the gas makes them. A face "
            "has three corners, and about six faces meet at a point: the law divides by three, the footnote to the "
            f"letter by six. The paper's ball, free and at {GAUGE:g} Pa, then swells to {swelling():.2f} times the "
            "volume that it has with the law. In 2D both numbers are two, and the division is right.",
            "wrong",
        ),
    ]
