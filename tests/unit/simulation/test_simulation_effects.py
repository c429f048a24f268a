"""What acts on a body, seen through the public API: hands, moving walls, damping, gas options, the energy ledger."""

from __future__ import annotations

import math

import numpy as np
import pytest

import turgor
from turgor import Gas, Springs, VelocityDamping, shapes

GAS = Gas.at(gauge=200.0, ambient=1000.0)


def shape_of(dim):
    return shapes.icosphere(subdivisions=1) if dim == 3 else shapes.circle(points=24)


def free(dim=3, gravity=0.0, shape=None, **body):
    """A scene with one body, "ball", and no walls."""
    scene = turgor.Scene(dim=dim, gravity=(0.0,) * (dim - 1) + (-gravity,))
    scene.add_soft_body(shape or shape_of(dim), **{"name": "ball", "springs": Springs(200.0, 0.2), "gas": GAS} | body)
    return scene


def advanced(sim, frames):
    for _ in range(frames):
        sim.step()
    return sim


def unit(dim, axis=-1):
    return np.eye(dim)[axis]


# the hand -----------------------------------------------------------------------------------------------------------


@pytest.mark.req("A9")
@pytest.mark.parametrize("assembly", ["scatter", "gather"])
@pytest.mark.parametrize("dim", [2, 3])
def test_grab_pulls_and_release_lets_go(dim, assembly):
    sim = turgor.Simulation(free(dim, drag=3.0), assembly=assembly)
    still = sim["ball"].forces
    target = sim["ball"].positions[7] + 1.5 * unit(dim, 0)
    sim.grab("ball", 7, target, stiffness=80.0)
    pulled = sim["ball"].forces - still  # k (target - x) on that vertex, and on no other
    np.testing.assert_allclose(pulled[7], 80.0 * 1.5 * unit(dim, 0), rtol=1e-4, atol=1e-3)
    assert np.abs(np.delete(pulled, 7, axis=0)).max() < 1e-3
    advanced(sim, 300)
    np.testing.assert_allclose(sim["ball"].positions[7], target, atol=0.02)
    sim.grab("ball", 7, target + unit(dim))  # called again, it moves the target
    advanced(sim, 300)
    np.testing.assert_allclose(sim["ball"].positions[7], target + unit(dim), atol=0.02)
    sim.release("ball")
    np.testing.assert_allclose(sim["ball"].forces.sum(axis=0), -3.0 * sim["ball"].momentum, atol=1e-3)
    at = sim["ball"].center
    advanced(sim, 120)
    np.testing.assert_allclose(sim["ball"].center, at, atol=0.02)


@pytest.mark.req("A9")
def test_grab_on_a_pin_moves_nothing():
    """A pinned vertex stays where it is, and the hand that pulls it does no work."""
    sim = turgor.Simulation(free(pins=(7,), gravity=9.81), ledger=True)
    place = sim["ball"].positions[7]
    sim.grab("ball", 7, place + 1.0)
    advanced(sim, 30)
    np.testing.assert_array_equal(sim["ball"].positions[7], place)
    assert sim.energy().work == 0.0


@pytest.mark.req("A9")
def test_a_strong_hand_stays_stable():
    """Automatic substeps know of the hand."""
    sim = turgor.Simulation(free(), solver="symplectic")
    advanced(sim, 1)
    before = sim.substeps
    sim.grab("ball", 0, (0.0, 0.0, 1.0), stiffness=1e6)
    advanced(sim, 30)
    assert sim.substeps > 2 * before
    np.testing.assert_allclose(sim["ball"].positions[0], (0.0, 0.0, 1.0), atol=0.05)


# moving walls -------------------------------------------------------------------------------------------------------


@pytest.mark.req("A7", "B6")
@pytest.mark.parametrize("dim", [2, 3])
def test_conveyor_drags_up_to_its_speed(dim):
    """A plane that moves along itself accelerates a box (a ball would roll) by friction up to its speed."""
    block = (
        shapes.box(subdivisions=2) if dim == 3 else shapes.outline([(0.5, 0.5), (-0.5, 0.5), (-0.5, -0.5), (0.5, -0.5)])
    )
    scene = free(dim, gravity=9.81, shape=block, at=tuple(0.52 * unit(dim)), springs=Springs(300.0, 2.0), bending=5.0)
    belt = 1.5 * unit(dim, 0)
    scene.add_plane(point=(0.0,) * dim, normal=tuple(unit(dim)), velocity=tuple(belt), friction=0.8, restitution=0.0)
    sim = turgor.Simulation(scene)
    speeds = []
    for _ in range(240):
        sim.step()
        speeds.append(sim["ball"].momentum[0] / sim["ball"].mass)
    assert speeds[0] < 0.5
    assert np.mean(speeds[-60:]) == pytest.approx(1.5, rel=0.02)
    assert max(speeds) < 2 * 1.5  # the soft box swings about its foot


