"""The oracle against itself: every force is minus the gradient of its energy; every rule keeps its word."""

from __future__ import annotations

import numpy as np
import pytest

import reference as ref
from reference import historical_2004, meshes

MESHES = {2: meshes.ring(12), 3: meshes.icosphere(1)}
LAWS = ["isothermal", "adiabatic", "held"]


@pytest.fixture(params=[2, 3])
def state(request):
    """A deformed closed mesh with random velocities: x, v, faces, edges, rest shape."""
    rng = np.random.default_rng(7)
    rest, faces = MESHES[request.param]
    x = rest + 0.05 * rng.normal(size=rest.shape)
    return x, rng.normal(size=x.shape), faces, meshes.edges_of(faces), rest


def slope(function, x, h=1e-6):
    """Central-difference gradient of a scalar function of (n, dim)."""
    g = np.zeros_like(x)
    for q in np.ndindex(*x.shape):
        d = np.zeros_like(x)
        d[q] = h
        g[q] = (function(x + d) - function(x - d)) / (2 * h)
    return g


def make(x, faces, edges, rest, **more):
    return ref.Body(rest, faces, edges, **more)


def test_spring_force_is_minus_the_energy_gradient(state):
    x, _, _, edges, rest = state
    lengths = np.linalg.norm(np.diff(rest[edges], axis=1)[:, 0], axis=1)
    f = ref.spring_forces(x, np.zeros_like(x), edges, lengths, 150.0, 0.0)
    np.testing.assert_allclose(f, -slope(lambda y: ref.elastic_energy(y, edges, lengths, 150.0), x), atol=1e-7)


def test_dashpot_takes_energy_and_keeps_momentum(state):
    x, v, _, edges, _ = state
    f = ref.spring_forces(x, v, edges, np.linalg.norm(x[edges[:, 0]] - x[edges[:, 1]], axis=1), 150.0, 2.0)
    assert np.sum(f * v) < 0.0
    np.testing.assert_allclose(f.sum(axis=0), 0.0, atol=1e-12)


def test_coincident_ends_give_no_force():
    x = np.array([[1.0, 2.0], [1.0, 2.0], [3.0, 2.0]])
    f = ref.spring_forces(x, x.copy(), [[0, 1]], np.array([0.5]), 100.0, 1.0)
    np.testing.assert_array_equal(f, 0.0)


def test_volume_and_its_gradient(state):
    x, _, faces, *_ = state
    np.testing.assert_allclose(ref.volume_gradient(x, faces), slope(lambda y: ref.volume(y, faces), x), atol=1e-9)
    assert ref.volume(x[:, ::-1] if x.shape[1] == 2 else x * [-1, 1, 1], faces) == pytest.approx(-ref.volume(x, faces))
    assert ref.volume(x + 1e4, faces) == pytest.approx(ref.volume(x, faces), rel=1e-10)


def test_known_volumes():
    square = np.array([[0, 0], [2, 0], [2, 1], [0, 1.0]])
    assert ref.volume(square, np.array([[0, 1], [1, 2], [2, 3], [3, 0]])) == pytest.approx(2.0)
    tetrahedron = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
    assert ref.volume(tetrahedron, np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])) == pytest.approx(1 / 6)
    x, faces = meshes.icosphere(0, 1.0)  # edge length a: V = 5 (3 + √5) a³ / 12
    a = np.linalg.norm(x[faces[0, 0]] - x[faces[0, 1]])
    assert ref.volume(x, faces) == pytest.approx(5 * (3 + 5**0.5) / 12 * a**3)
    assert len(meshes.icosphere(2)[0]) == 162


@pytest.mark.parametrize("law", LAWS)
def test_gas_pressure_is_minus_the_slope_of_its_energy(law):
    gas = ref.Gas(nRT=30.0, rest_volume=0.5, ambient=20.0, law=law, gamma=1.4, held=75.0)
    for V in (0.9, 0.5, 0.2, 0.006, 0.0049, 0.0, -0.3):  # the cap begins at 0.005
        h = 1e-7
        assert -(gas.energy(V + h) - gas.energy(V - h)) / (2 * h) == pytest.approx(gas.gauge(V), rel=1e-5)
    if law != "held":
        assert gas.pressure(-1.0) == gas.pressure(0.005) > gas.pressure(0.006)
        assert gas.pressure(0.5) == pytest.approx(60.0)
    assert gas.energy(0.005 - 1e-12) == pytest.approx(gas.energy(0.005 + 1e-12), rel=1e-6)


@pytest.mark.parametrize("dim", [2, 3])
def test_bending_force_and_convex_sign(dim):
    rest, faces = MESHES[dim]
    hinges = ref.Hinges.of(faces)
    assert len(hinges.ids) == len(meshes.edges_of(faces))  # 2D: as many points as edges
    angles = ref.hinge_angles(rest, hinges)
    assert np.all(angles > 0)
    if dim == 2:
        np.testing.assert_allclose(angles, 2 * np.pi / 12)
    x = rest + 0.04 * np.random.default_rng(3).normal(size=rest.shape)
    f = ref.bending_forces(x, hinges, angles, 2.0)
    np.testing.assert_allclose(f, -slope(lambda y: ref.bending_energy(y, hinges, angles, 2.0), x), atol=1e-6)


