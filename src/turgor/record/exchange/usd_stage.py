"""The few calls of OpenUSD (`pxr`) that the writer of scenes needs, with NumPy arrays on our side."""

from __future__ import annotations

import contextlib
import re
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from turgor.record.exchange.view import ASPECT, View

__all__ = ["UsdStage"]

FloatArray = npt.NDArray[np.float64]
LinearColor = tuple[float, float, float]
APERTURE = 24.0  # mm: height of the camera's picture, as of 35 mm film


def _vectors(rows: npt.ArrayLike) -> Any:
    from pxr import Vt

    return Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(rows, np.float32))


class UsdStage:
    """A stage with one root; things that are set belong to the time code `code`, or to all times while it is None."""

    def __init__(self, path: Path, scene: str, fps: float, up: str) -> None:
        from pxr import Sdf, Usd, UsdGeom

        self._path = path
        self.code: float | None = None
        self._last = 0.0
        self._names: set[str] = set()
        with _written():
            self.stage = Usd.Stage.CreateNew(str(path.absolute()))
        root = UsdGeom.Xform.Define(self.stage, "/scene")
        self.stage.SetDefaultPrim(root.GetPrim())
        self.stage.SetMetadata("comment", f"turgor: {scene}")
        UsdGeom.SetStageUpAxis(self.stage, UsdGeom.Tokens.z if up == "Z" else UsdGeom.Tokens.y)
        UsdGeom.SetStageMetersPerUnit(self.stage, 1.0)
        self.stage.SetTimeCodesPerSecond(fps)
        self.stage.SetFramesPerSecond(fps)
        self.stage.SetStartTimeCode(0.0)
        self.root = Sdf.Path("/scene")

    @property
    def time(self) -> Any:
        """What `Set` takes for now."""
        from pxr import Usd

        if self.code is None:
            return Usd.TimeCode.Default()
        self._last = max(self._last, self.code)
        return Usd.TimeCode(self.code)

    def node(self, name: str) -> _Node:
        """A new thing below the root; names that USD does not allow, or has, are changed."""
        from pxr import Tf

        word = base = Tf.MakeValidIdentifier("".join(c if c.isascii() else "_" for c in name))
        count = 1
        while word in self._names:
            count += 1
            word = f"{base}_{count}"
        self._names.add(word)
        return _Node(self, self.root.AppendChild(word), name)

    def camera(self, view: View) -> None:
        """One that stands still."""
        from pxr import Gf, UsdGeom

        self.code = None
        path = self.root.AppendChild("camera" if "camera" not in self._names else "camera_of_the_scene")
        camera = UsdGeom.Camera.Define(self.stage, path)
        matrix = np.eye(4)
        matrix[:3, :3], matrix[3, :3] = view.axes.T, view.eye  # USD multiplies rows
        camera.AddTransformOp().Set(Gf.Matrix4d(*matrix.ravel().tolist()))
        camera.CreateVerticalApertureAttr(APERTURE)
        camera.CreateHorizontalApertureAttr(APERTURE * ASPECT)
        camera.CreateFocalLengthAttr(APERTURE / 2 / float(np.tan(np.radians(view.angle / 2))))
        camera.CreateClippingRangeAttr(Gf.Vec2f(0.01 * view.distance, 20 * view.distance))
        camera.CreateFocusDistanceAttr(view.distance)

    def save(self) -> None:
        self.stage.SetEndTimeCode(self._last)
        with _written():
            self.stage.GetRootLayer().Save()

    def pack(self, path: Path) -> None:
        """All files of the stage in one, which is not compressed."""
        from pxr import Sdf, UsdUtils

        with _written():
            made = UsdUtils.CreateNewUsdzPackage(Sdf.AssetPath(str(self._path.absolute())), str(path.absolute()))
        if not made or not _is_whole(path):
            raise OSError("USD could not pack the scene, the disk may be full")


@contextlib.contextmanager
def _written() -> Iterator[None]:
    """What USD says about a file that it cannot write becomes an OSError."""
    from pxr import Tf

    try:
        yield
    except Tf.ErrorException as error:
        said = re.findall(r": '(.+)'", str(error))
        raise OSError(f"USD: {said[0] if said else error}") from None


def _is_whole(package: Path) -> bool:
    """Whether all of it is there: the packer does not notice that a disk is full."""
    try:
        with zipfile.ZipFile(package) as files:
            return files.testzip() is None
    except zipfile.BadZipFile:
        return False


