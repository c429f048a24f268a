"""Rigid bodies of a scene, as plain frozen data. SI units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

import numpy as np

from turgor.errors import MeshError, SceneError
from turgor.scene.data import Placed
from turgor.scene.described import described
from turgor.scene.validate import ZERO, Color, Rotation, choice, color, number, put, turn
from turgor.shapes.mass import mass_properties

__all__ = ["COLLIDERS", "RIGID_KINDS", "ColliderKind", "RigidBody", "RigidKind"]

RigidKind = Literal["dynamic", "kinematic", "static"]
ColliderKind = Literal["auto", "hull", "sphere", "capsule", "mesh"]
RIGID_KINDS: tuple[str, ...] = get_args(RigidKind)
COLLIDERS: tuple[str, ...] = get_args(ColliderKind)
ROUND = {"icosphere": "sphere", "uv_sphere": "sphere", "circle": "sphere", "capsule": "capsule"}
ON_SPHERE = 1e-6  # of the radius: vertices further from the sphere of their recipe are not of that recipe


@described
@dataclass(frozen=True, kw_only=True, eq=False)
class RigidBody(Placed):
    """A solid of uniform density that does not change its shape.

    "dynamic": moved by forces; "kinematic": moved by its velocity and spin alone, whatever it meets; "static": at rest.
    """

    spin: Annotated[Rotation, "rad/s", "about the centre of mass"] = ZERO
    mass: Annotated[float, "kg", "has no effect on kinematic and static bodies"] = 1.0
    kind: Annotated[str, "", '"dynamic", "kinematic" or "static"'] = "dynamic"
    collider: Annotated[str, "", '"hull", "sphere", "capsule", "mesh"; "auto": the exact one, or the hull'] = "auto"
    friction: Annotated[float | None, "", "Coulomb coefficient; None: the other's own"] = 0.5
    restitution: Annotated[float | None, "", "0..1; None: the other's own"] = 0.1
    drag_coefficient: Annotated[
        float, "", "C of the air's 1/2 density C area |u| u, u = wind - v, across the surface"
    ] = 0.0
    drag_tangential: Annotated[float, "", "the same along the surface: friction of the air"] = 0.0
    skin: Annotated[float | None, "m", "half thickness in contact with soft bodies; None: 1 % of its extent"] = None
    color: Annotated[Color | None, "", 'red, green, blue in 0..1, or "#rrggbb"; None: a viewer chooses'] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        put(
            self,
            spin=turn("spin", self.spin, self.dim),
            mass=number("mass", self.mass, above=0.0),
            kind=choice("kind", self.kind, RIGID_KINDS),
            collider=choice("collider", self.collider, COLLIDERS),
            friction=None if self.friction is None else number("friction", self.friction, low=0.0),
            restitution=None if self.restitution is None else number("restitution", self.restitution, 0.0, 1.0),
            drag_coefficient=number("drag_coefficient", self.drag_coefficient, low=0.0),
            drag_tangential=number("drag_tangential", self.drag_tangential, low=0.0),
            skin=None if self.skin is None else number("skin", self.skin, above=0.0),
            color=color("color", self.color),
        )
        if self.kind == "static" and (np.any(self.velocity) or np.any(self.spin)):
            raise SceneError("a static body does not move: leave velocity and spin out, or use kind = 'kinematic'")
        self._check_collider()

    def _check_collider(self) -> None:
        found = self.round_kind
        if self.collider in ("sphere", "capsule") and found != self.collider:
            makers = "icosphere, uv_sphere or circle" if self.collider == "sphere" else "capsule"
            raise SceneError(
                f"collider = {self.collider!r} needs a shape made by turgor.shapes.{makers}: use collider = 'hull'"
            )
        kind = self.resolved_collider
        if not self.shape.closed and kind != "mesh":
            raise SceneError(f"shape is open and has no inside for collider = {kind!r}: use collider = 'mesh'")
        if kind == "mesh" and self.kind == "dynamic":
            reason = "shape is open" if not self.shape.closed else "collider = 'mesh' has no inside"
            raise SceneError(f"{reason}, so the body cannot be dynamic: use kind = 'static' or 'kinematic', or a hull")
        if self.shape.closed and kind in ("hull", "mesh"):
            try:
                mass_properties(self.shape, self.mass)  # refuses what encloses nothing, is inside out or crosses itself
            except MeshError as error:
                raise SceneError(f"shape: {error}") from error

    @property
    def air_drag(self) -> tuple[float, float]:
        """Coefficients of the air across and along the surface."""
        return self.drag_coefficient, self.drag_tangential

    @property
    def round_kind(self) -> str | None:
        """ "sphere" or "capsule", if the shape was made as one and still is; None for all others."""
        name = next(iter(self.shape.recipe), "")
        kind = ROUND.get(name)
        if kind is None:
            return None
        radius, height = self.radius, self.height
        axis = np.zeros_like(self.shape.vertices)
        if kind == "capsule":
            axis[:, -1] = np.clip(self.shape.vertices[:, -1], -0.5 * height, 0.5 * height)
        away = np.linalg.norm(self.shape.vertices - axis, axis=1)
        if np.abs(away - radius).max() > ON_SPHERE * radius:
            return None  # the vertices were changed after the shape was made
        return "sphere" if height == 0.0 else kind

    @property
    def radius(self) -> float:
        """m: of the recipe of a ball or capsule."""
        return float(self._recipe_arguments["radius"])

    @property
    def height(self) -> float:
        """m: between the centres of a capsule's half balls; 0 for a ball."""
        return float(self._recipe_arguments.get("height", 0.0))

    @property
    def _recipe_arguments(self) -> Any:
        return next(iter(self.shape.recipe.values()))

    @property
    def resolved_collider(self) -> str:
        """What "auto" means for this shape."""
        if self.collider != "auto":
            return self.collider
        return self.round_kind or ("hull" if self.shape.closed else "mesh")
