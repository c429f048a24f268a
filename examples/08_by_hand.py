"""Lesson 8: pulling the ball by hand, as with the mouse in the 2004 program. The hand holds a rubber band.

`grab` ties the band to one vertex, and may be called again to move the hand; `release` lets go. When the ball hangs at
rest, the band pulls with its weight: it is stretched by m g / k. Let go, it falls as Galileo's stone, ½ g t² for its
centre, however much it wobbles on the way: inner forces cannot move the centre of mass.
Try: BAND = 6.0 (the hand cannot lift it off the floor), or the hand in a circle, target=(cos t, 0, 2 + sin t).
"""

import numpy as np

import turgor

BAND = 60.0  # N/m

scene = turgor.Scene(gravity=(0, 0, -9.81))
scene.add_ground()
scene.add_soft_body(
    turgor.shapes.icosphere(radius=0.4, subdivisions=2),
    name="ball",
    at=(0, 0, 0.45),
    mass=1.0,
    springs=turgor.Springs(stiffness=200.0, damping=0.5),
    gas=turgor.Gas.at(gauge=100.0, ambient=1000.0),
    settled=True,
    drag=1.0,
)
sim = turgor.Simulation(scene)
ball = sim["ball"]
top = int(np.argmax(ball.positions[:, 2]))  # the vertex that is held

for frame in range(120):  # 2 s: the hand goes up from the ball to 2 m
    ball.grab(top, target=(0, 0, 0.85 + 1.15 * frame / 119), stiffness=BAND)
    sim.step()
sim.run(seconds=8.0)
stretch = 2.0 - ball.positions[top, 2]
print(f"hanging: the band is stretched by {stretch:.4f} m; m g / k = {9.81 / BAND:.4f} m")

ball.drag = 0.0  # no air from here on
ball.release()
height = ball.center[2]
time = 0.3  # s
sim.run(seconds=time)
fall = height - ball.center[2]
print(f"falling: {fall:.4f} m in {time} s; ½ g t² = {0.5 * 9.81 * time**2:.4f} m")
print(f"         meanwhile its height changes to {np.ptp(ball.positions[:, 2]):.3f} m")

assert abs(stretch / (9.81 / BAND) - 1) < 0.01
assert abs(fall / (0.5 * 9.81 * time**2) - 1) < 0.02
