"""Checkpoints of a run: its state, saved again and again in one file, so that a run that was killed can go on.

Frames go to the sinks first and the state is saved after them: a recording has at least the frames that its checkpoint
needs. The file changes in one move (`turgor/files.py`), so there is always a whole one, the old or the new.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from turgor.errors import SceneError
from turgor.files import sweep, writing
from turgor.simulation.save import save

if TYPE_CHECKING:
    from turgor.simulation.simulation import Simulation

__all__ = ["EVERY", "Checkpoint", "Every"]

Every = int | str  # frames, or wall time as "30s"
EVERY = 60  # frames


class Checkpoint:
    """Saves a simulation to `path` every so many frames, or (every="30s") so many seconds of wall time."""

    def __init__(
        self, path: str | os.PathLike[str], every: Every = EVERY, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.path = Path(path)
        self.frames, self.seconds = _parsed(every)
        self._clock = clock
        self._last = clock()
        if self.path.is_dir() or not self.path.parent.is_dir():
            raise SceneError(f"{self.path}: no place for a checkpoint; give the name of a file in a folder that exists")
        sweep(self.path)

    def look(self, sim: Simulation) -> None:
        """After a frame that all sinks have taken: saves it if it is time to."""
        due = sim.frame_index % self.frames == 0 if self.frames else self._clock() - self._last >= self.seconds
        if due:
            self.save(sim)

    def save(self, sim: Simulation) -> None:
        """Saves the state as it is now."""
        with writing(self.path, "free some space; the run can go on from the checkpoint before, if there is one"):
            save(sim, self.path)
        self._last = self._clock()

    def remove(self) -> None:
        """The run is complete: nothing is left to go on with."""
        with writing(self.path, "remove it by hand"):
            self.path.unlink(missing_ok=True)


def _parsed(every: Every) -> tuple[int, float]:
    """Frames between two checkpoints and 0, or 0 and seconds."""
    wanted = f"every must be a number of frames, as 50, or seconds of wall time, as '30s'; got {every!r}"
    if isinstance(every, str) and every.endswith("s"):
        try:
            seconds = float(every[:-1])
        except ValueError:
            raise SceneError(wanted) from None
        if not 0.0 <= seconds < float("inf"):
            raise SceneError(wanted)
        return 0, seconds
    if isinstance(every, str) and every.isdecimal():
        every = int(every)
    if isinstance(every, bool) or not isinstance(every, int) or every < 1:
        raise SceneError(wanted)
    return every, 0.0
