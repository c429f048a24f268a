"""Checks of the arguments of shape functions: one clear sentence for each wrong value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from turgor.errors import MeshError

__all__ = ["MAX_VERTICES", "length", "lengths", "limit", "whole"]

# Vertex indices are int32 on the device and one body should leave room for others: 20 million vertices are already
# about 1 GB of state, twenty times the largest mesh of the papers' scaling figures (a million).
MAX_VERTICES = 20_000_000


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
    """Refuse a shape of more than MAX_VERTICES vertices before memory is taken for it."""
    if vertices > MAX_VERTICES:
        raise MeshError(f"{shape}: {vertices:,} vertices are more than the limit of {MAX_VERTICES:,}; ask for fewer")
