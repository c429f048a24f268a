"""What the benchmarks share: the scene they run, and how time is taken."""

from __future__ import annotations

import math
import time
from typing import Any

import warp as wp

from turgor import shapes
from turgor.kernel.numbers import start_warp
from turgor.scene import Gas, Scene, Springs
from turgor.shapes.shape import Shape
from turgor.simulation.simulation import Simulation

SUBSTEPS = 30

__all__ = ["ball_scene", "best_time", "devices", "million_vertex_substeps", "surface_scene"]


def devices() -> list[str]:
    """ "cpu", and "cuda:0" where there is one."""
    start_warp()
    return ["cpu", *(["cuda:0"] if wp.is_cuda_available() else [])]


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


def best_time(action: Any, device: str, seconds: float = 1.5, least: int = 5) -> float:
    """Seconds of the fastest of several calls: noise of a shared machine only ever adds."""
    action()
    wp.synchronize_device(device)
    best, start, rounds = math.inf, time.perf_counter(), 0
    while rounds < least or time.perf_counter() - start < seconds:
        begin = time.perf_counter()
        action()
        wp.synchronize_device(device)
        best = min(best, time.perf_counter() - begin)
        rounds += 1
    return best


def million_vertex_substeps(scene: Scene, device: str, worlds: int = 1) -> dict[str, float]:
    """Throughput of whole frames, planning and inspection included, in Mvs/s.

    The frame is made as long as about SUBSTEPS automatic substeps, as many as a usual scene at 60 frames/s takes.
    """
    planner = Simulation(scene, device=device, fps=6000.0)
    planner.step()
    stable = float(planner.engine.scratch.step_bound.numpy().min())
    sim = Simulation(scene, device=device, worlds=worlds, fps=1.0 / (SUBSTEPS * stable))
    frames = []  # (seconds, substeps): the fastest frame need not be the one with the most substeps
    best_time(lambda: frames.append((_seconds(sim.step, device), sim.substeps)), device)
    seconds, substeps = min(frames[1:], key=lambda frame: frame[0] / frame[1])
    vertices = sim.vertices * worlds
    return {
        "vertices": vertices,
        "substeps": substeps,
        "frame_ms": 1e3 * seconds,
        "mvs_per_s": vertices * substeps / seconds / 1e6,
    }


def _seconds(action: Any, device: str) -> float:
    begin = time.perf_counter()
    action()
    wp.synchronize_device(device)
    return time.perf_counter() - begin
