"""For mkdocstrings: docstrings as `help` shows them, with a line per field (turgor/scene/described.py), as a table."""

from __future__ import annotations

import importlib
import inspect
import re
from typing import Any

import griffe

__all__ = ["DescribedFields"]

DECORATORS = ("described", "options_of")
LINE = re.compile(r"^(\w+) \(([^)]*)\): (.*?)(?:; default (.+))?$")


class DescribedFields(griffe.Extension):
    """Takes the docstring of what is decorated from the running program."""

    def on_class(self, *, cls: griffe.Class, **_: Any) -> None:
        if not _decorated(cls):
            return
        for member in cls.members.values():
            if isinstance(member, griffe.Attribute):
                member.annotation = _plain(member.annotation)
        _describe(cls)

    def on_function(self, *, func: griffe.Function, **_: Any) -> None:
        if _decorated(func):
            _describe(func)


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


def table(text: str) -> str:
    """A docstring with its lines of fields as a Markdown table."""
    head, rows = [], []
    for line in text.splitlines():
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
    return "\n".join([*head, "", "| field | unit | default | |", "|---|---|---|---|", *rows])
