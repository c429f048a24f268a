"""The pitfalls of physics.md that concern the dynamics, one test each, and the closed forms of damping."""

from __future__ import annotations

import numpy as np
import pytest

import reference as ref
import turgor
from reference.historical_2004 import SoftBall2004
from support.laws import PRECISIONS, disturbed, frames, get, make, put, shape_of

GAS = turgor.Gas.at(gauge=40.0, ambient=101.0)
DIMS = ["circle", "icosphere"]


@pytest.mark.req("B2")
@pytest.mark.parametrize("name", DIMS)
def test_pressure_is_not_scaled_by_the_step(name):
    shape = shape_of(name)
    found = []
    for fps, substeps in [(60, 10), (60, 40), (25, 17)]:
        sim, _ = make(shape, gas=GAS, fps=fps, substeps=substeps)
        put(sim, disturbed(shape))
        found.append(np.array(sim["body"].forces))
    np.testing.assert_array_equal(found[1], found[0])
    np.testing.assert_array_equal(found[2], found[0])


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("name", DIMS)
def test_volume_far_from_the_origin(name, precision):
    shape = shape_of(name)
    at = (1e4, -1e4, 1e4)[: shape.dim]
    sim, oracle = make(shape, gas=GAS, precision=precision, at=at)
    rtol = 1e-10 if precision == "double" else 1e-5
    assert sim["body"].volume == pytest.approx(shape.volume, rel=rtol)
    assert sim["body"].pressure == pytest.approx(141.0, rel=rtol)
    expected = oracle.forces(shape.vertices)
    np.testing.assert_allclose(sim["body"].forces, expected, atol=10 * rtol * np.abs(expected).max())


def vigorous(name, precision="single", **options):
    shape = shape_of(name)

    def floor(scene):
        scene.add_ground(friction=0.4, restitution=0.3)

    at = np.zeros(shape.dim)
    at[-1] = 0.6
    velocity = np.zeros(shape.dim)
    velocity[0] = 1.0
    sim, _ = make(
        shape,
        stiffness=200.0,
        damping=0.5,
        gas=GAS,
        gravity=9.81,
        walls=floor,
        precision=precision,
        at=tuple(at),
        velocity=tuple(velocity),
        **options,
    )
    return frames(sim, 15)


@pytest.mark.req("X9")
@pytest.mark.parametrize("assembly", ["auto", "scatter", "gather"])
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("name", DIMS)
def test_looking_pausing_saving_and_loading_change_nothing(name, precision, assembly, tmp_path):
    sim, other = (vigorous(name, precision, assembly=assembly) for _ in range(2))
    before = sim.state_hash()
    assert before == other.state_hash()
    _ = sim.energy(), sim.forces(), sim["body"].volume, sim["body"].pressure, sim["body"].forces, get(sim)
    sim.save(tmp_path / "state.npz")
    assert sim.state_hash() == before
    loaded = turgor.Simulation.load(tmp_path / "state.npz")
    assert loaded.state_hash() == before
    for one in (sim, other, loaded):
        frames(one, 10)
    assert sim.state_hash() == other.state_hash() == loaded.state_hash()
    np.testing.assert_array_equal(get(loaded), get(other))
    assert loaded.time == other.time


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("name", DIMS)
def test_setting_what_was_read_changes_nothing(name, precision):
    sim, other = vigorous(name, precision), vigorous(name, precision)
    put(sim, *get(sim))
    frames(sim, 5), frames(other, 5)
    np.testing.assert_allclose(get(sim)[0], get(other)[0], rtol=0, atol=1e-5 if precision == "single" else 1e-12)


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("name", DIMS)
def test_teleport_keeps_shape_speed_and_pressure(name, precision):
    shape = shape_of(name)
    sim, _ = make(shape, stiffness=200.0, gas=GAS, precision=precision)
    put(sim, disturbed(shape), np.random.default_rng(3).normal(size=shape.vertices.shape))
    x, v = get(sim)
    volume, pressure, energy = sim["body"].volume, sim["body"].pressure, sim.energy().total
    sim["body"].positions = x + 7.0
    rtol = 1e-5 if precision == "single" else 1e-12
    np.testing.assert_array_equal(get(sim)[1], v)
    assert sim["body"].volume == pytest.approx(volume, rel=rtol)
    assert sim["body"].pressure == pytest.approx(pressure, rel=rtol)
    assert sim.energy().total == pytest.approx(energy, rel=10 * rtol)


@pytest.mark.parametrize("name", DIMS)
def test_settled_start_has_no_jump(name):
    shape = shape_of(name)
    jump, _ = make(shape, gas=GAS, stiffness=200.0)
    sim, oracle = make(shape, gas=GAS, stiffness=200.0, settled=True)
    scale = np.abs(np.array(jump["body"].forces)).max()
    assert np.abs(np.array(sim["body"].forces)).max() < 1e-4 * scale
    frames(sim, 60)  # no damping: a jump would ring for ever
    _, v = get(sim)
    assert np.abs(v).max() < 1e-3
    minimum = ref.relax(oracle, ref.scale_balance(oracle) * shape.vertices)
    assert sim["body"].volume == pytest.approx(ref.volume(minimum, shape.faces), rel=1e-3)


