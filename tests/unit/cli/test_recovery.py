"""A run that was killed goes on to the state and the files of one that was not; full disks are told."""

from __future__ import annotations

import json
import os
import random
import resource
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import turgor
from common.killing import Kills, differences
from support.layouts import rich_frame, rich_layout
from support.program import Here
from support.scene_files import TINY
from turgor import SceneError, Simulation, record
from turgor.cli.recovery import every_of, place_of
from turgor.output.progress import Stop
from turgor.simulation.checkpoint import Checkpoint

pytestmark = pytest.mark.req("X9")


class Killed(BaseException):
    """Stands for a kill: nothing in between catches it."""


def killed_at(frame: int):
    def progress(done: int, total: int) -> None:
        if done == frame:
            raise Killed

    return progress


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.toml"
    path.write_text(TINY.replace("seconds = 0.1", "seconds = 0.2"))  # 12 frames
    return path


def killed(scene: Path, folder: Path, *outputs: str) -> None:
    """A run with a checkpoint at frame 6 that ends at frame 8."""
    sim = Simulation(turgor.Scene.load(scene))
    with pytest.raises(Killed):
        sim.run(
            record=[folder / name for name in outputs], progress=killed_at(8), every=3,
            checkpoint=folder / "a.checkpoint.npz",
        )  # fmt: skip


def test_a_killed_run_goes_on_to_the_same_state_and_file(scene: Path, tmp_path: Path, here: Here) -> None:
    options = ("--json", "--checkpoint", "every=3")
    expected = json.loads(here.good("run", scene, "-o", tmp_path / "b.vtkhdf", "-o", tmp_path / "b.npz", *options))
    assert expected["resumed_from"] is None
    killed(scene, tmp_path, "a.vtkhdf")
    result = json.loads(
        here.good("run", scene, "-o", tmp_path / "a.vtkhdf", "-o", tmp_path / "a.npz", "--resume", *options)
    )
    assert result["resumed_from"] == 6
    assert result["frames"] == 12
    assert result["state_hash"] == expected["state_hash"]
    assert differences(tmp_path / "a.vtkhdf", tmp_path / "b.vtkhdf") == ""
    with np.load(tmp_path / "a.npz") as one, np.load(tmp_path / "b.npz") as other:  # made again from the trajectory
        for key in other.files:
            np.testing.assert_array_equal(one[key], other[key])
    assert not list(tmp_path.glob("*checkpoint*"))


def test_without_a_checkpoint_it_starts_from_the_beginning_and_says_so(scene: Path, tmp_path: Path, here: Here) -> None:
    done = here.command("run", scene, "-o", tmp_path / "a.vtkhdf", "--resume", "--seconds", "0.05")
    assert done.returncode == 0
    assert "starts from the beginning" in done.stderr
    assert json.loads(here.good("run", scene, "--resume", "--json", "--seconds", "0.05"))["resumed_from"] is None


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--set", "ball.mass=2"], "another scene"),
        (["--fps", "30"], "other settings"),
        (["--worlds", "2"], "other worlds"),
        (["--seconds", "0.05"], "beyond the end"),
        (["-o", "a.mp4"], ".vtkhdf"),
        (["-o", "b.vtkhdf"], "b.vtkhdf"),
    ],
)
def test_a_checkpoint_of_something_else_is_refused(
    scene: Path, tmp_path: Path, here: Here, options: list[str], words: str
) -> None:
    killed(scene, tmp_path)
    done = here.command(
        "run", scene, "--resume", "--checkpoint-file", tmp_path / "a.checkpoint.npz", *options, cwd=tmp_path
    )
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stderr.count("\n") == 1
    assert (tmp_path / "a.checkpoint.npz").exists()


def test_a_progress_function_may_end_a_run_in_good_order(scene: Path, tmp_path: Path) -> None:
    def stop(done: int, total: int) -> None:
        if done == 5:
            raise Stop

    sim = Simulation(turgor.Scene.load(scene))
    sim.run(record=tmp_path / "a.npz", progress=stop, checkpoint=tmp_path / "c.npz", every="60s")
    with np.load(tmp_path / "a.npz") as run:
        assert len(run["times"]) == 6
    assert Simulation.load(tmp_path / "c.npz").state_hash() == sim.state_hash()


@pytest.mark.parametrize("every", ["often", 0, -3, "s", "-1s", "nans", True, 2.5])
def test_a_wrong_interval_is_told(tmp_path: Path, every: Any) -> None:
    with pytest.raises(SceneError, match="number of frames"):
        Checkpoint(tmp_path / "a.npz", every)


def test_options_of_checkpoints() -> None:
    assert every_of("every=50") == 50
    assert every_of("every=30s") == "30s"
    with pytest.raises(SceneError, match="every=50"):
        every_of("50 frames")
    assert place_of("drop", [Path("x/a.vtkhdf"), Path("b.mp4")]) == Path("x/a.checkpoint.npz")
    assert place_of("x/my.toml", []) == Path("my.checkpoint.npz")
    assert place_of("drop", [Path("frame_%04d.png")]) == Path("frame.checkpoint.npz")


