"""The end of a substep where no bodies touch: velocities, walls and positions in one kernel."""

from __future__ import annotations

from typing import Any

from turgor.kernel.launch import Launcher
from turgor.model.model import Model
from turgor.solvers import fused, plan
from turgor.solvers.schemes import Scheme

__all__ = ["FusedEnd"]


class FusedEnd:
    """Launches the kernel `advance`."""

    def __init__(self, model: Model, launch: Launcher, scheme: Scheme, *, clears: bool, ledger: bool) -> None:
        self.launch, self.count, self.weight = launch, model.vertices * model.worlds, scheme.weights[-1]
        self.bodies = model.cuts("order")
        self.cuts = self.bodies if ledger else None  # what a body loses is summed in its order
        self.k_plan = plan.kernels(model.numbers)
        self.kernels = fused.kernels(model.numbers, len(scheme.weights) > 1, scheme.velocity_first, clears, ledger)

    def run(self, v_stage: Any, *, counts: bool = True) -> None:
        """From forces to the end of the substep, of bodies that touch nothing.

        v_stage: velocities at which the forces were evaluated; counts: whether this ends the substep of all worlds.
        """
        later = self.launch.sharing > 1  # other threads may still look at the clock
        given = {"weight": self.weight, "v_stage": v_stage, "counts": int(counts and not later)}
        self.launch.split(self.kernels.advance, self.count, self.cuts, bodies=self.bodies, **given)
        if counts and later:
            self.launch(self.k_plan.tick, 1)
