"""Second derivatives of the oracle against central differences of its forces."""

from __future__ import annotations

import numpy as np
import pytest

import reference as ref
from reference import hessians, meshes
from reference.hessians import Grab

pytestmark = pytest.mark.req("X2")


def jacobian(forces, x, h=1e-6):
    """-df/dx (n dim, n dim) by central differences, row by row of f; not made symmetric."""
    J = np.empty((x.size, x.size))
    for q in range(x.size):
        d = np.zeros(x.size)
        d[q] = h
        d = d.reshape(x.shape)
        J[:, q] = (forces(x - d) - forces(x + d)).ravel() / (2 * h)
    return J


def check(H, J):
    """Equal within the differences' own error, and symmetric."""
    np.testing.assert_allclose(H, J, atol=2e-8 * max(np.abs(H).max(), 1e-30))
    np.testing.assert_array_equal(H, H.T)


def lowest(H):
    """The smallest eigenvalue in units of the largest."""
    values = np.linalg.eigvalsh(H)
    return values[0] / values[-1]


@pytest.fixture(params=[2, 3])
def state(request):
    """A deformed closed mesh: x, v, faces, edges, rest lengths. Some springs are stretched, some compressed."""
    rng = np.random.default_rng(7)
    rest, faces = meshes.ring(12) if request.param == 2 else meshes.icosphere(1)
    x, edges = rest + 0.03 * rng.normal(size=rest.shape), meshes.edges_of(faces)
    lengths = np.linalg.norm(rest[edges[:, 0]] - rest[edges[:, 1]], axis=1)
    return x, rng.normal(size=x.shape), faces, edges, lengths


def test_springs(state):
    x, v, _, edges, rest = state
    exact = hessians.spring_stiffness(x, edges, rest, 150.0)
    check(exact, jacobian(lambda y: ref.spring_forces(y, 0 * v, edges, rest, 150.0, 0.0), x))
    assert lowest(exact) < -1e-3
    positive = hessians.spring_stiffness(x, edges, rest, 150.0, positive=True)
    assert lowest(positive) > -1e-14
    # the projection of each element: what is taken away is its negative part
    blocks = hessians.spring_blocks(x, edges, rest, 150.0)
    values, vectors = np.linalg.eigh(blocks)
    clipped = np.einsum("eik,ek,ejk->eij", vectors, np.maximum(values, 0.0), vectors)
    np.testing.assert_allclose(positive, hessians.assemble(len(x), x.shape[1], edges, clipped), atol=1e-10)


def test_stretched_springs_are_positive_as_they_are(state):
    x, _, _, edges, rest = state
    pair = [hessians.spring_stiffness(x, edges, 0.5 * rest, 150.0, positive) for positive in (False, True)]
    np.testing.assert_array_equal(*pair)


def test_coincident_ends_have_no_stiffness():
    x = np.array([[1.0, 2.0], [1.0, 2.0], [3.0, 2.0]])
    H = hessians.spring_stiffness(x, [[0, 1], [1, 2]], np.array([0.5, 1.0]), 100.0)
    assert np.all(H[:2] == 0.0)
    assert np.isfinite(H).all()
    assert H[2, 2] == 100.0


def test_dashpots(state):
    x, v, _, edges, rest = state
    D = hessians.dashpot_damping(x, edges, 3.0)
    check(D, jacobian(lambda u: ref.spring_forces(x, u, edges, rest, 150.0, 3.0), v))
    assert lowest(D) > -1e-14


def test_volume(state):
    x, _, faces, *_ = state
    H = hessians.volume_hessian(x, faces)
    check(H, -jacobian(lambda y: ref.volume_gradient(y, faces), x))
    assert np.trace(H) == 0.0
    # V is homogeneous of degree dim, and no translation changes its gradient
    dim = x.shape[1]
    np.testing.assert_allclose(H @ x.ravel(), (dim - 1) * ref.volume_gradient(x, faces).ravel(), atol=1e-13)
    np.testing.assert_allclose(H @ np.tile(np.eye(dim)[0], len(x)), 0.0, atol=1e-14)


