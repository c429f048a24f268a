"""Worlds that are scenes of their own: each moves, bit for bit, as a simulation of its scene alone."""

from __future__ import annotations

import numpy as np
import pytest

import turgor
from turgor import Gas, Membrane, Scene, SceneError, Simulation, Springs, shapes
from turgor.model.variants import structure

FRAMES = 12


def ball(**options) -> Scene:
    """A coarse ball that falls on a floor, beside a box and under a cloth."""
    scene = Scene(dim=3)
    scene.add_ground(friction=0.4, restitution=0.2)
    given = {"springs": Springs(120.0, 0.4), "gas": Gas.at(gauge=100.0, ambient=1000.0), "at": (0.0, 0.0, 0.32)}
    scene.add_soft_body(shapes.icosphere(radius=0.3, subdivisions=1), name="ball", **given | options)
    return scene


def heap() -> Scene:
    scene = ball(velocity=(0.0, 0.0, -2.0))
    scene.add_rigid_body(shapes.box((0.3, 0.3, 0.3)), name="box", at=(0.1, 0.0, 0.85), velocity=(0.0, 0.0, -3.0))
    return scene


def flat(**options) -> Scene:
    scene = Scene(dim=2)
    scene.add_ground(friction=0.4, restitution=0.2)
    given = {"springs": Springs(300.0, 0.4), "gas": Gas(nRT=20.0), "at": (0.0, 0.6)}
    scene.add_soft_body(shapes.circle(radius=0.3, points=14), name="ball", **given | options)
    return scene


def skin() -> Scene:
    scene = Scene(dim=3)
    scene.add_ground()
    scene.add_soft_body(
        shapes.icosphere(radius=0.1, subdivisions=1), name="ball", at=(0.0, 0.0, 0.12), velocity=(0.0, 0.0, -2.0),
        material=Membrane(young=2e4, thickness=1e-3), gauge=20.0,
    )  # fmt: skip
    return scene


def sheet() -> Scene:
    scene = ball()
    scene.add_cloth(shapes.sheet((0.8, 0.8), (5, 5)), name="cloth", at=(0.0, 0.0, 0.75))
    return scene


CASES = [
    (ball, "ball.gas.gauge", (50.0, 200.0)),
    (ball, "ball.gas.ambient", (500.0, 2000.0)),
    (lambda: ball(gas=Gas(moles=0.05)), "ball.gas.temperature", (280.0, 350.0)),
    (lambda: ball(gas=Gas.at(gauge=100.0, law="adiabatic")), "ball.gas.gamma", (1.2, 1.6)),
    (lambda: ball(gas=Gas.at(gauge=100.0, inflate=0.1)), "ball.gas.inflate", (0.05, 0.2)),
    (ball, "ball.springs.stiffness", (60.0, 240.0)),
    (ball, "ball.springs.damping", (0.0, 1.0)),
    (ball, "ball.springs", ({"stiffness": 60.0}, {"stiffness": 100.0, "damping": 0.2})),
    (ball, "ball.mass", (0.5, 2.0)),
    (ball, "ball.drag", (0.0, 3.0)),
    (ball, "ball.friction", ("none", 0.0, 0.9)),
    (ball, "ball.restitution", (0.0, 0.9)),
    (ball, "ball.at", ((0.1, 0.2, 0.4), (-3.0, 0.0, 0.31))),
    (ball, "ball.rotation", ((0.3, 0.1, -2.0), (1.0, 0.0, 0.0))),
    (ball, "ball.velocity", ((1.0, 0.0, -2.0), (0.0, 0.0, -4.0))),
    (ball, "ball.spin", ((0.0, 5.0, 0.0), (1.0, 2.0, 3.0))),
    (ball, "gravity", ((0.0, 0.0, -1.6), (0.0, 2.0, -9.0))),
    (sheet, "wind", ((1.0, 0.0, 0.0), (0.0, 9.0, 0.0))),
    (sheet, "air_density", (0.5, 3.0)),
    (sheet, "cloth.mass", (0.1, 0.7)),
    (sheet, "cloth.drag_coefficient", (0.5, 2.0)),
    (sheet, "cloth.pressure", (-1.0, 2.0)),
    (heap, "box.mass", (0.3, 5.0)),
    (heap, "box.at", ((0.0, 0.0, 0.9), (0.2, 0.1, 0.8))),
    (heap, "box.rotation", ((0.5, 0.0, 0.0), (0.0, 0.4, 0.9))),
    (heap, "box.velocity", ((0.0, 0.0, -1.0), (1.0, 0.0, -4.0))),
    (heap, "box.spin", ((0.0, 4.0, 0.0), (1.0, 0.0, 9.0))),
    (heap, "box.friction", (0.0, 1.0)),
    (heap, "ball.mass", (0.4, 3.0)),
    (flat, "ball.gas.nRT", (10.0, 40.0)),
    (flat, "ball.rotation", (0.3, 2.0)),
    (flat, "ball.spin", (3.0, -8.0)),
    (lambda: flat(settled=True), "ball.springs.stiffness", (250.0, 500.0)),
    (lambda: flat(settled=True), "ball.at", ((0.1, 0.5), (0.0, 0.9))),
    (lambda: flat(bending=0.2), "ball.bending", (0.1, 0.5)),
    (lambda: flat(volume="box"), "ball.rotation", (0.3, 2.0)),
    (lambda: ball(mass_distribution="area"), "ball.rotation", ((0.3, 0.1, -2.0), (1.0, 0.0, 0.0))),
    (lambda: ball(pins="top"), "ball.rotation", ((0.3, 0.1, -2.0), (1.0, 0.0, 0.0))),
    (skin, "ball.material.thickness", (5e-4, 2e-3)),
    (skin, "ball.material.young", (1e4, 3e4)),
    (skin, "ball.material.damping", (1e-4, 1e-3)),
    (skin, "ball.gauge", (10.0, 30.0)),
]


