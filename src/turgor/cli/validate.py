"""`turgor validate`: the engine against references from outside."""

from __future__ import annotations

import contextlib
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["validate"]

NEEDED = ("pyvista", "PIL")  # what draws the pictures


def validate(
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Folder for the page; created if it is missing.")
    ] = Path("out/validate"),
    quick: Annotated[bool, typer.Option("--quick", help="Coarse meshes: within a minute.")] = False,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="NAMES", help="Some of them: balloon or V1; commas, or several times."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Compare the engine with formulas and published numbers, as one HTML page.

    Ten references: balloon, disc, mylar, airbag, teabag, torus, plate, pouch, lattice and beam; each with picture,
    curve, number, error, tolerance and convergence of the mesh. What misses its tolerance is shown as a miss.

    \b
    turgor validate -o report          at most ten minutes on two cores
    turgor validate -o report --quick  at most one
    turgor validate --only balloon,V3 --json

    The page is DIR/index.html; it needs no other file and no network. Exit code 0: the page was written, whatever it
    says; the last line tells how many are within tolerance. Needs the extra: pip install 'turgor[render]'
    """
    from importlib.util import find_spec

    from turgor.cli.printing import human_size, print_json
    from turgor.cli.terminal import part_by_part
    from turgor.errors import SceneError
    from turgor.papers.report.write import check_folder
    from turgor.validate.catalogue import chosen_references
    from turgor.validate.page import summary
    from turgor.validate.write import numbers, run_references, write_page

    references = chosen_references(only or ())
    check_folder(output)
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise SceneError(f"the page needs {', '.join(missing)}; install it with: pip install 'turgor[render]'")
    begin = time.perf_counter()
    with contextlib.redirect_stdout(sys.stderr), part_by_part(sys.stderr.isatty()) as report:
        shown = run_references(references, quick, report)
    path = write_page(shown, output, quick)
    seconds = time.perf_counter() - begin
    if as_json:
        print_json(numbers(shown, quick) | {"page": str(path), "seconds": seconds})
    else:
        print(f"wrote {path} ({human_size(path.stat().st_size)}) in {seconds:.0f} s")
        print(summary(shown))
