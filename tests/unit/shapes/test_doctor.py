"""The mesh doctor: what it repairs, what it finds and where, what it refuses and in which words."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.ugly_meshes import ARRAYS, FILES, TETRA_F, TETRA_V, joined, klein, moebius
from turgor import shapes
from turgor.errors import MeshError
from turgor.shapes import Shape
from turgor.shapes.limits import Limits
from turgor.shapes.topology import components, weld

pytestmark = pytest.mark.req("X5")


@pytest.mark.parametrize("name", ARRAYS)
def test_ugly_arrays_are_refused_with_reason(name: str) -> None:
    mesh, words = ARRAYS[name]
    with pytest.raises(MeshError, match=words):
        shapes.mesh(*mesh)


@pytest.mark.parametrize("name", FILES)
def test_ugly_files_are_refused_with_reason(name: str, tmp_path: Path) -> None:
    file, content, words = FILES[name]
    (tmp_path / file).write_bytes(content)
    with pytest.raises(MeshError, match=words) as caught:
        shapes.load(tmp_path / file)
    assert file in str(caught.value)


def test_missing_folder_and_oversized_files(tmp_path: Path) -> None:
    with pytest.raises(MeshError, match="no such file"):
        shapes.load(tmp_path / "none.obj")
    with pytest.raises(MeshError, match="is a folder"):
        shapes.load(tmp_path)
    with pytest.raises(MeshError, match=r"cannot be read|no such file"):
        shapes.load("a\0.obj")
    with (tmp_path / "big.stl").open("wb") as file:
        file.truncate(Limits().mesh_bytes + 1)  # sparse: takes no room
    with pytest.raises(MeshError, match="more than the limit"):
        shapes.load(tmp_path / "big.stl")


@given(st.binary(max_size=400), st.sampled_from(["obj", "stl", "ply", "off", "glb"]))
@settings(max_examples=60, deadline=None)
def test_arbitrary_bytes_raise_nothing_but_mesh_error(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, ending: str
) -> None:
    path = tmp_path_factory.mktemp("fuzz") / f"a.{ending}"
    path.write_bytes(data)
    with pytest.raises(MeshError):
        shapes.load(path)


@given(st.sampled_from(["obj", "stl", "ply", "off", "glb"]), st.floats(0.0, 1.0), st.integers(0, 255))
@settings(max_examples=60, deadline=None)
def test_damaged_files_load_or_raise_mesh_error(
    tmp_path_factory: pytest.TempPathFactory, ending: str, at: float, byte: int
) -> None:
    path = shapes.write(shapes.icosphere(1.0, 1), tmp_path_factory.mktemp("fuzz") / f"a.{ending}")
    data = bytearray(path.read_bytes())
    data[int(at * (len(data) - 1))] = byte
    for content in (bytes(data), bytes(data[: int(at * len(data))])):
        path.write_bytes(content)
        try:
            volume = shapes.load(path).volume
        except MeshError:
            continue
        assert volume > 0.0


def random_ball(seed: int) -> Shape:
    """A star-shaped bumpy ball: closed, of genus 0, not convex."""
    rng = np.random.default_rng(seed)
    ball = shapes.icosphere(1.0, 2)
    bumps = 1.0 + 0.4 * np.sin(ball.vertices @ rng.normal(0, 3, (3, 4)) + rng.uniform(0, 6, 4)).mean(axis=1)
    return Shape(ball.vertices * bumps[:, None] + rng.normal(0, 5, 3), ball.faces, "surface", ball.recipe)


@given(st.integers(0, 2**32 - 1), st.floats(0.0, 1.0), st.floats(0.0, 1.0), st.sampled_from([1e-12, 1.0, 1e12]))
@settings(max_examples=40, deadline=None)
def test_doctor_undoes_seams_flips_and_shuffles(seed: int, split: float, turned: float, scale: float) -> None:
    """Vertices split (UV seams, up to a full triangle soup), faces turned over, rows permuted, doubles added."""
    rng = np.random.default_rng(seed)
    ball = random_ball(seed)
    n, m = len(ball.vertices), len(ball.faces)
    corners = ball.faces.reshape(-1).astype(np.int64)
    own = rng.random(3 * m) < split  # these corners get a vertex of their own
    vertices = np.concatenate([ball.vertices, ball.vertices[corners[own]]])
    vertices[n:] += rng.uniform(-1e-8, 1e-8, (int(own.sum()), 3))
    corners[own] = n + np.arange(own.sum())
    faces = corners.reshape(-1, 3)
    flip = rng.random(m) < turned
    faces[flip] = faces[flip, ::-1]
    order = rng.permutation(len(vertices))
    faces = np.argsort(order)[faces][rng.permutation(m)]
    vertices = scale * vertices[order]
    report = shapes.check((np.concatenate([vertices, vertices[:1]]), np.concatenate([faces, faces[:2], [[3, 3, 4]]])))
    assert report.ok, str(report)
    (shape,) = report.shapes
    assert (len(shape.vertices), len(shape.faces)) == (n, m)
    assert shape.volume == pytest.approx(scale**3 * ball.volume, rel=1e-6)
    assert shapes.check(shape).clean
    assert report.findings["duplicate_faces"].count == 2
    assert report.findings["degenerate_faces"].count == 1


@given(st.integers(0, 2**32 - 1), st.integers(1, 25))
@settings(max_examples=25, deadline=None)
def test_flipped_faces_are_counted_and_located(seed: int, count: int) -> None:
    ball = random_ball(seed)
    chosen = np.random.default_rng(seed).permutation(len(ball.faces))[:count]
    faces = ball.faces.copy()
    faces[chosen] = faces[chosen, ::-1]
    report = shapes.check((ball.vertices, faces))
    found = report.findings["flipped_faces"]
    assert found.count == count
    centres = ball.vertices[ball.faces[chosen]].mean(axis=1)
    for place in found.where:
        assert np.abs(centres - place).max(axis=1).min() < 1e-12
    assert np.array_equal(np.sort(report.shapes[0].faces), np.sort(ball.faces))
    assert report.shapes[0].volume == pytest.approx(ball.volume)


def test_inside_out_is_turned_and_told() -> None:
    ball = shapes.icosphere()
    report = shapes.check((ball.vertices, ball.faces[:, ::-1]))
    assert report.ok
    assert not report.clean
    assert report.findings["inverted_shells"].count == 1
    assert "flipped_faces" not in report.findings
    assert "inside-out" in report.repaired[0]
    assert report.shapes[0].volume == pytest.approx(ball.volume)


def test_stl_soup_is_welded() -> None:
    ball = shapes.torus()
    soup = ball.vertices[ball.faces].reshape(-1, 3)
    report = shapes.check((soup, np.arange(len(soup)).reshape(-1, 3)))
    assert report.ok
    assert report.findings["duplicate_vertices"].count == len(soup) - len(ball.vertices)
    assert report.shells[0]["genus"] == 1


def test_shells_that_touch_are_not_welded_together() -> None:
    """Two closed boxes with one corner in the same place: welding would make a bow-tie of sound meshes."""
    box = shapes.box()
    report = shapes.check(joined((box.vertices, box.faces), (box.vertices + 1.0, box.faces)))
    assert report.clean
    assert [shape.volume for shape in report.shapes] == pytest.approx([1.0, 1.0])


def test_shells_that_share_a_vertex_are_taken_apart() -> None:
    vertices = np.concatenate([TETRA_V, -TETRA_V[1:]])
    faces = np.concatenate([TETRA_F, np.array([0, 4, 5, 6])[TETRA_F[:, ::-1]]])
    report = shapes.check((vertices, faces))
    assert report.ok
    assert [len(shape.vertices) for shape in report.shapes] == [4, 4]


@given(st.integers(0, 2**32 - 1), st.integers(1, 3))
@settings(max_examples=20, deadline=None)
def test_holes_are_counted_located_and_closed(seed: int, holes: int) -> None:
    """Fans of faces removed about far-apart vertices leave as many holes; fans about the loops' centres close them."""
    ball = random_ball(seed)
    centres = np.array([0, 11, 5])[:holes]  # corners of the icosahedron: 5 faces each, no two adjacent after a split
    kept = ball.faces[~np.isin(ball.faces, centres).any(axis=1)]
    report = shapes.check((ball.vertices, kept))
    assert not report.ok
    assert report.findings["holes"].count == holes
    assert report.findings["open_edges"].count == 5 * holes
    assert f"open: {holes} hole" in report.problems[0]
    closed = shapes.check((ball.vertices, kept), close_holes=True)
    assert closed.ok, str(closed)
    (shape,) = closed.shapes
    assert (len(shape.vertices), len(shape.faces)) == (len(ball.vertices), len(ball.faces))
    assert shape.volume == pytest.approx(ball.volume, rel=0.1)
    assert shapes.check(shape).clean
    assert shapes.repair((ball.vertices, kept))[0].volume == pytest.approx(shape.volume)


