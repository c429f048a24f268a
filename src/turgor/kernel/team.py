"""A team of CPU threads that shares the long loops of a recorded frame.

The first thread replays the frame. Where a loop is long enough, it posts a job and does its own part; every part is a
range of the loop, so that each element is computed as one thread would compute it. The other threads replay a graph of
their own: take a ticket, claim their part of its job, do it, say so, until the frame ends.

    first thread     post 7 | part 0 of job 7 | claim part 1, or wait for who has it | ...             | close
    other thread     claim part 1 of job 7    | do it | done                         | take the next ... | leave

Loops that need nothing of other bodies (forces, then velocities) are put together: a thread does all of them for its
own bodies before it meets the others.

A part that its thread has not begun is done by the first thread itself, so that a busy machine does not delay a frame:
it waits only for parts that are under way. Posting is one number in memory; a fork and a join take about a microsecond.
A thread that waits gives its core away after a while (`sched_yield`, by address: kernels link no library).
"""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy.typing as npt
import warp as wp

from turgor.kernel import board
from turgor.kernel.board import DONE, LINE, OPEN

__all__ = ["Team"]


class Team:
    """Threads beside the calling one, and the jobs of one recorded frame."""

    def __init__(self, size: int) -> None:
        self.size, self._kernels = size, board.kernels()
        self.jobs: list[Sequence[Callable[[], None]]] = []  # per job: what each of the other threads launches
        self.recording = False
        self.bodies: npt.NDArray[Any] | None = None  # where those of each thread begin, while loops are put together
        self._together: list[tuple[Any, Sequence[Callable[[], None]]]] = []
        self._known: dict[Any, int] = {}
        self._mine = wp.zeros(1, dtype=wp.int32, device="cpu")  # whether the first thread does another's part
        self._give_way = wp.uint64(_yield_address())
        self._helpers: list[_Helper] = []
        self._clear()

    def _clear(self) -> None:
        """A board of its own for each recorded frame: a thread that still leaves the old one must not see new jobs."""
        self._board = wp.zeros(DONE + 2 * LINE * self.size, dtype=wp.int64, device="cpu")
        self._on_host = self._board.numpy()  # the same memory, to be written without a launch

    # while a frame is recorded --------------------------------------------------------------------------------------

    def begin(self) -> None:
        """A frame is recorded from now on."""
        self.dismiss()
        self._clear()
        self.jobs, self._known, self.recording = [], {}, True

    def put_together(self, bodies: npt.NDArray[Any]) -> None:
        """What is shared from now on is one job, until `part`: each thread has the same bodies in all of its loops."""
        self.part()
        self.bodies = bodies

    def part(self) -> None:
        """Launch what was put together; what follows may need all of it."""
        together, self._together, self.bodies = self._together, [], None
        if together:
            every = [partial(_one_after_another, own) for own in zip(*(parts for _, parts in together), strict=True)]
            self.share(tuple(key for key, _ in together), every)

    def share(self, key: Any, parts: Sequence[Callable[[], None]]) -> None:
        """Launch the parts at the same time; key: what makes a job the same as another."""
        if self.bodies is not None:
            self._together.append((key, parts))
            return
        number = self._known.get(key)
        if number is None:
            self.jobs.append(parts[1:])
            number = self._known[key] = len(self.jobs) - 1
        self._launch(self._kernels.post, number)
        parts[0]()
        for other, part in enumerate(parts[1:]):
            self._launch(self._kernels.claim_or_wait, other, self._mine, self._give_way)
            wp.capture_if(self._mine, on_true=part)

    def end(self) -> None:
        """Last of the frame: the others leave."""
        self._launch(self._kernels.close)
        self.recording = False

    def _launch(self, kernel: Any, *inputs: Any) -> None:
        wp.launch(kernel, dim=1, inputs=[self._board, *inputs], device="cpu")

    def enlist(self) -> None:
        """Record what the others do, and start their threads."""
        if self.jobs:
            self._helpers = [_Helper(self, number) for number in range(self.size - 1)]

    # when it is replayed --------------------------------------------------------------------------------------------

    def start(self) -> None:
        """The others begin to wait for jobs."""
        self._on_host[OPEN] = 1
        for helper in self._helpers:
            helper.go.release()

    def dismiss(self) -> None:
        """Let the threads end."""
        for helper in self._helpers:
            helper.leave()
        self._helpers = []

    def __del__(self) -> None:
        self.dismiss()


class _Helper:
    """One of the other threads."""

    def __init__(self, team: Team, number: int) -> None:
        # what it needs of the team, without the team itself: a simulation that nobody holds must end
        self._number, self._board, self._give_way, self._kernels = number, team._board, team._give_way, team._kernels
        self._jobs = [parts[number] for parts in team.jobs]

        def ints(values: list[int]) -> Any:
            return wp.array(values, dtype=wp.int32, device="cpu")

        self._seen = wp.zeros(1, dtype=wp.int64, device="cpu")  # the last ticket
        self._running, self._busy = ints([0]), ints([0])
        self._bits = ints([0] * max((len(self._jobs) - 1).bit_length(), 1))
        with wp.ScopedCapture(device="cpu") as capture:
            wp.capture_while(self._running, self._turn)
        self._graph = capture.graph
        self.go = threading.Semaphore(0)
        self._leaving = False
        self.thread = threading.Thread(target=_work, args=(self,), name=f"turgor-{number + 1}", daemon=True)
        self.thread.start()

    def _turn(self) -> None:
        inputs = [self._board, self._number, self._seen, self._bits, self._running, self._busy, self._give_way]
        wp.launch(self._kernels.take, dim=1, inputs=inputs, device="cpu")
        wp.capture_if(self._busy, on_true=self._job)

    def _job(self) -> None:
        self._branch(0, len(self._bits))
        wp.launch(self._kernels.done, dim=1, inputs=[self._board, self._number, self._seen], device="cpu")

    def _branch(self, first: int, bits: int) -> None:
        """The jobs whose numbers begin with the bits of `first`, above the `bits` lowest."""
        if first < len(self._jobs) and bits == 0:
            self._jobs[first]()
        elif first < len(self._jobs):
            half = bits - 1
            wp.capture_if(
                self._bits[half : half + 1],
                on_true=lambda: self._branch(first + (1 << half), half),
                on_false=lambda: self._branch(first, half),
            )

    def run(self) -> bool:
        """Wait for a frame and take part in it; False when there is no more."""
        self.go.acquire()
        if self._leaving:
            return False
        self._running.numpy()[0] = 1
        wp.capture_launch(self._graph)
        return True

    def leave(self) -> None:
        self._leaving = True
        self.go.release()


def _one_after_another(launches: Sequence[Callable[[], None]]) -> None:
    for launch in launches:
        launch()


def _work(helper: _Helper) -> None:
    while helper.run():
        pass


def _yield_address() -> int:
    """Of the function of this system by which a thread gives its core away."""
    name = "SwitchToThread" if sys.platform == "win32" else "sched_yield"
    library = getattr(ctypes, "windll").kernel32 if sys.platform == "win32" else ctypes.CDLL(None)  # noqa: B009
    return int(ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0)
