"""What the benchmarks share: the scene they run, and how time is taken."""

from __future__ import annotations

import gc
import inspect
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import warp as wp

from turgor import shapes
from turgor.bench.suite import Clock, Options, Row
from turgor.kernel.numbers import start_warp
from turgor.scene import Gas, Scene, Springs
from turgor.shapes.shape import Shape
from turgor.simulation.simulation import Simulation

SUBSTEPS = 30
USUAL = Options()
CLOCKS: dict[Clock, Callable[[], float]] = {"wall": time.perf_counter, "processor": time.process_time}
_clocks = [CLOCKS["wall"]]  # the last one is used
HAS_THREADS = "threads" in inspect.signature(Simulation).parameters

__all__ = [
    "HAS_THREADS",
    "ball_scene",
    "best_time",
    "devices",
    "frame_rate",
    "in_turns",
    "mean_frame",
    "million_vertex_substeps",
    "now",
    "ratios",
    "simulated",
    "spread",
    "surface_scene",
    "taken_by",
    "timed",
]


def devices() -> list[str]:
    """ "cpu", and "cuda:0" where there is one."""
    start_warp()
    return ["cpu", *(["cuda:0"] if wp.is_cuda_available() else [])]


def simulated(scene: Scene, device: str = "cpu", threads: int = 1, **settings: Any) -> Simulation:
    """A simulation on so many threads of the CPU; all of a machine would be no measure."""
    if HAS_THREADS and device == "cpu":
        settings["threads"] = threads
    return Simulation(scene, device, **settings)


def surface_scene(shape: Shape) -> Scene:
    """Springs, pressure and a floor. Damping falls with the size of the mesh, so that auto picks few substeps."""
    scene = Scene(name="benchmark")
    scene.add_ground(friction=0.5, restitution=0.1)
    count = len(shape.vertices)
    springs = Springs(stiffness=150.0, damping=0.5 * math.sqrt(162.0 / count))
    scene.add_soft_body(
        shape, name="ball", at=(0.0, 0.0, 0.6), springs=springs, gas=Gas.at(gauge=200.0, ambient=1000.0)
    )
    return scene


def ball_scene(subdivisions: int) -> Scene:
    """An icosphere of radius 0.5 m."""
    return surface_scene(shapes.icosphere(radius=0.5, subdivisions=subdivisions))


# time ---------------------------------------------------------------------------------------------------------------


def spread(values: Iterable[float]) -> Row:
    """Median, quartiles and number of repeated measurements."""
    all_values = np.asarray(list(values), dtype=float)
    q1, median, q3 = np.percentile(all_values, [25.0, 50.0, 75.0]).tolist()
    return {"median": median, "q1": q1, "q3": q3, "runs": len(all_values)}


@contextmanager
def taken_by(clock: Clock) -> Iterator[None]:
    """Times of the CPU are taken by this clock meanwhile; those of a GPU always by the wall clock."""
    _clocks.append(CLOCKS[clock])
    try:
        yield
    finally:
        _clocks.pop()


def now(device: str = "cpu") -> float:
    """s, of the clock that is used."""
    return _clocks[-1]() if device == "cpu" else time.perf_counter()


def timed(action: Callable[[], Any], device: str, seconds: float = 1.5, least: int = 5) -> list[float]:
    """Seconds of each of several calls, for about so long in all; a first call warms up and does not count."""
    _seconds(action, device)
    start, found = time.perf_counter(), list[float]()
    while len(found) < least or time.perf_counter() - start < seconds:
        found.append(_seconds(action, device))
    return found


def best_time(action: Callable[[], Any], device: str, seconds: float = 1.5, least: int = 5) -> float:
    """Seconds of the fastest of several calls: noise of a shared machine only ever adds."""
    return min(timed(action, device, seconds, least))


def in_turns(actions: Mapping[str, Callable[[], float]], rounds: int) -> dict[str, list[float]]:
    """What each action returns (seconds, say), round by round: what slows a machine down meets all of them alike."""
    found: dict[str, list[float]] = {name: [] for name in actions}
    for _ in range(rounds):
        for name, action in actions.items():
            found[name].append(action())
    return found


def ratios(times: Iterable[float], others: Iterable[float]) -> Row:
    """Spread of times over other times of the same rounds."""
    return spread(one / other for one, other in zip(times, others, strict=True))


def mean_frame(sim: Simulation, frames: int) -> float:
    """Seconds per frame; the contacts change from frame to frame, so the mean is meant, not the best."""

    def run() -> None:
        for _ in range(frames):
            sim.step()

    return _seconds(run, str(sim.device)) / frames


def frame_rate(scene: Scene, device: str) -> float:
    """Frames per second at which a frame has about SUBSTEPS automatic substeps, as a usual scene has at 60."""
    planner = simulated(scene, device, fps=6000.0)
    planner.step()
    return 1.0 / (SUBSTEPS * float(planner.engine.scratch.step_bound.numpy().min()))


def million_vertex_substeps(
    scene: Scene, device: str, worlds: int = 1, options: Options = USUAL, fps: float | None = None
) -> Row:
    """Throughput of whole frames, planning and inspection included, in Mvs/s; of a GPU also its memory per vertex.

    fps: `frame_rate`, where it is known.
    """
    fps = fps or frame_rate(scene, device)
    gc.collect()
    used = 0 if device == "cpu" else wp.get_mempool_used_mem_current(device)
    sim = simulated(scene, device, options.threads, worlds=worlds, fps=fps)
    vertices = sim.vertices * worlds
    frames: list[tuple[float, int]] = []  # seconds, substeps

    def frame() -> None:
        frames.append((_seconds(sim.step, device), sim.substeps))

    timed(frame, device, options.seconds, options.least)
    del frames[0]  # it warms up
    memory: Row = {}
    if device != "cpu":
        each = (wp.get_mempool_used_mem_current(device) - used) / vertices
        memory = {"bytes_per_vertex": each, "vertices_that_fit": int(wp.get_device(device).total_memory / each)}
    return {
        "vertices": vertices,
        "substeps": sorted(count for _, count in frames)[len(frames) // 2],
        "frame_ms": spread(1e3 * seconds for seconds, _ in frames),
        "mvs_per_s": spread(vertices * count / seconds / 1e6 for seconds, count in frames),
        **memory,
    }


def _seconds(action: Callable[[], Any], device: str) -> float:
    wp.synchronize_device(device)
    begin = now(device)
    action()
    wp.synchronize_device(device)
    return now(device) - begin
