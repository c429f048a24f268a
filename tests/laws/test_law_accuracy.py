"""What solvers do to the energy of a free, undamped ball: within `accuracy`, and as they estimate it."""

from __future__ import annotations

import math

import numpy as np
import pytest

import turgor
from support.laws import DEVICE, PRECISIONS
from turgor.errors import SceneError, UnstableError
from turgor.solvers.schemes import SCHEMES

SECONDS = 10.0  # of the minute to which `accuracy` refers: errors that add up may have a sixth of it
DRIFTING = [name for name, scheme in SCHEMES.items() if scheme.drifts]
STIFF = 100.0
# so stiff that accuracy, not stability, sets the substeps, and so soft that they are few: first-order schemes need many
STIFFNESS = {"euler": 0.01, "rk4-martin": 0.01, "midpoint": 1.0, "heun": 1.0, "symplectic": STIFF, "rk4": STIFF}


def ball(dim, stiffness=1.0, subdivisions=0):
    """In equilibrium; breathes at about 20 sqrt(stiffness) rad/s, its highest mode has 1.5 to 2 times that."""
    scene = turgor.Scene(dim=dim, gravity=0)
    shape = (
        turgor.shapes.circle(0.5, points=12) if dim == 2 else turgor.shapes.icosphere(0.5, subdivisions=subdivisions)
    )
    gas = turgor.Gas.at(gauge=2.0 * stiffness, ambient=10.0 * stiffness)
    springs = turgor.Springs(stiffness=10.0 * stiffness)
    scene.add_soft_body(shape, name="ball", springs=springs, gas=gas, settled=True)
    return scene


def energy(sim):
    """J, with the velocities of the time of the positions: the symplectic solver's are half a substep older."""
    view, parts = sim["ball"], sim.energy()
    mass = view.mass / sim.vertices
    late = 0.0 if SCHEMES[sim.solver].drifts else 0.5 * sim.dt
    v = view.velocities + late * view.forces / mass
    return parts.elastic + parts.gas + 0.5 * mass * float(np.sum(v * v))


def kicked_frames(sim, kick, seconds, speed):
    """(error of the energy, substeps) frame by frame, after a kick that makes it breathe, or one in all its modes."""
    view = sim["ball"]
    x = view.positions - view.center
    v = x / np.linalg.norm(x, axis=1, keepdims=True)
    if kick == "all":
        v = np.random.default_rng(1).normal(size=x.shape)
    v -= v.mean(axis=0)
    rest = energy(sim)
    along = 3.0 if sim.precision == "double" else 0.0  # flight is no vibration (single precision is lost with distance)
    view.velocities = speed * v / math.sqrt(np.mean(np.sum(v * v, axis=1))) + along
    flight = 0.5 * float(view.mass) * sim.scene.dim * along**2
    start = energy(sim) - rest - flight
    while sim.time < seconds - 1e-9:
        sim.step()
        yield (energy(sim) - rest - flight) / start - 1.0, sim.substeps


def kicked(scene, kick, seconds=SECONDS, speed=0.2, **options):
    """(measured error, estimate, most substeps): at the end, or the largest where it swings."""
    sim = turgor.Simulation(scene, DEVICE, contact="none", **options)
    errors, counts = zip(*kicked_frames(sim, kick, seconds, speed), strict=True)
    error = errors[-1] if SCHEMES[sim.solver].drifts else float(np.abs(errors).max())
    print(f"\n{sim.solver} {kick}: error {error:+.2e}, estimate {sim.energy_error:+.2e}, {max(counts)} substeps")
    return error, sim.energy_error, max(counts)


