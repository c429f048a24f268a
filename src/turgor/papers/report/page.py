"""The page of the report: one self-contained HTML text."""

from __future__ import annotations

import html
import os
import platform
import time
from collections.abc import Sequence

from turgor.bench.machine import processor
from turgor.papers.report import requirement_table
from turgor.papers.report.blocks import Block, inline
from turgor.papers.report.glance import glance
from turgor.papers.report.item import PAPERS, Item
from turgor.version import __version__

__all__ = ["Shown", "page"]

#: The browser itself makes sure that the page needs nothing but itself.
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"

Shown = tuple[Item, Sequence[Block], float]  # an item, what it gave, the seconds it took


def page(shown: Sequence[Shown], quick: bool) -> str:
    """The whole page."""
    menu, body = [], []
    for paper, name in PAPERS.items():
        entries = [entry for entry in shown if entry[0].paper == paper]
        if not entries:
            continue
        links = "".join(_link(item) for item, _, _ in entries)
        short = html.escape(name.partition(",")[0])
        menu.append(f'<h2><a href="#paper-{paper}">{short}</a></h2><ul>{links}</ul>')
        sections = "".join(_section(item, blocks, seconds) for item, blocks, seconds in entries)
        body.append(f'<h2 id="paper-{paper}">{html.escape(name)}</h2>{sections}')
    table = "".join(block.html() for block in requirement_table.blocks([item for item, _, _ in shown]))
    menu.append('<h2><a href="#requirements">Requirements</a></h2>')
    body.append(f'<h2 id="requirements">Requirements and the tests that show them</h2>{table}')
    how = "quick: fewer and smaller runs" if quick else "full"
    machine = f"turgor {__version__}, {processor()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    head = (
        "<h1>The pressure soft body papers, reproduced by turgor</h1>"
        "<p>Every number and picture here was made by running the engine, when this page was written; numbers of the "
        "papers are named as such. Each part starts with the command that shows it live. "
        '<span class="measured">What turgor measured has a green bar,</span> '
        '<span class="wrong">where a paper is wrong or loose a red one.</span></p>'
        f"<p>{html.escape(machine)}; {time.strftime('%Y-%m-%d')}; {how}.</p>"
        f'<h2 id="glance">At a glance</h2>{glance([(item, blocks) for item, blocks, _ in shown])}'
    )
    menu.insert(0, '<h2><a href="#glance">At a glance</a></h2>')
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>turgor: the papers, reproduced</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{STYLE}</style></head><body>'
        f'<nav aria-label="Contents">{"".join(menu)}</nav><main>{head}{"".join(body)}</main></body></html>\n'
    )


def _link(item: Item) -> str:
    return f'<li><a href="#{html.escape(item.key)}">{html.escape(item.where)}: {inline(item.title)}</a></li>'


def _section(item: Item, blocks: Sequence[Block], seconds: float) -> str:
    needs = " ".join(f'<a href="#req-{html.escape(name)}">{html.escape(name)}</a>' for name in item.requirements)
    note = f'<p class="note">Took {seconds:.1f} s.{" Requirements: " if needs else ""}{needs}</p>'
    words = " ".join(f"<span>{html.escape(word)}</span>" for word in item.command.split(" "))
    command = f'<p class="command"><code>{words}</code></p>' if item.command else ""
    content = "".join(block.html() for block in blocks)
    title = f"{html.escape(item.where)}. {inline(item.title)}"
    return f'<section id="{html.escape(item.key)}"><h3>{title}</h3>{command}{content}{note}</section>'


STYLE = """
:root{color-scheme:light}body{margin:0;font:16px/1.5 system-ui,sans-serif;color:#27303a;background:#fff;display:flex}
nav{position:sticky;top:0;align-self:flex-start;width:290px;height:100vh;overflow:auto;padding:16px;flex:none;
box-sizing:border-box;background:#f4f6f9;font-size:13px}nav ul{padding-left:16px;margin:4px 0}
nav h2{margin:12px 0 2px;font-size:15px}
main{max-width:1080px;padding:16px 32px;min-width:0}main h2{margin-top:48px;border-bottom:2px solid #2f5fb3}
h1{font-size:28px}section{margin:28px 0 40px}section,main h2{scroll-margin-top:12px}a{color:#2f5fb3}
code{background:#eef1f5;padding:1px 5px;border-radius:4px;font-size:90%;overflow-wrap:anywhere}
figure{margin:12px 0}img,svg{max-width:100%;height:auto}figcaption{font-size:13.5px;color:#5a6673}
.scroll{overflow-x:auto}table{border-collapse:collapse;margin:12px 0;font-size:14px}
caption{caption-side:bottom;font-size:13.5px;color:#5a6673;text-align:left;padding-top:4px}
th,td{padding:4px 12px;border-bottom:1px solid #dfe4ea;text-align:left;vertical-align:top}
td.number,th.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
thead th{border-bottom:2px solid #b8c2ce}tr:target,section:target h3{background:#fff4d6}
summary{cursor:pointer;white-space:nowrap}details ul{margin:4px 0;padding-left:16px}
.row{display:flex;flex-wrap:wrap;gap:16px}.row>*{flex:1 1 var(--least);min-width:0}.note{font-size:12.5px;color:#5f6b78}
.command{margin:0 0 8px}.command span{display:inline-block}.wrong{border-left:4px solid #c92f36;padding-left:12px}
.measured{border-left:4px solid #2f8f5b;padding-left:12px}.requirements td:last-child{white-space:nowrap}
.covers{display:grid;grid-template-columns:repeat(auto-fill,minmax(140px,1fr));gap:12px;font-size:13px}
.covers img{display:block;width:100%}.glance td:first-child{white-space:nowrap}
@media(max-width:800px){body{display:block}nav{position:static;width:auto;height:auto}main{padding:12px}}
@media print{nav{display:none}}
"""
