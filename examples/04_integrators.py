"""Lesson 4: from one moment to the next. Five ways to step through the swing of a mass on a spring, and their errors.

Half the step: a method of order 1 makes half the error, of order 2 a quarter, of order 4 a sixteenth. But the order is
not all: plain Euler winds energy up swing by swing, while "symplectic" (velocity first, then position with the new
velocity; what Matyka's 2004 listing does) keeps it for ever, at the same price. That is why it is turgor's default.
Try: STEPS = 10 (who survives?), or leave out substeps= and see what "auto" picks (`sim.substeps`).
"""

import math

import turgor

PERIOD = 2 * math.pi * math.sqrt(0.5 / 40.0)  # s, of lesson 2
STEPS = 20  # in 0.4 of a swing
ORDERS = {"euler": 1, "symplectic": 1, "heun": 2, "midpoint": 2, "rk4": 4}


def swing(solver: str, steps: int, frames: int = 1) -> tuple[float, float]:
    """Where the mass of lesson 2 is after 0.4 swings per frame (m), and its energy in parts of that at the start."""
    scene = turgor.Scene(dim=2, gravity=(0, 0))
    scene.add_soft_body(
        turgor.shapes.outline([(-0.005, 0), (0, -1), (0.005, 0)]),
        name="spring", mass=1.5, springs=turgor.Springs(stiffness=20.0), pins=[0, 2],
    )  # fmt: skip
    sim = turgor.Simulation(scene, solver=solver, fps=2.5 / PERIOD, substeps=steps, precision="double")
    sim["spring"].positions = [(-0.005, 0), (0, -1.2), (0.005, 0)]  # m: pulled down by 0.2 m, and let go
    start = sim.energy().total
    for _ in range(frames):
        sim.step()
    return sim["spring"].positions[1, 1], sim.energy().total / start


truth, _ = swing("rk4", 20 * STEPS)
found, kept = {}, {}
for solver in ORDERS:
    coarse, fine = (abs(swing(solver, steps)[0] - truth) for steps in (STEPS, 2 * STEPS))
    found[solver] = math.log2(coarse / fine)
    kept[solver] = swing(solver, STEPS, frames=25)[1]
    print(f"{solver:10}  error {coarse:.1e} m -> {fine:.1e} m with half the step: order {found[solver]:.2f};", end=" ")
    print(f"after ten swings it has the energy times {kept[solver]:.3f}")

assert all(abs(found[solver] - order) < 0.3 for solver, order in ORDERS.items()), found
assert kept["euler"] > 2.0
assert abs(kept["symplectic"] - 1) < 0.1
