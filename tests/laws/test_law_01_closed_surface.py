"""Law 1: on a closed surface pressure forces sum to zero and exert no net torque, whatever the shape."""

from __future__ import annotations

import numpy as np
import pytest

import turgor
from support.laws import EPS, PRECISIONS, cross, disturbed, make, put, shape_of

SHAPES = ["circle", "star", "icosphere", "torus", "box"]
GAUGE = 500.0


def unbalanced(name, precision, **body):
    """|sum of forces| and |sum of torques| about the centre, over their sums of magnitudes; and the round-off scale."""
    shape = shape_of(name)
    gas = turgor.Gas.at(gauge=GAUGE, ambient=101_325.0)
    at = (3.0, -2.0, 5.0)[: shape.dim]
    # springs of stiffness 0: what is left is the pressure
    sim, _ = make(shape, stiffness=0.0, gas=gas, precision=precision, at=at, **body)
    put(sim, disturbed(shape) + at)
    f = np.array(sim["body"].forces, float)
    x = np.array(sim["body"].positions, float)
    arm = x - x.mean(axis=0)
    torque = cross(arm, f)
    size = np.linalg.norm(f, axis=1).sum()
    reach = np.linalg.norm(arm, axis=1).max()
    assert size > 1.0
    # a face adds terms of the size gauge·reach² to its corners, each rounded to eps: m faces, a few roundings each;
    # the same number measured against the sum of forces
    push = abs(sim["body"].pressure - 101_325.0)
    roundoff = 8.0 * EPS[precision] * len(shape.faces) * push * reach ** (shape.dim - 1) / size
    return np.linalg.norm(f.sum(axis=0)) / size, np.linalg.norm(torque.sum(axis=0)) / (size * reach), roundoff


@pytest.mark.law(1)
@pytest.mark.req("B2", "A4", "D1")
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("name", SHAPES)
def test_pressure_forces_balance(name, precision):
    force, torque, roundoff = unbalanced(name, precision)
    assert roundoff < 1e-3  # the bound itself must say something
    assert force < roundoff
    assert torque < roundoff


@pytest.mark.law(1)
@pytest.mark.req("C7")
@pytest.mark.parametrize("name", ["circle", "icosphere"])
def test_vertex_normals_do_not_balance(name):
    force, torque, roundoff = unbalanced(name, "double", pressure_force="vertex-normals")
    assert force > 1e-3 > 1e6 * roundoff
    assert torque > 1e-4


@pytest.mark.law(1)
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("name", ["circle", "icosphere"])
def test_all_internal_forces_balance(name, precision):
    """Springs, dashpots and hinges too come in balanced groups, so the whole body does not push itself."""
    shape = shape_of(name)
    sim, _ = make(shape, gas=turgor.Gas(nRT=20.0), damping=0.5, bending=0.3, precision=precision)
    put(sim, disturbed(shape), np.random.default_rng(2).normal(size=shape.vertices.shape))
    x, f = np.array(sim["body"].positions, float), np.array(sim["body"].forces, float)
    size = np.abs(f).sum()
    bound = 30.0 * EPS[precision] * len(shape.faces)
    assert np.linalg.norm(f.sum(axis=0)) < bound * size
    assert np.linalg.norm(cross(x, f).sum(axis=0)) < bound * size
