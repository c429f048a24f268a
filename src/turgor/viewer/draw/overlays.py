"""What can be drawn over the bodies: bounding volumes, contacts, collision particles and pins.

Each overlay is made when it is turned on, gets every frame that is shown, and takes its nodes away when it is closed.
In 2D things are drawn in front of the filled shapes, by a part of the scene's radius (towards the camera, -y).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from turgor.errors import SceneError
from turgor.output.frame import Frame, Layout
from turgor.scene.data import Body
from turgor.viewer.draw.coordinates import in_front

if TYPE_CHECKING:
    from turgor.viewer.draw.picture import Picture

__all__ = ["Bounds", "Contacts", "Overlay", "Particles", "Pins"]

FloatArray = npt.NDArray[np.float64]

BOX_COLOR, BALL_COLOR = (52, 73, 94), (140, 100, 175)
CONTACT_COLOR, PARTICLE_COLOR, PIN_COLOR = (205, 0, 150), (0, 120, 60), (35, 40, 48)
DOT = 0.008  # of the scene's radius: size of a point
CONTACT_NORMAL = 0.045  # of the scene's radius
ARCS = 48  # segments of a circle
FEW_ARCS = 16  # the same, for many bodies
MANY = 40  # bodies


class PointsNode:
    """One node whose points are exchanged at every frame; there is none until there is something to show."""

    def __init__(self, make: Callable[[npt.NDArray[np.float32]], Any], dim: int, radius: float) -> None:
        self._make, self._dim, self._radius = make, dim, radius
        self._handle: Any = None

    def show(self, points: FloatArray, front: float) -> None:
        """(n, ..., dim) m of the scene, hidden while n = 0; in 2D `front` scene radii in front of the bodies."""
        placed = in_front(points, self._dim, front * self._radius).astype(np.float32)
        if self._handle is None and len(points):
            self._handle = self._make(placed)
        elif self._handle is not None:
            if len(points):
                self._handle.points = placed
            self._handle.visible = len(points) > 0

    def close(self) -> None:
        if self._handle is not None:
            self._handle.remove()
            self._handle = None


class Overlay:
    """Nodes that follow what is shown."""

    def __init__(self, picture: Picture) -> None:
        self._picture = picture
        self._layout, self._radius = picture.nodes.layout, picture.nodes.radius
        self._nodes: list[PointsNode] = []

    def show(self, frame: Frame) -> None:
        """One more frame."""
        raise NotImplementedError

    def close(self) -> None:
        """Take its nodes away."""
        for node in self._nodes:
            node.close()

    def _add(self, make: Callable[[npt.NDArray[np.float32]], Any]) -> PointsNode:
        self._nodes.append(PointsNode(make, self._layout.dim, self._radius))
        return self._nodes[-1]

    def _dots(self, name: str, color: tuple[int, int, int], size: float) -> PointsNode:
        """Round points; size in parts of the scene's radius."""
        api, width = self._picture.server.scene, size * self._radius
        return self._add(
            lambda points: api.add_point_cloud(
                name, points, color, point_size=width, point_shape="circle", point_shading="flat", precision="float32"
            )
        )

    def _lines(self, name: str, color: tuple[int, int, int], thickness: float) -> PointsNode:
        """Line segments; thickness in pixels."""
        api = self._picture.server.scene
        return self._add(
            lambda points: api.add_line_segments(name, points, color, thickness=thickness, thickness_units="screen")
        )


