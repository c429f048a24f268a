"""Parallel coordinates: an axis per input and one for the output, and a line per run through its values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from turgor.record import svg
from turgor.study.report.columns import Column
from turgor.study.report.frame import STEPS, Scale, cut, legend, picture, step_of

__all__ = ["MOST_LINES", "parallel"]

MOST_LINES = 600  # runs that are drawn: at even places in the order of the output, its ends included
WIDTH, HEIGHT, TOP, BOTTOM, SIDE = 1080, 400, 84, 16, 96  # pixels


def parallel(inputs: Sequence[Column], output: Column) -> str:
    """Runs without the output are left out."""
    columns = [*inputs, output]
    places = np.linspace(SIDE, WIDTH - SIDE, len(columns)).tolist()
    scales = [Scale(column, HEIGHT - BOTTOM, TOP) for column in columns]
    table = np.stack([column.values for column in columns], axis=1)
    good = np.flatnonzero(np.isfinite(table).all(axis=1))
    ranked = good[np.argsort(output.values[good], kind="stable")]
    if len(ranked) > MOST_LINES:
        ranked = ranked[np.round(np.linspace(0, len(ranked) - 1, MOST_LINES)).astype(int)]
    heights = np.stack([scale.places(table[ranked, k]) for k, scale in enumerate(scales)], axis=1)
    steps = step_of(output.values[ranked], output)
    parts = []
    for step in range(STEPS):
        path = "".join(
            "M" + "L".join(f"{x:.0f} {y:.1f}" for x, y in zip(places, row, strict=True))
            for row in heights[steps == step].tolist()
        )
        if path:
            parts.append(svg.element("path", d=path, **{"class": f"thread c{step}"}))
    for number, (x, scale) in enumerate(zip(places, scales, strict=True)):
        parts.append(svg.line(x, TOP, x, HEIGHT - BOTTOM, **{"class": "axis"}))
        parts += [
            svg.text(words, x - 5, scale.place(value) + 4, text_anchor="end", **{"class": "halo"})
            for value, words in scale.ticks
        ]
        high = TOP - 10 - (16 if number % 2 else 0)  # names of neighbours on two lines
        parts.append(svg.text(cut(scale.label, 36), x, high, text_anchor="middle", font_weight="bold"))
    parts.append(legend(output, SIDE, 20, 420))
    names = ", ".join(column.name for column in inputs)
    return picture(parts, f"parallel coordinates of {names}, coloured by {output.name}", (WIDTH, HEIGHT))
