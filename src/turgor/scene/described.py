"""Fields that describe themselves: one source for the units and meanings that `help` shows.

A field is written as `mass: Annotated[float, "kg", "of the whole body"] = 1.0`: type, unit ("" if none), meaning.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, Field, fields
from typing import Any, TypeVar, get_type_hints

from turgor.scene.validate import ZERO

__all__ = ["described", "options_of"]

T = TypeVar("T")


def described(cls: type[T]) -> type[T]:
    """Decorates a dataclass: its docstring gets a line per field, and its signature shows plain types."""
    cls.__doc__ = f"{inspect.getdoc(cls)}\n\n{_lines(cls)}"
    vars(cls)["__init__"].__annotations__ = get_type_hints(cls)
    return cls


def options_of(cls: type[Any]) -> Callable[[T], T]:
    """Decorates a function that takes the fields of a dataclass as keywords: its docstring gets a line for each."""

    def decorate(function: T) -> T:
        function.__doc__ = f"{inspect.getdoc(function)}\n\n{_lines(cls)}"
        return function

    return decorate


def _lines(cls: type[Any]) -> str:
    hints = get_type_hints(cls, include_extras=True)
    return "\n".join(_line(entry, *hints[entry.name].__metadata__) for entry in fields(cls))


def _line(entry: Field[Any], unit: str, meaning: str) -> str:
    """`mass (kg): of the whole body; default 1.0`"""
    line, default = f"{entry.name} ({unit or 'no unit'}): {meaning}", entry.default
    if default is MISSING:
        return line
    if default == ZERO:
        return f"{line}; default {'zeros' if unit else 'none'}"
    return f"{line}; default " + (f'"{default}"' if isinstance(default, str) else repr(default))
