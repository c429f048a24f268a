"""The gas inside a soft body: how much there is, and its pressure and energy at a given volume.

In 2D "volume" is the enclosed area (m²) and pressure is force per length (N/m); the laws are the same.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Literal, TypedDict, Unpack, get_args

from turgor.errors import SceneError
from turgor.scene.described import described
from turgor.scene.validate import choice, flag, number, put

__all__ = ["ATMOSPHERE", "GAS_CONSTANT", "VOLUME_FLOOR", "Gas", "GasLaw", "GasOptions", "PressureAt"]

GAS_CONSTANT = 8.314462618  # J/(mol K), CODATA 2018 (exact since the 2019 SI)
ATMOSPHERE = 101_325.0  # Pa, the standard atmosphere

# Fraction of the rest volume below which the pressure stays at its value there. P = nRT/V has no bound as V -> 0 and
# changes sign when a body inverts; the floor caps it at 100 times (isothermal) or 100^gamma times the rest pressure,
# so that a crushed or inverted body is still pushed outwards, by a force a step can follow.
VOLUME_FLOOR = 0.01

GasLaw = Literal["isothermal", "adiabatic"]
PressureAt = Literal["rest", "equilibrium"]
AMOUNTS = ("moles", "nRT", "gauge", "absolute")


class GasOptions(TypedDict, total=False):
    """What `Gas.at` takes beside pressures and temperature; the fields of `Gas`."""

    law: GasLaw | str
    gamma: float
    held: bool
    inflate: float
    gravity_waits: bool
    pressure_at: PressureAt | str


@described
@dataclass(frozen=True, kw_only=True)
class Gas:
    """An ideal gas. Its amount is given in exactly one of four ways: `moles`, `nRT`, `gauge` or `absolute`."""

    moles: Annotated[float | None, "mol", "the amount"] = None
    nRT: Annotated[float | None, "J", "the amount as the lumped number of the papers"] = None  # noqa: N815
    gauge: Annotated[float | None, "Pa", "above ambient, where `pressure_at` says (2D: N/m)"] = None
    absolute: Annotated[float | None, "Pa", "where `pressure_at` says (2D: N/m)"] = None
    temperature: Annotated[float, "K", "at the rest volume"] = 293.15
    ambient: Annotated[float, "Pa", "outside; left out: 0 for moles and nRT (as in the papers), else 101325"] = None  # type: ignore[assignment]
    law: Annotated[str, "", '"isothermal": P V is constant; "adiabatic": P V^gamma is'] = "isothermal"
    gamma: Annotated[float, "", "heat capacity ratio; adiabatic only"] = 1.4
    held: Annotated[bool, "", "whether a pump holds the pressure; else the amount of gas is held"] = False
    inflate: Annotated[float, "s", "over which gas is pumped in, from zero gauge pressure to the full amount"] = 0.0
    gravity_waits: Annotated[bool, "", "gravity acts on the body only once it is fully inflated"] = False
    pressure_at: Annotated[str, "", 'gauge or absolute is that at "rest" volume, or in "equilibrium" with the skin'] = (
        "rest"
    )

    @classmethod
    def at(
        cls,
        *,
        gauge: float | None = None,
        absolute: float | None = None,
        ambient: float = ATMOSPHERE,
        temperature: float = 293.15,
        **options: Unpack[GasOptions],
    ) -> Gas:
        """The gas that has this pressure at the body's rest volume, or (`pressure_at`) once its skin holds it.

        gauge: Pa above ambient, or absolute: Pa; one of the two. ambient: Pa outside. temperature: K.
        law, gamma, held (no units), inflate (s), gravity_waits and pressure_at (no units) are those of `Gas`.
        """
        if (gauge is None) == (absolute is None):
            raise SceneError("gas: Gas.at needs exactly one of gauge= or absolute=")
        return cls(gauge=gauge, absolute=absolute, ambient=ambient, temperature=temperature, **options)

    def __post_init__(self) -> None:
        given = [name for name in AMOUNTS if getattr(self, name) is not None]
        if len(given) != 1:
            raise SceneError(
                f"gas needs exactly one of {', '.join(AMOUNTS)}, got {' and '.join(given) or 'none of them'}; "
                "to change which one, give the whole gas again"
            )
        ambient = self.ambient
        if ambient is None:
            ambient = 0.0 if given[0] in ("moles", "nRT") else ATMOSPHERE
        put(
            self,
            temperature=number("gas.temperature", self.temperature, above=0.0),
            ambient=number("gas.ambient", ambient, low=0.0),
            law=choice("gas.law", self.law, get_args(GasLaw)),
            gamma=number("gas.gamma", self.gamma, above=1.0),
            held=flag("gas.held", self.held),
            inflate=number("gas.inflate", self.inflate, low=0.0),
            gravity_waits=flag("gas.gravity_waits", self.gravity_waits),
            pressure_at=choice("gas.pressure_at", self.pressure_at, get_args(PressureAt)),
        )
        amount = number(f"gas.{given[0]}", getattr(self, given[0]), low=None if given[0] == "gauge" else 0.0)
        if given[0] == "gauge" and amount < -self.ambient:
            raise SceneError(
                f"gas.gauge must be >= -ambient (vacuum inside; ambient is {self.ambient!r} Pa), got {amount!r}"
            )
        put(self, **{given[0]: amount})
        if self.law == "isothermal" and self.gamma != 1.4:
            raise SceneError("gas.gamma is only used with law = 'adiabatic'; set the law or leave gamma out")
        if self.held and self.law != "isothermal":
            raise SceneError("gas.law has no effect with held = true (a pump holds the pressure); leave one out")
        if self.pressure_at == "equilibrium" and (self.held or given[0] not in ("gauge", "absolute")):
            reason = "a pump holds the pressure" if self.held else f"{given[0]} is an amount, not a pressure"
            raise SceneError(f"gas.pressure_at has no effect here ({reason}): leave it out, or give gauge or absolute")
        if self.gravity_waits and self.inflate == 0.0:
            raise SceneError("gas.gravity_waits needs inflate > 0: gravity waits until the body is fully inflated")

    @property
    def entered_gauge(self) -> float | None:
        """Pa above ambient, as it was entered; None where the amount was entered instead."""
        return self.gauge if self.absolute is None else self.absolute - self.ambient

    def nRT_at(self, rest_volume: float, time: float = math.inf) -> float:  # noqa: N802
        """n R T in joules such that P V = n R T at the rest volume (m³, or m² in 2D).

        With `pressure_at` = "equilibrium" the simulation knows the amount (`sim[name].nRT`): it depends on the skin.
        While the body inflates (time < `inflate`, s) it grows linearly from ambient * rest_volume (zero gauge).
        """
        volume = number("rest volume", rest_volume, above=0.0)
        if self.moles is not None:
            full = self.moles * GAS_CONSTANT * self.temperature
        elif self.nRT is not None:
            full = self.nRT
        elif self.gauge is not None:
            full = (self.ambient + self.gauge) * volume
        else:
            full = (self.absolute or 0.0) * volume
        if time >= self.inflate:
            return full
        start = self.ambient * volume
        return start + (full - start) * max(time, 0.0) / self.inflate

    def moles_at(self, rest_volume: float) -> float:
        """Amount of gas in mol (once inflated) for a body of this rest volume."""
        return self.nRT_at(rest_volume) / (GAS_CONSTANT * self.temperature)

    def pressure(self, volume: float, rest_volume: float, time: float = math.inf) -> float:
        """Absolute pressure in Pa at `volume`; constant below VOLUME_FLOOR of the rest volume."""
        at_rest = self.nRT_at(rest_volume, time) / rest_volume
        if self.held:
            return at_rest
        compression = rest_volume / max(volume, VOLUME_FLOOR * rest_volume)
        return at_rest * (compression if self.law == "isothermal" else float(compression**self.gamma))

    def energy(self, volume: float, rest_volume: float, time: float = math.inf) -> float:
        """Potential energy U in J of gas and ambient, zero at the rest volume; -dU/dV is the gauge pressure.

        isothermal  U = -nRT ln(V/V0) + P0 (V - V0)
        adiabatic   U = nRT/(gamma-1) ((V0/V)^(gamma-1) - 1) + P0 (V - V0)
        held        U = -(P - P0) (V - V0)
        Below the volume floor the pressure is constant and U goes on linearly.
        """
        nRT = self.nRT_at(rest_volume, time)
        outside = self.ambient * (volume - rest_volume)
        if self.held:
            return outside - nRT / rest_volume * (volume - rest_volume)
        reached = max(volume, VOLUME_FLOOR * rest_volume)
        if self.law == "isothermal":
            inside = -nRT * math.log(reached / rest_volume)
        else:
            inside = nRT / (self.gamma - 1.0) * (float((rest_volume / reached) ** (self.gamma - 1.0)) - 1.0)
        below_floor = self.pressure(reached, rest_volume, time) * (reached - volume)
        return inside + below_floor + outside
