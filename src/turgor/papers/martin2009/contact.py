"""Martin 2009, sections 5.2 and 6.5: collision particles against the features method, measured by plain geometry."""

from __future__ import annotations

import functools
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from turgor.diagnose import penetration
from turgor.papers.drawing.plot import Curve, chart
from turgor.papers.martin2009.benchmarks import paper_scene, touching_pairs
from turgor.papers.report.blocks import Block, Svg, Table, Text
from turgor.simulation.simulation import Simulation

__all__ = ["METHODS", "Found", "blocks", "compare"]

METHODS = ("features", "particles")
#: Scene, the paper's meshes instead of the gallery's, and which bodies of it.
CASES: tuple[tuple[str, bool, tuple[str, ...]], ...] = (
    ("two-spheres", True, ()),
    ("three-spheres", True, ()),
    ("sphere-in-torus", True, ()),
    ("torus-and-cubes", True, ("torus", "cube-1", "cube-2", "cube-3", "cube-4")),
    ("two-spheres", False, ()),
    ("sphere-in-torus", False, ()),
    ("cat-and-sphere", False, ()),
)
QUICK = (0, 2)


@dataclass(frozen=True)
class Found:
    """What was measured of one scene with one contact method."""

    times: tuple[float, ...]  # s, of the frames checked
    depths: tuple[float, ...]  # m, the deepest vertex of any body in any other
    inside: int  # vertices inside another body, summed over the frames checked
    alone: int  # of these, without a contact of the two bodies within an edge length
    pierced: int  # most edges through faces at once
    overlapping: int  # pairs of bodies that were in each other, summed over the frames
    missed: int  # of these, without any contact
    contacts: float  # between bodies, mean per frame in which some touch
    cost: float  # s of processor time per frame in which some touch or are in each other, median


@functools.cache
def compare(name: str, coarse: bool, keep: tuple[str, ...], method: str, seconds: float, every: int) -> Found:
    """Runs the scene and checks each `every`-th frame, without pairs of rigid bodies, which have their own solver."""
    sim = Simulation(paper_scene(name, keep, coarse), contact=method)
    sim.prepare()
    layout = sim.layout
    rigid = {body.name for body in layout.bodies if body.kind == "rigid"}
    times, depths, costs, counts = [], [], [], []
    inside = alone = pierced = overlapping = missed = 0
    for number in range(1, round(seconds * sim.settings.fps) + 1):
        begin = time.thread_time()
        sim.step()
        cost = time.thread_time() - begin
        touching = {pair for pair in touching_pairs(sim) if not pair <= rigid}
        if touching:
            costs.append(cost)
        if number % every:
            continue
        contacts = sim.contacts()
        deepest, through = 0.0, 0
        for a, b in penetration.touching_boxes(penetration.surfaces(layout, sim.frame())):
            pair = frozenset((a.name, b.name))
            if pair <= rigid or not (found := penetration.overlap(a, b)):
                continue
            points = contacts.points[[frozenset(names) == pair for names in contacts.pairs]]
            deepest, through = max(deepest, found.depth), through + found.pierced
            overlapping, missed = overlapping + 1, missed + (pair not in touching)
            inside, alone = inside + len(found.places), alone + _without(found.places, points, _edge(a, b))
        times.append(sim.time)
        depths.append(deepest)
        pierced = max(pierced, through)
        if touching:
            counts.append(sum(frozenset(names) in touching for names in contacts.pairs))
    return Found(
        tuple(times), tuple(depths), inside, alone, pierced, overlapping, missed,
        float(np.mean(counts)) if counts else 0.0, float(np.median(costs)) if costs else float("nan"),
    )  # fmt: skip


def _edge(*bodies: penetration.Surface) -> float:
    """m: mean edge of the coarser surface."""
    return max(float(np.linalg.norm(np.diff(body.points[body.edges], axis=1), axis=2).mean()) for body in bodies)


def _without(places: penetration.FloatArray, points: penetration.FloatArray, reach: float) -> int:
    """How many of the places have none of the points within reach."""
    if not len(points):
        return len(places)
    return int((np.linalg.norm(places[:, None] - points, axis=2).min(axis=1, initial=np.inf) > reach).sum())


def blocks(quick: bool) -> list[Block]:
    """Section 5.2 of the report."""
    cases = [CASES[number] for number in QUICK] if quick else CASES
    seconds, every = (0.8, 6) if quick else (1.2, 4)
    rows, results = [], {}
    for name, coarse, keep in cases:
        for method in METHODS:
            found = results[name, coarse, method] = compare(name, coarse, keep, method, seconds, every)
            rows.append(
                [
                    name, "paper" if coarse else "gallery", method, 1e3 * max(found.depths),
                    found.pierced, found.overlapping, found.missed, found.inside, found.alone, found.contacts,
                    1e3 * found.cost,
                ]
            )  # fmt: skip
    header = ["scene", "mesh", "method", "deepest, mm", "edges", "pairs", "missed", "inside", "alone", "contacts", "ms"]
    return [
        Text(
            "The paper finds the contacts of soft bodies with particles that wander over the surfaces to the nearest "
            "features of the other body, an eighth as many as there are vertices, and warns that contacts are missed "
            "when particles crowd together. turgor has this method (`--contact particles`) and, as its default, one "
            "that tests all features that are near each other and limits the movement (`features`)."
        ),
        Table(
            header, rows,
            f"The first {seconds:g} s; every {every}th frame is checked with winding numbers and intersections of "
            "edges and triangles, which use no contact code. Deepest vertex in another body; most edges through "
            "faces at once; pairs of bodies in each other (summed over the frames) and those of them for which no "
            "contact was found; vertices inside another body (summed) and those without a contact within one edge "
            "length; contacts per frame; ms of processor time per frame in contact.",
        ),
        Svg(_depth_chart(results, cases[0][:2]), f"Deepest vertex in `{cases[0][0]}`, the paper's meshes."),
        _summary(results),
    ]  # fmt: skip


def _summary(results: dict[tuple[str, bool, str], Found]) -> Text:
    depth = {
        method: 1e3 * max(max(found.depths) for key, found in results.items() if key[2] == method) for method in METHODS
    }
    lost = [found for key, found in results.items() if key[2] == "particles"]
    overlapping, missed = sum(found.overlapping for found in lost), sum(found.missed for found in lost)
    inside, alone = sum(found.inside for found in lost), sum(found.alone for found in lost)
    ratios = [
        found.cost / results[*key[:2], "features"].cost for key, found in results.items() if key[2] == "particles"
    ]
    return Text(
        f"With features the deepest vertex is {depth['features']:.2g} mm inside another body, with particles "
        f"{depth['particles']:.3g} mm. Of {overlapping} cases of two bodies in each other, particles found no contact "
        f"at all in {missed}; of {inside} vertices inside another body, {alone} ({_percent(alone, inside)}) had no "
        f"contact near them. A frame in contact takes {min(ratios):.2g} to {max(ratios):.2g} times as long with "
        "particles.",
        "measured",
    )


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "none"


def _depth_chart(results: dict[tuple[str, bool, str], Found], case: Sequence[object]) -> str:
    curves = [
        Curve(method, found.times, [1e3 * depth for depth in found.depths], marks=True)
        for (name, coarse, method), found in results.items()
        if [name, coarse] == list(case)
    ]
    return chart(curves, "time, s", "deepest vertex, mm", height=260)
