"""Lesson 9: cloth and wind. The same springs without gas, and a force on every point that the air passes.

The air moves past a cloth with u = wind - velocity, and pushes it by ½ ρ A |u| (C u across + c u along it): mostly
across. So a sheet that falls flat in still air goes faster until the air carries it, at v² = 2 m g / (ρ C A).
A flag at a mast hangs down when it is calm; the stronger the wind, the higher it flies.
Try: a heavier flag (mass=1.0), wind across it (0, 10, 0), or a gust: set sim.wind while it runs.
"""

import math

import numpy as np

import turgor

sheet = turgor.shapes.sheet(size=(1.5, 1.0), resolution=(13, 9))
springs = turgor.Springs(stiffness=300.0, damping=0.1)
mass, drag = 0.3, 1.2  # kg, drag coefficient of a flat plate

scene = turgor.Scene(gravity=(0, 0, -9.81))
limit = math.sqrt(2 * mass * 9.81 / (scene.air_density * drag * 1.5 * 1.0))  # m/s
flat = (math.pi / 2, 0, 0)
scene.add_cloth(sheet, name="parachute", mass=mass, springs=springs, drag_coefficient=drag, rotation=flat)
sim = turgor.Simulation(scene)
sim.run(seconds=5 * limit / 9.81)  # five times as long as it takes to get up speed
speed = -sim["parachute"].momentum[2] / mass
print(f"falling flat: {speed:.4f} m/s; √(2 m g / ρ C A) = {limit:.4f} m/s")

scene = turgor.Scene(gravity=(0, 0, -9.81))
scene.add_cloth(sheet, name="flag", mass=mass, springs=springs, drag_coefficient=drag, pins="left", drag=0.5)
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
