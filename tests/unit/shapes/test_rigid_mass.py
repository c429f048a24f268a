"""Rigid bodies: mass properties against closed forms, and convex hulls against known shapes and random points."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from turgor import shapes
from turgor.errors import MeshError, SceneError
from turgor.rigid import box_inertia, capsule_inertia, convex_hull, mass_properties, sphere_inertia
from turgor.shapes import Shape


def turn(seed):
    """A random rotation matrix."""
    matrix, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))
    return matrix * np.linalg.det(matrix)


def moved(shape, rotation, shift):
    return Shape(shape.vertices @ np.transpose(rotation) + shift, shape.faces, shape.kind, {})


def plain(vertices, faces, kind="surface"):
    return Shape(np.array(vertices, float), np.array(faces), kind, {})


# --- mass properties


@pytest.mark.req("B8")
@pytest.mark.parametrize("subdivisions", [1, 3])
def test_box_is_exact(subdivisions):
    w, h, d = size = (0.5, 1.0, 2.0)
    body = mass_properties(shapes.box(size=size, subdivisions=subdivisions), 3.0)
    right = 3.0 / 12.0 * np.array([h * h + d * d, w * w + d * d, w * w + h * h])
    np.testing.assert_allclose(body.inertia, np.diag(right), atol=1e-14)
    np.testing.assert_allclose(box_inertia(3.0, size), right, rtol=1e-15)
    np.testing.assert_allclose(body.moments, right, rtol=1e-13)
    np.testing.assert_array_equal(body.rotation, np.eye(3))
    np.testing.assert_allclose(body.center, 0.0, atol=1e-15)


@pytest.mark.req("B8")
def test_the_papers_repeated_entry_is_wrong():
    """Martin 2009 prints one entry of the three twice: right for a cube, wrong for every box of three edges."""

    def printed(mass, w, h, d):
        return mass / 12.0 * np.array([h * h + d * d, w * w + d * d, w * w + d * d])

    np.testing.assert_allclose(printed(2.0, 1, 1, 1), mass_properties(shapes.box(1.0), 2.0).moments, rtol=1e-13)
    exact = mass_properties(shapes.box((1.0, 2.0, 3.0)), 2.0).moments
    assert abs(printed(2.0, 1, 2, 3)[2] / exact[2] - 1.0) > 0.9
    # and a plate cannot have it: a body thin along z has Ix + Iy = Iz
    plate = box_inertia(1.0, (1.0, 2.0, 1e-6))
    assert plate[0] + plate[1] == pytest.approx(plate[2], rel=1e-9)
    wrong = printed(1.0, 1.0, 2.0, 1e-6)
    assert wrong[0] + wrong[1] > 4.0 * wrong[2]


def orders(errors):
    return np.log2(np.array(errors[:-1]) / errors[1:])


@pytest.mark.req("B8")
def test_sphere_converges_with_order_two():
    exact = sphere_inertia(2.0, 0.7)
    np.testing.assert_allclose(exact, 0.4 * 2.0 * 0.49, rtol=1e-15)
    errors = []
    for s in range(2, 6):
        moments = mass_properties(shapes.icosphere(radius=0.7, subdivisions=s), 2.0).moments
        assert np.ptp(moments) < 1e-12  # an icosahedron has the symmetry of a ball, as far as inertia goes
        errors.append(abs(moments[0] - exact[0]))
    assert np.all(np.abs(orders(errors) - 2.0) < 0.05)


@pytest.mark.req("B8")
def test_capsule_converges_with_order_two():
    exact = capsule_inertia(1.5, 0.3, 0.8)
    errors = []
    for k in (1, 2, 4):
        mesh = shapes.capsule(radius=0.3, height=0.8, stacks=14 * k, slices=16 * k)
        errors.append(np.abs(mass_properties(mesh, 1.5).moments - exact).max())
    assert np.all(np.abs(orders(errors) - 2.0) < 0.2)
    np.testing.assert_allclose(capsule_inertia(2.0, 0.7, 0.0), sphere_inertia(2.0, 0.7), rtol=1e-14)
    rod = capsule_inertia(1.0, 1e-6, 2.0)  # thin: m h²/12 across
    assert rod[0] == pytest.approx(4.0 / 12.0, rel=1e-5)


@pytest.mark.req("B8", "C4")
def test_cone_converges_with_order_two():
    """Its centre of mass lies a quarter of the height above the base; 3/80 m (4r² + h²) across, 3/10 m r² about z."""
    r, h, mass = 0.4, 0.9, 1.5
    across, about = 3.0 / 80.0 * mass * (4.0 * r * r + h * h), 0.3 * mass * r * r
    exact = np.sort([across, across, about])
    errors = []
    for k in (1, 2, 4):
        body = mass_properties(shapes.cone(r, h, stacks=6 * k, slices=12 * k), mass)
        np.testing.assert_allclose(body.center, [0.0, 0.0, -0.25 * h], atol=1e-12)
        errors.append(np.abs(np.sort(body.moments) - exact).max())
    assert np.all(np.abs(orders(errors) - 2.0) < 0.1)


@pytest.mark.req("B8")
def test_torus_converges_with_order_two():
    R, r = 0.5, 0.2
    exact = np.array([R * R / 2 + 5 * r * r / 8, R * R / 2 + 5 * r * r / 8, R * R + 3 * r * r / 4])
    errors = []
    for k in (16, 32, 64):
        errors.append(np.abs(mass_properties(shapes.torus(R, r, stacks=k, slices=k), 1.0).moments - exact).max())
    assert np.all(np.abs(orders(errors) - 2.0) < 0.1)


@pytest.mark.req("B8")
def test_tetrahedron_is_exact():
    # corners 0, x, y, z: centre 1/4; ∫x² = 1/60 and ∫xy = 1/120 over volume 1/6; minus the parallel axis share
    body = mass_properties(
        plain([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]), 1.0
    )
    np.testing.assert_allclose(body.center, 0.25, rtol=1e-14)
    xx, xy = 6.0 / 60 - 1 / 16, 6.0 / 120 - 1 / 16
    np.testing.assert_allclose(body.inertia, np.full((3, 3), -xy) + np.eye(3) * (2 * xx + xy), atol=1e-15)
    np.testing.assert_allclose(body.rotation @ np.diag(body.moments) @ body.rotation.T, body.inertia, atol=1e-15)


@pytest.mark.req("B8")
@pytest.mark.parametrize("name", ["box", "torus", "capsule", "cone", "cat"])
@pytest.mark.parametrize("far", [1.0, 1e4])
def test_moving_and_turning_the_shape(name, far):
    shape = getattr(shapes, name)()
    rest = mass_properties(shape, 2.0)
    rotation, shift = turn(3), far * np.array([1.0, -2.0, 3.0])
    body = mass_properties(moved(shape, rotation, shift), 2.0)
    tolerance = 1e-13 + 1e-15 * far * 10
    np.testing.assert_allclose(body.center, rotation @ rest.center + shift, rtol=1e-14, atol=tolerance)
    np.testing.assert_allclose(body.inertia, rotation @ rest.inertia @ rotation.T, atol=tolerance)
    np.testing.assert_allclose(np.sort(body.moments), np.sort(rest.moments), atol=tolerance)
    for properties in (rest, body):
        axes = properties.rotation
        np.testing.assert_allclose(axes @ axes.T, np.eye(3), atol=1e-14)
        assert np.linalg.det(axes) == pytest.approx(1.0)
        np.testing.assert_allclose(axes @ np.diag(properties.moments) @ axes.T, properties.inertia, atol=1e-12)


@pytest.mark.req("B8")
def test_parallel_axes():
    """Two boxes glued by mass: the whole is the sum of the parts, each moved to the common centre."""
    whole = mass_properties(shapes.box((3.0, 1.0, 0.5)), 3.0)
    total = np.zeros((3, 3))
    for size, x in ((1.0, -1.0), (2.0, 0.5)):  # edge along x, centre
        part = mass_properties(moved(shapes.box((size, 1.0, 0.5)), np.eye(3), [x, 0, 0]), size)
        arm = part.center - whole.center
        total += part.inertia + part.mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    np.testing.assert_allclose(total, whole.inertia, atol=1e-14)


@pytest.mark.req("B8")
def test_outlines():
    w, h = 2.0, 0.5
    corners = np.array([[0, 0], [w, 0], [w, h], [0, h]])
    body = mass_properties(shapes.outline(corners + 7.0), 3.0)
    assert float(body.inertia) == pytest.approx(3.0 / 12.0 * (w * w + h * h), rel=1e-13)
    assert body.moments.shape == (1,)
    np.testing.assert_allclose(body.center, [8.0, 7.25], rtol=1e-14)
    n = 12  # regular polygon: m/2 R² (1 - 2/3 sin²(π/n))
    exact = 0.5 * 0.25 * (1.0 - 2.0 / 3.0 * np.sin(np.pi / n) ** 2)
    assert float(mass_properties(shapes.polygon(sides=n, radius=0.5), 1.0).inertia) == pytest.approx(exact, rel=1e-13)
    ell = np.array([[0, 0], [2, 0], [2, 1], [1, 1], [1, 2], [0, 2]], float)  # not convex: three unit squares
    centres = np.array([[0.5, 0.5], [1.5, 0.5], [0.5, 1.5]])
    spread = np.sum((centres - centres.mean(axis=0)) ** 2)
    body = mass_properties(shapes.outline(ell), 3.0)
    assert float(body.inertia) == pytest.approx(3.0 / 6.0 + spread, rel=1e-13)
    np.testing.assert_allclose(body.center, centres.mean(axis=0), rtol=1e-14)


@pytest.mark.parametrize("scale", [1e-60, 1e-3, 1e50])
def test_any_unit_of_length(scale):
    body = mass_properties(moved(shapes.box((1, 2, 3)), scale * np.eye(3), np.zeros(3)), 1.0)
    np.testing.assert_allclose(body.moments, box_inertia(1.0, (1, 2, 3)) * scale**2, rtol=1e-12)


def test_shapes_without_mass_properties():
    box = shapes.box()
    flat = moved(box, np.diag([1.0, 1.0, 0.0]), np.zeros(3))
    with pytest.raises(MeshError, match=r"encloses no volume.*thickness"):
        mass_properties(flat, 1.0)
    with pytest.raises(MeshError, match=r"encloses no area.*thickness"):
        mass_properties(plain([[0, 0], [1, 0], [2, 0]], [[0, 1], [1, 2], [2, 0]], "outline"), 1.0)
    with pytest.raises(MeshError, match=r"inside out.*reverse"):
        mass_properties(plain(box.vertices, box.faces[:, ::-1]), 1.0)
    with pytest.raises(MeshError, match=r"closed.*repair"):
        mass_properties(plain(box.vertices, box.faces[1:]), 1.0)
    with pytest.raises(MeshError, match=r"closed.*repair"):
        mass_properties(shapes.sheet(), 1.0)
    with pytest.raises(MeshError, match="finite"):
        mass_properties(plain(box.vertices * np.nan, box.faces), 1.0)
    small, big = moved(box, np.eye(3), [0.0, 0.0, 0.0]), moved(box, 0.99 * np.eye(3), [50.0, 0.0, 0.0])
    hollow = plain(np.concatenate([small.vertices, big.vertices]), np.concatenate([box.faces, box.faces[:, ::-1] + 8]))
    with pytest.raises(MeshError, match="crosses itself"):
        mass_properties(hollow, 1.0)
    for mass in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(SceneError, match="mass"):
            mass_properties(box, mass)
    with pytest.raises(SceneError, match="three edges"):
        box_inertia(1.0, (1.0, 2.0))
    with pytest.raises(SceneError, match="radius"):
        sphere_inertia(1.0, 0.0)
    with pytest.raises(SceneError, match="height"):
        capsule_inertia(1.0, 1.0, -1.0)


# --- convex hulls


def heights(hull, points):
    """Largest height of the points above each face of a hull, in extents of the points."""
    corners = hull.vertices[hull.faces]
    if hull.dim == 2:
        along = corners[:, 1] - corners[:, 0]
        normal = np.stack([along[:, 1], -along[:, 0]], axis=1)
    else:
        normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    above = np.einsum("fi,fpi->fp", normal, points[None] - corners[:, :1])
    return above.max(axis=1) / np.ptp(points, axis=0).max()


def must_be_hull(hull, points, tolerance=1e-6):
    if hull.dim == 3:
        edges = hull.edges
        assert len(hull.vertices) - len(edges) + len(hull.faces) == 2  # Euler: one closed surface without handles
        assert 2 * len(edges) == 3 * len(hull.faces)
    assert hull.volume > 0.0
    assert heights(hull, points).max() < 4.0 * tolerance
    given = {tuple(p) for p in points.tolist()}
    assert all(tuple(p) in given for p in hull.vertices.tolist())
    mass_properties(hull, 1.0)  # closed and outwards


@pytest.mark.parametrize("name", ["box", "icosphere", "uv_sphere", "capsule", "cone"])
@pytest.mark.parametrize("seed", [None, 0, 1, 2])
def test_hull_of_a_convex_shape_is_the_shape(name, seed):
    shape = getattr(shapes, name)()
    if seed is not None:
        shape = moved(shape, turn(seed), [100.0, -50.0, 3.0])
    hull = convex_hull(shape.vertices)
    must_be_hull(hull, shape.vertices)
    assert hull.volume == pytest.approx(shape.volume, rel=1e-6)
    assert len(hull.vertices) <= len(shape.vertices)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("seed", range(5))
def test_flat_sides_keep_only_their_corners(seed, dtype):
    """Inner points of sides and edges are left out, also when round-off has lifted them: a box has eight corners."""
    points = (shapes.box((1.0, 2.0, 3.0), subdivisions=6).vertices @ turn(seed).T).astype(dtype).astype(float)
    hull = convex_hull(points)
    assert (len(hull.vertices), len(hull.faces)) == (8, 12)
    assert hull.volume == pytest.approx(6.0, rel=1e-5)


def test_hull_of_other_shapes():
    torus = shapes.torus(0.5, 0.2, stacks=48, slices=48)
    hull = convex_hull(torus.vertices)
    must_be_hull(hull, torus.vertices)
    # torus filled up: π R² 2r in the middle, half the tube swept around outside (Pappus: π r²/2 at R + 4r/(3π))
    exact = np.pi * 0.25 * 0.4 + np.pi * 0.04 / 2 * 2 * np.pi * (0.5 + 4 * 0.2 / (3 * np.pi))
    assert hull.volume == pytest.approx(exact, rel=0.01)
    grid = np.stack(np.meshgrid(*[np.arange(5.0)] * 3), axis=-1).reshape(-1, 3)
    assert len(convex_hull(grid).vertices) == 8
    assert convex_hull(grid).volume == pytest.approx(64.0)
    cross = np.concatenate([np.eye(3), -np.eye(3)])
    assert convex_hull(np.repeat(cross, 3, axis=0)).volume == pytest.approx(4.0 / 3.0)
    cat = shapes.cat()
    must_be_hull(convex_hull(cat.vertices), cat.vertices)


def test_hull_recipes_make_it_again():
    for hull in (convex_hull(shapes.box().vertices), convex_hull(shapes.star().vertices)):
        again = shapes.from_recipe(hull.recipe)
        assert again.volume == pytest.approx(hull.volume)
        assert len(again.vertices) == len(hull.vertices)


def test_hull_2d():
    star = shapes.star(tips=5, outer=0.5, inner=0.2)
    hull = convex_hull(star.vertices)
    assert len(hull.vertices) == 5
    assert hull.volume == pytest.approx(shapes.polygon(sides=5, radius=0.5).volume)
    grid = np.stack(np.meshgrid(np.arange(5.0), np.arange(3.0)), axis=-1).reshape(-1, 2)
    assert len(convex_hull(grid).vertices) == 4
    assert convex_hull(grid).volume == pytest.approx(8.0)
    circle = shapes.circle(points=500)
    assert convex_hull(circle.vertices).volume == pytest.approx(circle.volume)


# whole numbers give many repeated, collinear and coplanar points; floats give general position and extreme ratios
coordinate = st.one_of(st.integers(-3, 3).map(float), st.floats(-1e3, 1e3, allow_subnormal=False))


@pytest.mark.parametrize("dim", [2, 3])
def test_random_points_lie_inside(dim):
    @given(st.lists(st.tuples(*[coordinate] * dim), min_size=1, max_size=40))
    def check(points):
        points = np.array(points)
        try:
            hull = convex_hull(points)
        except MeshError:
            spread = np.linalg.svd(points - points[0], compute_uv=False)
            flat = np.ptp(points, axis=0).max() * 1e-5 * len(points)
            assert len(spread) < dim or spread[-1] <= flat
            return
        must_be_hull(hull, points)

    check()


@pytest.mark.parametrize("dim", [2, 3])
def test_lattice_points_have_an_exact_hull(dim):
    """On a small lattice the hull of the hull is itself, and so is that of the points in another order."""

    @given(st.lists(st.tuples(*[st.integers(-2, 2)] * dim), min_size=dim + 1, max_size=60), st.randoms())
    def check(points, random):
        try:
            hull = convex_hull(points)
        except MeshError:
            return
        random.shuffle(points)
        for again in (convex_hull(hull.vertices), convex_hull(points)):
            assert {tuple(p) for p in again.vertices.tolist()} == {tuple(p) for p in hull.vertices.tolist()}
            assert again.volume == pytest.approx(hull.volume, rel=1e-12)

    check()


@pytest.mark.parametrize("dim", [2, 3])
def test_plates_and_needles_as_thin_as_the_tolerance(dim):
    """Lattices and clouds squeezed to 1e-7 of their length and turned: a true hull without slivers, or refused."""
    rng = np.random.default_rng(dim)
    made = 0
    for trial in range(150):
        count = rng.integers(dim + 1, 80)
        cloud = rng.normal(size=(count, dim)) if trial % 2 else rng.integers(-3, 4, size=(count, dim)).astype(float)
        points = cloud * 10.0 ** rng.uniform(-7, 0, size=dim)
        if dim == 3:
            points = points @ turn(trial).T
        try:
            hull = convex_hull(points)
        except MeshError:
            continue
        must_be_hull(hull, points)
        made += 1
    assert made > 100


def test_points_without_a_hull():
    rng = np.random.default_rng(0)
    plane = rng.normal(size=(30, 2)) @ rng.normal(size=(2, 3)) + 5.0
    line = np.outer(rng.normal(size=30), [1.0, 2.0, 3.0])
    for points in (plane, line, np.zeros((9, 3)), np.eye(3), np.zeros((0, 3))):
        with pytest.raises(MeshError, match=r"one plane.*at least 4"):
            convex_hull(points)
    for points in (line[:, :2], np.zeros((9, 2)), np.eye(2)):
        with pytest.raises(MeshError, match=r"one line.*at least 3"):
            convex_hull(points)
    with pytest.raises(MeshError, match="point 1 is not finite"):
        convex_hull([[0, 0], [np.nan, 1], [1, 0]])
    with pytest.raises(MeshError, match="shape"):
        convex_hull([1.0, 2.0])
    with pytest.raises(MeshError, match="tolerance"):
        convex_hull(np.eye(3), tolerance=0.0)
