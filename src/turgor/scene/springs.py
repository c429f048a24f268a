"""Springs along the edges of a body, and the damping that Martin 2009 ties to their stiffness."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from turgor.scene.described import described
from turgor.scene.validate import number, put

__all__ = ["Springs", "VelocityDamping"]


@described
@dataclass(frozen=True)
class Springs:
    """Hooke springs, each with a dashpot along it."""

    stiffness: Annotated[float, "N/m", "force per stretch"] = 100.0
    damping: Annotated[float, "N s/m", "force per speed of stretching"] = 0.0

    def __post_init__(self) -> None:
        put(
            self,
            stiffness=number("springs.stiffness", self.stiffness, low=0.0),
            damping=number("springs.damping", self.damping, low=0.0),
        )


@described
@dataclass(frozen=True)
class VelocityDamping:
    """Martin 2009's damping: velocities lose the fraction rho = base + (1 - base) k / k_max per 1/rate seconds."""

    base: Annotated[float, "", "rho at zero stiffness, 0 <= base < 1"] = 0.01
    stiffness_max: Annotated[float, "N/m", "k_max, at which rho = 1"] = 400.0
    rate: Annotated[float, "1/s", "rho is applied once per 1/rate seconds, whatever the substep"] = 60.0

    def __post_init__(self) -> None:
        put(
            self,
            base=number("velocity_damping.base", self.base, low=0.0, below=1.0),
            stiffness_max=number("velocity_damping.stiffness_max", self.stiffness_max, above=0.0),
            rate=number("velocity_damping.rate", self.rate, above=0.0),
        )

    def fraction(self, stiffness: float) -> float:
        """rho for springs of this stiffness (N/m)."""
        return self.base + (1.0 - self.base) * stiffness / self.stiffness_max
