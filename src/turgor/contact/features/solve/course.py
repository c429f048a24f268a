"""Where a candidate would meet on the way that its points are to move in this substep."""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.contact.features.solve import moves as movements
from turgor.contact.features.solve import sides
from turgor.contact.features.solve import zones as impact_zones
from turgor.contact.geometry import advancement
from turgor.contact.geometry.advancement import VERTEX_FACE
from turgor.kernel.numbers import Numbers, at

__all__ = ["kernels"]

FLOOR = 0.05  # share of the skins that must be left between surfaces


@functools.cache
@no_type_check
def kernels(n: Numbers, parallel: bool) -> SimpleNamespace:
    """The function course."""
    real, vec = n.real, n.vec
    Dynamics, Zones = sides.kernels(n, parallel).Dynamics, impact_zones.kernels(n, parallel).Zones
    made = movements.kernels(n, parallel)
    Moves, round_radius, point_move = made.Moves, made.round_radius, made.point_move
    safe_share = advancement.kernels(n).safe_share
    most_of = wp.constant(real(1.0 - advancement.GAP_LEFT))
    floor = wp.constant(real(FLOOR))

    @wp.func(inline=True)
    def course(
        moves: Moves,
        zones: Zones,
        dynamics: Dynamics,
        thickness: wp.array(dtype=real),
        kind: int,
        its: wp.vec4i,  # points
        ids: wp.vec2i,  # bodies
        left: real,  # m: how much closer the two may come until the candidate wakes
        h: real,
    ):
        """(share of the movements that may be made, weights of both sides and gap there, the four movements)."""
        i = at(its[0])
        j = at(its[1])
        k = at(its[2])
        l = at(its[3])  # noqa: E741
        one = at(ids[0])
        two = at(ids[1])
        round_off = round_radius(moves, one, two)
        # the gap is at least this: what is left until the candidate wakes, and the skins
        least = wp.max(left, -thickness[one] - thickness[two])
        if one != two:
            least += thickness[one] + thickness[two] - round_off
        ma = point_move(moves, zones, dynamics, i, h)
        mb = point_move(moves, zones, dynamics, j, h)
        mc = point_move(moves, zones, dynamics, k, h)
        md = point_move(moves, zones, dynamics, l, h)
        common = real(0.25) * (ma + mb + mc + md)
        ra = ma - common
        rb = mb - common
        rc = mc - common
        rd = md - common
        fastest = wp.length(ra)
        if kind == VERTEX_FACE:
            fastest += wp.max(wp.length(rb), wp.max(wp.length(rc), wp.length(rd)))
        else:
            fastest = wp.max(fastest, wp.length(rb)) + wp.max(wp.length(rc), wp.length(rd))
        enough = floor * (thickness[one] + thickness[two] - round_off)
        share = real(1.0)
        w = vec()
        u = vec()
        gap = vec()
        if most_of * (least - enough) <= fastest and fastest > real(0.0):
            share, w, u, gap = safe_share(
                kind, dynamics.points[i], dynamics.points[j], dynamics.points[k], dynamics.points[l],
                ra, rb, rc, rd, round_off, enough,
            )  # fmt: skip
        return share, w, u, gap, ma, mb, mc, md

    return SimpleNamespace(course=course)
