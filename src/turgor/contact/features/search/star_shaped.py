"""Bodies that cannot touch themselves: those whose whole surface is seen from their centre (star-shaped).

Every ray from the centre leaves such a surface once, so no two parts of it meet. Balls stay like that unless crushed;
only the others, and cloths, are searched for contact with themselves.
"""

import functools
from types import SimpleNamespace

import warp as wp

from turgor.kernel.numbers import Numbers, at

__all__ = ["kernels"]

SLANT = 0.2  # least cosine between a face's normal and the way from the centre: what is steeper may fold soon


@functools.cache
def kernels(n: Numbers) -> SimpleNamespace:
    """mark_simple, any_touchy."""
    real, vec, dim, face = n.real, n.vec, n.dim, n.face

    if dim == 2:

        @wp.func
        def outwards(f: face, points: wp.array(dtype=vec)) -> vec:
            e = points[at(f[1])] - points[at(f[0])]
            return vec(e[1], -e[0])

    else:

        @wp.func
        def outwards(f: face, points: wp.array(dtype=vec)) -> vec:
            a = points[at(f[0])]
            return wp.cross(points[at(f[1])] - a, points[at(f[2])] - a)

    @n.kernel(__name__)
    def mark_simple(
        points: wp.array(dtype=vec),
        faces: wp.array(dtype=face),
        face_start: wp.array(dtype=int),
        point_start: wp.array(dtype=int),
        point_end: wp.array(dtype=int),
        closed: wp.array(dtype=int),
        self_contact: wp.array(dtype=int),
        simple: wp.array(dtype=int),
        deformed: wp.array(dtype=real),
        stale: wp.array(dtype=int),
    ):
        """A body that was simple and is no longer makes the lists stale."""
        c, lane = wp.tid()
        if lane == 0:
            deformed[c] = real(0.0)
        if self_contact[c] != 0:
            total = vec()
            for i in range(point_start[c] + lane, point_end[c], wp.block_dim()):
                total += points[at(i)]
            summed = wp.tile_sum(wp.tile(total, preserve_type=True))
            centre = summed[0] / real(point_end[c] - point_start[c])
            least = real(1.0)
            if closed[c] == 0:
                least = real(-1.0)
            else:
                for k in range(face_start[c] + lane, face_start[c + 1], wp.block_dim()):
                    f = faces[at(k)]
                    normal = outwards(f, points)
                    arm = points[at(f[0])] - centre
                    slant = wp.dot(normal, arm)
                    size = wp.length(normal) * wp.length(arm)
                    if not (slant >= real(SLANT) * size):
                        least = real(-1.0)
            worst = wp.tile_min(wp.tile(least))
            if lane == 0:
                if simple[c] != 0 and not (worst[0] > real(0.0)):
                    stale[0] = 1
                simple[c] = wp.where(worst[0] > real(0.0), 1, 0)

    @n.kernel(__name__)
    def any_touchy(self_contact: wp.array(dtype=int), simple: wp.array(dtype=int), touchy: wp.array(dtype=int)):
        c = wp.tid()
        if self_contact[c] != 0 and simple[c] == 0:
            touchy[0] = 1

    return SimpleNamespace(mark_simple=mark_simple, any_touchy=any_touchy)
