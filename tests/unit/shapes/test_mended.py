"""Ugly meshes that are mended: each repaired file is watertight for another reader, and encloses what it should."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st

from support.mendable_meshes import BALL, MENDABLE
from support.ugly_meshes import joined
from turgor import shapes
from turgor.errors import MeshError
from turgor.shapes.fans import broken_fans
from turgor.shapes.slivers import flat_faces, flip_flat
from turgor.shapes.topology import Edges

pytestmark = pytest.mark.req("X5", "X15")


@pytest.mark.parametrize("ending", ["obj", "stl", "ply"])
@pytest.mark.parametrize("name", MENDABLE)
def test_mended_files_are_watertight_for_trimesh(name: str, ending: str, tmp_path: Path) -> None:
    ugly = MENDABLE[name]
    (tmp_path / ugly.file).write_bytes(ugly.content)
    report = shapes.check(tmp_path / ugly.file, close_holes=True)
    assert report.ok, str(report)
    volumes = sorted((shape.volume for shape in report.shapes), reverse=True)
    assert volumes == pytest.approx(list(ugly.volumes), rel=ugly.rel)
    assert [shell["genus"] for shell in report.shells] == [ugly.genus] * len(volumes)
    for shape in report.shapes:
        assert manifold(shape)
    path = shapes.write(report.shapes, tmp_path / f"mended.{ending}")
    read = trimesh.load_mesh(path)
    assert read.is_watertight
    assert read.is_winding_consistent
    assert read.volume == pytest.approx(sum(volumes), rel=1e-4)
    assert shapes.check(path).ok, "mended once is mended"


def manifold(shape: shapes.Shape) -> bool:
    """Two faces on each edge, and one fan at each vertex."""
    edges = Edges.of(shape.faces)
    return bool((edges.count == 2).all()) and not len(broken_fans(edges))


@pytest.mark.parametrize("name", ["two holes that touch", "three holes that touch"])
def test_holes_that_touch_are_closed_apart_and_their_vertex_stays_whole(name: str, tmp_path: Path) -> None:
    """Triangular holes are closed by the triangles that were there: the ball is back, bow-tie and all."""
    ugly = MENDABLE[name]
    (tmp_path / ugly.file).write_bytes(ugly.content)
    opened = shapes.check(tmp_path / ugly.file)
    count = len(BALL[1]) - opened.shells[0]["faces"]
    assert opened.findings["holes"].count == count
    assert opened.findings["open_edges"].count == 3 * count
    report = shapes.check(tmp_path / ugly.file, close_holes=True)
    (shape,) = report.shapes
    assert (len(shape.vertices), len(shape.faces)) == (len(BALL[0]), len(BALL[1]))
    assert shape.volume == pytest.approx(shapes.icosphere(0.5, 2).volume, rel=1e-6)
    assert not any("split" in sentence for sentence in report.repaired)


@given(st.integers(0, 2**32 - 1), st.floats(0.02, 0.6))
@settings(max_examples=60, deadline=None)
def test_any_faces_may_be_missing(seed: int, part: float) -> None:
    """A part of a sphere has no handles, and discs over its rims make spheres of it, whatever the rims share."""
    rng = np.random.default_rng(seed)
    ball = shapes.icosphere(0.5, 2)
    vertices = ball.vertices * (1.0 + 0.2 * rng.random((len(ball.vertices), 1)))
    kept = ball.faces[rng.random(len(ball.faces)) > part]
    report = shapes.check((vertices, kept), close_holes=True)
    assert all(problem.startswith("the surface is flat") for problem in report.problems), report.problems
    assert report.shapes
    for shape, shell in zip(report.shapes, (shell for shell in report.shells if shell["ok"]), strict=True):
        assert manifold(shape)
        assert shell["genus"] == 0
        assert shape.volume > 0.0


@given(st.integers(0, 2**32 - 1), st.integers(1, 8), st.booleans(), st.floats(0.0, 0.1))
@settings(max_examples=60, deadline=None)
def test_any_vertices_may_be_pinched_together(seed: int, pinches: int, soup: bool, part: float) -> None:
    """Vertices of a ball made one, three at a time; with loose triangles the weld finds them; with holes, too."""
    rng = np.random.default_rng(seed)
    ball = shapes.icosphere(0.5, 3)
    vertices, faces = ball.vertices.copy(), ball.faces.astype(np.int64)
    corners = np.arange(12)  # those of the icosahedron: eight edges apart
    rng.shuffle(corners)
    whole = faces.copy()
    for group in np.split(corners, 4)[: max(1, pinches // 2)]:
        vertices[group] = vertices[group].mean(axis=0)
        faces = np.where(np.isin(faces, group), group[0], faces)
    kept = rng.random(len(faces)) >= part
    mesh = (
        (vertices[faces[kept]].reshape(-1, 3), np.arange(3 * kept.sum()).reshape(-1, 3))
        if soup
        else (vertices, faces[kept])
    )
    report = shapes.check(mesh, close_holes=True)
    assert all(problem.startswith("the surface is flat") for problem in report.problems), report.problems
    assert all(manifold(shape) for shape in report.shapes)
    if kept.all():
        (shape,) = report.shapes
        assert len(shape.vertices) == len(ball.vertices)  # the pinched ones are apart again
        assert report.shells[0]["genus"] == 0
        expected = abs(shapes.Shape(vertices, whole.astype(np.int32), "surface", {}).volume)
        assert shape.volume == pytest.approx(expected, rel=1e-6)
        assert report.findings["non_manifold_vertices"].count == max(1, pinches // 2)


def test_back_to_back_faces_are_counted_and_cloth_keeps_one() -> None:
    edge = BALL[1][0][:2]
    faces = np.concatenate([BALL[1], [[*edge, 162], [*edge[::-1], 162]]])
    report = shapes.check((np.concatenate([BALL[0], [[2.0, 0, 0]]]), faces))
    assert report.findings["back_to_back_faces"].count == 2
    assert "dropped 2 faces that lie back to back" in report.repaired
    assert len(report.shapes[0].faces) == len(BALL[1])
    flag = shapes.sheet((1, 1), (4, 4))
    twice = np.concatenate([flag.faces, flag.faces[:, ::-1]])
    cloth = shapes.check((flag.vertices, twice), cloth=True)
    assert len(cloth.shapes[0].faces) == len(flag.faces)
    assert not shapes.check((flag.vertices, twice)).ok


def test_advice_during_repair_is_not_to_repair() -> None:
    """An edge of three faces stops the repair of a shell with a hole; `--repair` is what is being done."""
    vertices = np.concatenate([BALL[0], [[2.0, 0, 0]]])
    faces = np.concatenate([BALL[1][1:], [[*BALL[1][9][:2], 162]]])
    assert any("--repair" in problem for problem in shapes.check((vertices, faces)).problems)
    report = shapes.check((vertices, faces), close_holes=True)
    assert not report.ok
    assert any("open" in problem for problem in report.problems)
    assert not any("--repair" in problem or "close_holes" in problem for problem in report.problems)


def test_strips_have_one_winding_each(tmp_path: Path) -> None:
    """Every second triangle of a strip is turned over, also after the -1 that ends one and along the turns of one."""
    for name, ugly in MENDABLE.items():
        if "strip" in name:
            (tmp_path / ugly.file).write_bytes(ugly.content)
            report = shapes.check(tmp_path / ugly.file, close_holes=True)
            assert set(report.findings) == {"open_edges", "holes"}, name


@pytest.mark.parametrize("cut", [1, 3, 9, 40, 200])
@pytest.mark.parametrize("name", ["strips in text", "strips, little endian", "strips, big endian"])
def test_strips_cut_short_are_refused(name: str, cut: int, tmp_path: Path) -> None:
    ugly = MENDABLE[name]
    (tmp_path / ugly.file).write_bytes(ugly.content[:-cut])
    with pytest.raises(MeshError, match=ugly.file):
        shapes.load(tmp_path / ugly.file)


def test_two_flat_faces_do_not_become_the_same_edge() -> None:
    """An octahedron with c in the middle of the edge ab and d in the middle of ef.

    Each flat face could be flipped to the edge cd; both would leave four faces on it.
    """
    a, b, c, d, e, f = range(6)
    vertices = np.array([[-1.0, 0, 0], [1, 0, 0], [0, 0, 0], [0, 0, 1], [0, -1, 1], [0, 1, 1]])
    faces = [(a, b, c), (b, a, d), (e, f, d), (f, e, c), (c, b, f), (b, d, f), (a, c, e), (a, e, d)]
    assert len(flat_faces(vertices, np.array(faces))) == 2
    edges = Edges.of(flip_flat(vertices, np.array(faces))[0])
    assert (edges.count == 2).all()


def test_an_edge_without_length_does_not_weld_what_only_touches() -> None:
    """Closed cubes with an edge in the same place, one of them with two vertices in one corner."""
    cube = shapes.box()
    corner = int(cube.faces[0][0])
    twin = len(cube.vertices)
    around = [face for face in cube.faces.tolist() if corner in face]
    turned = [face[face.index(corner) :] + face[: face.index(corner)] for face in around]  # (corner, next, last)
    start = turned[0]
    following = next(face for face in turned if face[1] == start[2])
    faces = [face for face in cube.faces.tolist() if face not in (around[0],)]
    faces[faces.index(next(face for face in around if sorted(face) == sorted(following)))] = [twin, *following[1:]]
    faces += [[corner, start[1], start[2]], [corner, start[2], twin], [corner, twin, following[2]]]
    vertices = np.concatenate([cube.vertices, cube.vertices[corner : corner + 1]])
    assert (Edges.of(np.array(faces)).count == 2).all()
    report = shapes.check(joined((vertices, faces), (cube.vertices + np.array([1.0, 1.0, 0.0]), cube.faces)))
    assert report.ok, str(report)
    assert [len(shape.vertices) for shape in report.shapes] == [8, 8]
    assert [shape.volume for shape in report.shapes] == pytest.approx([1.0, 1.0])
