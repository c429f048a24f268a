"""Threads that share the loops of a recorded frame."""

import gc
import threading
import weakref
from typing import Any, no_type_check

import numpy as np
import pytest
import warp as wp

from turgor.kernel.board import CLAIMED, DONE, LINE, TICKET
from turgor.kernel.launch import Launcher, begin_of
from turgor.kernel.numbers import start_warp
from turgor.kernel.team import Team

start_warp()
COUNT, ROUNDS = 6000, 40


@no_type_check
@wp.kernel(enable_backward=False, module="tests.team")
def mix(x: wp.array(dtype=float), y: wp.array(dtype=float), shift: int, start_index: int):
    """Every element depends on two of the round before, one of them of another thread."""
    i = start_index + wp.tid()
    y[i] = 0.5 * (x[i] + wp.sin(3.0 * x[(i + shift) % x.shape[0]]))


@no_type_check
@wp.kernel(enable_backward=False, module="tests.team")
def count_down(left: wp.array(dtype=int)):
    left[0] = left[0] - 1


@no_type_check
@wp.kernel(enable_backward=False, module="tests.team")
def note(count: wp.array(dtype=int), part: int, parts: int, seen: wp.array(dtype=int)):
    for k in range(begin_of(part, parts, count[0]), begin_of(part + 1, parts, count[0])):
        seen[k] = seen[k] + 1 + part


@no_type_check
@wp.kernel(enable_backward=False, module="tests.team")
def halve(x: wp.array(dtype=float), y: wp.array(dtype=float), start_index: int):
    """Every element depends on its own place alone."""
    i = start_index + wp.tid()
    y[i] = 0.5 * (x[i] + wp.sin(3.0 * y[i]))


@no_type_check
@wp.kernel(enable_backward=False, module="tests.team")
def add_up(x: wp.array(dtype=float), total: wp.array(dtype=float)):
    for i in range(x.shape[0]):
        total[0] += x[i]


class Mixer:
    """A frame of rounds, each of two loops, in a loop of which only the device knows the end."""

    def __init__(self, size: int, count: int = COUNT) -> None:
        start = np.random.default_rng(0).random(count).astype(np.float32)
        self.x, self.y = wp.array(start, device="cpu"), wp.zeros(count, dtype=float, device="cpu")
        self.left = wp.zeros(1, dtype=int, device="cpu")
        self.team = Team(size)
        self.launch = Launcher("cpu")
        self.launch.team = self.team
        self.team.begin()
        with wp.ScopedCapture(device="cpu") as capture:
            wp.capture_while(self.left, self.round)
            self.team.end()
        self.graph = capture.graph
        self.team.enlist()

    def round(self) -> None:
        for one, two in ((self.x, self.y), (self.y, self.x)):
            self.launch.split(mix, len(one), x=one, y=two, shift=4321)
        self.launch(count_down, 1, left=self.left)

    def frame(self) -> Any:
        self.left.fill_(ROUNDS)
        self.team.start()
        wp.capture_launch(self.graph)
        return self.x.numpy().copy()


@pytest.mark.parametrize("size", [2, 3, 5])
def test_threads_compute_what_one_does(size: int) -> None:
    alone, together = Mixer(1), Mixer(size)
    for _ in range(5):
        np.testing.assert_array_equal(alone.frame(), together.frame())
    assert len(together.team.jobs) == 2  # there and back, in each round the same
    assert not alone.team.jobs


def test_short_loops_stay_with_one_thread() -> None:
    assert not Mixer(2, count=900).team.jobs


def test_cuts_are_kept() -> None:
    launch = Launcher("cpu")
    launch.team = Team(3)
    launch.team.begin()
    cuts = np.array([0, 2000, 2500, 9000, 12000])
    assert launch._ranges(12000, cuts, 1) == [(0, 2500), (2500, 9000), (9000, 12000)]
    assert launch._ranges(12000, np.array([0, 12000]), 1) == [(0, 12000)]  # one body cannot be cut
    launch.team.end()
    assert launch._ranges(12000, cuts, 1) == [(0, 12000)]  # nothing is recorded: one thread


