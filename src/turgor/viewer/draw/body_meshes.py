"""The meshes that a body is drawn with: triangles between points of the skin, which follows the vertices.

A solid has one mesh, whose points are doubled at sharp edges, so that they stay sharp under smooth shading. A 2D
body is filled. viser streams plain meshes of one colour only, so a picture on a cloth is painted into its faces: one
mesh per colour of the picture.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from turgor.errors import SceneError
from turgor.output.frame import BodyLayout
from turgor.record.geometry import loops
from turgor.record.look import flag_texture
from turgor.record.skin import DrawnBody

__all__ = ["DrawnMesh", "joined", "meshes_of"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Color = tuple[float, float, float]

PAINTED_FACES = 6000  # a cloth with a picture is divided into about this many faces
PAINTED_COLORS = 12  # colours that a picture is reduced to


@dataclass(frozen=True)
class DrawnMesh:
    """Triangles of one colour; each of their points is one of the skin, or a weighted mean of three."""

    color: Color
    faces: IntArray  # (m, 3)
    vertices: IntArray  # (n,), or (n, 3) with weights; counted over the whole skin, which begins with the vertices
    weights: FloatArray | None = None  # (n, 3)
    double: bool = False  # seen from both sides

    def points(self, skin: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.float32]:
        """(n, 3) m, from the (upright) points of the skin."""
        if self.weights is None:
            return np.asarray(skin[self.vertices], np.float32)
        return np.asarray(np.einsum("nk,nkj->nj", self.weights, skin[self.vertices]), np.float32)


def meshes_of(
    body: BodyLayout,
    drawn: DrawnBody,
    skin: npt.NDArray[np.floating[Any]],
    uv: FloatArray | None,
    color: Color,
    texture: str | None = None,
) -> list[DrawnMesh]:
    """The meshes of a body; skin: points (count, dim) of all bodies when it is first drawn, uv: (count, 2) of these."""
    if skin.shape[1] == 2:
        return [DrawnMesh(color, *_filled(drawn.points[drawn.faces], skin), double=True)]
    if body.kind == "cloth" and uv is not None and texture != "none":
        return _painted(drawn, uv, color, texture)
    return [DrawnMesh(color, drawn.faces, drawn.points, double=body.kind == "cloth")]


def joined(meshes: Sequence[DrawnMesh]) -> DrawnMesh:
    """Meshes of one colour as one, for scenes of many bodies."""
    starts = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes)])
    faces = np.concatenate([mesh.faces + start for mesh, start in zip(meshes, starts, strict=False)])
    return DrawnMesh(
        meshes[0].color, faces, np.concatenate([mesh.vertices for mesh in meshes]), double=meshes[0].double
    )


def _filled(segments: npt.NDArray[np.integer], points: npt.NDArray[np.floating[Any]]) -> tuple[IntArray, IntArray]:
    """((m, 3) triangles, (n,) points that their corners are) within outlines; a fan where one crosses itself."""
    import shapely

    triangles: list[Any] = []
    for loop in loops(segments)[0]:
        polygon = shapely.Polygon(points[loop])
        if not polygon.is_valid:
            triangles += [(loop[0], loop[k], loop[k + 1]) for k in range(1, len(loop) - 1)]
            continue
        index = {tuple(points[k]): k for k in loop.tolist()}
        for piece in shapely.constrained_delaunay_triangles(polygon).geoms:
            corners = [index[tuple(corner)] for corner in shapely.get_coordinates(piece)[:3]]
            triangles.append(corners)
    kept, faces = np.unique(np.array(triangles, np.int64).reshape(-1, 3), return_inverse=True)
    return faces.reshape(-1, 3), kept


def _painted(drawn: DrawnBody, skin_uv: FloatArray, color: Color, texture: str | None) -> list[DrawnMesh]:
    """One mesh per colour of the picture on a cloth."""
    corners, weights, faces = _divided(drawn.points[drawn.faces], 1 if texture is None else PAINTED_FACES)
    uv = np.einsum("nk,nkj->nj", weights, skin_uv[corners])
    picture, palette = _reduced(color, texture)
    across, up = (_cell_middles(uv[:, axis], uv[faces].mean(axis=1)[:, axis]) for axis in (0, 1))
    rows, columns = picture.shape
    shade = picture[((1.0 - up) * (rows - 1)).round().astype(int), (across * (columns - 1)).round().astype(int)]
    meshes = []
    for index in np.unique(shade).tolist():
        mine = faces[shade == index]
        kept, local = np.unique(mine, return_inverse=True)
        meshes.append(DrawnMesh(palette[index], local.reshape(-1, 3), corners[kept], weights[kept], double=True))
    return meshes


def _cell_middles(lines: FloatArray, values: FloatArray) -> FloatArray:
    """Values (0..1) moved to the middle of their cell of the grid, so that both halves of a cell are painted alike."""
    grid = np.unique(np.round(lines, 6))
    cell = np.clip(np.searchsorted(grid, values) - 1, 0, max(len(grid) - 2, 0))
    return np.clip((grid[cell] + grid[np.minimum(cell + 1, len(grid) - 1)]) / 2, 0.0, 1.0)


def _divided(faces: IntArray, wanted: int) -> tuple[IntArray, FloatArray, IntArray]:
    """Each face cut into 4, 16, ... as long as there are at most `wanted`.

    (corners (n, 3), weights (n, 3), faces (m, 3)): a point is the weighted mean of its three corners.
    """
    count = len(faces)
    corners = np.repeat(faces, 3, axis=0)
    weights = np.tile(np.eye(3), (count, 1))
    split = np.arange(3 * count).reshape(-1, 3)
    while 4 * len(split) <= wanted:
        a, b, c = split.T
        start = len(corners)
        middles = [(weights[p] + weights[q]) / 2 for p, q in ((a, b), (b, c), (c, a))]
        corners = np.concatenate([corners, corners[a], corners[a], corners[a]])
        weights = np.concatenate([weights, *middles])
        ab, bc, ca = (start + k * len(split) + np.arange(len(split)) for k in range(3))
        split = np.concatenate([np.stack(t, axis=1) for t in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))])
    return _merged(corners, weights, split)


def _merged(corners: IntArray, weights: FloatArray, faces: IntArray) -> tuple[IntArray, FloatArray, IntArray]:
    """Points that are the same mean of the same vertices become one, so that shading is smooth across faces."""
    order = np.argsort(corners + np.where(weights > 0, 0, corners.max() + 1), axis=1)  # unused corners last
    corners, weights = np.take_along_axis(corners, order, 1), np.take_along_axis(weights, order, 1)
    corners = np.where(weights > 0, corners, corners[:, :1])
    key = np.concatenate([corners.astype(float), np.round(weights, 9)], axis=1)
    _, first, index = np.unique(key, axis=0, return_index=True, return_inverse=True)
    return corners[first], weights[first], index.reshape(-1)[faces]


@cache
def _reduced(color: Color, texture: str | None) -> tuple[npt.NDArray[np.int64], list[Color]]:
    """The picture as indices into a short palette."""
    from PIL import Image

    if texture is None:
        image = Image.fromarray(flag_texture(color)[8::16, 8::16])  # without the weave
    else:
        if not Path(texture).is_file():
            raise SceneError(f"texture {texture}: there is no such file; give a picture file")
        try:
            image = Image.open(texture).convert("RGB")
        except (OSError, ValueError) as error:
            raise SceneError(f"texture {texture}: not a picture that can be read ({error})") from None
        image.thumbnail((512, 512))
    small = image.quantize(PAINTED_COLORS)
    table = np.array(small.getpalette() or [0, 0, 0]).reshape(-1, 3) / 255.0
    return np.asarray(small, np.int64), [tuple(row) for row in table.tolist()]
