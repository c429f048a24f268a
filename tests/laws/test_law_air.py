"""The air: force per area by density and drag coefficient, the same for any mesh; at rest it only takes energy."""

from __future__ import annotations

import numpy as np
import pytest

import reference as ref
import turgor
from support.laws import DEVICE, PRECISIONS, disturbed, frames, get, make, put, shape_of
from turgor import shapes

G, DENSITY = 9.81, 1.2
FLAT = (-np.pi / 2, 0.0, 0.0)  # a sheet stands upright; so it lies


def unit(dim, axis):
    return tuple(float(axis == i) for i in range(dim))


def terminal(mass, effective):
    """m/s, where the weight is ½ rho (C A) v²."""
    return np.sqrt(2.0 * mass * G / (DENSITY * effective))


@pytest.mark.law(2)
@pytest.mark.parametrize(("precision", "rtol"), [("double", 1e-11), ("single", 3e-5)])
@pytest.mark.parametrize("assembly", ["scatter", "gather"])
@pytest.mark.parametrize("name", ["circle", "star", "icosphere", "box"])
def test_the_law_on_a_closed_body_against_the_oracle(name, assembly, precision, rtol):
    shape = shape_of(name)
    wind = (1.0, -2.0, 0.5)[: shape.dim]
    options = {"stiffness": 0.0, "wind": wind, "precision": precision, "assembly": assembly}
    sim, _ = make(shape, drag_coefficient=1.4, drag_tangential=0.3, **options)
    put(sim, disturbed(shape), np.random.default_rng(5).normal(size=shape.vertices.shape))
    sim.air_density = 3.0
    x, v = get(sim)
    expected = ref.air_forces(x, v, shape.faces, wind, 0.5, 3.0, 1.4, 0.3)
    np.testing.assert_allclose(sim["body"].forces, expected, rtol=0, atol=rtol * np.abs(expected).max())


@pytest.mark.req("D3")
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("resolution", [(5, 5), (10, 10), (23, 17), (40, 40)])
def test_a_sheet_falls_flat_at_the_speed_of_the_formula_whatever_its_mesh(resolution, precision):
    """Default settings, 0.2 kg/m²: v² = 2 m g / (rho C A), C = 1.2; an approach by tanh, 1 - 2e-5 after 1 s."""
    scene = turgor.Scene()
    cloth = scene.add_cloth(shapes.sheet((1.0, 1.0), resolution), name="cloth", rotation=FLAT)
    sim = frames(turgor.Simulation(scene, device=DEVICE, precision=precision), 60)
    expected = terminal(0.2, cloth.drag_coefficient)
    assert -sim["cloth"].momentum[2] / 0.2 == pytest.approx(expected, rel=1e-3)
    assert np.ptp(sim["cloth"].positions[:, 2]) < 1e-4  # and flat it stays


@pytest.mark.req("D3")
def test_the_force_on_a_sheet_is_that_of_a_plate_across_along_and_at_an_angle():
    """½ rho A u² (C sin(angle) across, C_along cos(angle) along), on any mesh."""
    for resolution, angle in (((4, 9), 0.0), ((12, 5), 0.4), ((7, 7), np.pi / 2)):
        wind = 6.0 * np.array([np.cos(angle), np.sin(angle), 0.0])  # the sheet stands in x and z
        scene = turgor.Scene(gravity=(0, 0, 0), wind=tuple(wind), air_density=DENSITY)
        sheet = shapes.sheet((2.0, 0.7), resolution)
        scene.add_cloth(sheet, name="sheet", drag_coefficient=1.3, drag_tangential=0.05)
        force = turgor.Simulation(scene, device=DEVICE, precision="double")["sheet"].forces.sum(axis=0)
        plate = 0.5 * DENSITY * 1.4 * 36.0 * np.array([0.05 * np.cos(angle), 1.3 * np.sin(angle), 0.0])
        np.testing.assert_allclose(force, plate, rtol=1e-12, atol=1e-12)


