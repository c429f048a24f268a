"""What a command shares with the terminal: a message while it works, Ctrl-C."""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Iterator

from turgor.output.progress import Progress

__all__ = ["interruptible", "message"]

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
