"""Which plots show a study: curves, heat maps, points, parallel coordinates; by its inputs and how they lie."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from turgor.study.report.columns import Column, column_of
from turgor.study.report.heat_map import heat_map
from turgor.study.report.parallel import MOST_LINES, parallel
from turgor.study.report.plots import MOST_VALUES, curve, points
from turgor.study.results import Results

__all__ = ["Figure", "figures"]

MOST_OUTPUTS, MOST_INPUTS = 8, 8  # that have plots
SCATTERED = 40  # values of an input, each of which occurs about once: points instead of a curve
FILLED = 0.6  # share of the pairs of values that must be there for a map

SPREAD = "Line: mean. Dark band: one standard deviation each way. Light band: from the least to the largest run."
ONE_EACH = "A run per value."
DOTS = "A dot per run (one for several that lie within a few pixels); line: mean."
CROSS = " Crosses: runs without a value."


@dataclass(frozen=True)
class Figure:
    """A plot with its caption."""

    svg: str
    caption: str
    wide: bool = False  # takes the whole width of the page


def figures(results: Results) -> dict[str, list[Figure]]:
    """The plots of each output, by its name; of outputs that are numbers, and inputs that vary."""
    inputs = [column_of(results, name) for name in results.inputs]
    inputs = [column for column in inputs if len(column.distinct) > 1]
    outputs = [column_of(results, name) for name in results.outputs if results.kinds[name] != "word"]
    outputs = [column for column in outputs if np.isfinite(column.values).any()]
    return {column.name: _of_output(results, inputs, column) for column in outputs[:MOST_OUTPUTS]}


def _of_output(results: Results, inputs: list[Column], output: Column) -> list[Figure]:
    lost = CROSS if np.isnan(output.values).any() else ""
    found = []
    if len(inputs) == 2:
        if _is_grid(*inputs):
            found.append(Figure(heat_map(inputs[0], inputs[1], output), f"Mean of the runs of each cell.{lost}"))
        else:
            found.append(Figure(points(inputs[0], inputs[1], output), f"A dot per run, coloured by its result.{lost}"))
    for column in inputs[:MOST_INPUTS]:
        if _is_scattered(results, column, len(inputs)):
            found.append(Figure(points(column, output), DOTS + lost))
        else:
            count = len(column.distinct)
            several = count < np.isfinite(output.values).sum() or count > MOST_VALUES
            found.append(Figure(curve(column, output), (SPREAD if several else ONE_EACH) + lost))
    if len(inputs) >= 3:
        shown = int(np.isfinite(output.values).sum())
        part = f"; {MOST_LINES} of {shown:,} are drawn, the ends included" if shown > MOST_LINES else ""
        found.append(
            Figure(parallel(inputs[:MOST_INPUTS], output), f"A line per run, coloured by its result{part}.", wide=True)
        )
    return found


def _is_grid(first: Column, second: Column) -> bool:
    """Whether most pairs of values occur."""
    if not (np.isfinite(first.values) & np.isfinite(second.values)).any():
        return False
    pairs = len(np.unique(np.stack([first.values, second.values], axis=1), axis=0))
    return pairs >= FILLED * len(first.distinct) * len(second.distinct)


def _is_scattered(results: Results, column: Column, inputs: int) -> bool:
    if column.words or len(column.distinct) <= SCATTERED:
        return False
    asked = str(results.study.get("vary", {}).get(column.name, ""))
    if asked.startswith("random") or results.study.get("sampling") in ("random", "latin"):
        return True
    return inputs > 1 and len(column.distinct) > 0.5 * len(column.values)
