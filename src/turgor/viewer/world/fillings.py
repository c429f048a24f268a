"""Gas that is let in slowly: what a skin holds in equilibrium at 1 atm would, at once, throw a body into the air."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from turgor.simulation.simulation import Simulation

__all__ = ["Fillings"]

SECONDS = 1.0  # s of simulated time that a filling takes


class Fillings:
    """Amounts of gas (n R T, J) on their way from that of before to that of the scene."""

    def __init__(self) -> None:
        self._ways: dict[str, tuple[float, float, float]] = {}  # body -> J before, J after, s when it began

    def begin(self, sim: Simulation, name: str, before: float) -> None:
        """The body has its amount already: let it in from `before` on."""
        view = sim[name]
        self._ways[name] = before, float(view.nRT), sim.time
        view.nRT = before

    def end(self, name: str | None = None) -> None:
        """Let a body, or all, have the amount that they have now."""
        for body in list(self._ways) if name is None else [name]:
            self._ways.pop(body, None)

    def finish(self, sim: Simulation) -> None:
        """Let in at once what is still to come."""
        for name, (_, after, _) in self._ways.items():
            if name in sim.bodies:
                sim[name].nRT = after
        self._ways.clear()

    def go_on(self, sim: Simulation) -> None:
        """Let in what is due by the end of the next frame."""
        for name, (before, after, start) in list(self._ways.items()):
            share = (sim.time + 1.0 / sim.settings.fps - start) / SECONDS
            if name not in sim.bodies or share >= 1.0:
                self.end(name)
            if name in sim.bodies:
                sim[name].nRT = before + (after - before) * min(share, 1.0)
