"""The simple controls: each sets documented parameters, does what its name says, and 100 % is the scene."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import turgor
from common.chromium import ask
from support.waiting import until
from turgor import gallery, shapes
from turgor.viewer.page.playground import Playground
from turgor.viewer.page.tabs.change import ChangeTab
from turgor.viewer.world.parameters import Parameter, set_for, span_for, subjects, values
from turgor.viewer.world.simple import SIMPLE
from turgor.viewer.world.world import World

pytestmark = pytest.mark.req("D8", "X8")
TABLE = {entry.key.removeprefix("simple_"): entry for entry in SIMPLE}
SCENES = ("drop", "five-balls", "flag", "jelly-2d", "stack", "ball-on-cloth", "inflate-2d", "drop-2d")


def write(world: World, key: str, value: Any) -> None:
    entry = TABLE[key]
    set_for(world, entry, subjects(world, entry, None), value)


def read(world: World, key: str) -> list[Any]:
    return values(world, TABLE[key], subjects(world, TABLE[key], None))


def run(world: World, seconds: float) -> World:
    """As the page does: gas in equilibrium is let in slowly."""
    for _ in range(round(seconds * world.sim.settings.fps)):
        world.step_once()
    return world


def ball(material: str | None, **options: Any) -> World:
    """A ball of springs or of a material above the ground."""
    scene = turgor.Scene()
    scene.add_ground(friction=0.4, restitution=0.2)
    springs: dict[str, Any] = {"springs": turgor.Springs(300.0, 0.5), "gas": turgor.Gas(gauge=80.0, ambient=300.0)}
    skin: dict[str, Any] = springs | {"mass": 0.5} if material is None else {"material": material}
    scene.add_soft_body(shapes.icosphere(0.3, 2), name="ball", at=(0, 0, 0.8), drag=0.2, **skin, **options)
    return World(scene)


@pytest.mark.parametrize("name", SCENES)
def test_a_scene_as_it_was_opened_is_all_at_100_per_cent_and_comes_back_to_itself(name: str) -> None:
    world = World(gallery.load(name))
    opened = world.scene
    for entry in SIMPLE:
        bodies = subjects(world, entry, None)
        if not bodies:
            continue
        before = values(world, entry, bodies)
        if isinstance(entry, Parameter):
            if not entry.of_scene and entry.key != "simple_slipperiness":
                assert before == [pytest.approx(100.0)], entry.key
            span = span_for(world, entry, bodies, {})
            assert span is not None
            for value in (span.low, span.high):
                set_for(world, entry, bodies, value)
                assert values(world, entry, bodies) == [pytest.approx(value, abs=1e-6)], (entry.key, value)
                assert turgor.Scene.from_toml(world.scene.to_toml()) == world.scene
        if len(before) == 1:
            set_for(world, entry, bodies, before[0])
    if len(read(world, "slipperiness")) == 1 and name != "inflate-2d":
        for body in (*opened.bodies, *opened.rigid_bodies):
            now: Any = world.scene[body.name]
            assert now.mass == pytest.approx(body.mass)
            assert now.air_drag == body.air_drag
            if isinstance(body, turgor.SoftBody):
                assert world.gas(body.name)["gauge"] == pytest.approx(World(opened).gas(body.name)["gauge"])  # type: ignore[index]
    assert np.allclose(world.scene.gravity, opened.gravity)
    assert np.allclose(world.scene.wind, opened.wind)


@pytest.mark.req("X11")
@pytest.mark.parametrize("material", [None, "rubber"])
def test_more_air_and_a_stretchier_skin_make_it_larger(material: str | None) -> None:
    """Springs and materials, on the ground without weight."""
    volumes: dict[tuple[str, float], float] = {}
    for key, value in (("air", 50.0), ("air", 100.0), ("air", 250.0), ("stretchiness", 50.0), ("stretchiness", 200.0)):
        world = ball(material)
        write(world, "gravity", "none")
        write(world, key, value)
        volumes[key, value] = run(world, 2.0).sim["ball"].volume
    assert volumes["air", 50.0] < volumes["air", 100.0] < volumes["air", 250.0]
    assert volumes["stretchiness", 50.0] < volumes["air", 100.0] < volumes["stretchiness", 200.0]


@pytest.mark.req("X11")
@pytest.mark.parametrize("material", [None, "beach_ball"])
def test_a_bouncier_ball_bounces_higher(material: str | None) -> None:
    tops = []
    for value in (20.0, 100.0, 250.0):
        world = ball(material)
        write(world, "bounciness", value)
        heights = [float(run(world, 1 / 60).sim["ball"].center[2]) for _ in range(75)]
        lowest = int(np.argmin(heights))
        tops.append(max(heights[lowest:]))
    assert tops[0] < tops[1] < tops[2]


def test_weight_gravity_wind_and_slipperiness_set_what_they_say() -> None:
    world = ball(None)
    write(world, "weight", 300.0)
    assert world.sim["ball"].mass == pytest.approx(1.5)
    for planet, strength in (("Moon, 1.62 m/s²", 1.62), ("Mars, 3.71 m/s²", 3.71), ("none", 0.0)):
        write(world, "gravity", planet)
        assert np.linalg.norm(world.sim.gravity) == pytest.approx(strength)
        assert read(world, "gravity") == [planet]
    write(world, "slipperiness", 75.0)
    assert world.scene["ball"].friction == pytest.approx(0.25)  # type: ignore[union-attr]
    assert world.scene["ball"].air_drag == (0.0, 0.0)  # type: ignore[union-attr]
    write(world, "wind", 8.0)
    assert run(world, 0.5).sim["ball"].momentum[0] > 0.1  # a body without air drag feels it, too
    write(world, "wind", 0.0)
    assert world.scene["ball"].air_drag == (0.0, 0.0)  # type: ignore[union-attr]


def test_a_body_that_was_added_is_at_100_per_cent_as_it_came() -> None:
    world = World(gallery.load("drop"))
    own: Any = world.scene["ball"]
    world.add(turgor.SoftBody(own.shape, name="new", mass=7.0, springs=own.springs, gas=own.gas, at=(0, 0, 5)))
    assert read(world, "weight") == [pytest.approx(100.0)]
    write(world, "weight", 200.0)
    assert world.scene["new"].mass == pytest.approx(14.0)  # type: ignore[union-attr]


def test_every_simple_control_has_a_unit_and_a_sentence() -> None:
    labels = ["Air", "Stretchiness", "Bounciness", "Weight", "Slipperiness", "Gravity", "Wind"]
    assert [entry.label for entry in SIMPLE] == labels
    for entry in SIMPLE:
        assert entry.hint.endswith(".")
        assert entry.unit if isinstance(entry, Parameter) else all("m/s²" in name for name in entry.options[:-1])


def test_the_panel_opens_simple_and_shows_everything_when_asked(open_playground: Callable[..., Playground]) -> None:
    playground = open_playground("drop", Change=ChangeTab)
    panel: Any = playground.tabs[0]
    until(lambda: panel.control("simple_air").visible)
    assert (panel._simple.visible, panel._folder.visible, panel._whole.visible) == (True, False, False)
    panel._note("simple_air", 50.0)
    assert until(lambda: playground.world.gas("firm")["gauge"] == pytest.approx(120.0))  # type: ignore[index]
    assert until(lambda: panel.control("gauge").value != panel.control("simple_air").value)
    playground.mode.box.value = True
    ask(playground, playground.mode._tell)
    assert (panel._simple.visible, panel._folder.visible, panel._whole.visible) == (False, True, True)
