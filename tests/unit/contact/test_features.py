"""The six feature tests (B11) against all active sets: random, lattice, parallel, touching, degenerate, any scale.

Tolerance: a coordinate difference is rounded once, and a candidate is some ten products and sums of such differences,
each good to eps × size, where size is the largest difference in the pair. TOLERANCE eps × size is for all of it and
the gap of NOISE eps × size, up to √3 longer than its coordinates, that counts as zero. Nothing depends on shape.
"""

import functools

import numpy as np
import pytest
import warp as wp
from hypothesis import given, settings
from hypothesis import strategies as st

from reference.features import closest_features, lower_bound
from support.laws import DEVICE, EPS, PRECISIONS
from turgor.contact.geometry import closest, feature_tests
from turgor.kernel.numbers import numbers, start_warp

TOLERANCE = 24.0
CASES = 64  # per launch
TESTS = {  # corners of the first and of the second feature
    "vertex_vertex": (1, 1),
    "vertex_edge": (1, 2),
    "vertex_triangle": (1, 3),
    "edge_edge": (2, 2),
    "edge_triangle": (2, 3),
    "triangle_triangle": (3, 3),
}
FLAT = ["vertex_vertex", "vertex_edge"]  # those of 2D
ALL = [(2, name) for name in FLAT] + [(3, name) for name in TESTS]
EQUAL = ["vertex_vertex", "edge_edge", "triangle_triangle"]
FAMILIES = ["random", "lattice", "parallel", "touching", "sliver", "degenerate", "far", "unequal"]


@functools.cache
def kernel_of(dim, precision, name):
    """One feature test on rows of corners."""
    start_warp()
    n = numbers(dim, precision)
    real, vec = n.real, n.vec
    law = getattr(feature_tests.kernels(n), name)

    # Warp has no argument lists: one function per number of corners
    if sum(TESTS[name]) == 2:

        @wp.func
        def answer(x: wp.array2d(dtype=vec), i: int, skin: real):
            hit, p, q, normal, distance = law(x[i, 0], x[i, 1], skin)
            return hit, p, q, normal, distance

    elif sum(TESTS[name]) == 3:

        @wp.func
        def answer(x: wp.array2d(dtype=vec), i: int, skin: real):
            hit, p, q, normal, distance = law(x[i, 0], x[i, 1], x[i, 2], skin)
            return hit, p, q, normal, distance

    elif sum(TESTS[name]) == 4:

        @wp.func
        def answer(x: wp.array2d(dtype=vec), i: int, skin: real):
            hit, p, q, normal, distance = law(x[i, 0], x[i, 1], x[i, 2], x[i, 3], skin)
            return hit, p, q, normal, distance

    elif sum(TESTS[name]) == 5:

        @wp.func
        def answer(x: wp.array2d(dtype=vec), i: int, skin: real):
            hit, p, q, normal, distance = law(x[i, 0], x[i, 1], x[i, 2], x[i, 3], x[i, 4], skin)
            return hit, p, q, normal, distance

    else:

        @wp.func
        def answer(x: wp.array2d(dtype=vec), i: int, skin: real):
            hit, p, q, normal, distance = law(x[i, 0], x[i, 1], x[i, 2], x[i, 3], x[i, 4], x[i, 5], skin)
            return hit, p, q, normal, distance

    @wp.kernel(module=f"test_features.{dim}d.{precision}.{name}", enable_backward=False)
    def run(
        x: wp.array2d(dtype=vec),
        thickness: wp.array(dtype=real),
        hits: wp.array(dtype=int),
        firsts: wp.array(dtype=vec),
        seconds: wp.array(dtype=vec),
        normals: wp.array(dtype=vec),
        distances: wp.array(dtype=real),
    ):
        i = wp.tid()
        hit, p, q, normal, distance = answer(x, i, thickness[i])
        hits[i] = int(hit)
        firsts[i] = p
        seconds[i] = q
        normals[i] = normal
        distances[i] = distance

    return run


