"""`.glb` files, read by pygltflib and trimesh and compared with the recording."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from support.glb_reader import GlbReader
from support.layouts import disc_layout, frame_of
from support.recordings import GREEN, PNG, RED, mixed_layout, record_mixed, turned
from turgor import SceneError
from turgor.output.frame import Frame, WallPose
from turgor.record import Trajectory, export, open_sink, read
from turgor.record.exchange.surfaces import surface_of
from turgor.record.geometry import vertex_normals

pytest.importorskip("pygltflib")
pytestmark = pytest.mark.req("X9")
FRAMES = (0, 11, 30)


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    """The recording, the file of it, and the sink that wrote it."""
    path = record_mixed(tmp_path_factory.mktemp("glb"))
    run = read(path)
    (sink,) = export(run, path.with_suffix(".glb"))
    return run, GlbReader(path.with_suffix(".glb")), sink


@lru_cache
def order(run: Trajectory, name: str) -> np.ndarray:
    """The vertices of a recording that the points of a body's surface are."""
    (body,) = [body for body in run.layout.bodies if body.name == name]
    return body.start + surface_of(body, run[0].positions[body.start : body.start + body.count]).vertices


def places(run: Trajectory, name: str, frame: Frame) -> np.ndarray:
    """Where the points of a body's surface were recorded."""
    return frame.positions[order(run, name)]


def furthest(run: Trajectory, file: GlbReader, numbers=range(31)) -> float:
    """m: the largest distance of a vertex from where it was recorded."""
    worst = 0.0
    for n in numbers:
        frame = run[n]
        for body in run.layout.bodies:
            got = file.positions(body.name, run.times[n])
            worst = max(worst, float(np.linalg.norm(got - places(run, body.name, frame), axis=1).max()))
    return worst


def test_every_vertex_is_where_it_was_recorded_within_the_stated_error(mixed):
    run, file, sink = mixed
    size = max(np.linalg.norm(np.ptp(places(run, body.name, run[0]), axis=0)) for body in run.layout.bodies)
    assert furthest(run, file, FRAMES) <= furthest(run, file) <= sink.error <= 0.002 * size
    assert file.gltf.scenes[0].extras["error_m"] == sink.error
    assert f"{sink.error * 1e3:.2g} mm" in sink.note


@pytest.mark.parametrize("tolerance", [1e-4, 0.03, "5%"])
def test_a_tolerance_is_kept_and_makes_the_file_smaller(mixed, tolerance, tmp_path):
    run, _, usual = mixed
    (sink,) = export(run, tmp_path / "a.glb", tolerance=tolerance)
    longest = np.linalg.norm(run.layout.walls[1].size)  # shares are of each body's size, and of each wall's
    assert furthest(run, GlbReader(sink.path), FRAMES) <= sink.error
    assert sink.error <= (tolerance if isinstance(tolerance, float) else 0.05 * longest)
    smaller = sink.path.stat().st_size < usual.path.stat().st_size
    assert smaller == (sink.error > usual.error)


def test_normals_follow_the_shape(mixed):
    """A linear fit of the normals on the weights: within two degrees in the mean, where the cloth turns by 30."""
    run, file, _ = mixed
    for body in run.layout.bodies[:2]:
        own = slice(body.start, body.start + body.count)
        for number in FRAMES:
            true = vertex_normals(run[number].positions[own], np.asarray(body.faces))
            cosine = np.einsum("ij,ij->i", true, file.normals(body.name, run.times[number]))
            assert np.degrees(np.arccos(np.clip(cosine, -1, 1))).mean() < 2.0


def test_rigid_bodies_have_no_shapes_and_walls_move(mixed):
    run, file, sink = mixed
    assert len(file.targets("crate", "POSITION")) == 0
    assert len(file.positions("crate", 0.0)) == 24  # a normal per side at each corner
    assert len(file.keys("crate", "rotation")) > 2
    assert 0 < len(file.targets("ball", "POSITION")) < 31
    assert len(file.keys("ground", "translation")) == len(file.keys("ground", "rotation")) == 0
    corners = file.attribute("box", "POSITION")
    np.testing.assert_allclose(np.ptp(corners, axis=0), (6, 4, 5), atol=1e-6)  # y is up
    for number in FRAMES:
        pose = run[number].walls[1]
        local = np.stack([corners[:, 0], -corners[:, 2], corners[:, 1]], axis=1)
        there = local @ pose.rotation.T + pose.position
        np.testing.assert_allclose(file.positions("box", run.times[number]), there, atol=sink.error)
    ground = file.positions("ground", 0.0)
    assert np.abs(ground[:, 2]).max() < 1e-6
    assert np.ptp(ground, axis=0)[:2].min() > 6.0
    a, b, c = ground[file.faces("ground")[0]]
    assert np.cross(b - a, c - a)[2] > 0  # seen from above
    for tri in file.faces("box"):
        a, b, c = file.positions("box", 0.0)[tri]
        assert np.cross(b - a, c - a) @ (run[0].walls[1].position - a) > 0  # seen from inside


