"""Recipes of shapes as plain data, and the paths in them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

__all__ = ["map_paths", "plain"]


def plain(value: Any) -> Any:
    """Numpy values, tuples and mappings of a recipe as lists, dicts and scalars; None entries are left out."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items() if entry is not None}
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    return value


def map_paths(recipe: Any, change: Callable[[str], str]) -> Any:
    """A recipe with its paths changed: the mesh of { file = ... } and the font of letters."""
    if not isinstance(recipe, Mapping):
        return recipe
    return {
        key: change(entry) if key in ("file", "font") and isinstance(entry, str) and entry else map_paths(entry, change)
        for key, entry in recipe.items()
    }
