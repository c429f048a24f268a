"""How many vertices are advanced per second (Mvs/s: million vertex-substeps per second)."""

from __future__ import annotations

from typing import Any

import warp as wp

from turgor.bench.measure import ball_scene, best_time, devices, million_vertex_substeps
from turgor.simulation.simulation import Simulation
from turgor.simulation.step.profile import stage_times

__all__ = ["frame", "stages", "throughput"]

# Mvs/s of Jolt 5, one thread, one ball, on another machine: only a ratio taken in one run is a comparison
JOLT_ELSEWHERE = {10_242: 26.0, 163_842: 10.0}


def throughput() -> dict[str, Any]:
    """One ball of 162 to 163,842 vertices on one CPU thread; the same, larger, and 4096 worlds on a GPU."""
    results: dict[str, Any] = {}
    for device in devices():
        sizes = range(2, 8) if device == "cpu" else range(2, 9)
        rows = [million_vertex_substeps(ball_scene(subdivisions), device) for subdivisions in sizes]
        for row in rows:
            if device == "cpu" and row["vertices"] in JOLT_ELSEWHERE:
                row["jolt_elsewhere"] = JOLT_ELSEWHERE[int(row["vertices"])]
        results[device] = rows
        count = 4096 if device != "cpu" else 64
        results[f"{device}, {count} worlds"] = [million_vertex_substeps(ball_scene(2), device, worlds=count)]
    return results


def stages() -> dict[str, Any]:
    """Time of each stage of a substep at 10,242 vertices, in microseconds and nanoseconds per vertex."""
    results: dict[str, Any] = {}
    for device in devices():
        sim = Simulation(ball_scene(5), device=device)
        for _ in range(3):
            sim.step()
        times = stage_times(sim.engine)
        results[device] = {
            name: {"us": 1e6 * seconds, "ns_per_vertex": 1e9 * seconds / sim.vertices}
            for name, seconds in times.items()
            if seconds * 1e9 / sim.vertices > 0.01  # stages that launch nothing in this scene
        }
    return results


def frame() -> dict[str, Any]:
    """Host work per frame: Python's share of a frame, and kernel launches from Python after the first frame."""
    results: dict[str, Any] = {}
    for device in devices():
        sim = Simulation(ball_scene(5), device=device)
        sim.step()
        launches = 0
        launch = wp.launch

        def counted(*args: Any, _launch: Any = launch, **kwargs: Any) -> Any:
            nonlocal launches
            launches += 1
            return _launch(*args, **kwargs)

        wp.launch = counted
        try:
            whole = best_time(sim.step, device)
        finally:
            wp.launch = launch
        graph = best_time(sim.engine.run, device)
        results[device] = {
            "frame_ms": 1e3 * whole,
            "graph_ms": 1e3 * graph,
            "host_share": max(0.0, 1.0 - graph / whole),
            "launches_from_python": launches,
        }
    return results