def test_triangular_hole_is_closed_by_one_face_whatever_the_winding() -> None:
    for faces in (TETRA_F[1:], TETRA_F[1:, ::-1]):
        report = shapes.check((TETRA_V, faces), close_holes=True)
        assert report.ok
        assert len(report.shapes[0].faces) == 4
        assert report.shapes[0].volume == pytest.approx(1 / 6)


def test_flat_faces_are_flipped_away() -> None:
    """A vertex in the middle of an edge, joined by a face without area (a T-junction patched by a modeller)."""
    box = shapes.box()
    faces = box.faces.tolist()
    a, b, c = faces[0]
    middle = len(box.vertices)
    vertices = np.concatenate([box.vertices, [0.5 * (box.vertices[a] + box.vertices[b])]])
    faces[0:1] = [[a, middle, c], [middle, b, c], [a, b, middle]]
    report = shapes.check((vertices, faces))
    assert report.ok
    assert report.findings["flat_faces"].count == 1
    assert report.shells[0]["flat_faces"] == 0
    assert report.shapes[0].volume == pytest.approx(1.0)
    assert shapes.check(report.shapes[0]).clean


def test_one_sided_surfaces() -> None:
    for mesh, holes in ((moebius(), 1), (klein(), 0)):
        report = shapes.check(mesh)
        assert report.findings["not_orientable"].count == 1
        assert ("holes" in report.findings) == bool(holes)
        assert not report.shapes
        assert not shapes.check(mesh, close_holes=True).ok


