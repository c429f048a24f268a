"""Contact forces that a user reads with solver = "implicit", against Newton's laws (readings=True)."""

from __future__ import annotations

import numpy as np
import pytest

import turgor
from support.laws import DEVICE, PRECISIONS
from turgor import shapes

pytestmark = pytest.mark.req("X2", "X1")

G = 9.81


def simulated(scene, **options):
    return turgor.Simulation(scene, device=DEVICE, solver="implicit", **{"readings": True, **options})


def ball(scene, name, *, stiffness=1e6, damping=20.0, radius=0.4, **options):
    """A stiff ball of 162 vertices (2D: 48), turned so that it does not stand on a vertex."""
    shape = shapes.icosphere(radius, 2) if scene.dim == 3 else shapes.circle(radius, 48)
    return scene.add_soft_body(
        shape, name=name, springs=turgor.Springs(stiffness, damping), gas=turgor.Gas.at(gauge=500.0, ambient=101_325.0),
        rotation=(0.3, 0.2, 0.1) if scene.dim == 3 else 0.1, **{"mass": 1.0, "restitution": 0.0, **options},
    )  # fmt: skip


def high(dim, x, z):
    return (x, 0.0, z) if dim == 3 else (x, z)


def means(sim, frames):
    """The mean of `on(names)` and `between(pairs)` over some frames."""
    seen = [sim.step() or sim.contacts().force for _ in range(frames)]

    def mean(*names):
        rows = [force.on(*names) if len(names) == 1 else force.between(*names) for force in seen]
        return np.mean(rows, axis=0)

    return mean


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("dim", [2, 3])
def test_what_rests_is_carried(dim, precision):
    """A stiff ball on the ground reads its weight; another lies on a box, which carries both weights to the ground."""
    scene = turgor.Scene(dim=dim)
    scene.add_ground(friction=0.5, restitution=0.0)
    ball(scene, "ball", at=high(dim, 0.0, 0.4), mass=0.5, drag=4.0)
    ball(scene, "top", at=high(dim, 2.0, 0.61), drag=4.0)
    block = shapes.box((0.8, 0.8, 0.2))
    if dim == 2:
        block = shapes.outline([(-0.4, -0.1), (0.4, -0.1), (0.4, 0.1), (-0.4, 0.1)])
    scene.add_rigid_body(block, name="box", at=high(dim, 2.0, 0.101), mass=3.0, restitution=0.0)
    sim = simulated(scene, precision=precision)
    sim.run(1.5)
    mean, up = means(sim, 30), np.eye(dim)[-1]
    expected = {
        ("ball",): 0.5, ("top",): 1.0, ("box",): 3.0, ("ground",): -4.5, ("ball", "ground"): 0.5,
        ("top", "box"): 1.0, ("box", "top"): -1.0, ("box", "ground"): 4.0, ("ball", "box"): 0.0,
    }  # fmt: skip
    for names, mass in expected.items():
        assert np.dot(mean(*names), up) == pytest.approx(mass * G, rel=0.01, abs=1e-3), names


def test_a_stack_of_two_reads_one_and_two_weights():
    scene = turgor.Scene()
    scene.add_ground(friction=0.5, restitution=0.0)
    scene.add_container((0.81, 0.81, 3.0), at=(0, 0, 1.5), name="shaft", friction=0.0)
    ball(scene, "low", at=(0, 0, 0.4), drag=4.0)
    ball(scene, "top", at=(0, 0, 1.205), drag=4.0)
    sim = simulated(scene, precision="double")
    sim.run(1.5)
    mean, up = means(sim, 40), np.array([0.0, 0.0, 1.0])
    for names, weights in ((("low", "ground"), 2.0), (("top", "low"), 1.0), (("top",), 1.0), (("low",), 1.0)):
        assert np.dot(mean(*names), up) == pytest.approx(weights * G, rel=0.01), names


