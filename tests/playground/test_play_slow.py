"""A pointer pulls no harder than a body can take; a world that is slow says why, and what could be done."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pytest

import turgor
from support.playgrounds import balls
from support.waiting import until
from turgor import gallery, shapes
from turgor.scene.data import SoftBody
from turgor.viewer.page.playground import Playground
from turgor.viewer.world.grabs import PULL, strongest_pull
from turgor.viewer.world.rates import Rates
from turgor.viewer.world.slowness import CALM, LONGEST, PATIENCE, Slowness, coarser
from turgor.viewer.world.world import World

pytestmark = pytest.mark.req("A9", "X8")


@pytest.mark.parametrize("rigid", [True, False])
def test_a_pointer_pulls_with_its_limit_and_no_more(rigid: bool) -> None:
    """Newton's second law: far from the pointer, momentum grows by mass × PULL × time at most, but for damping.

    A rigid body is quite that quick; the held vertex of a soft one goes ahead of it, so that the band is shorter.
    """
    scene = turgor.Scene(gravity=0)
    if rigid:
        scene.add_rigid_body(shapes.box(size=(0.4, 0.4, 0.4)), name="body", mass=2.0)
    else:
        scene.add_soft_body(shapes.icosphere(0.4, 2), name="body", mass=2.0, gas=turgor.Gas(gauge=100.0))
    world = World(scene)
    point = np.zeros(3) if rigid else None
    for _ in range(12):
        world.grab("body", 0, (-50.0, 0.0, 0.0), point)
        point = None
        assert np.linalg.norm(world.pull_on("body")) == pytest.approx(2.0 * PULL)
        world.sim.step()
    speed = -world.sim["body"].momentum[0] / 2.0
    assert (0.7 if rigid else 0.2) * PULL * world.sim.time < speed <= PULL * world.sim.time * (1 + 1e-4)


def test_near_its_target_the_band_is_a_spring() -> None:
    world = World(balls())
    held = world.sim["left"].positions[0]
    world.grab("left", 0, np.add(held, (0.01, 0.0, 0.0)))
    force = world.pull_on("left")
    world.grab("left", 0, np.add(held, (0.02, 0.0, 0.0)))
    np.testing.assert_allclose(world.pull_on("left"), 2 * force, rtol=1e-6)
    world.drop("left")
    np.testing.assert_array_equal(world.pull_on("left"), 0.0)


def test_a_ball_that_is_dragged_into_another_keeps_its_skin_smooth() -> None:
    """A band that pulls one vertex too hard makes a spike of the skin, whose folds touch each other in ever more
    places: 40 times as slow in "drop". What it follows, it still reaches."""
    world = World(gallery.load("drop"))
    world.sim.run(1.5)
    before, steps = np.ptp(world.sim["limp"].positions, axis=0).max(), world.sim.substeps
    vertex = int(world.sim["limp"].positions[:, 2].argmax())
    target = world.sim["ball"].positions.mean(axis=0)
    start = np.linalg.norm(world.sim["limp"].positions[vertex] - target)
    longest = 0.0
    for _ in range(40):
        world.grab("limp", vertex, target)
        world.sim.step()
        longest = max(longest, np.ptp(world.sim["limp"].positions, axis=0).max())
    assert longest < 1.15 * before
    assert world.sim.substeps < 1.6 * steps
    assert np.linalg.norm(world.sim["limp"].positions[vertex] - target) < 0.25 * start


def test_the_limit_lifts_whatever_it_weighs() -> None:
    for gravity in (1.6, 9.81, 40.0):
        scene = balls()
        scene.gravity = (0.0, 0.0, -gravity)
        world = World(scene)
        assert strongest_pull(world, "left") > 1.4 * world.sim["left"].mass * gravity


# --- what is slow


def slow(world: World, seconds: float) -> Slowness:
    rates = Rates()
    rates.frames(1, 1 / 60, seconds)
    return Slowness(world, rates)


def test_it_is_said_once_when_it_stays_slow_and_again_after_a_calm() -> None:
    watch = slow(World(gallery.load("five-balls")), 2 * LONGEST)
    said = [watch.look(now) for now in np.arange(0.0, 4 * PATIENCE, 0.25)]
    assert said.count(True) == 1
    assert said.index(True) == 4  # after PATIENCE
    assert watch.sentence.startswith("5 bodies of 810 vertices")
    assert "substeps a frame" in watch.sentence
    assert "200 ms" in watch.sentence
    watch.rates.frames(1, 1 / 60, 0.01)
    assert not any(watch.look(now) for now in np.arange(10.0, 11.0 + CALM, 0.25))
    assert watch.sentence == ""
    watch.rates.frames(1, 1 / 60, 2 * LONGEST)
    assert [watch.look(now) for now in (30.0, 30.5, 31.5)] == [False, False, True]


def test_the_time_to_build_another_scene_is_no_slowness() -> None:
    watch = slow(World(gallery.load("drop-2d")), 0.01)
    watch.rates.update_gap = 0.2
    assert not watch.look(0.0)
    watch.world.open(gallery.load("drop-2d"))
    watch.rates.update_gap = 9.0
    assert not watch.look(9.0)
    assert not watch.look(9.5)
    assert watch.look(10.5)  # it is slow indeed


def test_what_is_quick_or_paused_is_not_slow() -> None:
    quick = slow(World(gallery.load("drop-2d")), 0.5 * LONGEST)
    assert not any(quick.look(now) for now in range(10))
    paused = slow(World(gallery.load("drop-2d")), 2 * LONGEST)
    paused.world.playing = False
    assert not any(paused.look(now) for now in range(10))
    drawing = slow(World(gallery.load("drop-2d")), 0.5 * LONGEST)
    drawing.rates.update(3 * LONGEST)
    assert [drawing.look(now) for now in range(3)] == [False, True, False]
    assert drawing.sentence.startswith("Drawing 48 vertices takes 300 ms")


def test_few_updates_are_slow_unless_they_are_wanted() -> None:
    watch = slow(World(gallery.load("drop-2d")), 0.01)
    watch.rates.update_gap = 0.2
    assert [watch.look(now) for now in (0.0, 0.5, 1.5)] == [False, False, True]
    assert watch.sentence.startswith("This computer is busy with something else: 200 ms")
    watch = slow(World(gallery.load("drop-2d")), 0.01)
    watch.rates.update_gap, watch.world.speed = 0.2, 0.05
    assert not any(watch.look(now) for now in range(5))


def slowed(playground: Playground) -> list[float]:
    """Each turn of the world takes long from now on; the turns since, as lengths in s."""
    playground.do(setattr, playground.world, "speed", 1.0)
    advance, turns = playground.world.advance, list[float]()

    def slowly(seconds: float) -> int:
        time.sleep(2.5 * LONGEST)
        turns.append(seconds)
        return advance(seconds)

    playground.world.advance = slowly  # type: ignore[method-assign]
    return turns


def test_that_it_is_slow_does_not_take_the_place_of_a_button(open_playground: Callable[..., Playground]) -> None:
    """Who is about to press *Close the holes* would press *Half as many vertices*."""
    playground = open_playground("five-balls")
    pressed: list[bool] = []
    playground.do(playground.notices.say, "The mesh is open", "", "error", [("Close", lambda: pressed.append(True))])
    turns = slowed(playground)
    until(lambda: len(turns) * 2.5 * LONGEST > 3.0 * PATIENCE)
    assert playground.notices.title == "The mesh is open"
    playground.do(playground.notices.choose, "Close")
    until(lambda: playground.notices.title == "This is slow")
    assert pressed == [True]


def test_the_playground_says_that_it_is_slow(open_playground: Callable[..., Playground]) -> None:
    playground = open_playground("five-balls")
    slowed(playground)
    until(lambda: playground.notices.remedies)
    assert playground.notices.title == "This is slow"
    assert playground.notices.text == playground.slowness.sentence
    assert "Half as many vertices, from the beginning" in dict(playground.notices.remedies)  # a button


def test_the_fast_solver_is_offered_where_there_are_many_substeps_and_works() -> None:
    scene = turgor.Scene()
    scene.add_ground()
    scene.add_soft_body(
        shapes.icosphere(0.4, 2), name="ball", at=(0, 0, 0.5), mass=0.2, gas=turgor.Gas(gauge=2000.0),
        springs=turgor.Springs(stiffness=60000.0, damping=1.0),
    )  # fmt: skip
    scene.set("simulation.solver", "symplectic")
    world = World(scene)
    world.sim.step()
    watch = slow(world, 1.0)
    remedies = dict(watch.remedies)
    remedies["Fast solver"]()
    assert world.sim.solver == "implicit"
    world.sim.step()
    assert world.sim.finite
    assert "Fast solver" not in dict(watch.remedies)


def test_fewer_vertices_are_offered_and_the_scene_begins_again_with_them() -> None:
    world = World(gallery.load("drop"))
    world.sim.run(0.2)
    (remedy,) = [function for label, function in slow(world, 1.0).remedies if label.startswith("Half as many")]
    volumes = {body.name: body.shape.volume for body in world.scene.soft_bodies}
    remedy()
    assert world.sim.time == 0.0
    for body in world.scene.soft_bodies:
        assert len(body.shape.vertices) == 321
        assert body.shape.volume == pytest.approx(volumes[body.name], rel=0.05)
    world.sim.run(0.1)
    assert world.sim.finite
    assert turgor.Scene.from_toml(world.scene.to_toml()) == world.scene


def test_bodies_that_are_pinned_or_coarse_stay_as_they_are() -> None:
    world = World(gallery.load("hanging-ball"))
    assert not any(label.startswith("Half") for label, _ in slow(world, 1.0).remedies)
    coarser(world)
    body = world.scene["ball"]
    assert isinstance(body, SoftBody)
    assert len(body.shape.vertices) == 642
