"""A team of CPU threads that shares the long loops of a recorded frame.

The first thread replays the frame. Where a loop is long enough, it posts a job, does its own part and waits for the
others; every part is a range of the loop, so that each element is computed as one thread would compute it. The other
threads replay a graph of their own: take a job, do their part of it, say so, until the frame ends.

    first thread     post 7 | part 0 of job 7 | await others | ...                            | post END
    other threads    take 7 | part p of job 7 | done         | take (spins, then yields) ...   | END

Posting is one number in memory: a fork and a join take about a microsecond. Warp's own atomics are plain additions on
the CPU, so these are the compiler's. A thread that waits gives its core away after a while (`sched_yield`, by address:
kernels link no library).
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Callable
from typing import Any, no_type_check

import warp as wp

__all__ = ["Team", "cores"]

END = 0  # the job after which the others leave
LINE = 16  # ints of a cache line
TICKET, JOB, DONE = 0, LINE, 2 * LINE  # places on the board, a line each
BOARD = 3 * LINE

SPIN = """
    int spins = 0;
    while ({waiting}) {{
        if (++spins > 4000) {{
            spins = 0;
            ((void(*)())(give_way))();
        }}
#if defined(__x86_64__)
        else
            __builtin_ia32_pause();
#endif
    }}
"""


@wp.func_native(
    f"""
    board.data[{JOB}] = job;
    board.data[{DONE}] = 0;
    __atomic_add_fetch(&board.data[{TICKET}], 1, __ATOMIC_RELEASE);
