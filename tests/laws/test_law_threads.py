"""Any number of CPU threads gives the same bits (`kernel/team.py`): every element is computed as one thread would."""

from __future__ import annotations

import pytest

import turgor
from support.laws import DEVICE
from support.worlds import scene_of
from turgor import gallery
from turgor.kernel import launch
from turgor.simulation.simulation import Simulation

pytestmark = [
    pytest.mark.req("X6", "X14"),
    pytest.mark.skipif(DEVICE != "cpu", reason="a GPU has threads of its own"),
]

# what runs, for how many frames, in how many worlds, and what is asked of the simulation
CASES = {
    "balls": (lambda: gallery.load("five-balls"), 12, 4, {}),
    "balls, ledger and readings": (lambda: gallery.load("five-balls"), 8, 2, {"ledger": True, "readings": True}),
    "balls and boxes, cloth": (lambda: scene_of(3, ["ball", "box", "cloth", "torus"]), 20, 3, {}),
    "flat": (lambda: scene_of(2, ["ball", "star", "box"]), 20, 5, {"precision": "double"}),
    "alone": (lambda: scene_of(3, ["torus"]), 20, 8, {}),
    "rk4": (lambda: scene_of(3, ["ball", "ball"]), 12, 3, {"solver": "rk4"}),
    "implicit": (lambda: scene_of(3, ["ball", "ball"]), 6, 3, {"solver": "implicit"}),
    "skins": (lambda: toys(), 6, 1, {}),
}


def toys() -> turgor.Scene:
    """Skins of a material with bending, in the wind."""
    scene = turgor.Scene(gravity=(0, 0, -9.81), wind=(3.0, 0.0, 0.0))
    scene.add_ground(friction=0.5)
    for number in range(4):
        ball = turgor.shapes.icosphere(radius=0.2, subdivisions=2)
        scene.add_soft_body(ball, name=f"toy{number}", at=(0.1 * number, 0, 0.3 + 0.45 * number), material="beach_ball")
    return scene


def ran(case: str, threads: int) -> Simulation:
    make, frames, worlds, options = CASES[case]
    sim = Simulation(make(), worlds=worlds, threads=threads, **options)
    for _ in range(frames):
        sim.step()
    return sim


@pytest.mark.parametrize("case", CASES)
def test_the_same_bits_for_any_number_of_threads(case, monkeypatch):
    monkeypatch.setattr(launch, "LEAST", 16)  # short loops are shared, too
    alone = ran(case, 1)
    for threads in (2, 3):
        sim = ran(case, threads)
        assert sim.threads == threads
        assert len(sim.engine.scratch.team.jobs) >= 3
        assert sim.state_hash() == alone.state_hash()
        assert repr(sim.energy()) == repr(alone.energy())


def test_lists_that_are_too_short_grow_to_the_same_bits(monkeypatch):
    monkeypatch.setattr(launch, "LEAST", 16)

    def short(threads: int) -> Simulation:
        sim = Simulation(gallery.load("five-balls"), worlds=4, threads=threads)
        method = sim.engine.split.method
        method.constraints.capacity, method.lists.candidates.capacity = 5, 7
        method.allocate()
        sim.run(seconds=0.8)
        assert sim.engine.replay.grown > 1
        return sim

    assert short(1).state_hash() == short(3).state_hash()


def test_a_saved_run_goes_on_with_any_number_of_threads(tmp_path, monkeypatch):
    monkeypatch.setattr(launch, "LEAST", 16)
    sim = ran("balls", 2)
    sim.save(tmp_path / "half.npz")
    more = [Simulation.load(tmp_path / "half.npz", threads=threads) for threads in (1, 3)]
    assert [other.threads for other in more] == [1, 3]
    for other in (sim, *more):
        for _ in range(6):
            other.step()
    assert len({other.state_hash() for other in (sim, *more)}) == 1


def test_auto_takes_threads_where_they_gain(monkeypatch):
    from turgor.simulation import threads

    monkeypatch.setattr(threads, "physical_cores", lambda: 4)
    monkeypatch.setenv("TURGOR_THREADS", "auto")
    balls = gallery.load("five-balls")
    assert Simulation(balls).threads == 1  # 810 vertices
    assert Simulation(balls, worlds=8).threads == 3  # 6,480, of which a thread should have 2,000
    assert Simulation(balls, worlds=12).threads == 4
    assert Simulation(balls, worlds=8, solver="implicit").threads == 1
    monkeypatch.setenv("TURGOR_THREADS", "2")
    assert Simulation(balls).threads == 2
    for wrong in ("none", "0", "1000"):
        monkeypatch.setenv("TURGOR_THREADS", wrong)
        with pytest.raises(turgor.SceneError, match="TURGOR_THREADS must be 'auto' or a whole number from 1 to 256"):
            Simulation(balls)


@pytest.mark.parametrize("wrong", [0, -1, 2.5, "two", 1000, True])
def test_bad_numbers_of_threads_are_refused(wrong):
    with pytest.raises(turgor.SceneError, match="threads must be"):
        Simulation(gallery.load("drop-2d"), threads=wrong)


def test_pairs_of_bodies_are_shared_by_work():
    """A few balls that touch, and then many of which only the boxes overlap: half of the pairs is not half the work."""
    scene = turgor.Scene(gravity=(0, 0, 0))
    ball = turgor.shapes.icosphere(radius=0.3, subdivisions=2)
    touching = [(0.605 * n, 0.0, 0.0) for n in range(6)]
    apart = [(10.0 + n, 0.45 * side, 0.45 * side) for n in range(12) for side in (0, 1)]
    for at in (*touching, *apart):
        scene.add_soft_body(ball, at=at, gas=turgor.Gas.at(gauge=100.0, ambient=1000.0))
    sim = Simulation(scene, threads=2, substeps=1, fps=1000.0)
    sim.step()
    lists = sim.engine.split.method.lists
    pairs = int(lists.pairs.pair_count.numpy()[0])
    counts = lists.slabs.slab_counts.numpy().reshape(-1, 6)[:pairs]
    work = 1 + counts[:, 0] * counts[:, 3] + counts[:, 1] * counts[:, 2] + counts[:, 4] * counts[:, 5]
    first, middle, last = lists.slabs.pair_cut.numpy()
    assert (first, last) == (0, pairs)
    assert abs(int(work[:middle].sum()) - int(work[middle:].sum())) <= work.max()  # as even as whole pairs allow
    half = pairs // 2
    assert abs(int(work[:half].sum()) - int(work[half:].sum())) > work.max()  # else nothing is tested
