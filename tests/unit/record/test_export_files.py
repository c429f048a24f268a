"""Recordings as meshes, videos and pages, from Python and from the command line; each opened by its own reader."""

from __future__ import annotations

import re

import numpy as np
import pytest
from typer.testing import CliRunner

from support.layouts import disc_layout, frame_of
from support.recordings import GREEN, PNG, RED, mixed_layout, record_mixed
from turgor import SceneError
from turgor.cli.app import app, execute
from turgor.output.frame import WallPose
from turgor.record import export, open_sink, read

pytestmark = pytest.mark.req("X9")


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    """The path of the recording."""
    return record_mixed(tmp_path_factory.mktemp("files"), frames=7)


def discs(path, count=3):
    """A recording of two outlines that rise."""
    layout, rest = disc_layout()
    with open_sink(path, layout) as sink:
        for index in range(count):
            sink.add(frame_of(rest + np.array([0, 0.1 * index]), index, 2, (WallPose(np.zeros(2), np.eye(2)),)))
    return rest


# layout -------------------------------------------------------------------------------------------------------------


def test_a_trajectory_keeps_textures_and_their_coordinates(mixed):
    with read(mixed) as run:
        ball, flag, painted, crate = run.layout.bodies
    assert (ball.texture, ball.corner_uv, crate.texture) == (None, None, None)
    assert flag.texture == painted.texture == str(mixed.with_name("squares.png"))
    written, _ = mixed_layout(mixed.with_name("squares.png"))
    np.testing.assert_array_equal(painted.corner_uv, written.bodies[2].corner_uv)


def test_the_layout_of_a_scene_names_the_textures_of_cloths(tmp_path):
    from turgor import Scene, Simulation, Springs, shapes

    (tmp_path / "a.png").write_bytes(PNG)
    scene = Scene()
    sheet = shapes.sheet(size=(1, 1), resolution=(4, 4))
    springs = Springs(stiffness=100.0, damping=0.1)
    scene.add_cloth(sheet, name="flag", mass=0.2, springs=springs, texture=str(tmp_path / "a.png"))
    assert Simulation(scene).layout.bodies[0].texture == str(tmp_path / "a.png")


# meshes -------------------------------------------------------------------------------------------------------------


def test_obj_frames(mixed, tmp_path):
    import trimesh

    with read(mixed) as run:
        export(run, tmp_path / "frame_%04d.obj", tmp_path / "last.obj", every=3)
        frames = {number: run[number] for number in (0, 3, 6)}
        bodies = run.layout.bodies
    assert sorted(path.name for path in tmp_path.glob("frame_*.obj")) == [f"frame_{k:04d}.obj" for k in (0, 3, 6)]
    last = (tmp_path / "last.obj").read_text()
    assert re.findall("^o (.*)$", last, re.M) == ["ball", "flag ü", "painted", "crate"]
    for number, frame in frames.items():
        text = (tmp_path / f"frame_{number:04d}.obj").read_text()
        rows = [line.split()[1:] for line in text.splitlines() if line.startswith("v ")]
        np.testing.assert_allclose(np.array(rows, float), frame.positions, rtol=1e-8, atol=1e-8)
    scene = trimesh.load_scene(tmp_path / "frame_0006.obj", group_material=False, split_object=True)
    assert sum(len(mesh.faces) for mesh in scene.geometry.values()) == sum(len(body.faces) for body in bodies)
    colors = [tuple(mesh.visual.material.main_color[:3]) for mesh in scene.geometry.values()]
    for color in (RED, GREEN):
        assert any(np.abs(np.array(seen) / 255 - color).max() < 0.01 for seen in colors)
    painted = next(mesh for mesh in scene.geometry.values() if mesh.visual.uv is not None and len(mesh.faces) == 80)
    own = frames[6].positions[bodies[2].start : bodies[2].start + bodies[2].count]
    for axis in range(3):
        assert painted.vertices[:, axis].min() == pytest.approx(own[:, axis].min(), abs=1e-6)
    assert painted.visual.uv.max() == pytest.approx(bodies[2].corner_uv.max(), abs=1e-6)
    assert (tmp_path / "frame.body2.png").read_bytes() == PNG


def test_ply_is_the_last_frame(mixed, tmp_path):
    import trimesh

    export(mixed, tmp_path / "a.ply")
    mesh = trimesh.load_mesh(tmp_path / "a.ply", process=False)
    with read(mixed) as run:
        np.testing.assert_allclose(mesh.vertices, run[6].positions, atol=1e-6)
        faces = np.concatenate([body.faces + body.start for body in run.layout.bodies])
        flag = run.layout.bodies[1]
    assert np.array_equal(mesh.faces, faces)
    vertices = mesh.metadata["_ply_raw"]["vertex"]["data"]  # trimesh shows the texture coordinates or the colours
    colors = np.stack([vertices[name] for name in ("red", "green", "blue")], axis=-1).reshape(-1, 3) / 255
    np.testing.assert_allclose(colors[0], RED, atol=0.01)
    np.testing.assert_allclose(colors[-1], GREEN, atol=0.01)
    np.testing.assert_allclose(mesh.visual.uv[flag.start : flag.start + flag.count], flag.uv, atol=1e-6)


