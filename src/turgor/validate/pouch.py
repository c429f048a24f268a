"""V8. Two artificial muscles: the pouch motor and the McKibben muscle.

**Pouch motor** (Niiyama et al. 2015). Two strips of length L₀ and width D, sealed at their ends, that do not stretch.
Under pressure each becomes an arc of half angle θ and radius ϱ = L₀/(2θ), with the chord 2 ϱ sin θ: the contraction
is ε = 1 - sin θ/θ. An arc carries the tension p ϱ D, and both pull at the seal at the angle θ to the chord: F = 2 p ϱ
D cos θ = L₀ D p cos θ/θ. The same follows from virtual work: F = -p dV/dl with V = D L₀² (θ - sin θ cos θ)/(2 θ²).
Both formulas hold as written.

In the engine: a plane outline (2D, pressure per unit of depth) whose two ends are pinned at the distance L₀ sin θ/θ.
F is the force that the pins hold.

**McKibben muscle.** A tube in a braid of fibres of length b that do not stretch, with n turns each, at the angle α to
the axis: length L = b cos α, radius R = b sin α/(2π n), V = π R² L ~ sin² α cos α. The muscle pulls with F = -p dV/dL
= p b²/(4π n²) (3 cos² α - 1), which is zero at cos² α = 1/3, α = 54.7356°.

A membrane of one material has no fibres, and springs lie on all edges of a mesh, of which triangles have three
directions: a net of two directions that can shear cannot be described. So the braid is kept in the geometry: the
closed tube is put into the shapes that the braid allows, and F is the virtual work of the engine's own pressure
forces, Σ f·∂x/∂L. This tests the forces of the gas on sides and caps, and not a braid of springs.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from turgor.papers.drawing.line_drawing import Drawing
from turgor.papers.drawing.plot import Curve, chart
from turgor.papers.report.blocks import Row, Svg
from turgor.scene import Gas, Membrane, Springs
from turgor.shapes.shape import Shape
from turgor.simulation.simulation import Simulation
from turgor.simulation.warn import silent
from turgor.validate.meshes import tube
from turgor.validate.reference import Check, Outcome, Reference, Refinement
from turgor.validate.rest import calmed, still_scene

__all__ = ["NEUTRAL", "POUCH", "braid_force", "pouch_contraction", "pouch_force"]

FloatArray = npt.NDArray[np.float64]

LENGTH, PRESSURE = 1.0, 1000.0  # m, Pa (2D: N/m per metre of depth)
LOAD = 3e-5  # p L₀/(E h): the strips stretch by about that
ANGLES = (15.0, 30.0, 45.0, 60.0, 75.0)  # degrees
NEUTRAL = math.degrees(math.acos(1.0 / math.sqrt(3.0)))  # 54.7356°
FIBRE, TURNS = 1.0, 1.0  # m, and turns around the tube


def pouch_contraction(angle: float) -> float:
    """ε at the half angle (rad)."""
    return 1.0 - math.sin(angle) / angle


def pouch_force(angle: float) -> float:
    """F/(L₀ D p) at the half angle (rad)."""
    return math.cos(angle) / angle


def braid_force(angle: npt.ArrayLike) -> FloatArray:
    """F/(p b²/(4π n²)) at the braid angle (rad)."""
    return np.asarray(3.0 * np.cos(np.asarray(angle, np.float64)) ** 2 - 1.0)


def pouch(angle: float, segments: int) -> Simulation:
    """The pouch at rest, its ends pinned at the contraction of this half angle (rad)."""
    share = np.linspace(0.0, 1.0, segments + 1)
    bulge = 1e-3 * LENGTH * np.sin(math.pi * share)
    lower, upper = np.column_stack([LENGTH * share, -bulge]), np.column_stack([LENGTH * share, bulge])[-2:0:-1]
    points = np.concatenate([lower, upper])
    count = len(points)
    faces = np.stack([np.arange(count), (np.arange(count) + 1) % count], axis=1).astype(np.int32)
    shape = Shape(points, faces, "outline", {})
    material = Membrane(
        young=PRESSURE * LENGTH / (LOAD * 1e-3), poisson=0.0, thickness=1e-3, wrinkling=False, rigidity=0.0
    )
    scene = still_scene(2)
    gas = Gas(gauge=PRESSURE, ambient=0.0, held=True)
    scene.add_soft_body(
        shape, name="pouch", mass=1.0, material=material, gas=gas, pins=(0, segments), self_contact=False
    )
    start = points * [1.0 - pouch_contraction(angle), 1.0]
    start[:, 1] = np.sign(points[:, 1]) * 0.6 * LENGTH * angle / math.pi * np.sin(math.pi * points[:, 0] / LENGTH)
    return calmed(scene, PRESSURE, start, softer=(0.1,))


def pull(sim: Simulation) -> float:
    """F/(L₀ D p): the mean of what both pins hold."""
    pins = sim.scene.soft_bodies[0].pinned
    forces = sim["pouch"].forces[pins, 0]
    return float(abs(forces[0] - forces[1])) / 2.0 / (LENGTH * PRESSURE)


def braid_pull(angle: float, around: int) -> float:
    """F/(p b²/(4π n²)) by the virtual work of the engine's forces on a tube in the shape of this braid angle (rad)."""
    radius, length = FIBRE * math.sin(angle) / (2.0 * math.pi * TURNS), FIBRE * math.cos(angle)
    along = max(2, 2 * round(length / radius * around / 12.0))
    shape, _ = tube(radius, length, around, along)
    scene = still_scene()
    gas = Gas(gauge=PRESSURE, ambient=0.0, held=True)
    scene.add_soft_body(shape, name="muscle", springs=Springs(0.0), gas=gas)
    with silent():
        sim = Simulation(scene, contact="none", precision="double")
    rates = shape.vertices * np.array([-math.tan(angle), 1.0 / math.tan(angle), 1.0 / math.tan(angle)])  # ∂x/∂α
    work = float((sim["muscle"].forces * rates).sum()) / (-FIBRE * math.sin(angle))  # per dL
    return -work / (PRESSURE * FIBRE**2 / (4.0 * math.pi * TURNS**2))


