"""Benchmarks: each is a function that returns plain numbers; ratios are taken inside one run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from turgor.bench import (
    bounding,
    contact,
    growth,
    peers,
    playground,
    self_contact,
    skins,
    solvers,
    startup,
    throughput,
)
from turgor.errors import SceneError

__all__ = ["BENCHMARKS", "run"]

BENCHMARKS: dict[str, Callable[[], dict[str, Any]]] = {
    "throughput": throughput.throughput,
    "stages": throughput.stages,
    "frame": throughput.frame,
    "peers": peers.peers,
    "growth": growth.growth,
    "pressure": growth.pressure,
    "contact": contact.contact,
    "bounding": bounding.bounding,
    "realtime": contact.realtime,
    "pile": contact.pile,
    "self-contact": self_contact.self_contact,
    "skins": skins.skins,
    "solvers": solvers.solvers,
    "solvers-large": solvers.large,
    "playground": playground.playground,
    "startup": startup.startup,
}


def run(names: list[str], report: Callable[[str], None] = lambda name: None) -> dict[str, Any]:
    """The named benchmarks (all if none is named), in their own order."""
    for name in names:
        if name not in BENCHMARKS:
            raise SceneError(f"no benchmark {name!r}; there are: {', '.join(BENCHMARKS)}")
    results = {}
    for name, benchmark in BENCHMARKS.items():
        if not names or name in names:
            report(name)
            results[name] = benchmark()
    return results
