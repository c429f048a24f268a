"""Contact, friction and bounce with solver = "implicit", against closed forms and the explicit solver with tiny steps.

The laws of contact themselves run with both solvers where they are: test_law_13_contact.py to test_law_18_mirror.py.
"""

from __future__ import annotations

import numpy as np
import pytest

import turgor
from support import penetration
from support.laws import DEVICE
from turgor import shapes

pytestmark = [pytest.mark.req("X2"), pytest.mark.filterwarnings("ignore::turgor.TurgorWarning")]

G = 9.81


def simulated(scene, solver="implicit", **options):
    return turgor.Simulation(scene, device=DEVICE, solver=solver, **{"precision": "double", **options})


def run(sim, count):
    for _ in range(count):
        sim.step()
    return sim


# --- friction


def block_on_a_slope(ratio, mu=0.5, stiffness=1e6, rigid=False):
    """A cushion on a slope whose angle has the tangent ratio × mu; the slope is level and gravity is turned."""
    angle = np.arctan(ratio * mu)
    scene = turgor.Scene(gravity=(G * np.sin(angle), 0.0, -G * np.cos(angle)))
    if rigid:
        plate = shapes.box((6.0, 2.0, 0.2))
        scene.add_rigid_body(plate, name="slope", at=(0.0, 0.0, -0.1), kind="static", friction=mu, restitution=0.0)
    else:
        scene.add_ground(friction=mu, restitution=0.0)
    scene.add_soft_body(
        shapes.box((0.6, 0.6, 0.3), subdivisions=3), name="block", at=(0.0, 0.0, 0.17 if rigid else 0.15), mass=1.0,
        springs=turgor.Springs(stiffness=stiffness, damping=5.0), gas=turgor.Gas.at(gauge=500.0, ambient=101_325.0),
        friction=mu, restitution=0.0,
    )  # fmt: skip
    return scene, G * (np.sin(angle) - mu * np.cos(angle))


@pytest.mark.law(9)
@pytest.mark.parametrize(("stiffness", "substeps"), [(1e4, 4), (1e6, 4), (1e6, 16)])
@pytest.mark.parametrize(("rigid", "way"), [(False, 3e-3), (True, 1e-2)])
def test_friction_holds_below_its_angle(stiffness, rigid, way, substeps):
    """3 % below it nothing slides on a wall: less than 3 mm in a second, what the start has set in motion included.

    On a body it creeps by less than 1 cm/s: friction between bodies begins each step without memory of the last.
    """
    scene, _ = block_on_a_slope(0.97, stiffness=stiffness, rigid=rigid)
    sim = run(simulated(scene, substeps=substeps), 75)
    before = sim["block"].center[0]
    run(sim, 60)
    assert abs(sim["block"].center[0] - before) < way
    assert abs(sim["block"].momentum[0]) < 0.02


@pytest.mark.law(9)
@pytest.mark.parametrize("ratio", [1.03, 1.3])
@pytest.mark.parametrize("rigid", [False, True])
@pytest.mark.parametrize("stiffness", [1e4, 1e6])
def test_above_it_a_block_slides_with_g_sin_less_mu_g_cos(stiffness, rigid, ratio):
    """Within 0.03 m/s² (0.3 % of g), from 3 % above it on."""
    scene, acceleration = block_on_a_slope(ratio, stiffness=stiffness, rigid=rigid)
    sim = run(simulated(scene), 30)
    before = sim["block"].momentum[0]
    run(sim, 60)
    assert sim["block"].momentum[0] - before == pytest.approx(acceleration, abs=0.03)


# --- rest under load, and bounce


def dropped(stiffness, restitution=0.0):
    scene = turgor.Scene()
    scene.add_ground(friction=0.5, restitution=restitution)
    scene.add_soft_body(
        shapes.icosphere(0.5, subdivisions=2), name="ball", at=(0.0, 0.0, 1.5), rotation=(0.3, 0.2, 0.1),
        mass=1.0, springs=turgor.Springs(stiffness=stiffness), gas=turgor.Gas.at(gauge=500.0, ambient=101_325.0),
        friction=0.5, restitution=restitution,
    )  # fmt: skip
    return scene


def rise(sim):
    """m: how high the ball is above its start radius after its first impact, dropped from 1 m."""
    heights = [float(run(sim, 1)["ball"].center[2]) for _ in range(66)]
    return max(heights[int(np.argmin(heights[:34])) :]) - 0.5


def test_a_bounce_becomes_that_of_tiny_explicit_steps():
    """Steps damp the impact, by the second power of their length; they never add to it."""
    exact = rise(simulated(dropped(1e4), "symplectic", substeps=300))
    rises = [rise(simulated(dropped(1e4), substeps=substeps)) for substeps in (4, 16, 64)]
    missing = (exact - np.array(rises)) / exact
    assert missing.min() > -0.01
    assert missing[0] < 0.1
    assert missing[1:].max() < 0.02
    assert rise(simulated(dropped(1e4))) > 0.93 * exact  # with the steps that it takes by itself


@pytest.mark.parametrize("restitution", [0.0, 0.9])
def test_a_stiff_skin_bounces_whatever_the_ground_gives_back(restitution):
    """1e5 N/m: it is the skin that throws the ball back; points that it holds do not bounce apart from it."""
    scene = dropped(1e5, restitution)
    exact = rise(simulated(scene, "symplectic", substeps="auto"))
    assert rise(simulated(scene)) == pytest.approx(exact, rel=0.05)