"""
)
def put_up(board: wp.array(dtype=int), job: int): ...


@wp.func_native(SPIN.format(waiting=f"__atomic_load_n(&board.data[{DONE}], __ATOMIC_ACQUIRE) < others"))
def wait_for_others(board: wp.array(dtype=int), others: int, give_way: wp.uint64): ...


@wp.func_native(SPIN.format(waiting=f"__atomic_load_n(&board.data[{TICKET}], __ATOMIC_ACQUIRE) == seen"))
def wait_for_ticket(board: wp.array(dtype=int), seen: int, give_way: wp.uint64): ...


@wp.func_native(f"__atomic_add_fetch(&board.data[{DONE}], 1, __ATOMIC_RELEASE);")
def say_done(board: wp.array(dtype=int)): ...


@no_type_check
@wp.kernel(enable_backward=False, module="turgor.kernel.team")
def post(board: wp.array(dtype=int), job: int):
    """Tell the others what to do."""
    put_up(board, job)


@no_type_check
@wp.kernel(enable_backward=False, module="turgor.kernel.team")
def await_others(board: wp.array(dtype=int), others: int, give_way: wp.uint64):
    """Until all parts are done."""
    wait_for_others(board, others, give_way)


@no_type_check
@wp.kernel(enable_backward=False, module="turgor.kernel.team")
def take(
    board: wp.array(dtype=int),
    seen: wp.array(dtype=int),
    bits: wp.array(dtype=int),
    running: wp.array(dtype=int),
    give_way: wp.uint64,
):
    """Wait for the next job; its number in bits chooses the branch of the graph."""
    wait_for_ticket(board, seen[0], give_way)
    seen[0] = seen[0] + 1
    job = board[wp.static(JOB)]
    running[0] = wp.where(job == wp.static(END), 0, 1)
    for k in range(bits.shape[0]):
        bits[k] = (job >> k) & 1
    if job == wp.static(END):
        say_done(board)


@no_type_check
@wp.kernel(enable_backward=False, module="turgor.kernel.team")
def done(board: wp.array(dtype=int)):
    """This part is done."""
    say_done(board)


class Team:
    """Threads beside the calling one, and the jobs of one recorded frame."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.jobs: list[list[Callable[[], None]]] = []  # per job: what each of the other threads launches
        self.recording = False
        self._known: dict[Any, int] = {}
        self._board = wp.zeros(BOARD, dtype=wp.int32, device="cpu")
        self._give_way = wp.uint64(_yield_address())
        self._helpers: list[_Helper] = []

    # while a frame is recorded --------------------------------------------------------------------------------------

    def begin(self) -> None:
        """A frame is recorded from now on."""
        self.dismiss()
        self.jobs, self._known, self.recording = [], {}, True

    def share(self, key: Any, parts: list[Callable[[], None]]) -> None:
        """Launch the parts at the same time; key: what makes a job the same as another."""
        number = self._known.get(key)
        if number is None:
            self.jobs.append(parts[1:])
            number = self._known[key] = len(self.jobs)  # 0 is END
        wp.launch(post, dim=1, inputs=[self._board, number], device="cpu")
        parts[0]()
        wp.launch(await_others, dim=1, inputs=[self._board, self.size - 1, self._give_way], device="cpu")

    def end(self) -> None:
        """Last of the frame: the others leave."""
        if self.jobs:
            wp.launch(post, dim=1, inputs=[self._board, END], device="cpu")
            wp.launch(await_others, dim=1, inputs=[self._board, self.size - 1, self._give_way], device="cpu")
        self.recording = False

    def enlist(self) -> None:
        """Record what the others do, and start their threads."""
        if self.jobs:
            self._helpers = [_Helper(self, number) for number in range(self.size - 1)]

    # when it is replayed --------------------------------------------------------------------------------------------

    def start(self) -> None:
        """The others begin to wait for jobs."""
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
        # what it needs of the team, without the team itself: it would keep a simulation alive that nobody holds
        self._board, self._give_way = team._board, team._give_way
        self._jobs = [parts[number] for parts in team.jobs]
        self._seen = wp.array([int(self._board.numpy()[TICKET])], dtype=wp.int32, device="cpu")
        width = max(len(self._jobs).bit_length(), 1)
        self._bits = [wp.zeros(1, dtype=wp.int32, device="cpu") for _ in range(width)]
        self._all_bits = wp.zeros(width, dtype=wp.int32, device="cpu")
        self._bits = [self._all_bits[k : k + 1] for k in range(width)]
        self._running = wp.zeros(1, dtype=wp.int32, device="cpu")
        with wp.ScopedCapture(device="cpu") as capture:
            wp.capture_while(self._running, self._turn)
        self._graph = capture.graph
        self.go = threading.Semaphore(0)
        self._leaving = False
        self._thread = threading.Thread(target=_work, args=(self,), name=f"turgor-{number + 1}", daemon=True)
        self._thread.start()

    def _turn(self) -> None:
        inputs = [self._board, self._seen, self._all_bits, self._running, self._give_way]
        wp.launch(take, dim=1, inputs=inputs, device="cpu")
        wp.capture_if(self._running, on_true=self._job)

    def _job(self) -> None:
        self._branch(0, len(self._bits))
        wp.launch(done, dim=1, inputs=[self._board], device="cpu")

    def _branch(self, first: int, bits: int) -> None:
        """The jobs whose numbers begin with the bits of `first`, above the `bits` lowest."""
        if first > len(self._jobs):
            return
        if not bits:
            if first:
                self._jobs[first - 1]()
            return
        half = bits - 1
        wp.capture_if(
            self._bits[half],
            on_true=lambda: self._branch(first + (1 << half), half),
            on_false=lambda: self._branch(first, half),
        )

    def run(self) -> bool:
        """Wait for a frame and take part in it; False when there is no more."""
        self.go.acquire()
        if self._leaving:
            return False
        self._running.fill_(1)
        wp.capture_launch(self._graph)
        return True

    def leave(self) -> None:
        self._leaving = True
        self.go.release()


def _work(helper: _Helper) -> None:
    while helper.run():
        pass


def _yield_address() -> int:
    """Of the function of this system by which a thread gives its core away."""
    name = "SwitchToThread" if sys.platform == "win32" else "sched_yield"
    library = getattr(ctypes, "windll").kernel32 if sys.platform == "win32" else ctypes.CDLL(None)  # noqa: B009
    return int(ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0)


def cores() -> int:
    """Cores that this process may use: two threads of one core count once."""
    allowed = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1)
    siblings = set()
    for cpu in allowed:
        try:
            with open(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list", encoding="ascii") as file:
                siblings.add(file.read().strip())
        except OSError:
            return max(len(list(allowed)), 1)
    return max(len(siblings), 1)
