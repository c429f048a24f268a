"""A batch of worlds against the same worlds one by one: heaps of small bodies, without pytest, for a GPU too."""

from __future__ import annotations

import numpy as np

import turgor
from turgor import Gas, Springs, shapes

KINDS = {2: ("ball", "star", "box"), 3: ("ball", "torus", "cloth", "box")}


def add(scene, kind, name, at):
    """A small body: soft, cloth or rigid."""
    flat = scene.dim == 2
    soft = {"springs": Springs(120.0, 0.4), "gas": Gas.at(gauge=100.0, ambient=1000.0), "friction": 0.4}
    if kind == "ball":
        shape = shapes.circle(radius=0.3, points=14) if flat else shapes.icosphere(radius=0.3, subdivisions=1)
        scene.add_soft_body(shape, name=name, at=at, **soft)
    elif kind == "star":  # its arms touch each other when it lands
        scene.add_soft_body(shapes.star(tips=5, outer=0.4, inner=0.12), name=name, at=at, **soft)
    elif kind == "torus":
        shape = shapes.torus(radius=0.25, tube=0.1, stacks=6, slices=10)
        scene.add_soft_body(shape, name=name, at=at, rotation=(1.2, 0.3, 0.0), **soft)
    elif kind == "cloth":
        sheet = shapes.sheet((0.7, 0.7), (6, 6))
        scene.add_cloth(sheet, name=name, at=at, rotation=(-1.4, 0.2, 0.0), springs=Springs(60.0, 0.05))
    else:
        shape = shapes.polygon(sides=4, radius=0.2) if flat else shapes.box((0.3, 0.3, 0.3))
        scene.add_rigid_body(shape, name=name, at=at, friction=0.4)


def scene_of(dim, kinds):
    """A heap: each body a little beside the one below."""
    scene = turgor.Scene(dim=dim)
    scene.add_ground(friction=0.5, restitution=0.2)
    for number, kind in enumerate(kinds):
        aside = (0.06 * number,) if dim == 2 else (0.06 * number, -0.04 * number)
        add(scene, kind, f"{kind}{number}", (*aside, 0.5 + 0.62 * number))
    return scene


def start(sim, rows):
    """Each body's own place, velocity and stiffness in each of the worlds, which rows has the numbers of."""
    rng = [np.random.default_rng(row) for row in rows]
    dim = sim.scene.dim
    for view in sim.bodies.values():
        shift = np.array([g.uniform(-0.05, 0.05, dim) for g in rng])
        speed = np.array([g.uniform(-1.0, 1.0, dim) for g in rng]) + np.array([*[0.0] * (dim - 1), -2.0])
        stiffness = np.array([g.uniform(80.0, 160.0) for g in rng])
        one = len(rows) == 1 and sim.settings.worlds == 1
        view.positions = view.positions + (shift[0] if one else shift[:, None, :])
        view.velocities = view.velocities + (speed[0] if one else speed[:, None, :])
        view.stiffness = stiffness[0] if one else stiffness


def check_each_world_alone(dim, kinds, rows, precision, frames=24, device="cpu"):
    """Worlds with the numbers of rows against simulations of one world each."""
    options = {"precision": precision, "substeps": 12, "device": device}
    many = turgor.Simulation(scene_of(dim, kinds), worlds=len(rows), **options)
    start(many, rows)
    ones = [turgor.Simulation(scene_of(dim, kinds), **options) for _ in rows]
    for one, row in zip(ones, rows, strict=True):
        start(one, [row])
    for frame in range(frames):
        many.step()
        for world, one in enumerate(ones):
            one.step()
            if frame % 8 == 7 or frame == frames - 1:
                np.testing.assert_array_equal(many.positions[world], one.positions, f"world {world}, frame {frame}")
                np.testing.assert_array_equal(many.velocities[world], one.velocities)
