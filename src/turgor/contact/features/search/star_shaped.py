"""Bodies that cannot touch themselves: those whose whole surface is seen from their centre (star-shaped).

Every ray from the centre leaves such a surface once, so no two parts of it meet. Balls stay like that unless crushed;
only the others, and cloths, are searched for contact with themselves.

A test holds for a while. Let no two points of the body have moved against each other by more than T since. The normal
of a face of height h has turned by at most T/h, and the direction of the face from the centre, R away, by at most T/R.
With an angle a between the face and that direction, the centre sees it as long as T (1/h + 1/R) < a. A body that moves
faster is tested in every substep: the surface must also be star-shaped where its velocities lead.

T is that of the whole body, though, and a face turns by how its own corners move against each other: with u the largest
of their relative speeds, s the face's own against the centre, and c that of the centre, which a wall may stop, it turns
at a rate of at most (u + c)/h + (s + c)/R. On a GPU, where bodies have a million small faces, the least a/rate of all
of them says how long the body can be left alone at its present speeds (`watch.py`).
"""

import functools
from types import SimpleNamespace
from typing import no_type_check

import warp as wp

from turgor.contact.features.launch import FeatureLauncher
from turgor.kernel import native
from turgor.kernel.blocks import block_sum
from turgor.kernel.numbers import Numbers, at
from turgor.model.model import Model
from turgor.model.surfaces import Surfaces

__all__ = ["StarShaped", "kernels"]

SAMPLES = 256  # points of which the middle of a body is taken
SLANT = 0.2  # least cosine between a face's normal and the direction from the centre: what is steeper may fold soon
FAR = 3.0e30
SOON = 2.0  # substeps that are foreseen


class StarShaped:
    """Which contact bodies are star-shaped, and how much they have changed since that was found."""

    SAVED = ("star_shaped", "star_room", "deformed")

    def __init__(self, model: Model, surfaces: Surfaces, launch: FeatureLauncher) -> None:
        self.kernels, self.bodies = kernels(model.numbers), surfaces.bodies * model.worlds
        self.face_count = len(surfaces.faces)
        self.cuts = None if launch.parallel else surfaces.face_start.numpy()  # where the faces of a body begin
        self.star_shaped = launch.zeros(self.bodies, wp.int32)
        self.hidden_faces = launch.zeros(self.bodies, wp.int32)  # faces that the centre does not see
        self.centre = launch.zeros(self.bodies, model.numbers.vec)  # m
        self.centre_v = launch.zeros(self.bodies, model.numbers.vec)  # m/s
        self.star_room = launch.zeros(self.bodies, model.numbers.real)  # m: how far points may move against each other
        self.star_time = launch.zeros(self.bodies, model.numbers.real)  # s: how long at present speeds; 0: not known
        self.deformed = launch.zeros(self.bodies, model.numbers.real)  # m: largest movement of a point within the body
        self.launch = launch.extended(self)

    def mark(self) -> None:
        """Test the bodies in doubt again: each face by a thread of its own, as bodies may be large."""
        timed = int(self.launch.parallel)
        self.launch.tiles(self.kernels.find_centres, self.bodies, timed=timed)
        self.launch.split(self.kernels.test_faces, self.face_count, self.cuts, timed=timed)
        self.launch(self.kernels.mark_star_shaped, self.bodies)


