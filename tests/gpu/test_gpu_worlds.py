"""On a GPU: single worlds of a batch, and bodies that sleep."""

import sys

import numpy as np

import turgor
from support.plain_checks import run_checks, title
from turgor import Gas, Simulation, Springs, UnstableError, shapes
from turgor.simulation.step import measures

try:
    import pytest
except ImportError:  # as a plain script
    pytest = None


def balls(apart=0.61):
    scene = turgor.Scene()
    scene.add_ground(friction=0.5)
    for number in range(3):
        scene.add_soft_body(
            shapes.icosphere(0.3, 2), name=f"ball {number}", at=(0.1 * number, 0, 0.32 + apart * number), mass=0.5,
            springs=Springs(stiffness=150.0, damping=0.3), gas=Gas.at(gauge=100.0),
        )  # fmt: skip
    return scene


def motion(sim, world):
    arrays = [sim.state.x, sim.state.v, sim.state.rigid.x, sim.state.rigid.q, sim.state.rigid.v]
    return b"".join(a.numpy().reshape(sim.worlds, -1)[world].tobytes() for a in arrays if len(a))


def stepped(sim, frames):
    for _ in range(frames):
        sim.step()
    return sim


def check_restart(name):
    """A world that is restarted runs as at first, and the others as ever, bit for bit."""
    scene = balls() if name == "balls" else turgor.gallery.load(name)
    sims = [Simulation(scene, "cuda", worlds=3, substeps=16) for _ in range(2)]
    stepped(sims[0], 8)
    first = motion(sims[0], 0)
    sims[0].restart([1])
    stepped(sims[0], 8)
    stepped(sims[1], 16)
    assert motion(sims[0], 1) == first
    assert motion(sims[0], 0) == motion(sims[1], 0) == motion(sims[0], 2) != first


def check_failure():
    """A world that fails is named; the others do not notice."""
    sims = [Simulation(balls(), "cuda", worlds=3, substeps=16) for _ in range(2)]
    for sim in sims:
        sim.gravity = np.outer([1.0, 1.1, 0.9], sim.gravity[0])
        stepped(sim, 4)
    stiffness = np.array(sims[0]["ball 0"].stiffness)
    sims[0]["ball 0"].stiffness = stiffness * np.array([1.0, 1e7, 1.0])
    sims[1]["ball 0"].stiffness = stiffness
    failed = ()
    while sims[0].frame_index < 40:
        try:
            sims[0].step()
        except UnstableError as failure:
            failed = failure.worlds
            sims[0].copy_world(0, failed)
    assert failed == (1,)
    stepped(sims[1], 36)
    assert sims[0].positions.shape == sims[1].positions.shape  # both have looked
    assert sims[0].frame_index == sims[1].frame_index
    for world in (0, 2):
        assert motion(sims[0], world) == motion(sims[1], world)


def check_sums(precision):
    """Mass, centre, momentum and height of bodies of one block and of several, as the host finds them."""
    scene = balls(apart=0.8)
    large = shapes.icosphere(0.5, 4)
    scene.add_soft_body(large, name="large", at=(2, 0, 1), velocity=(1, 0, -3), gas=Gas.at(gauge=9.0))
    sim = Simulation(scene, "cuda", worlds=3, precision=precision)
    sim.gravity = np.outer([1.0, 1.1, 0.9], sim.gravity[0])
    stepped(sim, 5)
    for name in ("ball 1", "large"):
        view = sim[name]
        mass, x, v = view.masses[..., None], view.positions, view.velocities
        assert np.allclose(view.mass, mass.sum(axis=(1, 2)), rtol=1e-13)
        assert np.allclose(view.center, (mass * x).sum(axis=1) / mass.sum(axis=1), rtol=1e-12, atol=1e-14)
        assert np.allclose(view.momentum, (mass * v).sum(axis=1), rtol=1e-12, atol=1e-14)
        assert np.array_equal(view.lowest, x[..., 2].min(axis=1))
        assert np.array_equal(view.highest, x[..., 2].max(axis=1))
        assert np.array_equal(view.center, view.center)


