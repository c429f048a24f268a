"""Bodies that cannot touch themselves: those whose whole surface is seen from their centre (star-shaped).

Every ray from the centre leaves such a surface once, so no two parts of it meet. Balls stay like that unless crushed;
only the others, and cloths, are searched for contact with themselves.
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.contact.features.launch import FeatureLauncher
from turgor.kernel.numbers import Numbers, at
from turgor.model.model import Model
from turgor.model.surfaces import Surfaces

__all__ = ["StarShaped", "kernels"]

SLANT = 0.2  # least cosine between a face's normal and the direction from the centre: what is steeper may fold soon


class StarShaped:
    """Which contact bodies are star-shaped, and how much they have changed since that was found."""

    SAVED = ("star_shaped", "deformed")

    def __init__(self, model: Model, surfaces: Surfaces, launch: FeatureLauncher) -> None:
        self.kernels, self.bodies = kernels(model.numbers), surfaces.bodies * model.worlds
        self.star_shaped = launch.zeros(self.bodies, wp.int32)
        self.deformed = launch.zeros(self.bodies, model.numbers.real)  # m: largest movement of a point within the body
        self.launch = launch.extended(self)

    def mark(self) -> None:
        """Test the bodies in doubt again."""
        self.launch.tiles(self.kernels.mark_star_shaped, self.bodies)


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """mark_star_shaped."""
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
    def mark_star_shaped(
        points: wp.array(dtype=vec),
        faces: wp.array(dtype=face),
        face_start: wp.array(dtype=int),
        point_start: wp.array(dtype=int),
        point_end: wp.array(dtype=int),
        closed: wp.array(dtype=int),
        self_contact: wp.array(dtype=int),
        star_shaped: wp.array(dtype=int),
        deformed: wp.array(dtype=real),
        body_doubt: wp.array(dtype=int),
        world: wp.array(dtype=int),
        all_stale: wp.array(dtype=int),
        world_stale: wp.array(dtype=int),
    ):
        """A body that was star-shaped and no longer is makes the lists stale."""
        c, lane = wp.tid()
        if body_doubt[c] == 0:
            return
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
                if star_shaped[c] != 0 and not (worst[0] > real(0.0)):
                    all_stale[0] = 1
                    world_stale[at(world[c])] = 1
                star_shaped[c] = wp.where(worst[0] > real(0.0), 1, 0)

    return SimpleNamespace(mark_star_shaped=mark_star_shaped)
