"""A body that is squeezed between a wall and another body obeys F = m a, whatever contact has to stop."""

from __future__ import annotations

import numpy as np
import pytest

import turgor
from support.laws import DEVICE, PRECISIONS
from turgor import shapes

G = 9.81
MASS, BALL = 100.0, 1.0  # kg


def press(dim, plate, subdivisions):
    """A free plate that falls on a ball of constant pressure, which lies on the ground."""
    scene = turgor.Scene(dim=dim)
    scene.add_ground(friction=0.5, restitution=0.0)
    up = (0.0,) * (dim - 1)
    ball = shapes.icosphere(0.5, subdivisions) if dim == 3 else shapes.circle(0.5, 40)
    gas = turgor.Gas.at(gauge=2000.0, ambient=0.0, held=True)
    springs = turgor.Springs(3000.0, 8.0) if dim == 3 else turgor.Springs(1e5, 20.0)
    common = {"friction": 0.5, "restitution": 0.0}
    scene.add_soft_body(
        ball, name="ball", at=(*up, 0.575), mass=BALL, drag=5.0, springs=springs, gas=gas, settled=True, **common
    )
    half = 0.5 * plate
    corners = [(-half, -0.05), (half, -0.05), (half, 0.05), (-half, 0.05)]
    shape = shapes.box((plate, plate, 0.1)) if dim == 3 else shapes.outline(corners)
    scene.add_rigid_body(shape, name="plate", at=(*up, 1.25), mass=MASS, **common)
    return scene


@pytest.mark.req("X1")
@pytest.mark.parametrize(
    ("dim", "plate", "precision", "solver"),
    [(3, 0.8, p, "symplectic") for p in PRECISIONS]
    + [(3, 1.0, "single", "symplectic"), (2, 0.9, "single", "symplectic")]
    + [(3, 0.8, "single", "implicit")],
)
def test_a_plate_on_a_ball_on_the_ground_obeys_newton(dim, plate, precision, solver):
    """In every second the mean force of the ball on it is its weight plus mass times mean acceleration, within 1 %.

    What the ground carries is that of both. The plate presses the ball to half its height, and rises again.
    """
    sim = turgor.Simulation(press(dim, plate, 2), device=DEVICE, precision=precision, solver=solver, readings=True)
    heights, speeds, on_plate, on_ball = [], [sim["plate"].velocity[-1]], [], []
    lowest = []
    for _ in range(120):
        sim.step()
        force = sim.contacts().force
        heights.append(sim["plate"].center[-1])
        speeds.append(sim["plate"].velocity[-1])
        on_plate.append(force.between("plate", "ball")[-1] + force.between("plate", "ground")[-1])
        on_ball.append(force.between("ball", "ground")[-1])
        lowest.append(sim["ball"].positions[:, -1].min())
    for start in range(0, 61, 10):
        mean = np.mean(on_plate[start : start + 60])
        acceleration = speeds[start + 60] - speeds[start]  # in one second
        assert mean == pytest.approx(MASS * (G + acceleration), abs=0.01 * MASS * G)
    deepest = int(np.argmin(heights))
    assert min(heights) < 0.5
    assert max(heights[deepest:]) > min(heights) + 0.4  # it is not frozen
    # walls of an implicit step are three times as hard as the skin, and 1 kN on a few points is a lot
    assert min(lowest) > (-6e-3 if solver == "implicit" else -1e-3)
    assert np.mean(on_ball) > 0.5 * MASS * G
