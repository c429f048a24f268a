"""V5. The teabag: the largest volume of two unit squares of a sheet that does not stretch, joined at their rims.

The shape is not known. What is known (Kepert; quoted as the teabag or paper bag problem) is a construction with a
volume of 0.2055 and an upper bound of 0.217 (Robin's formula gives 0.2017 and, for long bags, 1/π - 0.142 · 0.9 =
0.19: estimates, not bounds). A sheet that wrinkles freely can reach every map that shortens all curves, and pressure
that is held looks for the largest volume among them: the tension field's equilibrium is a candidate for the optimum,
and its volume must lie between the two numbers.

A sheet that stretches a little has more volume and a mesh of flat faces less: the first is linear in the load and is
taken away by runs with several loads; the second falls with the square of the edge and is taken away by two meshes.

**Outcome.** The engine's volume tends to 0.2025: below the 0.2055, and above Robin's 0.2017. It does not depend on
the start (flat, high, with waves of several lengths along the seam: the same eight digits), and meshes with other
diagonals tend to the same value. By compactness of maps that shorten, finer meshes must reach every such shape; so
either there is a better shape that is not connected with this one uphill, or the construction, which "appears to
give" its volume and was not published, gives less. The miss is shown.
"""

from __future__ import annotations

import numpy as np

from turgor.papers.drawing.plot import Curve, chart
from turgor.papers.report.blocks import Row, Svg
from turgor.scene import Membrane
from turgor.simulation.simulation import Simulation
from turgor.validate.airbag import cushion
from turgor.validate.meshes import mean_edge
from turgor.validate.reference import Check, Outcome, Reference, Refinement
from turgor.validate.rest import photo

__all__ = ["TEABAG"]

PRESSURE, THICKNESS = 1000.0, 1e-4  # Pa, m
LOWER, UPPER = 0.2055, 0.217


def bag(cells: int, load: float) -> Simulation:
    """Two unit squares at rest; load: p a/(E h)."""
    material = Membrane(
        young=PRESSURE / (load * THICKNESS), poisson=0.3, thickness=THICKNESS, density=1000.0, rigidity=0.0
    )
    return cushion(1.0, cells, material, PRESSURE, softer=(0.1,))


def run(quick: bool) -> Outcome:
    """Volume on finer meshes, and over the load."""
    sizes = (5, 10) if quick else (6, 12, 24)
    load = 4e-3 if quick else 2e-3
    sims = [bag(cells, load) for cells in sizes]
    volumes = [float(sim["bag"].volume) for sim in sims]
    loads = [8e-3, 16e-3] if quick else [4e-3, 8e-3]
    coarse = sizes[-2]
    stretched = [float(bag(coarse, one)["bag"].volume) for one in loads]
    slope = float(np.polyfit([load, *loads], [volumes[-2], *stretched], 2)[1])
    shapes = [sim.scene.soft_bodies[0].shape for sim in sims]
    vertices, edges = [len(shape.vertices) for shape in shapes], [mean_edge(shape) for shape in shapes]
    mesh = (volumes[-1] - volumes[-2]) / (edges[-2] ** 2 / edges[-1] ** 2 - 1.0)  # what is missing on the finest
    best = volumes[-1] + mesh - slope * load
    curves = [
        Curve("turgor", edges, volumes, marks=True),
        Curve("no edge, no stretch", [0.0], [best], line=False),
        Curve("construction, 0.2055", [0.0, edges[0]], [LOWER, LOWER], dashed=True),
        Curve("upper bound, 0.217", [0.0, edges[0]], [UPPER, UPPER], dashed=True),
    ]
    return Outcome(
        [Check("V, m³ (no stretch, no edge)", (LOWER, UPPER), best)],
        [
            Row([
                Svg(chart(curves, "edge of the mesh, m", "V, m³"), f"Volume at pa/Eh = {load:g}."),
                photo(sims[-1], f"{vertices[-1]:,} vertices.", view=(-66.0, 30.0)),
            ])
        ],
        [Refinement("V, m³", vertices, edges, volumes)],
        [
            f"At pa/Eh = {load:g} the volume is {volumes[-1]:.5f} m³ on the finest mesh. The mesh takes {mesh:.5f} "
            "m³ (as its edge "
            f"squared), stretch has won {slope * load:.5f} m³ (measured with {coarse} × {coarse} cells).",
            "A miss if it is below 0.2055: that number is of a construction that appears to give it, and is not "
            "published. The "
            "engine's volume does not depend on the start nor on the diagonals of the mesh, and is above Robin's "
            "0.2017.",
        ],
    )  # fmt: skip


TEABAG = Reference(
    "V5",
    "teabag",
    "Teabag of a unit square",
    "The largest volume of two unit squares joined at their rims: at least 0.2055 (a construction), at most 0.217 "
    "(Kepert).",
    "Two flat squares, wrinkling, nearly inextensible, pressure held; extrapolated to no stretch.",
    run,
)
