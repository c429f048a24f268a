"""Law 2: forces are minus the gradient of the energy, and all force laws together agree with the oracle."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import reference as ref
import turgor
from support.laws import DEVICE, disturbed, get, make, put, shape_of

GASES = {
    "isothermal": turgor.Gas(nRT=20.0, ambient=8.0),
    "adiabatic": turgor.Gas(nRT=20.0, ambient=8.0, law="adiabatic", gamma=1.4),
    "held": turgor.Gas.at(gauge=30.0, ambient=8.0, held=True),
    "air": turgor.Gas.at(gauge=200.0, ambient=101_325.0, temperature=293.15),
}


@pytest.mark.law(2)
@pytest.mark.req("B2", "D5", "X3", "C8")
@pytest.mark.parametrize("law", GASES)
@pytest.mark.parametrize("name", ["circle", "star", "icosphere", "torus"])
@pytest.mark.parametrize("share", [1.0, 0.05], ids=["rest", "small"])
def test_force_is_minus_the_energy_gradient(name, law, share):
    """Central differences of the engine's own energy along random directions, in double precision."""
    shape = shape_of(name)
    scale = share ** (1 / shape.dim)
    sim, oracle = make(shape, gas=GASES[law], stiffness=0.0 if law == "air" else 80.0)
    x = scale * disturbed(shape)
    put(sim, x)
    f = np.array(sim["body"].forces)
    np.testing.assert_allclose(f, oracle.forces(x), rtol=1e-9, atol=1e-9 * np.abs(f).max())
    rng, h = np.random.default_rng(4), 1e-5 * scale
    for _ in range(4):
        d = rng.normal(size=x.shape)
        energies = []
        for sign in (1, -1):
            sim["body"].positions = x + sign * h * d
            energy = sim.energy()
            energies.append(energy.gas + energy.elastic)
        slope = (energies[0] - energies[1]) / (2 * h)
        # error: h² U''' /6 of relative size (h/r)² = 4e-10, and round-off 1e-16 U / h
        scale_of_slope = np.abs(f * d).sum()
        assert -slope == pytest.approx(np.sum(f * d), abs=1e-6 * scale_of_slope)


@pytest.mark.law(2)
@pytest.mark.req("X3")
@pytest.mark.parametrize("law", GASES)
@pytest.mark.parametrize("name", ["circle", "icosphere"])
def test_pressure_of_the_gas_laws(name, law):
    shape = shape_of(name)
    sim, oracle = make(shape, gas=GASES[law])
    for scale in (1.0, 0.8, 1.3):
        put(sim, scale * shape.vertices)
        V = shape.volume * scale**shape.dim
        assert sim["body"].volume == pytest.approx(V, rel=1e-12)
        assert sim["body"].pressure == pytest.approx(oracle.gas.pressure(V), rel=1e-12)


@pytest.mark.law(2)
def test_moles_and_kelvin():
    shape = shape_of("icosphere")
    sim, _ = make(shape, gas=turgor.Gas(moles=2.0, temperature=300.0))
    assert sim["body"].pressure == pytest.approx(2.0 * 8.314462618 * 300.0 / shape.volume, rel=1e-12)


@pytest.mark.law(2)
@pytest.mark.req("A3", "B1", "B4", "C7", "D3", "D5")
@pytest.mark.parametrize(("precision", "rtol"), [("double", 1e-11), ("single", 3e-5)])
@pytest.mark.parametrize("assembly", ["scatter", "gather"])
@pytest.mark.parametrize("pressure_force", ["gradient", "vertex-normals", "vertex-normals-divided"])
@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("name", ["circle", "star", "icosphere", "box"])
def test_all_laws_against_the_oracle(name, scaled, pressure_force, assembly, precision, rtol):
    """Springs, dashpots, gas, hinges, drag, wind and gravity at random states; single: a few hundred roundings."""
    shape = shape_of(name)
    sim, oracle = make(
        shape,
        mass=2.0,
        stiffness=120.0,
        damping=0.7,
        gas=turgor.Gas(nRT=15.0, ambient=5.0, law="adiabatic"),
        gravity=9.81,
        wind=(1.0, -2.0, 0.5)[: shape.dim],
        precision=precision,
        assembly=assembly,
        bending=0.2,
        drag=0.4,
        wind_drag=0.3 if pressure_force == "gradient" else 0.0,
        pressure_force=pressure_force,
        pressure_scaling=scaled,
    )
    for seed in (5, 6):
        rng = np.random.default_rng(seed)
        put(sim, disturbed(shape, 0.02, seed), rng.normal(size=shape.vertices.shape))
        x, v = get(sim)
        expected = oracle.forces(x, v)
        np.testing.assert_allclose(sim["body"].forces, expected, rtol=0, atol=rtol * np.abs(expected).max())
        np.testing.assert_allclose(sim.forces(), sim["body"].forces)