@pytest.mark.req("A7", "B6")
@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_a_wall_that_advances_throws(e):
    """A point that rests gets (1 + e) times the speed of the wall that hits it."""
    scene = free(gravity=0.0, springs=Springs(0.0), gas=None)
    scene.add_plane(point=(0, 0, -0.51), normal=(0, 0, 1), velocity=(0, 0, 3.0), restitution=e, friction=0.0)
    sim = advanced(turgor.Simulation(scene, substeps=16, contact="none"), 60)  # the points pass each other
    np.testing.assert_allclose(sim["ball"].velocities, np.tile((0, 0, 3.0 * (1 + e)), (42, 1)), rtol=1e-5, atol=1e-5)


@pytest.mark.req("C5")
@pytest.mark.parametrize("dim", [2, 3])
def test_spinning_container_tosses_the_ball_and_keeps_it(dim):
    """The ball is dragged around, and is inside the turned box at every frame."""
    scene = free(dim, gravity=9.81)
    size = (2.0,) * dim
    scene.add_container(size=size, spin=2.0 if dim == 2 else (0.0, 2.0, 0.0), friction=0.8, restitution=0.3)
    sim = turgor.Simulation(scene)
    angles = []
    for _ in range(240):
        sim.step()
        pose = sim.frame().walls[0]
        local = (sim["ball"].positions - pose.position) @ pose.rotation  # along the box's own axes
        assert np.abs(local).max() <= 1.0 + 1e-5
        assert sim.contacts().max_penetration < 1e-5
        assert np.linalg.det(pose.rotation) == pytest.approx(1.0, abs=1e-5)
        angles.append(math.atan2(pose.rotation[-1, 0], pose.rotation[0, 0]))
    turned = np.unwrap(angles)
    assert abs(turned[-1] - turned[0]) == pytest.approx(2.0 * 239 / 60, rel=1e-3)
    assert np.linalg.norm(sim["ball"].momentum) > 0.05  # it does not come to rest


# damping ------------------------------------------------------------------------------------------------------------


@pytest.mark.req("B5")
@pytest.mark.parametrize("substeps", [1, 7, 32])
def test_velocity_damping_is_a_share_per_time(substeps):
    """rho = base + (1 - base) k/kmax is lost per 1/rate seconds, whatever the substep."""
    damping = VelocityDamping(base=0.1, stiffness_max=1000.0, rate=30.0)
    scene = free(velocity=(3.0, 0.0, 0.0), springs=Springs(200.0), gas=None, velocity_damping=damping)
    sim = turgor.Simulation(scene, precision="double", substeps=substeps, fps=60)
    rho = 0.1 + 0.9 * 200.0 / 1000.0
    for done in range(1, 11):
        sim.step()
        np.testing.assert_allclose(sim["ball"].momentum[0], 3.0 * (1.0 - rho) ** (done * 30.0 / 60.0), rtol=1e-9)


@pytest.mark.req("B5")
def test_velocity_damping_follows_the_stiffness():
    """rho depends on k: setting the stiffness sets the damping."""
    damping = VelocityDamping(base=0.1, stiffness_max=1000.0, rate=60.0)
    scene = free(velocity=(3.0, 0.0, 0.0), springs=Springs(200.0), gas=None, velocity_damping=damping)
    sim = turgor.Simulation(scene, precision="double", substeps=8, fps=60)
    sim["ball"].stiffness = 500.0
    sim.step()
    np.testing.assert_allclose(sim["ball"].momentum[0], 3.0 * (1.0 - 0.1 - 0.9 * 0.5), rtol=1e-9)


# the gas ------------------------------------------------------------------------------------------------------------


def pressure_forces(**body):
    """Forces of the gas alone: springs of no stiffness, at the shape as described."""
    sim = turgor.Simulation(free(springs=Springs(0.0), **body), precision="double")
    return sim["ball"].forces


