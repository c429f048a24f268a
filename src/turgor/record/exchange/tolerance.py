"""How far an export may be from the recording."""

from __future__ import annotations

import math

from turgor.errors import SceneError

__all__ = ["DEFAULT", "Tolerance"]

DEFAULT = "0.5%"  # of a body's size: a pixel, where the body is 200 pixels large


class Tolerance:
    """A distance in metres, or a share of the size of each body, as "0.5%"."""

    def __init__(self, value: float | str | None = None) -> None:
        text = str(DEFAULT if value is None else value).strip()
        self._share = text.endswith("%")
        try:
            self._number = float(text.removesuffix("%")) / (100.0 if self._share else 1.0)
        except ValueError:
            self._number = math.nan
        if not (math.isfinite(self._number) and self._number > 0.0):
            raise SceneError(
                f"tolerance = {value}: give a distance in metres, as 0.001, or a share of a body's size, as 0.5%."
            )

    def metres(self, size: float) -> float:
        """For a body of `size`, m."""
        return self._number * max(size, 1e-9) if self._share else self._number