@pytest.mark.req("A6", "B7", "C3")
@pytest.mark.parametrize(("dim", "precision", "kick"), [(3, "single", "radial"), (2, "double", "all")])
@pytest.mark.parametrize("solver", list(SCHEMES))
def test_accuracy_bounds_the_error_of_the_energy(solver, dim, precision, kick):
    stiff = STIFFNESS[solver]
    speed = 0.6 * math.sqrt(stiff) if stiff <= 1.0 else 1.0
    found, estimate, _ = kicked(ball(dim, stiff), kick, speed=speed, solver=solver, precision=precision, accuracy=0.01)
    assert abs(found) <= 0.01 * (SECONDS / 60.0 if SCHEMES[solver].drifts else 1.0)
    assert abs(estimate) / 3.0 < abs(found) < 3.0 * abs(estimate)
    assert found * estimate > 0.0


@pytest.mark.req("A6", "B7", "C3")
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("solver", ["midpoint", "heun"])
def test_midpoint_and_heun_feed_no_energy_by_default(solver, dim, precision):
    """A tenth in a minute at most."""
    found, estimate, _ = kicked(ball(dim), "all", solver=solver, precision=precision)
    assert 0.0 < found <= 0.1 * SECONDS / 60.0
    assert estimate / 3.0 < found < 3.0 * estimate


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("solver", ["symplectic", "rk4"])
def test_the_estimate_tells_what_the_default_does(solver, dim):
    """Coarse steps: stability alone."""
    found, estimate, _ = kicked(ball(dim, STIFF), "radial", speed=0.5, solver=solver, precision="double", fps=20)
    assert abs(found) > 0.01
    assert abs(estimate) / 3.0 < abs(found) < 3.0 * abs(estimate)


HARD = {"12 vertices": (3, 0, 4.0), "42 vertices": (3, 1, 4.0), "162 vertices": (3, 2, 4.0), "ring": (2, 0, 6.0)}


@pytest.mark.req("A6", "B7", "C3")
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("case", HARD)
def test_steps_that_follow_fast_changes_feed_no_energy(case, precision):
    """Hit so hard that substeps shorten in every swing: the symplectic solver stays within its own swing, z²/4 <= 1/4.

    (Velocities belong to the middle of a substep: where its length changes, they have to be shifted.)
    """
    dim, subdivisions, speed = HARD[case]
    sim = turgor.Simulation(ball(dim, STIFF, subdivisions), DEVICE, contact="none", precision=precision)
    errors, counts = zip(*kicked_frames(sim, "radial", 4.0, speed), strict=True)
    print(f"\n{case}: energy at most {1.0 + max(errors):.2f} of the start, {min(counts)} to {max(counts)} substeps")
    assert len(set(counts)) > 3
    assert max(errors) < 0.25


@pytest.mark.parametrize("solver", DRIFTING)
def test_one_step_of_an_oscillation_changes_its_energy_as_the_table_says(solver):
    """Two points on a spring, from full stretch and from full speed: the mean of both is that of all phases."""
    scheme, z = SCHEMES[solver], 0.05
    gains = []
    for stretch, speed in ((0.0, 1e-3), (1e-3, 0.0)):
        scene = turgor.Scene(dim=2, gravity=0)
        mesh = turgor.shapes.circle(0.5, points=12)
        scene.add_soft_body(mesh, name="ball", springs=turgor.Springs(stiffness=50.0), gas=None)
        # a ring of n points breathes with omega² = k sum L² / sum m r²: of 12 edges of L = 2 r sin(pi/12) = r 0.5176
        omega = math.sqrt(50.0 * 12 * 4.0 * math.sin(math.pi / 12) ** 2)
        sim = turgor.Simulation(scene, DEVICE, solver=solver, precision="double", fps=omega / z, substeps=1)
        n = mesh.vertices / np.linalg.norm(mesh.vertices, axis=1, keepdims=True)
        sim["ball"].positions = mesh.vertices + stretch * n
        sim["ball"].velocities = speed * omega * n
        before = sim.energy().total
        sim.step()
        gains.append(sim.energy().total / before - 1.0)
    expected = z ** (scheme.error_power + 1) / scheme.error_divisor
    assert np.mean(gains) == pytest.approx(expected, rel=0.02)


