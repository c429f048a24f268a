"""Runs into simulations: those that differ only in numbers of a world are worlds of one, in chunks of a fixed size.

The size does not depend on the number of workers, so the table does not either: with substeps="auto" all worlds of a
chunk share the substeps of the most demanding one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from typing import Any

from turgor.errors import SceneError, TurgorError
from turgor.model.variants import structure
from turgor.scene.scene import Scene
from turgor.study.measure import Expression, Measure
from turgor.study.vary import Design

__all__ = ["Chunk", "Plan", "worlds_per_chunk"]

EXAMPLES = 256  # values of a path that are tried before anything runs
# Vertices and worlds of a chunk, at most: worlds share what a frame costs beside its vertices, beyond this they gain
# nothing on a core (docs/howto/study.md has the measurements), and a study should have chunks for all cores. A GPU
# wants all it can get: 8 million vertices take some 30 GB of it.
VERTICES = {"cpu": 2**15, "cuda": 2**23}
WORLDS = {"cpu": 256, "cuda": 4096}
SHARD = 2**28  # bytes of trajectories, at most: they stay in memory, and travel, until the chunk is finished


def worlds_per_chunk(vertices: int, device: str, recorded: int = 0) -> int:
    """A power of two. recorded: bytes of the trajectory of a world."""
    kind = "cpu" if device == "cpu" else "cuda"
    fitting = max(min(VERTICES[kind] // max(vertices, 1), SHARD // max(recorded, 1)), 1)
    return int(min(2 ** (fitting.bit_length() - 1), WORLDS[kind]))


def _recorded(scene: Scene, every: int | None) -> int:
    """Bytes of a world's trajectory: positions and velocities of every N-th frame."""
    if every is None:
        return 0
    settings = scene.simulation
    frames = round(settings.seconds * settings.fps) // every + 1
    numbers = 2 * scene.dim * sum(len(body.shape.vertices) for body in scene.bodies)
    return frames * numbers * (8 if settings.precision == "double" else 4)


@dataclass(frozen=True)
class Chunk:
    """Runs that become worlds of one simulation."""

    number: int
    runs: tuple[int, ...]


def _wrong(path: str, value: Any, error: TurgorError) -> SceneError:
    return SceneError(f"vary {path}={value if isinstance(value, str) else repr(value)}: {error}")


class Plan:
    """Which runs are computed together."""

    def __init__(
        self, scene: Scene, design: Design, device: str, measures: Sequence[Measure] = (), record: int | None = None
    ) -> None:
        self.scene, self.design = scene, design
        self._measures = [measure for measure in measures if isinstance(measure, Expression)]
        self._first = design.values(0)
        examples = [design.examples(number, EXAMPLES) for number in range(len(design.axes))]
        kinds = [{self._structure(number, value) for value in values} for number, values in enumerate(examples)]
        # paths that a simulation has for all its worlds: they change what worlds share, or have one value only
        self.shared = tuple(len(found) > 1 or len(examples[number]) == 1 for number, found in enumerate(kinds))
        self._parted = tuple(len(found) > 1 for found in kinds)
        self._known: dict[tuple[int, str], Any] = {}
        groups: dict[tuple[Any, ...], list[int]] = {}
        for run in range(design.runs):
            groups.setdefault(self._key(run), []).append(run)
        vertices = sum(len(body.shape.vertices) for body in (*scene.bodies, *scene.rigid_bodies))
        alone = scene.simulation.sleeping is True  # which is for one world
        self.worlds = 1 if alone else worlds_per_chunk(vertices, device, _recorded(scene, record))
        size = self.worlds
        parts = [runs[first : first + size] for runs in groups.values() for first in range(0, len(runs), size)]
        self.chunks = [Chunk(number, tuple(runs)) for number, runs in enumerate(parts)]

    def _key(self, run: int) -> tuple[Any, ...]:
        if not any(self._parted):
            return ()
        values = self.design.values(run)
        return tuple(
            self._structure_once(number, value) if parted else None
            for number, (value, parted) in enumerate(zip(values, self._parted, strict=True))
        )

    def _structure_once(self, number: int, value: Any) -> Any:
        key = (number, repr(value))
        if key not in self._known:
            self._known[key] = self._structure(number, value)
        return self._known[key]

    def _structure(self, number: int, value: Any) -> Any:
        """What worlds would share with this value; SceneError where the scene cannot have it."""
        path = self.design.names[number]
        scene = self.scene.copy()
        try:
            scene.set(path, value)
        except TurgorError as error:
            for other, (name, first) in enumerate(zip(self.design.names, self._first, strict=True)):
                try:  # it may go together with the others
                    scene.set(name, value if other == number else first)
                except TurgorError:
                    raise _wrong(path, value, error) from None
        try:
            for measure in self._measures:  # a body may have lost its name, or its gas
                measure.check(scene)
        except SceneError as error:
            raise _wrong(path, value, error) from None
        return structure(scene)

    def scene_of(self, chunk: Chunk) -> Scene:
        """The scene of a chunk: the base, with the values that all its worlds share."""
        scene = self.scene.copy()
        values = self.design.values(chunk.runs[0])
        for path, value, shared in zip(self.design.names, values, self.shared, strict=True):
            if shared:
                scene.set(path, value)
        return scene

    @property
    def own_paths(self) -> tuple[str, ...]:
        """Paths that each world has its own value of."""
        return tuple(path for path, shared in zip(self.design.names, self.shared, strict=True) if not shared)

    def own_values(self, run: int) -> tuple[Any, ...]:
        """Their values in a run."""
        pairs = zip(self.design.values(run), self.shared, strict=True)
        return tuple(value for value, shared in pairs if not shared)

    def missing(self, done: Set[int]) -> Iterator[Chunk]:
        """The chunks that are not done."""
        return (chunk for chunk in self.chunks if chunk.number not in done)

    @property
    def sentence(self) -> str:
        """How many simulations and worlds: `4,000 runs: 8 simulations x 500 worlds`."""
        runs, number = self.design.runs, len(self.chunks)
        sizes = [len(chunk.runs) for chunk in self.chunks]
        worlds = f"{max(sizes):,} world{'s' * (max(sizes) > 1)}"
        if min(sizes) < max(sizes):
            worlds = f"at most {worlds}"
        return f"{runs:,} run{'s' * (runs > 1)}: {number:,} simulation{'s' * (number > 1)} x {worlds}"
