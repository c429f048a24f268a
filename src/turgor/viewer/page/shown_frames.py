"""What the pages have shown of late, and which body lies at a point of it.

A page is some pictures behind the world: what a person presses is what was drawn there, not what the world has made of
it since. The point that the page reports tells which picture it was: the one on whose surface it lies.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from turgor.output.frame import BodyLayout, Frame
from turgor.viewer.draw.scene_nodes import SceneNodes
from turgor.viewer.world.picking import first_hit

__all__ = ["Picked", "ShownFrames"]

FloatArray = npt.NDArray[np.float64]
SECONDS = 3.0  # that frames are kept
MAX_BYTES = 48 << 20  # of all of them
MAX_FACES = 1_500_000  # that are looked at for one press: a fifth of a second
SAME = (
    1e-4  # of the scene's radius: a point that is so near to a surface is on it (the page counts in single precision)
)
NEAR = 0.02  # of the scene's radius: the same, where no frame fits exactly


@dataclass(frozen=True)
class Picked:
    """A point of a body, as a mean of vertices, so that it is known where it is now."""

    name: str
    vertex: int  # of the body, the nearest one
    corners: npt.NDArray[np.int64]  # of the frame
    weights: FloatArray
    depth: float  # from the eye, in lengths of the ray's direction
    point: FloatArray  # (3,) m of the view, when it was shown

    def place(self, frame: Frame) -> FloatArray:
        """(dim,) m of the scene: where the point is in a frame."""
        return np.asarray(self.weights @ frame.positions[self.corners], np.float64)


class ShownFrames:
    """Belongs to the world's thread."""

    def __init__(self) -> None:
        self._frames: deque[tuple[float, npt.NDArray[np.float32]]] = deque()
        self._nodes: SceneNodes | None = None
        self._bytes = 0

    def keep(self, nodes: SceneNodes, frame: Frame) -> None:
        """A frame is shown by these nodes."""
        if nodes is not self._nodes:
            self._nodes, self._bytes = nodes, 0
            self._frames.clear()
        now, points = time.monotonic(), nodes.points_of(frame).astype(np.float32)  # as drawn
        self._frames.append((now, points))
        self._bytes += points.nbytes
        while len(self._frames) > 1 and (now - self._frames[0][0] > SECONDS or self._bytes > MAX_BYTES):
            self._bytes -= self._frames.popleft()[1].nbytes

    def at_point(self, eye: Any, point: Any) -> Picked | None:
        """What was pressed, if the page says that the ray from the eye met it at a point (m of the view)."""
        start, aim = np.asarray(eye, np.float64), np.asarray(point, np.float64)
        if self._nodes is None or not np.isfinite([start, aim]).all():
            return None
        best: tuple[float, Picked] | None = None
        for positions in self._latest():
            picked = self._cast(start, aim - start, positions)
            if picked is None:
                continue
            apart = float(np.linalg.norm(picked.point - aim))
            if best is None or apart < best[0]:
                best = (apart, picked)
            if apart < SAME * self._nodes.radius:
                break
        return best[1] if best is not None and best[0] < NEAR * self._nodes.radius else None

    def along(self, eye: Any, direction: Any, names: Collection[str] | None = None) -> Picked | None:
        """The first body along a ray (of the view); where the page knows that it is one of `names`, when it was."""
        if self._nodes is None or not np.isfinite([eye, direction]).all():
            return None
        for positions in self._latest():
            picked = self._cast(np.asarray(eye, np.float64), np.asarray(direction, np.float64), positions)
            if names is None or (picked is not None and picked.name in names):
                return picked
        return None

    def _latest(self) -> Any:
        """Positions of the frames, the last one first, as many as can be looked at."""
        assert self._nodes is not None
        each = max(sum(len(node.mesh.faces) for node in self._nodes.bodies), 1)
        for number, (_, positions) in enumerate(reversed(self._frames)):
            if number and number * each > MAX_FACES:
                return
            yield positions

    def _cast(self, eye: FloatArray, ray: FloatArray, positions: npt.NDArray[np.float32]) -> Picked | None:
        assert self._nodes is not None
        best: Picked | None = None
        for node in self._nodes.bodies:
            points = node.mesh.points(positions)
            hit = first_hit(eye, ray, points, node.mesh.faces, node.mesh.double)
            if hit is None or (best is not None and best.depth <= hit.distance):
                continue
            drawn = node.mesh.faces[hit.face]
            corners = node.mesh.vertices[drawn].ravel()
            shares = hit.weights
            if node.mesh.weights is not None:
                shares = (hit.weights[:, None] * node.mesh.weights[drawn]).ravel()
            corners, shares = self._nodes.skin.in_vertices(corners, shares)
            body = self._body(int(corners[0]))
            place = hit.weights @ points[drawn].astype(np.float64)
            own = positions[body.start : body.start + body.count]
            vertex = int(((own - place) ** 2).sum(axis=1).argmin())
            best = Picked(body.name, vertex, corners, shares, hit.distance, place)
        return best

    def _body(self, vertex: int) -> BodyLayout:
        assert self._nodes is not None
        return next(body for body in self._nodes.layout.bodies if body.start <= vertex < body.start + body.count)
