"""V3. The Mylar balloon: two flat discs of an inextensible sheet, joined at the rim and blown up (Paulsen 1994).

The sheet wrinkles along meridians, so hoops carry nothing, and meridians keep their length a. Let x be the distance
from the axis, ψ the slope. The part within x is held against p π x² by the meridian tension: 2π x N sin ψ = p π x².
Without hoop tension the pull of all meridians together, 2π x N, is the same at every x; at the equator (x = r) sin ψ
= 1, so 2π x N = p π r² and sin ψ = x²/r²: dz/dx = -x²/√(r⁴ - x⁴), ds/dx = r²/√(r⁴ - x⁴). With t = x/r

    a   = r ∫ dt/√(1 - t⁴)           = r Γ(1/4)²/(4 √(2π))         r/a = 0.76276
    z₀  = r ∫ t² dt/√(1 - t⁴)        = r (2π)^(3/2)/(2 Γ(1/4)²)    thickness 2 z₀ = 0.59907 · 2 r
    V   = 4π ∫ x z dx = 2π r³ ∫ t⁴ dt/√(1 - t⁴) = (2π/3) a r²      V/a³ = 1.21852

(the last by parts: ∫ t⁴/√(1 - t⁴) = ⅓ ∫ 1/√(1 - t⁴)). The integrals are taken by t = sin u, which removes the root at
1: √(1 - t⁴) = cos u √(1 + sin² u). N = p r²/(2 x) has no bound at the axis, so a real sheet stretches there: with p
a/E h = 3e-4 the largest strain of a face is 6e-4.

**Measures.** The excess of sheet at the rim gathers in a few folds, as in a real balloon, so the rim is no circle.
Its radius is the mean over the angle around the axis (not over the vertices, which crowd in the folds); the thickness
is the distance of the poles.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from turgor.papers.drawing.plot import Curve, chart
from turgor.papers.report.blocks import Row, Svg
from turgor.scene import Gas, Membrane
from turgor.simulation.simulation import Simulation
from turgor.validate.meshes import disc, mean_edge, pillow
from turgor.validate.reference import Check, Outcome, Reference, Refinement
from turgor.validate.rest import about_axis, calmed, photo, still_scene

__all__ = ["MYLAR", "mylar_numbers", "mylar_profile"]

FloatArray = npt.NDArray[np.float64]

RADIUS, PRESSURE = 1.0, 1000.0  # m, Pa
LOAD = 3e-4  # p a/(E h)


def mylar_numbers() -> tuple[float, float, float]:
    """r/a, thickness/(2 r), V/a³."""
    length, height = _integral(0), _integral(2)
    radius = 1.0 / length
    return radius, height, 2.0 * math.pi * radius**3 * _integral(4)


def _integral(power: int, upper: float = 1.0) -> float:
    """∫ t^power/√(1 - t⁴) dt from 0 to `upper`."""
    nodes, weights = np.polynomial.legendre.leggauss(40)
    end = math.asin(upper)
    u = 0.5 * end * (nodes + 1.0)
    return float(0.5 * end * np.dot(weights, np.sin(u) ** power / np.sqrt(1.0 + np.sin(u) ** 2)))


def mylar_profile(points: int = 80) -> tuple[FloatArray, FloatArray]:
    """x/a and z/a of the upper half, from the axis to the equator."""
    radius, height, _ = mylar_numbers()
    t = np.sin(np.linspace(0.0, 0.5 * math.pi, points))
    z = np.array([height - _integral(2, float(part)) for part in t])
    return radius * t, radius * z


def inflated(rings: int, load: float = LOAD) -> Simulation:
    """Two discs at rest under pressure; load: p a/(E h)."""
    sheet = disc(RADIUS, rings)
    flat = sheet[0]
    share = 1.0 - (flat**2).sum(axis=1) / RADIUS**2
    shape, below = pillow(sheet, 1e-3 * RADIUS * share)
    thickness = 1e-4
    material = Membrane(
        young=PRESSURE * RADIUS / (load * thickness), poisson=0.3, thickness=thickness, density=1000.0, rigidity=0.0
    )
    scene = still_scene()
    gas = Gas(gauge=PRESSURE, ambient=0.0, held=True)
    scene.add_soft_body(shape, name="balloon", mass=1.0, material=material, gas=gas, self_contact=False)
    start = np.empty_like(shape.vertices)  # half a ball pressed flat, which is not the answer
    upper = np.column_stack([0.85 * flat, 0.3 * RADIUS * np.sqrt(np.maximum(share, 0.0))])
    start[below] = upper * [1.0, 1.0, -1.0]
    start[: len(flat)] = upper
    return calmed(scene, PRESSURE, start, softer=(0.01, 0.1))


def measured(sim: Simulation) -> tuple[float, float, float]:
    """r/a, thickness/(2 r), V/a³."""
    points = sim["balloon"].positions
    shape = sim.scene.soft_bodies[0].shape
    rim = np.flatnonzero(np.abs(shape.vertices[:, 2]) < 1e-12)
    way = points[0] - points[_pole(sim)]
    axis = way / np.linalg.norm(way)
    arms = points[rim] - points[rim].mean(axis=0)
    across = np.cross(axis, [1.0, 0.0, 0.0])
    across /= np.linalg.norm(across)
    flat = arms @ np.stack([np.cross(across, axis), across], axis=1)
    angle = np.arctan2(flat[:, 1], flat[:, 0])
    after = np.roll(np.hypot(*flat.T), -1)
    turned = (np.roll(angle, -1) - angle + math.pi) % (2.0 * math.pi) - math.pi
    radius = float(np.dot(0.5 * (np.hypot(*flat.T) + after), turned) / turned.sum())
    thickness = float(np.linalg.norm(points[0] - points[_pole(sim)]))
    return radius / RADIUS, thickness / (2.0 * radius), float(sim["balloon"].volume) / RADIUS**3


def _pole(sim: Simulation) -> int:
    """The vertex at the middle of the lower disc; that of the upper one is 0."""
    flat = sim.scene.soft_bodies[0].shape.vertices[:, :2]
    return int(np.flatnonzero(np.hypot(flat[:, 0], flat[:, 1]) < 1e-12)[1])


def run(quick: bool) -> Outcome:
    """Radius, thickness and volume on three meshes."""
    sizes = (6, 12) if quick else (6, 10, 16)
    sims = [inflated(rings, 1e-3 if quick else LOAD) for rings in sizes]
    found = [measured(sim) for sim in sims]
    expected = mylar_numbers()
    names = ("r/a", "thickness/2r", "V/a³")
    checks = [Check(name, *pair, 0.01) for name, pair in zip(names, zip(expected, found[-1], strict=True), strict=True)]
    x, z = mylar_profile()
    place, height = about_axis(sims[-1]["balloon"].positions, 0, _pole(sims[-1]))
    upper = np.flatnonzero(height > 0.0)[:: max(1, len(height) // 300)]
    curves = [Curve("formula", x, z), Curve("turgor, all around", place[upper], height[upper], line=False)]
    meshes = [sim.scene.soft_bodies[0].shape for sim in sims]
    vertices, edges = [len(mesh.vertices) for mesh in meshes], [mean_edge(mesh) / RADIUS for mesh in meshes]
    refinements = [
        Refinement(name, vertices, edges, [values[k] for values in found], expected[k]) for k, name in enumerate(names)
    ]
    picture = photo(sims[-1], f"{vertices[-1]:,} vertices.", view=(-66.0, 35.0))
    return Outcome(
        checks, [Row([Svg(chart(curves, "distance from the axis/a", "height/a"), "Profile."), picture])], refinements
    )


MYLAR = Reference(
    "V3",
    "mylar",
    "Mylar balloon",
    "Meridians that do not stretch, hoops that carry nothing: a/r = ∫dt/√(1 − t⁴), thickness/2r = ∫t²dt/√(1 − t⁴), "
    "V = (2π/3) a r²: r/a 0.76276, thickness/2r 0.59907, V/a³ 1.21852.",
    "Two flat discs joined at the rim, wrinkling, pa/Eh = 3e-4 (quick: 1e-3), pressure held. The search starts "
    "from a flattened ball.",
    run,
)
