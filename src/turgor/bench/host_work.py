"""What Python does while frames run, counted: launches, replays of graphs, looks at device arrays, new arrays."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import warp as wp

from turgor.simulation.simulation import Simulation

__all__ = ["HostWork", "recorded_launches", "watched"]


@dataclass
class HostWork:
    """launches: (kernel, threads or blocks of threads, arguments) of each kernel that Python launches or records.

    replays: of recorded graphs. looks: arrays that are read on the host, which on a GPU is a copy, and a wait for all
    that was launched before. arrays: that were made.
    """

    launches: list[tuple[Any, int, list[Any]]] = field(default_factory=list)
    replays: int = 0
    looks: int = 0
    arrays: int = 0


@contextmanager
def watched() -> Iterator[HostWork]:
    """Counts what Warp is asked for meanwhile."""
    work = HostWork()
    launch, launch_tiled, replay = wp.launch, wp.launch_tiled, wp.capture_launch
    look, make = wp.array.numpy, wp.array.__init__

    def note(kernel: Any, dim: Any, inputs: list[Any]) -> None:
        work.launches.append((kernel, math.prod(dim) if isinstance(dim, (tuple, list)) else dim, inputs))

    def one(kernel: Any, dim: Any, **rest: Any) -> Any:
        note(kernel, dim, rest.get("inputs", []))
        return launch(kernel, dim=dim, **rest)

    def blocks(kernel: Any, dim: Any, **rest: Any) -> Any:
        note(kernel, dim, rest.get("inputs", []))
        return launch_tiled(kernel, dim=dim, **rest)

    def replayed(*args: Any, **rest: Any) -> Any:
        work.replays += 1
        return replay(*args, **rest)

    def looked(array: Any) -> Any:
        work.looks += 1
        return look(array)

    def made(array: Any, *args: Any, **rest: Any) -> None:
        work.arrays += 1
        make(array, *args, **rest)

    with ExitStack() as stack:
        for owner, name, counted in (
            (wp, "launch", one), (wp, "launch_tiled", blocks), (wp, "capture_launch", replayed),
            (wp.array, "numpy", looked), (wp.array, "__init__", made),
        ):  # fmt: skip
            stack.callback(setattr, owner, name, getattr(owner, name))
            setattr(owner, name, counted)
        yield work


def recorded_launches(sim: Simulation) -> int:
    """Kernels in the graph of a frame; those inside a loop or a condition count once."""
    sim.engine.replay.record_again()
    with watched() as work:
        sim.prepare()
    return len(work.launches)
