"""The way of a world to rest, a few rounds at a time, so that the page goes on meanwhile."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from turgor.viewer.world.world import World

__all__ = ["Resting"]


class Resting:
    """One search for the state of rest. It is of the state and the scene at its beginning, and ends with them."""

    def __init__(self, world: World) -> None:
        self._rounds = world.sim.settling()
        self._of = world.scene, world.state, world.grabbed.keys()
        self.residual = next(self._rounds).residual  # raises at once where there can be no rest

    def holds(self, world: World) -> bool:
        """Whether the world is still as it was: nobody plays, pulls or changes it."""
        scene, state, grabbed = self._of
        return world.scene is scene and world.state == state and world.grabbed.keys() == grabbed and not world.playing

    def go_on(self, seconds: float) -> bool:
        """Search for so long; whether the world is at rest now. Raises UnstableError where there is no equilibrium."""
        start = time.perf_counter()
        while time.perf_counter() - start < seconds:
            found = next(self._rounds, None)
            if found is None:
                return True
            self.residual = found.residual
        return False
