"""Undo and redo of the playground's changes, without a browser: descriptions come back, motion goes on (X8)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import turgor
from common.chromium import ask, listen
from support.waiting import until
from turgor import Scene, SceneError, gallery, shapes
from turgor.scene.rigid import RigidBody
from turgor.viewer.page.playground import Playground
from turgor.viewer.page.tabs.change import ChangeTab
from turgor.viewer.page.tabs.scene import SceneTab
from turgor.viewer.world import history
from turgor.viewer.world.added_bodies import add_shape, made
from turgor.viewer.world.history import REST
from turgor.viewer.world.material_choice import set_material
from turgor.viewer.world.parameter_access import set_gravity
from turgor.viewer.world.simple import set_air, set_weight, set_wind
from turgor.viewer.world.undo import redo, undo
from turgor.viewer.world.world import World

pytestmark = pytest.mark.req("X8")


def running(name: str = "drop", frames: int = 5) -> World:
    world = World(gallery.load(name))
    for _ in range(frames):
        world.step_once()
    return world


def first_of(world: World) -> str:
    return world.scene.soft_bodies[0].name


def pinned(world: World) -> None:
    world.pin(first_of(world), 3)


CHANGES: dict[str, Callable[[World], Any]] = {
    "stiffness": lambda world: world.change(f"{first_of(world)}.springs.stiffness", 333.0),
    "air": lambda world: set_air(world, first_of(world), 150.0),
    "weight": lambda world: set_weight(world, first_of(world), 200.0),
    "gravity": lambda world: set_gravity(world, "", 1.62),
    "wind": lambda world: set_wind(world, "", 5.0),
    "solver": lambda world: world.change("simulation.solver", "implicit"),
    "law": lambda world: world.change_gas(first_of(world), law="adiabatic"),
    "color": lambda world: world.change(f"{first_of(world)}.color", "#ff0000"),
    "pin": pinned,
    "add": lambda world: add_shape(world, made("ball", 0.3), "ball", rigid=False),
    "remove": lambda world: world.remove(world.sim.names[1]),
    "open": lambda world: world.open(gallery.load("hanging-ball")),
    "restore": lambda world: (world.change("gravity", (0.0, 0.0, -1.0)), world.restore()),
}


@pytest.mark.parametrize("what", CHANGES)
def test_undo_gives_the_scene_of_before_and_redo_that_of_after(what: str) -> None:
    world = running()
    before, opened = world.scene.copy(), world.opened
    CHANGES[what](world)
    after, opened_after = world.scene.copy(), world.opened
    steps = len(world.history.done)
    assert steps == 1 + (what == "restore") or (what == "wind" and steps > 1)
    for _ in range(2):
        for _ in range(steps):
            undo(world)
        assert world.scene == before
        assert world.scene.to_toml() == before.to_toml()
        assert world.opened is opened
        assert world.sim.scene == before
        world.step_once()
        for _ in range(steps):
            redo(world)
        assert world.scene == after
        assert world.scene.to_toml() == after.to_toml()
        assert world.opened is opened_after
        world.step_once()
    assert world.sim.finite
    with pytest.raises(SceneError, match="nothing was taken back"):
        redo(world)


def test_values_in_the_simulation_follow_and_it_goes_on_from_its_state() -> None:
    world = running()
    name = first_of(world)
    own = float(world.sim[name].stiffness)
    world.change(f"{name}.springs.stiffness", 333.0)
    world.step_once()
    time, positions, velocities = world.sim.time, world.sim.positions, world.sim.velocities
    undo(world)
    assert world.sim[name].stiffness == own
    redo(world)
    assert world.sim[name].stiffness == 333.0
    assert world.sim.time == time
    np.testing.assert_array_equal(world.sim.positions, positions)
    np.testing.assert_array_equal(world.sim.velocities, velocities)
    world.change("simulation.solver", "midpoint")  # which rebuilds it
    undo(world)
    assert world.sim.solver != "midpoint"
    np.testing.assert_allclose(world.sim.positions, positions, rtol=1e-6, atol=1e-6)


def test_a_removed_body_comes_back_in_its_place_and_goes_on() -> None:
    world = running(frames=20)
    names, kept = list(world.sim.names), list(world.scene.names)
    name = names[1]
    positions, velocities = world.sim[name].positions.copy(), world.sim[name].velocities.copy()
    world.remove(name)
    undo(world)
    assert world.sim.names == names
    assert world.scene.names == kept
    np.testing.assert_array_equal(world.sim[name].positions, positions)
    np.testing.assert_array_equal(world.sim[name].velocities, velocities)
    redo(world)
    assert name not in world.sim.names
    undo(world)
    np.testing.assert_array_equal(world.sim[name].positions, positions)
    for _ in range(10):
        world.step_once()
    assert world.sim.finite


def test_a_rigid_body_that_was_added_and_taken_back_comes_again_where_it_was() -> None:
    world = running()
    world.add(RigidBody(shapes.box(0.2), name="block", at=(5.0, 5.0, 3.0), spin=(1.0, 0.0, 0.0)))
    for _ in range(10):
        world.step_once()
    center, rotation, velocity = (
        np.array(getattr(world.sim["block"], key)) for key in ("center", "rotation", "velocity")
    )
    undo(world)
    assert "block" not in world.sim.names
    redo(world)
    np.testing.assert_allclose(world.sim["block"].center, center, atol=1e-6)
    np.testing.assert_allclose(world.sim["block"].rotation, rotation, atol=1e-6)
    np.testing.assert_allclose(world.sim["block"].velocity, velocity, atol=1e-6)


def test_a_body_comes_back_above_what_has_taken_its_place() -> None:
    scene = Scene(gravity=0)
    scene.add_soft_body(shapes.icosphere(0.3, 1), name="one", at=(0.0, 0.0, 1.0))
    scene.add_soft_body(shapes.icosphere(0.3, 1), name="two", at=(0.0, 2.0, 1.0))
    world = World(scene)
    world.remove("one")
    world.sim["two"].positions = world.sim["two"].positions - (0.0, 2.0, 0.0)
    world._frame = None
    undo(world)
    assert world.sim["one"].positions[:, 2].min() >= world.sim["two"].positions[:, 2].max()


def test_a_drag_is_one_step_and_a_later_change_another() -> None:
    world, now = running(), 0.0
    world.history.clock = lambda: now
    name = first_of(world)
    before = world.scene
    for value in range(100, 160):
        now += 0.05
        world.change(f"{name}.springs.stiffness", float(value))
    assert len(world.history.done) == 1
    now += 2.0 * REST
    world.change(f"{name}.springs.stiffness", 200.0)
    world.change("gravity", (0.0, 0.0, -1.0))  # another value
    assert [step.words for step in world.history.done] == [f"change stiffness of {name}"] * 2 + ["change gravity"]
    undo(world)
    undo(world)
    assert world.scene[name].springs.stiffness == 159.0  # type: ignore[union-attr]
    world.change(f"{name}.springs.stiffness", 210.0)  # soon after, but not the same drag
    assert len(world.history.done) == 2
    assert world.history.undone == []  # another way was taken
    undo(world)
    undo(world)
    assert world.scene == before
    for value in (100.0, before[name].springs.stiffness):  # type: ignore[union-attr]
        world.change(f"{name}.springs.stiffness", value)
    assert world.history.done == []  # there and back


def test_what_is_done_together_is_one_step_and_what_fails_is_none() -> None:
    world = running("five-balls", 1)
    before = world.scene
    with world.history.together(world):
        for name in world.sim.names:
            set_material(world, name, "rubber") if world.scene[name].material else set_weight(world, name, 150.0)  # type: ignore[union-attr]
    assert len(world.history.done) == 1
    assert world.history.done[0].words == f"change mass of {len(world.sim.names)} bodies"
    with pytest.raises(SceneError):
        world.change("gravity", (0.0, float("nan"), 0.0))
    assert len(world.history.done) == 1
    world.reset()  # no change of the description
    assert len(world.history.done) == 1
    undo(world)
    assert world.scene == before


def test_the_history_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    assert history.STEPS == 50
    monkeypatch.setattr(history, "STEPS", 5)
    scene = Scene()
    scene.add_soft_body(shapes.icosphere(0.3, 2), name="ball")
    world = World(scene)
    for number in range(8):
        world.pin(first_of(world), number)
    assert len(world.history.done) == 5
    for _ in range(5):
        undo(world)
    assert world.scene[first_of(world)].pinned.tolist() == list(range(3))  # type: ignore[union-attr]
    with pytest.raises(SceneError, match="no change to take back"):
        undo(world)


def test_gas_of_another_preset_comes_back_slowly() -> None:
    scene = Scene()
    scene.add_ground()
    scene.add_soft_body(shapes.icosphere(0.15, 2), name="toy", material="beach_ball", at=(0.0, 0.0, 0.2))
    world = World(scene)
    own = float(world.sim["toy"].nRT)
    set_material(world, "toy", "rubber")
    while world.sim.time < 1.1:
        world.step_once()
    other = float(world.sim["toy"].nRT)
    assert other != pytest.approx(own, rel=1e-4)
    undo(world)
    assert world.scene == scene
    assert float(world.sim["toy"].nRT) == pytest.approx(other, rel=1e-6)
    while world.sim.time < 2.3:
        world.step_once()
    assert float(world.sim["toy"].nRT) == pytest.approx(own, rel=1e-3)


def test_steps_are_told_in_words() -> None:
    world = running()
    world.open(gallery.load("hanging-ball"))
    world.remove("ball")
    world.add(RigidBody(shapes.box(0.2), name="block"))
    assert [step.words for step in world.history.done] == ["open hanging-ball", "remove ball", "add block"]
    assert isinstance(world.scene, turgor.Scene)


# on the page ----------------------------------------------------------------------------------------------------------


def test_buttons_of_the_page_take_back_and_do_again(open_playground: Callable[..., Playground]) -> None:
    playground = open_playground("five-balls", Change=ChangeTab, Choose=SceneTab)
    panel: Any = playground.tabs[0]
    chooser: Any = playground.tabs[1]
    until(lambda: panel.control("stiffness").visible)
    world, first = playground.world, playground.world.scene
    for value in (130.0, 140.0, 150.0):  # a drag, of all five bodies
        panel._note("stiffness", value)
        assert until(lambda value=value: world.sim["violet"].stiffness == value)
    assert len(world.history.done) == 1
    ask(playground, playground.open, gallery.load("drop-2d"))
    assert until(lambda: playground.undo.next.content == "Undo: open drop-2d")
    assert until(lambda: chooser._choice.value == "drop-2d")
    ask(playground, playground.undo.press, "Undo")
    assert world.scene.name == "five-balls"
    assert until(lambda: chooser._choice.value == "five-balls")
    assert until(lambda: panel.control("stiffness").value == 150.0)
    ask(playground, playground.undo.press, "Undo")
    assert world.scene == first
    assert until(lambda: panel.control("stiffness").value != 150.0)
    assert until(lambda: playground.undo.next.content == "Redo: change stiffness of 5 bodies")
    ask(playground, playground.undo.press, "Redo")
    assert world.sim["violet"].stiffness == 150.0
    start = world.sim.time
    assert until(lambda: world.sim.time > start)
    told = listen(playground)
    for _ in range(2):
        playground.do(playground.undo.press, "Undo")
    assert until(lambda: ("That does not work", "there is no change to take back") in told)
