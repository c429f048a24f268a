"""Lesson 2: back to the beginning. A mass on a spring, and the first question: how long does one swing take?

The smallest body is a triangle. With two corners nailed to the ceiling, side by side, the third hangs on two springs
that act as one of twice the stiffness. Hooke says that the force grows with the stretch; Newton makes of it a swing of
T = 2π √(m/k), however far it goes, about the place where spring and weight are in balance, m g / k further down.
Try: four times the mass (the swing takes twice as long), gravity=(0, -1.62) as on the moon (T stays the same).
"""

import math

import numpy as np

import turgor

MASS, STIFFNESS, GRAVITY = 0.5, 40.0, 9.81  # kg, N/m of both springs together, m/s²

scene = turgor.Scene(dim=2, gravity=(0, -GRAVITY))
scene.add_soft_body(
    turgor.shapes.outline([(-0.005, 0), (0, -1), (0.005, 0)]),
    name="spring",
    mass=3 * MASS,  # of three points; the two that are pinned do not move
    springs=turgor.Springs(stiffness=STIFFNESS / 2),
    pins=[0, 2],
)

sim = turgor.Simulation(scene, fps=200)
seen = []
for _ in range(1000):  # 5 s
    sim.step()
    seen.append((sim.time, sim["spring"].positions[1, 1]))
times, heights = np.array(seen).T

middle = (heights.max() + heights.min()) / 2
upwards = times[1:][(heights[:-1] < middle) & (heights[1:] >= middle)]  # s: when it passes the middle on its way up
period = np.diff(upwards).mean()
stretch = -1.0 - middle  # m: the spring is 1 m long when nothing pulls

print(f"period:  {period:.4f} s measured, {2 * math.pi * math.sqrt(MASS / STIFFNESS):.4f} s by 2π √(m/k)")
print(f"stretch: {stretch:.4f} m measured, {MASS * GRAVITY / STIFFNESS:.4f} m by m g / k")
print(f"swing:   from {heights.max():.4f} m to {heights.min():.4f} m, {len(upwards)} times")

assert abs(period / (2 * math.pi * math.sqrt(MASS / STIFFNESS)) - 1) < 0.005
assert abs(stretch / (MASS * GRAVITY / STIFFNESS) - 1) < 0.01
