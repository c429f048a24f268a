"""What a simulation shows to the outside: the layout (once) and a frame (per time). Sinks need nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

__all__ = ["SKIN_FIELDS", "BodyLayout", "Frame", "Layout", "WallLayout"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int32]

#: Fields of the faces of skins of a material -> numbers per face
SKIN_FIELDS = {"stretch": 2, "stress": 2, "tension": 2, "wrinkled": 1}


@dataclass(frozen=True)
class BodyLayout:
    """Where one body lives in a frame's arrays; vertices are in the order of the user's shape. Rigid ones are last."""

    name: str
    kind: str  # "soft" | "cloth" | "rigid"
    start: int  # first vertex in Frame.positions
    count: int  # number of vertices
    faces: IntArray  # (m, 3) triangles in 3D, (m, 2) segments in 2D; indices local to the body
    uv: FloatArray | None = None  # (count, 2) texture coordinates, cloth only
    color: tuple[float, float, float] | None = None  # RGB in 0..1; None: the viewer chooses
    material: bool = False  # whether its skin is of a material, so that frames have the fields of its faces
    corner_uv: FloatArray | None = (
        None  # (m, 3, 2) texture coordinates per corner of a face: seams need no second vertex
    )
    texture: str | None = None  # path of an image that the surface is drawn with


@dataclass(frozen=True)
class WallLayout:
    """A wall to draw. Its pose at a given time is in Frame.walls, in the same order."""

    name: str
    kind: str  # "ground" | "plane" | "container"
    normal: tuple[float, ...]  # towards the free side at time 0; unused for a container
    size: tuple[float, ...]  # container: inner side lengths (dim,), metres; else ()


@dataclass(frozen=True)
class WallPose:
    """Where a wall is now."""

    position: FloatArray  # (dim,) a point on the plane, or the container's centre, metres
    rotation: FloatArray  # (dim, dim) columns: a container's own axes in the world; unity for ground and planes


@dataclass(frozen=True)
class Layout:
    """Everything about a simulation that does not change from frame to frame."""

    scene: str  # name of the scene
    dim: int  # 2 or 3
    fps: float  # frames per simulated second
    bodies: tuple[BodyLayout, ...]
    walls: tuple[WallLayout, ...] = ()

    @property
    def vertices(self) -> int:
        """Number of vertices of one world."""
        return sum(body.count for body in self.bodies)

    @property
    def faces(self) -> int:
        """Number of faces of all bodies (segments in 2D)."""
        return sum(len(body.faces) for body in self.bodies)

    @property
    def has_materials(self) -> bool:
        """Whether frames have the fields of skins of a material."""
        return any(body.material for body in self.bodies)


@dataclass(frozen=True)
class Frame:
    """One world at one time.

    The fields of the faces (segments in 2D) are in the order of the layout: body by body, each in the order of its
    faces. They are nan for bodies that are not of a material, and None where no body is.
    """

    index: int  # frame number, 0 = initial state
    time: float  # seconds
    positions: FloatArray  # (vertices, dim) metres
    velocities: FloatArray  # (vertices, dim) metres per second
    volumes: FloatArray  # (bodies,) m³ (m² in 2D); nan for a body without gas
    pressures: FloatArray  # (bodies,) absolute pressure, Pa (N/m in 2D); nan for a body without gas
    walls: tuple[WallPose, ...] = field(default=())
    stretch: FloatArray | None = None  # (faces, 2) principal stretches, the larger one first
    stress: FloatArray | None = None  # (faces, 2) Pa: principal Cauchy stresses
    tension: FloatArray | None = None  # (faces, 2) N/m: principal forces per length as it is now
    wrinkled: FloatArray | None = None  # (faces,) 0: taut, 1: wrinkled, 2: slack