def test_damped_bodies_need_no_more_substeps():
    """What takes the energy out in a second leaves no time for errors."""
    counts = []
    for options in ({"accuracy": "auto"}, {"accuracy": 1e6}):
        scene = ball(3)
        scene.set("ball.springs.damping", 1.0)
        counts.append(kicked(scene, "all", 1.0, solver="midpoint", **options)[2])
    assert counts[0] == counts[1]


def test_more_accuracy_takes_more_substeps_and_the_default_takes_fewest():
    for solver in ("symplectic", "rk4", "heun"):
        counts = [
            kicked(ball(2, STIFF), "all", 0.5, solver=solver, accuracy=level)[2] for level in ("auto", 0.01, 1e-4)
        ]
        assert counts[0] < counts[1] < counts[2]


def test_the_estimate_goes_on_after_saving(tmp_path):
    sim = turgor.Simulation(ball(2), solver="rk4", fps=20)
    sim["ball"].velocities = 0.2 * sim["ball"].positions
    sim.run(1.05)
    sim.save(tmp_path / "state.npz")
    again = turgor.Simulation.load(tmp_path / "state.npz")
    for one in (sim, again):
        one.run(1.0)
    assert sim.energy_error < 0.0
    assert again.energy_error == sim.energy_error


def test_each_world_has_its_estimate():
    errors = []
    for worlds in (1, 2):
        sim = turgor.Simulation(ball(2), solver="rk4", fps=20, worlds=worlds)
        x = sim["ball"].positions
        sim["ball"].velocities = 0.2 * x if worlds == 1 else np.stack([0.2 * x[0], 0.1 * x[1]])
        sim.run(1.0)
        errors.append(np.atleast_1d(sim.energy_error))
    assert errors[1].shape == (2,)
    assert errors[1][0] == errors[0][0] < 0.0


def test_fixed_substeps_are_judged_too():
    assert kicked(ball(2), "radial", 1.0, solver="heun", substeps=8)[1] > 0.0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"accuracy": 0.0}, r"simulation\.accuracy must be .*, got 0"),
        ({"accuracy": "high"}, r"simulation\.accuracy must be 'auto' or a number such as 0.01, got 'high'"),
        ({"accuracy": 0.01, "substeps": 20}, r"simulation\.accuracy chooses the substeps: use substeps='auto'"),
    ],
)
def test_bad_values_are_refused(options, words):
    with pytest.raises(SceneError, match=words):
        turgor.Simulation(ball(2), **options)


def test_what_cannot_be_that_accurate_says_so():
    with pytest.raises(UnstableError, match=r"raise fps, max_substeps or accuracy, .* use solver='symplectic'"):
        kicked(ball(2), "radial", 1.0, solver="euler", accuracy=1e-4)


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("support", ["floor", "pin"])
@pytest.mark.parametrize("dim", [2, 3])
def test_what_is_at_rest_does_not_feel_other_substeps(dim, support, precision):
    """A ball at rest on a bouncy floor, or hanging, stays at rest while substeps change."""
    scene = ball(dim, STIFF)
    scene.gravity = (0.0,) * (dim - 1) + (-9.81,)
    if support == "floor":
        scene.add_ground(restitution=0.9, friction=0.5)
    else:
        top = int(scene["ball"].shape.vertices[:, -1].argmax())
        scene.set("ball.pins", (top,))
    scene.set("ball.at", (0.0,) * (dim - 1) + (0.5,))
    scene.set("ball.springs.damping", 5.0)
    scene.set("ball.drag", 8.0)
    sim = turgor.Simulation(scene, DEVICE, precision=precision, contact="none")
    sim.run(8.0)
    rest = sim["ball"].positions
    assert np.abs(sim["ball"].velocities).max() < (1e-9 if precision == "double" else 1e-3)
    for turn in range(6):
        sim.state.pace.assign(np.array([sim.substeps * (3 if turn % 2 else 1) + 1, 0, 0], np.int32))
        sim.run(0.05)
        assert np.abs(sim["ball"].positions - rest).max() < (1e-9 if precision == "double" else 1e-5)
