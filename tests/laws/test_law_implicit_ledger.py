"""The ledger of solver = "implicit": closed, never falling, and what closed forms say each loss and each work is."""

from __future__ import annotations

import numpy as np
import pytest

import turgor
from support.laws import DEVICE
from turgor import shapes

pytestmark = pytest.mark.req("X2", "D8")

G, FPS, SUBSTEPS = 9.81, 60, 4
H = 1.0 / (FPS * SUBSTEPS)


def simulated(scene, **options):
    options = {"precision": "double", "ledger": True, "substeps": SUBSTEPS, **options}
    return turgor.Simulation(scene, device=DEVICE, solver="implicit", fps=FPS, **options)


def ball(scene, name="ball", *, stiffness=1e4, damping=0.0, radius=0.5, gas=True, **options):
    """A pressurised ball of 162 vertices (2D: 48), turned so that it does not stand on a vertex."""
    shape = shapes.icosphere(radius, 2) if scene.dim == 3 else shapes.circle(radius, 48)
    gas = turgor.Gas.at(gauge=500.0, ambient=101_325.0) if gas is True else gas
    return scene.add_soft_body(
        shape, name=name, springs=turgor.Springs(stiffness, damping), gas=gas or None,
        rotation=(0.3, 0.2, 0.1) if scene.dim == 3 else 0.1, **{"mass": 1.0, **options},
    )  # fmt: skip


def sheet(scene, **options):
    """A flat square of 36 points that lies in the x-y plane."""
    return scene.add_cloth(
        shapes.sheet((0.5, 0.5), (6, 6)), name="sheet", mass=1.0, self_contact=False,
        **{"rotation": (np.pi / 2.0, 0.0, 0.0), "springs": turgor.Springs(1e5, 1.0), "wind_drag": 0.0, **options},
    )  # fmt: skip


def run(sim, frames):
    """(what the ledger leaves unexplained, largest fall of what is dissipated, largest kinetic energy) J."""
    start = sim.energy()
    worst, fall, most, before = 0.0, 0.0, start.kinetic, start.dissipated
    for _ in range(frames):
        sim.step()
        now = sim.energy()
        worst = max(worst, abs(now.total + now.dissipated - now.work - start.total - start.dissipated + start.work))
        fall, most, before = max(fall, before - now.dissipated), max(most, now.kinetic), now.dissipated
    return worst, fall, most


@pytest.mark.parametrize("gravity", [0.0, G])
def test_free_flight_takes_what_a_step_of_free_fall_takes(gravity):
    """Of a rigid body ½ m (g h)² in each step. Of a soft one that in the first, and half of it in all those after.

    The first step, of Backward Euler, leads g h²/2 too far; of that each later one repeats a third.
    """
    scene = turgor.Scene(gravity=(0.0, 0.0, -gravity))
    ball(scene, velocity=(1.0, 2.0, 3.0), mass=0.7, gas=False)
    scene.add_rigid_body(shapes.box((0.3, 0.3, 0.3)), name="box", at=(3, 0, 0), mass=1.3, velocity=(0, 0, 1))
    sim = simulated(scene)
    worst, _, _ = run(sim, 30)
    assert worst < 1e-11
    expected = (30 * SUBSTEPS * 0.5 * 1.3 + 0.75 * 0.7) * (gravity * H) ** 2
    assert sim.energy().dissipated == pytest.approx(expected, rel=1e-6, abs=1e-11)
    assert sim.energy().work == 0.0


