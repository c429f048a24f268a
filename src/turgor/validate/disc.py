"""V2. A flat disc, clamped at its rim, under pressure (Hencky 1915).

Small slopes: radial force balance (ρ N_ρ)' = N_θ, vertical balance N_ρ w' = -p ρ/2, Hooke's law for radial and hoop
strain, and u eliminated between ε_ρ = u' + w'²/2 and ε_θ = u/ρ give ρ (N_ρ + N_θ)' = -E h w'²/2. With ρ = a x, N = n
(E h)^⅓ (p a)^⅔ and w = W a (p a/E h)^⅓ all numbers drop out:

    x n'' + 3 n' = -x/(8 n²),   W' = -x/(2 n)

n'(0) = 0, and the rim does not move: u(1) = 0, so N_θ = ν N_ρ, n'(1) + (1 - ν) n(1) = 0. In y = x² this is 4 y n_yy +
8 n_y = -1/(8 n²), whose power series about y = 0 follows from n(0); `hencky` finds the n(0) that meets the condition
at the rim. W(0) = ∫ dy/(4 n).

The numbers that are quoted come out (ν = 0.3: W 0.6534, n 0.4311 and 0.3330; ν = 0.4: 0.6263, 0.4442, 0.3532; ν = 1/3:
0.64478, 0.43512, 0.33928). The edge's n is that of the radial tension; the hoop tension is ν times that.

Hencky's pressure acts vertically and his slopes are small; the engine's pressure follows the surface and strains are
Green's. The difference is of the order of the squared slope at the rim, 2.2 (p a/E h)^⅔: 1e-3 at p a/E h = 1e-5.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from turgor.papers.drawing.plot import Curve, chart
from turgor.papers.report.blocks import Row, Svg
from turgor.scene import Membrane, Springs
from turgor.shapes.shape import Shape
from turgor.simulation.simulation import Simulation
from turgor.validate.meshes import disc, even_disc, mean_edge
from turgor.validate.reference import Check, Outcome, Reference, Refinement
from turgor.validate.rest import at_rest, photo, still_scene

__all__ = ["DISC", "hencky", "hencky_profile"]

FloatArray = npt.NDArray[np.float64]

RADIUS, YOUNG, THICKNESS = 1.0, 1e6, 1e-3  # m, Pa, m
LOAD = 1e-5  # p a/(E h)
TERMS = 60  # of the series; its radius of convergence is beyond the rim: the last terms are below 1e-12
TOLERANCE = 1e-6  # of the forces on a vertex at rest: the order of convergence is seen in small differences
RATIOS = (0.3, 0.4, 1.0 / 3.0)


def _series(start: float) -> FloatArray:
    """Coefficients of n in powers of y from n(0): (k + 1) (4 k + 8) n_{k+1} = -(1/(8 n²))_k."""
    n, inverse = np.zeros(TERMS), np.zeros(TERMS)  # of n, and of 1/n
    n[0], inverse[0] = start, 1.0 / start
    for k in range(TERMS - 1):
        squared = float(np.dot(inverse[: k + 1], inverse[k::-1]))
        n[k + 1] = -squared / 8.0 / ((k + 1) * (4 * k + 8))
        inverse[k + 1] = -float(np.dot(n[1 : k + 2], inverse[k::-1])) / start
    return n


@lru_cache
def _start(poisson: float) -> float:
    """n(0): bisection on the condition at the rim, n'(1) + (1 - ν) n(1) = 0, with n' = 2 n_y there."""
    low, high = 0.38, 1.0
    powers = np.arange(TERMS)
    for _ in range(80):
        middle = 0.5 * (low + high)
        n = _series(middle)
        left = float(2.0 * np.dot(powers, n) + (1.0 - poisson) * n.sum())
        low, high = (low, middle) if left > 0.0 else (middle, high)
    return 0.5 * (low + high)


def hencky(poisson: float) -> tuple[float, float, float]:
    """(W, n at the centre, n at the rim)."""
    _, w, n = hencky_profile(poisson, 2)
    return float(w[0]), float(n[0]), float(n[-1])


def hencky_profile(poisson: float, points: int = 101) -> tuple[FloatArray, FloatArray, FloatArray]:
    """x, W and n (radial) at even x from 0 to 1."""
    series = _series(_start(poisson))
    x = np.linspace(0.0, 1.0, points)
    nodes, weights = np.polynomial.legendre.leggauss(24)
    w = []
    for place in x**2:  # W(y) = ∫ from y to 1 of dy/(4 n)
        y = 0.5 * (1.0 - place) * nodes + 0.5 * (1.0 + place)
        w.append(0.5 * (1.0 - place) * float(np.dot(weights, 0.25 / np.polynomial.polynomial.polyval(y, series))))
    return x, np.array(w), np.asarray(np.polynomial.polynomial.polyval(x**2, series))


def blown(poisson: float, rings: int) -> Simulation:
    """The disc at rest."""
    flat, faces, rim = disc(RADIUS, rings)
    scene = still_scene()
    material = Membrane(young=YOUNG, poisson=poisson, thickness=THICKNESS, wrinkling=False, rigidity=0.0)
    shape = Shape(np.column_stack([flat, np.zeros(len(flat))]), faces, "sheet", {})
    pressure = LOAD * YOUNG * THICKNESS / RADIUS
    scene.add_cloth(
        shape, name="disc", material=material, pins=rim, pressure=pressure, drag_coefficient=0.0, drag_tangential=0.0
    )
    height = 0.5 * RADIUS * LOAD ** (1.0 / 3.0) * (1.0 - (flat**2).sum(axis=1) / RADIUS**2)  # a paraboloid, too flat
    return at_rest(scene, TOLERANCE, disc=np.column_stack([flat, height]))


def blown_springs(rings: int) -> Simulation:
    """The disc as a lattice of springs, E h = 2 k/√3 and ν = 1/3 (see lattice.py), at rest."""
    flat, faces, rim = even_disc(RADIUS, rings)
    scene = still_scene()
    shape = Shape(np.column_stack([flat, np.zeros(len(flat))]), faces, "sheet", {})
    modulus = YOUNG * THICKNESS
    scene.add_cloth(
        shape,
        name="disc",
        mass=1.0,
        springs=Springs(0.5 * math.sqrt(3.0) * modulus),
        pins=rim,
        pressure=LOAD * modulus / RADIUS,
        drag_coefficient=0.0,
        drag_tangential=0.0,
    )
    height = 0.5 * RADIUS * LOAD ** (1.0 / 3.0) * (1.0 - (flat**2).sum(axis=1) / RADIUS**2)
    return at_rest(scene, TOLERANCE, disc=np.column_stack([flat, height]))


def measured(sim: Simulation) -> tuple[float, float, float]:
    """(W, n at the centre, n at the rim) of a disc at rest."""
    view = sim["disc"]
    deflection = float(view.positions[0, 2]) / (RADIUS * LOAD ** (1.0 / 3.0))
    x, tension = _tensions(sim)
    inner, outer = x < 0.35, x > 0.65
    centre = np.polynomial.Polynomial.fit(x[inner] ** 2, tension[inner, 0], 1)
    edge = np.polynomial.Polynomial.fit(x[outer] ** 2, tension[outer, 0], 2)
    return deflection, float(centre(0.0)), float(edge(1.0))


def _tensions(sim: Simulation) -> tuple[FloatArray, FloatArray]:
    """x of each face, and its principal tensions in units of (E h)^⅓ (p a)^⅔."""
    faces = sim.scene.cloths[0].shape.faces
    centres = sim["disc"].positions[faces].mean(axis=1)
    unit = YOUNG * THICKNESS * LOAD ** (2.0 / 3.0)
    return np.hypot(centres[:, 0], centres[:, 1]) / RADIUS, np.asarray(sim["disc"].tension) / unit


def run(quick: bool) -> Outcome:
    """Three ratios of Poisson."""
    rings = 10 if quick else 32
    checks: list[Check] = []
    curves: list[Curve] = []
    sims = {}
    for poisson in RATIOS:
        sims[poisson] = sim = blown(poisson, rings)
        found, expected = measured(sim), hencky(poisson)
        for what, tolerance, mine, theirs in zip(
            ("W", "n at the centre", "n at the rim"), (0.01, 0.02, 0.02), found, expected, strict=True
        ):
            checks.append(Check(f"ν = {poisson:.3g}: {what}", theirs, mine, tolerance))
    springs = float(blown_springs(min(rings, 24))["disc"].positions[0, 2]) / (RADIUS * LOAD ** (1.0 / 3.0))
    checks.append(Check("springs (ν = 1/3): W", hencky(1.0 / 3.0)[0], springs, 0.01))
    sim = sims[0.3]
    x, w, n = hencky_profile(0.3)
    points = sim["disc"].positions
    place = np.hypot(points[:, 0], points[:, 1]) / RADIUS
    at, tension = _tensions(sim)
    some = slice(None, None, max(1, len(at) // 150))
    curves = [
        Curve("W, Hencky", x, w),
        Curve("n radial, Hencky", x, n),
        Curve("W, turgor", place[some], points[some, 2] / LOAD ** (1.0 / 3.0), line=False),
        Curve("n larger principal, turgor", at[some], tension[some, 0], line=False),
    ]
    sizes = (4, 6, rings) if quick else (8, 16, rings)
    values = [measured(blown(0.3, size))[0] for size in sizes[:-1]] + [measured(sim)[0]]
    shapes = [Shape(np.column_stack([d[0], 0 * d[0][:, 0]]), d[1], "sheet", {}) for d in (disc(1.0, s) for s in sizes)]
    refinement = Refinement(
        "W at ν = 0.3", [len(s.vertices) for s in shapes], [mean_edge(s) for s in shapes], values, hencky(0.3)[0]
    )
    picture = photo(sim, f"The disc, {len(shapes[-1].vertices):,} vertices; it rises by 1.4 % of its radius.")
    return Outcome(
        checks,
        [Row([Svg(chart(curves, "ρ/a", "W, n"), "Deflection and radial tension, ν = 0.3."), picture])],
        [refinement],
    )


DISC = Reference(
    "V2",
    "disc",
    "Clamped disc under pressure (Hencky)",
    "w₀ = W a (pa/Eh)^⅓, N = n (Eh)^⅓ (pa)^⅔; W and n by Hencky's series, here solved anew for each ν.",
    "A flat disc of a membrane (cloth) with a pinned rim and `pressure`, pa/Eh = 1e-5; the search starts from a "
    "paraboloid. n at the centre and at the rim are fits to the larger principal tension of the faces near them. "
    "Springs "
    "on equilateral triangles are a sheet with ν = 1/3.",
    run,
)