def evaluate(name, first, second, thickness=0.0, precision="double"):
    """hit, points, normal, distance of rows of features, which must be representable in this precision."""
    dim = first.shape[2]
    n = numbers(dim, precision)
    kernel = kernel_of(dim, precision, name)
    count = len(first)
    corners = np.concatenate([first, second], axis=1)
    x = wp.array(corners.astype(n.dtype), dtype=n.vec, device=DEVICE)
    skin = wp.array(np.broadcast_to(thickness, count).astype(n.dtype), dtype=n.real, device=DEVICE)
    out = [wp.zeros(count, dtype=t, device=DEVICE) for t in (int, n.vec, n.vec, n.vec, n.real)]
    wp.launch(kernel, count, [x, skin, *out], device=DEVICE)
    hit, *rest = (a.numpy() for a in out)
    return hit.astype(bool), *(a.astype(float) for a in rest)


def features_of(rng, family, corners, dim, count):
    """Rows of pairs of features of one family, about 1 in size."""
    k, m = corners
    x = rng.normal(size=(count, k + m, dim))
    first, second = x[:, :k], x[:, k:]
    some, same = rng.dirichlet(np.ones(k), count), rng.dirichlet(np.ones(m), count)
    if family == "lattice":  # parallel, touching, collapsed, coplanar, identical: all at once and exactly
        x[:] = rng.integers(-2, 3, size=x.shape) * rng.integers(0, 2, size=(count, 1, dim))
    elif family == "parallel":  # edges along edges, up to round-off
        second[:, 1:] = second[:, :1] + rng.normal(size=(count, m - 1, 1)) * (first[:, -1:] - first[:, :1])
    elif family == "touching":  # a point of the one is a point of the other
        there = np.einsum("nk,nkd->nd", some, first) - np.einsum("nk,nkd->nd", same, second)
        second += there[:, None]
    elif family == "sliver":  # thin down to nothing
        for part, share in ((first, some), (second, same)):
            last = np.einsum("nk,nkd->nd", share[:, :-1], part[:, :-1]) if part.shape[1] > 1 else part[:, 0]
            thin = 10.0 ** rng.uniform(-17, 0, size=(count, 1))
            part[:, -1] = last + thin * rng.normal(size=(count, dim))
        second += 10.0 ** rng.uniform(-9, 1, size=(count, 1, 1)) * rng.normal(size=(count, 1, dim))
    elif family == "degenerate":  # repeated corners
        pick = rng.integers(0, k + m, size=(count, k + m))
        x[:] = np.take_along_axis(x, pick[:, :, None], axis=1)
    elif family == "far":
        second += 10.0 ** rng.uniform(0, 6, size=(count, 1, 1)) * rng.normal(size=(count, 1, dim))
    elif family == "unequal":
        first *= 10.0 ** rng.uniform(-6, 0, size=(count, 1, 1))
        first += np.einsum("nk,nkd->nd", same, second)[:, None] * rng.integers(0, 2, size=(count, 1, 1))
    return first, second


@st.composite
def situations(draw, precision):
    """A family, a seed, a scale and a place."""
    reach = 25 if precision == "single" else 200
    return (
        draw(st.sampled_from(FAMILIES)),
        draw(st.integers(0, 2**32 - 1)),
        10.0 ** draw(st.integers(-reach, reach) | st.just(0)),
        draw(st.sampled_from([0.0, 0.0, 1.0, 1e3])),
    )


def pairs(situation, name, dim, precision):
    """Two features per row, exactly representable, with the size and the reach (from the origin) of each pair."""
    family, seed, scale, place = situation
    rng = np.random.default_rng(seed)
    parts = features_of(rng, family, TESTS[name], dim, CASES)
    offset = place * rng.normal(size=(CASES, 1, dim))
    dtype = numbers(dim, precision).dtype
    first, second = (((part + offset) * scale).astype(dtype).astype(float) for part in parts)
    both = np.concatenate([first, second], axis=1)
    return first, second, np.ptp(both, axis=1).max(axis=1), np.abs(both).max(axis=(1, 2))


def everywhere(test):
    """All tests in both precisions, many situations each."""

    @pytest.mark.req("B11")
    @pytest.mark.parametrize("precision", PRECISIONS)
    @pytest.mark.parametrize(("dim", "name"), ALL)
    @settings(max_examples=25)
    @given(data=st.data())
    def run(dim, name, precision, data):
        test(dim, name, precision, data.draw(situations(precision)))

    run.__doc__ = test.__doc__
    return run


