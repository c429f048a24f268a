"""A frame from outside: its clock, the plan of its substeps, and whether it went well."""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.kernel.blocks import block_min
from turgor.kernel.numbers import Numbers, at
from turgor.kernel.status import FINE, NOT_FINITE, OVERFLOW, TOO_STIFF

__all__ = ["kernels"]

MARGIN = 1.1  # when the step has to shrink, it shrinks by this much more, so that it does not have to again at once
PATIENCE = 8  # frames after which a step that could be longer becomes longer: a step that follows every swing of a
# body would feed energy into it (symplectic integrators keep energy bounded only while the step stays the same)
ROUNDING = 1.0e-5  # steps closer than this are the same
MIN_SUBSTEPS = 4  # per frame: free flight and contact stay accurate even for very soft bodies
SIZE_LIMIT = 1.0e6  # a point this many body sizes away from its body has exploded


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """begin_frame, then plan_substeps or plan_fixed, again and again; then inspect, notice and end_frame."""
    real, vec = n.real, n.vec

    @wp.func
    def count_substep(
        dt: wp.array(dtype=real),
        clock: wp.array(dtype=wp.float64),
        planned: wp.array(dtype=int),
        until_plan: wp.array(dtype=int),
        substeps: wp.array(dtype=int),
        unfinished: wp.array(dtype=int),
    ):
        """One substep is done."""
        clock[0] += wp.float64(dt[0])
        substeps[0] += 1
        until_plan[0] -= 1
        planned[0] -= 1
        if planned[0] == 0:
            unfinished[0] = 0

    @n.kernel(__name__)
    def tick(
        dt: wp.array(dtype=real),
        clock: wp.array(dtype=wp.float64),
        planned: wp.array(dtype=int),
        until_plan: wp.array(dtype=int),
        substeps: wp.array(dtype=int),
        unfinished: wp.array(dtype=int),
    ):
        """The clock goes on by a substep."""
        count_substep(dt, clock, planned, until_plan, substeps, unfinished)

    @n.kernel(__name__)
    def begin_frame(
        clock: wp.array(dtype=wp.float64),
        clock_start: wp.array(dtype=wp.float64),
        status: wp.array(dtype=int),
        unfinished: wp.array(dtype=int),
        substeps: wp.array(dtype=int),
        frame_time: wp.float64,
        estimate_every: int,  # frames
        estimate_due: wp.array(dtype=int),
    ):
        """A simulation that has failed does not go on."""
        clock_start[0] = clock[0]
        estimate_due[0] = wp.where(int(wp.rint(clock[0] / frame_time)) % estimate_every == 0, 1, 0)
        unfinished[0] = wp.where(status[0] == wp.static(FINE), 1, 0)
        substeps[0] = 0

    @n.kernel(__name__)
    def plan_substeps(
        frame_time: wp.float64,
        max_substeps: int,
        multiple: int,  # plans and blocks are whole multiples of this
        steady: int,  # fast changes of shape set the pace, too
        step_bound: wp.array(dtype=wp.float64),
        renew_bound: wp.array(dtype=wp.float64),
        strain_bound: wp.array(dtype=wp.float64),
        clock: wp.array(dtype=wp.float64),
        clock_start: wp.array(dtype=wp.float64),
        substeps: wp.array(dtype=int),
        status: wp.array(dtype=int),
        unfinished: wp.array(dtype=int),
        planned: wp.array(dtype=int),
        until_plan: wp.array(dtype=int),
        pace: wp.array(
            dtype=int
        ),  # substeps per whole frame: now, most needed in this frame; frames since it was needed
        dt: wp.array(dtype=real),
        step_change: wp.array(dtype=real),  # s, from the substep before to the next
        step_changed: wp.array(dtype=int),
    ):
        """Divide what is left of the frame for the most demanding body; plan a block of substeps, then look again."""
        _, lane = wp.tid()
        least = wp.float64(1.0e30)
        soonest = wp.float64(1.0e30)
        briefest = wp.float64(1.0e30)
        worst = int(0)  # noqa: RUF046, UP018 (a variable in Warp's language, not a constant)
        for b in range(lane, step_bound.shape[0], wp.block_dim()):
            soonest = wp.min(soonest, renew_bound[b])
            briefest = wp.min(briefest, strain_bound[b])
            if least >= wp.float64(0.0) and not (step_bound[b] >= least):  # once NaN, always NaN
                least = step_bound[b]
                worst = b
        if not (least >= wp.float64(0.0)):
            least = wp.float64(0.0)
        shortest = block_min(least)
        first = block_min(soonest)
        brief = block_min(briefest)
        chosen = block_min(wp.where(least == shortest, lane, wp.block_dim()))
        if lane == chosen:  # one of those that ask for as much
            left = wp.max(frame_time - (clock[0] - clock_start[0]), wp.float64(0.0))
            wanted = wp.min(wp.ceil(frame_time / wp.max(least, wp.float64(1.0e-30))), wp.float64(1.0e9))
            if steady != 0:
                wanted = wp.max(wanted, wp.min(wp.ceil(frame_time / brief), wp.float64(1.0e9)))
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
            lasting = count
            # fast changes of shape are followed at once, and only while they last
            count = wp.max(count, int(wp.min(wp.ceil(left / brief), wp.float64(1.0e9))))
            count = (count + multiple - 1) // multiple * multiple
            if substeps[0] + lasting > max_substeps or substeps[0] + multiple > max_substeps:
                substeps[0] += wp.max(lasting, multiple)
                status[0] = wp.static(TOO_STIFF)
                status[1] = worst
                unfinished[0] = 0
                until_plan[0] = 0
            else:
                planned[0] = count
                length = left / wp.float64(count)
                turns = int(wp.min(first / length, wp.float64(1.0e6))) // multiple
                allowed = (max_substeps - substeps[0]) // multiple * multiple
                until_plan[0] = wp.clamp(turns * multiple, multiple, wp.min(count, allowed))
                before = dt[0]
                dt[0] = real(length)
                step_change[0] = dt[0] - before
                same = before <= real(0.0) or wp.abs(step_change[0]) < real(ROUNDING) * before
                step_changed[0] = wp.where(same, 0, 1)

    @n.kernel(__name__)
    def plan_fixed(
        frame_time: wp.float64,
        count: int,
        block: int,
        substeps: wp.array(dtype=int),
        planned: wp.array(dtype=int),
        until_plan: wp.array(dtype=int),
        dt: wp.array(dtype=real),
    ):
        """A fixed number of substeps, in blocks."""
        planned[0] = count - substeps[0]
        until_plan[0] = wp.min(block, planned[0])
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
        clock_start: wp.array(dtype=wp.float64),
        status: wp.array(dtype=int),
        body_failed: wp.array(dtype=int),
    ):
        """Mark the frame as failed if a point is not finite or absurdly far from its body; set the clock exactly."""
        i = at(wp.tid())
        if i == 0:
            clock[0] = clock_start[0] + frame_time
        if i < x.shape[0]:
            b = at(body[i])
            far = x[i] - x[at(reference[b])]
            lost = not (wp.dot(far, far) <= size[b] * size[b] * real(SIZE_LIMIT * SIZE_LIMIT))
            if lost or not wp.isfinite(v[i]):
                body_failed[b] = 1
                if status[0] == wp.static(FINE):  # the first body is named
                    status[0] = wp.static(NOT_FINITE)
                    status[1] = b

    @n.kernel(__name__)
    def notice(overflow: wp.array(dtype=int), status: wp.array(dtype=int)):
        """A contact buffer was too small: the frame has to be computed again with a larger one."""
        if overflow[0] != 0 and status[0] == wp.static(FINE):
            status[0] = wp.static(OVERFLOW)

    @n.kernel(__name__)
    def end_frame(status: wp.array(dtype=int), failed: wp.array(dtype=int), frames: wp.array(dtype=int)):
        """Count the frame, or have it undone, so that nothing that is not finite is ever seen."""
        failed[0] = wp.where(status[0] == wp.static(FINE), 0, 1)
        frames[0] += 1 - failed[0]

    return SimpleNamespace(
        count_substep=count_substep,
        tick=tick,
        begin_frame=begin_frame,
        plan_substeps=plan_substeps,
        plan_fixed=plan_fixed,
        inspect=inspect,
        notice=notice,
        end_frame=end_frame,
    )
