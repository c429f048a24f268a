"""What contact costs: against the rest of a frame, stage by stage, and against real time."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from turgor import gallery, shapes
from turgor.bench.measure import in_turns, mean_frame, now, ratios, simulated, spread
from turgor.bench.suite import Options, Tables
from turgor.contact.features.method import FeatureContacts
from turgor.scene import Gas, Scene, Springs

__all__ = ["contact", "heap", "pile", "realtime"]

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


def contact(options: Options) -> Tables:
    """Frames with contact over frames without, in turns (target S5: at most 2).

    The ratios are per substep: bodies that fall into each other are squashed more, and may ask for more of them.
    """
    tables: Tables = {}
    for device in options.devices:
        piled = gallery.load("pile")
        cases: list[tuple[str, Scene, tuple[str, ...], dict[str, Any], int]] = [
            ("heap of 50 balls", heap(2 if options.quick else 5), METHODS, {"substeps": 16}, 60),
            ("pile", piled, METHODS[:2], {}, 60),
        ]
        for title, scene, methods, settings, landed in cases[: 1 if options.quick else 2]:
            sims = {name: simulated(scene, device, options.threads, contact=name, **settings) for name in methods}
            for sim in sims.values():
                for _ in range(5 if options.quick else landed):
                    sim.step()
            frames = 1 if options.quick else 5
            actions = {name: partial(mean_frame, sim, frames) for name, sim in sims.items()}
            times = in_turns(actions, min(options.rounds, 5))
            per_substep = {name: [seconds / sims[name].substeps for seconds in times[name]] for name in methods}
            tables[f"{device}: {title}"] = [
                {
                    "contact": name,
                    "frame_ms": spread(1e3 * seconds for seconds in times[name]),
                    "over_none": ratios(per_substep[name], per_substep["none"]),
                    "contacts": sims[name].contacts().count,
                    "substeps": sims[name].substeps,
                }
                for name in methods
            ]
    return tables


def realtime(options: Options) -> Tables:
    """Simulated over wall seconds of gallery scenes: over their whole length, and in their slowest second."""
    tables: Tables = {}
    for device in options.devices:
        rows = []
        for name in SCENES[:1] if options.quick else SCENES:
            sim = simulated(gallery.load(name), device, options.threads)
            sim.step()
            fps = sim.settings.fps
            whole = 2 if options.quick else int(sim.settings.seconds)
            seconds = [mean_frame(sim, 1 if options.quick else round(fps)) for _ in range(whole)]
            rows.append({
                "scene": name,
                "vertices": sim.vertices,
                "substeps": sim.substeps,
                "frame_ms": spread(1e3 * wall for wall in seconds),
                "realtime_factor": len(seconds) / fps / sum(seconds),
                "slowest_second": 1.0 / fps / max(seconds),
            })  # fmt: skip
        tables[device] = rows
    return tables


def pile(options: Options) -> Tables:
    """Milliseconds per frame of each stage of `pile` once the heap is at rest (CPU; stages are launched one by one)."""
    sim = simulated(gallery.load("pile"))
    for _ in range(2 if options.quick else round(2.0 * sim.settings.fps)):
        sim.step()
    step, split = sim.engine, sim.engine.split
    assert split is not None
    spent: dict[str, float] = {}
    inside: list[float] = []

    def watch(owner: Any, name: str, title: str) -> None:
        action: Callable[..., Any] = getattr(owner, name)

        def timed(*args: Any, **kwargs: Any) -> Any:
            start = now()
            inside.append(0.0)
            result = action(*args, **kwargs)
            wall = now() - start
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
    frames = 1 if options.quick else 5
    start = now()
    for _ in range(frames):
        step.frame()
    spent["whole frame"] = now() - start
    whole = spent["whole frame"]
    rows = [
        {"stage": title, "ms": 1e3 * seconds / frames, "share": seconds / whole}
        for title, seconds in sorted(spent.items(), key=lambda item: -item[1])
    ]
    return {f"cpu: {sim.substeps} substeps, {sim.contacts().count} contacts": rows}
