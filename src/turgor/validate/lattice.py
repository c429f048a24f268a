"""V9. A ball of springs as a continuum: swelling, breathing, and a basketball's bounce.

**The lattice.** Equilateral triangles of side l have a vertex per √3/2 l² and three edges per vertex. Springs of stiffness k
that are all stretched by ε store ½ k (ε l)² each, √3 k ε² per area. A strain (ε₁, ε₂) stretches an edge at the angle a to
the first axis by ε₁ cos² a + ε₂ sin² a; the mean over three edges at 60° of its square is 3/8 (ε₁² + ε₂²) + 1/4 ε₁ ε₂, so the
energy per area is √3 k (3/8 (ε₁² + ε₂²) + 1/4 ε₁ ε₂). Plane stress has E h/(2 (1 - ν²)) (ε₁² + ε₂² + 2 ν ε₁ ε₂): the ratio of the
terms gives ν = 1/3, and then E h = 2 k/√3.

**Swelling.** A ball in equilibrium has the tension N = p r/2, and N = E h/(1 - ν) Δr/r, so
Δr/r = p r (1 - ν)/(2 E h) for small stretches. For any stretch λ the energy of the lattice, scaled alike, is exactly
U = 4π r₀² √3 k (λ - 1)², and U' = 4π r² p gives p = 2 √3 k (λ - 1)/(r₀ λ²): its maximum is at λ = 2 (rubber's: 1.383).

**Breathing.** All points move along the radius: M r̈ = f(r) = 4π r² (p(r) - p₀) - U'(r), with U' = 8π √3 k (r - r₀) and gas
that has dp/dr = -3 γ p/r (γ = 1: isothermal). About rest, M ω² = -f'(r) = 8π √3 k + 12π γ p r - 8π r (p - p₀). Stiff gas
is gas of a high pressure p on both sides: the middle term rules. The mass of the gas is left out, in both.

**The bounce.** A ball that hits the ground with speed v leaves it with e v. What is lost is what the skin's viscosity
takes; it has one number, the `damping` of the material (s), fitted on a coarse mesh. That the same number gives the same
e on a finer mesh is the test: a dashpot on each spring would not.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from turgor import shapes
from turgor.papers.drawing.plot import Curve, chart
from turgor.papers.report.blocks import Row, Svg
from turgor.scene import Gas, Scene, Springs
from turgor.simulation.simulation import Simulation
from turgor.simulation.warn import silent
from turgor.validate.meshes import mean_edge
from turgor.validate.reference import Check, Outcome, Reference, Refinement
from turgor.validate.rest import at_rest, photo, still_scene

__all__ = ["LATTICE", "breathing_frequency", "lattice_pressure", "swelling"]

FloatArray = npt.NDArray[np.float64]

RADIUS, STIFFNESS, MASS = 0.5, 1000.0, 1.0  # m, N/m, kg
AMBIENT = 101_325.0  # Pa: its gas is what is stiff


def swelling(pressure: float, radius: float, stiffness: float) -> float:
    """Δr/r of a ball of springs at a small gauge pressure: p r (1 - ν)/(2 E h), E h = 2 k/√3, ν = 1/3."""
    poisson, modulus = 1.0 / 3.0, 2.0 * stiffness / math.sqrt(3.0)
    return pressure * radius * (1.0 - poisson) / (2.0 * modulus)


def lattice_pressure(stretch: float | FloatArray, radius: float, stiffness: float) -> float | FloatArray:
    """Pa: the gauge pressure that holds a ball of springs at a stretch."""
    return 2.0 * math.sqrt(3.0) * stiffness * (stretch - 1.0) / (radius * stretch**2)


def breathing_frequency(
    stretch: float, radius: float, stiffness: float, mass: float, inside: float, gamma: float
) -> float:
    """Hz, of small breathing about the rest state at this stretch, with `inside` Pa (absolute) of gas."""
    r = stretch * radius
    gauge = float(lattice_pressure(stretch, radius, stiffness))
    rate = 8.0 * math.pi * (math.sqrt(3.0) * stiffness + 1.5 * gamma * inside * r - r * gauge)
    return math.sqrt(rate / mass) / (2.0 * math.pi)


def ball(subdivisions: int, gas: Gas) -> Scene:
    """A ball of springs."""
    scene = still_scene()
    shape = shapes.icosphere(RADIUS, subdivisions)
    scene.add_soft_body(shape, name="ball", mass=MASS, springs=Springs(STIFFNESS), gas=gas)
    return scene


def mean_stretch(sim: Simulation) -> float:
    """Of the radius, from the volumes."""
    return float((sim["ball"].volume / sim["ball"].rest_volume) ** (1.0 / 3.0))


def swollen(subdivisions: int, pressure: float) -> Simulation:
    """At rest with a gauge pressure (Pa) that a pump holds."""
    return at_rest(ball(subdivisions, Gas(gauge=pressure, ambient=0.0, held=True)))


def breathes(subdivisions: int, ambient: float, law: str) -> tuple[float, float]:
    """Hz: the frequency of the volume after a small radial push, measured; and by the formula."""
    gamma = 1.4 if law == "adiabatic" else 1.0
    scene = ball(subdivisions, Gas.at(gauge=100.0, ambient=ambient, law=law))
    rest = at_rest(scene)
    stretch, inside = mean_stretch(rest), float(rest["ball"].pressure)
    expected = breathing_frequency(stretch, RADIUS, STIFFNESS, MASS, inside, gamma)
    with silent():
        sim = Simulation(scene, contact="none", precision="double", solver="rk4", fps=64.0 * expected)
    points = rest["ball"].positions
    outward = points - points.mean(axis=0)
    sim["ball"].positions = points
    sim["ball"].velocities = 1e-4 * 2.0 * math.pi * expected * outward  # amplitude 1e-4: linear
    volumes = [float(sim["ball"].volume)]
    for _ in range(64 * 6):
        sim.step()
        volumes.append(float(sim["ball"].volume))
    return _frequency(np.array(volumes), 64.0 * expected), expected


def _frequency(values: FloatArray, rate: float) -> float:
    """Hz, from the first and the last rising zero of a signal sampled at `rate` (1/s)."""
    signal = values - 0.5 * (values.max() + values.min())
    rising = np.flatnonzero((signal[:-1] < 0.0) & (signal[1:] >= 0.0))
    times = (rising - signal[rising] / (signal[rising + 1] - signal[rising])) / rate
    return float((len(times) - 1) / (times[-1] - times[0])) if len(times) > 1 else math.nan
