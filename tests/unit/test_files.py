"""Files appear complete or not at all, whoever writes them."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import turgor
from turgor.files import replacing, scratch, sweep
from turgor.papers.report.write import write_report


def test_the_new_file_takes_the_place_of_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    with replacing(path) as temporary:
        assert temporary.suffix == ".txt"  # writers that pick the format by the ending still do
        temporary.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")

    def fail() -> None:
        with replacing(path) as temporary:
            temporary.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_the_error_of_a_missing_folder_is_the_writers_own(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError), replacing(tmp_path / "file" / "a.txt") as temporary:
        temporary.write_text("x")


def test_two_writers_of_one_file_do_not_mix(tmp_path: Path) -> None:
    """Both write half, then both the rest: what is there at the end is one of the two, whole."""
    path, half = tmp_path / "a.txt", threading.Barrier(2, timeout=20)

    def write(letter: str) -> None:
        with replacing(path) as temporary, temporary.open("w") as file:
            file.write(letter * 1000)
            file.flush()
            half.wait()
            file.write(letter * 1000)

    writers = [threading.Thread(target=write, args=(letter,)) for letter in "ab"]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert path.read_text() in ("a" * 2000, "b" * 2000)
    assert os.listdir(tmp_path) == ["a.txt"]


def test_a_sweep_takes_what_is_left_of_this_file_only(tmp_path: Path) -> None:
    path = tmp_path / "run [1].gif"
    for left in (path, path.with_suffix(".mp4")):  # a GIF is made of a video of the same name
        scratch(left).touch()
    other = scratch(tmp_path / "run 1.gif")
    for kept in (path, other, tmp_path / ".run [1].part.gif"):
        kept.touch()
    sweep(path)
    assert sorted(os.listdir(tmp_path)) == sorted([path.name, other.name, ".run [1].part.gif"])


WRITERS: dict[str, Callable[[Path], object]] = {
    "scene.toml": lambda path: turgor.Scene().save(path),
    "mesh.obj": lambda path: turgor.shapes.write(turgor.shapes.icosphere(1.0, 1), path),
    "state.npz": lambda path: turgor.Simulation(turgor.Scene()).save(path),
    "index.html": lambda path: write_report((), path.parent),
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_move_that_fails_leaves_nothing_half_written(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All writers go through `replacing`: with a full disk at the last moment the old file stays, alone."""
    path = tmp_path / name
    path.write_text("old")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("turgor.files.os.replace", fail)
    with pytest.raises((OSError, turgor.TurgorError), match="No space left"):
        WRITERS[name](path)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == [name]
