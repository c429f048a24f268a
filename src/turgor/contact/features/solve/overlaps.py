"""Bodies that start inside each other: found once, then led apart the short way, gently, as wholes.

The other stages keep surfaces from crossing; they cannot say which side is right once surfaces have crossed. So pairs
of closed bodies whose surfaces cross when a scene starts (or after positions were set by hand) are kept on a list.
While a pair is on it, its features do not touch. Every frame the points of one that are inside the other tell the short
way out (from each to the nearest surface, summed), and the bodies are displaced along it, lighter ones more, at a speed
that takes them out in about a quarter of a second; what still approaches along it is stopped. When nothing crosses
and nothing is inside, the pair leaves the list. A body wholly inside another from the start is not on it: a ball may
live in a balloon.
"""

import functools
from types import SimpleNamespace

import warp as wp

from turgor.contact.features.solve import sides
from turgor.contact.geometry import closest
from turgor.kernel.numbers import Numbers, at

__all__ = ["kernels"]

TIME = 0.25  # s: in which an overlap is undone
FASTEST = 1.0  # m/s
CREEP = 0.2  # slowest, in edge lengths per TIME


@functools.cache
def kernels(n: Numbers, parallel: bool) -> SimpleNamespace:
    """find_tangles (after the lists are new), mark_tangled, judge_tangles (once per frame), part_tangles."""
    real, vec, dim, face = n.real, n.vec, n.dim, n.face
    variant = f"{__name__}{'_parallel' if parallel else ''}"
    near = closest.kernels(n)
    Movers = sides.kernels(n, parallel).Movers
    half_turn = wp.constant(real(0.5))

    if dim == 2:

        @wp.func
        def turn(a: vec, b: vec, c: vec) -> real:
            return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])

        @wp.func
        def crosses(i: int, f: face, g: face, points: wp.array(dtype=vec)) -> bool:
            """Whether two segments cross."""
            a = points[at(f[0])]
            b = points[at(f[1])]
            c = points[at(g[0])]
            d = points[at(g[1])]
            return turn(a, b, c) * turn(a, b, d) < real(0.0) and turn(c, d, a) * turn(c, d, b) < real(0.0)

        @wp.func
        def angle(p: vec, f: face, points: wp.array(dtype=vec)) -> real:
            """Angle under which p sees a segment, in turns: their sum is 1 inside and 0 outside."""
            a = points[at(f[0])] - p
            b = points[at(f[1])] - p
            return wp.atan2(a[0] * b[1] - a[1] * b[0], wp.dot(a, b)) * real(0.15915494309189535)

        @wp.func
        def way_out(p: vec, f: face, points: wp.array(dtype=vec)) -> vec:
            _t, gap = near.closest_on_edge(p, points[at(f[0])], points[at(f[1])])
            return -gap

    else:

        @wp.func
        def side_of(a: vec, b: vec, c: vec, d: vec) -> real:
            return wp.dot(wp.cross(b - a, c - a), d - a)

        @wp.func
        def crosses(i: int, f: face, g: face, points: wp.array(dtype=vec)) -> bool:
            """Whether edge i of a triangle goes through another."""
            p = points[at(f[i])]
            q = points[at(f[(i + 1) % 3])]
            a = points[at(g[0])]
            b = points[at(g[1])]
            c = points[at(g[2])]
            if side_of(a, b, c, p) * side_of(a, b, c, q) >= real(0.0):
                return False
            one = side_of(p, q, a, b)
            two = side_of(p, q, b, c)
            three = side_of(p, q, c, a)
            return (one > real(0.0) and two > real(0.0) and three > real(0.0)) or (
                one < real(0.0) and two < real(0.0) and three < real(0.0)
            )

        @wp.func
        def angle(p: vec, f: face, points: wp.array(dtype=vec)) -> real:
            """Solid angle under which p sees a face, in full spheres (van Oosterom & Strackee 1983)."""
            a = points[at(f[0])] - p
            b = points[at(f[1])] - p
            c = points[at(f[2])] - p
            la = wp.length(a)
            lb = wp.length(b)
            lc = wp.length(c)
            down = la * lb * lc + wp.dot(a, b) * lc + wp.dot(b, c) * la + wp.dot(c, a) * lb
            return wp.atan2(wp.dot(a, wp.cross(b, c)), down) * real(0.15915494309189535)

        @wp.func
        def way_out(p: vec, f: face, points: wp.array(dtype=vec)) -> vec:
            _w, gap = near.closest_on_triangle(p, points[at(f[0])], points[at(f[1])], points[at(f[2])])
            return -gap

    @wp.func
    def cross(
        a: int, b: int, lane: int, lanes: int, points: wp.array(dtype=vec), faces: wp.array(dtype=face),
        start: wp.array(dtype=int), low: wp.array(dtype=vec), high: wp.array(dtype=vec),
    ) -> int:  # fmt: skip
        """Whether the surfaces of two bodies cross; faces outside the other's box are passed over."""
        found = int(0)  # noqa: RUF046, UP018
        for i in range(start[a] + lane, start[a + 1], lanes):
            if found == 0:
                f = faces[at(i)]
                if overlaps(f, points, low[b], high[b]):
                    for j in range(start[b], start[b + 1]):
                        g = faces[at(j)]
                        for k in range(dim):
                            if crosses(k, f, g, points) or crosses(k, g, f, points):
                                found = 1
        return found

    @wp.func
    def overlaps(f: face, points: wp.array(dtype=vec), low: vec, high: vec) -> bool:
        lowest = points[at(f[0])]
        highest = lowest
        for k in range(1, dim):
            lowest = wp.min(lowest, points[at(f[k])])
            highest = wp.max(highest, points[at(f[k])])
        for axis in range(dim):
            if lowest[axis] > high[axis] or highest[axis] < low[axis]:
                return False
        return True

    @wp.func
    def depth_of(p: vec, b: int, points: wp.array(dtype=vec), faces: wp.array(dtype=face), start: wp.array(dtype=int)):
        """(whether p is inside b, the way to its nearest surface)."""
        turns = real(0.0)
        shortest = vec()
        least = real(1.0e30)
        for j in range(start[b], start[b + 1]):
            f = faces[at(j)]
            turns += angle(p, f, points)
            out = way_out(p, f, points)
            if wp.dot(out, out) < least:
                least = wp.dot(out, out)
                shortest = out
        return wp.abs(turns) > half_turn, shortest

    @n.kernel(variant)
    def find_tangles(
        points: wp.array(dtype=vec),
        faces: wp.array(dtype=face),
        face_start: wp.array(dtype=int),
        point_start: wp.array(dtype=int),
        point_end: wp.array(dtype=int),
        closed: wp.array(dtype=int),
        radius: wp.array(dtype=real),  # m, of bodies that are points with a radius; else 0
        low: wp.array(dtype=vec),
        high: wp.array(dtype=vec),
        pair_count: wp.array(dtype=int),
        pairs: wp.array(dtype=wp.vec2i),
        tangle_count: wp.array(dtype=int),
        tangles: wp.array(dtype=wp.vec2i),
        overflow: wp.array(dtype=int),
    ):
        """Pairs of closed bodies whose surfaces cross, and round bodies that reach into another."""
        pair = wp.tid()
        if pair < wp.min(pair_count[0], pairs.shape[0]):
            ids = pairs[pair]
            a = ids[0]
            b = ids[1]
            if a != b and closed[a] != 0 and closed[b] != 0:
                found = int(0)  # noqa: RUF046, UP018
                if radius[a] == real(0.0) and radius[b] == real(0.0):
                    found = cross(a, b, 0, 1, points, faces, face_start, low, high)
                else:
                    ball = a
                    body = b
                    if radius[b] > real(0.0):
                        ball = b
                        body = a
                    for i in range(point_start[ball], point_end[ball]):
                        inside, out = depth_of(points[at(i)], body, points, faces, face_start)
                        if inside or wp.length(out) < radius[ball]:
                            found = 1
                if found != 0:
                    slot = wp.atomic_add(tangle_count, 0, 1)
                    if slot < tangles.shape[0]:
                        tangles[slot] = ids
                    else:
                        overflow[0] = 1
                        wp.atomic_max(overflow, 4, slot + 1)

    @n.kernel(variant)
    def mark_tangled(
        pair_count: wp.array(dtype=int),
        pairs: wp.array(dtype=wp.vec2i),
        tangle_count: wp.array(dtype=int),
        tangles: wp.array(dtype=wp.vec2i),
        tangled: wp.array(dtype=int),
        stride: int,
    ):
        """Which of the pairs are on the list."""
        for p in range(wp.tid(), wp.min(pair_count[0], pairs.shape[0]), stride):
            known = int(0)  # noqa: RUF046, UP018
            for t in range(tangle_count[0]):
                if tangles[t][0] == pairs[p][0] and tangles[t][1] == pairs[p][1]:
                    known = 1
            tangled[p] = known

    @n.kernel(variant)
    def judge_tangles(
        points: wp.array(dtype=vec),
        faces: wp.array(dtype=face),
        face_start: wp.array(dtype=int),
        point_start: wp.array(dtype=int),
        point_end: wp.array(dtype=int),
        radius: wp.array(dtype=real),
        edge_size: wp.array(dtype=real),
        low: wp.array(dtype=vec),
        high: wp.array(dtype=vec),
        tangle_count: wp.array(dtype=int),
        tangles: wp.array(dtype=wp.vec2i),
        way: wp.array(dtype=vec),  # of the first body out of the second, a unit vector
        speed: wp.array(dtype=real),  # m/s
        freed: wp.array(dtype=int),
    ):
        """The short way out of each tangle, and how fast; or that it is none any more."""
        t = wp.tid()
        if t < tangle_count[0]:
            ids = tangles[t]
            out = vec()
            deepest = real(0.0)
            centre = vec()
            for side in range(2):
                a = ids[side]
                b = ids[1 - side]
                sign = real(1 - 2 * side)
                middle = vec()
                for i in range(point_start[a], point_end[a]):
                    p = points[at(i)]
                    middle += p
                    within = bool(True)  # noqa: UP018
                    for axis in range(dim):
                        if p[axis] + radius[a] < low[b][axis] or p[axis] - radius[a] > high[b][axis]:
                            within = False
                    if within and radius[b] == real(0.0):
                        inside, shortest = depth_of(p, b, points, faces, face_start)
                        size = wp.length(shortest)
                        if radius[a] > real(0.0) and size > real(0.0):
                            # the centre of a ball: out by its radius too, or by what is left of it
                            if inside:
                                shortest *= (size + radius[a]) / size
                            else:
                                shortest *= -wp.max(radius[a] - size, real(0.0)) / size
                            inside = wp.length(shortest) > real(0.0)
                        if inside:
                            out += sign * shortest
                            deepest = wp.max(deepest, wp.length(shortest))
                centre += (sign / real(point_end[a] - point_start[a])) * middle
            crossing = int(0)  # noqa: RUF046, UP018
            if radius[ids[0]] == real(0.0) and radius[ids[1]] == real(0.0):
                crossing = cross(ids[0], ids[1], 0, 1, points, faces, face_start, low, high)
            freed[t] = 0
            if deepest == real(0.0) and crossing == 0:
                freed[t] = 1
            if wp.length(out) < real(1.0e-3) * deepest or deepest == real(0.0):
                out = centre
            if wp.length(out) <= real(0.0):
                out[wp.static(dim - 1)] = real(1.0)
            way[t] = wp.normalize(out)
            slowest = real(CREEP) * wp.min(edge_size[ids[0]], edge_size[ids[1]])
            speed[t] = wp.min(wp.max(deepest, slowest) / real(TIME), real(FASTEST))

    @n.kernel(variant)
    def drop_freed(
        tangle_count: wp.array(dtype=int),
        tangles: wp.array(dtype=wp.vec2i),
        way: wp.array(dtype=vec),
        speed: wp.array(dtype=real),
        freed: wp.array(dtype=int),
        stale: wp.array(dtype=int),
    ):
        """One thread: pairs that are apart leave the list, and their features are looked for."""
        kept = int(0)  # noqa: RUF046, UP018
        for t in range(tangle_count[0]):
            if freed[t] == 0:
                tangles[kept] = tangles[t]
                way[kept] = way[t]
                speed[kept] = speed[t]
                kept += 1
            else:
                stale[0] = 1
        tangle_count[0] = kept

    @n.kernel(variant)
    def part_tangles(
        m: Movers,
        move: wp.array(dtype=vec),
        push_move: wp.array(dtype=vec),
        dt: wp.array(dtype=real),
        mean: wp.array(dtype=vec),  # m: movement of each body in this substep
        point_start: wp.array(dtype=int),
        point_end: wp.array(dtype=int),
        rigid_index: wp.array(dtype=int),
        tangle_count: wp.array(dtype=int),
        tangles: wp.array(dtype=wp.vec2i),
        way: wp.array(dtype=vec),
        speed: wp.array(dtype=real),
    ):
        """One thread, as bodies may be in several tangles: stop the approach, and displace the bodies."""
        h = dt[0]
        for t in range(tangle_count[0]):
            ids = tangles[t]
            easy = vec()  # inverse masses of the two bodies
            for side in range(2):
                r = rigid_index[ids[side]]
                if r >= 0:
                    easy[side] = m.rigid_mass[r]
                else:
                    mass = real(0.0)
                    held = bool(False)  # noqa: UP018
                    for i in range(point_start[ids[side]], point_end[ids[side]]):
                        if m.inverse_mass[at(i)] > real(0.0):
                            mass += real(1.0) / m.inverse_mass[at(i)]
                        else:
                            held = True
                    if not held:
                        easy[side] = real(1.0) / mass
            total = easy[0] + easy[1]
            if total > real(0.0):
                apart = wp.dot(mean[ids[0]] - mean[ids[1]], way[t]) / h
                stop = wp.max(-apart, real(0.0)) / total
                shift = h * speed[t] / total
                for side in range(2):
                    sign = real(1 - 2 * side)
                    dv = (sign * stop * easy[side]) * way[t]
                    dx = (sign * shift * easy[side]) * way[t]
                    r = rigid_index[ids[side]]
                    if r >= 0:
                        m.rigid_v[r] = m.rigid_v[r] + dv
                        push_move[r] = push_move[r] + dx
                    elif easy[side] > real(0.0):
                        for i in range(point_start[ids[side]], point_end[ids[side]]):
                            m.v[at(i)] = m.v[at(i)] + dv
                            move[at(i)] = move[at(i)] + dx

    return SimpleNamespace(
        find_tangles=find_tangles,
        mark_tangled=mark_tangled,
        judge_tangles=judge_tangles,
        drop_freed=drop_freed,
        part_tangles=part_tangles,
    )
