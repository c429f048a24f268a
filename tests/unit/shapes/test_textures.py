"""Texture coordinates, images and colours of mesh files, through the mesh doctor and through simplification.

The mesh is a ball with longitude and latitude as coordinates: they are known in closed form at every point of it, and
jump by one at a seam from pole to pole.
"""

from __future__ import annotations

import numpy as np
import pytest
import trimesh
from PIL import Image

import turgor
from turgor import MeshError, SceneError, shapes

pytestmark = pytest.mark.req("X5")

ROWS, COLUMNS = 16, 24


def ball():
    """Vertices, faces and coordinates (n, 2); vertices on the seam and at the poles are there several times."""
    i, j = (index.ravel() for index in np.mgrid[: ROWS + 1, : COLUMNS + 1])
    polar, turn = np.pi * i / ROWS, 2 * np.pi * j / COLUMNS
    points = np.stack([np.sin(polar) * np.cos(turn), np.sin(polar) * np.sin(turn), np.cos(polar)], axis=1)
    k = (np.arange(ROWS)[:, None] * (COLUMNS + 1) + np.arange(COLUMNS)).ravel()
    below = k + COLUMNS + 1
    upper, lower = np.stack([k, below, k + 1], axis=1), np.stack([k + 1, below, below + 1], axis=1)
    faces = np.concatenate([upper[COLUMNS:], lower[:-COLUMNS]])
    return points, faces, np.stack([j / COLUMNS, 1 - i / ROWS], axis=1)