def check_energy(precision):
    """Sums for the energy of bodies of one block and of several, as the host finds them; with the power of forces."""
    scene = balls(apart=0.8)
    large = shapes.icosphere(0.5, 4)
    springs = Springs(stiffness=90.0)
    scene.add_soft_body(large, name="large", at=(2, 0, 1), velocity=(1, 0, -3), springs=springs, gas=Gas.at(gauge=9.0))
    sim = Simulation(scene, "cuda", worlds=3, precision=precision, substeps=16)
    sim.gravity = np.outer([1.0, 1.1, 0.9], sim.gravity[0])
    stepped(sim, 5)
    model = sim.model
    x, v = (array.numpy().reshape(3, -1, 3).astype(np.float64) for array in (sim.state.x, sim.state.v))
    mass = model.mass.numpy().reshape(3, -1, 1).astype(np.float64)
    i, j = model.springs.numpy()[: len(model.springs) // 3].T
    k = model.stiffness.numpy().reshape(3, -1)[:, model.body_host[i]].astype(np.float64)
    longer = np.linalg.norm(x[:, j] - x[:, i], axis=2) - model.rest.numpy()[: len(i)].astype(np.float64)
    sim.measure()
    sums = measures.world_sums(sim.engine, sim._force_array)
    assert np.allclose(sums.mass, mass.sum(axis=(1, 2)), rtol=1e-12)
    assert np.allclose(sums.moment, (mass * x).sum(axis=1), rtol=1e-12, atol=1e-12)
    assert np.allclose(sums.kinetic, 0.5 * (mass * v * v).sum(axis=(1, 2)), rtol=1e-12)
    assert np.allclose(sums.springs, 0.5 * (k * longer**2).sum(axis=1), rtol=1e-12)
    power = (sim._force_array.numpy().reshape(3, -1, 3).astype(np.float64) * v).sum(axis=(1, 2))
    assert np.allclose(sums.power, power, rtol=1e-10)
    assert np.array_equal(sim.energy().total, sim.energy().total)


def check_sleep():
    """Two balls and a box far apart fall asleep, and a grab wakes one."""
    scene = turgor.Scene()
    scene.add_ground(friction=0.6)
    for name, x in (("left", -2.0), ("right", 2.0)):
        scene.add_soft_body(
            shapes.icosphere(0.3, 1), name=name, at=(x, 0, 0.31), mass=0.5, drag=2.0, gas=Gas.at(gauge=150.0),
            springs=Springs(stiffness=300.0, damping=1.0),
        )  # fmt: skip
    scene.add_rigid_body(shapes.box((0.4, 0.4, 0.4)), name="box", at=(0, 3, 0.2), mass=1.0)
    sim = Simulation(scene, "cuda", sleeping=True)
    for _ in range(900):
        sim.step()
        if all(sim[name].asleep for name in sim.names):
            break
    assert all(sim[name].asleep for name in sim.names)
    before = sim.positions
    stepped(sim, 10)
    assert np.array_equal(sim.positions, before)
    sim.grab("left", 0, (-2.0, 0.0, 1.5), stiffness=100.0)
    stepped(sim, 60)
    assert [name for name in sim.names if sim[name].asleep] == ["right", "box"]
    assert sim["left"].center[2] > 0.5


CHECKS = [(check_restart, "balls"), (check_restart, "pile"), (check_failure,), (check_sleep,)]
CHECKS += [(check, precision) for check in (check_sums, check_energy) for precision in ("single", "double")]

if pytest is not None:

    @pytest.mark.gpu
    @pytest.mark.parametrize("check", CHECKS, ids=[title(*check) for check in CHECKS])
    def test_gpu_worlds(check):
        function, *arguments = check
        function(*arguments)


if __name__ == "__main__":
    sys.exit(run_checks(CHECKS))
