"""V7. A ball pressed by a plate: force = gauge pressure × area of the patch.

Where the skin lies flat on a plate it has no curvature, so its tension takes no part of the pressure: the plate
carries the gauge pressure p at every point of the patch. Without bending stiffness the skin leaves the plate along
the tangent, so the tension pulls along the plate at the rim of the patch and adds nothing across it. Hence F = p A,
whatever the skin is made of. (With bending stiffness there would be a line load along the rim.)

**The patch of a mesh.** Vertices touch or do not, so that a count of areas is uncertain by half an edge around the
rim. Next to the patch the gap grows as g = κ (s²/2 + c s³ ...) with the distance s from its rim, so s is a smooth
function of √g that is zero at the rim: a quadratic in √g, fitted to the distance of the first free vertices from the
axis, gives the radius of the patch at g = 0. The patch of a ball is a circle.

**Known weight.** The plates are walls; the engine sums the momentum that contact gives them, which is F.
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
REACH = 2.5  # edges beyond the rim: vertices whose gaps are fitted


def pressed(subdivisions: int, squeeze: float) -> Simulation:
    """A ball between two plates whose distance is this share of its diameter less than it."""
    scene = still_scene()
    shape = shapes.icosphere(RADIUS, subdivisions)
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


def patch_radius(points: FloatArray, height: float, edge: float) -> float:
    """m: of the patch on a plate at this height, above the points (n, 3); edge: m, of the mesh."""
    upper = points[:, 2] > 0.0
    gap = height - points[:, 2]
    distance = np.hypot(points[:, 0], points[:, 1])
    touching, free = upper & (gap < TOUCH), upper & (gap >= TOUCH)
    rim = 0.5 * (distance[touching].max() + distance[free].min())
    near = free & (distance < rim + REACH * edge)
    return float(np.polyfit(np.sqrt(gap[near]), distance[near], 2)[-1])


def compared(sim: Simulation, squeeze: float) -> tuple[float, float]:
    """N: the force on the plate, and gauge pressure times patch area."""
    edge = mean_edge(sim.scene.soft_bodies[0].shape)
    radius = patch_radius(sim["ball"].positions, RADIUS * (1.0 - squeeze), edge)
    return weight(sim), float(sim["ball"].gauge_pressure) * math.pi * radius**2


def run(quick: bool) -> Outcome:
    """Force against pressure times area, for several distances of the plates."""
    squeezes = (0.12, 0.18) if quick else (0.1, 0.12, 0.15, 0.18)
    level = 4
    sims = [pressed(level, squeeze) for squeeze in squeezes]
    pairs = [compared(sim, squeeze) for sim, squeeze in zip(sims, squeezes, strict=True)]
    checks = [
        Check(f"gauge × patch area, N, of a plate that carries {force:.1f} N", force, area, 0.02)
        for force, area in pairs
    ]
    levels = (3,) if quick else (3, 5)
    middle = squeezes.index(0.12)
    ratios = {level: pairs[middle][1] / pairs[middle][0]}
    for other in levels:
        force, area = compared(pressed(other, 0.12), 0.12)
        ratios[other] = area / force
    meshes = [shapes.icosphere(RADIUS, one) for one in sorted(ratios)]
    refinement = Refinement(
        "gauge × area over force, plates 12 % closer than the diameter", [len(mesh.vertices) for mesh in meshes],
        [mean_edge(mesh) / RADIUS for mesh in meshes], [ratios[one] for one in sorted(ratios)], 1.0,
    )  # fmt: skip
    points = sims[-1]["ball"].positions
    height = RADIUS * (1.0 - squeezes[-1])
    distance = np.hypot(points[:, 0], points[:, 1])
    upper = np.flatnonzero((points[:, 2] > 0.0) & (distance < 0.45))[::3]
    curves = [
        Curve("turgor: gap below the plate", distance[upper], height - points[upper, 2], line=False),
        Curve("radius √(F/πp)", [math.sqrt(pairs[-1][0] / PRESSURE / math.pi)] * 2, [0.0, 0.05], dashed=True),
    ]
    return Outcome(
        checks,
        [
            Row([
                Svg(chart(curves, "distance from the axis, m", "gap, m"), "Where the skin leaves the plate."),
                photo(sims[-1], f"Between two plates, {len(meshes[-1 if quick else -2].vertices):,} vertices."),
            ])
        ],
        [refinement],
        [
            "The plates are walls at given distances, and the force is the momentum that the plate takes per time; "
            "a rigid "
            "plate of that weight would rest there. The patch is known to a part of an edge only, so the errors "
            "scatter "
            "with the mesh by 1 to 2 % and show no clean order."
        ],
    )  # fmt: skip


PLATE = Reference(
    "V7",
    "plate",
    "Ball under a plate",
    "Without bending stiffness F = gauge pressure × area of the patch, whatever the skin.",
    "A ball (Eh = 20 kN/m, 2 kPa, held) between two plates without friction; the patch is found from the gap "
    "beside it.",
    run,
)
