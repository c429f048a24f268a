"""Which triangle a ray meets, and which body was pressed in a picture that is some frames old."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import turgor
from support.playgrounds import balls
from turgor import shapes
from turgor.viewer.draw.coordinates import upright
from turgor.viewer.page import shown_frames
from turgor.viewer.page.shown_frames import ShownFrames
from turgor.viewer.world.picking import first_hit

pytestmark = pytest.mark.req("A9", "X8")


def test_a_ray_meets_a_ball_where_the_sphere_is() -> None:
    """The faces lie between the sphere and the one inscribed in them, so the distance does, too."""
    ball = shapes.icosphere(radius=1.0, subdivisions=4)
    inner = np.linalg.norm(ball.vertices[ball.faces].mean(axis=1), axis=1).min()
    chance = np.random.default_rng(3)
    for _ in range(50):
        eye = chance.normal(size=3)
        eye *= 3.0 / np.linalg.norm(eye)
        aside = chance.normal(size=3) * 0.3
        ray = (aside - eye) / np.linalg.norm(aside - eye)
        hit = first_hit(eye, ray, ball.vertices, ball.faces, double=False)
        near = [-(eye @ ray) - np.sqrt((eye @ ray) ** 2 - eye @ eye + radius**2) for radius in (1.0, inner)]
        assert hit is not None
        assert near[0] - 1e-9 <= hit.distance <= near[1] + 1e-9
        np.testing.assert_allclose(
            hit.weights @ ball.vertices[ball.faces[hit.face]], eye + hit.distance * ray, atol=1e-12
        )
        assert hit.weights.sum() == pytest.approx(1.0)
        assert first_hit(eye, -ray, ball.vertices, ball.faces) is None


def test_the_side_from_which_a_face_is_seen_counts_where_it_is_drawn_on_one_side() -> None:
    points, faces = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]]), np.array([[0, 1, 2]])
    above, below = ([0.2, 0.2, 1.0], [0, 0, -1.0]), ([0.2, 0.2, -1.0], [0, 0, 1.0])
    assert first_hit(*above, points, faces, double=False) is not None
    assert first_hit(*below, points, faces, double=False) is None
    assert first_hit(*below, points, faces) is not None
    assert first_hit([-1.0, 0.2, 0.0], [1.0, 0, 0], points, faces) is None  # along its plane
    assert first_hit(*above, points, np.zeros((0, 3), int)) is None


def test_the_nearest_body_along_the_ray_is_picked(open_page: Any) -> None:
    page = open_page(balls())
    shown = ShownFrames()
    nodes, frame = page.playground.nodes, page.playground.world.frame()
    shown.keep(nodes, frame)
    left = shown.along((-5, 0.1, 0.05), (1, 0, 0))
    right = shown.along((5, 0.1, 0.05), (-1, 0, 0))
    assert left is not None
    assert right is not None
    assert (left.name, right.name) == ("left", "right")
    body = page.playground.world.layout.bodies[0]
    places = frame.positions[body.start : body.start + body.count]
    assert left.vertex == np.linalg.norm(places - left.point, axis=1).argmin()
    np.testing.assert_allclose(left.place(frame), left.point, atol=1e-6)
    assert shown.along((-5, 0.1, 0.6), (1, 0, 0)) is None
    assert shown.along((0, -5, 0), (0, 1, 0)) is None  # between them


@pytest.mark.parametrize("dim", [2, 3])
def test_a_press_picks_what_was_shown_then(open_page: Any, dim: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """`left` has flown away since: its point is now where it went, and where it was there is nothing any more."""
    monkeypatch.setattr(shown_frames, "SECONDS", 1e6)  # however long the machine takes
    page = open_page(balls(dim))
    world, shown = page.playground.world, ShownFrames()
    shown.keep(page.playground.nodes, world.frame())
    eye = (-0.45, -5.0, 0.1)
    pressed = shown.along(eye, (0, 1, 0))
    assert pressed is not None
    page.run(30)
    shown.keep(page.playground.nodes, world.frame())
    assert shown.along(eye, (0, 1, 0)) is None
    picked = shown.at_point(eye, pressed.point)
    assert picked is not None
    assert (picked.name, picked.vertex) == ("left", pressed.vertex)
    assert upright(picked.place(world.frame()))[0] < pressed.point[0] - 0.5
    assert shown.at_point(eye, (-0.45, 3.0, 0.1)) is None  # a point that lies on no body


def test_viser_makes_no_copy_of_a_mesh_that_is_streamed(open_page: Any) -> None:
    """It would take the copy for the body before it is placed: of meshes with more than 0.1 units (BasicMesh.tsx)."""
    page = open_page("five-balls")
    for node in page.playground.nodes.bodies:
        points = np.asarray(node.handle.vertices)
        assert np.linalg.norm(np.ptp(points, axis=0)) < 0.1
        expected = node.mesh.points(page.playground.nodes.points_of(page.playground.world.frame()))
        np.testing.assert_array_equal(points * node.handle.scale, expected)


def test_bodies_that_share_a_node_are_told_apart(open_page: Any) -> None:
    scene = turgor.Scene(gravity=0)
    for number in range(42):  # more than have a mesh of their own
        scene.add_rigid_body(shapes.box(size=(0.4, 0.4, 0.4)), name=f"box-{number}", at=(number, 0, 0), color="#cc3333")
    page = open_page(scene)
    shown = ShownFrames()
    shown.keep(page.playground.nodes, page.playground.world.frame())
    assert len(page.playground.nodes.bodies) == 1
    for number in (0, 17, 41):
        picked = shown.along((number + 0.1, -5, 0.1), (0, 1, 0))
        assert picked is not None
        assert picked.name == f"box-{number}"


def test_a_press_on_a_scene_that_is_no_longer_there_takes_nothing(open_page: Any) -> None:
    """The page still shows the old scene, whose bodies have other vertices, when the press comes."""
    scene = turgor.Scene(gravity=(0, 0, 0))
    scene.add_soft_body(shapes.icosphere(0.5, 3), name="ball")
    page = open_page(scene)
    page.run(1)
    other = turgor.Scene(gravity=(0, 0, 0))
    other.add_soft_body(shapes.icosphere(0.5, 1), name="ball")
    page.playground.world.open(other)  # and not shown yet
    eye = np.array([0.0, -3.0, 0.0])
    page.playground.pointers._take(7, eye, (0.0, -0.5, 0.0), (0.2, -0.5, 0.0))
    page.playground.pointers._clicked(("ball",), eye, (0.0, 1.0, 0.0), None)
    assert page.playground.world.grabbed == {}
