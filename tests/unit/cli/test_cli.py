"""The command line as a user meets it; where the process itself matters, as the installed `turgor`."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import trimesh

import turgor
from support.program import EXE, Here, command, good
from support.scene_files import TINY
from turgor import gallery, record
from turgor.cli.app import explain
from turgor.cli.printing import human_size, plain
from turgor.scene import SOLVERS

EXPLOSION = TINY.replace("stiffness = 100.0", "stiffness = 1e9").replace("seconds = 0.1", "seconds = 0.1\nsubsteps = 2")
TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n"
OPEN = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\n"


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.toml"
    path.write_text(TINY)
    return path


# --- help


def test_help_names_every_command(here: Here) -> None:
    text = here.good("--help")
    for name in ("scenes", "run", "check"):
        assert name in text
    assert here.good("-h") == text
    assert here.good() == text  # `turgor` alone


def test_help_of_run_tells_it_all(here: Here) -> None:
    text = here.good("run", "--help")
    for word in (".mp4", ".gif", ".png", ".vtkhdf", ".npz", "--set", "ball.springs.stiffness=200", "--seconds"):
        assert word in text
    for word in ("--device", "--solver", "--fps", "--substeps", "--precision", "--worlds", "--json", "--quiet", "-o"):
        assert word in text
    for solver in SOLVERS:
        assert solver in text


def test_version(here: Here) -> None:
    from importlib.metadata import version

    assert here.good("--version") == f"turgor {version('turgor')}\n"


@pytest.mark.process
def test_help_and_scenes_load_nothing_heavy() -> None:
    """S7 needs a quick start: what a command does not use is not imported."""
    heavy = {"warp", "trimesh", "pyvista", "h5py", "shapely", "fontTools", "vtkmodules"}
    for arguments in (["run", "--help"], ["scenes", "--json"]):
        code = f"import sys; from turgor.cli.app import execute; execute({arguments}); print(*sys.modules)"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert heavy.isdisjoint(done.stdout.splitlines()[-1].split())


# --- scenes


def test_scenes_lists_the_gallery(here: Here) -> None:
    rows = json.loads(here.good("scenes", "--json"))
    assert [row["name"] for row in rows] == gallery.names()
    assert {"name", "description", "dim", "seconds", "bodies"} == set(rows[0])
    text = here.good("scenes")
    for row in rows:
        assert row["name"] in text
        assert row["description"] in text  # on one line, also in a pipe


def test_scenes_prints_a_file_to_start_from(tmp_path: Path, here: Here) -> None:
    text = here.good("scenes", "drop-2d")
    assert turgor.Scene.from_toml(text) == gallery.load("drop-2d")
    assert json.loads(here.good("scenes", "drop-2d", "--json"))["name"] == "drop-2d"


@pytest.mark.process
def test_a_pipe_that_closes_early_is_no_error() -> None:
    done = subprocess.run(f"{EXE} scenes drop | true", shell=True, capture_output=True, text=True, timeout=60)
    assert done.stderr == ""


# --- run


@pytest.mark.process
def test_json_is_one_strict_object(scene: Path) -> None:
    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is not JSON")

    result = json.loads(good("run", scene, "--json"), parse_constant=refuse)
    assert result["scene"] == "tiny"
    assert result["device"] == "cpu"
    assert result["solver"] == "symplectic"
    assert result["frames"] == 6
    assert result["seconds"] == pytest.approx(0.1)
    assert result["wall_seconds"] > 0.0
    assert result["realtime_factor"] == pytest.approx(result["seconds"] / result["wall_seconds"])
    assert result["substeps"] >= 1
    assert result["accuracy"] == "auto"
    assert 0.0 <= result["energy_error"] < 1.0
    assert result["vertices"] == 42
    assert result["finite"] is True
    assert set(result["energy"]) >= {"kinetic", "elastic", "gas", "gravity", "total"}
    ball = result["bodies"]["ball"]
    assert ball["volume"] == pytest.approx(ball["rest_volume"], rel=0.2)
    assert ball["pressure"] == pytest.approx(1020.0, rel=0.1)
    assert result["contacts"]["max_penetration"] >= 0.0


def test_a_body_without_gas_has_null_and_not_nan(here: Here) -> None:
    result = json.loads(here.good("run", "flag", "--seconds", "0.05", "--json"), parse_constant=pytest.fail)
    assert result["bodies"]["flag"]["pressure"] is None


def test_options_win_over_the_scene(scene: Path, here: Here) -> None:
    options = ["--seconds", 0.2, "--solver", "rk4", "--fps", 30, "--substeps", 50, "--precision", "double"]
    options += ["--set", "gravity=[0,0,-1]", "--json"]
    result = json.loads(here.good("run", scene, *options, "--set", "ball.mass=2"))
    assert result["solver"] == "rk4"
    assert result["frames"] == 6
    assert result["substeps"] == 50
    assert result["precision"] == "double"
    precise = json.loads(here.good("run", scene, "--solver", "heun", "--accuracy", 1e-4, "--json"))
    assert precise["accuracy"] == 1e-4
    assert 0.0 < precise["energy_error"] < 1e-3
    lighter = json.loads(here.good("run", scene, *options))
    assert result["energy"]["gravity"] == pytest.approx(2 * lighter["energy"]["gravity"], rel=1e-3)


def test_worlds_give_lists(scene: Path, here: Here) -> None:
    result = json.loads(here.good("run", scene, "--worlds", 3, "--json"))
    assert len(result["bodies"]["ball"]["volume"]) == 3
    assert "3 worlds" in here.good("run", scene, "--worlds", 3)


@pytest.mark.picture
def test_files_by_their_endings(scene: Path, tmp_path: Path, here: Here) -> None:
    names = ["a.vtkhdf", "b.npz", "c.png", "d.mp4"]
    text = here.good("run", scene, *(part for name in names for part in ("-o", tmp_path / name)))
    for name in names:
        assert (tmp_path / name).stat().st_size > 100
        assert f"{name} (" in text
    assert record.read(tmp_path / "a.vtkhdf").times[-1] == pytest.approx(0.1)
    assert sorted(os.listdir(tmp_path)) == sorted([*names, "tiny.toml"])  # nothing left over


def test_report_and_quiet(scene: Path, here: Here) -> None:
    text = here.good("run", scene)
    assert "ball" in text
    assert "real time" in text
    assert here.good("run", scene, "--quiet") == ""


@pytest.mark.process
@pytest.mark.picture
def test_a_failed_simulation_is_exit_1_and_leaves_no_video(tmp_path: Path) -> None:
    (tmp_path / "bang.toml").write_text(EXPLOSION)
    done = command("run", "bang.toml", "-o", "a.mp4", "-o", "a.npz", "--json", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("turgor: ")
    assert "ball" in done.stderr
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "a.mp4").exists()
    assert not [name for name in os.listdir(tmp_path) if ".part" in name]


def test_outputs_are_checked_before_anything_is_computed(tmp_path: Path, here: Here) -> None:
    (tmp_path / "long.toml").write_text(TINY.replace("seconds = 0.1", "seconds = 1e6"))
    for path, word in (("no/a.mp4", "folder"), ("a.avi", ".mp4"), ("a", "ending")):
        done = here.command("run", "long.toml", "-o", "a.npz", "-o", path, cwd=tmp_path)
        assert done.returncode == 2
        assert word in done.stderr
    assert os.listdir(tmp_path) == ["long.toml"]


@pytest.mark.process
@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_run_finishes_its_files_and_reports(tmp_path: Path, sent: signal.Signals, code: int) -> None:
    (tmp_path / "long.toml").write_text(TINY.replace("seconds = 0.1", "seconds = 1e6"))
    process = subprocess.Popen(
        [EXE, "run", "long.toml", "-o", "a.vtkhdf", "-o", "b.npz"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(sent, signal.SIG_DFL),  # what a background job ignores stays ignored
    )  # fmt: skip
    try:
        while not (tmp_path / "a.vtkhdf").exists() and process.poll() is None:
            time.sleep(0.05)  # waits for an event, not for time to pass
        process.send_signal(sent)
        out, err = process.communicate(timeout=120)
    finally:
        process.kill()
    assert (process.returncode, err) == (code, "")
    assert "interrupted: " in out
    frames = len(record.read(tmp_path / "a.vtkhdf"))
    with np.load(tmp_path / "b.npz") as run:
        assert len(run["times"]) == frames
    assert not [name for name in os.listdir(tmp_path) if ".part" in name]


@pytest.mark.process
def test_progress_on_a_terminal(scene: Path) -> None:
    """A bar with frames and real-time factor, on stderr only, and only if that is a terminal."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [EXE, "run", str(scene), "--seconds", "1"], stdout=subprocess.PIPE, stderr=theirs, text=True,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "120"},
    )  # fmt: skip
    os.close(theirs)
    shown = b""
    while True:
        try:
            data = os.read(ours, 65536)
        except OSError:  # the other end was closed
            break
        if not data:
            break
        shown += data
    os.close(ours)
    out = process.communicate()[0]
    assert process.returncode == 0
    assert "real time" in out
    assert "\x1b" not in out
    text = shown.decode()
    assert "frame 60 / 60" in text
    assert "× real time" in text


