"""What a command shares with the terminal: a message while it works, Ctrl-C."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterator
from types import FrameType

from turgor.output.progress import Progress, steady

__all__ = ["ended_by", "interruptible", "message", "part_by_part", "signals"]

ENDING = ("SIGINT", "SIGTERM", "SIGHUP")  # what asks a program to end; the last when its terminal is closed


@contextlib.contextmanager
def message(text: str) -> Iterator[None]:
    """A line on stderr that vanishes when the work is done; none without text, or where stderr is no terminal."""
    if not text or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(file=steady(sys.stderr)).status(text, spinner="dots"):
        yield


def ended_by(number: int) -> int:
    """The exit code that a shell reports for a program that this signal ended."""
    return 128 + number


@contextlib.contextmanager
def signals() -> Iterator[list[int]]:
    """A list that gets the signal which asks the program to end (Ctrl-C, SIGTERM, a closed terminal).

    Who works looks at it between two frames, where no file is being written: an exception that a signal handler raises
    inside a callback of a library can be lost. A second signal ends at once. What is ignored stays so (`nohup`).
    """
    caught: list[int] = []

    def note(number: int, frame: object) -> None:
        if caught:
            raise KeyboardInterrupt
        caught.append(number)

    numbers = [getattr(signal, name) for name in ENDING if hasattr(signal, name)]
    before = {number: signal.signal(number, note) for number in numbers if signal.getsignal(number) != signal.SIG_IGN}
    try:
        yield caught
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def interruptible(report: Progress) -> Iterator[Progress]:
    """Lets Ctrl-C and SIGTERM end the work between two of its parts; a second one at once."""
    with signals() as caught:

        def look(done: int, total: int) -> None:
            report(done, total)
            if caught:
                raise KeyboardInterrupt if caught[0] == signal.SIGINT else SystemExit(ended_by(caught[0]))

        yield look


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
