"""The smooth skin that coarse bodies are drawn with."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import turgor
from support.layouts import GROUND, GROUND_2D, GROUND_POSE_2D, ball_frame, ball_layout, frame_of
from turgor import Simulation, gallery, shapes
from turgor.output.frame import BodyLayout, Frame, Layout, WallLayout, WallPose
from turgor.record.geometry import loops, vertex_normals
from turgor.record.skin import COARSE, MOST_POINTS, Skin

pytestmark = pytest.mark.req("X8", "X9")
FLOOR = WallPose(np.zeros(3), np.eye(3))


def layout_of(shape: Any, kind: str = "soft", walls: tuple[WallLayout, ...] = ()) -> Layout:
    """One body."""
    faces = np.asarray(shape.faces, np.int32)
    body = BodyLayout("body", kind, 0, len(shape.vertices), faces, uv=shape.uv)
    return Layout("one", shape.vertices.shape[1], 60.0, (body,), walls)


def of_shape(shape: Any, kind: str = "soft") -> tuple[Skin, np.ndarray]:
    """The skin of a shape, and its points."""
    frame = frame_of(np.asarray(shape.vertices, float), 0, 1)
    skin = Skin(layout_of(shape, kind), frame)
    return skin, skin.points(frame)


def test_vertices_stay_where_they_are_and_a_ball_is_round() -> None:
    layout, rest = ball_layout()
    frame = ball_frame(rest, 0, 3.0)
    skin = Skin(layout, frame)
    points = skin.points(frame)
    np.testing.assert_array_equal(points[: len(rest)], frame.positions.astype(np.float32))
    assert len(points) == 2562  # twice subdivided
    radii = np.linalg.norm(points - [0.0, 0.0, 3.0], axis=1)
    coarse = np.linalg.norm(rest[np.asarray(layout.bodies[0].faces)].mean(axis=1), axis=1)
    assert coarse.min() < 0.492
    assert np.abs(radii - 0.5).max() < 0.002
    drawn = skin.bodies[0]
    normals = vertex_normals(points[drawn.points], drawn.faces)
    assert (normals * (points[drawn.points] - [0.0, 0.0, 3.0])).sum(axis=1).min() > 0.498 * np.cos(np.radians(3.0))


@pytest.mark.parametrize("name", ["drop", "letters", "cat-and-sphere", "flag", "jelly-2d", "torus-and-cubes"])
def test_the_skin_moves_with_its_body(name: str) -> None:
    """Weights sum up to one: what stretches and turns the vertices does the same with all points."""
    sim = Simulation(gallery.load(name))
    frame = sim.frame()
    skin = Skin(Layout(name, sim.layout.dim, 60.0, sim.layout.bodies), Frame(**{**vars(frame), "walls": ()}))
    dim = sim.layout.dim
    matrix, shift = np.eye(dim) + 0.3 * np.random.default_rng(1).standard_normal((dim, dim)), np.arange(1.0, dim + 1)
    bare = Frame(**{**vars(frame), "walls": ()})
    moved = Frame(**{**vars(bare), "positions": frame.positions @ matrix.T + shift})
    np.testing.assert_allclose(skin.points(moved), skin.points(bare) @ matrix.T + shift, atol=2e-5)


@pytest.mark.parametrize("shape", [shapes.box(subdivisions=4), shapes.letter("T")], ids=["box", "letter"])
def test_sharp_edges_and_flat_faces_stay(shape: Any) -> None:
    skin, points = of_shape(shape)
    assert len(points) > len(shape.vertices)
    np.testing.assert_allclose(points.min(axis=0), shape.vertices.min(axis=0), atol=1e-6)
    np.testing.assert_allclose(points.max(axis=0), shape.vertices.max(axis=0), atol=1e-6)
    drawn = skin.bodies[0]
    area = 0.5 * np.linalg.norm(
        np.cross(*np.moveaxis(np.diff(points[drawn.points[drawn.faces]], axis=1), 1, 0)), axis=1
    )
    corner = np.asarray(shape.vertices)[np.asarray(shape.faces)]
    rest = 0.5 * np.linalg.norm(np.cross(*np.moveaxis(np.diff(corner, axis=1), 1, 0)), axis=1)
    assert area.sum() == pytest.approx(rest.sum(), rel=1e-5)
    assert len(drawn.points) > skin.count  # doubled at the edges


def test_a_rigid_box_is_drawn_as_it_is_and_a_rigid_ball_is_not() -> None:
    assert of_shape(shapes.box(), "rigid")[0].count == 8
    assert of_shape(shapes.icosphere(subdivisions=1), "rigid")[0].count == 642


def test_fine_bodies_and_many_bodies_are_drawn_as_they_are() -> None:
    assert of_shape(shapes.icosphere(subdivisions=4))[0].count == 2562 > COARSE
    sim = Simulation(gallery.load("pile"))
    assert Skin(sim.layout, sim.frame()).count == sim.layout.vertices > MOST_POINTS


@pytest.mark.parametrize("depth", [0.1, 0.25])
def test_a_ball_that_lies_on_the_floor_does_not_bulge_through_it(depth: float) -> None:
    layout, rest = ball_layout()
    frame = ball_frame(rest, 0, 0.5 - depth)
    frame.positions[:, 2] = np.maximum(frame.positions[:, 2], 0.0)
    points = Skin(layout, frame).points(frame)
    assert points[:, 2].min() >= -1e-6
    free = Skin(Layout("free", 3, 60.0, layout.bodies), Frame(**{**vars(frame), "walls": ()}))
    assert free.points(Frame(**{**vars(frame), "walls": ()}))[:, 2].min() < -0.003


def test_a_ball_in_a_turned_box_stays_in_it_and_one_outside_is_left_alone() -> None:
    layout, rest = ball_layout()
    turn = np.linalg.qr(np.random.default_rng(3).standard_normal((3, 3)))[0]
    turn *= np.sign(np.linalg.det(turn))
    walls = (WallLayout("box", "container", (), (1.0, 2.0, 3.0)),)
    middle = np.array([0.4, -1.0, 2.0])
    held = Layout("held", 3, 60.0, layout.bodies, walls)
    for offset, inside in (((0.25, 0.2, 0.1), True), ((5.0, 0.0, 0.0), False)):
        local = rest + offset
        if inside:
            local[:, 0] = np.minimum(local[:, 0], 0.5)
        frame = frame_of(local @ turn.T + middle, 0, 1, (WallPose(middle, turn),))
        points = (Skin(held, frame).points(frame) - middle) @ turn
        if inside:
            assert np.abs(points[:, 0]).max() <= 0.5 + 1e-6
        else:
            assert np.abs(np.linalg.norm(points - offset, axis=1) - 0.5).max() < 0.002


@pytest.mark.parametrize("name", ["five-balls", "drop", "hand-and-ball", "cat-and-sphere", "spheres-torus-cubes"])
def test_the_skin_bulges_out_of_its_faces_by_little(name: str) -> None:
    """After half a second of motion no new point is farther from its edge than a fifth of the edge's length: so much
    at most a drawn body reaches into another that its vertices only touch."""
    sim = Simulation(gallery.load(name))
    sim.run(seconds=0.5)
    frame = sim.frame()
    skin = Skin(sim.layout, frame)
    points = skin.points(frame)
    ends = points[skin.edges_of_points()]
    away = np.linalg.norm(points[sim.layout.vertices :] - ends.mean(axis=1), axis=1)
    assert (away <= 0.2 * np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1) + 1e-6).mean() > 0.995
    assert (away <= 0.35 * np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1) + 1e-6).all()


def test_outlines_in_2d_are_round_and_keep_their_corners() -> None:
    skin, points = of_shape(shapes.circle(radius=0.5, points=24))
    assert len(points) == 4 * 24
    assert np.abs(np.linalg.norm(points, axis=1) - 0.5).max() < 5e-4
    (loop,), chains = loops(skin.bodies[0].points[skin.bodies[0].faces])
    assert len(loop) == 4 * 24
    assert chains == []
    square = shapes.polygon(sides=4, points=24)
    _, points = of_shape(square)
    np.testing.assert_allclose(points.min(axis=0), square.vertices.min(axis=0), atol=1e-6)
    np.testing.assert_allclose(points.max(axis=0), square.vertices.max(axis=0), atol=1e-6)


def test_an_outline_does_not_go_through_the_floor() -> None:
    shape = shapes.circle(radius=0.5, points=16)
    flat = shape.vertices + np.array([0.0, 0.35])
    flat[:, 1] = np.maximum(flat[:, 1], 0.0)
    frame = frame_of(flat, 0, 1, GROUND_POSE_2D)
    points = Skin(layout_of(shape, walls=(GROUND_2D,)), frame).points(frame)
    assert points[:, 1].min() >= -1e-6


def test_values_of_vertices_are_carried_along() -> None:
    sim = Simulation(gallery.load("flag"))
    frame = sim.frame()
    skin = Skin(sim.layout, frame)
    uv = skin.texture_coordinates()
    assert uv.shape == (skin.count, 2)
    assert uv.min() == 0.0
    assert uv.max() == 1.0
    np.testing.assert_allclose(skin.spread(np.full(sim.layout.vertices, 7.0)), 7.0)


def test_a_point_of_the_skin_is_a_sum_of_vertices() -> None:
    layout, rest = ball_layout()
    frame = ball_frame(rest, 0, 3.0)
    skin = Skin(layout, frame)
    points = skin.points(frame)
    chosen, shares = np.array([5, 300, 2000]), np.array([0.2, 0.5, 0.3])
    vertices, weights = skin.in_vertices(chosen, shares)
    assert weights.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(weights @ frame.positions[vertices], shares @ points[chosen], atol=1e-6)


def test_infinite_positions_are_drawn_somewhere() -> None:
    layout, rest = ball_layout()
    frame = ball_frame(rest, 0, 1.0)
    frame.positions[3] = np.nan
    frame.positions[4] = np.inf
    assert np.isfinite(Skin(layout, frame).points(frame)).all()


def test_open_meshes_and_odd_ones() -> None:
    """A lone triangle, two that share a vertex, three at one edge."""
    for faces in ([[0, 1, 2]], [[0, 1, 2], [2, 3, 4]], [[0, 1, 2], [1, 0, 3], [0, 1, 4]]):
        points = np.random.default_rng(0).standard_normal((5, 3))
        body = BodyLayout("odd", "cloth", 0, 5, np.array(faces, np.int32))
        frame = frame_of(points, 0, 1, (FLOOR,))
        skin = Skin(Layout("odd", 3, 60.0, (body,), (GROUND,)), frame)
        assert np.isfinite(skin.points(frame)).all()
    assert turgor.record.Look().smooth
