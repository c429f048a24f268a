"""Bodies at rest sleep: they stay where they are, cost nothing, and wake when something disturbs them.

Rest is where forces balance, so a body that sleeps must stay where the same body, awake, comes to rest; the energy that
falls asleep is booked, so the ledger holds; and what is awake must move as it does where nothing sleeps.
"""

import numpy as np
import pytest

import turgor
from turgor import Gas, SceneError, Simulation, Springs, shapes

FPS = 60


def ball(scene, name, at, **options):
    options = {"mass": 0.5, "drag": 2.0, "friction": 0.6} | options
    scene.add_soft_body(
        shapes.icosphere(0.3, 1), name=name, at=at, springs=Springs(stiffness=300.0, damping=1.0),
        gas=Gas.at(gauge=150.0), **options,
    )  # fmt: skip


def far_apart():
    """Two balls and a box on the ground, none near another."""
    scene = turgor.Scene()
    scene.add_ground(friction=0.6)
    ball(scene, "left", (-2.0, 0.0, 0.31))
    ball(scene, "right", (2.0, 0.0, 0.31))
    scene.add_rigid_body(shapes.box((0.4, 0.4, 0.4)), name="box", at=(0.0, 3.0, 0.2), mass=1.0)
    return scene


def in_the_plane():
    scene = turgor.Scene(dim=2)
    scene.add_ground(friction=0.6)
    for number, x in enumerate((-2.0, 2.0)):
        scene.add_soft_body(
            shapes.circle(0.3, 20), name=f"disc {number}", at=(x, 0.31), mass=0.5, drag=2.0,
            springs=Springs(stiffness=300.0, damping=1.0), gas=Gas.at(gauge=60.0),
        )  # fmt: skip
    return scene


def asleep(sim):
    return {name for name in sim.names if sim[name].asleep}


def until(sim, condition, seconds=12.0):
    """Runs until a condition holds; the test fails where it does not come to hold."""
    for _ in range(round(seconds * FPS)):
        if condition():
            return sim
        sim.step()
    raise AssertionError(f"after {seconds} s only {asleep(sim)} sleep")


def at_rest(make=far_apart, **options):
    sim = Simulation(make(), sleeping=True, threads=1, **options)
    return until(sim, lambda: asleep(sim) == set(sim.names))


@pytest.mark.req("X1")
@pytest.mark.parametrize(
    ("make", "options"),
    [(far_apart, {}), (in_the_plane, {}), (far_apart, {"solver": "implicit"}), (far_apart, {"precision": "double"})],
)
def test_what_sleeps_stays_where_forces_balance(make, options):
    sim = at_rest(make, **options)
    before, launched = sim.positions, sim.substeps
    start = sim.time
    for _ in range(30):
        sim.step()
    assert np.array_equal(sim.positions, before)
    assert not sim.velocities.any()
    assert sim.time == pytest.approx(start + 0.5)
    assert sim.substeps == 0 < launched  # nothing was computed
    # awake again, it stays: a second of motion at the limit of sleep is a hundredth of its size
    sim.sleeping = False
    for _ in range(60):
        sim.step()
    assert np.abs(sim.positions - before).max() < 0.01 * 0.6


@pytest.mark.req("X1")
def test_the_ledger_holds_through_sleep():
    """Total energy plus what was dissipated stays, through falling asleep and waking."""
    sim = Simulation(far_apart(), sleeping=True, ledger=True, threads=1)
    first = sim.energy()
    until(sim, lambda: asleep(sim) == set(sim.names))
    sim["left"].velocities = (0.0, 0.0, 1.0)
    given = sim.energy().kinetic
    until(sim, lambda: asleep(sim) == set(sim.names))
    last = sim.energy()
    assert given > 0.1
    lost = last.dissipated - first.dissipated
    scale = abs(first.gravity) + given
    assert last.total + lost == pytest.approx(first.total + given + last.work - first.work, abs=2e-3 * scale)


