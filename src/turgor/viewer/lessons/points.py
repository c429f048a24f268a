"""Measured points of an experiment, as columns for a plot whose x grows."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["Points"]

FloatArray = npt.NDArray[np.float64]
PLACES = 150  # along x: of each only the latest point is kept, so that going to and fro does not add up


class Points:
    """Several curves; each keeps one point per place along x, with its exact x."""

    def __init__(self, curves: int, low: float, high: float, places: int = PLACES) -> None:
        self._low, self._high, self._places = low, high, places
        self._curves: list[dict[int, tuple[float, float]]] = [{} for _ in range(curves)]
        self.count = 0  # grows with every point

    def add(self, curve: int, x: float, y: float) -> None:
        """A point; what is beyond the plot is left out."""
        if self._low <= x <= self._high and np.isfinite(y):
            place = int((x - self._low) / (self._high - self._low) * self._places)
            self._curves[curve][place] = (x, y)
            self.count += 1

    def clear(self) -> None:
        """Forget all."""
        for curve in self._curves:
            curve.clear()
        self.count += 1

    def of(self, curve: int) -> tuple[FloatArray, FloatArray]:
        """x and y of a curve, along x."""
        found = np.array(sorted(self._curves[curve].values()), np.float64).reshape(-1, 2)
        return found[:, 0].copy(), found[:, 1].copy()

    def columns(self, grid: FloatArray) -> tuple[FloatArray, ...]:
        """x of all points and of a grid, and y of each curve there; nan where it has no point."""
        curves = [self.of(index) for index in range(len(self._curves))]
        x = np.unique(np.concatenate([grid, *(at for at, _ in curves)]))
        columns = [x]
        for at, y in curves:
            column = np.full(len(x), np.nan)
            column[np.searchsorted(x, at)] = y
            columns.append(column)
        return tuple(columns)
