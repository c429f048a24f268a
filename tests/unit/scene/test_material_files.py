"""Materials in scene files: names and tables, what is written and what follows, exact round trips."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.program import Here
from turgor import Gas, Membrane, Scene, SceneError, materials, shapes

pytestmark = pytest.mark.req("X11")

BALL = shapes.icosphere(radius=0.2, subdivisions=1)
SHEET = shapes.sheet(size=(2.0, 0.5), resolution=(5, 3))
HEAD = """
[[soft_body]]
name = "ball"
shape = { icosphere = { radius = 0.2, subdivisions = 1 } }
"""


def written(scene: Scene, kind: str = "soft_body") -> dict[str, Any]:
    [table] = tomllib.loads(scene.to_toml())[kind]
    for key in ("name", "shape", "at"):
        del table[key]
    return table


def test_a_preset_is_all_that_is_written() -> None:
    scene = Scene()
    scene.add_soft_body(BALL, material=materials.beach_ball)
    assert written(scene) == {"material": "beach_ball"}
    scene.add_cloth(SHEET, material="cotton", pressure=5.0)
    assert written(scene, "cloth") == {"material": "cotton", "pressure": 5.0}


def test_springs_are_written_as_before() -> None:
    scene = Scene()
    scene.add_soft_body(BALL)
    assert written(scene) == {"mass": 1.0, "springs": {"stiffness": 100.0, "damping": 0.0}}


def test_what_was_given_is_written() -> None:
    scene = Scene()
    scene.add_soft_body(BALL, material="beach_ball", mass=2.0, gas=None, friction=None, drag_coefficient=0.0)
    assert written(scene) == {
        "material": "beach_ball", "mass": 2.0, "gas": "none", "friction": "none", "drag_coefficient": 0.0,
    }  # fmt: skip
    assert Scene.from_toml(scene.to_toml()) == scene


def test_a_table_is_a_membrane_and_gauge_a_gas() -> None:
    scene = Scene.from_toml(HEAD + 'material = { young = 2e6, thickness = 1e-3, law = "neo-hookean" }\ngauge = 300\n')
    python = Scene()
    python.add_soft_body(BALL, name="ball", material=Membrane(young=2e6, law="neo-hookean"), gauge=300.0)
    assert python["ball"].gas == Gas.at(gauge=300.0, pressure_at="equilibrium")
    assert scene == python
    assert written(scene)["gas"] == {"gauge": 300.0, "ambient": 101325.0, "pressure_at": "equilibrium"}
    assert written(scene)["material"] == {"young": 2e6, "thickness": 1e-3, "damping": 0.0, "law": "neo-hookean"}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('material = "ruber"', "there is no preset 'ruber'; did you mean 'rubber'?"),
        ("material = 5", "material must be a turgor Membrane or the name of a preset, got 5"),
        ("material = { yung = 1 }", "material: unknown key 'yung'; did you mean 'young'?"),
        ("material = { young = -1 }", "material.young must be > 0, got -1"),
        ('material = "rubber"\nsprings = { stiffness = 3 }', "leave out springs, or material"),
        ('material = "rubber"\ngauge = 3\ngas = { nRT = 3 }', "leave one of them out"),
        ("gauge = 3", "gauge is for bodies with a material"),
        ("pressure = 3", "unknown key 'pressure'"),
    ],
)
def test_bad_lines_get_one_sentence(line: str, message: str) -> None:
    with pytest.raises(SceneError) as caught:
        Scene.from_toml(HEAD + line)
    assert message in str(caught.value)
    assert "soft_body 'ball' (number 1): " in str(caught.value)


positive = st.floats(1e-6, 1e9)
linear_or_not = st.builds(
    Membrane,
    young=positive,
    poisson=st.floats(0.0, 0.49),
    thickness=st.floats(1e-6, 0.1),
    density=st.floats(1.0, 1e4),
    law=st.sampled_from(["stvk", "neo-hookean"]),
    wrinkling=st.booleans(),
    damping=st.floats(0.0, 1.0),
    rigidity=st.none() | st.floats(0.0, 1.0),
)
membranes = linear_or_not | st.builds(Membrane, law=st.just("mooney-rivlin"), c1=positive, c2=positive)
skins = st.sampled_from(materials.names()) | membranes
given_values = st.fixed_dictionaries(
    {},
    optional={
        "mass": positive,
        "friction": st.none() | st.floats(0.0, 2.0),
        "restitution": st.none() | st.floats(0.0, 1.0),
        "drag_coefficient": st.floats(0.0, 2.0),
    },
)


@st.composite
def scenes(draw: st.DrawFn) -> Scene:
    scene = Scene()
    gases = st.sampled_from([{}, {"gas": None}, {"gas": Gas(nRT=3.0)}, {"gauge": 123.0}])
    scene.add_soft_body(BALL, name="ball", material=draw(skins), **draw(given_values), **draw(gases))
    pressure = draw(st.floats(-1e4, 1e4))
    scene.add_cloth(SHEET, name="sail", material=draw(skins), pressure=pressure, **draw(given_values))
    return scene


@given(scenes(), skins)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_round_trips_are_exact_before_and_after_a_change(scene: Scene, skin: Any) -> None:
    for _ in range(2):
        text = scene.to_toml()
        again = Scene.from_toml(text)
        assert again == scene
        assert again.to_toml() == text
        for one in (scene, again):
            one.set("ball.material", skin)
            one.set("sail.material.thickness", 2e-4)
        assert again == scene


def test_the_command_line_sets_a_material_and_its_numbers(here: Here, tmp_path: Path) -> None:
    """A skin twice as thick is twice as heavy."""
    scene = tmp_path / "toy.toml"
    scene.write_text(f"[simulation]\nseconds = 0.02\n{HEAD}at = [0, 0, 1]\nsprings = {{ stiffness = 50.0 }}\n")
    heights = []
    for thickness in ("5e-4", "1e-3"):
        change = ("--set", "ball.material=beach_ball", "--set", f"ball.material.thickness={thickness}")
        heights.append(json.loads(here.good("run", scene, *change, "--json"))["energy"]["gravity"])
    assert heights[1] == pytest.approx(2.0 * heights[0], rel=1e-3)
