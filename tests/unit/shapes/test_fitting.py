"""Meshes of any size, orientation, number of vertices and parts are made to fit: in Python, recipes and scene files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.ugly_meshes import joined
from turgor import Gas, Scene, Simulation, shapes
from turgor.errors import MeshError, SceneError
from turgor.shapes import Shape
from turgor.shapes.fans import broken_fans
from turgor.shapes.topology import Edges

pytestmark = pytest.mark.req("X15")


def moved(shape: Shape, *offset: float) -> Shape:
    return shapes.mesh(shape.vertices + np.array(offset), shape.faces)


def box_of(*parts: Shape) -> np.ndarray:
    """(2, 3) lowest and highest corner."""
    points = np.concatenate([part.vertices for part in parts])
    return np.array([points.min(axis=0), points.max(axis=0)])


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """A ball of 0.5 m about (3, 0, 0), and one of 1 m about (5, 1, 0)."""
    return shapes.write(
        [moved(shapes.icosphere(0.5, 3), 3, 0, 0), moved(shapes.icosphere(1.0, 3), 5, 1, 0)], tmp_path / "two.obj"
    )


# --- size and up


@pytest.mark.parametrize("form", ["obj", "stl", "glb"])
@pytest.mark.parametrize("size", [1e-3, 0.7, 250.0])
def test_the_longest_side_of_the_box_gets_the_size_and_its_centre_is_the_origin(
    size: float, form: str, tmp_path: Path
) -> None:
    path = shapes.write(moved(shapes.box((2.0, 4.0, 1.0), 2), 100.0, -7.0, 3.0), tmp_path / f"a.{form}")
    low, high = box_of(shapes.load(path, size=size))
    assert high - low == pytest.approx(np.array([0.5, 1.0, 0.25]) * size, rel=1e-5)
    assert low + high == pytest.approx(np.zeros(3), abs=1e-6 * size)


@pytest.mark.parametrize("up", ["x", "y", "z", "-x", "-y", "-z"])
def test_the_axis_that_is_up_in_the_file_points_up(up: str, tmp_path: Path) -> None:
    """An L of three different arms; a turn keeps its handedness, a mirror would not."""
    axis, sign = "xyz".index(up[-1]), -1.0 if up.startswith("-") else 1.0
    arms = np.array([[0.0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 3]])
    path = shapes.write(shapes.mesh(arms, [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]]), tmp_path / "arms.obj")
    shape = shapes.load(path, up=up)
    assert shape.vertices[:, 2] == pytest.approx(sign * arms[:, axis])
    assert shape.volume == pytest.approx(1.0)  # 1 · 2 · 3 / 6, and positive
    assert np.linalg.norm(shape.vertices, axis=1) == pytest.approx([0, 1, 2, 3])
    turn = np.linalg.solve(arms[1:], shape.vertices[1:])
    assert np.linalg.det(turn) == pytest.approx(1.0)


# --- vertices


@pytest.mark.parametrize("count", [300, 120, 60, 44, 30])
@pytest.mark.parametrize(
    "shape", [shapes.cat(), shapes.hand(), shapes.torus(1.0, 0.3, 40, 20), shapes.letter("8", depth=0.3)], ids=str
)
def test_a_simplified_surface_is_closed_with_the_same_handles(shape: Shape, count: int, tmp_path: Path) -> None:
    """Also where the library pinches a thin part: the cat at 44 vertices."""
    path = shapes.write(shape, tmp_path / "a.ply")
    simple = shapes.load(path, vertices=count)
    assert len(simple.vertices) == count
    report = shapes.check(simple)
    assert report.clean
    assert report.shells[0]["genus"] == shapes.check(shape).shells[0]["genus"]
    edges = Edges.of(simple.faces)
    assert (edges.count == 2).all()
    assert not len(broken_fans(edges))
    assert np.array_equal(shapes.load(path, vertices=count).vertices, simple.vertices)


def test_simplifying_keeps_the_form(tmp_path: Path) -> None:
    """A tenth of a ball: planes that touch it within an edge h of a point meet h²/2 above it; flat sides stay flat."""
    ball = shapes.load(shapes.write(shapes.icosphere(1.0, 5), tmp_path / "ball.ply"), vertices=1000)
    longest = np.linalg.norm(ball.vertices[ball.edges[:, 0]] - ball.vertices[ball.edges[:, 1]], axis=1).max()
    assert longest < 0.3
    assert np.linalg.norm(ball.vertices, axis=1) == pytest.approx(np.ones(1000), abs=longest**2 / 2)
    assert ball.volume == pytest.approx(4 / 3 * np.pi, rel=1e-2)
    cube = shapes.load(shapes.write(shapes.box((1, 1, 1), 20), tmp_path / "cube.ply"), vertices=200)
    assert cube.volume == pytest.approx(1.0, rel=1e-2)
    assert np.abs(cube.vertices).max() == pytest.approx(0.5, abs=1e-6)


@pytest.mark.parametrize("count", [220, 200, 180])
def test_a_simplified_cube_has_no_folds(count: int, tmp_path: Path) -> None:
    """All faces of a convex body look away from its middle; at 200 vertices the library pinches this one."""
    cube = shapes.load(shapes.write(shapes.box((1, 1, 1), 20), tmp_path / "cube.ply"), vertices=count)
    a, b, c = np.moveaxis(cube.vertices[cube.faces], 1, 0)
    assert (np.einsum("ij,ij->i", np.cross(b - a, c - a), a + b + c) > 0.0).all()


def test_few_vertices_stay_and_size_holds_after_simplifying(tmp_path: Path) -> None:
    path = shapes.write(shapes.icosphere(1.0, 2), tmp_path / "a.ply")
    assert np.array_equal(shapes.load(path, vertices=162).vertices, shapes.load(path).vertices)
    low, high = box_of(shapes.load(path, vertices=50, size=3.0))
    assert (high - low).max() == pytest.approx(3.0, rel=1e-12)


def test_cloth_keeps_its_rim(tmp_path: Path) -> None:
    flag = shapes.sheet((1.0, 0.5), (21, 11))
    simple = shapes.load(shapes.write(flag, tmp_path / "flag.ply"), cloth=True, vertices=100, size=2.0)
    assert simple.kind == "sheet"
    assert len(simple.vertices) == 100
    low, high = box_of(simple)
    assert np.sort(high - low) == pytest.approx([0.0, 1.0, 2.0], abs=1e-6)


# --- parts


def test_all_parts_keep_their_places_to_each_other(two: Path) -> None:
    parts = shapes.load(two, parts="all", size=1.0, vertices=100)
    assert [len(part.vertices) for part in parts] == [100, 100]
    low, high = box_of(*parts)
    assert (high - low).max() == pytest.approx(1.0, rel=1e-12)  # 3.5 m in the file
    assert low + high == pytest.approx(np.zeros(3), abs=1e-12)
    centres = [box_of(part).mean(axis=0) for part in parts]
    assert (centres[1] - centres[0]) * 3.5 == pytest.approx([2.0, 1.0, 0.0], abs=0.02)
    for number, part in enumerate(parts):
        assert dict(part.recipe) == {
            "file": str(two), "size": 1.0, "vertices": 100, "parts": "all", "shell": number,
        }  # fmt: skip
        again = shapes.from_recipe(part.recipe)
        assert np.array_equal(again.vertices, part.vertices)
    alone = shapes.load(two, shell=0, size=1.0)  # without parts the shell itself has the size
    assert np.ptp(alone.vertices, axis=0).max() == pytest.approx(1.0)


def test_union_of_overlapping_parts(tmp_path: Path) -> None:
    """Cubes of 1 m that share half, a corner (an eighth) and nothing; one inside another is gone."""
    cube = shapes.box((1, 1, 1), 3)
    for offset, volume in (((0.5, 0, 0), 1.5), ((0.5, 0.5, 0.5), 1.875)):
        path = shapes.write([cube, moved(cube, *offset)], tmp_path / "a.stl")
        shape = shapes.load(path, parts="union")
        assert shape.volume == pytest.approx(volume, rel=1e-6)
        assert shapes.check(shape).ok
        assert np.array_equal(shapes.from_recipe(shape.recipe).vertices, shape.vertices)
    inside = shapes.write([cube, shapes.icosphere(0.3)], tmp_path / "b.ply")
    assert shapes.load(inside, parts="union").volume == pytest.approx(1.0)
    apart = shapes.write([cube, moved(cube, 0.5, 0, 0), moved(cube, 5.0, 0, 0)], tmp_path / "c.ply")
    with pytest.raises(
        MeshError, match=r"has 2 separate shells; choose one of those that the union left, with shell=0"
    ):
        shapes.load(apart, parts="union")
    volumes = sorted(shapes.load(apart, parts="union", shell=number).volume for number in range(2))  # type: ignore[union-attr]
    assert volumes == pytest.approx([1.0, 1.5])
    far = shapes.write([moved(cube, 1e6, 0, 0), moved(cube, 1e6 + 0.5, 0, 0)], tmp_path / "far.ply")
    assert shapes.load(far, parts="union").volume == pytest.approx(1.5, rel=1e-6)


def test_a_file_that_changes_is_read_again(tmp_path: Path) -> None:
    cube = shapes.box()
    path = shapes.write([cube, moved(cube, 3, 0, 0)], tmp_path / "a.obj")
    parts = shapes.load(path, parts="all")
    assert len(parts) == 2
    parts[0].vertices[:] = 0.0  # a user's array is the user's
    assert shapes.load(path, parts="all")[0].volume == pytest.approx(1.0)
    shapes.write([cube, moved(cube, 3, 0, 0), moved(cube, 6, 0, 0)], path)
    assert len(shapes.load(path, parts="all")) == 3


# --- what is said


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "no size": ({"size": 0}, "size must be a finite number greater than zero, got 0"),
    "negative size": ({"size": -1.0}, "size must be a finite number greater than zero"),
    "size in words": ({"size": "large"}, "size must be a number greater than zero, got 'large'"),
    "size and scale": ({"size": 1.0, "scale": 2.0}, "give scale or size, not both"),
    "sideways": ({"up": "w"}, "up must be one of 'x', 'y', 'z', '-x', '-y', '-z', got 'w'"),
    "up by number": ({"up": 1}, "up must be one of"),
    "few vertices": ({"vertices": 3}, "vertices must be a whole number from 4"),
    "half a vertex": ({"vertices": 99.5}, "vertices must be a whole number from 4"),
    "some parts": ({"parts": "some"}, "parts must be one of 'all', 'union', got 'some'"),
    "listed parts": ({"parts": ["all"]}, "parts must be one of"),
    "cloth in words": ({"cloth": "no"}, "cloth must be true or false, got 'no'"),
    "no such part": ({"parts": "all", "shell": 2}, "there is no shell 2, it has 2"),
    "union of cloth": ({"parts": "union", "cloth": True}, "joins closed surfaces, not cloth"),
    "several": ({}, 'has 2 separate shells; load them one by one .* all with parts="all", or joined'),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_values_get_one_sentence(name: str, two: Path) -> None:
    options, words = BAD[name]
    with pytest.raises(MeshError, match=words) as caught:
        shapes.load(two, **options)
    assert "\n" not in str(caught.value)
    text = Scene(name="bad").to_toml() + f"[[soft_body]]\nname = 'toy'\nshape = {toml(file=two.name, **options)}\n"
    with pytest.raises((MeshError, SceneError), match=words) as caught:
        Scene.from_toml(text, two.parent)
    assert "soft_body 'toy'" in str(caught.value)


def toml(**recipe: Any) -> str:
    def value(entry: Any) -> str:
        return str(entry).lower() if isinstance(entry, bool) else repr(entry)

    return "{ " + ", ".join(f"{key} = {value(entry)}" for key, entry in recipe.items()) + " }"


# --- scene files


def test_scene_files_fit_meshes_and_keep_their_recipes(two: Path) -> None:
    text = (
        "name = 'toys'\n[[soft_body]]\nname = 'one'\n"
        f"shape = {toml(file=two.name, shell=1, size=0.5, up='y', vertices=120)}\nat = [0, 0, 2]\n"
    )
    scene = Scene.from_toml(text, two.parent)
    shape = scene["one"].shape  # type: ignore[union-attr]
    assert len(shape.vertices) == 120
    assert np.ptp(shape.vertices, axis=0).max() == pytest.approx(0.5)
    scene.save(two.parent / "saved.toml")
    saved = (two.parent / "saved.toml").read_text()
    assert 'shape = { file = "two.obj", size = 0.5, up = "y", vertices = 120, shell = 1 }' in saved
    again = Scene.load(two.parent / "saved.toml")
    assert again == scene
    assert np.array_equal(again["one"].shape.vertices, shape.vertices)  # type: ignore[union-attr]


@pytest.mark.parametrize("kind", ["soft_body", "rigid_body"])
def test_all_parts_of_a_file_in_a_scene_file_are_a_body_each(kind: str, two: Path) -> None:
    recipe = toml(file=two.name, parts="all", size=1.0, vertices=80)
    text = f"[[{kind}]]\nname = 'toy'\nshape = {recipe}\nat = [0, 0, 2]\nmass = 0.5\n[[ground]]\nname = 'floor'\n"
    scene = Scene.from_toml(text, two.parent)
    assert scene.names == ["toy-1", "toy-2", "floor"]
    parts = shapes.load(two, parts="all", size=1.0, vertices=80)
    for number, part in enumerate(parts, 1):
        body: Any = scene[f"toy-{number}"]
        assert np.array_equal(body.shape.vertices, part.vertices)
        assert (body.mass, body.at) == (0.5, (0.0, 0.0, 2.0))
    scene.save(two.parent / "saved.toml")
    again = Scene.load(two.parent / "saved.toml")
    assert again == scene
    assert again.names == scene.names
    sim = Simulation(again)
    sim.run(0.05)
    assert sim.finite


def test_one_part_keeps_the_name_and_nameless_parts_get_names(tmp_path: Path, two: Path) -> None:
    shapes.write(shapes.box(), tmp_path / "one.obj")
    shape = toml(file="one.obj", parts="all")
    assert Scene.from_toml(f"[[soft_body]]\nname = 'toy'\nshape = {shape}\n", tmp_path).names == ["toy"]
    text = f"[[soft_body]]\nshape = {toml(file='two.obj', parts='all')}\n"
    assert Scene.from_toml(text, tmp_path).names == ["soft_body-1", "soft_body-2"]


def test_a_shape_is_one_part(two: Path) -> None:
    scene = Scene()
    scene.add_soft_body(shapes.load(two, shell=0), name="toy", gas=Gas(gauge=100.0))
    with pytest.raises(MeshError, match='parts = "all" gives 2 shapes, and one is needed; choose it, as in shell = 0'):
        shapes.from_recipe({"file": str(two), "parts": "all"})
    scene.set("toy.shape.vertices", "60")
    assert len(scene["toy"].shape.vertices) == 60  # type: ignore[union-attr]
    with pytest.raises(SceneError, match="shape must be"):
        scene.add_soft_body(shapes.load(two, parts="all"))  # type: ignore[arg-type]


def test_a_good_part_beside_a_bad_one(tmp_path: Path) -> None:
    ball, cube = shapes.icosphere(0.5, 2), shapes.box()
    vertices, faces = joined((ball.vertices, ball.faces[1:]), (cube.vertices + 3.0, cube.faces))
    path = shapes.write(Shape(vertices, faces.astype(np.int32), "sheet", {}), tmp_path / "a.obj")
    assert shapes.load(path, shell=1, size=2.0).volume == pytest.approx(8.0)
    for parts in ("all", "union"):
        with pytest.raises(MeshError, match="open"):
            shapes.load(path, parts=parts, shell=1)
