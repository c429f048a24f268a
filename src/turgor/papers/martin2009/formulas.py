"""Martin 2009: formulas that are wrong or loose as printed, each tried out."""

from __future__ import annotations

import functools

import numpy as np
import numpy.typing as npt

from turgor import shapes
from turgor.diagnose import penetration
from turgor.papers.drawing.plot import Curve, chart
from turgor.papers.report.blocks import Block, Svg, Table, Text
from turgor.scene import Gas, Scene, Springs
from turgor.shapes.mass import mass_properties
from turgor.simulation.simulation import Simulation

__all__ = [
    "blocks", "half_life", "in_triangle", "inertia", "order", "parity", "printed_volume", "spun", "step_error",
    "triangle_normals",
]  # fmt: skip

FloatArray = npt.NDArray[np.float64]
BRICK = (0.8, 0.5, 0.2)  # m: width (x), height (y), depth (z)
STEPS = (64, 128, 256, 512)  # per frame


def parity(count: int = 1000) -> tuple[float, float]:
    """Share of random points around a torus put on the right side by "even is inside" and by "odd is inside"."""
    torus = shapes.torus(radius=0.5, tube=0.2, stacks=16, slices=16)
    points = np.random.default_rng(9).uniform(-0.75, 0.75, (count, 3)) * (1.0, 1.0, 0.3)
    corners = torus.vertices[torus.faces]
    inside = penetration.winding(points, corners) > 0.5
    crossings = _crossings(points, corners)
    return float(np.mean((crossings % 2 == 0) == inside)), float(np.mean((crossings % 2 == 1) == inside))


def _crossings(points: FloatArray, corners: FloatArray) -> npt.NDArray[np.int64]:
    """(n,): triangles above each point, on a ray along +z (the paper's)."""
    arms = corners[None, :, :, :2] - points[:, None, None, :2]
    turns = [_turn(arms[:, :, i], arms[:, :, (i + 1) % 3]) for i in range(3)]
    over = (np.stack(turns) > 0.0).all(axis=0) | (np.stack(turns) < 0.0).all(axis=0)
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    height = np.einsum("nmi,mi->nm", corners[None, :, 0] - points[:, None], normal) / normal[:, 2]
    return np.asarray((over & (height > 0.0)).sum(axis=1))


def _turn(a: FloatArray, b: FloatArray) -> FloatArray:
    return np.asarray(a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0])


def in_triangle(sign: float, clockwise: bool, count: int = 4000) -> tuple[float, float]:
    """Shares of random points inside and outside of a triangle that the test takes; sign -1: as printed (< 0)."""
    corners = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.3, 0.8, 0.0]])
    points = np.random.default_rng(5).uniform(-0.4, 1.4, (count, 2))
    weights = np.linalg.solve(np.vstack([corners[:, :2].T, np.ones(3)]), np.column_stack([points, np.ones(count)]).T)
    inside = (weights > 0.0).all(axis=0)
    a, b, c = (
        corner - np.column_stack([points, np.zeros(count)]) for corner in (corners[::-1] if clockwise else corners)
    )
    p, q, r = np.cross(b, c), np.cross(c, a), np.cross(a, b)
    taken = (sign * (p * q).sum(axis=1) > 0.0) & (sign * (p * r).sum(axis=1) > 0.0)
    return float(taken[inside].mean()), float(taken[~inside].mean())


def inertia() -> tuple[FloatArray, FloatArray]:
    """kg·m², of a brick of 1 kg about x, y, z: as printed, and integrated over its surface by the engine."""
    w, h, d = BRICK
    printed = np.array([w * w + h * h, h * h + d * d, w * w + h * h]) / 12.0
    return printed, np.diag(mass_properties(shapes.box(size=BRICK), 1.0).inertia)


