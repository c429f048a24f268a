"""What a user holds of a running simulation: views by name, one settings object, grabs, surfaces that are not set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest

from turgor import BodyView, Gas, RigidView, Scene, SceneError, Simulation, Springs, WallView, shapes

BALL = shapes.icosphere(radius=0.3, subdivisions=1)


def make(**options: Any) -> Simulation:
    scene = Scene()
    scene.add_ground()
    scene.add_soft_body(BALL, name="ball", at=(0, 0, 1), gas=Gas(nRT=10.0), springs=Springs(200.0, 0.5))
    scene.add_cloth(shapes.sheet(resolution=(3, 3)), name="flag", at=(3, 0, 1))
    scene.add_rigid_body(shapes.box(), name="crate", at=(6, 0, 1))
    return Simulation(scene, **options)


def test_views_by_name() -> None:
    sim = make()
    assert {name: type(view) for name, view in sim.bodies.items()} == {"ball": BodyView, "flag": BodyView}
    assert {name: type(view) for name, view in sim.rigid_bodies.items()} == {"crate": RigidView}
    assert {name: type(view) for name, view in sim.walls.items()} == {"ground": WallView}
    assert sim["ball"] is sim.bodies["ball"]
    assert sim["crate"] is sim.rigid_bodies["crate"]  # the contract: any body by its name
    assert sim.names == ["ball", "flag", "crate"]
    assert isinstance(sim.bodies, Mapping)
    assert "crate" not in sim.bodies
    assert sim.bodies.get("crate") is None
    assert repr(sim["ball"]) == "<BodyView 'ball'>"


@pytest.mark.parametrize(
    ("look", "message"),
    [
        (lambda sim: sim["bal"], "no body 'bal'; there are: ball, flag, crate"),
        (lambda sim: sim.bodies["crate"], "no soft body or cloth 'crate'; there are: ball, flag"),
        (lambda sim: sim.rigid_bodies["ball"], "no rigid body 'ball'; there are: crate"),
        (lambda sim: sim.walls["floor"], "no wall 'floor'; there are: ground"),
    ],
)
def test_an_unknown_name_is_refused(look: Any, message: str) -> None:
    with pytest.raises(SceneError, match=message):
        look(make())


def test_a_misspelt_attribute_of_a_wall_is_refused() -> None:
    with pytest.raises(SceneError, match=r"ground\.fricton cannot be set; did you mean 'friction'"):
        make().walls["ground"].fricton = 0.5  # type: ignore[attr-defined]


# --- settings


def test_settings_are_the_truth() -> None:
    sim = make(solver="heun", fps=30, substeps=7, contact="none", precision="double", worlds=2, ledger=True)
    settings = sim.settings
    assert (settings.solver, settings.fps, settings.substeps, settings.contact) == ("heun", 30.0, 7, "none")
    assert (settings.precision, settings.worlds, settings.ledger, settings.device) == ("double", 2, True, "cpu")
    assert settings.max_substeps == sim.scene.simulation.max_substeps
    assert (sim.solver, sim.precision, sim.worlds, sim.device) == ("heun", "double", 2, "cpu")
    with pytest.raises(FrozenInstanceError):
        settings.solver = "rk4"  # type: ignore[misc]
    assert Simulation(sim.scene, **settings.arguments()).settings == settings


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"worlds": 0}, "worlds must be a whole number >= 1, got 0"),
        ({"ledger": "yes"}, "ledger must be true or false, got 'yes'"),
        ({"assembly": "hand"}, "assembly must be 'auto', 'scatter' or 'gather', got 'hand'"),
        ({"solver": "rk5"}, "simulation.solver must be one of .* did you mean 'rk4'"),
    ],
)
def test_wrong_settings_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(SceneError, match=message):
        make(**options)


def test_dt_is_the_length_of_the_last_substep() -> None:
    sim = make(fps=50, substeps=8, contact="none")
    assert sim.dt == 0.0
    sim.step()
    assert sim.substeps == 8
    assert sim.dt == pytest.approx(1 / 400, rel=1e-6)


# --- grabs


@pytest.mark.parametrize("name", ["ball", "flag", "crate"])
def test_a_view_grabs_as_the_simulation_does(name: str) -> None:
    by_view, by_name = make(), make()
    by_view[name].grab(3, (0.0, 0.5, 2.0), stiffness=30.0)
    by_name.grab(name, 3, (0.0, 0.5, 2.0), stiffness=30.0)
    assert by_view.state_hash() == by_name.state_hash() != make().state_hash()
    by_view[name].release()
    by_name.release(name)
    assert by_view.state_hash() == by_name.state_hash()
    fresh = make()
    for sim in (by_view, fresh):
        sim.step()
    np.testing.assert_array_equal(by_view[name].positions, fresh[name].positions)


def test_a_grab_changes_the_forces_at_once() -> None:
    sim = make()
    before = sim["ball"].forces
    sim["ball"].grab(3, sim["ball"].positions[3] + (0.0, 0.0, 1.0), stiffness=30.0)
    gained = sim["ball"].forces - before
    np.testing.assert_allclose(gained[3], (0.0, 0.0, 30.0), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(np.delete(gained, 3, axis=0), 0.0, atol=1e-4)


def test_a_point_is_for_rigid_bodies_only() -> None:
    with pytest.raises(SceneError, match="grab: point is for rigid bodies only, and 'ball' is none"):
        make().grab("ball", 0, (0, 0, 1), point=(0, 0, 0))


# --- surfaces


@pytest.mark.parametrize("key", ["friction", "restitution"])
def test_a_surface_that_is_not_set_is_none(key: str) -> None:
    sim = make()
    fresh = sim.state_hash()
    for view in (sim["ball"], sim["crate"]):
        setattr(view, key, 0.25)
        assert getattr(view, key) == 0.25
        setattr(view, key, None)
        assert getattr(view, key) is None
        for wrong in (-1.0, float("nan"), float("inf"), "rough"):
            with pytest.raises(SceneError, match=rf"{view.name}\.{key} must be "):
                setattr(view, key, wrong)
    assert getattr(make()["ball"], key) is None
    assert sim.state_hash() != fresh  # the crate was described with both


def test_a_surface_per_world() -> None:
    view = make(worlds=3)["ball"]
    view.friction = [0.1, np.nan, 0.3]
    np.testing.assert_allclose(view.friction, [0.1, np.nan, 0.3])
    view.friction = None
    np.testing.assert_array_equal(view.friction, [np.nan] * 3)