def put_together(size: int, bodies: Any) -> tuple[float, int]:
    """(a sum over rounds of three loops, number of jobs); bodies: where they begin."""
    x = wp.array(np.random.default_rng(0).random(COUNT).astype(np.float32), device="cpu")
    y, total = wp.zeros(COUNT, dtype=float, device="cpu"), wp.zeros(1, dtype=float, device="cpu")
    team, launch = Team(size), Launcher("cpu")
    launch.team = team
    team.begin()
    with wp.ScopedCapture(device="cpu") as capture:
        for _ in range(ROUNDS):
            launch.put_together(bodies)
            for one, two in ((x, y), (y, x), (x, y)):
                launch.split(halve, COUNT, bodies=bodies, x=one, y=two)
            launch(add_up, 1, x=y, total=total)  # what all threads have done
        team.end()
    team.enlist()
    team.start()
    wp.capture_launch(capture.graph)
    return float(total.numpy()[0]), len(team.jobs)


@pytest.mark.parametrize("size", [2, 3])
def test_loops_over_the_same_bodies_are_one_job(size: int) -> None:
    even, uneven = np.arange(0, COUNT + 1, 500), np.array([0, 100, COUNT])
    alone, _ = put_together(1, even)
    assert put_together(size, even) == (alone, 1)
    assert put_together(size, uneven) == (
        alone,
        2,
    )  # there and back: bodies that are no even shares are not put together


def test_parts_of_a_list_cover_it_once() -> None:
    team = Team(3)
    launch = Launcher("cpu")
    launch.team = team
    count, seen = wp.array([100], dtype=int, device="cpu"), wp.zeros(200, dtype=int, device="cpu")
    team.begin()
    with wp.ScopedCapture(device="cpu") as capture:
        launch.parts(note, 1, {}, count=count, seen=seen)
        team.end()
    team.enlist()
    team.start()
    wp.capture_launch(capture.graph)
    expected = np.zeros(200, int)
    expected[:33], expected[33:66], expected[66:100] = 1, 2, 3
    np.testing.assert_array_equal(seen.numpy(), expected)


def test_a_frame_that_is_recorded_again_has_a_board_of_its_own() -> None:
    """Threads of the old recording would do the jobs of that one."""
    mixer = Mixer(2)
    before, old = mixer.team._board, mixer.team._helpers[0].thread
    mixer.frame()
    mixer.team.begin()
    assert mixer.team._board is not before
    mixer.team.end()
    old.join(10.0)
    assert not old.is_alive()


def test_tickets_go_on_beyond_32_bits() -> None:
    """That is three days of a scene with a hundred jobs in a frame."""
    alone, together = Mixer(1), Mixer(3)
    team = together.team
    for place in (TICKET, *(first + 2 * LINE * other for first in (CLAIMED, DONE) for other in range(2))):
        team._on_host[place] = 2**31 - 30
    for helper in team._helpers:
        helper._seen.fill_(2**31 - 30)
    np.testing.assert_array_equal(alone.frame(), together.frame())
    assert team._on_host[TICKET] > 2**31


def test_threads_end_with_their_team() -> None:
    mixer = Mixer(3)
    mixer.frame()
    threads, alive = [helper.thread for helper in mixer.team._helpers], weakref.ref(mixer.team)
    assert len(threads) == 2
    assert all(thread.is_alive() for thread in threads)
    del mixer
    gc.collect()
    assert alive() is None
    for thread in threads:
        thread.join(10.0)
        assert not thread.is_alive()


def test_teams_run_beside_each_other() -> None:
    """Each has its own board: simulations in threads of the user do not disturb each other."""
    mixers, expected = [Mixer(2) for _ in range(3)], Mixer(1).frame()
    found: list[Any] = [None] * 3

    def run(k: int) -> None:
        found[k] = mixers[k].frame()

    threads = [threading.Thread(target=run, args=(k,)) for k in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result in found:
        np.testing.assert_array_equal(result, expected)
