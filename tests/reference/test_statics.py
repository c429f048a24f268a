"""Rest states of the oracle against closed forms, its other ways to find them, and the second law."""

from __future__ import annotations

import numpy as np
import pytest

import reference as ref
from reference import meshes
from reference.backward_euler import backward_euler
from reference.newton import Plane
from reference.newton_matrices import KINDS
from reference.statics import NoEquilibriumError, equilibrium

pytestmark = pytest.mark.req("X2")
GROUND = Plane(np.array([0.0, 0.0, 1.0]))


def closed(x, faces, gauge=60.0, ambient=30.0, law="isothermal", **more):
    """The bodies of law 6: springs of 300 N/m and gas."""
    V = ref.volume(x, faces)
    gas = ref.Gas((gauge + ambient) * V, V, ambient, law, held=gauge + ambient)
    return ref.Body(x, faces, meshes.edges_of(faces), **{"stiffness": 300.0, "gas": gas, **more})


def standing(subdivisions, **more):
    """An icosphere with a face down, 0.01 m above the ground, with gravity."""
    x, faces = meshes.icosphere(subdivisions)
    n = x[faces[0]].mean(axis=0)
    n /= -np.linalg.norm(n)
    side = np.linalg.qr(np.column_stack([n, np.eye(3)[:, :2]]))[0]
    turn = np.column_stack([side[:, 1], side[:, 2], n])
    turn[:, 0] *= np.sign(np.linalg.det(turn))
    x = x @ turn
    x[:, 2] -= x[:, 2].min() - 0.01
    return closed(x, faces, gravity=np.array([0.0, 0.0, -9.81]), **more)


@pytest.mark.law(6)
@pytest.mark.parametrize("law", ["isothermal", "adiabatic", "held"])
@pytest.mark.parametrize("points", [5, 12, 32])
def test_ring(points, law):
    """Regular n-gon: k (L - L0) = p r cos(π/n), L = 2 r sin(π/n)."""
    body = closed(*meshes.ring(points), gauge=25.0 if law == "held" else 60.0, law=law)
    rest = equilibrium(body, body.vertices)
    radius = np.linalg.norm(rest.x - rest.x.mean(axis=0), axis=1)
    r = radius.mean()
    assert rest.stable
    assert np.ptp(radius) < 1e-9
    gauge = body.gas.gauge(0.5 * points * r**2 * np.sin(2 * np.pi / points))
    assert 600.0 * np.sin(np.pi / points) * (r - 0.5) == pytest.approx(gauge * r * np.cos(np.pi / points), rel=1e-9)
    assert r == pytest.approx(0.5 * ref.scale_balance(body), rel=1e-9)


@pytest.mark.law(6)
@pytest.mark.parametrize("law", ["isothermal", "held"])
def test_icosahedron(law):
    """Regular: sum k (s - 1) L² = p 3 V0 s²."""
    body = closed(*meshes.icosphere(0), gauge=25.0 if law == "held" else 60.0, law=law)
    rest = equilibrium(body, body.vertices)
    s = np.linalg.norm(rest.x - rest.x.mean(axis=0), axis=1).mean() / 0.5
    V0 = ref.volume(body.vertices, body.faces)
    assert 300.0 * (s - 1) * np.sum(body.rest**2) == pytest.approx(body.gas.gauge(V0 * s**3) * 3 * V0 * s**2, rel=1e-9)


@pytest.mark.law(6)
@pytest.mark.parametrize("kind", KINDS)
def test_icosphere(kind):
    """The same minimum as `equilibrium.relax`, from another side and with each matrix of Newton's."""
    body = closed(*meshes.icosphere(1))
    x = body.vertices * [1.2, 0.9, 1.0] + 0.02 * np.random.default_rng(1).normal(size=body.vertices.shape)
    rest = equilibrium(body, x, kind=kind)
    assert rest.stable
    other = ref.relax(body, body.vertices)
    i, j = body.edges.T
    lengths = [np.linalg.norm(y[i] - y[j], axis=1) for y in (rest.x, other)]
    np.testing.assert_allclose(*lengths, rtol=1e-7)
    assert ref.volume(rest.x, body.faces) == pytest.approx(ref.volume(other, body.faces), rel=1e-9)


