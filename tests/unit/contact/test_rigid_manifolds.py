"""Manifolds of convex pieces: polygons of hulls, separating axes against brute force, clipped faces."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from support.laws import PRECISIONS
from support.rigid_world import BOX, RigidWorld, box_of, scene_of, up
from turgor import shapes
from turgor.contact.rigid.polytope import Polytopes
from turgor.kernel.numbers import numbers
from turgor.model.rigids import Collider
from turgor.scene.data import rotation_matrix
from turgor.shapes import Shape
from turgor.shapes.hull import convex_hull


def test_a_box_has_six_faces_and_twelve_edges() -> None:
    hull = convex_hull(shapes.box(size=(1.0, 2.0, 3.0), subdivisions=3).vertices)
    tables = Polytopes([Collider("hull", hull.vertices, hull.faces, 0.0, 0.01)], numbers(3, "double"), "cpu")
    assert (len(tables.points), len(tables.normals), len(tables.edges)) == (8, 6, 12)
    assert sorted(np.abs(tables.offsets)) == pytest.approx([0.5, 0.5, 1.0, 1.0, 1.5, 1.5])


@given(seed=st.integers(0, 10**6))
@example(seed=1787)  # a point that is no corner: the faces around it are flat within the tolerance
def test_a_hull_is_closed(seed: int) -> None:
    hull = random_hull(np.random.default_rng(seed))
    tables = Polytopes([Collider("hull", hull.vertices, hull.faces, 0.0, 0.01)], numbers(3, "double"), "cpu")
    assert len(set(tables.loop)) - len(tables.edges) + len(tables.normals) == 2  # Euler
    for (i, j), (left, right) in zip(tables.edges, tables.beside, strict=True):
        along = tables.points[j] - tables.points[i]
        assert abs(along @ left) < 1e-3 * np.linalg.norm(along)  # merged faces bend by up to 0.02°
        assert np.cross(right, left) @ along > 0.0


def random_hull(rng, dim=3):
    return convex_hull(rng.normal(size=(rng.integers(4, 15), dim)) * rng.uniform(0.1, 0.4, dim))


def face_normals(shape):
    corner = shape.vertices[shape.faces]
    along = corner[:, 1] - corner[:, 0]
    if corner.shape[2] == 2:
        normal = np.stack([along[:, 1], -along[:, 0]], axis=1)
    else:
        normal = np.cross(along, corner[:, 2] - corner[:, 0])
    return normal / np.linalg.norm(normal, axis=1)[:, None]


def widest_gap(a, b):
    """Largest gap over all face normals and all edge x edge, by projection of all points."""
    axes = [face_normals(a), face_normals(b)]
    if a.dim == 3:
        corners = [shape.vertices[shape.faces] for shape in (a, b)]
        first, second = ((np.roll(corner, -1, axis=1) - corner).reshape(-1, 3) for corner in corners)
        first, second = (along / np.linalg.norm(along, axis=1)[:, None] for along in (first, second))
        crossed = np.cross(first[:, None], second[None]).reshape(-1, 3)
        size = np.linalg.norm(crossed, axis=1)
        axes.append((crossed / np.maximum(size, 1e-9)[:, None])[size > 1e-3])
    axis = np.concatenate(axes)
    axis = np.concatenate([axis, -axis])
    return float(((b.vertices @ axis.T).min(axis=0) - (a.vertices @ axis.T).max(axis=0)).max())


def distance(a, b):
    """Distance of two hulls: the point of the Minkowski difference nearest to zero, by Wolfe's algorithm (1976)."""
    points = (a.vertices[:, None] - b.vertices[None]).reshape(-1, a.dim)
    chosen, weights = [int(np.sum(points**2, axis=1).argmin())], np.ones(1)
    for _ in range(200):
        x = weights @ points[chosen]
        i = int((points @ x).argmin())
        if points[i] @ x >= x @ x - 1e-13 or i in chosen:
            break
        chosen, weights = [*chosen, i], np.append(weights, 0.0)
        while True:
            q = points[chosen]
            system = np.block([[q @ q.T, np.ones((len(q), 1))], [np.ones((1, len(q))), np.zeros((1, 1))]])
            affine = np.linalg.lstsq(system, np.append(np.zeros(len(q)), 1.0), rcond=None)[0][:-1]
            if (affine > 1e-12).all():
                weights = affine
                break
            falls = affine < weights
            ratio = np.where(falls, weights / np.where(falls, weights - affine, 1.0), np.inf)
            weights = weights + min(1.0, ratio[affine <= 1e-12].min()) * (affine - weights)
            keep = weights > 1e-12
            chosen, weights = [c for c, k in zip(chosen, keep, strict=True) if k], weights[keep]
    return float(np.linalg.norm(weights @ points[chosen]))


