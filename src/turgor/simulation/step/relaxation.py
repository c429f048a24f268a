"""A simulation without motion: steps of relaxation (solvers/relax.py) on the state of a Step, recorded once."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import warp as wp

from turgor.simulation.step.frame import ONE_AT_A_TIME, Step
from turgor.solvers import relax

__all__ = ["Relaxation"]

STEP = 0.5  # of the longest stable step


class Relaxation:
    """Moves the soft bodies of a step towards equilibrium; walls, contact and rigid bodies do not take part."""

    def __init__(self, step: Step, furthest: float) -> None:
        """furthest: m, that a point moves at most in one step of relaxation."""
        model, state = step.model, step.state
        self.step, self.kernels, self.furthest = step, relax.kernels(model.numbers), furthest
        self.force = wp.zeros_like(state.x)
        self.v = wp.zeros_like(state.v)
        self.sums = wp.zeros(3, dtype=wp.float64, device=model.device)
        self.largest = wp.zeros(1, dtype=wp.float64, device=model.device)
        self.fire = wp.array([relax.ALPHA, 0.0, 0.0, 0.0, 0.0], dtype=wp.float64, device=model.device)
        self.dt = model.real_array([0.0])
        self.launch = step.launch.extended()
        self._one, self._bound = self._recorded(self._relax), self._recorded(step.bound)

    def _recorded(self, launches: Callable[[], None]) -> Any:
        with ONE_AT_A_TIME, wp.ScopedCapture(device=self.step.device) as capture:
            launches()
        return capture.graph

    def _relax(self) -> None:
        step, s, k = self.step, self.step.state, self.kernels
        given = {"force": self.force, "v": self.v}
        step.forces.evaluate(s.x, s.v, 0.0)
        step.forces.reshape_areas(s.x, s.v)
        step.forces.add_up(self.force)
        self.launch(k.sum_power, step.count, **given, sums=self.sums, largest=self.largest)
        self.launch(k.decide, 1, sums=self.sums, largest=self.largest, fire=self.fire)
        self.launch(k.relax, step.count, **given, fire=self.fire, dt=self.dt, furthest=self.furthest)

    def run(self, steps: int) -> float:
        """Some steps, as long as suits the present state. N: the largest force before the last of them."""
        with ONE_AT_A_TIME:
            wp.capture_launch(self._bound)
            self.dt.fill_(STEP * float(self.step.scratch.step_bound.numpy().min()))
            for _ in range(steps):
                wp.capture_launch(self._one)
        self.step.changed()
        return math.sqrt(float(self.fire.numpy()[relax.LARGEST]))

    def largest_force(self) -> float:
        """N, on a point that is free to move, at the present state."""
        forces = np.asarray(self.step.total_forces().numpy(), np.float64)
        free = self.step.model.inverse_mass.numpy() > 0.0
        return math.sqrt(float(np.einsum("ij,ij->i", forces, forces)[free].max(initial=0.0)))
