"""Martin 2009: a sphere with much gas and one with little (6.4), and the pressure scaling for uneven meshes (3.1.2)."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from turgor import shapes
from turgor.papers.drawing.plot import Curve, chart
from turgor.papers.drawing.stills import cover, jpeg
from turgor.papers.report.blocks import Block, Picture, Row, Svg, Table, Text
from turgor.record.look import Pixels
from turgor.record.render import Painter
from turgor.scene import Gas, Scene, Springs
from turgor.scene.gas import GAS_CONSTANT
from turgor.shapes import Shape
from turgor.simulation.simulation import Simulation

__all__ = [
    "AMOUNTS",
    "Lying",
    "Round",
    "lying",
    "pressure_blocks",
    "round_ball",
    "scaling_blocks",
    "self_push",
    "two_balls",
]

FloatArray = npt.NDArray[np.float64]
G = 9.81  # m/s²
AMOUNTS = ((100.0, 150.0), (1.0, 10.0))  # n, k of the paper's picture
RADIUS = 3.0  # m: "units" of the paper, before inflating
RT, MASS = 5.0, 0.7  # J/mol and kg: not in the paper; the firm ball then keeps its size, and is round
NAMES = ("firm", "limp")
GAUGE, STIFFNESS = 300.0, 100.0  # Pa, N/m of the ball whose roundness is measured


@dataclass(frozen=True)
class Lying:
    """A ball at rest on the floor."""

    free: float  # m³: volume in equilibrium, afloat
    volume: float  # m³, lying
    pressure: float  # Pa, lying
    slim: float  # height over width, afloat
    flat: float  # height over width, lying
    carried: float  # weight over pressure, m²: the area that must rest on the floor
    touching: int  # vertices on the floor
    speed: float  # m/s: fastest vertex, at the end


def two_balls(rt: float = RT) -> Simulation:
    """The paper's spheres, n mol of a gas with R T = rt (J/mol) each and no air outside, afloat side by side."""
    scene = Scene(dim=3, gravity=(0.0, 0.0, -G))
    scene.add_ground(friction=0.5, restitution=0.0)
    for name, (moles, stiffness), across, color in zip(
        NAMES, AMOUNTS, (-4.4, 4.4), ("#f4ae3d", "#3f8fd6"), strict=True
    ):
        scene.add_soft_body(
            shapes.uv_sphere(radius=RADIUS, stacks=8, slices=8), name=name, mass=MASS, gas=Gas(nRT=moles * rt),
            settled=True, springs=Springs(stiffness=stiffness, damping=0.02 * stiffness), drag=1.0,
            at=(across, 0.0, 50.0), color=color,
        )  # fmt: skip
    return Simulation(scene)


@functools.cache
def lying(seconds: float) -> tuple[dict[str, Lying], Pixels]:
    """The two balls laid on the floor and damped until they rest, and a picture of both."""
    sim = two_balls()
    afloat = {name: (sim[name].volume, _height_over_width(sim[name].positions)) for name in NAMES}
    for name in NAMES:
        points = sim[name].positions
        sim[name].positions = points - np.array([0.0, 0.0, points[:, 2].min()])
    sim.run(seconds)
    sim.measure()
    found = {}
    for name, (free, slim) in afloat.items():
        ball, points = sim[name], sim[name].positions
        found[name] = Lying(
            free, ball.volume, ball.gauge_pressure, slim, _height_over_width(points), G * MASS / ball.gauge_pressure,
            int((points[:, 2] < 0.01).sum()), float(np.linalg.norm(ball.velocities, axis=1).max()),
        )  # fmt: skip
    return found, _still(sim, (860, 360), (-90.0, 20.0))


def _height_over_width(points: FloatArray) -> float:
    size = np.ptp(points, axis=0)
    return float(size[2] / size[:2].mean())


def _still(sim: Simulation, size: tuple[int, int] = (420, 300), view: tuple[float, float] = (-66.0, 8.0)) -> Pixels:
    with Painter(sim.layout, size=size, view=view) as painter:
        return painter.draw(sim.frame())


