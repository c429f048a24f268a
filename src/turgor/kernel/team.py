"""A team of CPU threads that shares the long loops of a recorded frame.

The first thread replays the frame. Where a loop is long enough, it posts a job and does its own part; every part is a
range of the loop, so that each element is computed as one thread would compute it. The other threads replay a graph of
their own: take a ticket, claim their part of its job, do it, say so, until the frame ends.

    first thread     post 7 | part 0 of job 7 | claim part 1, or wait for who has it | ...             | close
    other thread     claim part 1 of job 7    | do it | done                         | take the next ... | leave

A part that its thread has not begun is done by the first thread itself, so that a busy machine does not delay a frame:
it waits only for parts that are under way. Posting is one number in memory; a fork and a join take about a microsecond.
Warp's own atomics are plain additions on the CPU, so these are the compiler's. A thread that waits gives its core away
after a while (`sched_yield`, by address: kernels link no library).
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Callable
from typing import Any, no_type_check

import warp as wp

__all__ = ["LINE", "Team", "cores"]

LINE = 16  # ints of a cache line
TICKET, JOB, OPEN = 0, LINE, 2 * LINE  # places on the board, a line each: number of the post, its job, is there a frame
CLAIMED, DONE = 3 * LINE, 4 * LINE  # of the second thread; those of the next ones two lines further each
SPINS = 1000  # looks before a thread gives its core away: some ten microseconds

WAIT = f"""
    int spins = 0;
    while ({{waiting}}) {{{{
        if (++spins > {SPINS})
            ((void(*)())(give_way))();
#if defined(__x86_64__)
        else
            __builtin_ia32_pause();
#endif
    }}}}