@pytest.mark.req("D3")
@pytest.mark.parametrize("dim", [2, 3])
def test_a_soft_ball_falls_as_the_formula_says(dim):
    """C_d = 2/3 C_across + 4/3 C_along of its cross section; in 2D pi/4 of both. The mesh makes 1 % of it."""
    shape = shapes.circle(0.3, 64) if dim == 2 else shapes.icosphere(0.3, 3)
    across, along, mass = 0.6, 0.1, 0.05
    scene = turgor.Scene(dim=dim)
    scene.add_soft_body(
        shape, name="ball", mass=mass, springs=turgor.Springs(200.0, 0.2), gas=turgor.Gas.at(gauge=20.0, ambient=0.0),
        drag_coefficient=across, drag_tangential=along, settled=True, mass_distribution="area",
    )  # fmt: skip
    sim = turgor.Simulation(scene, device=DEVICE)
    radius = np.linalg.norm(sim["ball"].positions - sim["ball"].center, axis=1).mean()
    frames(sim, 150)
    effective = {2: np.pi / 2 * radius * (across + along), 3: np.pi * radius**2 * (2 * across + 4 * along) / 3}[dim]
    assert -sim["ball"].momentum[-1] / mass == pytest.approx(terminal(mass, effective), rel=0.01)


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("mass", [1e-6, 0.05, 3.0])
@pytest.mark.parametrize("dim", [2, 3])
def test_rigid_balls_and_bricks_fall_as_the_formula_says(dim, mass, precision):
    """Also where the air stops the body 500 times in a substep. A brick: faces across count half each, so C A."""
    across, along = 1.1, 0.08
    ball, brick = (
        (shapes.circle(0.1, 16), shapes.polygon(4, 0.5)) if dim == 2
        else (shapes.icosphere(0.1, 1), shapes.box((0.4, 0.3, 0.1)))
    )  # fmt: skip
    areas = {
        "ball": {2: np.pi / 2 * 0.1 * (across + along), 3: np.pi * 0.01 * (2 * across + 4 * along) / 3}[dim],
        "brick": {2: np.sqrt(0.5) * (across + along), 3: 0.12 * across + 0.07 * along}[dim],  # 2D: across = along
    }
    scene = turgor.Scene(dim=dim)
    for place, (name, shape) in enumerate((("ball", ball), ("brick", brick))):
        turn = {} if dim == 3 else {"rotation": np.pi / 4}
        scene.add_rigid_body(
            shape, name=name, at=tuple(5.0 * place * np.array(unit(dim, 0))), mass=mass, drag_coefficient=across,
            drag_tangential=along, **turn,
        )  # fmt: skip
    sim = turgor.Simulation(scene, device=DEVICE, precision=precision)
    speeds = {name: terminal(mass, area) for name, area in areas.items()}
    frames(sim, int(60 * 4 * max(speeds.values()) / G) + 5)
    for name, speed in speeds.items():
        assert -sim[name].velocity[-1] == pytest.approx(speed, rel=2e-3)


@pytest.mark.parametrize("mass", [1e-5, 0.2])
@pytest.mark.parametrize("dim", [2, 3])
def test_still_air_only_takes_energy_from_a_tumbling_body_and_the_ledger_knows(dim, mass):
    shape = shapes.polygon(3, 0.4) if dim == 2 else shapes.box((0.6, 0.3, 0.05))
    scene = turgor.Scene(dim=dim, gravity=(0.0,) * dim)
    spin = 20.0 if dim == 2 else (15.0, 9.0, -12.0)
    scene.add_rigid_body(
        shape, name="plate", mass=mass, velocity=(3.0, -2.0, 4.0)[:dim], spin=spin, drag_coefficient=1.2,
        drag_tangential=0.1,
    )  # fmt: skip
    sim = turgor.Simulation(scene, device=DEVICE, precision="double", ledger=True)
    energies = [sim.energy().kinetic]
    for _ in range(60):
        sim.step()
        energies.append(sim.energy().kinetic)
    # free rotation swings within its own error (law 10); the air takes a hundred times as much
    assert np.all(np.diff(energies) <= 1e-3 * energies[0])
    assert energies[-1] < 0.2 * energies[0]
    last = sim.energy()
    assert last.work == 0.0
    assert last.kinetic + last.dissipated == pytest.approx(energies[0], rel=2e-3)


@pytest.mark.parametrize("kind", ["soft", "cloth", "rigid"])
def test_wind_carries_what_is_free_to_its_own_speed_and_its_work_is_known(kind):
    wind = (2.0, 1.0, 0.5)
    scene = turgor.Scene(gravity=(0, 0, 0), wind=wind)
    air = {"name": "body", "mass": 0.01, "drag_coefficient": 1.2, "drag_tangential": 0.5}
    if kind == "soft":
        scene.add_soft_body(shapes.icosphere(0.3, 1), springs=turgor.Springs(50.0, 0.05), **air)
    elif kind == "cloth":
        scene.add_cloth(shapes.sheet((0.6, 0.6), (6, 6)), springs=turgor.Springs(50.0, 0.05), **air)
    else:
        scene.add_rigid_body(shapes.box((0.3, 0.3, 0.3)), **air)
    sim = turgor.Simulation(scene, device=DEVICE, precision="double", ledger=True)
    frames(sim, 240)
    np.testing.assert_allclose(sim["body"].momentum / 0.01, wind, rtol=0.03)
    energy = sim.energy()
    assert energy.work > 0.0
    assert energy.total + energy.dissipated == pytest.approx(energy.work, rel=0.02)


