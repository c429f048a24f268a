"""The playground notices when a scene file is saved."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from turgor import shapes
from turgor.errors import SceneError
from turgor.scene import Scene
from turgor.viewer.world.file_watch import SETTLE, FileWatch, files_of

pytestmark = pytest.mark.req("X8")


class Clock:
    """Time that passes when told."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Case:
    """A watched file, and how often its change was told."""

    def __init__(self, folder: Path) -> None:
        self.path, self.clock, self.told = folder / "scene.toml", Clock(), 0
        self.path.write_text("one")
        self.watch = FileWatch(self.path, self.changed, self.clock)

    def changed(self) -> None:
        self.told += 1

    def look(self, seconds: float = 1.0) -> int:
        """Polls now and after some seconds; how often a change has been told in all."""
        self.watch.poll()
        self.clock.now += seconds
        self.watch.poll()
        return self.told


@pytest.fixture
def case(tmp_path: Path) -> Case:
    return Case(tmp_path)


def test_nothing_is_told_when_nothing_happens(case: Case) -> None:
    assert [case.look() for _ in range(5)] == [0] * 5


def test_a_change_is_told_once(case: Case) -> None:
    case.path.write_text("another")
    assert case.look() == 1
    assert case.look() == 1
    case.path.write_text("a third")
    assert case.look() == 2


def test_a_change_of_the_same_size_is_told(case: Case) -> None:
    case.path.write_text("two")
    os.utime(case.path, ns=(0, 12345))
    assert case.look() == 1


def test_it_waits_until_the_file_is_complete(case: Case) -> None:
    for length in range(1, 20):  # written bit by bit
        case.path.write_text("x" * 10 * length)
        assert case.look(0.9 * SETTLE) == 0
    assert case.look() == 1


def test_a_replaced_file_is_told_once(case: Case) -> None:
    """As editors do it: the old file goes, and a new one takes its name."""
    status = case.path.stat()
    case.path.unlink()
    assert case.look() == 0
    new = case.path.with_suffix(".new")
    new.write_text("two")
    os.utime(new, ns=(status.st_atime_ns, status.st_mtime_ns))
    blocker = case.path.with_suffix(".blocker")  # so that the new file cannot have the number of the old one
    blocker.write_text("")
    os.replace(new, case.path)
    os.utime(case.path, ns=(0, 54321))
    assert case.look() == 1
    assert case.look() == 1


def test_a_missing_file_is_no_news(case: Case) -> None:
    content, status = case.path.read_text(), case.path.stat()
    moved = case.path.with_suffix(".moved")
    os.replace(case.path, moved)
    assert [case.look() for _ in range(3)] == [0] * 3
    os.replace(moved, case.path)  # back as it was
    assert case.look() == 0
    assert (case.path.read_text(), case.path.stat().st_mtime_ns) == (content, status.st_mtime_ns)


def test_a_folder_or_a_file_that_never_was(tmp_path: Path) -> None:
    told: list[int] = []
    clock = Clock()
    watch = FileWatch(tmp_path / "none.toml", lambda: told.append(1), clock)
    assert not watch.poll()
    (tmp_path / "none.toml").write_text("now")
    watch.poll()
    clock.now = 1.0
    assert watch.poll()
    assert told == [1]


def test_an_error_is_raised_once(case: Case) -> None:
    def fail() -> None:
        raise SceneError("bad")

    case.watch.changed = fail
    case.path.write_text("broken")
    case.watch.poll()
    case.clock.now = 1.0
    with pytest.raises(SceneError):
        case.watch.poll()
    assert not case.watch.poll()
    case.watch.changed = case.changed
    case.path.write_text("mended again")
    assert case.look() == 1


def test_files_that_the_scene_refers_to_are_watched_too(tmp_path: Path, case: Case) -> None:
    box, flag = tmp_path / "box.obj", tmp_path / "flag.png"
    shapes.write([shapes.box()], box)
    flag.write_bytes(b"image")
    case.path.write_text(
        'name = "x"\n'
        '[[soft_body]]\nname = "a"\nshape = { file = "box.obj" }\n'
        '[[rigid_body]]\nname = "b"\nat = [3, 0, 0]\nshape = { file = "box.obj" }\n'
        '[[cloth]]\nname = "c"\nat = [9, 0, 0]\nshape = { sheet = { } }\ntexture = "flag.png"\n'
    )
    assert case.look() == 1
    found = files_of(Scene.load(case.path))
    assert sorted(found) == [box, flag]
    case.watch.also(found)
    assert case.look() == 1
    flag.write_bytes(b"another image")
    assert case.look() == 2
    box.unlink()  # a mesh that is gone is news: the scene cannot be loaded, and says so
    assert case.look() == 3
    case.watch.also([])
    flag.write_bytes(b"x")
    assert case.look() == 3


def test_a_change_while_the_scene_was_read_is_not_missed(case: Case) -> None:
    def load() -> None:
        case.changed()
        if case.told == 1:
            case.path.write_text("saved again meanwhile")
        case.watch.also([])

    case.watch.changed = load
    case.path.write_text("saved")
    assert case.look() == 1
    assert case.look() == 2
