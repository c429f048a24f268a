"""The ideal gas inside a body: pressure and energy as functions of the volume (physics.md, law 2; X3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Gas:
    """`nRT` (J) is the value at `rest_volume`. `held` is the absolute pressure a pump holds (C8), Pa."""

    nRT: float = 0.0  # noqa: N815 (the name of the law)
    rest_volume: float = 1.0
    ambient: float = 0.0
    law: str = "isothermal"  # "isothermal" | "adiabatic" | "held"
    gamma: float = 1.4
    held: float = 0.0
    cap: float = 0.01  # below this share of the rest volume the pressure stays at its value there

    @property
    def smallest(self):
        """Volume at which the cap begins."""
        return self.cap * self.rest_volume

    def pressure(self, V):
        """Absolute pressure, Pa (N/m in 2D)."""
        if self.law == "held":
            return self.held
        V = max(V, self.smallest)
        if self.law == "isothermal":
            return self.nRT / V
        return self.nRT / self.rest_volume * (self.rest_volume / V) ** self.gamma

    def gauge(self, V):
        """Absolute minus ambient pressure: what the force uses (D5)."""
        return self.pressure(V) - self.ambient

    def energy(self, V):
        """U(V) with -dU/dV = gauge(V); below the cap it goes on as a straight line, J."""
        if self.law == "held":
            return -(self.held - self.ambient) * V
        W = max(V, self.smallest)
        if self.law == "isothermal":
            inner = -self.nRT * np.log(W)
        else:
            inner = self.nRT / (self.gamma - 1.0) * (self.rest_volume / W) ** (self.gamma - 1.0)
        return float(inner - self.pressure(W) * (V - W) + self.ambient * V)
