"""The page of a study's report: one self-contained HTML text, light and dark, without scripts."""

from __future__ import annotations

import html
import time

from turgor.papers.report.page import POLICY
from turgor.study.report import tables
from turgor.study.report.choose import MOST_OUTPUTS, Figure, figures
from turgor.study.report.style import STYLE
from turgor.study.results import Results

__all__ = ["page"]


def page(results: Results) -> str:
    """The whole page."""
    study = results.study
    title = f"Study of {study.get('scene') or 'a scene'}"
    parts = [("studied", "What was studied", tables.asked(results))]
    if len(results):
        parts.append(("numbers", "Numbers", tables.statistics(results)))
    plots = figures(results)
    for number, (output, drawn) in enumerate(plots.items()):
        content = _figures(drawn) + "<h3>Runs at both ends</h3>" + tables.extremes(results, output)
        parts.append((f"output-{number}", output, content))
    if len(results.failed):
        parts.append(("failed", "Failed runs", tables.failures(results)))
    if len(results):
        parts.append(("slowest", "Slowest runs", tables.slowest(results)))
    parts.append(("files", "The table", FILES))
    menu = " ".join(f'<a href="#{key}">{html.escape(heading)}</a>' for key, heading, _ in parts)
    body = "".join(
        f'<section id="{key}"><h2>{html.escape(heading)}</h2>{content}</section>' for key, heading, content in parts
    )
    left = len(results.outputs) - MOST_OUTPUTS
    note = f"<p>Plots of the first {MOST_OUTPUTS} outputs; {left} more are in the table.</p>" if left > 0 else ""
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{STYLE}</style></head><body><main><h1>{html.escape(title)}</h1>"
        f'<p class="lead">{html.escape(_summary(results))}</p>{note}<nav aria-label="Contents">{menu}</nav>{body}'
        f'<p class="note">Written by turgor on {time.strftime("%Y-%m-%d")}.</p></main></body></html>\n'
    )


def _summary(results: Results) -> str:
    """`4,000 runs of 3 inputs and 2 outputs; 12 failed; 31.2 s.`"""
    asked, there = results.study.get("runs"), len(results)
    runs = (
        f"{there:,} of {asked:,} runs" if isinstance(asked, int) and asked > there else f"{there:,} {_s('run', there)}"
    )
    inputs, outputs = len(results.inputs), len(results.outputs)
    text = f"{runs} with {inputs} {_s('input', inputs)} and {outputs} {_s('output', outputs)}"
    if isinstance(asked, int) and asked > there:
        text += "; the study was not finished"
    text += f"; {len(results.failed):,} failed" if results.failed else "; none failed" if there else ""
    wall = results.study.get("wall_seconds")
    return f"{text}; {wall:.1f} s of wall time." if isinstance(wall, int | float) else f"{text}."


def _s(word: str, count: int) -> str:
    return word if count == 1 else f"{word}s"


def _figures(drawn: list[Figure]) -> str:
    def one(figure: Figure) -> str:
        kind = "wide" if figure.wide else "part"
        return (
            f'<figure class="{kind}"><div class="scroll">{figure.svg}</div>'
            f"<figcaption>{html.escape(figure.caption)}</figcaption></figure>"
        )

    parts = "".join(one(figure) for figure in drawn if not figure.wide)
    wide = "".join(one(figure) for figure in drawn if figure.wide)
    kind = "plots one" if len(drawn) == 1 else "plots"
    return (f'<div class="{kind}">{parts}</div>' if parts else "") + wide


FILES = (
    "<p><code>results.csv</code> and <code>results.parquet</code> beside this page hold every run: inputs, outputs, "
    "seed, solver, substeps, version, wall time, and the reason where it failed. With pandas:</p>"
    "<pre><code>import pandas\n\ntable = pandas.read_parquet(&quot;results.parquet&quot;)</code></pre>"
)
