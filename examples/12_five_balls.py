"""Lesson 12: five soft balls in a box that turns, the scene of `make demo`. Everything comes together.

Springs, gas, walls that move, and contact of everything with everything. The run is recorded (by default into a folder
that is deleted at the end; give another as argument), read again, and checked: at no time was a point outside the box
or a ball inside another, and in every ball and frame the gas obeyed Boyle's law, P V = constant.
Try: python 12_five_balls.py . and open five-balls.vtkhdf in ParaView; or record=["a.vtkhdf", "a.mp4"] for a video.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

import turgor
from turgor import record

SIZE, SPIN = 2.4, 0.8  # m, rad/s about the y axis

scene = turgor.Scene(gravity=(0, 0, -9.81), name="five balls")
scene.add_container(size=(SIZE, SIZE, SIZE), spin=(0, SPIN, 0), friction=0.6)
places = {
    "red": (-0.55, -0.55, -0.6),
    "amber": (0.55, -0.55, -0.6),
    "blue": (-0.55, 0.55, -0.6),
    "green": (0.55, 0.55, -0.6),
    "violet": (0.0, 0.0, 0.4),
}
for name, place in places.items():
    scene.add_soft_body(
        turgor.shapes.icosphere(radius=0.45, subdivisions=2),
        name=name,
        at=place,
        mass=1.0,
        springs=turgor.Springs(stiffness=100.0, damping=0.2),
        gas=turgor.Gas.at(gauge=120.0, ambient=0.0),
        settled=True,
        friction=0.5,
    )

sim = turgor.Simulation(scene)
met: set[frozenset[str]] = set()  # pairs of names
depths: list[float] = []  # m
sim.on_contact(lambda event: met.add(frozenset((event.first, event.second))))  # called for each pair that touches


def look(done: int, total: int) -> None:
    """Called after each frame, as a progress bar would be."""
    depths.append(sim.contacts().max_penetration)


with tempfile.TemporaryDirectory() as temporary:
    path = Path(sys.argv[1] if len(sys.argv) > 1 else temporary) / "five-balls.vtkhdf"
    sim.run(seconds=4.0, record=path, progress=look)
    with record.read(path) as trajectory:
        frames = list(trajectory)

outside, product = -np.inf, []
for frame in frames:
    (box,) = frame.walls
    local = (frame.positions - box.position) @ box.rotation  # m, along the axes of the box
    outside = max(outside, np.abs(local).max() - SIZE / 2)
    product.append(frame.pressures * frame.volumes)  # J, of each ball
pairs = [pair for pair in met if pair <= set(places)]

print(f"{len(frames)} frames, {len(places)} balls, {sim.vertices} points, {sim.substeps} substeps in the last frame")
print(f"the box has turned by {np.degrees(SPIN * sim.time):.0f}°; {len(pairs)} pairs of balls have met")
print(f"furthest outside the box: {1000 * max(outside, 0):.4f} mm; deepest in anything: {1000 * max(depths):.4f} mm")
print(f"P V of the balls: {np.mean(product, axis=0).round(3)} J, the same to {np.ptp(product, axis=0).max():.1e} J")

assert len(frames) == 241
assert len(pairs) >= 4, "they must have met"
assert outside < 1e-3, "nothing may leave the box"
assert max(depths) < 1e-3, "nothing may be inside anything"
assert np.ptp(product, axis=0).max() < 1e-3 * np.mean(product), "Boyle: P V stays the same"