@pytest.mark.parametrize("law", ["isothermal", "adiabatic", "held"])
def test_gas(state, law):
    x, _, faces, *_ = state
    gas = ref.Gas(nRT=30.0, rest_volume=0.5, ambient=20.0, law=law, held=75.0)
    H = hessians.gas_stiffness(x, faces, gas)
    check(H, jacobian(lambda y: ref.gradient_forces(y, faces, gas.gauge(ref.volume(y, faces))), x))
    one = hessians.gas_rank_one(x, faces, gas)
    assert np.linalg.matrix_rank(one) == (0 if law == "held" else 1)
    assert np.linalg.eigvalsh(one)[0] >= -1e-12 * np.abs(one).max()
    for V in (0.9, 0.2, 0.0049, -0.1):  # the cap begins at 0.005
        slope = (gas.pressure(V + 1e-7) - gas.pressure(V - 1e-7)) / 2e-7
        assert hessians.pressure_slope(gas, V) == pytest.approx(slope, rel=1e-6)


def test_bending(state):
    x, _, faces, *_ = state
    hinges = ref.Hinges.of(faces)
    angles = ref.hinge_angles(x, hinges)
    rest = angles + np.random.default_rng(1).normal(size=angles.shape)
    exact = hessians.bending_stiffness(x, hinges, angles, rest, 2.0)
    J = jacobian(lambda y: ref.bending_forces(y, hinges, rest, 2.0), x)
    np.testing.assert_allclose(exact, J, atol=2e-7 * np.abs(exact).max())  # the third derivative is large
    np.testing.assert_allclose(exact, exact.T, atol=1e-12 * np.abs(exact).max())
    part = hessians.bending_stiffness(x, hinges, angles, rest, 2.0, gauss_newton=True)
    assert lowest(part) > -1e-13
    unbent = hessians.bending_stiffness(x, hinges, angles, angles, 2.0)
    np.testing.assert_array_equal(hessians.bending_stiffness(x, hinges, angles, angles, 2.0, True), unbent)


def test_air_and_grab(state):
    x, v, faces, *_ = state
    masses, dim = np.linspace(0.1, 0.2, len(x)), x.shape[1]
    check(hessians.drag_damping(masses, 3.0, dim), jacobian(lambda u: ref.drag_forces(u, masses, 3.0), v))
    wind = np.arange(1.0, 1 + dim)
    D = hessians.wind_damping(x, faces, 2.0)
    check(D, jacobian(lambda u: ref.wind_forces(x, u, faces, wind, 2.0), v))
    assert lowest(D) > -1e-14
    grab = Grab(3, np.ones(dim), 40.0, 5.0)
    check(hessians.grab_matrix(len(x), dim, 3, 40.0), jacobian(lambda y: grab.forces(y, v), x))
    check(hessians.grab_matrix(len(x), dim, 3, 5.0), jacobian(lambda u: grab.forces(x, u), v))
    d = np.zeros_like(x)
    d[3, 0] = 1e-6
    slope = (grab.energy(x + d) - grab.energy(x - d)) / 2e-6
    assert -slope == pytest.approx(grab.forces(x, 0 * v)[3, 0], rel=1e-7)


def test_agrees_with_the_hessian_by_differences(state):
    """equilibrium.hessian is the same matrix of a whole body, by differences."""
    x, _, faces, edges, _ = state
    gas = ref.Gas(nRT=20.0, rest_volume=0.5, ambient=10.0)
    body = ref.Body(x, faces, edges, gas=gas, bending=0.3)
    y = x * np.linspace(0.9, 1.2, x.shape[1])
    H = hessians.spring_stiffness(y, edges, body.rest, body.stiffness) + hessians.gas_stiffness(y, faces, gas)
    H += hessians.bending_stiffness(y, body.hinges, ref.hinge_angles(y, body.hinges), body.rest_angles, 0.3)
    np.testing.assert_allclose(H, ref.hessian(body, y), atol=1e-6 * np.abs(H).max())
