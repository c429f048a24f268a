"""What the law tests share: the same body once as a turgor simulation and once as the oracle."""

from __future__ import annotations

import os

import numpy as np

import reference as ref
import turgor

R = 8.314462618  # J/(mol K)
EPS = {"single": np.finfo(np.float32).eps, "double": np.finfo(np.float64).eps}
PRECISIONS = ["single", "double"]
# the same laws on another device ("cuda"), or with the GPU's way to add up forces ("gather")
DEVICE = os.environ.get("TURGOR_LAW_DEVICE", "cpu")
ASSEMBLY = os.environ.get("TURGOR_LAW_ASSEMBLY", "auto")


def shape_of(name):
    """Small closed shapes by name, 2D and 3D."""
    shapes = turgor.shapes
    return {
        "circle": lambda: shapes.circle(radius=0.5, points=16),
        "star": lambda: shapes.star(tips=5, outer=0.5, inner=0.25),
        "icosphere": lambda: shapes.icosphere(radius=0.5, subdivisions=1),
        "torus": lambda: shapes.torus(radius=0.5, tube=0.2, stacks=10, slices=8),
        "box": lambda: shapes.box(size=(1.0, 0.8, 0.6), subdivisions=2),
    }[name]()


def oracle_gas(gas, rest_volume):
    """The oracle's gas for a turgor.Gas, from its definition: the amount is what gives the pressure at rest."""
    if gas is None:
        return None
    if gas.nRT is not None:
        nRT = gas.nRT
    elif gas.moles is not None:
        nRT = gas.moles * R * gas.temperature
    else:
        nRT = (gas.absolute if gas.gauge is None else gas.gauge + gas.ambient) * rest_volume
    law = "held" if gas.held else gas.law
    return ref.Gas(nRT, rest_volume, gas.ambient, law, gas.gamma, held=nRT / rest_volume)


def make(
    shape,
    *,
    mass=1.0,
    stiffness=100.0,
    damping=0.0,
    gas=None,
    gravity=0.0,
    wind=None,
    walls=None,
    solver="symplectic",
    fps=60,
    substeps=20,
    precision="double",
    ledger=False,
    assembly=ASSEMBLY,
    **body,
):
    """A simulation of one soft body called "body" (no contact but walls) and the same body for the oracle.

    `gravity` is the downward pull in m/s²; `walls` a function that adds walls to the scene; `body` goes to
    add_soft_body as it is.
    """
    down = np.zeros(shape.dim)
    down[-1] = -gravity
    air = {} if wind is None else {"wind": tuple(wind)}
    scene = turgor.Scene(dim=shape.dim, gravity=tuple(down), **air)
    if walls is not None:
        walls(scene)
    springs = turgor.Springs(stiffness=stiffness, damping=damping)
    scene.add_soft_body(shape, name="body", mass=mass, springs=springs, gas=gas, **body)
    sim = turgor.Simulation(
        scene,
        device=DEVICE,
        solver=solver,
        fps=fps,
        substeps=substeps,
        contact="none",
        precision=precision,
        ledger=ledger,
        assembly=assembly,
    )
    oracle = ref.Body(
        shape.vertices,
        shape.faces,
        shape.edges,
        mass,
        stiffness,
        damping,
        oracle_gas(gas, ref.volume(shape.vertices, shape.faces)),
        body.get("bending", 0.0),
        body.get("drag", 0.0),
        down,
        None if wind is None else np.asarray(wind, float),
        body.get("wind_drag", 0.0),
        body.get("pressure_force", "gradient"),
        body.get("pressure_scaling", False),
    )
    return sim, oracle


def disturbed(shape, size=0.03, seed=1):
    """Vertices moved at random by about `size` metres."""
    return shape.vertices + size * np.random.default_rng(seed).normal(size=shape.vertices.shape)


def put(sim, x, v=None):
    """Sets positions and velocities (zero unless given)."""
    sim["body"].positions = x
    sim["body"].velocities = np.zeros_like(x) if v is None else v


def get(sim):
    """Positions and velocities as float64 copies."""
    return np.array(sim["body"].positions, float), np.array(sim["body"].velocities, float)


def frames(sim, count):
    """Steps `count` frames."""
    for _ in range(count):
        sim.step()
    return sim


def cross(a, b):
    """Cross product of rows, (n, 3) in 3D and (n, 1) in 2D."""
    if a.shape[-1] == 2:
        return (a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0])[..., None]
    return np.cross(a, b)