def direction_error(tolerance, distance):
    """Of a gap that is too long by the tolerance.

    The gaps of two convex features are a convex set, of which the exact one, g, is closest to 0; so another, g', has
    (g' - g)·g >= 0, thus |g' - g|² <= |g'|² - |g|². Over |g|²: 2 tolerance / distance, and its square.
    """
    share = tolerance / distance
    return np.sqrt(2.0 * share + share**2)


@everywhere
def test_distance_points_and_normal(dim, name, precision, situation):
    """The exact distance; points on the features, that far apart; a unit normal that separates them by it."""
    first, second, size, reach = pairs(situation, name, dim, precision)
    eps = EPS[precision]
    exact, *_ = closest_features(first, second)
    _, p, q, normal, distance = evaluate(name, first, second, precision=precision)
    assert np.isfinite(np.concatenate([p, q, normal, distance[:, None]], axis=1)).all()
    tolerance = TOLERANCE * eps * size
    assert (np.abs(distance - exact) <= tolerance).all()
    # the points are places in the world: one rounding of a coordinate more
    placed = tolerance + 4.0 * eps * reach
    for point, feature in ((p, first), (q, second)):
        assert (closest_features(point[:, None], feature)[0] <= placed).all()
    unit = np.where(reach > 0, reach, 1.0)  # squares of the smallest and largest underflow and overflow
    assert (np.abs(np.linalg.norm((p - q) / unit[:, None], axis=1) * unit - distance) <= 2.0 * placed).all()
    length = np.linalg.norm(normal, axis=1)
    apart = distance > 0
    np.testing.assert_allclose(length[apart], 1.0, atol=4 * eps)
    assert ((length[~apart] < 1e-6) | (np.abs(length[~apart] - 1.0) < 4 * eps)).all()
    # what it separates is less by the direction's error × the features' reach across it, at most √3 size
    least = lower_bound(first[apart] - second[apart, :1], second[apart] - second[apart, :1], normal[apart])
    error = direction_error(tolerance[apart], distance[apart])
    slack = 2.0 * tolerance[apart] + np.sqrt(3.0) * size[apart] * error
    assert (least >= exact[apart] - slack).all()


@everywhere
def test_hit_is_distance_at_most_thickness(dim, name, precision, situation):
    first, second, size, _ = pairs(situation, name, dim, precision)
    exact, *_ = closest_features(first, second)
    margin = 2.0 * TOLERANCE * EPS[precision] * size
    above = exact + margin
    below = exact - margin
    assert evaluate(name, first, second, above, precision)[0].all()
    clear = below > 0
    assert not evaluate(name, first, second, np.maximum(below, 0.0), precision)[0][clear].any()


@everywhere
def test_swapped_moved_and_turned(dim, name, precision, situation):
    """The order of the corners, the place and the direction do not matter; equal features may change places."""
    first, second, size, reach = pairs(situation, name, dim, precision)
    dtype = numbers(dim, precision).dtype
    _, _, _, normal, distance = evaluate(name, first, second, precision=precision)
    tolerance = TOLERANCE * EPS[precision] * size
    rng = np.random.default_rng(situation[1])

    def same(other, extra=0.0):
        assert (np.abs(other - distance) <= 2.0 * tolerance + extra).all()

    k, m = TESTS[name]
    same(evaluate(name, first[:, rng.permutation(k)], second[:, rng.permutation(m)], precision=precision)[4])
    if name in EQUAL:
        _, _, _, back, other = evaluate(name, second, first, precision=precision)
        same(other)
        apart = distance > 2.0 * tolerance
        error = direction_error(tolerance[apart], distance[apart])[:, None]
        assert (np.abs(back + normal)[apart] <= 2.0 * error).all()
    turn = np.linalg.qr(rng.normal(size=(dim, dim)))[0]
    shift = reach.max() * rng.normal(size=dim)
    moved = [(part @ turn.T + shift).astype(dtype).astype(float) for part in (first, second)]
    rounding = 8.0 * EPS[precision] * (np.sqrt(dim) * reach + np.abs(shift).max())  # of the moved corners
    same(evaluate(name, *moved, precision=precision)[4], rounding)


