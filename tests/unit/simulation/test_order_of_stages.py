"""The stages of a substep in the order of Matyka & Ollila 2003, section 2.4 (C1).

forces -> volume -> pressure per face -> integrate -> collisions -> move. Each neighbouring pair has a scene in which
the other order gives another result after one substep.
"""

from __future__ import annotations

import numpy as np
import pytest

import turgor
from reference import volume
from support import penetration
from support.laws import get, make, put, shape_of

DT = 0.01


def lone(contact="features", *, gap=0.01, velocity=(0.0, 0.0, 0.0), gravity=9.81, bodies=1, friction=0.0):
    """A ball of springs and gas `gap` above the floor, one substep per frame; a second one far away takes the other
    path through the end of a substep."""
    scene = turgor.Scene(gravity=(0.0, 0.0, -gravity))
    scene.add_ground(friction=friction, restitution=0.0)
    ball = turgor.shapes.icosphere(radius=0.5, subdivisions=1)
    for number in range(bodies):
        scene.add_soft_body(
            ball, name=f"ball{number}", at=(5.0 * number, 0.0, gap - ball.vertices[:, 2].min()), velocity=velocity,
            mass=1.0, springs=turgor.Springs(10.0), gas=turgor.Gas(nRT=1.0, ambient=0.0), friction=friction,
        )  # fmt: skip
    return turgor.Simulation(scene, contact=contact, precision="double", substeps=1, fps=1.0 / DT)


@pytest.mark.req("C1")
@pytest.mark.parametrize("assembly", ["scatter", "gather"])
@pytest.mark.parametrize("name", ["circle", "icosphere"])
def test_pressure_is_of_the_volume_of_these_positions(name, assembly):
    """forces -> volume -> pressure -> integrate: a squeezed body is pushed by nRT/V of now in its first substep, and
    in the next by that of where it has moved to, not by the volume of the substep before."""
    shape = shape_of(name)
    gas = turgor.Gas(nRT=3.0, ambient=0.0)
    sim, oracle = make(shape, gas=gas, stiffness=20.0, substeps=1, fps=1.0 / DT, assembly=assembly)
    sim.step()  # with the volume at rest
    for scale in (0.7, 1.2):
        put(sim, scale * shape.vertices, np.zeros_like(shape.vertices))
        x, v = get(sim)
        for _ in range(3):
            pushed = oracle.forces(x, v)
            v = v + DT * pushed / oracle.masses[:, None]
            x = x + DT * v
            sim.step()
            assert get(sim)[0] == pytest.approx(x, abs=1e-12)
            assert get(sim)[1] == pytest.approx(v, abs=1e-10)
            shrunk = volume(x, shape.faces)
            sim.measure()
            assert sim["body"].pressure == pytest.approx(3.0 / shrunk, rel=1e-12)


@pytest.mark.req("C1")
@pytest.mark.parametrize("bodies", [1, 2])
def test_collisions_see_what_was_just_integrated(bodies):
    """integrate -> collisions: at rest, a tenth of a millimetre above the floor. The weight of this one substep would
    bring the ball 0.98 mm down; a collision found from the velocity before would find nothing."""
    sim = lone(gap=1e-4, bodies=bodies)
    start = sim["ball0"].positions
    free = lone("none", gap=10.0, bodies=bodies)  # the same without a floor in reach
    for each in (sim, free):
        each.step()
    fallen = free["ball0"].positions[:, 2].min() - (10.0 - 1e-4) - start[:, 2].min()
    assert fallen < -5e-4
    assert sim["ball0"].positions[:, 2].min() == pytest.approx(0.0, abs=1e-12)
    low = start[:, 2].argmin()
    assert sim["ball0"].velocities[low, 2] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.req("C1")
@pytest.mark.parametrize("bodies", [1, 2])
def test_nothing_moves_before_its_collisions_are_resolved(bodies):
    """collisions -> move: a ball that would go 4 cm below the floor in this substep ends it on the floor, and what did
    not collide makes its whole way with the velocity of now."""
    sim = lone(gap=0.01, velocity=(1.0, 0.0, -5.0), bodies=bodies, gravity=0.0)
    start = sim["ball0"].positions
    sim.step()
    x, v = sim["ball0"].positions, sim["ball0"].velocities
    hit = start[:, 2] < 0.05
    assert hit.any()
    assert x[hit, 2] == pytest.approx(0.0, abs=1e-12)
    assert v[hit, 2] == pytest.approx(0.0, abs=1e-12)
    assert x[hit, 0] == pytest.approx(start[hit, 0] + DT * v[hit, 0], abs=1e-12)  # a smooth floor does not hold it
    assert x[~hit] == pytest.approx(start[~hit] + DT * v[~hit], abs=1e-12)
    assert (x[~hit, 2] < start[~hit, 2] - 0.04).all()


@pytest.mark.req("C1")
def test_bodies_meet_before_they_move():
    """The same between bodies: two balls 1 cm apart that would be 5 cm into each other at the end of the substep."""
    scene = turgor.Scene(gravity=(0.0, 0.0, 0.0))
    for side in (-1.0, 1.0):
        scene.add_soft_body(
            turgor.shapes.icosphere(radius=0.5, subdivisions=2), at=(0.505 * side, 0.0, 0.0),
            velocity=(-3.0 * side, 0, 0), mass=1.0, springs=turgor.Springs(10.0), gas=turgor.Gas(nRT=1.0, ambient=0.0),
        )  # fmt: skip
    deepest = {}
    for contact in ("none", "features"):
        sim = turgor.Simulation(scene, contact=contact, precision="double", substeps=1, fps=1.0 / DT)
        sim.step()
        deepest[contact] = penetration.deepest(sim)[0]
    assert deepest["none"] > 0.03
    assert deepest["features"] == 0.0
