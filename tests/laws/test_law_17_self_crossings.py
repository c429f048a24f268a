"""A surface does not pass through itself when it is thrown, folded or crushed."""

from __future__ import annotations

import pytest

import turgor
from support.laws import DEVICE
from support.penetration import self_crossings
from turgor import shapes

SHAPES = {
    "hand": shapes.hand(),
    "cat": shapes.cat(),
    "flat box": shapes.box((1.0, 0.6, 0.08), 6),
    "capsule": shapes.capsule(0.12, 0.9, 16, 12),  # star-shaped at first
    "ring": shapes.torus(0.4, 0.1, 8, 24),
    "star": shapes.star(tips=7, outer=0.5, inner=0.1, points=56),
}


def thrown(name, speed, turn, self_contact=True, **options):
    """A soft bag with little gas, thrown at the floor."""
    shape = SHAPES[name]
    dim = shape.dim
    up = (0.0,) * (dim - 1)
    scene = turgor.Scene(dim=dim)
    scene.add_ground(friction=0.5, restitution=0.1)
    scene.add_soft_body(
        shape, name="bag", at=(*up, 1.0), rotation=turn if dim == 3 else turn[0], velocity=(*up, -speed),
        springs=turgor.Springs(60.0, 0.2), gas=turgor.Gas.at(gauge=20.0, ambient=300.0), self_contact=self_contact,
    )  # fmt: skip
    return turgor.Simulation(scene, device=DEVICE, **options)


def most_crossings(sim):
    """In any of the frames that are looked at."""
    worst = 0
    for frame in range(24):
        sim.step()
        if frame >= 6 and frame % 3 == 0:
            worst = max(worst, self_crossings(sim)["bag"])
    return worst


@pytest.mark.req("X1")
@pytest.mark.parametrize(
    ("name", "speed", "turn"),
    [
        ("hand", 5.0, (0.0, 0.0, 0.0)), ("hand", 5.0, (1.2, 0.4, 0.0)), ("cat", 5.0, (0.5, 1.3, 0.2)),
        ("cat", 9.0, (0.0, 0.0, 0.0)),  # points near the floor, pushed towards it
        ("flat box", 5.0, (0.5, 1.3, 0.2)), ("flat box", 6.0, (0.0, 0.0, 0.0)), ("ring", 9.0, (0.5, 1.3, 0.2)),
        ("capsule", 9.0, (0.0, 0.0, 0.0)), ("capsule", 9.0, (1.2, 0.4, 0.0)), ("star", 5.0, (0.0,)),
        ("star", 9.0, (1.3,)),
    ],
)  # fmt: skip
def test_a_bag_that_is_crushed_does_not_cross_itself(name, speed, turn):
    assert most_crossings(thrown(name, speed, turn)) == 0


@pytest.mark.req("X1", "X2")
@pytest.mark.parametrize(
    ("name", "speed", "turn", "substeps"),
    [
        ("hand", 5.0, (1.2, 0.4, 0.0), 4), ("ring", 9.0, (0.5, 1.3, 0.2), 4), ("capsule", 9.0, (1.2, 0.4, 0.0), 4),
        ("star", 5.0, (0.0,), 4), ("star", 9.0, (1.3,), 4), ("flat box", 6.0, (0.0, 0.0, 0.0), 8),
    ],
)  # fmt: skip
def test_with_implicit_steps_it_does_not_cross_itself_either(name, speed, turn, substeps):
    """Up to steps in which it moves by an edge: the sides of the box are folded over within one of 1/240 s."""
    assert most_crossings(thrown(name, speed, turn, solver="implicit", substeps=substeps)) == 0


@pytest.mark.req("X1")
def test_without_self_contact_it_does():
    """So there is something to prevent."""
    assert most_crossings(thrown("flat box", 6.0, (0.0, 0.0, 0.0), self_contact=False)) > 100