@pytest.mark.req("B13", "B14")
@pytest.mark.parametrize("dim", [2, 3])
@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 10**9))
def test_manifolds_of_random_hulls_agree_with_brute_force(dim, seed) -> None:
    rng = np.random.default_rng(seed)
    hulls = [random_hull(rng, dim) for _ in range(2)]
    turns = [float(rng.uniform(-3, 3)) if dim == 2 else tuple(rng.uniform(-3, 3, 3)) for _ in hulls]
    places = np.array([np.zeros(dim), rng.normal(size=dim) * rng.uniform(0.0, 0.5)])
    scene = scene_of(dim)
    for hull, turn, place in zip(hulls, turns, places, strict=True):
        scene.add_rigid_body(hull, at=tuple(place), rotation=turn, skin=0.02)
    world = RigidWorld(scene, 1e-3)
    placed = [
        Shape(hull.vertices @ rotation_matrix(turn).T + place, hull.faces, hull.kind, {})
        for hull, turn, place in zip(hulls, turns, places, strict=True)
    ]
    margin = 0.04  # both skins
    slack = 0.05 * margin
    gap, apart = widest_gap(*placed), distance(*placed)
    assert gap <= apart + 1e-9  # the oracles agree
    rows = world.find()
    if gap > margin:
        assert rows == []
        return
    if not rows:  # corner to corner, where neither face lies over the other; or all but out of reach
        assert gap > 0.0
        assert apart > gap + 1e-6 or gap > margin - 2 * slack
        return
    (pair,) = rows
    least = pair.gap.min()
    # The normal is as good as the best axis, but for what a manifold of a face is worth: 2 slacks and a tenth.
    along = (placed[0].vertices @ pair.normal).min() - (placed[1].vertices @ pair.normal).max()
    assert along <= gap + 1e-6
    assert along >= gap - 3 * slack - max(-gap, 0.0) / 9
    assert least >= along - 1e-6  # no point is said to be deeper than the bodies are
    if gap < -2 * slack:
        assert least < 0.0
    for place, row in zip(pair.arm_a + world.x[0], pair.gap, strict=True):
        if row > 0.0:  # the point lies midway between the surfaces
            assert max(outside(shape, place) for shape in placed) <= row / 2 + 2 * slack


def outside(shape, point):
    """How far a point is in front of a face, at most."""
    return np.sum((point - shape.vertices[shape.faces[:, 0]]) * face_normals(shape), axis=1).max()


@pytest.mark.req("B13", "B14")
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("gap", [0.001, 0.0, -0.001])
def test_a_box_on_a_box_touches_with_its_corners(dim, precision, gap) -> None:
    scene = scene_of(dim)
    scene.add_rigid_body(box_of(dim), at=up(dim, 0.0))
    scene.add_rigid_body(box_of(dim), at=up(dim, 0.3 + gap, 0.05))
    (pair,) = RigidWorld(scene, 1e-3, precision=precision).find()
    assert len(pair.gap) == (2 if dim == 2 else 4)
    assert pair.gap == pytest.approx(gap, abs=1e-6)
    assert pair.normal == pytest.approx(up(dim, -1.0))
    assert pair.arm_a[:, -1] == pytest.approx(0.15 + gap / 2, abs=1e-6)
    assert sorted({*np.round(pair.arm_a[:, 0], 4)}) == pytest.approx([-0.1, 0.15], abs=0.002)


def test_a_turned_box_on_a_box_touches_in_an_octagon_of_which_four_corners_count() -> None:
    scene = scene_of()
    scene.add_rigid_body(BOX, at=(0.0, 0.0, 0.0))
    scene.add_rigid_body(BOX, at=(0.0, 0.0, 0.3), rotation=(0.0, 0.0, np.pi / 4))
    (pair,) = RigidWorld(scene, 1e-3).find()
    assert len(pair.gap) == 4
    arms = np.linalg.norm(pair.arm_a[:, :2], axis=1)
    assert arms == pytest.approx(0.15 / np.cos(np.pi / 8), abs=0.003)
    assert np.linalg.norm(pair.arm_a.mean(axis=0)[:2]) < 0.07
