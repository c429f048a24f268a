"""Progress of a study on stderr, if that is a terminal: runs done, rate, time left, failures."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from turgor.output.progress import steady

__all__ = ["Progress", "shown"]

Progress = Callable[[int, int, int], None]  # (runs done, runs in all, failed ones)


@contextmanager
def shown(progress: bool | Progress, before: int) -> Iterator[Progress]:
    """A function to report to: the caller's own, one that draws the bar, or one that does nothing.

    before: runs that were done already, which the rate leaves out.
    """
    if callable(progress):
        yield progress
        return
    if not progress or not sys.stderr.isatty():
        yield lambda done, total, failed: None
        return
    from rich import progress as rich
    from rich.console import Console

    columns = (
        rich.BarColumn(),
        rich.TextColumn("run {task.fields[runs]}"),
        rich.TextColumn("{task.fields[rate]:.3g} runs/s"),
        rich.TextColumn("{task.fields[left]}"),
        rich.TextColumn("{task.fields[failed]}"),
    )
    with rich.Progress(*columns, console=Console(file=steady(sys.stderr)), transient=True) as bar:
        task = bar.add_task("", total=None, runs="0", rate=0.0, left="", failed="")
        begin = time.perf_counter()

        def report(done: int, total: int, failed: int) -> None:
            rate = (done - before) / max(time.perf_counter() - begin, 1e-9)
            left = f"{_duration((total - done) / rate)} left" if rate > 0.0 else ""
            bar.update(
                task, completed=done, total=total, runs=f"{done:,} / {total:,}", rate=rate, left=left,
                failed=f"{failed:,} failed" if failed else "",
            )  # fmt: skip

        yield report


def _duration(seconds: float) -> str:
    """`1:05:09`, `5:09`"""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
