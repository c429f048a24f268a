"""What a GPU does in its own way, on the CPU: searches by blocks, contacts by worlds, how long a body is left alone."""

from __future__ import annotations

import numpy as np
import pytest

import turgor
from turgor import Gas, Springs, shapes
from turgor.contact.features.launch import FeatureLauncher
from turgor.contact.features.solve import world_rows

BALL = shapes.icosphere(radius=0.3, subdivisions=2)
SKIN = {"springs": Springs(150.0, 1.0), "gas": Gas.at(gauge=100.0, ambient=1000.0)}


@pytest.fixture
def as_on_a_gpu(monkeypatch):
    return lambda: monkeypatch.setattr(FeatureLauncher, "parallel", True)


def meeting() -> turgor.Scene:
    """Two balls that are about to touch, and a third that lies on one of them."""
    scene = turgor.Scene(gravity=(0, 0, 0))
    for at, velocity in (((0, 0, 0), (1, 0, 0)), ((0.601, 0.01, 0.02), (-1, 0, 0)), ((0.05, 0.57, 0.18), (0, -1, 0))):
        scene.add_soft_body(BALL, at=at, velocity=velocity, **SKIN)
    return scene


def candidates(sim):
    """{(bodies, features, kind): travel until they touch}, after the first substep."""
    lists = sim.engine.split.method.lists
    rows = lists.candidates.candidates.numpy()[: int(lists.candidates.candidate_count.numpy()[0])]
    travel, pairs = lists.candidates.wake_travel.numpy(), lists.pairs.pairs.numpy()
    asleep = lists.pairs.pair_travel_end.numpy()
    return {(*pairs[row[0]], *row[1:]): float(travel[i]) for i, row in enumerate(rows) if travel[i] > asleep[row[0]]}, {
        (*pairs[row[0]], *row[1:]) for row in rows
    }


@pytest.mark.req("X1", "X6")
def test_a_block_finds_what_the_cpu_finds(as_on_a_gpu):
    def found():
        sim = turgor.Simulation(meeting(), fps=2000.0, substeps=1, threads=1)
        sim.step()
        return candidates(sim)

    asleep, every = found()
    as_on_a_gpu()
    other_asleep, others = found()
    assert len(every) > 100
    assert others == every
    common = asleep.keys() & other_asleep.keys()  # those that woke were measured again
    assert len(common) > 50
    assert all(np.isclose(asleep[key], other_asleep[key], rtol=1e-4, atol=1e-6) for key in common)


@pytest.mark.req("X6")
def test_more_contacts_in_a_world_than_there_was_room_for(as_on_a_gpu, monkeypatch):
    as_on_a_gpu()

    def moved():
        sim = turgor.Simulation(meeting(), worlds=2, substeps=8, threads=1)
        for _ in range(4):
            sim.step()
        return sim.engine.replay.grown, sim.state_hash()

    enough, expected = moved()
    made = world_rows.WorldRows.__init__

    def small(self, model, launch):
        made(self, model, launch)
        self.capacity = 2
        self.allocate()

    monkeypatch.setattr(world_rows.WorldRows, "__init__", small)
    grown, state = moved()
    assert enough == 0
    assert grown > 0
    assert state == expected


@pytest.mark.req("X1")
@pytest.mark.parametrize("seed", range(4))
def test_a_body_that_is_left_alone_stays_star_shaped(as_on_a_gpu, seed):
    """For half of the time that its faces would need, at their speeds, to turn away from its centre."""
    as_on_a_gpu()
    scene = turgor.Scene(gravity=(0, 0, 0))
    scene.add_soft_body(BALL, name="ball", **SKIN)
    sim = turgor.Simulation(scene, threads=1)
    view, g = sim["ball"], np.random.default_rng(seed)
    rough = 10.0 ** g.uniform(-1.0, 0.5)  # how much neighbours differ
    view.velocities = (
        g.normal(size=3) + view.positions @ g.normal(size=(3, 3)) + rough * g.normal(size=(len(BALL.vertices), 3))
    )
    method = sim.engine.split.method
    method.look(4)
    time = float(method.lists.star_shaped.star_time.numpy()[0])
    assert 0.0 < time < 1.0
    centre = np.asarray(method.lists.star_shaped.centre.numpy()[0], float)
    drift = np.asarray(method.lists.star_shaped.centre_v.numpy()[0], float)

    def seen(t):
        corners = (view.positions + t * view.velocities)[BALL.faces]
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        return ((normals * (corners[:, 0] - centre - t * drift)).sum(axis=1) > 0.0).all()

    assert all(seen(share * time) for share in (0.0, 0.25, 0.5))
    assert not seen(20.0 * time)  # velocities that lead somewhere
