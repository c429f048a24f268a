"""The movements of a substep as they are to be made, and which of them the rounds of the sweep have changed.

A candidate whose points move as they did when it was followed meets what it met then. So it is followed again only if
one of its nodes (soft points and rigid bodies) was stirred since: in this round, or in the one before. Rounds are
numbered through all substeps, so that stamps of earlier ones are none of these. A number that comes again, after
LAST rounds, only lets candidates be followed that need not be.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.contact.features.solve import sides
from turgor.contact.features.solve import zones as impact_zones
from turgor.contact.geometry.advancement import VERTEX_FACE
from turgor.kernel.numbers import Numbers, at

__all__ = ["LAST", "kernels"]

LAST = 0x3FFFFFFF  # number of a round after which numbers begin again


@functools.cache
@no_type_check
def kernels(n: Numbers, parallel: bool) -> SimpleNamespace:
    """Struct `Moves` and functions."""
    real, vec, spin_type, dim, face = n.real, n.vec, n.spin, n.dim, n.face
    side = sides.kernels(n, parallel)
    Dynamics, swing = side.Dynamics, side.swing
    Zones = impact_zones.kernels(n, parallel).Zones

    @wp.struct
    class Moves:
        """The movements of this substep."""

        move: wp.array(dtype=vec)  # m, of soft points
        v_free: wp.array(dtype=vec)  # m/s: velocities that `move` belongs to
        point_body: wp.array(dtype=int)
        rigid_index: wp.array(dtype=int)
        rigid_push_move: wp.array(dtype=vec)
        rigid_push_turn: wp.array(dtype=spin_type)
        rigid_radius: wp.array(dtype=real)
        unmade_move: wp.array(dtype=real)  # m, per contact body: how far points move otherwise than the lists know
        wall_normal: wp.array(dtype=vec)
        wall_point: wp.array(dtype=vec)

    @wp.func
    def round_radius(moves: Moves, one: int, two: int) -> real:
        """Radius of the round one of two bodies, which is part of its thickness; else zero."""
        if moves.rigid_index[two] >= 0:
            return moves.rigid_radius[moves.rigid_index[two]]
        if moves.rigid_index[one] >= 0:
            return moves.rigid_radius[moves.rigid_index[one]]
        return real(0.0)

    @wp.func(inline=True)
    def point_move(moves: Moves, zones: Zones, dynamics: Dynamics, i: int, h: real) -> vec:
        """Displacement of a point as it is to be made; where impulses lead into a wall, it has the last word."""
        if i < moves.move.shape[0]:
            if zones.parent[i] >= 0:
                return h * dynamics.point_v[i]
            changed = h * (dynamics.point_v[i] - moves.v_free[i])
            asked = moves.move[i] + changed
            if wp.length_sq(changed) > real(0.0):
                for w in range(moves.wall_normal.shape[0]):
                    normal = moves.wall_normal[w]
                    off = wp.dot(dynamics.points[i] - moves.wall_point[w], normal) + wp.dot(asked, normal)
                    asked -= wp.min(off, real(0.0)) * normal
            return asked
        r = moves.rigid_index[moves.point_body[i]]
        arm = dynamics.points[i] - dynamics.rigid_x[r]
        turn = h * dynamics.rigid_spin[r] + moves.rigid_push_turn[r]
        return h * dynamics.rigid_v[r] + moves.rigid_push_move[r] + swing(turn, arm)

    @wp.func(inline=True)
    def points_of(candidate: wp.vec4i, faces: wp.array(dtype=face), edges: wp.array(dtype=wp.vec4i)) -> wp.vec4i:
        """Of a vertex and its face (in 2D the last twice), or of two edges."""
        if candidate[3] == VERTEX_FACE:
            f = faces[at(candidate[2])]
            return wp.vec4i(candidate[1], f[0], f[1], f[wp.static(dim - 1)])
        e = edges[at(candidate[1])]
        g = edges[at(candidate[2])]
        return wp.vec4i(e[0], e[1], g[0], g[1])

    @wp.func(inline=True)
    def node_of(moves: Moves, i: int) -> int:
        """What a point moves with: itself, or its rigid body."""
        if i < moves.move.shape[0]:
            return i
        return moves.move.shape[0] + moves.rigid_index[moves.point_body[i]]

    @wp.func(inline=True)
    def nodes_of(moves: Moves, p: wp.vec4i) -> wp.vec4i:
        return wp.vec4i(node_of(moves, p[0]), node_of(moves, p[1]), node_of(moves, p[2]), node_of(moves, p[3]))

    @wp.func(inline=True)
    def stir(stirred: wp.array(dtype=int), now: int, nodes: wp.vec4i):
        """They move otherwise from this round on."""
        for k in range(4):
            stirred[at(nodes[k])] = now

    @wp.func(inline=True)
    def were_stirred(stirred: wp.array(dtype=int), now: int, nodes: wp.vec4i) -> bool:
        """Whether one of them moves otherwise than when the round before this one passed by."""
        last = wp.min((now - stirred[at(nodes[0])]) & LAST, (now - stirred[at(nodes[1])]) & LAST)
        last = wp.min(last, (now - stirred[at(nodes[2])]) & LAST)
        return wp.min(last, (now - stirred[at(nodes[3])]) & LAST) <= 1

    return SimpleNamespace(
        Moves=Moves, round_radius=round_radius, point_move=point_move, points_of=points_of, nodes_of=nodes_of,
        stir=stir, were_stirred=were_stirred,
    )  # fmt: skip
