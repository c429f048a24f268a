"""Results as words: columns and cells of a table of rows, for the terminal and for pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from turgor.bench.suite import Row

__all__ = ["cell", "table"]

UNITS = ("ms", "us", "ns", "s", "m")
TITLES = {"mvs_per_s": "Mvs/s", "gb_per_s": "GB/s", "s": "s", "ns": "ns", "us": "µs", "ms": "ms"}


def table(rows: Sequence[Row]) -> tuple[list[str], list[list[str]]]:
    """(titles, rows of cells): a column for each key, in the order in which keys come up."""
    keys = list(dict.fromkeys(key for row in rows for key in row))
    return [_title(key) for key in keys], [[cell(row.get(key)) for key in keys] for row in rows]


def cell(value: Any) -> str:
    """A number in four digits, a spread with its quartiles: `3.92 (3.88-4.01)`."""
    if value is None:
        return "-"
    if isinstance(value, dict):
        median = _number(value["median"])
        return median if value["runs"] < 2 else f"{median} ({_number(value['q1'])}-{_number(value['q3'])})"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return _number(value) if isinstance(value, (int, float)) else str(value)


def _title(key: str) -> str:
    """`frame, ms` for frame_ms."""
    if key in TITLES:
        return TITLES[key]
    *words, unit = key.replace("_per_s", "/s").split("_")
    return f"{' '.join(words)}, {TITLES.get(unit, unit)}" if words and unit in UNITS else " ".join([*words, unit])


def _number(value: float) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    if value != 0.0 and not 1e-3 <= abs(value) < 1e7:
        return f"{value:.3g}"
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2 if abs(value) >= 1 else 4
    return f"{value:,.{digits}f}"
