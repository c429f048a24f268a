"""V1. A spherical rubber balloon: pressure over stretch, with its maximum and (Mooney-Rivlin) its minimum.

A sphere of radius r₀ and thickness h, stretched alike by λ, stores 4π r₀² h W(λ, λ) with W = c₁ (2 λ² + λ⁻⁴ - 3) + c₂
(2 λ⁻² + λ⁴ - 3) (incompressible, plane stress). The gas does the work p dV = p 4π r₀³ λ² dλ, so p = h W'(λ)/(r₀ λ²),
and W' = 4 c₁ (λ - λ⁻⁵) + 4 c₂ (λ³ - λ⁻³):

    p = 4 (h/r₀) (1/λ - 1/λ⁷) (c₁ + c₂ λ²)

Neo-Hookean (c₂ = 0, c₁ = μ/2): dp/dλ = 0 at λ⁶ = 7, λ = 1.38309, p = 2 (μ h/r₀) 7^(-1/6) 6/7 = 1.2395 μ h/r₀. With
c₂/c₁ = 0.1 p' = 0 has two roots, λ = 1.4761 and 3.1426 (`extrema` finds them). All of
these are as they are quoted.

**Stability.** With a given amount of gas and nothing outside, p V = nRT and p V ~ λ² - λ⁻⁴ (times c₁ + c₂ λ²) rises
with λ always: each amount has one stretch, also where p falls. A pump that holds p would blow the balloon up past the
maximum.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from turgor import shapes
from turgor.papers.drawing.plot import Curve, chart
from turgor.papers.report.blocks import Row, Svg
from turgor.scene import Gas, Membrane
from turgor.simulation.simulation import Simulation
from turgor.validate.meshes import mean_edge
from turgor.validate.reference import Check, Outcome, Reference, Refinement
from turgor.validate.rest import at_rest, photo, still_scene

__all__ = ["BALLOON", "balloon_pressure", "extrema", "peak"]

FloatArray = npt.NDArray[np.float64]

RADIUS, THICKNESS, SHEAR = 0.1, 3e-4, 4e5  # m, m, Pa: a toy balloon
NEO = Membrane(young=3.0 * SHEAR, thickness=THICKNESS, law="neo-hookean", rigidity=0.0)
MOONEY = Membrane(law="mooney-rivlin", c1=0.5 * SHEAR, c2=0.05 * SHEAR, thickness=THICKNESS, rigidity=0.0)
SCALE = SHEAR * THICKNESS / RADIUS  # Pa


def balloon_pressure(stretch: npt.ArrayLike, c1: float, c2: float) -> FloatArray:
    """In units of h/r₀ times that of c1 and c2."""
    x = np.asarray(stretch, np.float64)
    return np.asarray(4.0 * (1.0 / x - 1.0 / x**7) * (c1 + c2 * x**2))


def extrema(c1: float, c2: float, low: float = 1.01, high: float = 10.0) -> list[float]:
    """Stretches where dp/dλ is zero.

    p/4 = c1 (1/λ - λ⁻⁷) + c2 (λ - λ⁻⁵): times λ⁸, p' is c2 λ⁸ - c1 λ⁶ + 5 c2 λ² + 7 c1, a polynomial.
    """
    roots = np.roots([c2, 0.0, -c1, 0.0, 0.0, 0.0, 5.0 * c2, 0.0, 7.0 * c1])
    real = roots[np.abs(roots.imag) < 1e-9].real
    return sorted(float(root) for root in real if low < root < high)


def peak(stretch: FloatArray, pressure: FloatArray) -> tuple[float, float]:
    """(stretch, pressure) of the extremum of a polynomial through seven points around it."""
    middle = float(stretch.mean())
    through = np.polynomial.Polynomial.fit(stretch - middle, pressure, 6)
    roots = through.deriv().roots()
    real = [float(root.real) for root in roots if abs(root.imag) < 1e-9]
    inside = [root for root in real if stretch.min() < root + middle < stretch.max()]
    if not inside:
        return math.nan, math.nan
    at = min(inside, key=abs)
    return middle + at, float(through(at))


def inflated(material: Membrane, stretches: Sequence[float], subdivisions: int) -> tuple[Simulation, FloatArray]:
    """The last of the rest states, and for each amount of gas (stretch, p r₀/(μ h), unevenness of the radius)."""
    shape = shapes.icosphere(RADIUS, subdivisions)
    c1, c2 = material.constants
    found, sim = [], None
    for stretch in stretches:
        expected = float(balloon_pressure(stretch, c1, c2)) * THICKNESS / RADIUS
        scene = still_scene()
        gas = Gas(nRT=expected * shape.volume * stretch**3)
        scene.add_soft_body(shape, name="balloon", material=material, gas=gas)
        sim = at_rest(scene, balloon=0.95 * stretch * shape.vertices)
        view = sim["balloon"]
        reached = float((view.volume / view.rest_volume) ** (1.0 / 3.0))
        radii = np.linalg.norm(view.positions - view.positions.mean(axis=0), axis=1)
        found.append([reached, float(view.pressure) / SCALE, float(np.ptp(radii) / radii.mean())])
    if sim is None:
        raise ValueError("no stretches")
    return sim, np.array(found)


def run(quick: bool) -> Outcome:
    """Both laws: points along the curve, and the extrema from points around them."""
    finest = 3 if quick else 4
    around = np.linspace(1.22, 1.58, 7)
    wide = [1.1, 2.2, 4.5] if quick else [1.05, 1.12, 1.8, 2.2, 2.8, 3.5, 4.5]
    sim, neo = inflated(NEO, [*around, *wide], finest)
    near, far = np.linspace(1.3, 1.7, 7), np.linspace(2.7, 3.6, 7)
    _, mooney = inflated(MOONEY, [*near, *far, 1.1, 2.1, 4.5], finest)
    top, low, bottom = peak(*neo[:7, :2].T), peak(*mooney[:7, :2].T), peak(*mooney[7:14, :2].T)
    one = _largest_error(neo, 0.5, 0.0)
    two = _largest_error(mooney, 0.5, 0.05)
    first, second = extrema(0.5, 0.05)
    exact_top = float(balloon_pressure(7.0 ** (1.0 / 6.0), 0.5, 0.0))
    checks = [
        Check("neo-Hookean: maximum of p, in μ h/r₀", exact_top, top[1], 0.01),
        Check("neo-Hookean: stretch at the maximum", 7.0 ** (1.0 / 6.0), top[0], 0.01),
        Check("neo-Hookean: p/p(λ) where it differs most", 1.0, one, 0.01),
        Check("c₂/c₁ = 0.1: stretch at the maximum", first, low[0], 0.01),
        Check("c₂/c₁ = 0.1: stretch at the minimum", second, bottom[0], 0.01),
        Check("c₂/c₁ = 0.1: p/p(λ) where it differs most", 1.0, two, 0.01),
    ]
    line = np.linspace(1.0, 4.7, 200)
    curves = [
        Curve("neo-Hookean, formula", line, balloon_pressure(line, 0.5, 0.0)),
        Curve("c₂/c₁ = 0.1, formula", line, balloon_pressure(line, 0.5, 0.05)),
        Curve("neo-Hookean, turgor", neo[:, 0], neo[:, 1], line=False),
        Curve("c₂/c₁ = 0.1, turgor", mooney[:, 0], mooney[:, 1], line=False),
    ]
    levels = range(2, finest)
    coarser = [peak(*inflated(NEO, list(around), level)[1][:, :2].T)[1] for level in levels]
    meshes = [shapes.icosphere(RADIUS, level) for level in (*levels, finest)]
    refinement = Refinement(
        "Maximum of p (neo-Hookean)", [len(mesh.vertices) for mesh in meshes],
        [mean_edge(mesh) / RADIUS for mesh in meshes], [*coarser, top[1]], exact_top,
    )  # fmt: skip
    return Outcome(
        checks,
        [
            Row([
                Svg(chart(curves, "stretch λ", "p r₀/(μ h)"), "Gauge pressure over stretch."),
                photo(sim, f"The balloon at λ = {neo[-1, 0]:.2f}, {len(meshes[-1].vertices):,} vertices."),
            ])
        ],
        [refinement],
        [
            "Radii differ by at most "
            f"{100 * max(neo[:, 2].max(), mooney[:, 2].max()):.2f} % of their mean: the balloons stay round."
        ],
    )  # fmt: skip


def _largest_error(points: FloatArray, c1: float, c2: float) -> float:
    """p over the formula at the measured stretch, at the point where that is farthest from 1."""
    ratios = points[:, 1] / balloon_pressure(points[:, 0], c1, c2)
    return float(ratios[np.abs(ratios - 1.0).argmax()])


BALLOON = Reference(
    "V1",
    "balloon",
    "Rubber balloon",
    "p = 4 (h/r₀) (1/λ − 1/λ⁷) (c₁ + c₂ λ²). Neo-Hookean: maximum 1.2395 μh/r₀ at λ = 7^(1/6) = 1.38309; c₂/c₁ = 0.1: "
    "maximum at 1.4761, minimum at 3.1426.",
    "An icosphere without bending; the amount of gas is given and nothing is outside, so that the falling branch is "
    "stable. Each point is an equilibrium, found from a ball that is 5 % too small; λ is from the volume.",
    run,
)
