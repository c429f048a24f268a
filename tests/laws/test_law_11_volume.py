"""Law 11: volume estimators: exact on known shapes, bounding ones against their formulas, Monte Carlo in its CI."""

from __future__ import annotations

import math

import numpy as np
import pytest

import reference as ref
import turgor
from support.laws import PRECISIONS, disturbed, make, put, shape_of

GAS = turgor.Gas(nRT=10.0)
RTOL = {"single": 2e-6, "double": 1e-12}


def measured(shape, method, x=None, precision="double", **options):
    sim, _ = make(shape, gas=GAS, volume=method, precision=precision, **options)
    if x is not None:
        put(sim, x)
    return sim["body"].volume


@pytest.mark.law(11)
@pytest.mark.req("A5", "B3")
@pytest.mark.parametrize("precision", PRECISIONS)
def test_exact_on_known_shapes(precision):
    shapes = turgor.shapes
    rtol = RTOL[precision]
    assert measured(shapes.box(size=(1.0, 2.0, 0.5)), "exact", None, precision) == pytest.approx(1.0, rel=rtol)
    n = 32
    assert measured(shapes.circle(radius=0.7, points=n), "exact", None, precision) == pytest.approx(
        0.5 * n * 0.7**2 * math.sin(2 * math.pi / n), rel=rtol
    )
    # a star of t tips: 2t triangles with sides outer, inner and angle π/t
    star = 5 * 0.5 * 0.25 * math.sin(math.pi / 5)
    assert measured(shapes.star(tips=5, outer=0.5, inner=0.25), "exact", None, precision) == pytest.approx(
        star, rel=rtol
    )
    edge = 0.5 / math.sin(2 * math.pi / 5)  # icosahedron of circumradius 0.5
    assert measured(shapes.icosphere(0.5, subdivisions=0), "exact", None, precision) == pytest.approx(
        5 * (3 + 5**0.5) / 12 * edge**3, rel=rtol
    )


@pytest.mark.law(11)
@pytest.mark.req("A5", "B3")
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("name", ["circle", "star", "icosphere", "torus", "box"])
def test_exact_on_any_closed_mesh(name, precision):
    """Also where the surface crosses itself a little, anywhere: the signed sum about the centroid."""
    shape = shape_of(name)
    x = disturbed(shape)
    for shift in (0.0, 50.0):
        found = measured(shape, "exact", x + shift, precision)
        rtol = RTOL[precision] + (2e-5 if precision == "single" and shift else 0.0)  # 50 m is known to 4e-6 m
        assert found == pytest.approx(ref.volume(x, shape.faces), rel=rtol)


def bounding(method, x):
    """The estimators' own formulas."""
    low, high = x.min(axis=0), x.max(axis=0)
    half, dim = 0.5 * (high - low), x.shape[1]
    if method == "box":
        return np.prod(high - low)
    arm = x - 0.5 * (low + high)
    unit_ball = math.pi if dim == 2 else 4 * math.pi / 3
    if method == "ball":
        return unit_ball * np.linalg.norm(arm, axis=1).max() ** dim
    return unit_ball * np.prod(half) * np.linalg.norm(arm / half, axis=1).max() ** dim


@pytest.mark.law(11)
@pytest.mark.req("A5", "C2")
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("method", ["box", "ball", "ellipsoid"])
@pytest.mark.parametrize("name", ["circle", "star", "icosphere", "torus", "box"])
def test_bounding_estimators(name, method, precision):
    shape = shape_of(name)
    for x in (shape.vertices, disturbed(shape), disturbed(shape) * np.arange(1.0, 1 + shape.dim) + 2.0):
        found = measured(shape, method, x, precision)
        assert found == pytest.approx(bounding(method, x), rel=10 * RTOL[precision])
        if method == "box":
            assert found >= ref.volume(x, shape.faces)


@pytest.mark.law(11)
@pytest.mark.req("C2")
@pytest.mark.parametrize("method", ["box", "ball", "ellipsoid"])
@pytest.mark.parametrize("dim", [2, 3])
def test_bounding_estimators_on_their_own_shapes(dim, method):
    shapes = turgor.shapes
    if method == "box":
        shape = shapes.outline(np.array([[0, 0], [2, 0], [2, 1], [0, 1.0]])) if dim == 2 else shapes.box(size=(1, 2, 3))
        assert measured(shape, method) == pytest.approx(2.0 if dim == 2 else 6.0, rel=1e-12)
        return
    shape = shapes.circle(0.5, points=64) if dim == 2 else shapes.icosphere(0.5, subdivisions=3)
    stretch = np.ones(dim) if method == "ball" else np.arange(1.0, 1 + dim)
    true = (math.pi if dim == 2 else 4 * math.pi / 3) * 0.5**dim * np.prod(stretch)
    assert measured(shape, method, shape.vertices * stretch) == pytest.approx(true, rel=1e-9)


@pytest.mark.law(11)
@pytest.mark.req("C9")
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("name", ["circle", "star", "icosphere", "torus"])
def test_monte_carlo_within_its_confidence_interval(name, precision):
    """Hits are binomial: standard error = box × sqrt(p (1 - p)/N). Eight states, so 4 σ is a chance of 5e-4."""
    shape = shape_of(name)
    sim, _ = make(shape, gas=GAS, volume="monte-carlo", samples=2048, precision=precision)
    scores = []
    for seed in range(8):
        x = disturbed(shape, 0.01, seed)
        put(sim, x)
        V, box = ref.volume(x, shape.faces), bounding("box", x)
        p = V / box
        scores.append((sim["body"].volume - V) / (box * math.sqrt(p * (1 - p) / 2048)))
    assert np.abs(scores).max() < 4.0


@pytest.mark.law(11)
@pytest.mark.req("C9")
@pytest.mark.parametrize("name", ["circle", "star", "icosphere", "torus"])
def test_subdivision_converges(name):
    """n columns, n² in 3D: the midpoint rule over the outline, error O(1/n) at worst (where a column is cut)."""
    shape = shape_of(name)
    x = disturbed(shape, 0.01)
    V = ref.volume(x, shape.faces)
    errors = [abs(measured(shape, "subdivision", x, samples=n) / V - 1) for n in (8, 32, 128)]
    assert errors[0] < 0.25
    assert errors[1] < 0.05
    assert errors[2] < 0.01


@pytest.mark.law(11)
@pytest.mark.req("C2", "C9")
@pytest.mark.parametrize("method", ["box", "ball", "ellipsoid", "monte-carlo", "subdivision"])
@pytest.mark.parametrize("name", ["circle", "icosphere"])
def test_pressure_follows_the_chosen_volume(name, method):
    shape = shape_of(name)
    sim, _ = make(shape, gas=GAS, volume=method)
    put(sim, 0.9 * shape.vertices)
    assert sim["body"].pressure == pytest.approx(10.0 / sim["body"].volume, rel=1e-9)
