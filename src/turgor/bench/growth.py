"""How cost grows with size: of a substep, and of the pressure force (figure 6 of Matyka & Ollila 2003)."""

from __future__ import annotations

from typing import Any

from turgor import shapes
from turgor.bench.measure import devices, million_vertex_substeps, surface_scene
from turgor.simulation.simulation import Simulation
from turgor.simulation.step.profile import stage_times

__all__ = ["growth", "pressure"]

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
    """Time of the pressure force (volume, pressure, face forces) against vertices; 8000 took about 5 ms in 2003."""
    results: dict[str, Any] = {}
    for device in devices():
        rows = []
        for stacks, slices in sizes:
            shape = shapes.torus(radius=0.5, tube=0.2, stacks=stacks, slices=slices)
            sim = Simulation(surface_scene(shape), device=device, assembly="scatter")
            times = stage_times(sim.engine)
            rows.append({"vertices": sim.vertices, "ms": 1e3 * (times["faces"] + times["gas"])})
        at_8000 = next(row["ms"] for row in rows if row["vertices"] == 8000)
        results[device] = {"rows": rows, "ms_at_8000": at_8000, "target": 0.1, "paper_2003": 5.0}
    return results