@pytest.mark.parametrize("name", ["left", "box"])
def test_a_grab_wakes_its_body_and_only_that(name):
    sim = at_rest()
    there = {other: sim[other].center for other in sim.names}
    target = there[name] + (0.0, 0.0, 1.0)
    sim.grab(name, 0, target, stiffness=100.0)
    until(sim, lambda: asleep(sim) == set(sim.names) - {name})
    others = {other: sim[other].center for other in set(sim.names) - {name}}
    for step in range(20):
        sim.grab(name, 0, target + np.array((0.02 * step, 0.0, 0.0)), stiffness=100.0)  # reaches the one that is awake
        sim.step()
    assert asleep(sim) == set(sim.names) - {name}
    assert sim[name].center[2] > there[name][2] + 0.3
    assert sim[name].center[0] > there[name][0] + 0.05
    for other, center in others.items():
        assert np.array_equal(sim[other].center, center)
        assert np.allclose(center, there[other], atol=1e-3)  # awake for a moment
    sim.release(name)
    until(sim, lambda: asleep(sim) == set(sim.names))
    assert sim[name].center[2] == pytest.approx(there[name][2], abs=0.02)


@pytest.mark.req("X1")
def test_a_touch_wakes_before_it_is_felt():
    """A ball that rolls into a sleeper moves it, and their momentum is that of a run in which nothing sleeps."""
    runs = []
    for sleeping in (True, False):
        scene = turgor.Scene(gravity=(0, 0, 0))
        ball(scene, "target", (0.0, 0.0, 0.0), drag=0.0)
        ball(scene, "shot", (-3.0, 0.05, 0.0), drag=0.0, velocity=(2.0, 0.0, 0.0))
        sim = Simulation(scene, sleeping=sleeping, threads=1, substeps=24)
        slept = False
        for _ in range(round(2.0 * FPS)):
            sim.step()
            slept |= sim["target"].asleep
        runs.append((sim, slept))
    (sim, slept), (plain, _) = runs
    assert slept
    assert not asleep(sim)
    momentum = sim["target"].momentum + sim["shot"].momentum
    assert np.allclose(momentum, (1.0, 0.0, 0.0), atol=1e-4)
    assert sim["target"].momentum[0] > 0.3
    assert np.allclose(sim["target"].center, plain["target"].center, atol=0.02)


@pytest.mark.parametrize(
    "change",
    [
        lambda sim: setattr(sim, "gravity", (0.0, 0.0, -3.0)),
        lambda sim: setattr(sim, "wind", (5.0, 0.0, 0.0)),
        lambda sim: setattr(sim["left"], "stiffness", 500.0),
        lambda sim: setattr(sim["box"], "velocity", (1.0, 0.0, 0.0)),
        lambda sim: setattr(sim["left"], "positions", sim["left"].positions + 0.1),
        lambda sim: setattr(sim.walls["ground"], "friction", 0.1),
        lambda sim: sim.wake("right"),
        lambda sim: sim.wake(),
    ],
)
def test_changes_wake(change):
    sim = at_rest()
    change(sim)
    sim.step()
    assert not asleep(sim)


def test_a_change_of_one_that_is_awake_reaches_it():
    """The others sleep on while the gas of the one in the air is changed."""
    scene = far_apart()
    scene.add_soft_body(
        shapes.icosphere(0.3, 1), name="hanging", at=(0.0, -4.0, 3.0), mass=0.5, pins="top",
        gas=Gas.at(gauge=150.0, ambient=0.0),
        springs=Springs(stiffness=300.0, damping=0.0), velocity=(2.0, 0.0, 0.0),
    )  # fmt: skip
    sim = Simulation(scene, sleeping=True, threads=1)
    rest = {"left", "right", "box"}
    until(sim, lambda: asleep(sim) == rest)
    before = sim["hanging"].volume
    sim["hanging"].gauge_pressure = 600.0
    for _ in range(20):
        sim.step()
    assert asleep(sim) == rest
    assert sim["hanging"].volume > 1.05 * before


def test_contacts_of_sleepers_are_told():
    sim = Simulation(far_apart(), sleeping=True, threads=1)
    told = []
    sim.on_contact(lambda event: told.append((event.first, event.second, event.kind)))
    until(sim, lambda: asleep(sim) == set(sim.names))
    touching = set(sim.contacts().pairs)
    assert {("left", "ground"), ("right", "ground"), ("box", "ground")} <= touching
    told.clear()
    sim.step()
    assert {kind for _, _, kind in told} == {"stays"}
    sim.grab("left", 0, (-2.0, 0.0, 2.0), stiffness=100.0)
    until(sim, lambda: asleep(sim) == {"right", "box"})
    assert {("right", "ground"), ("box", "ground")} <= set(sim.contacts().pairs)


