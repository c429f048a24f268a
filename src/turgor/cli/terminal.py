"""What a run shares with the terminal: a passing message, the progress bar, Ctrl-C."""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Callable, Iterator

__all__ = ["interruptible", "message", "progress_bar"]

Report = Callable[[int, int], None]  # (frames done, frames in all)
TERMINATED = 143  # what a shell reports for a program that SIGTERM ended


@contextlib.contextmanager
def message(text: str) -> Iterator[None]:
    """A line on the terminal that vanishes when the work is done."""
    if not text:
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(text, spinner="dots"):
        yield


@contextlib.contextmanager
def interruptible(report: Report) -> Iterator[Report]:
    """Lets Ctrl-C and SIGTERM end the run between two frames, where no file is being written; a second one at once.

    An exception that a signal raises just anywhere can be lost inside a library's callback.
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
def progress_bar(wanted: bool, fps: float, recording: Callable[[], float]) -> Iterator[Report]:
    """A bar on stderr: frames, simulated time, real-time factor (without the seconds `recording`), time left."""
    if not wanted:
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        BarColumn(),
        TextColumn("frame {task.fields[frames]}"),
        TextColumn("{task.fields[seconds]:.2f} s"),
        TextColumn("{task.fields[factor]:.2f} × real time"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None, frames="0", seconds=0.0, factor=0.0)
        begin = time.perf_counter()

        def show(done: int, total: int) -> None:
            seconds = done / fps
            factor = seconds / max(time.perf_counter() - begin - recording(), 1e-9)
            bar.update(task, completed=done, total=total, frames=f"{done} / {total}", seconds=seconds, factor=factor)

        yield show
