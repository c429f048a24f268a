"""A frame from outside: keep the state, plan the substeps, inspect the result, and go back if it failed."""

import functools
from types import SimpleNamespace

import warp as wp

from turgor.kernel.numbers import Numbers, at
from turgor.solvers.stability import RENEW

__all__ = ["FINE", "NOT_FINITE", "OVERFLOW", "TOO_STIFF", "kernels"]

FINE, NOT_FINITE, TOO_STIFF, OVERFLOW = range(4)  # what status[0] says; status[1] is the body

STRAIN = 0.05  # a substep may change lengths and volume by this share
MARGIN = 1.1  # when the step has to shrink, it shrinks by this much more, so that it does not have to again at once
PATIENCE = 8  # frames after which a step that could be longer becomes longer: a step that follows every swing of a
# body would feed energy into it (symplectic integrators keep energy bounded only while the step stays the same)
MIN_SUBSTEPS = 4  # per frame: free flight and contact stay accurate even for very soft bodies
SIZE_LIMIT = 1.0e6  # a point this many body sizes away from its body has exploded


@functools.cache
def kernels(n: Numbers) -> SimpleNamespace:
    """begin_frame, then plan_substeps or plan_fixed block by block, then inspect, restore and restore_ledger."""
    real, vec = n.real, n.vec

    @n.kernel(__name__)
    def begin_frame(
        x: wp.array(dtype=vec),
        v: wp.array(dtype=vec),
        clock: wp.array(dtype=wp.float64),
        x_good: wp.array(dtype=vec),
        v_good: wp.array(dtype=vec),
        clock_good: wp.array(dtype=wp.float64),
        status: wp.array(dtype=int),
        unfinished: wp.array(dtype=int),
        substeps: wp.array(dtype=int),
    ):
        """Keep the state, to go back to if the frame fails. A simulation that has failed does not go on."""
        i = at(wp.tid())
        if i < x.shape[0]:
            x_good[i] = x[i]
            v_good[i] = v[i]
        if i == 0:
            clock_good[0] = clock[0]
            unfinished[0] = wp.where(status[0] == wp.static(FINE), 1, 0)
            substeps[0] = 0

    @n.kernel(__name__)
    def plan_substeps(
        frame_time: wp.float64,
        max_substeps: int,
        multiple: int,  # plans and blocks are whole multiples of this
        step: wp.array(dtype=wp.float64),
        renew: wp.array(dtype=wp.float64),
        clock: wp.array(dtype=wp.float64),
        clock_good: wp.array(dtype=wp.float64),
        substeps: wp.array(dtype=int),
        status: wp.array(dtype=int),
        unfinished: wp.array(dtype=int),
        planned: wp.array(dtype=int),
        block: wp.array(dtype=int),
        pace: wp.array(
            dtype=int
        ),  # substeps per whole frame: now, most needed in this frame; frames since it was needed
        dt: wp.array(dtype=real),
    ):
        """Divide what is left of the frame for the most demanding body; plan a block of substeps, then look again."""
        _, lane = wp.tid()
        least = wp.float64(1.0e30)
        soonest = wp.float64(1.0e30)
        worst = int(0)  # noqa: RUF046, UP018 (a variable in Warp's language, not a constant)
        for b in range(lane, step.shape[0], wp.block_dim()):
            soonest = wp.min(soonest, renew[b])
            if least >= wp.float64(0.0) and not (step[b] >= least):  # once NaN, always NaN
                least = step[b]
                worst = b
        if not (least >= wp.float64(0.0)):
            least = wp.float64(0.0)
        shortest = wp.tile_min(wp.tile(least))
        first = wp.tile_min(wp.tile(soonest))
        if least == shortest[0]:
            left = wp.max(frame_time - (clock[0] - clock_good[0]), wp.float64(0.0))
            wanted = wp.min(wp.ceil(frame_time / wp.max(least, wp.float64(1.0e-30))), wp.float64(1.0e9))
            needed = wp.max(int(wanted), MIN_SUBSTEPS)
            if substeps[0] == 0:  # a new frame: was the pace needed in the one before?
                pace[2] = wp.where(float(pace[1]) * MARGIN * MARGIN < float(pace[0]), pace[2] + 1, 0)
                if pace[2] >= PATIENCE:
                    pace[0] = pace[1]
                    pace[2] = 0
                pace[1] = 0
            pace[1] = wp.max(pace[1], needed)
            if needed > pace[0]:
                pace[0] = wp.where(pace[0] == 0, needed, int(float(needed) * MARGIN))
            share = left / frame_time
            count = wp.max(int(wp.ceil(share * wp.float64(pace[0]) - wp.float64(1.0e-6))), 1)
            # fast changes of shape are followed at once, and only while they last
            brief = wp.float64(STRAIN / RENEW) * first[0]
            count = wp.max(count, int(wp.min(wp.ceil(left / brief), wp.float64(1.0e9))))
            count = (count + multiple - 1) // multiple * multiple
            if substeps[0] + count > max_substeps:
                substeps[0] += count
                status[0] = wp.static(TOO_STIFF)
                status[1] = worst
                unfinished[0] = 0
                block[0] = 0
            else:
                planned[0] = count
                length = left / wp.float64(count)
                turns = int(wp.min(first[0] / length, wp.float64(1.0e6))) // multiple
                block[0] = wp.clamp(turns * multiple, multiple, count)
                dt[0] = real(length)

    @n.kernel(__name__)
    def plan_fixed(
        frame_time: wp.float64,
        count: int,
        planned: wp.array(dtype=int),
        block: wp.array(dtype=int),
        dt: wp.array(dtype=real),
    ):
        """A fixed number of substeps."""
        planned[0] = count
        block[0] = count
        dt[0] = real(frame_time / wp.float64(count))

    @n.kernel(__name__)
    def inspect(
        x: wp.array(dtype=vec),
        v: wp.array(dtype=vec),
        body: wp.array(dtype=int),
        reference: wp.array(dtype=int),
        size: wp.array(dtype=real),
        frame_time: wp.float64,
        clock: wp.array(dtype=wp.float64),
        clock_good: wp.array(dtype=wp.float64),
        status: wp.array(dtype=int),
    ):
        """Mark the frame as failed if a point is not finite or absurdly far from its body; set the clock exactly."""
        i = at(wp.tid())
        if i == 0:
            clock[0] = clock_good[0] + frame_time
        if i < x.shape[0]:
            b = at(body[i])
            far = x[i] - x[at(reference[b])]
            lost = not (wp.dot(far, far) <= size[b] * size[b] * real(SIZE_LIMIT * SIZE_LIMIT))
            if (lost or not wp.isfinite(v[i])) and status[0] == wp.static(FINE):  # the first body is named
                status[0] = wp.static(NOT_FINITE)
                status[1] = b

    @n.kernel(__name__)
    def restore(
        status: wp.array(dtype=int),
        x_good: wp.array(dtype=vec),
        v_good: wp.array(dtype=vec),
        clock_good: wp.array(dtype=wp.float64),
        x: wp.array(dtype=vec),
        v: wp.array(dtype=vec),
        clock: wp.array(dtype=wp.float64),
    ):
        """After a failed frame: back to its start, so that nothing that is not finite is ever seen."""
        i = at(wp.tid())
        if status[0] != wp.static(FINE):
            if i < x.shape[0]:
                x[i] = x_good[i]
                v[i] = v_good[i]
            if i == 0:
                clock[0] = clock_good[0]

    @n.kernel(__name__)
    def restore_ledger(
        status: wp.array(dtype=int),
        good: wp.array(dtype=wp.float64),
        dissipated: wp.array(dtype=wp.float64),
        work: wp.array(dtype=wp.float64),
    ):
        """The ledger's part of `restore`; `good` holds dissipated, then work."""
        b = wp.tid()
        if status[0] != wp.static(FINE):
            dissipated[b] = good[b]
            work[b] = good[dissipated.shape[0] + b]
        else:
            good[b] = dissipated[b]
            good[dissipated.shape[0] + b] = work[b]

    return SimpleNamespace(
        begin_frame=begin_frame,
        plan_substeps=plan_substeps,
        plan_fixed=plan_fixed,
        inspect=inspect,
        restore=restore,
        restore_ledger=restore_ledger,
    )
