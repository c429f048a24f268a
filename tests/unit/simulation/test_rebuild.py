"""Changing a simulation while it runs: walls that are set in motion, and going on in one that was built anew."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import turgor
from turgor import SceneError, gallery
from turgor.simulation.rebuild import rebuilt


def advanced(sim, frames):
    for _ in range(frames):
        sim.step()
    return sim


def angle(sim):
    """Of the container about y, rad."""
    rotation = sim.frame().walls[1].rotation
    return np.arctan2(rotation[0, 2], rotation[0, 0])


@pytest.mark.req("C5")
def test_a_container_goes_on_from_where_it_is():
    """Another spin changes the rate of turning, and not the angle."""
    sim = advanced(turgor.Simulation(gallery.load("five-balls")), 30)  # 0.6 rad/s about y
    assert angle(sim) == pytest.approx(0.3, abs=1e-4)
    sim.walls["box"].spin = (0.0, -1.2, 0.0)
    assert angle(sim) == pytest.approx(0.3, abs=1e-4)
    advanced(sim, 30)
    assert angle(sim) == pytest.approx(-0.3, abs=1e-4)
    sim.walls["box"].spin = (0.0, 0.0, 0.0)
    advanced(sim, 10)
    assert angle(sim) == pytest.approx(-0.3, abs=1e-4)


@pytest.mark.req("C5")
def test_a_container_at_rest_can_be_set_in_motion():
    scene = turgor.Scene(dim=2)
    scene.add_container(size=(2.0, 2.0), name="box")
    sim = advanced(turgor.Simulation(scene), 3)
    sim.walls["box"].spin = 2.0
    advanced(sim, 30)
    rotation = sim.frame().walls[0].rotation
    assert np.arctan2(rotation[1, 0], rotation[0, 0]) == pytest.approx(1.0, abs=1e-5)


def test_only_what_moves_can_be_moved():
    scene = turgor.Scene()
    scene.add_ground()
    scene.add_container(size=(1, 1, 1), name="box")
    sim = turgor.Simulation(scene)
    with pytest.raises(SceneError, match="only a container turns"):
        sim.walls["ground"].spin = (0, 1, 0)
    with pytest.raises(SceneError, match="only a plane moves"):
        sim.walls["box"].velocity = (0, 1, 0)
    with pytest.raises(SceneError, match="friction"):
        sim.walls["box"].friction = -1.0
    with pytest.raises(SceneError, match="spin"):
        sim.walls["box"].spin = (0, 1)


@pytest.mark.req("B6")
def test_friction_of_a_wall_changes_while_it_runs():
    """A sliding box: it stops within v²/(2 µ g) once the floor is rough."""
    scene = turgor.Scene()
    scene.add_ground(friction=0.0, restitution=0.0)
    scene.add_rigid_body(
        turgor.shapes.box(size=(0.5, 0.5, 0.2)), name="box", at=(0, 0, 0.1), velocity=(1, 0, 0), friction=None
    )
    sim = advanced(turgor.Simulation(scene), 30)
    assert sim["box"].velocity[0] == pytest.approx(1.0, abs=1e-3)
    start = sim["box"].center[0]
    sim.walls["ground"].friction = 0.5
    advanced(sim, 60)
    assert abs(sim["box"].velocity[0]) < 0.01
    assert sim["box"].center[0] - start == pytest.approx(1.0 / (2 * 0.5 * 9.81), rel=0.1)


@pytest.mark.parametrize("name", ["five-balls", "torus-and-cubes", "jelly-2d", "ball-on-cloth"])
def test_rebuilt_goes_on_bit_for_bit(name):
    """A simulation that is built anew from the same description has the same state, and goes on like the other."""
    sim = advanced(turgor.Simulation(gallery.load(name)), 40)
    other = rebuilt(sim, sim.scene)
    assert other.time == sim.time
    assert other.frame_index == sim.frame_index
    mine, its = sim.frame(), other.frame()
    np.testing.assert_allclose(its.positions, mine.positions, atol=2e-6)
    np.testing.assert_allclose(its.velocities, mine.velocities, atol=1e-4)
    for one, two in zip(mine.walls, its.walls, strict=True):
        np.testing.assert_allclose(two.rotation, one.rotation, atol=1e-6)
    before = max(1e-3, np.abs(mine.velocities).max()) / 60
    advanced(sim, 2)
    advanced(other, 2)
    assert np.abs(other.frame().positions - sim.frame().positions).max() < 0.2 * before  # of the way of a frame
    np.testing.assert_allclose(other.frame().walls[0].rotation, sim.frame().walls[0].rotation, atol=1e-6)


def test_a_body_that_is_added_leaves_the_others_alone():
    sim = advanced(turgor.Simulation(gallery.load("drop")), 20)
    scene = sim.scene.copy()
    scene.add_rigid_body(turgor.shapes.box(size=(0.3, 0.3, 0.3)), name="new", at=(0, 0, 4))
    other = rebuilt(sim, scene)
    for name in sim.names:
        np.testing.assert_array_equal(other[name].positions, sim[name].positions)
        np.testing.assert_array_equal(other[name].velocities, sim[name].velocities)
    assert other["new"].center[2] == pytest.approx(4.0)
    assert len(sim.scene.rigid_bodies) == 0  # the copy was changed, not the scene


def test_a_vertex_that_is_pinned_stays_where_it_is():
    sim = advanced(turgor.Simulation(gallery.load("drop-2d")), 20)
    name = sim.names[0]
    place = sim[name].positions[3].copy()
    scene = sim.scene.copy()
    scene.set(f"{name}.pins", (3,))
    other = advanced(rebuilt(sim, scene), 30)
    np.testing.assert_allclose(other[name].positions[3], place, atol=1e-6)


def test_frames_of_rigid_bodies_are_what_their_views_say():
    sim = advanced(turgor.Simulation(gallery.load("torus-and-cubes")), 30)
    frame = sim.frame()
    for body in sim.layout.bodies:
        part = slice(body.start, body.start + body.count)
        np.testing.assert_allclose(frame.positions[part], sim[body.name].positions, atol=1e-9)
        np.testing.assert_allclose(frame.velocities[part], sim[body.name].velocities, atol=1e-9)


# the settings and objects that a rebuild keeps --------------------------------------------------------------------


def double_ball(**options):
    scene = turgor.Scene()
    scene.add_ground()
    scene.add_soft_body(
        turgor.shapes.icosphere(radius=0.5), name="ball", at=(0, 0, 1), springs=turgor.Springs(stiffness=150.0),
        gas=turgor.Gas.at(gauge=200.0, ambient=1000.0, temperature=293.15),
    )  # fmt: skip
    return turgor.Simulation(scene, **options)


GIVEN = {
    "solver": "rk4", "fps": 120.0, "substeps": 24, "contact": "none", "precision": "double", "max_substeps": 512,
    "worlds": 2, "ledger": True, "assembly": "gather",
}  # fmt: skip


@pytest.mark.parametrize("restart", [False, True])
def test_a_rebuilt_simulation_has_every_setting_of_the_old_one(restart):
    """What was given to `Simulation` and differs from the scene's own settings is not lost."""
    sim = advanced(double_ball(**GIVEN), 2)
    settings = sim.settings
    scene = sim.scene.copy()
    scene.set("ball.pins", (0,))
    sim.rebuild(scene, restart=restart)
    assert sim.settings == settings
    assert {name: getattr(sim.settings, name, None) or getattr(sim, name) for name in GIVEN} == GIVEN
    assert sim.device == "cpu"
    assert sim["ball"].positions.shape[0] == 2


