"""The keywords of `Scene.add_soft_body` and its like, as editors and type checkers see them.

What each means is said at the fields of the data classes; here are the types that are accepted for them.
"""

from __future__ import annotations

from typing import TypedDict

from turgor.scene.data import MassDistribution, PressureForce, VolumeMethod
from turgor.scene.gas import Gas
from turgor.scene.material import Membrane
from turgor.scene.presets import Preset
from turgor.scene.rigid import ColliderKind, RigidKind
from turgor.scene.springs import Springs, VelocityDamping
from turgor.scene.validate import ColorLike, RotationLike, VectorLike, VerticesLike

__all__ = [
    "ClothOptions",
    "ContainerOptions",
    "GroundOptions",
    "PlacedOptions",
    "PlaneOptions",
    "RigidBodyOptions",
    "SoftBodyOptions",
]


class PlacedOptions(TypedDict, total=False):
    """Of `Placed`."""

    name: str
    at: VectorLike
    rotation: RotationLike
    velocity: VectorLike


class BodyOptions(PlacedOptions, total=False):
    """Of `Body`."""

    mass: float
    springs: Springs
    material: Membrane | Preset | str | None
    drag: float
    velocity_damping: VelocityDamping | None
    bending: float
    friction: float | None
    restitution: float | None
    drag_coefficient: float
    drag_tangential: float
    wind_drag: float | None
    skin: float | None
    self_contact: bool
    pins: VerticesLike
    color: ColorLike | None


class SoftBodyOptions(BodyOptions, total=False):
    """Of `SoftBody`."""

    spin: RotationLike
    gas: Gas | None
    gauge: float | None
    volume: VolumeMethod | str
    samples: int | None
    pressure_force: PressureForce | str
    pressure_scaling: bool
    mass_distribution: MassDistribution | str
    settled: bool


class ClothOptions(BodyOptions, total=False):
    """Of `Cloth`."""

    pressure: float
    texture: str | None


class RigidBodyOptions(PlacedOptions, total=False):
    """Of `RigidBody`."""

    spin: RotationLike
    mass: float
    kind: RigidKind | str
    collider: ColliderKind | str
    friction: float | None
    restitution: float | None
    drag_coefficient: float
    drag_tangential: float
    skin: float | None
    color: ColorLike | None


class GroundOptions(TypedDict, total=False):
    """Of `Ground`."""

    friction: float
    restitution: float
    name: str


class PlaneOptions(GroundOptions, total=False):
    """Of `Plane`."""

    velocity: VectorLike


class ContainerOptions(GroundOptions, total=False):
    """Of `Container`."""

    at: VectorLike
    rotation: RotationLike
    spin: RotationLike
