"""Rates of the last second: frames, simulated time and updates per second of the wall clock."""

from __future__ import annotations

import time
from collections import deque

__all__ = ["STREAM_SHARE", "Rates"]

WINDOW = 1.0  # s
STREAM_SHARE = 0.35  # of the time of the world's thread that streaming may take


class Rates:
    """Counts frames and updates, and gives their rates over the last second."""

    def __init__(self) -> None:
        self._frames: deque[tuple[float, int, float]] = deque()  # time, frames, simulated seconds
        self._updates: deque[float] = deque()
        self.all_frames = 0
        self.all_updates = 0
        self.frame_seconds = 0.0  # that the last simulated frame took
        self.update_seconds = 0.0  # that the last update took
        self.update_gap = 0.0  # s between the last two updates

    def frames(self, count: int, seconds: float, took: float) -> None:
        """Frames were simulated: how many, how long in the world and how long by the clock (s)."""
        if count:
            self._frames.append((time.perf_counter(), count, seconds))
            self.all_frames += count
            self.frame_seconds = took / count

    def update(self, took: float) -> None:
        """A frame was streamed, which took this long (s)."""
        now = time.perf_counter()
        self.update_gap = now - self._updates[-1] if self._updates else 0.0
        self._updates.append(now)
        self.all_updates += 1
        self.update_seconds = took

    def _prune(self) -> None:
        start = time.perf_counter() - WINDOW
        while self._frames and self._frames[0][0] < start:
            self._frames.popleft()
        while self._updates and self._updates[0] < start:
            self._updates.popleft()

    @property
    def frame_rate(self) -> float:
        """Simulated frames per second."""
        self._prune()
        return sum(count for _, count, _ in self._frames) / WINDOW

    @property
    def real_time_factor(self) -> float:
        """Simulated seconds per second."""
        self._prune()
        return sum(seconds for _, _, seconds in self._frames) / WINDOW

    @property
    def update_rate(self) -> float:
        """Streamed updates per second."""
        self._prune()
        return len(self._updates) / WINDOW
