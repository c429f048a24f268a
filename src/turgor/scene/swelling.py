"""How much pressure a skin of springs holds: an estimate from the description, before anything is computed.

All springs are taken to stretch alike, by a factor s. Then a body of rest volume V0 in d dimensions has

    V = V0 s^d    U = k/2 (sum of l0²) (s - 1)²    and its skin holds
    P = dU/dV = k (sum of l0²) (s - 1) / (d V0 s^(d-1))

That is a ball's or a ring's law (Laplace). Other shapes also bulge, which takes less pressure: they hold less.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from turgor.scene.data import Body

__all__ = ["Skin", "skin_stiffness", "spring_like"]

FloatArray = npt.NDArray[np.float64]

HELD = 0.1  # share of the entered pressure: a skin that holds less gives way, and what was entered says little
WIDE = 1e3  # stretch beyond which there is no looking
TINY = 1e-300  # Pa
HALVINGS = 80  # of the interval of stretches: to round-off


LATTICE = 3.0**0.5 / 2.0  # k / (E h): springs k on equilateral triangles are a skin of E h = 2 k / sqrt(3)


def spring_like(dim: int, young: Any, thickness: Any, edge: float) -> Any:
    """N/m: of the springs that hold as much as a material; edge: m, their mean length, as a strip in 2D has E h / l."""
    return LATTICE * young * thickness if dim == 3 else young * thickness / edge


def skin_stiffness(body: Body) -> float:
    """N/m: of the springs of a body, or of those that would hold as much as its material."""
    if body.membrane is None:
        return body.springs.stiffness
    ends = body.shape.vertices[body.shape.edges]
    edge = float(np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1).mean())
    return float(spring_like(body.dim, body.membrane.young, body.membrane.thickness, edge))


@dataclass(frozen=True)
class Skin:
    """Closed skins of springs and their gas: arrays of one entry per body, or per world and body."""

    dim: int
    squares: FloatArray  # m²: sum of the squared rest lengths
    volume: FloatArray  # m³ (m² in 2D) at rest
    stiffness: FloatArray  # N/m
    nRT: FloatArray  # noqa: N815  J, at the rest volume
    ambient: FloatArray  # Pa (N/m in 2D)
    gamma: FloatArray  # 1 for the isothermal law

    @property
    def entered(self) -> FloatArray:
        """Pa: gauge pressure at the rest volume."""
        return np.asarray(self.nRT / self.volume - self.ambient)

    @property
    def most(self) -> FloatArray:
        """Pa: the largest pressure that the skin holds at any stretch: at s = 2 in 3D, as s grows in 2D."""
        largest = 0.25 if self.dim == 3 else 1.0  # of (s - 1) / s^(d-1)
        return np.asarray(self._modulus * largest)

    def skin_pressure(self, stretch: FloatArray) -> FloatArray:
        """Pa that the springs hold at this stretch."""
        return np.asarray(self._modulus * (stretch - 1.0) / stretch ** (self.dim - 1))

    def gas_pressure(self, stretch: FloatArray) -> FloatArray:
        """Pa: gauge pressure of the gas at this stretch."""
        return np.asarray(self.nRT / self.volume * stretch ** (-self.dim * self.gamma) - self.ambient)

    def stretch_at(self, gauge: FloatArray) -> FloatArray:
        """The stretch at which the gas has this gauge pressure; at most WIDE, at least 1 / WIDE."""
        power = self.dim * self.gamma
        outside = np.maximum(self.ambient + gauge, self.nRT / self.volume * WIDE**-power)
        ratio = self.nRT / self.volume / np.maximum(outside, TINY)
        return np.asarray(np.maximum(ratio, WIDE**-power) ** (1.0 / power))

    @property
    def gives_way(self) -> npt.NDArray[np.bool_]:
        """Whether less than the share HELD of the entered pressure holds.

        At the stretch where the gas has just that share the skin holds even less, so that it stretches on.
        """
        share = HELD * self.entered
        return np.asarray(np.abs(self.skin_pressure(self.stretch_at(share))) < np.abs(share))

    @property
    def holds(self) -> FloatArray:
        """Pa: gauge pressure at which skin and gas are in equilibrium.

        Gas minus skin, times s^d, falls with s for s > 1/2, so that there is one root; it lies between rest and the
        stretch where the gas has ambient pressure.
        """
        free = self.stretch_at(np.zeros_like(self.entered))
        low, high = np.minimum(free, 1.0), np.maximum(free, 1.0)
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            outward = self.gas_pressure(middle) > self.skin_pressure(middle)
            low, high = np.where(outward, middle, low), np.where(outward, high, middle)
        return self.skin_pressure(low)

    @property
    def _modulus(self) -> FloatArray:
        return np.asarray(self.stiffness * self.squares / (self.dim * self.volume))
