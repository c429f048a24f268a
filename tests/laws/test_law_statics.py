"""Statics (X13): `equilibrium` and `settle` against closed forms, long runs with damping, and the weights that rest."""

from __future__ import annotations

import json

import numpy as np
import pytest

import reference as ref
import turgor
from support.laws import PRECISIONS, disturbed, make, put, shape_of
from support.program import Here, here

__all__ = ["here"]

G = 9.81
pytestmark = [pytest.mark.req("X13"), pytest.mark.filterwarnings("ignore::turgor.TurgorWarning")]


def ball(scene, name="ball", at=0.35, stiffness=1e3, mass=1.0, damping=0.5, gauge=200.0, x=0.0, y=0.0):
    flat = scene.dim == 2
    shape = turgor.shapes.circle(radius=0.3, points=24) if flat else turgor.shapes.icosphere(radius=0.3, subdivisions=1)
    place = (x, at) if flat else (x, y, at)
    springs = turgor.Springs(stiffness=stiffness, damping=damping)
    scene.add_soft_body(shape, name=name, at=place, mass=mass, springs=springs, gas=turgor.Gas.at(gauge=gauge))


def on_the_ground(dim=3, **options):
    scene = turgor.Scene(dim=dim)
    scene.add_ground()
    ball(scene, **options)
    return scene


def carried(sim, first, second, frames=1):
    """N: the size of the mean force between two things over some frames."""
    total = np.zeros(sim.scene.dim)
    for _ in range(frames):
        sim.step()
        force = sim.contacts().force
        pairs = zip(force.pairs, force.vectors, strict=True)
        total += sum(vector for pair, vector in pairs if set(pair) == {first, second})
    return float(np.linalg.norm(total)) / frames


def moved_after(sim, seconds):
    """m/s, m: the largest speed of a body as a whole, and how far it is from where it began."""
    start = before = np.array([sim[name].center for name in sim.names])
    fastest = 0.0
    for _ in range(round(seconds * sim.settings.fps)):
        sim.step()
        now = np.array([sim[name].center for name in sim.names])
        fastest = max(fastest, sim.settings.fps * float(np.linalg.norm(now - before, axis=1).max()))
        before = now
    return fastest, float(np.linalg.norm(before - start, axis=1).max())


@pytest.mark.law(6)
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("name", ["circle", "icosphere"])
def test_free_body_is_in_the_balance_of_skin_and_gas(name, precision):
    """Without gravity: the volume of the oracle's minimum of the energy, from a start that is far from it."""
    shape = shape_of(name)
    sim, oracle = make(shape, stiffness=300.0, gas=turgor.Gas.at(gauge=60.0, ambient=30.0), precision=precision)
    put(sim, disturbed(shape))
    report = sim.settle(1e-6)
    minimum = ref.relax(oracle, ref.scale_balance(oracle) * oracle.vertices)
    volume = ref.volume(minimum, oracle.faces)
    assert sim["body"].volume == pytest.approx(volume, rel=1e-5)
    assert sim["body"].pressure == pytest.approx(oracle.gas.gauge(volume) + 30.0, rel=1e-5)
    assert report.converged
    assert report.residual <= 1e-6
    assert not sim.velocities.any()


@pytest.mark.law(7)
@pytest.mark.parametrize("law", ["isothermal", "adiabatic"])
def test_boyle_between_plates(law):
    """Squeezed at rest, P V^γ is what it is without the plates."""
    found = []
    for half in (0.6, 0.4, 0.2):
        scene = turgor.Scene(gravity=(0.0, 0.0, 0.0))
        for side in (-1.0, 1.0):
            scene.add_plane(point=(0.0, 0.0, half * side), normal=(0.0, 0.0, -side), friction=0.0)
        gas = turgor.Gas(nRT=25.0, ambient=15.0, law=law, gamma=1.4)
        springs = turgor.Springs(stiffness=200.0)
        scene.add_soft_body(shape_of("icosphere"), name="ball", mass=1.0, springs=springs, gas=gas)
        body = turgor.equilibrium(scene, precision="double")["ball"]
        assert np.abs(body.positions[:, 2]).max() <= half + 1e-9
        found.append((body.volume, body.pressure * body.volume ** (1.4 if law == "adiabatic" else 1.0)))
    volumes, constants = np.transpose(found)
    assert volumes[2] < 0.75 * volumes[0]  # it is really squeezed
    np.testing.assert_allclose(constants, constants[0], rtol=1e-6)


