"""The columns of a table as a plot needs them: numbers, a label with its unit, and the names of words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from turgor.study.report.units import unit_of
from turgor.study.results import Results

__all__ = ["Column", "column_of"]

FloatArray = npt.NDArray[np.float64]
LARGEST = 1e100  # larger numbers have no place in a plot, and their reciprocals count as 0
ROUNDING = 1e-6  # of the value: single precision has 6e-8, and a run adds up some of it
DECADES = 1e3  # positive outputs that differ by more than this factor, but for a few, have a logarithmic axis


@dataclass(frozen=True)
class Column:
    """A column; the values of words are their numbers in `words`."""

    name: str
    label: str  # with its unit
    values: FloatArray  # (rows,), nan where it is missing
    words: tuple[str, ...] = ()
    log: bool = False

    @property
    def distinct(self) -> FloatArray:
        """Its values, each once, in order."""
        found = np.unique(self.values)
        return np.asarray(found[np.isfinite(found)])

    def at(self, rows: npt.NDArray[Any]) -> Column:
        """Of some rows."""
        return Column(self.name, self.label, self.values[rows], self.words, self.log)


def column_of(results: Results, name: str) -> Column:
    """An input or an output."""
    study = results.study
    values = results.column(name)
    expression = str(study.get("measure", {}).get(name, name)) if name in results.outputs else name
    unit = study.get("units", {}).get(name) or unit_of(expression, flat=study.get("dim") == 2)
    label = f"{name} ({unit})" if unit else name
    if results.kinds[name] == "word":
        words = tuple(dict.fromkeys(str(value) for value in values))
        places = {word: place for place, word in enumerate(words)}
        return Column(name, label, np.array([places[str(value)] for value in values], np.float64), words)
    if results.kinds[name] == "bool" and name in results.inputs:
        return Column(name, label, np.asarray(values, np.float64), ("no", "yes"))
    numbers = _drawable(np.asarray(values, np.float64))
    if name in results.outputs:
        numbers = _without_noise(numbers)
    return Column(name, label, numbers, (), _logarithmic(results, name, numbers))


def _drawable(values: FloatArray) -> FloatArray:
    """Without what squares and sums of a plot cannot hold."""
    sizes = np.abs(values)
    return np.where(sizes <= LARGEST, np.where(sizes < 1.0 / LARGEST, 0.0, values), np.nan)


def _without_noise(values: FloatArray) -> FloatArray:
    """Values that differ by rounding alone are one value: a plot would blow their noise up to a result."""
    known = values[np.isfinite(values)]
    if not len(known) or np.ptp(known) > ROUNDING * np.abs(known).max():
        return values
    return np.where(np.isfinite(values), np.median(known), np.nan)


def _logarithmic(results: Results, name: str, values: FloatArray) -> bool:
    known = values[np.isfinite(values)]
    if not len(known) or known.min() <= 0.0:
        return False
    if name in results.outputs:
        low, high = np.quantile(known, (0.05, 0.95))
        return bool(high > DECADES * low)
    asked = str(results.study.get("vary", {}).get(name, ""))
    return name in results.study.get("log", ()) or asked.startswith("log:")
