"""Hands on in the playground: bodies are added where there is room, meshes are uploaded, points are pinned (A9)."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import trimesh

import turgor
from common.chromium import ask
from support.waiting import until
from turgor import gallery, shapes
from turgor.errors import SceneError
from turgor.scene.data import SoftBody
from turgor.viewer.page.playground import Playground
from turgor.viewer.page.tabs.add import AddTab
from turgor.viewer.page.tabs.upload import VERTICES
from turgor.viewer.world.added_bodies import FLAT, SOLID, add_shape, common_size, made
from turgor.viewer.world.world import World

pytestmark = pytest.mark.req("A9", "X8")


def boxes(world: World) -> dict[str, tuple[Any, Any]]:
    points = {name: world.sim[name].positions for name in world.sim.names}
    return {name: (own.min(axis=0), own.max(axis=0)) for name, own in points.items()}


@pytest.mark.parametrize("rigid", [False, True], ids=["soft", "rigid"])
@pytest.mark.parametrize(
    ("name", "what"),
    [("five-balls", "ball"), ("five-balls", "letter"), ("flag", "box"), ("flag", "cone"), ("torus-and-cubes", "letter")]
    + [("jelly-2d", what) for what in FLAT],
)
def test_a_newcomer_has_room_and_the_world_goes_on(name: str, what: str, rigid: bool) -> None:
    world = World(gallery.load(name))
    for _ in range(30):
        world.sim.step()
    before = {other: world.sim[other].positions for other in world.sim.names}
    size = 0.5 * common_size(world) if name in ("five-balls", "jelly-2d") else common_size(world)
    added = add_shape(world, made(what, size, "P"), what, rigid)
    for other, points in before.items():
        assert world.sim[other].positions == pytest.approx(points, abs=1e-6)  # nothing else has moved
    found = boxes(world)
    low, high = found.pop(added)
    for other, (lower, higher) in found.items():
        assert np.any(low > higher) or np.any(high < lower), other
    if world.scene.containers:
        box = world.scene.containers[0]
        assert np.all(np.linalg.norm(world.sim[added].positions - box.at, axis=1) < np.linalg.norm(box.size) / 2.0)
    for _ in range(20):
        world.sim.step()
    assert world.sim.finite
    assert np.abs(world.sim[added].velocities).max() < 10.0  # it falls, and does not jump
    if not rigid:
        assert isinstance(world.scene[added], SoftBody)
        assert 0.5 < world.sim[added].volume / world.sim[added].rest_volume < 4.0
    assert turgor.Scene.from_toml(world.scene.to_toml()) == world.scene


@pytest.mark.req("X11", "X15")
@pytest.mark.parametrize("material", ["beach_ball", turgor.materials.rubber.membrane], ids=["preset", "own"])
@pytest.mark.parametrize("what", ["ball", "box"])
def test_newcomers_are_of_the_material_of_the_scene(what: str, material: Any) -> None:
    scene = turgor.Scene()
    scene.add_ground()
    gas = {} if isinstance(material, str) else {"gas": turgor.Gas.at(gauge=500.0, pressure_at="equilibrium")}
    scene.add_soft_body(shapes.icosphere(0.15, 2), name="toy", material=material, at=(0.0, 0.0, 0.2), **gas)
    world = World(scene)
    added = add_shape(world, made(what, 0.5), what, rigid=False)
    body = world.scene[added]
    assert isinstance(body, SoftBody)
    assert body.material == material
    for _ in range(20):
        world.sim.step()
    assert np.abs(world.sim[added].velocities).max() < 10.0
    assert 1.0 < world.sim[added].volume / world.sim[added].rest_volume < 1.5
    assert turgor.Scene.from_toml(world.scene.to_toml()) == world.scene


@pytest.mark.req("X11", "X15")
@pytest.mark.parametrize("name", ["drop", "jelly-2d"])
def test_newcomers_are_of_the_material_that_is_chosen(name: str) -> None:
    world = World(gallery.load(name))
    what = "circle" if world.scene.dim == 2 else "ball"
    added = add_shape(world, made(what, common_size(world)), what, rigid=False, material="rubber", self_contact=False)
    body = world.scene[added]
    assert isinstance(body, SoftBody)
    assert (body.material, body.self_contact) == ("rubber", False)
    for _ in range(10):
        world.sim.step()
    assert 0.9 < world.sim[added].volume / world.sim[added].rest_volume < 1.5
    assert turgor.Scene.from_toml(world.scene.to_toml()) == world.scene


def test_bodies_pile_up_until_the_box_is_full() -> None:
    world = World(gallery.load("five-balls"))
    shape = made("ball", 0.9)

    def fill() -> None:
        for _ in range(40):
            add_shape(world, shape, "ball", rigid=True)

    with pytest.raises(SceneError, match="no free place"):
        fill()
    assert 5 < len(world.sim.names) < 40
    assert len(set(world.sim.names)) == len(world.sim.names)


def test_a_letter_is_one_letter() -> None:
    for bad in ("", "AB", " "):
        with pytest.raises(SceneError, match="one letter"):
            made("letter", 0.5, bad)
    assert made("letter", 0.5, "Z\u0307").volume == made("letter", 0.5, "Ż").volume  # the accent typed apart
    assert made("letter", 0.5, "i").volume > 0.5 * sum(part.volume for part in shapes.text("i", 0.5, 0.15, 0.05))
    assert list(made("cone", 0.5).recipe) == ["cone"]
    assert np.ptp(made("cone", 0.5).vertices, axis=0).max() == pytest.approx(0.5)
    assert set(SOLID) == {"ball", "box", "cone", "letter"}


@pytest.fixture
def playground(open_playground: Callable[..., Playground]) -> Playground:
    opened = open_playground("hanging-ball", Add=AddTab)
    until(lambda: opened.shown[0] == opened.world.version)
    return opened


def click(playground: Playground, name: str, vertex: int, modifier: str | None) -> None:
    playground.do(playground.pointers.click, name, vertex, modifier)


def test_shift_click_pins_and_frees_a_point(playground: Playground) -> None:
    panel, world = playground.tabs[0], playground.world
    (top,) = world.scene["ball"].pinned.tolist()  # type: ignore[union-attr]
    lowest = int(world.sim["ball"].positions[:, 2].argmin())
    click(playground, "ball", lowest, "shift")
    assert until(lambda: world.scene["ball"].pinned.tolist() == sorted([top, lowest]))  # type: ignore[union-attr]
    place = world.sim["ball"].positions[lowest]
    start = world.sim.time
    assert until(lambda: world.sim.time > start + 0.3)
    assert world.sim["ball"].positions[lowest] == pytest.approx(place, abs=1e-5)
    assert until(lambda: panel._state.content.startswith("2 of"))  # type: ignore[attr-defined]
    click(playground, "ball", lowest, "shift")
    assert until(lambda: world.scene["ball"].pinned.tolist() == [top])  # type: ignore[union-attr]
    playground.do(panel._unpin_all)  # type: ignore[attr-defined]
    assert until(lambda: panel._state.content == "")  # type: ignore[attr-defined]
    assert until(lambda: world.sim["ball"].positions[:, 2].max() < 1.5)  # it has fallen


# uploads: verdict, choices, body --------------------------------------------------------------------------------------


class Sent:
    """What viser hands over when a page has sent a file."""

    def __init__(self, name: str, content: bytes) -> None:
        self.target = SimpleNamespace(value=SimpleNamespace(name=name, content=content))


def ball_file(subdivisions: int, holes: int = 0) -> bytes:
    shell = trimesh.creation.icosphere(subdivisions=subdivisions, radius=30.0)
    shell.update_faces(np.arange(len(shell.faces)) >= holes)
    return str(shell.export(file_type="obj")).encode()


@pytest.mark.req("X15")
def test_an_upload_is_judged_first_and_added_as_chosen(playground: Playground) -> None:
    folder, world = playground.tabs[0].upload, playground.world  # type: ignore[attr-defined]
    assert not folder.size.visible
    playground.do(lambda: setattr(world, "playing", False))  # the size that is proposed follows the picture
    names = list(world.sim.names)
    folder.take(Sent("fine.obj", ball_file(4)))  # 2562 vertices
    assert until(lambda: "**fine.obj** is fine." in folder.verdict)
    assert folder.size.visible
    assert world.sim.names == names  # nothing is added yet
    assert folder.size.value == pytest.approx(common_size(world), rel=0.01)
    assert (folder.material.value, folder.vertices.value, folder.vertices.max) == ("beach ball", VERTICES, 2562)
    folder.vertices.value, folder.material.value = 300, "rubber"
    folder._wanted(None)
    assert until(lambda: "mesh-1" in world.scene.names)
    body = world.scene["mesh-1"]
    assert isinstance(body, SoftBody)
    assert body.material == "rubber"
    assert len(body.shape.vertices) == 300
    assert np.ptp(body.positions, axis=0).max() == pytest.approx(folder.size.value, rel=1e-3)
    assert until(lambda: "added as **mesh-1**, 300 vertices" in folder.verdict)
    folder.material.value = "rigid"
    folder._wanted(None)  # again, of other stuff
    assert until(lambda: "mesh-2" in world.scene.names)
    assert "mesh-2" in [body.name for body in world.scene.rigid_bodies]
    playground.do(folder.forget)
    assert until(lambda: not folder.size.visible)


@pytest.mark.req("X15")
def test_an_open_mesh_offers_to_close_its_holes(playground: Playground) -> None:
    folder, world = playground.tabs[0].upload, playground.world  # type: ignore[attr-defined]
    folder.take(Sent("open.obj", ball_file(2, holes=1)))
    assert until(lambda: playground.notices.title == "The mesh is open")
    assert playground.notices.text == "open.obj has 1 hole, and its gas would leak out."
    assert "cannot hold gas" in folder.verdict
    assert not folder.size.visible
    playground.do(playground.notices.choose, "Close the holes")
    assert until(lambda: "was repaired" in folder.verdict)
    assert folder.size.visible
    assert playground.notices.title == ""
    folder._wanted(None)
    assert until(lambda: "mesh-1" in world.scene.names)


def test_what_is_no_mesh_is_refused_and_choices_that_do_not_work_can_be_changed(playground: Playground) -> None:
    folder, world = playground.tabs[0].upload, playground.world  # type: ignore[attr-defined]
    names = list(world.sim.names)
    folder.take(Sent("words.obj", b"this is not a mesh"))
    assert until(lambda: "Not added" in folder.verdict)
    assert not folder.size.visible
    folder.take(Sent("fine.obj", ball_file(2)))
    assert until(lambda: "is fine" in folder.verdict)
    folder.size.value = -1.0  # as no slider gives it
    folder._wanted(None)
    assert until(lambda: "Not added" in folder.verdict)
    assert folder.size.visible
    assert world.sim.names == names


@pytest.mark.req("X15")
def test_a_mesh_that_does_not_fit_is_made_smaller_by_a_button(open_playground: Callable[..., Playground]) -> None:
    playground = open_playground("rotating-box", Add=AddTab)
    until(lambda: playground.shown[0] == playground.world.version)
    folder, world = playground.tabs[0].upload, playground.world  # type: ignore[attr-defined]
    folder.take(Sent("fine.obj", ball_file(2)))
    assert until(lambda: "is fine" in folder.verdict)
    folder.size.value, folder.vertices.value = folder.size.max, 100
    folder._wanted(None)
    assert until(lambda: [label for label, _ in playground.notices.remedies] == ["Make it half as large"])
    before = folder.size.value
    while "mesh-1" not in world.scene.names:
        assert until(lambda: playground.notices.title or "mesh-1" in world.scene.names)
        if playground.notices.title:
            ask(playground, playground.notices.choose, "Make it half as large")
    assert folder.size.value <= before / 2.0
    finer = ["Make it of more vertices", "Make it as the scene's bodies are"]
    assert [label for label, _ in folder._remedies("it has no equilibrium")] == finer
    folder._as_scene()
    assert until(lambda: "mesh-2" in world.scene.names or playground.notices.title)
    assert folder.material.value == "as in the scene"
