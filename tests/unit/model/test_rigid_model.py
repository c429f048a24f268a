"""Rigid bodies as arrays: masses, inertia, principal frames, colliders and glue, against formulas and integrals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from turgor import MeshError, Scene, Simulation, shapes
from turgor.model.rigid_state import RigidScratch
from turgor.model.rigids import Rigids
from turgor.model.rotations import angle_of, matrices_of, quaternion_of
from turgor.rigid.motion import kernels
from turgor.scene import rotation_matrix
from turgor.shapes import Shape

PLACE = {"at": (1.0, -2.0, 3.0), "rotation": (0.3, -0.7, 0.4)}
WEDGE = shapes.mesh(
    [[0, 0, 0], [1, 0.2, 0], [0.1, 0.7, 0], [0.3, 0.1, 1.4]], [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]]
)


def built(shape: Shape, worlds: int = 1, precision: str = "double", **options: Any) -> tuple[Simulation, Rigids]:
    scene = Scene(dim=shape.dim)
    scene.add_rigid_body(shape, name="it", **options)
    sim = Simulation(scene, worlds=worlds, precision=precision)
    return sim, sim.model.rigids


@pytest.mark.req("B8")
@pytest.mark.parametrize(
    ("shape", "moments"),
    [
        (shapes.box(size=(1.0, 2.0, 3.0)), 6.0 / 12.0 * np.array([13.0, 10.0, 5.0])),
        (shapes.icosphere(radius=0.5, subdivisions=1), np.full(3, 0.4 * 6.0 * 0.25)),
        (shapes.circle(radius=0.5, points=8), [0.5 * 6.0 * 0.25]),
        (shapes.polygon(sides=4, radius=2.0**0.5), [6.0 / 12.0 * 8.0]),
    ],
    ids=["box", "ball", "disc", "square"],
)
def test_inverse_inertia(shape: Shape, moments: Any) -> None:
    """Balls and discs are round whatever their mesh; boxes and squares are m/12 (a² + b²)."""
    _, rigids = built(shape, mass=6.0)
    np.testing.assert_allclose(rigids.inverse_mass.numpy(), [1.0 / 6.0])
    np.testing.assert_allclose(rigids.inverse_inertia.numpy().ravel(), 1.0 / np.asarray(moments), rtol=1e-12)


@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize(
    "shape", [WEDGE, shapes.box(), shapes.icosphere(), shapes.capsule(), shapes.cat(), shapes.torus()],
    ids=["wedge", "box", "ball", "capsule", "cat", "torus"],
)  # fmt: skip
def test_vertices_start_where_the_scene_puts_them(shape: Shape, precision: str) -> None:
    sim, rigids = built(shape, precision=precision, **PLACE)
    error = np.abs(sim["it"].positions - sim.scene["it"].positions).max()
    assert error < (1e-6 if precision == "single" else 1e-14) * 4.0
    # the shape is described about its centre, along principal axes: no first moments, a diagonal inertia
    props = rigids.props[0]
    inertia = props.rotation.T @ props.inertia @ props.rotation
    np.testing.assert_allclose(inertia, np.diag(props.moments), atol=1e-12 * props.moments.max())


def test_vertices_start_where_the_scene_puts_them_2d() -> None:
    shape = shapes.outline([[0, 0], [2, 0], [2, 1], [0, 0.5]])
    sim, _ = built(shape, at=(5.0, -1.0), rotation=2.5)
    np.testing.assert_allclose(sim["it"].positions, sim.scene["it"].positions, atol=1e-14)


def test_far_away_single_precision_is_as_good() -> None:
    sim, _ = built(WEDGE, precision="single", at=(1e4, 0.0, -3e4))
    np.testing.assert_allclose(sim["it"].positions, sim.scene["it"].positions, atol=1e-6)


def test_motion_starts_as_described() -> None:
    """L = R I Rᵀ ω with the integral over the shape as it lies in the world."""
    spin = np.array([0.5, -1.0, 2.0])
    sim, rigids = built(WEDGE, mass=3.0, spin=tuple(spin), velocity=(1.0, 2.0, 3.0), **PLACE)
    turned = shapes.mesh(sim.scene["it"].positions, WEDGE.faces)
    from turgor.shapes.mass import mass_properties

    expected = mass_properties(turned, 3.0)
    np.testing.assert_allclose(sim["it"].center, expected.center, atol=1e-13)
    state = sim.state.rigid
    np.testing.assert_allclose(state.angular.numpy()[0], expected.inertia @ spin, atol=1e-13)
    np.testing.assert_allclose(state.spin.numpy()[0], spin)
    np.testing.assert_allclose(state.v.numpy()[0], [1.0, 2.0, 3.0])
    inverse = RigidScratch(rigids).world_inertia.numpy()[0]
    np.testing.assert_allclose(inverse, np.linalg.inv(expected.inertia), atol=1e-11)


@pytest.mark.parametrize("kind", ["kinematic", "static"])
def test_bodies_that_forces_do_not_move(kind: str) -> None:
    moving = {} if kind == "static" else {"spin": (0.0, 0.0, 3.0), "velocity": (1.0, 0.0, 0.0)}
    sim, rigids = built(WEDGE, kind=kind, **moving)
    for array in (rigids.inverse_mass, rigids.inverse_inertia, RigidScratch(rigids).world_inertia):
        assert not array.numpy().any()
    assert not sim.state.rigid.angular.numpy().any()
    assert rigids.kind.numpy()[0] == {"kinematic": 1, "static": 2}[kind]
    np.testing.assert_array_equal(sim.state.rigid.spin.numpy()[0], moving.get("spin", (0.0, 0.0, 0.0)))


def test_the_pose_is_of_the_type_that_moves_it() -> None:
    for shape in (shapes.box(), shapes.circle()):
        for precision in ("single", "double"):
            sim, _ = built(shape, precision=precision)
            assert sim.state.rigid.q.dtype == kernels(sim.model.numbers).pose


def test_worlds_repeat_the_bodies() -> None:
    scene = Scene()
    scene.add_rigid_body(shapes.box(), name="a", friction=None, restitution=0.3)
    scene.add_rigid_body(shapes.icosphere(), name="b", at=(3.0, 0.0, 0.0))
    sim = Simulation(scene, worlds=3)
    rigids, state = sim.model.rigids, sim.state.rigid
    assert (rigids.count, rigids.total) == (2, 6)
    assert rigids.world.numpy().tolist() == [0, 0, 1, 1, 2, 2]
    np.testing.assert_allclose(state.x.numpy()[:, 0], [0, 3, 0, 3, 0, 3])
    np.testing.assert_allclose(rigids.friction.numpy(), [-1, 0.5] * 3)
    np.testing.assert_allclose(rigids.restitution.numpy(), [0.3, 0.1] * 3, rtol=1e-6)
    for name, array in [*vars(rigids).items(), *vars(state).items(), *vars(RigidScratch(rigids)).items()]:
        if hasattr(array, "numpy"):
            assert len(array) == (0 if name.startswith("driven") else 6), name  # those are for a ledger


def test_without_rigid_bodies_the_arrays_are_empty() -> None:
    for dim in (2, 3):
        sim = Simulation(Scene(dim=dim))
        rigids = sim.model.rigids
        assert rigids.count == rigids.total == sim.model.glue.count == 0
        arrays = [*vars(rigids).values(), *vars(sim.state.rigid).values(), *vars(sim.model.glue).values()]
        assert all(len(array) == 0 for array in arrays if hasattr(array, "numpy"))


# --- colliders


def test_colliders() -> None:
    _, rigids = built(shapes.icosphere(radius=0.3), at=(1.0, 0.0, 0.0))
    ball = rigids.collision[0]
    assert (ball.kind, ball.radius, ball.points.tolist(), ball.faces.tolist()) == (
        "sphere",
        0.3,
        [[0, 0, 0]],
        [[0] * 3],
    )
    pill = built(shapes.capsule(radius=0.2, height=0.6))[1].collision[0]
    assert (pill.kind, pill.radius, pill.faces.tolist()) == ("capsule", 0.2, [[0, 1, 1]])
    np.testing.assert_allclose(pill.points, [[0, 0, -0.3], [0, 0, 0.3]])
    disc = built(shapes.circle(radius=0.3))[1].collision[0]
    assert (disc.kind, disc.radius, disc.points.tolist(), disc.faces.tolist()) == ("sphere", 0.3, [[0, 0]], [[0, 0]])
    ramp = built(shapes.sheet(), kind="static")[1].collision[0]
    assert (ramp.kind, ramp.radius, len(ramp.points)) == ("mesh", 0.0, len(shapes.sheet().vertices))


@pytest.mark.parametrize("shape", [WEDGE, shapes.box(subdivisions=3), shapes.cat()], ids=["wedge", "box", "cat"])
def test_a_hull_is_convex_and_holds_the_shape(shape: Shape) -> None:
    _, rigids = built(shape, **PLACE)
    hull, points = rigids.collision[0], rigids.shape_points[0]
    a, b, c = np.moveaxis(hull.points[hull.faces], 1, 0)
    normal = np.cross(b - a, c - a)
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    height = np.einsum("fi,fni->fn", normal, points[None] - a[:, None])
    assert height.max() < 2e-6 * np.ptp(points)
    assert (np.einsum("fi,fi->f", normal, a) > 0.0).all()  # the centre of mass is inside
    if shape is not WEDGE and len(shape.vertices) < 100:
        assert len(hull.points) == 8  # a box of many squares has eight corners


def test_skin() -> None:
    assert built(shapes.box(size=(1.0, 2.0, 0.5)))[1].collision[0].skin == pytest.approx(0.005)
    assert built(shapes.box(), skin=0.03)[1].skin.numpy()[0] == 0.03
    sheet = shapes.sheet()
    edges = sheet.vertices[sheet.edges]
    mean = np.linalg.norm(edges[:, 1] - edges[:, 0], axis=1).mean()
    assert built(sheet, kind="static")[1].collision[0].skin == pytest.approx(0.01 * mean)


def test_a_plate_too_thin_for_a_hull_is_named() -> None:
    with pytest.raises(MeshError, match="rigid_body 'it': convex hull: all points lie in one plane"):
        built(shapes.box(size=(1.0, 1.0, 1e-8)))


# --- glue


def glued_scene(kind: str = "dynamic") -> Scene:
    scene = Scene()
    scene.add_soft_body(shapes.icosphere(subdivisions=1), name="ball", mass=2.1, at=(2.0, 1.0, 0.5))
    scene.add_rigid_body(
        WEDGE, name="wedge", mass=0.5, kind=kind, spin=() if kind == "static" else (0.0, 1.0, 2.0), **PLACE
    )
    scene.attach("ball", [0, 7, 20], "wedge")
    return scene


@pytest.mark.req("B8")
def test_glue_adds_mass_and_inertia() -> None:
    """Centre and inertia of wedge and points together, by the sums that define them."""
    scene = glued_scene()
    sim = Simulation(scene, precision="double")
    alone = built(WEDGE, mass=0.5, **PLACE)[1].props[0]
    turn = rotation_matrix(PLACE["rotation"])
    center = np.array(PLACE["at"]) + turn @ alone.center
    points, each = scene["ball"].positions[[0, 7, 20]], 2.1 / 42
    total = 0.5 + 3 * each
    joint = (0.5 * center + each * points.sum(axis=0)) / total
    inertia = turn @ alone.inertia @ turn.T
    for mass, place in [(0.5, center), *((each, point) for point in points)]:
        arm = place - joint
        inertia = inertia + mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    assert sim["wedge"].mass == pytest.approx(total)
    np.testing.assert_allclose(sim["wedge"].center, joint, atol=1e-13)
    inverse = RigidScratch(sim.model.rigids).world_inertia.numpy()[0]
    np.testing.assert_allclose(inverse, np.linalg.inv(inertia), atol=1e-11)
    np.testing.assert_allclose(sim["wedge"].positions, scene["wedge"].positions, atol=1e-13)


@pytest.mark.parametrize("worlds", [1, 3])
def test_glue_knows_its_vertices(worlds: int) -> None:
    scene = glued_scene()
    sim = Simulation(scene, precision="double", worlds=worlds)
    model, rigid, glue = sim.model, sim.state.rigid, sim.model.glue
    assert sim["ball"].glued.tolist() == [0, 7, 20]
    assert glue.count == 3 * worlds
    fixed = np.flatnonzero(model.inverse_mass.numpy() == 0.0)
    np.testing.assert_array_equal(np.sort(glue.vertex.numpy()), fixed)
    # each is where its rigid body carries it
    body = glue.body.numpy()
    turns = matrices_of(rigid.q.numpy())[body]
    places = rigid.x.numpy()[body] + np.einsum("gij,gj->gi", turns, glue.local.numpy())
    np.testing.assert_allclose(places, sim.state.x.numpy()[glue.vertex.numpy()], atol=1e-14)
    speeds = np.cross([0.0, 1.0, 2.0], places - rigid.x.numpy()[body])
    np.testing.assert_allclose(sim.state.v.numpy()[glue.vertex.numpy()], speeds, atol=1e-14)


def test_glue_does_not_weigh_on_bodies_moved_from_outside() -> None:
    sim = Simulation(glued_scene("static"), precision="double")
    alone = built(WEDGE, mass=0.5, **PLACE)[1].props[0]
    np.testing.assert_array_equal(sim.model.rigids.props[0].center, alone.center)


def test_energy_counts_glued_points_once() -> None:
    """The same wedge and ball, glued and not: the potential is the same, and motion as one whole ½ M v²."""
    gravity = []
    for glued in (True, False):
        scene = glued_scene()
        if not glued:
            scene.attachments.clear()
        sim = Simulation(scene, precision="double")
        sim["wedge"].spin = (0.0, 0.0, 0.0)
        sim["wedge"].velocity = (1.0, 2.0, 2.0)
        sim["ball"].velocities = (1.0, 2.0, 2.0)
        assert sim.energy().kinetic == pytest.approx(0.5 * 2.6 * 9.0)
        gravity.append(sim.energy().gravity)
    assert gravity[0] == pytest.approx(gravity[1], rel=1e-12)


# --- rotations


@pytest.mark.parametrize("seed", range(8))
def test_quaternions_and_matrices(seed: int) -> None:
    random = np.random.default_rng(seed)
    q = random.normal(size=4) * (1, 1, 1, 10.0 ** -(seed % 4 * 4))  # near half turns too
    q /= np.linalg.norm(q)
    matrix = matrices_of(q[None])[0]
    np.testing.assert_allclose(matrix @ matrix.T, np.eye(3), atol=1e-15)
    found = quaternion_of(matrix)
    np.testing.assert_allclose(found * np.sign(found @ q), q, atol=1e-14)
    axis = random.normal(size=3)
    half = np.linalg.norm(axis) / 2
    expected = np.append(np.sin(half) * axis / (2 * half), np.cos(half))
    np.testing.assert_allclose(np.abs(quaternion_of(rotation_matrix(tuple(axis))) @ expected), 1.0, atol=1e-14)
    angle = random.uniform(-3.1, 3.1)
    assert angle_of(matrices_of(np.array([angle]))[0]) == pytest.approx(angle)