@pytest.mark.law(8)
def test_independent_of_the_start():
    """No friction: one equilibrium, wherever it begins."""
    volumes, heights = [], []
    for seed in (1, 2):
        scene = turgor.Scene()
        scene.add_ground(friction=0.0)
        ball(scene, at=0.3 + 0.1 * seed)
        sim = turgor.Simulation(scene, precision="double")
        jump = 0.02 * np.random.default_rng(seed).normal(size=sim.positions.shape)
        sim["ball"].positions = sim["ball"].positions + jump
        sim.settle(1e-6)
        volumes.append(sim["ball"].volume)
        heights.append(sim["ball"].center[2])
    assert volumes[0] == pytest.approx(volumes[1], rel=1e-5)
    assert heights[0] == pytest.approx(heights[1], rel=1e-4)


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("stiffness", [1e2, 1e4, 1e6])
@pytest.mark.parametrize("dim", [2, 3])
def test_the_ground_carries_the_weight(dim, stiffness, precision):
    scene = on_the_ground(dim, stiffness=stiffness, gauge=0.2 * stiffness)
    sim = turgor.equilibrium(scene, precision=precision, readings=True)
    assert not sim.velocities.any()
    assert sim.time == 0.0
    lowest = sim["ball"].positions[:, -1].min()
    assert abs(lowest) < 1e-6
    assert carried(sim, "ball", "ground") == pytest.approx(G, rel=1e-3)
    fastest, far = moved_after(sim, 0.25)
    assert fastest < 1e-3
    assert far < 1e-4


@pytest.mark.parametrize("dim", [2, 3])
def test_equal_to_a_long_run_with_damping(dim):
    """Volume within 1e-4, height within 1e-3; without friction, with which a body can rest in several shapes."""
    scene = turgor.Scene(dim=dim)
    scene.add_ground(friction=0.0)
    ball(scene)
    found = turgor.equilibrium(scene)["ball"]
    waited = turgor.Simulation(scene)
    waited["ball"].drag = 4.0
    waited.run(seconds=8.0)
    assert found.volume == pytest.approx(waited["ball"].volume, rel=1e-4)
    assert found.center[-1] == pytest.approx(waited["ball"].center[-1], rel=1e-3)
    assert np.ptp(found.positions[:, -1]) == pytest.approx(np.ptp(waited["ball"].positions[:, -1]), rel=1e-3)


@pytest.mark.req("X1")
def test_plate_on_three_balls():
    """A rigid plate rests on soft balls, which carry it; and goes on resting."""
    scene = turgor.Scene()
    scene.add_ground()
    for number in range(3):
        angle = 2.0 * np.pi * number / 3.0
        ball(scene, f"ball{number}", 0.31, 2e3, x=0.5 * np.cos(angle), y=0.5 * np.sin(angle))
    scene.add_rigid_body(turgor.shapes.box(size=(1.6, 1.6, 0.1)), name="plate", at=(0.0, 0.0, 0.68), mass=3.0)
    sim = turgor.equilibrium(scene, readings=True)
    for number in range(3):
        assert carried(sim, f"ball{number}", "plate") == pytest.approx(G, rel=0.01)
        assert carried(sim, f"ball{number}", "ground") == pytest.approx(2.0 * G, rel=0.01)
    fastest, far = moved_after(sim, 1.0)
    assert fastest < 5e-3
    assert far < 2e-4


@pytest.mark.req("X1")
def test_soft_bodies_on_soft_bodies():
    """Three balls in a trough, one on the other two: the floor carries all of them."""
    scene = turgor.Scene(dim=2)
    scene.add_container(size=(1.25, 2.0), at=(0.0, 1.0), name="trough")
    for name, x, at in (("left", -0.31, 0.31), ("right", 0.31, 0.31), ("top", 0.01, 0.9)):
        ball(scene, name, at, 2e3, x=x, gauge=300.0)
    sim = turgor.equilibrium(scene, readings=True)
    sim.step()
    force = sim.contacts().force
    up = sum(vector[1] for pair, vector in zip(force.pairs, force.vectors, strict=True) if pair[1] == "trough")
    assert up == pytest.approx(3.0 * G, rel=0.01)
    assert force.on("top")[1] == pytest.approx(G, rel=0.01)
    fastest, far = moved_after(sim, 1.0)
    assert fastest < 5e-3
    assert far < 1e-3


@pytest.mark.req("B8")
def test_stack_of_rigid_boxes():
    scene = turgor.Scene()
    scene.add_ground()
    for number in range(3):
        place = (0.02 * number, 0.0, 0.15 + 0.25 * number)
        scene.add_rigid_body(turgor.shapes.box(size=(0.4, 0.4, 0.2)), name=f"box{number}", at=place, mass=1.0)
    sim = turgor.equilibrium(scene, readings=True)
    np.testing.assert_allclose([sim[f"box{n}"].center[2] for n in range(3)], [0.1, 0.3, 0.5], atol=2e-3)
    fastest, far = moved_after(sim, 1.0)
    assert fastest < 5e-3
    assert far < 2e-4
    assert carried(sim, "box0", "box1") == pytest.approx(2.0 * G, rel=0.01)
    assert carried(sim, "box0", "ground") == pytest.approx(3.0 * G, rel=0.01)


@pytest.mark.req("D2")
def test_pins_carry_a_hanging_cloth():
    """At rest the springs pull at the pins with the weight of what hangs, and with nothing sideways in all."""
    scene = turgor.Scene()
    sheet = turgor.shapes.sheet(size=(1.0, 1.0), resolution=(8, 8))
    springs = turgor.Springs(stiffness=100.0, damping=0.1)
    scene.add_cloth(sheet, name="cloth", at=(0.0, 0.0, 2.0), mass=0.2, springs=springs, pins="left-corners")
    sim = turgor.equilibrium(scene, precision="double")
    pinned = scene["cloth"].pinned
    at_pins = sim["cloth"].forces[pinned].sum(axis=0)  # gravity of the pinned points included
    np.testing.assert_allclose(at_pins, [0.0, 0.0, -0.2 * G], atol=0.2 * G * 1e-3)
    assert sim["cloth"].positions[:, 2].min() < 1.48  # it sags below 1.5, where it begins