@pytest.mark.req("B11")
@pytest.mark.parametrize(("dim", "name"), ALL)
def test_the_oracle_itself(dim, name):
    """Its answer is feasible, no sampled pair is closer, and a separating direction proves it for those apart."""
    rng = np.random.default_rng(4)
    for family in FAMILIES:
        first, second = features_of(rng, family, TESTS[name], dim, CASES)
        distance, lam, mu = closest_features(first, second)
        for weight in (lam, mu):
            assert weight.min() >= 0.0
            np.testing.assert_allclose(weight.sum(axis=1), 1.0, atol=1e-14)
        gap = np.einsum("nk,nkd->nd", lam, first) - np.einsum("nk,nkd->nd", mu, second)
        apart = distance > 1e-3
        bound = lower_bound(first[apart], second[apart], gap[apart] / distance[apart, None])
        np.testing.assert_allclose(bound, distance[apart], rtol=1e-9, atol=1e-9)
        some, same = rng.dirichlet(np.full(lam.shape[1], 0.5), 500), rng.dirichlet(np.full(mu.shape[1], 0.5), 500)
        sampled = np.linalg.norm(np.einsum("sk,nkd->nsd", some, first) - np.einsum("sk,nkd->nsd", same, second), axis=2)
        assert (sampled.min(axis=1) >= distance - 1e-9 * np.maximum(distance, 1.0)).all()


def rows(*points):
    return np.array([points], float)


TRIANGLE = rows((0, 0, 0), (1, 0, 0), (0, 1, 0))


@pytest.mark.req("B11")
@pytest.mark.parametrize("precision", PRECISIONS)
def test_crossing_features_are_at_distance_zero(precision):
    """Exactly zero, with the normal of the second: for the first triangle's edges through it, and the other way."""
    rng = np.random.default_rng(7)
    second = rng.normal(size=(500, 3, 3)).astype(np.float32).astype(float)
    inside = np.einsum("nk,nkd->nd", rng.dirichlet(np.full(3, 5.0), 500), second)
    along = rng.normal(size=(500, 3))
    edge = np.stack([inside - along, inside + rng.uniform(0.1, 2.0, size=(500, 1)) * along], axis=1)
    edge = edge.astype(np.float32).astype(float)
    third = rng.normal(size=(500, 1, 3)).astype(np.float32).astype(float)
    facing = np.cross(second[:, 1] - second[:, 0], second[:, 2] - second[:, 0])
    area = np.linalg.norm(facing, axis=1, keepdims=True)
    fat = area[:, 0] > 0.1
    for name, first in (("edge_triangle", edge), ("triangle_triangle", np.concatenate([edge, third], axis=1))):
        hit, _, _, normal, distance = evaluate(name, first, second, 0.0, precision)
        assert hit.all()
        assert (distance == 0.0).all()
        np.testing.assert_allclose(normal[fat], (facing / area)[fat], atol=100 * EPS[precision])
    hit, *_, distance = evaluate("triangle_triangle", second, np.concatenate([edge, third], axis=1), 0.0, precision)
    assert hit.all()
    assert (distance == 0.0).all()


@pytest.mark.req("B11")
def test_where_the_paper_misses():
    """Both windings, a parallel edge, an edge past the rim, parallel edges side by side: the law sees them."""
    for order in ([0, 1, 2], [0, 2, 1]):
        for z in (0.1, -0.1):
            hit, _, q, normal, distance = evaluate("vertex_triangle", rows((0.2, 0.2, z)), TRIANGLE[:, order], 0.15)
            assert hit[0]
            assert distance[0] == pytest.approx(0.1)
            np.testing.assert_allclose(q, [[0.2, 0.2, 0.0]], atol=1e-15)
            np.testing.assert_allclose(normal, [[0.0, 0.0, np.sign(z)]], atol=1e-15)
    parallel = rows((-5, 0.2, 0.1), (5, 0.2, 0.1))
    assert evaluate("edge_triangle", parallel, TRIANGLE, 0.15)[4][0] == pytest.approx(0.1)
    past = rows((0.5, -0.1, -5), (0.5, -0.1, 6))
    hit, _, _, normal, distance = evaluate("edge_triangle", past, TRIANGLE, 0.15)
    assert hit[0]
    assert distance[0] == pytest.approx(0.1)
    np.testing.assert_allclose(normal, [[0.0, -1.0, 0.0]], atol=1e-14)
    beside = rows((0, 0, 0), (10, 0, 0)), rows((4, 0.1, 0), (6, 0.1, 0))
    assert evaluate("edge_edge", *beside, 0.15)[0][0]
    assert evaluate("triangle_triangle", TRIANGLE, TRIANGLE + np.array([0.1, 0.1, 0.05]), 0.1)[4][0] == pytest.approx(
        0.05
    )


