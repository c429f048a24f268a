"""Benchmarks in suites: each is a function that returns tables of plain numbers; ratios are taken inside one run."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from turgor.bench import (
    bounding,
    build,
    contact,
    growth,
    learn,
    machine,
    playground,
    self_contact,
    skins,
    sleeping,
    solvers,
    startup,
    study,
    threads,
    throughput,
    worlds,
)
from turgor.bench.measure import devices, taken_by
from turgor.bench.peers import compare
from turgor.bench.suite import Options, Suite
from turgor.errors import SceneError, did_you_mean

__all__ = ["FORMAT", "SUITES", "chosen", "run"]

FORMAT = 1  # of the results: {"format", "machine", "options", "suites": {name: {"about", "seconds", "tables"}}}
ALL = "all"

SUITES: dict[str, Suite] = {
    "throughput": Suite("One ball, 162 to 163,842 vertices (10 million on a GPU): Mvs/s, GB/s.", throughput.throughput),
    "worlds": Suite("1 to 4,096 worlds (16,384 on a GPU), with contact and without.", worlds.worlds),
    "contact": Suite("Frames with contact over frames without: a heap of 50 balls, and pile.", contact.contact),
    "self-contact": Suite("What self-contact costs a body that does not touch itself.", self_contact.self_contact),
    "solvers": Suite("Implicit against explicit solvers: at equal error, and of a thrown ball.", solvers.solvers),
    "threads": Suite("Speed-up of 1, 2 ... cores, and whether the states are the same.", threads.threads),
    "build": Suite("Seconds to build scenes: many worlds, large meshes.", build.build),
    "startup": Suite("From the command to the first frame, with a cold and a warm cache.", startup.startup),
    "playground": Suite("Frames and updates per second of the page; the first picture.", playground.playground),
    "peers": Suite("C++ by hand, Bullet, Jolt, MuJoCo, Newton: the same balls in one run.", compare.peers),
    "stages": Suite("Time of each stage of a substep.", throughput.stages, more=True),
    "frame": Suite("Host work per frame, and launches from Python.", throughput.frame, more=True),
    "growth": Suite("Time per vertex from ten thousand to a million vertices.", growth.growth, more=True),
    "pressure": Suite("Time of the pressure force against vertices (2003, figure 6).", growth.figure_6, more=True),
    "bounding": Suite("Points against bounding objects (2003, footnote 4).", bounding.bounding, more=True),
    "realtime": Suite("Real-time factors of scenes of the gallery.", contact.realtime, more=True),
    "pile": Suite("Time of each stage of a frame of pile.", contact.pile, more=True),
    "skins": Suite("Skins of a material beside springs.", skins.skins, more=True),
    "learn": Suite(
        "Control periods per second of the tasks of turgor.envs, 1 to 4,096 worlds.", learn.learn, more=True
    ),
    "sleeping": Suite("121 balls at rest: all awake, one awake, all asleep.", sleeping.sleeping, more=True),
    "study": Suite("4,000 sets of drop as a study, against one by one: ratio, equal numbers.", study.study, more=True),
    "solvers-large": Suite("The solvers with a ball of 163,842 vertices.", solvers.large, more=True),
}


def chosen(names: Sequence[str]) -> list[str]:
    """The named suites, in their own order; without names those that are not `more`; by "all" all of them."""
    for name in names:
        if name not in (*SUITES, ALL):
            raise SceneError(f"there is no suite {name!r}; {did_you_mean(name, SUITES)} (`turgor bench --list`)")
    if ALL in names:
        return list(SUITES)
    return [name for name, suite in SUITES.items() if (name in names if names else not suite.more)]


def run(
    names: Sequence[str] = (),
    options: Options | None = None,
    report: Callable[[int, int, str], None] = lambda done, total, name: None,
    keep: Callable[[dict[str, Any]], None] = lambda results: None,
) -> dict[str, Any]:
    """The results of suites, as JSON has them. report: called before each; keep: gets the results after each."""
    todo = chosen(names)
    options = options or Options(devices=tuple(devices()))
    results: dict[str, Any] = {
        "format": FORMAT,
        "machine": machine.described(options.devices),
        "options": {key: getattr(options, key) for key in ("devices", "threads", "quick", "clock")},
        "suites": {},
    }
    for done, name in enumerate(todo):
        report(done, len(todo), name)
        begin = time.perf_counter()
        with taken_by(options.clock):
            tables = SUITES[name].measure(options)
        seconds = round(time.perf_counter() - begin, 1)
        results["suites"][name] = {"about": SUITES[name].about, "seconds": seconds, "tables": tables}
        keep(results)
    return results
