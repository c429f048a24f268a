"""What surrounds the bodies in a 3D picture: window, lights, floor, container, shadows."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from turgor.output.frame import Frame, Layout, WallLayout, WallPose
from turgor.record import look as looks
from turgor.record.drawn_mesh import SQUARE, DrawnMesh, Texture, tubes
from turgor.record.look import Look, Pixels
from turgor.record.shadow import LIGHT, PIXELS, SurfaceSamples, shadow_picture
from turgor.record.window import Window

__all__ = ["Floor", "Glass", "make_samples", "make_walls", "open_window"]

FloatArray = npt.NDArray[np.float64]
LIFT = 0.002  # distance of a shadow from its plane, in scene radii
THIN = 0.001  # scene radii: what lies less than this below a floor counts as on it
#: Directions in which lights shine, and their strengths; the first one is the key light
LIGHTS = ((LIGHT, 0.60), (np.array([-0.9, 0.5, -0.35]), 0.20), (np.array([0.1, 1.0, 0.2]), 0.34))
#: Of a box from -1 to 1: corners; sides, counter-clockwise from outside, and their normals inwards; edges
CORNERS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
SIDES = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
INWARD = np.array([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]])
EDGES = [[a, b] for a in range(8) for b in (a ^ 1, a ^ 2, a ^ 4) if a < b]


def open_window(look: Look) -> Window:
    """A window with a bright background and three soft lights."""
    window = Window(look.size)
    window.set_background(looks.SKY_BOTTOM, looks.SKY_TOP)
    for number, (direction, strength) in enumerate(LIGHTS):
        window.add_light(direction, strength, highlight=number == 0)
    return window


class _Shadow:
    """A dark film with the soft shadow in it, just above a plane."""

    def __init__(self, window: Window, radius: float) -> None:
        self._radius = radius
        self.corners = np.zeros((0, 3))  # m: of the rectangle in which it is seen
        film = np.zeros((PIXELS, PIXELS, 4), np.uint8)
        film[..., :3] = (24, 34, 52)
        self._texture = Texture(film, repeat=False, mipmap=False)
        self._quad = DrawnMesh(np.zeros((4, 3)), [[0, 1, 2, 3]], uv=SQUARE)
        self._actor = window.add(self._quad.data, texture=self._texture, lit=False, cull="back")
        self._actor.ForceTranslucentOn()
        self._actor.GetMapper().SetResolveCoincidentTopologyToPolygonOffset()
        self._actor.GetMapper().SetRelativeCoincidentTopologyPolygonOffsetParameters(-1.0, -1.0)

    def update(self, samples: FloatArray, origin: FloatArray, frame: FloatArray, extent: Any = None) -> None:
        made = shadow_picture(samples, origin, frame, self._radius, extent)
        self._actor.SetVisibility(made is not None)
        self.corners = np.zeros((0, 3))
        if made is None:
            return
        picture, (u0, u1, v0, v1) = made
        self._texture.update(picture)
        corners = np.array([[u0, v0], [u1, v0], [u1, v1], [u0, v1]])
        lift = origin + LIFT * self._radius * frame[2]
        self._quad.update(corners @ frame[:2] + lift)
        rows, columns = (np.flatnonzero((picture > 0).any(axis=axis)) for axis in (1, 0))
        if len(rows):
            u, v = (
                a + (b - a) * np.array([n[0], n[-1] + 1]) / PIXELS for a, b, n in ((u0, u1, columns), (v0, v1, rows))
            )
            self.corners = np.array([[x, y] for x in u for y in v]) @ frame[:2] + lift

    def hide(self) -> None:
        self._actor.SetVisibility(False)


def _plane_frame(normal: FloatArray) -> FloatArray:
    """Rows u, v, n: right-handed, u along x where possible."""
    normal = normal / np.linalg.norm(normal)
    helper = np.array([1.0, 0, 0]) if abs(normal[0]) < 0.9 else np.array([0, 1.0, 0])
    v = np.cross(normal, helper)
    v /= np.linalg.norm(v)
    return np.stack([np.cross(v, normal), v, normal])


class Floor:
    """A wide plane: a faint checker that fades into the background, and the shadow of the bodies."""

    def __init__(self, window: Window, wall: WallLayout, pose: WallPose, middle: FloatArray, radius: float) -> None:
        self._normal = np.array(wall.normal)
        frame = _plane_frame(pose.rotation @ self._normal)
        foot = middle - ((middle - pose.position) @ frame[2]) * frame[2]
        reach = 9 * radius
        step = _round_length(0.7 * radius)
        corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * reach
        self._local = np.column_stack([corners + (foot - pose.position) @ frame[:2].T, np.zeros(4)]) @ frame
        self._quad = DrawnMesh(self._local + pose.position, [[0, 1, 2, 3]], uv=SQUARE)
        texture = Texture(_checker(reach, step, (foot - pose.position) @ frame[:2].T))
        texture.data.SetMaximumAnisotropicFiltering(2)
        self._actor = window.add(self._quad.data, texture=texture, lit=False, cull="back")
        window.set_background(looks.SKY_TOP)  # the floor fades into it
        self._start, self._radius = pose.rotation, radius
        self._shadow = _Shadow(window, radius)

    def update(self, pose: WallPose, samples: FloatArray) -> None:
        turn = pose.rotation @ self._start.T
        self._quad.update(self._local @ turn.T + pose.position)
        self._shadow.update(samples, pose.position, _plane_frame(pose.rotation @ self._normal))

    @property
    def corners(self) -> FloatArray:
        """(n, 3) m: around what moves, which is the shadow."""
        return self._shadow.corners

    def show(self, shown: bool) -> None:
        """Whether the plane is drawn; its shadow is, in any case."""
        self._actor.SetVisibility(shown)

    def covers(self, points: npt.NDArray[np.floating], pose: WallPose) -> bool:
        """Whether some of the points (n, 3) lie behind the plane, so that it may hide them."""
        normal = pose.rotation @ self._normal
        return bool((points @ normal).min(initial=np.inf) < pose.position @ normal - THIN * self._radius)

    def hide_moving(self) -> None:
        """Until the next update."""
        self._shadow.hide()


def _round_length(length: float) -> float:
    """1, 2 or 5 times a power of ten, near `length`."""
    power = 10.0 ** np.floor(np.log10(length))
    return float(power * min((1, 2, 5, 10), key=lambda part: abs(np.log(part * power / length))))


def _checker(reach: float, step: float, middle: FloatArray) -> Pixels:
    """The picture on the floor; tiles have the side `step`, and 0 is a corner of one."""
    size = 1024
    axis = ((np.arange(size) + 0.5) / size * 2 - 1).astype(np.float32)
    column, row = (np.floor((axis * reach + middle[k]) / step).astype(np.int64) for k in range(2))
    odd = (row[:, None] + column) % 2
    distance = np.clip((np.hypot(axis[:, None], axis) - 0.12) / 0.88, 0, 1)
    near = (1 - distance * distance * (3 - 2 * distance)) ** 1.5  # 1 in the middle, 0 at the border
    picture = np.empty((size, size, 3), np.uint8)
    for channel, sky in enumerate(looks.SKY_TOP):
        light, dark = (255 * (tile[channel] - sky) for tile in (looks.FLOOR, looks.FLOOR_DARK))
        picture[..., channel] = 255 * sky + near * np.where(odd, np.float32(dark), np.float32(light))
    return picture[::-1]


class Glass:
    """A container: its far walls, its edges, and the shadow on the wall that lies below."""

    def __init__(self, window: Window, wall: WallLayout, radius: float) -> None:
        from vtkmodules.vtkCommonMath import vtkMatrix4x4

        self._half = np.array(wall.size) / 2
        self._tube = 0.006 * radius
        corners = CORNERS * self._half
        self._sides = corners[SIDES].reshape(-1, 3)
        self._box = DrawnMesh(self._sides, np.arange(24).reshape(6, 4), colors=True)
        self._matrix = vtkMatrix4x4()
        self._actors = [
            window.add(self._box.data, lit=False, cull="front"),
            window.add(tubes(corners, EDGES, self._tube, sides=8), color=looks.EDGE, ambient=0.4, cull="back"),
        ]
        for actor in self._actors:
            actor.SetUserMatrix(self._matrix)
        self._shadow = _Shadow(window, radius)
        self.corners = np.zeros((0, 3))  # m: around all of it

    def update(self, pose: WallPose, samples: FloatArray) -> None:
        for i in range(3):
            for j in range(3):
                self._matrix.SetElement(i, j, float(pose.rotation[i, j]))
            self._matrix.SetElement(i, 3, float(pose.position[i]))
        self._box.update(self._sides, colors=np.repeat(_flat_colors(INWARD @ pose.rotation.T), 4, axis=0))
        axis = int(np.argmax(np.abs(pose.rotation[2])))  # the pair of walls that is most level now
        up = np.sign(pose.rotation[2, axis])
        first, second = (axis + 1) % 3, (axis + 2) % 3
        if up < 0:
            first, second = second, first
        frame = np.stack([pose.rotation[:, first], pose.rotation[:, second], up * pose.rotation[:, axis]])
        extent = (-self._half[first], self._half[first], -self._half[second], self._half[second])
        self._shadow.update(samples, pose.position - self._half[axis] * frame[2], frame, extent)
        self.corners = CORNERS * (self._half + 2 * self._tube) @ pose.rotation.T + pose.position
        for actor in self._actors:
            actor.SetVisibility(True)

    def hide_moving(self) -> None:
        """Until the next update."""
        self._shadow.hide()
        for actor in self._actors:
            actor.SetVisibility(False)


def _flat_colors(normals: FloatArray) -> FloatArray:
    """(n, 3) 0..255 of walls: parallel light is the same all over a plane, so it is not computed for each pixel."""
    light = sum(
        (
            strength * np.maximum(-(normals @ direction) / np.linalg.norm(direction), 0.0)
            for direction, strength in LIGHTS
        ),
        np.zeros(len(normals)),
    )
    return np.asarray(255.0 * np.minimum((0.9 + 0.12 * light)[:, None] * looks.WALL, 1.0) + 0.5)


def make_walls(window: Window, layout: Layout, frame: Frame, middle: FloatArray, radius: float) -> list[Floor | Glass]:
    """One piece of scenery per wall, in the order of the layout."""
    return [
        Glass(window, wall, radius) if wall.kind == "container" else Floor(window, wall, pose, middle, radius)
        for wall, pose in zip(layout.walls, frame.walls, strict=True)
    ]


def make_samples(layout: Layout, positions: FloatArray) -> SurfaceSamples | None:
    """Points on all bodies, to cast shadows."""
    faces = [np.asarray(body.faces, np.int64) + body.start for body in layout.bodies]
    joined = np.concatenate([*faces, np.zeros((0, 3), np.int64)])
    return SurfaceSamples(positions, joined) if len(joined) else None
