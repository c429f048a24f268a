"""Lesson 10: two soft balls meet in free space, not quite head on. What one loses, the other gets.

Contact is a force between two points along the line through both, equal and opposite (Newton's third law). So momentum
and angular momentum of both together stay the same, whatever happens in between. Energy of motion does not: the balls
wobble and turn when they have parted.
Try: twice the mass for one of them, friction=0.0 (does it still turn?), or contact="none" (they pass as ghosts).
"""

import numpy as np

import turgor

scene = turgor.Scene(gravity=(0, 0, 0))
for name, side in (("red", -1), ("blue", +1)):
    scene.add_soft_body(
        turgor.shapes.icosphere(radius=0.4, subdivisions=2),
        name=name,
        at=(0.6 * side, 0.15 * side, 0),
        velocity=(-2.0 * side, 0, 0),
        mass=1.0 if name == "red" else 0.5,
        springs=turgor.Springs(stiffness=150.0, damping=0.2),
        gas=turgor.Gas.at(gauge=200.0, ambient=1000.0),
        settled=True,
        friction=0.5,
    )
sim = turgor.Simulation(scene)
red, blue = sim["red"], sim["blue"]


def momentum() -> np.ndarray:
    """kg m/s, of both."""
    return red.momentum + blue.momentum


def turning() -> np.ndarray:
    """kg m²/s about the origin: of the way of each ball, and of its own spin."""
    return sum((np.cross(ball.center, ball.momentum) + ball.angular_momentum for ball in (red, blue)), np.zeros(3))


before, turning_before = momentum(), turning()
for when in ("before", "after"):
    print(f"{when:6}  red {red.momentum.round(3)}, blue {blue.momentum.round(3)}, both {momentum().round(3)} kg m/s")
    print(f"        motion {sim.energy().kinetic:.3f} J; turning {turning().round(4)} kg m²/s, ", end="")
    print(f"of which red's own {np.round(red.angular_momentum, 4)}")
    if when == "before":
        sim.run(seconds=1.0)

assert red.momentum[0] < 1.0, "they must have met"
assert np.abs(momentum() - before).max() < 1e-4, "momentum is conserved"
assert np.abs(turning() - turning_before).max() < 1e-4, "and so is angular momentum"
