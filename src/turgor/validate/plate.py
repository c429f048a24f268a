"""V7. A ball pressed by a plate: force = gauge pressure × area of the patch.

Where the skin lies flat on a plate it has no curvature, so its tension takes no part of the pressure: the plate
carries the gauge pressure p at every point of the patch. Without bending stiffness the skin leaves the plate along
the tangent, so the tension pulls along the plate at the rim of the patch and adds nothing across it. Hence F = p A,
whatever the skin is made of. (With bending stiffness there would be a line load along the rim.)

**The patch of a mesh.** Vertices touch or do not, so that a count of areas is uncertain by half an edge around the
rim. Next to the patch the gap grows as the square of the distance s from its rim, so s is a smooth function of √g
that is zero at the rim: a quadratic in √g, fitted to the distance of the first free vertices from the axis, gives the
radius of the patch at g = 0. A chain of links on a floor shows what is left: its free points lie on a parabola whose
apex is up to κ e²/8 below the floor (e: edge, κ: curvature), and the force belongs to the apex. So the error is of
the order of e over the radius of the patch, positive in the mean. The ball has its vertices drawn towards the plate
by a conformal map (stereographic coordinates divided by 2), which halves e there and keeps the triangles' shape.

**The plate** is a wall at a given height; its load is the momentum that contact gives it per time, which the engine
sums.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from turgor import shapes
from turgor.errors import UnstableError
from turgor.papers.drawing.plot import Curve, chart
from turgor.papers.report.blocks import Row, Svg
from turgor.scene import Gas, Membrane, Scene
from turgor.shapes.shape import Shape
from turgor.simulation.simulation import Simulation
from turgor.simulation.warn import silent
from turgor.validate.meshes import mean_edge
from turgor.validate.reference import Check, Outcome, Reference, Refinement
from turgor.validate.rest import photo, still_scene

__all__ = ["PLATE", "patch_radius"]

FloatArray = npt.NDArray[np.float64]

RADIUS, PRESSURE, MASS = 0.5, 2000.0, 1.0  # m, Pa, kg
SKIN = Membrane(young=2e7, poisson=0.3, thickness=1e-3, rigidity=0.0)
DRAG = 80.0  # 1/s: about critical for ω² = p L/m
LOOKS = 100  # frames
TOUCH = 1e-6  # m: a smaller gap is none
DRAWN = 2.0  # by how much the mesh is finer at the plate
REACH = 4.0  # edges beyond the rim: vertices whose gaps are fitted


def drawn_ball(subdivisions: int) -> Shape:
    """An icosphere whose vertices are drawn towards +z."""
    ball = shapes.icosphere(RADIUS, subdivisions)
    unit = ball.vertices / RADIUS
    away = np.maximum(1.0 + unit[:, 2:], 1e-12)
    flat = unit[:, :2] / away / DRAWN
    square = (flat**2).sum(axis=1, keepdims=True)
    places = np.concatenate([2.0 * flat, 1.0 - square], axis=1) / (1.0 + square)
    places[unit[:, 2] < -1.0 + 1e-9] = (0.0, 0.0, -1.0)
    return Shape(RADIUS * places, ball.faces, "surface", {})


def pressed(subdivisions: int, squeeze: float) -> Simulation:
    """A ball between floor and plate, whose distance is less than its diameter by this share."""
    scene = still_scene()
    shape = drawn_ball(subdivisions)
    gas = Gas(gauge=PRESSURE, ambient=0.0, held=True)
    scene.add_soft_body(shape, name="ball", mass=MASS, material=SKIN, gas=gas, drag=DRAG, self_contact=False)
    half = RADIUS * (1.0 - squeeze)
    scene.add_plane((0.0, 0.0, -half), (0.0, 0.0, 1.0), name="floor", friction=0.0, restitution=0.0)
    scene.add_plane((0.0, 0.0, half), (0.0, 0.0, -1.0), name="plate", friction=0.0, restitution=0.0)
    return _calmed(scene, shape.vertices * [1.0, 1.0, 0.999 * (1.0 - squeeze)])


def _calmed(scene: Scene, start: FloatArray) -> Simulation:
    """Run until the forces on the two plates agree, and change no more."""
    with silent():
        sim = Simulation(scene, contact="none", precision="double", solver="symplectic", fps=DRAG, readings=True)
    sim["ball"].positions = start
    before = math.nan
    for _ in range(LOOKS):
        sim.step()
        force = weight(sim)
        if abs(force - before) < 3e-5 * abs(force):
            return sim
        before = force
    raise UnstableError("the ball between the plates does not come to rest")


def weight(sim: Simulation) -> float:
    """N: what the plate carries, the mean over the last frame."""
    return float(sim.contacts().force.on("plate")[2])


def patch_radius(points: FloatArray, edges: npt.NDArray[np.int32], height: float) -> float:
    """m: of the patch below a plate at this height, of a mesh with these points (n, 3) m and edges (e, 2)."""
    upper = points[:, 2] > 0.0
    gap = height - points[:, 2]
    touching, free = upper & (gap < TOUCH), upper & (gap >= TOUCH)
    distance = np.hypot(*(points[:, :2] - points[touching, :2].mean(axis=0)).T)
    ends = points[edges[touching[edges].any(axis=1)]]
    edge = float(np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1).mean())
    rim = 0.5 * (distance[touching].max() + distance[free].min())
    near = free & (distance < rim + REACH * edge)
    return float(np.polyfit(np.sqrt(gap[near]), distance[near], 2)[-1])


def patch_force(sim: Simulation, squeeze: float) -> float:
    """N: gauge pressure times patch area."""
    edges = sim.scene.soft_bodies[0].shape.edges
    radius = patch_radius(sim["ball"].positions, edges, RADIUS * (1.0 - squeeze))
    return float(sim["ball"].gauge_pressure) * math.pi * radius**2


def run(quick: bool) -> Outcome:
    """Pressure times area against the load of the plate, for several heights."""
    squeezes = (0.14, 0.18) if quick else (0.1, 0.14, 0.18)
    level = 4 if quick else 5
    sims = [pressed(level, squeeze) for squeeze in squeezes]
    checks = []
    for sim, squeeze in zip(sims, squeezes, strict=True):
        force = weight(sim)
        name = f"gauge × patch area, N, under a plate that weighs {force:.1f} N"
        checks.append(Check(name, force, patch_force(sim, squeeze), 0.02))
    last = squeezes[-1]
    coarser = [pressed(one, last) for one in range(3, level)]
    row = [*coarser, sims[-1]]
    refinement = Refinement(
        "gauge × patch area over load, the heavier plate", [len(sim["ball"].positions) for sim in row],
        [mean_edge(sim.scene.soft_bodies[0].shape) / RADIUS for sim in row],
        [patch_force(sim, last) / weight(sim) for sim in row], 1.0,
    )  # fmt: skip
    points = sims[-1]["ball"].positions
    distance = np.hypot(points[:, 0], points[:, 1])
    upper = np.flatnonzero((points[:, 2] > 0.0) & (distance < 0.4))[:: 4 if quick else 16]
    curves = [
        Curve("turgor: gap", distance[upper], RADIUS * (1.0 - last) - points[upper, 2], line=False),
        Curve("radius √(F/πp)", [math.sqrt(weight(sims[-1]) / PRESSURE / math.pi)] * 2, [0.0, 0.05], dashed=True),
    ]
    return Outcome(
        checks,
        [
            Row([
                Svg(chart(curves, "distance from the axis, m", "gap, m"), "Where the skin leaves the heavier plate."),
                photo(sims[-1], f"Under the heavier plate (not drawn), {len(points):,} vertices."),
            ])
        ],
        [refinement],
        [
            "The plate is a wall at a given height, and its weight is what it carries there: the momentum that contact "
            "gives it per time. The patch is known to a part of an edge only; the error is about a tenth of the "
            "edge over "
            "the radius of the patch, and is larger for light plates on coarse meshes."
        ],
    )  # fmt: skip


PLATE = Reference(
    "V7",
    "plate",
    "Ball under a plate",
    "Without bending stiffness F = gauge pressure × area of the patch, whatever the skin.",
    "A ball (Eh = 20 kN/m, 2 kPa, held) between floor and plate, without friction; the patch is found from the gap "
    "beside it.",
    run,
)
