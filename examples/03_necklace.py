"""Lesson 3: many masses, many springs. A necklace of 60 beads is hung on two nails, and finds its own shape.

Nobody tells it: each bead only knows its two neighbours and its weight. Yet both halves end in the same curve, the
catenary y = a cosh(x/a), found by Huygens, Leibniz and Bernoulli in 1691: the pull along it has the same horizontal
part in every link, since nothing pulls the beads sideways.
Try: STIFFNESS = 50.0, a rubber band: it sags more and is no catenary. Or drag=0.1: it swings for a long time.
"""

import math

import numpy as np

import turgor

BEADS, MASS, STIFFNESS = 60, 0.6, 2000.0  # number, kg, N/m

ring = turgor.shapes.circle(radius=0.5, points=BEADS)
nails = [0, BEADS // 2]  # right and left, 1 m apart
scene = turgor.Scene(dim=2, gravity=(0, -9.81))
scene.add_soft_body(
    ring, name="necklace", mass=MASS, springs=turgor.Springs(stiffness=STIFFNESS, damping=0.5), pins=nails, drag=1.5
)
sim = turgor.Simulation(scene, contact="none")  # its two halves hang at the same place
sim.run(seconds=8.0)

beads = sim["necklace"].positions
links = beads[ring.edges[:, 1]] - beads[ring.edges[:, 0]]
length = np.linalg.norm(links, axis=1)
rest = np.linalg.norm(ring.vertices[1] - ring.vertices[0])
pull = STIFFNESS * (length - rest)  # N, in each link: Hooke
sideways = pull * np.abs(links[:, 0]) / length  # N: its horizontal part

# The catenary through the nails with the length of half the necklace: 2 a sinh(1/(2 a)) = length, by halving.
low, high = 0.1, 10.0
while high - low > 1e-9:
    a = (low + high) / 2
    low, high = (a, high) if 2 * a * math.sinh(0.5 / a) > length.sum() / 2 else (low, a)
sag = a * (math.cosh(0.5 / a) - 1)
weight = MASS / BEADS * 9.81 / (length.sum() / BEADS)  # N/m, along the necklace

print(f"lowest bead:       {-beads[:, 1].min():.4f} m below the nails; the catenary: {sag:.4f} m")
print(f"pull in a link:    from {pull.min():.3f} N at the bottom to {pull.max():.3f} N at the nails")
print(f"its part sideways: from {sideways.min():.4f} N to {sideways.max():.4f} N; the catenary: {weight * a:.4f} N")

assert abs(-beads[:, 1].min() / sag - 1) < 0.01
assert np.ptp(sideways) < 0.02 * sideways.mean()
assert abs(sideways.mean() / (weight * a) - 1) < 0.02
