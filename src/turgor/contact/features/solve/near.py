"""Which candidates the rounds of a sweep may need, so that not every round passes by all of them.

Most candidates are farther apart than anything moves in a substep. Before the first round those within reach are noted,
with what they would meet as everything moves then: CPU threads share that, as it changes nothing. The first round goes
through those that meet, and through those whose points were stirred meanwhile; later rounds only through what was
stirred. Rounds widen the horizon (`sweep.py`): where it comes to lie beyond the reach, candidates are noted again. On a
GPU, where many threads share the list, all are passed by in each round.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.contact.features.solve import course as courses
from turgor.contact.features.solve import moves as movements
from turgor.contact.features.solve import sides
from turgor.contact.features.solve import zones as impact_zones
from turgor.kernel.board import LINE
from turgor.kernel.launch import begin_of
from turgor.kernel.numbers import Numbers, at

__all__ = ["kernels"]

WIDER = 0.5  # of what a pair can approach in a substep: by which the reach lies beyond the horizon


@functools.cache
@no_type_check
def kernels(n: Numbers, parallel: bool) -> SimpleNamespace:
    """Struct `Near`, the function extend and the kernel note_near."""
    real, face = n.real, n.face
    variant = f"{__name__}{'_parallel' if parallel else ''}"
    Dynamics, Zones = sides.kernels(n, parallel).Dynamics, impact_zones.kernels(n, parallel).Zones
    made = movements.kernels(n, parallel)
    Moves, points_of, nodes_of = made.Moves, made.points_of, made.nodes_of
    course = courses.kernels(n, parallel).course

    @wp.struct
    class Near:
        """What was noted: by each part of the list of candidates, from the place on where that begins."""

        which: wp.array(dtype=int)  # candidates
        nodes: wp.array(dtype=wp.vec4i)  # and what their points move with
        meets: wp.array(dtype=int)  # whether they would meet, before the first round
        count: wp.array(dtype=int)  # per part, a cache line apart
        followed: wp.array(dtype=int)  # likewise: candidates that could meet before the first round
        reach: wp.array(dtype=real)  # m, per pair: travel at which the farthest of them wake
        anew: wp.array(dtype=int)  # whether they are noted in this round

    @wp.func(inline=True)
    def extend(near: Near, pair: int, first: bool, horizon: real, most: real):
        """A reach beyond the horizon of a pair, in the first round or if it was passed."""
        if first or horizon > near.reach[pair]:
            near.reach[pair] = horizon + real(WIDER) * most
            near.anew[0] = 1

    @n.kernel(variant)
    def note_near(
        moves: Moves,
        zones: Zones,
        dynamics: Dynamics,
        faces: wp.array(dtype=face),
        edges: wp.array(dtype=wp.vec4i),
        dt: wp.array(dtype=real),
        pairs: wp.array(dtype=wp.vec2i),
        pair_travel: wp.array(dtype=real),
        pair_horizon: wp.array(dtype=real),
        near: Near,
        thickness: wp.array(dtype=real),
        candidate_count: wp.array(dtype=int),
        candidates: wp.array(dtype=wp.vec4i),
        wake_travel: wp.array(dtype=real),
        rounds: wp.array(dtype=int),
        part: int,
        parts: int,
    ):
        """The candidates within reach, if they are noted in this round."""
        if near.anew[0] == 0:
            return
        count = wp.min(candidate_count[0], candidates.shape[0])
        first = begin_of(part, parts, count)
        slot = int(first)
        followed = int(0)  # noqa: RUF046, UP018
        for c in range(first, begin_of(part + 1, parts, count)):
            candidate = candidates[at(c)]
            pair = at(candidate[0])
            wake = wake_travel[at(c)]
            if wake <= near.reach[pair]:
                its = points_of(candidate, faces, edges)
                meets = int(0)  # noqa: RUF046, UP018
                if rounds[0] == 1 and wake <= pair_horizon[pair]:
                    followed += 1
                    left = wake - pair_travel[pair]
                    share, _w, _u, _gap, _ma, _mb, _mc, _md = course(
                        moves, zones, dynamics, thickness, candidate[3], its, pairs[pair], left, dt[0]
                    )
                    if share < real(1.0):
                        meets = 1
                near.which[at(slot)] = c
                near.nodes[at(slot)] = nodes_of(moves, its)
                near.meets[at(slot)] = meets
                slot += 1
        near.count[part * LINE] = slot - first
        near.followed[part * LINE] = followed

    return SimpleNamespace(Near=Near, extend=extend, note_near=note_near)
