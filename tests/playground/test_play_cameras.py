"""Cameras of the playground: bodies that are added are seen, what leaves is followed or marked, people go first."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np
import pytest
from websockets.exceptions import ConnectionClosed

import turgor
from support.play_helpers import CAMERA, drain, page
from support.playgrounds import balls
from support.waiting import until
from turgor import gallery, shapes
from turgor.viewer.draw.camera import view_of
from turgor.viewer.draw.coordinates import from_view, upright
from turgor.viewer.draw.sight import Sight
from turgor.viewer.page import cameras as cameras_module
from turgor.viewer.page.playground import Playground
from turgor.viewer.world.added_bodies import add_shape, common_size, made
from turgor.viewer.world.world import World

pytestmark = pytest.mark.req("X8")
ASPECT = 1.6


def default_sight(world: World) -> Sight:
    view = view_of(world.layout, world.frame(), ASPECT)
    return Sight(np.array(view.position), np.array(view.look_at), view.fov, ASPECT)


def test_points_are_where_the_projection_puts_them() -> None:
    sight = Sight(np.array([0.0, -4.0, 0.0]), np.zeros(3), np.pi / 2, 2.0)
    np.testing.assert_allclose(sight.half_size, [8.0, 4.0])
    places = sight.places(np.array([[8.0, 0, 0], [0, 0, -4.0], [1.0, 4.0, 0], [0, -5.0, 0]]))
    np.testing.assert_allclose(places[:3], [[1, 0], [0, -1], [1 / 16, 0]], atol=1e-12)
    assert np.isinf(places[3]).all()
    assert not sight.sees(np.array([[8.1, 0, 0], [0, -5.0, 0]]))
    for point in ([20.0, 1.0, 3.0], [0.0, 0.0, -9.0], [3.0, -9.0, 1.0]):
        place, mark = sight.at_edge(np.array(point))
        assert np.abs(place).max() == pytest.approx(0.94)
        np.testing.assert_allclose(sight.places(mark[None])[0], place, atol=1e-9)
        assert np.dot(place, (np.array(point) - sight.eye)[[0, 2]]) > 0  # towards it


@pytest.mark.req("A9")
@pytest.mark.parametrize("name", [name for name in gallery.names() if name != "pile"])
def test_a_body_that_is_added_is_in_the_picture(name: str) -> None:
    """Above the picture's middle, smaller than the picture, and in it after at most a small step back."""
    world = World(gallery.load(name))
    for _ in range(20):
        world.sim.step()
    sight = default_sight(world)
    center = from_view(sight.target, world.scene.dim)
    world.picture_center = lambda: center
    size = common_size(world)
    added = add_shape(world, made("circle" if world.scene.dim == 2 else "ball", size), "ball", rigid=False)
    points = upright(world.sim[added].positions)
    places = sight.places(points)
    assert np.ptp(places[:, 1]) / 2 < 0.6  # of the picture's height
    assert np.abs(places).max() < 2.0
    if not world.scene.containers:
        assert abs(places[:, 0].mean()) < 0.15
        assert places[:, 1].mean() > -0.05


def test_a_body_is_added_above_the_picture_wherever_the_others_are() -> None:
    """The middle of all bodies is far away when one has flown off; the picture's is not."""
    scene = balls()
    scene.add_rigid_body(shapes.box(size=(0.3, 0.3, 0.3)), name="gone", at=(90, 0, 40))
    world = World(scene)
    world.picture_center = lambda: np.array([0.0, 0.0, 0.1])
    added = add_shape(world, made("ball", 0.5), "ball", rigid=True)
    place = world.sim[added].positions.mean(axis=0)
    np.testing.assert_allclose(place[:2], 0.0, atol=1e-6)
    assert 0.1 < place[2] < 1.5


def test_a_flag_gets_a_ball_of_its_measure() -> None:
    world = World(gallery.load("flag"))
    assert 0.2 < common_size(world) / np.ptp(world.frame().positions, axis=0).max() < 0.5


# --- with a page


