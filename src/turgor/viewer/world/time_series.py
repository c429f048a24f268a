"""The last seconds of measured quantities, for plots: ring buffers, and what is measured. No browser in here."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
import numpy.typing as npt

from turgor.output.frame import Frame
from turgor.viewer.world.rates import Rates
from turgor.viewer.world.world import World

__all__ = ["ENERGIES", "LOSSES", "Ring", "Series"]

FloatArray = npt.NDArray[np.float64]
WINDOW = 20.0  # s that are kept
RATE = 15.0  # 1/s: samples
PATH = 10.0  # s of the path in the p-V diagram
ENERGY_SHARE = 0.02  # of the time of the world's thread that measuring the energy may take
ENERGIES = ("kinetic", "elastic", "gas", "gravity", "total")
LOSSES = ("dissipated", "work")


class Ring:
    """Rows of numbers, the first of which grows; the oldest are dropped. When it goes back, all are dropped."""

    def __init__(self, columns: int, span: float = WINDOW) -> None:
        self._span = span
        self._rows = np.empty((2048, columns + 1))
        self._start = self._end = 0

    def __len__(self) -> int:
        return self._end - self._start

    def clear(self) -> None:
        """Forget everything."""
        self._start = self._end = 0

    def add(self, at: float, *values: float) -> None:
        """One row; a second one at the same time replaces the first."""
        if len(self) and at < self._rows[self._end - 1, 0]:
            self.clear()
        if len(self) and at == self._rows[self._end - 1, 0]:
            self._end -= 1
        if self._end == len(self._rows):
            kept = min(len(self), len(self._rows) // 2)
            self._rows[:kept] = self._rows[self._end - kept : self._end]
            self._start, self._end = 0, kept
        self._rows[self._end] = (at, *values)
        self._end += 1
        while self._rows[self._start, 0] < at - self._span:
            self._start += 1

    def columns(self) -> tuple[FloatArray, ...]:
        """A copy: the first column grows."""
        return tuple(np.ascontiguousarray(column) for column in self._rows[self._start : self._end].T)


class Series:
    """What the plots show. Belongs to the world's thread."""

    def __init__(self, world: World, rates: Rates) -> None:
        self._world, self._rates = world, rates
        self.energy = Ring(len(ENERGIES) + len(LOSSES))  # s of the simulation; J
        self.gas = Ring(3)  # s; m³, Pa gauge, Pa absolute (2D: m², N/m)
        self.pace = Ring(2)  # s of the clock; ms per simulated frame, ms per update of the page
        self.with_energy = True
        self._body: str | None = None
        self._due = self._energy_due = 0.0
        self._last = -math.inf  # simulated time of the last sample
        self._started = time.perf_counter()

    @property
    def body(self) -> str | None:
        """Whose gas is measured."""
        return self._body

    def watch(self, name: str | None) -> None:
        """Measure the gas of another body; None, or a body without gas: of the first one that has some."""
        scene = self._world.scene
        filled = [body.name for body in scene.soft_bodies if body.gas is not None]
        chosen = name if name in filled else next(iter(filled), None)
        if chosen != self._body:
            self._body = chosen
            self.gas.clear()

    def clear(self) -> None:
        """Begin again."""
        self.energy.clear()
        self.gas.clear()
        self._energy_due = 0.0

    def sample(self, frame: Frame) -> bool:
        """Measure, if it is time to; returns whether it was."""
        now = time.perf_counter()
        if frame.time < self._last:
            self.clear()
        elif now < self._due:
            return False
        self._due, self._last = now + 1.0 / RATE - 2e-3, frame.time
        if self.with_energy and now >= self._energy_due:
            self._sample_energy(frame.time)
        self._sample_gas(frame)
        spent = (self._rates.frame_seconds, self._rates.update_seconds)
        self.pace.add(now - self._started, *(1e3 * seconds for seconds in spent))
        return True

    def _sample_energy(self, at: float) -> None:
        """In large scenes it takes some ms, and is then done less often."""
        start = time.perf_counter()
        energy = self._world.sim.energy()
        self.energy.add(at, *(float(getattr(energy, name)) for name in (*ENERGIES, *LOSSES)))
        done = time.perf_counter()
        self._energy_due = done + (done - start) / ENERGY_SHARE

    def _sample_gas(self, frame: Frame) -> None:
        if self._body is None or self._body not in self._world.sim.names:
            return
        view = self._world.sim[self._body]
        volume, pressure = (float(values[view.index]) for values in (frame.volumes, frame.pressures))
        self.gas.add(frame.time, volume, pressure - float(view.ambient), pressure)

    def path(self) -> tuple[FloatArray, FloatArray]:
        """Volume and absolute pressure of the last seconds, in the order of time."""
        at, volume, _, pressure = self.gas.columns()
        recent = at >= (at[-1] - PATH if len(at) else 0.0)
        return volume[recent], pressure[recent]

    def law(self, volumes: FloatArray) -> FloatArray:
        """Absolute pressure that the gas law gives at these volumes, with the parameters of now."""
        gas: Any = self._world.gas_now(self._body or "")
        rest, time_now = float(self._world.sim[self._body or ""].rest_volume), self._world.sim.time
        return np.array([gas.pressure(float(volume), rest, time_now) for volume in volumes])