@pytest.mark.parametrize(("make", "path", "values"), CASES, ids=[f"{number}-{c[1]}" for number, c in enumerate(CASES)])
def test_each_world_is_its_scene_alone(make, path: str, values: tuple) -> None:
    base, substeps = make(), 200 if make is skin else 12
    scenes = [base.copy() for _ in values]
    for scene, value in zip(scenes, values, strict=True):
        scene.set(path, value)
        assert structure(scene) == structure(base)
    many = Simulation(base, substeps=substeps, variants=scenes, threads=1)
    ones = [Simulation(scene, substeps=substeps, threads=1) for scene in scenes]
    for _ in range(FRAMES):
        many.step()
        for one in ones:
            one.step()
    for world, one in enumerate(ones):
        np.testing.assert_array_equal(many.positions[world], one.positions)
        np.testing.assert_array_equal(many.velocities[world], one.velocities)
        for name in one.rigid_bodies:
            for quantity in ("center", "rotation", "velocity", "spin"):
                found, wanted = getattr(many[name], quantity), getattr(one[name], quantity)
                np.testing.assert_array_equal(found[world], wanted)
    states = [one.positions for one in ones]
    assert any(not np.array_equal(states[0], state) for state in states[1:])  # the value matters


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("ground.friction", 0.1),
        ("simulation.fps", 30.0),
        ("ball.shape.icosphere.subdivisions", 2),
        ("ball.bending", 0.1),
        ("ball.drag_coefficient", 0.5),
        ("ball.gas.held", True),
        ("ball.pins", "top"),
        ("ball.self_contact", False),
        ("ball.at", (0.0, 0.0, 1000.0)),
    ],
)
def test_what_no_world_may_have_of_its_own(path: str, value: object) -> None:
    base = ball()
    other = base.copy()
    other.set(path, value)
    assert structure(other) != structure(base)
    with pytest.raises(SceneError, match="world 1 differs from the scene"):
        Simulation(base, variants=[base, other])


def test_glued_bodies_keep_their_place() -> None:
    base = heap()
    base.attach("ball", "top", "box")
    moved = base.copy()
    moved.set("ball.at", (0.0, 0.0, 0.4))
    assert structure(moved) != structure(base)


def test_it_cannot_be_saved(tmp_path) -> None:
    base = flat()
    with pytest.raises(SceneError, match="cannot be saved"):
        Simulation(base, variants=[base, base]).save(tmp_path / "a.npz")
    with pytest.raises(SceneError, match="a scene for each world"):
        Simulation(base, variants=[])


def test_worlds_with_scenes_of_their_own_are_not_rebuilt_into_copies() -> None:
    scene = turgor.Scene(dim=2)
    scene.add_soft_body(turgor.shapes.circle(0.3, 12), name="disc", mass=0.5)
    other = scene.copy()
    other.set("disc.mass", 1.0)
    sim = turgor.Simulation(scene, variants=[scene, other])
    with pytest.raises(turgor.SceneError, match="cannot be rebuilt"):
        sim.rebuild(scene)
