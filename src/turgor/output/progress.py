"""Progress on stderr, if that is a terminal: the bar of a run, and a line for what takes long before it starts."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["Progress", "shown", "waiting"]

log = logging.getLogger("turgor")

Progress = Callable[[int, int], None]  # (frames done, frames in all)


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
    with rich.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=None, frames="0", seconds=0.0, factor=0.0)
        begin = time.perf_counter()

        def report(done: int, total: int) -> None:
            seconds = done / fps
            factor = seconds / max(time.perf_counter() - begin - recording(), 1e-9)
            bar.update(task, completed=done, total=total, frames=f"{done} / {total}", seconds=seconds, factor=factor)

        yield report


@contextmanager
def waiting(title: str) -> Iterator[Callable[[str], None]]:
    """A function to report to, in words, while something takes long: a line on stderr, or in the log elsewhere."""
    if not sys.stderr.isatty():
        yield lambda text: log.info("%s: %s", title, text)
        return
    from rich.console import Console

    with Console(stderr=True).status(title) as status:
        yield lambda text: status.update(f"{title}: {text}")
