"""Sinks that keep numbers: the trajectory file (.vtkhdf) and plain arrays (.npz), checked with the usual readers."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from support.layouts import GROUND_POSE_2D, disc_layout, frame_of, rich_frame, rich_layout
from support.vtk_reader import vtk_steps
from turgor.errors import SceneError
from turgor.output.frame import Frame
from turgor.record import Sink, check_path, open_sink, read
from turgor.record import open_file as open_file_module
from turgor.record import vtkhdf as vtkhdf_module


def assert_same(got: Frame, expected: Frame) -> None:
    for name in ("index", "time", "positions", "velocities", "volumes", "pressures"):
        np.testing.assert_array_equal(getattr(got, name), getattr(expected, name), err_msg=name)
    for a, b in zip(got.walls, expected.walls, strict=True):
        np.testing.assert_array_equal(a.position, b.position)
        np.testing.assert_array_equal(a.rotation, b.rotation)


def record(path: Path, count: int, **options: object) -> None:
    with open_sink(path, rich_layout(), **options) as sink:
        for index in range(count):
            sink.add(rich_frame(index))


def fail_after(sink: Sink, count: int) -> None:
    """A run that dies of an error after some frames."""

    def run() -> None:
        with sink:
            for index in range(count):
                sink.add(rich_frame(index))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run()


# --- paths


@pytest.mark.parametrize("name", ["run.avi", "run", "run.vtk", ".mp4"])
def test_unknown_endings_are_refused_and_the_known_ones_listed(tmp_path, name):
    with pytest.raises(SceneError, match=r"\.vtkhdf, \.npz, \.mp4, \.gif, \.png"):
        check_path(tmp_path / name)


@pytest.mark.parametrize("name", ["a.vtkhdf", "a.npz", "a.mp4", "a.gif", "a.png", "A.MP4", "f_%04d.png"])
def test_good_paths_are_accepted_and_nothing_is_touched(tmp_path, name):
    assert check_path(str(tmp_path / name)) == tmp_path / name
    assert list(tmp_path.iterdir()) == []


def test_bad_folders_are_found_before_any_work(tmp_path):
    with pytest.raises(SceneError, match="does not exist"):
        open_sink(tmp_path / "no" / "a.vtkhdf", rich_layout())
    (tmp_path / "dir.npz").mkdir()
    with pytest.raises(SceneError, match="is a folder"):
        check_path(tmp_path / "dir.npz")
    assert not (tmp_path / "no").exists()


@pytest.mark.parametrize("name", ["a_%d.mp4", "a_%.png", "a_%d_%d.png", "100%.npz"])
def test_patterns_are_for_numbered_pictures_only(tmp_path, name):
    with pytest.raises(SceneError, match="numbered pictures"):
        check_path(tmp_path / name)


def test_a_missing_extra_is_named(tmp_path, monkeypatch):
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "vtkmodules" else real(name))
    with pytest.raises(SceneError, match=r"pip install 'turgor\[render\]'"):
        check_path(tmp_path / "a.mp4")
    check_path(tmp_path / "a.npz")


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("a.vtkhdf", {"precision": "int8"}, "precision"),
        ("a.vtkhdf", {"velocities": True}, "velocities"),
        ("a.npz", {"fps": -1.0}, "fps"),
        ("a.npz", {"fps": float("nan")}, "fps"),
    ],
)
def test_bad_options_are_refused(tmp_path, name, options, message):
    with pytest.raises(SceneError, match=message):
        open_sink(tmp_path / name, rich_layout(), **options)
    assert list(tmp_path.iterdir()) == []


def test_the_package_is_light_until_a_file_is_opened():
    code = "import sys, turgor.record; [getattr(turgor.record, n) for n in turgor.record.__all__]; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {"h5py", "vtkmodules", "PIL", "imageio_ffmpeg", "warp"}.isdisjoint(done.stdout.split())


@pytest.mark.parametrize("name", ["a.vtkhdf", "a.npz"])
def test_a_frame_of_another_simulation_is_refused(tmp_path, name):
    with open_sink(tmp_path / name, rich_layout()) as sink:
        assert isinstance(sink, Sink)
        sink.add(rich_frame(0))
        with pytest.raises(SceneError, match="shape"):
            sink.add(frame_of(np.zeros((5, 3)), 1, 2))


# --- npz


@pytest.mark.req("X9")
def test_npz_holds_the_run_as_plain_arrays(tmp_path):
    record(tmp_path / "run.npz", 4)
    with np.load(tmp_path / "run.npz", allow_pickle=False) as run:
        assert str(run["scene"]) == "rich"
        assert float(run["fps"]) == 30.0
        assert run["body_names"].tolist() == ["ball", "flag ü"]
        assert run["body_starts"].tolist() == [0, 6]
        assert run["body_counts"].tolist() == [6, 6]
        np.testing.assert_array_equal(run["times"], np.arange(4) / 60)
        np.testing.assert_array_equal(run["faces"][run["face_starts"][1] :], [[6, 7, 8], [8, 9, 10]])
        for index in range(4):
            frame = rich_frame(index)
            for key in ("positions", "velocities", "volumes", "pressures"):
                np.testing.assert_array_equal(run[key][index], getattr(frame, key))
            np.testing.assert_array_equal(run["wall_rotations"][index, 1], frame.walls[1].rotation)
    assert os.listdir(tmp_path) == ["run.npz"]


def test_npz_copies_frames_whose_arrays_are_reused(tmp_path):
    frame = rich_frame(0)
    with open_sink(tmp_path / "run.npz", rich_layout()) as sink:
        sink.add(frame)
        frame.positions[:] = 7
    assert not np.any(np.load(tmp_path / "run.npz")["positions"] == 7)


def test_npz_of_a_failed_run_is_not_written_and_the_old_one_stays(tmp_path):
    (tmp_path / "run.npz").write_text("old")
    sink = open_sink(tmp_path / "run.npz", rich_layout())
    fail_after(sink, 1)
    assert (tmp_path / "run.npz").read_text() == "old"
    assert os.listdir(tmp_path) == ["run.npz"]


# --- vtkhdf


@pytest.mark.req("X9")
@pytest.mark.parametrize("options", [{}, {"frames": 9}, {"frames": 2}], ids=["unknown", "exact", "growing"])
def test_vtk_reads_every_step(tmp_path, options):
    path = tmp_path / "run.vtkhdf"
    record(path, 9, **options)
    times, meshes = vtk_steps(path)
    np.testing.assert_array_equal(times, np.arange(9) / 60)
    assert len(meshes) == 9
    for index, mesh in enumerate(meshes):
        frame = rich_frame(index)
        np.testing.assert_array_equal(mesh.points, frame.positions)
        np.testing.assert_array_equal(mesh.point_data["velocity"], frame.velocities)
        np.testing.assert_array_equal(mesh.point_data["body"], [0] * 6 + [1] * 6)
        np.testing.assert_array_equal(mesh.field_data["volume"], frame.volumes)
        np.testing.assert_array_equal(mesh.field_data["pressure"], frame.pressures)
        np.testing.assert_array_equal(mesh.regular_faces, [[0, 1, 2], [2, 3, 4], [3, 4, 5], [6, 7, 8], [8, 9, 10]])
    assert os.listdir(tmp_path) == ["run.vtkhdf"]


@pytest.mark.req("X9")
def test_pyvista_opens_the_file_by_its_ending(tmp_path):
    pv = pytest.importorskip("pyvista")
    record(tmp_path / "run.vtkhdf", 3)
    mesh = pv.read(tmp_path / "run.vtkhdf")
    np.testing.assert_array_equal(mesh.points, rich_frame(0).positions)


@pytest.mark.req("X9")
def test_2d_is_lines_and_filled_polygons_at_z_0(tmp_path):
    layout, rest = disc_layout(points=12)
    with open_sink(tmp_path / "run.vtkhdf", layout) as sink:
        for index in range(3):
            sink.add(frame_of(rest - [0, 0.1 * index], index, 2, GROUND_POSE_2D))
    _, meshes = vtk_steps(tmp_path / "run.vtkhdf")
    assert meshes[2].n_lines == 24
    assert meshes[2].GetNumberOfPolys() == 2
    np.testing.assert_array_equal(meshes[2].points[:, :2], rest - [0, 0.2])
    assert not meshes[2].points[:, 2].any()
    with read(tmp_path / "run.vtkhdf") as run:
        np.testing.assert_array_equal(run[2].positions, rest - [0, 0.2])
        assert run[2].walls[0].rotation.shape == (2, 2)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 8, 12, 15, 16, 17, 33])
def test_any_number_of_frames(tmp_path, count):
    """Small numbers stand in many places of the file; the counters must be found among them."""
    for options in ({}, {"frames": count}, {"frames": 1}):
        record(tmp_path / "run.vtkhdf", count, **options)
        times, meshes = vtk_steps(tmp_path / "run.vtkhdf")
        assert len(times) == len(meshes) == count
        for index, mesh in enumerate(meshes):
            np.testing.assert_array_equal(mesh.points, rich_frame(index).positions)


def test_the_closed_file_has_no_spare_room(tmp_path):
    import h5py

    record(tmp_path / "run.vtkhdf", 5)
    with h5py.File(tmp_path / "run.vtkhdf") as file:
        assert file["VTKHDF/Points"].shape == (5 * 12, 3)
        assert file["VTKHDF/Steps/Values"].shape == file["VTKHDF/Steps/PointOffsets"].shape == (5,)
        assert file["VTKHDF/Polygons/Connectivity"].shape == (15,)  # topology once, not per step


def test_read_gives_back_layout_and_frames(tmp_path):
    record(tmp_path / "run.vtkhdf", 20, frames=3)
    expected = rich_layout()
    with read(tmp_path / "run.vtkhdf") as run:
        assert len(run) == 20
        assert (run.layout.scene, run.layout.dim, run.layout.fps) == ("rich", 3, 30.0)
        assert run.layout.walls == expected.walls
        for got, body in zip(run.layout.bodies, expected.bodies, strict=True):
            assert (got.name, got.kind, got.start, got.count, got.color) == (
                body.name,
                body.kind,
                body.start,
                body.count,
                body.color,
            )
            np.testing.assert_array_equal(got.faces, body.faces)
        np.testing.assert_array_equal(run.layout.bodies[1].uv, expected.bodies[1].uv)
        assert run.layout.bodies[0].uv is None
        for index, frame in enumerate(run):
            assert_same(frame, rich_frame(index))
        assert_same(run[-1], rich_frame(19))
        np.testing.assert_array_equal(run.positions[7], rich_frame(7).positions)
        with pytest.raises(IndexError):
            run[20]


def test_single_precision_halves_the_large_arrays(tmp_path):
    record(tmp_path / "run.vtkhdf", 3, precision="float32")
    with read(tmp_path / "run.vtkhdf") as run:
        np.testing.assert_array_equal(run[2].positions, rich_frame(2).positions.astype(np.float32))
        assert run[2].time == rich_frame(2).time
    _, meshes = vtk_steps(tmp_path / "run.vtkhdf")
    assert meshes[0].points.dtype == np.float32


def test_read_refuses_what_is_not_ours(tmp_path):
    import h5py

    with pytest.raises(SceneError, match="does not exist"):
        read(tmp_path / "none.vtkhdf")
    (tmp_path / "text.vtkhdf").write_text("hello")
    with pytest.raises(SceneError, match="not an HDF5 file"):
        read(tmp_path / "text.vtkhdf")
    with h5py.File(tmp_path / "other.vtkhdf", "w") as file:
        file.create_group("VTKHDF")
    with pytest.raises(SceneError, match="not recorded by"):
        read(tmp_path / "other.vtkhdf")


def test_a_failed_run_keeps_its_frames(tmp_path):
    fail_after(open_sink(tmp_path / "run.vtkhdf", rich_layout()), 2)
    with read(tmp_path / "run.vtkhdf") as run:
        assert len(run) == 2


def test_a_run_without_frames_leaves_the_old_file_alone(tmp_path):
    (tmp_path / "run.vtkhdf").write_text("old")
    open_sink(tmp_path / "run.vtkhdf", rich_layout()).close()
    assert (tmp_path / "run.vtkhdf").read_text() == "old"


def test_the_run_can_be_followed_while_it_is_recorded(tmp_path):
    import h5py

    path = tmp_path / "run.vtkhdf"
    with open_sink(path, rich_layout(), frames=4) as sink:
        for index in range(10):
            sink.add(rich_frame(index))
            with read(path) as run:
                assert len(run) == index + 1
                assert_same(run[index], rich_frame(index))
        with pytest.raises(OSError, match="lock"):  # others must not read the two counters while they change
            h5py.File(path, "r", locking=True)


@pytest.mark.req("X9")
def test_the_file_is_whole_after_every_single_write(tmp_path, monkeypatch):
    """Every state that a kill can leave: a copy after each write, with long writes torn at pages."""
    path = tmp_path / "run.vtkhdf"
    states: list[tuple[int, Path]] = []
    added = 0

    def torn_pwrite(fd, data, place):
        data = bytes(data)
        stop = min(len(data), vtkhdf_module.PAGE - place % vtkhdf_module.PAGE)  # the kernel stops at pages only
        written = os.pwrite(fd, data[:stop], place)
        if path.exists():
            copy = tmp_path / f"state{len(states)}.vtkhdf"
            shutil.copy(path, copy)
            states.append((added, copy))
        return written

    fake = type("os", (), {**vars(os), "pwrite": staticmethod(torn_pwrite)})
    monkeypatch.setattr(open_file_module, "os", fake)
    with open_sink(path, rich_layout(), frames=2) as sink:
        for index in range(9):
            sink.add(rich_frame(index))
            added = index + 1
    assert len(states) > 60
    for added_then, copy in states:
        with read(copy) as run:
            assert added_then <= len(run) <= added_then + 1
            for index, frame in enumerate(run):
                assert_same(frame, rich_frame(index))
    for added_then, copy in states[::7]:
        times, meshes = vtk_steps(copy)
        assert len(times) == len(meshes) >= added_then


WRITER = """
import itertools, os, sys
sys.path.insert(0, sys.argv[2])
from support.layouts import rich_frame, rich_layout
from turgor.record import open_sink
for _ in sys.stdin:  # a new writer for each line: forked, to start at once
    writer = os.fork()
    if writer == 0:
        sink = open_sink(sys.argv[1], rich_layout(), frames=3)  # 3: it must grow often
        for index in itertools.count():
            sink.add(rich_frame(index))
            print(index + 1, flush=True)
    print("writer", writer, flush=True)
    os.waitpid(writer, 0)
    print("dead", flush=True)
