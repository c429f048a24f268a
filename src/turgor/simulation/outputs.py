"""Where a run goes: files, whose ending picks the format, or sinks."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from turgor import sinks
from turgor.errors import SceneError
from turgor.simulation.frame import Layout

__all__ = ["Record", "as_list", "opened"]

Record = str | os.PathLike[str] | sinks.Sink


def as_list(record: Record | Sequence[Record] | None) -> Iterable[Record]:
    """None, one or several as several."""
    if record is None:
        return []
    if isinstance(record, (list, tuple)):
        return record
    return [record]  # type: ignore[list-item]


def opened(entry: Record, layout: Layout) -> sinks.Sink:
    """A sink as it is, or one for a path."""
    if not isinstance(entry, (str, os.PathLike)):
        if not hasattr(entry, "add") or not hasattr(entry, "close"):
            raise SceneError(f"record must be files or sinks (add, close), got {entry!r}")
        return entry
    if sinks.opener is None:
        raise SceneError("recording to a file needs the whole package: import turgor")
    return sinks.opener(entry, layout)
