"""A study: one scene, many sets of parameters, one table."""

from __future__ import annotations

import hashlib
import os
import pickle
import platform
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing, nullcontext
from dataclasses import fields
from functools import cached_property
from typing import Any

from turgor import gallery
from turgor.errors import SceneError, TurgorError, did_you_mean
from turgor.kernel.cores import physical_cores
from turgor.output.progress import Stop
from turgor.scene.scene import Scene
from turgor.scene.settings import Settings
from turgor.study.chunk import Outcome, Task, failed_rows
from turgor.study.functions import Function, MeasureError
from turgor.study.local import in_processes, in_this_process
from turgor.study.measure import measures_of
from turgor.study.on_ray import check_address, on_ray
from turgor.study.plan import Plan
from turgor.study.progress import Progress, shown
from turgor.study.results import Results
from turgor.study.store import Store
from turgor.study.vary import Design
from turgor.version import __version__

__all__ = ["Study"]

HERE = "local"


class Study:
    """Runs of one scene with varied values, as worlds of few simulations.

    scene: a Scene, or the name of one of the gallery.
    vary: values by path, paths as in `Scene.set`: {"ball.mass": [1, 2, 4], "ball.gas.gauge": "log:10:1000:20"}. A text
    is a list "1,2,3", a range "start:stop:count", "log:start:stop:count", or random numbers "random:low:high:count",
    "normal:mean:deviation:count", drawn once; without a count each run draws its own, with its own seed.
    measure: what is in the table, by name: an expression over time such as "max(ball.center.z)",
    "first(ball.volume < 0.5*ball.rest_volume)" (s) or "energy.dissipated" (the value at the end); or a function of the
    Simulation, as "file.py:name" or itself, which returns a number per world: it is called at the start and after every
    frame, and its last value counts.
    combine: "grid" (each value with each), "zip" (side by side) or "latin" (a Latin hypercube of `samples` sets, over
    ranges without counts). repeat: runs per set, which differ in their seeds. seed: of all that is random.
    device: "cpu", "cuda" or "auto" (a GPU if there is one).
    record: frames between two that are kept as trajectories in DIR/data; None: none are.
    settings: seconds, substeps, solver, fps ..., as in `scene.simulation`.

    Runs that differ only in numbers that a world may have of its own share a simulation, in chunks of a size that
    depends on scene and device alone. So the table is the same for any number of workers, bit for bit on the CPU. With
    substeps="auto" the worlds of a chunk share the substeps of the most demanding one; with a fixed number each run is,
    bit for bit, what a simulation of it alone gives.
    """

    def __init__(
        self,
        scene: Scene | str,
        vary: Mapping[str, Any],
        measure: Mapping[str, Any],
        *,
        combine: str = "grid",
        samples: int | None = None,
        repeat: int = 1,
        seed: int = 0,
        device: str = "auto",
        record: int | None = None,
        **settings: Any,
    ) -> None:
        described = gallery.load(scene) if isinstance(scene, str) else scene
        if not isinstance(described, Scene):
            raise SceneError(f"Study needs a turgor.Scene or the name of one, got {type(scene).__name__}")
        if record is not None and (not isinstance(record, int) or isinstance(record, bool) or record < 1):
            raise SceneError(f"record must be a whole number of frames >= 1, got {record!r}")
        self.scene = described.copy()
        known = [entry.name for entry in fields(Settings)]
        for name, value in settings.items():
            if name not in known:
                raise SceneError(f"a study has no {name!r}; {did_you_mean(name, known)}")
            if value is not None:
                self.scene.set(f"simulation.{name}", value)
        self.scene.check()
        self.design = Design(vary, combine, samples, repeat, seed)
        self.measures = measures_of(measure, self.scene, self.design.names)
        self.device, self.record = _device(device), record
        self.about: dict[str, Any] = {}  # what else the report shall say: {"command": ...}

    @cached_property
    def plan(self) -> Plan:
        """Which runs are computed together; `plan.sentence` says it in words."""
        return Plan(self.scene, self.design, self.device, measures=self.measures, record=self.record)

    @property
    def description(self) -> dict[str, Any]:
        """What is asked, as plain data; two studies are the same if it is."""
        design = self.design
        sources = {m.measure: _digest(m.source.encode() + m.pickled) for m in self.measures if isinstance(m, Function)}
        return {
            "scene": self.scene.name,
            "scene_digest": _scene_digest(self.scene),
            "vary": {axis.path: axis.words for axis in design.axes},
            "values_digest": _digest(repr(design.axes).encode()),
            "measure": {measure.measure: measure.words for measure in self.measures},
            "functions": sources,
            "sampling": design.combine,
            "samples": design.samples,
            "repeat": design.repeat,
            "seed": design.seed,
            "seconds": self.scene.simulation.seconds,
            "device": self.device.partition(":")[0],
            "record": self.record,
            "runs": design.runs,
            "plan": self.plan.sentence,
            "version": __version__,
        }

    def run(
        self,
        on: str = HERE,
        *,
        workers: int | None = None,
        out: str | os.PathLike[str] | None = None,
        resume: bool = False,
        progress: bool | Progress = False,
    ) -> Results:
        """Compute all runs; returns the table.

        on: "local" (processes of this machine), "ray" (Ray on this machine), or the address of a Ray cluster:
        "ray://host:10001", "host:6379" or "auto". workers: chunks at once; None: one per core, or what the cluster has.
        out: a folder for results.csv, results.parquet and report.html; finished chunks are kept there as they finish,
        and resume=True goes on with them. progress: True for a bar on stderr, or a function of (runs done, in all,
        failed); if it raises `turgor.output.progress.Stop`, the table has what is finished.
        """
        if workers is not None and (not isinstance(workers, int) or isinstance(workers, bool) or workers < 1):
            raise SceneError(f"workers must be a whole number >= 1, got {workers!r}")
        if resume and out is None:
            raise SceneError("resume goes on with what a folder has: give out=DIR")
        if self.record is not None and out is None:
            raise SceneError("record needs a folder: give out=DIR")
        if out is not None and not os.fspath(out):
            raise SceneError("the folder for the results has no name: give one, as in -o out")
        if on != HERE:
            check_address(on)
        elif self.device != "cpu":
            from turgor.simulation.devices import chosen_device

            chosen_device(self.device)  # SceneError where it is missing
        with nullcontext() if out is None else Store(out, self.description, resume) as store:
            return self._run(store, on, workers, progress)

    def _run(self, store: Store | None, on: str, workers: int | None, progress: bool | Progress) -> Results:
        begin = time.perf_counter()
        rows = {} if store is None else store.rows(self.plan.chunks)
        interrupted: BaseException | None = None
        try:
            self._compute(rows, store, on, workers, progress)
        except (Stop, KeyboardInterrupt) as stop:
            interrupted = stop
        except BaseException as error:
            if store is not None and not rows:
                store.remove()
            if store is None or not rows or not isinstance(error, MeasureError):
                raise
            interrupted = MeasureError(f"{error}; {self._kept(rows)} in {store.folder}/results.csv")
        about = {"machine": _machine(), "wall_seconds": time.perf_counter() - begin, **self.about}
        if interrupted is not None:
            about["interrupted"] = True
        results = self._results(rows, about)
        if store is not None:
            store.finish(results, self.record is not None)
        if interrupted is not None and not isinstance(interrupted, Stop):
            raise interrupted
        return results

    def _kept(self, rows: Mapping[int, list[dict[str, Any]]]) -> str:
        done, total = sum(map(len, rows.values())), self.design.runs
        return f"{done:,} of {total:,} runs were finished before, and are"

    def _compute(
        self, rows: dict[int, list[dict[str, Any]]], store: Store | None, on: str, workers: int | None,
        progress: bool | Progress,
    ) -> None:  # fmt: skip
        """Adds the rows of all chunks that are missing, as they finish."""
        total, done = self.design.runs, sum(map(len, rows.values()))
        failed = sum(row["status"] != "ok" for chunk in rows.values() for row in chunk)
        refused: list[Outcome] = []
        with shown(progress, done) as report:
            report(done, total, failed)
            outcomes = self._outcomes(set(rows), refused, on, workers, lambda: report(done, total, failed))
            with closing(outcomes):
                for outcome in outcomes:
                    for one in (outcome, *refused):
                        if one.wrong:
                            raise MeasureError(one.wrong)
                        if store is not None:
                            store.keep(one)
                        rows[one.number] = one.rows
                        done += len(one.rows)
                        failed += sum(row["status"] != "ok" for row in one.rows)
                    refused.clear()
                    report(done, total, failed)

    def _outcomes(
        self, done: set[int], refused: list[Outcome], on: str, workers: int | None, tick: Any
    ) -> Generator[Outcome, None, None]:
        """Of all missing chunks; those whose scene cannot be are `refused` at once."""
        left = len(self.plan.chunks) - len(done)
        here = on == HERE
        count = min(workers or (physical_cores() if self.device == "cpu" else 1), max(left, 1))
        tasks = self._tasks(done, refused, "auto" if here and count == 1 and workers is None else 1)
        if not here:
            yield from on_ray(tasks, on, workers, self.device, tick)
        elif (workers or count) == 1:
            yield from in_this_process(tasks, tick)
        else:
            yield from in_processes(tasks, count, tick)
        if refused:
            yield refused.pop()

    def _tasks(self, done: set[int], refused: list[Outcome], threads: int | str) -> Iterator[Task]:
        plan = self.plan
        for chunk in plan.missing(done):
            values = tuple(plan.own_values(run) for run in chunk.runs)
            task = Task(
                chunk.number, self.scene, plan.own_paths, chunk.runs, values, self.measures, self.device, threads,
                self.record,
            )  # fmt: skip
            try:
                yield task.of(plan.scene_of(chunk))
            except TurgorError as error:
                refused.append(Outcome(chunk.number, failed_rows(task, " ".join(str(error).split()))))

    def _results(self, rows: Mapping[int, list[dict[str, Any]]], about: Mapping[str, Any]) -> Results:
        design = self.design
        table = [
            {
                **row,
                **dict(zip(design.names, design.values(row["run"]), strict=True)),
                "repeat": row["run"] % design.repeat,
                "seed": design.seed_of(row["run"]),
            }
            for chunk in rows.values()
            for row in chunk
        ]
        logarithmic = [axis.path for axis in design.axes if axis.kind == "log"]
        scene = {"title": self.scene.description, "dim": self.scene.dim}
        study = {**self.description, **scene, "log": logarithmic, **about}
        return Results(study, design.names, tuple(measure.measure for measure in self.measures), table)


def _device(name: str) -> str:
    """ "cpu" or the name of a GPU; whether that is there is known only where the runs are."""
    if name == "auto":
        from turgor.simulation.devices import chosen_device

        return str(chosen_device(name))
    kinds = ("cpu", "cuda")
    if not isinstance(name, str) or name.partition(":")[0] not in kinds:
        raise SceneError(f"device must be 'cpu', 'cuda' or 'auto', got {name!r}")
    return name


def _machine() -> str:
    cores = physical_cores()
    return f"{platform.system()} {platform.machine()}, {cores} core{'s' * (cores > 1)}"


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _scene_digest(scene: Scene) -> str:
    """Of its file with all meshes in it; of shapes that no file can hold, of their arrays."""
    from turgor.simulation.save import inlined

    try:
        return _digest(inlined(scene).to_toml().encode())
    except SceneError:
        return _digest(pickle.dumps(scene))
