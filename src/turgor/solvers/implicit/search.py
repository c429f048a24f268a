"""How far to go along a direction d: the work of the residual, r·d, falls from its start to zero at the best place.

A step is good enough where the work that is left, with it or against it, is at most half of that at the start. One that
leads beyond is cut between a length that was too short and one that was too long, by the secant (contact met on the way
bends the line, so not nearer than a quarter to either). No energy is needed, so all forces may take part.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.kernel.blocks import block_sum
from turgor.kernel.numbers import Numbers, at
from turgor.scene.gas import VOLUME_FLOOR

__all__ = ["kernels"]

SWELLING = 8.0  # times the volume
LEFT, NEAREST = 0.5, 0.25  # work that may be left; how near to the ends of an interval the next length may be


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """sum_work and begin_search; then (go along) sum_work, judge, until it is not too far."""
    real, vec = n.real, n.vec
    nearest, one = wp.constant(wp.float64(NEAREST)), wp.constant(wp.float64(1.0))

    @n.kernel(__name__)
    def sum_work(
        chunk_start: wp.array(dtype=int),
        residual: wp.array(dtype=vec),
        way: wp.array(dtype=vec),
        chunk_sums: wp.array(dtype=real),
    ):
        """Work of the residual along the step, per chunk."""
        chunk, lane = wp.tid()
        total = real(0.0)
        for q in range(chunk_start[chunk] + lane, chunk_start[chunk + 1], wp.block_dim()):
            total += wp.dot(residual[at(q)], way[at(q)])
        summed = block_sum(total)
        if lane == 0:
            chunk_sums[chunk] = summed

    @wp.func
    def work_of(w: int, world_chunks: wp.array(dtype=int), chunk_sums: wp.array(dtype=real)) -> real:
        total = real(0.0)
        for c in range(world_chunks[w], world_chunks[w + 1]):
            total += chunk_sums[c]
        return total

    @n.kernel(__name__)
    def begin_search(
        world_chunks: wp.array(dtype=int),
        chunk_sums: wp.array(dtype=real),
        active: wp.array(dtype=int),
        first_work: wp.array(dtype=real),
        length: wp.array(dtype=real),  # of the step so far, as a share
        change: wp.array(dtype=real),  # by which it is to be changed
        cuts: wp.array(dtype=int),
    ):
        """The whole step first."""
        w = wp.tid()
        first_work[w] = work_of(w, world_chunks, chunk_sums)
        length[w] = real(0.0)
        change[w] = real(active[w])
        cuts[w] = 0

    @n.kernel(__name__)
    def hold_volumes(
        world_bodies: int,
        rest_volume: wp.array(dtype=real),
        volume: wp.array(dtype=real),
        volume_round: wp.array(dtype=real),  # where the step begins
        world_chunks: wp.array(dtype=int),
        first_work: wp.array(dtype=real),
        chunk_sums: wp.array(dtype=real),
    ):
        """A step that makes a body so much larger, smaller, or turns it inside out is too long, whatever its work."""
        w = wp.tid()
        for b in range(w * world_bodies, (w + 1) * world_bodies):
            before = volume_round[b]
            far = not (volume[b] < real(SWELLING) * before and volume[b] * real(SWELLING) > before)
            if before > real(VOLUME_FLOOR) * rest_volume[b] and far:  # sheets have none
                for c in range(world_chunks[w], world_chunks[w + 1]):
                    chunk_sums[c] = real(0.0)
                chunk_sums[world_chunks[w]] = -real(1.0e3) * wp.abs(first_work[w])

    @n.kernel(__name__)
    def judge(
        world_chunks: wp.array(dtype=int),
        chunk_sums: wp.array(dtype=real),
        most_cuts: int,
        first_work: wp.array(dtype=real),
        length: wp.array(dtype=real),
        change: wp.array(dtype=real),
        interval: wp.array(dtype=wp.vec4d),  # too short, its work; too long (0: none known), its work
        cuts: wp.array(dtype=int),
        too_far: wp.array(dtype=int),
    ):
        """Whether the step of a world led too far; then a shorter one."""
        w = wp.tid()
        if cuts[w] == 0:
            interval[w] = wp.vec4d(wp.float64(0.0), wp.float64(first_work[w]), wp.float64(0.0), wp.float64(0.0))
        reached = length[w] + change[w]
        length[w] = reached
        change[w] = real(0.0)
        if reached > real(0.0) and cuts[w] < most_cuts:
            now = work_of(w, world_chunks, chunk_sums)
            known = interval[w]
            if not (now >= -real(LEFT) * first_work[w]):
                known[2] = wp.float64(reached)
                known[3] = wp.float64(now)
                if not (now <= real(0.0)):  # not a number
                    known[3] = -wp.float64(1.0e3) * known[1]
            elif now > real(LEFT) * first_work[w] and known[2] > wp.float64(0.0):
                known[0] = wp.float64(reached)
                known[1] = wp.float64(now)
            else:
                known[2] = wp.float64(0.0)
            interval[w] = known
            if known[2] > wp.float64(0.0):
                share = wp.clamp(known[1] / (known[1] - known[3]), nearest, one - nearest)
                change[w] = real(known[0] + share * (known[2] - known[0])) - reached
                too_far[0] = 1
        cuts[w] = cuts[w] + 1

    return SimpleNamespace(sum_work=sum_work, hold_volumes=hold_volumes, begin_search=begin_search, judge=judge)
