"""The list of candidates: a vertex and a face, or two edges, that may touch soon.

A candidate at distance d sleeps until its pair of bodies has travelled d less the thickness (`body_pairs.py`): most are
skipped by one comparison. When the lists of some pairs are rebuilt, the candidates of the others stay.
"""

import functools
from types import SimpleNamespace
from typing import Any, no_type_check

import warp as wp

from turgor.contact.features.launch import BLOCK, CANDIDATES, FeatureLauncher, started_with
from turgor.contact.geometry import closest_fast
from turgor.kernel import structs
from turgor.kernel.numbers import Numbers, at
from turgor.model.model import Model
from turgor.model.surfaces import Surfaces

__all__ = ["FAR", "URGENT", "Candidates", "kernels"]

FAR = 3.0e30
URGENT = (
    -3.0e30
)  # in place of a wake travel: the sweep had to stop this candidate, and it must have an impulse next time


class Candidates:
    """Of all pairs of bodies, in any order."""

    SAVED = ("candidate_count", "candidates", "wake_travel", "warm_force")

    def __init__(self, model: Model, surfaces: Surfaces, launch: FeatureLauncher) -> None:
        self.numbers, self.kernels = model.numbers, kernels(model.numbers)
        self.candidate_count, self.kept_count = launch.zeros(1, wp.int32), launch.zeros(1, wp.int32)
        self.capacity = started_with(4, surfaces.point_count)
        self.launch = launch.extended(self)
        self.allocate()

    def allocate(self) -> None:
        """A list of the present capacity, and on a GPU one to set candidates aside."""
        real, zeros, size = self.numbers.real, self.launch.zeros, self.capacity
        self.candidates = zeros(size, wp.vec4i)  # pair, first and second feature, kind
        self.wake_travel = zeros(size, real)  # m: travel of its pair at which it could touch
        self.warm_force = zeros(size, real)  # N: normal force in the substep before
        aside = size if self.launch.parallel else 0
        self.kept_candidates = zeros(aside, wp.vec4i)
        self.chosen = zeros(aside, wp.int32)  # candidates that the next kernel takes, where threads are to be full
        self.kept_wake_travel, self.kept_warm_force = zeros(aside, real), zeros(aside, real)
        self.candidate_list = self.launch.struct(self.kernels.CandidateList)
        # of threads beside the first: lists of their own, joined behind the first one's
        self.others = [
            structs.zeros(
                self.kernels.CandidateList, size, self.launch.device, candidate_count=1,
                overflow=self.candidate_list.overflow,
            )
            for _ in range(self.launch.threads - 1)
        ]  # fmt: skip

    def forget(self) -> None:
        """The list is empty."""
        self.candidate_count.zero_()

    def collect(self, launch: FeatureLauncher, kernel: Any, pairs: int | None = None, **each: Any) -> None:
        """Add what a search over at most so many pairs of bodies finds, in blocks; each: arguments per CPU thread.

        Each thread has a part of the pairs, in their order, so the joined list is in the order of one thread. Without
        `pairs` the kernel itself knows which ones a part has.
        """
        each = {"candidate_list": [self.candidate_list, *self.others], **each}
        if pairs is None:
            launch.parts(kernel, 1, each)
        else:
            launch.tile_parts(kernel, pairs, each, BLOCK)
        if launch.sharing > 1:
            for more in self.others:
                launch(self.kernels.join, 1, more=more)

    def keep(self, new_slot: Any) -> None:
        """Only the candidates of pairs that keep their lists stay."""
        self.kept_count.zero_()
        if self.launch.parallel:
            self.launch.walk(self.kernels.set_aside, new_slot=new_slot, aside=1)
            self.launch.walk(self.kernels.put_back)
        else:  # one thread moves them down the list: none goes to a place that is not read yet
            self.launch.walk(
                self.kernels.set_aside, new_slot=new_slot, aside=0, kept_candidates=self.candidates,
                kept_wake_travel=self.wake_travel, kept_warm_force=self.warm_force,
            )  # fmt: skip
            wp.copy(self.candidate_count, self.kept_count)


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """set_aside, put_back, and functions."""
    real, vec, dim, face = n.real, n.vec, n.dim, n.face
    near = closest_fast.kernels(n)

    if dim == 2:

        @wp.func
        def face_distance(p: vec, f: face, points: wp.array(dtype=vec)) -> real:
            _t, gap = near.point_segment(p, points[at(f[0])], points[at(f[1])])
            return wp.length(gap)

    else:

        @wp.func
        def face_distance(p: vec, f: face, points: wp.array(dtype=vec)) -> real:
            _w, gap = near.point_triangle(p, points[at(f[0])], points[at(f[1])], points[at(f[2])])
            return wp.length(gap)

    @wp.struct
    class CandidateList:
        """What the search adds to."""

        candidate_count: wp.array(dtype=int)
        candidates: wp.array(dtype=wp.vec4i)
        wake_travel: wp.array(dtype=real)
        warm_force: wp.array(dtype=real)
        overflow: wp.array(dtype=int)

    @wp.func(inline=True)
    def add(found: CandidateList, pair: int, first: int, second: int, kind: int, free_travel: real):
        """List a candidate; free_travel: how much closer the two may come (m) before they touch."""
        slot = wp.atomic_add(found.candidate_count, 0, 1)
        if slot < found.candidates.shape[0]:
            found.candidates[slot] = wp.vec4i(pair, first, second, kind)
            found.wake_travel[slot] = free_travel
            found.warm_force[slot] = real(0.0)
        else:
            found.overflow[0] = 1
            wp.atomic_max(found.overflow, CANDIDATES, slot + 1)

    @n.kernel(__name__)
    def join(candidate_list: CandidateList, more: CandidateList):
        """Add a list behind another, and empty it."""
        count = wp.min(more.candidate_count[0], more.candidates.shape[0])
        more.candidate_count[0] = 0
        for c in range(count):
            candidate = more.candidates[at(c)]
            add(candidate_list, candidate[0], candidate[1], candidate[2], candidate[3], more.wake_travel[at(c)])

    @n.kernel(__name__)
    def set_aside(
        new_slot: wp.array(dtype=int),  # of each pair that was listed, among those that are; -1: rebuilt
        candidate_count: wp.array(dtype=int),
        candidates: wp.array(dtype=wp.vec4i),
        wake_travel: wp.array(dtype=real),
        warm_force: wp.array(dtype=real),
        kept_count: wp.array(dtype=int),
        kept_candidates: wp.array(dtype=wp.vec4i),
        kept_wake_travel: wp.array(dtype=real),
        kept_warm_force: wp.array(dtype=real),
        aside: int,  # whether they go to another list
        stride: int,
    ):
        """Set aside the candidates of pairs that keep their lists."""
        for c in range(wp.tid(), wp.min(candidate_count[0], candidates.shape[0]), stride):
            candidate = candidates[at(c)]
            pair = new_slot[at(candidate[0])]
            if pair >= 0:
                slot = at(wp.atomic_add(kept_count, 0, 1))
                if aside != 0 or slot != c or pair != candidate[0]:  # else it is in its place
                    kept_candidates[slot] = wp.vec4i(pair, candidate[1], candidate[2], candidate[3])
                    kept_wake_travel[slot] = wake_travel[at(c)]
                    kept_warm_force[slot] = warm_force[at(c)]

    @n.kernel(__name__)
    def put_back(
        kept_count: wp.array(dtype=int),
        kept_candidates: wp.array(dtype=wp.vec4i),
        kept_wake_travel: wp.array(dtype=real),
        kept_warm_force: wp.array(dtype=real),
        candidate_count: wp.array(dtype=int),
        candidates: wp.array(dtype=wp.vec4i),
        wake_travel: wp.array(dtype=real),
        warm_force: wp.array(dtype=real),
        stride: int,
    ):
        """What was set aside is the list now."""
        if wp.tid() == 0:
            candidate_count[0] = kept_count[0]
        for c in range(wp.tid(), kept_count[0], stride):
            candidates[at(c)] = kept_candidates[at(c)]
            wake_travel[at(c)] = kept_wake_travel[at(c)]
            warm_force[at(c)] = kept_warm_force[at(c)]

    return SimpleNamespace(
        CandidateList=CandidateList,
        set_aside=set_aside,
        put_back=put_back,
        join=join,
        face_distance=face_distance,
        add=add,
    )
