"""Scenery on a dark page: floors, grids and walls keep their hue and exchange light for dark."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["dark_look", "darkened"]

COLORS = ("color", "colors", "plane_color", "cell_color", "section_color")  # of viser's meshes, lines and grids
DARKEST, CONTRAST = 26.0, 1.2  # of 255: white on a dark page, a little above its background; and how much of it is kept
LIT = 2.2  # meshes are lit, and seen darker than their colour


def darkened(color: Any, gain: float = 1.0) -> npt.NDArray[np.uint8]:
    """Colours (…, 3) of 0 to 255 with their lightness turned round; what they have of a hue stays."""
    values = np.asarray(color, np.float64)
    light = (values.max(axis=-1, keepdims=True) + values.min(axis=-1, keepdims=True)) / 2
    dark = gain * (DARKEST + CONTRAST * (255 - light))
    turned: npt.NDArray[np.uint8] = np.clip(np.rint(values - light + dark), 0, 255).astype(np.uint8)
    return turned


def dark_look(handle: Any) -> dict[str, Any]:
    """The colours of a viser node as a dark page shows them, by property."""
    found: dict[str, Any] = {}
    for name in COLORS:
        if (value := getattr(handle, name, None)) is not None:
            dark = darkened(value, LIT if getattr(handle, "flat_shading", False) else 1.0)
            found[name] = dark if isinstance(value, np.ndarray) else tuple(int(part) for part in dark)
    return found
