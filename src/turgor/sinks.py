"""Where frames go. The simulation knows only this interface; `turgor/__init__.py` says who takes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

__all__ = ["Sink", "opener", "viewer"]


class Sink(Protocol):
    """Takes the frames of a run, one by one."""

    def add(self, frame: Any) -> None:
        """Take one frame (turgor.simulation.frame.Frame)."""

    def close(self, success: bool = True) -> None:
        """Finish the file, or remove what is half-written."""


opener: Callable[[Any, Any], Sink] | None = None  # (path, layout) -> sink; set by the package root
viewer: Callable[[Any, int, int], Any] | None = (
    None  # (simulation, height, port) -> inline view; set by the package root
)
