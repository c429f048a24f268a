"""Law 3: free flight keeps linear and angular momentum; energy is bounded or drifts with the method's order."""

from __future__ import annotations

import numpy as np
import pytest

import reference as ref
import turgor
from support.laws import EPS, PRECISIONS, cross, disturbed, frames, get, make, put, shape_of

SOLVERS = list(ref.SOLVERS)


def flying(name, solver, precision="double", substeps=20, fps=60):
    shape = shape_of(name)
    spin = 2.0 if shape.dim == 2 else (0.5, -1.0, 2.0)
    velocity = (1.0, 2.0, -0.5)[: shape.dim]
    gas = turgor.Gas(nRT=12.0, ambient=5.0)
    sim, oracle = make(
        shape,
        mass=2.0,
        stiffness=150.0,
        gas=gas,
        solver=solver,
        precision=precision,
        substeps=substeps,
        fps=fps,
        velocity=velocity,
        spin=spin,
    )
    return sim, oracle, shape, np.array(velocity), spin


def momenta(sim, masses):
    x, v = get(sim)
    return masses @ v, (masses[:, None] * cross(x, v)).sum(axis=0)


@pytest.mark.law(3)
@pytest.mark.parametrize("name", ["circle", "icosphere"])
def test_scene_velocity_and_spin(name):
    sim, oracle, shape, velocity, spin = flying(name, "symplectic")
    arm = shape.vertices - shape.vertices.mean(axis=0)
    turning = np.stack([-arm[:, 1], arm[:, 0]], axis=1) * spin if shape.dim == 2 else np.cross(spin, arm)
    np.testing.assert_allclose(sim["body"].velocities, velocity + turning, atol=1e-12)
    np.testing.assert_allclose(sim["body"].momentum, 2.0 * velocity, atol=1e-12)
    about_centre = (oracle.masses[:, None] * cross(arm, turning)).sum(axis=0)
    np.testing.assert_allclose(np.atleast_1d(sim["body"].angular_momentum), about_centre, atol=1e-12)
    np.testing.assert_allclose(sim["body"].center, shape.vertices.mean(axis=0), atol=1e-12)
    _, v = get(sim)
    assert sim.energy().kinetic == pytest.approx(0.5 * np.sum(oracle.masses[:, None] * v * v), rel=1e-12)


@pytest.mark.law(3)
@pytest.mark.req("A6", "B7", "C3")
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("name", ["circle", "icosphere"])
def test_linear_momentum_is_constant(name, solver, precision):
    sim, _, shape, velocity, _ = flying(name, solver, precision)
    put(sim, disturbed(shape), get(sim)[1])
    steps = 10 * 20
    frames(sim, 10)
    # internal forces cancel to round-off: each of the steps adds eps of what it adds up, which is k·0.1 m·dt per vertex
    bound = 4.0 * EPS[precision] * steps * (2.0 * np.abs(velocity).sum() + 1.0)
    np.testing.assert_allclose(sim["body"].momentum, 2.0 * velocity, atol=bound)
    travelled = disturbed(shape).mean(axis=0) + velocity * 10 / 60
    np.testing.assert_allclose(sim["body"].center, travelled, atol=bound)


@pytest.mark.law(3)
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("name", ["circle", "icosphere"])
def test_symplectic_keeps_angular_momentum(name, precision):
    # x' × v' = (x + h v') × v' = x × v + h x × a, and internal forces have no torque: exact at any step size
    sim, oracle, shape, *_ = flying(name, "symplectic", precision)
    put(sim, disturbed(shape), get(sim)[1])
    _, before = momenta(sim, oracle.masses)
    frames(sim, 20)
    _, after = momenta(sim, oracle.masses)
    np.testing.assert_allclose(after, before, atol=4.0 * EPS[precision] * 400 * 2.0)


@pytest.mark.law(3)
@pytest.mark.parametrize("solver", [s for s in SOLVERS if s != "symplectic"])
@pytest.mark.parametrize("name", ["circle", "icosphere"])
def test_angular_momentum_and_energy_drift_with_the_order(name, solver):
    """Halving the step divides both drifts by at least 2^order (some methods do better on one of them)."""
    order = {"euler": 1, "midpoint": 2, "heun": 2, "rk4": 4, "rk4-martin": 1}[solver]
    drift = []
    for substeps in (16, 32):
        sim, oracle, shape, *_ = flying(name, solver, substeps=substeps)
        put(sim, disturbed(shape), get(sim)[1])
        _, before = momenta(sim, oracle.masses)
        energy = sim.energy().total
        frames(sim, 6)
        _, after = momenta(sim, oracle.masses)
        drift.append((np.linalg.norm(after - before), abs(sim.energy().total - energy)))
    (turn, heat), (turn2, heat2) = drift
    assert turn2 < turn / 2 ** (order - 0.3) or turn2 < 1e-11
    assert heat2 < heat / 2 ** (order - 0.3) or heat2 < 1e-11


@pytest.mark.law(3)
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("name", ["circle", "icosphere"])
def test_symplectic_energy_is_bounded(name, precision):
    """Over 8000 steps (a hundred periods) the energy error swings with O(dt²) and does not grow."""
    sim, oracle, shape, *_ = flying(name, "symplectic", precision)
    put(sim, disturbed(shape, 0.01), get(sim)[1])
    start = sim.energy()
    errors = []
    for _ in range(400):
        sim.step()
        errors.append(sim.energy().total - start.total)
    # kinetic energy is that at the time of the positions: ½ m v₋·v₊ + U is constant for linear forces, and what is left
    # is of order (dt ω)², with the energy going to and fro between the modes; a drift would be 4 times as large at last
    errors = np.array(errors)
    early, late = np.abs(errors[:100]).max(), np.abs(errors[300:]).max()
    assert late < 2.5 * early + 1e-9
    elastic = oracle.potential(disturbed(shape, 0.01)) - oracle.potential(shape.vertices)
    assert late < 2e-3 * (abs(elastic) + 0.1 * start.kinetic)


@pytest.mark.law(3)
@pytest.mark.parametrize("name", ["circle", "icosphere"])
def test_energy_agrees_with_the_oracle(name):
    sim, oracle, shape, *_ = flying(name, "rk4")
    put(sim, disturbed(shape), get(sim)[1])
    x, v = get(sim)
    energy, e0 = sim.energy(), oracle.gas.energy(oracle.gas.rest_volume)  # the engine counts from the rest volume
    assert energy.total == pytest.approx(oracle.energy(x, v) - e0, rel=1e-10)
    assert energy.total == pytest.approx(energy.kinetic + energy.elastic + energy.gas + energy.gravity, rel=1e-12)