# --- the trajectory that goes on


def test_a_recording_keeps_its_first_frames_and_goes_on(tmp_path: Path) -> None:
    for name, frames in (("a.vtkhdf", 7), ("b.vtkhdf", 9)):
        with record.open_sink(tmp_path / name, rich_layout()) as sink:
            for index in range(frames):
                sink.add(rich_frame(index))
    with record.open_sink(tmp_path / "a.vtkhdf", rich_layout(), keep=4) as sink:
        for index in range(4, 9):
            sink.add(rich_frame(index))
    assert (tmp_path / "a.vtkhdf").read_bytes() == (tmp_path / "b.vtkhdf").read_bytes()


def test_a_recording_of_something_else_is_not_gone_on_with(tmp_path: Path) -> None:
    from support.layouts import ball_layout

    path = tmp_path / "a.vtkhdf"
    with pytest.raises(SceneError, match="not there"):
        record.open_sink(path, rich_layout(), keep=1)
    with record.open_sink(path, rich_layout()) as sink:
        sink.add(rich_frame(0))
        with pytest.raises(SceneError, match="another run is writing it"):
            record.open_sink(path, rich_layout(), keep=1)
    before = path.read_bytes()
    with pytest.raises(SceneError, match="it has 1 frames"):
        record.open_sink(path, rich_layout(), keep=2)
    with pytest.raises(SceneError, match="another scene"):
        record.open_sink(path, ball_layout()[0], keep=1)
    with pytest.raises(SceneError, match="precision"):
        record.open_sink(path, rich_layout(), keep=1, precision="float32")
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["a.vtkhdf"]


def test_memory_does_not_grow_with_the_number_of_frames(tmp_path: Path) -> None:
    """Written and read one by one: 400 frames of 12 vertices within a tenth of that."""
    path, layout, frame = tmp_path / "a.vtkhdf", rich_layout(), rich_frame(0)
    tracemalloc.start()
    with record.open_sink(path, layout, frames=400) as sink:
        written = _growth(lambda: sink.add(frame), 400)
    with record.read(path) as run:
        frames = iter(run)
        seen = _growth(lambda: next(frames), 400)
    tracemalloc.stop()
    assert path.stat().st_size > 280_000
    assert max(written, seen) < path.stat().st_size / 10


def _growth(step: Callable[[], object], count: int) -> int:
    """Bytes of memory, at most, that the later ones of so many steps take beyond the first tenth."""
    for _ in range(count // 10):
        step()
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(count - count // 10):
        step()
    return tracemalloc.get_traced_memory()[1] - before


# --- full disks: a limit on the size of files does everywhere what a full disk does

FILL = """
import resource, sys
from support.layouts import rich_frame, rich_layout
from turgor import record
from turgor.errors import RecordError
resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))
try:
    with record.open_sink(sys.argv[1], rich_layout()) as sink:
        for index in range(400):
            sink.add(rich_frame(index))
except RecordError as error:
    print(error)
"""


@pytest.mark.process
@pytest.mark.parametrize("name", ["a.vtkhdf", "a.npz"])
def test_a_full_disk_is_told_and_leaves_nothing_half(tmp_path: Path, name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FILL, str(tmp_path / name)], capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{tmp_path / name}: cannot be written (File too large)")
    assert os.listdir(tmp_path) == []


def test_a_checkpoint_that_cannot_be_written_leaves_the_one_before(scene: Path, tmp_path: Path) -> None:
    sim = Simulation(turgor.Scene.load(scene))
    keeper = Checkpoint(tmp_path / "c.npz", 1)
    keeper.save(sim)
    before, limits = (tmp_path / "c.npz").read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
    sim.step()
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(turgor.RecordError, match=r"c.npz: cannot be written"):
            keeper.save(sim)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert (tmp_path / "c.npz").read_bytes() == before
    assert sorted(os.listdir(tmp_path)) == ["c.npz", "tiny.toml"]


# --- real kills


@pytest.mark.process
def test_real_kills(tmp_path: Path, here: Here) -> None:
    """tools/kills in small: SIGKILL at random moments, then on to the end; 50 of them are made by hand."""
    (tmp_path / "tiny.toml").write_text(TINY.replace("seconds = 0.1", "seconds = 4"))
    options = [tmp_path / "tiny.toml", "--checkpoint", "every=5"]
    victim = Kills(tmp_path, options, random.Random(3))
    while victim.done < 3 and victim.kill_once(within=0.1):
        pass
    assert victim.complaints == []
    result = json.loads(here.good("run", *options, "-o", victim.recording, "--resume", "--json"))
    expected = json.loads(here.good("run", options[0], "-o", tmp_path / "b.vtkhdf", "--json"))
    assert result["state_hash"] == expected["state_hash"]
    assert differences(tmp_path / "b.vtkhdf", victim.recording) == ""
