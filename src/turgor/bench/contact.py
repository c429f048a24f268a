"""What contact costs: against the rest of a frame, stage by stage, and against real time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import warp as wp

from turgor import gallery, shapes
from turgor.bench.measure import devices
from turgor.contact.features.method import FeatureContacts
from turgor.scene import Gas, Scene, Springs
from turgor.simulation.simulation import Simulation

__all__ = ["contact", "pile", "realtime"]

METHODS = ("none", "features", "particles", "bounding")
SCENES = ("five-balls", "two-spheres", "hand-and-ball", "cat-and-sphere", "pile")


def heap(side: int = 5, layers: int = 2) -> Scene:
    """Balls of 162 vertices that fall into a box and come to rest on each other, all touching their neighbours."""
    scene = Scene(name="heap")
    size = 0.75 * side
    scene.add_container(size=(size, size, 4.0), at=(size / 2, size / 2, 2.0), friction=0.5)
    ball = shapes.icosphere(radius=0.3, subdivisions=2)
    for k in range(layers):
        for i in range(side):
            for j in range(side):
                place = (0.375 + 0.75 * i, 0.375 + 0.75 * j + 0.01 * k, 0.4 + 0.75 * k)
                gas = Gas.at(gauge=100.0, ambient=1000.0)
                scene.add_soft_body(ball, at=place, springs=Springs(150.0, 1.0), gas=gas, settled=True, drag=1.0)
    return scene


def mean_frame(sim: Simulation, frames: int) -> float:
    """Seconds per frame; the contacts change from frame to frame, so the mean is meant, not the best."""
    wp.synchronize_device(sim.device)
    start = time.perf_counter()
    for _ in range(frames):
        sim.step()
    wp.synchronize_device(sim.device)
    return (time.perf_counter() - start) / frames


def contact() -> dict[str, Any]:
    """Frames of a heap of 50 balls, with and without contact between bodies, at the same number of substeps."""
    results: dict[str, Any] = {}
    for device in devices():
        row: dict[str, Any] = {}
        sims = {method: Simulation(heap(), device, contact=method, substeps=16) for method in METHODS}
        for sim in sims.values():
            for _ in range(60):
                sim.step()
        for method, sim in sims.items():
            row[f"{method}_ms"] = 1e3 * min(mean_frame(sim, 10) for _ in range(3))
        for method in METHODS[1:]:
            row[f"{method}_over_none"] = row[f"{method}_ms"] / row["none_ms"]
        row["contacts"] = sims["features"].contacts().count
        results[device] = row
    return results


def realtime() -> dict[str, Any]:
    """Simulated over wall seconds of gallery scenes: over their whole length, and in their slowest second."""
    results: dict[str, Any] = {}
    for name in SCENES:
        sim = Simulation(gallery.load(name))
        sim.step()
        fps = sim.settings.fps
        seconds = [mean_frame(sim, round(fps)) for _ in range(int(sim.settings.seconds))]
        wall = sum(seconds) / len(seconds)
        results[name] = {
            "frame_ms": 1e3 * wall,
            "realtime_factor": 1.0 / fps / wall,
            "slowest_second": 1.0 / fps / max(seconds),
            "substeps": sim.substeps,
            "vertices": sim.vertices,
        }
    return results


def pile() -> dict[str, Any]:
    """Milliseconds per frame of each stage of `pile` once the heap is at rest (CPU; stages are launched one by one)."""
    sim = Simulation(gallery.load("pile"))
    for _ in range(round(2.0 * sim.settings.fps)):
        sim.step()
    step, split = sim.engine, sim.engine.split
    assert split is not None
    spent: dict[str, float] = {}
    inside: list[float] = []

    def watch(owner: Any, name: str, title: str) -> None:
        action: Callable[..., Any] = getattr(owner, name)

        def timed(*args: Any, **kwargs: Any) -> Any:
            start = time.perf_counter()
            inside.append(0.0)
            result = action(*args, **kwargs)
            wall = time.perf_counter() - start
            spent[title] = spent.get(title, 0.0) + wall - inside.pop()
            if inside:
                inside[-1] += wall
            return result

        setattr(owner, name, timed)

    watch(step, "plan", "plan")
    watch(step.forces, "evaluate", "forces")
    for name in ("kick", "meet_walls", "move"):
        watch(split, name, name.replace("_", " "))
    features, rigid = split.method, split.rigid_contacts
    assert isinstance(features, FeatureContacts)
    lists = features.lists
    watch(lists.motion, "measure", "measure motion")
    for name in ("collect", "renew", "search_all"):
        watch(lists, name, "candidates")
    watch(lists, "mark_star_shaped", "self-contact check")
    for name, title in (("find", "contacts"), ("solve", "impulses"), ("finish", "impulses"), ("sweep", "sweep")):
        watch(features, name, title)
    for name in ("find", "warm_start", "solve", "push", "store"):
        watch(rigid, name, "rigid contacts")
    frames = 5
    start = time.perf_counter()
    for _ in range(frames):
        step.frame()
    whole = (time.perf_counter() - start) / frames
    row = {title: 1e3 * seconds / frames for title, seconds in sorted(spent.items(), key=lambda item: -item[1])}
    return {"stages_ms": row, "frame_ms": 1e3 * whole, "substeps": sim.substeps, "contacts": sim.contacts().count}
