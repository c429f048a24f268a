"""Whole simulations with 2009's contact method: `contact="particles"` (B10, B12, B14, B18)."""

import numpy as np
import pytest

import turgor
from support.laws import EPS, PRECISIONS


def ball(scene, name, at, dim, **options):
    shapes = turgor.shapes
    shape = shapes.icosphere(radius=0.5, subdivisions=2) if dim == 3 else shapes.circle(radius=0.5, points=32)
    gas = turgor.Gas(gauge=300.0) if dim == 3 else turgor.Gas(gauge=100.0)
    springs = turgor.Springs(stiffness=200.0, damping=0.2)
    return scene.add_soft_body(shape, name=name, at=at, gas=gas, springs=springs, mass=1.0, **options)


def head_on(dim, speed=1.5, offset=0.1):
    scene = turgor.Scene(dim=dim, gravity=(0.0,) * dim)
    still = (0.0,) * (dim - 1)
    ball(scene, "left", (0.0,) * dim, dim, velocity=(speed, *still))
    ball(scene, "right", (1.3, offset, 0.0)[:dim], dim, velocity=(-speed, *still))
    return scene


def momentum(sim, names):
    """Linear momentum and the size of what could have cancelled."""
    parts = [sim[name].masses[:, None] * sim[name].velocities for name in names]
    return np.sum([p.sum(axis=0) for p in parts], axis=0), float(np.sum([np.abs(p).sum() for p in parts]))


@pytest.mark.req("B10", "B14")
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize(
    ("dim", "contact"), [(2, "particles"), (3, "particles"), (2, "particles-martin"), (3, "particles-martin")]
)
def test_two_balls_bounce_off_each_other_and_keep_their_momentum(dim, contact, precision):
    sim = turgor.Simulation(head_on(dim), contact=contact, precision=precision)
    names = ["left", "right"]
    before, size = momentum(sim, names)
    closest = 10.0
    for _ in range(60):
        sim.step()
        centres = [sim[name].positions.mean(axis=0) for name in names]
        closest = min(closest, float(np.linalg.norm(centres[1] - centres[0])))
    after, _ = momentum(sim, names)
    assert 0.3 < closest < 1.0  # they were pressed flat, and did not pass through each other
    assert sim["left"].velocities[:, 0].mean() < -0.5
    assert sim["right"].velocities[:, 0].mean() > 0.5
    # round-off of a thousand substeps
    assert np.abs(after - before).max() <= 1e4 * EPS[precision] * size


@pytest.mark.req("B12", "B14")
@pytest.mark.parametrize("dim", [2, 3])
def test_a_ball_comes_to_rest_on_a_rigid_box(dim):
    scene = turgor.Scene(dim=dim)
    shapes = turgor.shapes
    low = (0.0,) * (dim - 1) + (-0.25,)
    block = (
        shapes.box(size=(3.0, 3.0, 0.5))
        if dim == 3
        else shapes.outline([[-1.5, -0.25], [1.5, -0.25], [1.5, 0.25], [-1.5, 0.25]])
    )
    scene.add_rigid_body(block, name="table", at=low, kind="static")
    ball(scene, "ball", (0.0,) * (dim - 1) + (0.7,), dim, drag=1.5)
    sim = turgor.Simulation(scene, contact="particles", precision="double")
    lowest = 1.0
    for _ in range(240):
        sim.step()
        lowest = min(lowest, float(sim["ball"].positions[:, -1].min()))
    x, v = sim["ball"].positions, sim["ball"].velocities
    assert lowest > -1e-9
    assert abs(x[:, -1].min()) < 0.05
    assert np.abs(x[:, :-1].mean(axis=0)).max() < 0.01
    assert np.abs(v).max() < 0.2


@pytest.mark.req("B12", "B14")
def test_a_rigid_box_bounces_on_a_soft_ball():
    """Its corners and faces are held by the membrane; the pair's momentum changes by gravity alone."""
    scene = turgor.Scene(dim=3, gravity=(0.0, 0.0, 0.0))
    ball(scene, "ball", (0.0, 0.0, 0.0), 3)
    scene.add_rigid_body(
        turgor.shapes.box(size=(0.5, 0.5, 0.5)), name="block", at=(0.02, 0.0, 0.85), velocity=(0.0, 0.0, -2.0), mass=0.5
    )
    sim = turgor.Simulation(scene, contact="particles", precision="double")
    for _ in range(60):
        sim.step()
    block = sim["block"]
    total = sim["ball"].masses @ sim["ball"].velocities + 0.5 * np.asarray(block.velocity)
    assert np.abs(total - [0.0, 0.0, -1.0]).max() < 1e-10
    assert sim["ball"].velocities[:, 2].mean() < -0.3
    assert np.asarray(block.velocity)[2] > -0.5


@pytest.mark.req("B14", "B15", "B18")
def test_three_balls_that_fall_on_each_other_do_not_stay_inside_each_other():
    scene = turgor.Scene(dim=3)
    scene.add_ground()
    names = ["a", "b", "c"]
    for i, name in enumerate(names):
        ball(scene, name, (0.1 * i, 0.05 * i, 0.6 + 1.1 * i), 3)
    sim = turgor.Simulation(scene, contact="particles")
    for _ in range(180):
        sim.step()
    centres = [sim[name].positions.mean(axis=0) for name in names]
    distances = [np.linalg.norm(centres[i] - centres[j]) for i, j in ((0, 1), (0, 2), (1, 2))]
    assert min(distances) > 0.7
    assert max(np.abs(sim[name].velocities).max() for name in names) < 5.0


@pytest.mark.req("B10")
@pytest.mark.parametrize("contact", ["particles", "particles-martin"])
def test_a_saved_state_goes_on_bit_for_bit(tmp_path, contact):
    """Where the particles rest is part of the state."""
    sim = turgor.Simulation(head_on(3), contact=contact, precision="double")
    for _ in range(12):
        sim.step()
    sim.save(tmp_path / "state.npz")
    other = turgor.Simulation.load(tmp_path / "state.npz")
    for _ in range(12):
        sim.step()
        other.step()
    for name in ("left", "right"):
        assert (other[name].positions == sim[name].positions).all()
        assert (other[name].velocities == sim[name].velocities).all()


@pytest.mark.picture
@pytest.mark.req("B19")
def test_particles_can_be_drawn():
    """They lie on the surfaces of the two bodies; other methods have none."""
    scene = turgor.Scene(gravity=(0, 0, 0))
    for x in (-0.45, 0.45):
        scene.add_soft_body(turgor.shapes.icosphere(radius=0.4, subdivisions=2), at=(x, 0, 0))
    sim = turgor.Simulation(scene, contact="particles")
    sim.step()
    found = sim.collision_particles()
    assert len(found["position"]) >= 32
    assert set(found["owner"]) == {0, 1}
    centres = np.array([[-0.45, 0, 0], [0.45, 0, 0]])[found["owner"]]
    away = np.linalg.norm(found["position"] - centres, axis=1)
    assert np.all((away > 0.36) & (away < 0.4001))
    with pytest.raises(turgor.SceneError, match="only contact='particles'"):
        turgor.Simulation(scene).collision_particles()
