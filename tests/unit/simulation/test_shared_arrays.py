"""The memory of a simulation in NumPy, PyTorch and JAX: no copies, and what is written there is what moves."""

from __future__ import annotations

import numpy as np
import pytest

import turgor
from turgor import SceneError, gallery

pytestmark = pytest.mark.req("X7")


def made(**options):
    return turgor.Simulation(gallery.load("drop"), **options)


def rise(sim, before):
    """m: how far the ball has risen in one frame."""
    return sim["ball"].center[..., 2] - before


def test_numpy_sees_positions_and_velocities_without_a_copy():
    sim = made()
    positions, velocities = np.from_dlpack(sim.arrays.positions), np.from_dlpack(sim.arrays.velocities)
    sim.step()
    arrays = sim.arrays
    assert np.allclose(sim.positions[arrays.order], positions + arrays.origin, atol=1e-6)
    assert np.array_equal(sim.velocities[arrays.order], velocities)
    assert np.abs(velocities).max() > 0.1  # views of the memory, made before the step


def test_velocities_written_into_shared_memory_move_the_body():
    """A ball in flight with dv/dt = -g - c v rises by (v + g/c) (1 - exp(-c t)) / c - g t / c.

    A leapfrog's velocity is of half a substep away, which makes (g + c v) t dt / 2. Set through its view, the same
    velocities move it the same way, bit for bit.
    """
    sim, other = made(), made()
    before = sim["ball"].center[2]
    np.asarray(sim.arrays.velocities)[:] = (0.0, 0.0, 3.0)
    sim.arrays.changed(moved=False)
    sim.step()
    time, c = 1.0 / sim.settings.fps, sim["ball"].drag
    expected = (3.0 + 9.81 / c) * (1.0 - np.exp(-c * time)) / c - 9.81 * time / c
    assert rise(sim, before) == pytest.approx(expected, abs=0.55 * (9.81 + c * 3.0) * time * sim.dt)
    for body in other.bodies.values():
        body.velocities = (0.0, 0.0, 3.0)
    other.step()
    assert sim.state_hash() == other.state_hash()


def test_assigned_positions_are_those_of_the_vertices():
    sim = made()
    wanted = sim.positions + np.array([0.5, 0.0, 1.0])
    sim.arrays.positions = (wanted - sim.arrays.origin)[sim.arrays.order]
    assert np.allclose(sim.positions, wanted, atol=1e-6)


def test_forces_agree_and_worlds_are_the_leading_axis():
    sim = made(worlds=2)
    arrays = sim.arrays
    assert tuple(arrays.velocities.shape) == (2, sim.vertices, 3)
    assert np.array_equal(np.from_dlpack(arrays.forces), sim.forces()[:, arrays.order])
    np.asarray(arrays.velocities)[1] = (1.0, 0.0, 0.0)
    arrays.changed(moved=False)
    assert np.allclose(sim["ball"].momentum, np.array([[0.0, 0, 0], [1, 0, 0]]) * np.atleast_1d(sim["ball"].mass)[0])


@pytest.mark.parametrize(
    ("value", "says"),
    [(np.zeros((3, 3)), "must have shape"), (np.nan, "must have shape"), ("fast", "must be an array of numbers")],
)
def test_what_does_not_fit_is_refused(value, says):
    with pytest.raises(SceneError, match=says):
        made().arrays.velocities = value


def test_numbers_that_are_not_finite_are_refused():
    sim = made()
    np.asarray(sim.arrays.velocities)[0, 0] = np.nan
    with pytest.raises(SceneError, match="not finite"):
        sim.arrays.changed()


def test_torch_shares_the_memory():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    sim = made()
    before = sim["ball"].center[2]
    velocities = torch.from_dlpack(sim.arrays.velocities)
    velocities[:, 2] = 3.0
    sim.arrays.changed(moved=False)
    sim.step()
    assert rise(sim, before) == pytest.approx(3.0 / sim.settings.fps, rel=0.05)
    assert np.array_equal(velocities.numpy(), np.from_dlpack(sim.arrays.velocities))
    sim.arrays.velocities = torch.zeros_like(velocities)
    assert not velocities.any()


def test_jax_reads_the_memory_and_its_arrays_can_be_assigned():
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    sim = made()
    velocities = jax.dlpack.from_dlpack(sim.arrays.velocities)
    sim.arrays.velocities = velocities + jax.numpy.array([0.0, 0.0, 3.0], velocities.dtype)
    assert np.allclose(sim["ball"].momentum, [0.0, 0.0, 3.0 * sim["ball"].mass], atol=1e-5)
