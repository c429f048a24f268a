"""The bodies of a scene: soft bodies and cloths, as plain frozen data. SI units; no device arrays.

Vectors are tuples of 2 or 3 floats (the dimension of the shape). A rotation is an angle in radians
(counter-clockwise) in 2D, and axis times angle in 3D; a spin is the same per second.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from turgor.errors import SceneError, did_you_mean
from turgor.scene.gas import Gas
from turgor.scene.validate import (
    ZERO,
    Rotation,
    Vector,
    check_name,
    choice,
    color,
    flag,
    instance,
    integer,
    number,
    put,
    text,
    turn,
    vector,
)
from turgor.shapes.shape import Shape

__all__ = [
    "PRESSURE_FORCES",
    "VOLUMES",
    "Body",
    "Cloth",
    "Placed",
    "SoftBody",
    "Springs",
    "VelocityDamping",
    "map_paths",
    "plain",
    "rotation_matrix",
]

VOLUMES = ("exact", "box", "ball", "ellipsoid", "monte-carlo", "subdivision")
SAMPLES = {"monte-carlo": 512, "subdivision": 16}  # points in the bounding box; columns per axis
PRESSURE_FORCES = ("gradient", "vertex-normals")
MASS_DISTRIBUTIONS = ("uniform", "area")
EXTREMES = ("top", "bottom")  # pins of any shape: the extreme vertices along the vertical axis
EXTREME_TOLERANCE = 1e-6  # of the body's height: vertices meant to be level differ by round-off only


@dataclass(frozen=True)
class Springs:
    """Hooke springs with a dashpot along each (A3)."""

    stiffness: float = 100.0  # N/m
    damping: float = 0.0  # N s/m

    def __post_init__(self) -> None:
        put(
            self,
            stiffness=number("springs.stiffness", self.stiffness, low=0.0),
            damping=number("springs.damping", self.damping, low=0.0),
        )


@dataclass(frozen=True)
class VelocityDamping:
    """Martin 2009's damping (B5): velocities lose the fraction rho = base + (1 - base) k / k_max per 1/rate seconds."""

    base: float = 0.01  # rho at zero stiffness, 0 <= base < 1
    stiffness_max: float = 400.0  # N/m: k_max, at which rho = 1
    rate: float = 60.0  # 1/s: rho is applied once per 1/rate seconds, whatever the substep

    def __post_init__(self) -> None:
        put(
            self,
            base=number("velocity_damping.base", self.base, low=0.0, below=1.0),
            stiffness_max=number("velocity_damping.stiffness_max", self.stiffness_max, above=0.0),
            rate=number("velocity_damping.rate", self.rate, above=0.0),
        )

    def fraction(self, stiffness: float) -> float:
        """rho for springs of this stiffness (N/m)."""
        return self.base + (1.0 - self.base) * stiffness / self.stiffness_max


