"""The energy ledger: kinetic + elastic + gas + gravity + dissipated - work from outside stays what it was."""

from __future__ import annotations

import numpy as np
import pytest

import turgor
from support.laws import PRECISIONS, disturbed, frames, get, make, put, shape_of
from turgor.solvers.schemes import SCHEMES

GAS = turgor.Gas(nRT=12.0, ambient=4.0)


def floor(scene):
    scene.add_ground(friction=0.4, restitution=0.3)


def plates(scene):
    for side in (-1.0, 1.0):
        axis = np.zeros(scene.dim)
        axis[-1] = side
        scene.add_plane(point=tuple(0.6 * axis), normal=tuple(-axis), velocity=tuple(-0.3 * axis), restitution=0.2)


CASES = {
    "dashpot": {"damping": 1.0},
    "drag": {"drag": 2.0},
    "martin": {"velocity_damping": turgor.VelocityDamping(base=0.02, stiffness_max=4000.0)},
    "floor": {"walls": floor, "gravity": 9.81, "damping": 0.5, "bending": 0.1},
    "plates": {"walls": plates, "damping": 0.5},
    "wind": {"wind": (1.5, -0.5, 0.5), "wind_drag": 0.2},
    "air": {"wind": (3.0, -1.0, 2.0), "drag_coefficient": 1.5, "drag_tangential": 0.3},
    "pump": {"gas": turgor.Gas(nRT=12.0, ambient=4.0, inflate=0.3), "damping": 0.5},
    "adiabatic": {"gas": turgor.Gas(nRT=12.0, ambient=4.0, law="adiabatic"), "drag": 1.0},
    "held": {"gas": turgor.Gas.at(gauge=20.0, ambient=4.0, held=True), "drag": 1.0},
}


def residual(name, case, substeps, precision="double"):
    """What the ledger leaves unexplained after 0.5 s, J, and the energy that was turned over."""
    shape = shape_of(name)
    options = {"gas": GAS, **CASES[case]}
    if "wind" in options:
        options["wind"] = options["wind"][: shape.dim]
    at = np.zeros(shape.dim)
    at[-1] = 0.8 if case == "floor" else 0.0
    sim, _ = make(shape, stiffness=150.0, at=tuple(at), substeps=substeps, precision=precision, ledger=True, **options)
    put(sim, disturbed(shape, 0.02) + at, np.random.default_rng(1).normal(size=shape.vertices.shape))
    start = sim.energy()
    frames(sim, 30)
    end = sim.energy()
    assert np.all(np.isfinite(get(sim)))
    turned = abs(end.dissipated) + abs(end.work) + abs(end.kinetic - start.kinetic)
    return abs(end.total + end.dissipated - end.work - start.total - start.dissipated + start.work), turned, end


@pytest.mark.req("D8", "X3")
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", ["circle", "icosphere"])
def test_nothing_is_lost_from_the_ledger(name, case):
    """First order in the step (each loss is the power at a step's start or end times dt): halves with dt."""
    coarse, turned, end = residual(name, case, 20)
    fine, *_ = residual(name, case, 80)
    print(f"\n{name} {case}: residual {coarse:.2e} -> {fine:.2e} J of {turned:.3f} J turned over")
    assert turned > 0.1
    assert end.dissipated >= 0.0
    assert coarse < 0.08 * turned  # the swing of the symplectic method itself: dt ω/2 with ω = 200/s
    assert fine < 0.4 * coarse or fine < 1e-3 * turned


@pytest.mark.req("D8")
@pytest.mark.parametrize("precision", PRECISIONS)
def test_without_losses_the_ledger_is_empty(precision):
    shape = shape_of("icosphere")
    sim, _ = make(shape, gas=GAS, ledger=True, precision=precision)
    put(sim, disturbed(shape))
    frames(sim, 10)
    energy = sim.energy()
    assert energy.dissipated == pytest.approx(0.0, abs=1e-12)
    assert energy.work == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("balls", [1, 2])
