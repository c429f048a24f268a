"""A progress bar on stderr for long runs, with the real-time factor."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["Progress", "shown"]

Progress = Callable[[int, int], None]  # (frames done, frames in all)


@contextmanager
def shown(progress: bool | Progress, title: str, fps: float) -> Iterator[Progress]:
    """A function to report to: the caller's own, a bar, or nothing."""
    if callable(progress):
        yield progress
        return
    if not progress or not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"), BarColumn(),
        TextColumn("{task.completed}/{task.total} frames  {task.fields[speed]}"), TimeRemainingColumn(),
    )  # fmt: skip
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=None, speed="")
        start = time.perf_counter()

        def report(done: int, total: int) -> None:
            factor = done / fps / max(time.perf_counter() - start, 1e-9)
            bar.update(task, completed=done, total=total, speed=f"{factor:.1f} x real time")

        yield report
