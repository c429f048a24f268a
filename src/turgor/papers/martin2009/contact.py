"""Martin 2009, sections 5.2 and 6.5: collision particles against the features method, measured by plain geometry."""

from __future__ import annotations

import functools
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from turgor.diagnose import penetration
from turgor.papers.drawing.plot import Curve, chart
from turgor.papers.martin2009.benchmarks import paper_scene, touching_pairs, with_skin
from turgor.papers.report.blocks import Block, Svg, Table, Text
from turgor.simulation.simulation import Simulation

__all__ = ["WAYS", "Found", "blocks", "compare"]

FEATURES, THIN, SKIN, PAPER = "features", "particles, thin skin", "particles, paper's skin", "as in the paper"
#: Contact method, and whether all soft bodies have the paper's skin (else turgor's, 5 % of an edge).
WAYS: dict[str, tuple[str, bool]] = {
    FEATURES: ("features", False),
    THIN: ("particles", False),
    SKIN: ("particles", True),
    PAPER: ("particles-martin", True),
}
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
    """What was measured of one scene in one of the ways."""

    times: tuple[float, ...]  # s, of the frames checked
    depths: tuple[float, ...]  # m, the deepest vertex of any body in any other
    inside: int  # vertices inside another body, summed over the frames checked
    alone: int  # of these, without a contact of the two bodies within an edge length
    pierced: int  # most edges through faces at once
    overlapping: int  # pairs of bodies that were in each other, summed over the frames
    missed: int  # of these, without any contact
    gap: float  # m between the surfaces of bodies that touch and are not in each other, median
    contacts: float  # between bodies, mean per frame in which some touch
    cost: float  # s of processor time per frame in which some touch or are in each other, median


@functools.cache
def compare(name: str, coarse: bool, keep: tuple[str, ...], way: str, seconds: float, every: int) -> Found:
    """Runs the scene and checks each `every`-th frame, without pairs of rigid bodies, which have their own solver."""
    method, thick = WAYS[way]
    scene = paper_scene(name, keep, coarse)
    sim = Simulation(with_skin(scene) if thick else scene, contact=method)
    sim.prepare()
    layout = sim.layout
    rigid = {body.name for body in layout.bodies if body.kind == "rigid"}
    times, depths, costs, counts, gaps = [], [], [], [], []
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
        bodies = penetration.surfaces(layout, sim.frame())
        apart = set(touching)
        for a, b in penetration.touching_boxes(bodies):
            pair = frozenset((a.name, b.name))
            if pair <= rigid or not (found := penetration.overlap(a, b)):
                continue
            apart.discard(pair)
            points = contacts.points[[frozenset(names) == pair for names in contacts.pairs]]
            deepest, through = max(deepest, found.depth), through + found.pierced
            overlapping, missed = overlapping + 1, missed + (pair not in touching)
            inside, alone = inside + len(found.places), alone + _without(found.places, points, _edge(a, b))
        times.append(sim.time)
        depths.append(deepest)
        pierced = max(pierced, through)
        gaps += [_gap(*(body for body in bodies if body.name in pair)) for pair in apart]
        if touching:
            counts.append(sum(frozenset(names) in touching for names in contacts.pairs))
    return Found(
        tuple(times), tuple(depths), inside, alone, pierced, overlapping, missed, _middle(gaps),
        float(np.mean(counts)) if counts else 0.0, _middle(costs),
    )  # fmt: skip


def _middle(values: Sequence[float]) -> float:
    return float(np.median(values)) if values else float("nan")


