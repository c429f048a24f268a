"""Ranges of sliders that follow their values, and limits of what may be typed. Plain numbers: no world, no browser."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from turgor.errors import SceneError
from turgor.viewer.world.parameter_access import Span

__all__ = ["check", "common", "followed", "limits", "spoken"]

REACH = 10.0  # what may be typed reaches this many times as far as the slider of the scene as it was opened
EDGE = 0.05  # of a range: a value nearer to its end than this moves the end away
ROOM = 2.0  # times the value: where the end moves to

Limits = tuple[float, float]


def limits(span: Span, least: float = -math.inf, most: float = math.inf) -> Limits:
    """The least and the most that may be typed, where the slider of the scene as it was opened has this span."""
    low = span.low / REACH if span.low > 0.0 else span.low * REACH
    return max(low, least), min(span.high * REACH, most)


def followed(span: Span, value: float, bounds: Limits) -> Span:
    """The span that has room for a value of now: its ends move away from a value that comes near to them."""
    edge = EDGE * (span.high - span.low)
    low, high = span.low, span.high
    if value > high - edge:
        high = max(high, min(ROOM * value, bounds[1]))
    if value < low or (value < low + edge and low != 0.0):
        low = min(low, max(value / ROOM if value > 0.0 else ROOM * value, bounds[0]))
    return span if (low, high) == (span.low, span.high) else Span.of(low, high)


def common(spans: Sequence[Span], bounds: Sequence[Limits]) -> Span | None:
    """The span of one slider for several bodies: all of theirs, as far as each may have it; None: there is none."""
    low = max(min(span.low for span in spans), max(bound[0] for bound in bounds))
    high = min(max(span.high for span in spans), min(bound[1] for bound in bounds))
    if not low < high:
        return None
    if low == min(span.low for span in spans) and high == max(span.high for span in spans):
        return Span.of(low, high)
    return Span.within(low, high)


def spoken(value: float) -> str:
    """A number as a person writes it, to three digits."""
    rounded = float(f"{value:.3g}")
    if 1e3 <= abs(rounded) < 1e6:
        return f"{rounded:,.0f}"
    return re.sub(r"e([+-])0*", lambda found: "e" + found[1].strip("+"), f"{rounded:g}")


def check(label: str, unit: str, name: str, value: float, bounds: Limits) -> None:
    """SceneError in the words of the page, where a body cannot have a value."""
    low, high = bounds
    if not math.isfinite(value):
        raise SceneError(f"{label}: this is not a number. Type one from {spoken(low)} to {spoken(high)}.")
    slack = 1e-9 * (high - low)
    if low - slack <= value <= high + slack:
        return
    what, whose = f"{spoken(value)} {unit}".strip(), f" of {name}" if name else ""
    ends = f"{spoken(low)} to {spoken(high)} {unit}".strip()
    instead = "Choose a value in between" + (", or select another body." if name else ".")
    raise SceneError(
        f"{label}{whose}: {what} is too {'much' if value > high else 'little'}; {ends} is possible. {instead}"
    )
