"""The gas laws as the scene states them: closed forms and finite differences, no simulation."""

from __future__ import annotations

import dataclasses
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turgor.errors import SceneError
from turgor.scene import ATMOSPHERE, GAS_CONSTANT, VOLUME_FLOOR, Gas

V0 = 0.52  # m³, a ball of half a metre

KINDS = {
    "moles": Gas(moles=0.02),
    "nRT": Gas(nRT=30.0),
    "nRT in air": Gas(nRT=53_000.0, ambient=ATMOSPHERE),
    "gauge": Gas.at(gauge=200.0),
    "under-pressure": Gas.at(gauge=-5_000.0),
    "absolute": Gas.at(absolute=120_000.0, temperature=350.0),
    "adiabatic": Gas.at(gauge=2_000.0, law="adiabatic"),
    "adiabatic, monatomic": Gas(nRT=30.0, law="adiabatic", gamma=5.0 / 3.0),
    "held": Gas.at(gauge=500.0, held=True),
    "held nRT": Gas(nRT=30.0, held=True),
}
every_gas = pytest.mark.parametrize("gas", KINDS.values(), ids=KINDS)


@every_gas
@pytest.mark.req("X3", "B2")
def test_ideal_gas_at_the_rest_volume(gas: Gas) -> None:
    assert gas.pressure(V0, V0) * V0 == pytest.approx(gas.nRT_at(V0), rel=1e-14)  # P V = n R T
    assert gas.moles_at(V0) * GAS_CONSTANT * gas.temperature == pytest.approx(gas.nRT_at(V0), rel=1e-14)
    assert gas.energy(V0, V0) == 0.0


@every_gas
@pytest.mark.req("X3", "D5")
@pytest.mark.law(2)
@pytest.mark.parametrize("ratio", [0.02, 0.3, 1.0, 2.5, 40.0, 0.005, -0.2])
def test_gauge_pressure_is_minus_the_slope_of_the_energy(gas: Gas, ratio: float) -> None:
    """P - P0 = -dU/dV by central differences, also below the floor and for an inverted body (V < 0)."""
    V = ratio * V0
    h = 1e-5 * abs(V)
    slope = -(gas.energy(V + h, V0) - gas.energy(V - h, V0)) / (2 * h)
    # error: h²/6 times the third derivative (relative 2e-10), and round-off of U over h
    scale = max(gas.pressure(V, V0), gas.ambient)
    assert slope == pytest.approx(gas.pressure(V, V0) - gas.ambient, abs=1e-6 * scale)


@pytest.mark.req("X3")
@pytest.mark.law(7)
@pytest.mark.parametrize("ratio", [0.05, 0.5, 3.0])
def test_boyle_and_poisson(ratio: float) -> None:
    isothermal, adiabatic = KINDS["gauge"], KINDS["adiabatic"]
    V = ratio * V0
    assert isothermal.pressure(V, V0) * V == pytest.approx(isothermal.pressure(V0, V0) * V0, rel=1e-14)
    constant = adiabatic.pressure(V0, V0) * V0**1.4
    assert adiabatic.pressure(V, V0) * V**1.4 == pytest.approx(constant, rel=1e-13)


@pytest.mark.req("C8")
def test_held_pressure_does_not_depend_on_the_volume() -> None:
    for V in (-1.0, 0.0, 0.001, V0, 9.0):
        assert KINDS["held"].pressure(V, V0) == pytest.approx(ATMOSPHERE + 500.0, rel=1e-14)


@every_gas
@pytest.mark.req("X3")
@pytest.mark.law(12)
def test_the_floor_caps_the_pressure_and_joins_without_a_jump(gas: Gas) -> None:
    floor = VOLUME_FLOOR * V0
    cap = gas.pressure(floor, V0)
    for V in (floor * (1 - 1e-12), 0.0, -V0, -1e6):
        assert gas.pressure(V, V0) == cap
        assert math.isfinite(gas.energy(V, V0))
    assert gas.pressure(floor * (1 + 1e-9), V0) == pytest.approx(cap, rel=1e-8)
    assert gas.energy(floor * (1 - 1e-9), V0) == pytest.approx(gas.energy(floor * (1 + 1e-9), V0), rel=1e-6)
    growth = 1.0 if gas.held else VOLUME_FLOOR ** -(gas.gamma if gas.law == "adiabatic" else 1.0)
    assert cap == pytest.approx(growth * gas.pressure(V0, V0))


@pytest.mark.req("X3")
def test_amounts_agree_with_each_other() -> None:
    asked = Gas.at(gauge=200.0, ambient=90_000.0, temperature=300.0)
    n = asked.moles_at(V0)
    same = [
        Gas(moles=n, temperature=300.0, ambient=90_000.0),
        Gas(nRT=n * GAS_CONSTANT * 300.0, ambient=90_000.0),
        Gas(absolute=90_200.0, ambient=90_000.0, temperature=300.0),
    ]
    for gas in same:
        assert gas.nRT_at(V0) == pytest.approx(asked.nRT_at(V0), rel=1e-14)
        assert gas.energy(0.3, V0) == pytest.approx(asked.energy(0.3, V0), rel=1e-10)


