"""Work and precision: what an error costs with each solver, from soft skins to stiff ones.

A ball of radius 0.5 m and 1 kg flies, released from a squashed shape, so that it breathes and wobbles; or it is dropped
on the ground. The same half second is run by each solver with ever more substeps, and compared with a run whose steps
are many times shorter than stability needs (Runge-Kutta 4 in flight, symplectic where it touches the ground).

Which error: stiff skins vibrate within a frame, thousands of times a second, and no two solvers agree on the phase of
that, nor does anyone see it. So positions of points are not compared. What is seen is where the ball is, how large it
is and how it is squashed, in the mean over WINDOW frames: the error is the root mean square over the run of the
differences in the centre of mass, in the three extents (root mean square of the points about the centre, along each
axis) and in the radius of a sphere of the same volume, the two latter as such means, all over the radius of the ball.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from turgor import shapes
from turgor.bench.measure import now
from turgor.scene import Gas, Scene, Springs
from turgor.simulation.simulation import Simulation

__all__ = ["SOLVERS", "STIFFNESSES", "equal_error", "motion_error", "squashed_ball", "work_precision"]

FloatArray = npt.NDArray[np.float64]

RADIUS, MASS = 0.5, 1.0  # m, kg
STIFFNESSES = {"soft": 1e2, "medium": 1e4, "stiff": 1e6}  # N/m
TENSION = 0.5  # 1/m: gauge pressure over stiffness, so that soft and stiff balls have the same shape
DAMPING = 0.2  # of a dashpot, over √(stiffness × mass of a point): vibrations die out, those of stiff skins at once
SQUASH = 0.9  # of the height; as much wider across that the volume stays
GAP = 0.1  # m: from which the ball is dropped, at SPEED
SPEED = 2.0  # m/s
FPS, FRAMES, WINDOW = 60.0, 16, 6  # 1/s; frames of a run; frames over which sizes are averaged
LOOK = 6  # frames, the impact among them, whose largest number of stable substeps counts
SOLVERS = ("symplectic", "rk4", "implicit")
MULTIPLES = {"symplectic": (1, 2, 4), "rk4": (1, 2)}  # of the substeps that stability needs
IMPLICIT = (1, 2, 4, 8, 16, 32)  # substeps
REFERENCE = {"rk4": 4, "symplectic": 8}  # likewise: twice the finest run, whose error shows how far it can be trusted
ERRORS = (1e-1, 1e-2, 1e-3)  # of the radius: at which solvers are compared


def squashed_ball(subdivisions: int, stiffness: float, *, dropped: bool) -> Scene:
    """Flying freely, or falling on the ground; see `simulated` for the squashing."""
    scene = Scene(name="squashed")
    shape = shapes.icosphere(radius=RADIUS, subdivisions=subdivisions)
    dashpot = DAMPING * math.sqrt(stiffness * MASS / len(shape.vertices))
    if dropped:
        scene.add_ground(friction=0.5)
    scene.add_soft_body(
        shape, name="ball", mass=MASS, springs=Springs(stiffness, dashpot), settled=True, self_contact=False,
        gas=Gas.at(gauge=TENSION * stiffness, ambient=0.0), at=(0.0, 0.0, 1.2 * RADIUS + GAP),
        velocity=(1.0, 0.0, -SPEED if dropped else 0.0), rotation=(0.3, 0.2, 0.1),
    )  # fmt: skip
    return scene


def simulated(scene: Scene, **options: Any) -> Simulation:
    """At the start of a run; a ball without a ground to fall on is squashed."""
    sim = Simulation(scene, fps=FPS, precision="double", max_substeps=10**7, **options)
    if not scene.walls:
        ball, across = sim["ball"], 1.0 / math.sqrt(SQUASH)
        ball.positions = ball.center + (ball.positions - ball.center) * (across, across, SQUASH)
    sim.prepare()
    return sim


def trajectory(sim: Simulation, frames: int) -> tuple[FloatArray, float]:
    """(frames, 7) m of the ball: centre, extents, radius of its volume; and seconds per frame after the first.

    The first frame is not timed: it loads kernels, and an implicit one also makes its coarse matrix.
    """
    ball, rows, spent = sim["ball"], [], 0.0
    for done in range(frames):
        begin = now()
        sim.step()
        spent += now() - begin if done else 0.0
        places = ball.positions
        rows.append([*ball.center, *places.std(axis=0), (0.75 / math.pi * float(ball.volume)) ** (1.0 / 3.0)])
    return np.array(rows), spent / max(frames - 1, 1)


def motion_error(found: FloatArray, reference: FloatArray, window: int = WINDOW) -> float:
    """The error of a trajectory, over the radius; see the top of this file."""
    off = found - reference
    mean = np.array([np.convolve(column, np.full(window, 1.0 / window), "valid") for column in off.T[3:]])
    return float(np.sqrt(np.mean(np.sum(off[:, :3] ** 2, axis=1)) + np.mean(np.sum(mean**2, axis=0))) / RADIUS)


def stable_substeps(scene: Scene, solver: str) -> int:
    """The most substeps that stability needs in a frame."""
    sim, most = simulated(scene, solver=solver), 0
    for _ in range(LOOK):
        sim.step()
        most = max(most, sim.substeps)
    return most


def work_precision(subdivisions: int, stiffness: float, *, dropped: bool, frames: int = FRAMES) -> list[dict[str, Any]]:
    """Rows of solver, substeps, ms per frame, error."""
    scene = squashed_ball(subdivisions, stiffness, dropped=dropped)
    least = {solver: stable_substeps(scene, solver) for solver in MULTIPLES}
    plans = {solver: [least[solver] * times for times in MULTIPLES[solver]] for solver in MULTIPLES}

    def run(solver: str, substeps: int) -> tuple[FloatArray, float]:
        return trajectory(simulated(scene, solver=solver, substeps=substeps), frames)

    best = "symplectic" if dropped else "rk4"
    reference, _ = run(best, least[best] * REFERENCE[best])
    rows = []
    for solver, counts in {**plans, "implicit": list(IMPLICIT)}.items():
        for substeps in counts:
            found, seconds = run(solver, substeps)
            error = motion_error(found, reference)
            rows.append({"solver": solver, "substeps": substeps, "ms": 1e3 * seconds, "error": error})
    return rows


def equal_error(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """For each of ERRORS: ms per frame of the cheapest run that is at least so precise, and explicit over implicit."""
    found = []
    for error in ERRORS:
        costs: dict[str, float | None] = {}
        for solver in SOLVERS:
            good = [row["ms"] for row in rows if row["solver"] == solver and row["error"] <= error]
            costs[solver] = min(good, default=None)
        explicit = [cost for solver, cost in costs.items() if solver != "implicit" and cost is not None]
        implicit = costs["implicit"]
        ratio = min(explicit) / implicit if explicit and implicit is not None else None
        found.append({"error": error, **{f"{solver}_ms": cost for solver, cost in costs.items()}, "ratio": ratio})
    return found
