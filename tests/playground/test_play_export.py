"""What the playground gives to keep: each file is opened by its own reader, and nothing is left on the server."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest

from support.films import film, pictures
from support.playgrounds import left_in
from support.vtk_reader import vtk_steps
from support.waiting import until
from turgor import Scene, SceneError, Simulation, gallery, shapes
from turgor.viewer.export.downloads import file_name, scene_file
from turgor.viewer.export.files import CancelledError, export
from turgor.viewer.export.standalone import standalone_html
from turgor.viewer.export.two_painters import WORTHWHILE, can_share, write_video
from turgor.viewer.world.recording import Recording

pytest.importorskip("imageio_ffmpeg")
pytest.importorskip("pyvista")
pytestmark = pytest.mark.req("X8", "X9")

SMALL = (320, 180)


@pytest.fixture(scope="module")
def drop() -> Recording:
    """1 s of a falling disc, 60 frames/s."""
    return film("drop-2d", 61)


@pytest.fixture(scope="module")
def long() -> Recording:
    """10 s of it: an export takes so long that what happens at its beginning does not come too late."""
    return film("drop-2d", 601)


def workers(folder: Path) -> list[int]:
    """Processes (the child, its ffmpeg) that have the folder in their command line."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if str(folder).encode() in (entry / "cmdline").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


def blue_row(picture: np.ndarray) -> float:
    """The row of the middle of the disc."""
    r, _, b = np.moveaxis(picture.astype(int), -1, 0)
    return float(np.argwhere(b - r > 60).mean(axis=0)[0])


# video --------------------------------------------------------------------------------------------------------------


def test_video_has_the_right_pictures(drop, private, tmp_path):
    steps: list[tuple[int, int]] = []
    content = export(drop, "mp4", options={"size": SMALL}, progress=lambda *step: steps.append(step))
    assert not left_in(private)
    about, seen = pictures(content, tmp_path)
    assert (about["size"], about["fps"], about["codec"]) == (SMALL, 30.0, "h264")
    assert len(seen) == 31
    assert about["duration"] == pytest.approx(31 / 30, abs=0.02)
    assert steps == [(k + 1, 31) for k in range(31)]
    falling = [blue_row(picture) for picture in seen[:10]]
    assert np.all(np.diff(falling) > 0)
    assert workers(private) == []


def test_uneven_recording_plays_in_real_time(drop, tmp_path):
    """Streamed frames come when there is time for them; the video must not stumble."""
    uneven = Recording(drop.layout)
    for number in (0, 1, 2, 7, 8, 13, 14, 19, 20, 21, 26, 31, 36, 37, 41, 45, 46, 50, 55, 60):
        uneven.add(drop.frame(number))
    even = pictures(export(drop, "mp4", options={"size": SMALL}), tmp_path)[1]
    seen = pictures(export(uneven, "mp4", options={"size": SMALL}), tmp_path)[1]
    assert len(seen) == len(even) == 31
    for one, other in zip(seen, even, strict=True):
        # A straight line over a gap of T = 5/60 s misses by a T²/8: 3 pixels of 1/60 m at the 5 g of the bounce.
        # A frame that is merely held would miss by v T, 20 pixels.
        assert blue_row(one) == pytest.approx(blue_row(other), abs=3.0)


def test_two_painters_make_the_video_of_one(private, tmp_path):
    """Half the pictures each, by one camera; joined in order, and counted together."""
    long = film("two-spheres", 2 * WORTHWHILE + 1, lambda number: number % 2 == 0)
    assert can_share(long, WORTHWHILE) == ((os.cpu_count() or 1) > 1)
    made = {}
    for share in (True, False):
        steps: list[int] = []
        write_video(
            long, tmp_path / "v.mp4", {"fps": 30.0, "size": (192, 108)}, WORTHWHILE,
            lambda done, total, steps=steps: steps.append(done), share,
        )  # fmt: skip
        assert steps == sorted(steps)
        assert steps[-1] == WORTHWHILE
        made[share] = pictures((tmp_path / "v.mp4").read_bytes(), tmp_path)
        assert {entry.name for entry in tmp_path.iterdir()} <= {"v.mp4", "read.mp4"}
    assert made[True][0]["fps"] == made[False][0]["fps"] == 30.0
    assert len(made[True][1]) == len(made[False][1]) == WORTHWHILE
    for one, other in zip(made[True][1], made[False][1], strict=True):
        assert np.abs(one.astype(int) - other).mean() < 2.0  # but for what the encoder loses


