"""The top of the report: what there is in pictures, the papers' numbers next to turgor's, and the papers' slips."""

from __future__ import annotations

import base64
import html
from collections.abc import Iterator, Sequence

from turgor.papers.report.blocks import Block, Compared, Picture, Row, Text, inline, plain, words
from turgor.papers.report.item import Item

__all__ = ["glance"]

Part = tuple[Item, Sequence[Block]]


def glance(parts: Sequence[Part]) -> str:
    """The papers in one look; each line leads to its item."""
    return _covers(parts) + _numbers(parts) + _slips(parts)


def _covers(parts: Sequence[Part]) -> str:
    covers = []
    for item, blocks in parts:
        for block in _flat(blocks):
            if isinstance(block, Picture) and block.cover:
                code = base64.b64encode(block.cover).decode("ascii")
                picture = f'<img src="data:image/jpeg;base64,{code}" alt="{plain(item.title)}">'
                covers.append(f'<a href="#{html.escape(item.key)}">{picture}{_name(item)}</a>')
                break
    return f'<div class="covers">{"".join(covers)}</div>' if covers else ""


def _numbers(parts: Sequence[Part]) -> str:
    rows = [
        (_link(item), html.escape(what), words(paper), words(ours))
        for item, blocks in parts
        for block in _flat(blocks)
        if isinstance(block, Compared)
        for what, paper, ours in block.rows
        if paper is not None
    ]
    return _table("Numbers that can be compared", ("", "", "paper", "turgor"), rows)


def _slips(parts: Sequence[Part]) -> str:
    rows = [
        (_link(item), inline(_first_sentence(block.text)))
        for item, blocks in parts
        for block in _flat(blocks)
        if isinstance(block, Text) and block.kind == "wrong"
    ]
    return _table("Where a paper is wrong or loose", ("", ""), rows)


def _table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Of HTML; columns with a name hold numbers."""
    if not rows:
        return ""
    kinds = [' class="number"' if name else "" for name in header]
    head = "".join(f'<th scope="col"{kind}>{name}</th>' for name, kind in zip(header, kinds, strict=True))
    lines = ("".join(f"<td{kind}>{cell}</td>" for cell, kind in zip(row, kinds, strict=True)) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    head = f"<thead><tr>{head}</tr></thead>" if any(header) else ""
    return f'<h3>{title}</h3><div class="scroll"><table class="glance">{head}<tbody>{body}</tbody></table></div>'


def _flat(blocks: Sequence[Block]) -> Iterator[Block]:
    for block in blocks:
        if isinstance(block, Row):
            yield from _flat(block.blocks)
        else:
            yield block


def _name(item: Item) -> str:
    return f"{item.paper} {html.escape(item.where)}"


def _link(item: Item) -> str:
    return f'<a href="#{html.escape(item.key)}">{_name(item)}</a>'


def _first_sentence(text: str) -> str:
    return text.partition(". ")[0].rstrip(".:") + "."
