"""The bodies of a scene: soft bodies and cloths, as plain frozen data. SI units; no device arrays.

Vectors are tuples of 2 or 3 floats (the dimension of the shape). A rotation is an angle in radians
(counter-clockwise) in 2D, and axis times angle in 3D; a spin is the same per second.
"""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Annotated, Any, ClassVar, Literal, Self, get_args

import numpy as np
import numpy.typing as npt

from turgor.errors import MeshError, SceneError, did_you_mean
from turgor.scene.described import described
from turgor.scene.from_material import FromMaterial, from_material
from turgor.scene.gas import Gas
from turgor.scene.material import Membrane
from turgor.scene.plain import map_paths, plain
from turgor.scene.presets import checked_material, preset_of
from turgor.scene.springs import Springs, VelocityDamping
from turgor.scene.validate import (
    ZERO,
    Color,
    Rotation,
    Vector,
    Vertices,
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
from turgor.shapes.files import as_shape
from turgor.shapes.shape import Shape

__all__ = [
    "AIR",
    "PRESSURE_FORCES",
    "VOLUMES",
    "Body",
    "Cloth",
    "MassDistribution",
    "Placed",
    "PressureForce",
    "SoftBody",
    "Springs",
    "VelocityDamping",
    "VolumeMethod",
    "rotation_matrix",
]

VolumeMethod = Literal["exact", "box", "ball", "ellipsoid", "monte-carlo", "subdivision"]
PressureForce = Literal["gradient", "vertex-normals", "vertex-normals-divided"]
MassDistribution = Literal["uniform", "area"]
VOLUMES: tuple[str, ...] = get_args(VolumeMethod)
PRESSURE_FORCES: tuple[str, ...] = get_args(PressureForce)
SPRINGS = Springs()
EMPTY: Gas | None = from_material(None)
SAMPLES = {"monte-carlo": 512, "subdivision": 16}  # points in the bounding box; columns per axis
AIR = ("drag_coefficient", "drag_tangential")  # the law of the air per area, which wind_drag replaces
SURFACE = ("friction", "restitution", "drag_coefficient")  # what a preset says beside its skin and its gas
EXTREMES = ("top", "bottom")  # pins of any shape: the extreme vertices along the vertical axis
EXTREME_TOLERANCE = 1e-6  # of the body's height: vertices meant to be level differ by round-off only


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


@described
@dataclass(frozen=True, kw_only=True, eq=False)
class Placed:
    """A shape with a name, put somewhere: what soft bodies, cloths and rigid bodies share."""

    OPEN: ClassVar[bool] = False  # whether a mesh that is given as its shape may be open

    shape: Annotated[Shape, "m", "from turgor.shapes"] = field(kw_only=False, repr=False)
    name: Annotated[str, "", "unique in the scene; empty: the scene gives one"] = ""
    at: Annotated[Vector, "m", "where the shape's origin is placed"] = ZERO
    rotation: Annotated[Rotation, "rad", "about the shape's origin: an angle in 2D, axis times angle in 3D"] = ZERO
    velocity: Annotated[Vector, "m/s", "of the whole body"] = ZERO

    def __post_init__(self) -> None:
        put(self, shape=self._as_shape())
        dim = self.shape.dim
        put(
            self,
            name=check_name("name", self.name),
            at=vector("at", self.at, dim),
            rotation=turn("rotation", self.rotation, dim),
            velocity=vector("velocity", self.velocity, dim),
        )

    def _as_shape(self) -> Shape:
        """The shape, also of a mesh file or a mesh of another library."""
        try:
            return as_shape(self.shape, cloth=self.OPEN)
        except MeshError as error:
            raise SceneError(str(error) if str(error).startswith("shape") else f"shape: {error}") from error

    @property
    def dim(self) -> int:
        """2 or 3."""
        return self.shape.dim

    @property
    def positions(self) -> npt.NDArray[np.float64]:
        """(n, dim) m: the vertices where the scene places them."""
        turned = self.shape.vertices
        if np.any(self.rotation):
            turned = turned @ rotation_matrix(self.rotation).T
        return np.asarray(turned + np.array(self.at))

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


@described
@dataclass(frozen=True, kw_only=True, eq=False)
class Body(Placed):
    """What soft bodies and cloths share."""

    mass: Annotated[float, "kg", "of the whole body"] = from_material(1.0)
    springs: Annotated[Springs, "N/m, N s/m", "along the edges of the shape"] = SPRINGS
    material: Annotated[Membrane | str | None, "Pa, m", "of the skin, instead of springs; or the name of a preset"] = (
        None
    )
    drag: Annotated[float, "1/s", "dv/dt = -drag v"] = 0.0
    velocity_damping: Annotated[VelocityDamping | None, "N/m, 1/s", "as in Martin 2009; None: off"] = None
    bending: Annotated[float, "N m/rad", "about the edge of two faces; 2D: between two edges"] = 0.0
    friction: Annotated[float | None, "", "Coulomb coefficient; None: the other's own"] = from_material(None)
    restitution: Annotated[float | None, "", "0..1; None: the other's own"] = from_material(None)
    drag_coefficient: Annotated[
        float, "", "C of the air's 1/2 density C area |u| u, u = wind - v, across the surface"
    ] = from_material(0.0)
    drag_tangential: Annotated[float, "", "the same along the surface: friction of the air"] = 0.0
    wind_drag: Annotated[float | None, "N s/m", "Matyka 2007's law instead, per point: factor of (u.n) n"] = None
    skin: Annotated[float | None, "m", "half thickness in contact; None: 5 % of the mean edge length"] = None
    self_contact: Annotated[bool, "", "whether it collides with itself too"] = True
    pins: Annotated[Vertices, "", 'fixed vertices: indices, a group of the shape, "top" or "bottom"'] = ()
    color: Annotated[Color | None, "", 'red, green, blue in 0..1, or "#rrggbb"; None: a viewer chooses'] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        put(self, material=checked_material(self.material))
        left_out = [name for name in self.implied if isinstance(getattr(self, name), FromMaterial)]
        put(self, **{name: self.implied[name] for name in left_out})
        put(
            self,
            mass=number("mass", self.mass, above=0.0),
            springs=instance("springs", self.springs, Springs),
            drag=number("drag", self.drag, low=0.0),
            bending=number("bending", self.bending, low=0.0),
            friction=None if self.friction is None else number("friction", self.friction, low=0.0),
            restitution=None if self.restitution is None else number("restitution", self.restitution, 0.0, 1.0),
            drag_coefficient=number("drag_coefficient", self.drag_coefficient, low=0.0),
            drag_tangential=number("drag_tangential", self.drag_tangential, low=0.0),
            wind_drag=None if self.wind_drag is None else number("wind_drag", self.wind_drag, low=0.0),
            skin=None if self.skin is None else number("skin", self.skin, above=0.0),
            self_contact=flag("self_contact", self.self_contact),
            pins=self.checked_vertices("pins", self.pins),
            color=color("color", self.color),
        )
        if self.velocity_damping is not None and self.membrane is not None:
            raise SceneError(
                "velocity_damping follows the stiffness of springs: use material.damping, or drag, instead"
            )
        if self.velocity_damping is not None:
            limit = instance("velocity_damping", self.velocity_damping, VelocityDamping).stiffness_max
            if self.springs.stiffness > limit:
                raise SceneError(
                    f"velocity_damping.stiffness_max ({limit!r}) must be >= springs.stiffness "
                    f"({self.springs.stiffness!r}): raise stiffness_max, or use springs.damping"
                )
        for entry in fields(self):
            default = self.implied.get(entry.name, entry.default)
            if self.wind_drag is not None and entry.name in AIR and getattr(self, entry.name) != default:
                raise SceneError(f"wind_drag is another law of the air than {entry.name}: leave one of them out")
        if self.material is not None and self.springs != SPRINGS:
            raise SceneError("a skin is of springs or of a material: leave out springs, or material")
        if self.material is not None and self.bending != 0.0:
            raise SceneError("bending is that of a body of springs: set material.rigidity (N m) instead")

    @property
    def membrane(self) -> Membrane | None:
        """What the skin is made of; None: springs."""
        preset = preset_of(self.material)
        return preset.membrane if preset is not None else self.material  # type: ignore[return-value]

    @functools.cached_property
    def implied(self) -> Mapping[str, Any]:
        """What follows from the material, by name of the field; without one, the values of a body of springs."""
        return self._from_material()

    def _from_material(self) -> dict[str, Any]:
        found = {entry.name: entry.default.plain for entry in fields(self) if isinstance(entry.default, FromMaterial)}
        membrane, preset = self.membrane, preset_of(self.material)
        if membrane is not None:
            found["mass"] = membrane.density * membrane.thickness * self.shape.area
        if preset is not None:
            found |= {name: getattr(preset, name) for name in SURFACE if name in found}
        return found

    def replaced(self, **changes: Any) -> Self:
        """A copy with fields changed. What followed from the material follows from the new one.

        A preset with a number changed is no preset any more: what it gave (gas, friction, ...) stays as it was.
        A material replaces springs.
        """
        following = {name for name, value in self.implied.items() if getattr(self, name) == value}
        material = changes.get("material", self.material)
        if isinstance(material, Membrane) and preset_of(self.material) is not None:
            following &= {"mass", "mass_distribution"}
        rest: dict[str, Any] = {name: FromMaterial(None) for name in following}
        if changes.get("gauge") is not None:
            rest["gas"] = FromMaterial(None)
        if changes.get("material") is not None:
            rest |= {"springs": SPRINGS, "bending": 0.0}
        return replace(self, **rest | changes)

    @property
    def air_drag(self) -> tuple[float, float]:
        """Coefficients of the air across and along the surface; zero where Matyka's law replaces them."""
        return (self.drag_coefficient, self.drag_tangential) if self.wind_drag is None else (0.0, 0.0)

    def checked_vertices(self, what: str, chosen: Any) -> Vertices:
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

    def chosen_vertices(self, chosen: Vertices) -> npt.NDArray[np.int32]:
        """(p,) sorted indices of checked vertices. A group of the shape wins over "top" and "bottom"."""
        if not isinstance(chosen, str):
            return np.array(chosen, dtype=np.int32)
        if chosen in self.shape.groups:
            return np.unique(np.asarray(self.shape.groups[chosen], dtype=np.int32))
        height = (self.shape.vertices @ rotation_matrix(self.rotation).T)[:, -1]
        slack = EXTREME_TOLERANCE * float(np.ptp(height))
        found = height >= height.max() - slack if chosen == "top" else height <= height.min() + slack
        return np.flatnonzero(found).astype(np.int32)


@described
@dataclass(frozen=True, kw_only=True, eq=False)
class SoftBody(Body):
    """A closed membrane of point masses and springs, or of a material, filled with gas (or empty)."""

    spin: Annotated[Rotation, "rad/s", "about the centre of mass"] = ZERO
    gas: Annotated[Gas | None, "Pa or J", "what fills it; None: nothing"] = EMPTY
    gauge: Annotated[
        float | None, "Pa", "above the atmosphere, once the skin holds it, of a body with a material: its gas"
    ] = None
    volume: Annotated[str, "", 'as measured: "exact", "box", "ball", "ellipsoid", "monte-carlo" or "subdivision"'] = (
        "exact"
    )
    samples: Annotated[int | None, "", '"monte-carlo": points (512 if None); "subdivision": columns per axis (16)'] = (
        None
    )
    pressure_force: Annotated[
        str, "", 'exact volume "gradient"; averaged "vertex-normals", or these "-divided" by the faces at a vertex'
    ] = "gradient"
    pressure_scaling: Annotated[bool, "", "scale by the vertex's share of springs, for uneven meshes"] = False
    mass_distribution: Annotated[str, "", 'over the vertices: "uniform", or by the "area" around each'] = from_material(
        "uniform"
    )
    settled: Annotated[bool, "", "start in the equilibrium of springs and gas, without a jump"] = False

    def __post_init__(self) -> None:
        if self.gauge is not None:
            put(self, gas=self._gas_of_gauge(), gauge=None)
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
            mass_distribution=choice("mass_distribution", self.mass_distribution, get_args(MassDistribution)),
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

    def _gas_of_gauge(self) -> Gas:
        if self.material is None:
            raise SceneError(
                "gauge is for bodies with a material: use gas=Gas.at(gauge=...), or { gauge = ... } in a file"
            )
        if self.gas is not None and not isinstance(self.gas, FromMaterial):
            raise SceneError("gauge is short for gas = { gauge = ... }: leave one of them out")
        return Gas.at(gauge=number("gauge", self.gauge), pressure_at="equilibrium")

    def _from_material(self) -> dict[str, Any]:
        found, preset = super()._from_material(), preset_of(self.material)
        if self.material is not None:
            found["mass_distribution"] = "area"
        if preset is not None:
            found["gas"] = preset.gas(self.shape)
        return found

    @property
    def sample_count(self) -> int:
        """`samples`, or its default for the chosen volume method; 0 where it has no meaning."""
        return self.samples if self.samples is not None else SAMPLES.get(self.volume, 0)


@described
@dataclass(frozen=True, kw_only=True, eq=False)
class Cloth(Body):
    """A sheet of point masses and springs, or of a material. 3D only."""

    OPEN: ClassVar[bool] = True
    mass: Annotated[float, "kg", "of the whole cloth"] = from_material(0.2)
    drag_coefficient: Annotated[
        float, "", "C of the air's 1/2 density C area |u| u, u = wind - v, across the surface"
    ] = 1.2
    drag_tangential: Annotated[float, "", "the same along the surface: friction of the air"] = 0.02
    pressure: Annotated[float, "Pa", "pushes along the normals of its faces: below minus above"] = 0.0
    texture: Annotated[str | None, "", "image file drawn on it"] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        put(self, pressure=number("pressure", self.pressure))
        if self.dim != 3:
            raise SceneError("shape must be a 3D sheet: there is no cloth in 2D")
        if self.shape.closed:
            raise SceneError("shape is closed, a cloth is an open sheet: use a sheet, or add it as a soft body")
        if self.texture is not None and not text("texture", self.texture):
            raise SceneError("texture must be the path of an image, got ''")
