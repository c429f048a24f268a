"""Files of results, and how a number is found in them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

__all__ = ["Results", "median", "read", "row", "rows", "tables"]

FORMAT = 1
Results = dict[str, Any]
Row = dict[str, Any]


def read(path: Path) -> Results:
    """What `turgor bench -o` wrote; ValueError with a sentence where it is something else."""
    try:
        results = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ValueError(f"{path}: cannot be read as results of `turgor bench -o` ({error})") from None
    if not isinstance(results, dict) or results.get("format") != FORMAT:
        raise ValueError(f"{path}: not results of `turgor bench -o`, or of another version (format {FORMAT} is read)")
    return {"name": path.stem, **results}


def tables(results: Results, suite: str) -> dict[str, list[Row]]:
    """Rows by title; none where the suite was not run."""
    found: dict[str, list[Row]] = results["suites"].get(suite, {}).get("tables", {})
    return found


def rows(results: Results, suite: str, title: str) -> list[Row]:
    """Of the first table whose title has these words: those that were measured."""
    for name, found in tables(results, suite).items():
        if title in name:
            return [row for row in found if "missing" not in row]
    return []


def row(results: Results, suite: str, title: str, **match: Any) -> Row | None:
    """The first row with these values."""
    found = rows(results, suite, title)
    return next((row for row in found if all(row.get(key) == value for key, value in match.items())), None)


def median(value: Any) -> float:
    """Of a spread, or the number itself."""
    return float(value["median"] if isinstance(value, dict) else value)
