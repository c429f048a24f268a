"""The same scene gives the same bits: twice, in several threads at once, and after saving and loading in the middle."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

import turgor
from turgor import Gas, Springs, shapes
from turgor.contact.features.search import candidates
from turgor.contact.features.solve import constraints

METHODS = ("features", "particles", "particles-adaptive", "bounding")


def crowd():
    """Soft balls, boxes and a cloth that fall onto each other."""
    scene = turgor.Scene()
    scene.add_ground(friction=0.5)
    ball = shapes.icosphere(radius=0.3, subdivisions=1)
    gas = Gas.at(gauge=200.0, ambient=2000.0)
    for i in range(4):
        where = (0.1 * i, 0.05 * i, 0.4 + 0.65 * i)
        scene.add_soft_body(ball, at=where, springs=Springs(150.0, 1.0), gas=gas, settled=True)
    for i in range(3):
        scene.add_rigid_body(shapes.box(size=(0.3, 0.3, 0.3)), at=(0.5, 0.1 * i, 0.3 + 0.4 * i), mass=0.5)
    scene.add_cloth(
        shapes.sheet(size=(1.2, 1.2), resolution=(9, 9)), at=(0.2, 0.1, 3.0), rotation=(1.5708, 0, 0), wind_drag=0.0
    )
    return scene


def ready(method):
    """A simulation whose frame is recorded: from then on it may run in a thread."""
    sim = turgor.Simulation(crowd(), contact=method)
    sim.prepare()
    return sim


def advanced(sim, frames):
    for _ in range(frames):
        sim.step()
    return sim.state_hash()


def after(frames, method):
    return advanced(ready(method), frames)


@pytest.mark.req("X1", "X3")
@pytest.mark.parametrize("method", ["features", "particles", "bounding"])
def test_twice_and_in_two_threads(method):
    alone = after(45, method)
    sims = [ready(method) for _ in range(2)]
    with ThreadPoolExecutor(2) as pool:
        together = list(pool.map(lambda sim: advanced(sim, 45), sims))
    assert {alone, *together} == {alone}


@pytest.mark.req("X1", "X3")
@pytest.mark.parametrize("method", METHODS)
def test_saved_and_loaded_in_the_middle(method, tmp_path):
    sim = turgor.Simulation(crowd(), contact=method)
    for _ in range(20):
        sim.step()
    assert sim.contacts().count > 0
    sim.save(tmp_path / "state.npz")
    loaded = turgor.Simulation.load(tmp_path / "state.npz")
    for _ in range(15):
        sim.step()
        loaded.step()
    assert sim.state_hash() == loaded.state_hash()
    assert sim.state_hash() == after(35, method)  # saving changed nothing


def stack(dim):
    """Soft balls that press each other, and the lowest the ground."""
    scene = turgor.Scene(dim=dim)
    scene.add_ground(friction=0.5, restitution=0.2)
    shape = shapes.circle(radius=0.3, points=16) if dim == 2 else shapes.icosphere(radius=0.3, subdivisions=1)
    options = {"springs": Springs(150.0, 0.3), "gas": Gas.at(gauge=100.0, ambient=1000.0)}
    for i in range(3):
        beside = (0.05 * i,) * (dim - 1)
        velocity = (*(0.0,) * (dim - 1), -3.0)
        scene.add_soft_body(shape, name=f"ball{i}", at=(*beside, 0.32 + 0.55 * i), velocity=velocity, **options)
    return scene


@pytest.mark.req("X1", "X9")
@pytest.mark.parametrize("dim", [2, 3])
def test_a_stack_on_the_ground_goes_on_after_loading(dim, tmp_path):
    """Impulses begin with the walls that points were pressed against in the substep before."""
    sim = turgor.Simulation(stack(dim), substeps=10)
    for frame in range(1, 41):
        sim.step()
        if frame % 8 == 0:
            sim.save(tmp_path / "stack.npz")
            other = turgor.Simulation.load(tmp_path / "stack.npz")
            assert advanced(other, 3) == advanced(sim, 3), frame


@pytest.mark.req("X1", "X3")
@pytest.mark.parametrize("dim", [2, 3])
def test_lists_that_grow_change_nothing(dim, monkeypatch):
    """A frame whose lists were too short is computed again, from the lists that it began with."""
    roomy = turgor.Simulation(stack(dim), substeps=10)
    for part in (candidates, constraints):
        monkeypatch.setattr(part, "started_with", lambda per_point, points: 8)
    tight = turgor.Simulation(stack(dim), substeps=10)
    for _ in range(30):
        roomy.step()
        tight.step()
        assert tight.state_hash() == roomy.state_hash()
    assert tight.engine.replay.grown > 1
    assert roomy.engine.replay.grown == 0


@pytest.mark.req("X1", "X9")
@pytest.mark.parametrize("dim", [2, 3])
def test_many_bodies_that_start_in_one_place(dim):
    """Far more pairs that overlap than there is room for at first: nothing is read or written behind the lists."""
    scene = turgor.Scene(dim=dim, gravity=0)
    shape = shapes.circle(radius=0.3, points=12) if dim == 2 else shapes.icosphere(radius=0.3, subdivisions=0)
    for i in range(40):
        scene.add_soft_body(shape, at=(0.01 * i, *(0.003 * i,) * (dim - 1)), springs=Springs(150.0, 0.3))
    tight, roomy = (turgor.Simulation(scene, substeps=8) for _ in range(2))
    method = roomy.engine.split.method
    method.overlaps.capacity, method.lists.pairs.capacity = 2000, 2000
    method.lists.candidates.capacity, method.constraints.capacity = 1_000_000, 20_000
    method.allocate()
    assert advanced(tight, 4) == advanced(roomy, 4)
    assert tight.engine.replay.grown > 0
    assert roomy.engine.replay.grown == 0
    assert tight.engine.split.method.overlaps.capacity > 4 * 40 + 64
