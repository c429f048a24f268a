"""The parts of docs/benchmarks.md that are made: they stand between two comments, and the words around them stay."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from benchpage import targets
from benchpage.plots import PLOTS
from benchpage.results import Results, Row
from turgor.bench import SUITES
from turgor.bench.text import cell, table

__all__ = ["PLACE", "page", "pictures", "sections"]

PLACE = re.compile(r"<!-- made by tools/benchmarks: ([\w-]+) -->\n(.*?)<!-- end -->\n", re.DOTALL)
HIDDEN = {"threads": ("state_hash",), "peers": ("version",)}  # columns that are too much for a page
NUMERIC = set("0123456789-")
LEFT_OUT = ("cpu: work and precision",)  # tables that are drawn elsewhere (docs/solvers.md)
MACHINE = {
    "processor": "processor", "physical_cores": "cores", "logical_cores": "hardware threads", "memory_gb": "memory, GB",
    "system": "system", "python": "Python", "warp": "Warp", "turgor": "turgor", "commit": "commit", "date": "date",
    "load_before": "load before",
}  # fmt: skip


def page(text: str, every: Sequence[Results]) -> str:
    """The page with its made parts renewed; ValueError for a place that nothing is made for."""
    made = sections(every)

    def renewed(place: re.Match[str]) -> str:
        name = place[1]
        if name not in made:
            raise ValueError(f"the page has a place for {name!r}, which is none of: {', '.join(made)}")
        return f"<!-- made by tools/benchmarks: {name} -->\n{made[name]()}\n<!-- end -->\n"

    return PLACE.sub(renewed, text)


def sections(every: Sequence[Results]) -> dict[str, Callable[[], str]]:
    """What a place is filled with, by its name."""
    made: dict[str, Callable[[], str]] = {
        "machines": lambda: _machines(every),
        "targets": lambda: _table(("what", "target", "measured", ""), targets.table(every)),
    }
    for suite in SUITES:
        made[suite] = lambda suite=suite: _suite(suite, every)  # type: ignore[misc]
    return made


def pictures(every: Sequence[Results]) -> dict[str, str]:
    """SVG files by name, for those that have something to show."""
    drawn = {f"bench-{name}.svg": draw(every) for name, draw in PLOTS.items()}
    return {name: f"{picture}\n" for name, picture in drawn.items() if picture is not None}


def _machines(every: Sequence[Results]) -> str:
    """A column for each."""
    lines = [[words, *(cell(results["machine"].get(key)) for results in every)] for key, words in MACHINE.items()]
    for name in sorted({name for results in every for name in results["machine"]["devices"]} - {"cpu"}):
        lines.append([name, *(cell(results["machine"]["devices"].get(name)) for results in every)])
    lines.append(["clock", *(cell(results.get("options", {}).get("clock")) for results in every)])
    lines.append(["note", *(cell(results.get("note")) for results in every)])
    return _table(["results", *(f"`{results['name']}.json`" for results in every)], lines)


def _suite(suite: str, every: Sequence[Results]) -> str:
    """Tables of a suite, machine by machine, and its plot."""
    parts = []
    having = [results for results in every if suite in results["suites"]]
    for results in having:
        for title, rows in results["suites"][suite]["tables"].items():
            if title in LEFT_OUT:
                continue
            where = f" ({results['name']})" if len(every) > 1 else ""
            parts.append(f"**{title}**{where}\n\n{_rows(rows, HIDDEN.get(suite, ()))}")
    if not having:
        parts.append("Not measured here.")
    if suite in PLOTS and PLOTS[suite](every) is not None:
        parts.append(f"![{SUITES[suite].about}](images/bench-{suite}.svg)")
    return "\n\n".join(parts)


def _rows(rows: Sequence[Row], hidden: Sequence[str]) -> str:
    found = [{key: value for key, value in row.items() if key not in hidden} for row in rows if "missing" not in row]
    parts = [_table(*table(found))] if found else []
    parts += [f"Missing: {': '.join(str(value) for value in row.values())}." for row in rows if "missing" in row]
    return "\n\n".join(parts)


def _table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Columns of numbers to the right."""
    body = [list(row) for row in rows]
    columns = zip(*body, strict=True) if body else ([] for _ in titles)
    sides = ["---:" if all(cell[:1] in NUMERIC for cell in column) else "---" for column in columns]
    lines = [titles, sides, *body]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)
