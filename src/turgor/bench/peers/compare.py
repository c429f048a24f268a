"""The suite `peers`: turgor and the engines that are found solve the same problems in turns."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from turgor.bench.measure import HAS_THREADS, in_turns, mean_frame, ratios, simulated, spread, taken_by
from turgor.bench.peers.engines import FOLDER, PEERS, Driver, MissingError
from turgor.bench.peers.problem import FPS, RADIUS, Problem
from turgor.bench.suite import Options, Row, Tables
from turgor.kernel.cores import physical_cores
from turgor.simulation.simulation import Simulation

__all__ = ["peers", "state_of"]

PROBLEMS: dict[str, tuple[Problem, ...]] = {
    "cpu": (Problem(121, 2, 5), Problem(1, 5, 40)),
    "cuda": (Problem(4096, 2, 5), Problem(1, 7, 160)),
}
SMALL = (Problem(2, 1, 5),)
LANDED = 30  # frames, half a second: all balls lie on the floor then
BLOCK = 0.2  # s of a turn, about

Frames = Callable[[int], dict[str, float]]


def peers(options: Options) -> Tables:
    """Frames of turgor and of other engines, in turns in one run: the same balls with gas on a floor."""
    tables: Tables = {}
    for device in options.devices:
        for problem in SMALL if options.quick else PROBLEMS[device.partition(":")[0]]:
            title = f"{device}: {problem.title}, {problem.substeps} substeps or iterations at {FPS:.0f} frames/s"
            tables[title] = _compared(problem, device, options)
    return tables


def _compared(problem: Problem, device: str, options: Options) -> list[Row]:
    folder = (options.peers or FOLDER).expanduser().absolute()
    runs: dict[str, Frames] = {name: partial(_ours, sim) for name, sim in _turgor(problem, device, options).items()}
    names, absent = dict.fromkeys(runs, "turgor"), list[Row]()
    with ExitStack() as stack:
        build = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        for peer in PEERS:
            if device.partition(":")[0] not in peer.devices:
                continue
            try:
                driver = stack.enter_context(Driver(peer.start(folder, build, device), problem, folder, build))
                driver.frames(1)
            except MissingError as reason:
                absent.append({"engine": peer.name, "missing": str(reason)})
            else:
                runs[peer.name], names[peer.name] = driver.frames, driver.engine
        return [*_measured(runs, names, problem, device, options), *absent]


def _turgor(problem: Problem, device: str, options: Options) -> dict[str, Simulation]:
    """turgor's own ways: one thread first, which is what the ratios are about."""
    settings: dict[str, Any] = {"solver": "symplectic", "substeps": problem.substeps, "fps": FPS}
    if device != "cpu":
        alone = Problem(1, problem.subdivisions, problem.substeps)
        return {"turgor": simulated(alone.scene(), device, contact="none", worlds=problem.balls, **settings)}
    scene, cores = problem.scene(), physical_cores()
    sims = {"turgor": simulated(scene, contact="none", **settings)}
    if HAS_THREADS and cores > 1 and options.clock == "wall":
        sims[f"turgor, {cores} threads"] = simulated(scene, threads=cores, contact="none", **settings)
    if problem.balls > 1:
        sims["turgor, contact between balls"] = simulated(scene, contact="features", **settings)
    return sims


def _ours(sim: Simulation, frames: int) -> dict[str, float]:
    """What a driver answers."""
    begin = time.process_time()
    with taken_by("wall"):
        seconds = mean_frame(sim, frames)
    processor = (time.process_time() - begin) / frames
    ball = next(iter(sim.bodies.values()))
    heights = ball.positions.reshape(-1, ball.positions.shape[-2], 3)[0][:, 2]
    volume = float(np.ravel(ball.volume)[0])
    found = {"height": float(heights.mean()), "lowest": float(heights.min()), "volume": volume}
    return {"seconds": seconds, "processor": processor, **found}


def _measured(
    runs: dict[str, Frames], names: dict[str, str], problem: Problem, device: str, options: Options
) -> list[Row]:
    """First all balls come to lie on the floor; then turns of about equal length."""
    last: dict[str, dict[str, float]] = {}

    def turn(name: str, frames: int) -> float:
        last[name] = runs[name](frames)
        return last[name]["processor" if options.clock == "processor" and device == "cpu" else "seconds"]

    landing = {name: turn(name, 5 if options.quick else LANDED) for name in runs}
    counts = {name: 1 if options.quick else max(1, round(BLOCK / seconds)) for name, seconds in landing.items()}
    times = in_turns({name: partial(turn, name, counts[name]) for name in runs}, options.rounds)
    rows = []
    for name in runs:
        frame = spread(times[name])
        rows.append({
            "engine": name,
            "version": names[name],
            "frame_ms": spread(1e3 * seconds for seconds in times[name]),
            "mvs_per_s": problem.vertices * problem.substeps / frame["median"] / 1e6,
            "time_over_turgor": ratios(times[name], times["turgor"]),
            **state_of(last[name], problem),
        })  # fmt: skip
    return rows


def state_of(answer: dict[str, float], problem: Problem) -> Row:
    """Whether a ball is what is meant: full of gas, and lying on the floor; with the numbers that say so."""
    swollen, height, lowest = answer["volume"] / problem.shape.volume, answer["height"], answer["lowest"]
    wrong = [
        words
        for words, fine in (
            ("it has lost its gas", swollen > 0.95),
            ("it has burst", swollen < 3.0),
            ("it does not lie on the floor", -0.05 * RADIUS < lowest < 0.2 * RADIUS),
            ("it has collapsed or flown off", 0.6 * RADIUS < height < 1.4 * RADIUS),
        )
        if not fine
    ]
    return {"volume_ratio": swollen, "height_m": height, "lowest_m": lowest, "ball": ", ".join(wrong) or "as meant"}
