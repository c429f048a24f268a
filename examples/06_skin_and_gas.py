"""Lesson 6: a skin of springs with gas inside, and the same without. This is the idea of the pressure model.

First in free space: the gas stretches the ring until the pull of the skin T balances the pressure, P = T/r (Laplace):
a small balloon needs more pressure than a big one. Then gravity is switched on: the ring with gas becomes a soft ball
on the floor, the ring without falls flat. The 2004 paper adds one force to springs and masses; that is what it does.
Try: nRT=5 (in between), or points=20 and points=80 with half and twice the stiffness.
"""

import math

import numpy as np

import turgor

POINTS, STIFFNESS = 40, 4000.0  # number, N/m

ring = turgor.shapes.circle(radius=0.5, points=POINTS)
scene = turgor.Scene(dim=2, gravity=(0, 0))
scene.add_ground()
skin = turgor.Springs(stiffness=STIFFNESS, damping=4.0)  # N/m, N s/m
for name, x, gas in (("full", -0.8, turgor.Gas(nRT=60.0)), ("empty", 0.8, None)):
    scene.add_soft_body(ring, name=name, at=(x, 0.8), mass=1.0, springs=skin, drag=1.0, gas=gas)
sim = turgor.Simulation(scene)
full, empty = sim["full"], sim["empty"]

sim.run(seconds=6.0)
points = full.positions
radius = np.linalg.norm(points - full.center, axis=1).mean()
length, rest = (np.linalg.norm(p[1] - p[0]) for p in (points, ring.vertices))
pull = STIFFNESS * (length - rest)  # N
pressure, area = full.pressure, full.volume
laplace = pull / (radius * math.cos(math.pi / POINTS))  # N/m; the cosine is that of a polygon, 1 for a circle
print(f"in space:     radius {radius:.4f} m, skin pulls with {pull:.2f} N, T/r = {laplace:.2f} N/m")
print(f"              the gas pushes with P = {pressure:.2f} N/m")

sim.gravity = (0, -9.81)
sim.run(seconds=5.0)
for body in (full, empty):
    height = np.ptp(body.positions[:, 1])
    print(
        f"on the floor: {body.name:5} {height:.3f} m high, area {body.volume:.3f} m² ({body.rest_volume:.3f} at first)"
    )

assert abs(laplace / pressure - 1) < 0.01, "P = T/r"
assert full.volume > 0.9 * area, "with gas it keeps its area"
assert empty.volume < 0.2 * empty.rest_volume, "without, it falls flat"
