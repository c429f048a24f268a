"""Meshes of other libraries as shapes: `trimesh.Trimesh` (or a Scene) and `pyvista.PolyData`; neither is imported.

They are known by what they have, so that a look-alike works too and nothing heavy is loaded to find out.
"""

from __future__ import annotations

import io
from typing import Any, Protocol, runtime_checkable

import numpy as np

from turgor.errors import MeshError
from turgor.shapes.given import GivenMesh
from turgor.shapes.paint import Material, joined
from turgor.shapes.shape import FloatArray
from turgor.shapes.textures import Color, cached

__all__ = ["MeshObject", "PolyMesh", "TriangleMesh", "is_mesh_object", "mesh_of"]


@runtime_checkable
class TriangleMesh(Protocol):
    """As `trimesh.Trimesh`: triangles."""

    @property
    def vertices(self) -> Any: ...
    @property
    def faces(self) -> Any: ...
    @property
    def visual(self) -> Any: ...


@runtime_checkable
class PolyMesh(Protocol):
    """As `pyvista.PolyData`: polygons."""

    @property
    def points(self) -> Any: ...
    @property
    def n_points(self) -> int: ...
    def triangulate(self) -> Any: ...


MeshObject = TriangleMesh | PolyMesh


def is_mesh_object(thing: Any) -> bool:
    """Whether it is a mesh of another library (a scene of trimesh too)."""
    return isinstance(thing, (TriangleMesh, PolyMesh)) or _is_scene(thing)


def mesh_of(thing: Any) -> GivenMesh:
    """Its triangles, texture coordinates and material, without those of points and lines."""
    if isinstance(thing, PolyMesh):
        return _of_polygons(thing)
    parts = [part for part in thing.dump() if isinstance(part, TriangleMesh)] if _is_scene(thing) else [thing]
    if not parts:
        raise MeshError("mesh: the scene has no triangle meshes; give it one")
    starts = np.cumsum([0] + [len(part.vertices) for part in parts[:-1]])
    return GivenMesh(
        np.concatenate([np.array(part.vertices, np.float64) for part in parts]),
        np.concatenate([np.array(part.faces, np.int64) + start for part, start in zip(parts, starts, strict=True)]),
        joined([_look(part) for part in parts]),
    )


def _is_scene(thing: Any) -> bool:
    return hasattr(thing, "geometry") and hasattr(thing, "graph") and callable(getattr(thing, "dump", None))


def _of_polygons(mesh: Any) -> GivenMesh:
    if not hasattr(mesh, "regular_faces"):
        raise MeshError(f"mesh: a {type(mesh).__name__} is not a surface; give its extract_surface()")
    cut = mesh.triangulate()
    if not cut.n_cells:
        raise MeshError(f"mesh: {cut.n_points:,} points but no faces; give a surface of triangles")
    faces, uv = np.array(cut.regular_faces, np.int64), cut.active_texture_coordinates
    corners = None if uv is None else np.array(uv, np.float64)[faces]
    return GivenMesh(np.array(cut.points, np.float64), faces, joined([(len(faces), corners, Material())]))


def _look(part: Any) -> tuple[int, FloatArray | None, Material]:
    """Number of faces, texture coordinates (m, 3, 2) and material of a mesh of trimesh."""
    uv, material = getattr(part.visual, "uv", None), getattr(part.visual, "material", None)
    corners = None
    if uv is not None and np.shape(uv) == (len(part.vertices), 2) and np.isfinite(uv).all():
        corners = np.asarray(uv, np.float64)[np.asarray(part.faces)]
    image = getattr(material, "baseColorTexture", None) or getattr(material, "image", None)
    if image is not None:
        content = io.BytesIO()
        image.save(content, "PNG")
        return len(part.faces), corners, Material(cached(content.getvalue(), ".png"))
    color = None
    if material is not None:
        color = getattr(material, "baseColorFactor", None)
        color = getattr(material, "diffuse", None) if color is None else color
    elif getattr(part.visual, "defined", False):
        color = part.visual.main_color
    return len(part.faces), corners, Material(None, None if color is None else _rgb(color))


def _rgb(color: Any) -> Color | None:
    """The colour of whole numbers in 0..255 that trimesh has; None for plain white, the default."""
    red, green, blue = (min(max(float(part) / 255.0, 0.0), 1.0) for part in np.asarray(color).ravel()[:3])
    return None if red == green == blue == 1.0 else (red, green, blue)
