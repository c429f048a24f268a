"""Worlds with numbers of their own: which scenes may be worlds of one simulation, and what each has instead.

All worlds of a simulation share topology, walls, settings and what the recorded frame does. Numbers that are an entry
per body or vertex and world may differ: gas, springs and materials, masses, friction, air, gravity, wind, place and
motion. A world gets exactly the numbers that a simulation of its scene alone would have.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import warp as wp

from turgor.errors import SceneError
from turgor.model.energy_scale import energy_scale
from turgor.model.parts import Part, placed_part
from turgor.model.rigid_state import RigidState
from turgor.model.rigids import Rigids
from turgor.scene.data import Body, SoftBody
from turgor.scene.rigid import RigidBody
from turgor.scene.scene import Scene
from turgor.shapes.shape import Shape

if TYPE_CHECKING:
    from turgor.model.model import Model

__all__ = ["Variants", "structure"]

FloatArray = npt.NDArray[np.float64]

MOVING = ("at", "rotation", "velocity", "spin", "mass")  # with the material: what a part is placed by
SOFT = frozenset({
    *MOVING, "springs", "material", "drag", "velocity_damping", "bending", "friction", "restitution",
    "drag_coefficient", "drag_tangential", "wind_drag", "gas", "gauge", "pressure", "color",
})  # fmt: skip
RIGID = frozenset({*MOVING, "friction", "restitution", "drag_coefficient", "drag_tangential", "color"})
NEAR = 32.0  # m: bodies that stay within this are far from where the model's anchor would leave the origin


def structure(scene: Scene) -> tuple[Any, ...]:
    """Equal for scenes that may be worlds of one simulation; cheap, and comparable in other processes too."""
    glued = {name for entry in scene.attachments for name in (entry.body, entry.rigid)}
    soft = [_soft(body, body.name in glued) for body in scene.bodies]
    rigid = [_rigid(body, body.name in glued) for body in scene.rigid_bodies]
    places = [body.at for body in (*scene.bodies, *scene.rigid_bodies)]
    far = places if any(abs(value) > NEAR for place in places for value in place) else None  # another anchor
    walls = [repr(wall) for wall in scene.walls]
    return scene.dim, repr(scene.simulation), repr(scene.attachments), repr(walls), repr(soft), repr(rigid), repr(far)


def _soft(body: Body, glued: bool) -> list[Any]:
    rest = [getattr(body, entry.name) for entry in fields(body) if entry.name not in (*SOFT, "shape")]
    membrane, gas = body.membrane, body.gas if isinstance(body, SoftBody) else None
    skin = None if membrane is None else (membrane.law, membrane.wrinkling, membrane.flexural_rigidity > 0.0)
    filling = None if gas is None else (gas.held, gas.pressure_at, gas.inflate > 0.0, gas.gravity_waits)
    air = [value > 0.0 for value in (*body.air_drag, body.wind_drag or 0.0)]
    tied = [getattr(body, name, None) for name in (*MOVING, "material")] if glued else None
    return [type(body).__name__, _digest(body.shape), rest, skin, filling, air, body.bending > 0.0, tied]


def _rigid(body: RigidBody, glued: bool) -> list[Any]:
    rest = [getattr(body, entry.name) for entry in fields(body) if entry.name not in (*RIGID, "shape")]
    tied = [getattr(body, name) for name in MOVING] if glued else None
    return [_digest(body.shape), rest, [value > 0.0 for value in body.air_drag], tied]


KNOWN: dict[int, tuple[Shape, str]] = {}  # digests of the latest shapes, which are held so that no id is used again
REMEMBERED = 64


def _digest(shape: Shape) -> str:
    found = KNOWN.get(id(shape))
    if found is None:
        content = b"".join(np.ascontiguousarray(rows).tobytes() for rows in (shape.vertices, shape.faces))
        springs = np.ascontiguousarray(shape.extra_springs).tobytes()
        found = shape, hashlib.sha256(content + b"|" + springs).hexdigest()
        for old in list(KNOWN)[: max(0, len(KNOWN) - REMEMBERED + 1)]:
            KNOWN.pop(old, None)
        KNOWN[id(shape)] = found
    return found[1]


class Variants:
    """The rows of all worlds, from a scene for each; a model takes them over."""

    def __init__(self, model: Model, scenes: Sequence[Scene]) -> None:
        self.scenes = list(scenes)
        wanted = structure(model.scene)
        for world, scene in enumerate(self.scenes):
            if structure(scene) != wanted:
                raise SceneError(
                    f"world {world} differs from the scene in more than numbers of its own (gas, springs, material, "
                    "mass, friction, air, gravity, wind, place and motion): give it a simulation of its own"
                )
        self.parts = [
            [_part(body, base, part) for body, base, part in zip(scene.bodies, model.bodies, model.parts, strict=True)]
            for scene in self.scenes
        ]
        self._vertices(model)
        self._rigid(model)

    def _vertices(self, model: Model) -> None:
        n, dim = model.numbers, model.numbers.dim
        masses = self._joined("masses")
        fixed = self._joined("pinned").astype(bool)
        fixed[:, model.glue.vertex_host] = True
        model.mass.assign(masses.ravel().astype(n.dtype))
        model.inverse_mass.assign(np.where(fixed, 0.0, 1.0 / masses).ravel().astype(n.dtype))
        model.air_share.assign(self._joined("air_share").ravel().astype(n.dtype))
        self.positions = self._joined("positions", dim) - model.anchor  # (worlds, vertices, dim) m
        self.velocities = self._joined("velocities", dim)  # m/s
        self.velocities[:, model.glue.vertex_host] = model.glue.velocities

    def _joined(self, name: str, *width: int) -> FloatArray:
        """(worlds, vertices, ...) of all parts."""
        empty = np.zeros((0, *width))
        return np.array([np.concatenate([*(getattr(part, name) for part in parts), empty]) for parts in self.parts])

    def _rigid(self, model: Model) -> None:
        """Rows of rigid bodies and of their state; none where all worlds have the same."""
        base = model.rigids.bodies
        moved = any(body is not same for s in self.scenes for body, same in zip(s.rigid_bodies, base, strict=True))
        self.rigid_state: dict[str, npt.NDArray[Any]] = {}
        if not moved:
            return
        host = wp.get_device("cpu")
        ones = [Rigids(scene, model.numbers, 1, host, model.glue) for scene in self.scenes]
        for name in Rigids.SAVED:
            getattr(model.rigids, name).assign(_stacked(ones, name))
        states = [RigidState(one, model.anchor) for one in ones]
        self.rigid_state = {name: _stacked(states, name) for name in ("x", "v", "q", "spin", "angular")}

    @property
    def temperatures(self) -> list[list[float | None]]:
        """(worlds, bodies) K, of the gas; None where there is none."""
        return [
            [body.gas.temperature if isinstance(body, SoftBody) and body.gas else None for body in scene.bodies]
            for scene in self.scenes
        ]

    @property
    def energy_scales(self) -> list[float]:
        """(worlds,) J."""
        return [energy_scale(scene) for scene in self.scenes]


def _part(body: Body, base: Body, part: Part) -> Part:
    """That of the base where nothing differs that it is made of."""
    if body is base:
        return part
    same = all(getattr(body, name, None) == getattr(base, name, None) for name in (*MOVING, "material"))
    return part if same else placed_part(body, part)


def _stacked(owners: Sequence[Any], name: str) -> npt.NDArray[Any]:
    return np.concatenate([getattr(owner, name).numpy() for owner in owners])
