"""One run of one scene: checked, simulated, recorded, reported. What `turgor run` does once its options are read."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from turgor.cli.arguments import check_looks
from turgor.cli.printing import print_table, wrote
from turgor.cli.recovery import Recovery
from turgor.cli.terminal import message, signals
from turgor.errors import SceneError, UnstableError
from turgor.output.progress import Stop, shown
from turgor.record import FileSink, check_path, open_sink
from turgor.record.formats import PICTURES, options_of
from turgor.scene import Scene, SoftBody
from turgor.scene.toml import parse_value

__all__ = ["Job"]


class Job:
    """A scene, where it is recorded, and how that looks; after `simulate`, what came out."""

    def __init__(
        self, scene: Scene, outputs: Sequence[Path], looks: dict[str, str], worlds: int, recovery: Recovery,
        readings: bool = False, static: bool = False, threads: int | str = "auto",
    ) -> None:  # fmt: skip
        self.scene = scene
        self.outputs = list(outputs)
        self.recovery = recovery
        self.looks = {key: parse_value(value) for key, value in looks.items()}
        self.worlds, self.readings, self.static, self.threads = worlds, readings, static, threads
        self.sinks: list[FileSink] = []
        self.start_seconds = 0.0  # s, from the call until the first frame can be computed: build, load, compile
        self.wall_seconds = 0.0  # s, computing all frames
        self.record_seconds = 0.0  # s, drawing and writing them
        self.start_time = 0.0  # s, simulated, at which this run began: more than 0 where it goes on
        self.signal = 0  # the signal that ended it before its time

    def check(self) -> None:
        """Raises what can be found wrong before anything is computed."""
        if self.worlds < 1:
            raise SceneError(f"--worlds must be at least 1, got {self.worlds}")
        for path in self.outputs:
            check_path(path)
        self.recovery.check(self.outputs, self.static)
        if len({path.absolute() for path in self.outputs}) < len(self.outputs):
            raise SceneError("-o: the same file is given twice; leave one out")
        check_looks(self.looks)
        if self.looks and not any(options_of(path, self.looks) for path in self.outputs):
            raise SceneError(f"--look has no effect without a picture; record one with -o FILE ({', '.join(PICTURES)})")

    def simulate(self, device: str, talk: bool) -> None:
        """Builds the simulation, runs it and records it. `talk`: progress on stderr, if that is a terminal."""
        begin = time.perf_counter()
        from turgor.simulation.simulation import Simulation  # late: bad input is reported without waiting for Warp

        with message("preparing (the first run compiles the kernels, once) ..." if talk else ""):
            kept = self.recovery.simulation(self.scene, device, self.worlds, self.readings, self.threads)
            sim = kept or Simulation(
                self.scene, device, worlds=self.worlds, readings=self.readings, threads=self.threads
            )
            self.simulation, self.start_time = sim, sim.time
            left = 0 if self.static else self.recovery.frames_left(sim, self.seconds)
            if not self.static:
                sim.prepare()  # so that the time measured below is that of the work
        self.start_seconds = time.perf_counter() - begin
        begin = time.perf_counter()
        if self.static:
            self._settle()
        bar = shown(talk, "", self.scene.simulation.fps, lambda: self.record_seconds)
        with bar as report, signals() as caught:

            def progress(done: int, total: int) -> None:
                report(done, total)
                if caught:
                    raise Stop

            with contextlib.ExitStack() as stack:
                sinks = self.recovery.open_sinks(self.outputs, self._open, stack)
                stack.pop_all()  # all are open: from here on `run` closes them
            sim.run(
                left / sim.settings.fps, record=[_Timed(sink, self) for sink in sinks], progress=progress,
                **self.recovery.options,
            )  # fmt: skip
        self.signal = caught[0] if caught else 0
        self.wall_seconds = time.perf_counter() - begin - self.record_seconds

    def _settle(self) -> None:
        """A scene that has no state of rest is bad input here."""
        try:
            self.settled = self.simulation.settle()
        except UnstableError as error:
            raise SceneError(str(error)) from None

    def _open(self, path: Path, **options: Any) -> Any:
        sink = open_sink(path, self.simulation.layout, **options_of(path, self.looks), **options)
        self.sinks.append(sink)
        return sink

    @property
    def _go_on(self) -> str:
        """How to go on after an interruption."""
        return "; --resume goes on" if self.recovery.every is not None else ""

    @property
    def seconds(self) -> float:
        """Simulated time asked for, s."""
        return 0.0 if self.static else self.scene.simulation.seconds

    @property
    def realtime_factor(self) -> float:
        """Simulated seconds per second of computing; above 1 is faster than real time."""
        return (self.simulation.time - self.start_time) / max(self.wall_seconds, 1e-9)

    def result(self) -> dict[str, Any]:
        """What --json prints. Volumes in m³ (2D: m²), pressures in Pa (absolute), energies in J, times in s."""
        sim = self.simulation
        return {
            "scene": self.scene.name,
            "device": str(sim.device),
            "solver": sim.solver,
            "solver_asked": sim.settings.solver,
            "solver_reason": sim.choice.reason or None,
            "precision": sim.precision,
            "worlds": self.worlds,
            "threads": sim.threads,
            "frames": sim.frame_index,
            "resumed_from": self.recovery.resumed_from,
            "interrupted": bool(self.signal),
            "seconds": sim.time,
            "wall_seconds": self.wall_seconds,
            "record_seconds": self.record_seconds,
            "start_seconds": self.start_seconds,
            "realtime_factor": self.realtime_factor,
            "static": asdict(self.settled) if self.static else None,
            "substeps": sim.substeps,
            "accuracy": sim.settings.accuracy,
            "energy_error": sim.energy_error,
            "vertices": sim.vertices,
            "asleep": [name for name in sim.names if sim[name].asleep],
            "finite": sim.finite,
            "state_hash": sim.state_hash(),
            "energy": sim.energy().as_dict(),
            "bodies": {
                body.name: {
                    "volume": sim[body.name].volume if body.shape.closed else None,
                    "rest_volume": sim[body.name].rest_volume if body.shape.closed else None,
                    "pressure": sim[body.name].pressure if isinstance(body, SoftBody) and body.gas else None,
                    "gauge": sim[body.name].gauge_pressure if isinstance(body, SoftBody) and body.gas else None,
                    "entered_gauge": body.gas.entered_gauge if isinstance(body, SoftBody) and body.gas else None,
                    "center": sim[body.name].center,
                }
                for body in self.scene.bodies
            },
            "rigid": {
                body.name: {key: getattr(sim[body.name], key) for key in ("center", "rotation", "velocity", "spin")}
                for body in self.scene.rigid_bodies
            },
            "contacts": self._contacts(),
            "warnings": sim.warnings,
            "files": [str(path) for path in self.outputs],
        }

    def _contacts(self) -> dict[str, Any]:
        """With --readings also the mean forces over the last frame, N, on each body and of each pair."""
        found = self.simulation.contacts()
        result: dict[str, Any] = {"count": found.count, "max_penetration": found.max_penetration}
        if self.readings:
            force = found.force
            rows = zip(force.pairs, force.worlds.tolist(), force.vectors, strict=True)
            result["force"] = {name: force.on(name) for name in force.bodies}
            result["pairs"] = [
                {
                    "first": a,
                    "second": b,
                    "world": world,
                    "force": vector,
                    "area": patch.area,
                    "pressure": patch.pressure,
                }
                for (a, b), world, vector in rows
                for patch in [found.patch(a, b, world)]
            ]
        return result

    def report(self) -> None:
        """The summary for a person, on stdout."""
        from turgor.solvers.accuracy import in_words  # late, as above

        sim, result = self.simulation, self.result()
        recorded = f", recorded in {self.record_seconds:.3g} s" if self.outputs else ""
        if self.static:
            print(
                f"{self.scene.name}: at rest, found in {self.wall_seconds:.3g} s and {self.settled.iterations:,} "
                f"substeps of relaxation, residual {self.settled.residual:.2g}{recorded}"
            )
        else:
            print(
                f"{self.scene.name}: {sim.frame_index} frames, {sim.time:.3g} s simulated in {self.wall_seconds:.3g} s "
                f"({self.realtime_factor:.3g} × real time){recorded}"
            )
        if self.recovery.resumed_from is not None:
            print(f"went on from frame {self.recovery.resumed_from}, {self.start_time:.3g} s")
        if self.signal:
            print(
                f"interrupted: {sim.time:.3g} s of {self.seconds:.3g} s; all files hold what was simulated{self._go_on}"
            )
        copies = f" × {self.worlds} worlds" if self.worlds > 1 else ""
        why = f" (auto: {sim.choice.reason})" if sim.choice.reason else ""
        how = "" if self.static else f", {sim.solver}{why}, {sim.substeps} substeps per frame"
        where = f"{sim.device}, {sim.threads} threads" if sim.threads > 1 else sim.device
        print(f"{sim.vertices:,} vertices{copies} on {where}{how}")
        if sim.vertices and not self.static:
            print(f"energy of vibrations: error about {in_words(sim.energy_error, sim.engine.scheme)} (estimated)")
        print()
        unit = ("m²", "N/m") if self.scene.dim == 2 else ("m³", "Pa")
        rows = []
        for body in self.scene.bodies:
            values = result["bodies"][body.name]
            center = values["center"] if self.worlds == 1 else values["center"][0]
            rows.append(
                [
                    body.name,
                    _number(_first(values["volume"])),
                    _number(_first(values["rest_volume"])),
                    _number(_first(values["pressure"])),
                    _number(_first(values["gauge"])),
                    _number(_first(values["entered_gauge"])),
                    ", ".join(f"{x:.3f}" for x in center),
                ]
            )
        for rigid in self.scene.rigid_bodies:
            center = sim[rigid.name].center if self.worlds == 1 else sim[rigid.name].center[0]
            rows.append([rigid.name, *5 * ["-"], ", ".join(f"{x:.3f}" for x in center)])
        columns = ["body", f"volume {unit[0]}", "at rest", f"pressure {unit[1]}", "gauge", "entered", "center m"]
        print_table(columns, rows)
        if self.readings:
            forces = [
                [
                    pair["first"],
                    pair["second"],
                    ", ".join(f"{x:.4g}" for x in pair["force"]),
                    _number(pair["area"]),
                    _number(pair["pressure"]),
                ]
                for pair in result["contacts"]["pairs"]
                if pair["world"] == 0
            ]
            print()
            units = ("m", "N/m") if self.scene.dim == 2 else ("m²", "Pa")
            print_table(["on", "from", "mean force N", f"area {units[0]}", f"pressure {units[1]}"], forces)
        for sentence in result["warnings"]:
            print(f"warning: {sentence}")
        for sink in self.sinks:
            print(wrote(sink))


class _Timed:
    """A sink that adds the time it takes to the job's `record_seconds`."""

    def __init__(self, sink: Any, job: Job) -> None:
        self._sink, self._job = sink, job

    def add(self, frame: Any) -> None:
        begin = time.perf_counter()
        self._sink.add(frame)
        self._job.record_seconds += time.perf_counter() - begin

    def close(self, success: bool = True) -> None:
        begin = time.perf_counter()
        self._sink.close(success)
        self._job.record_seconds += time.perf_counter() - begin


def _first(value: Any) -> float:
    """A number, or that of the first world; nan where there is no gas."""
    if value is None:
        return math.nan
    return float(value) if getattr(value, "ndim", 0) == 0 else float(value[0])


def _number(value: float) -> str:
    return f"{value:.5g}" if math.isfinite(value) else "-"
