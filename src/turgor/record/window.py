"""The window in which 3D pictures are drawn with VTK, without a screen.

PyVista offers the same and takes a second to import: as long as forty pictures take to draw.
"""

from __future__ import annotations

import ctypes
import os
import sys
from typing import Any

import numpy as np
import numpy.typing as npt

from turgor.errors import SceneError
from turgor.record.drawn_mesh import Texture
from turgor.record.look import Color

__all__ = ["Window"]

FloatArray = npt.NDArray[np.float64]


class Window:
    """An off-screen window with lights, a camera, and the meshes that it shows."""

    def __init__(self, size: tuple[int, int]) -> None:
        _choose_window()
        import vtkmodules.vtkRenderingOpenGL2  # noqa: F401  (the classes that draw)
        from vtkmodules.vtkCommonCore import vtkUnsignedCharArray
        from vtkmodules.vtkRenderingCore import vtkRenderer, vtkRenderWindow

        self._window: Any = vtkRenderWindow()
        self._window.SetOffScreenRendering(1)
        self._window.SetMultiSamples(0)  # `antialias` smooths edges in a fraction of the time
        self._window.SetAlphaBitPlanes(1)
        self._window.SetSize(*size)
        self._renderer: Any = vtkRenderer()
        # Films are blended one over the other. Shadows have all one colour, so their order does not show; blending that
        # does not depend on the order takes three times as long.
        self._renderer.SetUseOIT(False)
        self._window.AddRenderer(self._renderer)
        self.camera: Any = self._renderer.GetActiveCamera()
        self._pixels: Any = vtkUnsignedCharArray()
        self._background: Color = (1.0, 1.0, 1.0)
        self._gradient = False

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels."""
        width, height = self._window.GetSize()
        return width, height

    @size.setter
    def size(self, size: tuple[int, int]) -> None:
        if size != self.size:
            self._window.SetSize(*size)

    def set_background(self, low: Color, high: Color | None = None) -> None:
        """One colour, or from low to high."""
        self._background, self._gradient = low, high is not None
        self._renderer.SetBackground2(high or low)

    def add_light(self, direction: FloatArray, strength: float, highlight: bool) -> None:
        """Parallel light that shines in a direction; highlight: it is seen in surfaces that shine."""
        from vtkmodules.vtkRenderingCore import vtkLight

        light = vtkLight()
        light.SetLightTypeToSceneLight()
        light.SetPosition(*-direction)
        light.SetFocalPoint(0.0, 0.0, 0.0)
        light.SetIntensity(strength)
        if not highlight:
            light.SetSpecularColor(0.0, 0.0, 0.0)
        self._renderer.AddLight(light)

    def add(
        self,
        data: Any,
        *,
        color: Color = (1.0, 1.0, 1.0),
        ambient: float = 0.0,
        diffuse: float = 1.0,
        highlight: tuple[float, float] = (0.0, 1.0),  # strength and sharpness
        lit: bool = True,
        cull: str = "",  # "front" or "back": the side of its cells that is not drawn
        texture: Texture | None = None,
        line_width: float = 1.0,  # pixels
    ) -> Any:
        """The actor of a mesh (VTK's data), lit by the normals of its points, or as flat cells if it has none."""
        from vtkmodules.vtkRenderingCore import vtkActor, vtkPolyDataMapper

        mapper = vtkPolyDataMapper()
        mapper.SetInputData(data)
        actor: Any = vtkActor()
        actor.SetMapper(mapper)
        surface = actor.GetProperty()
        surface.SetColor(*color)
        surface.SetLighting(lit)
        surface.SetAmbient(ambient)
        surface.SetDiffuse(diffuse)
        surface.SetSpecular(highlight[0])
        surface.SetSpecularPower(highlight[1])
        surface.SetLineWidth(line_width)
        surface.SetInterpolation(2 if data.GetPointData().GetNormals() else 0)  # Phong, flat
        surface.SetFrontfaceCulling(cull == "front")
        surface.SetBackfaceCulling(cull == "back")
        if texture is not None:
            actor.SetTexture(texture.data)
        self._renderer.AddActor(actor)
        return actor

    def render(self, background: bool = True) -> npt.NDArray[np.uint8]:
        """What the camera sees: (height, width, 4) red, green, blue, alpha.

        background=False: alpha is 0 where nothing is, and colours are multiplied by alpha.
        """
        from vtkmodules.util.numpy_support import vtk_to_numpy

        self._renderer.SetBackground(self._background if background else (0.0, 0.0, 0.0))
        self._renderer.SetBackgroundAlpha(float(background))
        self._renderer.SetGradientBackground(background and self._gradient)
        self._window.Render()
        width, height = self.size
        self._window.GetRGBACharPixelData(0, 0, width - 1, height - 1, 0, self._pixels)
        pixels = vtk_to_numpy(self._pixels)  # type: ignore[no-untyped-call]
        return np.asarray(pixels.reshape(height, width, 4)[::-1])

    def close(self) -> None:
        """Frees the graphics memory."""
        self._renderer.RemoveAllViewProps()
        self._window.Finalize()


def _choose_window() -> None:
    """Without a display VTK needs EGL or OSMesa, and crashes where it finds neither; SceneError says what to do."""
    if not sys.platform.startswith("linux") or os.environ.get("DISPLAY") or "VTK_DEFAULT_OPENGL_WINDOW" in os.environ:
        return
    for library, window in (("libEGL.so.1", "vtkEGLRenderWindow"), ("libOSMesa.so.8", "vtkOSOpenGLRenderWindow")):
        try:
            ctypes.CDLL(library)
        except OSError:
            continue
        os.environ["VTK_DEFAULT_OPENGL_WINDOW"] = window
        return
    raise SceneError(
        "3D pictures need OpenGL without a display; install it with: apt-get install libegl1 libgl1-mesa-dri"
    )
