"""Kills `turgor run` at random moments and lets it go on, for tools/kills and its test in the suite."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from turgor import record
from turgor.simulation.save import described

__all__ = ["Kills", "command", "differences", "vtk_counts"]


def command(*arguments: object) -> list[str]:
    """`turgor ARGUMENTS` with this Python, and so with this version of turgor."""
    return [sys.executable, "-m", "turgor", *map(str, arguments)]


@dataclass
class Kills:
    """One run in `folder` that is killed again and again. The recording is a.vtkhdf; `options` are those of the run."""

    folder: Path
    options: Sequence[object]
    chance: random.Random
    done: int = 0  # kills
    complaints: list[str] = field(default_factory=list)

    @property
    def recording(self) -> Path:
        return self.folder / "a.vtkhdf"

    @property
    def checkpoint(self) -> Path:
        return self.folder / "a.checkpoint.npz"

    def frames(self) -> int:
        """In the recording."""
        if not self.recording.exists():
            return 0
        with record.read(self.recording) as run:
            return len(run)

    def start(self) -> subprocess.Popen[str]:
        return subprocess.Popen(
            command("run", *self.options, "-o", self.recording, "--resume", "--json"),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def kill_once(self, within: float = 1.0) -> bool:
        """Starts the run and kills it (SIGKILL): every fourth time anywhere, also while it starts; else within some
        seconds after it has written a frame. False: it was quicker, and is complete."""
        before = self.frames()
        process = self.start()
        anywhere = self.chance.random() < 0.25
        if anywhere:
            time.sleep(self.chance.uniform(0.0, 5.0 * within))
        else:
            while process.poll() is None and self.frames() == before:
                time.sleep(0.005)
            time.sleep(self.chance.uniform(0.0, within))
        ended = process.poll() is not None
        process.kill()
        _, said = process.communicate()
        if ended and process.returncode != 0:
            self.complaints.append(f"after {self.done} kills it ended with code {process.returncode}: {said.strip()}")
        self.done += not ended
        self.look()
        return not ended

    def look(self) -> None:
        """After a kill: what is there must open, also by VTK."""
        if self.recording.exists():
            count = self.frames()
            with record.read(self.recording) as run:
                run[count - 1]
            if (found := vtk_counts(self.recording)) != count:
                self.complaints.append(f"after kill {self.done} VTK reads {found} of {count} frames")
        if self.checkpoint.exists():
            described(self.checkpoint)

    def finish(self) -> dict[str, object]:
        """Lets the run go on to its end; its result."""
        process = self.start()
        out, said = process.communicate()
        if process.returncode:
            raise RuntimeError(f"the run did not end well after {self.done} kills: {said}")
        result: dict[str, object] = json.loads(out)
        return result


def vtk_counts(path: Path) -> int:
    """The frames that VTK's own reader finds, of which it reads the last."""
    from vtkmodules.vtkIOHDF import vtkHDFReader

    reader = vtkHDFReader()
    reader.SetFileName(str(path))
    reader.UpdateInformation()
    count = int(reader.GetNumberOfSteps())
    reader.SetStep(count - 1)
    reader.Update()
    return count if reader.GetOutput().GetNumberOfPoints() else 0


def differences(one: Path, other: Path) -> str:
    """In what two recordings differ; empty if in nothing."""
    with record.read(one) as a, record.read(other) as b:
        if len(a) != len(b):
            return f"{len(a)} and {len(b)} frames"
        for index, (x, y) in enumerate(zip(a, b, strict=True)):
            for name in ("time", "positions", "velocities", "volumes", "pressures"):
                if not np.array_equal(getattr(x, name), getattr(y, name), equal_nan=True):
                    return f"{name} of frame {index}"
    return "" if one.read_bytes() == other.read_bytes() else "bytes, though not in frames"