class Bounds(Overlay):
    """The box along the axes, and the ball about its centre, that hold each body (Matyka & Ollila 2003, 3.5)."""

    def __init__(self, picture: Picture) -> None:
        super().__init__(picture)
        self._boxes = self._lines("/overlay-boxes", BOX_COLOR, 1.5)
        self._balls = self._lines("/overlay-balls", BALL_COLOR, 1.0)
        dim, self._starts = self._layout.dim, np.array([body.start for body in self._layout.bodies], np.int64)
        corners = np.stack(np.meshgrid(*[(-1.0, 1.0)] * dim, indexing="ij"), axis=-1).reshape(-1, dim)
        edges = [(a, b) for a in range(len(corners)) for b in range(a) if np.abs(corners[a] - corners[b]).sum() == 2.0]
        self._edges = corners[np.array(edges)]  # (12 or 4, 2, dim)
        angles = np.linspace(0.0, 2.0 * np.pi, (ARCS if len(self._starts) <= MANY else FEW_ARCS) + 1)
        arcs = []
        for first, second in [(0, 1), (0, 2), (1, 2)][: 3 if dim == 3 else 1]:
            circle = np.zeros((len(angles), dim))
            circle[:, first], circle[:, second] = np.cos(angles), np.sin(angles)
            arcs.append(np.stack([circle[:-1], circle[1:]], axis=1))
        self._arcs = np.concatenate(arcs)  # (segments, 2, dim)

    def volumes(self, positions: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """(bodies, dim) m centres and half sizes of the boxes, (bodies,) m radii of the balls."""
        low, high = np.minimum.reduceat(positions, self._starts), np.maximum.reduceat(positions, self._starts)
        centres = (low + high) / 2.0
        owner = np.repeat(np.arange(len(self._starts)), np.diff([*self._starts, len(positions)]))
        away = np.linalg.norm(positions - centres[owner], axis=1)
        return centres, (high - low) / 2.0, np.maximum.reduceat(away, self._starts)

    def show(self, frame: Frame) -> None:
        if not len(self._starts):
            return
        centres, half, radii = self.volumes(frame.positions)
        boxes = centres[:, None, None] + half[:, None, None] * self._edges
        balls = centres[:, None, None] + radii[:, None, None, None] * self._arcs
        dim = self._layout.dim
        self._boxes.show(boxes.reshape(-1, 2, dim), 0.010)
        self._balls.show(balls.reshape(-1, 2, dim), 0.008)


class Contacts(Overlay):
    """Where bodies touch each other and walls, and the normals there; of the running world only."""

    def __init__(self, picture: Picture) -> None:
        super().__init__(picture)
        self._points = self._dots("/overlay-contacts", CONTACT_COLOR, DOT)
        self._normals = self._lines("/overlay-contact-normals", CONTACT_COLOR, 1.5)

    def show(self, frame: Frame) -> None:
        points = normals = np.zeros((0, self._layout.dim))
        if not self._picture.replaying:
            found = self._picture.world.sim.contacts()
            here = found.worlds == 0
            points, normals = found.points[here], found.normals[here]
        ends = np.stack([points, points + CONTACT_NORMAL * self._radius * normals], axis=1)
        self._points.show(points, 0.030)
        self._normals.show(ends, 0.028)


class Particles(Overlay):
    """The collision particles of contact = "particles"; of the running world only."""

    def __init__(self, picture: Picture) -> None:
        super().__init__(picture)
        self._points = self._dots("/overlay-particles", PARTICLE_COLOR, DOT)

    @staticmethod
    def available(picture: Picture) -> bool:
        """Whether this contact method has them."""
        return picture.world.sim.settings.contact.startswith("particles")

    def show(self, frame: Frame) -> None:
        sim = self._picture.world.sim
        points = np.zeros((0, self._layout.dim))
        if self.available(self._picture) and not self._picture.replaying:
            try:
                found = sim.collision_particles()
                points = found["position"][found["owner"] < len(sim.names)]  # of the first world
            except SceneError:  # a single body: nothing can touch
                pass
        self._points.show(points, 0.026)


class Pins(Overlay):
    """Vertices that are held in place."""

    def __init__(self, picture: Picture) -> None:
        super().__init__(picture)
        self._points = self._dots("/overlay-pins", PIN_COLOR, 1.5 * DOT)
        self._scene: Any = None
        self._pinned = np.zeros(0, np.int64)

    def show(self, frame: Frame) -> None:
        scene = self._picture.world.scene
        if scene is not self._scene:
            self._scene = scene
            self._pinned = _pinned(scene, self._layout)
        points = frame.positions[self._pinned]
        self._points.show(points, 0.030)


def _pinned(scene: Any, layout: Layout) -> npt.NDArray[np.int64]:
    """Vertices of a frame that are pinned."""
    parts = [np.zeros(0, np.int64)]
    for entry in layout.bodies:
        body = scene[entry.name]
        if isinstance(body, Body):
            parts.append(np.asarray(body.pinned, np.int64) + entry.start)
    return np.concatenate(parts)
