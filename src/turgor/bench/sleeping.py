"""What sleep saves: frames of a field of balls at rest, all awake, all asleep, and all but one."""

from __future__ import annotations

import time

import numpy as np

from turgor.bench.measure import mean_frame, simulated, spread
from turgor.bench.suite import Options, Row, Tables
from turgor.scene import Gas, Scene, Springs
from turgor.shapes.surfaces import icosphere
from turgor.simulation.simulation import Simulation

__all__ = ["field", "sleeping"]

MOST = 1200  # frames until all must sleep
AWAKE = "ball 0"


def field(count: int) -> Scene:
    """Balls on the ground, each apart from the others; drag brings them to rest."""
    scene = Scene()
    scene.add_ground(friction=0.5)
    side = round(count**0.5)
    for number in range(count):
        scene.add_soft_body(
            icosphere(0.3, 2), name=f"ball {number}", at=(number % side, number // side, 0.31), mass=1.0, drag=2.0,
            springs=Springs(stiffness=150.0, damping=0.5), gas=Gas.at(gauge=100.0),
        )  # fmt: skip
    return scene


def sleeping(options: Options) -> Tables:
    """On each device: time of a frame, and of the frame in which the awake ones begin to run alone."""
    count = 4 if options.quick else 121
    return {f"{device}: {count} balls": measured(field(count), device, options) for device in options.devices}


def measured(scene: Scene, device: str, options: Options) -> list[Row]:
    """All awake, all asleep, one awake: the same simulation, one after the other."""
    sim = simulated(scene, device, options.threads, sleeping=True)
    frames = 2 if options.quick else 20
    for _ in range(MOST):
        sim.step()
        if _asleep(sim) == len(sim.names):
            break
    asleep = _row("all asleep", sim, frames, options)
    sim.sleeping = False
    awake = _row("all awake", sim, frames, options)
    sim.sleeping = True
    for _ in range(MOST):
        sim.step()
        if _asleep(sim) == len(sim.names):
            break
    sim.grab(AWAKE, 0, sim[AWAKE].center + np.array((0.0, 0.0, 1.0)), stiffness=100.0)
    longest = 0.0
    for _ in range(MOST):
        start = time.perf_counter()
        sim.step()
        longest = max(longest, time.perf_counter() - start)
        if _asleep(sim) == len(sim.names) - 1:
            break
    one = _row("one awake", sim, frames, options)
    one["longest_frame_ms"] = 1e3 * longest
    rows = [awake, one, asleep]
    whole = awake["frame_ms"]["median"]
    for row in rows:
        row["share"] = row["frame_ms"]["median"] / whole
    return rows


def _asleep(sim: Simulation) -> int:
    return sum(view.asleep for view in sim.bodies.values())


def _row(state: str, sim: Simulation, frames: int, options: Options) -> Row:
    times = [1e3 * mean_frame(sim, frames) for _ in range(options.rounds)]
    return {"state": state, "asleep": _asleep(sim), "frame_ms": spread(times)}
