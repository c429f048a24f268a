"""What self-contact costs a body that does not touch itself: the ratio of frames with and without it, in one run."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from turgor import shapes
from turgor.bench.measure import in_turns, mean_frame, simulated, spread, surface_scene
from turgor.bench.suite import Options, Row, Tables
from turgor.scene import Scene
from turgor.shapes.shape import Shape
from turgor.simulation.simulation import Simulation

__all__ = ["body_scene", "list_work", "self_contact"]

SIZES = {"cpu": (1_000, 10_000, 100_000), "cuda": (1_000, 10_000, 100_000, 600_000)}
SUBSTEPS = 30  # per frame, automatic ones
VERTEX_SUBSTEPS = 8e6  # that a measurement takes, at least six frames
LANDING = 2.0  # m/s


def torus(vertices: int) -> Shape:
    """A ring of about so many vertices, edges about as long along it as around it."""
    stacks = max(6, round(math.sqrt(vertices / 2.5)))
    return shapes.torus(radius=0.4, tube=0.15, stacks=stacks, slices=round(vertices / stacks))


def ball(vertices: int) -> Shape:
    """The icosphere whose number of vertices is nearest."""
    return shapes.icosphere(radius=0.4, subdivisions=round(math.log(vertices / 10.0, 4.0)))


def body_scene(shape: Shape, *, self_contact: bool, landing: bool) -> Scene:
    """One body that flies, or that hits the floor at once."""
    scene = surface_scene(shape)
    lowest = -float(shape.vertices[:, 2].min())
    at = (0.0, 0.0, lowest + (1e-3 if landing else 1.0))
    velocity = (0.0, 0.0, -LANDING if landing else 0.0)
    for name, value in (("at", at), ("velocity", velocity), ("self_contact", self_contact)):
        scene.set(f"ball.{name}", value)
    return scene


def list_work(sim: Simulation) -> dict[str, int]:
    """What contact of one body with itself has done so far, counted on the device.

    Lists, pairs of patches compared for these, candidates now, substeps that went through contact.
    """
    assert sim.engine.split is not None
    method: Any = sim.engine.split.method
    renewals, compared = method.lists.self_lists.list_work.numpy().tolist()
    return {
        "renewals": renewals, "compared": compared,
        "candidates": int(method.lists.candidates.candidate_count.numpy()[0]),
        "contact_substeps": int(method.lists.watch.contact_substeps.numpy()[0]),
    }  # fmt: skip


def self_contact(options: Options) -> Tables:
    """Time per substep with self-contact over that without: a ball and a ring that touch only the floor."""
    tables: Tables = {}
    for device in options.devices:
        sizes = (1_000,) if options.quick else SIZES[device.partition(":")[0]]
        for maker in (ball, torus):
            for landing in (False, True):
                title = f"{device}: {maker.__name__} {'landing' if landing else 'flying'}"
                tables[title] = [_row(maker(size), device, options, landing=landing) for size in sizes]
    return tables


def _row(shape: Shape, device: str, options: Options, *, landing: bool) -> Row:
    planner = simulated(body_scene(shape, self_contact=False, landing=landing), device, fps=6000.0)
    planner.step()
    fps = 1.0 / (SUBSTEPS * float(planner.engine.scratch.step_bound.numpy().min()))
    sims = {
        own: simulated(body_scene(shape, self_contact=own == "with", landing=landing), device, options.threads, fps=fps)
        for own in ("without", "with")
    }
    substeps = dict.fromkeys(sims, 0)

    def per_substep(own: str) -> float:
        seconds = mean_frame(sims[own], 1)
        substeps[own] += sims[own].substeps
        return seconds / sims[own].substeps

    for sim in sims.values():
        sim.step()
    rounds = 2 if options.quick else max(6, round(VERTEX_SUBSTEPS / (SUBSTEPS * len(shape.vertices))))
    times = in_turns({own: partial(per_substep, own) for own in sims}, rounds)
    work = list_work(sims["with"])
    return {
        "vertices": sims["with"].vertices, "substeps": substeps["with"],
        "without_us": spread(1e6 * seconds for seconds in times["without"]),
        "with_us": spread(1e6 * seconds for seconds in times["with"]),
        "ratio": sum(times["with"]) / sum(times["without"]),
        "lists": work["renewals"], "contact_substeps": work["contact_substeps"],
    }  # fmt: skip