def test_outlines_are_lines(tmp_path):
    rest = discs(tmp_path / "a.vtkhdf")
    export(tmp_path / "a.vtkhdf", tmp_path / "a.obj", tmp_path / "a.ply")
    lines = re.findall("^l (.*)$", (tmp_path / "a.obj").read_text(), re.M)
    assert [len(line.split()) for line in lines] == [13, 13]
    assert b"element edge 24\n" in (tmp_path / "a.ply").read_bytes()
    rows = [line.split()[1:] for line in (tmp_path / "a.obj").read_text().splitlines() if line.startswith("v ")]
    np.testing.assert_allclose(np.array(rows, float)[:, :2], rest + np.array([0, 0.2]), atol=1e-8)


# videos and pages ---------------------------------------------------------------------------------------------------


@pytest.mark.picture
def test_webm_is_vp9_in_real_time(tmp_path):
    imageio_ffmpeg = pytest.importorskip("imageio_ffmpeg")
    discs(tmp_path / "a.vtkhdf", count=12)
    export(tmp_path / "a.vtkhdf", tmp_path / "a.webm", every=2, size=(160, 90))
    reader = imageio_ffmpeg.read_frames(str(tmp_path / "a.webm"))
    about = next(reader)
    seen = [np.frombuffer(data, np.uint8).reshape(90, 160, 3).astype(int) for data in reader]
    assert (about["codec"], about["size"], about["fps"]) == ("vp9", (160, 90), 30.0)
    assert len(seen) == 6
    assert np.abs(seen[-1] - seen[0]).max() > 60  # it moves
    assert (tmp_path / "a.webm").read_bytes()[:4] == b"\x1a\x45\xdf\xa3"


def test_html_is_the_page_of_the_playground(tmp_path):
    pytest.importorskip("viser")
    discs(tmp_path / "a.vtkhdf", count=9)
    (sink,) = export(tmp_path / "a.vtkhdf", tmp_path / "a.html")
    page = sink.path.read_text()
    assert "<title>discs</title>" in page
    assert len(page) > 500_000  # the player is in it
    assert not re.search(r"<script[^>]* src=", page)
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".html"] == ["a.html"]


# command ------------------------------------------------------------------------------------------------------------


def test_the_command_converts_and_says_how_exact(mixed, tmp_path):
    files = [str(tmp_path / name) for name in ("a.glb", "b.npz", "c_%d.ply")]
    done = CliRunner().invoke(app, ["export", str(mixed), *files, "--every", "2", "--tolerance", "1%"])
    assert done.exit_code == 0, done.output
    assert "mixed: 4 frames" in done.stdout
    assert re.search(r"wrote .*a\.glb \(.* kB, positions within [\d.]+ mm\)", done.stdout)
    assert {path.name for path in tmp_path.iterdir()} == {"a.glb", "b.npz", *(f"c_{k}.ply" for k in (0, 2, 4, 6))}
    with np.load(tmp_path / "b.npz") as arrays:
        assert arrays["fps"] == 15.0
        np.testing.assert_allclose(arrays["times"], np.arange(4) / 15)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["no.vtkhdf", "a.glb"], "no.vtkhdf: does not exist"),
        (["IN", "a.xyz"], "cannot record to '.xyz'"),
        (["IN", "a.glb", "--tolerance", "wide"], "give a distance in metres"),
        (["IN", "a.npz", "--tolerance", "1%"], "tolerance has no effect on .npz"),
        (["IN", "a.glb", "--every", "0"], "every = 0"),
        (["IN", "IN"], "cannot be written while it is read"),
        (["IN", "a.glb", "a.glb"], "the same file is given twice"),
        (["IN", "a.glb", "--look", "colour=1"], "--look colour: unknown"),
    ],
)
def test_bad_requests_are_one_sentence(mixed, tmp_path, monkeypatch, capsys, arguments, sentence):
    monkeypatch.chdir(tmp_path)
    assert execute(["export", *(str(mixed) if word == "IN" else word for word in arguments)]) == 2
    assert sentence in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_an_error_on_the_way_leaves_no_file(mixed, tmp_path):
    def stop(done: int, total: int) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        export(mixed, tmp_path / "a.glb", tmp_path / "a.obj", progress=stop)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(SceneError, match="give the file to write"):
        export(mixed)
