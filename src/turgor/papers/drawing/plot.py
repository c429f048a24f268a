"""Small plots as SVG: curves and points on linear or logarithmic axes, and maps of coloured cells."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from turgor.papers.drawing.axis import Axis, short
from turgor.record import svg

__all__ = ["Curve", "cell_map", "chart", "panels"]

COLORS = ("#2f5fb3", "#c92f36", "#2f8f5b", "#e08a1e", "#7a52a8", "#2fa3b0", "#8a6d3b", "#555d68")
LEFT, RIGHT, TOP, BOTTOM = 66, 14, 14, 46
INK, GRID = "#3c4652", "#dfe4ea"
Values = Sequence[float] | npt.NDArray[np.float64]
LETTER, LINE = 6.6, 18  # pixels: a letter's width and a line's height, for the legend


@dataclass(frozen=True)
class Curve:
    """Points (x, y) with a label; joined by a line, or marked, or both."""

    label: str
    x: Values
    y: Values
    line: bool = True
    marks: bool = False
    dashed: bool = False


def chart(
    curves: Sequence[Curve], x_label: str, y_label: str, *, log_x: bool = False, log_y: bool = False,
    width: int = 560, height: int = 340, title: str = "", x_range: Values = (), y_range: Values = (),
) -> str:  # fmt: skip
    """Curves in one frame, a legend above; what is not finite (or not positive on a logarithmic axis) is left out.

    x_range, y_range: values that the axes hold beside those of the curves, so that several charts can have the same.
    """
    points = [
        [(float(x), float(y)) for x, y in zip(curve.x, curve.y, strict=True) if _fits(x, log_x) and _fits(y, log_y)]
        for curve in curves
    ]
    everything = [point for part in points for point in part] or [(1.0, 1.0), (2.0, 2.0)]
    colors = [COLORS[number % len(COLORS)] for number in range(len(curves))]
    samples = [(_sample(curve, color), curve.label) for curve, color in zip(curves, colors, strict=True)]
    legend, top = _legend(samples, TOP + (LINE if title else 0), width)
    horizontal = Axis([*(x for x, _ in everything), *x_range], log_x, LEFT, width - RIGHT)
    vertical = Axis([*(y for _, y in everything), *y_range], log_y, height - BOTTOM, top)
    parts = [svg.text(title, LEFT, TOP + 4, font_weight="bold")] if title else []
    parts.append(_frame(horizontal, vertical, x_label, y_label))
    for curve, color, part in zip(curves, colors, points, strict=True):
        places = [(horizontal.place(x), vertical.place(y)) for x, y in part]
        if curve.line and len(places) > 1:
            parts.append(_line(places, color, curve.dashed))
        if curve.marks or not curve.line or len(places) == 1:
            parts += [_mark(x, y, color) for x, y in places]
    name = f"{title + ': ' if title else ''}{y_label} against {x_label}"
    return _picture([*parts, legend], name, width, height)


def panels(pictures: Sequence[str], columns: int, size: tuple[int, int], name: str) -> str:
    """Pictures of one size in rows, as a file of its own: on white, so that it can be read on a dark page too."""
    width, height = size
    rows = -(-len(pictures) // columns)
    whole = columns * width, rows * height
    parts = [svg.rect(0, 0, *whole, fill="#ffffff")]
    for number, picture in enumerate(pictures):
        row, column = divmod(number, columns)
        place = f'x="{column * width}" y="{row * height}" height="{height}"'
        parts.append(picture.replace("<svg", f"<svg {place}", 1))
    return svg.document(parts, whole, xmlns="http://www.w3.org/2000/svg", width=whole[0], role="img", aria_label=name)


def cell_map(
    x: Values, y: Values, colors: Sequence[Sequence[str]], x_label: str, y_label: str,
    legend: Sequence[tuple[str, str]] = (), *, width: int = 420, height: int = 320, title: str = "",
) -> str:  # fmt: skip
    """Cells of equal size for (x[i], y[j]), filled with colors[j][i]; legend: (colour, meaning)."""
    if len(colors) != len(y) or any(len(row) != len(x) for row in colors):
        raise ValueError(f"a map of {len(x)} × {len(y)} cells needs {len(y)} rows of {len(x)} colours")
    parts = [svg.text(title, LEFT, TOP + 4, font_weight="bold")] if title else []
    named, top = _legend([(_box(color), meaning) for color, meaning in legend], TOP + (LINE if title else 0), width)
    left, right, bottom = LEFT, width - RIGHT, height - BOTTOM
    wide, high = (right - left) / len(x), (bottom - top) / len(y)
    for j in range(len(y)):
        for i in range(len(x)):
            place = left + i * wide, bottom - (j + 1) * high
            parts.append(svg.rect(*place, wide + 0.5, high + 0.5, fill=colors[j][i]))  # half a pixel over: no seams
    for i in range(0, len(x), max(1, math.ceil(len(x) / 6))):
        parts.append(_x_tick(left + (i + 0.5) * wide, bottom, short(x[i], 3)))
    for j in range(0, len(y), max(1, math.ceil(len(y) / 8))):
        parts.append(_y_tick(left, bottom - (j + 0.5) * high, short(y[j], 3)))
    parts.append(_labels(x_label, y_label, (left, right), (top, bottom)))
    name = f"{title + ': ' if title else ''}map of {y_label} against {x_label}"
    return _picture([*parts, named], name, width, height)


def _fits(value: float, log: bool) -> bool:
    return math.isfinite(value) and (value > 0 or not log)


def _frame(horizontal: Axis, vertical: Axis, x_label: str, y_label: str) -> str:
    left, right, top, bottom = horizontal.start, horizontal.end, vertical.end, vertical.start
    parts = []
    for value in horizontal.ticks:
        x = horizontal.place(value)
        parts += [svg.line(x, top, x, bottom, stroke=GRID), _x_tick(x, bottom, short(value))]
    for value in vertical.ticks:
        y = vertical.place(value)
        parts += [svg.line(left, y, right, y, stroke=GRID), _y_tick(left, y, short(value))]
    return "".join(parts) + _labels(x_label, y_label, (left, right), (top, bottom))


def _x_tick(x: float, bottom: float, words: str) -> str:
    return svg.text(words, x, bottom + 16, text_anchor="middle")


def _y_tick(left: float, y: float, words: str) -> str:
    return svg.text(words, left - 6, y + 4, text_anchor="end")


def _labels(x_label: str, y_label: str, across: tuple[float, float], down: tuple[float, float]) -> str:
    x, y = sum(across) / 2, sum(down) / 2
    turned = f"translate(14,{y:.0f}) rotate(-90)"
    across_label = svg.text(x_label, x, down[1] + 36, text_anchor="middle")
    return across_label + svg.text(y_label, transform=turned, text_anchor="middle")


def _legend(entries: Sequence[tuple[str, str]], top: float, width: float) -> tuple[str, float]:
    """Entries (drawing 22 pixels wide, text) in lines from `top` on, and where they end; without text: left out."""
    parts, x, y = [], float(LEFT), top
    for drawing, text in entries:
        if not text:
            continue
        long = 28 + LETTER * len(text) + 14
        if x > LEFT and x + long > width:
            x, y = float(LEFT), y + LINE
        parts.append(svg.element("g", drawing, svg.text(text, 28, 4), transform=f"translate({x:.0f},{y:.0f})"))
        x += long
    return "".join(parts), y + LINE if parts else top


def _sample(curve: Curve, color: str) -> str:
    line = _line([(0, 0), (22, 0)], color, curve.dashed) if curve.line else ""
    return line + (_mark(11, 0, color) if curve.marks or not curve.line else "")


def _line(places: Sequence[tuple[float, float]], color: str, dashed: bool) -> str:
    return svg.polyline(places, fill="none", stroke=color, stroke_width=2, stroke_dasharray="6 4" if dashed else None)


def _mark(x: float, y: float, color: str) -> str:
    return svg.circle(x, y, 3.2, fill=color)


def _box(color: str) -> str:
    return svg.rect(8, -6, 12, 12, fill=color)


def _picture(parts: Sequence[str], name: str, width: int, height: int) -> str:
    style: dict[str, object] = {"font_family": "sans-serif", "font_size": 12, "fill": INK}
    return svg.document(parts, (width, height), width=width, role="img", aria_label=name, **style)
