"""The requirements of docs/requirements.md with the tests that cover them, as tools/requirements has written them."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

from turgor.papers.report.blocks import Block, Text
from turgor.papers.report.item import Item

__all__ = ["blocks", "load"]


def load() -> dict[str, Any]:
    """sections (letter -> title) and requirements (id, text, names of tests; `open`: parts that are not there yet)."""
    text = (resources.files("turgor.papers") / "data" / "requirements.json").read_text(encoding="utf-8")
    data: dict[str, Any] = json.loads(text)
    return data


def blocks(items: Sequence[Item] = ()) -> list[Block]:
    """A table per paper, each row with the anchor `req-ID`; `items` are linked from the requirements that they show."""
    data = load()
    note = (
        "Each test carries the ids that it covers. `make test`, in a clone of the repository, runs them all, and fails "
        "where an id of the papers has no passing test."
    )
    found: list[Block] = [Text(note)]
    for letter, title in data["sections"].items():
        rows = [row for row in data["requirements"] if row["id"].startswith(letter)]
        found.append(_Table(title, rows, {row["id"]: _shown_by(row["id"], items) for row in rows}))
    return found


def _shown_by(name: str, items: Sequence[Item]) -> list[Item]:
    return [item for item in items if name in item.requirements]


@dataclass(frozen=True)
class _Table:
    """The requirements of one paper."""

    title: str
    rows: Sequence[Mapping[str, Any]]
    shown_by: Mapping[str, Sequence[Item]]

    def html(self) -> str:
        head = "".join(f'<th scope="col">{cell}</th>' for cell in ("id", "what", "tests", "shown above"))
        body = "".join(map(self._row, self.rows))
        table = f'<table class="requirements"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
        return f'<h3>{html.escape(self.title)}</h3><div class="scroll">{table}</div>'

    def _row(self, row: Mapping[str, Any]) -> str:
        name, tests = html.escape(row["id"]), row["tests"]
        links = "<br>".join(
            f'<a href="#{html.escape(item.key)}">{item.paper} {html.escape(item.where)}</a>'
            for item in self.shown_by[row["id"]]
        )
        lines = "".join(f"<li><code>{html.escape(test)}</code></li>" for test in tests)
        names = f"{len(tests)} test{'s' if len(tests) > 1 else ''}"
        cell = f"<details><summary>{names}</summary><ul>{lines}</ul></details>" if tests else "none"
        if row.get("open"):
            cell = f"in part; open: {html.escape(row['open'])}{cell}"
        return (
            f'<tr id="req-{name}"><th scope="row">{name}</th><td>{html.escape(row["text"])}</td>'
            f"<td>{cell}</td><td>{links}</td></tr>"
        )
