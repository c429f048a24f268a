"""Lesson 9: cloth and wind. The same springs without gas, and a force on every point that the air passes.

Wind w pushes a point that moves with v by c ((w - v)·n) n, along the normal n of the cloth: across it, not along it.
So a sheet that falls flat in still air goes faster and faster until the air carries it, at v = m g / (c × points).
A flag at a mast hangs down when it is calm; the stronger the wind, the higher it flies.
Try: a heavier flag (mass=1.0), wind across it (0, 10, 0), or a gust: set sim.wind while it runs.
"""

import math

import numpy as np

import turgor

sheet = turgor.shapes.sheet(size=(1.5, 1.0), resolution=(13, 9))
springs = turgor.Springs(stiffness=300.0, damping=0.1)
mass, drag = 0.3, 0.01  # kg, N s/m per point
limit = mass * 9.81 / (drag * len(sheet.vertices))  # m/s

scene = turgor.Scene(gravity=(0, 0, -9.81))
scene.add_cloth(sheet, name="parachute", mass=mass, springs=springs, wind_drag=drag, rotation=(math.pi / 2, 0, 0))
sim = turgor.Simulation(scene)
sim.run(seconds=10 * mass / (drag * len(sheet.vertices)))  # ten times as long as it takes to get up speed
speed = -sim["parachute"].momentum[2] / mass
print(f"falling flat: {speed:.4f} m/s; m g / (c × points) = {limit:.4f} m/s")

scene = turgor.Scene(gravity=(0, 0, -9.81))
scene.add_cloth(sheet, name="flag", mass=mass, springs=springs, wind_drag=drag, pins="left", drag=0.5)
sim = turgor.Simulation(scene)
flag = sim["flag"]
heights = []
for wind in (20, 10, 5, 0):
    sim.wind = (wind, 0.2 * wind, 0)  # m/s: not quite along the flag
    sim.run(seconds=3.0)
    height = []
    for _ in range(60):
        sim.step()
        height.append(flag.center[2])
    heights.append(np.mean(height))
    print(f"wind {wind:2d} m/s: the middle of the flag is {-heights[-1]:.3f} m below its place on the mast")

assert abs(speed / limit - 1) < 0.001, "the weight must be carried by the air"
assert heights == sorted(heights, reverse=True), "more wind must lift the flag"
