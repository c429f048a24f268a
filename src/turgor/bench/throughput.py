"""How many vertices are advanced per second (Mvs/s: million vertex-substeps per second), and what limits it."""

from __future__ import annotations

import warp as wp

from turgor import gallery
from turgor.bench.host_work import recorded_launches, watched
from turgor.bench.measure import ball_scene, best_time, frame_rate, million_vertex_substeps, simulated, spread, timed
from turgor.bench.suite import Options, Row, Tables
from turgor.scene import Scene
from turgor.simulation.simulation import Simulation
from turgor.simulation.step.profile import stage_times

__all__ = ["copy_bandwidth", "frame", "stages", "substep_bytes", "throughput"]

LARGEST = {"cpu": 7, "cuda": 9}  # subdivisions: 163,842 and 2,621,442 vertices
FRAMES = 30  # whose host work is counted: a GPU is looked at once in as many
COPIED = {"cpu": 2**28, "cuda": 2**30}  # bytes: more than caches hold


def throughput(options: Options) -> Tables:
    """One ball of 162 to 163,842 vertices on the CPU, to 2.6 million on a GPU, and four of those."""
    tables: Tables = {}
    for device in options.devices:
        kind = device.partition(":")[0]
        size = 2**22 if options.quick else COPIED[kind]
        copied = copy_bandwidth(device, size, options)
        moved = substep_bytes(_built(4, device))
        rate = frame_rate(ball_scene(2), device)
        rows = []
        for subdivisions in range(2, 4 if options.quick else LARGEST[kind] + 1):
            fps = rate * 2 ** (subdivisions - 2)  # edges and masses of vertices: half as long, a quarter
            rows.append(million_vertex_substeps(ball_scene(subdivisions), device, options=options, fps=fps))
        if kind == "cuda" and not options.quick:  # four of them, in worlds of their own
            rows.append(million_vertex_substeps(ball_scene(LARGEST[kind]), device, 4, options, fps))
        for row in rows:
            row["gb_per_s"] = row["mvs_per_s"]["median"] * moved / 1e3
            row["share_of_copy"] = row["gb_per_s"] / copied["median"]
        tables[f"{device}: one ball"] = rows
        tables[f"{device}: memory"] = [{"bytes": size, "gb_per_s": copied, "bytes_per_vertex_and_substep": moved}]
    return tables


def _built(subdivisions: int, device: str) -> Simulation:
    sim = simulated(ball_scene(subdivisions), device, fps=6000.0)
    sim.step()
    return sim


def copy_bandwidth(device: str, size: int, options: Options) -> Row:
    """GB/s of copying an array within a device: bytes that are read and bytes that are written."""
    source, target = (wp.zeros(size // 4, dtype=float, device=device) for _ in range(2))
    times = timed(lambda: wp.copy(target, source), device, options.seconds, options.least)
    return spread(2.0 * size / seconds / 1e9 for seconds in times)


def substep_bytes(sim: Simulation) -> float:
    """Bytes per vertex that a substep of one large body moves, without contact: each array that a kernel names, once.

    So an array that is both read and written counts once, and one that is named and not needed counts too. Kernels
    with one thread or block work for the body, and short arrays are about it: they are left out.
    """
    with watched() as work:
        sim.engine.substep(sim.engine.fused.run)
    arrays = [
        {argument.ptr: argument for argument in arguments if isinstance(argument, wp.array)}
        for _, count, arguments in work.launches
        if count > 1
    ]
    sizes = [array.size * wp.types.type_size_in_bytes(array.dtype) for named in arrays for array in named.values()]
    return float(sum(size for size in sizes if size >= sim.vertices)) / sim.vertices


def stages(options: Options) -> Tables:
    """Time of each stage of a substep at 10,242 vertices, in microseconds and nanoseconds per vertex."""
    tables: Tables = {}
    for device in options.devices:
        sim = simulated(ball_scene(2 if options.quick else 5), device)
        for _ in range(3):
            sim.step()
        tables[f"{device}: {sim.vertices:,} vertices"] = [
            {"stage": name, "us": 1e6 * seconds, "ns_per_vertex": 1e9 * seconds / sim.vertices}
            for name, seconds in stage_times(sim.engine).items()
            if seconds * 1e9 / sim.vertices > 0.01  # stages that launch nothing in this scene
        ]
    return tables


def frame(options: Options) -> Tables:
    """Host work per frame: Python's share of the time; launches, looks at device arrays, new arrays."""
    tables: Tables = {}
    for device in options.devices:
        scenes = {"one ball": ball_scene(2 if options.quick else 5)}
        if not options.quick:
            scenes |= {name: gallery.load(name) for name in ("drop", "five-balls", "pile")}
        tables[device] = [_host_row(name, scene, device, options) for name, scene in scenes.items()]
    return tables


def _host_row(name: str, scene: Scene, device: str, options: Options) -> Row:
    sim = simulated(scene, device, options.threads)
    recorded = recorded_launches(sim)
    for _ in range(2):
        sim.step()
    times = timed(sim.step, device, options.seconds, options.least)
    graph = best_time(sim.engine.replay.run, device, options.seconds, options.least)
    sim.engine.replay.look()
    with watched() as work:
        for _ in range(FRAMES):
            sim.step()
    return {
        "scene": name,
        "vertices": sim.vertices,
        "frame_ms": spread(1e3 * seconds for seconds in times),
        "host_share": max(0.0, 1.0 - graph / min(times)),
        "launches_per_frame": len(work.launches) / FRAMES,
        "replays_per_frame": work.replays / FRAMES,
        "looks_per_frame": work.looks / FRAMES,
        "arrays_per_frame": work.arrays / FRAMES,
        "kernels_in_the_graph": recorded,
    }