def test_one_shell_of_several(tmp_path: Path) -> None:
    ball, ring = shapes.icosphere(), shapes.torus()
    path = shapes.write([ball, ring], tmp_path / "two.obj")
    with pytest.raises(MeshError, match=r"has 2 separate shells; load them one by one with load\(path, shell=0\)"):
        shapes.load(path)
    for index, shape in enumerate((ball, ring)):
        one = shapes.load("two.obj", shell=index, folder=tmp_path)
        assert one.volume == pytest.approx(shape.volume)
        assert dict(one.recipe) == {"file": "two.obj", "shell": index}
        assert np.array_equal(shapes.from_recipe(one.recipe, tmp_path).vertices, one.vertices)
    with pytest.raises(MeshError, match="no shell 2"):
        shapes.load(path, shell=2)


def test_good_shell_beside_a_bad_one(tmp_path: Path) -> None:
    mesh = joined((TETRA_V, TETRA_F[1:]), (TETRA_V + 3, TETRA_F))
    assert shapes.mesh(*mesh, shell=1).volume == pytest.approx(1 / 6)
    with pytest.raises(MeshError, match="open"):
        shapes.mesh(*mesh, shell=0)


def test_open_surface_as_cloth(tmp_path: Path) -> None:
    flag = shapes.sheet((1, 1), (6, 5))
    path = shapes.write(flag, tmp_path / "flag.ply")
    with pytest.raises(MeshError, match=r"open.*cloth"):
        shapes.load(path)
    cloth = shapes.load(path, cloth=True)
    assert cloth.kind == "sheet"
    assert np.array_equal(cloth.faces, flag.faces)
    assert np.array_equal(shapes.from_recipe(cloth.recipe).vertices, cloth.vertices)
    assert shapes.mesh(*moebius(), cloth=True).kind == "sheet"
    with pytest.raises(MeshError, match="three or more faces"):
        shapes.mesh(*ARRAYS["three faces on an edge"][0], cloth=True)


