"""Bad input on the command line: exit code 2, one line on stderr that says what is wrong, and nothing written.

The messages themselves are tested where they are made (test_doctor.py, test_scene_files.py); here a selection goes
through the program in this process, and once through the installed command.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from support.program import Here, command
from support.scene_files import CATALOGUE, SAMPLE, TINY
from support.ugly_meshes import ARRAYS, FILES
from turgor.errors import SceneError
from turgor.shapes import Shape, write

Refusal = Callable[..., str]
MESHES = [
    "empty obj", "garbage stl", "truncated stl", "ply announces ten million", "obj with nan", "unknown ending",
    "glb that promises more", "open obj", "comment only",
]  # fmt: skip
WRITTEN = ["moebius strip", "klein bottle", "flattened", "three faces on an edge", "two tetrahedra on one edge"]
SCENES = [
    "not TOML", "unknown top key", "single brackets", "dim", "unknown solver", "substeps", "misspelt in a table",
    "negative stiffness", "mass not a number", "no shape", "unknown shape", "no such mesh", "open shape",
    "gas of two amounts", "gas below vacuum", "pins",
]  # fmt: skip


def refused(folder: Path, run: Callable[[], tuple[int, str]]) -> str:
    """Checks that a run of the program in the folder refuses properly; returns what it says."""
    before = sorted(os.listdir(folder))
    code, said = run()
    assert code == 2, said
    assert "Traceback" not in said
    assert said.startswith("turgor: ")
    assert said.count("\n") == 1
    assert sorted(os.listdir(folder)) == before
    return said


@pytest.fixture
def refusal(tmp_path: Path, here: Here) -> Refusal:
    """What the program says, in `tmp_path`, to a command line that it must refuse."""

    def run(*args: str) -> tuple[int, str]:
        done = here.command(*args, cwd=tmp_path)
        return done.returncode, done.stderr

    return lambda *args: refused(tmp_path, lambda: run(*args))


@pytest.mark.parametrize("name", MESHES)
def test_ugly_mesh_files(tmp_path: Path, refusal: Refusal, name: str) -> None:
    file, content, words = FILES[name]
    (tmp_path / file).write_bytes(content)
    said = refusal("check", file)
    assert re.search(words, said)
    assert file in said


@pytest.mark.parametrize("name", WRITTEN)
def test_ugly_surfaces_are_not_repaired_into_something_else(tmp_path: Path, refusal: Refusal, name: str) -> None:
    (vertices, faces), words = ARRAYS[name]
    write(Shape(vertices, faces.astype("int32"), "sheet", {}), tmp_path / "a.obj")  # as it is, unchecked
    said = refusal("check", "a.obj", "--repair", "b.obj")
    assert re.search(words, said)
    assert "--repair" not in said  # this is what the user does already


def test_an_ugly_mesh_in_a_scene(tmp_path: Path, refusal: Refusal) -> None:
    (tmp_path / "a.obj").write_bytes(FILES["open obj"][1])
    (tmp_path / "a.toml").write_text('[[soft_body]]\nname = "cat"\nshape = { file = "a.obj" }\n')
    said = refusal("run", "a.toml", "-o", "b.npz")
    for word in ("a.toml", "soft_body 'cat'", "a.obj", "open"):
        assert word in said


@pytest.mark.parametrize("name", SCENES)
def test_bad_scene_files(tmp_path: Path, refusal: Refusal, name: str) -> None:
    old, new, words = CATALOGUE[name]
    (tmp_path / "ball.toml").write_text(SAMPLE.replace(old, new, 1))
    said = refusal("run", "ball.toml", "-o", "a.npz")
    for word in ("ball.toml", *words):
        assert word in said


COMMANDS: dict[str, tuple[list[str], list[str]]] = {
    "unknown scene": (["run", "drp"], ["'drp'", "did you mean 'drop'?", "turgor scenes"]),
    "nothing like it": (["run", "xyzzy"], ["'xyzzy'", "hanging-ball"]),
    "no such file": (["run", "no.toml"], ["no.toml: no such file"]),
    "not a scene": (["run", "tiny.txt"], ["tiny.txt", ".toml"]),
    "unknown scene to print": (["scenes", "flaf"], ["did you mean 'flag'?"]),
    "no scene": (["run"], ["SCENE", "turgor run --help"]),
    "unknown command": (["rum"], ["rum", "run"]),
    "unknown option": (["run", "tiny.toml", "--secnds", "3"], ["--secnds", "turgor run --help"]),
    "option without value": (["run", "tiny.toml", "--seconds"], ["--seconds"]),
    "word for a number": (["run", "tiny.toml", "--seconds", "long"], ["--seconds", "number"]),
    "negative time": (["run", "tiny.toml", "--seconds", "-1"], ["seconds", "-1"]),
    "infinite time": (["run", "tiny.toml", "--seconds", "inf"], ["seconds", "inf"]),
    "solver": (["run", "tiny.toml", "--solver", "rk5"], ["'rk5'", "did you mean 'rk4'?"]),
    "substeps": (["run", "tiny.toml", "--substeps", "many"], ["substeps", "'many'"]),
    "accuracy": (["run", "tiny.toml", "--accuracy", "high"], ["--accuracy", "'high'"]),
    "no accuracy": (["run", "tiny.toml", "--accuracy", "0"], ["accuracy", "0"]),
    "no substeps": (["run", "tiny.toml", "--substeps", "0"], ["substeps", "0"]),
    "precision": (["run", "tiny.toml", "--precision", "half"], ["'half'", "single"]),
    "device": (["run", "tiny.toml", "--device", "tpu"], ["tpu", "cpu"]),
    "no worlds": (["run", "tiny.toml", "--worlds", "0"], ["--worlds", "0"]),
    "set without value": (["run", "tiny.toml", "--set", "ball.mass"], ["ball.mass", "KEY=VALUE"]),
    "set an unknown body": (["run", "tiny.toml", "--set", "bal.mass=2"], ["'bal'", "did you mean 'ball'?"]),
    "set an unknown key": (["run", "tiny.toml", "--set", "ball.mas=2"], ["'mas'", "did you mean 'mass'?"]),
    "set an unknown material": (
        ["run", "tiny.toml", "--set", "ball.material=ruber"],
        ["no preset 'ruber'", "did you mean 'rubber'?"],
    ),
    "set springs of a material": (
        ["run", "tiny.toml", "--set", "ball.material=rubber", "--set", "ball.springs.stiffness=3"],
        ["ball: a skin is of springs or of a material"],
    ),
    "set a wrong value": (["run", "tiny.toml", "--set", "ball.mass=-2"], ["mass must be > 0"]),
    "no format": (["run", "tiny.toml", "-o", "a.avi"], ["a.avi", ".mp4"]),
    "no folder": (["run", "tiny.toml", "-o", "no/a.npz"], ["no/a.npz", "folder"]),
    "the same file twice": (["run", "tiny.toml", "-o", "a.npz", "-o", "./a.npz"], ["twice"]),
    "unknown look": (["run", "tiny.toml", "-o", "a.png", "--look", "colour=red"], ["colour", "color_by"]),
    "wrong look": (["run", "tiny.toml", "-o", "a.png", "--look", "color_by=heat"], ["color_by", "pressure"]),
    "look without a picture": (["run", "tiny.toml", "-o", "a.npz", "--look", "zoom=2"], ["--look", "picture"]),
    "no such mesh": (["check", "no.obj"], ["no.obj"]),
    "mesh turned to nowhere": (["check", "a.obj", "--up", "w"], ["up must be", "'w'"]),
    "mesh of no size": (["check", "a.obj", "--size", "0"], ["size", "greater than zero"]),
    "mesh of three vertices": (["check", "a.obj", "--vertices", "3"], ["vertices", "from 4"]),
    "mesh in some parts": (["check", "a.obj", "--parts", "some"], ["parts must be", "'union'"]),
    "repair to nothing known": (["check", "a.obj", "--repair", "b.xyz"], ["b.xyz", ".obj"]),
    "repair to nowhere": (["check", "a.obj", "--repair", "no/b.obj"], ["no/b.obj"]),
}


@pytest.mark.parametrize(("args", "words"), COMMANDS.values(), ids=COMMANDS)
def test_bad_command_lines(tmp_path: Path, refusal: Refusal, args: list[str], words: list[str]) -> None:
    (tmp_path / "tiny.toml").write_text(TINY)
    (tmp_path / "tiny.txt").write_text(TINY)
    (tmp_path / "a.obj").write_bytes(FILES["open obj"][1])
    said = refusal(*args)
    for word in words:
        assert word in said


@pytest.mark.process
def test_the_installed_command_refuses_alike(tmp_path: Path, refusal: Refusal) -> None:
    (tmp_path / "ball.toml").write_text(SAMPLE.replace("mass = 1.0", "mas = 1.0", 1))
    args = ("run", "ball.toml", "-o", "a.npz")

    def run() -> tuple[int, str]:
        done = command(*args, cwd=tmp_path)
        return done.returncode, done.stderr

    assert refused(tmp_path, run) == refusal(*args)


def test_gallery_refuses_unknown_names() -> None:
    from turgor import gallery

    with pytest.raises(SceneError, match="did you mean 'rotating-box'"):
        gallery.load("rotating_box")
