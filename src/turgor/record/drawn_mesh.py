"""Meshes and textures that VTK draws; their numbers are changed in place, in VTK's own memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["SQUARE", "DrawnMesh", "Texture", "tubes"]

#: Texture coordinates of the corners of a rectangle, counter-clockwise
SQUARE = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])


class DrawnMesh:
    """Cells (m, k) with k corners each, on points (n, 3): triangles, rectangles, or lines (k = 2).

    normals, colors: whether its points have some, which `update` sets; uv: their texture coordinates (n, 2).
    """

    def __init__(
        self,
        points: npt.ArrayLike,
        cells: npt.ArrayLike,
        *,
        normals: bool = False,
        colors: bool = False,
        uv: npt.ArrayLike | None = None,
    ) -> None:
        from vtkmodules.util.numpy_support import numpy_to_vtkIdTypeArray
        from vtkmodules.vtkCommonCore import vtkPoints
        from vtkmodules.vtkCommonDataModel import vtkCellArray, vtkPolyData

        own, corners = np.asarray(points, np.float32), np.asarray(cells, np.int64)
        self.data: Any = vtkPolyData()
        self._points = _Array(own)
        self._normals = _Array(np.zeros_like(own)) if normals else None
        self._colors = _Array(np.zeros((len(own), 3), np.uint8)) if colors else None
        place = vtkPoints()
        place.SetData(self._points.data)
        self.data.SetPoints(place)
        kept = vtkCellArray()
        kept.SetData(corners.shape[1], numpy_to_vtkIdTypeArray(corners.ravel(), deep=True))  # type: ignore[no-untyped-call]
        (self.data.SetLines if corners.shape[1] == 2 else self.data.SetPolys)(kept)
        fields = self.data.GetPointData()
        if self._normals is not None:
            fields.SetNormals(self._normals.data)
        if self._colors is not None:
            fields.SetScalars(self._colors.data)
        if uv is not None:
            fields.SetTCoords(_Array(np.asarray(uv, np.float32)).data)

    def update(
        self, points: npt.ArrayLike, normals: npt.ArrayLike | None = None, colors: npt.ArrayLike | None = None
    ) -> None:
        """points (n, 3) in metres, normals (n, 3), colors (n, 3) 0..255."""
        self._points.set(points)
        if self._normals is not None and normals is not None:
            self._normals.set(normals)
        if self._colors is not None and colors is not None:
            self._colors.set(colors)


class Texture:
    """A picture (height, width, 3 or 4) that is drawn on a mesh; `update` sets its alpha."""

    def __init__(self, picture: npt.NDArray[np.uint8], *, repeat: bool = True, mipmap: bool = True) -> None:
        from vtkmodules.vtkCommonDataModel import vtkImageData
        from vtkmodules.vtkRenderingCore import vtkTexture

        height, width, parts = picture.shape
        self._pixels = _Array(picture[::-1].reshape(-1, parts))  # the first row of a texture is the lowest
        self._image: Any = vtkImageData()
        self._image.SetDimensions(width, height, 1)
        self._image.GetPointData().SetScalars(self._pixels.data)
        self.data: Any = vtkTexture()
        self.data.SetInputData(self._image)
        self.data.SetColorModeToDirectScalars()
        self.data.SetInterpolate(True)
        self.data.SetRepeat(repeat)
        self.data.SetMipmap(mipmap)

    def update(self, alpha: npt.NDArray[np.uint8]) -> None:
        """alpha: (height, width), its first row is the lowest."""
        self._pixels.values[:, 3] = alpha.ravel()
        self._pixels.data.Modified()
        self._image.Modified()


class _Array:
    """An array of VTK, and a view of its memory."""

    def __init__(self, values: npt.NDArray[Any]) -> None:
        from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy

        self.data: Any = numpy_to_vtk(np.ascontiguousarray(values), deep=True)  # type: ignore[no-untyped-call]
        self.values: npt.NDArray[Any] = vtk_to_numpy(self.data)  # type: ignore[no-untyped-call]

    def set(self, values: npt.ArrayLike) -> None:
        self.values[:] = values
        self.data.Modified()


def tubes(points: npt.ArrayLike, lines: npt.ArrayLike, radius: float, sides: int) -> Any:
    """VTK's data of round bars along lines (m, 2) between points (n, 3)."""
    from vtkmodules.vtkFiltersCore import vtkTubeFilter

    around = vtkTubeFilter()
    around.SetInputData(DrawnMesh(points, lines).data)
    around.SetRadius(radius)
    around.SetNumberOfSides(sides)
    around.CappingOn()
    around.Update()
    return around.GetOutput()
