"""A ready-made material: the skin, how far it is blown up, and its surface."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

from turgor.scene.described import described
from turgor.scene.gas import Gas
from turgor.scene.material import Membrane
from turgor.shapes.shape import Shape

__all__ = ["LARGEST_STRAIN", "SUPPORT", "Preset"]

EARTH = 9.81  # m/s²: toys are blown up for the Earth
# Gauge pressure in units of the weight of a square metre of skin. A ball of radius r lies on the patch that carries its
# weight, p π a² = 4 π r² ρ h g; with p = S ρ h g its radius is a = 2 r / √S: 0.4 r for S = 25, which flattens the ball
# by r - √(r² - a²), 4 % of its diameter.
SUPPORT = 25.0
# The most that a skin is stretched for it: a neo-Hookean ball then has half the pressure at which it gives way
# (p d/(E h) = 8 strain, and 0.826 at its maximum). What is too large and soft for that sags.
LARGEST_STRAIN = 0.05


@described
@dataclass(frozen=True, kw_only=True)
class Preset:
    """A material by name: `add_soft_body(shape, material="rubber")`, or `material=turgor.materials.rubber`.

    The gauge pressure of a body is chosen from its size, so that any shape keeps its form: as much as stretches the
    skin by `strain` (Laplace), or as carries its own weight if that is more, and never above `gauge`. It is the one
    that a gauge shows once the body is blown up (`pressure_at="equilibrium"`): any flat or hollow part gives way a
    little, and by as little as 0.1 % of volume the gas of a 100 Pa gauge at rest volume has lost it.
    """

    name: Annotated[str, "", "in `turgor.materials`"]
    about: Annotated[str, "", "what it is"]
    membrane: Annotated[Membrane, "Pa, m", "the skin"]
    gauge: Annotated[float | None, "Pa", "to which the real thing is blown up; None: it holds no gas"] = None
    strain: Annotated[float, "", "of the skin of a ball that the gas may cause"] = 0.01
    friction: Annotated[float | None, "", "Coulomb coefficient"] = None
    restitution: Annotated[float | None, "", "of the contact alone: skin and gas make a body bounce"] = 0.0
    drag_coefficient: Annotated[float, "", "C of the air; 0.7 gives a ball C_d = 0.47"] = 0.7

    def gas(self, shape: Shape) -> Gas | None:
        """What a body of this shape is filled with."""
        return None if self.gauge is None else Gas.at(gauge=self.gauge_of(shape), pressure_at="equilibrium")

    def gauge_of(self, shape: Shape) -> float:
        """Pa: the gauge pressure to which a body of this shape is blown up; 0 for what holds no gas."""
        if self.gauge is None:
            return 0.0
        weight = SUPPORT * self.membrane.density * self.membrane.thickness * EARTH
        carrying = min(weight, self._stretching(shape, LARGEST_STRAIN))
        return min(self.gauge, max(self._stretching(shape, self.strain), carrying))

    def _stretching(self, shape: Shape, strain: float) -> float:
        """Pa: what stretches a ball of the same volume (2D: a disc of the same area) by `strain`.

        With its diameter d, a skin of E, ν, h has the tension p d/4 in all directions and the strain
        p d (1 - ν) / (4 E h). In 2D it has p d/2 along the outline, and no strain across its depth: the strain is
        p d (1 - ν²) / (2 E h).
        """
        skin, size = self.membrane, abs(shape.volume)
        if size == 0.0:
            return math.inf
        if shape.dim == 2:
            return skin.young * skin.thickness * strain / ((1.0 - skin.ratio**2) * math.sqrt(size / math.pi))
        diameter = math.cbrt(6.0 * size / math.pi)
        return 4.0 * skin.young * skin.thickness * strain / ((1.0 - skin.ratio) * diameter)