def plain(value: Any) -> Any:
    """Numpy values, tuples and mappings of a recipe as lists, dicts and scalars; None entries are left out."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items() if entry is not None}
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    return value


def map_paths(recipe: Any, change: Callable[[str], str]) -> Any:
    """A recipe with its paths changed: the mesh of { file = ... } and the font of letters."""
    if not isinstance(recipe, Mapping):
        return recipe
    return {
        key: change(entry) if key in ("file", "font") and isinstance(entry, str) and entry else map_paths(entry, change)
        for key, entry in recipe.items()
    }


def _comparable(name: str, value: Any) -> Any:
    """A field as it is compared: shapes by recipe, paths by the file they mean."""
    if isinstance(value, Shape):
        return map_paths(plain(value.recipe), os.path.abspath)
    return os.path.abspath(value) if name == "texture" and value is not None else value


def rotation_matrix(rotation: Rotation) -> npt.NDArray[np.float64]:
    """(2, 2) from an angle in radians, or (3, 3) from axis times angle (Rodrigues)."""
    if not isinstance(rotation, tuple):
        cos, sin = math.cos(rotation), math.sin(rotation)
        return np.array([[cos, -sin], [sin, cos]])
    angle = math.hypot(*rotation)
    if angle == 0.0:
        return np.eye(3)
    x, y, z = (part / angle for part in rotation)
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    matrix: npt.NDArray[np.float64] = np.eye(3) + math.sin(angle) * cross + (1.0 - math.cos(angle)) * (cross @ cross)
    return matrix


@dataclass(frozen=True, kw_only=True, eq=False)
class Placed:
    """A shape with a name, put somewhere: what soft bodies, cloths and rigid bodies share."""

    shape: Shape = field(kw_only=False, repr=False)
    name: str = ""  # empty: the scene gives one
    at: Vector = ZERO  # m: where the shape's origin is placed
    rotation: Rotation = ZERO  # rad, about the shape's origin
    velocity: Vector = ZERO  # m/s

    def __post_init__(self) -> None:
        dim = instance("shape", self.shape, Shape).dim
        put(
            self,
            name=check_name("name", self.name),
            at=vector("at", self.at, dim),
            rotation=turn("rotation", self.rotation, dim),
            velocity=vector("velocity", self.velocity, dim),
        )

    @property
    def dim(self) -> int:
        """2 or 3."""
        return self.shape.dim

    @property
    def positions(self) -> npt.NDArray[np.float64]:
        """(n, dim) m: the vertices where the scene places them."""
        return np.asarray(self.shape.vertices @ rotation_matrix(self.rotation).T + np.array(self.at))

    def __eq__(self, other: object) -> bool:
        """Same data; shapes are the same when their recipes are."""
        if type(other) is not type(self):
            return NotImplemented
        return all(
            _comparable(entry.name, getattr(self, entry.name)) == _comparable(entry.name, getattr(other, entry.name))
            for entry in fields(self)
        )

    def __hash__(self) -> int:
        return hash((type(self), self.name))


@dataclass(frozen=True, kw_only=True, eq=False)
class Body(Placed):
    """What soft bodies and cloths share."""

    mass: float = 1.0  # kg, of the whole body
    springs: Springs = Springs()
    drag: float = 0.0  # 1/s: dv/dt = -drag v
    velocity_damping: VelocityDamping | None = None
    bending: float = 0.0  # N m/rad: dihedral angle of neighbouring faces; 2D: turning angle of neighbouring edges
    friction: float | None = None  # Coulomb coefficient; None: the wall's own
    restitution: float | None = None  # 0..1; None: the wall's own
    wind_drag: float = 0.0  # N s/m per point: factor of ((w - v).n) n (D3)
    skin: float | None = None  # m: half thickness in contact with others; None: 5 % of the mean edge length at rest
    self_contact: bool = True  # whether it collides with itself too
    pins: tuple[int, ...] | str = ()  # fixed vertices: indices, a group of the shape, "top" or "bottom"
    color: tuple[float, float, float] | None = None  # red, green, blue in 0..1, or "#rrggbb"

    def __post_init__(self) -> None:
        super().__post_init__()
        put(
            self,
            mass=number("mass", self.mass, above=0.0),
            springs=instance("springs", self.springs, Springs),
            drag=number("drag", self.drag, low=0.0),
            bending=number("bending", self.bending, low=0.0),
            friction=None if self.friction is None else number("friction", self.friction, low=0.0),
            restitution=None if self.restitution is None else number("restitution", self.restitution, 0.0, 1.0),
            wind_drag=number("wind_drag", self.wind_drag, low=0.0),
            skin=None if self.skin is None else number("skin", self.skin, above=0.0),
            self_contact=flag("self_contact", self.self_contact),
            pins=self.checked_vertices("pins", self.pins),
            color=color("color", self.color),
        )
        if self.velocity_damping is not None:
            limit = instance("velocity_damping", self.velocity_damping, VelocityDamping).stiffness_max
            if self.springs.stiffness > limit:
                raise SceneError(
                    f"velocity_damping.stiffness_max ({limit!r}) must be >= springs.stiffness "
                    f"({self.springs.stiffness!r}): raise stiffness_max, or use springs.damping"
                )

    def checked_vertices(self, what: str, chosen: Any) -> tuple[int, ...] | str:
        """Vertices as a scene stores them: sorted indices, a group of the shape, "top" or "bottom"."""
        if isinstance(chosen, str):
            known = sorted({*self.shape.groups, *EXTREMES})
            if chosen not in known:
                raise SceneError(f"{what}: the shape has no group {chosen!r}; {did_you_mean(chosen, known)}")
            return chosen
        if not isinstance(chosen, (list, tuple, np.ndarray)):
            raise SceneError(f"{what} must be vertex indices or the name of a group, got {chosen!r}")
        indices = sorted({integer(what, index, low=0) for index in chosen})
        if indices and indices[-1] >= len(self.shape.vertices):
            raise SceneError(f"{what}: the shape has vertices 0 to {len(self.shape.vertices) - 1}, got {indices[-1]}")
        return tuple(indices)

    @property
    def pinned(self) -> npt.NDArray[np.int32]:
        """(p,) sorted indices of the fixed vertices."""
        return self.chosen_vertices(self.pins)

    def chosen_vertices(self, chosen: tuple[int, ...] | str) -> npt.NDArray[np.int32]:
        """(p,) sorted indices of checked vertices. A group of the shape wins over "top" and "bottom"."""
        if not isinstance(chosen, str):
            return np.array(chosen, dtype=np.int32)
        if chosen in self.shape.groups:
            return np.unique(np.asarray(self.shape.groups[chosen], dtype=np.int32))
        height = (self.shape.vertices @ rotation_matrix(self.rotation).T)[:, -1]
        slack = EXTREME_TOLERANCE * float(np.ptp(height))
        found = height >= height.max() - slack if chosen == "top" else height <= height.min() + slack
        return np.flatnonzero(found).astype(np.int32)


@dataclass(frozen=True, kw_only=True, eq=False)
class SoftBody(Body):
    """A closed membrane of point masses and springs, filled with gas (or empty)."""

    spin: Rotation = ZERO  # rad/s, about the centre of mass
    gas: Gas | None = None
    volume: str = "exact"  # how the volume is measured (VOLUMES): A5, B3, C2, C9
    samples: int | None = None  # "monte-carlo": points, default 512; "subdivision": columns per axis, default 16
    pressure_force: str = "gradient"  # exact volume gradient (B2), or averaged "vertex-normals" (C7)
    pressure_scaling: bool = False  # scale by the vertex's share of springs, for uneven meshes (B4)
    mass_distribution: str = "uniform"  # the same mass at each vertex, or by the "area" around it
    settled: bool = False  # start in the equilibrium of springs and gas instead of with a jump

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.shape.closed:
            raise SceneError("shape is open and cannot hold gas: use a closed shape, or add it as a cloth")
        put(
            self,
            spin=turn("spin", self.spin, self.dim),
            volume=choice("volume", self.volume, VOLUMES),
            samples=None if self.samples is None else integer("samples", self.samples, low=1),
            pressure_force=choice("pressure_force", self.pressure_force, PRESSURE_FORCES),
            pressure_scaling=flag("pressure_scaling", self.pressure_scaling),
            mass_distribution=choice("mass_distribution", self.mass_distribution, MASS_DISTRIBUTIONS),
            settled=flag("settled", self.settled),
        )
        if self.samples is not None and self.volume not in SAMPLES:
            raise SceneError(f"samples is only used with volume = {' or '.join(map(repr, SAMPLES))}; leave it out")
        if self.gas is not None:
            instance("gas", self.gas, Gas)
        else:
            for unused, value in (
                ("pressure_force", self.pressure_force != "gradient"),
                ("pressure_scaling", self.pressure_scaling),
                ("settled", self.settled),
            ):
                if value:
                    raise SceneError(f"{unused} has no effect without gas: give the body gas, or leave it out")
        if self.settled and self.gas is not None and self.gas.inflate > 0.0:
            raise SceneError("settled starts with all the gas, gas.inflate starts with none: leave one out")

    @property
    def sample_count(self) -> int:
        """`samples`, or its default for the chosen volume method; 0 where it has no meaning."""
        return self.samples if self.samples is not None else SAMPLES.get(self.volume, 0)


@dataclass(frozen=True, kw_only=True, eq=False)
class Cloth(Body):
    """A sheet of point masses and springs (D2). 3D only."""

    mass: float = 0.2  # kg, of the whole cloth
    wind_drag: float = 1.0  # N s/m per point
    texture: str | None = None  # image file drawn on it

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.dim != 3:
            raise SceneError("shape must be a 3D sheet: there is no cloth in 2D")
        if self.shape.closed:
            raise SceneError("shape is closed, a cloth is an open sheet: use a sheet, or add it as a soft body")
        if self.texture is not None and not text("texture", self.texture):
            raise SceneError("texture must be the path of an image, got ''")
