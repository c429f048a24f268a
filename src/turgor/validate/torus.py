"""V6. An inflated torus: tension around the tube and along it.

Radius R to the middle of the tube, tube radius r, φ the angle from the top of the tube outwards, ϱ = R + r sin φ the
distance from the axis. Cut out the part between the top circle (ϱ = R) and φ: the pressure pushes it up with p π (ϱ²
- R²), and only the tension across the lower cut has a vertical part, N_φ sin φ 2π ϱ. So

    N_φ = p (ϱ² - R²)/(2 ϱ sin φ) = (p r/2) (2 R + r sin φ)/(R + r sin φ)

and N_φ/r + N_θ sin φ/ϱ = p gives N_θ = p r/2. Both hold as written, and need no material: a membrane is statically
determinate. (Linear theory has no smooth displacements at φ = 0 that go with them: the strains there ask for a jump
of the rotation. Finite deflections smooth it over a strip whose width falls with the strain, Sanders & Liepins 1963;
the stiffer the skin, the nearer it comes to the formula.)
"""

from __future__ import annotations

import math

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

__all__ = ["TORUS", "torus_tensions"]

FloatArray = npt.NDArray[np.float64]

RADIUS, TUBE, PRESSURE = 1.0, 0.4, 1000.0  # m, m, Pa
LOAD, CROWN = 5e-5, 45.0  # p r/(E h); degrees from the top and the bottom circle within which it is not compared
TOLERANCE = 0.02  # our own


def torus_tensions(angle: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    """N_φ and N_θ in units of p r, at φ (rad from the top, outwards)."""
    across: FloatArray = np.asarray(TUBE * np.sin(np.asarray(angle, np.float64)), np.float64)
    return np.asarray(0.5 * (2.0 * RADIUS + across) / (RADIUS + across), np.float64), np.full_like(across, 0.5)


def inflated(stacks: int) -> Simulation:
    """The torus at rest; about as many edges along the ring as make triangles even."""
    slices = 2 * round(stacks * RADIUS / TUBE / 2)
    shape = shapes.torus(RADIUS, TUBE, stacks, slices)
    thickness = 1e-3
    material = Membrane(young=PRESSURE * TUBE / (LOAD * thickness), poisson=0.3, thickness=thickness, rigidity=0.0)
    scene = still_scene()
    gas = Gas(gauge=PRESSURE, ambient=0.0, held=True)
    scene.add_soft_body(shape, name="torus", mass=1.0, material=material, gas=gas, self_contact=False)
    return at_rest(scene)


def bands(sim: Simulation, stacks: int) -> tuple[FloatArray, FloatArray]:
    """φ of each band of faces around the ring (rad), and its mean tensions (larger, smaller) in units of p r."""
    shape = sim.scene.soft_bodies[0].shape
    centres = shape.vertices[shape.faces].mean(axis=1)
    out = np.hypot(centres[:, 0], centres[:, 1]) - RADIUS
    angle = np.arctan2(out, centres[:, 2]) % (2.0 * math.pi)
    width = 2.0 * math.pi / stacks
    band = np.floor(angle / width + 0.5 * (stacks % 2)).astype(int) % stacks
    count = np.bincount(band, minlength=stacks)
    tension = np.asarray(sim["torus"].tension) / (PRESSURE * TUBE)
    mean: FloatArray = np.stack([np.bincount(band, tension[:, k], stacks) / count for k in (0, 1)], axis=1)
    return np.asarray((np.arange(stacks) + 0.5) * width, np.float64), mean


def run(quick: bool) -> Outcome:
    """Tensions around the tube."""
    sizes = (16, 32) if quick else (12, 24, 48)
    sims = [inflated(stacks) for stacks in sizes]
    measured = [bands(sim, stacks) for sim, stacks in zip(sims, sizes, strict=True)]
    angle, tension = measured[-1]
    hoop, along = torus_tensions(angle)
    errors = tension / np.stack([hoop, along], axis=1) - 1.0
    away = np.abs(np.cos(angle)) < math.cos(math.radians(CROWN))
    worst = np.where(away[:, None], np.abs(errors), 0.0).argmax(axis=0)
    places = {"outside (φ = 90°)": 0.5 * math.pi, "inside (φ = 270°)": 1.5 * math.pi}
    checks = []
    for name, place in places.items():
        exact = torus_tensions(place)
        near = np.abs(angle - place) < 0.5
        fit = [np.polynomial.Polynomial.fit(angle[near] - place, tension[near, k], 2)(0.0) for k in (0, 1)]
        checks += [
            Check(f"N_φ/pr {name}", float(exact[0]), float(fit[0]), TOLERANCE),
            Check(f"N_θ/pr {name}", float(exact[1]), float(fit[1]), TOLERANCE),
        ]
    for k, name in enumerate(("N_φ", "N_θ")):
        checks.append(
            Check(
                f"{name} over the formula where it differs most beyond the crowns",
                1.0,
                1.0 + float(errors[worst[k], k]),
                TOLERANCE,
            )
        )
    line = np.linspace(0.0, 2.0 * math.pi, 200)
    degrees = np.degrees(angle)
    curves = [
        Curve("N_φ, formula", np.degrees(line), torus_tensions(line)[0]),
        Curve("N_θ, formula", np.degrees(line), torus_tensions(line)[1]),
        Curve("N_φ, turgor", degrees, tension[:, 0], line=False),
        Curve("N_θ, turgor", degrees, tension[:, 1], line=False),
    ]
    rms = []
    for at, values in measured:
        beyond = np.abs(np.cos(at)) < math.cos(math.radians(CROWN))
        off = values[beyond] / np.stack(torus_tensions(at[beyond]), axis=1) - 1.0
        rms.append(1.0 + float(np.sqrt(np.mean(off**2))))
    meshes = [sim.scene.soft_bodies[0].shape for sim in sims]
    vertices, edges = [len(mesh.vertices) for mesh in meshes], [mean_edge(mesh) for mesh in meshes]
    return Outcome(
        checks,
        [
            Row([
                Svg(chart(curves, "φ, degrees", "N/pr"), "Tensions of the faces, means over bands around the ring."),
                photo(sims[-1], f"{vertices[-1]:,} vertices.", view=(-66.0, 35.0)),
            ])
        ],
        [Refinement("1 + root mean square of the errors of the bands beyond the crowns", vertices, edges, rms, 1.0)],
        [
            f"Within {CROWN:g}° of the top and the bottom N_θ differs by up to "
            f"{100 * np.abs(errors[~away, 1]).max():.1f} %, N_φ by "
            f"{100 * np.abs(errors[~away, 0]).max():.1f} %: linear theory has no displacements that fit its "
            "tensions there, and a skin "
            "that stretches by a finite amount flattens a little. The strip narrows with the strain."
        ],
    )  # fmt: skip


TORUS = Reference(
    "V6",
    "torus",
    "Tensions of a torus",
    "N_φ = (pr/2)(2R + r sin φ)/(R + r sin φ), N_θ = pr/2, by force balance alone; φ from the top of the tube.",
    "R = 1 m, r = 0.4 m, pr/Eh = 5e-5, pressure held. Tolerance (our own): 2 %, farther than 45° from top and bottom.",
    run,
)
