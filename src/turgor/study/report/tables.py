"""Tables of the report: what was asked, statistics, the best and the worst, the slowest and the failed runs."""

from __future__ import annotations

import html
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from turgor.papers.report.blocks import Table, words
from turgor.record import svg
from turgor.study.report.columns import Column, column_of
from turgor.study.report.frame import cut
from turgor.study.results import Results

__all__ = ["asked", "extremes", "failures", "slowest", "statistics"]

FEW = 5  # runs at each end
SLOWEST = 10
FAILED = 40  # rows; reasons are counted over all
REASON = 300  # letters
SAME = 1e-12  # of the largest: no histogram can part numbers that are nearer
BARS = (120, 24, 24)  # width, height, number of a histogram


def asked(results: Results) -> str:
    """The study in words, a line each."""
    study = results.study
    lines: list[tuple[str, str]] = []
    for key, name in (("scene", "scene"), ("title", "described as"), ("command", "command")):
        if study.get(key):
            lines.append((name, str(study[key])))
    vary, measure = study.get("vary", {}), study.get("measure", {})
    lines += [(f"input {name}", _words(vary.get(name)) or _range(column_of(results, name))) for name in results.inputs]
    lines += [(f"output {name}", _words(measure.get(name)) or name) for name in results.outputs]
    for key, name, unit in (
        ("sampling", "sampling", ""), ("repeat", "repeats", ""), ("seconds", "simulated", " s"), ("seed", "seed", ""),
        ("plan", "plan", ""),
    ):  # fmt: skip
        if study.get(key) is not None:
            lines.append((name, f"{_words(study[key])}{unit}"))
    for name in ("solver", "substeps", "device", "version"):
        found = [str(value) for value in _distinct(row[name] for row in results.rows)]
        if found:
            few = ", ".join(found) if len(found) <= 4 else f"{found[0]} to {found[-1]}"
            lines.append((f"turgor {name}" if name == "version" else name, few))
    if study.get("machine"):
        lines.append(("machine", _words(study["machine"])))
    rows = "".join(
        f'<tr><th scope="row">{html.escape(name)}</th><td>{html.escape(text)}</td></tr>' for name, text in lines
    )
    return f'<div class="scroll"><table class="asked"><tbody>{rows}</tbody></table></div>'


def statistics(results: Results) -> str:
    """Least, mean, median, largest and deviation of every column of numbers, and a histogram."""
    rows = []
    for name in (*results.inputs, *results.outputs, "wall_seconds"):
        column = column_of(results, name)
        if column.words:
            counts = Counter(column.words[int(value)] for value in column.values)
            names = ", ".join(f"{word or '–'} ({count:,})" for word, count in counts.most_common(6))
            rows.append(
                f'<tr><th scope="row">{html.escape(column.label)}</th><td class="number">{len(column.values):,}</td>'
                f'<td colspan="6">{html.escape(cut(names, 160))}</td></tr>'
            )
            continue
        known = column.values[np.isfinite(column.values)]
        label = "wall time (s)" if name == "wall_seconds" else column.label
        numbers = [float(f(known)) if len(known) else None for f in (np.min, np.mean, np.median, np.max, _deviation)]
        cells = "".join(f'<td class="number">{words(value, 4)}</td>' for value in numbers)
        rows.append(
            f'<tr><th scope="row">{html.escape(label)}</th><td class="number">{len(known):,}</td>{cells}'
            f"<td>{_histogram(known, label)}</td></tr>"
        )
    numbers_of = ("runs", "least", "mean", "median", "largest", "deviation")
    head = "".join(f'<th scope="col" class="number">{name}</th>' for name in numbers_of)
    head = f'<th scope="col"></th>{head}<th scope="col">histogram</th>'
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'