# --- check


def test_check_of_a_good_mesh(tmp_path: Path, here: Here) -> None:
    (tmp_path / "a.obj").write_text(TETRAHEDRON)
    assert "can hold gas" in here.good("check", "a.obj", cwd=tmp_path)
    report = json.loads(here.good("check", "a.obj", "--json", cwd=tmp_path))
    assert report["ok"] is True
    assert report["vertices"] == 4


def test_check_of_an_open_mesh_and_its_repair(tmp_path: Path, here: Here) -> None:
    (tmp_path / "a.obj").write_text(OPEN)
    done = here.command("check", "a.obj", cwd=tmp_path)
    assert done.returncode == 2
    assert "open" in done.stderr
    assert done.stderr.count("\n") == 1
    done = here.command("check", "a.obj", "--json", cwd=tmp_path)
    assert done.returncode == 2
    assert json.loads(done.stdout)["ok"] is False
    assert "mended.stl" in here.good("check", "a.obj", "--repair", "mended.stl", cwd=tmp_path)
    assert "can hold gas" in here.good("check", "mended.stl", cwd=tmp_path)
    assert "cloth" in here.good("check", "a.obj", "--cloth", cwd=tmp_path)


@pytest.mark.req("X15")
def test_check_fits_a_mesh(tmp_path: Path, here: Here) -> None:
    """A box that stands along y with a ball through its top: turned, joined, simplified, scaled and written."""
    tower, ball = turgor.shapes.box((1.0, 3.0, 1.0), 8), turgor.shapes.icosphere(0.7, 3)
    lifted = turgor.shapes.mesh(ball.vertices + np.array([0.0, 1.5, 0.0]), ball.faces)
    turgor.shapes.write([tower, lifted], tmp_path / "toy.obj")
    options = ["--up", "y", "--size", "0.5", "--vertices", "120", "--parts", "union", "--repair", "fit.ply"]
    text = here.good("check", "toy.obj", *options, cwd=tmp_path)
    for words in ("joined 2 shells into 1", "turned its y axis up", "to 0.5 m", "to 120", "fit.ply"):
        assert words in text
    made = trimesh.load_mesh(tmp_path / "fit.ply")
    assert made.is_watertight
    assert len(made.vertices) == 120
    assert np.ptp(made.vertices, axis=0).max() == pytest.approx(0.5)
    assert int(np.ptp(made.vertices, axis=0).argmax()) == 2
    report = json.loads(here.good("check", "toy.obj", "--size", "2", "--json", cwd=tmp_path))
    assert len(report["shells"]) == 2
    assert report["fitted"] == ["scaled the longest side of its box from 3.7 to 2 m"]


