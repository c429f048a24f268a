"""Lesson 5: gas. A balloon in the open air is heated from 20 °C to 100 °C, and grows.

The gas inside has P V = n R T. Its skin is so thin that it can hold no pressure of its own: the gas stays at the 1013
hPa of the air outside, so the volume must grow as the (absolute!) temperature does. That is the law of Charles and
Gay-Lussac. Nobody put it in: it comes out of the springs, the pressure on every triangle, and P V = n R T.
Try: stiffness=3e5, a football: now it is the pressure that grows, and V/T falls.
"""

import turgor

scene = turgor.Scene(gravity=(0, 0, 0))
scene.add_soft_body(
    turgor.shapes.icosphere(radius=0.15, subdivisions=2),
    name="balloon",
    mass=0.05,  # kg
    springs=turgor.Springs(stiffness=10.0),  # N/m
    gas=turgor.Gas.at(gauge=0.0, ambient=101_325.0, temperature=293.15),  # Pa, Pa, K
    drag=20.0,  # 1/s
)
sim = turgor.Simulation(scene)
balloon = sim["balloon"]

ratios = []
for celsius in (20, 40, 60, 80, 100):
    balloon.temperature = celsius + 273.15
    sim.run(seconds=1.0)
    ratios.append(balloon.volume / balloon.temperature)
    print(
        f"{celsius:3d} °C: {1000 * balloon.volume:6.3f} litres, {balloon.gauge_pressure:6.1f} Pa above the air, "
        f"V/T = {1e6 * ratios[-1]:.3f} cm³/K, {balloon.moles:.4f} mol"
    )

assert max(ratios) / min(ratios) < 1.01, "V/T must stay the same while the gas is heated"