@pytest.mark.parametrize("solver", list(SCHEMES))
def test_what_lies_on_a_floor_loses_nothing(solver, balls):
    """Forces press it into the floor in every substep, and the floor refuses: no way, no work, no loss."""
    scene = turgor.Scene()
    scene.add_ground(friction=0.5, restitution=0.3)
    for i in range(balls):  # two: a scene in which bodies could touch
        scene.add_soft_body(
            turgor.shapes.icosphere(radius=0.5, subdivisions=1), name=f"ball{i}", at=(3.0 * i, 0, 0.5), drag=4.0,
            springs=turgor.Springs(stiffness=300.0, damping=2.0), gas=turgor.Gas.at(gauge=200.0, ambient=1000.0),
        )  # fmt: skip
    sim = turgor.Simulation(scene, solver=solver, precision="double", substeps=12, ledger=True)
    sim.run(6.0)
    before = sim.energy()
    sim.run(1.0)
    after = sim.energy()
    assert after.dissipated == pytest.approx(before.dissipated, abs=1e-10)
    assert after.total == pytest.approx(before.total, abs=1e-10)


def points(solver, dim, walls, precision="double", gravity=9.81, substeps=20, ledger=True):
    """1 kg in points that do not feel each other."""
    shape = shape_of("circle" if dim == 2 else "icosphere")
    sim, _ = make(
        shape, stiffness=0.0, gravity=gravity, walls=walls, solver=solver, precision=precision, substeps=substeps,
        ledger=ledger,
    )  # fmt: skip
    return sim, shape


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("solver", list(SCHEMES))
@pytest.mark.parametrize("lift", [0.0, 0.4])
def test_what_lies_on_a_slope_loses_nothing_even_on_a_lift(lift, solver, precision):
    """Friction holds it (tan 20° < 0.5); a rising plane does the work m g v t, and all of it is height."""
    angle = np.radians(20.0)

    def plane(scene):
        scene.add_plane(
            point=(0, 0, 0), normal=(np.sin(angle), 0, np.cos(angle)), velocity=(0, 0, lift), friction=0.5,
            restitution=0.4,
        )  # fmt: skip

    sim, shape = points(solver, 3, plane, precision)
    x = shape.vertices.copy()
    x[:, 2] = -np.tan(angle) * x[:, 0]
    v = np.zeros_like(x)
    v[:, 2] = lift
    put(sim, x, v)
    before = sim.energy()
    frames(sim, 60)
    after = sim.energy()
    exact = precision == "double"
    assert after.dissipated == pytest.approx(0.0, abs=1e-10 if exact else 2e-4)
    assert after.work == pytest.approx(9.81 * lift, abs=1e-8 if exact else 2e-3)
    assert after.gravity - before.gravity == pytest.approx(9.81 * lift, abs=1e-8 if exact else 2e-3)


@pytest.mark.parametrize("solver", list(SCHEMES))
@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_a_bounce_loses_its_exact_part(e, solver):
    """From a height h: m g h (1 - e²)."""
    sim, shape = points(solver, 3, lambda scene: scene.add_ground(friction=0.0, restitution=e))
    x = shape.vertices * 0.2
    x[:, -1] += 1.0
    put(sim, x)
    start = sim.energy().total
    frames(sim, 36)
    energy = sim.energy()
    slip = 9.81 / 1200 / 4.4  # g dt/v: share of the velocity at which the hit is known, of m g h = 9.81 J
    flight = 0.0 if SCHEMES[solver].order > 1 else 3 * 9.81 * slip  # a parabola is exact from order 2 on
    assert energy.dissipated == pytest.approx((1.0 - e * e) * 9.81, abs=10 * 9.81 * slip**2 + flight)
    assert energy.total + energy.dissipated == pytest.approx(start, abs=1e-10 + flight)


@pytest.mark.parametrize("solver", list(SCHEMES))
def test_friction_takes_what_sliding_has(solver):
    """Points that slide to rest on a floor turn m v²/2 into heat."""
    sim, shape = points(solver, 2, lambda scene: scene.add_ground(friction=0.3, restitution=0.4))
    x = shape.vertices.copy()
    x[:, -1] = 0.0
    v = np.zeros_like(x)
    v[:, 0] = 1.5
    put(sim, x, v)
    frames(sim, 40)
    energy = sim.energy()
    assert energy.kinetic == pytest.approx(0.0, abs=1e-15)
    assert energy.dissipated == pytest.approx(0.5 * 1.5**2, abs=1e-10)
