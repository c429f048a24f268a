"""What users hold: names and units in `help`, and types that a strict type checker knows."""

from __future__ import annotations

import inspect
import pydoc
import re
import subprocess
import sys
from dataclasses import fields
from importlib import resources
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
from mypy import api as mypy

import turgor
from turgor import Scene, SceneError, shapes
from turgor.scene import Attachment, Cloth, Container, Ground, Plane, RigidBody, Settings, SoftBody, options
from turgor.scene.gas import Gas, GasOptions

ROOT = Path(__file__).parents[2]

# --- keywords: the type checker's view, the docstring and the data agree

ADD: dict[str, tuple[Any, Any]] = {  # method -> what it adds, and the types of its keywords
    "add_soft_body": (SoftBody, options.SoftBodyOptions),
    "add_cloth": (Cloth, options.ClothOptions),
    "add_rigid_body": (RigidBody, options.RigidBodyOptions),
    "add_ground": (Ground, options.GroundOptions),
    "add_plane": (Plane, options.PlaneOptions),
    "add_container": (Container, options.ContainerOptions),
}
UNITS = (
    "no unit|m|m/s|rad|rad/s|kg|N/m|N s/m|N/m, N s/m|N/m, 1/s|N m/rad|1/s|Pa or J|Pa|J|K|mol|s|N s|N|m²|Pa, m|N m|kg/m³"
)


def documented(text: str) -> list[str]:
    """Names of the fields that a text has a line for: `name (unit): meaning`."""
    return re.findall(rf"^ *(\w+) \((?:{UNITS})\): \S", text, re.MULTILINE)


def names(cls: Any) -> list[str]:
    return [entry.name for entry in fields(cls)]


@pytest.mark.parametrize("method", [*ADD, "attach"])
def test_help_names_every_keyword_with_its_unit(method: str) -> None:
    cls = ADD[method][0] if method in ADD else Attachment
    assert documented(pydoc.render_doc(getattr(Scene, method), renderer=pydoc.plaintext)) == names(cls)


@pytest.mark.parametrize("method", ADD)
def test_keywords_are_the_fields(method: str) -> None:
    cls, keywords = ADD[method]
    explicit = [
        name for name in inspect.signature(getattr(Scene, method)).parameters if name not in ("self", "options")
    ]
    assert {*explicit, *keywords.__annotations__} == {*names(cls)}
    hints, kinds = get_type_hints(cls), get_type_hints(keywords)
    for name, kind in kinds.items():  # None can be given where it can be stored, and nowhere else
        assert (type(None) in get_args(hints[name])) == (type(None) in get_args(kind)), name


def test_gas_options_are_fields() -> None:
    given = inspect.signature(Gas.at).parameters
    assert {*GasOptions.__annotations__, *given} - {"options"} == {*names(Gas)} - {"moles", "nRT"}


@pytest.mark.parametrize(
    "cls", [SoftBody, Cloth, RigidBody, Ground, Plane, Container, Attachment, Settings, Gas, turgor.Springs,
            turgor.VelocityDamping, turgor.Membrane, turgor.materials.Preset, shapes.Shape, turgor.Energy,
            turgor.Contacts, turgor.ContactPatch, turgor.ContactEvent],
    ids=lambda cls: cls.__name__,
)  # fmt: skip
def test_data_says_its_units(cls: Any) -> None:
    assert documented(cls.__doc__) == names(cls)
    assert "Annotated" not in str(inspect.signature(cls))


@pytest.mark.parametrize("method", ADD)
def test_a_wrong_keyword_is_a_scene_error_with_a_suggestion(method: str) -> None:
    needed: dict[str, dict[str, Any]] = {
        "add_ground": {}, "add_plane": {"point": (0, 0, 0), "normal": (0, 0, 1)}, "add_container": {"size": (1, 1, 1)},
    }  # fmt: skip
    with pytest.raises(SceneError, match=r"unknown key 'nmae'; did you mean 'name'\?"):
        getattr(Scene(), method)(**needed.get(method, {"shape": shapes.icosphere()}), nmae="a")


# --- names


def test_every_public_name_exists_and_is_listed() -> None:
    for name in turgor.__all__:
        assert getattr(turgor, name) is not None
    assert {*turgor.__all__} <= {*dir(turgor)}
    with pytest.raises(AttributeError, match="module 'turgor' has no attribute 'Sceen'"):
        turgor.Sceen  # noqa: B018