def pressure_blocks(quick: bool) -> list[Block]:
    """Section 6.4 of the report."""
    found, image = lying(5.0 if quick else 10.0)
    firm, limp = (found[name] for name in NAMES)
    warm = two_balls(GAS_CONSTANT * 293.15)
    grown = [float(warm[name].volume / warm[name].rest_volume) for name in NAMES]
    inflated = float(warm[NAMES[0]].rest_volume)
    measures: dict[str, list[float]] = {
        "volume afloat, m³": [ball.free for ball in found.values()],
        "over that of the mesh as it was made": [ball.free / inflated for ball in found.values()],
        "volume lying, m³": [ball.volume for ball in found.values()],
        "pressure lying, Pa": [ball.pressure for ball in found.values()],
        "weight over pressure, m²": [ball.carried for ball in found.values()],
        "vertices on the floor": [ball.touching for ball in found.values()],
        "height over width afloat": [ball.slim for ball in found.values()],
        "height over width lying": [ball.flat for ball in found.values()],
        "flattening, %": [100.0 * (1.0 - ball.flat / ball.slim) for ball in found.values()],
    }
    rows = [[name, *values] for name, values in measures.items()]
    header = ["", *[f"n = {moles:g}, k = {stiffness:g}" for moles, stiffness in AMOUNTS]]
    return [
        Text("The paper shows a sphere with n = 100 and k = 150 next to one with n = 1 and k = 10."),
        Picture(
            jpeg(image),
            "At rest on the floor, at one scale: n = 100 mol and k = 150 N/m (left), n = 1 mol and k = 10 N/m (right).",
            width=860,
            cover=cover(image),
        ),
        Table(
            header, rows,
            f"8 × 8 sphere of radius {RADIUS:g} m before inflating, {MASS:g} kg, R T = {RT:g} J/mol, no air outside. "
            "Flattening: the part of height over width that is lost by lying.",
        ),
        Text(
            f"Much gas: its pressure of {firm.pressure:.3g} Pa carries the weight on {firm.carried:.2g} m², and the "
            f"ball stays round (height over width {firm.flat:.2f}). Little gas and weak springs: "
            f"{limp.pressure:.2g} Pa would need {limp.carried:.3g} m²; {limp.touching} vertices lie on the floor, the "
            f"top sinks in, and height over width is {limp.flat:.2f}.",
            "measured",
        ),
        Text(
            "The paper gives neither R and T, nor the mass, nor the ambient pressure, so its picture cannot be "
            "repeated in numbers; R T and the mass are chosen here so that the firm ball keeps about the size of 3 "
            "units that the paper names. With R = 8.314 J/(mol K) and room temperature the balls grow to "
            f"{grown[0]:.0f} and {grown[1]:.1f} times their volume, and on the uneven mesh are not round then: see the "
            "pressure scaling.",
            "wrong",
        ),
    ]  # fmt: skip


# uneven meshes --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Round:
    """How round a ball is in equilibrium, without gravity."""

    vertices: int
    mean: float  # m: mean radius
    spread: float  # standard deviation of the radius over its mean
    poles: float  # radius of the poles over that of the equator
    latitudes: FloatArray  # degrees, northern half
    radii: FloatArray  # over the mean, at each of these
    speed: float  # m/s: fastest vertex, at the end
    image: Pixels | None


@functools.cache
def round_ball(shape: str, scaled: bool, gauge: float = GAUGE, picture: bool = False) -> Round:
    """shape: "uv" (8 × 8) or "ico"; a gas that has `gauge` at the radius 0.5 m where it begins."""
    mesh = shapes.uv_sphere(radius=0.5, stacks=8, slices=8) if shape == "uv" else shapes.icosphere(0.5, 1)
    sim = _afloat(mesh, scaled, gauge)
    sim.run(4.0)
    points = sim["ball"].positions
    radius = np.linalg.norm(points - points.mean(axis=0), axis=1)
    height = mesh.vertices[:, 2] / 0.5
    latitude = np.round(np.degrees(np.arcsin(np.clip(height, -1.0, 1.0))), 1)
    steps = np.asarray(np.unique(latitude[latitude >= 0.0]), np.float64)
    high, low = np.abs(latitude) == steps[-1], np.abs(latitude) == steps[0]
    return Round(
        len(points), float(radius.mean()), float(radius.std() / radius.mean()),
        float(radius[high].mean() / radius[low].mean()), steps,
        np.array([radius[latitude == step].mean() for step in steps]) / radius.mean(),
        float(np.linalg.norm(sim["ball"].velocities, axis=1).max()), _still(sim) if picture else None,
    )  # fmt: skip


