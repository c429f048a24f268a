"""Plots of the report: an output against an input, as a curve or as points."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from turgor.record import svg
from turgor.study.report.columns import Column, FloatArray
from turgor.study.report.frame import (
    BOTTOM,
    LEFT,
    RIGHT,
    STEPS,
    TOP,
    Scale,
    cross_marks,
    dots,
    frame,
    legend,
    picture,
    step_of,
)

__all__ = ["MOST_DOTS", "MOST_VALUES", "SIZE", "curve", "points"]

SIZE = (440, 300)
MARKS = 40  # means of more values are not marked one by one
MOST_DOTS = 2500  # of a plot
MOST_VALUES = 400  # of the input of a curve
BINS = 16  # of the mean over points


def curve(across: Column, up: Column) -> str:
    """Mean of the output at each value of the input, within bands of one deviation and from least to largest."""
    x_scale, y_scale = _scales(across, up)
    groups = _grouped(across, up)
    x = np.array([x_scale.places(place).mean() for place, _ in groups])
    mean = np.array([found.mean() for _, found in groups])
    parts = [frame(x_scale, y_scale)]
    if any(len(found) > 1 for _, found in groups):
        low, high = (np.array([edge(found) for _, found in groups]) for edge in (np.min, np.max))
        spread = np.array([found.std() for _, found in groups])
        parts.append(_band(x, y_scale.places(low), y_scale.places(high), "band wide", bool(across.words)))
        near = y_scale.places(np.maximum(mean - spread, low)), y_scale.places(np.minimum(mean + spread, high))
        parts.append(_band(x, *near, "band", bool(across.words)))
    places = np.stack([x, y_scale.places(mean)], axis=1) if groups else np.zeros((0, 2))
    if not across.words and len(places) > 1:
        parts.append(svg.polyline(places, **{"class": "line"}))
    if across.words or len(places) <= MARKS:
        parts.append(dots(places, "mark"))
    parts.append(_lost(across, up, x_scale, y_scale))
    return picture(parts, f"{up.name} against {across.name}: mean and spread", SIZE)


def points(across: Column, up: Column, color: Column | None = None) -> str:
    """A dot per run, or per few pixels where there are many; without colours a line of means over it."""
    above = 0 if color is None else 26
    x_scale, y_scale = _scales(across, up, above)
    good = np.isfinite(across.values) & np.isfinite(up.values)
    if color is not None:
        good &= np.isfinite(color.values)
    places = np.stack([x_scale.places(across.values[good]), y_scale.places(up.values[good])], axis=1)
    parts = [frame(x_scale, y_scale)]
    if color is None:
        parts.append(dots(_thinned(places, np.zeros(len(places)))[0], "dot"))
        if not across.words:
            parts.append(_mean_line(places, x_scale, y_scale, up.values[good]))
        parts.append(_lost(across, up, x_scale, y_scale))
    else:
        places, steps = _thinned(places, step_of(color.values[good], color))
        parts += [dots(places[steps == step], f"dot c{step}") for step in range(STEPS)]
        parts.append(legend(color, LEFT, 20, SIZE[0] - LEFT - RIGHT))
        lost = np.isnan(color.values) & np.isfinite(across.values) & np.isfinite(up.values)
        places = np.stack([x_scale.places(across.values[lost]), y_scale.places(up.values[lost])], axis=1)
        parts.append(cross_marks(_thinned(places, np.zeros(len(places)))[0]))
    name = f"{up.name} against {across.name}" + ("" if color is None else f", coloured by {color.name}")
    return picture(parts, f"{name}: a dot per run", SIZE)


def _grouped(across: Column, up: Column) -> list[tuple[FloatArray, FloatArray]]:
    """Values of the input, and of the output there; neighbouring values together where there are very many."""
    good = np.isfinite(across.values) & np.isfinite(up.values)
    values, group = np.unique(across.values[good], return_inverse=True)
    group = group.ravel() // -(-max(len(values), 1) // MOST_VALUES)
    order = np.argsort(group, kind="stable")
    ends = np.searchsorted(group[order], np.arange(group.max(initial=-1) + 2))
    return [(across.values[good][order[a:b]], up.values[good][order[a:b]]) for a, b in pairwise(ends)]


def _scales(across: Column, up: Column, above: float = 0) -> tuple[Scale, Scale]:
    return Scale(across, LEFT, SIZE[0] - RIGHT), Scale(up, SIZE[1] - BOTTOM, TOP + above)


def _band(x: FloatArray, low: FloatArray, high: FloatArray, kind: str, bars: bool) -> str:
    """Between two curves; of words, whose order means nothing, a bar each."""
    if bars or len(x) == 1:
        return "".join(
            svg.rect(a - 7, c, 14, max(b - c, 0.5), **{"class": kind})
            for a, b, c in zip(x.tolist(), low.tolist(), high.tolist(), strict=True)
        )
    there, back = np.stack([x, high], axis=1), np.stack([x, low], axis=1)[::-1]
    return svg.polygon(np.concatenate([there, back]), **{"class": kind})


def _mean_line(places: FloatArray, x_scale: Scale, y_scale: Scale, values: FloatArray) -> str:
    """Through the means over stretches of the axis of equal length."""
    share = (places[:, 0] - x_scale.start) / (x_scale.end - x_scale.start)
    bins = np.clip((share * BINS).astype(np.int64), 0, BINS - 1)
    found = [bins == k for k in range(BINS) if np.count_nonzero(bins == k) >= 3]
    line = [(float(places[k, 0].mean()), y_scale.place(float(values[k].mean()))) for k in found]
    return svg.polyline(line, **{"class": "mean"}) if len(line) > 2 else ""


def _lost(across: Column, up: Column, x_scale: Scale, y_scale: Scale) -> str:
    """Runs without a value, as crosses on the lower side of the frame."""
    lost = x_scale.places(np.unique(across.values[np.isnan(up.values) & np.isfinite(across.values)]))
    if len(lost) > 200:
        lost = np.unique(np.round(lost / 3) * 3)
    return cross_marks(np.stack([lost, np.full(len(lost), y_scale.start)], axis=1))


def _thinned(
    places: FloatArray, steps: npt.NDArray[np.floating] | npt.NDArray[np.int64]
) -> tuple[FloatArray, npt.NDArray[np.int64]]:
    """One dot per square of a grid as coarse as need be, at the place of one of its runs, of their median colour."""
    side = 0.5
    while True:
        _, first, group = np.unique(np.floor(places / side), axis=0, return_index=True, return_inverse=True)
        if len(first) <= MOST_DOTS:
            break
        side *= 1.5
    order = np.argsort(group.ravel(), kind="stable")
    ends = np.searchsorted(group.ravel()[order], np.arange(len(first) + 1))
    middle = [int(np.median(steps[order[a:b]])) for a, b in pairwise(ends)]
    return places[first], np.array(middle, np.int64)
