"""Contact forces that a user reads, against Newton's laws and the pressure of a gas."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import turgor
from turgor import shapes
from turgor.errors import SceneError

G = 9.81


def pile(dim):
    """A soft ball on a box on a static table, beside a box on the ground: all come to rest."""
    scene = turgor.Scene(dim=dim)
    scene.add_ground(friction=0.5, restitution=0.0)

    def block(size, name, x, z, **options):
        shape = shapes.box((size, size, 0.2))
        if dim == 2:
            shape = shapes.outline([(-size / 2, -0.1), (size / 2, -0.1), (size / 2, 0.1), (-size / 2, 0.1)])
        at = (x, 0.0, z) if dim == 3 else (x, z)
        scene.add_rigid_body(shape, name=name, at=at, friction=0.5, restitution=0.0, **options)

    block(1.0, "table", 0.0, 0.3, kind="static")
    block(0.8, "box", 0.0, 0.52, mass=2.0)
    block(0.6, "other", 2.0, 0.11, mass=3.0)
    scene.add_soft_body(
        shapes.icosphere(0.3, 2) if dim == 3 else shapes.circle(0.3, 24), name="ball", mass=0.5, drag=3.0,
        at=(0.0, 0.0, 0.94) if dim == 3 else (0.0, 0.94), springs=turgor.Springs(300.0, 3.0), settled=True,
        gas=turgor.Gas.at(gauge=300.0), friction=0.5, restitution=0.0,
    )  # fmt: skip
    return scene


@pytest.mark.req("X1")
@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("dim", [2, 3])
def test_what_rests_is_carried(dim, precision):
    """Over a second the mean contact force on each body is its weight, and on what carries it all weights above."""
    sim = turgor.Simulation(pile(dim), readings=True, precision=precision)
    sim.run(2.0)
    frames = []
    for _ in range(60):
        sim.step()
        frames.append(sim.contacts().force)
    assert set(frames[-1].bodies) == {"ball", "table", "box", "other", "ground"}

    def mean(*names):
        rows = [force.on(*names) if len(names) == 1 else force.between(*names) for force in frames]
        return np.mean(rows, axis=0)

    up = np.eye(dim)[-1]
    expected = {
        ("ball",): 0.5, ("box",): 2.0, ("other",): 3.0, ("table",): -2.5, ("ground",): -3.0,
        ("ball", "box"): 0.5, ("box", "ball"): -0.5, ("box", "table"): 2.5, ("other", "ground"): 3.0,
        ("ball", "other"): 0.0,
    }  # fmt: skip
    for names, mass in expected.items():
        np.testing.assert_allclose(mean(*names), mass * G * up, atol=0.01 * max(abs(mass), 0.5) * G, err_msg=str(names))


@pytest.mark.req("X1")
@pytest.mark.parametrize("contact", ["features", "particles", "bounding"])
def test_every_frame_has_f_equal_to_m_a(contact):
    """Two bodies meet and fall on the ground: the force on each is m (Δv/T - g), frame by frame."""
    scene = turgor.Scene()
    scene.add_ground(friction=0.5, restitution=0.3)
    gas = turgor.Gas.at(gauge=300.0)
    for name, x, v in (("a", -0.45, 2.0), ("b", 0.45, -1.0)):
        scene.add_soft_body(
            shapes.icosphere(0.4, 1), name=name, at=(x, 0, 0.55), velocity=(v, 0, 0), mass=1.0, gas=gas, settled=True,
            springs=turgor.Springs(300.0, 1.0),
        )  # fmt: skip
    scene.add_rigid_body(shapes.box((0.4, 0.4, 0.4)), name="c", at=(0, 0, 1.4), velocity=(0, 0, -3.0), mass=2.0)
    sim = turgor.Simulation(scene, readings=True, precision="double", contact=contact)
    most = 0.0
    for _ in range(30):
        before = {name: sim[name].momentum for name in sim.names}
        sim.step()
        force = sim.contacts().force
        for name in sim.names:
            expected = 60.0 * (sim[name].momentum - before[name]) + sim[name].mass * np.array([0, 0, G])
            np.testing.assert_allclose(force.on(name), expected, atol=1e-8)
            most = max(most, float(np.abs(expected).max()))
        if contact != "particles":  # its friction is known per contact as a size only
            listed = sum(force.between(name, other) for name in ("c",) for other in (*sim.names, "ground"))
            np.testing.assert_allclose(listed, force.on("c"), atol=1e-6 * max(most, 1.0))
    assert most > 50.0


@pytest.mark.req("X1")
def test_wall_impulses_carry_the_weight():
    """Of the last substep, without readings: their sum over dt is the weight of a soft body at rest."""
    scene = turgor.Scene()
    scene.add_ground(restitution=0.0)
    scene.add_soft_body(
        shapes.icosphere(0.5, 2), name="ball", at=(0, 0, 0.5), mass=2.0, drag=5.0, springs=turgor.Springs(500.0, 5.0),
        gas=turgor.Gas.at(gauge=300.0), settled=True,
    )  # fmt: skip
    sim = turgor.Simulation(scene, precision="double")
    sim.run(3.0)
    found = sim.contacts()
    assert set(found.pairs) == {("ball", "ground")}
    assert found.impulses.sum() / sim.dt == pytest.approx(2.0 * G, rel=1e-3)


def squeezed(kind, subdivisions):
    """A ball of gas between two plates that have come 0.25 m closer each and stopped."""
    scene = turgor.Scene(gravity=(0, 0, 0))
    scene.add_soft_body(
        shapes.icosphere(0.5, subdivisions), name="ball", springs=turgor.Springs(3000.0, 4.0), friction=0.0,
        restitution=0.0, drag=10.0, gas=turgor.Gas.at(gauge=1000.0, ambient=0.0, held=True), settled=True, mass=1.0,
    )  # fmt: skip
    for name, side in (("low", -1.0), ("high", 1.0)):
        move = {"velocity": (0, 0, -0.5 * side), "friction": 0.0, "restitution": 0.0}
        if kind == "walls":
            scene.add_plane(name=name, point=(0, 0, side), normal=(0, 0, -side), **move)
        else:
            scene.add_rigid_body(shapes.box((3, 3, 0.4)), name=name, at=(0, 0, 1.2 * side), kind="kinematic", **move)
    sim = turgor.Simulation(scene, readings=True)
    sim.run(1.25)
    plates = sim.walls if kind == "walls" else sim.rigid_bodies
    for plate in plates.values():
        plate.velocity = (0, 0, 0)
    sim.run(1.5)
    return sim


@pytest.mark.req("X1")
@pytest.mark.parametrize("kind", ["walls", "plates"])
def test_force_is_pressure_times_area(kind):
    """A membrane leaves a plate along it, so F = p A. The patch is known to half an edge along its rim."""
    errors = []
    for subdivisions in (2, 3):
        sim = squeezed(kind, subdivisions)
        rows = []
        for _ in range(20):
            sim.step()
            found = sim.contacts()
            rows.append((found.force.between("high", "ball")[2], -found.force.on("low")[2], found.area("ball", "low")))
        high, low, area = np.mean(rows, axis=0)
        pressure = sim["ball"].gauge_pressure
        edge = float(np.mean(sim.model.rest.numpy()))
        rim = 2.0 * np.sqrt(np.pi * area)
        assert high == pytest.approx(low, rel=1e-2)
        assert abs(high / pressure - area) < 0.5 * edge * rim
        errors.append(abs(high / pressure / area - 1.0))
    assert max(errors) < 0.25
    assert errors[1] < errors[0] + 0.02


@pytest.mark.req("X1")
def test_readings_of_worlds_and_errors():
    scene = pile(3)
    two = turgor.Simulation(scene, readings=True, worlds=2)
    two.run(0.5)
    force = two.contacts().force
    assert force.on("box").shape == force.between("box", "table").shape == (2, 3)
    np.testing.assert_allclose(force.on("box")[0], force.on("box")[1], atol=1e-3)
    assert set(force.worlds.tolist()) == {0, 1}
    with pytest.raises(SceneError, match="did you mean 'ball'"):
        force.on("bal")
    plain = turgor.Simulation(scene)
    plain.run(0.1)
    with pytest.raises(SceneError, match="readings=True"):
        plain.contacts().force.on("box")


@pytest.mark.req("X1")
def test_readings_change_nothing():
    """The state is the same bit for bit with and without."""
    hashes = []
    for readings in (False, True):
        sim = turgor.Simulation(pile(3), readings=readings)
        sim.run(0.3)
        hashes.append(sim.state_hash())
    assert hashes[0] == hashes[1]


@pytest.mark.req("X1")
@pytest.mark.parametrize("kind", ["soft", "rigid"])
def test_single_precision_that_spans_too_far_is_told(kind):
    def scene(distance):
        made = turgor.Scene()
        for name, x in (("near", 0.0), ("far", distance)):
            if kind == "soft":
                made.add_soft_body(shapes.icosphere(0.5, 2), name=name, at=(x, 0, 1))
            else:
                made.add_rigid_body(shapes.box((1, 1, 1)), name=name, at=(x, 0, 1))
        return made

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        turgor.Simulation(scene(100.0))
        turgor.Simulation(scene(1e6), precision="double")
        with pytest.raises(UserWarning, match="use precision='double'"):
            turgor.Simulation(scene(1e6))