# --- messages


def test_every_error_has_a_code_and_one_sentence() -> None:
    assert explain(turgor.SceneError("mass must be > 0")) == (2, "mass must be > 0")
    assert explain(turgor.MeshError("open"))[0] == 2
    assert explain(turgor.UnstableError("diverged"))[0] == 1
    assert explain(FileNotFoundError(2, "No such file or directory", "x")) == (1, "x: No such file or directory")
    code, text = explain(KeyError("oops"))
    assert code == 1
    assert "internal error" in text
    assert "KeyError" in text


def test_output_helpers() -> None:
    assert plain({"a": float("nan"), "b": (1, float("inf")), "c": "x", "d": True}) == {
        "a": None, "b": [1, None], "c": "x", "d": True,
    }  # fmt: skip
    assert [human_size(size) for size in (12, 1200, 3_100_000, 4.2e9)] == ["12 bytes", "1.2 kB", "3.1 MB", "4.2 GB"]


@pytest.mark.process
@pytest.mark.req("X9")
def test_kill_9_leaves_a_file_that_opens(tmp_path: Path) -> None:
    """`turgor run -o a.vtkhdf`, killed in the middle: VTK's own reader finds every frame that had been flushed."""
    from vtkmodules.vtkIOHDF import vtkHDFReader

    path = tmp_path / "a.vtkhdf"
    job = subprocess.Popen([EXE, "run", "drop-2d", "--seconds", "100000", "-o", str(path)], stderr=subprocess.PIPE)
    seen = 0
    try:
        while seen < 20:  # the trajectory can be read while it grows; pytest's own timeout ends a run that never writes
            assert job.poll() is None, job.stderr.read().decode()
            if path.exists():
                with record.read(path) as run:
                    seen = len(run)
    finally:
        job.kill()
        job.communicate()
    reader = vtkHDFReader()
    reader.SetFileName(str(path))
    reader.UpdateInformation()
    assert reader.GetNumberOfSteps() >= seen
    reader.SetStep(reader.GetNumberOfSteps() - 1)
    reader.Update()
    assert reader.GetOutput().GetNumberOfPoints() == gallery.load("drop-2d").bodies[0].shape.vertices.shape[0]
