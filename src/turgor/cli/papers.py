"""`turgor papers`: the papers' figures and tables, reproduced."""

from __future__ import annotations

import contextlib
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["papers"]

NEEDED = ("pyvista", "PIL")  # what draws the pictures


def papers(
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Folder for the report; created if it is missing.")
    ] = Path("out/papers"),
    quick: Annotated[bool, typer.Option("--quick", help="Fewer and smaller runs: within a minute.")] = False,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="NAME", help="One part (2003-figure-6) or paper (2004); may be repeated."),
    ] = None,
    show: Annotated[
        bool, typer.Option("--list", help="Only list the parts, with the command that shows each.")
    ] = False,
) -> None:
    """Reproduce the four papers as one HTML page.

    The page shows every scene, figure and table of the papers, made by running the engine.

    \b
    turgor papers -o report          at most ten minutes on two cores
    turgor papers -o report --quick  at most one
    turgor papers --list             each part, and the command that shows it live

    The page is DIR/index.html; it needs no other file and no network. Ctrl-C stops after the current part, a second
    Ctrl-C at once; nothing is written then. Needs the extra: pip install 'turgor[render]'
    """
    from importlib.util import find_spec

    from turgor.cli.printing import human_size
    from turgor.cli.terminal import part_by_part
    from turgor.errors import SceneError
    from turgor.papers.catalogue import chosen_items
    from turgor.papers.report.write import check_folder, write_report

    items = chosen_items(only or ())
    if show:
        for item in items:
            print(f"{item.key}: {item.where}. {item.title.replace('`', '')}\n    {item.command}")
        return
    check_folder(output)
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise SceneError(f"the report needs {', '.join(missing)}; install it with: pip install 'turgor[render]'")
    begin = time.perf_counter()
    with contextlib.redirect_stdout(sys.stderr), part_by_part(sys.stderr.isatty()) as report:
        path = write_report(items, output, quick, report)
    print(f"wrote {path} ({human_size(path.stat().st_size)}) in {time.perf_counter() - begin:.0f} s")
