"""Glue between soft and rigid bodies, bodies moved by a script, what users hear of contacts, and buffers that grow."""

from __future__ import annotations

import numpy as np
import pytest

import turgor
from turgor import Gas, SceneError, Springs, shapes

GAS = Gas.at(gauge=200.0, ambient=2000.0)


def advanced(sim, frames):
    for _ in range(frames):
        sim.step()
    return sim


def ball(scene, **options):
    base = {"name": "ball", "springs": Springs(200.0, 1.0), "gas": GAS, "settled": True, "mass": 1.0}
    return scene.add_soft_body(shapes.icosphere(radius=0.3, subdivisions=2), **base | options)


@pytest.mark.req("B8", "X1")
@pytest.mark.parametrize("precision", ["single", "double"])
def test_glued_pair_keeps_its_momentum_and_its_shape(precision):
    """Free in space and turning: glue passes forces both ways, and glued vertices stay where they are on the body."""
    scene = turgor.Scene(gravity=(0, 0, 0))
    ball(scene, velocity=(0.5, 0, 0.2))
    scene.add_rigid_body(shapes.box(size=(0.2, 0.2, 0.2)), name="box", at=(0, 0, 0.5), velocity=(-0.5, 0, 0), mass=0.5)
    top = np.flatnonzero(scene.soft_bodies[0].shape.vertices[:, 2] > 0.25)
    scene.attach("ball", tuple(int(i) for i in top), "box")
    sim = turgor.Simulation(scene, precision=precision)

    def momentum():
        free = np.setdiff1d(np.arange(162), top)  # what is glued counts as part of the box
        view, box = sim["ball"], sim["box"]
        return (view.masses[free, None] * view.velocities[free]).sum(axis=0) + box.momentum

    def places():
        return np.linalg.norm(sim["ball"].positions[top] - sim["box"].center, axis=1)

    before, apart = momentum(), places()
    advanced(sim, 90)
    assert np.abs(sim["box"].spin).max() > 0.01  # it did something
    assert np.abs(momentum() - before).max() < {"single": 2e-5, "double": 1e-12}[precision]
    np.testing.assert_allclose(places(), apart, rtol=1e-4)


@pytest.mark.req("B8")
def test_a_ball_hangs_on_a_fixed_plate():
    scene = turgor.Scene()
    ball(scene)
    scene.add_rigid_body(shapes.box(size=(0.4, 0.4, 0.1)), name="plate", at=(0, 0, 0.5), kind="static")
    top = tuple(int(i) for i in np.flatnonzero(scene.soft_bodies[0].shape.vertices[:, 2] > 0.25))
    scene.attach("ball", top, "plate")
    sim = turgor.Simulation(scene)
    held = sim["ball"].positions[list(top)]
    advanced(sim, 180)
    np.testing.assert_allclose(sim["ball"].positions[list(top)], held, atol=1e-6)
    assert -0.6 < sim["ball"].center[2] < 0.0  # it hangs, and does not fall


@pytest.mark.req("B8", "X1")
def test_a_kinematic_body_gives_its_velocity():
    """A paddle that a script moves pushes a ball; nothing pushes the paddle."""
    scene = turgor.Scene(gravity=(0, 0, 0))
    ball(scene, at=(0.5, 0, 0), friction=0.0)
    scene.add_rigid_body(
        shapes.box(size=(0.1, 1, 1)), name="paddle", at=(-0.2, 0, 0), velocity=(1.0, 0, 0), kind="kinematic"
    )
    sim = advanced(turgor.Simulation(scene), 60)
    assert sim["paddle"].center[0] == pytest.approx(0.8, abs=1e-5)
    assert sim["ball"].momentum[0] / sim["ball"].mass > 0.9
    sim["paddle"].velocity = (0.0, 0.0, 0.0)
    place = sim["paddle"].center.copy()
    advanced(sim, 30)
    np.testing.assert_allclose(sim["paddle"].center, place, atol=1e-6)


