"""Where bodies that are near each other touch: contact points, the velocities wanted there, and old impulses (B14)."""

import functools
from types import SimpleNamespace

import warp as wp

from turgor.contact import materials, walls
from turgor.contact.rigid import clip, round, sat
from turgor.contact.rigid.polytope import CAPSULE, SPHERE
from turgor.contact.rigid.records import tables
from turgor.kernel.numbers import Numbers, at
from turgor.rigid import motion

__all__ = ["kernels"]

SLACK = 0.05  # of the skins: a length that does not matter, and how deep resting bodies may be
FRICTION = 0.5  # of two bodies that both have none of their own
SLOW = 0.1  # m/s, slower impacts do not bounce


@functools.cache
def kernels(n: Numbers) -> SimpleNamespace:
    """The kernel."""
    real, vec, spin_type = n.real, n.vec, n.spin
    w, c, t, r = walls.kernels(n), clip.kernels(n), tables(n), round.kernels(n)
    pose = motion.kernels(n).pose
    mat, Shapes, put, reduced = t.mat, t.Shapes, c.put, c.reduced
    Bodies, Walls, Pairs, Kept = t.Bodies, t.Walls, t.Pairs, t.Kept
    collide = sat.kernels(n).collide
    round_on_piece, round_on_round = r.round_on_piece, r.round_on_round
    turning_velocity, shared_restitution = w.turning_velocity, materials.kernels(n).shared_restitution
    zero = wp.constant(real(0.0))
    half = wp.constant(real(0.5))
    slack_share = wp.constant(real(SLACK))
    common = wp.constant(real(FRICTION))
    slow = wp.constant(real(SLOW))
    sphere, capsule = wp.constant(SPHERE), wp.constant(CAPSULE)

    if n.dim == 2:

        @wp.func
        def matrix(q: pose) -> mat:
            c = wp.cos(q)
            s = wp.sin(q)
            return mat(c, -s, s, c)

    else:

        @wp.func
        def matrix(q: pose) -> mat:
            return wp.quat_to_matrix(q)

    @wp.func
    def on_wall(
        s: Shapes,
        k: int,
        turn: mat,
        normal: vec,
        height: real,
        margin: real,
        slack: real,
        place: wp.array(dtype=vec),
        gap: wp.array(dtype=real),
        mark: wp.array(dtype=int),
    ) -> int:
        """Points of a body near a wall `height` below its centre, relative to that centre."""
        count = wp.int32(0)
        piece = s.collider[at(k)].first_piece
        radius = s.collider[at(k)].round
        down = wp.transpose(turn) * normal
        begin = s.piece[at(piece)].point_first
        for v in range(begin, s.piece[at(piece)].point_last):
            distance = wp.dot(down, s.point[at(v)]) + height - radius
            if distance <= margin:
                surface = turn * s.point[at(v)] - (radius + half * distance) * normal
                count = put(count, surface, distance, v - begin, normal, slack, place, gap, mark)
        return reduced(count, normal, slack, place, gap, mark)

    @wp.func
    def on_body(
        s: Shapes,
        i: int,
        j: int,
        piece_j: int,
        turn_a: mat,
        turn_b: mat,
        shift: vec,
        margin: real,
        slack: real,
        place: wp.array(dtype=vec),
        gap: wp.array(dtype=real),
        mark: wp.array(dtype=int),
    ):
        """(count, normal) of colliders i and j, relative to i's centre along world axes; j's centre is at `shift`."""
        piece_i = s.collider[at(i)].first_piece
        back = wp.transpose(turn_a)
        count = wp.int32(0)
        normal = vec()
        round_a = s.collider[at(i)].kind == sphere or s.collider[at(i)].kind == capsule
        round_b = s.collider[at(j)].kind == sphere or s.collider[at(j)].kind == capsule
        if round_a:
            p = turn_a * s.point[s.piece[at(piece_i)].point_first]
            q = turn_a * s.point[s.piece[at(piece_i)].point_last - 1]
            if round_b:
                e = shift + turn_b * s.point[s.piece[at(piece_j)].point_first]
                f = shift + turn_b * s.point[s.piece[at(piece_j)].point_last - 1]
                count, normal = round_on_round(
                    p, q, s.collider[at(i)].round, e, f, s.collider[at(j)].round, margin, place, gap, mark
                )
            else:
                into = wp.transpose(turn_b)
                count, normal = round_on_piece(
                    s,
                    piece_j,
                    into * (p - shift),
                    into * (q - shift),
                    s.collider[at(i)].round,
                    margin,
                    place,
                    gap,
                    mark,
                )
                normal = turn_b * normal
                for v in range(count):
                    place[v] = shift + turn_b * place[v]
            return count, normal
        if round_b:
            e = back * (shift + turn_b * s.point[s.piece[at(piece_j)].point_first])
            f = back * (shift + turn_b * s.point[s.piece[at(piece_j)].point_last - 1])
            count, normal = round_on_piece(s, piece_i, e, f, s.collider[at(j)].round, margin, place, gap, mark)
            normal = -normal
        else:
            count, normal = collide(s, piece_i, piece_j, back * turn_b, back * shift, margin, slack, place, gap, mark)
        for v in range(count):
            place[v] = turn_a * place[v]
        return count, turn_a * normal

    @wp.func
    def pair_friction(own: real, other: real) -> real:
        """Geometric mean; a body without one (< 0) takes the other's."""
        if own < zero and other < zero:
            return common
        if own < zero:
            return other
        if other < zero:
            return own
        return wp.sqrt(own * other)

    @n.kernel(__name__)
    def find_manifolds(
        stride: int,
        dt: wp.array(dtype=real),
        s: Shapes,
        b: Bodies,
        w: Walls,
        p: Pairs,
        old: Kept,
        reach: wp.array(dtype=real),
        sharing: wp.array(dtype=wp.int32),
    ):
        """Contact points of the pairs, what is wanted of their velocities, and the impulses they had before."""
        h = dt[0]
        place = wp.zeros(shape=(wp.static(clip.BUFFER),), dtype=vec)
        gap = wp.zeros(shape=(wp.static(clip.BUFFER),), dtype=real)
        mark = wp.zeros(shape=(wp.static(clip.BUFFER),), dtype=int)
        for index in range(wp.tid(), wp.min(p.count[0], p.capacity), stride):
            i = p.a[index]
            j = p.b[index]
            k = i % b.per_world
            turn = matrix(b.q[i])
            count = wp.int32(0)
            normal = vec()
            friction = zero
            bounce = zero
            slack = slack_share * b.skin[i]
            centre = vec()  # of the other
            v_other = vec()
            spin_other = spin_type(zero)
            if j < 0:
                wall = -1 - j
                normal = w.normal[wall]
                friction = pair_friction(b.friction[i], w.friction[wall])
                bounce = shared_restitution(b.restitution[i], w.restitution[wall])
                centre = w.centre[wall]
                v_other = w.velocity[wall]
                spin_other = w.spin[wall]
                # the wall is where it will be at the end of the substep: its own movement counts as gap
                own = v_other + turning_velocity(spin_other, b.x[i] - centre)
                height = wp.dot(normal, b.x[i] - w.point[wall]) + h * wp.dot(own, normal)
                count = on_wall(s, k, turn, normal, height, reach[i], slack, place, gap, mark)
            else:
                l = j % b.per_world  # noqa: E741
                slack += slack_share * b.skin[j]
                friction = pair_friction(b.friction[i], b.friction[j])
                bounce = wp.max(wp.max(b.restitution[i], b.restitution[j]), zero)
                centre = b.x[j]
                v_other = b.v[j]
                spin_other = b.spin[j]
                count, normal = on_body(
                    s, k, l, s.collider[at(l)].first_piece + p.part[index], turn, matrix(b.q[j]), centre - b.x[i],
                    reach[i] + reach[j], slack, place, gap, mark,
                )  # fmt: skip
            p.points[index] = count
            p.normal[index] = normal
            p.friction[index] = friction
            p.slack[index] = slack
            if count > 0:
                wp.atomic_add(sharing, i, 1)
                if j >= 0:
                    wp.atomic_add(sharing, j, 1)
            # impulses of the same points in the last substep, if it had the pair
            before = wp.int32(-1)
            first = old.first[i]
            for o in range(first, first + old.number[i]):
                if old.b[o] == j and old.part[o] == p.part[index]:
                    before = o
            for v in range(count):
                row = 4 * index + v
                arm = place[v]
                arm_other = b.x[i] - centre + arm
                p.arm_a[row] = arm
                p.arm_b[row] = arm_other
                p.gap[row] = gap[v]
                p.mark[row] = mark[v]
                p.pushed[row] = zero
                p.impulse[row] = zero
                p.slide[row] = vec()
                touched = wp.bool(False)
                if before >= 0:
                    for u in range(old.points[before]):
                        if old.mark[4 * before + u] == mark[v]:
                            scale = zero
                            if old.dt[0] > zero:
                                scale = h / old.dt[0]
                            touched = old.impulse[4 * before + u] != zero  # negative: a blow, which does not come again
                            p.impulse[row] = scale * wp.max(old.impulse[4 * before + u], zero)
                            along = old.slide[4 * before + u]
                            p.slide[row] = scale * (along - wp.dot(along, normal) * normal)
                approach = -wp.dot(
                    normal,
                    b.v[i] + turning_velocity(b.spin[i], arm) - v_other - turning_velocity(spin_other, arm_other),
                )
                wanted = -wp.max(gap[v], zero) / wp.max(h, real(1e-9))
                p.blow[row] = 0
                if approach > slow and gap[v] < approach * h and not touched:
                    p.blow[row] = 1
                    if bounce > zero:
                        wanted = bounce * approach
                p.wanted[row] = wanted

    return SimpleNamespace(find_manifolds=find_manifolds)
