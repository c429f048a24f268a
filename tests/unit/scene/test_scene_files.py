"""Scene files: exact round trips of random scenes, a catalogue of bad files, and reading and writing on disk."""

from __future__ import annotations

import contextlib
import math
import os
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.scene_files import CATALOGUE, SAMPLE
from turgor import shapes
from turgor.errors import MeshError, SceneError
from turgor.scene import PRESSURE_FORCES, Gas, Scene, Settings, Springs, VelocityDamping
from turgor.scene.settings import CONTACTS, PRECISIONS, SOLVERS
from turgor.shapes import Limits

BALL = shapes.icosphere(radius=0.5, subdivisions=1)
SURFACES = [BALL, shapes.box(size=(1, 2, 0.3)), shapes.torus(radius=0.1 + 0.2, tube=0.1, stacks=6, slices=5)]
OUTLINES = [shapes.circle(radius=1 / 3, points=7), shapes.star(tips=5), shapes.outline([(0, 0), (1, 0), (0.5, 0.7)])]
SHEETS = [shapes.sheet(size=(1, 2), resolution=(3, 4))]

TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n"


def test_the_sample_of_the_contract_is_the_python_scene() -> None:
    settings = Settings(solver="symplectic")
    scene = Scene(name="contract", description="one ball above a floor", simulation=settings)
    scene.add_ground(friction=0.5, restitution=0.1)
    scene.add_soft_body(
        shapes.icosphere(radius=0.5, subdivisions=2),
        name="ball",
        at=(0, 0, 1.5),
        mass=1.0,
        springs=Springs(stiffness=150.0, damping=0.5),
        gas=Gas.at(gauge=200.0, ambient=101_325.0, temperature=293.15),
    )
    assert Scene.from_toml(SAMPLE) == scene


# --- round trips

numbers = st.floats(allow_nan=False, allow_infinity=False)
positive = st.floats(min_value=0.0, exclude_min=True, allow_infinity=False)
amounts = st.floats(min_value=0.0, allow_infinity=False)
shares = st.floats(min_value=0.0, max_value=1.0)
names = st.text(st.characters(exclude_categories=["C", "Z"], exclude_characters=".="), min_size=1, max_size=8)


def vectors(dim: int, entries: st.SearchStrategy[float] = numbers) -> st.SearchStrategy[tuple[float, ...]]:
    return st.tuples(*[entries] * dim)


def turns(dim: int) -> st.SearchStrategy[Any]:
    return numbers if dim == 2 else vectors(3)


