"""What surrounds the bodies in a 3D picture: window, lights, floor, container, shadows."""

from __future__ import annotations

import ctypes
import os
import sys
from typing import Any

import numpy as np
import numpy.typing as npt

from turgor.errors import SceneError
from turgor.output.frame import Frame, Layout, WallLayout, WallPose
from turgor.record import look as looks
from turgor.record.look import Look, Pixels
from turgor.record.shadow import LIGHT, PIXELS, SurfaceSamples, shadow_picture

__all__ = ["Floor", "Glass", "make_samples", "make_walls", "open_plotter", "read_pixels"]

FloatArray = npt.NDArray[np.float64]
LIFT = 0.002  # distance of a shadow from its plane, in scene radii


def open_plotter(look: Look) -> Any:
    """An off-screen window with a bright background and three soft lights."""
    _choose_window()
    import pyvista as pv

    plotter = pv.Plotter(off_screen=True, window_size=list(look.size), lighting="none")
    plotter.set_background(looks.SKY_BOTTOM, top=looks.SKY_TOP)
    plotter.render_window.SetMultiSamples(0)  # `antialias` smooths edges in a fraction of the time
    plotter.render_window.SetRenderBufferTargetDepthSize(32)
    for direction, strength in ((LIGHT, 0.60), (np.array([-0.9, 0.5, -0.35]), 0.20), (np.array([0.1, 1.0, 0.2]), 0.34)):
        light = pv.Light(position=-direction, focal_point=(0, 0, 0), intensity=strength, light_type="scene light")
        light.positional = False
        if direction is not LIGHT:
            light.SetSpecularColor(0.0, 0.0, 0.0)  # one highlight, of the key light
        plotter.add_light(light)
    return plotter


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


def read_pixels(plotter: Any) -> Pixels:
    """What the window shows, (height, width, 3)."""
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkRenderingCore import vtkWindowToImageFilter

    grab = vtkWindowToImageFilter()
    grab.SetInput(plotter.render_window)
    grab.SetInputBufferTypeToRGB()
    grab.ReadFrontBufferOff()
    grab.ShouldRerenderOff()
    grab.Update()
    image = grab.GetOutput()
    width, height, _ = image.GetDimensions()
    pixels = vtk_to_numpy(image.GetPointData().GetScalars())  # type: ignore[no-untyped-call]
    return np.array(pixels.reshape(height, width, 3)[::-1])


class _Shadow:
    """A dark film with the soft shadow in it, just above a plane."""

    def __init__(self, plotter: Any, radius: float) -> None:
        import pyvista as pv

        self._radius = radius
        self.corners = np.zeros((0, 3))  # m: of the rectangle in which it is seen
        self._rgba = np.zeros((PIXELS * PIXELS, 4), np.uint8)
        self._rgba[:, :3] = (24, 34, 52)
        self._image = pv.ImageData(dimensions=(PIXELS, PIXELS, 1))
        self._image.point_data["rgba"] = self._rgba
        self._quad = pv.PolyData(np.zeros((4, 3)), np.array([4, 0, 1, 2, 3]))
        self._quad.active_texture_coordinates = np.array([[0.0, 0], [1, 0], [1, 1], [0, 1]])
        texture = pv.Texture(self._image)
        texture.SetInterpolate(True)
        texture.SetRepeat(False)
        self._actor = plotter.add_mesh(self._quad, texture=texture, lighting=False, culling="back")
        self._actor.ForceTranslucentOn()
        self._actor.mapper.SetResolveCoincidentTopologyToPolygonOffset()
        self._actor.mapper.SetRelativeCoincidentTopologyPolygonOffsetParameters(-1.0, -1.0)

    def update(self, samples: FloatArray, origin: FloatArray, frame: FloatArray, extent: Any = None) -> None:
        made = shadow_picture(samples, origin, frame, self._radius, extent)
        self._actor.SetVisibility(made is not None)
        self.corners = np.zeros((0, 3))
        if made is None:
            return
        picture, (u0, u1, v0, v1) = made
        scalars = self._image.point_data["rgba"]
        scalars[:, 3] = picture.ravel()
        self._image.GetPointData().GetScalars().Modified()
        self._image.Modified()
        corners = np.array([[u0, v0], [u1, v0], [u1, v1], [u0, v1]])
        lift = origin + LIFT * self._radius * frame[2]
        self._quad.points = corners @ frame[:2] + lift
        rows, columns = (np.flatnonzero((picture > 0).any(axis=axis)) for axis in (1, 0))
        if len(rows):
            u, v = (
                a + (b - a) * np.array([n[0], n[-1] + 1]) / PIXELS for a, b, n in ((u0, u1, columns), (v0, v1, rows))
            )
            self.corners = np.array([[x, y] for x in u for y in v]) @ frame[:2] + lift

    def hide(self) -> None:
        self._actor.SetVisibility(False)


def _plane_frame(normal: FloatArray) -> FloatArray:
    """Rows u, v, n: right-handed, u along x where possible."""
    normal = normal / np.linalg.norm(normal)
    helper = np.array([1.0, 0, 0]) if abs(normal[0]) < 0.9 else np.array([0, 1.0, 0])
    v = np.cross(normal, helper)
    v /= np.linalg.norm(v)
    return np.stack([np.cross(v, normal), v, normal])