@pytest.mark.req("B4")
def test_pressure_scaling_weighs_by_springs_per_vertex():
    shape = shapes.box(subdivisions=2)
    plain, scaled = (pressure_forces(shape=shape, pressure_scaling=on) for on in (False, True))
    springs = np.bincount(shape.edges.ravel(), minlength=len(shape.vertices))
    np.testing.assert_allclose(scaled, plain * (springs / springs.mean())[:, None], atol=1e-9)


@pytest.mark.req("C7")
@pytest.mark.parametrize("divided", [False, True])
def test_vertex_normals_are_means_of_face_normals(divided):
    """Force = gauge * (the area around the vertex / 3, or / the number of its faces) along the faces' mean normal."""
    shape = shapes.box(size=(1.0, 0.7, 0.4), subdivisions=2)
    found = pressure_forces(shape=shape, pressure_force="vertex-normals-divided" if divided else "vertex-normals")
    a, b, c = (shape.vertices[shape.faces[:, i]] for i in range(3))
    vectors = np.cross(b - a, c - a)
    areas = np.linalg.norm(vectors, axis=1)
    normals, size = np.zeros_like(shape.vertices), np.zeros(len(shape.vertices))
    around = np.bincount(shape.faces.ravel())
    assert len(set(around.tolist())) > 1
    for corner in range(3):
        np.add.at(normals, shape.faces[:, corner], vectors / areas[:, None])
        np.add.at(size, shape.faces[:, corner], areas / 2)
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    size = size / (around if divided else 3)
    np.testing.assert_allclose(found, 200.0 * size[:, None] * normals, atol=1e-9)


@pytest.mark.req("C7")
def test_divided_by_the_number_of_faces_the_pressure_is_half():
    """Six faces around a point and three corners of a face: the law divides by three. In a plane both are two."""
    ball = shapes.icosphere(radius=0.5, subdivisions=3)
    whole, divided = (
        np.linalg.norm(pressure_forces(shape=ball, pressure_force=force), axis=1)
        for force in ("vertex-normals", "vertex-normals-divided")
    )
    six = np.bincount(ball.faces.ravel()) == 6
    assert six.mean() > 0.95
    np.testing.assert_allclose(divided[six], 0.5 * whole[six], rtol=1e-9)
    assert divided.sum() == pytest.approx(0.5 * whole.sum(), rel=0.01)


@pytest.mark.req("C8", "X3")
def test_held_pressure_stays():
    """A pump holds the pressure while the volume changes; free gas follows its law."""
    held, gas = (
        turgor.Simulation(free(gas=Gas.at(gauge=200.0, ambient=1000.0, held=on)), precision="double")
        for on in (True, False)
    )
    for sim in (held, gas):
        sim["ball"].positions = sim["ball"].positions * 1.2
    assert held["ball"].pressure == pytest.approx(1200.0, rel=1e-12)
    assert gas["ball"].pressure == pytest.approx(1200.0 / 1.2**3, rel=1e-12)
    volumes = set()
    for _ in range(20):
        held.step()
        assert held["ball"].pressure == pytest.approx(1200.0, rel=1e-12)
        volumes.add(round(held["ball"].volume, 6))
    assert len(volumes) > 10


@pytest.mark.req("A2")
@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("waits", [True, False])
def test_inflation_ramp_and_waiting_gravity(dim, waits):
    """Gas comes in linearly from zero gauge pressure; with gravity_waits the body hangs in the air until it is full."""
    gas = Gas.at(gauge=100.0, ambient=500.0, inflate=0.5, gravity_waits=waits)
    sim = turgor.Simulation(free(dim, gravity=9.81, gas=gas), precision="double", substeps=40)
    ball = sim["ball"]
    assert ball.pressure == pytest.approx(500.0)
    for frame in range(1, 31):
        sim.step()
        amount = (500.0 + 100.0 * frame / 30) * ball.rest_volume
        assert ball.pressure * ball.volume == pytest.approx(amount, rel=1e-6)
        fall = 0.0 if waits else -9.81 * frame / 60
        assert ball.momentum[-1] == pytest.approx(fall, rel=1e-6, abs=1e-9)
    advanced(sim, 6)
    assert ball.pressure * ball.volume == pytest.approx(600.0 * ball.rest_volume, rel=1e-9)
    assert ball.momentum[-1] == pytest.approx(
        -9.81 * 0.1 - (0.0 if waits else 9.81 * 0.5), rel=0.01
    )  # one substep more or less


