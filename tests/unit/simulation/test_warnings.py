"""What looks wrong is told once in Python, and always in `sim.warnings`: volume lost, units, one list of all."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest

import turgor
from support.laws import DEVICE
from turgor import Gas, Springs, gallery, shapes
from turgor.errors import TurgorWarning

GENTLE = Gas.at(gauge=60.0, ambient=0.0)


def ball(radius: float = 0.5, fine: int = 2, **options: Any) -> turgor.Scene:
    """A ball at rest on the floor of a heavy world."""
    scene = turgor.Scene()
    scene.add_ground(friction=0.5, restitution=0.0)
    base: dict[str, Any] = {"springs": Springs(100.0, 1.0), "at": (0, 0, 1.1 * radius)}
    scene.add_soft_body(shapes.icosphere(radius, fine), name="ball", **base | options)
    return scene


def built(scene: turgor.Scene, **options: Any) -> turgor.Simulation:
    """A simulation, whose warnings are looked at later."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TurgorWarning)
        return turgor.Simulation(scene, device=DEVICE, **options)


# --- volume


@pytest.mark.req("X3")
def test_a_body_without_gas_that_collapses_is_told() -> None:
    sim = turgor.Simulation(ball(), device=DEVICE)
    assert sim.warnings == []
    with pytest.warns(TurgorWarning, match="body 'ball' has .* % of its volume left: there is no gas in it"):
        sim.run(2.0)
    (sentence,) = sim.warnings
    left = float(sentence.split(" has ")[1].split(" %")[0])
    assert left == pytest.approx(100.0 * sim["ball"].volume / sim["ball"].rest_volume, rel=0.06)  # two digits
    assert left < 50.0


def test_it_is_told_once() -> None:
    sim = turgor.Simulation(ball(), device=DEVICE)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(4):
            sim.run(0.5)
    assert [entry.category for entry in caught] == [TurgorWarning]


def test_a_skin_that_holds_itself_and_a_body_with_gas_are_not_told() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", TurgorWarning)
        for options in ({"bending": 5.0, "springs": Springs(5000.0, 5.0)}, {"gas": GENTLE}):
            sim = turgor.Simulation(ball(**options), device=DEVICE)
            sim.run(1.0)
            assert sim["ball"].volume > 0.5 * sim["ball"].rest_volume
            assert sim.warnings == []


@pytest.mark.req("X3")
def test_too_little_gas_for_the_air_outside_is_told() -> None:
    sim = built(ball(fine=1, gas=Gas(moles=1.0, ambient=101_325.0)))  # 21 mol would have ambient pressure
    with pytest.warns(TurgorWarning, match=r"% of its volume left: it has too little gas for what presses on it"):
        sim.run(0.25)


def test_the_world_that_has_collapsed_is_named() -> None:
    sim = built(ball(gas=GENTLE), worlds=2)
    sim["ball"].nRT = [sim["ball"].nRT[0], 1e-3]  # type: ignore[index]
    with pytest.warns(TurgorWarning, match="body 'ball' in world 1 has"):
        sim.run(2.0)


# --- units


@pytest.mark.req("X5")
@pytest.mark.parametrize(("radius", "across"), [(5e-6, "1e-05 m"), (500.0, r"1e\+03 m")])
def test_a_size_that_is_not_in_metres_is_told(radius: float, across: str) -> None:
    with pytest.warns(TurgorWarning, match=f"'ball' is {across} across, .*: its units look wrong"):
        sim = turgor.Simulation(ball(radius, gas=GENTLE), device=DEVICE)
    assert any("units look wrong" in sentence for sentence in sim.warnings)


@pytest.mark.parametrize("radius", [0.5e-3, 0.5, 50.0])
def test_a_millimetre_and_a_hundred_metres_are_not_told(radius: float) -> None:
    stiff = Springs(200.0 * radius)
    assert built(ball(radius, gas=GENTLE, springs=stiff)).warnings == []


