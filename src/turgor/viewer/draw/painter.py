"""Paints the bodies by a value, like a plot of a finite element code.

viser streams meshes of one colour only. So a value that a body has as a whole (pressure; in 2D the mean) becomes the
colour of its node; a value of the faces is cut into bands, one mesh per band with the faces of all bodies that are in
it, shown instead of the bodies. In 2D the segments of the outlines are coloured one by one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from turgor.output.frame import Frame
from turgor.viewer.draw.color_values import BANDS, KINDS, Measure, Range, band_colors, band_of, ramp
from turgor.viewer.draw.scene_nodes import UNIT, rgb

if TYPE_CHECKING:
    from turgor.viewer.draw.picture import Picture

__all__ = ["Painter"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

OUTLINE = 8.0  # pixels


class Painter:
    """Colours the bodies of one `SceneNodes` by one value."""

    def __init__(self, picture: Picture, by: str) -> None:
        self._picture, self._nodes = picture, picture.nodes
        self.by, self.kind = by, KINDS[by]
        self.dim = self._nodes.layout.dim
        self.range = Range(self.kind)
        self.measure = Measure(self._nodes, picture.world)
        alone = all(len(node.names) == 1 for node in self._nodes.bodies)
        self.banded = not alone or (self.dim == 3 and by != "pressure")
        self._index = {body.name: number for number, body in enumerate(self._nodes.layout.bodies)}
        self.bands: dict[int, Any] = {}  # band -> node; BANDS: faces that have no value
        self.grey = False  # whether something has no value
        self._outlines: Any = None
        self._finish: dict[str, Any] = {}

    def show(self, frame: Frame) -> None:
        """One more frame, atomically."""
        values = self.measure.values(self.by, frame)
        with self._picture.server.atomic():
            self.range.see(values)
            parts = self.range.parts(values)
            self.grey = not np.isfinite(values).all()
            if self.banded:
                of_face = (
                    self.drawn_parts(values, frame) if self.dim == 3 else self._per_body(parts)[self.measure.face_body]
                )
                self._show_bands(band_of(of_face), self._nodes.points[self.measure.points].astype(np.float32))
            else:
                self._color_nodes(ramp(self._per_body(parts)))
            if self.dim == 2 and self.by != "pressure":
                self._show_outlines(frame, ramp(parts))

    def drawn_parts(self, values: FloatArray, frame: Frame) -> FloatArray:
        """(drawn faces,) where in the range each face of the skin is."""
        return self.range.parts(self.measure.on_skin(self.by, values, frame))

    def set_finish(self, wireframe: bool, opacity: float | None) -> None:
        """How the faces of the bands are drawn."""
        self._finish = {"wireframe": wireframe, "opacity": opacity}
        for handle in self.bands.values():
            handle.wireframe, handle.opacity = wireframe, opacity

    def close(self) -> None:
        """The bodies look as before. Of nodes that are gone only the own ones are taken away."""
        for handle in self.bands.values():
            handle.remove()
        self.bands.clear()
        if self._outlines is not None:
            self._outlines.remove()
            self._outlines = None
        for node in self._nodes.bodies:  # none, if it is gone
            node.handle.color, node.handle.visible = rgb(node.mesh.color), True

    def _per_body(self, parts: FloatArray) -> FloatArray:
        return self.measure.per_body(parts, bool(self.kind.levels))

    def _color_nodes(self, colors: FloatArray) -> None:
        for node in self._nodes.bodies:
            red, green, blue = colors[self._index[node.names[0]]].tolist()
            node.handle.color = rgb((red, green, blue))

    def _show_bands(self, band: IntArray, points: npt.NDArray[np.float32]) -> None:
        self._nodes.set_visible(False)
        order = np.argsort(band, kind="stable")
        ends = np.searchsorted(band[order], np.arange(BANDS + 2))
        place = np.zeros(len(points), np.int64)
        for number in range(BANDS + 1):
            faces = self.measure.faces[order[ends[number] : ends[number + 1]]]
            used = np.zeros(len(points), bool)
            used[faces] = True
            kept = np.flatnonzero(used)
            place[kept] = np.arange(len(kept))
            self._show_band(number, points[kept], place[faces])

    def _show_band(self, number: int, points: npt.NDArray[np.float32], faces: IntArray) -> None:
        handle = self.bands.get(number)
        if handle is not None:
            handle.visible = len(faces) > 0
            if len(faces):
                handle.vertices, handle.faces = points / UNIT, faces.astype(np.uint32)
        elif len(faces):
            solid = self.dim == 3
            red, green, blue = band_colors()[number].tolist()
            handle = self._picture.server.scene.add_mesh_simple(
                f"/color-{number:02d}",
                points / UNIT,
                faces,
                scale=UNIT,
                color=rgb((red, green, blue)),
                side="double" if any(node.mesh.double for node in self._nodes.bodies) else "front",
                cast_shadow=solid,
                receive_shadow=solid,
                **self._finish,
            )
            self._picture.pointers.make_draggable(handle, tuple(self._index))
            self.bands[number] = handle

    def _show_outlines(self, frame: Frame, colors: FloatArray) -> None:
        ends = self._nodes.points[self.measure.drawn] - [0.0, 0.001 * self._nodes.radius, 0.0]
        inks = np.repeat((255.0 * colors[self.measure.element]).round().astype(np.uint8)[:, None], 2, axis=1)
        if self._outlines is not None:
            self._outlines.points, self._outlines.colors = ends.astype(np.float32), inks
        elif len(ends):
            self._outlines = self._picture.server.scene.add_line_segments(
                "/color-outlines", ends, inks, thickness=OUTLINE, thickness_units="screen"
            )
