"""USD files, read by OpenUSD itself, with its validators, and compared with the recording."""

from __future__ import annotations

import numpy as np
import pytest

from support.layouts import disc_layout, frame_of
from support.recordings import FPS, GREEN, PNG, RED, record_mixed
from turgor import SceneError
from turgor.output.frame import WallPose
from turgor.record import export, open_sink, read

pytest.importorskip("pxr")
pytestmark = pytest.mark.req("X9")
FRAMES = (0, 5, 10)


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    """The recording, and the path of its .usdc file."""
    path = record_mixed(tmp_path_factory.mktemp("usd"), frames=11)
    run = read(path)
    (sink,) = export(run, path.with_suffix(".usdc"))
    return run, sink.path


def opened(path):
    from pxr import Usd

    return Usd.Stage.Open(str(path))


def complaints(stage) -> list[str]:
    """What the validators of OpenUSD (those of usdchecker) find."""
    from pxr import UsdValidation

    context = UsdValidation.ValidationContext(UsdValidation.ValidationRegistry().GetOrLoadAllValidators())
    return [error.GetMessage() for error in context.Validate(stage)]


def mesh_of(stage, name: str):
    from pxr import UsdGeom

    return UsdGeom.Mesh(stage.GetPrimAtPath(f"/scene/{name}/{name}"))


def world_points(stage, name: str, code: float) -> np.ndarray:
    from pxr import UsdGeom

    mesh = mesh_of(stage, name)
    matrix = np.array(UsdGeom.Xformable(mesh).ComputeLocalToWorldTransform(code))
    points = np.array(mesh.GetPointsAttr().Get(code), float)
    return points @ matrix[:3, :3] + matrix[3, :3]


def test_it_passes_the_validators_and_says_its_units(mixed):
    from pxr import UsdGeom

    stage = opened(mixed[1])
    assert complaints(stage) == []
    assert UsdGeom.GetStageUpAxis(stage) == "Z"
    assert UsdGeom.GetStageMetersPerUnit(stage) == 1.0
    assert stage.GetTimeCodesPerSecond() == FPS
    assert (stage.GetStartTimeCode(), stage.GetEndTimeCode()) == (0.0, 10.0)
    assert stage.GetDefaultPrim().GetPath() == "/scene"


def test_points_velocities_and_poses_are_those_of_the_recording(mixed):
    run, path = mixed
    stage = opened(path)
    names = ("ball", "flag__", "painted", "crate")
    assert mesh_of(stage, "flag__").GetPrim().GetParent().GetDisplayName() == "flag ü"
    for name, body in zip(names, run.layout.bodies, strict=True):
        mesh = mesh_of(stage, name)
        assert np.array_equal(np.reshape(mesh.GetFaceVertexIndicesAttr().Get(), (-1, 3)), body.faces)
        own = slice(body.start, body.start + body.count)
        for number in FRAMES:
            frame = run[number]
            np.testing.assert_allclose(world_points(stage, name, number), frame.positions[own], atol=2e-6)
            if body.kind != "rigid":
                got = np.array(mesh.GetVelocitiesAttr().Get(number))
                np.testing.assert_allclose(got, frame.velocities[own], atol=2e-6)
        assert mesh.GetPointsAttr().GetNumTimeSamples() == (0 if body.kind == "rigid" else 11)
    turn = stage.GetPrimAtPath("/scene/crate").GetAttribute("xformOp:orient")
    assert turn.GetNumTimeSamples() == 11