"""


@pytest.mark.process
@pytest.mark.req("X9")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")
def test_kill_9_leaves_all_frames(tmp_path):
    """A writer is killed 12 times, wherever it happens to be after a random number of frames."""
    random = np.random.default_rng(9)
    path = tmp_path / "run.vtkhdf"
    command = [sys.executable, "-c", WRITER, str(path), str(Path(__file__).parents[2])]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        for _ in range(12):
            path.unlink(missing_ok=True)
            reported = kill_a_writer(server, int(random.integers(1, 60)))
            times, meshes = vtk_steps(path)
            assert len(times) == len(meshes) >= reported
            for index, mesh in enumerate(meshes):
                np.testing.assert_array_equal(mesh.points, rich_frame(index).positions)
                np.testing.assert_array_equal(mesh.point_data["velocity"], rich_frame(index).velocities)
            with read(path) as run:
                assert len(run) == len(times)
                assert_same(run[-1], rich_frame(len(run) - 1))
        server.stdin.close()
    record(path, 2)  # the next run replaces the file, and sweeps up what the last kill may have left
    assert os.listdir(tmp_path) == ["run.vtkhdf"]


def kill_a_writer(server: subprocess.Popen[str], frames: int) -> int:
    """Starts a writer, kills it once it has told of `frames` frames; returns how many it told of until it died."""
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write("\n")
    server.stdin.flush()
    writer, told = 0, 0
    while not (text := server.stdout.readline()).endswith("dead\n"):  # perhaps in the middle of a line
        line = text.split()
        assert line, "the writer failed"
        if line[0] == "writer":
            writer = int(line[1])
        else:
            told = int(line[0])
        if writer and told >= frames:
            os.kill(writer, signal.SIGKILL)
            frames = sys.maxsize  # once
    return told
