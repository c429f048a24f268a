"""solver = "implicit": any stiffness at any step; energy never grows, momentum is kept, rest is rest (X2)."""

from __future__ import annotations

import contextlib
import itertools

import numpy as np
import pytest

import turgor
from support.laws import DEVICE, EPS, PRECISIONS
from turgor import shapes

pytestmark = pytest.mark.req("X2")


def ball(dim=3, **options):
    """A pressurised ball, turned so that it does not stand on a vertex."""
    shape = shapes.icosphere(radius=0.5, subdivisions=2) if dim == 3 else shapes.circle(radius=0.5, points=48)
    scene = turgor.Scene(dim=dim, **({"gravity": options.pop("gravity")} if "gravity" in options else {}))
    if options.pop("ground", True):
        scene.add_ground(friction=options.pop("friction", 0.5))
    stiffness, gauge = options.pop("stiffness", 1e4), options.pop("gauge", 500.0)
    scene.add_soft_body(
        shape, name="ball", mass=1.0, springs=turgor.Springs(stiffness=stiffness, damping=options.pop("damping", 0.0)),
        gas=turgor.Gas.at(gauge=gauge, ambient=options.pop("ambient", 101_325.0)),
        rotation=(0.3, 0.2, 0.1) if dim == 3 else 0.1, **{"at": (0.0,) * (dim - 1) + (0.6,), **options},
    )  # fmt: skip
    return scene


def simulated(scene, **options):
    return turgor.Simulation(scene, device=DEVICE, solver="implicit", **options)


def momenta(sim):
    """(linear, angular about the origin) of all bodies."""
    linear = sum(np.asarray(sim[name].momentum) for name in sim.names)
    angular = 0.0
    for name in sim.names:
        x, p = sim[name].center, sim[name].momentum
        orbital = np.cross(x, p) if len(x) == 3 else x[0] * p[1] - x[1] * p[0]
        angular = angular + orbital + sim[name].angular_momentum
    return linear, np.atleast_1d(angular)


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("stiffness", [1e3, 1e6])
def test_a_collision_in_free_space_keeps_momentum_and_angular_momentum(dim, stiffness, precision):
    scene = turgor.Scene(dim=dim, gravity=0)
    shape = shapes.icosphere(radius=0.5, subdivisions=2) if dim == 3 else shapes.circle(radius=0.5, points=32)
    for name, side, mass in (("left", -1.0, 1.0), ("right", 1.0, 2.0)):
        along = np.array([1.0, 0.2, 0.3][:dim])
        scene.add_soft_body(
            shape, name=name, at=tuple(0.6 * side * along), velocity=tuple(-2.0 * side * along), mass=mass,
            spin=(0.0, 3.0, side) if dim == 3 else 3.0, springs=turgor.Springs(stiffness=stiffness),
            gas=turgor.Gas.at(gauge=100.0, ambient=101_325.0), friction=0.5,
        )  # fmt: skip
    sim = simulated(scene, precision=precision)
    linear, angular = momenta(sim)
    before, touched = sim.energy().total, False
    for _ in range(24):
        sim.step()
        touched = touched or sim.contacts().count > 0
        p, spin = momenta(sim)
        assert np.abs(p - linear).max() <= 300.0 * EPS[precision] * 3.0
        assert np.abs(spin - angular).max() <= 1000.0 * EPS[precision] * 3.0
    assert touched
    assert np.dot(sim["left"].velocities.mean(axis=0), [1.0, 0.2, 0.3][:dim]) < 0.0  # thrown back
    assert sim.energy().total <= before + 1e-3 * abs(before)