def test_colours_textures_and_their_coordinates(mixed):
    run, file, _ = mixed
    gltf = file.gltf
    surface = {name: gltf.materials[file.mesh(name).primitives[0].material] for name in file.nodes if name != "camera"}
    for name, color in (("ball", RED), ("crate", GREEN)):
        linear = np.array(surface[name].pbrMetallicRoughness.baseColorFactor[:3])
        srgb = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
        np.testing.assert_allclose(srgb, color, atol=1e-6)
    for name in ("flag ü", "painted"):
        texture = gltf.textures[surface[name].pbrMetallicRoughness.baseColorTexture.index]
        assert file.view(gltf.images[texture.source].bufferView) == PNG
    assert surface["flag ü"].doubleSided
    assert not surface["ball"].doubleSided
    flag, painted = run.layout.bodies[1:3]
    np.testing.assert_allclose(file.attribute("flag ü", "TEXCOORD_0"), flag.uv * (1, -1) + (0, 1), atol=1e-6)
    corners = file.attribute("painted", "TEXCOORD_0")[file.faces("painted")] * (1, -1) + (0, 1)
    np.testing.assert_allclose(corners, painted.corner_uv, atol=1e-6)
    points = len(file.attribute("painted", "POSITION"))
    assert painted.count < points < 3 * len(painted.faces)  # doubled at the seam only


def test_weights_are_between_0_and_1(mixed):
    """Blender cuts off what is beyond."""
    _, file, _ = mixed
    times = np.linspace(0.0, 1.0, 50)
    weights = np.concatenate([file.value("ball", "weights", time) for time in times])
    assert weights.size
    assert weights.min() >= 0.0
    assert weights.max() <= 1.0
    assert file.mesh("ball").weights == [0.0] * len(file.mesh("ball").weights)  # as in the first frame


def test_trimesh_opens_it(mixed):
    import trimesh

    run, _, sink = mixed
    scene = trimesh.load_scene(sink.path)
    assert {"ball", "flag ü", "painted", "crate", "ground"} <= set(scene.graph.nodes)
    matrix, geometry = scene.graph["ball"]
    mesh = scene.geometry[geometry]
    assert len(mesh.faces) == len(run.layout.bodies[0].faces)
    there = trimesh.transform_points(mesh.vertices, matrix)
    low, high = places(run, "ball", run[0]).min(axis=0), places(run, "ball", run[0]).max(axis=0)
    np.testing.assert_allclose(there.min(axis=0), (low[0], low[2], -high[1]), atol=1e-5)
    np.testing.assert_allclose(there.max(axis=0), (high[0], high[2], -low[1]), atol=1e-5)
    assert mesh.is_watertight


def test_a_flat_scene_is_filled_outlines(tmp_path):
    layout, rest = disc_layout()
    with open_sink(tmp_path / "a.glb", layout) as sink:
        for index in range(6):
            squash = np.array([1 + 0.04 * index, 1 - 0.04 * index])
            walls = (WallPose(np.zeros(2), np.eye(2)),)
            sink.add(frame_of(rest * squash, index, 2, walls))
    file = GlbReader(tmp_path / "a.glb", flat=True)
    triangles = file.faces("a")
    assert len(triangles) == 10  # of 12 corners
    for index in (0, 3, 5):
        points = file.positions("a", index / 60)
        there = rest[:12] * (1 + 0.04 * index, 1 - 0.04 * index)
        np.testing.assert_allclose(points[:, :2], there, atol=sink.error)
        assert not points[:, 2].any()
        a, b, c = np.moveaxis(points[triangles][..., :2], 1, 0)
        areas = (b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0]
        x, y = there.T
        assert (areas > 0).all()
        assert areas.sum() == pytest.approx(x @ np.roll(y, -1) - y @ np.roll(x, -1), rel=1e-2)
    assert file.mesh("a").primitives[1].mode == 1  # lines
    assert file.positions("ground", 0.0)[:, 1].max() == pytest.approx(0.0)


def test_a_body_at_rest_has_no_animation(tmp_path):
    layout, rest = disc_layout()
    with open_sink(tmp_path / "a.glb", layout) as sink:
        for index in range(3):
            sink.add(frame_of(rest, index, 2, (WallPose(np.zeros(2), np.eye(2)),)))
    assert GlbReader(tmp_path / "a.glb", flat=True).gltf.animations == []


def test_what_spins_fast_takes_the_short_way(tmp_path):
    """A third of a turn per frame, and half a second of standing still: keyframes must not skip turns."""
    layout, rest = mixed_layout(Path("none.png"))
    crate, layout = rest[3], type(layout)("spin", 3, 30.0, (_alone(layout.bodies[3]),))
    with open_sink(tmp_path / "a.glb", layout) as sink:
        for index in range(30):
            sink.add(frame_of(crate @ turned(2.0 * min(index, 15)).T, index, 1))
    file = GlbReader(tmp_path / "a.glb")
    for index in range(30):
        got = file.positions("crate", index / 60)
        expected = crate @ turned(2.0 * min(index, 15)).T
        nearest = np.linalg.norm(got[:, None] - expected[None], axis=2).min(axis=1)
        assert nearest.max() <= sink.error + 1e-6  # keyframes have times in single precision
    assert sink.error < 0.002


def _alone(body):
    from dataclasses import replace

    return replace(body, start=0)


def test_bad_input_is_one_sentence_and_leaves_nothing(mixed, tmp_path):
    run = mixed[0]
    for bad in ("x", 0, -1.0, "nan", "-3%"):
        with pytest.raises(SceneError, match="give a distance in metres"):
            export(run, tmp_path / "a.glb", tolerance=bad)
    with pytest.raises(SceneError, match=r"texture .*gone\.png cannot be read"):
        export(run, tmp_path / "a.glb", texture=tmp_path / "gone.png")
    sink = open_sink(tmp_path / "a.glb", run.layout)
    sink.add(run[1])
    with pytest.raises(SceneError, match="not later"):
        sink.add(run[0])
    sink.close(success=False)
    assert list(tmp_path.iterdir()) == []
    (sink,) = export(run, tmp_path / "a.glb", texture="none")
    assert len(GlbReader(sink.path).gltf.images) == 1  # the tiles of the ground
