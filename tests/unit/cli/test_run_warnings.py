"""`turgor run` shows what looks wrong: in its summary, in --json, and in the error of a run that fails."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from support.program import Here
from turgor import shapes

BALL = """
[simulation]
seconds = 1.5
[[ground]]
[[soft_body]]
name = "ball"
shape = { icosphere = { radius = 0.5, subdivisions = 2 } }
at = [0.0, 0.0, 0.6]
springs = { stiffness = 100.0, damping = 1.0 }
gas = { gauge = 200.0 }
"""


@pytest.fixture
def scene(tmp_path: Path) -> str:
    path = tmp_path / "ball.toml"
    path.write_text(BALL)
    return str(path)


@pytest.mark.req("X3")
@pytest.mark.parametrize("gauge", [50, 200, 1000, 5000])
def test_the_summary_has_the_entered_pressure_beside_the_one_that_holds(here: Here, scene: str, gauge: int) -> None:
    text = here.good("run", scene, "--set", f"ball.gas.gauge={gauge}")
    header, row = next(line for line in text.splitlines() if line.startswith("body")), text.split("ball ")[1]
    assert header.split()[-4:] == ["gauge", "entered", "center", "m"]
    holds, entered = row.split()[3:5]
    assert float(entered) == gauge
    told = re.search(
        rf"^warning: body 'ball': a gauge pressure of {gauge} Pa was entered, and (\S+) Pa hold", text, re.M
    )
    assert told is not None
    assert float(told[1]) == pytest.approx(float(holds), rel=6e-3)


@pytest.mark.req("X3")
def test_json_has_the_warnings_and_both_pressures(here: Here, scene: str) -> None:
    result = json.loads(here.good("run", scene, "--json"))
    (sentence,) = result["warnings"]
    assert "a gauge pressure of 200 Pa was entered" in sentence
    ball = result["bodies"]["ball"]
    assert ball["entered_gauge"] == 200.0
    assert ball["gauge"] == pytest.approx(ball["pressure"] - 101_325.0, abs=0.02)
    fine = json.loads(here.good("run", scene, "--json", "--set", "ball.gas={gauge=60,ambient=0}"))
    assert fine["warnings"] == []
    amount = json.loads(here.good("run", scene, "--json", "--set", "ball.gas={nRT=30}"))
    assert amount["bodies"]["ball"]["entered_gauge"] is None


@pytest.mark.req("X3")
def test_a_body_without_gas_is_told_in_the_summary_and_not_when_quiet(here: Here, scene: str) -> None:
    text = here.good("run", scene, "--set", "ball.gas=none")
    assert re.search(r"^warning: body 'ball' has \S+ % of its volume left: there is no gas in it", text, re.M)
    assert here.good("run", scene, "--set", "ball.gas=none", "--quiet") == ""


@pytest.mark.req("X5")
@pytest.mark.parametrize("size", [1e-5, 1e3])
def test_a_mesh_in_other_units_is_told(here: Here, tmp_path: Path, size: float) -> None:
    shapes.write([shapes.icosphere(0.5 * size, 2)], tmp_path / "ball.obj")
    path = tmp_path / "mesh.toml"
    text = BALL.replace("{ icosphere = { radius = 0.5, subdivisions = 2 } }", '{ file = "ball.obj" }')
    path.write_text(text.replace("0.6]", f"{size}]").replace("seconds = 1.5", "seconds = 0.1\nmax_substeps = 100"))
    failed = here.command("run", path, "--solver", "symplectic")
    assert failed.returncode == 1
    assert "its units look wrong; scale the mesh, by shapes.load(path, size=1.0)" in failed.stderr
    assert failed.stderr.count("\n") == 1
    soft = ("ball.gas=none", "ball.springs.stiffness=1e-9", "ball.springs.damping=0", "gravity=[0,0,0]")  # that runs
    result = json.loads(here.good("run", path, "--json", *(part for change in soft for part in ("--set", change))))
    assert "units look wrong" in result["warnings"][0]


@pytest.mark.req("X3")
def test_the_pressure_in_equilibrium_is_set_on_the_command_line(here: Here, scene: str) -> None:
    at = ("--set", "ball.gas.pressure_at=equilibrium", "--set", "gravity=[0,0,0]")
    result = json.loads(here.good("run", scene, "--json", *at, "--set", "ball.gas.gauge=100"))
    assert result["bodies"]["ball"]["gauge"] == pytest.approx(100.0, abs=0.2)
    assert result["warnings"] == []
    refused = here.command("run", scene, *at)
    assert refused.returncode == 2
    assert "springs of 100 N/m hold at most about 178 Pa" in refused.stderr
    wrong = here.command("run", scene, "--set", "ball.gas.pressure_at=equlibrium")
    assert wrong.returncode == 2
    assert "did you mean 'equilibrium'?" in wrong.stderr
