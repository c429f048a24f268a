"""2003's contact, C4: a point against a bounding ellipsoid, ball or box, against NumPy."""

import functools

import numpy as np
import pytest
import warp as wp

from support.laws import DEVICE, EPS, PRECISIONS
from turgor.contact.matyka2003 import objects
from turgor.contact.matyka2003.objects import BALL, BOX, ELLIPSOID
from turgor.kernel.numbers import numbers, start_warp

pytestmark = pytest.mark.req("C4")
DIMS = [2, 3]


@functools.cache
def collide_kernel(dim, precision):
    start_warp()
    n = numbers(dim, precision)
    real, vec = n.real, n.vec
    collide, exit_distance = objects.kernels(n).collide, objects.kernels(n).exit_distance

    @wp.kernel(module=f"test_bounding.{dim}d.{precision}", enable_backward=False)
    def run(
        shape: int,
        half: wp.array(dtype=vec),
        start: wp.array(dtype=vec),
        end: wp.array(dtype=vec),
        direction: wp.array(dtype=vec),
        depth: wp.array(dtype=real),
        normal: wp.array(dtype=vec),
        way: wp.array(dtype=real),
    ):
        i = wp.tid()
        d, k = collide(shape, half[i], start[i], end[i])
        depth[i] = d
        normal[i] = k
        way[i] = exit_distance(shape, half[i], end[i], direction[i])

    return run


def collide(shape, half, start, end, direction=None, precision="double"):
    """depth, normal, distance to the surface along a direction, of rows."""
    dim = end.shape[1]
    n = numbers(dim, precision)
    kernel = collide_kernel(dim, precision)
    direction = np.eye(dim)[np.zeros(len(end), int)] if direction is None else direction
    given = [wp.array(a.astype(n.dtype), dtype=n.vec, device=DEVICE) for a in (half, start, end, direction)]
    out = [wp.zeros(len(end), dtype=t, device=DEVICE) for t in (n.real, n.vec, n.real)]
    wp.launch(kernel, len(end), [shape, *given, *out], device=DEVICE)
    return [a.numpy().astype(float) for a in out]


def random_objects(rng, dim, count=400):
    half = np.exp(rng.uniform(-1.5, 0.5, (count, dim)))
    return half, rng.uniform(-1.2, 1.2, (count, dim)) * half


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("dim", DIMS)
def test_ellipsoid_pushes_out_what_is_inside_and_nothing_else(dim, precision):
    half, p = random_objects(np.random.default_rng(1), dim)
    level = np.linalg.norm(p / half, axis=1)
    depth, normal, _ = collide(ELLIPSOID, half, p, p, precision=precision)
    assert ((depth >= 0.0) == (level < 1.0)).all()
    assert (depth >= 0).sum() > 50
    hit = depth >= 0.0
    half, p, depth, normal = half[hit], p[hit], depth[hit, None], normal[hit]
    tolerance = 20.0 * EPS[precision]
    np.testing.assert_allclose(np.linalg.norm(normal, axis=1), 1.0, atol=tolerance)
    assert (np.linalg.norm((p + depth * normal) / half, axis=1) >= 1.0 - tolerance).all()
    # law: the plane through the pushed point with this normal touches the ellipsoid from outside
    support = np.linalg.norm(half * normal, axis=1)
    np.testing.assert_allclose(((p + depth * normal) * normal).sum(1), support, atol=tolerance * half.max())


def nearest_distance(half, p, count=20001):
    """Distance from a point inside an ellipse to its rim, by brute force."""
    angle = np.linspace(0.0, 2.0 * np.pi, count)
    rim = half * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return np.linalg.norm(rim - p, axis=1).min()


