"""For mkdocstrings: docstrings as `help` shows them; lines of fields (turgor/scene/described.py) as a table, those of
arguments as a list."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Set
from typing import Any

import griffe

__all__ = ["DescribedFields"]

DECORATORS = ("described", "options_of")
ARGUMENT = re.compile(r"^(\w+(?:, \w+)*): ")
LINE = re.compile(r"^(\w+) \(([^)]*)\): (.*?)(?:; default (.+))?$")


class DescribedFields(griffe.Extension):
    """Takes the docstring of what is decorated from the running program, and gives all of them their form."""

    def on_class(self, *, cls: griffe.Class, **_: Any) -> None:
        if not _decorated(cls):
            _form(cls)
            return
        for member in cls.members.values():
            if isinstance(member, griffe.Attribute):
                member.annotation = _plain(member.annotation)
        _describe(cls)

    def on_function(self, *, func: griffe.Function, **_: Any) -> None:
        if _decorated(func):
            _describe(func)
        else:
            _form(func)


def _decorated(thing: griffe.Class | griffe.Function) -> bool:
    return any(str(decorator.value).split("(")[0] in DECORATORS for decorator in thing.decorators)


def _plain(annotation: Any) -> Any:
    """`float` of `Annotated[float, "kg", "of the whole body"]`."""
    if isinstance(annotation, griffe.ExprSubscript) and str(annotation.left) == "Annotated":
        inside = annotation.slice
        return inside.elements[0] if isinstance(inside, griffe.ExprTuple) else inside
    return annotation


def _describe(thing: griffe.Class | griffe.Function) -> None:
    found: Any = importlib.import_module(thing.module.path)
    for name in thing.path.removeprefix(f"{thing.module.path}.").split("."):
        found = getattr(found, name)
    text = inspect.getdoc(found) or ""
    thing.docstring = griffe.Docstring(table(text), parent=thing, lineno=thing.lineno)


def _form(thing: griffe.Class | griffe.Function) -> None:
    if thing.docstring is not None:
        function = thing.members.get("__init__") if isinstance(thing, griffe.Class) else thing
        names = {entry.name for entry in function.parameters} if isinstance(function, griffe.Function) else set()
        thing.docstring.value = listed(table(thing.docstring.value), names | set(thing.members))


def listed(text: str, names: Set[str]) -> str:
    """A docstring with its paragraphs of arguments (`names`), of which each begins a line, as Markdown lists."""

    def begins(line: str) -> bool:
        found = ARGUMENT.match(line)
        return found is not None and set(found[1].split(", ")) <= names

    paragraphs = []
    for paragraph in text.split("\n\n"):
        lines = paragraph.split("\n")
        if begins(lines[0]) and sum(map(begins, lines)) > 1:
            lines = [ARGUMENT.sub(r"- `\1`: ", line) if begins(line) else f"  {line}" for line in lines]
        paragraphs.append("\n".join(lines))
    return "\n\n".join(paragraphs)


def table(text: str) -> str:
    """A docstring with its lines of fields as a Markdown table; a line that is indented belongs to the one before."""
    head: list[str] = []
    rows: list[str] = []
    for line in re.sub(r"(\(\w[^)]*\): .*)\n    +(?=\S)", r"\1 ", text).splitlines():
        field = LINE.match(line)
        if field:
            name, unit, meaning, default = field.groups()
            shown = "" if default is None else f"`{default}`"
            unit = "" if unit == "no unit" else unit
            rows.append(f"| `{name}` | {unit} | {shown} | {meaning.replace('|', chr(92) + '|')} |")
        else:
            head.append(line)
    if not rows:
        return text
    return "\n".join([*head, "", "| field | unit | default | meaning |", "|---|---|---|---|", *rows])
