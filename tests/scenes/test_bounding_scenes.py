"""2003's contact in whole simulations, `contact="bounding"` (C4, C5): laws that hold, and a method that stays calm."""

import numpy as np
import pytest

import turgor
from support import penetration
from support.laws import DEVICE

pytestmark = pytest.mark.req("C4")
shapes = turgor.shapes


def ball(dim=3, radius=0.5):
    return shapes.circle(radius=radius, points=24) if dim == 2 else shapes.icosphere(radius=radius, subdivisions=2)


def soft(scene, shape, **options):
    options = {"springs": turgor.Springs(400.0, 1.0), "gas": turgor.Gas(gauge=200.0)} | options
    return scene.add_soft_body(shape, **options)


def run(scene, frames, look=None, **options):
    sim = turgor.Simulation(scene, contact="bounding", device=DEVICE, **options)
    for _ in range(frames):
        sim.step()
        if look is not None:
            look(sim)
    return sim


def kinetic(sim):
    return 0.5 * float(sim.model.mass_host @ (sim.velocities[:, :] ** 2).sum(axis=1)[sim.model.user])


def momentum(sim):
    scene = sim.scene
    total = sum((sim[body.name].momentum for body in scene.bodies), np.zeros(scene.dim))
    return total + sum((sim[b.name].momentum for b in scene.rigid_bodies if b.kind == "dynamic"), np.zeros(scene.dim))


@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("dim", [2, 3])
def test_head_on_keeps_momentum_and_turns_back(dim, precision):
    scene = turgor.Scene(dim=dim, gravity=0.0)
    at, v = np.eye(dim)[0] * 0.7, np.eye(dim)[0]
    soft(scene, ball(dim), name="left", at=-at, velocity=v)
    soft(scene, ball(dim), name="right", at=at, velocity=-v)
    sim = run(scene, 60, precision=precision)
    np.testing.assert_allclose(momentum(sim), 0.0, atol=2e-5 if precision == "single" else 1e-10)
    left, right = sim["left"], sim["right"]
    assert left.momentum[0] < 0.05
    assert right.momentum[0] > -0.05
    assert left.center[0] < -0.3
    assert right.center[0] > 0.3


def test_oblique_keeps_momentum_and_never_gains_energy():
    scene = turgor.Scene(gravity=0.0)
    soft(scene, ball(), name="a", at=(-0.8, 0.2, 0.0), velocity=(3.0, 0.0, 0.0), gas=None, restitution=0.0)
    soft(scene, ball(), name="b", mass=3.0, gas=None, restitution=0.0)
    before = np.array([3.0, 0.0, 0.0])
    start = 0.5 * 9.0
    sim = run(scene, 60, lambda sim: None, precision="double")
    np.testing.assert_allclose(momentum(sim), before, atol=1e-10)
    assert kinetic(sim) < start


@pytest.mark.parametrize("kind", ["sphere", "box"])
def test_soft_and_rigid_exchange_momentum(kind):
    scene = turgor.Scene(gravity=0.0)
    shape = ball(radius=0.4) if kind == "sphere" else shapes.box(size=(0.7, 0.7, 0.7))
    soft(scene, ball(), name="soft", at=(-1.0, 0.1, 0.0), velocity=(2.0, 0.0, 0.0))
    scene.add_rigid_body(shape, name="rigid", mass=2.0)
    sim = run(scene, 60, precision="double")
    np.testing.assert_allclose(momentum(sim), [2.0, 0.0, 0.0], atol=1e-9)
    assert sim["rigid"].velocity[0] > 0.2


def test_balls_pile_up_and_come_to_rest():
    """Three balls in a shaft, one on the other: none passes another or the floor."""
    scene = turgor.Scene()
    scene.add_container((1.3, 1.3, 6.0), at=(0.0, 0.0, 3.0))
    for k in range(3):
        soft(scene, ball(), name=f"ball {k}", at=(0.02 * k, 0.0, 0.55 + 1.05 * k), drag=0.5)
    worst = 0.0

    def look(sim):
        nonlocal worst
        worst = max(worst, penetration.deepest(sim)[0])

    sim = run(scene, 360, look)
    assert worst < 0.02  # m: the ellipsoids around the balls keep them further apart than that, as a rule
    assert penetration.wall_depth(sim) < 1e-4
    heights = [sim[f"ball {k}"].center[2] for k in range(3)]
    assert 0.3 < heights[0] < heights[1] - 0.5 < heights[2] - 1.0
    assert kinetic(sim) < 0.02