def test_gif(drop):
    from PIL import Image

    short = Recording(drop.layout)
    for number in range(13):
        short.add(drop.frame(number))
    with Image.open(BytesIO(export(short, "gif", options={"size": SMALL}))) as gif:
        assert gif.size == SMALL
        assert gif.n_frames in (5, 6)  # 7 pictures at 30/s, as a GIF at 25/s
        assert gif.info["duration"] == 40


def test_the_simulation_does_not_share_its_process_with_the_painter(tmp_path):
    """The parent never loads VTK."""
    code = (
        "import sys; from turgor import Simulation, gallery; from turgor.viewer.world.recording import Recording\n"
        "from turgor.viewer.export.files import export\n"
        "sim = Simulation(gallery.load('drop-2d')); film = Recording(sim.layout); film.add(sim.frame())\n"
        "print(len(export(film, 'mp4', options={'size': (64, 64)})) > 500, 'vtkmodules' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout.split() == ["True", "False"], done.stderr


# trajectory ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["drop-2d", "rotating-box"])
def test_vtk_reads_the_trajectory(name, private):
    recording = film(name, 12, lambda number: number % 3 != 1)
    path = private / "film.vtkhdf"
    path.write_bytes(export(recording, "vtkhdf"))
    assert left_in(private) == [path]
    times, meshes = vtk_steps(path)
    assert len(meshes) == len(recording) == 8
    for number, mesh in enumerate(meshes):
        frame, dim = recording.frame(number), recording.layout.dim
        assert times[number] == frame.time
        assert np.array_equal(np.asarray(mesh.points)[:, :dim], frame.positions)
        assert np.array_equal(np.asarray(mesh.point_data["velocity"])[:, :dim], frame.velocities)


@pytest.mark.req("X11")
def test_vtk_reads_the_fields_of_materials(private):
    scene = Scene()
    scene.add_ground()
    scene.add_soft_body(
        shapes.icosphere(0.2, 2), name="toy", at=(0, 0, 0.2), material="beach_ball", velocity=(0, 0, -5)
    )
    sim = Simulation(scene)
    recording, seen = Recording(sim.layout), []
    for _ in range(4):
        recording.add(sim.frame())
        seen.append(np.array(sim["toy"].stress))
        sim.step()
    path = private / "film.vtkhdf"
    path.write_bytes(export(recording, "vtkhdf"))
    for mesh, stress in zip(vtk_steps(path)[1], seen, strict=True):
        np.testing.assert_array_equal(mesh.cell_data["stress"], stress)


# models -------------------------------------------------------------------------------------------------------------


def test_models_have_the_frames_of_the_recording(drop, private):
    """Each opened by its own reader; progress counts the frames."""
    pytest.importorskip("pygltflib")
    usd = pytest.importorskip("pxr.Usd")
    from support.glb_reader import GlbReader

    short, steps = Recording(drop.layout), []
    for number in range(0, 61, 6):
        short.add(drop.frame(number))
    glb, usdc = private / "a.glb", private / "a.usdc"
    glb.write_bytes(export(short, "glb", progress=lambda *step: steps.append(step)))
    usdc.write_bytes(export(short, "usdc"))
    assert steps == [(k + 1, 11) for k in range(11)]
    assert sorted(left_in(private)) == [glb, usdc]
    file, stage = GlbReader(glb, flat=True), usd.Stage.Open(str(usdc))
    points = stage.GetPrimAtPath("/scene/ball/ball").GetAttribute("points")
    assert points.GetNumTimeSamples() == 11
    size = np.linalg.norm(np.ptp(short.frame(0).positions, axis=0))
    for number in (0, 4, 10):
        frame, seconds = short.frame(number), short.seconds(number)
        np.testing.assert_allclose(file.positions("ball", seconds)[:, :2], frame.positions, atol=0.002 * size)
        np.testing.assert_allclose(np.array(points.Get(60 * seconds))[:, :2], frame.positions, atol=1e-6)


def test_the_tab_sends_one_file_with_its_pictures(keeping, private):
    """USD with a texture comes packed; the names are those of the scene."""
    pytest.importorskip("pxr")
    _, panel = keeping
    panel.recording = film("flag", 2)
    sent: dict[str, bytes] = {}
    client = type("Client", (), {"send_file_download": lambda _, name, content, **__: sent.update({name: content})})()
    for kind in ("glb", "usdc"):
        panel._export(client, kind, threading.Event())
    assert {name: content[:4] for name, content in sent.items()} == {"flag.glb": b"glTF", "flag.usdz": b"PK\x03\x04"}
    assert not left_in(private)


# errors and cancelling ----------------------------------------------------------------------------------------------


def test_bad_requests_are_refused_with_a_sentence(drop, private):
    with pytest.raises(SceneError, match="cannot export a recording as 'exe'; use mp4"):
        export(drop, "exe")
    with pytest.raises(SceneError, match="Nothing has been recorded yet"):
        export(Recording(drop.layout), "mp4")
    assert not left_in(private)


def test_an_error_of_the_child_is_a_sentence_here(drop, private):
    with pytest.raises(SceneError, match="give width and height in pixels"):
        export(drop, "mp4", options={"size": (1, 1)})
    with pytest.raises(SceneError, match=r"^recording\.vtkhdf: precision = 'float8'; use"):  # no path of the server
        export(drop, "vtkhdf", options={"precision": "float8"})
    assert not left_in(private)
    assert workers(private) == []


def test_a_child_that_dies_is_reported(long, private):
    def murder(done: int, total: int) -> None:
        for process in workers(private):
            os.kill(process, signal.SIGKILL)

    with pytest.raises(SceneError, match=r"The \.mp4 file could not be made: .*status -9"):
        export(long, "mp4", progress=murder)
    assert not left_in(private)


def test_cancel_ends_the_child_and_removes_its_files(long, private):
    cancel = threading.Event()
    seen: list[list[int]] = []

    def stop(done: int, total: int) -> None:
        if done == 3:
            seen.append(workers(private))
            cancel.set()

    with pytest.raises(CancelledError):
        export(long, "mp4", progress=stop, cancel=cancel)
    assert len(seen[0]) >= 2  # the painter and its ffmpeg
    assert workers(private) == []
    assert not left_in(private)


def test_a_bar_that_fails_does_not_stop_the_export(drop):
    def broken(done: int, total: int) -> None:
        raise RuntimeError("the page is gone")

    assert len(export(drop, "vtkhdf", progress=broken)) > 10_000


def test_nothing_is_left_when_the_playground_is_killed(private):
    """The child notices that nobody listens any more, and tidies up."""
    code = (
        "import os, signal; from turgor import Simulation, gallery\n"
        "from turgor.viewer.world.recording import Recording\n"
        "from turgor.viewer.export.files import export\n"
        "sim = Simulation(gallery.load('drop-2d')); film = Recording(sim.layout); film.add(sim.frame())\n"
        "for _ in range(200):\n    sim.step(); film.add(sim.frame())\n"
        "export(film, 'mp4', progress=lambda done, total: done > 3 and os.kill(os.getpid(), signal.SIGKILL))"
    )
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "TMPDIR": str(private)}, capture_output=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    deadline = time.monotonic() + 30
    while (workers(private) or left_in(private)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert workers(private) == []
    assert not left_in(private)


# page ---------------------------------------------------------------------------------------------------------------


def test_a_page_that_is_too_large_is_refused(drop):
    with pytest.raises(SceneError, match=r"more than 1 MB; record no more than about 0\.\d s, or download a video"):
        standalone_html(film("five-balls", 40), "x", max_bytes=1_000_000)
    with pytest.raises(SceneError, match="more than 0 MB"):  # seen before any work is done
        standalone_html(drop, "x", max_bytes=1000)


def test_making_a_page_prints_nothing_and_ends_its_server(drop, capfd):
    before = threading.active_count()
    standalone_html(drop, "x")
    assert capfd.readouterr().out == ""
    deadline = time.monotonic() + 5
    while threading.active_count() > before and time.monotonic() < deadline:
        time.sleep(0.05)
    assert threading.active_count() <= before


# scene --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", gallery.names())
def test_scene_file_is_the_scene(name, tmp_path):
    scene = gallery.load(name)
    path = tmp_path / file_name(scene.name, ".toml")
    path.write_bytes(scene_file(scene))
    assert Scene.load(path) == scene


def test_scene_file_runs_from_any_folder(tmp_path, monkeypatch):
    (tmp_path / "mine").mkdir()
    (tmp_path / "downloads").mkdir()
    monkeypatch.chdir(tmp_path / "mine")
    import trimesh

    trimesh.creation.icosphere(subdivisions=1).export("ball.obj")
    Path("my.toml").write_text(
        'name = "mine"\ndim = 3\n[[soft_body]]\nname = "ball"\nshape = { file = "ball.obj" }\nmass = 1.0\n'
        "springs = { stiffness = 200.0, damping = 1.0 }\ngas = { gauge = 100.0 }\n"
    )
    scene = Scene.load("my.toml")
    scene.set("ball.mass", 2.5)
    target = tmp_path / "downloads" / "mine.toml"
    target.write_bytes(scene_file(scene))
    monkeypatch.chdir(tmp_path / "downloads")
    sim = Simulation(Scene.load(target))
    sim.run(0.05)
    assert sim["ball"].mass == pytest.approx(2.5)
    turgor = shutil.which("turgor", path=str(Path(sys.executable).parent)) or "turgor"
    done = subprocess.run([turgor, "run", str(target), "--seconds", "0.05"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_names_of_downloads_are_harmless():
    assert file_name("drop", ".toml") == "drop.toml"
    assert file_name("../../etc/passwd", ".mp4") == "etc-passwd.mp4"
    assert file_name("a b\\c:d\n\x00", ".html") == "a-b-c-d.html"
    assert file_name("...", ".gif") == "scene.gif"
    assert len(file_name("x" * 500, ".png")) == 64


# panel --------------------------------------------------------------------------------------------------------------


def test_record_replay_and_live(keeping):
    opened, panel = keeping
    shown: list[float] = []
    opened.on_show(lambda frame: shown.append(frame.time))
    opened.do(panel.record)
    until(lambda: panel.recording is not None and panel.recording.duration > 0.5)
    opened.do(panel.stop)
    until(lambda: panel.recording.ended)
    recording = panel.recording
    opened.do(panel.seek, 0.25)
    until(lambda: opened.replaying and shown[-1] == pytest.approx(recording.frame(0).time + 0.25))
    waiting = opened.world.sim.time
    opened.do(panel.replay)
    until(lambda: shown[-1] == pytest.approx(recording.frame(len(recording) - 1).time))
    assert opened.world.sim.time == waiting  # the world stands still
    opened.do(panel.live)
    until(lambda: not opened.replaying and opened.world.sim.time > waiting)
    until(lambda: shown[-1] > waiting)


def test_touching_the_world_ends_the_replay(keeping):
    opened, panel = keeping
    opened.do(panel.record)
    until(lambda: panel.recording is not None and len(panel.recording) > 5)
    opened.do(panel.replay)
    until(lambda: opened.replaying)
    opened.do(opened.world.reset)
    until(lambda: not opened.replaying)


def test_another_scene_ends_the_recording_and_cannot_replay_it(keeping):
    opened, panel = keeping
    opened.do(panel.record)
    until(lambda: panel.recording is not None and len(panel.recording) > 5)
    opened.do(opened.open, gallery.load("jelly-2d"))
    until(lambda: panel.recording.ended)
    assert panel.recording.layout.scene == "drop-2d"
    failures: list[str] = []

    def replay() -> None:
        try:
            panel.replay()
        except SceneError as error:
            failures.append(str(error))

    opened.do(replay)
    until(lambda: failures)
    assert "'drop-2d' as it was" in failures[0]
    assert not opened.replaying


def test_closing_cancels_the_export(keeping, private):
    opened, panel = keeping
    opened.do(panel.record)
    until(lambda: panel.recording is not None and panel.recording.duration > 0.5)
    opened.do(panel.stop)
    client = type("Client", (), {"send_file_download": lambda *_, **__: pytest.fail("it was cancelled")})()
    panel._download(client, "mp4")
    until(lambda: workers(private))
    panel.close()
    assert workers(private) == []
    assert not left_in(private)
