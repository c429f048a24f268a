"""Martin 2009, section 6.3: the eight timed scenes, with the paper's meshes and with the gallery's finer ones."""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from turgor import gallery
from turgor.output.frame import Frame, Layout
from turgor.papers.drawing.stills import cover, jpeg
from turgor.papers.report.blocks import Block, Compared, Picture, Row, Table, Text
from turgor.record.look import Pixels
from turgor.record.render import Painter
from turgor.scene import Scene
from turgor.simulation.simulation import Simulation

__all__ = [
    "BENCHMARKS",
    "Benchmark",
    "Speed",
    "blocks",
    "paper_scene",
    "paper_skin",
    "speed",
    "touching_pairs",
    "with_skin",
]

TIME = {"two-spheres": 1.6, "three-spheres": 1.6, "sphere-in-torus": 2.0, "torus-and-cubes": 2.0}  # s
CUBES = ("cube-1", "cube-2", "cube-3", "cube-4")


@dataclass(frozen=True)
class Benchmark:
    """One of the paper's eight."""

    label: str
    fps: int  # the paper's
    scene: str  # of the gallery
    keep: tuple[str, ...] = ()  # bodies of it; (): all
    touching: bool | None = None  # which frames count: those where bodies touch, those where none do, or all


BENCHMARKS = (
    Benchmark("one soft sphere", 60, "two-spheres", ("lower",)),
    Benchmark("one soft torus", 45, "sphere-in-torus", ("torus",)),
    Benchmark("two soft spheres, apart", 50, "two-spheres", touching=False),
    Benchmark("two soft spheres, in contact", 30, "two-spheres", touching=True),
    Benchmark("three soft spheres, apart", 30, "three-spheres", touching=False),
    Benchmark("three soft spheres, in contact", 20, "three-spheres", touching=True),
    Benchmark("soft sphere in a soft torus, in contact", 20, "sphere-in-torus", touching=True),
    Benchmark("soft torus with four rigid cubes", 18, "torus-and-cubes", ("torus", *CUBES), touching=True),
)


def paper_scene(name: str, keep: Sequence[str] = (), coarse: bool = True) -> Scene:
    """A scene of the gallery; coarse: with the paper's meshes, spheres of 8 × 8 and tori of 16 × 16."""
    scene = gallery.load(name)
    if keep:
        scene.soft_bodies = [body for body in scene.soft_bodies if body.name in keep]
        scene.rigid_bodies = [body for body in scene.rigid_bodies if body.name in keep]
    for body in tuple(scene.soft_bodies) if coarse else ():
        ((kind, sizes),) = (body.shape.recipe or {"": {}}).items()
        if kind == "icosphere":
            shape = {"uv_sphere": {"radius": sizes["radius"], "stacks": 8, "slices": 8}}
        elif kind == "torus":
            shape = {"torus": {"radius": sizes["radius"], "tube": sizes["tube"], "stacks": 16, "slices": 16}}
        else:
            continue
        scene.set(f"{body.name}.shape", shape)
    return scene


def paper_skin(scene: Scene) -> float:
    """m, for all soft bodies of a scene: 0.5 of the paper's units, in which its balls begin with a radius of 3.

    A sixth of the radius of the largest ball, or of a torus's tube where there is none.
    """
    sizes = [next(iter((body.shape.recipe or {"": {}}).items())) for body in scene.soft_bodies]
    balls = [float(size["radius"]) for kind, size in sizes if kind in ("icosphere", "uv_sphere")]
    return max(balls or [float(size["tube"]) for kind, size in sizes if kind == "torus"]) / 6.0


def with_skin(scene: Scene) -> Scene:
    """The scene with the paper's skin."""
    skin = paper_skin(scene)
    for body in tuple(scene.soft_bodies):
        scene.set(f"{body.name}.skin", skin)
    return scene


def touching_pairs(sim: Simulation) -> set[frozenset[str]]:
    """Pairs of bodies that the contact method found to touch in the last substep; walls are no bodies."""
    names = set(sim.names)
    return {frozenset(pair) for pair in sim.contacts().pairs if names.issuperset(pair) and pair[0] != pair[1]}


@dataclass(frozen=True)
class Speed:
    """How fast a scene ran."""

    vertices: int  # of the soft bodies
    faces: int  # of all bodies
    substeps: int  # per frame, at the end
    apart: float  # frames per second of processor time while no bodies touch; nan if that never was
    touching: float  # while some do
    layout: Layout
    shots: dict[bool, Frame]  # the middle one of the frames where none touch (False), and of those where some do (True)

    def of(self, touching: bool | None) -> float:
        """Of the frames that count; a single body (None) touches no other."""
        return self.touching if touching else self.apart


