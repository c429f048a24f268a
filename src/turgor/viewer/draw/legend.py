"""The legend of colours by value, as a drawing in the tab."""

from __future__ import annotations

import html
import math
from typing import TYPE_CHECKING

import numpy as np

from turgor.record import svg
from turgor.viewer.draw.color_values import BANDS, NONE, Kind, Range, band_colors, ramp

if TYPE_CHECKING:
    from turgor.viewer.draw.painter import Painter

__all__ = ["legend_of", "numbers"]

WIDTH, HEIGHT, MARGIN, TICKS = 300, 14, 26, 5
PREFIXES = ((1e6, "M"), (1e3, "k"))  # from ten of them on
CONTINUOUS = 60  # pieces that a ramp without bands is drawn of


def numbers(kind: Kind, seen: Range) -> list[str]:
    """What is written under the ramp, from low to high, in the unit of the kind."""
    factor, _ = _scaled(kind, seen, kind.unit)
    low, high = factor * seen.low, factor * seen.high
    if kind.levels and math.isfinite(high - low):
        return list(kind.levels)
    if not math.isfinite(high - low):
        return []
    digits = max(0, 2 - math.floor(math.log10((high - low) / (TICKS - 1))))
    values = [round(float(value), digits) + 0.0 for value in np.linspace(low, high, TICKS)]
    texts = [f"{value:{'+' if kind.signed and value else ''}.{digits}f}" for value in values]
    texts = [(text.rstrip("0").rstrip(".") if "." in text else text).replace("-", "−") for text in texts]
    if kind.share < 1.0:
        texts[0], texts[-1] = f"≤ {texts[0]}", f"≥ {texts[-1]}"
    return texts


def legend_of(painter: Painter) -> str:
    """HTML: title and unit, the ramp as it is drawn, numbers, and what grey means."""
    kind = painter.kind
    _, unit = _scaled(kind, painter.range, kind.unit if painter.dim == 3 else kind.unit_2d)
    texts = numbers(kind, painter.range)
    grey = f'<span style="display:inline-block;width:.8em;height:.8em;background:{_code(list(NONE))}"></span>'
    note = f"; {grey} {html.escape(kind.none)}" if painter.grey else ""
    if not texts:
        note = ": nothing here has it"
    parts = _named(texts) if kind.levels else [*_bar(painter.banded), *_scale(texts)]
    unit = f" ({html.escape(unit)})" if unit else ""
    return (
        '<div style="padding:0.3em 1em 0.2em 1em;font-size:0.85em">'
        f"<div><b>{html.escape(kind.title)}</b>{unit}{note}</div>"
        f"{svg.document(parts, (WIDTH + 2 * MARGIN, HEIGHT + 24), style='width:100%;display:block')}</div>"
    )


def _scaled(kind: Kind, seen: Range, unit: str) -> tuple[float, str]:
    """The factor from SI, and the unit with its prefix."""
    most = max(abs(seen.low), abs(seen.high))
    for size, prefix in PREFIXES:
        if kind.prefixes and most >= 10.0 * size:
            return kind.factor / size, prefix + unit
    return kind.factor, unit


def _named(texts: list[str]) -> list[str]:
    """A piece of the ramp for each of a few values, with its name below."""
    wide, parts = WIDTH / max(len(texts), 1), []
    for k, (words, color) in enumerate(zip(texts, ramp(np.linspace(0.0, 1.0, len(texts))).tolist(), strict=True)):
        x = MARGIN + k * wide
        parts.append(svg.rect(x, 2, wide - 2, HEIGHT, fill=_code(color)))
        parts.append(
            svg.text(words, x + wide / 2, HEIGHT + 18, text_anchor="middle", font_size=11, fill="currentColor")
        )
    return parts


def _bar(banded: bool) -> list[str]:
    colors = band_colors()[:BANDS] if banded else ramp(np.linspace(0.0, 1.0, CONTINUOUS))
    wide = WIDTH / len(colors)
    return [
        svg.rect(MARGIN + k * wide, 2, wide + 0.3, HEIGHT, fill=_code(color)) for k, color in enumerate(colors.tolist())
    ]


def _scale(texts: list[str]) -> list[str]:
    parts = []
    for k, words in enumerate(texts):
        x = MARGIN + k * WIDTH / (TICKS - 1)
        parts.append(svg.line(x, HEIGHT + 2, x, HEIGHT + 6, stroke="currentColor"))
        parts.append(svg.text(words, x, HEIGHT + 18, text_anchor="middle", font_size=11, fill="currentColor"))
    return parts


def _code(color: list[float]) -> str:
    return "#" + "".join(f"{round(255 * part):02x}" for part in color)
