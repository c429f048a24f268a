"""Launches over lists whose lengths only the device knows, and the flags by which kernels ask for stages to come."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import warp as wp

from turgor.kernel.launch import Launcher

__all__ = ["CANDIDATES", "CONSTRAINTS", "OVERLAPS", "PAIRS", "WORLD_ROWS", "FeatureLauncher", "Flags", "started_with"]

BLOCK = 64  # threads per body or pair of bodies on a GPU
THREADS = 1 << 16  # that share a list on a GPU; on the CPU one thread walks it
MOST_THREADS = 1 << 20  # that share one where each has little to do

# entries of `overflow` behind the flag: how much was needed of a list that was too short
PAIRS, CANDIDATES, CONSTRAINTS, OVERLAPS, WORLD_ROWS = 1, 2, 3, 4, 5


def started_with(per_point: int, points: int) -> int:
    """Entries of a list to begin with, which grows if that is too few: most points of a large scene touch nothing."""
    return 1024 + min(per_point * points, 100_000 + per_point * points // 8)


class FeatureLauncher(Launcher):
    """A launcher that also knows how many threads share a body, a pair or a list."""

    @property
    def parallel(self) -> bool:
        """Whether threads run at the same time."""
        return bool(self.device.is_cuda)

    @property
    def threads(self) -> int:
        """Of the CPU, that share the loops of a frame."""
        return 1 if self.team is None else self.team.size

    def zeros(self, size: int, dtype: Any) -> Any:
        """A new array on the device."""
        return wp.zeros(size, dtype=dtype, device=self.device)

    def tiles(self, kernel: Any, dim: int, **given: Any) -> None:
        """One block of threads per element; a single thread on the CPU."""
        self.blocks(kernel, dim, BLOCK if self.parallel else 1, **given)

    def walk(self, kernel: Any, over: str | None = None, **given: Any) -> None:
        """Threads that share a list: thread t takes the elements t, t + stride, t + 2 stride ...

        over: name of the list, where a kernel is so light that there should be a thread for each element.
        """
        stride = 1
        if self.parallel:
            stride = THREADS if over is None else min(len(self._found(f"kernel {kernel.key}", over)), MOST_THREADS)
        self(kernel, stride, stride=stride, **given)

    def walk_parts(self, kernel: Any, each: Mapping[str, Sequence[Any]] | None = None, **given: Any) -> None:
        """As `walk`; threads of the CPU each walk a part. each: arguments that every part has its own of."""
        stride = THREADS if self.parallel else 1
        self.parts(kernel, stride, each or {}, stride=stride, **given)

    def tile_parts(
        self, kernel: Any, dim: int, each: Mapping[str, Sequence[Any]] | None = None, block: int = BLOCK, **given: Any
    ) -> None:
        """As `tiles` over a list of at most `dim` elements, of which threads of the CPU each take a part."""
        if self.sharing == 1:
            own = {name: values[0] for name, values in (each or {}).items()}
            self.blocks(kernel, dim, block if self.parallel else 1, **own, **given)
        else:
            self.parts(kernel, (-(-dim // self.sharing), 1), each or {}, **given)


class Flags:
    """Ints set by kernels: a stage is needed, or a list was too short.

    Conditions of the recorded frame are single flags, which any world may set. What is then done depends on the flags
    of each world or body, so that a world has the same lists, in the same order, as if it were alone.
    """

    SAVED = ("all_stale", "world_stale", "untested", "world_untested", "some_own", "turned")

    def __init__(self, worlds: int, bodies: int, launch: FeatureLauncher, left_alone: Any = None) -> None:
        def flag(size: int = 1) -> Any:
            return launch.zeros(size, wp.int32)

        # bodies, each alone in its world, that do without contact in this substep: nothing of theirs changes
        self.left_alone = flag(bodies) if left_alone is None else left_alone
        self.all_stale, self.world_stale = flag(), flag(worlds)  # a body has left its bounds: pairs are searched again
        self.some_stale, self.world_some_stale = flag(), flag(worlds)  # lists of some pairs have used up their margins
        self.shape_doubt, self.body_doubt = flag(), flag(bodies)  # a body may no longer be star-shaped
        self.unsettled = flag()  # any of these, where conditions cost more than to say so (on a GPU)
        self.some_own = flag()  # a body has a list with itself
        self.turned = flag(bodies)  # a face has left the cone of its patch
        self.needs_tree, self.needs_self = flag(), flag()  # candidates by trees; of bodies with themselves
        self.untested, self.world_untested = flag(), flag(worlds)  # bodies may overlap from the start
        self.overflow = flag(6)  # [0]: a list was too short; then what was needed of each

    def forget(self) -> None:
        """Nothing is known about the present positions."""
        self.all_stale.fill_(1)
        self.world_stale.fill_(1)
        self.untested.fill_(1)
        self.world_untested.fill_(1)