@pytest.mark.req("B11")
@pytest.mark.parametrize("precision", PRECISIONS)
def test_normals_without_a_gap(precision):
    """A vertex on a 2D edge: outwards of a counter-clockwise outline. Crossed edges: across both. Else zero."""
    normal = evaluate("vertex_edge", rows((0.5, 0)), rows((0, 0), (1, 0)), 0.0, precision)[3]
    np.testing.assert_array_equal(normal, [[0.0, -1.0]])
    crossed = rows((-1, 0, 0), (1, 0, 0)), rows((0, -1, 0), (0, 1, 0))
    normal = evaluate("edge_edge", *crossed, 0.0, precision)[3]
    np.testing.assert_array_equal(np.abs(normal), [[0.0, 0.0, 1.0]])
    np.testing.assert_array_equal(evaluate("edge_edge", *crossed[::-1], 0.0, precision)[3], -normal)
    nothing = np.zeros((1, 3, 3))
    for name, (k, m) in TESTS.items():
        hit, p, q, normal, distance = evaluate(name, nothing[:, :k], nothing[:, :m], 0.0, precision)
        assert hit[0]
        assert np.abs(np.concatenate([p, q, normal, distance[:, None]], axis=1)).max() == 0.0


@functools.cache
def weights_kernel(precision):
    """The shares of the corners that a response needs, from the searches themselves."""
    start_warp()
    n = numbers(3, precision)
    vec = n.vec
    c = closest.kernels(n)
    closest_on_triangle, closest_triangles = c.closest_on_triangle, c.closest_triangles

    @wp.kernel(module=f"test_features.weights.{precision}", enable_backward=False)
    def run(x: wp.array2d(dtype=vec), weights: wp.array2d(dtype=vec), gaps: wp.array2d(dtype=vec)):
        i = wp.tid()
        first, second, gap = closest_triangles(x[i, 0], x[i, 1], x[i, 2], x[i, 3], x[i, 4], x[i, 5])
        weights[i, 0] = first
        weights[i, 1] = second
        gaps[i, 0] = gap
        second, gap = closest_on_triangle(x[i, 0], x[i, 3], x[i, 4], x[i, 5])
        weights[i, 2] = second
        gaps[i, 1] = gap

    return run


@pytest.mark.req("B11")
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("family", FAMILIES)
def test_weights(family, precision):
    """Shares of the corners: none negative, sum 1, and the gap is between the points that they give."""
    n, eps = numbers(3, precision), EPS[precision]
    first, second, size, _ = pairs((family, 11, 1.0, 0.0), "triangle_triangle", 3, precision)
    x = wp.array(np.concatenate([first, second], axis=1).astype(n.dtype), dtype=n.vec, device=DEVICE)
    weights, gaps = (wp.zeros((CASES, k), dtype=n.vec, device=DEVICE) for k in (3, 2))
    wp.launch(weights_kernel(precision), CASES, [x, weights, gaps], device=DEVICE)
    weights, gaps = weights.numpy().astype(float), gaps.numpy().astype(float)
    assert weights.min() >= 0.0
    np.testing.assert_allclose(weights.sum(axis=2), 1.0, atol=2 * eps)
    origin = second[:, :1]  # the place of the pair would multiply the round-off of the sum of weights
    p = np.einsum("nk,nkd->nd", weights[:, 0], first - origin)
    q, q_of_corner = (np.einsum("nk,nkd->nd", weights[:, j], second - origin) for j in (1, 2))
    tolerance = TOLERANCE * eps * size[:, None]
    assert (np.abs(p - q - gaps[:, 0]) <= tolerance).all()
    assert (np.abs(first[:, 0] - second[:, 0] - q_of_corner - gaps[:, 1]) <= tolerance).all()


@pytest.mark.req("B11")
def test_noise_is_below_the_tolerance():
    assert np.sqrt(3.0) * closest.NOISE < TOLERANCE