@pytest.mark.req("X3")
def test_gas_can_be_set_in_any_of_its_units():
    sim = turgor.Simulation(free(), precision="double")
    ball = sim["ball"]
    ball.gauge_pressure = 300.0
    assert ball.pressure == pytest.approx(1300.0)
    assert ball.nRT == pytest.approx(1300.0 * ball.rest_volume)
    moles = ball.moles
    ball.temperature = 2.0 * ball.temperature
    assert ball.pressure == pytest.approx(2600.0)
    assert ball.moles == pytest.approx(moles)
    ball.moles = 0.5 * moles
    assert ball.pressure == pytest.approx(1300.0)
    assert ball.temperature == pytest.approx(2 * 293.15)
    ball.ambient = 1300.0
    assert ball.gauge_pressure == pytest.approx(0.0, abs=1e-9)


@pytest.mark.req("C2", "C9", "A5")
@pytest.mark.parametrize("volume", ["box", "ball", "ellipsoid", "monte-carlo", "subdivision"])
@pytest.mark.parametrize("dim", [2, 3])
def test_every_volume_runs_and_is_seen(dim, volume):
    """The chosen measure is what `volume` shows and what the pressure follows."""
    scene = free(dim, gravity=9.81, volume=volume, at=tuple(0.7 * unit(dim)))
    scene.add_ground()
    sim = advanced(turgor.Simulation(scene), 20)
    ball = sim["ball"]
    unit_ball = math.pi if dim == 2 else 4 / 3 * math.pi
    nominal = {"box": 1.0, "ball": unit_ball / 2**dim, "ellipsoid": unit_ball / 2**dim}
    nominal = nominal.get(volume, shape_of(dim).volume)
    assert ball.rest_volume == pytest.approx(nominal, rel=0.1)
    assert ball.volume == pytest.approx(nominal, rel=0.5)
    if volume != "monte-carlo":
        assert ball.pressure * ball.volume == pytest.approx(ball.nRT, rel=1e-5)
    assert sim.finite


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("stiffness", [200.0, 3000.0])
def test_settled_start_has_no_jump(dim, stiffness):
    """Started in equilibrium, a body changes its volume by less than 0.1 % in the first 0.2 s without gravity."""
    options = {"springs": Springs(stiffness), "gas": Gas.at(gauge=150.0, ambient=1000.0)}
    jumps = []
    for settled in (True, False):
        sim = turgor.Simulation(free(dim, settled=settled, **options))
        start = sim["ball"].volume
        volumes = [start]
        for _ in range(12):
            sim.step()
            volumes.append(sim["ball"].volume)
        jumps.append(np.abs(np.array(volumes) / start - 1.0).max())
    assert jumps[0] < 1e-3
    assert jumps[1] > 5 * jumps[0]


# the ledger ---------------------------------------------------------------------------------------------------------


def ledger_error(dim, substeps):
    """Unexplained energy after 0.4 s with everything on, J; and the energy that was turned over."""
    gas = Gas.at(gauge=150.0, ambient=500.0, law="adiabatic", inflate=0.2)
    scene = free(
        dim, gravity=9.81, at=tuple(0.55 * unit(dim)), velocity=tuple(2.0 * unit(dim, 0)), gas=gas, drag=0.3,
        springs=Springs(200.0, 0.5), wind_drag=0.02, bending=0.01,
        velocity_damping=VelocityDamping(base=0.01, stiffness_max=4000.0),
    )  # fmt: skip
    scene.wind = tuple(3.0 * unit(dim, 0))
    scene.add_ground(friction=0.3, restitution=0.2)
    scene.add_container(size=(3.0,) * dim, at=tuple(1.4 * unit(dim)), spin=0.2 if dim == 2 else (0.0, 0.2, 0.1))
    sim = turgor.Simulation(scene, precision="double", substeps=substeps, ledger=True)
    sim.grab("ball", 3, tuple(1.2 * unit(dim)), stiffness=20.0)
    start = sim.energy()
    advanced(sim, 24)
    end = sim.energy()
    assert end.dissipated > 0.1
    assert abs(end.work) > 0.1
    return end.total + end.dissipated - end.work - start.total, end.dissipated + abs(end.work)


@pytest.mark.req("X3")
@pytest.mark.parametrize("dim", [2, 3])
def test_the_ledger_balances_with_everything_on(dim):
    """total + dissipated - work is constant to the first order in dt: a quarter of the step, a quarter of the error."""
    errors = [ledger_error(dim, substeps) for substeps in (50, 200)]
    coarse, fine = (abs(error) / turned for error, turned in errors)
    assert coarse < 0.05
    assert fine < 0.4 * coarse