@functools.cache
@no_type_check
def kernels(n: Numbers) -> SimpleNamespace:
    """In the order of a test."""
    real, vec, dim, face = n.real, n.vec, n.dim, n.face
    tiny = wp.constant(real(n.tiny))
    lower = native.kernels(n).lower

    if dim == 2:

        @wp.func
        def normal_and_height(a: vec, b: vec, _c: vec):
            """(normal of any length, height) of a face."""
            e = b - a
            return vec(e[1], -e[0]), wp.length(e)

    else:

        @wp.func
        def normal_and_height(a: vec, b: vec, c: vec):
            """(normal of any length, least height) of a face."""
            e = b - a
            g = c - a
            longest = wp.max(wp.length_sq(g - e), wp.max(wp.length_sq(e), wp.length_sq(g)))
            normal = wp.cross(e, g)
            return normal, wp.length(normal) / wp.sqrt(wp.max(longest, tiny))

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
        star_room: wp.array(dtype=real),
        star_time: wp.array(dtype=real),
        hidden_faces: wp.array(dtype=int),
        timed: int,
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
            summed = block_sum(total)
            summed_v = block_sum(moving)
            if lane == 0:
                sampled = real((count + step - 1) // step)
                centre[c] = summed / sampled
                centre_v[c] = summed_v / sampled
                star_room[c] = real(FAR)
                star_time[c] = wp.where(timed != 0, real(FAR), real(0.0))
                hidden_faces[c] = 1 - closed[c]

    @n.kernel(__name__)
    def test_faces(
        dt: wp.array(dtype=real),
        points: wp.array(dtype=vec),
        point_v: wp.array(dtype=vec),
        faces: wp.array(dtype=face),
        face_body: wp.array(dtype=int),
        body_doubt: wp.array(dtype=int),
        self_contact: wp.array(dtype=int),
        centre: wp.array(dtype=vec),
        centre_v: wp.array(dtype=vec),
        star_room: wp.array(dtype=real),
        star_time: wp.array(dtype=real),
        hidden_faces: wp.array(dtype=int),
        timed: int,
        start_index: int,
    ):
        """Whether the centre sees a face, and not at a grazing angle; and for how long it will."""
        k = at(start_index + wp.tid())
        c = at(face_body[k])
        if body_doubt[c] != 0 and self_contact[c] != 0 and hidden_faces[c] == 0:
            f = faces[k]
            i = at(f[0])
            j = at(f[1])
            l = at(f[wp.static(dim - 1)])  # noqa: E741
            normal, height = normal_and_height(points[i], points[j], points[l])
            arm = points[i] - centre[c]
            far = wp.length(arm)
            cosine = wp.dot(normal, arm) / wp.max(wp.length(normal) * far, tiny)
            t = real(SOON) * dt[0]
            later, _ = normal_and_height(
                points[i] + t * point_v[i], points[j] + t * point_v[j], points[l] + t * point_v[l]
            )
            arm += t * (point_v[i] - centre_v[c])
            seen = wp.dot(later, arm) >= real(SLANT) * wp.length(later) * wp.length(arm)
            if not (seen and cosine >= real(SLANT)):
                hidden_faces[c] = 1
            else:
                angle = wp.asin(wp.min(cosine, real(1.0)))
                room = angle * height * far / (height + far)
                if room < star_room[c]:
                    lower(star_room, c, room)
                if timed != 0:
                    u = wp.length_sq(point_v[i] - point_v[j])
                    u = wp.max(u, wp.max(wp.length_sq(point_v[j] - point_v[l]), wp.length_sq(point_v[l] - point_v[i])))
                    stop = wp.length(centre_v[c])
                    rate = (wp.sqrt(u) + stop) / height + (wp.length(point_v[i] - centre_v[c]) + stop) / far
                    if angle < star_time[c] * rate:
                        lower(star_time, c, angle / rate)

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
        turned: wp.array(dtype=int),
    ):
        """A body that was star-shaped and no longer is makes the lists stale."""
        c = at(wp.tid())
        if body_doubt[c] != 0:
            deformed[c] = real(0.0)
            if self_contact[c] != 0:
                if star_shaped[c] != 0 and hidden_faces[c] != 0:
                    all_stale[0] = 1
                    world_stale[at(world[c])] = 1
                    turned[c] = 1  # an old list of it is no longer true
                star_shaped[c] = 1 - hidden_faces[c]

    return SimpleNamespace(find_centres=find_centres, test_faces=test_faces, mark_star_shaped=mark_star_shaped)