def test_only_the_setting_that_is_meant_changes():
    sim = advanced(double_ball(solver="rk4", fps=120), 3)
    time, place = sim.time, sim["ball"].center
    sim.rebuild(settings=replace(sim.settings, solver="midpoint"))
    assert (sim.solver, sim.settings.fps) == ("midpoint", 120.0)
    assert sim.time == time
    np.testing.assert_allclose(sim["ball"].center, place, atol=1e-6)
    sim.rebuild(ledger=True)
    assert sim.settings.ledger
    assert sim.solver == "midpoint"


def test_views_and_listeners_stay_those_that_the_user_holds():
    """Added in front of it, another body shifts all indices; the view still is the ball's, and sets what runs."""
    sim = double_ball()
    ball, ground, events = sim["ball"], sim.walls["ground"], []
    sim.on_contact(events.append)
    scene = turgor.Scene(simulation=sim.scene.simulation)
    scene.add_soft_body(turgor.shapes.icosphere(radius=0.2), name="first", at=(3, 0, 1))
    scene.add(sim.scene["ball"])
    scene.add(sim.scene["ground"])
    sim.rebuild(scene)
    assert sim["ball"] is ball
    assert sim.walls["ground"] is ground
    assert sim.names == ["first", "ball"]
    assert ball.center[2] == pytest.approx(1.0, abs=1e-5)
    ball.velocities = np.tile([0.0, 0.0, -5.0], (len(ball.positions), 1))
    ball.stiffness = 300.0
    ground.friction = 0.9
    advanced(sim, 10)
    assert ball.center[2] < 0.8
    assert float(sim.model.stiffness.numpy()[1]) == 300.0
    assert float(sim.model.walls.friction.numpy()[0]) == pytest.approx(0.9)
    assert {event.first for event in events} == {"ball"}


