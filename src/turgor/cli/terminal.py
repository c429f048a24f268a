"""What a command shares with the terminal: a message while it works, Ctrl-C."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterator
from types import FrameType

from turgor.output.progress import Progress

__all__ = ["interruptible", "message", "part_by_part"]

TERMINATED = 143  # what a shell reports for a program that SIGTERM ended


@contextlib.contextmanager
def message(text: str) -> Iterator[None]:
    """A line on stderr that vanishes when the work is done; none without text, or where stderr is no terminal."""
    if not text or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(text, spinner="dots"):
        yield


@contextlib.contextmanager
def interruptible(report: Progress) -> Iterator[Progress]:
    """Lets Ctrl-C and SIGTERM end the run between two frames, where no file is being written; a second one at once.

    An exception that a signal handler raises inside a callback of a library can be lost.
    """
    caught: list[int] = []

    def note(number: int, frame: object) -> None:
        if caught:
            raise KeyboardInterrupt
        caught.append(number)

    def look(done: int, total: int) -> None:
        report(done, total)
        if caught:
            raise KeyboardInterrupt if caught[0] == signal.SIGINT else SystemExit(TERMINATED)

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield look
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def part_by_part(wanted: bool) -> Iterator[Callable[[int, int, str], None]]:
    """A bar on stderr: parts done, time so far, the current part. Ctrl-C stops between two parts, and says so."""
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (BarColumn(), TextColumn("{task.completed} / {task.total}"), TimeElapsedColumn())
    bar = Bar(
        *columns, TextColumn("{task.description}"), console=Console(stderr=True), transient=True, disable=not wanted
    )
    with bar, interruptible(lambda done, total: None) as check:
        task = bar.add_task("", total=None)
        note = signal.getsignal(signal.SIGINT)

        def tell(number: int, frame: FrameType | None) -> None:
            if wanted:
                os.write(2, b"\nends after this part; Ctrl-C once more ends at once\n")
            if callable(note):
                note(number, frame)

        def report(done: int, total: int, what: str) -> None:
            bar.update(task, completed=done, total=total, description=what)
            check(done, total)

        signal.signal(signal.SIGINT, tell)
        yield report
