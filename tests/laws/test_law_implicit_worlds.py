"""solver = "implicit" in a batch: a world is what it is alone to the bit, whatever the others need."""

from __future__ import annotations

import numpy as np
import pytest

import turgor
from support.laws import DEVICE
from turgor import shapes

pytestmark = pytest.mark.req("X2")


@pytest.mark.skipif(DEVICE != "cpu", reason="sums of contact depend on the order of threads on a GPU")
@pytest.mark.parametrize("load", ["soft", "rigid"])
def test_a_world_does_not_see_what_others_need(load):
    """A stack falls on the ground with friction; in the middle world it is thrown, and takes more cuts and rounds."""
    scene = turgor.Scene()
    scene.add_ground(friction=0.5, restitution=0.3)
    ball = {"springs": turgor.Springs(1e4), "gas": turgor.Gas.at(gauge=500.0, ambient=101_325.0), "mass": 1.0}
    scene.add_soft_body(shapes.icosphere(0.4, 2), name="low", at=(0, 0, 0.45), rotation=(0.3, 0.2, 0.1), **ball)
    if load == "soft":
        scene.add_soft_body(shapes.icosphere(0.4, 1), name="top", at=(0.1, 0, 1.3), velocity=(0, 0, -2), **ball)
    else:
        scene.add_rigid_body(shapes.box((0.6, 0.6, 0.3)), name="top", at=(0, 0, 1.1), velocity=(0, 0, -2), mass=2.0)
    alone = turgor.Simulation(scene, device=DEVICE, solver="implicit")
    several = turgor.Simulation(scene, device=DEVICE, solver="implicit", worlds=3)
    velocities = np.array(several["low"].velocities)
    velocities[1] += (3.0, 0.0, -4.0)
    several["low"].velocities = velocities
    for _ in range(20):
        alone.step(), several.step()
    for world in (0, 2):
        assert np.array_equal(several.positions[world], alone.positions)
        assert np.array_equal(several.velocities[world], alone.velocities)
    assert not np.array_equal(several.positions[1], alone.positions)