def test_five_balls_in_a_turning_box():
    """The paper's first scene, C5."""
    scene = turgor.Scene()
    scene.add_container((3.0, 3.0, 3.0), spin=(0.0, 0.7, 0.0))
    for k, at in enumerate([(-0.8, -0.8, -0.8), (0.8, -0.8, -0.8), (-0.8, 0.8, -0.8), (0.8, 0.8, -0.8), (0, 0, 0.6)]):
        soft(scene, ball(), name=f"ball {k}", at=at)
    sim = run(scene, 180)
    assert sim.finite
    centers = np.array([sim[f"ball {k}"].center for k in range(5)])
    assert np.abs(centers).max() < 3.0
    gaps = np.linalg.norm(centers[:, None] - centers[None], axis=2)[np.triu_indices(5, 1)]
    assert gaps.min() > 0.6  # no two in one place
    assert penetration.wall_depth(sim) < 1e-3


def test_ball_that_starts_in_the_hole_of_a_torus_leaves_gently():
    """The torus's ellipsoid has no hole: the ball overlaps it from the start, and is let out at a bounded speed."""
    scene = turgor.Scene(gravity=0.0)
    soft(scene, shapes.torus(radius=0.8, tube=0.25), name="torus")
    soft(scene, ball(radius=0.3), name="ball", at=(0.0, 0.0, 0.1))
    fastest = 0.0

    def look(sim):
        nonlocal fastest
        fastest = max(fastest, float(np.linalg.norm(sim.velocities, axis=1).max()))

    sim = run(scene, 240, look)
    assert sim.finite
    assert fastest < 5.0
    assert sim["ball"].volume > 0.5 * 4.0 / 3.0 * np.pi * 0.3**3


def test_the_hand_is_hit_by_a_ball():
    """The paper's third scene, C5: a rigid ball hits a hand, which gives way."""
    scene = turgor.Scene(gravity=0.0)
    hand = shapes.hand() if hasattr(shapes, "hand") else shapes.torus(radius=0.4, tube=0.2)
    soft(scene, hand, name="hand")
    low, high = hand.vertices.min(axis=0), hand.vertices.max(axis=0)
    thin = int((high - low).argmin())
    at, v = 0.5 * (low + high), np.zeros(3)
    at[thin], v[thin] = high[thin] + 0.5, -3.0
    scene.add_rigid_body(ball(radius=0.2), name="ball", at=at, velocity=v, mass=0.5)
    sim = run(scene, 60)
    assert sim.finite
    assert sim["ball"].velocity[thin] > -3.0
    assert sim["hand"].momentum[thin] < -0.1


def test_worlds_are_independent_and_alike():
    scene = turgor.Scene(gravity=0.0)
    soft(scene, ball(), name="a", at=(-0.7, 0.1, 0.0), velocity=(2.0, 0.0, 0.0))
    soft(scene, ball(), name="b", at=(0.7, 0.0, 0.0))
    one = run(scene, 40, precision="double")
    many = run(scene, 40, precision="double", worlds=3)
    np.testing.assert_allclose(many.positions, np.broadcast_to(one.positions, many.positions.shape), atol=1e-9)


def test_the_same_twice():
    def hash_of():
        scene = turgor.Scene()
        scene.add_ground()
        soft(scene, ball(), at=(0.0, 0.0, 0.6))
        soft(scene, ball(), at=(0.1, 0.0, 1.7))
        return run(scene, 60).state_hash()

    if DEVICE != "cpu":
        pytest.skip("sums are added in any order on a GPU")
    assert hash_of() == hash_of()
