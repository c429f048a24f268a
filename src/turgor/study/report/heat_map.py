"""Heat maps: a cell per pair of values of two inputs, coloured by an output."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from turgor.papers.drawing.axis import short
from turgor.record import svg
from turgor.study.report.columns import Column, FloatArray
from turgor.study.report.frame import (
    BOTTOM,
    LEFT,
    RIGHT,
    STEPS,
    TOP,
    cross_marks,
    cut,
    labels,
    legend,
    picture,
    step_of,
)
from turgor.study.report.plots import SIZE

__all__ = ["heat_map"]

MOST_CELLS = 64  # in a row or a column; neighbours are joined


def heat_map(across: Column, up: Column, color: Column) -> str:
    """Each cell has the colour of the mean of its runs; it is crossed out where none has a value."""
    there = np.isfinite(across.values) & np.isfinite(up.values)
    across, up, color = (column.at(there) for column in (across, up, color))
    x_values, i = _joined(across)
    y_values, j = _joined(up)
    runs, mean = _means((len(y_values), len(x_values)), j, i, color)
    left, right, top, bottom = LEFT, SIZE[0] - RIGHT, TOP + 26, SIZE[1] - BOTTOM
    wide, high = (right - left) / len(x_values), (bottom - top) / len(y_values)

    def middle(cell: npt.NDArray[np.int64]) -> FloatArray:
        """Pixels of cells (row, column)."""
        return np.stack([left + (cell[:, 1] + 0.5) * wide, bottom - (cell[:, 0] + 0.5) * high], axis=1)

    known = np.argwhere(np.isfinite(mean))
    steps = step_of(mean[known[:, 0], known[:, 1]], color)
    parts = [_rectangles(middle(known[steps == step]), (wide, high), f"c{step}") for step in range(STEPS)]
    parts.append(cross_marks(middle(np.argwhere((runs > 0) & np.isnan(mean)))))
    for k in range(0, len(x_values), -(-len(x_values) // 6)):
        parts.append(svg.text(_name(across, x_values[k]), left + (k + 0.5) * wide, bottom + 16, text_anchor="middle"))
    for k in range(0, len(y_values), -(-len(y_values) // 8)):
        parts.append(svg.text(_name(up, y_values[k]), left - 6, bottom - (k + 0.5) * high + 4, text_anchor="end"))
    parts.append(labels(cut(across.label), cut(up.label), (left, right), (top, bottom)))
    parts.append(legend(color, left, 20, right - left))
    return picture(parts, f"{color.name} over {across.name} and {up.name}", SIZE)


def _means(
    shape: tuple[int, int], row: npt.NDArray[np.int64], column: npt.NDArray[np.int64], color: Column
) -> tuple[npt.NDArray[np.int64], FloatArray]:
    """Of each cell the number of its runs, and the mean of those with a value (nan without)."""
    runs, good, total = np.zeros(shape, np.int64), np.zeros(shape, np.int64), np.zeros(shape)
    known = np.isfinite(color.values)
    np.add.at(runs, (row, column), 1)
    np.add.at(good, (row[known], column[known]), 1)
    np.add.at(total, (row[known], column[known]), color.values[known])
    return runs, np.where(good > 0, total / np.maximum(good, 1), np.nan)


def _rectangles(middles: FloatArray, size: tuple[float, float], kind: str) -> str:
    """In one element; 0.4 pixels over, so that there are no seams."""
    wide, high = size
    path = "".join(
        f"M{x - wide / 2:.1f} {y - high / 2:.1f}h{wide + 0.4:.1f}v{high + 0.4:.1f}h-{wide + 0.4:.1f}z"
        for x, y in middles.tolist()
    )
    return svg.element("path", d=path, **{"class": kind}) if path else ""


def _joined(column: Column) -> tuple[FloatArray, npt.NDArray[np.int64]]:
    """Values of the cells of an axis, and the cell of each row; neighbours share one where there are too many."""
    values = column.distinct
    every = -(-len(values) // MOST_CELLS)
    place = np.searchsorted(values, column.values) // every
    return values[::every], place.astype(np.int64)


def _name(column: Column, value: float) -> str:
    return cut(column.words[int(value)] or "–", 10) if column.words else short(value, 3)
