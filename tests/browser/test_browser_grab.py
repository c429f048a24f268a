"""What lies under the pointer in the picture is what is grabbed, in a real Chromium."""

from __future__ import annotations

import colorsys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser

from common.chromium import CHROMIUM, Visitor, ask
from turgor import Gas, Scene, gallery, shapes
from turgor.viewer.page import playground as playground_module
from turgor.viewer.page.playground import Playground
from turgor.viewer.world.grabs import strongest_pull

if CHROMIUM is None:
    pytest.skip("no Chromium on this machine (tools/browser installs one)", allow_module_level=True)
pytestmark = pytest.mark.req("A9", "X8")

SIZE = (1280, 800)  # pixels of the page
POINTS = 10  # per scene
MOMENTS = {"drop": 1.0, "letters": 0.9, "five-balls": 0.8, "jelly-2d": 0.5, "torus-and-cubes": 0.6}  # s
CREEP = 0.001  # × real time: bodies move, and a picture of them holds while all points are pressed
FPS = 24000.0  # frames per simulated second, so that the page gets new vertices for each picture in spite of that
MARGIN = 3  # pixels of the picture, each of several of the page, to the next outline
LIGHT = np.pi  # an ambient light in which a surface has its own colour
NOTHING = "nothing"
STRONG, WEAK, DARK = 60, 25, 170  # of 255: the colour of a body, of floor, grid and walls; the light of a dark body


@pytest.fixture(scope="module")
def visitor(browser: Browser) -> Iterator[Visitor]:
    updates, playground_module.UPDATES = playground_module.UPDATES, 24.0  # as many as software draws, and more
    with Playground(gallery.load("drop-2d"), port=0) as playground:
        visitor = Visitor(browser, playground, SIZE, calm=False)  # a hand is felt between pictures
        yield visitor
        visitor.close()
        assert visitor.errors == []
    playground_module.UPDATES = updates


def show(visitor: Visitor, name: str) -> None:
    """A scene in the middle of its motion, in slow motion from there on."""
    playground, world = visitor.playground, visitor.playground.world

    def start() -> None:
        playground.open(gallery.load(name))
        world.playing = False
        world.sim.run(MOMENTS[name])
        world.change("simulation.fps", FPS)

    ask(playground, start)
    visitor.wait(lambda: playground.shown == world.state, "the scene to be shown")
    visitor.settled()