def test_dihedral_of_the_icosahedron():
    x, faces = meshes.icosphere(0)
    np.testing.assert_allclose(ref.hinge_angles(x, ref.Hinges.of(faces)), np.pi - np.arccos(-(5**0.5) / 3))


@pytest.mark.parametrize("law", LAWS)
def test_whole_body_force_is_minus_the_gradient_of_the_potential(state, law):
    x, v, faces, edges, rest = state
    gas = ref.Gas(nRT=20.0, rest_volume=ref.volume(rest, faces), ambient=10.0, law=law, held=50.0)
    body = make(*state[:1], faces, edges, rest, gas=gas, bending=0.5, gravity=np.arange(1.0, 1 + x.shape[1]))
    np.testing.assert_allclose(body.forces(x), -slope(body.potential, x), atol=2e-6)
    body.drag = 3.0
    np.testing.assert_allclose(body.forces(x, v) - body.forces(x), -3.0 * body.masses[:, None] * v)


def test_exact_pressure_is_balanced_and_vertex_normals_are_not(state):
    x, _, faces, *_ = state
    exact, averaged = ref.gradient_forces(x, faces, 100.0), ref.vertex_normal_forces(x, faces, 100.0)
    assert np.abs(exact.sum(axis=0)).max() < 1e-12
    assert np.abs(averaged.sum(axis=0)).max() > 1e-2
    # on an undeformed regular polygon the two agree up to the mitre cos(π/n): both edges are in full, the mean is not
    ring, segments = meshes.ring(12)
    ratio = np.linalg.norm(ref.gradient_forces(ring, segments, 1.0)[0])
    ratio /= np.linalg.norm(ref.vertex_normal_forces(ring, segments, 1.0)[0])
    assert ratio == pytest.approx(np.cos(np.pi / 12))


def test_spring_count_scaling():
    _, faces = meshes.icosphere(1)
    scale = ref.spring_count_scaling(42, meshes.edges_of(faces))
    assert scale.mean() == pytest.approx(1.0)
    assert set(np.round(scale * 240 / 42, 9)) == {5.0, 6.0}


def test_wind_pushes_along_the_normal_and_stops_at_wind_speed(state):
    x, _, faces, *_ = state
    w = np.arange(1.0, 1 + x.shape[1])
    np.testing.assert_allclose(ref.wind_forces(x, np.tile(w, (len(x), 1)), faces, w, 2.0), 0.0)
    f, n = ref.wind_forces(x, np.zeros_like(x), faces, w, 2.0), ref.vertex_normals(x, faces)
    np.testing.assert_allclose(f, 2.0 * (n @ w)[:, None] * n)
    np.testing.assert_allclose(np.linalg.norm(n, axis=1), 1.0)


def test_martin_damping():
    v = np.ones((3, 2))
    np.testing.assert_allclose(ref.martin_damping(v, 1 / 60, k=100.0), 1 - (0.01 + 0.99 * 0.25))
    twice = ref.martin_damping(ref.martin_damping(v, 1 / 120, k=100.0), 1 / 120, k=100.0)
    np.testing.assert_allclose(twice, ref.martin_damping(v, 1 / 60, k=100.0))


@pytest.mark.parametrize(
    ("solver", "order"),
    [("euler", 1), ("symplectic", 1), ("midpoint", 2), ("heun", 2), ("rk4", 4), ("rk4-martin", 1)],
)
def test_order_on_a_damped_oscillator(solver, order):
    # x'' = -x - 0.3 x' from (1, 0), exact solution at t = 1
    w = (1 - 0.15**2) ** 0.5
    exact = np.exp(-0.15) * (np.cos(w) + 0.15 / w * np.sin(w))
    errors = []
    for steps in (20, 40, 80):
        x, _ = ref.simulate(solver, lambda x, v: -x - 0.3 * v, np.array([1.0]), np.array([0.0]), 1 / steps, steps)
        errors.append(abs(x[0] - exact))
    measured = np.log2(errors[0] / errors[1]), np.log2(errors[1] / errors[2])
    assert measured == pytest.approx((order, order), abs=0.12)