def neutral_angle(around: int) -> float:
    """Degrees: where the measured force is zero, by bisection."""
    low, high = math.radians(45.0), math.radians(65.0)
    for _ in range(24):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if braid_pull(middle, around) > 0.0 else (low, middle)
    return math.degrees(0.5 * (low + high))


def run(quick: bool) -> Outcome:
    """Five angles of the pouch, and the neutral angle of the braid."""
    sizes = (8, 16, 24) if quick else (10, 20, 40)
    around = 24
    sims = [pouch(math.radians(angle), sizes[-1]) for angle in ANGLES]
    found = [pull(sim) for sim in sims]
    checks = [
        Check(f"pouch: F/(L₀Dp) at θ = {angle:g}°", pouch_force(math.radians(angle)), force, 0.01)
        for angle, force in zip(ANGLES, found, strict=True)
    ]
    area = [float(sim["pouch"].volume) for sim in sims]
    checks += [
        Check(f"pouch: area/L₀² at θ = {angle:g}°", _area(math.radians(angle)), value / LENGTH**2, 0.01)
        for angle, value in zip(ANGLES, area, strict=True)
    ]
    checks.append(Check("McKibben: angle of zero force, degrees", NEUTRAL, neutral_angle(around), 0.001))
    middle = math.radians(ANGLES[2])
    coarser = [pull(pouch(middle, segments)) for segments in sizes[:-1]]
    refinement = Refinement(
        "F/(L₀Dp) at 45°", [2 * n for n in sizes], [1.0 / n for n in sizes], [*coarser, found[2]], pouch_force(middle)
    )
    line = np.linspace(0.15, 1.5, 100)
    pouches = [
        Curve("formula", [pouch_contraction(a) for a in line], [pouch_force(a) for a in line]),
        Curve("turgor", [pouch_contraction(math.radians(a)) for a in ANGLES], found, line=False),
    ]
    degrees = np.linspace(20.0, 75.0, 12)
    braids = [
        Curve("3 cos² α − 1", np.linspace(20.0, 75.0, 100), braid_force(np.radians(np.linspace(20.0, 75.0, 100)))),
        Curve("turgor", degrees, [braid_pull(math.radians(a), around) for a in degrees], line=False),
    ]
    drawing = Drawing((-0.05, -0.4), (1.05, 0.4), 420)
    for sim, color in zip(sims, ("#2f5fb3", "#2fa3b0", "#2f8f5b", "#e08a1e", "#c92f36"), strict=True):
        drawing.outline(sim["pouch"].positions, color=color)
    return Outcome(
        checks,
        [
            Row([
                Svg(chart(pouches, "contraction ε", "F/(L₀Dp)"), "Pouch motor."),
                Svg(drawing.svg(), "The pouch at θ = 15°, 30°, 45°, 60° and 75°; its left end is pinned at 0."),
            ]),
            Svg(chart(braids, "braid angle, degrees", "F/(p b²/4πn²)"), "McKibben muscle: virtual work of the forces."),
        ],
        [refinement],
        [
            "The braid itself is not simulated: a membrane has no fibres, and a triangle mesh of springs cannot "
            "shear like a "
            "net. The tube is put into the shapes that a braid allows, and the engine's pressure forces do the "
            "virtual work."
        ],
    )  # fmt: skip


def _area(angle: float) -> float:
    """Of the pouch, over L₀²."""
    return (angle - math.sin(angle) * math.cos(angle)) / (2.0 * angle**2)


POUCH = Reference(
    "V8",
    "pouch",
    "Pouch motor and McKibben muscle",
    "Pouch: ε = 1 − sin θ/θ, F = L₀Dp cos θ/θ. McKibben: F = p b²/(4πn²) (3 cos² α − 1), zero at α = 54.7356°.",
    "Pouch: a plane outline with pinned ends, pL₀/Eh = 3e-5, pressure held; F is what the pins hold. McKibben: see "
    "below.",
    run,
)
