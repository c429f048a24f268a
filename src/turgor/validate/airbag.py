"""V4. A square airbag: the benchmark of wrinkling membranes since Contri & Schrefler 1988.

Two flat squares with a diagonal of 1.2 m (side 0.8485 m), joined at their rims; thickness 0.6 mm, E = 588 MPa, ν =
0.4, 5 kPa. There is no formula: finite element codes with a tension field agree on a centre height of 0.2167 m over
the plane of the seam, and on a first principal stress of 3.8 MPa at the centre. A check of the size: near the centre
the bag is about a cap with a radius of curvature R; σ = p R/(2 t) = 3.8 MPa means R = 0.91 m, 1.5 times half of the
diagonal: right. (The stress there is nearly equal in both directions, by symmetry.)

The mesh has a vertex at the centre of each side. The stress there is the mean of the stress tensors of the faces
around it; they are turned into each other by quarter turns, so that mean is isotropic and equal to the mean of all
their principal stresses. The height is half of the distance of the two centres, as the bag is free to turn.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from turgor.papers.drawing.plot import Curve, chart
from turgor.papers.report.blocks import Row, Svg
from turgor.scene import Gas, Membrane
from turgor.simulation.simulation import Simulation
from turgor.validate.meshes import mean_edge, pillow, square
from turgor.validate.reference import Check, Outcome, Reference, Refinement
from turgor.validate.rest import about_axis, calmed, photo, still_scene

__all__ = ["AIRBAG", "cushion"]

FloatArray = npt.NDArray[np.float64]

SIDE = 1.2 / math.sqrt(2.0)  # m
PRESSURE, HEIGHT, STRESS = 5000.0, 0.2167, 3.8e6  # Pa, m, Pa
FABRIC = Membrane(young=588e6, poisson=0.4, thickness=0.6e-3, density=1000.0, rigidity=0.0)


def cushion(side: float, cells: int, material: Membrane, pressure: float, softer: tuple[float, ...] = ()) -> Simulation:
    """Two squares at rest under a pressure that is held; the first vertices are those of the upper square."""
    sheet = square(side, cells)
    flat = sheet[0]
    share = np.prod(1.0 - (2.0 * flat / side) ** 2, axis=1)
    shape, below = pillow(sheet, 1e-3 * side * share)
    scene = still_scene()
    gas = Gas(gauge=pressure, ambient=0.0, held=True)
    scene.add_soft_body(shape, name="bag", mass=1.0, material=material, gas=gas, self_contact=False)
    upper = np.column_stack([0.9 * flat, 0.2 * side * np.sqrt(np.maximum(share, 0.0))])  # not the answer
    start = np.empty_like(shape.vertices)
    start[below] = upper * [1.0, 1.0, -1.0]
    start[: len(flat)] = upper
    return calmed(scene, pressure, start, softer=softer)


def centre(sim: Simulation) -> tuple[float, float]:
    """Height of the centre over the seam's plane (half the distance of both sides), m; first principal stress, Pa."""
    shape = sim.scene.soft_bodies[0].shape
    middle = np.flatnonzero(np.hypot(shape.vertices[:, 0], shape.vertices[:, 1]) < 1e-9)
    points = sim["bag"].positions[middle]
    around = np.isin(shape.faces, middle).any(axis=1)
    return 0.5 * float(np.linalg.norm(points[1] - points[0])), float(np.asarray(sim["bag"].stress)[around].mean())


def run(quick: bool) -> Outcome:
    """Height and stress on three meshes."""
    sizes = (10, 12) if quick else (8, 12, 18)
    sims = [cushion(SIDE, cells, FABRIC, PRESSURE) for cells in sizes]
    found = [centre(sim) for sim in sims]
    checks = []
    for cells, (high, stress) in zip(sizes[-2:], found[-2:], strict=True):
        checks += [
            Check(f"centre height, m ({cells} × {cells} cells)", HEIGHT, high, 0.01),
            Check(f"first principal stress at the centre, MPa ({cells} × {cells})", STRESS / 1e6, stress / 1e6, 0.05),
        ]
    shapes = [sim.scene.soft_bodies[0].shape for sim in sims]
    vertices, edges = [len(shape.vertices) for shape in shapes], [mean_edge(shape) for shape in shapes]
    refinements = [
        Refinement("Centre height, m", vertices, edges, [high for high, _ in found]),
        Refinement("First principal stress, MPa", vertices, edges, [stress / 1e6 for _, stress in found]),
    ]
    flat = shapes[-1].vertices
    top, bottom = np.flatnonzero(np.hypot(flat[:, 0], flat[:, 1]) < 1e-9)
    distance, height = about_axis(sims[-1]["bag"].positions, int(top), int(bottom))
    upper = flat[:, 2] >= 0.0
    curves = []
    for name, chosen in (
        ("along the middle", np.abs(flat[:, 1]) < 1e-9),
        ("along the diagonal", np.abs(flat[:, 0] - flat[:, 1]) < 1e-9),
    ):
        line = np.flatnonzero(chosen & upper & (flat[:, 0] >= -1e-9))
        line = line[np.argsort(flat[line, 0])]
        curves.append(Curve(name, distance[line], height[line], marks=True))
    curves.append(Curve("reference, centre", [0.0], [HEIGHT], line=False))
    slack = float((np.asarray(sims[-1]["bag"].wrinkled) > 0).mean())
    return Outcome(
        checks,
        [
            Row([
                Svg(chart(curves, "distance from the centre, m", "height, m"), "Profile of the upper half."),
                photo(sims[-1], f"{vertices[-1]:,} vertices; {100 * slack:.0f} % of the faces are wrinkled or slack.",
                      view=(-66.0, 30.0)),
            ])
        ],
        refinements,
    )  # fmt: skip


AIRBAG = Reference(
    "V4",
    "airbag",
    "Square airbag",
    "Diagonal 1.2 m, t = 0.6 mm, E = 588 MPa, ν = 0.4, 5 kPa: finite element codes with a tension field give a "
    "centre height "
    "of 0.2167 m and a first principal stress of 3.8 MPa.",
    "Two flat squares joined at their rims, wrinkling, pressure held.",
    run,
)
