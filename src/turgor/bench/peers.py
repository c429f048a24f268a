"""Against a peer in the same run: the same step written by hand in C++ (peer.cpp), where a compiler is installed."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from turgor.bench.measure import ball_scene, best_time
from turgor.simulation.simulation import Simulation

__all__ = ["peers"]


def _peer_input(sim: Simulation, substeps: int, dt: float) -> str:
    """The simulation's own mesh, in its own order."""
    model = sim.model
    head = [model.vertices, len(model.springs_host), len(model.faces_host), substeps]
    gas = [float(model.stiffness.numpy()[0]), float(model.damping.numpy()[0]), float(model.nRT.numpy()[0]),
           float(model.ambient.numpy()[0]), dt]  # fmt: skip
    rows = (model.initial_positions, model.springs_host, model.faces_host)
    numbers = " ".join(f"{value:.9g}" for value in [*head, *gas])
    return "\n".join([numbers, *(" ".join(map(repr, np.asarray(row).ravel().tolist())) for row in rows)])


def peers() -> dict[str, Any]:
    """Throughput of turgor on one CPU thread over that of scalar C++ -O3, the same mesh and substeps, alternating."""
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        return {"skipped": "no C++ compiler (g++ or clang++) is installed"}
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "peer"
        source = Path(__file__).with_name("peer.cpp")
        subprocess.run([compiler, "-O3", "-march=native", "-o", str(program), str(source)], check=True)
        for subdivisions in (2, 5, 7):
            planner = Simulation(ball_scene(subdivisions))
            planner.step()
            substeps = min(max(planner.substeps, 10), 100)
            fps = 60.0 * planner.substeps / substeps
            sim = Simulation(ball_scene(subdivisions), substeps=substeps, fps=fps)
            text = _peer_input(sim, substeps, 1.0 / fps / substeps)
            ours, theirs = [], []
            for _ in range(3):
                ours.append(best_time(sim.step, "cpu", seconds=0.3) / substeps)
                done = subprocess.run([str(program)], input=text, capture_output=True, encoding="utf-8", check=True)
                theirs.append(float(done.stdout.split()[0]))
            scale = sim.vertices / 1e6
            rows.append({
                "vertices": sim.vertices,
                "turgor_mvs_per_s": scale / min(ours),
                "cpp_mvs_per_s": scale / min(theirs),
                "ratio": min(theirs) / min(ours),
            })  # fmt: skip
    return {"scalar C++ -O3 -march=native": rows}
