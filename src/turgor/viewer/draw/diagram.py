"""A path in a plane as a small SVG picture: uPlot wants x to grow, and a p-V path goes to and fro."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from turgor.record import svg

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

        def place(xs: FloatArray, ys: FloatArray) -> list[tuple[float, float]]:
            columns, rows = LEFT + across * (xs - x0) / (x1 - x0), TOP + up * (y1 - ys) / (y1 - y0)
            return list(zip(columns.tolist(), rows.tolist(), strict=True))

        for value in _ticks(x0, x1):
            column = LEFT + across * (value - x0) / (x1 - x0)
            parts.append(svg.line(column, TOP, column, TOP + up, stroke=GRID, stroke_width=0.6))
            parts.append(_text(column, TOP + up + 14, f"{value:.6g}", "middle"))
        for value in _ticks(y0, y1):
            row = TOP + up * (y1 - value) / (y1 - y0)
            parts.append(svg.line(LEFT, row, LEFT + across, row, stroke=GRID, stroke_width=0.6))
            parts.append(_text(LEFT - 5, row + 4, f"{value:.6g}", "end"))
        parts.append(svg.element("clipPath", svg.rect(LEFT, TOP, across, up), id="area"))
        if law is not None:
            curve = np.linspace(x0, x1, 40)
            parts.append(_curve(place(curve, law(curve)), LAW_COLOR, stroke_dasharray="5 4", stroke_width=1.2))
        parts.append(_curve(place(x, y), PATH_COLOR, stroke_width=1.6, stroke_linejoin="round"))
        parts += [svg.circle(*end, 4, fill=PATH_COLOR) for end in place(x[-1:], y[-1:])]
        parts.append(_text(LEFT + across / 2, HEIGHT - 8, x_label, "middle"))
        parts.append(_text(12, TOP + up / 2, y_label, "middle", transform=f"rotate(-90 12 {TOP + up / 2})"))
    style = "display:block;padding:0 8px"
    return svg.document(
        parts, (WIDTH, HEIGHT), width="100%", font_family="sans-serif", role="img", aria_label=title, style=style
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


def _text(x: float, y: float, words: str, anchor: str, size: int = 11, transform: str | None = None) -> str:
    return svg.text(words, x, y, text_anchor=anchor, font_size=size, fill=INK, transform=transform)


def _curve(places: list[tuple[float, float]], color: str, **style: object) -> str:
    return svg.polyline(places, fill="none", stroke=color, clip_path="url(#area)", **style)
