"""Recordings for Rerun: read back by its own library where that is installed (it is not in the lock: 700 MB)."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

from support.layouts import disc_layout, frame_of
from support.recordings import GREEN, record_mixed
from turgor import RecordError, SceneError
from turgor.output.frame import WallPose
from turgor.record import export, open_sink, read

pytestmark = pytest.mark.req("X9")
installed = pytest.mark.skipif(importlib.util.find_spec("rerun") is None, reason="rerun-sdk is not installed")


def columns(path) -> dict[tuple[str, str], list]:
    """(entity, component) -> its values, of all frames by their number, or of the file."""
    import rerun

    found: dict[tuple[str, str], list] = {}
    for chunk in rerun.chunk.RrdReader(str(path)).stream().to_chunks():
        batch = chunk.to_record_batch()
        for name in batch.schema.names:
            if ":" in name:
                numbers = [0] if chunk.is_static else batch["frame"].to_pylist()
                rows = found.setdefault((chunk.entity_path, name.partition(":")[2]), [])
                rows += zip(numbers, batch[name].to_pylist(), strict=True)
    return {key: [value for _, value in sorted(rows, key=lambda row: row[0])] for key, rows in found.items()}


def test_without_the_library_one_sentence_says_what_to_do(tmp_path, monkeypatch):
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "rerun" else real(name))
    with pytest.raises(SceneError, match=r"a\.rrd: \.rrd needs rerun; install it with: pip install 'turgor\[rerun\]'$"):
        open_sink(tmp_path / "a.rrd", disc_layout()[0])
    assert list(tmp_path.iterdir()) == []


@installed
def test_bodies_move_as_in_the_recording(tmp_path):
    with read(record_mixed(tmp_path, frames=7)) as run:
        export(run, tmp_path / "a.rrd")
        frames, layout = list(run), run.layout
    found = columns(tmp_path / "a.rrd")
    ball, _, painted, crate = layout.bodies
    for body in (ball, painted):
        points = found[f"/bodies/{body.name}", "vertex_positions"]
        (triangles,) = found[f"/bodies/{body.name}", "triangle_indices"]
        for frame, moved in zip(frames, points, strict=True):
            own = frame.positions[body.start : body.start + body.count][body.faces]
            np.testing.assert_allclose(np.array(moved)[np.array(triangles)], own, atol=1e-6)
    (rest,), places, turns = (
        found[f"/bodies/{crate.name}", name] for name in ("vertex_positions", "translation", "mat3x3")
    )
    (triangles,) = found[f"/bodies/{crate.name}", "triangle_indices"]
    for frame, place, turn in zip(frames, places, turns, strict=True):
        rotation = np.array(turn).reshape(3, 3).T  # columns one after the other
        placed = np.array(rest)[np.array(triangles)] @ rotation.T + np.array(place).reshape(3)
        own = frame.positions[crate.start : crate.start + crate.count][crate.faces]
        np.testing.assert_allclose(placed, own, atol=1e-6)
    assert [value for (value,) in found["/pressures/ball", "scalars"]] == [frame.pressures[0] for frame in frames]
    ((color,),) = found["/bodies/crate", "albedo_factor"]
    assert np.allclose([(color >> shift & 255) / 255 for shift in (24, 16, 8)], GREEN, atol=0.003)


@installed
def test_textures_walls_and_flat_scenes(tmp_path):
    with read(record_mixed(tmp_path, frames=2)) as run:
        export(run, tmp_path / "a.rrd")
    found = columns(tmp_path / "a.rrd")
    ((pixels,),) = found["/bodies/painted", "albedo_texture_buffer"]
    assert len(bytes(pixels)) == 2 * 2 * 3
    assert ("/bodies/ball", "vertex_texcoords") not in found
    assert len(found["/walls/ground", "vertex_positions"][0]) == 4
    assert len(found["/walls/box", "strips"][0]) == 12  # edges: one looks into it
    layout, rest = disc_layout()
    with open_sink(tmp_path / "flat.rrd", layout) as sink:
        sink.add(frame_of(rest, 0, 2, (WallPose(np.zeros(2), np.eye(2)),)))
    flat = columns(tmp_path / "flat.rrd")
    np.testing.assert_allclose(flat["/bodies/a", "strips"][0], np.pad(rest, ((0, 0), (0, 1)))[layout.bodies[0].faces])


@installed
def test_what_failed_leaves_nothing(tmp_path):
    layout, rest = disc_layout()
    frame = frame_of(rest, 0, 2, (WallPose(np.zeros(2), np.eye(2)),))
    sink = open_sink(tmp_path / "a.rrd", layout)
    sink.add(frame)
    sink.close(success=False)
    assert list(tmp_path.iterdir()) == []
    sink = open_sink(tmp_path / "folder.rrd", layout)
    sink.add(frame)
    (tmp_path / "folder.rrd").mkdir()
    with pytest.raises(RecordError, match=r"folder\.rrd: cannot be written"):
        sink.close()
    assert list(tmp_path.iterdir()) == [tmp_path / "folder.rrd"]