@pytest.mark.req("X5")
@pytest.mark.parametrize(("size", "scale", "wanted"), [(1e3, 1.0, "0.001"), (1e-5, 1.0, "1e+06"), (2e3, 0.1, "0.0001")])
def test_a_mesh_file_is_told_how_to_scale(tmp_path: Path, size: float, scale: float, wanted: str) -> None:
    """The scale that is named, given instead, brings the mesh to a size that is not told."""
    path = tmp_path / "ball.obj"
    shapes.write([shapes.icosphere(0.5 * size / scale, 1)], path)
    scene = turgor.Scene()
    scene.add_soft_body(shapes.load(path, scale=scale), name="ball", gas=GENTLE)
    (sentence,) = built(scene).warnings
    assert f"shapes.load(path, scale={wanted})" in sentence
    assert "shapes.load(path, size=1.0)" in sentence
    again = turgor.Scene()
    again.add_soft_body(shapes.load(path, scale=float(wanted)), name="ball", gas=GENTLE)
    assert built(again).warnings == []


def test_cloth_and_rigid_bodies_are_told_and_landscapes_are_not() -> None:
    scene = turgor.Scene()
    scene.add_cloth(shapes.sheet((300.0, 200.0), (4, 4)), name="sail", at=(0, 0, 900))
    scene.add_rigid_body(shapes.box((2e-4, 2e-4, 2e-4)), name="grain", at=(0, 0, 600))
    scene.add_rigid_body(shapes.box((500.0, 500.0, 1.0)), name="plain", kind="static")
    told = [sentence for sentence in built(scene, precision="double").warnings if "units" in sentence]
    assert [sentence.split("'")[1] for sentence in told] == ["sail", "grain"]


@pytest.mark.req("X5")
@pytest.mark.parametrize(
    ("radius", "settings"),
    [(5e-6, {}), (500.0, {"max_substeps": 50}), (5e-6, {"substeps": 4})],
    ids=["10 µm", "1 km", "fixed substeps"],
)
def test_the_error_of_such_a_size_says_so_first(radius: float, settings: dict[str, Any]) -> None:
    sim = built(ball(radius, gas=Gas.at(gauge=200.0)), solver="symplectic", **settings)
    with pytest.raises(
        turgor.UnstableError, match=r": it is \S+ m across, .* units look wrong; .*; if its size is meant"
    ):
        sim.run(0.2)


# --- one list


def test_masses_and_precision_are_in_the_same_list() -> None:
    scene = turgor.Scene()
    for name, x, mass in (("light", 0.0, 1.0), ("heavy", 1e6, 1e6)):
        scene.add_rigid_body(shapes.box((1, 1, 1)), name=name, at=(x, 0, 1), mass=mass)
    sim = built(scene)
    assert len(sim.warnings) == 2
    assert any("use precision='double'" in sentence for sentence in sim.warnings)
    assert any("times the mass of" in sentence for sentence in sim.warnings)
    sim["heavy"].mass = 100.0
    assert len(sim.warnings) == 1


def test_many_bodies_share_a_sentence() -> None:
    scene = turgor.Scene()
    for number in range(9):
        scene.add_soft_body(
            shapes.icosphere(0.5, 1), name=f"ball-{number}", at=(2.0 * number, 0, 1), gas=Gas(gauge=500.0)
        )
    with pytest.warns(TurgorWarning) as caught:
        sim = turgor.Simulation(scene, device=DEVICE)
    assert len(sim.warnings) == len(caught) == 4
    assert sim.warnings[-1].startswith("6 more bodies, 'ball-3' to 'ball-8'")


def test_warnings_follow_a_rebuild() -> None:
    sim = built(ball(gas=Gas.at(gauge=500.0)))
    assert len(sim.warnings) == 1
    sim.rebuild(ball(gas=GENTLE))
    assert sim.warnings == []
    with pytest.warns(TurgorWarning, match="500 Pa was entered"):
        sim.rebuild(ball(gas=Gas.at(gauge=500.0)), restart=True)
    assert len(sim.warnings) == 1


def test_settling_and_looking_change_nothing() -> None:
    """The simulations that settle a body tell nothing of their own, and looking at warnings leaves the state."""
    with pytest.warns(TurgorWarning) as caught:
        sim = turgor.Simulation(ball(gas=Gas.at(gauge=500.0), settled=True), device=DEVICE)
    assert len(caught) == 1
    other = built(ball(gas=Gas.at(gauge=500.0), settled=True))
    for _ in range(5):
        sim.step()
        assert sim.warnings
        other.step()
    assert sim.state_hash() == other.state_hash()


@pytest.mark.parametrize("name", gallery.names())
def test_nothing_looks_wrong_in_the_gallery(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", TurgorWarning)
        sim = turgor.Simulation(gallery.load(name), device=DEVICE)
        sim.run(0.25)
        assert sim.warnings == []