class _Node:
    """A place and a rotation that other things are below."""

    def __init__(self, stage: UsdStage, path: Any, name: str) -> None:
        from pxr import UsdGeom

        self._stage, self._path = stage, path
        self._xform = UsdGeom.Xform.Define(stage.stage, path)
        self._xform.GetPrim().SetDisplayName(name)
        self._ops: tuple[Any, Any] | None = None
        self._before: tuple[Any, Any] = (None, None)  # the last pose
        self._held: float | None = None  # the last time code at which it stood still, which is not written yet

    def pose(self, place: FloatArray, quaternion: FloatArray) -> None:
        """place: m; quaternion: x, y, z, w. What stands still is said once, and again when it starts to move."""
        from pxr import Gf, UsdGeom

        if self._ops is None:
            double = UsdGeom.XformOp.PrecisionDouble
            self._ops = (self._xform.AddTranslateOp(double), self._xform.AddOrientOp(double))
        x, y, z, w = quaternion.tolist()
        values = (Gf.Vec3d(*place.tolist()), Gf.Quatd(w, x, y, z))
        time = self._stage.time
        if values == self._before:
            self._held = self._stage.code
            return
        for op, value, before in zip(self._ops, values, self._before, strict=True):
            if self._held is not None:
                op.Set(before, self._held)
            op.Set(value, time)
        self._before, self._held = values, None

    def mesh(self, faces: Sequence[Any] | npt.NDArray[np.int64], color: LinearColor, both_sides: bool) -> _Mesh:
        """faces: rows of vertices. It has the node's own name, since Blender calls the object after the mesh."""
        return _Mesh(self._stage, self._path.AppendChild(self._path.name), faces, color, both_sides)

    def wall(self, wall: Any, color: LinearColor, edge: LinearColor) -> None:
        """A `WallMesh`, with its edges as lines."""
        from pxr import Gf, UsdGeom, Vt

        self._stage.code = None
        if len(wall.faces):
            mesh = self.mesh(wall.faces, color, False)
            mesh.points(wall.points)
            mesh.normals(wall.normals, per_corner=False)
            mesh.material(color, 0.95, None)
        if len(wall.lines):
            curves = UsdGeom.BasisCurves.Define(self._stage.stage, self._path.AppendChild("edges"))
            curves.CreateTypeAttr(UsdGeom.Tokens.linear)
            points = _vectors(wall.points[wall.lines.ravel()])
            curves.CreatePointsAttr(points)
            curves.CreateCurveVertexCountsAttr([2] * len(wall.lines))
            width = 0.004 * float(np.linalg.norm(np.ptp(wall.points, axis=0)))
            curves.CreateWidthsAttr([width])
            curves.SetWidthsInterpolation(UsdGeom.Tokens.constant)
            curves.CreateExtentAttr(UsdGeom.Curves.ComputeExtent(points, Vt.FloatArray([width])))
            curves.CreateDisplayColorAttr([Gf.Vec3f(*edge)])