@functools.cache
def speed(name: str, keep: tuple[str, ...], contact: str, coarse: bool, seconds: float) -> Speed:
    """Runs; the median frame counts, so that what other programs do at the same time matters little."""
    scene = paper_scene(name, keep, coarse)
    sim = Simulation(scene if contact == "features" else with_skin(scene), contact=contact)
    sim.prepare()
    costs: dict[bool, list[float]] = {False: [], True: []}
    frames: dict[bool, list[Frame]] = {False: [], True: []}
    for number in range(round(seconds * sim.settings.fps)):
        begin = time.thread_time()
        sim.step()
        cost = time.thread_time() - begin
        touching = bool(touching_pairs(sim))
        costs[touching].append(cost)
        if not frames[touching] or number % 4 == 0:
            frames[touching].append(sim.frame())
    return Speed(
        vertices=sim.vertices,
        faces=sum(len(body.faces) for body in sim.layout.bodies),
        substeps=sim.substeps,
        apart=1.0 / float(np.median(costs[False])) if costs[False] else math.nan,
        touching=1.0 / float(np.median(costs[True])) if costs[True] else math.nan,
        layout=sim.layout,
        shots={touching: some[len(some) // 2] for touching, some in frames.items() if some},
    )


def blocks(quick: bool) -> list[Block]:
    """Section 6.3 of the report; quick: without the gallery's meshes, a still of each second scene."""
    compared: list[tuple[str, int, int]] = []
    rows, pictures, drawing, gains, ratios = [], [], [], [], []
    for number, entry in enumerate(BENCHMARKS):
        seconds = TIME[entry.scene] * (0.45 if quick else 1.0)
        features, particles = (
            speed(entry.scene, entry.keep, method, True, seconds) for method in ("features", "particles-martin")
        )
        fine = None if quick else speed(entry.scene, entry.keep, "features", False, seconds)
        ours, theirs = features.of(entry.touching), particles.of(entry.touching)
        gains.append(ours / entry.fps)
        if entry.touching:
            ratios.append(ours / theirs)
        compared.append((f"frames per second, {entry.label}", entry.fps, round(ours)))
        row = [entry.label, features.vertices, features.faces, features.substeps, round(ours), round(theirs)]
        rows.append(row + ([fine.faces, round(fine.of(entry.touching))] if fine else []))
        if quick and not number % 2:
            continue
        image, cost = _drawn(features, bool(entry.touching))
        drawing.append(cost)
        caption = f"{entry.label}: paper {entry.fps}, here {ours:,.0f} frames/s"
        pictures.append(Picture(jpeg(image), caption, width=300, cover=cover(image) if entry.touching else b""))
    header = ["scene", "vertices", "faces", "substeps", "features", "particles"]
    header += [] if quick else ["gallery: faces", "features"]
    return [
        Text(
            "The paper times eight scenes by eye with a frame counter, on an AMD X2 4600+ with a GeForce 8600 GTS. "
            "It gives the meshes as spheres of 8 stacks × 8 slices, tori of 16 × 16 and cubes of 12 triangles; "
            "vertices (of soft bodies) and faces (of all) below are counted on ours of the same division."
        ),
        Compared(
            compared,
            "The paper's meshes, contact of all features. Median over the frames of that kind; one thread, seconds of "
            "its processor time.",
        ),
        Table(
            header, rows,
            "Sizes, and frames per second with both contact methods on the paper's meshes (particles: as in the "
            "paper, with its skin)"
            + ("." if quick else "; at the right the same bodies with the gallery's finer meshes."),
        ),
        Text(
            f"With the paper's meshes turgor makes {min(gains):.0f} to {max(gains):.0f} times the paper's frames per "
            f"second (features method, one CPU thread). Where bodies touch, it makes {min(ratios):.1f} to "
            f"{max(ratios):.1f} times the frames of the paper's own contact method in the same engine; a single body "
            "is slower with it, because it also looks for contact of the body with itself, which the paper does not.",
            "measured",
        ),
        Row(pictures, least=200),
        Text(
            "What differs: the machine; the paper's frames were drawn on its graphics card as well, ours are not "
            f"(drawing one of the stills in software takes {1e3 * float(np.median(drawing)):.0f} ms of one thread "
            "here); the paper runs Runge-Kutta 4 at 60 Hz with damping found by trial, turgor as many symplectic "
            "steps per frame as the stiffness needs; masses, sizes and pressures are not in the paper, ours are the "
            "gallery's. The paper's 60 frames/s may be its monitor's limit."
        ),
    ]  # fmt: skip


def _drawn(found: Speed, touching: bool) -> tuple[Pixels, float]:
    """A still, and the seconds of this thread that it took (without opening the window)."""
    shot = found.shots.get(touching) or next(iter(found.shots.values()))
    with Painter(found.layout, size=(300, 200), view=(-66.0, 28.0)) as painter:
        painter.aim(shot)
        begin = time.thread_time()
        image = painter.draw(shot)
        return image, time.thread_time() - begin