class Guest:
    """A page that tells where its camera is, as a browser does."""

    def __init__(self, link: Any, playground: Playground) -> None:
        self._link, self.playground = link, playground
        threading.Thread(target=self._read, daemon=True).start()
        until(lambda: playground.shown[0] == playground.world.version)
        self.put((0, -9, 1), (0, 0, 0))
        until(playground.server.get_clients)
        (self.client,) = playground.server.get_clients().values()
        until(lambda: self.client.client_id in playground.cameras._welcome)
        ask(playground, lambda: None)  # it is aimed

    def _read(self) -> None:
        """A page that does not read is cut off."""
        with contextlib.suppress(ConnectionClosed, TimeoutError):
            drain(self._link)

    def put(self, eye: Any, target: Any) -> None:
        link = CAMERA | {"position": eye, "look_at": target, "image_width": 160, "fov": 0.45}
        self._link.send(
            msgspec.msgpack.encode(link | {key: [float(x) for x in link[key]] for key in ("position", "look_at")})
        )

    @property
    def sight(self) -> Sight:
        return Sight.of(self.client.camera)


@contextlib.contextmanager
def visit(scene: turgor.Scene) -> Iterator[Guest]:
    with Playground(scene, port=0) as playground, page(playground.port) as link:
        yield Guest(link, playground)


def ask(playground: Playground, function: Any, *arguments: Any) -> None:
    done: list[Any] = []
    playground.do(lambda: done.append(function(*arguments)))
    until(lambda: done)


def runaway() -> turgor.Scene:
    """Two balls that fly away together."""
    scene = balls()
    for body in scene.soft_bodies:
        scene.set(f"{body.name}.velocity", (3.0, 0.0, 0.0))
    return scene


def names_marked(guest: Guest) -> set[str]:
    return set(guest.playground.cameras._marks.get(guest.client.client_id, {}))


def test_a_camera_goes_after_bodies_that_leave_it() -> None:
    with visit(runaway()) as guest:
        world = guest.playground.world
        start = guest.sight.eye[0]
        until(lambda: world.sim.time > 3.0)
        until(lambda: guest.sight.eye[0] > start + 2.0)
        ask(guest.playground, setattr, world, "playing", False)
        until(lambda: guest.sight.sees(upright(world.sim["left"].positions)))
        until(lambda: not names_marked(guest))


def test_following_can_be_turned_off_and_then_bodies_are_marked() -> None:
    with visit(runaway()) as guest:
        guest.playground.follow = False
        start = guest.sight.eye
        until(lambda: names_marked(guest) == {"left", "right"})
        np.testing.assert_array_equal(guest.sight.eye, start)
        (label, *_) = guest.playground.cameras._marks[guest.client.client_id].values()
        assert label.text.endswith("→")
        ask(guest.playground, guest.playground.world.reset)
        until(lambda: not names_marked(guest))


def test_a_person_who_moves_the_camera_goes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cameras_module, "PAUSE", 1e6)
    with visit(runaway()) as guest:
        own = np.array([4.0, -30.0, 5.0]), np.array([-8.0, 0.0, 0.0])
        until(lambda: guest.playground.world.sim.time > 0.1)
        guest.put(*own)
        until(lambda: np.allclose(guest.sight.eye, own[0]))
        begin = time.time()
        until(lambda: names_marked(guest) == {"left", "right"})
        until(lambda: time.time() > begin + 2 * cameras_module.SETTLING)
        np.testing.assert_allclose(guest.sight.eye, own[0])


def test_reset_frames_the_scene_again_from_the_side_of_the_person() -> None:
    with visit(gallery.load("drop")) as guest:
        world = guest.playground.world
        guest.put((60.0, 0.0, 40.0), (50.0, 0.0, 40.0))
        until(lambda: guest.sight.eye[0] == 60.0)
        ask(guest.playground, world.reset)
        until(lambda: guest.sight.eye[0] != 60.0)
        away = guest.sight.eye - guest.sight.target
        np.testing.assert_allclose(away / np.linalg.norm(away), (1.0, 0.0, 0.0), atol=1e-6)
        places = guest.sight.places(world.frame().positions)
        assert np.abs(places).max() < 1.0


def test_a_body_that_is_added_outside_the_picture_makes_the_camera_step_back() -> None:
    with visit(balls()) as guest:
        world = guest.playground.world
        guest.put((0.0, -2.0, 0.0), (0.0, 0.0, 0.0))
        until(lambda: guest.sight.eye[1] == -2.0)
        ask(guest.playground, add_shape, world, made("ball", 0.8), "ball", True)
        until(lambda: guest.sight.eye[1] < -2.1)
        assert np.abs(guest.sight.places(world.sim["ball-1"].positions)).max() < 1.0