def _afloat(mesh: Shape, scaled: bool, gauge: float, stiffness: float = STIFFNESS) -> Simulation:
    scene = Scene(dim=3, gravity=(0.0, 0.0, 0.0))
    scene.add_soft_body(
        mesh, name="ball", mass=1.0, drag=3.0, gas=Gas(gauge=gauge, ambient=0.0), pressure_scaling=scaled,
        springs=Springs(stiffness=stiffness, damping=0.02 * stiffness), color="#45b08c",
    )  # fmt: skip
    return Simulation(scene, contact="none", precision="double")


def self_push(scaled: bool) -> float:
    """Of a cat full of gas, afloat, nothing else acting: size of the sum of all forces over the sum of their sizes."""
    sim = _afloat(shapes.cat(size=1.0), scaled, GAUGE, stiffness=0.0)
    forces = sim.forces()
    return float(np.linalg.norm(forces.sum(axis=0)) / np.linalg.norm(forces, axis=1).sum())


def scaling_blocks(quick: bool) -> list[Block]:
    """Section 3.1.2 of the report."""
    names = {"8 × 8 sphere": ("uv", False), "8 × 8 sphere, scaled": ("uv", True), "icosphere": ("ico", False)}
    found = {name: round_ball(*case, picture=case[0] == "uv") for name, case in names.items()}
    soft = {name: round_ball(*case, gauge=GAUGE / 10.0) for name, case in names.items()}
    header = [
        "mesh",
        "vertices",
        "gauge at the start, Pa",
        "mean radius, m",
        "spread of the radius, %",
        "poles over equator",
    ]
    rows = [
        [name, ball.vertices, gauge, ball.mean, 100.0 * ball.spread, ball.poles]
        for gauge, part in ((GAUGE, found), (GAUGE / 10.0, soft))
        for name, ball in part.items()
    ]
    plain, scaled = found["8 × 8 sphere"], found["8 × 8 sphere, scaled"]
    weak, weaker = soft["8 × 8 sphere"], soft["8 × 8 sphere, scaled"]
    curves = [Curve(name, ball.latitudes.tolist(), ball.radii.tolist(), marks=True) for name, ball in found.items()]
    return [
        Text(
            "A sphere of stacks and slices has small triangles at its poles, and so swells unevenly. The paper "
            "scales the pressure at each vertex by its number of springs over the average number, to improve how "
            "that looks."
        ),
        Row(
            [
                Picture(jpeg(ball.image), f"{name}: poles over equator {ball.poles:.3f}", width=420)
                for name, ball in found.items()
                if ball.image is not None
            ]
        ),
        Table(
            header, rows,
            f"Afloat in equilibrium, springs of {STIFFNESS:g} N/m; it starts as a ball of 0.5 m. Equator of the "
            "icosphere: the "
            "vertices nearest to it.", digits=4,
        ),
        Svg(
            chart(curves, "latitude in the ball at rest, degrees", "radius over mean radius", height=280),
            f"Where the ball bulges, at {GAUGE:g} Pa.",
        ),
        Text(
            f"The scaling helps a little: the spread of the radius goes from {100 * plain.spread:.2f} to "
            f"{100 * scaled.spread:.2f} % ({100 * weak.spread:.2f} to {100 * weaker.spread:.2f} % at a tenth of the "
            f"pressure). An even mesh helps more: {100 * found['icosphere'].spread:.2f} %.",
            "measured",
        ),
        Text(
            f"The scaling does not cure what it is for: poles over equator is {plain.poles:.3f} without and "
            f"{scaled.poles:.3f} with it ({weak.poles:.3f} and {weaker.poles:.3f} at a tenth of the pressure): the "
            "poles, with 8 springs, get more pressure and stick out as before. And scaled forces are no longer those "
            f"of a gas: on the soft cat their sum is {100 * self_push(True):.2g} % of their sizes (without: "
            f"{100 * self_push(False):.1g} %), so that it would push itself through empty space. turgor has the "
            "scaling as an option, off by default.",
            "wrong",
        ),
    ]  # fmt: skip
