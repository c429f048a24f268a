"""Chunks on this machine: in this process, or in processes of their own, without any other package."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import traceback
from collections.abc import Iterable, Iterator
from multiprocessing.connection import Connection, wait
from typing import Any

from turgor.output.progress import Stop
from turgor.study.chunk import Outcome, Task, Tick, failed_rows, perform
from turgor.study.functions import Function

__all__ = ["ATTEMPTS", "in_processes", "in_this_process", "performed"]

ATTEMPTS = 3  # of a chunk whose worker is lost
LOOK = 0.2  # s: how often who waits is asked whether to go on


def performed(task: Task, tick: Tick | None = None) -> Outcome:
    """The outcome of a chunk; an error that nobody has foreseen is the reason of its rows."""
    try:
        return perform(task, tick)
    except Stop:
        raise
    except Exception as error:
        if os.environ.get("TURGOR_TRACEBACK"):
            traceback.print_exc(file=sys.stderr)
        reason = "out of memory" if isinstance(error, MemoryError) else f"{type(error).__name__}: {error}"
        return Outcome(task.number, failed_rows(task, " ".join(reason.split())), worker=str(os.getpid()))


def in_this_process(tasks: Iterable[Task], tick: Tick) -> Iterator[Outcome]:
    """One after another."""
    for task in tasks:
        yield performed(task, tick)


@contextlib.contextmanager
def _main_hidden() -> Iterator[None]:
    """Processes that start meanwhile do not run the user's script again, which need not be written for that."""
    main = sys.modules["__main__"]
    hidden: dict[str, Any] = {name: vars(main)[name] for name in ("__spec__", "__file__") if name in vars(main)}
    vars(main).update(dict.fromkeys(hidden))
    try:
        yield
    finally:
        vars(main).update(hidden)


class Worker:
    """A process, and the chunk that it has."""

    def __init__(self, hides_main: bool) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(theirs, os.getpid()), daemon=True)
        with _main_hidden() if hides_main else contextlib.nullcontext():
            self.process.start()
        theirs.close()
        self.task: Task | None = None

    def give(self, task: Task) -> None:
        self.task = task
        with contextlib.suppress(OSError):  # it is lost, as `wait` will say
            self.pipe.send(task)

    def end(self) -> None:
        self.pipe.close()
        self.process.terminate()
        self.process.join()


def _work(pipe: Connection, parent: int) -> None:
    """A worker's life: chunks until the pipe is closed, or the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the driver decides what Ctrl-C means
    sys.stdout = sys.stderr  # what a measure prints is no part of what the driver prints

    def orphaned() -> None:
        if os.getppid() != parent:
            os._exit(1)

    with contextlib.suppress(EOFError, OSError):
        while True:
            pipe.send(performed(pipe.recv(), orphaned))


def in_processes(tasks: Iterable[Task], workers: int, tick: Tick) -> Iterator[Outcome]:
    """As outcomes arrive. A chunk whose worker is killed goes to a new one, at most ATTEMPTS times."""
    waiting: Iterator[Task] = iter(tasks)
    again: list[Task] = []
    attempts: dict[int, int] = {}
    team: list[Worker] = []

    def next_task() -> Task | None:
        return again.pop() if again else next(waiting, None)

    try:
        while True:
            for worker in [*team]:
                if worker.task is None and (task := next_task()) is not None:
                    worker.give(task)
            while len(team) < workers and (task := next_task()) is not None:
                hides_main = not any(isinstance(m, Function) and m.of_main for m in task.measures)
                team.append(Worker(hides_main))
                team[-1].give(task)
            busy = [worker for worker in team if worker.task is not None]
            if not busy:
                return
            ready: list[Any] = wait([end for worker in busy for end in (worker.pipe, worker.process.sentinel)], LOOK)
            tick()
            for worker in busy:
                task = worker.task
                if task is None or not {worker.pipe, worker.process.sentinel} & set(ready):
                    continue
                try:
                    outcome = worker.pipe.recv() if worker.pipe.poll() else None
                except (EOFError, OSError):
                    outcome = None
                if outcome is None:  # it was killed
                    team.remove(worker)
                    worker.end()
                    attempts[task.number] = attempts.get(task.number, 0) + 1
                    if attempts[task.number] < ATTEMPTS:
                        again.append(task)
                        continue
                    outcome = Outcome(task.number, failed_rows(task, lost(worker.process.exitcode)))
                worker.task = None
                yield outcome
    finally:
        for worker in team:
            worker.end()


def lost(code: int | None) -> str:
    """Why a run has no result, where its process was killed again and again."""
    how = f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
    return f"its process ended {ATTEMPTS} times ({how}): there may be too little memory"