def test_a_scene_that_sleeps_in_part_goes_on_bit_for_bit_when_it_is_loaded(tmp_path):
    sim = at_rest()
    sim.grab("left", 0, (-2.0, 0.0, 1.0), stiffness=100.0)
    until(sim, lambda: asleep(sim) == {"right", "box"})
    sim.save(tmp_path / "state.npz")
    other = Simulation.load(tmp_path / "state.npz", threads=1)
    assert other.state_hash() == sim.state_hash()
    assert asleep(other) == asleep(sim)
    assert set(other.contacts().pairs) == set(sim.contacts().pairs)
    for _ in range(40):
        sim.step(), other.step()
    assert other.state_hash() == sim.state_hash()


def test_glued_bodies_are_one_island():
    """Far from each other, but joined: a pull at one keeps the other awake, too."""
    scene = turgor.Scene(gravity=(0, 0, 0))
    ball(scene, "ball", (0.0, 0.0, 0.0))
    scene.add_rigid_body(shapes.box((0.1, 0.1, 0.1)), name="weight", at=(0.0, 0.0, 2.0), mass=0.1)
    scene.attach("ball", "top", "weight")
    ball(scene, "other", (3.0, 0.0, 0.0))
    sim = Simulation(scene, sleeping=True, threads=1)
    until(sim, lambda: asleep(sim) == set(sim.names))
    sim.grab("weight", 0, (0.0, 0.5, 2.0), stiffness=5.0)
    until(sim, lambda: asleep(sim) == {"other"})
    seen = set()
    for _ in range(30):
        sim.step()
        seen.add(frozenset(asleep(sim)))
    assert seen == {frozenset({"other"})}
    assert sim["ball"].center[1] > 0.01


def test_what_is_driven_stays_awake():
    scene = turgor.Scene()
    scene.add_ground(friction=0.6)
    ball(scene, "ball", (0.0, 0.0, 0.31))
    scene.add_container((6.0, 6.0, 6.0), spin=(0.0, 0.0, 0.2), at=(0.0, 0.0, 3.0))
    sim = Simulation(scene, sleeping=True, threads=1)
    for _ in range(4 * FPS):
        sim.step()
    assert not asleep(sim)


def test_a_driven_body_goes_on_while_all_others_sleep_and_wakes_what_it_comes_near():
    scene = far_apart()
    scene.add_rigid_body(shapes.box((0.3, 0.3, 0.3)), name="pusher", at=(12.0, 0.0, 0.5), kind="kinematic",
                         velocity=(-1.0, 0.0, 0.0))  # fmt: skip
    sim = Simulation(scene, sleeping=True, threads=1)
    rest = {"left", "right", "box"}
    until(sim, lambda: asleep(sim) == rest)
    before, start = sim["pusher"].center[0], sim.time
    for _ in range(30):
        sim.step()
    assert asleep(sim) == rest
    assert sim["pusher"].center[0] == pytest.approx(before - (sim.time - start), abs=1e-4)
    until(sim, lambda: not sim["right"].asleep)
    assert sim["pusher"].center[0] > 2.3  # before it is there
    until(sim, lambda: sim["right"].center[0] < 1.5)  # and it is pushed


def test_what_does_not_go_with_sleeping():
    with pytest.raises(SceneError, match="sleeping is for one world"):
        Simulation(far_apart(), sleeping=True, worlds=2)
    with pytest.raises(SceneError, match="exclude each other"):
        Simulation(far_apart(), sleeping=True, readings=True)
    with pytest.raises(SceneError, match="sleeping"):
        Simulation(far_apart(), sleeping="perhaps")
    scene = far_apart()
    scene.set("simulation.sleeping", "true")
    assert turgor.Scene.from_toml(scene.to_toml()).simulation.sleeping is True
    assert Simulation(scene).sleeping
    assert not Simulation(far_apart()).sleeping
