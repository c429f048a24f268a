"""Checks of the arguments of shape functions: one clear sentence for each wrong value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from turgor.errors import MeshError
from turgor.shapes.limits import Limits, current

__all__ = ["MAX_VERTICES", "length", "lengths", "limit", "whole"]

MAX_VERTICES = Limits().vertices  # without a limit of one's own


def length(shape: str, name: str, value: Any, zero: bool = False) -> float:
    """The value as a finite float > 0 (or >= 0 if `zero`)."""
    bound = "zero or more" if zero else "greater than zero"
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise MeshError(f"{shape}: {name} must be a number {bound}, got {value!r}")
    number = float(value)
    if not math.isfinite(number) or number < 0.0 or (number == 0.0 and not zero):
        raise MeshError(f"{shape}: {name} must be a finite number {bound}, got {value!r}")
    return number


def lengths(shape: str, name: str, value: Any, count: int) -> tuple[float, ...]:
    """`count` positive numbers; a single number stands for `count` equal ones."""
    if isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool):
        value = (value,) * count
    if isinstance(value, str) or not isinstance(value, Sequence | np.ndarray) or len(value) != count:
        raise MeshError(f"{shape}: {name} must be {count} numbers greater than zero, got {value!r}")
    return tuple(length(shape, f"{name}[{i}]", v) for i, v in enumerate(value))


def whole(shape: str, name: str, value: Any, least: int, most: int | None = None) -> int:
    """The value as an integer >= `least` (and <= `most`)."""
    allowed = f"a whole number of at least {least}" if most is None else f"a whole number from {least} to {most}"
    if isinstance(value, float | np.floating) and math.isfinite(value) and value == int(value):
        value = int(value)  # TOML and JSON writers may turn 3 into 3.0
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise MeshError(f"{shape}: {name} must be {allowed}, got {value!r}")
    number = int(value)
    if number < least or (most is not None and number > most):
        raise MeshError(f"{shape}: {name} must be {allowed}, got {value!r}")
    return number


def limit(shape: str, vertices: int) -> None:
    """Refuse a shape of more vertices than the limit (of what is left of it) before memory is taken for it."""
    if vertices > (most := current().vertices):
        raise MeshError(
            f"{shape}: {vertices:,} vertices are more than the limit of {most:,}; ask for fewer, or raise the limit of "
            "a scene with --limit vertices=N"
        )
