"""`turgor sweep` of thousands of sets against the same runs one by one: what worlds and processes gain."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from turgor import gallery
from turgor.bench.measure import simulated
from turgor.bench.suite import Options, Row, Tables
from turgor.errors import SceneError
from turgor.kernel.cores import physical_cores
from turgor.scene import Scene

__all__ = ["study"]

SETS, SAMPLE = 4_000, 24  # runs; those of them that are also run one by one
SECONDS, SECONDS_GPU = 0.15, 0.5  # simulated
SUBSTEPS = 52  # fixed, about what "auto" picks for `drop`, so that the numbers must be equal
VARY = {
    "ball.gas.gauge": "20:200", "ball.springs.stiffness": "100:200", "ball.velocity.z": "-10:0", "ball.mass": "0.8:2",
}  # fmt: skip
MEASURE = {
    "lowest": "min(ball.center.z)", "pressed": "min(ball.volume/ball.rest_volume)", "hit": "first(ball.lowest < 0.01)",
}  # fmt: skip
COARSE = {f"{name}.shape.icosphere.subdivisions": 1 for name in ("limp", "ball", "firm")}


def study(options: Options) -> Tables:
    """`drop` with four values varied: a Latin hypercube, and a sample of it one by one, in one run."""
    sets, sample = (40, 2) if options.quick else (SETS, SAMPLE)
    return {
        f"{device}: a study of drop": [_row(device, sets, sample, COARSE if options.quick else {})]
        for device in options.devices
    }


def _row(device: str, sets: int, sample: int, changes: dict[str, Any]) -> Row:
    workers, seconds = (physical_cores(), SECONDS) if device == "cpu" else (1, SECONDS_GPU)
    changes = changes | {"simulation.substeps": SUBSTEPS, "simulation.seconds": seconds}
    with tempfile.TemporaryDirectory() as folder:
        begin = _spent()
        plan = _sweep(Path(folder) / "out", device, sets, workers, changes)
        together = (_spent() - begin) / sets
        with (Path(folder) / "out" / "results.csv").open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    picked = rows[:: max(sets // sample, 1)]
    _alone(picked[0], device, changes)  # kernels are loaded
    begin = _spent()
    equal = [_alone(row, device, changes) == {name: _number(row[name]) for name in MEASURE} for row in picked]
    one_by_one = (_spent() - begin) / len(picked)
    return {
        "runs": sets,
        "simulated_s": seconds,
        "plan": plan,
        "workers": workers,
        "one_by_one_ms": 1e3 * one_by_one[0],
        "study_ms": 1e3 * together[0],
        "runs_per_s": 1.0 / together[0],
        "ratio": one_by_one[0] / together[0],
        "processor_ratio": one_by_one[1] / together[1],  # without what several cores gain, and other programs take
        "sample": len(picked),
        "equal": all(equal),
        "failed": sum(row["status"] != "ok" for row in rows),
    }


def _sweep(out: Path, device: str, sets: int, workers: int, changes: dict[str, Any]) -> str:
    """The study as a program, from its start to its report; returns the sentence of its plan."""
    arguments = [
        "sweep", "drop", "--combine", "latin", "--samples", str(sets), "--device", device,
        "--workers", str(workers), "--json", "-o", str(out),
    ]  # fmt: skip
    for option, pairs in (("--vary", VARY), ("--measure", MEASURE), ("--set", changes)):
        for name, value in pairs.items():
            arguments += [option, f"{name}={value}"]
    done = subprocess.run([sys.executable, "-m", "turgor", *arguments], capture_output=True, encoding="utf-8")
    if done.returncode:
        raise SceneError(f"turgor sweep ended with code {done.returncode}: {done.stderr.strip()[-200:]}")
    return str(json.loads(done.stdout)["plan"])


def _spent() -> npt.NDArray[np.float64]:
    """s by the wall clock, and of processors, those of processes that have ended too."""
    return np.array([time.perf_counter(), sum(os.times()[:4])])


def _scene(row: dict[str, str], changes: dict[str, Any]) -> Scene:
    scene = gallery.load("drop")
    for path, value in (changes | {path: float(row[path]) for path in VARY}).items():
        scene.set(path, value)
    return scene


def _alone(row: dict[str, str], device: str, changes: dict[str, Any]) -> dict[str, float | None]:
    """The run as a simulation of its own, by the plain interface."""
    sim = simulated(_scene(row, changes), device)
    ball, settings = sim["ball"], sim.settings
    lowest, pressed, hit = float(ball.center[2]), ball.volume / ball.rest_volume, None
    for _ in range(round(settings.seconds * settings.fps)):
        sim.step()
        lowest, pressed = min(lowest, float(ball.center[2])), min(pressed, ball.volume / ball.rest_volume)
        if hit is None and float(ball.positions[:, 2].min()) < 0.01:
            hit = sim.time
    return {"lowest": lowest, "pressed": pressed, "hit": hit}


def _number(text: str) -> float | None:
    return float(text) if text else None