def test_describing_a_scene_needs_no_warp() -> None:
    code = (
        "import sys, turgor; turgor.gallery.load('drop').check(); dir(turgor); "
        "heavy = {'warp', 'h5py', 'pyvista', 'viser'} & {*sys.modules}; assert not heavy, heavy; "
        "assert turgor.record.read and 'warp' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr


def test_low_level_names_are_not_on_the_simulation() -> None:
    hidden = ("launch_frame", "stage_times", "ensure_fine", "check_change", "parameters_changed", "state_changed")
    assert not [name for name in hidden if hasattr(turgor.Simulation, name)]


def public_things() -> list[Any]:
    things = [getattr(turgor, name) for name in turgor.__all__]
    return [thing for thing in things if inspect.isclass(thing)] + [turgor.shapes, turgor.gallery, turgor.record]


@pytest.mark.parametrize("thing", public_things(), ids=lambda thing: thing.__name__)
def test_help_has_no_requirement_ids(thing: Any) -> None:
    text = pydoc.render_doc(thing, renderer=pydoc.plaintext)
    assert not re.findall(r"\((?:[A-FX]\d+(?:, )?)+\)", text)


@pytest.mark.parametrize("cls", [turgor.BodyView, turgor.RigidView, turgor.WallView, turgor.Simulation, Scene])
def test_every_public_member_has_a_docstring(cls: Any) -> None:
    silent = [
        name
        for name, entry in inspect.getmembers(cls)
        if not name.startswith("_") and not inspect.getdoc(entry) and not isinstance(entry, (int, str))
    ]
    assert silent == []


# --- types

SCRIPT = """\
import numpy as np

import turgor

scene = turgor.Scene(gravity=(0, 0, -9.81))
scene.add_ground(friction=0.5, restitution=0.1)
ball: turgor.SoftBody = scene.add_soft_body(
    turgor.shapes.icosphere(radius=0.5, subdivisions=2), name="ball", at=(0, 0, 2), mass=1.0,
    springs=turgor.Springs(stiffness=150.0, damping=0.5),
    gas=turgor.Gas.at(gauge=200.0, ambient=101_325.0, temperature=293.15, inflate=0.1), color="#ff8000",
)
crate = scene.add_rigid_body(turgor.shapes.box(size=(0.3, 0.3, 0.3)), mass=0.5, at=np.array([0.0, 0.0, 4.0]))
flag: turgor.Cloth = scene.add_cloth(turgor.shapes.sheet(size=(1, 1), resolution=(20, 20)), pins="left-corners")
toy = scene.add_soft_body(turgor.shapes.box(), material=turgor.materials.beach_ball, gauge=300.0)
skin = turgor.Membrane(young=2e6, thickness=1e-3, law="neo-hookean")
scene.add_soft_body(turgor.shapes.box(), material=skin, mass=toy.mass * skin.density)
scene.add_cloth(turgor.shapes.sheet(), material="cotton", pressure=20.0)
scene.add_plane(point=[0, 0, -1], normal=[0, 0, 1], velocity=0)
scene.add_container(size=(3, 3, 3), spin=(0, 0.5, 0))
scene.attach(flag, [0, 1], crate)

sim = turgor.Simulation(scene, device="cpu", solver="midpoint", fps=60, substeps="auto", contact="features")
sim.step()
sim.run(seconds=3.0, record="drop.vtkhdf", progress=True)
view: turgor.BodyView = sim["ball"]
shift = float(np.abs(view.positions - view.velocities / 60).max()) + abs(view.volume - view.rest_volume)
momentum: float = view.momentum[2] + view.center[2] + max(view.pressure, 0.0)
view.stiffness, view.friction, view.positions = 200.0, None, view.positions + 1.0
view.stiffness = [100.0, 200.0]
view.grab(3, (0, 0, 1), stiffness=20.0)
view.release()
sim.rigid_bodies["crate"].velocity = (0, 0, 1)
sim.walls["ground"].friction = 0.3
sim.gravity = (0, 0, -1.62)
names = [body.name for body in sim.bodies.values()] + list(sim.walls)
energy: turgor.Energy = sim.energy()
total: float = energy.kinetic + energy.elastic + energy.gas + energy.gravity - energy.total
found: turgor.Contacts = sim.contacts()
patch: turgor.ContactPatch = found.patch("ball", "ground")
deepest = found.max_penetration * found.count
settings = (sim.settings.solver, sim.settings.worlds, sim.dt * sim.substeps)


def said(event: turgor.ContactEvent) -> None:
    print(event.first, event.impulse)


sim.on_contact(said)
sim.save("state.npz")
sim = turgor.Simulation.load("state.npz")
digest: str = sim.state_hash()
trajectory = turgor.record.read("drop.vtkhdf")
for solver in ("euler", "heun"):
    turgor.Simulation(turgor.gallery.load("drop"), solver=solver, worlds=3)
"""
WRONG = {  # a line, and what the type checker says of it
    'scene.add_soft_body(turgor.shapes.icosphere(), sprins=turgor.Springs())': 'Unexpected keyword argument "sprins"',
    'scene.add_soft_body(turgor.shapes.icosphere(), springs=150.0)': '"springs" .* incompatible type "float"',
    'scene.add_soft_body(turgor.shapes.icosphere(), at="top")': '"at" .* incompatible type',
    'scene.add_cloth(turgor.shapes.sheet(), gas=None)': 'Unexpected keyword argument "gas"',
    'scene.add_rigid_body(turgor.shapes.box(), mass="heavy")': '"mass" .* incompatible type "str"',
    'scene.add_ground(hight=1.0)': 'Unexpected keyword argument "hight"',
    'scene.add_plane((0, 0, 0), normal="up")': '"normal" .* incompatible type',
    'scene.add_container(size=3.0)': '"size" .* incompatible type "float"',
    'scene.gravty = (0, 0, 0)': '"Scene" has no attribute "gravty"',
    'turgor.Springs(stifness=3.0)': 'Unexpected keyword argument "stifness"',
    'turgor.Gas.at(gague=3.0)': 'Unexpected keyword argument "gague"',
    'turgor.Simulation(scene, slover="rk4")': 'Unexpected keyword argument "slover"',
    'turgor.Simulation(scene, fps="fast")': '"fps" .* incompatible type "str"',
    'turgor.Simulaton(scene)': 'Module has no attribute "Simulaton"',
    'sim.step(3)': 'Too many arguments for "step"',
    'sim.lauch': '"Simulation" has no attribute "lauch"',
    'sim.gravty = (0, 0, 0)': '"Simulation" has no attribute "gravty"',
    'sim["ball"].positons': '"BodyView" has no attribute "positons"',
    'sim["ball"].stifness = 3.0': '"BodyView" has no attribute "stifness"',
    'sim["ball"].stiffness = "high"': 'Incompatible types in assignment .*"str"',
    'sim.rigid_bodies["crate"].velocty = (0, 0, 0)': '"RigidView" has no attribute "velocty"',
    'sim.walls["ground"].fricton = 0.5': '"WallView" has no attribute "fricton"',
    'sim.energy().totl': '"Energy" has no attribute "totl"',
    'sim.contacts().cout': '"Contacts" has no attribute "cout"',
}  # fmt: skip
SETTINGS = f"""\
[mypy]
strict = true
mypy_path = {ROOT / "src"}
follow_imports = silent
[mypy-warp.*,trimesh.*,shapely.*,h5py.*,fontTools.*,viser.*,pyvista.*]
follow_imports = skip
ignore_missing_imports = true
"""


@pytest.fixture(scope="module")
def complaints(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """What mypy (strict) says of the good script, of a script of wrong lines and of the lessons: file -> lines."""
    folder = tmp_path_factory.mktemp("script")
    (folder / "good.py").write_text(SCRIPT)
    head = "import turgor\n\n\ndef use(scene: turgor.Scene, sim: turgor.Simulation) -> None:\n"
    (folder / "wrong.py").write_text(head + "".join(f"    {line}\n" for line in WRONG))
    (folder / "mypy.ini").write_text(SETTINGS)
    lessons = sorted((ROOT / "examples").glob("*.py"))
    cache = tmp_path_factory.getbasetemp().parent / "types"  # of all workers: the second one is quick
    said, trouble, _ = mypy.run([
        "--config-file", str(folder / "mypy.ini"), "--cache-dir", str(cache), "--no-error-summary",
        "--scripts-are-modules", *map(str, (folder / "good.py", folder / "wrong.py", *lessons)),
    ])  # fmt: skip
    assert not trouble
    found: dict[str, list[str]] = {}
    for line in said.splitlines():
        file, rest = line.split(":", 1)
        found.setdefault(Path(file).name, []).append(rest)
    return found


def test_the_package_ships_its_types() -> None:
    assert resources.files("turgor").joinpath("py.typed").is_file()
    assert '"py.typed"' in (ROOT / "pyproject.toml").read_text()


@pytest.mark.process
def test_a_users_script_type_checks(complaints: dict[str, list[str]]) -> None:
    assert complaints.get("good.py", []) == []


@pytest.mark.process
@pytest.mark.parametrize("number", range(len(WRONG)), ids=list(WRONG))
def test_a_mistake_is_reported_at_its_line(number: int, complaints: dict[str, list[str]]) -> None:
    said = [text for text in complaints["wrong.py"] if text.startswith(f"{number + 5}:")]
    assert re.search(list(WRONG.values())[number], "\n".join(said)), said


@pytest.mark.process
def test_the_lessons_type_check(complaints: dict[str, list[str]]) -> None:
    assert {name: said for name, said in complaints.items() if name not in ("good.py", "wrong.py")} == {}