def test_the_view_of_a_removed_body_shows_its_last_state():
    sim = advanced(double_ball(), 5)
    ball, place = sim["ball"], sim["ball"].center
    scene = turgor.Scene()
    scene.add_soft_body(turgor.shapes.icosphere(radius=0.2), name="other", at=(3, 0, 1))
    sim.rebuild(scene)
    np.testing.assert_array_equal(ball.center, place)
    with pytest.raises(SceneError, match="no body 'ball'"):
        sim["ball"]


def test_what_was_set_on_the_running_simulation_stays():
    """Parameters of bodies and walls, per world too, and gravity; of a body that is described anew: the description."""
    sim = double_ball(worlds=2)
    ball = sim["ball"]
    ball.stiffness, ball.temperature, ball.mass = (200.0, 400.0), 350.0, 2.0
    sim.gravity, sim.walls["ground"].friction = (0, 0, -1.62), 0.9
    scene = sim.scene.copy()
    scene.set("ball.pins", (0,))
    scene.add_rigid_body(turgor.shapes.box(), name="new", at=(4, 0, 1))
    gas = ball.nRT
    sim.rebuild(scene)
    assert ball.stiffness.tolist() == [200.0, 400.0]
    np.testing.assert_allclose(ball.temperature, 350.0)
    np.testing.assert_allclose(ball.nRT, gas)
    np.testing.assert_allclose(ball.mass, 2.0, rtol=1e-6)
    np.testing.assert_allclose(sim.gravity, [[0, 0, -1.62]] * 2)
    assert sim.walls["ground"].friction == pytest.approx(0.9)
    changed = scene.copy()
    changed.set("ball.springs.stiffness", 77.0)
    sim.rebuild(changed)
    assert ball.stiffness.tolist() == [77.0, 77.0]


def test_a_rebuild_that_fails_changes_nothing():
    sim = advanced(double_ball(ledger=True), 3)
    before, scene, ball = sim.state_hash(), sim.scene, sim["ball"]
    bad = scene.copy()
    bad.soft_bodies.append(bad.soft_bodies[0])  # two of one name
    with pytest.raises(SceneError, match="ball"):
        sim.rebuild(bad, ledger=False)
    assert sim.scene is scene
    assert sim.settings.ledger
    assert sim["ball"] is ball
    assert sim.state_hash() == before
    sim.step()