@pytest.mark.parametrize("dim", [2, 3])
def test_a_ball_that_spins_in_free_flight_spins_on(dim):
    scene = ball(dim, ground=False, at=(0.0,) * dim, spin=(1.0, 2.0, 10.0) if dim == 3 else 10.0, stiffness=1e5)
    sim = simulated(scene, precision="double", substeps=1)
    spin = np.atleast_1d(sim["ball"].angular_momentum)
    for _ in range(60):
        sim.step()
    assert np.atleast_1d(sim["ball"].angular_momentum) == pytest.approx(spin, rel=1e-9)


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("stiffness", [1e2, 1e4, 1e6, 1e8])
def test_energy_never_grows(dim, stiffness):
    """A ball is thrown at the ground, bounces, rolls and comes to rest.

    Walls and friction cannot raise its energy; that of vibrations in flight swings a little, as it does with any scheme
    of second order, and falls in the mean.
    """
    velocity = (1.0, 0.5, -2.0)[3 - dim :]
    sim = simulated(ball(dim, stiffness=stiffness, velocity=velocity), precision="double")
    energies, motion = [sim.energy().total], 0.0
    for _ in range(60):
        sim.step()
        energies.append(sim.energy().total)
        motion = max(motion, sim.energy().kinetic)
    above = np.array(energies) - np.minimum.accumulate(energies)  # what it was at its lowest before
    assert above.max() <= 5e-3 * motion
    assert energies[-1] < energies[0] - 0.1 * motion


@pytest.mark.parametrize("dim", [2, 3])
def test_any_stiffness_and_pressure_at_any_step_stays_finite(dim):
    """10 orders of stiffness, 6 of pressure, with and without the air outside, short and long steps."""
    failed = []
    for stiffness, gauge, (ambient, fps) in itertools.product(
        (1e0, 1e3, 1e6, 1e10), (1e-1, 1e2, 1e5), ((0.0, 240.0), (101_325.0, 30.0))
    ):
        sim = simulated(
            ball(dim, stiffness=stiffness, gauge=gauge, ambient=ambient), precision="double", substeps=1, fps=fps
        )
        for _ in range(4):
            sim.step()
        if not sim.finite:
            failed.append((stiffness, gauge, ambient, fps))
    assert failed == []


@pytest.mark.parametrize("points", [3, 4])
def test_a_body_of_hardly_any_mass_stays_finite_or_ends_in_a_sentence(points):
    """Beside its gas it is lost in round-off, and the matrix of its motion as a whole may be singular."""
    scene = turgor.Scene(dim=2)
    scene.add_soft_body(
        shapes.circle(0.5, points), name="ball", mass=1e-30, springs=turgor.Springs(stiffness=3000.0),
        gas=turgor.Gas(nRT=60.0),
    )  # fmt: skip
    sim = simulated(scene)
    with contextlib.suppress(turgor.UnstableError):
        sim.run(0.1)
    assert sim.finite


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("stiffness", [1e3, 1e5, 1e7])
def test_a_ball_at_rest_is_carried_by_the_ground(dim, stiffness):
    sim = simulated(ball(dim, stiffness=stiffness, damping=2.0, friction=0.0, drag=3.0), precision="double")
    body, implicit, carried = sim["ball"], sim.engine.implicit, []
    for _ in range(240):
        sim.step()
        carried.append(implicit.wall_force.numpy()[:, -1].sum())
    assert np.abs(body.velocities).max() < 0.02
    assert np.mean(carried[-60:]) == pytest.approx(9.81, rel=0.02)  # it still rings a little
    assert -1e-3 < body.positions[:, -1].min() < 1e-3
    assert body.center[-1] < 0.51


def test_as_steps_shorten_it_becomes_what_the_explicit_solver_gives():
    """A ball that breathes: the solver is of second order, so half the step quarters the error."""
    scene = ball(ground=False, stiffness=50.0, gauge=5.0, ambient=20.0, gravity=(0.0, 0.0, 0.0))

    def volumes(solver, substeps):
        sim = turgor.Simulation(scene, device=DEVICE, solver=solver, substeps=substeps, precision="double")
        return np.array([sim.step() or float(sim["ball"].volume) for _ in range(6)])

    exact = volumes("rk4", 256)
    errors = [np.abs(volumes("implicit", count) - exact).max() for count in (64, 128, 256)]
    assert errors[0] < 0.2 * np.ptp(exact)
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.25)
    assert errors[1] / errors[2] == pytest.approx(4.0, rel=0.25)


