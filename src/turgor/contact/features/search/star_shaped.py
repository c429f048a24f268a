"""Bodies that cannot touch themselves: those whose whole surface is seen from their centre (star-shaped).

Every ray from the centre leaves such a surface once, so no two parts of it meet. Balls stay like that unless crushed;
only the others, and cloths, are searched for contact with themselves. Where the next test is some substeps away, the
surface must also be star-shaped where its velocities lead in that time.
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

SAMPLES = 256  # points of which the middle of a body is taken
LOOKS = 3  # at a movement: its start, middle and end
SLANT = 0.2  # least cosine between a face's normal and the direction from the centre: what is steeper may fold soon


class StarShaped:
    """Which contact bodies are star-shaped, and how much they have changed since that was found."""

    SAVED = ("star_shaped", "deformed")

    def __init__(self, model: Model, surfaces: Surfaces, launch: FeatureLauncher) -> None:
        self.kernels, self.bodies = kernels(model.numbers), surfaces.bodies * model.worlds
        self.face_count = len(surfaces.faces)
        self.star_shaped = launch.zeros(self.bodies, wp.int32)
        self.hidden_faces = launch.zeros(self.bodies, wp.int32)  # faces that the centre does not see
        self.centre = launch.zeros(self.bodies, model.numbers.vec)  # m
        self.centre_v = launch.zeros(self.bodies, model.numbers.vec)  # m/s
        self.deformed = launch.zeros(self.bodies, model.numbers.real)  # m: largest movement of a point within the body
        self.launch = launch.extended(self)

    def mark(self, ahead: bool = False) -> None:
        """Test the bodies in doubt again: each face by a thread of its own, as bodies may be large.

        ahead: also until the next plan.
        """
        self.launch.tiles(self.kernels.find_centres, self.bodies)
        self.launch(self.kernels.test_faces, self.face_count, looks=LOOKS if ahead else 1)
        self.launch(self.kernels.mark_star_shaped, self.bodies)


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """In the order of a test."""
    real, vec, dim, face = n.real, n.vec, n.dim, n.face

    if dim == 2:

        @wp.func
        def outwards(f: face, points: wp.array(dtype=vec), point_v: wp.array(dtype=vec), t: real) -> vec:
            e = points[at(f[1])] - points[at(f[0])] + t * (point_v[at(f[1])] - point_v[at(f[0])])
            return vec(e[1], -e[0])

    else:

        @wp.func
        def outwards(f: face, points: wp.array(dtype=vec), point_v: wp.array(dtype=vec), t: real) -> vec:
            a = points[at(f[0])]
            va = point_v[at(f[0])]
            first = points[at(f[1])] - a + t * (point_v[at(f[1])] - va)
            return wp.cross(first, points[at(f[2])] - a + t * (point_v[at(f[2])] - va))

    @n.kernel(__name__)
    def find_centres(
        points: wp.array(dtype=vec),
        point_v: wp.array(dtype=vec),
        point_start: wp.array(dtype=int),
        point_end: wp.array(dtype=int),
        body_doubt: wp.array(dtype=int),
        self_contact: wp.array(dtype=int),
        closed: wp.array(dtype=int),
        centre: wp.array(dtype=vec),
        centre_v: wp.array(dtype=vec),
        hidden_faces: wp.array(dtype=int),
    ):
        """A point about in the middle of each body, from a sample of its points; any one would do."""
        c, lane = wp.tid()
        if body_doubt[c] != 0 and self_contact[c] != 0:
            count = point_end[c] - point_start[c]
            step = (count + SAMPLES - 1) // SAMPLES
            total = vec()
            moving = vec()
            for i in range(point_start[c] + lane * step, point_end[c], wp.block_dim() * step):
                total += points[at(i)]
                moving += point_v[at(i)]
            summed = wp.tile_sum(wp.tile(total, preserve_type=True))
            summed_v = wp.tile_sum(wp.tile(moving, preserve_type=True))
            if lane == 0:
                sampled = real((count + step - 1) // step)
                centre[c] = summed[0] / sampled
                centre_v[c] = summed_v[0] / sampled
                hidden_faces[c] = 1 - closed[c]

    @n.kernel(__name__)
    def test_faces(
        looks: int,
        dt: wp.array(dtype=real),
        until_plan: wp.array(dtype=int),
        points: wp.array(dtype=vec),
        point_v: wp.array(dtype=vec),
        faces: wp.array(dtype=face),
        face_body: wp.array(dtype=int),
        body_doubt: wp.array(dtype=int),
        self_contact: wp.array(dtype=int),
        centre: wp.array(dtype=vec),
        centre_v: wp.array(dtype=vec),
        hidden_faces: wp.array(dtype=int),
    ):
        """Whether the centre sees a face, and not at a grazing angle."""
        k = at(wp.tid())
        c = at(face_body[k])
        if body_doubt[c] != 0 and self_contact[c] != 0 and hidden_faces[c] == 0:
            f = faces[k]
            a = at(f[0])
            each = real(0.5) * dt[0] * real(until_plan[0])
            for look in range(looks):
                t = real(look) * each
                normal = outwards(f, points, point_v, t)
                arm = points[a] - centre[c] + t * (point_v[a] - centre_v[c])
                if not (wp.dot(normal, arm) >= real(SLANT) * wp.length(normal) * wp.length(arm)):
                    hidden_faces[c] = 1

    @n.kernel(__name__)
    def mark_star_shaped(
        self_contact: wp.array(dtype=int),
        hidden_faces: wp.array(dtype=int),
        star_shaped: wp.array(dtype=int),
        deformed: wp.array(dtype=real),
        body_doubt: wp.array(dtype=int),
        world: wp.array(dtype=int),
        all_stale: wp.array(dtype=int),
        world_stale: wp.array(dtype=int),
    ):
        """A body that was star-shaped and no longer is makes the lists stale."""
        c = at(wp.tid())
        if body_doubt[c] != 0:
            deformed[c] = real(0.0)
            if self_contact[c] != 0:
                if star_shaped[c] != 0 and hidden_faces[c] != 0:
                    all_stale[0] = 1
                    world_stale[at(world[c])] = 1
                star_shaped[c] = 1 - hidden_faces[c]

    return SimpleNamespace(find_centres=find_centres, test_faces=test_faces, mark_star_shaped=mark_star_shaped)
