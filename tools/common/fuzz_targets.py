"""What a stranger's file goes through, from bytes: for tools/fuzz (long runs) and tests/fuzz (short ones).

A target takes any bytes and returns; the only errors allowed on the way are SceneError and MeshError, with a sentence.
Limits are small, so that a file that asks for much is refused and memory stays below RSS_MB.
"""

from __future__ import annotations

import atexit
import functools
import io
import json
import os
import shutil
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from turgor import record, shapes
from turgor.errors import MeshError, SceneError
from turgor.output.frame import BodyLayout, Frame, Layout, WallLayout, WallPose
from turgor.scene import Scene
from turgor.shapes.limits import Limits, limited
from turgor.simulation.save import digest_of

__all__ = ["RSS_MB", "TARGETS", "run_target"]

RSS_MB = 2048  # resident memory that no input may exceed
SMALL = Limits(vertices=3_000, mesh_bytes=1 << 20, scene_bytes=1 << 18)
SUSPICIOUS = ("Traceback", "internal error")


@functools.cache
def _folder() -> Path:
    place = Path("/dev/shm") if os.access("/dev/shm", os.W_OK) else None
    made = Path(tempfile.mkdtemp(prefix="turgor-fuzz-", dir=place))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


def _file(name: str, data: bytes) -> Path:
    path = _folder() / name
    path.write_bytes(data)
    return path


def scene(data: bytes) -> None:
    """A scene file: what it describes is read, written and read again."""
    made = Scene.load(_file("scene.toml", data), limits=SMALL)
    text = made.to_toml()
    again = Scene.from_toml(text, _folder(), limits=SMALL)
    assert again == made, "a scene is not what was written"


def mesh(data: bytes) -> None:
    """A mesh file; the first byte chooses its format, the second how it is made to fit."""
    if len(data) < 2:
        return
    forms = ("obj", "ply", "stl", "off", "glb")
    options: list[dict[str, Any]] = [{}, {"cloth": True}, {"close_holes": True}, {"parts": "all"}, {"parts": "union"},
                                     {"size": 1.0, "vertices": 50}]  # fmt: skip
    path = _file(f"mesh.{forms[data[0] % len(forms)]}", data[2:])
    with limited(SMALL), mock.patch.dict(os.environ, {"TURGOR_CACHE": str(_folder())}):
        try:
            made = shapes.load(path, **options[data[1] % len(options)])
        finally:
            shutil.rmtree(_folder() / "textures", ignore_errors=True)  # images inside the file
    for shape in made if isinstance(made, list) else [made]:
        assert np.isfinite(shape.vertices).all(), "a vertex is not finite"
        assert shape.faces.min() >= 0, "a face has no vertex"
        assert shape.faces.max() < len(shape.vertices), "a face has a vertex that does not exist"


def recording(data: bytes) -> None:
    """A recording: its layout and its frames. The bytes as they are, or (first byte 0) a good one that they change:
    three bytes each, two for the place and one for the value."""
    if data[:1] == b"\0":
        changed = bytearray(_recorded())
        for high, low, value in zip(data[1::3], data[2::3], data[3::3], strict=False):
            changed[(256 * high + low) % len(changed)] = value
        data = bytes(changed)
    with record.read(_file("run.vtkhdf", data)) as run:
        assert run.times.ndim == 1
        for index in range(min(len(run), 3)):
            frame = run[index]
            assert frame.positions.shape == (run.layout.vertices, run.layout.dim), "a frame is not as its layout says"


@functools.cache
def _recorded() -> bytes:
    """A recording of two frames of two triangles, to be changed."""
    faces = np.array([[0, 1, 2]], np.int32)
    bodies = tuple(BodyLayout(name, "soft", 3 * number, 3, faces) for number, name in enumerate("ab"))
    layout = Layout("two", 3, 60.0, bodies, (WallLayout("ground", "ground", (0.0, 0.0, 1.0), ()),))
    pose = (WallPose(np.zeros(3), np.eye(3)),)
    path = _folder() / "base.vtkhdf"
    with record.open_sink(path, layout, frames=2) as sink:
        for index in range(2):
            points = np.arange(18.0).reshape(6, 3)
            sink.add(Frame(index, index / 60, points, -points, np.ones(2), np.ones(2), pose))
    return path.read_bytes()


@functools.cache
def _saved() -> bytes:
    """A saved simulation, to be changed."""
    from turgor import Simulation

    scene = Scene()
    scene.add_ground()
    for number in range(2):
        scene.add_soft_body(shapes.icosphere(0.5, 0), name=f"ball{number}", at=(0.7 * number, 0, 0.45))
    sim = Simulation(scene)
    for _ in range(2):
        sim.step()
    path = _folder() / "base.npz"
    sim.save(path)
    return path.read_bytes()


def saved(data: bytes) -> None:
    """A saved simulation: bytes as they are, or (first byte odd) a good one with one array changed by the rest, and
    the digest made to fit, so that more than the digest is tested."""
    from turgor import Simulation

    if data and data[0] % 2:
        data = _changed(data[1:])
    sim = Simulation.load(_file("saved.npz", data))
    sim.state_hash()


def _changed(recipe: bytes) -> bytes:
    with np.load(io.BytesIO(_saved())) as file:
        arrays = dict(file)
    recipe = recipe.ljust(4, b"\0")
    names = sorted(arrays)
    name = names[recipe[0] % len(names)]
    what, rest = recipe[1] % 6, recipe[2:]
    if name == "header" or what == 0:
        header = json.loads(str(arrays["header"]))
        keys = sorted(header)
        try:
            header[keys[recipe[1] % len(keys)]] = json.loads(rest.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            header.pop(keys[recipe[1] % len(keys)])
        arrays["header"] = np.array(json.dumps(header))
    elif what == 1:
        del arrays[name]
    elif what == 2:
        arrays[name] = np.resize(arrays[name], rest[0])
    elif what == 3:
        arrays[name] = arrays[name].astype(["f4", "f8", "i4", "i8", "U4", "?", "c8"][rest[0] % 7])
    elif what == 4:
        arrays[name] = np.array(rest[0])
    else:
        flat = np.frombuffer(arrays[name].tobytes(), np.uint8).copy()
        for place, value in zip(rest[::2], rest[1::2], strict=False):
            if len(flat):
                flat[place * 7 % len(flat)] = value
        arrays[name] = np.frombuffer(flat.tobytes(), arrays[name].dtype).reshape(arrays[name].shape)
    header = json.loads(str(arrays.pop("header")))
    if isinstance(header, dict) and "digest" in header:
        header["digest"] = digest_of(arrays)
    file = io.BytesIO()
    np.savez(file, header=json.dumps(header), **arrays)
    return file.getvalue()


TARGETS: dict[str, Callable[[bytes], None]] = {"scene": scene, "mesh": mesh, "recording": recording, "saved": saved}


def run_target(name: str, data: bytes) -> str:
    """Runs a target; returns the sentence of a refusal, empty if there was none. Anything else is a finding."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            TARGETS[name](data)
        except (SceneError, MeshError) as error:
            sentence = str(error)
            assert sentence.strip(), "an error without words"
            assert not any(word in sentence for word in SUSPICIOUS), sentence
            return sentence
    return ""
