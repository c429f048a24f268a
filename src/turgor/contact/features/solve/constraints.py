"""From candidates to contacts: where two features are closest, along which normal, and what must hold there (X1).

A pair of features counts where it is a true closest pair of the two surfaces, so that one touch is one contact: a
vertex against the inside of a face, or against an edge or corner that the face owns; an edge against an edge, both
inside, and only if neither can come closer across the faces beside it.
Normals follow the gap, which is never zero: bodies keep their skins apart, half of them at rest, and what lies between
half and the whole is used up gently.
"""

import functools
from types import SimpleNamespace

import warp as wp

from turgor.contact import materials
from turgor.contact.features.search import candidates as nearby
from turgor.contact.features.solve import sides
from turgor.contact.geometry import closest_fast
from turgor.contact.materials import BOUNCE
from turgor.kernel.numbers import Numbers, at
from turgor.model.surfaces import OWNS_CORNER, OWNS_EDGE

__all__ = ["REST", "kernels"]

REST = 0.5  # share of the skins that is left between bodies at rest
CLOSING = 0.8  # share of the way to it that a substep may use
SLACK = 0.5  # contacts are kept if the gap will be less than 1 + SLACK times the thickness
STICKING = 100.0  # friction of contacts that had to be stopped


@functools.cache
def kernels(n: Numbers, parallel: bool) -> SimpleNamespace:
    """Struct `Rows` and the kernel make_rows."""
    real, vec, dim, face = n.real, n.vec, n.dim, n.face
    variant = f"{__name__}{'_parallel' if parallel else ''}"
    side = sides.kernels(n, parallel)
    near = closest_fast.kernels(n)
    inertia, Movers = side.inertia, side.Movers
    swing, side_mobility, count_side = side.swing, side.side_mobility, side.count_side
    spread_of, inverse_of = side.spread_of, side.inverse_of
    pair_friction, shared_restitution = materials.kernels(n).pair_friction, materials.kernels(n).shared_restitution
    edge_bit = wp.constant(OWNS_EDGE)
    corner_bit = wp.constant(OWNS_CORNER)

    @wp.struct
    class Rows:
        """Contacts of this substep. A side has points (at most three, with weights) or a rigid body, and a place."""

        count: wp.array(dtype=int)
        pair: wp.array(dtype=int)
        candidate: wp.array(dtype=int)
        first: wp.array(dtype=wp.vec3i)  # points of the first side
        second: wp.array(dtype=wp.vec3i)
        first_weight: wp.array(dtype=vec)
        second_weight: wp.array(dtype=vec)
        rigid: wp.array(dtype=wp.vec2i)  # rigid body of each side, or -1
        place: wp.array(dtype=vec)  # m: where impulses act on rigid bodies
        normal: wp.array(dtype=vec)  # from the second side to the first
        gap: wp.array(dtype=real)  # m
        thickness: wp.array(dtype=real)  # m
        least: wp.array(dtype=real)  # m/s: least normal velocity allowed
        mass: wp.array(dtype=real)  # kg: effective, along the normal
        friction: wp.array(dtype=real)
        centre: wp.array(dtype=vec)  # m: centre of mass of the soft points
        turning: wp.array(dtype=inertia)  # inverse inertia of the soft points about it; zero where not needed
        impulse: wp.array(dtype=real)  # N s along the normal
        rub: wp.array(dtype=vec)  # N s across it

    @wp.func
    def own_or(soft: int, rigid: int, of_soft: wp.array(dtype=real), of_rigid: wp.array(dtype=real)) -> real:
        if soft >= 0:
            return of_soft[soft]
        return of_rigid[rigid]

    @wp.func
    def cluster(m: Movers, ids: wp.vec3i, w: vec, centre: vec) -> inertia:
        """Inertia of the points of a side about a centre."""
        total = inertia(real(0.0))
        for k in range(dim):
            if w[k] != real(0.0):
                total += spread_of(real(1.0) / m.inverse_mass[at(ids[k])], m.points[at(ids[k])] - centre)
        return total

    @wp.func
    def weighed(m: Movers, ids: wp.vec3i, w: vec):
        """(mass, mass times place) of the points of a side; mass -1 if one of them is held."""
        mass = real(0.0)
        moment = vec()
        held = bool(False)  # noqa: UP018
        for k in range(dim):
            if w[k] != real(0.0):
                m1 = m.inverse_mass[at(ids[k])]
                if m1 <= real(0.0):
                    held = True
                else:
                    mass += real(1.0) / m1
                    moment += m.points[at(ids[k])] / m1
        if held:
            mass = real(-1.0)
        return mass, moment

    if dim == 2:

        @wp.func
        def closest_to_face(p: vec, f: face, points: wp.array(dtype=vec)):
            t, gap = near.point_segment(p, points[at(f[0])], points[at(f[1])])
            return vec(real(1.0) - t, t), gap

        @wp.func
        def is_owned(w: vec, gap: vec, f: face, opposite: face, owns: int, points: wp.array(dtype=vec)) -> bool:
            """Whether the face answers for its closest point."""
            for k in range(2):
                if w[k] == real(0.0):  # the other end, which two segments share
                    return ((owns >> (corner_bit + 1 - k)) & 1) != 0
            return True

        @wp.func
        def corners(f: face) -> wp.vec3i:
            return wp.vec3i(f[0], f[1], f[1])

        @wp.func
        def closest_of_edges(candidate: wp.vec4i, edges: wp.array(dtype=wp.vec4i), points: wp.array(dtype=vec)):
            """There is no such pair in the plane."""
            return wp.vec3i(), wp.vec3i(), vec(), vec(), vec()

        @wp.func
        def are_ridges(
            candidate: wp.vec4i, w: vec, u: vec, gap: vec, edges: wp.array(dtype=wp.vec4i), points: wp.array(dtype=vec)
        ) -> bool:
            return False

    else:

        @wp.func
        def closest_to_face(p: vec, f: face, points: wp.array(dtype=vec)):
            w, gap = near.point_triangle(p, points[at(f[0])], points[at(f[1])], points[at(f[2])])
            return w, gap

        @wp.func
        def is_owned(w: vec, gap: vec, f: face, opposite: face, owns: int, points: wp.array(dtype=vec)) -> bool:
            """Whether the face answers for its closest point: inside it, or on an edge or corner it owns.

            Across an edge, the face on the other side may come closer: then it answers.
            """
            zeros = int(0)  # noqa: RUF046, UP018
            for k in range(3):
                if w[k] == real(0.0):
                    zeros += 1
            if zeros == 0:
                return True
            if zeros == 2:
                for k in range(3):
                    if w[k] != real(0.0):
                        return ((owns >> (corner_bit + k)) & 1) != 0
            for k in range(3):
                if w[(k + 2) % 3] == real(0.0):  # the edge of corners k and k + 1
                    if ((owns >> (edge_bit + k)) & 1) == 0:
                        return False
                    apex = opposite[k]
                    if apex >= 0:
                        a = points[at(f[k])]
                        edge = points[at(f[(k + 1) % 3])] - a
                        across = points[at(apex)] - a
                        across -= (wp.dot(across, edge) / wp.max(wp.dot(edge, edge), real(1.0e-30))) * edge
                        return wp.dot(gap, across) <= real(0.0)
            return True

        @wp.func
        def corners(f: face) -> wp.vec3i:
            return f

        @wp.func
        def is_ridge(gap: vec, e: wp.vec4i, points: wp.array(dtype=vec)) -> bool:
            """Whether neither face beside an edge comes closer to what lies in the direction of the gap."""
            a = points[at(e[0])]
            edge = points[at(e[1])] - a
            length2 = wp.max(wp.dot(edge, edge), real(1.0e-30))
            for k in range(2):
                apex = e[2 + k]
                if apex >= 0:
                    across = points[at(apex)] - a
                    across -= (wp.dot(across, edge) / length2) * edge
                    if wp.dot(gap, across) > real(0.0):
                        return False
            return True

        @wp.func
        def closest_of_edges(candidate: wp.vec4i, edges: wp.array(dtype=wp.vec4i), points: wp.array(dtype=vec)):
            """(points of the first edge, of the second, weights of both, gap)."""
            e = edges[at(candidate[1])]
            g = edges[at(candidate[2])]
            s, t, gap = near.segments(points[at(e[0])], points[at(e[1])], points[at(g[0])], points[at(g[1])])
            w = vec(real(1.0) - s, s, real(0.0))
            u = vec(real(1.0) - t, t, real(0.0))
            return wp.vec3i(e[0], e[1], e[1]), wp.vec3i(g[0], g[1], g[1]), w, u, gap

        @wp.func
        def are_ridges(
            candidate: wp.vec4i, w: vec, u: vec, gap: vec, edges: wp.array(dtype=wp.vec4i), points: wp.array(dtype=vec)
        ) -> bool:
            """Whether two edges are closest inside both, and no face beside them comes closer."""
            if w[0] == real(0.0) or w[1] == real(0.0) or u[0] == real(0.0) or u[1] == real(0.0):
                return False
            if not is_ridge(-gap, edges[at(candidate[1])], points):
                return False
            return is_ridge(gap, edges[at(candidate[2])], points)

    @n.kernel(variant)
    def make_rows(
        m: Movers,
        rows: Rows,
        rest: wp.array(dtype=vec),
        point_body: wp.array(dtype=int),
        faces: wp.array(dtype=face),
        opposite: wp.array(dtype=face),
        owns: wp.array(dtype=int),
        edges: wp.array(dtype=wp.vec4i),
        soft_index: wp.array(dtype=int),
        rigid_index: wp.array(dtype=int),
        thickness: wp.array(dtype=real),
        radius: wp.array(dtype=real),  # of round rigid bodies
        soft_friction: wp.array(dtype=real),
        rigid_friction: wp.array(dtype=real),
        soft_restitution: wp.array(dtype=real),
        rigid_restitution: wp.array(dtype=real),
        dt: wp.array(dtype=real),
        pairs: wp.array(dtype=wp.vec2i),
        tangled: wp.array(dtype=int),
        travel: wp.array(dtype=real),
        reach: wp.array(dtype=real),
        count: wp.array(dtype=int),
        candidates: wp.array(dtype=wp.vec4i),
        asleep: wp.array(dtype=real),
        pressing: wp.array(dtype=real),  # N: normal force at each candidate in the substep before
        overflow: wp.array(dtype=int),
        stride: int,
    ):
        """The contacts of this substep among the candidates that are awake."""
        h = dt[0]
        for c in range(wp.tid(), wp.min(count[0], candidates.shape[0]), stride):
            candidate = candidates[at(c)]
            pair = at(candidate[0])
            old = pressing[at(c)]
            if old != real(0.0):
                pressing[at(c)] = real(0.0)
            if asleep[at(c)] <= reach[pair] and tangled[pair] == 0:
                ids = pairs[pair]
                ahead = reach[pair] - travel[pair]
                urgent = asleep[at(c)] < real(0.5 * nearby.URGENT)
                skin = thickness[at(ids[0])] + thickness[at(ids[1])]
                first = wp.vec3i()
                second = wp.vec3i()
                w = vec()
                u = vec()
                gap = vec()
                a = at(ids[0])
                b = at(ids[1])
                if candidate[3] == wp.static(nearby.VERTEX_FACE):
                    i = at(candidate[1])
                    f = faces[at(candidate[2])]
                    u, gap = closest_to_face(m.points[i], f, m.points)
                    w[0] = real(1.0)
                    first = wp.vec3i(i, i, i)
                    second = corners(f)
                    if point_body[i] != a:
                        b = a
                        a = at(ids[1])
                else:
                    first, second, w, u, gap = closest_of_edges(candidate, edges, m.points)
                distance = wp.length(gap)
                if a == b:  # a fine mesh may be nearer to itself than its skin: what is so at rest is no contact
                    between = vec()
                    for k in range(dim):
                        between += w[k] * rest[at(first[k])] - u[k] * rest[at(second[k])]
                    skin = wp.min(skin, real(0.5) * wp.length(between))
                asleep[at(c)] = travel[pair] + distance - skin
                counts = distance - skin <= ahead and distance > real(0.0)
                if counts and not urgent:
                    if candidate[3] == wp.static(nearby.VERTEX_FACE):
                        which = at(candidate[2])
                        counts = is_owned(u, gap, faces[which], opposite[which], owns[which], m.points)
                    else:
                        counts = are_ridges(candidate, w, u, gap, edges, m.points)
                if counts:
                    rigids = wp.vec2i(rigid_index[a], rigid_index[b])
                    round_off = real(0.0)
                    if rigids[0] >= 0:
                        round_off = radius[rigids[0]]
                    if rigids[1] >= 0:
                        round_off = radius[rigids[1]]
                    skin -= round_off
                    way = distance - round_off  # between the surfaces
                    place = vec()  # on the soft side, so that nothing is left of the moment of friction
                    if rigids[0] < 0:
                        for k in range(dim):
                            place += w[k] * m.points[at(first[k])]
                    else:
                        for k in range(dim):
                            place += u[k] * m.points[at(second[k])]
                    normal = gap / distance
                    # written out: a call would copy the struct
                    relative = vec()
                    if rigids[0] >= 0:
                        r = at(rigids[0])
                        relative += m.rigid_v[r] + swing(m.spin[r], place - m.x[r])
                    else:
                        for k in range(dim):
                            relative += w[k] * m.v[at(first[k])]
                    if rigids[1] >= 0:
                        r = at(rigids[1])
                        relative -= m.rigid_v[r] + swing(m.spin[r], place - m.x[r])
                    else:
                        for k in range(dim):
                            relative -= u[k] * m.v[at(second[k])]
                    speed = wp.dot(relative, normal)
                    give_way = real(0.0)
                    if urgent or way + h * speed < real(1.0 + SLACK) * skin:
                        give_way = side_mobility(m, rigids[0], place, normal, first[0], first[1], first[2], w)
                        give_way += side_mobility(m, rigids[1], place, -normal, second[0], second[1], second[2], u)
                    if give_way > real(0.0):
                        slot = wp.atomic_add(rows.count, 0, 1)
                        if slot < rows.pair.shape[0]:
                            row = at(slot)
                            rows.pair[row] = pair
                            rows.candidate[row] = c
                            rows.first[row] = first
                            rows.second[row] = second
                            rows.first_weight[row] = w
                            rows.second_weight[row] = u
                            rows.rigid[row] = rigids
                            rows.place[row] = place
                            rows.normal[row] = normal
                            rows.gap[row] = way
                            rows.thickness[row] = skin
                            rows.mass[row] = real(1.0) / give_way
                            rows.impulse[row] = h * old
                            rows.rub[row] = vec()
                            rows.friction[row] = pair_friction(
                                own_or(soft_index[a], rigids[0], soft_friction, rigid_friction),
                                own_or(soft_index[b], rigids[1], soft_friction, rigid_friction),
                            )
                            bounce = shared_restitution(
                                own_or(soft_index[a], rigids[0], soft_restitution, rigid_restitution),
                                own_or(soft_index[b], rigids[1], soft_restitution, rigid_restitution),
                            )
                            rested = real(REST) * skin
                            least = real(0.0)
                            if way > rested:
                                least = -real(CLOSING) * (way - rested) / h
                            if speed < least and speed < -real(BOUNCE) and bounce > real(0.0):
                                least = -bounce * speed
                            if urgent:  # it had to be stopped: no more approach, and no slip
                                least = wp.max(least, real(0.0))
                                rows.friction[row] = real(STICKING)
                            rows.least[row] = least
                            # soft points that take back the moment of friction
                            rows.turning[row] = inertia(real(0.0))
                            if rigids[0] < 0 and rigids[1] < 0:
                                mass, moment = weighed(m, first, w)
                                other_mass, other_moment = weighed(m, second, u)
                                if mass > real(0.0) and other_mass > real(0.0):
                                    centre = (moment + other_moment) / (mass + other_mass)
                                    rows.centre[row] = centre
                                    rows.turning[row] = inverse_of(
                                        cluster(m, first, w, centre) + cluster(m, second, u, centre)
                                    )
                            count_side(m, rigids[0], first[0], first[1], first[2], w)
                            count_side(m, rigids[1], second[0], second[1], second[2], u)
                        else:
                            overflow[0] = 1
                            wp.atomic_max(overflow, 3, slot + 1)

    return SimpleNamespace(Rows=Rows, make_rows=make_rows)
