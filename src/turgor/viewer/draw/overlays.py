"""What can be drawn over the bodies: bounding volumes, contacts, collision particles and pins.

Each overlay is made when it is turned on, gets every frame that is shown, and takes its nodes away when it is closed.
In 2D things are drawn in front of the filled shapes, by a part of the scene's radius (towards the camera, -y).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from turgor.errors import SceneError
from turgor.output.frame import Frame, Layout
from turgor.scene.data import Body
from turgor.viewer.draw.coordinates import in_front

if TYPE_CHECKING:
    from turgor.viewer.page.playground import Playground

__all__ = ["Bounds", "Contacts", "Overlay", "Particles", "Pins", "PointsNode", "dots", "lines"]

FloatArray = npt.NDArray[np.float64]

BOX_COLOR, BALL_COLOR = (52, 73, 94), (140, 100, 175)
CONTACT_COLOR, PARTICLE_COLOR, PIN_COLOR = (205, 0, 150), (0, 120, 60), (35, 40, 48)
DOT = 0.008  # of the scene's radius: size of a point
CONTACT_NORMAL = 0.045  # of the scene's radius
ARCS = 48  # segments of a circle
FEW_ARCS = 16  # the same, for many bodies
MANY = 40  # bodies


class Overlay(Protocol):
    """Nodes that follow what is shown."""

    def __init__(self, playground: Playground) -> None: ...

    def show(self, frame: Frame) -> None:
        """One more frame."""

    def close(self) -> None:
        """Take its nodes away."""


class PointsNode:
    """One node whose points are exchanged at every frame; there is none until there is something to show."""

    def __init__(self, make: Callable[[npt.NDArray[np.float32]], Any]) -> None:
        self._make = make
        self.handle: Any = None

    def show(self, points: FloatArray) -> None:
        """(n, ..., 3) m; the node is hidden while n = 0."""
        if self.handle is None and len(points):
            self.handle = self._make(points.astype(np.float32))
        elif self.handle is not None:
            if len(points):
                self.handle.points = points.astype(np.float32)
            self.handle.visible = len(points) > 0

    def close(self) -> None:
        if self.handle is not None:
            self.handle.remove()
            self.handle = None


def dots(playground: Playground, name: str, color: tuple[int, int, int], size: float) -> PointsNode:
    """Round points; size in parts of the scene's radius."""
    api, width = playground.server.scene, size * playground.nodes.radius
    return PointsNode(
        lambda points: api.add_point_cloud(
            name, points, color, point_size=width, point_shape="circle", point_shading="flat", precision="float32"
        )
    )


def lines(playground: Playground, name: str, color: tuple[int, int, int], thickness: float) -> PointsNode:
    """Line segments; thickness in pixels."""
    api = playground.server.scene
    return PointsNode(
        lambda points: api.add_line_segments(name, points, color, thickness=thickness, thickness_units="screen")
    )


class Bounds:
    """The box along the axes, and the ball about its centre, that hold each body (Matyka & Ollila 2003, 3.5)."""

    def __init__(self, playground: Playground) -> None:
        self._layout, self._radius = playground.nodes.layout, playground.nodes.radius
        self._boxes = lines(playground, "/overlay-boxes", BOX_COLOR, 1.5)
        self._balls = lines(playground, "/overlay-balls", BALL_COLOR, 1.0)
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
        self._boxes.show(in_front(boxes.reshape(-1, 2, dim), self._layout.dim, 0.010 * self._radius))
        self._balls.show(in_front(balls.reshape(-1, 2, dim), self._layout.dim, 0.008 * self._radius))

    def close(self) -> None:
        self._boxes.close()
        self._balls.close()


class Contacts:
    """Where bodies touch each other and walls, and the normals there; of the running world only."""

    def __init__(self, playground: Playground) -> None:
        self._playground = playground
        self._points = dots(playground, "/overlay-contacts", CONTACT_COLOR, DOT)
        self._normals = lines(playground, "/overlay-contact-normals", CONTACT_COLOR, 1.5)

    def show(self, frame: Frame) -> None:
        nodes = self._playground.nodes
        points = normals = np.zeros((0, nodes.layout.dim))
        if not self._playground.replaying:
            found = self._playground.world.sim.contacts()
            here = found.worlds == 0
            points, normals = found.points[here], found.normals[here]
        ends = np.stack([points, points + CONTACT_NORMAL * nodes.radius * normals], axis=1)
        self._points.show(in_front(points, nodes.layout.dim, 0.030 * nodes.radius))
        self._normals.show(in_front(ends, nodes.layout.dim, 0.028 * nodes.radius))

    def close(self) -> None:
        self._points.close()
        self._normals.close()


class Particles:
    """The collision particles of contact = "particles"; of the running world only."""

    def __init__(self, playground: Playground) -> None:
        self._playground = playground
        self._points = dots(playground, "/overlay-particles", PARTICLE_COLOR, DOT)

    @staticmethod
    def available(playground: Playground) -> bool:
        """Whether this contact method has them."""
        return playground.world.sim.settings.contact == "particles"

    def show(self, frame: Frame) -> None:
        nodes, sim = self._playground.nodes, self._playground.world.sim
        points = np.zeros((0, nodes.layout.dim))
        if self.available(self._playground) and not self._playground.replaying:
            try:
                found = sim.collision_particles()
                points = found["position"][found["owner"] < len(sim.names)]  # of the first world
            except SceneError:  # a single body: nothing can touch
                pass
        self._points.show(in_front(points, nodes.layout.dim, 0.026 * nodes.radius))

    def close(self) -> None:
        self._points.close()


class Pins:
    """Vertices that are held in place."""

    def __init__(self, playground: Playground) -> None:
        self._playground = playground
        self._points = dots(playground, "/overlay-pins", PIN_COLOR, 1.5 * DOT)
        self._scene: Any = None
        self._pinned = np.zeros(0, np.int64)

    def show(self, frame: Frame) -> None:
        nodes, scene = self._playground.nodes, self._playground.world.scene
        if scene is not self._scene:
            self._scene = scene
            self._pinned = _pinned(scene, nodes.layout)
        points = frame.positions[self._pinned]
        self._points.show(in_front(points, nodes.layout.dim, 0.030 * nodes.radius))

    def close(self) -> None:
        self._points.close()


def _pinned(scene: Any, layout: Layout) -> npt.NDArray[np.int64]:
    """Vertices of a frame that are pinned."""
    parts = [np.zeros(0, np.int64)]
    for entry in layout.bodies:
        body = scene[entry.name]
        if isinstance(body, Body):
            parts.append(np.asarray(body.pinned, np.int64) + entry.start)
    return np.concatenate(parts)
