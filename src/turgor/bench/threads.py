"""What several threads of the CPU gain, and that they change nothing: speed-up and hash of the state, in one run."""

from __future__ import annotations

from functools import partial

from turgor import gallery
from turgor.bench.measure import HAS_THREADS, ball_scene, in_turns, mean_frame, ratios, simulated, spread, taken_by
from turgor.bench.suite import Options, Row, Tables
from turgor.kernel.cores import physical_cores
from turgor.scene import Scene

__all__ = ["counts", "speed_up", "threads"]

ONE = "this build of turgor runs on one thread: its Simulation has no argument `threads`"
WARM_UP, BLOCK = 60, 5  # frames: to land, and of a run


def counts(cores: int) -> list[int]:
    """1, 2, 4 ... and all cores."""
    powers = [2**power for power in range(cores.bit_length()) if 2**power < cores]
    return [*powers, cores]


def threads(options: Options) -> Tables:
    """Speed-up of 1, 2 ... physical cores for many worlds and for one; the states must be the same bit for bit."""
    if not HAS_THREADS:
        return {"cpu": [{"missing": ONE}]}
    few = 2 if options.quick else 64
    cases: dict[str, tuple[Scene, int]] = {
        f"{few} worlds x 162 vertices": (ball_scene(2), few),
        f"{few} worlds x five-balls": (gallery.load("five-balls"), few),
        "pile": (gallery.load("pile"), 1),
    }
    if options.quick:
        del cases["pile"]
    cores = 2 if options.quick else physical_cores()
    return {
        f"cpu: {title}": speed_up(scene, worlds, counts(cores), options) for title, (scene, worlds) in cases.items()
    }


def speed_up(scene: Scene, worlds: int, numbers: list[int], options: Options) -> list[Row]:
    """A row for each number of threads, measured in turns by the wall clock."""
    sims = {number: simulated(scene, "cpu", number, worlds=worlds) for number in numbers}
    for sim in sims.values():
        for _ in range(2 if options.quick else WARM_UP):
            sim.step()
    block = 1 if options.quick else BLOCK
    actions = {str(number): partial(mean_frame, sim, block) for number, sim in sims.items()}
    with taken_by("wall"):
        times = in_turns(actions, options.rounds)
    states = {number: sim.state_hash() for number, sim in sims.items()}
    first = str(numbers[0])
    return [
        {
            "threads": number,
            "frame_ms": spread(1e3 * seconds for seconds in times[str(number)]),
            "speed_up": ratios(times[first], times[str(number)]),
            "same_state": states[number] == states[numbers[0]],
            "state_hash": states[number][:16],
        }
        for number in numbers
    ]
