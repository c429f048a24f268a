"""`turgor bench`: the benchmarks."""

from __future__ import annotations

import contextlib
import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

__all__ = ["bench"]


def bench(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[SUITE]...", help="Which ones, or all; default: the ten main ones. --list names them."),
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="List the suites, and measure nothing.")] = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Also write the results there, as JSON, after each suite."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
    device: Annotated[
        str, typer.Option(help="cpu, cuda, or auto: the CPU and a GPU if there is one.", metavar="NAME")
    ] = "auto",
    threads: Annotated[int, typer.Option(help="Threads of the CPU, for all suites but threads and peers.", min=1)] = 1,
    quick: Annotated[
        bool, typer.Option("--quick", help="Small sizes, few runs: shows that it works; the numbers mean little.")
    ] = False,
    peers: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder of other engines: node_modules and python in it.", show_default=False),
    ] = None,
    clock: Annotated[
        str, typer.Option(help="wall, or processor: on a machine that others use too (one thread).", metavar="NAME")
    ] = "wall",
    note: Annotated[str, typer.Option(help="Words to keep with the results: who else used the machine.")] = "",
) -> None:
    """Measure how fast this machine runs turgor.

    Medians of repeated runs after a warm-up, with quartiles; ratios are of runs that took turns.

    \b
    turgor bench throughput    Mvs/s: million vertex-substeps per second
    turgor bench peers         other engines; what is missing is named, with how to get it
    turgor bench -o results.json
    """
    from turgor import bench as benchmarks
    from turgor.bench.suite import Options
    from turgor.cli.printing import plain, print_json
    from turgor.cli.terminal import part_by_part
    from turgor.errors import SceneError

    if listed:
        _list(benchmarks.SUITES)
        return
    chosen = benchmarks.chosen(names or [])
    if peers is not None and not peers.is_dir():
        raise SceneError(f"--peers {peers}: there is no such folder; `turgor bench peers` says how to fill one")
    if output is not None and not output.absolute().parent.is_dir():
        raise SceneError(f"--output {output}: its folder does not exist; make it first")
    if clock not in ("wall", "processor"):
        raise SceneError(f"--clock {clock}: there is no such clock; known: wall, processor")
    if clock == "processor" and threads > 1:
        raise SceneError("--clock processor adds up the time of all threads; measure several by the wall clock")
    options = Options(_devices(device), threads, quick, peers, clock)  # type: ignore[arg-type]

    def keep(results: dict[str, Any]) -> None:
        if note:
            results["note"] = note
        if output is not None:
            _write(output, plain(results))

    with contextlib.redirect_stdout(sys.stderr), part_by_part(sys.stderr.isatty()) as report:
        results = benchmarks.run(chosen, options, report, keep)
    if as_json:
        print_json(results)
        return
    _print(results)
    if output is not None:
        print(f"\nwrote {output}")


def _devices(name: str) -> tuple[str, ...]:
    from turgor.bench.measure import devices
    from turgor.simulation.devices import chosen_device

    return tuple(devices()) if name == "auto" else (str(chosen_device(name)),)


def _write(path: Path, results: Any) -> None:
    from turgor.files import replacing, writing

    with writing(path), replacing(path) as temporary:
        temporary.write_text(json.dumps(results, indent=1, allow_nan=False) + "\n", encoding="utf-8")


def _list(suites: Any) -> None:
    width = max(map(len, suites))
    for more in (False, True):
        print("\nmore, by name, or with `turgor bench all`:" if more else "what `turgor bench` runs:")
        for name, suite in suites.items():
            if suite.more == more:
                print(f"  {name:{width}}  {suite.about}")


def _print(results: dict[str, Any]) -> None:
    """Tables for people: the machine, then suite by suite."""
    from turgor.bench.text import table
    from turgor.cli.printing import print_table

    machine = results["machine"]
    print(f"{machine['processor']}, {machine['physical_cores']} cores; turgor {machine['turgor']}", end="")
    print(f" at {machine['commit']}" if machine["commit"] else "", end="")
    print(f", warp {machine['warp']}, python {machine['python']}; threads of the CPU: {results['options']['threads']}")
    if results["options"]["clock"] == "processor":
        print("Times of the CPU are those that a processor was at work, not those of the clock on the wall.")
    for name, device in machine["devices"].items():
        if name != "cpu":
            print(f"{name}: {device}")
    print("Medians, with quartiles in brackets. Only what was measured in one run can be compared.")
    for name, suite in results["suites"].items():
        print(f"\n{name} ({suite['seconds']:.0f} s): {suite['about']}")
        for title, rows in suite["tables"].items():
            print(f"\n  {title}")
            missing = [row for row in rows if "missing" in row]
            if found := [row for row in rows if "missing" not in row]:
                columns, cells = table(found)
                words = [isinstance(value, str) for value in found[0].values()]
                print_table(columns, cells, left=next((place for place, text in enumerate(words) if not text), 1))
            for row in missing:
                print(f"  missing: {': '.join(str(value) for value in row.values())}")
