"""A simulation without motion: steps of relaxation (solvers/relax.py) on the state of a Step, recorded once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import warp as wp

from turgor.kernel.recording import ONE_AT_A_TIME
from turgor.simulation.step.frame import Step
from turgor.simulation.step.measures import total_forces
from turgor.solvers import relax

__all__ = ["Relaxation"]

FloatArray = npt.NDArray[np.float64]

STEP = 0.5  # of the longest stable step


class Relaxation:
    """Moves soft bodies, one in each world, towards equilibrium; walls, contact and rigid bodies do not take part."""

    def __init__(self, step: Step, furthest: float) -> None:
        """furthest: m, that a point moves at most in one step of relaxation."""
        model, state = step.model, step.state
        self.step, self.kernels, self.furthest = step, relax.kernels(model.numbers), furthest
        self.force = wp.zeros_like(state.x)
        self.v = wp.zeros_like(state.v)
        worlds, device = model.worlds, model.device
        self.sums = wp.zeros((worlds, 3), dtype=wp.float64, device=device)
        self.largest = wp.zeros(worlds, dtype=wp.float64, device=device)
        start = np.tile([relax.ALPHA, 0.0, 0.0, 0.0, 0.0], (worlds, 1))
        self.fire = wp.array(start, dtype=wp.float64, device=device)
        self.dt = model.real_array(np.zeros(worlds))
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
        self.launch(k.decide, step.model.worlds, sums=self.sums, largest=self.largest, fire=self.fire)
        self.launch(k.relax, step.count, **given, fire=self.fire, dt=self.dt, furthest=self.furthest)

    def run(self, steps: int, going: npt.NDArray[np.bool_]) -> FloatArray:
        """Some steps of the worlds that are going, as long as suits their present state.

        (worlds,) N: the largest force before the last of them.
        """
        with ONE_AT_A_TIME:
            wp.capture_launch(self._bound)
            self.dt.assign(np.where(going, STEP * self.step.scratch.step_bound.numpy(), 0.0))
            for _ in range(steps):
                wp.capture_launch(self._one)
        self.step.changed()
        return np.asarray(np.sqrt(self.fire.numpy()[:, relax.LARGEST]))

    def largest_forces(self) -> FloatArray:
        """(worlds,) N, on a point that is free to move, at the present state."""
        model = self.step.model
        forces = np.asarray(total_forces(self.step).numpy(), np.float64)
        squares = np.where(model.inverse_mass.numpy() > 0.0, np.einsum("ij,ij->i", forces, forces), 0.0)
        return np.asarray(np.sqrt(squares.reshape(model.worlds, -1).max(axis=1, initial=0.0)))

    def follow(self, other: Relaxation, worlds: npt.NDArray[np.intp]) -> None:
        """Go on as these worlds of another one."""
        ours, theirs = self.step.state, other.step.state
        for own, its in ((ours.x, theirs.x), (self.v, other.v), (self.fire, other.fire)):
            rows = its.numpy().reshape(other.step.model.worlds, -1)[worlds]
            own.assign(rows.reshape(own.numpy().shape))
        self.step.changed()
