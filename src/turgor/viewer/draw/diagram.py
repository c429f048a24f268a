"""A path in a plane as a small SVG picture: uPlot wants x to grow, and a p-V path goes to and fro."""

from __future__ import annotations

import html
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

__all__ = ["diagram"]

FloatArray = npt.NDArray[np.float64]
WIDTH, HEIGHT = 320, 230
LEFT, RIGHT, TOP, BOTTOM = 58, 12, 24, 40  # px around the plot
PATH_COLOR, LAW_COLOR, INK, GRID = "#1971c2", "#e8590c", "#868e96", "#8886"
LEAST = 1e-3  # of the largest value: a narrower range is widened, else round-off would fill the picture


def diagram(
    title: str,
    x_label: str,
    y_label: str,
    x: FloatArray,
    y: FloatArray,
    law: Callable[[FloatArray], FloatArray] | None = None,
) -> str:
    """A path (x, y), its end as a dot, and the curve y = law(x) dashed."""
    parts = [_text(WIDTH / 2, 14, title, "middle", 12)]
    good = np.isfinite(x) & np.isfinite(y)
    x, y = x[good], y[good]
    if len(x):
        (x0, x1), (y0, y1) = _range(x), _range(y)
        across, up = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

        def place(xs: FloatArray, ys: FloatArray) -> str:
            columns, rows = LEFT + across * (xs - x0) / (x1 - x0), TOP + up * (y1 - ys) / (y1 - y0)
            return " ".join(f"{column:.1f},{row:.1f}" for column, row in zip(columns, rows, strict=True))

        for value in _ticks(x0, x1):
            column = LEFT + across * (value - x0) / (x1 - x0)
            parts.append(_line(column, TOP, column, TOP + up))
            parts.append(_text(column, TOP + up + 14, f"{value:.6g}", "middle"))
        for value in _ticks(y0, y1):
            row = TOP + up * (y1 - value) / (y1 - y0)
            parts.append(_line(LEFT, row, LEFT + across, row))
            parts.append(_text(LEFT - 5, row + 4, f"{value:.6g}", "end"))
        parts.append(f'<clipPath id="area"><rect x="{LEFT}" y="{TOP}" width="{across}" height="{up}"/></clipPath>')
        if law is not None:
            curve = np.linspace(x0, x1, 40)
            parts.append(_curve(place(curve, law(curve)), LAW_COLOR, 'stroke-dasharray="5 4" stroke-width="1.2"'))
        parts.append(_curve(place(x, y), PATH_COLOR, 'stroke-width="1.6" stroke-linejoin="round"'))
        end = place(x[-1:], y[-1:]).split(",")
        parts.append(f'<circle cx="{end[0]}" cy="{end[1]}" r="4" fill="{PATH_COLOR}"/>')
        parts.append(_text(LEFT + across / 2, HEIGHT - 8, x_label, "middle"))
        turned = f'transform="rotate(-90 12 {TOP + up / 2})"'
        parts.append(_text(12, TOP + up / 2, y_label, "middle", extra=turned))
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" width="100%" font-family="sans-serif" role="img" '
        f'aria-label="{html.escape(title)}" style="display:block;padding:0 8px">{"".join(parts)}</svg>'
    )


def _range(values: FloatArray) -> tuple[float, float]:
    low, high = float(values.min()), float(values.max())
    room = max(0.08 * (high - low), LEAST * max(abs(low), abs(high), 1e-12))
    return low - room, high + room


def _ticks(low: float, high: float) -> list[float]:
    """Three to six round numbers."""
    step: float = 10.0 ** np.floor(np.log10((high - low) / 3.0))
    step *= next(factor for factor in (1.0, 2.0, 5.0, 10.0) if (high - low) / (step * factor) <= 5.0)
    return [float(k * step) for k in range(int(np.ceil(low / step)), int(np.floor(high / step)) + 1)]


def _text(x: float, y: float, words: str, anchor: str, size: int = 11, extra: str = "") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{INK}" {extra}>'
        f"{html.escape(words)}</text>"
    )


def _line(x0: float, y0: float, x1: float, y1: float) -> str:
    return f'<line x1="{x0:.1f}" y1="{y0:.1f}" x2="{x1:.1f}" y2="{y1:.1f}" stroke="{GRID}" stroke-width="0.6"/>'


def _curve(points: str, color: str, style: str) -> str:
    return f'<polyline points="{points}" fill="none" stroke="{color}" clip-path="url(#area)" {style}/>'
