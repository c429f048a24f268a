"""Lesson 1: the soft ball of Matyka 2004. Points on a circle, springs between neighbours, gas inside: that is all.

Without the gas the ring would fall flat on the floor (lesson 6); the pressure keeps it round. It falls, bounces and
comes to rest. Then the floor carries its weight, and the gas obeys P V = n R T: in 2D, V is an area in m² and P a
force per length in N/m.
Try: NRT = 10.0, a limp ball, or NRT = 300.0, a tight one. Then drag=0.2, which lets it bounce for longer.
"""

import turgor

NRT = 60.0  # J: the paper's one number for the amount of gas and its temperature

scene = turgor.Scene(dim=2, gravity=(0, -9.81))
scene.add_ground(friction=0.5, restitution=0.1)
scene.add_soft_body(
    turgor.shapes.circle(radius=0.5, points=40),
    name="ball",
    at=(0, 1.5),  # m
    mass=1.0,  # kg
    springs=turgor.Springs(stiffness=3000.0, damping=4.0),  # N/m and N s/m
    gas=turgor.Gas(nRT=NRT),
    drag=2.0,  # 1/s
)

sim = turgor.Simulation(scene)
for _ in range(6):
    sim.run(seconds=1.0)
    ball = sim["ball"]
    print(f"{sim.time:.0f} s: height {ball.center[1]:.3f} m, area {ball.volume:.3f} m², gas {ball.pressure:.1f} N/m")

assert abs(ball.momentum).max() < 0.01, f"the ball should be at rest, but has a momentum of {ball.momentum} kg m/s"
assert abs(ball.pressure * ball.volume / NRT - 1) < 1e-4, "P V must be n R T"
assert ball.volume > ball.rest_volume, "the gas must stretch the skin"