def test_stiffness_from_soft_to_hard():
    """Any stiffness: pressure and tension balance as virtual work asks, sum T L = 3 p V."""
    for k in (1e2, 1e4, 1e6, 1e8):
        for ambient, gauge in ((0.0, 2000.0), (101325.0, 200.0)):
            body = closed(*meshes.icosphere(1), gauge, ambient, stiffness=k)
            rest = equilibrium(body, body.vertices)
            assert rest.report.rounds <= 15
            i, j = body.edges.T
            L, V = np.linalg.norm(rest.x[i] - rest.x[j], axis=1), ref.volume(rest.x, body.faces)
            assert np.sum(k * (L - body.rest) * L) == pytest.approx(3 * body.gas.gauge(V) * V, rel=1e-6)


def test_hanging_chain_and_weight():
    """A chain of n equal springs pinned at its top: spring i stretches by the weight below it / k."""
    n, k, m = 6, 40.0, 0.3
    x = np.stack([np.zeros(n + 1), -0.5 * np.arange(n + 1)], axis=1)
    edges = np.stack([np.arange(n), np.arange(1, n + 1)], axis=1)
    body = ref.Body(x, edges, edges, mass=m * (n + 1), stiffness=k, gravity=np.array([0.0, -9.81]))
    rest = equilibrium(body, x + [[0.1 * i, 0.0] for i in range(n + 1)], pins=[0])
    lengths = -np.diff(rest.x[:, 1])
    np.testing.assert_allclose(lengths, 0.5 + m * 9.81 * np.arange(n, 0, -1) / k, rtol=1e-8)
    np.testing.assert_allclose(rest.x[:, 0], 0.0, atol=1e-7)
    assert rest.stable


@pytest.mark.parametrize("stiffness", [1e2, 1e4, 1e6])
def test_ball_on_the_ground(stiffness):
    """The ground carries its weight, below its centre of mass, and an implicit step leaves it where it is."""
    body = standing(1, gauge=600.0, ambient=101325.0, stiffness=stiffness)
    rest = equilibrium(body, body.vertices, planes=[GROUND])
    force = rest.report.reactions[0]
    assert force.sum() == pytest.approx(9.81, rel=1e-7)
    assert rest.x[:, 2].min() > -1e-12
    assert np.abs(force * rest.x[:, 2]).max() < 1e-9
    moment = np.cross(rest.x - rest.x.mean(axis=0), force[:, None] * GROUND.normal).sum(axis=0)
    np.testing.assert_allclose(moment, 0.0, atol=1e-6)
    made = backward_euler(body, rest.x, np.zeros_like(rest.x), 1 / 60, planes=[GROUND])
    assert np.abs(made.v).max() < 1e-6
    assert made.report.reactions.sum() == pytest.approx(9.81, rel=1e-7)


def test_no_equilibrium():
    """A pump beyond k sum l0² / (12 V0), which the skin holds at most (physics.md); less is held."""
    x, faces = meshes.icosphere(0)
    most = 300.0 * np.sum(closed(x, faces).rest ** 2) / (12 * ref.volume(x, faces))
    held = equilibrium(closed(x, faces, gauge=0.99 * most, law="held"), x)
    assert held.stable
    s = np.linalg.norm(held.x, axis=1).mean() / 0.5
    assert 0.99 * s**2 == pytest.approx(4 * (s - 1), rel=1e-7)  # p/p_max = 4 (s - 1)/s²: s < 2
    assert s == pytest.approx(2 * (1 - 0.1) / 0.99, rel=1e-7)
    with pytest.raises(NoEquilibriumError, match="cannot hold the pressure"):
        equilibrium(closed(x, faces, gauge=1.01 * most, law="held"), x)


def test_nothing_holds_it():
    body = closed(*meshes.icosphere(0), gravity=np.array([0.0, 0.0, -9.81]))
    with pytest.raises(NoEquilibriumError, match="nothing holds the body"):
        equilibrium(body, body.vertices)
    slope = Plane(np.array([0.0, 0.6, 0.8]), -1.0)
    with pytest.raises(NoEquilibriumError, match="slides"):
        equilibrium(body, body.vertices, planes=[slope], rounds=4000)