"""
CLAIM = f"""
    int had = __atomic_load_n(&board.data[{CLAIMED} + 2 * {LINE} * other], __ATOMIC_ACQUIRE);
    while (had - ticket < 0) {{
        if (__atomic_compare_exchange_n(
                &board.data[{CLAIMED} + 2 * {LINE} * other], &had, ticket, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            return 1;
    }}
    return 0;
"""


@wp.func_native(
    f"""
    __atomic_store_n(&board.data[{JOB}], job, __ATOMIC_RELAXED);
    __atomic_add_fetch(&board.data[{TICKET}], 1, __ATOMIC_RELEASE);
"""
)
def put_up(board: wp.array(dtype=int), job: int): ...


@wp.func_native(f"__atomic_store_n(&board.data[{OPEN}], value, __ATOMIC_RELEASE);")
def set_open(board: wp.array(dtype=int), value: int): ...


@wp.func_native(f"return __atomic_load_n(&board.data[{OPEN}], __ATOMIC_ACQUIRE);")
def is_open(board: wp.array(dtype=int)) -> int: ...


@wp.func_native(f"return __atomic_load_n(&board.data[{TICKET}], __ATOMIC_ACQUIRE);")
def last_ticket(board: wp.array(dtype=int)) -> int: ...


@wp.func_native(f"return __atomic_load_n(&board.data[{JOB}], __ATOMIC_RELAXED);")
def posted_job(board: wp.array(dtype=int)) -> int: ...


@wp.func_native(CLAIM)
def claim_part(board: wp.array(dtype=int), other: int, ticket: int) -> int: ...


@wp.func_native(f"__atomic_store_n(&board.data[{DONE} + 2 * {LINE} * other], ticket, __ATOMIC_RELEASE);")
def say_done(board: wp.array(dtype=int), other: int, ticket: int): ...


@wp.func_native(
    WAIT.format(waiting=f"__atomic_load_n(&board.data[{DONE} + 2 * {LINE} * other], __ATOMIC_ACQUIRE) - ticket < 0")
)
def wait_for_part(board: wp.array(dtype=int), other: int, ticket: int, give_way: wp.uint64): ...


@wp.func_native(
    WAIT.format(
        waiting=f"__atomic_load_n(&board.data[{TICKET}], __ATOMIC_ACQUIRE) == seen"
        f" && __atomic_load_n(&board.data[{OPEN}], __ATOMIC_ACQUIRE)"
    )
)
def wait_for_ticket(board: wp.array(dtype=int), seen: int, give_way: wp.uint64): ...


@no_type_check
@wp.kernel(enable_backward=False, module="turgor.kernel.team")
def open_board(board: wp.array(dtype=int), value: int):
    """A frame begins (1), or ends (0)."""
    set_open(board, value)


@no_type_check
@wp.kernel(enable_backward=False, module="turgor.kernel.team")
def post(board: wp.array(dtype=int), job: int):
    """Tell the others what to do."""
    put_up(board, job)


@no_type_check
@wp.kernel(enable_backward=False, module="turgor.kernel.team")
def claim_or_wait(board: wp.array(dtype=int), other: int, mine: wp.array(dtype=int), give_way: wp.uint64):
    """Whether the first thread does the part of another one: if that has not begun; else wait until it is done."""
    ticket = last_ticket(board)
    mine[0] = claim_part(board, other, ticket)
    if mine[0] == 0:
        wait_for_part(board, other, ticket, give_way)


@no_type_check
@wp.kernel(enable_backward=False, module="turgor.kernel.team")
def take(
    board: wp.array(dtype=int),
    other: int,
    seen: wp.array(dtype=int),
    bits: wp.array(dtype=int),
    running: wp.array(dtype=int),
    busy: wp.array(dtype=int),
    give_way: wp.uint64,
):
    """Wait for the next job, and claim its part; the job's number in bits chooses the branch of the graph."""
    wait_for_ticket(board, seen[0], give_way)
    ticket = last_ticket(board)
    busy[0] = 0
    if ticket != seen[0]:
        seen[0] = ticket
        busy[0] = claim_part(board, other, ticket)
    else:
        running[0] = is_open(board)
    if busy[0] != 0:  # the job stays until this part is done
        job = posted_job(board)
        for k in range(bits.shape[0]):
            bits[k] = (job >> k) & 1


@no_type_check
@wp.kernel(enable_backward=False, module="turgor.kernel.team")
def done(board: wp.array(dtype=int), other: int, seen: wp.array(dtype=int)):
    """This part is done."""
    say_done(board, other, seen[0])


class Team:
    """Threads beside the calling one, and the jobs of one recorded frame."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.jobs: list[list[Callable[[], None]]] = []  # per job: what each of the other threads launches
        self.recording = False
        self._known: dict[Any, int] = {}
        self._board = wp.zeros(DONE + 2 * LINE * size, dtype=wp.int32, device="cpu")
        self._mine = wp.zeros(1, dtype=wp.int32, device="cpu")  # whether the first thread does another's part
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
            number = self._known[key] = len(self.jobs) - 1
        self._launch(post, number)
        parts[0]()
        for other, part in enumerate(parts[1:]):
            self._launch(claim_or_wait, other, self._mine, self._give_way)
            wp.capture_if(self._mine, on_true=part)

    def end(self) -> None:
        """Last of the frame: the others leave."""
        self._launch(open_board, 0)
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
        if self._helpers:
            self._launch(open_board, 1)
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
        self._number, self._board, self._give_way = number, team._board, team._give_way
        self._jobs = [parts[number] for parts in team.jobs]

        def ints(values: list[int]) -> Any:
            return wp.array(values, dtype=wp.int32, device="cpu")

        self._seen, self._running, self._busy = ints([int(self._board.numpy()[TICKET])]), ints([0]), ints([0])
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
        wp.launch(take, dim=1, inputs=inputs, device="cpu")
        wp.capture_if(self._busy, on_true=self._job)

    def _job(self) -> None:
        self._branch(0, len(self._bits))
        wp.launch(done, dim=1, inputs=[self._board, self._number, self._seen], device="cpu")

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
