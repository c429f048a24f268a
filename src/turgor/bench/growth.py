"""How cost grows with size: of a substep, and of the pressure force (figure 6 of Matyka & Ollila 2003)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from turgor import shapes
from turgor.bench.measure import devices, million_vertex_substeps, simulated, surface_scene
from turgor.bench.suite import Options, Tables
from turgor.simulation.simulation import Simulation
from turgor.simulation.step.profile import stage_times

__all__ = ["figure_6", "growth", "pressure", "pressure_seconds", "pressure_stages"]

SIZES = ((10, 16), (20, 50), (40, 50), (80, 50), (80, 100), (250, 400), (1000, 1000))  # stacks x slices of a torus


def growth(options: Options) -> Tables:
    """Time per vertex and substep of rings of 10,000, 100,000 and a million vertices (target S6: at most 2 times)."""
    tables: Tables = {}
    for device in options.devices:
        rows = []
        for side in (10, 32) if options.quick else (100, 316, 1000):
            shape = shapes.torus(radius=0.5, tube=0.2, stacks=side, slices=side)
            rows.append(million_vertex_substeps(surface_scene(shape), device, options=options))
        for row in rows:
            row["time_per_vertex_over_first"] = rows[0]["mvs_per_s"]["median"] / row["mvs_per_s"]["median"]
        tables[device] = rows
    return tables


def figure_6(options: Options) -> Tables:
    """Time of the pressure force against vertices (2003, figure 6; target S8: 0.1 ms at 8,000)."""
    sizes = ((10, 16), (80, 100)) if options.quick else SIZES
    found = pressure(sizes, options.devices)
    return {f"{device}: {result['stages']}": result["rows"] for device, result in found.items()}


def pressure(sizes: tuple[tuple[int, int], ...] = SIZES, where: Sequence[str] = ()) -> dict[str, Any]:
    """Time of the pressure force against vertices, as a simulation computes it (2003: 8,000 on an axis to 6 ms)."""
    results: dict[str, Any] = {}
    for device in where or devices():
        rows = []
        for stacks, slices in sizes:
            shape = shapes.torus(radius=0.5, tube=0.2, stacks=stacks, slices=slices)
            sim = simulated(surface_scene(shape), device)
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