def checker():
    y, x = np.mgrid[:64, :64]
    return Image.fromarray(np.where(((x // 8 + y // 8) % 2)[..., None], 255, (200, 40, 20)).astype(np.uint8))


@pytest.fixture(autouse=True)
def _cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TURGOR_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def textured():
    points, faces, uv = ball()
    material = trimesh.visual.material.PBRMaterial(baseColorTexture=checker())
    return trimesh.Trimesh(points, faces, process=False, visual=trimesh.visual.TextureVisuals(uv, material=material))


def errors(shape):
    """How far coordinates are from longitude (times the sine of the polar angle) and latitude, in turns."""
    p = shape.vertices[shape.faces]
    polar = np.arccos(np.clip(p[..., 2] / np.linalg.norm(p, axis=-1), -1.0, 1.0))
    off = shape.corner_uv[..., 0] - np.arctan2(p[..., 1], p[..., 0]) / (2 * np.pi)
    return np.abs(off - np.round(off)) * np.sin(polar), np.abs(shape.corner_uv[..., 1] - (1 - polar / np.pi))


def edges_in_turns(shape):
    """(m,) the longest side of each face in the texture and in space, in turns around the ball."""
    uv, p = (np.asarray(table) for table in (shape.corner_uv, shape.vertices[shape.faces]))
    wide = np.abs(uv - np.roll(uv, 1, axis=1))[..., 0].max(axis=1) * np.linalg.norm(p[..., :2], axis=2).min(axis=1)
    return wide, np.linalg.norm(p - np.roll(p, 1, axis=1), axis=2).max(axis=1) / (2 * np.pi)


@pytest.mark.parametrize("ending", ["glb", "obj", "ply"])
def test_a_file_keeps_its_coordinates_and_its_image(tmp_path, textured, ending):
    if ending == "obj":
        textured.visual = trimesh.visual.TextureVisuals(textured.visual.uv, image=checker())
    textured.export(tmp_path / f"ball.{ending}")
    shape = shapes.load(tmp_path / f"ball.{ending}")
    assert len(shape.vertices) == (ROWS - 1) * COLUMNS + 2  # seam and poles are welded
    along, up = errors(shape)
    assert along.max() < 1e-6
    assert up.max() < 1e-6
    if ending != "ply":  # trimesh names no image in a PLY
        with Image.open(shape.texture) as image:
            assert np.array_equal(np.asarray(image.convert("RGB")), np.asarray(checker()))


def test_simplified_faces_keep_to_one_side_of_the_seam(tmp_path, textured):
    textured.export(tmp_path / "ball.glb")
    shape = shapes.load(tmp_path / "ball.glb", vertices=120)
    assert len(shape.vertices) <= 120
    along, up = errors(shape)
    edge = 2.0 / ROWS  # of the simplified ball, in half turns: beyond a seam coordinates go on straight over that
    assert np.median(along) < 0.1 * edge
    assert np.median(up) < 0.1 * edge
    assert along.max() < 0.5 * edge
    assert up.max() < 0.6 * edge
    wide, long = edges_in_turns(shape)
    assert (wide < 1.6 * long).all()  # one that reaches across the seam is as wide as the image


def test_closed_holes_union_and_turned_faces(textured):
    points, faces, uv = ball()
    turned = faces[:, ::-1].copy()  # inside out
    inside_out = shapes.mesh(points, turned, corner_uv=uv[turned], texture="a.png")
    assert max(part.max() for part in errors(inside_out)) < 1e-12
    open_ball = trimesh.Trimesh(points, faces[COLUMNS:], process=False, visual=textured.visual)
    report = shapes.check(open_ball, close_holes=True)
    assert report.ok
    assert any("close holes have no texture" in note for note in report.notes)
    assert np.isfinite(report.shapes[0].corner_uv).all()


def test_several_plain_colours_become_an_image_of_them():
    parts = [trimesh.creation.box(), trimesh.creation.box()]
    red, blue = ((255, 0, 0, 255), (0, 0, 255, 255))
    halves = []
    for part, color, rows in zip(parts, (red, blue), (slice(0, 6), slice(6, 12)), strict=True):
        half = trimesh.Trimesh(part.vertices, part.faces[rows], process=False)
        half.visual = trimesh.visual.TextureVisuals(material=trimesh.visual.material.PBRMaterial(baseColorFactor=color))
        halves.append(half)
    shape = shapes.as_shape(trimesh.Scene(halves))
    with Image.open(shape.texture) as image:
        pixels = np.asarray(image)
    place = (shape.corner_uv[:, 0] * (pixels.shape[1], pixels.shape[0])).astype(int)
    shown = {tuple(int(c) for c in pixels[v, u]) for u, v in place}
    assert shown == {red[:3], blue[:3]}
    one = shapes.as_shape(trimesh.Trimesh(parts[0].vertices, parts[0].faces, face_colors=red))
    assert one.color == (1.0, 0.0, 0.0)


def test_a_missing_image_is_said_and_the_mesh_is_there(tmp_path, textured):
    textured.visual = trimesh.visual.TextureVisuals(textured.visual.uv, image=checker())
    textured.export(tmp_path / "ball.obj")
    next(tmp_path.glob("*.png")).unlink()
    report = shapes.check(tmp_path / "ball.obj")
    assert report.ok
    assert report.shapes[0].texture is None
    assert "is not there" in str(report)


def test_meshes_of_trimesh_and_pyvista_and_files_are_shapes(tmp_path, textured):
    pv = pytest.importorskip("pyvista", reason="PyVista is not installed")
    textured.export(tmp_path / "ball.glb")
    scene = turgor.Scene()
    scene.add_soft_body(textured, name="a")
    scene.add_soft_body(shape=pv.Cube().triangulate(), name="b")
    scene.add_rigid_body(tmp_path / "ball.glb", name="c")
    scene.add_cloth(pv.Plane(i_resolution=2, j_resolution=2), name="d")
    assert scene["b"].shape.volume == pytest.approx(1.0)
    again = turgor.Scene.from_toml(scene.to_toml())
    assert np.allclose(again["a"].shape.corner_uv, scene["a"].shape.corner_uv)
    assert again["c"].shape.texture == scene["c"].shape.texture
    with pytest.raises(SceneError, match="shape must be a turgor Shape"):
        scene.add_soft_body(3.0)
    with pytest.raises(SceneError, match="no such file"):
        scene.add_soft_body("missing.obj")
    with pytest.raises(MeshError, match="corner_uv"):
        shapes.mesh(*ball()[:2], corner_uv=[[0, 0]])


def test_layouts_and_saved_simulations_have_the_texture(tmp_path, textured):
    scene = turgor.Scene()
    scene.add_rigid_body(textured, name="painted")
    scene.add_rigid_body(textured, name="green", color="#00ff00", at=(3, 0, 0))
    sim = turgor.Simulation(scene)
    painted, green = sim.layout.bodies
    assert painted.corner_uv.shape == (len(painted.faces), 3, 2)
    assert painted.texture is not None
    assert green.texture is None
    assert green.color == (0.0, 1.0, 0.0)
    sim.save(tmp_path / "state.npz")
    again = turgor.Simulation.load(tmp_path / "state.npz").layout.bodies[0]
    assert np.array_equal(again.corner_uv, painted.corner_uv)
    assert again.texture == painted.texture


@pytest.mark.parametrize("ending", ["usda", "usdc", "usdz"])
def test_usd_has_its_unit_axis_subsets_and_image(tmp_path, ending):
    pxr = pytest.importorskip("pxr", reason="usd-core is not installed")
    from pxr import Gf, Sdf, Usd, UsdGeom, UsdShade, UsdUtils

    assert pxr
    checker().save(tmp_path / "checker.png")
    plain = tmp_path / f"cube.{'usdc' if ending == 'usdz' else ending}"
    stage = Usd.Stage.CreateNew(str(plain))
    UsdGeom.SetStageUpAxis(stage, "Y")
    UsdGeom.SetStageMetersPerUnit(stage, 0.01)
    mesh = UsdGeom.Mesh.Define(stage, "/cube")
    corners = np.array(np.meshgrid([-1, 1], [-2, 2], [-3, 3], indexing="ij")).reshape(3, -1).T
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    mesh.CreatePointsAttr([Gf.Vec3f(*map(float, point)) for point in corners])
    mesh.CreateFaceVertexCountsAttr([4] * 6)
    mesh.CreateFaceVertexIndicesAttr([index for quad in quads for index in quad])
    mesh.AddTranslateOp().Set(Gf.Vec3d(0, 50, 0))
    st = UsdGeom.PrimvarsAPI(mesh).CreatePrimvar("st", Sdf.ValueTypeNames.TexCoord2fArray, "faceVarying")
    st.Set([Gf.Vec2f(*pair) for _ in quads for pair in ((0, 0), (1, 0), (1, 1), (0, 1))])
    material = UsdShade.Material.Define(stage, "/look")
    surface, image = (UsdShade.Shader.Define(stage, f"/look/{name}") for name in ("surface", "image"))
    surface.CreateIdAttr("UsdPreviewSurface")
    image.CreateIdAttr("UsdUVTexture")
    image.CreateInput("file", Sdf.ValueTypeNames.Asset).Set("checker.png")
    color = surface.CreateInput("diffuseColor", Sdf.ValueTypeNames.Color3f)
    color.ConnectToSource(image.CreateOutput("rgb", Sdf.ValueTypeNames.Float3))
    material.CreateSurfaceOutput().ConnectToSource(surface.CreateOutput("surface", Sdf.ValueTypeNames.Token))
    for name, indices in (("one", [0, 1, 2]), ("two", [3, 4, 5])):
        subset = UsdGeom.Subset.CreateGeomSubset(mesh, name, "face", indices, "materialBind")
        UsdShade.MaterialBindingAPI.Apply(subset.GetPrim()).Bind(material)
    stage.Save()
    path = plain
    if ending == "usdz":
        path = tmp_path / "cube.usdz"
        assert UsdUtils.CreateNewUsdzPackage(str(plain), str(path))
    shape = shapes.load(path)
    assert shape.volume == pytest.approx(48e-6)
    assert np.allclose(np.ptp(shape.vertices, axis=0), (0.02, 0.06, 0.04))
    assert np.allclose(shape.vertices.mean(axis=0), (0.0, 0.0, 0.5))
    with Image.open(shape.texture) as kept:
        assert kept.size == (64, 64)
    assert sorted(np.unique(shape.corner_uv)) == [0.0, 1.0]


def test_a_damaged_usd_file_is_refused(tmp_path):
    pytest.importorskip("pxr", reason="usd-core is not installed")
    (tmp_path / "bad.usda").write_text("#usda 1.0\ndef Mesh {{{")
    with pytest.raises(MeshError, match="not a readable USD"):
        shapes.load(tmp_path / "bad.usda")