def printed_volume() -> tuple[float, float]:
    """m³, of the paper's 8 × 8 sphere, counter-clockwise faces: the printed sum, and the engine's volume."""
    ball = shapes.uv_sphere(radius=0.5, stacks=8, slices=8)
    a, b, c = np.moveaxis(ball.vertices[ball.faces], 1, 0)
    total = (
        -c[:, 0] * b[:, 1] * a[:, 2] + b[:, 0] * c[:, 1] * a[:, 2] + c[:, 0] * a[:, 1] * b[:, 2]
        - a[:, 0] * c[:, 1] * b[:, 2] - b[:, 0] * a[:, 1] * c[:, 2] + a[:, 0] * b[:, 1] * c[:, 2]
    )  # fmt: skip
    return float(-total.sum() / 6.0), float(ball.volume)


def triangle_normals() -> tuple[float, float]:
    """Mean cosine between the outward direction of a sphere and the normals of 3.1.2 and of 5.2.1.1.3."""
    ball = shapes.uv_sphere(radius=0.5, stacks=8, slices=8)
    a, b, c = np.moveaxis(ball.vertices[ball.faces], 1, 0)
    out = (a + b + c) / np.linalg.norm(a + b + c, axis=1)[:, None]
    normals = [np.cross(b - a, c - a), np.cross(c - a, b - a)]
    first, second = (float(((n / np.linalg.norm(n, axis=1)[:, None]) * out).sum(axis=1).mean()) for n in normals)
    return first, second


def spun(sign: float) -> float:
    """kg·m²/s that a hit of two resting bricks makes out of nothing; sign of the second's turn: printed +1."""
    centers, point = np.array([[0.0, 0.0, 0.0], [0.0, 0.7, 0.0]]), np.array([0.3, 0.35, 0.0])
    impulse = np.array([0.0, -1.0, 0.0])  # N s, on the first
    moved = np.cross(centers[0], impulse) + np.cross(centers[1], -impulse)
    turned = np.cross(point - centers[0], impulse) + sign * np.cross(point - centers[1], impulse)
    return float(np.linalg.norm(moved + turned))


def half_life(rate: float, stiffness: float = 150.0) -> float:
    """s, of a velocity with the paper's damping (ρg = 0.01, k_max = 400), at `rate` frames a second."""
    rho = 0.01 + (1.0 - 0.01) * stiffness / 400.0
    return float(np.log(0.5) / np.log(1.0 - rho) / rate)


@functools.cache
def _after(solver: str, substeps: int) -> FloatArray:
    """(n, 3) m: the paper's sphere, stretched and let go, after a tenth of a second."""
    scene = Scene(dim=3, gravity=(0.0, 0.0, 0.0))
    scene.add_soft_body(
        shapes.uv_sphere(radius=0.5, stacks=8, slices=8), name="ball", mass=1.0, gas=Gas(gauge=100.0, ambient=0.0),
        springs=Springs(stiffness=100.0, damping=0.0),
    )  # fmt: skip
    sim = Simulation(scene, solver=solver, fps=10.0, substeps=substeps, contact="none", precision="double")
    sim["ball"].positions = sim["ball"].positions * (1.1, 0.95, 0.95)
    sim.step()
    return np.asarray(sim["ball"].positions)


def step_error(solver: str, substeps: int) -> float:
    """m: root mean square error of the positions, against Runge-Kutta 4 with steps four times finer than the finest."""
    return float(np.sqrt(np.mean((_after(solver, substeps) - _after("rk4", 4 * STEPS[-1])) ** 2)))


def order(solver: str) -> float:
    """Slope of log error over log step."""
    errors = [step_error(solver, count) for count in STEPS]
    return float(np.polyfit(-np.log(STEPS), np.log(errors), 1)[0])