@pytest.mark.req("A2")
@pytest.mark.parametrize("name", DIMS)
def test_inflation_and_waiting_gravity(name):
    """Gas comes in over 0.5 s, from none above ambient to the full amount; gravity waits for it."""
    shape = shape_of(name)
    gas = turgor.Gas(nRT=20.0, inflate=0.5, gravity_waits=True)
    sim, _ = make(shape, gas=gas, stiffness=300.0, drag=5.0, gravity=9.81)
    frames(sim, 15)
    assert sim["body"].pressure * sim["body"].volume == pytest.approx(10.0, rel=0.05)
    assert abs(sim["body"].center[-1]) < 1e-9
    assert abs(sim["body"].momentum[-1]) < 1e-9
    frames(sim, 30)
    assert sim["body"].pressure * sim["body"].volume == pytest.approx(20.0, rel=1e-9)
    # 0.25 s of gravity against drag: v = -g/c (1 - exp(-c t))
    expected = -9.81 / 5.0 * (1 - np.exp(-5.0 * 0.25))
    assert sim["body"].momentum[-1] == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("name", DIMS)
def test_drag_is_an_exponential(name, precision):
    """dv/dt = -c v: v0 exp(-c t); rk4 leaves (c dt)^4/120."""
    shape = shape_of(name)
    velocity = (2.0, -1.0, 0.5)[: shape.dim]
    sim, _ = make(shape, drag=3.0, velocity=velocity, solver="rk4", precision=precision)
    frames(sim, 30)
    expected = np.array(velocity) * np.exp(-1.5)
    np.testing.assert_allclose(sim["body"].momentum, expected, rtol=1e-8 if precision == "double" else 1e-4)


@pytest.mark.req("B5")
@pytest.mark.parametrize("substeps", [1, 7, 30])
@pytest.mark.parametrize("name", DIMS)
def test_velocity_damping_of_martin(name, substeps):
    """v loses ρ = ρg + (1 - ρg) k/kmax every 1/60 s, whatever the step."""
    shape = shape_of(name)
    velocity = (2.0, -1.0, 0.5)[: shape.dim]
    damping = turgor.VelocityDamping(base=0.01, stiffness_max=400.0)
    sim, _ = make(shape, mass=50.0, stiffness=10.0, velocity=velocity, velocity_damping=damping, substeps=substeps)
    frames(sim, 12)
    expected = ref.martin_damping(np.array(velocity), 0.2, k=10.0)
    np.testing.assert_allclose(np.array(sim["body"].momentum) / 50.0, expected, rtol=1e-9)


@pytest.mark.req("A1", "A3", "A4", "A5", "A6", "A7")
def test_the_2004_ball():
    """The paper's algorithm with its mistakes mended: fall, hit the floor and rise again, point by point."""
    shape = turgor.shapes.circle(radius=0.5, points=20)

    def floor(scene):
        scene.add_ground(height=-0.6, friction=0.0, restitution=0.1)

    sim, _ = make(
        shape, mass=20.0, stiffness=755.0, damping=35.0, gas=turgor.Gas(nRT=70.0), gravity=10.0, walls=floor, substeps=8
    )
    ball = SoftBall2004(points=20, radius=0.5, floor=-0.6)
    ball.x = shape.vertices[::-1].copy()  # the paper goes clockwise
    lowest = np.inf
    for _ in range(40):
        sim.step()
        for _ in range(8):
            ball.step(1 / 480)
        np.testing.assert_allclose(get(sim)[0], ball.x[::-1], atol=1e-8)
        lowest = min(lowest, ball.x[:, 1].min())
    assert lowest == pytest.approx(-0.6)
    assert ball.x[:, 1].mean() > -0.6


@pytest.mark.parametrize("solver", list(ref.SOLVERS))
@pytest.mark.parametrize("stiffness", [50.0, 20_000.0])
@pytest.mark.parametrize("name", DIMS)
def test_automatic_substeps_are_stable(name, stiffness, solver):
    """A user never has to tune dt: dropped from rest, springs and gas soft or stiff, the energy only falls.

    Explicit Euler cannot follow stiff gas at a sensible cost and may say so; it must not let the energy grow.
    """
    shape = shape_of(name)

    def floor(scene):
        scene.add_ground(friction=0.4, restitution=0.3)

    at = np.zeros(shape.dim)
    at[-1] = 0.7
    gas = turgor.Gas.at(gauge=0.02 * stiffness, ambient=101_325.0 if stiffness > 1000 else 100.0)
    sim, _ = make(
        shape,
        stiffness=stiffness,
        damping=0.5,
        gas=gas,
        gravity=9.81,
        walls=floor,
        at=tuple(at),
        solver=solver,
        substeps="auto",
        precision="single",
    )
    start = sim.energy().total
    try:
        frames(sim, 30)
    except turgor.UnstableError:
        if solver != "euler":
            raise
        return
    x, _ = get(sim)
    assert np.all(np.isfinite(x))
    assert sim.energy().total < start + 0.02 * (9.81 * 0.7)
    assert x[:, -1].min() > -1e-5
    assert sim["body"].volume == pytest.approx(shape.volume, rel=0.5)