def _gap(a: penetration.Surface, b: penetration.Surface) -> float:
    """m: least distance of a vertex of either from the other's surface."""
    pairs = ((a, b), (b, a))
    return min(float(penetration.distances(one.points, other.corners).min()) for one, other in pairs)


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
        for way in WAYS:
            found = results[name, coarse, way] = compare(name, coarse, keep, way, seconds, every)
            rows.append(
                [
                    f"{name}, {'paper' if coarse else 'gallery'}" if way == FEATURES else "", way,
                    1e3 * max(found.depths), found.pierced,
                    _part(found.missed, found.overlapping), _part(found.alone, found.inside), 1e3 * found.gap,
                    found.contacts, 1e3 * found.cost,
                ]
            )  # fmt: skip
    header = [
        "scene, meshes of", "method", "deepest, mm", "edges", "pairs missed", "vertices alone", "gap, mm", "contacts",
        "ms",
    ]  # fmt: skip
    return [
        Text(
            "The paper finds the contacts of soft bodies with particles that wander over the surfaces to the nearest "
            "features of the other body, and warns that contacts are missed when they crowd together. turgor's own "
            "method (`features`) tests all features that are near each other and limits the movement."
        ),
        Text(
            "**As in the paper** (`--contact particles-martin`): an eighth as many particles as vertices, ten rounds "
            "per frame, and the paper's skin of 0.5 units where a ball has a radius of 3: a sixth of the radius. "
            "Beside it turgor's variant (`--contact particles`), which has at least 16 particles on a body and looks "
            "in every substep, with the paper's skin and with the thin one that `features` needs, 5 % of an edge."
        ),
        Table(
            header, rows,
            f"The first {seconds:g} s; every {every}th frame is checked with winding numbers and intersections of "
            "edges and triangles, which use no contact code. Deepest vertex in another body; most edges through "
            "faces at once; of the pairs of bodies in each other (summed over the frames) those for which no contact "
            "was found; of the vertices inside another body (summed) those without a contact within one edge length; "
            "gap between bodies that touch and are not in each other (median); contacts per frame; ms of "
            "processor time per frame in contact.",
        ),
        Svg(_depth_chart(results, cases[0][:2]), f"Deepest vertex in `{cases[0][0]}`, the paper's meshes."),
        _summary(results),
    ]  # fmt: skip


Results = dict[tuple[str, bool, str], Found]


def _summary(results: Results) -> Text:
    depth = {way: 1e3 * max(max(found.depths) for found in _of(results, way)) for way in WAYS}
    gaps = {way: [1e3 * found.gap for found in _of(results, way) if found.gap == found.gap] for way in WAYS}
    dry = sum(max(found.depths) == 0.0 for found in _of(results, PAPER))
    ratios = [found.cost / results[*key[:2], FEATURES].cost for key, found in results.items() if key[2] == PAPER]
    worst = max((key for key in results if key[2] == PAPER), key=lambda key: max(results[key].depths))
    where = f" (`{worst[0]}`, {'the paper' if worst[1] else 'the gallery'}'s meshes)" if depth[PAPER] else ""
    return Text(
        f"As in the paper no vertex is inside another body in {dry} of {len(ratios)} scenes; the deepest of all is "
        f"{depth[PAPER]:.0f} mm{where}. With at least 16 particles on a body it is {depth[SKIN]:.0f} mm, with features "
        f"{depth[FEATURES]:.0f} mm. With a thin skin, which is not the paper's, the same particles let "
        f"bodies {depth[THIN]:.0f} mm into each other. The paper's skin keeps bodies {min(gaps[PAPER]):.0f} to "
        f"{max(gaps[PAPER]):.0f} mm apart where they touch, features {min(gaps[FEATURES]):.0f} to "
        f"{max(gaps[FEATURES]):.0f} mm. As in the paper, a frame in contact takes {min(ratios):.2g} to "
        f"{max(ratios):.2g} times as long as with features.",
        "measured",
    )


def _of(results: Results, way: str) -> list[Found]:
    return [found for key, found in results.items() if key[2] == way]


def _part(part: int, whole: int) -> str:
    return f"{part:,} of {whole:,}" if whole else "–"


def _depth_chart(results: Results, case: Sequence[object]) -> str:
    curves = [
        Curve(way, found.times, [1e3 * depth for depth in found.depths], marks=True)
        for (name, coarse, way), found in results.items()
        if [name, coarse] == list(case)
    ]
    return chart(curves, "time, s", "deepest vertex, mm", height=260)