def test_a_stiff_ball_under_a_plate_is_as_flat_as_with_tiny_explicit_steps():
    """1e6 N/m, 1 kg under 2 kg: the plate lies where statics, which takes tiny explicit steps, puts it."""
    ball = shapes.icosphere(0.5, subdivisions=2)
    scene = turgor.Scene()
    scene.add_ground(friction=0.5, restitution=0.0)
    scene.add_soft_body(
        ball, name="ball", at=(0.0, 0.0, 0.5), rotation=(0.0, np.pi / 2.0 - 0.36486, 0.0), mass=1.0, drag=4.0,
        springs=turgor.Springs(stiffness=1e6, damping=5.0), gas=turgor.Gas.at(gauge=5000.0, ambient=1000.0),
        friction=0.5, restitution=0.0,
    )  # fmt: skip
    plate = shapes.box((1.2, 1.2, 0.1))
    scene.add_rigid_body(plate, name="plate", at=(0.0, 0.0, 1.06), mass=2.0, restitution=0.0)
    rest = turgor.equilibrium(scene, precision="double")["plate"].center[2]
    assert run(simulated(scene), 60)["plate"].center[2] == pytest.approx(rest, abs=2e-4)


# --- determinism


def things(dim):
    """Soft bodies, a rigid one and a cloth or star that folds, all in one heap."""
    scene = turgor.Scene(dim=dim)
    scene.add_ground()
    springs, gas = turgor.Springs(stiffness=1e4, damping=0.2), turgor.Gas.at(gauge=300.0, ambient=2000.0)
    aside = (0.0,) * (dim - 2)
    ball = shapes.icosphere(0.25, subdivisions=1) if dim == 3 else shapes.circle(0.25, points=20)
    for number, (x, height) in enumerate(((0.0, 0.27), (0.08, 0.85))):
        scene.add_soft_body(ball, name=f"ball{number}", at=(x, *aside, height), mass=1.0, springs=springs, gas=gas)
    brick = shapes.box((0.3, 0.2, 0.1)) if dim == 3 else shapes.polygon(4, 0.15)
    scene.add_rigid_body(brick, name="brick", at=(-0.05, *aside, 1.3), mass=0.5, velocity=(*aside, 0.0, -1.0))
    if dim == 3:
        sheet = shapes.sheet(size=(0.6, 0.6), resolution=(9, 9))
        scene.add_cloth(
            sheet, name="cloth", at=(0.9, 0.0, 0.4), mass=0.1, springs=turgor.Springs(stiffness=1e3, damping=0.05)
        )  # stands on an edge, and crumples
    else:
        star = shapes.star(tips=5, outer=0.4, inner=0.1, points=30)
        scene.add_soft_body(star, name="star", at=(0.9, 0.5), velocity=(0.0, -4.0), mass=0.3, springs=springs)
    return scene


@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("dim", [2, 3])
def test_two_runs_and_a_save_are_equal_bit_for_bit(dim, precision, tmp_path):
    first, second = (run(simulated(things(dim), precision=precision), 12) for _ in range(2))
    assert first.contacts().count > 0
    run(first, 12), run(second, 12)
    assert first.state_hash() == second.state_hash()
    first.save(tmp_path / "state.npz")
    resumed = turgor.Simulation.load(tmp_path / "state.npz")
    for sim in (first, resumed):
        run(sim, 12)
    assert first.state_hash() == resumed.state_hash()


@pytest.mark.parametrize("dim", [2, 3])
def test_a_world_is_what_it_is_alone(dim):
    """The first of three is thrown as the one alone, the others otherwise."""
    alone, batch = simulated(things(dim), substeps=4), simulated(things(dim), substeps=4, worlds=3)
    velocity = np.zeros((3, *alone["ball1"].positions.shape))
    velocity[1:, :, -1] = -3.0
    velocity[2, :, 0] = 1.0
    alone["ball1"].velocities = velocity[0]
    batch["ball1"].velocities = velocity
    for _ in range(24):
        alone.step(), batch.step()
    for name in ("ball0", "ball1", "cloth" if dim == 3 else "star"):
        assert np.array_equal(batch[name].positions[0], alone[name].positions), name
        assert np.array_equal(batch[name].velocities[0], alone[name].velocities), name
    for what in ("center", "velocity", "spin"):
        assert np.array_equal(getattr(batch["brick"], what)[0], getattr(alone["brick"], what)), what
    assert not np.array_equal(batch["ball1"].positions[1], batch["ball1"].positions[0])


# --- knots


@pytest.mark.req("X1", "D2")
def test_a_crumpled_cloth_flies_on():
    """As test_law_13_contact.test_a_crumpled_cloth_flies_on, with a coarser cloth and steps of 1/480 s.

    Impulses of the sweep act where a step began; one of second order leads elsewhere than along its velocities, so that
    the moment is kept to a thousandth.
    """
    scene = turgor.Scene(gravity=0)
    sheet = shapes.sheet(size=(1.0, 1.0), resolution=(9, 9))
    springs = turgor.Springs(stiffness=100.0, damping=0.05)
    scene.add_cloth(sheet, name="cloth", mass=0.2, springs=springs, wind_drag=0.0)
    sim = simulated(scene, precision="single", substeps=8)
    cloth = sim["cloth"]
    arms = cloth.positions - cloth.center
    noise = np.random.default_rng(6).normal(size=arms.shape)
    cloth.velocities = np.array([1.0, 0.0, 0.0]) + 8.0 * noise - 40.0 * arms + np.cross([0.0, 0.0, 3.0], arms)
    linear, angular, start = cloth.momentum, cloth.angular_momentum, cloth.center
    run(sim, 12)
    assert np.abs(cloth.momentum - linear).max() < 1e-5
    assert np.abs(cloth.angular_momentum - angular).max() < 1e-3 * np.linalg.norm(angular)
    assert cloth.center - start == pytest.approx(0.2 * linear / cloth.mass, abs=1e-3)
    assert penetration.self_crossings(sim)["cloth"] == 0