def dropped():
    scene = turgor.Scene()
    scene.add_ground()
    ball(scene, at=(0, 0, 1.0))
    scene.add_rigid_body(shapes.box(size=(0.6, 0.6, 0.2)), name="slab", at=(0, 0, 0.15), mass=2.0)
    return turgor.Simulation(scene)


@pytest.mark.req("X1")
def test_contacts_tell_who_where_and_how_hard():
    sim = advanced(dropped(), 90)
    found = sim.contacts()
    assert found.count == len(found.pairs) == len(found.points) == len(found.normals) == len(found.impulses)
    between = [k for k, pair in enumerate(found.pairs) if set(pair) == {"ball", "slab"}]
    on_floor = [k for k, pair in enumerate(found.pairs) if pair == ("slab", "ground")]
    assert between
    assert on_floor
    np.testing.assert_allclose(np.linalg.norm(found.normals, axis=1), 1.0, rtol=1e-4)
    assert np.abs(found.points[between, 2] - 0.25).max() < 0.05  # the slab's upper side
    # the floor carries the weight of both: impulse per substep over its length
    force = found.impulses[on_floor].sum() * sim.substeps * 60.0
    assert force == pytest.approx(3.0 * 9.81, rel=0.3)


@pytest.mark.req("X1")
def test_events_begin_stay_and_end():
    sim, heard = dropped(), []
    sim.on_contact(lambda event: heard.append((event.kind, event.first, event.second)))
    advanced(sim, 60)
    assert ("began", "ball", "slab") in heard
    assert ("stays", "slab", "ground") in heard
    sim["ball"].velocities = (0.0, 0.0, 5.0)
    heard.clear()
    advanced(sim, 10)
    assert ("ended", "ball", "slab") in heard
    with pytest.raises(SceneError, match="on_contact needs a function"):
        sim.on_contact(3)


@pytest.mark.req("X1", "X3")
def test_buffers_that_are_too_small_grow_and_change_nothing():
    """The frame is undone, the buffers grow, and it is computed again, as with enough room (but for the order)."""
    sims = [dropped(), dropped()]
    features = sims[1].engine.split.method
    features.lists.pairs.capacity, features.lists.candidates.capacity, features.constraints.capacity = 1, 3, 2
    features.allocate()
    for sim in sims:
        advanced(sim, 60)
    assert sims[1].engine.replay.grown > 0
    assert features.constraints.capacity > 2
    np.testing.assert_allclose(sims[0].positions, sims[1].positions, atol=2e-3)
    assert sims[1].contacts().count > 0


@pytest.mark.req("B8")
@pytest.mark.parametrize("contact", ["features", "bounding"])
def test_what_is_glued_where_it_touches_falls_freely(contact):
    """A body does not touch what it is glued to: contact at distance zero would hold both in the air."""
    scene = turgor.Scene()
    scene.add_rigid_body(shapes.box(size=(0.8, 0.5, 0.1)), name="box", at=(0, 0, 5), mass=4.0)
    body = ball(scene, at=(0, 0, 5.35), mass=0.5, settled=False)
    scene.attach("ball", np.flatnonzero(body.shape.vertices[:, 2] < -0.25), "box")
    sim = advanced(turgor.Simulation(scene, contact=contact), 30)
    assert float(np.asarray(sim["box"].velocity)[2]) == pytest.approx(-9.81 * 0.5, rel=0.02)
    assert sim["ball"].center[2] < 4.2


@pytest.mark.req("X1", "X3")
def test_frames_that_met_a_small_buffer_are_made_up_for():
    """Without a look from the host, frames after an overflow do nothing; the next look computes them all."""
    looked, late = dropped(), dropped()
    for sim in (looked, late):
        method = sim.engine.split.method
        method.lists.candidates.capacity, method.constraints.capacity = 3, 2
        method.allocate()
    for _ in range(60):
        looked.step()
        late.engine.replay.run()
    assert late.engine.replay.grown == 0
    assert float(late.state.clock.numpy()[0]) < 1.0
    assert late.time == pytest.approx(1.0)
    assert late.engine.replay.grown > 0
    assert looked.engine.replay.grown > 0
    np.testing.assert_array_equal(late.positions, looked.positions)
