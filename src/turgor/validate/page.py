"""The page of `turgor validate`: one self-contained HTML text."""

from __future__ import annotations

import html
import math
import os
import platform
import time
from collections.abc import Sequence

from turgor.bench.machine import processor
from turgor.papers.report.blocks import Table, Text, inline
from turgor.papers.report.page import POLICY, STYLE
from turgor.validate.reference import Check, Outcome, Reference, Refinement
from turgor.version import __version__

__all__ = ["Shown", "page", "percent", "summary"]

Shown = tuple[Reference, Outcome, float]  # a reference, what it gave, the seconds it took

OWN_STYLE = ".verdict{font-weight:bold}.hit{color:#217346}.miss{color:#c92f36}"


def summary(shown: Sequence[Shown]) -> str:
    """One line: how many are within their tolerance, and which are not."""
    misses = [f"{reference.number} {reference.key}" for reference, outcome, _ in shown if not outcome.within]
    line = f"{len(shown) - len(misses)} of {len(shown)} references within tolerance"
    return f"{line}; missed: {', '.join(misses)}" if misses else line


def page(shown: Sequence[Shown], quick: bool) -> str:
    """The whole page."""
    menu = "".join(
        f'<li><a href="#{html.escape(reference.key)}">{reference.number} {inline(reference.title)}</a></li>'
        for reference, _, _ in shown
    )
    how = "quick: coarse meshes" if quick else "full"
    machine = f"turgor {__version__}, {processor()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    head = (
        "<h1>turgor against references from outside</h1>"
        "<p>Each part compares the engine with a formula that is derived in its source file, or with published "
        "numbers. Everything was computed when this page was written; what misses its tolerance is shown as a miss. "
        "An order of convergence is the slope of the error against the length of an edge, both in logarithms.</p>"
        f"<p>{html.escape(machine)}; {time.strftime('%Y-%m-%d')}; {how}.</p>"
        f'<p class="verdict">{html.escape(summary(shown))}.</p>{_overview(shown)}'
    )
    body = "".join(_section(*entry) for entry in shown)
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>turgor: validation</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{STYLE}{OWN_STYLE}</style></head><body>"
        f'<nav aria-label="Contents"><ul>{menu}</ul></nav><main>{head}{body}</main></body></html>\n'
    )


def percent(share: float) -> str:
    """A share as text: +0.31 %."""
    return f"{100.0 * share:+.2f} %" if math.isfinite(share) else "–"


def _overview(shown: Sequence[Shown]) -> str:
    rows = []
    for reference, outcome, seconds in shown:
        link = f'<a href="#{html.escape(reference.key)}">{reference.number}</a>'
        worst = _worst(outcome.checks)
        cells = ("–", "–") if worst is None else (percent(worst.error), _allowed(worst))
        name = "–" if worst is None else inline(worst.what)
        order = ", ".join(_order(entry) for entry in outcome.refinements) or "–"
        rows.append(
            f"<tr><td>{link}</td><td>{inline(reference.title)}</td><td>{name}</td>"
            f'<td class="number">{cells[0]}</td><td class="number">{cells[1]}</td>'
            f'<td class="number">{order}</td><td class="number">{seconds:.1f} s</td>'
            f"<td>{_verdict(outcome.within)}</td></tr>"
        )
    names = ("", "reference", "number that is nearest to its limit", "error", "allowed", "order", "time", "")
    top = "".join(f'<th scope="col">{name}</th>' for name in names)
    return f'<div class="scroll"><table><thead><tr>{top}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'


def _section(reference: Reference, outcome: Outcome, seconds: float) -> str:
    parts = [
        f"<h3>{reference.number}. {inline(reference.title)}: {_verdict(outcome.within)}</h3>",
        Text(reference.formula).html(),
        Text(reference.setup).html(),
    ]
    if outcome.failure:
        parts.append(Text(f"No result: {outcome.failure}", "wrong").html())
    if outcome.checks:
        parts.append(_checks(outcome.checks))
    parts += [block.html() for block in outcome.blocks]
    parts += [_refinement(entry) for entry in outcome.refinements]
    parts += [Text(note).html() for note in outcome.notes]
    command = f'<p class="command"><code>turgor validate --only {html.escape(reference.key)}</code></p>'
    note = (
        f'<p class="note">Took {seconds:.1f} s; derivation in src/turgor/validate/{html.escape(reference.key)}.py.</p>'
    )
    return f'<section id="{html.escape(reference.key)}">{"".join(parts)}{command}{note}</section>'


def _checks(checks: Sequence[Check]) -> str:
    rows = "".join(
        f'<tr><td>{inline(check.what)}</td><td class="number">{_expected(check)}</td>'
        f'<td class="number">{_short(check.measured)}</td><td class="number">{percent(check.error)}</td>'
        f'<td class="number">{_allowed(check)}</td><td>{_verdict(check.within)}</td></tr>'
        for check in checks
    )
    names = ("", "reference", "turgor", "error", "allowed", "")
    top = "".join(f'<th scope="col">{name}</th>' for name in names)
    return f'<div class="scroll"><table><thead><tr>{top}</tr></thead><tbody>{rows}</tbody></table></div>'


def _refinement(entry: Refinement) -> str:
    rows = list(zip(entry.vertices, entry.edges, entry.values, map(percent, entry.errors), strict=True))
    compared = "the reference" if entry.exact is not None else "the finest mesh"
    caption = f"{entry.what} on finer meshes; errors relative to {compared}. Observed order: {_order(entry)}."
    return Table(["vertices", "edge", "value", "error"], rows, caption, digits=5).html()


def _order(entry: Refinement) -> str:
    return f"{entry.order:.2f}" if math.isfinite(entry.order) else "not known"


def _worst(checks: Sequence[Check]) -> Check | None:
    """The check with the largest part of its tolerance used up."""

    def used(check: Check) -> float:
        if not math.isfinite(check.measured):
            return math.inf
        return abs(check.error) / check.tolerance if check.tolerance > 0.0 else (math.inf if check.error else 0.0)

    return max(checks, key=used, default=None)


def _expected(check: Check) -> str:
    if isinstance(check.reference, tuple):
        return f"{_short(check.reference[0])} to {_short(check.reference[1])}"
    return _short(check.reference)


def _allowed(check: Check) -> str:
    between = isinstance(check.reference, tuple) and check.tolerance == 0.0
    return "between" if between else f"{100.0 * check.tolerance:g} %"


def _short(value: float) -> str:
    return inline(f"{value:.5g}") if math.isfinite(value) else "–"


def _verdict(within: bool) -> str:
    return '<span class="hit">within</span>' if within else '<span class="miss">MISS</span>'
