"""Rigid bodies in frames, trajectory files and pictures."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from turgor import Gas, Scene, Simulation, shapes
from turgor.record import Painter, open_sink, read

RED, BLUE = (0.9, 0.1, 0.1), (0.1, 0.2, 0.9)


def mixed_scene(dim: int = 3) -> Scene:
    scene = Scene(dim=dim)
    scene.add_ground()
    if dim == 3:
        scene.add_soft_body(
            shapes.icosphere(radius=0.4), name="ball", at=(0.0, 1.0, 0.5), gas=Gas(gauge=100.0), color=BLUE
        )
        scene.add_rigid_body(shapes.box(), name="crate", at=(2.0, 0.0, 0.5), color=RED, spin=(0.0, 0.0, 1.0))
        scene.add_rigid_body(shapes.icosphere(subdivisions=1), name="stone", at=(-2.0, 0.0, 0.5))
    else:
        scene.add_soft_body(shapes.circle(radius=0.4), name="ball", at=(0.0, 0.5), gas=Gas(gauge=100.0), color=BLUE)
        scene.add_rigid_body(shapes.polygon(sides=4), name="crate", at=(2.0, 0.5), color=RED, spin=1.0)
        scene.add_rigid_body(shapes.circle(), name="stone", at=(-2.0, 0.5))
    return scene


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("worlds", [1, 2])
def test_a_frame_has_the_rigid_bodies_last(dim: int, worlds: int) -> None:
    sim = Simulation(mixed_scene(dim), worlds=worlds)
    layout, frame = sim.layout, sim.frame()
    assert [(body.name, body.kind) for body in layout.bodies] == [
        ("ball", "soft"), ("crate", "rigid"), ("stone", "rigid"),
    ]  # fmt: skip
    assert layout.vertices == len(frame.positions) == len(frame.velocities)
    assert np.isfinite(frame.volumes[0])
    assert np.isnan(frame.volumes[1:]).all()
    assert np.isnan(frame.pressures[1:]).all()
    assert len(frame.volumes) == len(frame.pressures) == 3
    for body in layout.bodies:
        own = slice(body.start, body.start + body.count)
        np.testing.assert_allclose(frame.positions[own], sim.scene[body.name].positions, atol=1e-6)
        seen = np.reshape(sim[body.name].velocities, (worlds, -1, dim))[0]
        np.testing.assert_array_equal(frame.velocities[own], seen)
    assert np.abs(frame.velocities).max() > 0.4  # the crate turns


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("ending", ["vtkhdf", "npz"])
def test_files_read_back(dim: int, ending: str, tmp_path: Path) -> None:
    sim = Simulation(mixed_scene(dim))
    path = tmp_path / f"a.{ending}"
    frames = []
    with open_sink(path, sim.layout) as sink:
        for turn in (0.0, 0.5):
            sim["crate"].rotation = turn if dim == 2 else (0.0, 0.0, turn)
            frames.append(sim.frame())
            sink.add(frames[-1])
    if ending == "npz":
        with np.load(path) as file:
            assert file["body_kinds"].tolist() == ["soft", "rigid", "rigid"]
            positions = file["positions"]
    else:
        with read(path) as run:
            assert [body.kind for body in run.layout.bodies] == ["soft", "rigid", "rigid"]
            crate = run.layout.bodies[1]
            np.testing.assert_array_equal(crate.faces, sim.scene["crate"].shape.faces)
            assert crate.color == RED
            positions = run.positions
    for got, frame in zip(positions, frames, strict=True):
        np.testing.assert_array_equal(got, frame.positions)
    start = sim.vertices
    assert not np.array_equal(positions[0][start : start + 4], positions[1][start : start + 4])


@pytest.mark.picture
@pytest.mark.parametrize("dim", [2, 3])
def test_a_picture_shows_the_box(dim: int, tmp_path: Path) -> None:
    """Red where the box is and nowhere else; in 3D its faces differ in brightness, each being flat."""
    image = pytest.importorskip("PIL.Image")
    if dim == 3:
        pytest.importorskip("pyvista")
    sim = Simulation(mixed_scene(dim))
    path = tmp_path / "a.png"
    with open_sink(path, sim.layout, size=(640, 360)) as sink:
        sink.add(sim.frame())
    r, g, b = np.moveaxis(np.asarray(image.open(path).convert("RGB")).astype(int), -1, 0)
    red = (r > 90) & (r > 1.8 * g) & (r > 1.8 * b) & (g < 70)
    columns = np.flatnonzero(red.any(axis=0))
    assert red.sum() > 1500
    assert columns.min() > 320  # right of the middle
    if dim == 3:
        levels, counts = np.unique(r[red], return_counts=True)
        assert counts[np.argsort(counts)[-8:]].sum() > 0.5 * red.sum()  # few shades: flat faces
        assert np.ptp(levels[counts > 100]) > 15  # but not all the same


def test_a_coarse_ball_is_smooth_and_a_box_is_not() -> None:
    from turgor.record.creases import SHARP, edges_of, sharp_edges, split_at

    for shape, corners in ((shapes.box(), 24), (shapes.icosphere(subdivisions=0), 12), (shapes.capsule(), None)):
        faces = np.asarray(shape.faces, np.int64)
        edges = edges_of(faces)
        _, points = split_at(edges, faces, sharp_edges(edges, faces, shape.vertices, SHARP["rigid"]))
        assert len(points) == (corners or len(shape.vertices))


@pytest.mark.picture
@pytest.mark.parametrize("color_by", ["pressure", "speed"])
def test_colours_by_value_know_rigid_bodies(color_by: str) -> None:
    sim = Simulation(mixed_scene(2))
    with Painter(sim.layout, size=(320, 180), color_by=color_by, velocities=True, normals=True) as painter:
        assert painter.draw(sim.frame()).shape == (180, 320, 3)


@pytest.mark.process
def test_the_command_line_tells_where_they_are(tmp_path: Path) -> None:
    from turgor.cli.app import app

    path = tmp_path / "mixed.toml"
    mixed_scene(2).save(path)
    result = CliRunner().invoke(app, ["run", str(path), "--seconds", "0.001", "--json"])
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    assert set(report["bodies"]) == {"ball"}
    assert report["rigid"]["crate"]["center"] == [2.0, 0.5]
    assert report["rigid"]["crate"]["spin"] == 1.0
    told = CliRunner().invoke(app, ["run", str(path), "--seconds", "0.001"])
    assert "crate" in told.stdout