def test_polygons_and_scenes_with_transforms(tmp_path: Path) -> None:
    import trimesh

    (tmp_path / "quads.obj").write_text(
        "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n"
        "f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n"
    )
    assert shapes.load(tmp_path / "quads.obj").volume == pytest.approx(1.0)
    turn = 2 * np.pi * np.arange(5) / 5
    rings = [[f"{np.cos(t)} {np.sin(t)} {z}" for t in turn] for z in (0, 1)]
    sides = [f"4 {i} {(i + 1) % 5} {(i + 1) % 5 + 5} {i + 5}" for i in range(5)]
    lines = ["OFF # a prism", "10 7 0", *rings[0], *rings[1], "5 4 3 2 1 0", "5 5 6 7 8 9", *sides]
    (tmp_path / "prism.off").write_text("\n".join(lines))
    assert shapes.load(tmp_path / "prism.off").volume == pytest.approx(2.5 * np.sin(2 * np.pi / 5))
    scene = trimesh.Scene()
    ball = shapes.icosphere()
    move = np.diag([2.0, 2.0, 2.0, 1.0])
    move[:3, 3] = (1, 2, 3)
    scene.add_geometry(trimesh.Trimesh(ball.vertices, ball.faces, process=False), transform=move)
    (tmp_path / "scene.glb").write_bytes(scene.export(file_type="glb"))
    loaded = shapes.load(tmp_path / "scene.glb")
    assert loaded.volume == pytest.approx(8 * ball.volume, rel=1e-5)
    assert loaded.vertices.mean(axis=0) == pytest.approx([1, 2, 3], abs=1e-5)


def test_report_reads_well_and_is_plain_data() -> None:
    report = shapes.check(ARRAYS["missing face"][0])
    text = str(report)
    assert "cannot hold gas" in text
    assert "holes: 1, such as at (0.3333, 0.3333, 0)" in text
    data = json.loads(json.dumps(report.as_dict()))
    assert data["ok"] is False
    assert data["findings"]["open_edges"]["count"] == 3
    assert "can hold gas" in str(shapes.check(shapes.icosphere()))
    assert "shell=0" in str(shapes.check(ARRAYS["two shells"][0]))
    for wrong in (3, shapes.circle()):
        with pytest.raises(MeshError):
            shapes.check(wrong)  # type: ignore[arg-type]


@given(st.integers(1, 60), st.lists(st.tuples(st.integers(0, 59), st.integers(0, 59)), max_size=80))
@settings(max_examples=60, deadline=None)
def test_components_against_a_plain_search(count: int, links: list[tuple[int, int]]) -> None:
    links = [(a % count, b % count) for a, b in links]
    label = components(count, np.array([a for a, _ in links], int), np.array([b for _, b in links], int))
    expected = list(range(count))
    for _ in range(count):
        for a, b in links:
            expected[a] = expected[b] = min(expected[a], expected[b])
    assert label.tolist() == expected


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_weld_joins_all_within_the_tolerance_and_none_far_beyond(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.uniform(0, 1, (200, 3))
    near = points + rng.uniform(-1e-6, 1e-6, points.shape)
    keep = weld(np.concatenate([points, near]), 1e-6)
    assert (keep[200:] == keep[:200]).all()
    moved = np.concatenate([points, near]) - np.concatenate([points, near])[keep]
    assert np.abs(moved).max() < 1e-5
