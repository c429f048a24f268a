"""How long it takes from a scene to a simulation that is ready to step."""

from __future__ import annotations

from turgor import gallery
from turgor.bench.measure import ball_scene, now, simulated, spread
from turgor.bench.suite import Options, Row, Tables
from turgor.scene import Scene

__all__ = ["build"]

#: (scene of the gallery, or subdivisions of one ball; worlds)
CASES: dict[str, tuple[tuple[str | int, int], ...]] = {
    "cpu": (("drop", 1_024), ("five-balls", 256), ("pile", 1), (7, 1)),
    "cuda": (("drop", 4_096), ("five-balls", 1_024), ("pile", 64), (8, 1)),
}
RUNS = 3


def build(options: Options) -> Tables:
    """Seconds to build scenes: many worlds of `drop` and `five-balls`, `pile`, one large ball."""
    tables: Tables = {}
    for device in options.devices:
        cases = (("drop", 2), (2, 1)) if options.quick else CASES[device.partition(":")[0]]
        tables[device] = [_row(what, worlds, device, options) for what, worlds in cases]
    return tables


def _row(what: str | int, worlds: int, device: str, options: Options) -> Row:
    """Building makes the arrays; preparing records the frame. Kernels are compiled before."""
    made: list[float] = []
    prepared: list[float] = []
    scene: Scene = gallery.load(what) if isinstance(what, str) else ball_scene(what)
    simulated(scene, device, options.threads).prepare()
    for _ in range(1 if options.quick else RUNS):
        begin = now(device)
        sim = simulated(scene, device, options.threads, worlds=worlds)
        made.append(now(device) - begin)
        sim.prepare()
        prepared.append(now(device) - begin - made[-1])
        vertices = sim.vertices * worlds
        del sim
    name = what if isinstance(what, str) else "one ball"
    return {
        "scene": name, "worlds": worlds, "vertices": vertices, "build_s": spread(made), "prepare_s": spread(prepared),
    }  # fmt: skip