class Floor:
    """A wide plane: a faint checker that fades into the background, and the shadow of the bodies."""

    def __init__(self, plotter: Any, wall: WallLayout, pose: WallPose, middle: FloatArray, radius: float) -> None:
        import pyvista as pv

        self._normal = np.array(wall.normal)
        frame = _plane_frame(pose.rotation @ self._normal)
        foot = middle - ((middle - pose.position) @ frame[2]) * frame[2]
        reach = 9 * radius
        step = _round_length(0.7 * radius)
        corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * reach
        self._local = np.column_stack([corners + (foot - pose.position) @ frame[:2].T, np.zeros(4)]) @ frame
        self._quad = pv.PolyData(self._local, np.array([4, 0, 1, 2, 3]))
        self._quad.active_texture_coordinates = np.array([[0.0, 0], [1, 0], [1, 1], [0, 1]])
        texture = pv.Texture(_checker(reach, step, (foot - pose.position) @ frame[:2].T))
        texture.SetInterpolate(True)
        texture.SetMipmap(True)
        texture.SetMaximumAnisotropicFiltering(2)
        plotter.add_mesh(self._quad, texture=texture, lighting=False, culling="back")
        plotter.set_background(looks.SKY_TOP)  # the floor fades into it
        self._start = pose.rotation
        self._shadow = _Shadow(plotter, radius)

    def update(self, pose: WallPose, samples: FloatArray) -> None:
        turn = pose.rotation @ self._start.T
        self._quad.points = self._local @ turn.T + pose.position
        self._shadow.update(samples, pose.position, _plane_frame(pose.rotation @ self._normal))

    @property
    def corners(self) -> FloatArray:
        """(n, 3) m: around what moves, which is the shadow."""
        return self._shadow.corners

    def hide_moving(self) -> None:
        """Until the next update."""
        self._shadow.hide()


def _round_length(length: float) -> float:
    """1, 2 or 5 times a power of ten, near `length`."""
    power = 10.0 ** np.floor(np.log10(length))
    return float(power * min((1, 2, 5, 10), key=lambda part: abs(np.log(part * power / length))))


def _checker(reach: float, step: float, middle: FloatArray) -> Pixels:
    """The picture on the floor; tiles have the side `step`, and 0 is a corner of one."""
    size = 1024
    axis = (np.arange(size) + 0.5) / size * 2 - 1
    u, v = np.meshgrid(axis, axis)
    odd = (np.floor((u * reach + middle[0]) / step) + np.floor((v * reach + middle[1]) / step)) % 2
    distance = np.clip((np.hypot(u, v) - 0.12) / 0.88, 0, 1)[..., None]
    near = (1 - distance * distance * (3 - 2 * distance)) ** 1.5
    picture = near * np.where(odd[..., None] > 0, looks.FLOOR_DARK, looks.FLOOR) + (1 - near) * np.array(looks.SKY_TOP)
    return np.asarray(picture[::-1] * 255, np.uint8)


class Glass:
    """A container: its far walls, its edges, and the shadow on the wall that lies below."""

    def __init__(self, plotter: Any, wall: WallLayout, radius: float) -> None:
        import pyvista as pv
        from vtkmodules.vtkCommonMath import vtkMatrix4x4

        self._half = np.array(wall.size) / 2
        box = pv.Box(bounds=[s * h for h in self._half for s in (-1, 1)])
        edges = box.extract_all_edges().tube(radius=0.006 * radius, n_sides=8)
        self._matrix = vtkMatrix4x4()
        self._actors: list[Any] = []
        for mesh, style in (
            (box, {"color": looks.WALL, "culling": "front", "ambient": 0.9, "diffuse": 0.12}),
            (edges, {"color": looks.EDGE, "smooth_shading": True, "ambient": 0.4}),
        ):
            self._actors.append(plotter.add_mesh(mesh, **style))
            self._actors[-1].SetUserMatrix(self._matrix)
        self._shadow = _Shadow(plotter, radius)
        self._tube = 0.006 * radius
        self.corners = np.zeros((0, 3))  # m: around all of it

    def update(self, pose: WallPose, samples: FloatArray) -> None:
        for i in range(3):
            for j in range(3):
                self._matrix.SetElement(i, j, float(pose.rotation[i, j]))
            self._matrix.SetElement(i, 3, float(pose.position[i]))
        axis = int(np.argmax(np.abs(pose.rotation[2])))  # the pair of walls that is most level now
        up = np.sign(pose.rotation[2, axis])
        first, second = (axis + 1) % 3, (axis + 2) % 3
        if up < 0:
            first, second = second, first
        frame = np.stack([pose.rotation[:, first], pose.rotation[:, second], up * pose.rotation[:, axis]])
        extent = (-self._half[first], self._half[first], -self._half[second], self._half[second])
        self._shadow.update(samples, pose.position - self._half[axis] * frame[2], frame, extent)
        signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
        self.corners = signs * (self._half + 2 * self._tube) @ pose.rotation.T + pose.position
        for actor in self._actors:
            actor.SetVisibility(True)

    def hide_moving(self) -> None:
        """Until the next update."""
        self._shadow.hide()
        for actor in self._actors:
            actor.SetVisibility(False)


def make_walls(plotter: Any, layout: Layout, frame: Frame, middle: FloatArray, radius: float) -> list[Floor | Glass]:
    """One piece of scenery per wall, in the order of the layout."""
    return [
        Glass(plotter, wall, radius) if wall.kind == "container" else Floor(plotter, wall, pose, middle, radius)
        for wall, pose in zip(layout.walls, frame.walls, strict=True)
    ]


def make_samples(layout: Layout, positions: FloatArray) -> SurfaceSamples | None:
    """Points on all bodies, to cast shadows."""
    faces = [np.asarray(body.faces, np.int64) + body.start for body in layout.bodies]
    joined = np.concatenate([*faces, np.zeros((0, 3), np.int64)])
    return SurfaceSamples(positions, joined) if len(joined) else None
