"""solver="auto": the symplectic solver where few substeps are stable, the implicit one where it would crawl."""

import json

import numpy as np
import pytest

import turgor
from turgor.errors import UnstableError

pytestmark = pytest.mark.req("X2")

SOFT, STIFF = 1e3, 1e8


def dropped(stiffness, **options):
    """A simulation of a ball above the ground."""
    scene = turgor.Scene(name="dropped")
    scene.add_ground(friction=0.5)
    scene.add_soft_body(
        turgor.shapes.icosphere(radius=0.3, subdivisions=2), name="ball", at=(0.0, 0.0, 0.4), mass=1.0,
        springs=turgor.Springs(stiffness=stiffness, damping=0.5), gas=turgor.Gas.at(gauge=0.0, ambient=1e3),
    )  # fmt: skip
    return turgor.Simulation(scene, **options)


def test_it_is_the_default_and_says_what_it_took_and_why():
    soft, stiff = dropped(SOFT), dropped(STIFF)
    assert soft.settings.solver == stiff.settings.solver == "auto"
    assert (soft.solver, stiff.solver) == ("symplectic", "implicit")
    assert "substeps per frame are stable" in soft.choice.reason
    assert "would need" in stiff.choice.reason


@pytest.mark.parametrize("stiffness", [SOFT, STIFF])
def test_it_runs_what_it_took_bit_for_bit(stiffness):
    chosen = dropped(stiffness)
    named = dropped(stiffness, solver=chosen.solver)
    assert named.choice.reason == ""
    for sim in (chosen, named):
        sim.run(0.2)
    assert np.array_equal(chosen.positions, named.positions)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"substeps": 40}, "the number of substeps is given"),
        ({"accuracy": 0.01}, "accuracy = 0.01"),
        ({"contact": "particles"}, "does not know contact"),
    ],
)
def test_what_only_explicit_solvers_know_stays_with_them(options, why):
    sim = dropped(STIFF, **options)
    assert sim.solver == "symplectic"
    assert why in sim.choice.reason


def test_it_follows_a_skin_that_becomes_stiff_and_soft_again():
    sim = dropped(SOFT)
    sim.run(0.1)
    height = sim["ball"].center[2]
    sim["ball"].stiffness = STIFF
    sim.step()
    assert sim.solver == "implicit"
    sim.run(0.3)
    assert sim.finite
    assert sim["ball"].center[2] < height
    sim["ball"].stiffness = SOFT
    sim.step()
    assert sim.solver == "symplectic"
    sim.run(0.1)
    assert sim.finite
    assert sim.frame_index == 2 + 6 + 18 + 6


def test_a_change_of_solver_keeps_momentum_and_time():
    scene = turgor.Scene(gravity=(0.0, 0.0, 0.0))
    scene.add_soft_body(
        turgor.shapes.icosphere(radius=0.3, subdivisions=2), name="ball", mass=1.0, velocity=(1.0, 2.0, 3.0),
        springs=turgor.Springs(stiffness=SOFT), gas=turgor.Gas.at(gauge=0.0, ambient=1e3),
    )  # fmt: skip
    sim = turgor.Simulation(scene, precision="double")
    sim.run(0.1)
    sim["ball"].stiffness = STIFF
    sim.run(0.1)
    assert sim.solver == "implicit"
    assert sim.time == pytest.approx(0.2)
    momentum = sim["ball"].masses @ sim["ball"].velocities
    assert momentum == pytest.approx((1.0, 2.0, 3.0), rel=1e-9)
    assert sim["ball"].center == pytest.approx((0.2, 0.4, 0.6), rel=1e-9)


def test_a_named_explicit_solver_says_that_it_is_too_stiff():
    sim = dropped(STIFF, solver="symplectic", max_substeps=400)
    with pytest.raises(UnstableError, match=r"more than max_substeps = 400: .* solver='implicit'"):
        sim.step()


def test_a_save_goes_on_with_the_solver_that_ran(tmp_path):
    sim = dropped(SOFT)
    sim["ball"].stiffness = STIFF
    sim.run(0.1)
    sim.save(tmp_path / "state.npz")
    again = turgor.Simulation.load(tmp_path / "state.npz")
    assert (again.solver, again.settings.solver) == ("implicit", "auto")
    for one in (sim, again):
        one.run(0.1)
    assert sim.state_hash() == again.state_hash()


def test_summary_and_json_say_which_and_why(here, tmp_path):
    (tmp_path / "stiff.toml").write_text(dropped(STIFF).scene.to_toml())
    stiff = ["run", str(tmp_path / "stiff.toml"), "--seconds", "0.05"]
    result = json.loads(here.command(*stiff, "--json").stdout)
    assert (result["solver"], result["solver_asked"]) == ("implicit", "auto")
    assert "substeps per frame" in result["solver_reason"]
    assert "implicit (auto: the symplectic solver would need" in here.command(*stiff).stdout
