"""Runs the references one by one, and writes the page and the numbers."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from turgor.errors import TurgorError
from turgor.files import replacing
from turgor.validate.page import Shown, page, summary
from turgor.validate.reference import Reference, failed

__all__ = ["numbers", "run_references", "write_page"]

Report = Callable[[int, int, str], None]  # references done, references in all, what is next


def run_references(
    references: Sequence[Reference], quick: bool = False, report: Report = lambda *_: None
) -> list[Shown]:
    """What each gave; one that the engine cannot compute is a miss that says why, and the others go on."""
    shown: list[Shown] = []
    for number, reference in enumerate(references):
        report(number, len(references), f"{reference.number} {reference.key}")
        begin = time.perf_counter()
        try:
            outcome = reference.run(quick)
        except TurgorError as error:
            outcome = failed(str(error))
        shown.append((reference, outcome, time.perf_counter() - begin))
    report(len(references), len(references), "")
    return shown


def write_page(shown: Sequence[Shown], folder: str | os.PathLike[str], quick: bool) -> Path:
    """Writes `folder`/index.html: all of it, or (on an error) nothing. Returns its path."""
    target = Path(folder)
    content = page(shown, quick)
    target.mkdir(parents=True, exist_ok=True)
    path = target / "index.html"
    with replacing(path) as temporary:
        temporary.write_text(content, encoding="utf-8")
    return path


def numbers(shown: Sequence[Shown], quick: bool) -> dict[str, Any]:
    """All numbers of the page, for `--json`."""
    return {
        "summary": summary(shown),
        "within": sum(outcome.within for _, outcome, _ in shown),
        "references": len(shown),
        "quick": quick,
        "results": [
            {
                "number": reference.number,
                "name": reference.key,
                "title": reference.title,
                "within": outcome.within,
                "seconds": seconds,
                "failure": outcome.failure or None,
                "checks": [
                    {
                        "what": check.what,
                        "reference": check.reference,
                        "measured": check.measured,
                        "error": check.error,
                        "tolerance": check.tolerance,
                        "within": check.within,
                    }
                    for check in outcome.checks
                ],
                "refinements": [
                    {
                        "what": entry.what,
                        "vertices": entry.vertices,
                        "edges": entry.edges,
                        "values": entry.values,
                        "errors": entry.errors,
                        "order": entry.order,
                    }
                    for entry in outcome.refinements
                ],
            }
            for reference, outcome, seconds in shown
        ],
    }