def crash(dim, *, ground, stiffness=1e5):
    """Two balls and a box meet, above the ground or in free space."""
    scene = turgor.Scene(dim=dim, gravity=high(dim, 0.0, -G if ground else 0.0))
    if ground:
        scene.add_ground(friction=0.5, restitution=0.3)
    for name, x, v in (("a", -0.45, 2.0), ("b", 0.45, -1.0)):
        ball(
            scene, name, stiffness=stiffness, damping=0.0, at=high(dim, x, 0.45), velocity=high(dim, v, -0.5),
            friction=0.5, restitution=0.3,
        )  # fmt: skip
    block = shapes.box((0.4, 0.4, 0.4)) if dim == 3 else shapes.polygon(4, 0.3)
    scene.add_rigid_body(block, name="c", at=high(dim, 0.0, 1.2), velocity=high(dim, 0.0, -3.0), mass=2.0)
    return scene


@pytest.mark.parametrize("ground", [False, True])
@pytest.mark.parametrize("dim", [2, 3])
def test_every_frame_has_f_equal_to_m_a(dim, ground):
    """The force on each body is m (Δv/T - g), frame by frame; action is reaction: all forces sum to the ground's."""
    sim = simulated(crash(dim, ground=ground), precision="double")
    names, most = ["a", "b", "c"], 0.0
    weight = high(dim, 0.0, G if ground else 0.0)
    for _ in range(30):
        before = {name: np.array(sim[name].momentum) for name in names}
        sim.step()
        force, total = sim.contacts().force, np.zeros(dim)
        for name in names:
            expected = 60.0 * (sim[name].momentum - before[name]) + sim[name].mass * np.array(weight)
            most = max(most, float(np.abs(expected).max()))
            np.testing.assert_allclose(force.on(name), expected, atol=1e-8 * max(most, 1.0))
            total += force.on(name)
        if ground:
            total += force.on("ground")
        np.testing.assert_allclose(total, np.zeros(dim), atol=1e-8 * max(most, 1.0))
    assert most > 40.0


def test_the_impulse_of_an_impact_is_the_change_of_momentum():
    """A stiff ball falls on the ground: the sum of what is read is its momentum before, and its weight meanwhile."""
    scene = turgor.Scene()
    scene.add_ground(friction=0.5, restitution=0.5)
    ball(scene, "ball", at=(0, 0, 0.45), velocity=(1.0, 0.0, -4.0), damping=0.0, restitution=0.5)
    sim = simulated(scene)
    before, impulse, frames = np.array(sim["ball"].momentum), np.zeros(3), 12
    for _ in range(frames):
        sim.step()
        impulse += sim.contacts().force.between("ball", "ground") / 60.0
    gained = np.array(sim["ball"].momentum) - before + np.array([0.0, 0.0, G * frames / 60.0])
    assert gained[2] > 3.0
    np.testing.assert_allclose(impulse, gained, atol=1e-4 * gained[2])


def test_walls_and_driven_plates_read_what_a_squeezed_ball_pushes():
    """Between a wall and a driven plate at rest both read the same force, pressure times area at least."""
    scene = turgor.Scene(gravity=(0, 0, 0))
    ball(scene, "ball", stiffness=3000.0, damping=4.0, drag=10.0, friction=0.0)
    quiet = {"friction": 0.0, "restitution": 0.0}
    scene.add_plane(name="wall", point=(0, 0, -0.35), normal=(0, 0, 1), **quiet)
    scene.add_rigid_body(shapes.box((2, 2, 0.2)), name="plate", at=(0, 0, 0.5), kind="static", **quiet)
    sim = simulated(scene, precision="double")
    sim["ball"].positions = np.asarray(sim["ball"].positions) * (1.0, 1.0, 0.85)
    sim.run(1.0)
    mean = means(sim, 10)
    low, plate = mean("wall")[2], mean("plate")[2]
    assert low < -5.0
    assert plate == pytest.approx(-low, rel=0.01)
    assert mean("ball", "plate")[2] == pytest.approx(-plate, rel=1e-6)
    assert np.abs(mean("ball")).max() < 0.01 * plate


def test_readings_change_nothing_and_worlds_read_the_same():
    scene = crash(3, ground=True)
    plain, sim, worlds = simulated(scene, readings=False), simulated(scene), simulated(scene, worlds=2)
    for _ in range(20):
        plain.step(), sim.step(), worlds.step()
    assert plain.state_hash() == sim.state_hash()
    for name in ("a", "b", "c", "ground"):
        one = sim.contacts().force.on(name)
        assert np.array_equal(worlds.contacts().force.on(name), np.stack([one, one]))