@pytest.mark.parametrize("law", ["area", "point"])
@pytest.mark.parametrize("solver", ["symplectic", "rk4"])
def test_the_air_never_reverses_a_motion_however_long_the_substep(solver, law):
    """One substep per frame, and air that would stop the sheet a thousand times in it."""
    options = {"drag_coefficient": 1.2, "drag_tangential": 1.2} if law == "area" else {"wind_drag": 1.0}
    scene = turgor.Scene(gravity=(0, 0, 0), air_density=1000.0)
    sheet = shapes.sheet((1.0, 1.0), (4, 4))
    scene.add_cloth(
        sheet, name="sheet", mass=0.01, springs=turgor.Springs(1e-3, 0.0), velocity=(0.0, 5.0, 0.0), **options
    )
    sim = turgor.Simulation(scene, device=DEVICE, solver=solver, substeps=1, precision="double", contact="none")
    before = 5.0
    for _ in range(5):
        sim.step()
        speed = sim["sheet"].velocities[:, 1]
        assert speed.min() > -1e-12
        assert speed.max() <= before
        before = float(speed.max())
    assert before < 1.0


def test_automatic_substeps_follow_the_air():
    """A light sheet that is blown at by a strong wind needs shorter substeps than in still air."""
    needed = {}
    for wind in (0.0, 200.0):
        scene = turgor.Scene(gravity=(0, 0, 0), wind=(0.0, wind, 0.0))
        scene.add_cloth(
            shapes.sheet((1.0, 1.0), (6, 6)), name="sheet", mass=0.01, springs=turgor.Springs(1.0, 0.01), pins="left"
        )
        sim = turgor.Simulation(scene, device=DEVICE)
        sim.step()
        needed[wind] = sim.substeps
    rate = DENSITY * 1.2 * 200.0 / 0.01  # 1/s: rho C A u / m
    assert needed[200.0] > rate / 60.0 / 2.0 > needed[0.0]  # stable below 2 / rate


@pytest.mark.req("D3")
def test_matykas_law_stays_an_option_per_point():
    """c (u·n) n at each point: five times the points, five times the force; and no drag_coefficient beside it."""
    forces = {}
    for columns in (5, 25):
        scene = turgor.Scene(gravity=(0, 0, 0), wind=(0.0, 2.0, 0.0))
        scene.add_cloth(shapes.sheet((1.0, 1.0), (columns, 4)), name="sheet", wind_drag=0.3)
        forces[columns] = turgor.Simulation(scene, device=DEVICE)["sheet"].forces[:, 1].sum()
    assert forces[5] == pytest.approx(0.3 * 20 * 2.0, rel=1e-5)
    assert forces[25] == pytest.approx(0.3 * 100 * 2.0, rel=1e-5)
    with pytest.raises(turgor.SceneError, match="wind_drag is another law of the air than drag_coefficient"):
        scene.add_cloth(shapes.sheet(), wind_drag=0.1, drag_coefficient=0.5)


def test_the_air_of_a_scene_file_and_while_it_runs(tmp_path):
    scene = turgor.Scene.from_toml(
        'name = "air"\nair_density = 0.5\n'
        '[[cloth]]\nname = "sheet"\nshape = { sheet = { resolution = [4, 4] } }\ndrag_coefficient = 0.7\n'
        '[[rigid_body]]\nname = "brick"\nshape = { box = { size = [0.2, 0.2, 0.2] } }\nat = [3, 0, 0]\n'
    )
    assert scene.air_density == 0.5
    assert turgor.Scene.from_toml(scene.to_toml()) == scene
    scene.set("brick.drag_tangential", "0.1")
    sim = turgor.Simulation(scene, device=DEVICE)
    assert (sim.air_density, sim["sheet"].drag_coefficient) == pytest.approx((0.5, 0.7))
    assert sim.rigid_bodies["brick"].drag_tangential == pytest.approx(0.1)
    sim.air_density, sim.rigid_bodies["brick"].drag_coefficient = 1.5, 2.0
    frames(sim, 3)
    sim.save(tmp_path / "state.npz")
    other = turgor.Simulation.load(tmp_path / "state.npz", DEVICE)
    assert other.state_hash() == sim.state_hash()
    assert frames(other, 3).state_hash() == frames(sim, 3).state_hash()
    for wrong in (-1.0, np.nan, "thick"):
        with pytest.raises(turgor.SceneError, match="air_density"):
            sim.air_density = wrong
        with pytest.raises(turgor.SceneError, match="drag_coefficient"):
            sim["sheet"].drag_coefficient = wrong


def test_air_that_is_switched_on_while_it_runs_is_felt():
    scene = turgor.Scene(gravity=(0, 0, 0), wind=(0.0, 3.0, 0.0))
    scene.add_soft_body(shapes.icosphere(0.3, 1), name="ball")
    scene.add_rigid_body(shapes.icosphere(0.3, 1), name="stone", at=(3, 0, 0))
    sim = frames(turgor.Simulation(scene, device=DEVICE), 2)
    assert abs(sim["ball"].momentum[1]) < 1e-9
    sim["ball"].drag_coefficient = 1.0
    sim["stone"].drag_coefficient = 1.0
    frames(sim, 10)
    assert sim["ball"].momentum[1] > 1e-3
    assert sim["stone"].momentum[1] > 1e-3
