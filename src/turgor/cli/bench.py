"""`turgor bench`: the benchmarks."""

from __future__ import annotations

import json
import platform
import sys
from typing import Annotated, Any

import typer

__all__ = ["bench"]


def bench(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Which ones; default: all. A wrong name lists them."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Measure how fast this machine runs turgor.

    \b
    turgor bench throughput   Mvs/s: million vertex-substeps per second
    turgor bench pile         time of each stage of a frame
    """
    from turgor import bench as benchmarks

    def report(name: str) -> None:
        if sys.stderr.isatty():
            print(f"{name} ...", file=sys.stderr)

    results = benchmarks.run(names or [], report)
    if as_json:
        print(json.dumps({"machine": f"{platform.system()} {platform.machine()}", **results}, allow_nan=False))
        return
    for name, result in results.items():
        typer.echo(f"\n{name}: {(benchmarks.BENCHMARKS[name].__doc__ or '').strip()}")
        for line in _lines(result, "  "):
            typer.echo(line)


def _lines(value: Any, indent: str) -> list[str]:
    """A nested result as indented text, rows of numbers on one line."""
    if isinstance(value, dict) and all(not isinstance(entry, (dict, list)) for entry in value.values()):
        return [indent + "  ".join(f"{key} {_number(entry)}" for key, entry in value.items())]
    entries = value.items() if isinstance(value, dict) else [("", entry) for entry in value]
    lines: list[str] = []
    for key, entry in entries:
        if isinstance(entry, (dict, list)):
            lines += [f"{indent}{key}"] if key else []
            lines += _lines(entry, indent + ("  " if key else ""))
        else:
            lines.append(f"{indent}{key} {_number(entry)}")
    return lines


def _number(value: Any) -> str:
    return f"{value:,.4g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)
