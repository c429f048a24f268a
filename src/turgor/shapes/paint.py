"""What a mesh file says about the look of its faces, carried along while the mesh doctor treats them.

Texture coordinates belong to the corners of faces, not to vertices: the doctor welds the vertices of a seam, where each
face keeps its own coordinates. v points up in the image (as in OBJ; glTF's points down and is turned when it is read).
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from turgor.shapes.atlas import atlas
from turgor.shapes.shape import FloatArray, Shape
from turgor.shapes.textures import Color, palette
from turgor.shapes.topology import Flags, Integers

WHITE: Color = (1.0, 1.0, 1.0)  # of faces of which nothing is known

__all__ = ["Look", "Material", "Paint", "joined", "look_recipe"]


@dataclass(frozen=True)
class Material:
    """How faces look: an image, or a colour."""

    texture: str | None = None  # path of an image
    color: Color | None = None  # red, green, blue in 0..1


@dataclass(frozen=True)
class Look:
    """How a shape looks: the fields of that name of `Shape`, and what could not be kept."""

    corner_uv: FloatArray | None = None
    texture: str | None = None
    color: Color | None = None
    note: str | None = None  # a sentence


@dataclass(frozen=True)
class Paint:
    """Texture coordinates and materials of faces."""

    uv: FloatArray  # (m, 3, 2) of the corners; nan where the file has none
    material: Integers  # (m,) index in `materials`
    materials: tuple[Material, ...]

    @classmethod
    def of(cls, uv: npt.ArrayLike, texture: str | None = None, color: Color | None = None) -> Paint:
        """All faces of one material."""
        corners = np.array(uv, np.float64)
        return cls(corners, np.zeros(len(corners), np.int64), (Material(texture, color),))

    def taken(self, faces: Integers | Flags) -> Paint:
        """That of some faces."""
        return replace(self, uv=self.uv[faces], material=self.material[faces])

    def turned(self, over: Flags | bool) -> Paint:
        """For faces of which some (m,), or all, are turned over: their corners are then in the opposite order."""
        chosen = np.broadcast_to(over, len(self.uv))[:, None, None]
        return replace(self, uv=np.where(chosen, self.uv[:, ::-1], self.uv))

    def extended(self, uv: FloatArray, like: Integers) -> Paint:
        """With further faces, whose materials are those of the faces `like`."""
        return replace(
            self, uv=np.concatenate([self.uv, uv]), material=np.concatenate([self.material, self.material[like]])
        )

    def look(self) -> Look:
        """One image and one colour for all these faces.

        Faces of several plain colours are drawn with an image of these colours; several images are put into one
        (`atlas`). Where that cannot be, the image of most faces is kept; the others show one point of it.
        """
        used, number = np.unique(self.material, return_inverse=True)
        materials = [self.materials[index] for index in used]
        faces = np.bincount(number, minlength=len(used))
        images = sorted({entry.texture for entry in materials if entry.texture is not None})
        if not images:
            return self._colored(materials, number, faces)
        if len(set(materials)) > 1 and (packed := self._packed(materials, number)) is not None:
            return packed
        count = {
            image: sum(int(n) for n, m in zip(faces, materials, strict=True) if m.texture == image) for image in images
        }
        image = max(images, key=lambda name: count[name])
        shown = np.array([entry.texture == image for entry in materials])[number] & np.isfinite(self.uv).all(
            axis=(1, 2)
        )
        if not shown.any():
            return Look(note=f"the texture {image} is not kept: the file has no texture coordinates")
        uv = np.where(shown[:, None, None], self.uv, self.uv[np.argmax(shown), 0])
        left = int((~shown).sum())
        note = None
        if left:
            more = f"of {len(images)} textures one is kept" if len(images) > 1 else "not all faces have the texture"
            note = f"{more}: {left:,} of {len(uv):,} faces show a single point of it{_remedy()}"
        return Look(uv, image, None, note)

    def _packed(self, materials: Sequence[Material], number: Integers) -> Look | None:
        """With an image of all images and colours. Faces without coordinates show the middle of their image."""
        looks = list(dict.fromkeys(entry.texture or entry.color or WHITE for entry in materials))
        which = np.array([looks.index(entry.texture or entry.color or WHITE) for entry in materials])[number]
        known = np.isfinite(self.uv).all(axis=(1, 2)) & np.array([isinstance(look, str) for look in looks])[which]
        if not known.any():
            return None
        made = atlas(looks, which, np.where(known[:, None, None], self.uv, 0.5))
        return None if made is None else Look(made[1], made[0])

    def _colored(self, materials: Sequence[Material], number: Integers, faces: Integers) -> Look:
        """Without an image."""
        known = np.isfinite(self.uv).all()
        colors = list(dict.fromkeys(entry.color for entry in materials if entry.color is not None))
        if len(colors) < 2:
            return Look(self.uv if known else None, None, colors[0] if colors else None)
        most = materials[int(np.argmax(faces))].color or colors[0]
        image, place = palette(colors)
        place_of = np.array([place[colors.index(entry.color or most)] for entry in materials])
        return Look(np.repeat(place_of[number][:, None], 3, axis=1), image, None)


def _remedy() -> str:
    """What to do where several images could not be put into one."""
    there = importlib.util.find_spec("PIL") is not None
    return "" if there else "; to put them into one image: pip install 'turgor[render]'"


def joined(parts: Sequence[tuple[int, FloatArray | None, Material]]) -> Paint | None:
    """The paint of several pieces of a file, (faces, uv (m, 3, 2), material) of each; None where there is none."""
    if all(uv is None and material == Material() for _, uv, material in parts):
        return None
    materials = list(dict.fromkeys(material for *_, material in parts))
    return Paint(
        np.concatenate([np.full((count, 3, 2), np.nan) if uv is None else uv for count, uv, _ in parts]),
        np.concatenate([np.full(count, materials.index(material)) for count, _, material in parts]).astype(np.int64),
        tuple(materials),
    )


def look_recipe(shape: Shape) -> dict[str, Any]:
    """What a recipe with the arrays of a mesh says about its look: arguments of `shapes.mesh`."""
    look: dict[str, Any] = {}
    if shape.corner_uv is not None:
        look["corner_uv"] = shape.corner_uv.tolist()
    if shape.texture is not None:
        look["texture"] = shape.texture
    if shape.color is not None:
        look["color"] = list(shape.color)
    return look