@pytest.mark.parametrize(("friction", "slides"), [(0.7, False), (0.3, True)])
def test_a_stiff_sheet_slides_from_the_angle_of_friction_on(friction, slides):
    """tan 30° lies between: a sheet on a slope of 30° stays, or slides with g (sin - mu cos)."""
    angle = np.pi / 6.0
    scene = turgor.Scene(gravity=(9.81 * np.sin(angle), 0.0, -9.81 * np.cos(angle)))
    scene.add_ground(friction=friction)
    scene.add_cloth(
        shapes.sheet(size=(0.5, 0.5), resolution=(6, 6)), name="sheet", at=(0.0, 0.0, 1e-4), mass=1.0,
        rotation=(np.pi / 2.0, 0.0, 0.0),
        springs=turgor.Springs(stiffness=1e5, damping=1.0), self_contact=False,
    )  # fmt: skip
    sim = simulated(scene, precision="double")
    for _ in range(60):
        sim.step()
    gained = sim["sheet"].velocities.mean(axis=0)[0]
    if slides:
        assert gained == pytest.approx(9.81 * (np.sin(angle) - friction * np.cos(angle)), rel=0.03)
    else:
        assert abs(gained) < 0.02


def test_a_rigid_plate_on_a_stiff_ball_is_carried():
    scene = ball(stiffness=1e6, damping=5.0, drag=2.0)
    scene.add_rigid_body(shapes.box((0.8, 0.8, 0.1)), name="plate", at=(0.0, 0.0, 1.2), mass=2.0)
    sim = simulated(scene, precision="double")
    least = np.inf
    for _ in range(40):
        sim.step()
        least = min(least, float(np.asarray(sim["plate"].center)[2]))
    assert least > 0.95  # a ball of 1 m under it
    assert sim["ball"].positions[:, 2].min() > -2e-3


@pytest.mark.parametrize("worlds", [1, 3])
def test_each_world_is_what_it_is_alone_and_a_save_goes_on_bit_for_bit(worlds, tmp_path):
    scene = turgor.Scene()
    scene.add_ground()
    for number in range(2):
        scene.add_soft_body(
            shapes.icosphere(radius=0.3, subdivisions=1), name=f"{number}", at=(0.1 * number, 0.0, 0.35 + 0.7 * number),
            mass=1.0, springs=turgor.Springs(stiffness=1e5), gas=turgor.Gas.at(gauge=100.0, ambient=101_325.0),
        )  # fmt: skip
    alone, sim = simulated(scene), simulated(scene, worlds=worlds)
    for _ in range(20):
        alone.step(), sim.step()
    sim.save(tmp_path / "state.npz")
    resumed = turgor.Simulation.load(tmp_path / "state.npz")
    for _ in range(10):
        alone.step(), sim.step(), resumed.step()
    assert resumed.state_hash() == sim.state_hash()
    found = sim.positions.reshape(worlds, -1, 3)
    for world in range(worlds):
        assert np.array_equal(found[world], alone.positions)


def test_a_hanging_sheet_with_bending_in_the_wind_comes_to_rest():
    scene = turgor.Scene(wind=(2.0, 0.0, 0.0))
    scene.add_cloth(
        shapes.sheet(size=(1.0, 1.0), resolution=(8, 8)), name="sheet", mass=0.3, pins="left-corners", bending=1e-2,
        springs=turgor.Springs(stiffness=1e5, damping=0.5), drag=2.0, self_contact=False,
    )  # fmt: skip
    sim = simulated(scene, precision="double")
    for _ in range(240):
        sim.step()
    assert sim.finite
    assert np.abs(sim["sheet"].velocities).max() < 0.5
    lengths = np.ptp(sim["sheet"].positions, axis=0)
    assert lengths.max() < 1.5  # springs of 1e5 N/m do not give


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"contact": "particles"}, "contact = 'particles'"),
    ],
)
def test_what_it_does_not_know_is_said(options, what):
    with pytest.raises(turgor.SceneError, match=f"solver = 'implicit' does not know {what} yet"):
        simulated(ball(), **options)
