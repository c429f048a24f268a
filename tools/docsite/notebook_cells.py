"""The cells of the notebooks; tools/notebooks runs them and writes docs/notebooks/NAME.ipynb."""

from __future__ import annotations

__all__ = ["CELLS"]

FIRST_BALLOON = [
    (
        "markdown",
        """
# The first balloon

A ball of springs with gas inside is squeezed by the pressure of the air around it. Boyle's law says what its gas must do:
**P V stays the same**, as long as the temperature does. Nobody puts that into the picture below; it is measured in the
running simulation.
""",
    ),
    ("markdown", "## Build\nAn icosphere, 162 vertices; the gas starts 0.5 kPa above a thin atmosphere of 10 kPa."),
    (
        "code",
        """
import matplotlib.pyplot as plt
import numpy as np

import turgor

scene = turgor.Scene(gravity=(0, 0, 0))
scene.add_soft_body(
    turgor.shapes.icosphere(radius=0.15, subdivisions=2),
    name="balloon",
    mass=0.05,  # kg
    springs=turgor.Springs(stiffness=600.0, damping=0.1),  # N/m, N s/m
    gas=turgor.Gas.at(gauge=500.0, ambient=10_000.0),  # Pa
    drag=20.0,  # 1/s
)
sim = turgor.Simulation(scene)
balloon = sim["balloon"]
print(f"{1000 * balloon.volume:.2f} litres, {balloon.pressure:.0f} Pa, {balloon.moles:.5f} mol")
""",
    ),
    (
        "markdown",
        "## Run\nFirst it swells until its skin holds the gas. Then the air outside is made denser, step by step.",
    ),
    (
        "code",
        """
sim.run(seconds=0.5)
volumes, pressures = [], []
for ambient in np.linspace(10_000, 16_000, 10):  # Pa
    balloon.ambient = ambient
    sim.run(seconds=0.3)
    volumes.append(balloon.volume)
    pressures.append(balloon.pressure)
volumes, pressures = np.array(volumes), np.array(pressures)
products = pressures * volumes
print(f"P V from {products.min():.4f} J to {products.max():.4f} J; n R T = {balloon.nRT:.4f} J")
""",
    ),
    ("markdown", "## Plot\nThe points are measured; the line is Boyle's law with the amount of gas that was put in."),
    (
        "code",
        """
v = np.linspace(volumes.min() * 0.9, volumes.max() * 1.1, 100)
plt.figure(figsize=(5.5, 3.4), dpi=90)
plt.plot(1000 * v, balloon.nRT / v / 1000, color="0.6", label="n R T / V")
plt.plot(1000 * volumes, pressures / 1000, "o", color="tab:blue", label="measured")
plt.xlabel("volume, litres")
plt.ylabel("pressure, kPa")
plt.legend()
plt.tight_layout()
plt.show()
""",
    ),
    ("markdown", "And the law itself, to a thousandth:"),
    ("code", "assert np.allclose(pressures * volumes, balloon.nRT, rtol=1e-3)"),
    ("markdown", "## Look\nA picture of the balloon as it is now."),
    (
        "code",
        """
from turgor import record

with record.Painter(sim.layout, size=(400, 260), color_by="pressure") as painter:
    picture = painter.draw(sim.frame())
plt.figure(figsize=(4, 2.6), dpi=90)
plt.imshow(picture)
plt.axis("off")
plt.tight_layout(pad=0)
plt.show()
""",
    ),
    (
        "markdown",
        """
Try: `process="adiabatic"` in `Gas.at` (then P V^γ stays the same), or a stiffer skin. More: [lesson
5](../tutorial/05-hot-balloon.md), [the guided experiments](../tutorial/experiments.md).
""",
    ),
]

MANY_WORLDS = [
    (
        "markdown",
        """
# Many worlds

How much gas makes a ball bounce best? One simulation with many worlds answers it: each world is a copy of the scene with
another pressure. Then a given bounce is fitted, by closing in on it, without gradients.
""",
    ),
    (
        "code",
        """
import matplotlib.pyplot as plt
import numpy as np

import turgor

WORLDS = 16


def bounces(gauges):
    \"\"\"Drops a ball with each gauge pressure (N/m in 2D); returns times (s) and heights of the centres (m) by world.\"\"\"
    scene = turgor.Scene(dim=2, gravity=(0, -9.81))
    scene.add_ground(friction=0.5, restitution=0.0)
    scene.add_soft_body(
        turgor.shapes.circle(radius=0.2, points=32),
        name="ball",
        at=(0, 1.2),  # m: the ball is 1 m above the ground
        mass=0.5,  # kg
        springs=turgor.Springs(stiffness=1500.0, damping=2.0),  # N/m, N s/m
        gas=turgor.Gas.at(gauge=100.0, ambient=1000.0),  # N/m in 2D
    )
    sim = turgor.Simulation(scene, worlds=len(gauges))
    sim["ball"].gauge_pressure = gauges
    rows = []
    for _ in range(72):  # 1.2 s
        sim.step()
        rows.append(sim["ball"].center[:, 1])
    return np.arange(1, 73) / 60, np.array(rows).T


gauges = np.geomspace(20, 2000, WORLDS)
time, heights = bounces(gauges)
print(heights.shape)
""",
    ),
    ("markdown", "All of them at once: soft balls stay low, tight ones jump."),
    (
        "code",
        """
plt.figure(figsize=(5.5, 3.2), dpi=90)
for gauge, height in zip(gauges, heights, strict=True):
    plt.plot(time, height, color=plt.cm.viridis(np.log(gauge / 20) / np.log(100)), linewidth=1)
plt.xlabel("time, s")
plt.ylabel("height of the centre, m")
plt.tight_layout()
plt.show()
""",
    ),
    ("markdown", "## One number for each world\nHow high it rises after the first hit:"),
    (
        "code",
        """
def rises(gauges):
    \"\"\"m: highest place of the centre after the lowest one, by world.\"\"\"
    _, heights = bounces(gauges)
    return np.array([height[np.argmin(height[:45]) :].max() for height in heights])


rise = rises(gauges)
plt.figure(figsize=(5.5, 3.2), dpi=90)
plt.semilogx(gauges, rise, "o-")
plt.xlabel("gauge pressure, N/m")
plt.ylabel("rise, m")
plt.tight_layout()
plt.show()
print(f"from {rise.min():.2f} m to {rise.max():.2f} m")
""",
    ),
    (
        "markdown",
        """
## Fit it
Which pressure gives a rise half-way between the least and the most? Each round runs all worlds between the two neighbours of
the best answer so far: 16 worlds make the interval eight times smaller in one run.
""",
    ),
    (
        "code",
        """
wanted = (rise.min() + rise.max()) / 2
low, high = gauges[0], gauges[-1]
for turn in range(3):
    tried = np.geomspace(low, high, WORLDS)
    measured = rises(tried)
    best = int(np.argmin(np.abs(measured - wanted)))
    low, high = tried[max(best - 1, 0)], tried[min(best + 1, WORLDS - 1)]
    print(f"round {turn + 1}: {tried[best]:7.2f} N/m, now between {low:.2f} and {high:.2f}")
print(f"wanted a rise of {wanted:.4f} m, got {measured[best]:.4f} m")
assert abs(measured[best] - wanted) < 0.01
""",
    ),
    (
        "markdown",
        """
On a GPU the same study runs with thousands of worlds: `device="cuda"`. More: [how to run many
worlds](../howto/worlds.md).
""",
    ),
]

CELLS = {"first-balloon": FIRST_BALLOON, "many-worlds": MANY_WORLDS}
