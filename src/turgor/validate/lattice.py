"""V9. A ball of springs as a continuum: swelling, breathing, and a basketball's bounce.

**The lattice.** Equilateral triangles of side l have a vertex per √3/2 l² and three edges per vertex. Springs of
stiffness k that are all stretched by ε store ½ k (ε l)² each, √3 k ε² per area. A strain (ε₁, ε₂) stretches an edge
at the angle a to the first axis by ε₁ cos² a + ε₂ sin² a; the mean over three edges at 60° of its square is 3/8 (ε₁²
+ ε₂²) + 1/4 ε₁ ε₂, so the energy per area is √3 k (3/8 (ε₁² + ε₂²) + 1/4 ε₁ ε₂). Plane stress has E h/(2 (1 - ν²))
(ε₁² + ε₂² + 2 ν ε₁ ε₂): the ratio of the terms gives ν = 1/3, and then E h = 2 k/√3.

**Swelling.** A ball in equilibrium has the tension N = p r/2, and N = E h/(1 - ν) Δr/r, so Δr/r = p r (1 - ν)/(2 E h)
for small stretches. For any stretch λ the energy of the lattice, scaled alike, is exactly U = 4π r₀² √3 k (λ - 1)²,
and U' = 4π r² p gives p = 2 √3 k (λ - 1)/(r₀ λ²): its maximum is at λ = 2 (rubber's: 1.383).

**Breathing.** All points move along the radius: M r̈ = f(r) = 4π r² (p(r) - p₀) - U'(r), with U' = 8π √3 k (r - r₀)
and gas that has dp/dr = -3 γ p/r (γ = 1: isothermal). About rest, M ω² = -f'(r) = 8π √3 k + 12π γ p r - 8π r (p -
p₀). Stiff gas is gas of a high pressure p on both sides: the middle term rules. The mass of the gas is left out, in
both.

**The bounce.** A ball that hits the ground with speed v leaves it with e v. What is lost is what the skin's viscosity
takes; it has one number, the `damping` of the material (s), fitted on a coarse mesh. That the same number gives the
same e on a finer mesh is the test: a dashpot on each spring would not.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from turgor import shapes
from turgor.papers.drawing.plot import Curve, chart
from turgor.papers.report.blocks import Row, Svg
from turgor.scene import Gas, Membrane, Scene, Springs
from turgor.simulation.simulation import Simulation
from turgor.simulation.warn import silent
from turgor.validate.meshes import even_ball, mean_edge
from turgor.validate.reference import Check, Outcome, Reference, Refinement
from turgor.validate.rest import at_rest, photo, still_scene

__all__ = ["LATTICE", "breathing_frequency", "lattice_pressure", "swelling"]

FloatArray = npt.NDArray[np.float64]

RADIUS, STIFFNESS, MASS = 0.5, 1000.0, 1.0  # m, N/m, kg
SMALL = 5.0  # Pa: a swelling of 0.07 %
AMBIENT = 101_325.0  # Pa
BALL_RADIUS, BALL_MASS, BALL_THICKNESS, BALL_YOUNG = 0.12, 0.62, 4e-3, 3e7  # m, kg, m, Pa: rubber on a nylon winding
PSI = 6894.757  # Pa
HEIGHT, RESTITUTION, EARTH = 1.31, 0.81, 9.81  # m, and m/s²


def swelling(pressure: float, radius: float, stiffness: float) -> float:
    """Δr/r of a ball of springs at a small gauge pressure: p r (1 - ν)/(2 E h), E h = 2 k/√3, ν = 1/3."""
    poisson, modulus = 1.0 / 3.0, 2.0 * stiffness / math.sqrt(3.0)
    return pressure * radius * (1.0 - poisson) / (2.0 * modulus)


def lattice_pressure(stretch: npt.ArrayLike, radius: float, stiffness: float) -> FloatArray:
    """Pa: the gauge pressure that holds a ball of springs at a stretch."""
    x = np.asarray(stretch, np.float64)
    return np.asarray(2.0 * math.sqrt(3.0) * stiffness * (x - 1.0) / (radius * x**2))


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
    shape = even_ball(RADIUS, subdivisions)
    scene.add_soft_body(shape, name="ball", mass=MASS, springs=Springs(STIFFNESS), gas=gas, mass_distribution="area")
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


def bounce(damping: float, subdivisions: int, gauge: float = 8.5 * PSI) -> tuple[float, float]:
    """(e, contact time in s) of a basketball that falls from HEIGHT, without air; damping: s, of its skin."""
    skin = Membrane(young=BALL_YOUNG, poisson=0.45, thickness=BALL_THICKNESS, damping=damping, rigidity=0.0)
    scene = still_scene()
    shape = shapes.icosphere(BALL_RADIUS, subdivisions)
    gas = Gas.at(gauge=gauge, law="adiabatic", pressure_at="rest")
    scene.add_soft_body(shape, name="ball", mass=BALL_MASS, material=skin, gas=gas, self_contact=False)
    points = at_rest(scene)["ball"].positions
    speed = math.sqrt(2.0 * EARTH * HEIGHT)
    scene.gravity = (0.0, 0.0, -EARTH)
    scene.add_ground(float(points[:, 2].min()) - 1e-4, friction=0.5, restitution=0.0)
    with silent():
        sim = Simulation(scene, contact="none", precision="double", solver="symplectic", fps=2000.0)
    sim["ball"].positions = points
    sim["ball"].velocities = np.tile([0.0, 0.0, -speed], (len(points), 1))
    ground = scene.grounds[0].height
    touched, began, left = False, 0.0, 0.0
    for _ in range(200):
        sim.step()
        low = float(sim["ball"].positions[:, 2].min()) - ground
        if low < 1e-6 and not touched:
            touched, began = True, sim.time
        elif touched and low > 2e-3:
            left = sim.time
            break
    rise = float(sim["ball"].momentum[2]) / BALL_MASS
    return rise / speed, left - began


def fitted_damping(subdivisions: int, rounds: int) -> float:
    """s: the damping of the skin with which e is the measured one, by bisection in its logarithm."""
    low, high = math.log(1e-3), math.log(2e-2)
    for _ in range(rounds):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if bounce(math.exp(middle), subdivisions)[0] > RESTITUTION else (low, middle)
    return math.exp(0.5 * (low + high))


def run(quick: bool) -> Outcome:
    """Swelling, breathing, bounce."""
    levels = (1, 2, 3) if quick else (2, 3, 4)
    expected = swelling(SMALL, RADIUS, STIFFNESS)
    swells = [mean_stretch(swollen(level, SMALL)) - 1.0 for level in levels]
    cases = [(ambient, law) for ambient in (0.0, AMBIENT) for law in ("isothermal", "adiabatic")]
    tones = [breathes(levels[-1] if quick else 3, ambient, law) for ambient, law in cases]
    damping = fitted_damping(3, 7 if quick else 10)
    restitution, contact = bounce(damping, 4)
    checks = [
        Check(f"Δr/r at {SMALL:g} Pa", expected, swells[-1], 0.02),
        *(
            Check(f"breathing, Hz ({law}, {ambient / 1000:g} kPa outside)", formula, measured, 0.01)
            for (ambient, law), (measured, formula) in zip(cases, tones, strict=True)
        ),
        Check("basketball: e at 8.5 psi, damping fitted on 642 vertices, run on 2,562", RESTITUTION, restitution, 0.02),
    ]
    stretches, pressures = [], np.array([10.0, 100.0, 400.0, 800.0, 1200.0, 1600.0])
    for pressure in pressures:
        sim = swollen(2, float(pressure))
        stretches.append(mean_stretch(sim))
    line = np.linspace(1.0, 2.0, 100)
    curves = [
        Curve("p = 2√3 k (λ − 1)/(r₀ λ²)", line, lattice_pressure(line, RADIUS, STIFFNESS)),
        Curve("turgor, 162 vertices", stretches, pressures, line=False),
    ]
    gauges = np.array([4.0, 8.5] if quick else [4.0, 6.0, 8.5, 11.0])
    bounces = [Curve("turgor", gauges, [bounce(damping, 3, float(one) * PSI)[0] for one in gauges], marks=True)]
    bounces.append(Curve("measured: 0.81 at 8.5 psi", [8.5], [RESTITUTION], line=False))
    meshes = [even_ball(RADIUS, level) for level in levels]
    return Outcome(
        checks,
        [
            Row([
                Svg(chart(curves, "stretch λ", "gauge pressure, Pa"), "Swelling: the maximum is at λ = 2."),
                photo(sim, f"The ball of springs at λ = {stretches[-1]:.2f}."),
            ]),
            Svg(chart(bounces, "gauge pressure, psi", "e", y_range=(0.6, 0.9)), "Bounce with the one damping."),
        ],
        [
            Refinement(
                f"Δr/r at {SMALL:g} Pa", [len(mesh.vertices) for mesh in meshes],
                [mean_edge(mesh) / RADIUS for mesh in meshes], swells, expected,
            )
        ],
        [
            f"Fitted damping of the skin: {1000 * damping:.2f} ms; the ball touches the ground for "
            f"{1000 * contact:.1f} ms.",
            "The ball is an icosphere whose triangles were made equilateral. On a plain one, whose edges differ by up "
            "to 19 %, the swelling tends to a value 3 % above the formula: it is no lattice of equilateral triangles.",
        ],
    )  # fmt: skip


LATTICE = Reference(
    "V9",
    "lattice",
    "Ball of springs, breathing, bounce",
    "Δr/r = p r (1 − ν)/(2Eh) with Eh = 2k/√3, ν = 1/3; breathing M ω² = 8π√3 k + 12π γ p r − 8π r Δp; a "
    "basketball dropped from 1.31 m at 8.5 psi bounces with e = 0.81, with one fitted damping.",
    "Balls of nearly equilateral triangles with springs on their edges; a membrane with damping for the basketball, "
    "without air and bending. Tolerances (our own): 2 % for Δr/r and e, 1 % for frequencies.",
    run,
)
