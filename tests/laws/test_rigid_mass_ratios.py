"""Contact of rigid bodies of unequal masses: heavy on light stands, forces are weights; and mirror images stay so."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import turgor
from support.laws import PRECISIONS
from support.rigid_world import BALL, G, RigidWorld, box_of, scene_of, up
from turgor import shapes
from turgor.contact.rigid.acceleration import ROUNDS

SIZE = 0.3  # m, of the boxes of support.rigid_world
SKIN = 0.01 * SIZE  # m, that a body gets by default


def stack_of(dim, masses, drop=0.0, floor="ground"):
    """Boxes on each other; the last one falls from `drop`."""
    scene = scene_of(dim)
    if floor == "ground":
        scene.add_ground(friction=0.6, restitution=0.0)
    else:
        slab = shapes.box(size=(4.0, 4.0, 0.4))
        if dim == 2:
            slab = shapes.outline(points=[(-2, -0.2), (2, -0.2), (2, 0.2), (-2, 0.2)])
        scene.add_rigid_body(slab, name="floor", at=up(dim, -0.2), kind="static", friction=0.6, restitution=0.0)
    for i, mass in enumerate(masses):
        height = SIZE * (i + 0.5) + (drop if i == len(masses) - 1 else 0.0)
        scene.add_rigid_body(
            box_of(dim), name=f"box-{i}", at=up(dim, height), mass=mass, friction=0.6, restitution=0.0
        )  # fmt: skip
    return scene


def rests(x, start):
    """No body is farther from its place in the stack than a skin."""
    return np.abs(np.asarray(x) - start).max() < SKIN


@pytest.mark.law(10)
@pytest.mark.req("B14")
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("dim", [2, 3])
def test_a_thousand_stands_on_one_for_ten_seconds(dim, precision) -> None:
    """At automatic settings, dropped onto it from 5 mm."""
    sim = turgor.Simulation(stack_of(dim, (1.0, 1000.0), drop=0.005), precision=precision)
    expected = np.array([up(dim, SIZE / 2), up(dim, 1.5 * SIZE)])
    for frame in range(600):
        sim.step()
        if frame % 20 == 19:
            assert rests([sim["box-0"].center, sim["box-1"].center], expected)
            assert sim.contacts().max_penetration < SKIN
    assert sim.substeps == 4


@pytest.mark.law(10)
@pytest.mark.req("B14")
@pytest.mark.parametrize(
    ("masses", "dim", "precision", "parallel"),
    [
        ((1.0, 1000.0), 2, "double", True),
        ((1.0, 1000.0), 3, "single", True),
        ((1.0,) * 5 + (1000.0,), 3, "single", False),
        ((1.0,) * 5 + (1000.0,), 2, "single", True),
        ((1.0, 1000.0) * 3, 3, "double", False),
        ((1.0, 1000.0) * 3, 2, "single", True),
    ],
)
def test_towers_of_unequal_boxes_stand_and_forces_are_weights(masses, dim, precision, parallel) -> None:
    """Each contact carries the weight of what is above it, without any knowledge of the solver."""
    world = RigidWorld(stack_of(dim, masses), 1 / 240, precision=precision, parallel=parallel, passes=10)
    start = world.x
    for _ in range(8):
        world.step(60)
        assert rests(world.x, start)
    carried = np.zeros(len(masses))  # by the contact below each box, N; mean over a quarter of a second
    for _ in range(60):
        world.step()
        for pair in world.points():
            carried[max(pair.a, pair.b) if pair.b >= 0 else pair.a] += pair.impulse.sum() * 240 / 60
    weights = G * np.cumsum(masses[::-1])[::-1]
    assert carried == pytest.approx(weights, rel=0.01)


@pytest.mark.req("B14")
@pytest.mark.parametrize("ratio", [1e4, 1e5, 1e7])
@pytest.mark.parametrize(
    ("dim", "precision", "floor"), [(2, "single", "ground"), (3, "single", "box"), (3, "double", "ground")]
)
@pytest.mark.filterwarnings("ignore:rigid body")
def test_nothing_ends_below_the_ground(dim, precision, floor, ratio) -> None:
    """Whatever the masses: walls and static bodies have the last word."""
    sim = turgor.Simulation(stack_of(dim, (1.0, ratio), drop=0.1, floor=floor), precision=precision)
    lowest = np.inf
    for _ in range(120):
        sim.step()
        lowest = min(lowest, *(sim[name].positions[:, -1].min() for name in ("box-0", "box-1")))
    assert lowest > -SKIN


@pytest.mark.law(10)
@pytest.mark.req("B14")
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("parallel", [False, True])
def test_unequal_masses_collide_as_newton_says(precision, parallel) -> None:
    """Two balls in line: momentum, and e times the speed of approach; three in a heap: momentum and no energy."""
    e, m, big = 0.5, 1.0, 1000.0
    scene = scene_of(gravity=0.0)
    scene.add_rigid_body(BALL, at=(-0.4, 0.0, 0.0), velocity=(2.0, 0.0, 0.0), mass=m, restitution=e, friction=0.0)
    scene.add_rigid_body(BALL, at=(0.4, 0.0, 0.0), velocity=(-1.0, 0.0, 0.0), mass=big, restitution=e, friction=0.0)
    world = RigidWorld(scene, 1 / 240, precision=precision, parallel=parallel)
    world.step(120)
    common = (m * 2.0 - big * 1.0) / (m + big)
    expected = common + e * 3.0 * np.array([-big, m]) / (m + big)
    assert world.v[:, 0] == pytest.approx(expected, abs=1e-4)

    scene = scene_of(gravity=0.0)
    rng = np.random.default_rng(2)
    for k, mass in enumerate((1.0, 1000.0, 1.0, 30.0)):
        at = (0.45 * k - 0.7, *rng.uniform(-0.05, 0.05, 2))
        scene.add_rigid_body(
            box_of(3), at=at, velocity=(3.0 - 2.0 * k, 0.3, 0.0), rotation=tuple(rng.uniform(-1, 1, 3)), mass=mass,
            restitution=0.0, friction=0.5,
        )  # fmt: skip
    world = RigidWorld(scene, 1 / 240, precision=precision, parallel=parallel)
    before, energy = world.momentum(), world.kinetic()
    find = world.recorded(world.kick, world.contacts.find, world.contacts.warm_start)
    solve = world.recorded(*[world.contacts.solve] * 4, world.contacts.finish)
    move = world.recorded(world.contacts.store, world.move)  # without the removal of depth, which has no momentum
    for _ in range(120):
        find()
        solve()
        move()
        assert world.kinetic() <= energy * (1.0 + 1e-5)
    assert world.kinetic() < 0.9 * energy
    loose = 1e-9 if precision == "double" else 1e-5
    scale = 1000.0 * 3.0
    assert world.momentum()[0] == pytest.approx(before[0], abs=loose * scale)
    assert world.momentum()[1] == pytest.approx(before[1], abs=loose * scale)


@pytest.mark.law(10)
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("dim", [2, 3])
def test_two_boxes_face_on_onto_a_third_stay_mirror_images(dim, precision) -> None:
    box = box_of(dim)
    scene = scene_of(dim, gravity=0.0)
    for i, (x, v) in enumerate([(-0.6, 1.0), (0.0, 0.0), (0.6, -1.0)]):
        aside = (0.0,) * (dim - 1)
        scene.add_rigid_body(
            box, name=f"box-{i}", at=(x, *aside), velocity=(v, *aside), friction=0.5, restitution=1.0
        )  # fmt: skip
    sim = turgor.Simulation(scene, precision=precision)
    for _ in range(60):
        sim.step()
    boxes = [sim[f"box-{i}"] for i in range(3)]
    velocities = np.array([box.velocity for box in boxes])
    assert velocities[2, 0] > 0.9  # they have met
    assert max(np.abs(box.spin).max() for box in boxes) < 1e-3
    assert np.abs(velocities[:, 1:]).max() < 1e-3
    assert abs(velocities[1, 0]) < 1e-3
    assert abs(velocities[0, 0] + velocities[2, 0]) < 1e-3


@pytest.mark.law(10)
@pytest.mark.parametrize("parallel", [False, True])
@pytest.mark.parametrize("dim", [2, 3])
def test_a_flat_box_lands_flat(dim, parallel) -> None:
    """All points of a face are stopped together, so nothing turns, whatever their order."""
    scene = scene_of(dim)
    scene.add_ground(friction=0.5, restitution=0.5)
    scene.add_rigid_body(box_of(dim), at=up(dim, 0.4), restitution=0.5, friction=0.5)
    world = RigidWorld(scene, 1 / 240, precision="single", parallel=parallel)
    for _ in range(10):
        world.step(24)
        assert np.abs(world.spin).max() < 1e-4
        assert np.abs(world.v[:, :-1]).max() < 1e-4


# how it is computed ------------------------------------------------------------------------------------------------


@pytest.mark.req("B14")
@pytest.mark.parametrize("parallel", [False, True])
def test_only_unequal_masses_cost_more_rounds(parallel) -> None:
    for ratio, rounds in ((1.0, 0), (5.0, 0), (100.0, ROUNDS)):
        world = RigidWorld(stack_of(3, (1.0, ratio)), 1 / 240, parallel=parallel)
        world.find()
        assert int(world.contacts.rounds.left.numpy()[0]) == rounds
        world.step(60)
        assert int(world.contacts.rounds.left.numpy()[0]) == 0


@pytest.mark.req("B14")
@pytest.mark.parametrize("parallel", [False, True])
def test_a_world_of_unequal_masses_does_not_change_its_neighbours(parallel) -> None:
    """Each world gets, bit for bit, what it gets alone."""
    alone = {ratio: RigidWorld(stack_of(3, (1.0, 1.0), 0.01), 1 / 240, parallel=parallel) for ratio in (1.0, 1000.0)}
    both = RigidWorld(stack_of(3, (1.0, 1.0), 0.01), 1 / 240, parallel=parallel, worlds=2)
    for array in ("inverse_mass", "inverse_inertia"):
        rows = getattr(alone[1000.0].rigids, array)
        light = rows.numpy().copy()
        heavy = light.copy()
        heavy[1] = light[1] / 1000.0
        rows.assign(heavy)
        getattr(both.rigids, array).assign(np.concatenate([light, heavy]))
    for world in (*alone.values(), both):
        world.step(150)
    for name in ("x", "q", "v", "spin"):
        apart = np.concatenate([getattr(alone[ratio], name) for ratio in (1.0, 1000.0)])
        assert np.array_equal(getattr(both, name), apart)


@pytest.mark.req("B14")
def test_what_is_beyond_what_holds_is_told() -> None:
    with pytest.warns(UserWarning, match=r"'box-1' has 1e\+06 times the mass of 'box-0': .* up to 10,000 times"):
        turgor.Simulation(stack_of(2, (1.0, 1e6)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sim = turgor.Simulation(stack_of(2, (1.0, 1000.0)))
    with pytest.warns(UserWarning, match="'box-1' has 2e"):
        sim["box-1"].mass = 2e5
