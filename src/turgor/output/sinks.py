"""Where frames go: the one interface that a simulation knows. The package root sets what opens a path as a sink."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, runtime_checkable

from turgor.errors import SceneError
from turgor.output.frame import Frame, Layout

__all__ = ["Record", "Sink", "as_list", "opened", "opener", "viewer"]


@runtime_checkable
class Sink(Protocol):
    """Takes the frames of one simulation, in order."""

    def add(self, frame: Frame) -> None:
        """Takes one frame."""

    def close(self, success: bool = True) -> None:
        """Finishes. `success=False`: the run failed; a file that is useless when cut short is removed."""


Record = str | os.PathLike[str] | Sink  # a path, whose ending picks the format, or a sink

opener: Callable[[Any, Layout], Sink] | None = None  # (path, layout) -> sink; set by the package root
viewer: Callable[[Any, int, int], Any] | None = None  # (simulation, height, port) -> inline view; set by the root


def as_list(record: Record | Sequence[Record] | None) -> Iterable[Record]:
    """None, one or several, as several."""
    if record is None:
        return []
    if isinstance(record, (list, tuple)):
        return record
    return [record]  # type: ignore[list-item]


def opened(entry: Record, layout: Layout) -> Sink:
    """A sink as it is, or one for a path."""
    if not isinstance(entry, (str, os.PathLike)):
        if not isinstance(entry, Sink):
            raise SceneError(f"record must be files or sinks (add, close), got {entry!r}")
        return entry
    if opener is None:
        raise SceneError("recording to a file needs the whole package: import turgor")
    return opener(entry, layout)
