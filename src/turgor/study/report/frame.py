"""What all plots of the report share: axes of numbers and of words, the frame, the steps of a colour scale.

Colours are classes, which the page's style gives one colour on light and another on dark: `line`, `band`, `mark`,
`failed`, `grid`, and c0 to c11 for the scale.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from turgor.papers.drawing.axis import Axis, short
from turgor.record import svg
from turgor.study.report.columns import Column, FloatArray

__all__ = [
    "BOTTOM", "LEFT", "RIGHT", "STEPS", "TOP", "Scale", "cross_marks", "cut", "dots", "frame", "labels", "legend",
    "picture", "step_of",
]  # fmt: skip

LEFT, RIGHT, TOP, BOTTOM = 70, 22, 14, 48  # pixels around a plot
STEPS = 12  # of the colour scale
LONGEST = 44  # letters of a label


def cut(text: str, length: int = LONGEST) -> str:
    """A text that fits."""
    return text if len(text) <= length else f"{text[: length - 1]}…"


class Scale:
    """From values of a column to pixels, with ticks (value, text)."""

    def __init__(self, column: Column, start: float, end: float) -> None:
        self.label, self.start, self.end = cut(column.label), start, end
        known = column.values[np.isfinite(column.values)]
        if column.words:
            count = len(column.words)
            self._low, self._high = -0.5, count - 0.5
            every = -(-count // 12)
            self.ticks = [(float(k), cut(column.words[k] or "–", 12)) for k in range(0, count, every)]
            self._axis = None
        else:
            axis = self._axis = Axis(known.tolist() or [0.0, 1.0], column.log, start, end)
            self.ticks = [(tick, short(tick)) for tick in axis.ticks]

    def place(self, value: float) -> float:
        """Pixels."""
        if self._axis is not None:
            return self._axis.place(value)
        return self.start + (value - self._low) / (self._high - self._low) * (self.end - self.start)

    def places(self, values: FloatArray) -> FloatArray:
        return np.array([self.place(value) for value in values.tolist()], np.float64)


def frame(across: Scale, up: Scale) -> str:
    """Grid, ticks and labels."""
    left, right, top, bottom = across.start, across.end, up.end, up.start
    parts = []
    for value, words in across.ticks:
        x = across.place(value)
        parts += [
            svg.line(x, top, x, bottom, **{"class": "grid"}),
            svg.text(words, x, bottom + 16, text_anchor="middle"),
        ]
    for value, words in up.ticks:
        y = up.place(value)
        parts += [svg.line(left, y, right, y, **{"class": "grid"}), svg.text(words, left - 6, y + 4, text_anchor="end")]
    return "".join(parts) + labels(across.label, up.label, (left, right), (top, bottom))


def labels(across: str, up: str, x: tuple[float, float], y: tuple[float, float]) -> str:
    """Names of the axes of a plot between the pixels x and y."""
    turned = f"translate(14,{sum(y) / 2:.0f}) rotate(-90)"
    return svg.text(across, sum(x) / 2, y[1] + 38, text_anchor="middle") + svg.text(
        up, transform=turned, text_anchor="middle"
    )


def picture(parts: Sequence[str], name: str, size: tuple[int, int]) -> str:
    return svg.document(parts, size, role="img", aria_label=name, **{"class": "plot"})


def dots(places: FloatArray, kind: str) -> str:
    """(n, 2) pixels as round marks, in one element: strokes without a length, of round ends."""
    path = "".join(f"M{x:.1f} {y:.1f}h0" for x, y in places.tolist())
    return svg.element("path", d=path, **{"class": kind}) if path else ""


def cross_marks(places: FloatArray) -> str:
    """Where runs have failed."""
    path = "".join(f"M{x - 3:.1f} {y - 3:.1f}l6 6m0-6l-6 6" for x, y in places.tolist())
    return svg.element("path", d=path, **{"class": "failed"}) if path else ""


def step_of(values: FloatArray, column: Column) -> npt.NDArray[np.int64]:
    """Steps of the colour scale, between the least and the largest value of the column."""
    scaled = np.log10 if column.log else np.asarray
    known = scaled(column.values[np.isfinite(column.values)])
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    if high <= low:
        return np.full(values.shape, STEPS // 2)
    share = (scaled(values) - low) / (high - low)
    return np.clip((share * STEPS).astype(np.int64), 0, STEPS - 1)


def legend(column: Column, left: float, top: float, width: float) -> str:
    """The colour scale as a bar, 10 pixels high, with its ends and its name above."""
    known = column.values[np.isfinite(column.values)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)
    if high <= low:
        return svg.text(f"{cut(column.label)}: {short(low, 4)} everywhere", left, top - 4)
    wide = width / STEPS
    parts = [
        svg.rect(left + k * wide, top, wide + 0.5, 10, **{"class": f"c{k}"}) for k in range(STEPS)
    ]  # half a pixel over: no seams
    digits = next((digits for digits in range(3, 7) if short(low, digits) != short(high, digits)), 7)
    parts.append(svg.text(short(low, digits), left, top - 4))
    parts.append(svg.text(short(high, digits), left + width, top - 4, text_anchor="end"))
    name = f"{cut(column.label, 30)}{', logarithmic' if column.log else ''}"
    parts.append(svg.text(name, left + width / 2, top - 4, text_anchor="middle"))
    return "".join(parts)