class _Mesh:
    """Polygons of vertices."""

    def __init__(self, stage: UsdStage, path: Any, faces: Any, color: LinearColor, both_sides: bool) -> None:
        from pxr import Gf, UsdGeom, Vt

        self._stage, self._path = stage, path
        self._mesh = mesh = UsdGeom.Mesh.Define(stage.stage, path)
        self._primvars = UsdGeom.PrimvarsAPI(mesh)
        mesh.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
        mesh.CreateDoubleSidedAttr(both_sides)
        mesh.CreateFaceVertexCountsAttr(Vt.IntArray.FromNumpy(np.array([len(face) for face in faces], np.int32)))
        corners = np.concatenate([np.asarray(face, np.int32) for face in faces] or [np.zeros(0, np.int32)])
        mesh.CreateFaceVertexIndicesAttr(Vt.IntArray.FromNumpy(corners))
        mesh.CreateDisplayColorAttr([Gf.Vec3f(*color)])
        self._points = mesh.CreatePointsAttr()
        self._velocities: Any = None
        self._extent, self._normals = mesh.CreateExtentAttr(), mesh.CreateNormalsAttr()

    def points(self, points: FloatArray, velocities: FloatArray | None = None) -> None:
        """(n, 3) m and m/s."""
        time = self._stage.time
        self._points.Set(_vectors(points), time)
        self._extent.Set(_vectors(np.stack([points.min(axis=0), points.max(axis=0)])), time)
        if velocities is not None:
            if self._velocities is None:
                self._velocities = self._mesh.CreateVelocitiesAttr()
            self._velocities.Set(_vectors(velocities), time)

    def normals(self, normals: FloatArray, per_corner: bool) -> None:
        """(n, 3) of the vertices, or of the corners of the faces."""
        from pxr import UsdGeom

        if not self._normals.HasAuthoredValue():
            self._mesh.SetNormalsInterpolation(UsdGeom.Tokens.faceVarying if per_corner else UsdGeom.Tokens.vertex)
        self._normals.Set(_vectors(normals), self._stage.time)

    def uv(self, uv: FloatArray, per_corner: bool) -> None:
        """(n, 2) texture coordinates, v up."""
        from pxr import Sdf, UsdGeom, Vt

        where = UsdGeom.Tokens.faceVarying if per_corner else UsdGeom.Tokens.vertex
        primvar = self._primvars.CreatePrimvar("st", Sdf.ValueTypeNames.TexCoord2fArray, where)
        primvar.Set(Vt.Vec2fArray.FromNumpy(np.ascontiguousarray(uv, np.float32)))

    def number(self, name: str, value: float) -> None:
        """One number of the whole body now."""
        from pxr import Sdf, UsdGeom

        primvar = self._primvars.CreatePrimvar(name, Sdf.ValueTypeNames.Double, UsdGeom.Tokens.constant)
        primvar.Set(value, self._stage.time)

    def face_field(self, name: str, values: FloatArray) -> None:
        """(faces,) or (faces, 2) numbers of the faces now."""
        from pxr import Sdf, UsdGeom, Vt

        two = values.ndim == 2
        kind = Sdf.ValueTypeNames.Float2Array if two else Sdf.ValueTypeNames.FloatArray
        array = (Vt.Vec2fArray if two else Vt.FloatArray).FromNumpy(np.ascontiguousarray(values, np.float32))
        self._primvars.CreatePrimvar(name, kind, UsdGeom.Tokens.uniform).Set(array, self._stage.time)

    def material(self, color: LinearColor, roughness: float, texture: str | None) -> None:
        """UsdPreviewSurface: a colour, or a picture (a path relative to the file)."""
        from pxr import Gf, Sdf, UsdShade

        stage, path = self._stage.stage, self._path.GetParentPath().AppendChild("material")
        material = UsdShade.Material.Define(stage, path)
        shader = UsdShade.Shader.Define(stage, path.AppendChild("surface"))
        shader.CreateIdAttr("UsdPreviewSurface")
        shader.CreateInput("roughness", Sdf.ValueTypeNames.Float).Set(roughness)
        diffuse = shader.CreateInput("diffuseColor", Sdf.ValueTypeNames.Color3f)
        diffuse.Set(Gf.Vec3f(*color))
        material.CreateSurfaceOutput().ConnectToSource(shader.ConnectableAPI(), "surface")
        if texture is not None:
            place = UsdShade.Shader.Define(stage, path.AppendChild("st"))
            place.CreateIdAttr("UsdPrimvarReader_float2")
            place.CreateInput("varname", Sdf.ValueTypeNames.String).Set("st")
            place.CreateOutput("result", Sdf.ValueTypeNames.Float2)
            picture = UsdShade.Shader.Define(stage, path.AppendChild("picture"))
            picture.CreateIdAttr("UsdUVTexture")
            picture.CreateInput("file", Sdf.ValueTypeNames.Asset).Set(Sdf.AssetPath(texture))
            picture.CreateInput("sourceColorSpace", Sdf.ValueTypeNames.Token).Set("sRGB")
            for wrap in ("wrapS", "wrapT"):
                picture.CreateInput(wrap, Sdf.ValueTypeNames.Token).Set("repeat")
            picture.CreateInput("st", Sdf.ValueTypeNames.Float2).ConnectToSource(place.ConnectableAPI(), "result")
            picture.CreateOutput("rgb", Sdf.ValueTypeNames.Float3)
            diffuse.ConnectToSource(picture.ConnectableAPI(), "rgb")
        UsdShade.MaterialBindingAPI.Apply(self._mesh.GetPrim()).Bind(material)