@pytest.mark.law(2)
@pytest.mark.req("D3")
@pytest.mark.parametrize("pressure_force", ["gradient", "vertex-normals"])
@pytest.mark.parametrize("name", ["circle", "icosphere"])
def test_wind_does_not_depend_on_how_pressure_is_shared(name, pressure_force):
    """The point normal of the wind is the area-weighted one, whichever normal the pressure uses."""
    shape = shape_of(name)
    wind = (1.0, -2.0, 0.5)[: shape.dim]
    options = {"stiffness": 0.0, "gas": turgor.Gas(nRT=15.0), "pressure_force": pressure_force, "wind": wind}
    sim, oracle = make(shape, wind_drag=0.3, **options)
    put(sim, disturbed(shape), np.random.default_rng(5).normal(size=shape.vertices.shape))
    expected = oracle.forces(*get(sim))
    np.testing.assert_allclose(sim["body"].forces, expected, rtol=0, atol=1e-11 * np.abs(expected).max())


@pytest.mark.law(2)
@pytest.mark.req("D2", "D3")
@pytest.mark.parametrize(("precision", "rtol"), [("double", 1e-11), ("single", 3e-5)])
def test_cloth_against_the_oracle(precision, rtol):
    """An open sheet: springs along rows, columns and both diagonals, hinges inside, wind, drag and gravity."""
    sheet = turgor.shapes.sheet(size=(1.0, 0.8), resolution=(6, 5))
    edges = np.concatenate([sheet.edges, sheet.extra_springs])
    assert len(edges) == 5 * 5 + 6 * 4 + 2 * 5 * 4
    wind, down = np.array([1.0, 0.4, -0.3]), np.array([0.0, 0.0, -9.81])
    scene = turgor.Scene(gravity=tuple(down), wind=tuple(wind))
    springs = turgor.Springs(stiffness=80.0, damping=0.3)
    scene.add_cloth(sheet, name="body", mass=0.3, springs=springs, bending=0.02, drag=0.5, wind_drag=0.1)
    sim = turgor.Simulation(scene, device=DEVICE, contact="none", precision=precision, substeps=10)
    oracle = ref.Body(
        sheet.vertices, sheet.faces, edges, 0.3, 80.0, 0.3, None, 0.02, 0.5, down, wind, wind_coefficient=0.1
    )
    put(sim, disturbed(sheet, 0.03), np.random.default_rng(5).normal(size=sheet.vertices.shape))
    expected = oracle.forces(*get(sim))
    np.testing.assert_allclose(sim["body"].forces, expected, rtol=0, atol=rtol * np.abs(expected).max())


@pytest.mark.law(2)
@pytest.mark.req("A3")
@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("name", ["circle", "icosphere"])
def test_coincident_ends_give_no_force(name, precision):
    shape = shape_of(name)
    sim, oracle = make(shape, damping=1.0, precision=precision)
    x = shape.vertices.copy()
    a, b = shape.edges[0]
    x[b] = x[a]
    put(sim, x, x.copy())
    x, v = get(sim)
    expected = oracle.forces(x, v)
    tolerance = 1e-4 if precision == "single" else 1e-10
    np.testing.assert_allclose(sim["body"].forces, expected, rtol=0, atol=tolerance * np.abs(expected).max())


@pytest.mark.law(2)
@pytest.mark.req("D8")
@pytest.mark.parametrize("name", ["circle", "icosphere"])
def test_parameters_change_live(name):
    """Every parameter that can be set while it runs acts on the next forces."""
    shape = shape_of(name)
    sim, oracle = make(shape, stiffness=120.0, damping=0.7, drag=0.4, gas=turgor.Gas(nRT=15.0, ambient=5.0))
    x, v = disturbed(shape), np.random.default_rng(5).normal(size=shape.vertices.shape)
    put(sim, x, v)
    body = sim["body"]
    for key, value in {"stiffness": 90.0, "damping": 1.5, "drag": 2.0, "nRT": 22.0}.items():
        before = np.array(body.forces)
        setattr(body, key, value)
        assert getattr(body, key) == pytest.approx(value)
        if key == "nRT":
            oracle.gas = replace(oracle.gas, nRT=value)
            assert body.pressure * body.volume == pytest.approx(value)
        else:
            setattr(oracle, key, value)
        expected = oracle.forces(x, v)
        np.testing.assert_allclose(body.forces, expected, atol=1e-10 * np.abs(expected).max())
        assert np.abs(before - expected).max() > 1e-3
