"""Progress on stderr, if that is a terminal: the bar of a run, and a line for what takes long before it starts."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import IO, Any, cast

__all__ = ["Progress", "Stop", "hushed", "shown", "steady", "waiting"]

log = logging.getLogger("turgor")

Progress = Callable[[int, int], None]  # (frames done, frames in all)


class Stop(Exception):  # noqa: N818 (it is no error)
    """What a progress function raises to end a run after the frame just done, with all files finished."""


def steady(terminal: IO[str]) -> IO[str]:
    """A terminal that may vanish: a run goes on when the window is closed that shows its progress."""
    return cast(IO[str], _Steady(terminal))


class _Steady:
    """A stream whose errors count for nothing."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        with suppress(OSError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError):
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def shown(
    progress: bool | Progress, title: str, fps: float, recording: Callable[[], float] = lambda: 0.0
) -> Iterator[Progress]:
    """A function to report to: the caller's own, one that draws the bar, or one that does nothing.

    recording: the seconds spent on files so far, which the real-time factor leaves out.
    """
    if callable(progress):
        yield progress
        return
    if not progress or not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich import progress as rich
    from rich.console import Console

    columns = (
        *((rich.TextColumn("{task.description}", markup=False),) if title else ()),
        rich.BarColumn(),
        rich.TextColumn("frame {task.fields[frames]}"),
        rich.TextColumn("{task.fields[seconds]:.2f} s"),
        rich.TextColumn("{task.fields[factor]:.2f} × real time"),
        rich.TimeRemainingColumn(),
    )
    with rich.Progress(*columns, console=Console(file=steady(sys.stderr)), transient=True) as bar:
        task = bar.add_task(title, total=None, frames="0", seconds=0.0, factor=0.0)
        begin = time.perf_counter()

        def report(done: int, total: int) -> None:
            seconds = done / fps
            factor = seconds / max(time.perf_counter() - begin - recording(), 1e-9)
            bar.update(task, completed=done, total=total, frames=f"{done} / {total}", seconds=seconds, factor=factor)

        yield report


_hushed: ContextVar[bool] = ContextVar("hushed", default=False)


@contextmanager
def hushed() -> Iterator[None]:
    """Nothing inside says that it takes long: somebody else has the terminal, for a bar of its own."""
    token = _hushed.set(True)
    try:
        yield
    finally:
        _hushed.reset(token)


@contextmanager
def waiting(title: str) -> Iterator[Callable[[str], None]]:
    """A function to report to, in words, while something takes long: a line on stderr, or in the log elsewhere."""
    if _hushed.get() or not sys.stderr.isatty():
        yield lambda text: log.info("%s: %s", title, text)
        return
    from rich.console import Console

    with Console(file=steady(sys.stderr)).status(title) as status:
        yield lambda text: status.update(f"{title}: {text}")
