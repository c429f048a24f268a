"""Parametric shapes against their closed forms, outlines, cloth, recipes, and files read back."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turgor import shapes
from turgor.errors import MeshError
from turgor.shapes import Shape

CLOSED: dict[str, tuple[Callable[[], Shape], int]] = {  # maker and genus
    "icosphere": (lambda: shapes.icosphere(0.7, 3), 0),
    "icosahedron": (lambda: shapes.icosphere(0.7, 0), 0),
    "uv_sphere": (lambda: shapes.uv_sphere(0.3, 7, 9), 0),
    "smallest uv_sphere": (lambda: shapes.uv_sphere(0.3, 2, 3), 0),
    "torus": (lambda: shapes.torus(0.5, 0.2, 11, 17), 1),
    "smallest torus": (lambda: shapes.torus(0.5, 0.2, 3, 3), 1),
    "box": (lambda: shapes.box((1, 2, 3)), 0),
    "fine box": (lambda: shapes.box((1, 2, 3), 5), 0),
    "capsule": (lambda: shapes.capsule(0.25, 0.5, 12, 16), 0),
    "capsule of no height": (lambda: shapes.capsule(0.25, 0, 7, 5), 0),
    "smallest capsule": (lambda: shapes.capsule(0.25, 3, 3, 3), 0),
    "cone": (lambda: shapes.cone(0.4, 1.1, 10, 14), 0),
    "flat cone": (lambda: shapes.cone(2.0, 0.01, 9, 7), 0),
    "smallest cone": (lambda: shapes.cone(0.25, 3, 2, 3), 0),
}


def euler(shape: Shape) -> int:
    """V − E + F."""
    return len(shape.vertices) - len(shape.edges) + len(shape.faces)


def assert_closed(shape: Shape) -> None:
    """Each directed side occurs once and its opposite once: closed, manifold edges, one winding; volume positive."""
    f = shape.faces.astype(np.int64)
    sides = np.concatenate([f[:, [0, 1]], f[:, [1, 2]], f[:, [2, 0]]])
    n = len(shape.vertices)
    forth, back = sides[:, 0] * n + sides[:, 1], sides[:, 1] * n + sides[:, 0]
    assert len(np.unique(forth)) == len(forth)
    assert np.array_equal(np.sort(forth), np.sort(back))
    assert np.array_equal(np.unique(f), np.arange(n))
    assert shape.volume > 0.0
    assert shape.faces.dtype == np.int32
    assert shape.vertices.dtype == np.float64


def same(a: Shape, b: Shape) -> bool:
    """Bit for bit the same shape."""
    return (
        np.array_equal(a.vertices, b.vertices)
        and np.array_equal(a.faces, b.faces)
        and np.array_equal(a.extra_springs, b.extra_springs)
        and a.kind == b.kind
        and dict(a.recipe) == dict(b.recipe)
    )


@pytest.mark.req("B1", "B17")
@pytest.mark.parametrize("name", CLOSED)
def test_closed_surfaces_are_closed_and_of_the_right_genus(name: str) -> None:
    make, genus = CLOSED[name]
    shape = make()
    assert_closed(shape)
    assert euler(shape) == 2 - 2 * genus
    assert shapes.check(shape).clean
    assert np.abs(shape.vertices.min(axis=0) + shape.vertices.max(axis=0))[2] < 1e-12
    assert same(shapes.from_recipe(shape.recipe), shape)


@pytest.mark.req("B17")
def test_counts_follow_the_formulas() -> None:
    for s in range(5):
        ball = shapes.icosphere(1.0, s)
        assert (len(ball.vertices), len(ball.faces)) == (10 * 4**s + 2, 20 * 4**s)
    assert len(shapes.uv_sphere(1.0, 8, 9).vertices) == 7 * 9 + 2
    assert len(shapes.torus(1.0, 0.2, 8, 9).vertices) == 72
    assert (len(shapes.box().vertices), len(shapes.box().faces)) == (8, 12)
    assert len(shapes.box(1.0, 4).vertices) == 6 * 16 + 2


def order(errors: list[float]) -> float:
    """Order of convergence when the spacing halves each time, from the last two."""
    return math.log2(errors[-2] / errors[-1])


@pytest.mark.parametrize(
    ("make", "exact"),
    [
        (lambda n: shapes.icosphere(0.7, n), 4 / 3 * math.pi * 0.7**3),
        (lambda n: shapes.uv_sphere(0.7, 4 * 2**n, 8 * 2**n), 4 / 3 * math.pi * 0.7**3),
        (lambda n: shapes.torus(0.5, 0.2, 4 * 2**n, 8 * 2**n), 2 * math.pi**2 * 0.5 * 0.2**2),
        (lambda n: shapes.capsule(0.3, 0.4, 8 * 2**n, 8 * 2**n), math.pi * 0.3**2 * (0.4 + 4 / 3 * 0.3)),
        (lambda n: shapes.cone(0.3, 0.7, 4 * 2**n, 8 * 2**n), math.pi * 0.3**2 * 0.7 / 3),
    ],
    ids=["icosphere", "uv_sphere", "torus", "capsule", "cone"],
)
def test_volume_converges_with_order_two(make: Callable[[int], Shape], exact: float) -> None:
    errors = [exact - make(n).volume for n in (1, 2, 3, 4)]
    assert min(errors) > 0.0  # an inscribed surface encloses less
    assert order(errors) == pytest.approx(2.0, abs=0.15)


@given(st.tuples(*[st.floats(1e-6, 1e6)] * 3), st.integers(1, 6))
@settings(max_examples=25, deadline=None)
def test_box_volume_is_exact(size: tuple[float, float, float], subdivisions: int) -> None:
    box = shapes.box(size, subdivisions)
    assert box.volume == pytest.approx(math.prod(size), rel=1e-12)
    assert np.ptp(box.vertices, axis=0) == pytest.approx(size)


@pytest.mark.req("C4")
@given(st.floats(1e-3, 1e3), st.floats(1e-3, 1e3), st.integers(2, 12), st.integers(3, 12))
@settings(max_examples=25, deadline=None)
def test_a_cone_is_a_pyramid_with_its_tip_up(radius: float, height: float, stacks: int, slices: int) -> None:
    """Its volume is a third of height times the area of the polygon below, whatever the bands."""
    cone = shapes.cone(radius, height, stacks, slices)
    base = 0.5 * slices * radius**2 * math.sin(2 * math.pi / slices)
    assert cone.volume == pytest.approx(base * height / 3, rel=1e-9)
    x, y, z = cone.vertices.T
    tip = int(np.argmax(z))
    assert cone.vertices[tip] == pytest.approx([0.0, 0.0, 0.5 * height])
    assert z.min() == pytest.approx(-0.5 * height)
    assert len(cone.vertices) == (stacks - 1) * slices + 2
    assert np.hypot(x, y).max() == pytest.approx(radius)
    # no vertex lies outside, and none inside: radius/height · (distance below the tip), or on the floor
    surface = radius * (0.5 - z / height)
    on_floor = z < -0.5 * height * (1 - 1e-12)
    assert np.hypot(x, y)[~on_floor] == pytest.approx(surface[~on_floor], abs=1e-9 * radius)


def test_icosphere_edges_are_even() -> None:
    ball = shapes.icosphere(0.5, 4)
    assert np.linalg.norm(ball.vertices, axis=1) == pytest.approx(0.5, rel=1e-14)
    length = np.linalg.norm(ball.vertices[ball.edges[:, 0]] - ball.vertices[ball.edges[:, 1]], axis=1)
    assert length.max() / length.min() < 1.35


def test_large_icosphere() -> None:
    assert len(shapes.icosphere(1.0, 8).vertices) == 655_362


@pytest.mark.req("A1")
@pytest.mark.parametrize(
    ("shape", "area"),
    [
        (shapes.circle(0.5, 64), 0.5 * 64 * 0.25 * math.sin(2 * math.pi / 64)),
        (shapes.polygon(6, 0.5), 1.5 * math.sqrt(3) * 0.25),
        (shapes.polygon(6, 0.5, 60), 1.5 * math.sqrt(3) * 0.25),
        (shapes.star(5, 0.5, 0.2, 40), 5 * 0.5 * 0.2 * math.sin(math.pi / 5)),
        (shapes.outline([[0, 0], [2, 0], [2, 1], [0, 1]]), 2.0),
        (shapes.outline([[0, 0], [0, 1], [2, 1], [2, 0], [0, 0]], spacing=0.1), 2.0),
    ],
    ids=["circle", "polygon", "fine polygon", "star", "rectangle", "clockwise, closed, resampled"],
)
def test_outlines_are_counter_clockwise_loops_of_known_area(shape: Shape, area: float) -> None:
    n = len(shape.vertices)
    assert shape.kind == "outline"
    assert np.array_equal(shape.faces, np.stack([np.arange(n), (np.arange(n) + 1) % n], axis=1))
    assert shape.volume == pytest.approx(area, rel=1e-12)
    assert same(shapes.from_recipe(shape.recipe), shape)


def test_outline_spacing_keeps_corners() -> None:
    shape = shapes.outline([[0, 0], [1, 0], [1, 1], [0, 1]], spacing=0.09)
    length = np.linalg.norm(shape.vertices[shape.faces[:, 1]] - shape.vertices[shape.faces[:, 0]], axis=1)
    assert length == pytest.approx(1 / 11)
    assert len(shape.vertices) == 44


@pytest.mark.req("A1")
@pytest.mark.parametrize(
    ("points", "words"),
    [
        ([[0, 0], [1, 1], [1, 0], [0, 1]], r"crosses or touches itself at \(0.5, 0.5\)"),
        ([[0, 0], [1, 0]], "at least 3"),
        ([], r"shape \(n, 2\)|at least 3"),
        ([[0, 0], [0, 0], [1, 0], [1, 0]], "at least 3"),
        ([[0, 0], [1, 0], [2, 0], [3, 0]], "on a line"),
        ([[0, 0], [1, 0], [math.nan, 1]], "point 2 is not finite"),
        ([[0, 0], [1, 0], [math.inf, 1]], "point 2 is not finite"),
        ([[0, 0, 0], [1, 0, 0], [1, 1, 0]], r"shape \(n, 2\)"),
        ("abc", "pairs of numbers"),
        ([[0, 0], [1]], "pairs of numbers"),
        ([[0, 0], [2, 0], [2, 2], [1, 0], [0, 2]], "crosses or touches"),
    ],
)
def test_outline_refuses(points: object, words: str) -> None:
    with pytest.raises(MeshError, match=words):
        shapes.outline(points)  # type: ignore[arg-type]


@given(st.integers(3, 40), st.integers(0, 2**32 - 1), st.sampled_from([1e-9, 1.0, 1e9]), st.booleans())
@settings(max_examples=40, deadline=None)
def test_any_star_shaped_outline_is_accepted_either_way(n: int, seed: int, scale: float, clockwise: bool) -> None:
    rng = np.random.default_rng(seed)
    angle = 2 * np.pi * np.arange(n) / n
    points = scale * rng.uniform(0.3, 1.0, n)[:, None] * np.stack([np.cos(angle), np.sin(angle)], 1) + 3 * scale
    shape = shapes.outline(points[::-1] if clockwise else points)
    x, y = points.T
    assert shape.volume == pytest.approx(0.5 * np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y), rel=1e-9)


@pytest.mark.req("D2")
def test_sheet_has_springs_along_rows_columns_and_both_diagonals() -> None:
    w, h = 7, 5
    sheet = shapes.sheet((3.0, 2.0), (w, h))
    assert sheet.kind == "sheet"
    assert not sheet.closed
    place = np.round(sheet.uv * [w - 1, h - 1]).astype(int)  # type: ignore[operator]
    springs = np.concatenate([sheet.edges, sheet.extra_springs])
    assert len(np.unique(np.sort(springs, axis=1), axis=0)) == len(springs)
    step = np.abs(place[springs[:, 0]] - place[springs[:, 1]])
    kinds = {kind: int(np.sum((step == kind).all(axis=1))) for kind in ((1, 0), (0, 1), (1, 1))}
    assert kinds == {(1, 0): (w - 1) * h, (0, 1): w * (h - 1), (1, 1): 2 * (w - 1) * (h - 1)}
    assert sum(kinds.values()) == len(springs)
    normals = np.cross(*np.moveaxis(np.diff(sheet.vertices[sheet.faces], axis=1), 1, 0))
    assert (normals[:, 1] < 0).all()  # one side, towards −y
    assert np.ptp(sheet.vertices, axis=0) == pytest.approx([3.0, 0.0, 2.0])
    assert same(shapes.from_recipe(sheet.recipe), sheet)


@pytest.mark.req("D2", "D4")
def test_sheet_groups_name_what_they_say() -> None:
    sheet = shapes.sheet((3.0, 2.0), (7, 5))
    x, z = sheet.vertices[:, 0], sheet.vertices[:, 2]
    left, right, top, bottom = x == x.min(), x == x.max(), z == z.max(), z == z.min()
    corner = (left | right) & (top | bottom)
    expected = {
        "left": left, "right": right, "top": top, "bottom": bottom, "corners": corner,
        "edges": left | right | top | bottom, "left-corners": left & corner, "right-corners": right & corner,
        "top-corners": top & corner, "bottom-corners": bottom & corner,
    }  # fmt: skip
    assert set(sheet.groups) == set(expected)
    for name, mask in expected.items():
        assert np.array_equal(sheet.groups[name], np.flatnonzero(mask)), name


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: shapes.icosphere(radius=0.0), "icosphere: radius must be .*greater than zero"),
        (lambda: shapes.icosphere(radius=math.nan), "radius"),
        (lambda: shapes.icosphere(radius="big"), "radius must be a number"),  # type: ignore[arg-type]
        (lambda: shapes.icosphere(radius=True), "radius"),
        (lambda: shapes.icosphere(subdivisions=10), "from 0 to 9"),
        (lambda: shapes.icosphere(subdivisions=1.5), "whole number"),  # type: ignore[arg-type]
        (lambda: shapes.uv_sphere(stacks=1), "stacks"),
        (lambda: shapes.uv_sphere(slices=2), "slices"),
        (lambda: shapes.uv_sphere(stacks=10**6, slices=10**6), "limit"),
        (lambda: shapes.torus(radius=0.2, tube=0.2), "smaller than radius"),
        (lambda: shapes.box((1, 2)), "3 numbers"),
        (lambda: shapes.box((1, -2, 3)), r"size\[1\]"),
        (lambda: shapes.box(subdivisions=0), "at least 1"),
        (lambda: shapes.box(subdivisions=10**5), "limit"),
        (lambda: shapes.capsule(height=-1), "height"),
        (lambda: shapes.cone(height=0), "cone: height must be .*greater than zero"),
        (lambda: shapes.cone(radius=-1), "radius"),
        (lambda: shapes.cone(stacks=1), "stacks"),
        (lambda: shapes.cone(slices=2), "slices"),
        (lambda: shapes.cone(stacks=10**6, slices=10**6), "limit"),
        (lambda: shapes.circle(points=2), "at least 3"),
        (lambda: shapes.polygon(5, points=12), "multiple of its 5 corners, got 12; try 10"),
        (lambda: shapes.star(1), "tips"),
        (lambda: shapes.outline([[0, 0], [1, 0], [0, 1]], spacing=1e-12), "limit"),
        (lambda: shapes.sheet(resolution=(1, 5)), "at least 2"),
        (lambda: shapes.sheet(resolution="many"), "two whole numbers"),  # type: ignore[arg-type]
        (lambda: shapes.sheet(size=(0, 1)), "size"),
    ],
)
def test_impossible_arguments_are_refused(call: Callable[[], Shape], words: str) -> None:
    with pytest.raises(MeshError, match=words):
        call()


@pytest.mark.parametrize(
    ("recipe", "words"),
    [
        ({"icosfere": {}}, "unknown shape 'icosfere'; did you mean 'icosphere'"),
        ({"xyz": {}}, "unknown shape 'xyz'; known are box"),
        ({"icosphere": {"radios": 1}}, "unknown argument 'radios'; did you mean 'radius'"),
        ({"file": "a.obj", "scail": 2}, "unknown argument 'scail'; did you mean 'scale'"),
        ({"box": {}, "torus": {}}, "one name, got 2"),
        ({}, "table"),
        ("box", "table"),
        ({"box": 3}, "arguments must be a table"),
        ({"outline": {}}, "'points' is missing"),
        ({"icosphere": {"radius": "x"}}, "radius must be a number"),
        ({"file": 3}, "file name"),
        ({"file": "nowhere.obj"}, "no such file"),
    ],
)
def test_wrong_recipes_are_refused_with_a_suggestion(recipe: object, words: str) -> None:
    with pytest.raises(MeshError, match=words):
        shapes.from_recipe(recipe)  # type: ignore[arg-type]


@pytest.mark.req("B17")
@pytest.mark.parametrize("ending", ["obj", "stl", "ply", "off", "glb"])
@pytest.mark.parametrize(
    "make", [lambda: shapes.icosphere(0.5, 2), lambda: shapes.torus(), lambda: shapes.box((1, 2, 3))]
)
def test_files_read_back(tmp_path: Path, ending: str, make: Callable[[], Shape]) -> None:
    shape = make()
    path = shapes.write(shape, tmp_path / f"mesh.{ending}")
    back = shapes.load(path, scale=2.0)
    assert_closed(back)
    assert (len(back.vertices), len(back.faces)) == (len(shape.vertices), len(shape.faces))
    single = ending in ("stl", "glb")  # these store float32
    assert back.volume == pytest.approx(8 * shape.volume, rel=1e-6 if single else 1e-14)
    if not single:
        assert np.array_equal(back.vertices, 2 * shape.vertices)
        assert np.array_equal(back.faces, shape.faces)
    assert [p.name for p in tmp_path.iterdir()] == [path.name]  # no temporary file is left
    relative = shapes.load(path.name, folder=tmp_path)
    assert dict(relative.recipe) == {"file": path.name}
    assert same(shapes.from_recipe(relative.recipe, tmp_path), relative)
    assert same(shapes.from_recipe(back.recipe), back)


def test_write_refuses(tmp_path: Path) -> None:
    ball = shapes.icosphere()
    with pytest.raises(MeshError, match="unknown mesh format"):
        shapes.write(ball, tmp_path / "a.xyz")
    with pytest.raises(MeshError, match="cannot be written"):
        shapes.write(ball, tmp_path / "no" / "a.obj")
    with pytest.raises(MeshError, match="only 3D"):
        shapes.write(shapes.circle(), tmp_path / "a.obj")


def test_mesh_recipe_round_trip() -> None:
    ball = shapes.icosphere()
    shape = shapes.mesh(ball.vertices, ball.faces[:, ::-1])
    assert same(shapes.from_recipe(shape.recipe), shape)
    assert shape.volume == pytest.approx(ball.volume)


def test_importing_shapes_is_light() -> None:
    heavy = ["trimesh", "shapely", "fontTools", "h5py", "pyvista", "warp"]
    code = f"import sys, turgor.shapes; sys.exit(','.join(set({heavy}) & set(sys.modules)) or 0)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


TRIANGLE_2D = [(0, 0), (1, 0), (0, 1)]
TRIANGLE_3D = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]


@pytest.mark.parametrize(
    ("vertices", "faces", "kind", "sentence"),
    [
        ([(0, 0), (1, 0)], [[0, 1]], "outline", "means closed"),
        (TRIANGLE_2D, [[0, 1], [1, 2], [2, 5]], "outline", "indices of the 3 vertices"),
        (TRIANGLE_2D, [[0, 1], [1, 2], [2, 0], [0, 1]], "outline", "means closed"),
        (TRIANGLE_3D, np.zeros((0, 3)), "sheet", "at least one face"),
        (TRIANGLE_3D, [[0, 1, 2]], "surface", "means closed"),
        ([(0, 0, np.nan), (1, 0, 0), (0, 1, 0)], [[0, 1, 2]], "sheet", "finite"),
    ],
)
def test_shapes_made_by_hand_are_checked(vertices, faces, kind, sentence):
    """They went on to the engine, which crashed."""
    with pytest.raises(MeshError, match=sentence):
        Shape(np.array(vertices, float), faces, kind, {})
