"""Law 7: squeezed between two plates, P V stays constant (isothermal) or P V^γ does (adiabatic)."""

from __future__ import annotations

import numpy as np
import pytest

import reference as ref
import turgor
from support.laws import PRECISIONS, frames, get, make, shape_of

SPEED = 0.2  # m/s of each plate; the slowest wave crosses the body in a tenth of the time


def plates(scene):
    for side in (-1.0, 1.0):
        axis = np.zeros(scene.dim)
        axis[-1] = side
        scene.add_plane(
            point=tuple(0.52 * axis), normal=tuple(-axis), velocity=tuple(-SPEED * axis), friction=0.0, restitution=0.0
        )


@pytest.mark.law(7)
@pytest.mark.req("B2", "X3")
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("law", ["isothermal", "adiabatic"])
@pytest.mark.parametrize("name", ["circle", "icosphere"])
def test_squeeze(name, law, precision):
    shape = shape_of(name)
    gas = turgor.Gas(nRT=25.0, ambient=15.0, law=law, gamma=1.4)
    sim, oracle = make(
        shape, mass=1.0, stiffness=200.0, gas=gas, drag=10.0, walls=plates, fps=30, substeps=60, precision=precision
    )
    power = 1.4 if law == "adiabatic" else 1.0
    constant = 25.0 / shape.volume * shape.volume**power
    volumes = []
    for _ in range(9):
        frames(sim, 4)
        body = sim["body"]
        x, v = get(sim)
        # the gas property by itself, with the volume measured apart ...
        V = ref.volume(x, shape.faces)
        assert body.volume == pytest.approx(V, rel=1e-5)
        assert body.pressure * V**power == pytest.approx(constant, rel=1e-4)
        # ... and the pressure that the forces really contain: what is left of them once springs and drag are taken
        # away is gauge × dV/dx
        left = np.array(body.forces, float) - (oracle.forces(x, v) - oracle.pressure_forces(x))
        g = ref.volume_gradient(x, shape.faces)
        gauge = np.sum(left * g) / np.sum(g * g)
        assert (gauge + 15.0) * V**power == pytest.approx(constant, rel=1e-4)
        volumes.append(V)
    assert min(volumes) < 0.9 * max(volumes)  # it was really squeezed
    height = np.ptp(get(sim)[0][:, -1])
    assert height == pytest.approx(1.04 - 2 * SPEED * sim.time, abs=2e-3)


@pytest.mark.law(7)
@pytest.mark.parametrize("name", ["circle", "icosphere"])
def test_squeezed_body_is_in_balance(name):
    """Where no plate touches it, the squeezed body is in balance: tension of the springs against the pressure."""
    shape = shape_of(name)
    sim, oracle = make(shape, stiffness=200.0, gas=turgor.Gas(nRT=25.0), drag=30.0, walls=plates, fps=30, substeps=60)
    frames(sim, 30)
    x, _ = get(sim)
    half = 0.52 - SPEED * sim.time
    free = np.abs(x[:, -1]) < half - 1e-3
    assert 4 <= free.sum() < len(x)
    force = oracle.forces(x)  # without drag
    # the body follows with speeds up to the plates': drag c m v is what unbalances it
    bound = 30.0 * oracle.masses[0] * 4 * SPEED
    assert np.abs(force[free]).max() < bound
    assert np.abs(force[~free]).max() > 2 * bound  # the plates carry the rest
