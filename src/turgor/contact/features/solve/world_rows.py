"""Which contacts each world has, where a block of threads solves those of one world (`impulses.py`)."""

from __future__ import annotations

from typing import Any

import warp as wp

from turgor.contact.features.launch import FeatureLauncher
from turgor.model.model import Model

__all__ = ["WorldRows"]

SMALL = 4096  # soft points of a world: with more, rounds by all of a GPU take less time than those of one block


class WorldRows:
    """Per world, places of its contacts among those of all worlds; nothing where there is one world, or no block."""

    def __init__(self, model: Model, launch: FeatureLauncher) -> None:
        self.launch = launch
        self.by_blocks = launch.parallel and not model.rigids.total and model.vertices <= SMALL
        self.worlds = model.worlds if self.by_blocks and model.worlds > 1 else 0
        self.capacity = 128  # contacts of a world, to begin with
        self.allocate()

    def allocate(self) -> None:
        """Room for as many contacts per world as the present capacity says."""
        self.rows: Any = self.launch.zeros(self.worlds * self.capacity, wp.int32)