def some(**options: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Any subset of the options."""
    return st.fixed_dictionaries({}, optional=options)


def normals(dim: int) -> st.SearchStrategy[tuple[float, ...]]:
    return vectors(dim).filter(any)


@st.composite
def gases(draw: st.DrawFn) -> Gas:
    kind = draw(st.sampled_from(["moles", "nRT", "gauge", "absolute"]))
    options = draw(some(temperature=positive, ambient=amounts, inflate=positive))
    options |= draw(st.sampled_from([{}, {"held": True}, {"law": "adiabatic"}, {"law": "adiabatic", "gamma": 1.67}]))
    if "inflate" in options:
        options |= draw(some(gravity_waits=st.booleans()))
    return Gas(**{kind: draw(amounts)}, **options)


def body_options(dim: int) -> dict[str, st.SearchStrategy[Any]]:
    return {
        "at": vectors(dim),
        "rotation": turns(dim),
        "velocity": vectors(dim),
        "mass": positive,
        "springs": st.builds(Springs, st.floats(0, 400), amounts),
        "drag": amounts,
        "velocity_damping": st.none() | st.builds(VelocityDamping, base=st.floats(0, 0.99), rate=positive),
        "bending": amounts,
        "friction": st.none() | amounts,
        "restitution": st.none() | shares,
        "wind_drag": amounts,
        "pins": st.sampled_from(["top", "bottom"]) | st.lists(st.integers(0, 2)),
        "color": st.none() | st.tuples(shares, shares, shares) | st.just("#12ab9f"),
    }


@st.composite
def soft_body_options(draw: st.DrawFn, dim: int) -> dict[str, Any]:
    options = draw(
        some(
            **body_options(dim),
            spin=turns(dim),
            mass_distribution=st.sampled_from(["uniform", "area"]),
        )
    )
    options |= draw(st.sampled_from([{}, {"volume": "box"}, {"volume": "monte-carlo", "samples": 77}]))
    if draw(st.booleans()):
        options["gas"] = draw(gases())
        options |= draw(some(pressure_force=st.sampled_from(PRESSURE_FORCES), pressure_scaling=st.booleans()))
        if options["gas"].inflate == 0.0:
            options["settled"] = draw(st.booleans())
    return options


simulations = some(
    solver=st.sampled_from(SOLVERS),
    fps=positive,
    substeps=st.just("auto") | st.integers(1, 100),
    contact=st.sampled_from(CONTACTS),
    seconds=positive,
    precision=st.sampled_from(PRECISIONS),
    max_substeps=st.integers(100, 10**6),
)
# accuracy is for automatic substeps
simulations = simulations | some(solver=st.sampled_from(SOLVERS), accuracy=st.just("auto") | positive)


@st.composite
def scenes(draw: st.DrawFn) -> Scene:
    dim = draw(st.sampled_from([2, 3]))
    scene = Scene(
        dim,
        simulation=Settings(**draw(simulations)),
        **draw(some(gravity=vectors(dim), wind=vectors(dim), name=st.text(max_size=9), description=st.text())),
    )
    taken = iter(draw(st.lists(names.filter(lambda name: name not in ("dim", "wind")), unique=True, max_size=4)))

    def named(options: dict[str, Any]) -> dict[str, Any]:
        name = next(taken, "") if draw(st.booleans()) else ""
        return options | {"name": name} if name else options

    surface = {"friction": amounts, "restitution": shares}
    for _ in range(draw(st.integers(0, 2))):
        shape = draw(st.sampled_from(OUTLINES if dim == 2 else SURFACES))
        scene.add_soft_body(shape, **named(draw(soft_body_options(dim))))
    if dim == 3 and draw(st.booleans()):
        more = {"texture": st.none() | st.text(min_size=1, max_size=9).filter(lambda text: "\0" not in text)}
        scene.add_cloth(SHEETS[0], **named(draw(some(**body_options(3) | more))))
    if draw(st.booleans()):
        scene.add_ground(**named(draw(some(height=numbers, **surface))))
    if draw(st.booleans()):
        wall = named(draw(some(velocity=vectors(dim), **surface)))
        scene.add_plane(draw(vectors(dim)), draw(normals(dim)), **wall)
    if draw(st.booleans()):
        wall = named(draw(some(at=vectors(dim), rotation=turns(dim), spin=turns(dim), **surface)))
        scene.add_container(draw(vectors(dim, positive)), **wall)
    return scene


@given(scenes())
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_round_trip_is_exact(scene: Scene) -> None:
    written = scene.to_toml()
    again = Scene.from_toml(written)
    assert again == scene
    assert again.to_toml() == written


def test_only_what_matters_is_written() -> None:
    scene = Scene()
    scene.add_soft_body(BALL, name="ball")
    scene.add_ground()
    assert tomllib.loads(scene.to_toml()) == {
        "name": "scene",
        "dim": 3,
        "gravity": [0.0, 0.0, -9.81],
        "soft_body": [
            {
                "name": "ball",
                "shape": {"icosphere": {"radius": 0.5, "subdivisions": 1}},
                "at": [0.0, 0.0, 0.0],
                "mass": 1.0,
                "springs": {"stiffness": 100.0, "damping": 0.0},
            }
        ],
        "ground": [{"name": "ground"}],
    }


def test_vertex_zero_alone_stays_pinned() -> None:
    scene = Scene()
    scene.add_soft_body(BALL, pins=[0])
    assert Scene.from_toml(scene.to_toml()).soft_bodies[0].pins == (0,)


@pytest.mark.parametrize("text", ['"', "\\", "a\nb\r\nc", "\x00\x7f\x1b", "ü≈🎈", "'''\"\"\"", "\u2028\ufeff"])
def test_any_text_is_quoted_rightly(text: str) -> None:
    scene = Scene(description=text)
    assert Scene.from_toml(scene.to_toml()).description == text


def test_a_shape_without_a_recipe_cannot_be_written() -> None:
    scene = Scene()
    scene.add_soft_body(shapes.Shape(BALL.vertices, BALL.faces, "surface", {}), name="odd")
    with pytest.raises(SceneError, match="soft_body 'odd': shape has no recipe"):
        scene.to_toml()


# --- on disk


def test_save_and_load(tmp_path: Path) -> None:
    scene = Scene.from_toml(SAMPLE)
    path = tmp_path / "scène.toml"
    scene.save(path)
    assert Scene.load(str(path)) == scene
    scene.set("ball.mass", 2)
    scene.save(path)
    assert Scene.load(path).soft_bodies[0].mass == 2.0
    assert os.listdir(tmp_path) == [path.name]  # nothing left over


def test_a_failed_save_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.toml"
    Scene(name="old").save(path)

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("turgor.files.os.replace", fail)
    with pytest.raises(SceneError, match=r"a\.toml: cannot be written: No space left"):
        Scene(name="new").save(path)
    assert Scene.load(path).name == "old"
    assert os.listdir(tmp_path) == ["a.toml"]


def test_files_are_found_beside_the_scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "in" / "cat.obj").write_text(TETRAHEDRON)
    (tmp_path / "in" / "a.toml").write_text(
        '[[soft_body]]\nname = "cat"\nshape = { file = "cat.obj", scale = 2.0 }\n'
        '[[cloth]]\nshape = { sheet = { resolution = [3, 3] } }\ntexture = "flag.png"\n'
    )
    scene = Scene.load(tmp_path / "in" / "a.toml")
    assert scene.soft_bodies[0].shape.volume == pytest.approx(8 / 6)
    assert scene.cloths[0].texture == str(tmp_path / "in" / "flag.png")

    scene.save(tmp_path / "in" / "b.toml")  # in the same folder: the short name again
    document = tomllib.loads((tmp_path / "in" / "b.toml").read_text())
    assert document["soft_body"][0]["shape"] == {"file": "cat.obj", "scale": 2.0}
    assert document["cloth"][0]["texture"] == "flag.png"
    scene.save(tmp_path / "out" / "b.toml")
    with pytest.raises(SceneError, match="outside the folder"):
        Scene.load(tmp_path / "out" / "b.toml")
    assert Scene.load(tmp_path / "out" / "b.toml", allow_outside=True) == scene
    document = tomllib.loads((tmp_path / "out" / "b.toml").read_text())
    assert document["cloth"][0]["texture"] == str(tmp_path / "in" / "flag.png")  # absolute elsewhere stays absolute

    monkeypatch.chdir(tmp_path)  # relative to where Python runs, written relative to the scene file
    near = Scene()
    near.add_soft_body(shapes.load("in/cat.obj"), name="cat")
    near.save("out/c.toml")
    assert '"../in/cat.obj"' in Path("out/c.toml").read_text()
    for path in ("out/c.toml", tmp_path / "out" / "c.toml"):
        with pytest.raises(SceneError, match="outside the folder"):
            Scene.load(path)
        assert Scene.load(path, allow_outside=True) == near


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "no such file"), (b"\xff\xfe", "not a text file in UTF-8"), ("folder", "cannot be read")],
)
def test_unreadable_files(tmp_path: Path, content: bytes | str | None, message: str) -> None:
    path = tmp_path / "a.toml"
    if content == "folder":
        path.mkdir()
    elif isinstance(content, bytes):
        path.write_bytes(content)
    with pytest.raises(SceneError, match=rf"a\.toml: .*{message}"):
        Scene.load(path)


def test_saving_where_there_is_no_folder(tmp_path: Path) -> None:
    with pytest.raises(SceneError, match="cannot be written: No such file or directory"):
        Scene().save(tmp_path / "no" / "a.toml")


# --- bad files


@pytest.mark.parametrize(("old", "new", "words"), CATALOGUE.values(), ids=CATALOGUE)
def test_bad_file(tmp_path: Path, old: str, new: str, words: list[str]) -> None:
    assert old in SAMPLE
    path = tmp_path / "ball.toml"
    path.write_text(SAMPLE.replace(old, new, 1))
    with pytest.raises((SceneError, MeshError)) as caught:
        Scene.load(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    for word in words:
        assert word in message


BAD_WALLS = {
    "plane without normal": ("[[plane]]\npoint = [0, 0, 0]", "plane number 1: 'normal' is missing"),
    "plane in 2D": (
        "[[plane]]\npoint = [0, 0]\nnormal = [0, 1]",
        "plane number 1: point is 2D but the scene has dim = 3",
    ),
    "second of two": (
        "[[container]]\nsize = [1, 1, 1]\n[[container]]\nsize = [1, 1, -1]",
        "container number 2: size[2] must be > 0, got -1",
    ),
    "same name": (
        "[[ground]]\nname = 'g'\n[[ground]]\nname = 'g'",
        "ground 'g' (number 2): the name 'g' is already used",
    ),
    "gas in a cloth": ("[[cloth]]\nshape = { sheet = {} }\ngas = { nRT = 1 }", "cloth number 1: unknown key 'gas'"),
}


@pytest.mark.parametrize(("content", "message"), BAD_WALLS.values(), ids=BAD_WALLS)
def test_bad_text_names_its_source(content: str, message: str) -> None:
    with pytest.raises(SceneError) as caught:
        Scene.from_toml(content)
    assert str(caught.value).startswith(f"<text>: {message}")


def test_text_must_be_text() -> None:
    with pytest.raises(SceneError, match="scene must be a string"):
        Scene.from_toml(b"name = 'x'")  # type: ignore[arg-type]
    with pytest.raises(SceneError, match="nested too deeply"):
        Scene.from_toml("x = " + "[" * 100_000)


@given(st.text(st.characters(codec="utf-8"), max_size=30) | st.sampled_from(["[" * 9, "{a=1}", "1\n2", "'"]))
@settings(max_examples=60, deadline=None)
def test_any_value_on_the_command_line_is_set_or_refused(value: str) -> None:
    scene = Scene.from_toml(SAMPLE.replace("subdivisions = 2", "subdivisions = 0"))
    for path in ("ball.mass", "ball.gas", "gravity", "simulation.substeps", "name"):
        with contextlib.suppress(SceneError):  # any other error fails the test
            scene.set(path, value)
    assert math.isfinite(scene.soft_bodies[0].mass)


# --- what a stranger's file may ask for


@pytest.mark.parametrize("path", ["/etc/passwd", "../mesh.obj", "in/../../mesh.obj", "link.obj"])
@pytest.mark.parametrize("shape", ["{{ file = '{}' }}", "{{ letter = {{ string = 'A', font = '{}' }} }}"])
def test_a_scene_file_names_no_files_elsewhere(tmp_path: Path, path: str, shape: str) -> None:
    folder = tmp_path / "scene"
    folder.mkdir()
    (tmp_path / "mesh.obj").touch()
    (folder / "link.obj").symlink_to(tmp_path / "mesh.obj")
    (folder / "a.toml").write_text(f"[[soft_body]]\nshape = {shape.format(path)}\n")
    with pytest.raises(SceneError, match="outside the folder of the scene file"):
        Scene.load(folder / "a.toml")


def test_limits_on_what_a_scene_file_asks_for(tmp_path: Path) -> None:
    ball = "[[soft_body]]\nshape = { icosphere = { subdivisions = 1 } }\n"  # 42 vertices
    path = tmp_path / "a.toml"
    path.write_text(2 * ball)
    assert len(Scene.load(path, limits=Limits(vertices=84)).soft_bodies) == 2
    with pytest.raises(MeshError, match=r"number 2.*limit of 41.*--limit vertices"):
        Scene.load(path, limits=Limits(vertices=83))
    with pytest.raises(SceneError, match=r"--limit scene_bytes"):
        Scene.load(path, limits=Limits(scene_bytes=50))
    for shape in ("icosphere = { subdivisions = 9 }", "polygon = { sides = 1e12 }", "star = { tips = 1e12 }"):
        with pytest.raises(MeshError, match=r"more than the limit"):
            Scene.from_toml(f"[[soft_body]]\nshape = {{ {shape} }}\n", limits=Limits(vertices=1000))
