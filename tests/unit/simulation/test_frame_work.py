"""A guard that is not a clock: what frames of fixed scenes cost is counted, on the host and on the device.

Bounds are what was counted when they were set; where less is done now, lower them.
"""

from __future__ import annotations

import gc
import tracemalloc
from typing import Any

import pytest

from turgor import gallery
from turgor.bench.host_work import recorded_launches, watched
from turgor.bench.measure import simulated
from turgor.simulation.simulation import Simulation

#: Of a graph, with the branches that are not taken. On a GPU each costs about 1 µs in every substep or round that
#: comes to it, and small scenes consist of that.
KERNELS = {"drop": 110, "five-balls": 112, "pile": 159}
#: Status of the frame, frames computed, substeps taken: by each frame on the CPU (on a GPU by one in 30).
LOOKS = 3
#: Python's own bookkeeping; a list or an array that is kept by each of ten frames would be more.
HOST_BYTES = 2_000
#: Trajectories of other processors differ by round-off, and their contacts by some: a quarter more is no regression.
SPARE = 1.25
#: Since the start: sweeps (one in a substep with candidates near), candidates that they followed, further rounds of
#: sweeps, candidates that these followed.
SWEEPS = ("sweeps", "followed", "rounds", "followed_again")
#: Frame at which is counted; substeps of that frame, candidates in the lists, contacts, and SWEEPS.
WORK: dict[str, tuple[int, dict[str, int]]] = {
    "drop": (60, {"substeps": 52, "candidates": 0, "contacts": 16, "sweeps": 669, "followed": 343_636, "rounds": 0,
                  "followed_again": 0}),
    "five-balls": (30, {"substeps": 8, "candidates": 1_716, "contacts": 107, "sweeps": 148, "followed": 22_179,
                        "rounds": 0, "followed_again": 0}),
    "pile": (30, {"substeps": 6, "candidates": 22_561, "contacts": 1_753, "sweeps": 91, "followed": 246_901,
                  "rounds": 36, "followed_again": 2_720}),
}  # fmt: skip


def built(name: str) -> Simulation:
    return simulated(gallery.load(name))


def work_of(sim: Simulation) -> dict[str, int]:
    """What contact has to do, as the device counts it."""
    assert sim.engine.split is not None
    method: Any = sim.engine.split.method
    sweeps = zip(SWEEPS, method.sweep_stage.sweep_work.numpy().tolist(), strict=True)
    return {
        "substeps": sim.substeps,
        "candidates": int(method.lists.candidates.candidate_count.numpy()[0]),
        "contacts": sim.contacts().count,
        **dict(sweeps),
    }


@pytest.mark.req("X6")
@pytest.mark.parametrize("name", KERNELS)
def test_a_frame_is_one_replay_and_makes_nothing(name: str) -> None:
    """After the first frame Python launches no kernel, makes no array, and looks at nothing but how the frame went."""
    sim = built(name)
    assert recorded_launches(sim) <= KERNELS[name]
    for _ in range(2):
        sim.step()
    frames = 5
    with watched() as work:
        for _ in range(frames):
            sim.step()
    assert work.launches == []
    assert work.arrays == 0
    assert work.replays == frames
    assert work.looks <= LOOKS * frames


@pytest.mark.req("X6")
def test_host_memory_does_not_grow_with_frames() -> None:
    sim = built("five-balls")
    for _ in range(3):
        sim.step()
    gc.collect()
    tracemalloc.start()
    try:
        sim.step()
        before, _ = tracemalloc.get_traced_memory()
        for _ in range(10):
            sim.step()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before <= HOST_BYTES


@pytest.mark.req("X1", "X6")
@pytest.mark.parametrize("name", WORK)
def test_work_of_contact_in_fixed_scenes(name: str) -> None:
    frames, bounds = WORK[name]
    sim = built(name)
    for _ in range(frames):
        sim.step()
    done = work_of(sim)
    assert done["contacts"] > 0  # else nothing is tested
    assert {key: count for key, count in done.items() if count > SPARE * bounds[key]} == {}
    assert sim.engine.replay.grown <= 4  # buffers double; each time costs the frames of before again


@pytest.mark.req("X6")
def test_each_thing_that_is_counted_is_counted() -> None:
    """A frame that is recorded again launches, replays, looks and makes arrays."""
    sim = built("five-balls")
    sim.step()
    with watched() as work:
        sim.engine.replay.record_again()
        sim.step()
        sim.state.x.numpy()
    assert len(work.launches) > 50
    assert work.replays == 1
    assert work.looks >= 1
    assert work.arrays > 0
