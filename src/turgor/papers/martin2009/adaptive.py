"""Martin 2009, section 7: the number of collision particles, which the paper leaves to future research, adapts."""

from __future__ import annotations

import functools
import time
from dataclasses import dataclass

import numpy as np

from turgor.diagnose import penetration
from turgor.papers.drawing.plot import Curve, chart
from turgor.papers.martin2009.benchmarks import paper_scene
from turgor.papers.report.blocks import Block, Svg, Table, Text
from turgor.simulation.simulation import Simulation

__all__ = ["METHODS", "Counted", "blocks", "counted"]

METHODS = ("particles", "particles-adaptive")
NAMES = {"particles": "fixed", "particles-adaptive": "adaptive"}
SCENES = ("two-spheres", "three-spheres", "sphere-in-torus")


@dataclass(frozen=True)
class Counted:
    """A scene with the paper's meshes and one of the methods, frame by frame."""

    times: tuple[float, ...]  # s
    particles: tuple[int, ...]  # of the pairs whose spheres meet
    depths: tuple[float, ...]  # m: deepest vertex of a body in another
    cost: float  # s of processor time per frame, mean


@functools.cache
def counted(name: str, method: str, seconds: float, every: int = 3) -> Counted:
    """Runs the scene; looks at each `every`-th frame."""
    sim = Simulation(paper_scene(name, (), True), contact=method)
    sim.prepare()
    times, numbers, depths, costs = [], [], [], []
    for frame in range(1, round(seconds * sim.settings.fps) + 1):
        begin = time.thread_time()
        sim.step()
        costs.append(time.thread_time() - begin)
        if frame % every:
            continue
        overlaps = (
            penetration.overlap(a, b)
            for a, b in penetration.touching_boxes(penetration.surfaces(sim.layout, sim.frame()))
        )
        times.append(sim.time)
        numbers.append(len(sim.collision_particles()["position"]))
        depths.append(max((found.depth for found in overlaps if found), default=0.0))
    return Counted(tuple(times), tuple(numbers), tuple(depths), float(np.mean(costs)))


def blocks(quick: bool) -> list[Block]:
    """Section 7 of the report."""
    seconds, scenes = (0.8, SCENES[:1]) if quick else (1.2, SCENES)
    found = {(name, method): counted(name, method, seconds) for name in scenes for method in METHODS}
    rows = [
        [name, NAMES[method], min(run.particles), max(run.particles), 1e3 * max(run.depths), 1e3 * run.cost]
        for (name, method), run in found.items()
    ]
    first = [found[scenes[0], method] for method in METHODS]
    curves = [Curve(NAMES[method], run.times, run.particles) for method, run in zip(METHODS, first, strict=True)]
    depths = [
        Curve(NAMES[method], run.times, [1e3 * depth for depth in run.depths])
        for method, run in zip(METHODS, first, strict=True)
    ]
    fixed, adaptive = ([max(found[name, method].depths) for name in scenes] for method in METHODS)
    ratio = [found[name, METHODS[1]].cost / found[name, METHODS[0]].cost for name in scenes]
    return [
        Text(
            "The paper gives each body an eighth as many particles as it has vertices, and proposes to scale their "
            "number, for instance by how many of them generate intersections. That is "
            '`contact = "particles-adaptive"`: more where a quarter of them found a contact, beside those that did, up '
            "to four times the paper's number; half as many where fewer than a sixteenth did. Here with turgor's thin "
            "skin (5 % of an edge), where a fixed number (an eighth of the vertices, at least 16) is too few; with the "
            "paper's skin it is enough (section 5.2)."
        ),
        Svg(chart(curves, "time, s", "particles", height=240), f"Particles in use in `{scenes[0]}`."),
        Svg(chart(depths, "time, s", "deepest vertex, mm", height=240), "How deep one body is in the other."),
        Table(
            ["scene", "particles", "fewest", "most", "deepest vertex, mm", "ms per frame"], rows,
            f"The paper's meshes, {seconds:g} s; every third frame is checked by plain geometry. Milliseconds of "
            "processor time, the mean of all frames.",
        ),
        Text(
            f"The deepest vertex goes from {1e3 * max(fixed):.0f} to {1e3 * max(adaptive):.0f} mm at worst"
            + (f" and from {1e3 * min(fixed):.0f} to {1e3 * min(adaptive):.0f} mm at best" if len(scenes) > 1 else "")
            + f"; a frame takes {min(ratio):.1f} to {max(ratio):.1f} times as long, since the rounds in which "
            "particles move grow with the square of their number.",
            "measured",
        ),
    ]  # fmt: skip