@pytest.mark.parametrize("z", [0.2, 1.0, 5.0])
def test_a_breathing_circle_loses_what_the_scheme_takes(z):
    """A ring of springs that breathes is harmonic, ω² = k Σ (l/r)² / m: a step of Euler, then BDF2, of v' = -ω² x."""
    points, steps = 32, 8
    omega = z / H
    stiffness = omega**2 / (points * (2.0 * np.sin(np.pi / points)) ** 2)
    scene = turgor.Scene(dim=2, gravity=(0.0, 0.0))
    scene.add_soft_body(shapes.circle(0.5, points), name="ring", mass=1.0, springs=turgor.Springs(stiffness), gas=None)
    sim = simulated(scene, contact="none")
    sim["ring"].positions = 1.02 * np.asarray(sim["ring"].positions)
    start = sim.energy()
    for _ in range(steps // SUBSTEPS):
        sim.step()
    end = sim.energy()
    assert start.total == pytest.approx(0.5 * omega**2 * 0.01**2, rel=1e-6)
    rate, state, before = np.array([[0.0, 1.0], [-(omega**2), 0.0]]), np.array([1.0, 0.0]), None
    for _ in range(steps):
        if before is None:
            state, before = np.linalg.solve(np.eye(2) - H * rate, state), state
        else:
            there = (4.0 * state - before) / 3.0
            state, before = np.linalg.solve(np.eye(2) - 2.0 / 3.0 * H * rate, there), state
    left = state[0] ** 2 + (state[1] / omega) ** 2
    assert end.dissipated == pytest.approx(start.total * (1.0 - left), rel=5e-3)


def test_drag_takes_its_exact_part():
    """½ m v² (1 - exp(-2 c t))."""
    scene = turgor.Scene(gravity=(0.0, 0.0, 0.0))
    ball(scene, velocity=(3.0, 0.0, 0.0), drag=2.0, gas=False)
    sim = simulated(scene)
    run(sim, 30)
    expected = 0.5 * 9.0 * (1.0 - np.exp(-2.0 * 2.0 * 0.5))
    assert sim.energy().dissipated == pytest.approx(expected, rel=1e-3)


def test_what_motion_and_springs_lose_is_dissipated():
    """Of a ball that vibrates with dashpots, with the energies written down here."""
    scene = turgor.Scene(gravity=(0.0, 0.0, 0.0))
    ball(scene, stiffness=400.0, damping=0.5, gas=False)
    sim = simulated(scene, substeps=1, contact="none")
    view, shape = sim["ball"], scene["ball"].shape
    rng = np.random.default_rng(1)
    view.positions = np.asarray(view.positions) + 0.02 * rng.normal(size=(162, 3))
    i, j = np.asarray(shape.edges).T
    rest = np.linalg.norm(shape.vertices[j] - shape.vertices[i], axis=1)

    def energy():
        x, v = np.array(view.positions, float), np.array(view.velocities, float)
        longer = np.linalg.norm(x[j] - x[i], axis=1) - rest
        return 0.5 * 400.0 * np.sum(longer**2) + 0.5 * np.sum(np.asarray(view.masses)[:, None] * v**2)

    start = energy()
    for _ in range(12):
        sim.step()
        assert sim.energy().dissipated == pytest.approx(start - energy(), rel=1e-9)
    assert start - energy() > 0.5


def test_friction_takes_its_force_times_the_way():
    """A stiff sheet slides to rest on the ground: mu m g s."""
    scene = turgor.Scene()
    scene.add_ground(friction=0.3)
    sheet(scene, at=(0.0, 0.0, 1e-5), velocity=(2.0, 0.0, 0.0))
    sim = simulated(scene)
    sim.run(0.2)
    before, at = sim.energy(), float(sim["sheet"].center[0])
    sim.run(0.3)
    after, way = sim.energy(), float(sim["sheet"].center[0]) - at
    assert way > 0.2
    assert after.dissipated - before.dissipated == pytest.approx(0.3 * G * way, rel=0.03)
    sim.run(0.5)
    resting = sim.energy()
    assert resting.kinetic < 1e-3
    sim.run(0.5)
    assert sim.energy().dissipated == pytest.approx(resting.dissipated, abs=2e-3)


def test_wind_does_the_work_of_its_force():
    """A sheet square to the wind, c (wind - v) at each point: v = w (1 - exp(-a t)), a = n c/m; its work is ½ m v²."""
    scene = turgor.Scene(gravity=(0.0, 0.0, 0.0), wind=(0.0, 0.0, 3.0))
    sheet(scene, wind_drag=0.02)
    sim = simulated(scene, contact="none")
    run(sim, 60)
    work = 0.5 * (3.0 * (1.0 - np.exp(-36 * 0.02))) ** 2
    end = sim.energy()
    assert end.work == pytest.approx(work, rel=5e-3)
    assert end.dissipated == pytest.approx(0.0, abs=5e-3 * work)


def test_a_grab_does_the_work_of_its_spring():
    """½ k (d0² - d1²), less what each step takes of it."""
    scene = turgor.Scene(gravity=(0.0, 0.0, 0.0))
    ball(scene, stiffness=1e5, gas=False)
    sim = simulated(scene, substeps=32)
    target = np.array([1.5, 0.0, 0.0])
    sim.grab("ball", 0, tuple(target), stiffness=20.0, damping=0.0)
    before = np.array(sim["ball"].positions[0])
    worst, _, _ = run(sim, 12)
    after = np.array(sim["ball"].positions[0])
    work = 10.0 * (np.sum((target - before) ** 2) - np.sum((target - after) ** 2))
    assert worst < 1e-9
    assert work > 5.0
    assert sim.energy().work == pytest.approx(work, rel=0.01)


def test_a_pump_does_the_work_of_the_explicit_one():
    scene = turgor.Scene(gravity=(0.0, 0.0, 0.0))
    ball(scene, stiffness=200.0, damping=2.0, gas=turgor.Gas(nRT=60.0, ambient=40.0, inflate=0.3))
    works = {}
    for solver in ("implicit", "symplectic"):
        sim = turgor.Simulation(
            scene, device=DEVICE, solver=solver, ledger=True, precision="double", substeps=32, contact="none"
        )
        worst, _, _ = run(sim, 30)
        works[solver] = sim.energy().work
        if solver == "implicit":
            assert worst < 1e-9
    assert abs(works["symplectic"]) > 0.5
    assert works["implicit"] == pytest.approx(works["symplectic"], rel=0.02)


@pytest.mark.parametrize("kind", ["wall", "plate"])
def test_a_lift_does_the_work_of_raising(kind):
    """m g v t, all of it height; what is dissipated is what steps at rest take: nothing."""
    scene = turgor.Scene()
    if kind == "wall":
        scene.add_plane(point=(0, 0, 0), normal=(0, 0, 1), name="lift", restitution=0.0)
    else:
        scene.add_rigid_body(shapes.box((3, 3, 0.2)), name="lift", at=(0, 0, -0.1), kind="kinematic", restitution=0.0)
    ball(scene, at=(0.0, 0.0, 0.5), stiffness=1e5, damping=20.0, drag=0.0, restitution=0.0)
    sim = simulated(scene)
    sim.run(1.5)
    (sim.walls if kind == "wall" else sim.rigid_bodies)["lift"].velocity = (0, 0, 0.5)
    sim.run(1.0)
    before = sim.energy()
    sim.run(1.0)
    after = sim.energy()
    assert after.work - before.work == pytest.approx(G * 0.5, rel=0.01)
    assert after.gravity - before.gravity == pytest.approx(G * 0.5, rel=0.01)
    assert after.dissipated - before.dissipated == pytest.approx(0.0, abs=0.01 * G * 0.5)


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("stiffness", [1e2, 1e5, 1e8])
def test_what_is_dissipated_does_not_come_back(dim, stiffness):
    """A ball is thrown at the ground, bounces and rolls. Energy of vibrations swings a little in flight: by 0.5 %."""
    scene = turgor.Scene(dim=dim)
    scene.add_ground(friction=0.5)
    ball(scene, stiffness=stiffness, at=(0.0,) * (dim - 1) + (0.6,), velocity=(1.0, 0.5, -2.0)[3 - dim :])
    sim = simulated(scene)
    worst, fall, most = run(sim, 60)
    assert worst < 1e-10 * most
    assert fall < 5e-3 * most
    assert sim.energy().dissipated > 0.1 * most


def scenes_of_contact(dim, kind):
    along = (lambda x, z: (x, 0.0, z)) if dim == 3 else (lambda x, z: (x, z))
    scene = turgor.Scene(dim=dim, gravity=along(0.0, 0.0 if kind == "paddle" else -G))
    block = shapes.box((0.6, 0.6, 0.3)) if dim == 3 else shapes.polygon(4, 0.4)
    ball(scene, "low", at=along(0.0, 0.45), radius=0.4, friction=0.5)
    ball(scene, "high", at=along(0.1, 1.35), radius=0.4, velocity=along(0.0, -2.0), friction=0.5)
    if kind == "paddle":
        scene.add_rigid_body(block, name="paddle", at=along(-0.9, 0.6), velocity=along(1.0, 0.2), kind="kinematic")
    else:
        scene.add_ground(friction=0.5, restitution=0.3)
        scene.add_plane(point=along(-0.45, 0.0), normal=along(1.0, 0.0), velocity=along(0.5, 0.1))
        scene.add_rigid_body(block, name="box", at=along(0.0, 2.2), velocity=along(0.0, -2.0), mass=2.0)
    return scene


@pytest.mark.parametrize("kind", ["paddle", "heap"])
@pytest.mark.parametrize(("dim", "precision"), [(2, "single"), (3, "double")])
def test_contact_with_soft_rigid_and_driven_bodies_is_in_the_books(dim, kind, precision):
    """What the sweep displaces after the solve, in front of what hits hard, may stretch springs: no force has done it.

    So what is dissipated may fall there, by 0.7 % of the kinetic energy in a frame of this heap.
    """
    sim = simulated(scenes_of_contact(dim, kind), precision=precision)
    worst, fall, most = run(sim, 32)
    assert worst < {"single": 1e-5, "double": 1e-10}[precision] * most
    assert fall < 0.03 * most
    end = sim.energy()
    assert end.dissipated > 0.02 * most
    assert end.work > 0.02 * most


def test_the_ledger_changes_nothing_and_worlds_and_saves_keep_it(tmp_path):
    scene = scenes_of_contact(2, "heap")
    plain, sim, worlds = simulated(scene, ledger=False), simulated(scene), simulated(scene, worlds=2)
    for _ in range(8):
        plain.step(), sim.step(), worlds.step()
    assert np.array_equal(plain.positions, sim.positions)
    assert np.array_equal(plain.velocities, sim.velocities)
    sim.save(tmp_path / "state.npz")
    resumed = turgor.Simulation.load(tmp_path / "state.npz")
    for _ in range(6):
        sim.step(), worlds.step(), resumed.step()
    assert resumed.state_hash() == sim.state_hash()
    assert resumed.energy() == sim.energy()
    for name in ("dissipated", "work"):
        assert np.array_equal(getattr(worlds.energy(), name), np.full(2, getattr(sim.energy(), name)))
