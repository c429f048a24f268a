"""Many worlds at once: a ball on a floor in each, five balls that tumble over each other, a pile."""

from __future__ import annotations

from typing import Any

from turgor import gallery
from turgor.bench.measure import ball_scene, mean_frame, million_vertex_substeps, simulated, spread
from turgor.bench.suite import Options, Row, Tables

__all__ = ["contact_row", "worlds"]

BALLS = {"cpu": (1, 4, 16, 64, 256, 1_024, 4_096), "cuda": (1, 16, 64, 256, 1_024, 4_096, 16_384)}
SCENES: dict[str, dict[str, tuple[int, ...]]] = {
    "five-balls": {"cpu": (1, 4, 16, 64), "cuda": (1, 16, 64, 256, 1_024, 4_096)},
    "pile": {"cpu": (1,), "cuda": (1, 8, 64)},
}
LANDED, BLOCK = 2.0, 10  # s: from when on frames are timed; frames of a run


def worlds(options: Options) -> Tables:
    """1 to 4,096 worlds (16,384 on a GPU) of a ball of 162 vertices, and worlds of scenes with contact."""
    tables: Tables = {}
    for device in options.devices:
        kind = device.partition(":")[0]
        counts = (1, 3) if options.quick else BALLS[kind]
        tables[f"{device}: worlds x 162 vertices"] = [
            {"worlds": count, **million_vertex_substeps(ball_scene(2), device, count, options)} for count in counts
        ]
        for name in ("five-balls",) if options.quick else SCENES:
            some = (1, 2) if options.quick else SCENES[name][kind]
            tables[f"{device}: worlds x {name}"] = [contact_row(name, device, count, options) for count in some]
    return tables


def contact_row(name: str, device: str, count: int, options: Options, **settings: Any) -> Row:
    """Frames of worlds of a scene of the gallery, once its bodies have landed."""
    sim = simulated(gallery.load(name), device, options.threads, worlds=count, **settings)
    for _ in range(2 if options.quick else round(LANDED * sim.settings.fps)):
        sim.step()
    substeps = sim.substeps
    times = [mean_frame(sim, 1 if options.quick else BLOCK) for _ in range(min(options.rounds, 5))]
    vertices = sim.vertices * count
    return {
        "worlds": count,
        "vertices": vertices,
        "substeps": substeps,
        "frame_ms": spread(1e3 * seconds for seconds in times),
        "mvs_per_s": spread(vertices * substeps / seconds / 1e6 for seconds in times),
        "world_frames_per_s": spread(count / seconds for seconds in times),
    }
