"""Lesson 11: rigid bodies, glue, and many worlds at once. Eight sledges, each with a soft ball glued on, go downhill.

`worlds=8` runs eight copies of the scene together; here each gets another friction μ. Coulomb's law: where μ is more
than tan θ the sledge stays where it is. The others go faster and faster, by a = g (sin θ - μ cos θ), whatever their
mass, and whatever the ball on top does: glue passes forces both ways.
Try: a heavier ball, a steeper slope (does it tip over?), or device="cuda" with a thousand worlds.
"""

import math

import numpy as np

import turgor

SLOPE = math.radians(20)
FRICTION = np.array([0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5])  # tan 20° = 0.364
TIME = 1.5  # s
down, up = (math.cos(SLOPE), 0, -math.sin(SLOPE)), (math.sin(SLOPE), 0, math.cos(SLOPE))  # along the slope, and off it

scene = turgor.Scene(gravity=(0, 0, -9.81))
scene.add_plane(point=(0, 0, 0), normal=up, friction=1.0)
scene.add_rigid_body(
    turgor.shapes.box(size=(0.8, 0.5, 0.1)),
    name="sledge",
    at=tuple(0.05 * n for n in up),
    rotation=(0, SLOPE, 0),
    mass=4.0,
)
ball = scene.add_soft_body(
    turgor.shapes.icosphere(radius=0.2, subdivisions=2),
    name="ball",
    at=tuple(0.31 * n for n in up),
    rotation=(0, SLOPE, 0),
    mass=0.5,
    springs=turgor.Springs(stiffness=100.0, damping=0.5),
    gas=turgor.Gas.at(gauge=200.0, ambient=1000.0),
)
low = np.flatnonzero(ball.shape.vertices[:, 2] < -0.16)
scene.attach("ball", low, "sledge")

sim = turgor.Simulation(scene, worlds=len(FRICTION))
sim["sledge"].friction = FRICTION**2  # one per world; between two surfaces √(f₁ f₂) counts, and the slope has 1
start = sim["sledge"].center @ down  # (worlds,) m
sim.run(seconds=TIME)
way = sim["sledge"].center @ down - start

expected = 9.81 * np.maximum(math.sin(SLOPE) - FRICTION * math.cos(SLOPE), 0) * TIME**2 / 2
for mu, measured, law in zip(FRICTION, way, expected, strict=True):
    print(f"friction {mu:.2f}: {measured:6.3f} m in {TIME} s; by Coulomb's law {law:6.3f} m")

assert np.abs(way - expected).max() < 0.02 * expected.max()