def extremes(results: Results, name: str) -> str:
    """The runs with the least and the largest values of an output, with their inputs."""
    column = column_of(results, name)
    good = np.flatnonzero(np.isfinite(column.values))
    order = good[np.argsort(column.values[good], kind="stable")]
    few = min(FEW, len(order) // 2 or 1)
    chosen = [("largest", row) for row in order[::-1][:few]] + [("least", row) for row in order[:few][::-1]]
    if len(order) == 1:
        chosen = chosen[:1]
    keys = (name, *results.inputs, *_repeat(results), "run")
    header = ("", *(column_of(results, key).label for key in keys))
    rows = [(end, *_of(results.rows[row], keys)) for end, row in chosen]
    return Table(_plain(header), rows, digits=4).html()


def slowest(results: Results) -> str:
    """The runs that took longest; worlds of one simulation share its wall time, and one line."""
    batches: dict[float, list[Mapping[str, Any]]] = {}
    for row in results.rows:
        if math.isfinite(row["wall_seconds"]):
            batches.setdefault(row["wall_seconds"], []).append(row)
    shared = any(len(batch) > 1 for batch in batches.values())
    header = ("run", "wall time (s)", *_labels(results), "substeps", "worlds", "device", "status")
    keys = ("run", "wall_seconds", *results.inputs, "substeps", "worlds", "device", "status")
    shown = sorted(batches.items(), reverse=True)[:SLOWEST]
    rows = [[*_of(batch[0], keys), *([len(batch)] if shared else [])] for _, batch in shown]
    note = "Runs of one simulation share its wall time evenly, and a line: that of the first of them." if shared else ""
    return Table(_plain((*header, *(["runs"] if shared else []))), rows, note).html()


def failures(results: Results) -> str:
    """How often each reason occurs, then the runs."""
    failed = results.failed
    counts = Counter(row["reason"] or "no reason given" for row in failed)
    reasons = [reason for reason, _ in counts.most_common()]
    listed = [(number, counts[reason], _short(reason)) for number, reason in enumerate(reasons[:FAILED], start=1)]
    first = Table(("reason", "runs", ""), listed).html()
    header = ("run", *_labels(results), *_repeat(results), "reason")
    keys = ("run", *results.inputs, *_repeat(results))
    rows = [[*_of(row, keys), reasons.index(row["reason"] or "no reason given") + 1] for row in failed[:FAILED]]
    note = f"The first {FAILED} of {len(failed):,}; results.csv has all." if len(failed) > FAILED else ""
    return first + Table(_plain(header), rows, note).html()


def _labels(results: Results) -> list[str]:
    """The inputs with their units."""
    return [column_of(results, name).label for name in results.inputs]


def _repeat(results: Results) -> tuple[str, ...]:
    """A column for the number of the repeat, where runs were repeated."""
    return ("repeat",) if any(row["repeat"] for row in results.rows) else ()


def _of(row: Mapping[str, Any], names: Sequence[str]) -> list[Any]:
    return [row[name] for name in names]


def _short(text: str) -> str:
    return cut(" ".join(text.replace("`", "'").split()), REASON)


def _plain(header: Iterable[str]) -> tuple[str, ...]:
    """Names as they are: backquotes and stars mean something to a table."""
    return tuple(name.replace("`", "'") for name in header)


def _distinct(values: Iterable[Any]) -> list[Any]:
    return sorted({value for value in values if value not in (None, "")})


def _words(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_words(entry)}" for key, entry in value.items())
    if isinstance(value, list):
        return ", ".join(_words(entry) for entry in value)
    return "" if value is None else str(value)


def _range(column: Column) -> str:
    values = column.distinct
    if column.words:
        return cut(", ".join(column.words), 160)
    if not len(values):
        return "no value"
    return f"{values[0]:.6g} to {values[-1]:.6g}, {len(values):,} values" if len(values) > 1 else f"{values[0]:.6g}"


def _deviation(values: Any) -> float:
    """0 where all are the same, without the rounding of their mean."""
    return float(np.std(values)) if np.ptp(values) > 0.0 else 0.0


def _histogram(values: Any, name: str) -> str:
    wide, high, count = BARS
    if not len(values) or np.ptp(values) <= SAME * np.abs(values).max():
        return ""
    bars, _ = np.histogram(values, count)
    step = wide / count
    path = "".join(
        f"M{k * step:.1f} {high}v-{bar / bars.max() * (high - 1):.1f}h{step - 0.6:.1f}V{high}z"
        for k, bar in enumerate(bars)
        if bar
    )
    drawn = svg.element("path", d=path, **{"class": "bars"})
    return svg.document([drawn], (wide, high), width=wide, role="img", aria_label=f"histogram of {name}")
