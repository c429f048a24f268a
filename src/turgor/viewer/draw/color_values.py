"""The values that bodies can be coloured by: pressure, stretch, speed, stress, wrinkles; their range and colours."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from turgor.output.frame import Frame, Layout
from turgor.record.look import RAMP
from turgor.scene.data import Body, SoftBody

if TYPE_CHECKING:
    from turgor.viewer.draw.scene_nodes import SceneNodes
    from turgor.viewer.world.world import World

__all__ = [
    "BANDS",
    "EVENED",
    "KINDS",
    "NONE",
    "WIDE",
    "Kind",
    "Measure",
    "Range",
    "band_colors",
    "band_of",
    "diffusion_steps",
    "ramp",
]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

BANDS = 61  # so many that two neighbours hardly differ; an odd number: the middle band is about zero
#: The stretch of springs is averaged around vertices so often on a ball of EVENED vertices, and on others over the same
#: part of the body. Near: what is shown; wide: what it is compared with. Fields of a material are averaged once.
NEAR, WIDE, EVENED = 2.0, 6.0, 162
PATTERN = 0.05  # of the stretch: differences between near and wide that the springs' pattern makes
MOST_STEPS = 10  # of an average: enough for a ball of 2,000 vertices
NONE = (0.70, 0.70, 0.70)  # colour of what has no value


@dataclass(frozen=True)
class Kind:
    """A value to colour by."""

    title: str
    unit: str  # in 3D
    unit_2d: str
    factor: float = 1.0  # from SI to the unit
    signed: bool = False  # the range is the same to both sides of zero
    least: float = 0.0  # smallest width of the range, SI
    none: str = ""  # what is grey
    share: float = 1.0  # of what is seen that is within the range; the rest has the colours of its ends
    prefixes: bool = False  # the legend writes kPa or MPa for large values
    levels: tuple[str, ...] = ()  # names of the values 0, 1, 2 ... if it has no others


KINDS = {
    "pressure": Kind("Gauge pressure", "Pa", "N/m", least=1e-3, none="without gas"),
    "stretch": Kind("Stretch of the skin", "%", "%", factor=100.0, signed=True, least=0.01, none="rigid", share=0.98),
    "speed": Kind("Speed", "m/s", "m/s", least=1e-3),
    "stress": Kind(
        "Largest stress in the skin", "Pa", "Pa", least=1e-3, none="springs or rigid", share=0.98, prefixes=True
    ),
    "wrinkled": Kind("Wrinkles", "", "", none="springs or rigid", levels=("taut", "wrinkled", "slack")),
}


def ramp(parts: npt.ArrayLike) -> FloatArray:
    """(n, 3) colours of (n,) parts of the range, 0..1; grey where there is no value."""
    parts = np.asarray(parts, np.float64)
    known, knots = np.nan_to_num(np.clip(parts, 0.0, 1.0)), np.linspace(0.0, 1.0, len(RAMP))
    colors = np.stack([np.interp(known, knots, RAMP[:, channel]) for channel in range(3)], axis=-1)
    return np.where(np.isfinite(parts)[..., None], colors, NONE)


def band_of(parts: FloatArray) -> IntArray:
    """(n,) 0 .. BANDS - 1 of parts of the range; BANDS where there is no value."""
    known = np.clip(np.nan_to_num(parts) * BANDS, 0, BANDS - 1).astype(np.int64)
    return np.where(np.isfinite(parts), known, BANDS)


def band_colors() -> FloatArray:
    """(BANDS + 1, 3): of the bands, and of what has no value."""
    return ramp([*np.linspace(0.0, 1.0, BANDS), math.nan])


class Range:
    """Low and high (SI) of what has been seen, rounded outwards to two digits. It grows."""

    def __init__(self, kind: Kind) -> None:
        self._kind = kind
        self.low = self.high = math.nan

    def reset(self) -> None:
        """Begin again with what is seen next."""
        self.low = self.high = math.nan

    def see(self, values: FloatArray) -> None:
        """Grow so that the values are within."""
        known = values[np.isfinite(values)]
        if not len(known):
            return
        if self._kind.levels:
            self.low, self.high = 0.0, len(self._kind.levels) - 1.0
            return
        aside = (1.0 - self._kind.share) / 2.0
        low, high = (float(value) for value in np.quantile(known, [aside, 1.0 - aside]))
        if not self.low <= low <= high <= self.high:
            self.low, self.high = self._rounded(min(low, _or(self.low, low)), max(high, _or(self.high, high)))

    def _rounded(self, low: float, high: float) -> tuple[float, float]:
        kind = self._kind
        if kind.signed:
            most = _up(max(-low, high, kind.least / 2.0), 2)
            return -most, most
        if kind is KINDS["speed"]:
            return 0.0, _up(max(high, kind.least), 2)
        width = max(high - low, kind.least, 0.02 * abs(high))
        step = 10.0 ** (math.floor(math.log10(width)) - 1)
        return math.floor(low / step) * step, math.ceil((low + width) / step) * step

    def parts(self, values: FloatArray) -> FloatArray:
        """Where in the range the values are, 0..1."""
        return (values - self.low) / (self.high - self.low)


def _or(value: float, other: float) -> float:
    return other if math.isnan(value) else value


def _up(value: float, digits: int) -> float:
    """The next number of so many digits that is not less."""
    step = 10.0 ** (math.floor(math.log10(value)) - digits + 1)
    return math.ceil(value / step - 1e-9) * step


class Measure:
    """Measures on the faces of the bodies (in 2D the segments of their outlines), and carries it to what is drawn."""

    def __init__(self, nodes: SceneNodes, world: World) -> None:
        self._layout, self._world, self._skin = nodes.layout, world, nodes.skin
        self.points, self.faces, self.face_body, self._face_element = _surface(nodes)
        self.corners, self.owner = _elements(nodes.layout)
        self.drawn, self.element = _drawn(nodes)
        self._rest = self._rest_lengths()
        counts = np.array([body.count for body in nodes.layout.bodies], np.int64)
        springs = np.array([not body.material for body in nodes.layout.bodies], np.bool_)
        self._size = np.repeat(np.where(springs, counts / EVENED, 0.0), counts)  # (vertices,) of the body of springs

    def values(self, name: str, frame: Frame) -> FloatArray:
        """(elements,) of faces or segments, SI; nan where there is none."""
        if name == "pressure":
            return self.gauge(frame)[self.owner]
        if name == "speed":
            speeds = np.linalg.norm(frame.velocities, axis=1)
            return np.asarray(speeds[self.corners].mean(axis=1))
        if name == "stress":
            return self._field(None if frame.stress is None else frame.stress[:, 0])
        if name == "wrinkled":
            return self._field(frame.wrinkled)
        return self._stretch(frame)

    def _stretch(self, frame: Frame) -> FloatArray:
        """(elements,) of materials the mean of both principal stretches, of springs that of the edges; less 1."""
        lengths = np.stack([_distance(frame.positions, a, b) for a, b in self._edges()], axis=1)
        of_edges = (lengths / self._rest - 1.0).mean(axis=1)
        if frame.stretch is None:
            return np.asarray(of_edges)
        principal = frame.stretch.mean(axis=1) if self._layout.dim == 3 else frame.stretch[:, 0]
        return np.where(np.isfinite(principal), principal - 1.0, of_edges)

    def _field(self, field: FloatArray | None) -> FloatArray:
        """(elements,) of a field of a frame, if it has it."""
        return np.full(len(self.corners), math.nan) if field is None else np.asarray(field)

    def on_skin(self, name: str, values: FloatArray, frame: Frame) -> FloatArray:
        """(drawn faces,) of values (elements,) in 3D: of the vertices, and between them what lies between.

        A field of the faces is averaged around the vertices by area, as is usual for finite elements. Levels stay as
        they are.
        """
        if KINDS[name].levels or name == "pressure":
            return values[self._face_element]
        if name == "speed":
            at_vertices = np.linalg.norm(frame.velocities, axis=1)
        else:
            corner = frame.positions[self.corners]
            area = np.linalg.norm(np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]), axis=1)
            at_vertices = self._around(values, area)
            if name == "stretch":
                at_vertices = self._evened(at_vertices, area)
        drawn = self._skin.spread(at_vertices)[self.points[self.faces]].mean(axis=1)
        return np.where(np.isfinite(values[self._face_element]), drawn, math.nan)

    def _evened(self, stretch: FloatArray, area: FloatArray) -> FloatArray:
        """(vertices,) the stretch without the pattern that springs print on a skin.

        Where five springs meet instead of six, faces are really stretched by another amount (icosphere of 162 vertices:
        13.0 % beside 15.7 %), which says something about the mesh and nothing about the load. Near means still differ
        by up to 4.3 % of the stretch from wide ones, in which the pattern is gone; so of the difference only what
        exceeds PATTERN is shown.
        """
        near = self._averaged(stretch, area, np.maximum(NEAR * self._size - 1.0, 0.0))
        wide = self._averaged(near, area, (WIDE - NEAR) * self._size)
        aside = near - wide
        return np.asarray(wide + np.sign(aside) * np.maximum(np.abs(aside) - PATTERN * np.abs(wide), 0.0))

    def _averaged(self, at_vertices: FloatArray, area: FloatArray, times: FloatArray) -> FloatArray:
        """(vertices,) averaged around vertices `times` times: that much diffusion, in fewer steps."""
        steps = diffusion_steps(float(times.max(initial=0.0)))
        share = times / max(times.max(initial=0.0), 1e-30)
        for step in steps:
            mean = self._around(at_vertices[self.corners].mean(axis=1), area)
            at_vertices = at_vertices + step * share * (mean - at_vertices)
        return at_vertices

    def _around(self, values: FloatArray, area: FloatArray) -> FloatArray:
        """(vertices,) means by area of the faces around them; nan where there is none with a value."""
        known, count = np.isfinite(values), self._layout.vertices
        corners, weight = self.corners[known].ravel(), np.repeat(area[known] + 1e-30, 3)
        sums = np.bincount(corners, weight * np.repeat(values[known], 3), count)
        total = np.bincount(corners, weight, count)
        return np.where(total > 0.0, sums / np.where(total > 0.0, total, 1.0), math.nan)

    def gauge(self, frame: Frame) -> FloatArray:
        """(bodies,) Pa (N/m in 2D) above ambient; nan for a body without gas."""
        ambient = np.full(len(self._layout.bodies), math.nan)
        for index, entry in enumerate(self._layout.bodies):
            body = self._world.scene[entry.name]
            if isinstance(body, SoftBody) and body.gas is not None:
                ambient[index] = body.gas.ambient
        return np.asarray(frame.pressures - ambient)

    def per_body(self, values: FloatArray, levels: bool = False) -> FloatArray:
        """(bodies,) means of the values of their elements, of levels the most frequent; nan where there is none."""
        known, count = np.isfinite(values), len(self._layout.bodies)
        if levels:
            return np.array([_most_frequent(values[known & (self.owner == body)]) for body in range(count)])
        sums = np.bincount(self.owner[known], values[known], count)
        numbers = np.bincount(self.owner[known], minlength=count)
        return np.where(numbers > 0, sums / np.maximum(numbers, 1), math.nan)

    def _edges(self) -> list[tuple[IntArray, IntArray]]:
        pairs = [(0, 1), (1, 2), (2, 0)] if self._layout.dim == 3 else [(0, 1)]
        return [(self.corners[:, a], self.corners[:, b]) for a, b in pairs]

    def _rest_lengths(self) -> FloatArray:
        """(elements, edges) m, as the engine has them: between the vertices of the shape; nan for rigid bodies."""
        rest = np.full((self._layout.vertices, self._layout.dim), math.nan)
        for entry in self._layout.bodies:
            body = self._world.scene[entry.name]
            if isinstance(body, Body):
                rest[entry.start : entry.start + entry.count] = body.shape.vertices
        return np.stack([_distance(rest, a, b) for a, b in self._edges()], axis=1)


def diffusion_steps(time: float) -> FloatArray:
    """(n,) sizes of explicit steps that diffuse for `time`, at most MOST_STEPS (Grewenig, Weickert & Bruhn 2010).

    An average has eigenvalues from 0 to 1, so a single step is stable up to 2. A cycle of n steps with the sizes
    1 / cos²(π (2i + 1) / (4n + 2)) is stable too, and reaches 2 (n² + n) / 3 in all.
    """
    number = min(math.ceil(math.sqrt(1.5 * time + 0.25) - 0.5), MOST_STEPS)
    sizes = 1.0 / np.cos(np.pi * (2.0 * np.arange(number) + 1.0) / (4.0 * number + 2.0)) ** 2
    return np.asarray(sizes * min(time / max(float(sizes.sum()), 1e-30), 1.0))


def _most_frequent(values: FloatArray) -> float:
    found, numbers = np.unique(values, return_counts=True)
    return float(found[numbers.argmax()]) if len(found) else math.nan


def _distance(points: FloatArray, first: IntArray, second: IntArray) -> FloatArray:
    return np.asarray(np.linalg.norm(points[first] - points[second], axis=1))


def _elements(layout: Layout) -> tuple[IntArray, IntArray]:
    """(elements, dim) vertices of a frame of all faces, in 2D segments, and the body of each."""
    parts = [np.asarray(body.faces, np.int64) + body.start for body in layout.bodies]
    owner = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    return np.concatenate([np.zeros((0, layout.dim), np.int64), *parts]), owner.astype(np.int64)


def _drawn(nodes: SceneNodes) -> tuple[IntArray, IntArray]:
    """(drawn faces, dim) points of the skin, in 2D segments, and the element on which each lies."""
    starts = np.cumsum([0, *(len(body.faces) for body in nodes.layout.bodies)])
    parts = [np.zeros((0, nodes.layout.dim), np.int64), *(body.points[body.faces] for body in nodes.skin.bodies)]
    elements = [np.zeros(0, np.int64)]
    elements += [body.element + start for body, start in zip(nodes.skin.bodies, starts, strict=False)]
    return np.concatenate(parts), np.concatenate(elements)


def _surface(nodes: SceneNodes) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """All triangles that are drawn: (points,) of the skin, (faces, 3) of these points, (faces,) body and element.

    In 3D the skin, with sharp edges, a painted cloth without its paint; in 2D what fills the outlines.
    """
    layout = nodes.layout
    if layout.dim == 3:
        parts = [(body.points, body.faces) for body in nodes.skin.bodies]
        element = _drawn(nodes)[1]
    else:
        parts = [(node.mesh.vertices, node.mesh.faces) for node in nodes.bodies]
        element = np.zeros(0, np.int64)
    starts = np.cumsum([0, *(len(points) for points, _ in parts)])
    points = np.concatenate([np.zeros(0, np.int64), *(points for points, _ in parts)])
    faces = np.concatenate(
        [np.zeros((0, 3), np.int64), *(faces + start for (_, faces), start in zip(parts, starts, strict=False))]
    )
    owner = np.full(nodes.skin.count, -1)
    for number, body in enumerate(nodes.skin.bodies):
        owner[body.points] = number
    return points, faces, owner[points[faces[:, 0]]] if len(faces) else np.zeros(0, np.int64), element
