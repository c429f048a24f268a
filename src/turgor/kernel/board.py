"""The board at which CPU threads share jobs, as kernels: see `team.py`.

Warp's own atomics are plain additions on the CPU, so these are the compiler's. Tickets are 64-bit numbers: of two, the
larger one is the later one, however long a simulation runs.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

__all__ = ["DONE", "LINE", "OPEN", "kernels"]

LINE = 16  # numbers of one or two cache lines
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
    wp::int64 had = __atomic_load_n(&board.data[{CLAIMED} + 2 * {LINE} * other], __ATOMIC_ACQUIRE);
    while (had - ticket < 0) {{
        if (__atomic_compare_exchange_n(
                &board.data[{CLAIMED} + 2 * {LINE} * other], &had, ticket, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            return 1;
    }}
    return 0;
"""


@functools.cache
@no_type_check
def kernels() -> SimpleNamespace:
    """post, claim_or_wait and close of the first thread; take and done of the others."""

    @wp.func_native(
        f"""
        __atomic_store_n(&board.data[{JOB}], job, __ATOMIC_RELAXED);
        __atomic_add_fetch(&board.data[{TICKET}], 1, __ATOMIC_RELEASE);
    """
    )
    def put_up(board: wp.array(dtype=wp.int64), job: int): ...

    @wp.func_native(f"__atomic_store_n(&board.data[{OPEN}], 0, __ATOMIC_RELEASE);")
    def set_closed(board: wp.array(dtype=wp.int64)): ...

    @wp.func_native(f"return __atomic_load_n(&board.data[{OPEN}], __ATOMIC_ACQUIRE);")
    def is_open(board: wp.array(dtype=wp.int64)) -> wp.int64: ...

    @wp.func_native(f"return __atomic_load_n(&board.data[{TICKET}], __ATOMIC_ACQUIRE);")
    def last_ticket(board: wp.array(dtype=wp.int64)) -> wp.int64: ...

    @wp.func_native(f"return __atomic_load_n(&board.data[{JOB}], __ATOMIC_RELAXED);")
    def posted_job(board: wp.array(dtype=wp.int64)) -> wp.int64: ...

    @wp.func_native(CLAIM)
    def claim_part(board: wp.array(dtype=wp.int64), other: int, ticket: wp.int64) -> int: ...

    @wp.func_native(f"__atomic_store_n(&board.data[{DONE} + 2 * {LINE} * other], ticket, __ATOMIC_RELEASE);")
    def say_done(board: wp.array(dtype=wp.int64), other: int, ticket: wp.int64): ...

    @wp.func_native(
        WAIT.format(waiting=f"__atomic_load_n(&board.data[{DONE} + 2 * {LINE} * other], __ATOMIC_ACQUIRE) - ticket < 0")
    )
    def wait_for_part(board: wp.array(dtype=wp.int64), other: int, ticket: wp.int64, give_way: wp.uint64): ...

    @wp.func_native(
        WAIT.format(
            waiting=f"__atomic_load_n(&board.data[{TICKET}], __ATOMIC_ACQUIRE) == seen"
            f" && __atomic_load_n(&board.data[{OPEN}], __ATOMIC_ACQUIRE)"
        )
    )
    def wait_for_ticket(board: wp.array(dtype=wp.int64), seen: wp.int64, give_way: wp.uint64): ...

    @wp.kernel(enable_backward=False, module=__name__)
    def close(board: wp.array(dtype=wp.int64)):
        """The frame ends."""
        set_closed(board)

    @wp.kernel(enable_backward=False, module=__name__)
    def post(board: wp.array(dtype=wp.int64), job: int):
        """Tell the others what to do."""
        put_up(board, job)

    @wp.kernel(enable_backward=False, module=__name__)
    def claim_or_wait(board: wp.array(dtype=wp.int64), other: int, mine: wp.array(dtype=int), give_way: wp.uint64):
        """Whether the first thread does the part of another one: if that has not begun; else wait until it is done."""
        ticket = last_ticket(board)
        mine[0] = claim_part(board, other, ticket)
        if mine[0] == 0:
            wait_for_part(board, other, ticket, give_way)

    @wp.kernel(enable_backward=False, module=__name__)
    def take(
        board: wp.array(dtype=wp.int64),
        other: int,
        seen: wp.array(dtype=wp.int64),
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
            running[0] = int(is_open(board))
        if busy[0] != 0:  # the job stays until this part is done
            job = int(posted_job(board))
            for k in range(bits.shape[0]):
                bits[k] = (job >> k) & 1

    @wp.kernel(enable_backward=False, module=__name__)
    def done(board: wp.array(dtype=wp.int64), other: int, seen: wp.array(dtype=wp.int64)):
        """This part is done."""
        say_done(board, other, seen[0])

    return SimpleNamespace(post=post, claim_or_wait=claim_or_wait, close=close, take=take, done=done)
