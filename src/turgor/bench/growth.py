"""How cost grows with size: of a substep, and of the pressure force (figure 6 of Matyka & Ollila 2003)."""

from __future__ import annotations

from typing import Any

from turgor import shapes
from turgor.bench.measure import devices, million_vertex_substeps, surface_scene
from turgor.simulation.simulation import Simulation
from turgor.simulation.step.profile import stage_times

__all__ = ["growth", "pressure", "pressure_seconds", "pressure_stages"]

SIZES = ((10, 16), (20, 50), (40, 50), (80, 50), (80, 100), (250, 400), (1000, 1000))  # stacks x slices of a torus


def growth() -> dict[str, Any]:
    """Time per vertex and substep at a million vertices against ten thousand (target: at most 2 times)."""
    results: dict[str, Any] = {}
    for device in devices():
        rows = []
        for side in (100, 316, 1000):
            shape = shapes.torus(radius=0.5, tube=0.2, stacks=side, slices=side)
            rows.append(million_vertex_substeps(surface_scene(shape), device))
        ratio = rows[0]["mvs_per_s"] / rows[-1]["mvs_per_s"]
        results[device] = {"rows": rows, "time_per_vertex_ratio": ratio, "target": 2.0}
    return results


def pressure(sizes: tuple[tuple[int, int], ...] = SIZES) -> dict[str, Any]:
    """Time of the pressure force against vertices, as a simulation computes it (2003: 8,000 on an axis to 6 ms)."""
    results: dict[str, Any] = {}
    for device in devices():
        rows = []
        for stacks, slices in sizes:
            shape = shapes.torus(radius=0.5, tube=0.2, stacks=stacks, slices=slices)
            sim = Simulation(surface_scene(shape), device=device)
            ms = 1e3 * pressure_seconds(sim)
            rows.append({"vertices": sim.vertices, "ms": ms, "ns_per_vertex": 1e6 * ms / sim.vertices})
            stages = " + ".join(pressure_stages(sim))
        at_8000 = next(row["ms"] for row in rows if row["vertices"] == 8000)
        results[device] = {"rows": rows, "stages": stages, "ms_at_8000": at_8000, "target": 0.1}
    return results


def pressure_stages(sim: Simulation) -> tuple[str, ...]:
    """The stages of a substep that make the pressure force: volume, pressure, force on each point.

    Where a simulation gathers (on a GPU) one pass over the vertices adds springs and faces: the springs are in it.
    """
    return ("gather", "gas") if sim.engine.forces.gathers else ("faces", "gas")


def pressure_seconds(sim: Simulation) -> float:
    """Seconds of these stages, once."""
    times = stage_times(sim.engine)
    return sum(times[stage] for stage in pressure_stages(sim))