def test_the_way_out_of_an_ellipse_is_nearly_the_shortest():
    half, p = random_objects(np.random.default_rng(2), 2, 200)
    inside = np.linalg.norm(p / half, axis=1) < 1.0
    half, p = half[inside], p[inside]
    depth, _, _ = collide(ELLIPSOID, half, p, p)
    nearest = np.array([nearest_distance(h, q) for h, q in zip(half, p, strict=True)])
    assert (depth >= nearest - 3e-4).all()  # no way out is shorter (but for the steps of the rim)
    shallow = np.linalg.norm(p / half, axis=1) > 0.9
    assert shallow.sum() > 10
    assert (depth[shallow] <= 1.02 * nearest[shallow]).all()


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("dim", DIMS)
def test_ball_is_exact(dim, precision):
    rng = np.random.default_rng(3)
    radius = rng.uniform(0.5, 2.0, 100)
    p = rng.normal(size=(100, dim))
    distance = np.linalg.norm(p, axis=1)
    depth, normal, _ = collide(BALL, np.repeat(radius[:, None], dim, 1), p, p, precision=precision)
    hit = distance < radius
    assert 20 < hit.sum() < 90
    assert ((depth >= 0.0) == hit).all()
    np.testing.assert_allclose(depth[hit], (radius - distance)[hit], atol=20 * EPS[precision])
    np.testing.assert_allclose(normal[hit], (p / distance[:, None])[hit], atol=50 * EPS[precision])


@pytest.mark.parametrize("shape", [ELLIPSOID, BALL, BOX])
def test_the_very_middle_goes_the_short_way(shape):
    half = np.array([[1.0, 0.4, 0.7]]) if shape != BALL else np.full((1, 3), 0.4)
    depth, normal, _ = collide(shape, half, np.zeros((1, 3)), np.zeros((1, 3)))
    assert depth[0] == pytest.approx(0.4)
    assert (half * np.abs(normal)).sum() == pytest.approx(0.4)


@pytest.mark.parametrize("dim", DIMS)
def test_box_from_inside_takes_the_nearest_face(dim):
    half, p = random_objects(np.random.default_rng(4), dim)
    depth, normal, _ = collide(BOX, half, p, p)
    inside = (np.abs(p) < half).all(axis=1)
    assert ((depth >= 0.0) == inside).all()
    np.testing.assert_allclose(depth[inside], (half - np.abs(p)).min(axis=1)[inside])
    axis = (half - np.abs(p)).argmin(axis=1)
    rows = np.arange(len(p))
    np.testing.assert_allclose(normal[rows, axis][inside], np.sign(p[rows, axis][inside]))


@pytest.mark.parametrize("dim", DIMS)
def test_thin_box_sends_back_what_went_through(dim):
    """Also a point that is beyond the box after the substep: back out of the face it came in by."""
    half = np.full((4, dim), 1.0)
    half[:, -1] = 0.01
    start, end = np.zeros((4, dim)), np.zeros((4, dim))
    start[:, -1] = [0.5, -0.5, 0.5, 0.5]
    end[:, -1] = [-0.5, 0.5, 0.005, 0.02]
    depth, normal, _ = collide(BOX, half, start, end)
    np.testing.assert_allclose(depth[:3], [0.51, 0.51, 0.005])
    np.testing.assert_allclose(normal[:3, -1], [1.0, -1.0, 1.0])
    assert depth[3] < 0.0
    beside = start.copy()
    beside[:, 0] = 1.5
    end[:, 0] = 1.5
    assert (collide(BOX, half, beside, end)[0] < 0.0).all()


@pytest.mark.parametrize("shape", [ELLIPSOID, BOX])
@pytest.mark.parametrize("dim", DIMS)
def test_way_out_ends_on_the_surface(dim, shape):
    rng = np.random.default_rng(5)
    half, p = random_objects(rng, dim)
    p *= 0.5
    direction = rng.normal(size=p.shape)
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    _, _, way = collide(shape, half, p, p, direction)
    out = (p + way[:, None] * direction) / half
    size = np.abs(out).max(axis=1) if shape == BOX else np.linalg.norm(out, axis=1)
    inside = (np.abs(p) / half).max(axis=1) < 1 if shape == BOX else np.linalg.norm(p / half, axis=1) < 1
    np.testing.assert_allclose(size[inside], 1.0, rtol=1e-9)
