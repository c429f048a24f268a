"""What a user sees of a rigid body of a running simulation, and what may be set."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from turgor import Gas, Scene, SceneError, Simulation, UnstableError, shapes
from turgor.kernel.status import NOT_FINITE
from turgor.scene import rotation_matrix
from turgor.simulation.failure import ensure_fine

CAT = shapes.cat()


def make(worlds: int = 1, precision: str = "double", **options: Any) -> Simulation:
    scene = Scene()
    scene.add_soft_body(shapes.icosphere(subdivisions=1), name="ball", at=(5.0, 0.0, 0.0))
    scene.add_rigid_body(CAT, name="cat", mass=4.0, **({"at": (1.0, 2.0, 3.0), "rotation": (0.1, 0.2, 0.3)} | options))
    scene.add_rigid_body(shapes.box(), name="crate")
    scene.add_rigid_body(shapes.box(), name="lift", kind="kinematic")
    scene.add_rigid_body(shapes.sheet(), name="ramp", kind="static")
    return Simulation(scene, worlds=worlds, precision=precision)


def make_2d(worlds: int = 1) -> Simulation:
    scene = Scene(dim=2)
    scene.add_rigid_body(shapes.star(), name="star", mass=2.0, rotation=0.5, spin=3.0)
    return Simulation(scene, worlds=worlds, precision="double")


def test_names_reach_all_bodies() -> None:
    sim = make()
    assert [sim[name].kind for name in ("cat", "crate", "lift", "ramp")] == ["dynamic"] * 2 + ["kinematic", "static"]
    assert sim.names == ["ball", "cat", "crate", "lift", "ramp"]
    assert sim.vertices == len(sim.positions) == 42  # of soft bodies only
    with pytest.raises(SceneError, match="no body 'cart'; there are: ball, cat, crate, lift, ramp"):
        sim["cart"]


@pytest.mark.parametrize("worlds", [1, 3])
def test_shapes_of_what_is_seen(worlds: int) -> None:
    lead = () if worlds == 1 else (worlds,)
    cat = make(worlds)["cat"]
    n = len(CAT.vertices)
    expected = {"center": (3,), "rotation": (4,), "velocity": (3,), "spin": (3,), "momentum": (3,),
                "angular_momentum": (3,), "mass": (), "friction": (), "restitution": (), "positions": (n, 3),
                "velocities": (n, 3)}  # fmt: skip
    star = make_2d(worlds)["star"]
    flat = {"center": (2,), "rotation": (), "velocity": (2,), "spin": (), "momentum": (2,), "angular_momentum": (),
            "mass": (), "positions": (10, 2), "velocities": (10, 2)}  # fmt: skip
    for view, table in ((cat, expected), (star, flat)):
        for name, shape in table.items():
            assert np.shape(getattr(view, name)) == lead + shape, name


@pytest.mark.parametrize("worlds", [1, 2])
def test_the_pose_is_that_of_the_users_shape(worlds: int) -> None:
    """Whatever the principal axes: vertices = R shape + t for the rotation that was set."""
    sim = make(worlds)
    cat = sim["cat"]
    wanted = np.array([0.2, -0.4, 0.8, 0.4])
    cat.rotation = wanted
    cat.center = (0.0, 0.0, 7.0)
    np.testing.assert_allclose(np.atleast_2d(cat.rotation)[-1], wanted / np.linalg.norm(wanted), atol=1e-14)
    axis = wanted[:3] / np.linalg.norm(wanted[:3])
    turn = rotation_matrix(tuple(2.0 * np.arctan2(np.linalg.norm(wanted[:3]), wanted[3]) * axis))
    places = np.reshape(cat.positions, (worlds, -1, 3))
    arms = CAT.vertices - sim.model.rigids.props[0].center
    np.testing.assert_allclose(places[-1], arms @ turn.T + (0, 0, 7), atol=1e-13)
    cat.rotation = (0.1, 0.2, 0.3)  # axis times angle, as in a scene
    places = np.reshape(cat.positions, (worlds, -1, 3))
    np.testing.assert_allclose(places[-1], arms @ rotation_matrix((0.1, 0.2, 0.3)).T + (0, 0, 7), atol=1e-13)


def test_the_angle_in_2d() -> None:
    star = make_2d()["star"]
    assert star.rotation == pytest.approx(0.5)
    star.rotation = -2.0
    assert star.rotation == pytest.approx(-2.0)
    np.testing.assert_allclose(star.positions, shapes.star().vertices @ rotation_matrix(-2.0).T, atol=1e-14)
    assert star.angular_momentum == pytest.approx(3.0 / make_2d().model.rigids.inverse_inertia.numpy()[0])
    star.spin = 1.5
    np.testing.assert_allclose(star.velocities, 1.5 * star.positions @ [[0, 1], [-1, 0]], atol=1e-14)


@pytest.mark.req("B8")
def test_motion_that_is_set_is_consistent() -> None:
    """Momenta are the sums over the solid, and ½ L·ω its energy of rotation: by its inertia as it lies in the world."""
    from turgor.shapes.mass import mass_properties

    sim = make()
    cat = sim["cat"]
    spin, velocity = np.array([1.0, -2.0, 0.5]), np.array([3.0, 0.0, -1.0])
    before = sim.energy()
    cat.velocity = velocity
    cat.spin = spin
    inertia = mass_properties(shapes.mesh(cat.positions, CAT.faces), 4.0).inertia
    np.testing.assert_allclose(cat.momentum, 4.0 * velocity)
    np.testing.assert_allclose(cat.angular_momentum, inertia @ spin, rtol=1e-9)
    gained = sim.energy().kinetic - before.kinetic
    assert gained == pytest.approx(0.5 * 4.0 * velocity @ velocity + 0.5 * spin @ inertia @ spin)
    cat.center += (0.0, 0.0, 2.0)
    assert sim.energy().gravity - before.gravity == pytest.approx(4.0 * 9.81 * 2.0)
    cat.rotation = (1.0, 1.0, 1.0)  # turns the body, not its motion
    np.testing.assert_allclose(cat.spin, spin)
    turned = mass_properties(shapes.mesh(cat.positions, CAT.faces), 4.0).inertia
    np.testing.assert_allclose(cat.angular_momentum, turned @ spin, rtol=1e-9)
    arms = cat.positions - cat.center
    np.testing.assert_allclose(cat.velocities, velocity + np.cross(spin, arms), atol=1e-13)


def test_mass_keeps_velocity_and_spin() -> None:
    cat = make()["cat"]
    cat.spin, cat.velocity = (1.0, 2.0, 3.0), (4.0, 5.0, 6.0)
    angular, momentum = cat.angular_momentum, cat.momentum  # copies: they stay what they were
    cat.mass = 12.0
    np.testing.assert_allclose(cat.angular_momentum, 3.0 * angular)
    np.testing.assert_allclose(cat.momentum, 3.0 * momentum)
    np.testing.assert_allclose(cat.spin, (1.0, 2.0, 3.0))
    inverse = cat._sim.model.rigids.inverse_inertia.numpy()[0]
    np.testing.assert_allclose(inverse, 1.0 / (3.0 * cat._props.moments))


def test_values_per_world() -> None:
    sim = make(worlds=3)
    cat = sim["cat"]
    cat.mass = [1.0, 2.0, 3.0]
    cat.velocity = np.arange(9.0).reshape(3, 3)
    cat.friction = [0.1, np.nan, 0.3]  # nan: the other's own
    np.testing.assert_allclose(cat.mass, [1.0, 2.0, 3.0])
    np.testing.assert_allclose(cat.momentum[2], 3.0 * np.array([6.0, 7.0, 8.0]))
    np.testing.assert_allclose(cat.friction, [0.1, np.nan, 0.3])
    np.testing.assert_allclose(sim.model.rigids.friction.numpy()[::4], [0.1, -1.0, 0.3])
    np.testing.assert_array_equal(sim["crate"].mass, [1.0] * 3)  # the neighbour in the tables
    np.testing.assert_array_equal(sim["crate"].velocity, np.zeros((3, 3)))
    assert sim.energy().kinetic.shape == (3,)


def test_bodies_moved_from_outside_do_not_count() -> None:
    sim = make()
    before = sim.energy()
    sim["lift"].velocity = (0.0, 0.0, 2.0)
    sim["lift"].center = (0.0, 0.0, 9.0)
    sim["lift"].spin = (0.0, 0.0, 2.0)
    assert (sim.energy().kinetic, sim.energy().gravity) == (before.kinetic, before.gravity)
    np.testing.assert_array_equal(sim["lift"].spin, (0.0, 0.0, 2.0))
    np.testing.assert_array_equal(sim["lift"].angular_momentum, np.zeros(3))


REFUSED = {
    "misspelt": ("cat", "velocty", 1.0, "cat.velocty cannot be set; did you mean 'velocity'"),
    "only seen": ("cat", "momentum", (1, 0, 0), "cat.momentum cannot be set; "),
    "soft only": ("cat", "stiffness", 1.0, "cat.stiffness cannot be set; "),
    "velocity": ("cat", "velocity", (1, 2), "cat.velocity must be 3 numbers"),
    "velocity text": ("cat", "velocity", "up", "cat.velocity must be 3 numbers .* got 'up'"),
    "center": ("cat", "center", (1, 2, np.nan), "cat.center must be finite"),
    "spin": ("cat", "spin", (1, 2, np.inf), "cat.spin must be finite"),
    "rotation": ("cat", "rotation", (1, 2), "cat.rotation must be a quaternion"),
    "no rotation": ("cat", "rotation", (0, 0, 0, 0), "cat.rotation must be a quaternion"),
    "rotation text": ("cat", "rotation", "left", "cat.rotation must be a quaternion .* got 'left'"),
    "mass": ("cat", "mass", 0.0, "cat.mass must be >= "),
    "masses": ("cat", "mass", (1.0, 2.0), "cat.mass must be a number or one per world"),
    "friction": ("cat", "friction", -0.5, "cat.friction must be >= 0, or None for the other's own, got -0.5"),
    "restitution": ("cat", "restitution", 2.0, "cat.restitution must be >= 0 and <= 1, or None"),
    "mass of kinematic": ("lift", "mass", 2.0, "lift.mass has no effect: the body is kinematic"),
    "moving static": ("ramp", "velocity", (0, 0, 1), "ramp.velocity: a static body does not move"),
    "turning static": ("ramp", "spin", (0, 0, 1), "ramp.spin: a static body does not move"),
}  # fmt: skip


@pytest.fixture(scope="module")
def untouched() -> Simulation:
    """For what is refused, and so changes nothing."""
    return make()


@pytest.mark.parametrize(("name", "key", "value", "message"), REFUSED.values(), ids=REFUSED)
def test_refused(untouched: Simulation, name: str, key: str, value: Any, message: str) -> None:
    sim = untouched
    before = sim.state_hash()
    with pytest.raises(SceneError, match=message):
        setattr(sim[name], key, value)
    assert sim.state_hash() == before


@pytest.mark.parametrize("worlds", [1, 2])
def test_a_rigid_body_that_fails_is_named(worlds: int) -> None:
    """The status counts the soft bodies of all worlds, then the rigid ones of all worlds."""
    sim = make(worlds)
    for index, name in ((0, "ball"), (worlds, "cat"), (worlds + 4 * (worlds - 1) + 2, "lift")):
        sim.engine.scratch.status.assign(np.array([NOT_FINITE, index], np.int32))
        with pytest.raises(UnstableError, match=f"body '{name}' at t = 0 s diverged"):
            ensure_fine(sim)


# --- hand


@pytest.mark.parametrize("worlds", [1, 2])
def test_a_hand_takes_a_vertex_of_the_shape(worlds: int) -> None:
    sim = make(worlds)
    rigids = sim.state.rigid
    sim.grab("crate", 5, (1.0, 2.0, 3.0), stiffness=30.0)
    assert rigids.grab_on.numpy().tolist() == [0, 1, 0, 0] * worlds
    np.testing.assert_allclose(rigids.grab_local.numpy()[1], shapes.box().vertices[5])
    np.testing.assert_allclose(rigids.grab_target.numpy()[-3], (1.0, 2.0, 3.0))
    np.testing.assert_allclose(rigids.grab_stiffness.numpy()[1], 30.0)
    np.testing.assert_allclose(rigids.grab_damping.numpy()[1], 2.0 * np.sqrt(30.0))  # critical for 1 kg
    sim.grab("ball", 3, (0.0, 0.0, 0.0))
    sim.release()
    assert not rigids.grab_on.numpy().any()
    assert (sim.state.grab_vertex.numpy() == -1).all()
    with pytest.raises(SceneError, match="grab: 'crate' has vertices 0 to 7, got 8"):
        sim.grab("crate", 8, (0.0, 0.0, 0.0))
    with pytest.raises(SceneError, match="grab: 'lift' is kinematic and follows no force"):
        sim.grab("lift", 0, (0.0, 0.0, 0.0))


# --- glue


@pytest.mark.parametrize("worlds", [1, 2])
def test_glued_vertices_follow_what_is_set(worlds: int) -> None:
    scene = Scene()
    scene.add_soft_body(shapes.icosphere(subdivisions=1), name="ball", at=(0.0, 0.0, 1.0))
    scene.add_rigid_body(shapes.box(), name="crate")
    scene.attach("ball", "bottom", "crate")
    sim = Simulation(scene, worlds=worlds, precision="double")
    glued = sim["ball"].glued
    free = np.setdiff1d(np.arange(42), glued)

    def seen(name: str) -> np.ndarray:
        return np.reshape(getattr(sim["ball"], name), (worlds, -1, 3))

    places, center = seen("positions").copy(), np.reshape(sim["crate"].center, (worlds, 3))
    sim["crate"].center = (1.0, 0.0, 0.0)
    sim["crate"].rotation = (0.0, 0.0, np.pi / 2)
    sim["crate"].spin = (1.0, 0.0, 0.0)
    quarter = np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]])
    arms = (places - center[:, None])[:, glued] @ quarter.T
    np.testing.assert_allclose(seen("positions")[:, glued], arms + np.array([1, 0, 0]), atol=1e-12)
    np.testing.assert_allclose(seen("velocities")[:, glued], np.cross((1, 0, 0), arms), atol=1e-12)
    np.testing.assert_array_equal(seen("positions")[:, free], places[:, free])
    for name in ("ball", "crate"):
        with pytest.raises(SceneError, match=f"{name}.mass cannot be set, as vertices"):
            sim[name].mass = 3.0


def test_a_settled_body_keeps_its_glued_vertices() -> None:
    scene = Scene()
    shape = shapes.icosphere(subdivisions=1)
    ball = scene.add_soft_body(shape, name="ball", at=(0.0, 0.0, 1.0), gas=Gas(gauge=100.0, ambient=0.0), settled=True)
    scene.add_rigid_body(shapes.box(), name="crate")
    scene.attach("ball", "bottom", "crate")
    sim = Simulation(scene, precision="double")
    moved = np.linalg.norm(sim["ball"].positions - ball.positions, axis=1)
    assert moved[sim["ball"].glued].max() == 0.0
    assert np.delete(moved, sim["ball"].glued).min() > 1e-3  # the gas has blown up the rest


# --- saving


@pytest.mark.parametrize("worlds", [1, 2])
def test_a_saved_state_holds_the_rigid_bodies(worlds: int, tmp_path: Path) -> None:
    scene = make().scene
    scene.attach("ball", [1, 2], "crate")
    sim = Simulation(scene, worlds=worlds)
    fresh = sim.state_hash()
    sim["cat"].rotation = (1.0, 0.0, 0.5)
    sim["cat"].spin = (0.1, 0.2, 0.3)
    sim["crate"].friction = 0.25
    sim.grab("cat", 2, (0.0, 0.0, 1.0))
    assert sim.state_hash() != fresh
    sim.save(tmp_path / "a.npz")
    again = Simulation.load(tmp_path / "a.npz")
    assert again.state_hash() == sim.state_hash()
    assert again.scene == scene
    np.testing.assert_array_equal(again["cat"].positions, sim["cat"].positions)
    np.testing.assert_array_equal(again["crate"].friction, sim["crate"].friction)
    for name in ("x", "v", "q", "angular", "spin"):
        before = sim.state_hash()
        array = getattr(sim.state.rigid, name)
        array.assign(array.numpy() + np.float32(0.125))
        assert sim.state_hash() != before, name


@pytest.mark.req("A9", "B8")
@pytest.mark.parametrize("dim", [2, 3])
def test_a_rigid_body_is_held_at_any_point(dim):
    """The held point goes to the target; a point of the shape is found again in the world."""
    scene = Scene(dim=dim, gravity=(0,) * dim)
    shape = shapes.box(size=(1.0, 0.6, 0.4)) if dim == 3 else shapes.outline([(0, 0), (1, 0), (1, 0.6), (0, 0.6)])
    at, turn, spin = ((1, 2, 3), (0.3, 0.2, 0.5), (0.5, 1, 0)) if dim == 3 else ((1, 2), 0.7, 1.5)
    scene.add_rigid_body(shape, name="box", at=at, rotation=turn, spin=spin, mass=2.0)
    sim = Simulation(scene, precision="double")
    place = sim["box"].positions.mean(axis=0) + 0.1
    point = sim["box"].to_shape(place)
    np.testing.assert_allclose(sim["box"].from_shape(point), place, atol=1e-12)
    np.testing.assert_allclose(sim["box"].from_shape(shape.vertices[1]), sim["box"].positions[1], atol=1e-12)
    target = np.asarray(at, float) + 0.5
    for _ in range(400):
        sim.grab("box", 0, target, 200.0, 30.0, point)
        sim.step()
    np.testing.assert_allclose(sim["box"].from_shape(point), target, atol=5e-3)
    with pytest.raises(SceneError, match="point"):
        sim.grab("box", 0, target, point=(1.0,))