def test_wall_response():
    x = np.array([[0.0, 0.1], [0.0, 0.1], [0.0, 5.0], [0.0, 0.0]])
    v = np.array([[3.0, -2.0], [0.5, -2.0], [3.0, -2.0], [1.0, 1.0]])
    dt = 0.1
    moved, after = ref.wall_response(x, v * dt, v, dt, (0, 1), 0.0, restitution=0.5, friction=0.4)
    np.testing.assert_allclose(after[0], [3.0 - 0.4 * 3.0, 1.0])  # normal impulse (1 + e) 2 = 3
    np.testing.assert_allclose(after[1], [0.0, 1.0])  # friction stops it and does not reverse it
    np.testing.assert_allclose(after[2:], v[2:])
    np.testing.assert_allclose(moved, [[0.18, 0.0], [0.0, 0.0], [0.3, 4.8], [0.1, 0.1]], atol=1e-15)
    # a wall that moves up at 1 m/s: the same in its frame
    _, after = ref.wall_response(x, v * dt, v, dt, (0, 1), 0.1, np.array([0.0, 1.0]), restitution=0.5, friction=0.4)
    np.testing.assert_allclose(after[0], [3.0 - 0.4 * 4.5, 1.0 + 1.5])


def test_wall_response_at_rest():
    """A point on the wall does not bounce with what its weight gave it in this step; one that comes from above does."""
    x = np.array([[0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 1.5]])
    start = np.array([[0.0, 0.0], [0.0, -2.0], [0.0, 0.3], [0.0, -20.0]])
    v = start + np.array([0.5, -1.0])
    moved, after = ref.wall_response(x, v * 0.1, v, 0.1, (0, 1), 0.0, restitution=0.5, friction=0.2, start=start)
    np.testing.assert_allclose(after[:, 1], [0.0, 1.0, 0.15, 10.5])
    np.testing.assert_allclose(after[0, 0], 0.5 - 0.2 * 1.0)
    np.testing.assert_allclose(moved[:, 1], 0.0)


def test_relaxed_body_is_the_minimum_and_scaling_is_exact_on_regular_bodies():
    for x, faces in (meshes.ring(9), meshes.icosphere(0)):
        gas = ref.Gas(nRT=20.0, rest_volume=ref.volume(x, faces), ambient=5.0)
        body = ref.Body(x, faces, meshes.edges_of(faces), gas=gas, stiffness=300.0)
        s = ref.scale_balance(body)
        assert s > 1.01
        np.testing.assert_allclose(body.forces(s * x), 0.0, atol=1e-9)
        np.testing.assert_allclose(np.linalg.norm(ref.relax(body, x), axis=1), 0.5 * s, rtol=1e-9)
        squared, _ = ref.modes(body, s * x)
        assert squared.min() > -1e-3  # stable: rigid motions only at zero


@pytest.mark.req("A1", "A4", "A5")
def test_historical_2004():
    ball = historical_2004.SoftBall2004(points=24, height=0.3)
    ring, faces = ball.x[::-1].copy(), meshes.ring(24)[1]  # the paper goes clockwise
    assert ball.area() == pytest.approx(ref.volume(ring, faces))
    body = ref.Body(ring, faces, meshes.edges_of(faces), mass=24.0, stiffness=755.0, damping=35.0)
    body.gas, body.gravity = ref.Gas(nRT=70.0, rest_volume=ball.area()), np.array([0.0, -10.0])
    np.testing.assert_allclose(ball.forces()[::-1], body.forces(ring), atol=1e-9)
    x, v = ref.simulate("symplectic", body.acceleration, ring, np.zeros_like(ring), 1e-3, 50)
    for _ in range(50):
        ball.step(1e-3)
    np.testing.assert_allclose(ball.x[::-1], x, atol=1e-10)
    np.testing.assert_allclose(ball.v[::-1], v, atol=1e-8)


def test_historical_2004_mistakes():
    law = historical_2004.SoftBall2004(points=400, gravity=0.0)
    twice = historical_2004.SoftBall2004(points=400, gravity=0.0, mistakes=frozenset({"double-force"}))
    np.testing.assert_allclose(twice.forces(), 2 * law.forces(), atol=1e-9)  # springs are at rest here
    centred = historical_2004.SoftBall2004(points=400, mistakes=frozenset({"absolute-area"}))
    assert centred.area() == pytest.approx(law.area())
    centred.x[:, 0] += 1.0
    assert centred.area() > 2 * law.area()
    printed = historical_2004.SoftBall2004(points=400, mistakes=historical_2004.AS_PRINTED)
    assert printed.area() == pytest.approx(2 / 400 * law.area(), rel=1e-2)
    heavy = historical_2004.SoftBall2004(mass=2.0, final_pressure=0.0, mistakes=frozenset({"massless-y"}))
    heavy.step(0.01)
    np.testing.assert_allclose(heavy.v[:, 1], 2 * -10.0 * 0.01)


def test_historical_2004_floor_and_pump():
    ball = historical_2004.SoftBall2004(points=16, height=0.0, floor=-0.6, pumping=10.0)
    ball.step(0.005)
    assert np.allclose(ball.v.mean(axis=0), 0.0)  # no gravity before the final pressure
    for _ in range(400):
        ball.step(0.005)
    assert ball.pressure == 70.0
    assert ball.x[:, 1].min() == pytest.approx(-0.6)
    assert ball.area() > 0.5
