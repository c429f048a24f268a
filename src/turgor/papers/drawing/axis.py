"""Axes of plots: round ticks that enclose the values, and where a value lies in pixels."""

from __future__ import annotations

import math
from collections.abc import Sequence

__all__ = ["Axis", "even_ticks", "log_ticks", "short"]


class Axis:
    """From values to pixels, with round ticks; the first and the last enclose all values."""

    def __init__(self, values: Sequence[float], log: bool, start: float, end: float) -> None:
        low, high = min(values), max(values)
        self.log, self.start, self.end = log, start, end
        self.ticks = log_ticks(low, high) if log else even_ticks(low, high)

    def place(self, value: float) -> float:
        """Pixels."""
        low, high = self._scaled(self.ticks[0]), self._scaled(self.ticks[-1])
        return self.start + (self._scaled(value) - low) / (high - low) * (self.end - self.start)

    def _scaled(self, value: float) -> float:
        return math.log10(value) if self.log else value


def log_ticks(low: float, high: float) -> list[float]:
    """Powers of ten, at most nine of them; within two decades also 2 and 5 times a power."""
    first, last = math.floor(math.log10(low) + 1e-9), math.ceil(math.log10(high) - 1e-9)
    last = max(last, first + 1)
    every = math.ceil((last - first) / 8)
    powers = [10.0**power for power in range(first, last + every, every)]
    if last - first > 2:
        return powers
    ticks = [part * power for power in powers for part in (1, 2, 5)]
    begin = max(index for index, tick in enumerate(ticks) if tick <= low * (1 + 1e-9))
    end = min(index for index, tick in enumerate(ticks) if tick >= high * (1 - 1e-9))
    return ticks[begin : max(end, begin + 1) + 1]


def even_ticks(low: float, high: float) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten, about five; from 0 where that costs less than half of the room."""
    if 0 < low < 0.5 * high:
        low = 0.0
    if 0.5 * low < high < 0:
        high = 0.0
    if high - low <= 1e-9 * max(abs(low), abs(high)):
        low, high = low - 0.5 * (abs(low) or 1.0), high + 0.5 * (abs(high) or 1.0)
    length = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(length))
    step = next(part * power for part in (1, 2, 5, 10) if part * power >= length * (1 - 1e-9))
    return [step * k for k in range(math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9) + 1)]


def short(value: float, digits: int = 6) -> str:
    """A number at an axis: 0.001, 20000, 2e5, 1e-7."""
    rounded = float(f"{value:.{digits}g}")
    if rounded == 0 or 1e-4 <= abs(rounded) < 1e5:
        return f"{rounded:.10g}"
    factor, _, power = f"{rounded:e}".partition("e")
    return f"{float(factor):g}e{int(power)}"
