"""Law 5: the breathing mode of an inflated body against the linearised frequency, isothermal and adiabatic."""

from __future__ import annotations

import numpy as np
import pytest

import reference as ref
import turgor
from support.laws import get, make, put

GAMMA = 1.4


def gas_of(law, gauge=20.0, ambient=200.0):
    return turgor.Gas.at(gauge=gauge, ambient=ambient, law=law, gamma=GAMMA)


def regular(dim):
    """Bodies whose vertices are all alike: symmetry makes the radial motion an exact mode."""
    return turgor.shapes.circle(radius=0.5, points=12) if dim == 2 else turgor.shapes.icosphere(0.5, subdivisions=0)


def measured_frequency(sim, rest, mode, periods, expected):
    """Angular frequency from the zero crossings of the mode's amplitude, cubic-free: straight lines between samples.

    A sample every 1/40 period; linear interpolation of a sine at its zeros errs in third order, < 1e-3/40² of a period.
    """
    amplitude, times = [], []
    while sim.time < periods * 2 * np.pi / expected + 1e-9:
        sim.step()
        amplitude.append(np.sum((get(sim)[0] - rest) * mode))
        times.append(sim.time)
    a, t = np.array(amplitude), np.array(times)
    s = np.flatnonzero(a[:-1] * a[1:] < 0)
    zeros = t[s] - a[s] * (t[s + 1] - t[s]) / (a[s + 1] - a[s])
    assert len(zeros) >= 4
    return np.pi * (len(zeros) - 1) / (zeros[-1] - zeros[0])


def swing(shape, law, mode_of, periods=4.0, gauge=20.0):
    """Measured and expected angular frequency of the mode that `mode_of(oracle, x)` gives at equilibrium."""
    _, oracle = make(shape, mass=2.0, stiffness=400.0, gas=gas_of(law, gauge))
    x = ref.relax(oracle, ref.scale_balance(oracle) * shape.vertices)
    squared, mode = mode_of(oracle, x)
    expected = np.sqrt(squared)
    sim, _ = make(
        shape,
        mass=2.0,
        stiffness=400.0,
        gas=gas_of(law, gauge),
        solver="rk4",
        fps=40 * expected / (2 * np.pi),
        substeps=4,
    )
    put(sim, x + 1e-4 * mode)  # amplitude 1e-4: the nonlinear shift is of its square
    return measured_frequency(sim, x, mode, periods, expected), expected, oracle, x


def closed_form(oracle, shape, x):
    """ω² M r² = d²U/ds² s² for x -> (1 + s) x, M r² = sum m |x|²: the Rayleigh quotient of the radial motion.

    Springs: sum k L². Gas of volume V = V* s^d: U'' = d(d-1)(-p) V + d² V (-V dp/dV), with -V dp/dV = P (isothermal)
    or γ P (adiabatic), p the gauge pressure.
    """
    d, V = shape.dim, ref.volume(x, shape.faces)
    i, j = shape.edges.T
    springs = oracle.stiffness * np.sum(np.linalg.norm(x[i] - x[j], axis=1) ** 2)
    factor = GAMMA if oracle.gas.law == "adiabatic" else 1.0
    gas = -d * (d - 1) * oracle.gas.gauge(V) * V + d * d * V * factor * oracle.gas.pressure(V)
    return (springs + gas) / np.sum(oracle.masses[:, None] * x**2)


def radial(x):
    return x / np.linalg.norm(x)


@pytest.mark.law(5)
@pytest.mark.req("X3", "B2")
@pytest.mark.parametrize("law", ["isothermal", "adiabatic"])
@pytest.mark.parametrize("dim", [2, 3])
def test_breathing_of_a_regular_body_is_exact(dim, law):
    shape = regular(dim)
    found, expected, *_ = swing(shape, law, lambda body, y: (closed_form(body, shape, y), radial(y)))
    print(f"\n{dim}D {law}: measured {found:.6f} rad/s, closed form {expected:.6f}")
    # rk4 with 160 steps a period: (2π/160)^4/120 = 2e-8; interpolation 1e-6
    assert found == pytest.approx(expected, rel=5e-6)


@pytest.mark.law(5)
@pytest.mark.parametrize("dim", [2, 3])
def test_isothermal_and_adiabatic_differ_by_the_known_amount(dim):
    """At equal pressure and volume, ω_a² - ω_i² = (γ - 1) d² P V / sum m r²: the gas spring is γ times as stiff."""
    shape = regular(dim)

    def mode(body, y):
        return closed_form(body, shape, y), radial(y)

    slow, _, oracle, x = swing(shape, "isothermal", mode, gauge=0.0)  # gauge 0: the rest shape, the same for both
    fast, *_ = swing(shape, "adiabatic", mode, gauge=0.0)
    V = shape.volume
    gas = dim**2 * (GAMMA - 1) * oracle.gas.pressure(V) * V / np.sum(oracle.masses[:, None] * x**2)
    assert fast**2 - slow**2 == pytest.approx(gas, rel=1e-4)


@pytest.mark.law(5)
@pytest.mark.parametrize("law", ["isothermal", "adiabatic"])
@pytest.mark.parametrize("subdivisions", [1, 2])
def test_breathing_of_an_icosphere(subdivisions, law):
    """The icosphere is not quite regular: its breathing mode is the eigenvector nearest to the radial motion."""
    shape = turgor.shapes.icosphere(0.5, subdivisions=subdivisions)

    def mode(body, y):
        squared, shapes = ref.modes(body, y)
        q = int(np.argmax(np.abs(radial(y).ravel() @ shapes)))
        assert abs(radial(y).ravel() @ shapes[:, q]) > 0.97
        return squared[q], shapes[:, q].reshape(y.shape)

    found, expected, oracle, x = swing(shape, law, mode, periods=2.5)
    uniform = np.sqrt(closed_form(oracle, shape, x))
    print(f"\nicosphere {subdivisions} {law}: measured {found:.5f}, eigenmode {expected:.5f}, uniform {uniform:.5f}")
    assert found == pytest.approx(expected, rel=2e-5)
    assert found == pytest.approx(uniform, rel=0.03)
