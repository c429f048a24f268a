"""Where frames go. The simulation knows only this interface; `turgor/__init__.py` says who opens a path."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

__all__ = ["Sink", "opener"]


class Sink(Protocol):
    """Takes the frames of a run, one by one."""

    def add(self, frame: Any) -> None:
        """Take one frame (turgor.simulation.frame.Frame)."""

    def close(self, success: bool = True) -> None:
        """Finish the file, or remove what is half-written."""


opener: Callable[[Any, Any], Sink] | None = None  # (path, layout) -> sink; set by the package root
