"""The Blender extension (extras/blender), in a real Blender: the module `bpy`, which is Blender as a Python package.

bpy has 374 MB and its own Python, so it is no requirement of the tests. They run where the environment variable
TURGOR_BPY names a Python that has it: TURGOR_BPY=/path/to/python make test
"""

from __future__ import annotations

import json
import os
import subprocess
import tomllib
from pathlib import Path

import numpy as np
import pytest

from support.program import Here
from turgor import Scene, Simulation, gallery, record

pytestmark = [pytest.mark.process, pytest.mark.req("X9")]
HERE = Path(__file__).parent
EXTENSION = HERE.parents[1] / "extras" / "blender"
FRAMES = (0, 3, 5)


@pytest.fixture(scope="module")
def python() -> str:
    """A Python with bpy."""
    named = os.environ.get("TURGOR_BPY")
    if not named:
        pytest.skip("TURGOR_BPY does not name a Python that has bpy")
    return named


@pytest.fixture(scope="module")
def told(python: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with a recording of `drop`, and what Blender made of it."""
    out = tmp_path_factory.mktemp("blender")
    sim = Simulation(gallery.load("drop"))
    sim.run(max(FRAMES) / 60.0, record=[str(out / "run.npz"), str(out / "run.vtkhdf")])
    arguments = [str(HERE / "in_blender.py"), str(EXTENSION), str(out / "run.npz"), str(out), *map(str, FRAMES)]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run([python, *arguments], capture_output=True, encoding="utf-8", timeout=250, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return out


def test_an_imported_recording_has_the_frames_of_the_recording(told: Path) -> None:
    run = record.read(told / "run.vtkhdf")
    start, end, fps = json.loads((told / "told.json").read_text())["timeline"]
    assert (end - start + 1, fps) == (len(run), run.layout.fps)
    assert len(run) == max(FRAMES) + 1


def test_blender_evaluates_the_recorded_positions(told: Path) -> None:
    run, seen = record.read(told / "run.vtkhdf"), np.load(told / "points.npz")
    faces = json.loads((told / "told.json").read_text())["faces"]
    for body in run.layout.bodies:
        assert faces[body.name] == np.asarray(body.faces).tolist()
        for frame in FRAMES:
            expected = run[frame].positions[body.start : body.start + body.count]
            np.testing.assert_allclose(seen[f"{body.name}/{frame}"], expected, rtol=0.0, atol=4e-7)  # 32 bits of 2 m
    assert np.abs(run[5].positions - run[0].positions).max() > 0.01  # it moved


def test_what_cannot_be_imported_is_said(told: Path) -> None:
    said = json.loads((told / "told.json").read_text())["said"]
    assert "turgor export run.vtkhdf run.npz" in said["run.vtkhdf"]
    assert "not an .npz file" in said["nothing.npz"]


def test_exported_meshes_are_a_scene(told: Path, here: Here) -> None:
    tables = tomllib.loads((told / "made.toml").read_text(encoding="utf-8"))
    assert tables["soft_body"][0]["material"] == "rubber"
    assert tables["cloth"][0]["material"] == "cotton"
    assert "can hold gas" in here.good("check", told / "made-Toy-cube.obj")
    assert here.good("check", told / "made-sheet.obj", "--cloth")
    scene = Scene.load(told / "made.toml")
    assert [body.name for body in scene.bodies] == ["Toy-cube", "sheet"]
    assert [body.name for body in scene.rigid_bodies] == ["block"]
    cube = scene.bodies[0]
    assert cube.at == pytest.approx((0.0, 0.0, 1.0))
    assert len(cube.shape.vertices) == 98  # of the subdivided cube: the modifier was applied
    size = np.ptp(np.asarray(cube.shape.vertices), axis=0)
    assert size[2] == pytest.approx(2.0 * size[0], rel=1e-5)
    assert cube.shape.volume > 0.0  # outward, though the object is mirrored