def test_at_rest_already():
    """Settling again takes a round or two, and changes next to nothing."""
    sim = turgor.equilibrium(on_the_ground(), precision="double")
    before = sim.positions
    again = sim.settle()
    assert again.iterations <= 256
    np.testing.assert_allclose(sim.positions, before, atol=1e-6)


def test_all_gas_is_pumped_in():
    scene = turgor.Scene()
    scene.add_ground()
    gas = turgor.Gas.at(gauge=200.0, ambient=101_325.0, inflate=2.0)
    shape, springs = turgor.shapes.icosphere(radius=0.3, subdivisions=1), turgor.Springs(stiffness=1e3)
    scene.add_soft_body(shape, name="ball", at=(0, 0, 0.35), mass=1.0, springs=springs, gas=gas)
    sim = turgor.equilibrium(scene)
    assert sim["ball"].volume > sim["ball"].rest_volume
    volume = sim["ball"].volume
    sim.run(seconds=0.2)
    assert sim["ball"].volume == pytest.approx(volume, rel=1e-4)


def test_the_ledger_and_listeners_see_nothing():
    sim = turgor.Simulation(on_the_ground(), ledger=True)
    heard = []
    sim.on_contact(heard.append)
    sim.settle()
    assert heard == []
    assert sim.energy().dissipated == 0.0
    assert sim.time == 0.0
    assert sim.frame_index == 0


def test_each_world_its_own():
    sim = turgor.Simulation(on_the_ground(), worlds=2, precision="double")
    sim["ball"].stiffness = [1e3, 4e3]
    sim.settle()
    alone = turgor.equilibrium(on_the_ground(stiffness=4e3), precision="double")
    assert sim["ball"].volume[0] > 1.0005 * sim["ball"].volume[1]
    assert sim["ball"].volume[1] == pytest.approx(alone["ball"].volume, rel=1e-4)


def falling():
    scene = turgor.Scene()
    ball(scene)
    return scene


def sliding():
    scene = turgor.Scene()
    scene.add_plane(point=(0.0, 0.0, 0.0), normal=(0.6, 0.0, 0.8), friction=0.0)
    ball(scene, at=0.5)
    return scene


@pytest.mark.parametrize(("make_scene", "word"), [(falling, "fall"), (sliding, "slide")])
def test_no_equilibrium(make_scene, word):
    """One sentence, and the state is the one before."""
    sim = turgor.Simulation(make_scene())
    before = sim.state_hash()
    with pytest.raises(turgor.UnstableError, match=f"no equilibrium.*{word}"):
        sim.settle()
    assert sim.state_hash() == before


def test_what_is_driven_has_no_rest():
    scene = on_the_ground()
    scene.add_plane(point=(0.0, 0.0, 5.0), normal=(0.0, 0.0, -1.0), velocity=(0.0, 0.0, -0.1), name="press")
    with pytest.raises(turgor.SceneError, match="'press' moves"):
        turgor.equilibrium(scene)
    scene = on_the_ground()
    box = turgor.shapes.box(size=(0.2, 0.2, 0.2))
    scene.add_rigid_body(box, name="arm", at=(0, 0, 3), mass=1.0, kind="kinematic", spin=(0, 0, 1.0))
    with pytest.raises(turgor.SceneError, match="'arm' is driven"):
        turgor.equilibrium(scene)
    with pytest.raises(turgor.SceneError, match="tolerance"):
        turgor.Simulation(on_the_ground()).settle(0.0)


def test_command(here: Here, tmp_path):
    """`turgor run --static`: one frame, and how it was found; exit code 2 where there is no rest."""
    scene = tmp_path / "scene.toml"
    scene.write_text(on_the_ground().to_toml())
    out = tmp_path / "rest.npz"
    result = json.loads(here.good("run", scene, "--static", "-o", out, "--json"))
    assert result["static"]["converged"]
    assert result["static"]["residual"] <= 1e-4
    assert result["static"]["iterations"] > 0
    assert result["frames"] == 0
    assert len(np.load(out)["times"]) == 1
    assert "at rest" in here.good("run", scene, "--static")
    scene.write_text(falling().to_toml())
    failed = here.command("run", scene, "--static", "-o", tmp_path / "none.npz")
    assert failed.returncode == 2
    assert "no equilibrium" in failed.stderr
    assert failed.stderr.count("\n") == 1
    assert not (tmp_path / "none.npz").exists()
    assert here.command("run", scene, "--static", "--seconds", 1).returncode == 2


def test_a_scene_without_bodies_is_at_rest():
    assert turgor.Simulation(turgor.Scene()).settle() == turgor.Settled(0.0, 0, True, "")