@pytest.mark.req("X3", "D5")
def test_outside_is_vacuum_for_the_papers_and_air_for_pressures() -> None:
    assert Gas(nRT=1.0).ambient == Gas(moles=1.0).ambient == 0.0
    assert Gas(gauge=1.0).ambient == Gas(absolute=1.0).ambient == Gas.at(gauge=1.0).ambient == 101_325.0


@pytest.mark.req("A2")
@pytest.mark.parametrize("gas", [Gas.at(gauge=400.0, inflate=2.0), Gas(nRT=30.0, inflate=2.0, gravity_waits=True)])
def test_inflation_is_linear_from_zero_gauge(gas: Gas) -> None:
    final = gas.pressure(V0, V0) - gas.ambient
    for time, share in ((-1.0, 0.0), (0.0, 0.0), (0.5, 0.25), (1.0, 0.5), (2.0, 1.0), (7.0, 1.0)):
        gauge = gas.pressure(V0, V0, time) - gas.ambient
        assert gauge == pytest.approx(share * final, abs=1e-9 * (gas.ambient + final))


@given(
    ratio=st.floats(1e-3, 1e3),
    nRT=st.floats(1e-3, 1e7),
    ambient=st.floats(0.0, 1e6),
    gamma=st.none() | st.floats(1.05, 3.0),
)
@settings(max_examples=100, deadline=None)
@pytest.mark.req("X3")
def test_pressure_falls_with_volume_and_energy_is_convex(
    ratio: float, nRT: float, ambient: float, gamma: float | None
) -> None:
    law = {} if gamma is None else {"law": "adiabatic", "gamma": gamma}
    gas = Gas(nRT=nRT, ambient=ambient, **law)
    V = ratio * V0
    assert gas.pressure(V, V0) >= gas.pressure(1.1 * V, V0) > 0.0
    middle, ends = gas.energy(1.5 * V, V0), 0.5 * (gas.energy(V, V0) + gas.energy(2 * V, V0))
    assert middle <= ends + 1e-12 * (abs(middle) + abs(ends) + ambient * V0 * (1 + ratio))


IMPOSSIBLE = {
    "nothing": ({}, "exactly one of moles, nRT, gauge, absolute"),
    "two amounts": ({"moles": 1.0, "nRT": 1.0}, "moles and nRT"),
    "negative moles": ({"moles": -1.0}, r"gas\.moles must be >= 0, got -1\.0"),
    "negative nRT": ({"nRT": -1}, r"gas\.nRT must be >= 0"),
    "negative absolute": ({"absolute": -1.0}, r"gas\.absolute must be >= 0"),
    "below vacuum": ({"gauge": -200.0, "ambient": 100.0}, r"gas\.gauge must be >= -ambient"),
    "absolute zero": ({"nRT": 1.0, "temperature": 0.0}, r"gas\.temperature must be > 0"),
    "negative ambient": ({"nRT": 1.0, "ambient": -1.0}, r"gas\.ambient must be >= 0"),
    "not finite": ({"nRT": math.inf}, r"gas\.nRT must be finite"),
    "not a number": ({"gauge": math.nan}, r"gas\.gauge must be finite"),
    "a string": ({"gauge": "high"}, r"gas\.gauge must be a number, got 'high'"),
    "a bool": ({"moles": True}, r"gas\.moles .* got True"),
    "unknown law": ({"nRT": 1.0, "law": "isotermal"}, "did you mean 'isothermal'"),
    "gamma of 1": ({"nRT": 1.0, "law": "adiabatic", "gamma": 1.0}, r"gas\.gamma must be > 1"),
    "unused gamma": ({"nRT": 1.0, "gamma": 1.6}, "only used with law = 'adiabatic'"),
    "unused law": ({"nRT": 1.0, "held": True, "law": "adiabatic"}, "no effect with held"),
    "held not a bool": ({"nRT": 1.0, "held": 1}, r"gas\.held must be true or false"),
    "negative time": ({"nRT": 1.0, "inflate": -1.0}, r"gas\.inflate must be >= 0"),
    "waits for nothing": ({"nRT": 1.0, "gravity_waits": True}, "needs inflate > 0"),
}


@pytest.mark.req("X3")
@pytest.mark.parametrize(("options", "message"), IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_impossible_gas(options: dict[str, object], message: str) -> None:
    with pytest.raises(SceneError, match=message):
        Gas(**options)  # type: ignore[arg-type]


def test_gas_at_needs_one_pressure() -> None:
    for options in ({}, {"gauge": 1.0, "absolute": 2.0}):
        with pytest.raises(SceneError, match="exactly one of gauge= or absolute="):
            Gas.at(**options)


def test_a_body_without_volume_cannot_hold_gas() -> None:
    with pytest.raises(SceneError, match="rest volume must be > 0"):
        Gas(gauge=1.0).nRT_at(0.0)


def test_replace_keeps_a_valid_gas() -> None:
    gas = dataclasses.replace(KINDS["gauge"], gauge=300.0)
    assert gas == Gas.at(gauge=300.0)