def test_colours_texture_coordinates_stress_and_pressure(mixed):
    from pxr import UsdGeom

    run, path = mixed
    stage = opened(path)
    for name, color in (("ball", RED), ("crate", GREEN)):
        linear = np.array(mesh_of(stage, name).GetDisplayColorAttr().Get()[0])
        np.testing.assert_allclose(1.055 * linear ** (1 / 2.4) - 0.055, color, atol=1e-5)
    _, flag, painted, _ = run.layout.bodies
    for name, where, expected in (("flag__", "vertex", flag.uv), ("painted", "faceVarying", painted.corner_uv)):
        st = UsdGeom.PrimvarsAPI(mesh_of(stage, name)).GetPrimvar("st")
        assert st.GetInterpolation() == where
        np.testing.assert_allclose(np.array(st.Get()), np.reshape(expected, (-1, 2)), atol=1e-6)
    ball = UsdGeom.PrimvarsAPI(mesh_of(stage, "ball"))
    for number in FRAMES:
        frame = run[number]
        assert ball.GetPrimvar("pressure").Get(number) == frame.pressures[0]
        assert ball.GetPrimvar("volume").Get(number) == frame.volumes[0]
        np.testing.assert_allclose(np.array(ball.GetPrimvar("stress").Get(number)), frame.stress[:80], rtol=1e-6)
    assert ball.GetPrimvar("stress").GetInterpolation() == "uniform"
    assert not UsdGeom.PrimvarsAPI(mesh_of(stage, "flag__")).GetPrimvar("pressure")


def test_a_texture_is_a_file_beside_it(mixed):
    _, path = mixed
    stage = opened(path)
    picture = stage.GetPrimAtPath("/scene/painted/material/picture").GetAttribute("inputs:file").Get()
    assert picture.path == "./mixed.painted.png"
    with open(picture.resolvedPath, "rb") as file:
        assert file.read() == PNG


def test_walls_move_and_there_is_a_camera(mixed):
    from pxr import UsdGeom

    run, path = mixed
    stage = opened(path)
    for number in FRAMES:
        pose = run[number].walls[1]
        corners = (world_points(stage, "box", number) - pose.position) @ pose.rotation
        np.testing.assert_allclose(np.abs(corners), np.tile((3.0, 2.5, 2.0), (24, 1)), atol=1e-5)
    assert not world_points(stage, "ground", 10.0)[:, 2].any()
    camera = UsdGeom.Camera(stage.GetPrimAtPath("/scene/camera")).GetCamera(0)
    seen = camera.frustum
    assert all(seen.Intersects(_vector(point)) for point in run[0].positions)


def _vector(point):
    from pxr import Gf

    return Gf.Vec3d(*point.tolist())


@pytest.mark.parametrize("ending", [".usd", ".usda", ".usdz"])
def test_other_endings_hold_the_same(mixed, ending, tmp_path):
    run, _ = mixed
    (sink,) = export(run, tmp_path / f"a{ending}", every=5)
    stage = opened(sink.path)
    assert complaints(stage) == []
    assert (stage.GetEndTimeCode(), stage.GetTimeCodesPerSecond()) == (2.0, FPS / 5)
    ball = run.layout.bodies[0]
    np.testing.assert_allclose(world_points(stage, "ball", 2.0), run[10].positions[: ball.count], atol=2e-6)
    if ending == ".usda":
        assert sink.path.read_bytes().startswith(b"#usda")
    if ending == ".usdz":
        assert [entry.name for entry in tmp_path.iterdir()] == ["a.usdz"]  # pictures are inside


def test_a_flat_scene_is_polygons(tmp_path):
    from pxr import UsdGeom

    layout, rest = disc_layout()
    with open_sink(tmp_path / "a.usdc", layout) as sink:
        for index in range(3):
            sink.add(frame_of(rest + 0.1 * index, index, 2, (WallPose(np.zeros(2), np.eye(2)),)))
    stage = opened(tmp_path / "a.usdc")
    assert complaints(stage) == []
    assert UsdGeom.GetStageUpAxis(stage) == "Y"
    assert list(mesh_of(stage, "a").GetFaceVertexCountsAttr().Get()) == [12]
    np.testing.assert_allclose(world_points(stage, "b", 2)[:, :2], rest[12:] + 0.2, atol=1e-6)


def test_a_failed_run_leaves_nothing(mixed, tmp_path):
    run = mixed[0]
    for ending in (".usdc", ".usdz"):
        sink = open_sink(tmp_path / f"a{ending}", run.layout)
        sink.add(run[1])
        with pytest.raises(SceneError, match="not later"):
            sink.add(run[0])
        sink.close(success=False)
    assert list(tmp_path.iterdir()) == []