def paint(visitor: Visitor) -> None:
    """Up to twelve bodies in colours of their own, six bright and six dark, without shades; nothing else in colour."""
    playground = visitor.playground
    names = [body.name for body in playground.world.layout.bodies]
    api = playground.server.scene
    with playground.server.atomic():
        for node in playground.nodes.bodies:
            number = names.index(node.names[0])
            color = colorsys.hsv_to_rgb(number % 6 / 6, 1.0, 1.0 - 0.6 * (number // 6))
            node.handle.color = tuple(round(255 * part) for part in color)
        api.configure_default_lights(enabled=False, cast_shadow=False)
        api.add_light_hemisphere("/light", intensity=0.0)
        api.add_light_ambient("/truth", intensity=LIGHT)
        playground.world.speed, playground.world.playing = CREEP, True


def drawn(visitor: Visitor) -> Any:
    """(height, width): the number of the body at each pixel of the picture, 0 for none, -1 for the edge of one."""
    picture = visitor.picture().astype(float)
    strength = np.ptp(picture, axis=-1)
    phase = 6 * np.angle(picture @ np.exp(2j * np.pi * np.arange(3) / 3)) / (2 * np.pi)
    numbers = np.where(
        np.abs(phase - phase.round()) < 0.3, phase.round() % 6 + 6 * (picture.max(axis=-1) < DARK) + 1, -1
    )
    return np.where(strength > STRONG, numbers, np.where(strength > WEAK, -1, 0)).astype(int)


def far_from_edges(numbers: Any) -> Any:
    """(n, 2): rows and columns of the pixels whose neighbours show the same."""
    size = 2 * MARGIN + 1
    windows = np.lib.stride_tricks.sliding_window_view(numbers, (size, size))
    same = (windows == windows[..., :1, :1]).all(axis=(-1, -2)) & (windows[..., 0, 0] >= 0)
    return np.argwhere(same) + MARGIN


def grabbed_by(visitor: Visitor, x: float, y: float) -> str:
    """The body that a drag from there takes; when it is none the camera turns, and in 2D turns back by itself."""
    world, heard = visitor.playground.world, len(visitor.told)
    eye = np.array([visitor.camera.position, visitor.camera.look_at])
    visitor.press(x, y)
    visitor.page.mouse.move(x + 8, y)
    try:
        visitor.wait(
            lambda: world.grabbed or any(np.abs(told - eye).max() > 1e-9 for told in visitor.told[heard:]),
            f"a grab at {x}, {y}",
        )
        held = [*world.grabbed, NOTHING][0]
    finally:
        visitor.release()
    visitor.wait(lambda: not world.grabbed, "the hand to let go")
    return held


@pytest.mark.parametrize("name", MOMENTS)
def test_what_lies_under_the_pointer_is_grabbed(visitor: Visitor, name: str) -> None:
    show(visitor, name)
    ask(visitor.playground, paint, visitor)
    names = [NOTHING, *(body.name for body in visitor.playground.world.layout.bodies)]
    box, eye, target = visitor.canvas, np.array(visitor.camera.position), np.array(visitor.camera.look_at)
    visitor.wait(lambda: (drawn(visitor) > 0).any(), "the colours")
    chance = np.random.default_rng(16)
    wrong, seen = [], set()
    numbers = drawn(visitor)
    places = far_from_edges(numbers)
    found = np.array([numbers[tuple(place)] for place in places])
    for _ in range(POINTS):
        while True:
            wanted = chance.choice(np.unique(found))  # small bodies, too
            row, column = chance.choice(places[found == wanted])
            x = box["x"] + (column + 0.5) / numbers.shape[1] * box["width"]
            y = box["y"] + (row + 0.5) / numbers.shape[0] * box["height"]
            if visitor.shows_picture(x, y):
                break
        held = grabbed_by(visitor, x, y)
        seen.add(names[wanted])
        if held != names[wanted]:
            wrong.append(f"({x:.0f}, {y:.0f}) shows {names[wanted]} and grabs {held}")
        if NOTHING in (held, names[wanted]):
            visitor.look(eye, target)
    assert wrong == []
    assert len(seen) > 1


def test_a_finger_drags_a_ball_and_the_force_is_shown(visitor: Visitor) -> None:
    show(visitor, "five-balls")
    playground, world = visitor.playground, visitor.playground.world
    finger = visitor.context.new_cdp_session(visitor.page)
    finger.send("Emulation.setTouchEmulationEnabled", {"enabled": True, "maxTouchPoints": 2})

    def touch(kind: str, *points: tuple[float, float]) -> None:
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y} for x, y in points]})

    name, center = ask(playground, nearest_body, visitor)
    x, y = visitor.pixel(center)
    touch("touchStart", (x, y))
    for step in range(1, 9):
        touch("touchMove", (x + 10 * step, y - 10 * step))
        visitor.page.wait_for_timeout(20)
    visitor.wait(lambda: list(world.grabbed) == [name], "the finger to hold the ball")
    eye = np.array(visitor.camera.position)
    nodes = playground.server.scene._handle_from_node_name
    visitor.wait(lambda: f"/pointer-{visitor.id}-force" in nodes, "the force to be shown")
    ask(playground, setattr, world, "playing", True)
    pulled = ask(playground, lambda: (np.array(world.pull_on(name)), nodes[f"/pointer-{visitor.id}-force"].text))
    force = np.linalg.norm(pulled[0])
    assert 0.0 < force <= strongest_pull(world, name) * (1 + 1e-6)
    assert pulled[1].endswith(" N")
    assert force == pytest.approx(float(pulled[1].split()[0]), rel=0.3)
    arrow = nodes[f"/pointer-{visitor.id}-arrow"]
    visitor.wait(lambda: arrow.visible, "the arrow")
    way = np.diff(arrow.points[0], axis=0)[0]
    right = np.cross(np.subtract(visitor.camera.look_at, eye), (0.0, 0.0, 1.0))
    assert way @ right > 0  # as the finger went
    assert way[2] > 0
    np.testing.assert_array_equal(visitor.camera.position, eye)  # a drag does not turn the camera
    touch("touchEnd")
    visitor.wait(lambda: not world.grabbed, "the finger to let go")
    visitor.wait(lambda: not any(node.startswith("/pointer-") for node in nodes), "the band to go")


def nearest_body(visitor: Visitor) -> tuple[str, Any]:
    """Name and centre (m) of the body that is nearest to a camera."""
    sim, eye = visitor.playground.world.sim, np.array(visitor.camera.position)
    name = min(sim.names, key=lambda name: float(np.linalg.norm(sim[name].center - eye)))
    return name, np.array(sim[name].center)


@pytest.mark.parametrize("slow", [False, True])
def test_the_camera_goes_after_a_ball_and_waits_while_a_person_has_it(
    browser: Browser, visitor: Visitor, slow: bool
) -> None:
    """What the page tells of its camera is not taken for a person's doing when it was set from here, nor the reverse:
    a page that draws a dozen pictures a second tells of a hand only in those that were not set from here."""
    scene = Scene(gravity=0)
    scene.add_soft_body(shapes.icosphere(0.5, 1), name="ball", gas=Gas(gauge=60.0), velocity=(6.0, 0.0, 0.0))
    playground, world = visitor.playground, visitor.playground.world
    person = Visitor(browser, playground, SIZE) if slow else visitor
    ask(playground, setattr, world, "speed", 1.0)
    ask(playground, playground.open, scene)
    person.wait(lambda: person.camera.look_at[0] > 8.0, "the camera to go after the ball")
    x, y = person.bare_spot()
    person.press(x, y)

    def turned() -> bool:
        """To and fro, however few pictures a busy machine draws meanwhile."""
        person.move((x, y), (x + 60, y + 20))
        person.move((x + 60, y + 20), (x, y))
        return person.id not in playground.cameras._following

    person.wait(turned, "following to wait")
    person.release()
    target = np.array(person.camera.look_at)
    person.wait(lambda: person.camera.look_at[0] > target[0] + 3.0, "following to go on")
    if slow:
        person.close()