def blocks(quick: bool) -> list[Block]:
    """The last item of 2009."""
    even, odd = parity(300 if quick else 2000)
    printed, right = in_triangle(-1.0, False), [in_triangle(1.0, clockwise) for clockwise in (False, True)]
    other = in_triangle(-1.0, True)
    wrong_moments, moments = inertia()
    volume, true_volume = printed_volume()
    outward, inward = triangle_normals()
    rows = [
        ["5.2.2", "inside if a ray crosses an even number of triangles", f"{100 * even:.0f} % of random points right",
         "odd", f"{100 * odd:.0f} % right"],
        ["5.2.1.1.3", "in the triangle if p·q < 0 and p·r < 0",
         f"takes {100 * printed[0]:.0f} % of the points inside and {100 * printed[1]:.0f} % of those outside "
         f"(clockwise: {100 * other[0]:.0f} and {100 * other[1]:.0f} %)",
         "all three must agree: > 0", " and ".join(f"{100 * a:.0f} and {100 * b:.0f} %" for a, b in right[:1])
         + " in both windings" * (right[0] == right[1])],
        ["4.1", "inertia (w²+h²), (h²+d²), (w²+h²), times m/12", f"brick {BRICK} m, 1 kg: {_list(wrong_moments)} kg·m²",
         "(h²+d²), (w²+d²), (w²+h²)", f"{_list(moments)} kg·m², integrated by the engine; the same for cubes only"],
        ["3.1.2", "volume: V −= a·(b × c)/6 over counter-clockwise faces", f"8 × 8 sphere: {volume:.4f} m³",
         "V += a·(b × c)/6", f"{true_volume:.4f} m³; with the printed sign the pressure sucks"],
        ["5.2.1.1.3", "normal (t₂ − t₀) × (t₁ − t₀), counter-clockwise", f"cosine to the outside {inward:.3f}",
         "(t₁ − t₀) × (t₂ − t₀), as in 3.1.2", f"{outward:.3f}"],
        ["5.3", "both bodies turn by + r × (j n) I⁻¹",
         f"a hit of 1 N s makes {spun(1.0):.2f} kg·m²/s of angular momentum",
         "the second by − r × (j n) I⁻¹", f"{spun(-1.0):.2f} kg·m²/s"],
        ["3.1.3", "v loses a share ρ per frame",
         f"half-life for k = 150: {1e3 * half_life(30.0):.0f} ms at 30 frames/s, "
         f"{1e3 * half_life(120.0):.0f} ms at 120", "a rate per second", "the same at any step"],
        ["3.2", "Runge-Kutta 4 for the velocity, then x += v t", f"order {order('rk4-martin'):.2f} in the step",
         "Runge-Kutta 4 for both", f"order {order('rk4'):.2f}"],
    ]  # fmt: skip
    times = [1e3 * 0.1 / count for count in STEPS]
    curves = [
        Curve(name, times, [step_error(solver, count) for count in STEPS], marks=True)
        for solver, name in (
            ("rk4-martin", "as in the paper"),
            ("symplectic", "symplectic Euler"),
            ("rk4", "Runge-Kutta 4"),
        )
    ]
    return [
        Text("Formulas of the paper, each computed as printed and as the law has it."),
        Text(
            "Wrong or loose as printed are the parity of ray crossings, the test for a point in a triangle, the box's "
            "inertia, the signs of the volume, of the normal and of the second body's turn, and a damping per frame.",
            "wrong",
        ),
        Table(["section", "as printed", "what comes out", "the law", "what comes out"], rows),
        Svg(
            chart(curves, "step, ms", "error of the positions after 0.1 s, m", log_x=True, log_y=True, height=280),
            "The paper's integrator on a stretched 8 × 8 sphere: four force evaluations per step for first order.",
        ),
        Text(
            "Moving with the new velocity makes the paper's Runge-Kutta 4 a first-order method (measured "
            f"{order('rk4-martin'):.2f}): at {times[0]:.2g} ms its error is {step_error('rk4-martin', STEPS[0]):.2g} "
            f"m, that of symplectic Euler, which costs a quarter, {step_error('symplectic', STEPS[0]):.2g} m, and "
            f"that of Runge-Kutta 4 {step_error('rk4', STEPS[0]):.1g} m. The paper calls the last step implicit "
            "Euler; it is explicit.",
            "wrong",
        ),
        Text(
            "Also loose: the unit normal is defined without dividing by its length, the projected vertex subtracts a "
            "number from a vector (the factor n is missing), and max(w, 0) in the friction has no definition of w. "
            "turgor implements the laws.",
            "wrong",
        ),
    ]  # fmt: skip


def _list(values: FloatArray) -> str:
    return ", ".join(f"{value:.4f}" for value in values)
