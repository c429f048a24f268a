"""The playground's world: its settings exist once, its simulation stays the user's, and what fails changes nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from turgor import Scene, SceneError, Simulation, Springs, gallery, shapes
from turgor.scene.rigid import RigidBody
from turgor.simulation import simulation as simulation_module
from turgor.viewer.world.parameters import CHOICES
from turgor.viewer.world.undo import undo
from turgor.viewer.world.world import PATIENCE, World

pytestmark = pytest.mark.req("X8")


def advanced(world: World, frames: int = 5) -> World:
    for _ in range(frames):
        world.step_once()
    return world


def choose(world: World, key: str, value: str) -> None:
    """As the tab "Change" does."""
    next(choice for choice in CHOICES if choice.key == key).write(world, "", value)


def changes(world: World, name: str) -> None:
    """All that rebuilds a simulation, but for its own settings."""
    world.pin(name, 3)
    world.unpin(name)
    added = world.add(RigidBody(shapes.box(), name="new", at=(9, 9, 9)))
    world.remove(added)
    world.keep_ledger(not world.ledger)


def test_the_settings_of_a_simulation_outlive_every_change() -> None:
    sim = Simulation(gallery.load("drop"), solver="rk4", fps=120, precision="double", max_substeps=2048, worlds=1)
    world = advanced(World(sim))
    assert world.scene.simulation == sim.settings.of_scene()  # what the page shows, and what runs
    given = sim.settings.of_scene()
    changes(world, sim.names[0])
    assert world.sim.settings.of_scene() == given
    assert world.scene.simulation == given
    assert "rk4" in world.scene.to_toml()  # what is downloaded is what runs
    world.reset()
    assert world.sim.settings.of_scene() == given
    assert world.sim.time == 0.0
    choose(world, "solver", "midpoint")
    assert (world.sim.solver, world.scene.simulation.solver) == ("midpoint", "midpoint")
    assert world.sim.precision == "double"
    world.restore()
    assert world.sim.settings.of_scene() == given


def test_the_user_s_simulation_is_the_running_one() -> None:
    sim = Simulation(gallery.load("drop"))
    name = sim.names[0]
    world, view, contacts = World(sim), sim[name], []
    sim.on_contact(contacts.append)
    advanced(world)
    changes(world, name)
    choose(world, "contact", "none")
    assert world.sim is sim
    assert sim[name] is view
    time, before = sim.time, view.center
    advanced(world, 20)
    assert sim.time == pytest.approx(time + 20 / 60)
    assert view.center[2] < before[2]
    assert sim.settings.contact == "none"
    world.open(gallery.load("drop-2d"))
    assert world.sim is sim
    assert sim.scene.dim == 2
    assert sim.settings.of_scene() == gallery.load("drop-2d").simulation


def test_the_length_of_a_scene_is_the_simulation_s_too() -> None:
    world = World(gallery.load("drop-2d"))
    world.change("simulation.seconds", 0.1)
    assert world.sim.settings.of_scene() == world.scene.simulation
    world.sim.run()
    assert world.sim.time == pytest.approx(0.1)


def test_slow_worlds_have_shorter_frames_but_a_user_s_simulation_keeps_its_own() -> None:
    mine, yours = World(gallery.load("drop-2d")), World(Simulation(gallery.load("drop-2d")))
    for world in (mine, yours):
        for _ in range(PATIENCE):
            world.adapt_frame_length(seconds=1.0)
        world.pin(world.sim.names[0], 3)
    assert mine.sim.settings.fps == 2 * mine.scene.simulation.fps == 120.0
    assert yours.sim.settings.fps == yours.scene.simulation.fps == 60.0


def snapshot(world: World) -> tuple[Any, ...]:
    sim = world.sim
    return (
        sim.state_hash(), sim.settings, sim.scene, sim.names, world.scene, world.state, world.ledger, world.opened,
        repr(world.grabbed),
    )  # fmt: skip


@pytest.fixture
def held() -> World:
    """Two bodies, of which one is held."""
    world = advanced(World(gallery.load("two-spheres")))
    name = world.sim.names[0]
    world.grab(name, 0, world.sim[name].center + 0.1)
    return world


@pytest.mark.parametrize(
    "act",
    [
        lambda world: world.keep_ledger(True),
        lambda world: world.remove(world.sim.names[0]),
        lambda world: world.pin(world.sim.names[1], 2),
        lambda world: world.change("simulation.solver", "rk4"),
        lambda world: [world.adapt_frame_length(seconds=1.0) for _ in range(PATIENCE)],
        lambda world: world.reset(),
        lambda world: world.open(gallery.load("drop-2d")),
    ],
    ids=["ledger", "remove", "pin", "solver", "frames", "reset", "open"],
)
def test_a_rebuild_that_fails_leaves_everything_as_it_was(
    held: World, act: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise SceneError("it cannot be built")

    before = snapshot(held)
    with monkeypatch.context() as patch:
        patch.setattr(simulation_module, "rebuilt", fail)
        patch.setattr(simulation_module, "fresh", fail)
        with pytest.raises(SceneError, match="cannot be built"):
            act(held)
    assert snapshot(held) == before
    held.pin(held.sim.names[1], 2)  # the next one has nothing of the one that failed
    assert held.sim.settings == before[1]
    assert list(held.grabbed) == [held.sim.names[0]]


def test_a_body_that_goes_is_let_go_of(held: World) -> None:
    name = held.sim.names[0]
    held.remove(name)
    assert not held.grabbed
    assert np.isfinite(advanced(held).sim.positions).all()


def test_asking_for_too_few_substeps_does_not_move_the_world() -> None:
    world = advanced(World(gallery.load("five-balls")))
    choose(world, "substeps", str(2 ** int(np.ceil(np.log2(world.sim.substeps)))))
    before = snapshot(world)
    with pytest.raises(SceneError, match="needs about"):
        choose(world, "substeps", "1")
    assert snapshot(world) == before


def come_to_rest(world: World) -> None:
    """As the page does, a few rounds at a time."""
    world.settle()
    turns = 0
    while world.residual is not None:
        world.advance(0.01)
        turns += 1
    assert turns > 1


@pytest.mark.req("X13")
def test_settle_brings_the_world_to_rest_and_pauses_it() -> None:
    world = advanced(World(gallery.load("drop")))
    before = world.state
    come_to_rest(world)
    assert not world.playing
    assert world.state != before  # there is something new to see
    assert not world.frame().velocities.any()
    assert world.sim["ball"].positions[:, 2].min() == pytest.approx(0.0, abs=1e-6)


@pytest.mark.req("X13")
@pytest.mark.parametrize("what", ["play", "change", "pull"])
def test_who_does_something_ends_the_way_to_rest(what: str) -> None:
    world = advanced(World(gallery.load("drop")))
    world.settle()
    assert world.residual is not None
    if what == "play":
        world.playing = True
    elif what == "change":
        world.change("gravity", [0.0, 0.0, -1.6])
    else:
        world.grab("ball", 0, [0.0, 0.0, 2.0])
    before = world.sim["ball"].positions.copy()
    world.advance(0.0)
    assert world.residual is None
    assert np.array_equal(world.sim["ball"].positions, before)


@pytest.mark.req("X13")
def test_a_world_without_rest_stays_as_it_is() -> None:
    world = advanced(World(gallery.load("rotating-box")))
    before = world.sim.state_hash()
    with pytest.raises(SceneError, match="no state of rest"):
        world.settle()
    assert world.sim.state_hash() == before


@pytest.mark.req("X13")
def test_settle_lets_in_the_gas_that_is_on_its_way() -> None:
    world = advanced(World(gallery.load("drop")))
    wanted = 2.0 * world.sim["ball"].nRT
    world.sim["ball"].nRT = wanted
    world._fillings.begin(world.sim, "ball", 0.5 * wanted)
    come_to_rest(world)
    assert world.sim["ball"].nRT == pytest.approx(wanted)
    world.step_once()
    assert world.sim["ball"].nRT == pytest.approx(wanted)


def _ball_at_rest(**simulation):
    scene = Scene(gravity=(0, 0, 0))
    scene.add_soft_body(shapes.icosphere(0.3, 1), name="ball", springs=Springs(stiffness=300.0))
    for key, value in simulation.items():
        scene.set(f"simulation.{key}", value)
    return scene


def _run(world, seconds=1.0):
    for _ in range(round(seconds * world.sim.settings.fps)):
        world.sim.step()


def test_bodies_sleep_in_the_page_unless_the_scene_or_its_user_says_no():
    world = World(_ball_at_rest())
    _run(world)
    assert world.sim["ball"].asleep
    world.change("ball.mass", 2.0)
    _run(world, 0.1)
    assert not world.sim["ball"].asleep
    _run(world)
    entry = next(entry for entry in CHOICES if entry.key == "sleeping")
    assert entry.read(world, "") == "at rest"
    entry.write(world, "", "never")
    _run(world)
    assert not world.sim["ball"].asleep
    assert world.scene.simulation.sleeping is False
    undo(world)
    _run(world)
    assert world.sim["ball"].asleep
    world.open(_ball_at_rest(sleeping=False))
    _run(world)
    assert not world.sim["ball"].asleep
    world.open(_ball_at_rest())
    _run(world)
    assert world.sim["ball"].asleep
    assert world.scene.simulation.sleeping == "auto"  # what is downloaded is as it came


def test_a_simulation_of_a_user_sleeps_only_if_it_did():
    for sleeping in (True, None):
        sim = Simulation(_ball_at_rest(), sleeping=sleeping)
        world = World(sim)
        _run(world)
        assert sim["ball"].asleep is bool(sleeping)
