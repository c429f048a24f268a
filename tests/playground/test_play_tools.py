"""Tools of the playground without a browser: place, duplicate, pump, cut, glue and squeeze (A9, X8)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from common.chromium import ask, listen
from support.waiting import until
from turgor import Gas, Scene, SceneError, Springs, gallery, shapes
from turgor.viewer.page.playground import Playground
from turgor.viewer.page.tabs.add import AddTab
from turgor.viewer.world.added_bodies import add_shape, duplicate, made
from turgor.viewer.world.free_place import Click, body_boxes
from turgor.viewer.world.gluing import glue, partners, unglue
from turgor.viewer.world.pumping import RATE, close_skin, is_open, open_skin, pump
from turgor.viewer.world.squeezing import open_plates, plates, remove_plates, squeeze
from turgor.viewer.world.undo import redo, undo
from turgor.viewer.world.world import World

pytestmark = pytest.mark.req("A9", "X8")

GAS = Gas.at(gauge=300.0, ambient=1000.0)


def ball_world(dim: int = 3, gas: Gas = GAS, **options: Any) -> World:
    """A ball at rest in the air, without weight."""
    scene = Scene(dim=dim, gravity=0)
    shape = shapes.icosphere(0.3, 2) if dim == 3 else shapes.circle(0.3, 40)
    at = (0.0,) * (dim - 1) + (1.0,)
    stiff = Springs(200.0, 1.0) if dim == 3 else Springs(3000.0, 5.0)
    scene.add_soft_body(shape, name="ball", at=at, gas=gas, springs=stiff, drag=2.0, **options)
    world = World(scene)
    frames(world, 30)
    return world


def frames(world: World, count: int) -> None:
    for _ in range(count):
        world.step_once()


def gauge(world: World, name: str = "ball") -> float:
    return float(world.sim[name].pressure) - float(world.sim[name].ambient)


# squeeze --------------------------------------------------------------------------------------------------------------


def moved(world: World, pair: tuple[str, str]) -> None:
    for _ in range(600):
        world.step_once()
        if not world.plates.moving(pair):
            return
    raise AssertionError("the plates do not arrive")


@pytest.mark.parametrize("dim", [2, 3])
def test_plates_squeeze_a_ball_to_a_share_and_the_gas_follows_boyle(dim: int) -> None:
    world = ball_world(dim)
    frames(world, 180)  # to rest
    view = world.sim["ball"]
    breadth = float(np.ptp(view.positions[:, 0]))
    before, product = float(view.volume), float(view.volume) * float(view.pressure)
    pair = squeeze(world, "ball", 0.6, 0.2)
    assert pair == plates(world)
    start = world.sim.time
    moved(world, pair)
    assert world.sim.time - start == pytest.approx((breadth * 1.12 - 0.6 * breadth) / 2.0 / 0.2, abs=0.05)
    frames(world, 60)
    boxes = body_boxes(world)
    left, right = boxes[pair[0]][1][0], boxes[pair[1]][0][0]
    assert right - left == pytest.approx(0.6 * breadth, rel=1e-3)  # they stopped there
    view = world.sim["ball"]
    assert view.positions[:, 0].min() > left
    assert view.positions[:, 0].max() < right
    assert float(view.volume) < 0.97 * before
    assert float(view.volume) * float(view.pressure) == pytest.approx(product, rel=1e-5)  # at constant temperature
    open_plates(world, 0.3)
    moved(world, pair)
    frames(world, 180)
    assert float(world.sim["ball"].volume) == pytest.approx(before, rel=0.02)
    for name in pair:
        np.testing.assert_allclose(world.sim[name].center, world.scene[name].at, atol=1e-4)  # type: ignore[union-attr]
        assert not np.any(world.sim[name].velocity)
    remove_plates(world)
    assert world.sim.names == ["ball"]


def test_plates_are_one_step_and_stand_open_in_the_description() -> None:
    world = ball_world()
    first = world.scene
    pair = squeeze(world, "ball", 0.5, 0.5)
    frames(world, 5)
    assert [step.words for step in world.history.done] == ["add plate-1 and plate-2"]
    assert all(not np.any(world.scene[name].velocity) for name in pair)  # type: ignore[union-attr]
    assert Scene.from_toml(world.scene.to_toml()) == world.scene
    undo(world)
    assert world.scene == first
    redo(world)
    moved(world, pair)  # they go on
    world.reset()
    frames(world, 3)
    np.testing.assert_allclose(world.sim[pair[0]].center, world.scene[pair[0]].at, atol=1e-6)  # type: ignore[union-attr]
    squeeze(world, "ball", 0.5, 0.5)
    assert plates(world) == pair  # the same two
    moved(world, pair)


def test_where_there_is_no_room_for_plates_a_sentence_says_so_and_nothing_changes() -> None:
    world = World(gallery.load("five-balls"))
    scene = world.scene
    with pytest.raises(SceneError, match="no room for plates about red"):
        squeeze(world, "red", 0.5, 0.2)
    assert world.scene is scene
    with pytest.raises(SceneError, match="no plates"):
        open_plates(world, 0.2)
    with pytest.raises(SceneError, match="between 0 and 1"):
        squeeze(world, "red", 1.5, 0.2)
    with pytest.raises(SceneError, match="speed above 0"):
        squeeze(world, "red", 0.5, 0.0)


def test_plates_of_a_body_on_the_floor_stand_on_it() -> None:
    world = World(gallery.load("drop-2d"))
    while world.sim.time < 1.5:
        world.step_once()
    pair = squeeze(world, "ball", 0.7, 0.3)
    for name in pair:
        assert body_boxes(world)[name][0][-1] == pytest.approx(0.0, abs=1e-6)
    moved(world, pair)
    assert world.sim.finite


# pump and cut ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("gas", [GAS, Gas(nRT=40.0), Gas.at(gauge=300.0, ambient=1000.0, law="adiabatic")])
def test_a_pump_lets_gas_in_at_its_rate_and_out_again(dim: int, gas: Gas) -> None:
    world = ball_world(dim, gas)
    first, volume = world.scene, float(world.sim["ball"].rest_volume)
    own = gas.nRT_at(volume)
    excess = own - gas.ambient * volume  # J: of the gauge pressure
    swollen = float(world.sim["ball"].volume)
    for _ in range(10):
        assert pump(world, "ball", 0.1)
        frames(world, 3)
    assert float(world.sim["ball"].nRT) == pytest.approx(own + RATE * excess, rel=1e-5)
    frames(world, 60)
    assert float(world.sim["ball"].volume) > swollen
    assert [step.words for step in world.history.done] == ["change gas of ball"]  # held, it is one step
    for _ in range(10):
        assert pump(world, "ball", -0.1)
    assert float(world.sim["ball"].nRT) == pytest.approx(own, rel=1e-5)
    while pump(world, "ball", -1.0):
        pass
    least = gas.ambient * volume if gas.ambient else 0.1 * own
    assert float(world.sim["ball"].nRT) == pytest.approx(least, rel=1e-5)  # what balances the outside stays
    while pump(world, "ball", 5.0):
        pass
    assert float(world.sim["ball"].nRT) == pytest.approx(own + 3.0 * excess, rel=1e-5)
    while world.history.done:
        undo(world)
    assert world.scene == first


def test_a_pump_is_as_quick_with_what_is_tight_in_the_atmosphere() -> None:
    """Its pressure is that in equilibrium, and most of the gas is what the skin gives way by."""
    scene = Scene(gravity=0)
    scene.add_soft_body(shapes.icosphere(0.15, 2), name="ball", material="rubber")
    world = World(scene)
    own = float(world.sim["ball"].nRT)
    outside = float(world.sim["ball"].ambient) * float(world.sim["ball"].rest_volume)
    pump(world, "ball", -1.0)
    assert float(world.sim["ball"].nRT) - outside == pytest.approx((1.0 - RATE) * (own - outside), rel=0.2)
    while pump(world, "ball", -1.0):
        pass
    assert float(world.sim["ball"].nRT) == pytest.approx(outside, rel=1e-5)


def test_what_holds_no_gas_cannot_be_pumped_or_cut() -> None:
    world = World(gallery.load("ball-on-cloth"))
    cloth = world.scene.cloths[0].name
    for tool in (lambda: pump(world, cloth, 0.1), lambda: open_skin(world, cloth)):
        with pytest.raises(SceneError, match="holds no gas"):
            tool()


@pytest.mark.parametrize("law", ["isothermal", "adiabatic"])
def test_an_open_skin_has_the_pressure_of_outside_and_closed_it_keeps_what_is_in_it(law: str) -> None:
    world = ball_world(gas=replace(GAS, law=law))
    assert gauge(world) > 5.0
    full = float(world.sim["ball"].volume)
    open_skin(world, "ball")
    assert is_open(world, "ball")
    for _ in range(40):
        world.step_once()
        assert gauge(world) == pytest.approx(0.0, abs=1e-3)
    assert float(world.sim["ball"].volume) < full
    with pytest.raises(SceneError, match="close its skin first"):
        pump(world, "ball", 0.1)
    close_skin(world, "ball")
    assert not is_open(world, "ball")
    assert world.scene["ball"].gas.law == law  # type: ignore[union-attr]
    assert gauge(world) == pytest.approx(0.0, abs=0.05)
    pump(world, "ball", 1.0)
    assert gauge(world) > 1.0
    assert Scene.from_toml(world.scene.to_toml()) == world.scene
    undo(world)
    undo(world)
    assert is_open(world, "ball")
    undo(world)
    assert world.scene["ball"].gas == replace(GAS, law=law)  # type: ignore[union-attr]


# glue -----------------------------------------------------------------------------------------------------------------


def stacked(dim: int) -> World:
    """A ball that lies on a box, which lies on the floor."""
    scene = Scene(dim=dim)
    scene.add_ground()
    up = (0.0,) * (dim - 1)
    shape = shapes.icosphere(0.3, 2) if dim == 3 else shapes.circle(0.3, 40)
    box = (
        shapes.box((1.0, 1.0, 0.3))
        if dim == 3
        else shapes.outline([(-0.5, -0.15), (0.5, -0.15), (0.5, 0.15), (-0.5, 0.15)])
    )
    stiff = Springs(400.0, 2.0) if dim == 3 else Springs(4000.0, 8.0)
    scene.add_soft_body(shape, name="ball", at=(*up, 1.0), gas=GAS, springs=stiff, mass=0.5, drag=1.0)
    scene.add_rigid_body(box, name="box", at=(*up, 0.3), mass=2.0)
    world = World(scene)
    frames(world, 60)
    return world


@pytest.mark.parametrize("dim", [2, 3])
def test_glue_joins_bodies_where_they_are_and_they_stay_joined(dim: int) -> None:
    world = stacked(dim)
    first = world.scene
    box, ball = world.sim["box"].positions, world.sim["ball"].positions
    assert partners(world, "ball") == ["box"]
    assert partners(world, "box") == ["ball"]
    vertices = list(glue(world, "box", "ball"))  # in any order
    np.testing.assert_allclose(world.sim["box"].positions, box, atol=1e-6)  # it stays, though its centre is elsewhere
    world.step_once()
    edge = 0.3 if dim == 3 else 0.1
    assert np.abs(world.sim["ball"].positions - ball).max() < 0.5 * edge
    assert Scene.from_toml(world.scene.to_toml()) == world.scene

    def arms() -> Any:
        return np.linalg.norm(world.sim["ball"].positions[vertices] - world.sim["box"].center, axis=1)

    apart = arms()
    world.change("simulation.solver", "midpoint")  # which rebuilds it
    world.change("gravity", (*(0.0,) * (dim - 1), 9.81))
    frames(world, 40)
    assert world.sim["box"].center[-1] > 1.0  # up
    np.testing.assert_allclose(arms(), apart, rtol=1e-4)
    with pytest.raises(SceneError, match="are glued already"):
        glue(world, "ball", "box")
    world.reset()
    frames(world, 5)
    np.testing.assert_allclose(arms(), apart, rtol=1e-3)  # the description has them joined, too
    while world.history.done:
        undo(world)
    assert world.scene == first


def test_glue_needs_a_soft_and_a_rigid_body_that_are_near_and_comes_off() -> None:
    world = stacked(3)
    glue(world, "ball", "box")
    unglue(world, "ball")
    assert world.scene.attachments == []
    with pytest.raises(SceneError, match="not glued"):
        unglue(world, "ball")
    with pytest.raises(SceneError, match="one of two must be soft"):
        glue(world, "ball", "ball")
    world.sim["ball"].positions = world.sim["ball"].positions + np.array([0.0, 0.0, 2.0])
    with pytest.raises(SceneError, match=r"2\.\d* m apart|2 m apart|1\.9\d* m apart"):
        glue(world, "ball", "box")
    frames(world, 5)
    assert world.sim.finite


# duplicate ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["drop", "drop-2d", "torus-and-cubes", "ball-on-cloth"])
def test_a_duplicate_is_the_same_beside_it_and_nothing_else_moves(name: str) -> None:
    world = World(gallery.load(name))
    frames(world, 10)
    for body in [world.sim.names[0], world.sim.names[-1]]:
        before = {other: world.sim[other].positions for other in world.sim.names}
        copy = duplicate(world, body)
        for other, positions in before.items():
            np.testing.assert_allclose(world.sim[other].positions, positions, atol=1e-6)
        one, same = world.scene[body], world.scene[copy]
        assert replace(same, name=one.name, at=one.at) == one  # type: ignore[union-attr, type-var]
        low, high = body_boxes(world)[copy]
        for other in before:
            lowest, highest = body_boxes(world)[other]
            assert np.any(low > highest) or np.any(high < lowest), other
    frames(world, 10)
    assert world.sim.finite
    with pytest.raises(SceneError, match="is a wall"):
        duplicate(world, world.scene.walls[0].name)


# place by a click -----------------------------------------------------------------------------------------------------


def ray(eye: Any, target: Any, body: Any = None) -> Click:
    start = np.array(eye, float)
    return Click(start, np.array(target, float) - start, None if body is None else np.array(body, float))


def test_a_click_on_the_floor_places_a_body_there() -> None:
    world = World(gallery.load("drop"))
    name = add_shape(world, made("ball", 0.4), "ball", rigid=True, place=ray((4.0, -5.0, 3.0), (2.0, 1.5, 0.0)))
    low, high = body_boxes(world)[name]
    np.testing.assert_allclose((low + high)[:2] / 2.0, (2.0, 1.5), atol=1e-3)
    assert 0.0 <= low[2] < 0.1


def test_a_click_on_a_body_places_one_upon_it() -> None:
    world = World(gallery.load("drop"))
    other = world.sim.names[0]
    low, high = body_boxes(world)[other]
    top = np.array([*(low + high)[:2] / 2.0, high[2]])
    name = add_shape(
        world, made("ball", 0.3), "ball", rigid=False, place=ray(top + np.array([0.0, -3.0, 3.0]), top, body=top)
    )
    added = body_boxes(world)[name]
    np.testing.assert_allclose((added[0] + added[1])[:2] / 2.0, top[:2], atol=0.02)
    assert high[2] <= added[0][2] < high[2] + 0.3


def test_a_click_into_the_air_places_a_body_as_far_as_the_others_are() -> None:
    world = ball_world()
    name = add_shape(world, made("ball", 0.3), "ball", rigid=True, place=ray((0.0, -5.0, 1.0), (1.0, 0.0, 2.0)))
    low, high = body_boxes(world)[name]
    middle = (low + high) / 2.0
    assert abs(middle[1]) < 0.5
    np.testing.assert_allclose(
        (middle - (0.0, -5.0, 1.0)) / (middle[1] + 5.0), (0.2, 1.0, 0.2), atol=1e-6
    )  # on the ray


def test_a_click_in_2d_is_the_place_itself() -> None:
    world = World(gallery.load("drop-2d"))
    low, high = body_boxes(world)["ball"]
    name = add_shape(world, made("circle", 0.4), "circle", rigid=True, place=ray((0.0, -8.0, 1.0), (-2.0, 0.0, 0.7)))
    added = body_boxes(world)[name]
    np.testing.assert_allclose((added[0] + added[1]) / 2.0, (-2.0, 0.7), atol=1e-6)
    inside = np.array([(low + high)[0] / 2.0, 0.0, (low + high)[1] / 2.0])
    second = add_shape(
        world, made("circle", 0.4), "circle", rigid=True, place=ray(inside - np.array([0.0, 8.0, 0.0]), inside)
    )
    assert body_boxes(world)[second][0][1] >= high[1]  # above what is there


def test_a_click_into_a_container_places_a_body_inside() -> None:
    world = World(gallery.load("rotating-box"))
    box = world.scene.containers[0]
    middle = np.array(box.at)
    eye = middle - np.array([0.0, 4.0 * box.size[1], 0.0])
    name = add_shape(world, made("ball", 0.1), "ball", rigid=True, place=ray(eye, middle + np.array([0.3, 0.0, 0.2])))
    assert np.all(np.abs(world.sim[name].positions - box.at) <= np.array(box.size) / 2.0)


# on the page ----------------------------------------------------------------------------------------------------------


def test_the_tab_add_has_the_tools_of_the_selected_body(open_playground: Callable[..., Playground]) -> None:
    playground = open_playground("hanging-ball", Add=AddTab)
    until(lambda: playground.shown[0] == playground.world.version)
    panel: Any = playground.tabs[0]
    tools, world = panel.tools, playground.world
    told = listen(playground)
    ask(playground, playground.selection.select, None)
    assert not any(control.visible for control in (tools.pump_in, tools.cut, tools.glue, tools.squeeze, tools.open))
    playground.do(panel._duplicate_it)
    assert until(lambda: ("That does not work", "no body is selected: click one, or choose it in the list") in told)
    ask(playground, playground.selection.select, "ball")
    assert all(control.visible for control in (tools.pump_in, tools.pump_out, tools.cut, tools.squeeze))
    assert not tools.glue.visible  # there is nothing rigid
    amount = float(world.sim["ball"].nRT)
    ask(playground, tools.pump, 0.1)
    assert float(world.sim["ball"].nRT) > amount
    ask(playground, tools.cut_or_mend)
    assert tools.cut.label == "Close its skin"
    assert until(lambda: "0 Pa above outside, open" in tools.text.content)
    ask(playground, tools.cut_or_mend)
    assert tools.cut.label == "Cut it open"
    tools.share.value = 80.0
    ask(playground, tools.squeeze_it)
    assert until(lambda: tools.open.visible and tools.remove.visible)
    ask(playground, panel._duplicate_it)
    assert playground.selection.name == "ball-1"
    ask(playground, panel._remove_it)
    assert "ball-1" not in world.sim.names
    assert world.history.done[-1].words == "remove ball-1"


def test_a_click_places_one_body_and_only_while_it_is_asked_for(open_playground: Callable[..., Playground]) -> None:
    playground = open_playground("drop-2d", Add=AddTab)
    until(lambda: playground.shown[0] == playground.world.version)
    panel: Any = playground.tabs[0]
    world, names = playground.world, list(playground.world.sim.names)
    ask(playground, panel.placing.place, (0.0, -8.0, 1.0), (-0.2, 1.0, 0.0))
    assert world.sim.names == names
    ask(playground, panel.placing.arm, True)
    assert panel.placing.button.label.startswith("Now click")
    ask(playground, panel.placing.place, (0.0, -8.0, 1.0), (-0.2, 1.0, 0.0))
    assert len(world.sim.names) == len(names) + 1
    assert np.array(world.scene["circle-1"].at) == pytest.approx((-1.6, 1.0))  # type: ignore[union-attr]
    assert playground.selection.name == "circle-1"
    assert panel.placing.button.label == "Place by a click"
    ask(playground, panel.placing.place, (0.0, -8.0, 1.0), (0.2, 1.0, 0.0))
    assert len(world.sim.names) == len(names) + 1
