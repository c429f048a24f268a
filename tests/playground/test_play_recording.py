"""What the playground records: compact, bounded, of one layout; what it gives back is what it took."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

from turgor import Scene, Simulation, gallery, shapes
from turgor.output.frame import Frame, Layout
from turgor.viewer.world.recording import MAX_BYTES, Recording, same_layout

pytestmark = pytest.mark.req("X8")


def run(name: str, frames: int) -> tuple[Layout, list[Frame]]:
    """The first frames of a gallery scene."""
    sim = Simulation(gallery.load(name))
    taken = [sim.frame()]
    for _ in range(frames - 1):
        sim.step()
        taken.append(sim.frame())
    return sim.layout, taken


@pytest.fixture(scope="module")
def box() -> tuple[Layout, list[Frame]]:
    """Soft bodies in a container that turns."""
    return run("rotating-box", 12)


def recorded(layout: Layout, frames: list[Frame], **options: int) -> Recording:
    recording = Recording(layout, **options)
    for frame in frames:
        recording.add(frame)
    return recording


def test_frames_come_back(box):
    layout, frames = box
    recording = recorded(layout, frames)
    assert len(recording) == 12
    assert recording.duration == pytest.approx(11 / layout.fps)
    for number, frame in enumerate(frames):
        back = recording.frame(number)
        assert (back.index, back.time) == (frame.index, frame.time)
        assert np.array_equal(back.positions, frame.positions.astype(np.float32))
        assert np.array_equal(back.velocities, frame.velocities.astype(np.float32))
        assert back.positions.dtype == np.float64
        assert np.array_equal(back.volumes, frame.volumes, equal_nan=True)
        assert np.array_equal(back.pressures, frame.pressures, equal_nan=True)
        for pose, original in zip(back.walls, frame.walls, strict=True):
            assert np.array_equal(pose.position, original.position)
            assert np.array_equal(pose.rotation, original.rotation)


@pytest.mark.req("X11")
def test_fields_of_materials_come_back():
    """Of a ball beside one of springs, in single precision; between two frames their mean, and the state before."""
    scene = Scene()
    scene.add_ground()
    scene.add_soft_body(shapes.icosphere(0.3, 1), name="springs", at=(1, 0, 0.31))
    scene.add_soft_body(shapes.icosphere(0.3, 1), name="b", at=(0, 0, 0.31), material="jelly", velocity=(0, 0, -4))
    sim = Simulation(scene)
    frames = [sim.frame()]
    for _ in range(5):
        sim.step()
        frames.append(sim.frame())
    recording = pickle.loads(pickle.dumps(recorded(sim.layout, frames)))
    for number, frame in enumerate(frames):
        back = recording.frame(number)
        for name in ("stretch", "stress", "tension", "wrinkled"):
            np.testing.assert_array_equal(getattr(back, name), getattr(frame, name).astype(np.float32), err_msg=name)
    halfway = recording.sample(0.5 * (recording.seconds(3) + recording.seconds(4)))
    np.testing.assert_allclose(halfway.stress, (frames[3].stress + frames[4].stress) / 2, rtol=1e-5, atol=1e-3)
    np.testing.assert_array_equal(halfway.wrinkled, frames[3].wrinkled)
    changed = replace(frames[-1], stretch=None, stress=None, tension=None, wrinkled=None)
    other = recorded(sim.layout, frames[:-1])
    assert not other.add(changed)
    assert "other bodies" in other.ended


def test_it_keeps_copies(box):
    layout, frames = box
    mutable = replace(frames[0], positions=frames[0].positions.copy())
    recording = recorded(layout, [mutable])
    mutable.positions[:] = 7.0
    recording.frame(0).volumes[:] = -1.0
    assert np.array_equal(recording.frame(0).positions, frames[0].positions.astype(np.float32))
    assert np.array_equal(recording.frame(0).volumes, frames[0].volumes, equal_nan=True)


def test_memory_is_bounded_and_it_says_so(box):
    layout, frames = box
    one = recorded(layout, frames[:1]).nbytes
    assert one >= layout.vertices * layout.dim * 2 * 4
    limit = 5 * one + one // 2
    recording = Recording(layout, limit)
    taken = [recording.add(frame) for frame in frames]
    assert taken == [True] * 5 + [False] * 7
    assert len(recording) == 5
    assert recording.nbytes <= limit
    assert "full" in recording.ended
    assert Recording(layout).max_bytes == MAX_BYTES == 256 * 2**20


def test_memory_is_counted_honestly(box):
    """The bound is on what is there: the pickle of all frames is not larger than the count."""
    layout, frames = box
    recording = recorded(layout, frames)
    assert len(pickle.dumps(recording)) - len(pickle.dumps(Recording(layout))) <= recording.nbytes


def test_a_frame_of_the_same_time_replaces_the_last(box):
    layout, frames = box
    recording = recorded(layout, frames[:3])
    before = recording.nbytes
    assert recording.add(replace(frames[5], time=frames[2].time))
    assert len(recording) == 3
    assert recording.nbytes == before
    assert np.array_equal(recording.frame(2).positions, frames[5].positions.astype(np.float32))


def test_a_reset_ends_it(box):
    layout, frames = box
    recording = recorded(layout, frames[:4])
    assert not recording.add(frames[0])
    assert "reset" in recording.ended
    assert not recording.add(frames[5])  # it stays ended
    assert len(recording) == 4


def test_other_bodies_end_it(box):
    layout, frames = box
    recording = recorded(layout, frames[:4])
    fewer = replace(frames[4], positions=frames[4].positions[1:], velocities=frames[4].velocities[1:])
    assert not recording.add(fewer)
    assert "bodies" in recording.ended
    assert len(recording) == 4


def test_layouts_are_told_apart(box):
    layout, _ = box
    again = Simulation(gallery.load("rotating-box")).layout
    assert again is not layout
    assert same_layout(layout, again)
    assert not same_layout(layout, run("drop-2d", 1)[0])
    first = layout.bodies[0]
    turned = replace(layout, bodies=(replace(first, faces=first.faces[:, ::-1]), *layout.bodies[1:]))
    assert not same_layout(layout, turned)
    assert not same_layout(layout, replace(layout, walls=()))


def test_the_frame_at_a_time(box):
    layout, frames = box
    recording = recorded(layout, frames)
    step = 1 / layout.fps
    assert [recording.at(k * step) for k in range(12)] == list(range(12))
    assert recording.at(3.4 * step) == 3
    assert (recording.at(-1.0), recording.at(99.0)) == (0, 11)
    assert Recording(layout).at(0.5) == 0
    assert Recording(layout).duration == 0.0


def test_time_counts_from_the_first_frame(box):
    layout, frames = box
    recording = recorded(layout, frames[6:])
    assert recording.seconds(0) == 0.0
    assert recording.at(0.0) == 0
    assert recording.sample(0.0).time == frames[6].time


def test_between_two_frames_lies_their_mean_and_walls_stay_rigid(box):
    layout, frames = box
    recording = recorded(layout, [frames[0], frames[8]])
    middle = recording.sample(recording.duration / 2)
    mean = (frames[0].positions + frames[8].positions) / 2
    assert np.allclose(middle.positions, mean, atol=1e-6)
    assert middle.time == pytest.approx((frames[0].time + frames[8].time) / 2)
    turned = [pose.rotation for pose in (frames[0].walls[0], middle.walls[0], frames[8].walls[0])]
    assert not np.allclose(turned[0], turned[2])
    assert np.allclose(turned[1] @ turned[1].T, np.eye(layout.dim), atol=1e-12)
    assert np.allclose(turned[1] @ turned[0].T, turned[2] @ turned[1].T, atol=1e-12)  # half of the turn each


def test_thinning_keeps_the_rate_on_average():
    layout, (frame, *_) = run("drop-2d", 1)
    recording = Recording(layout)
    for k in range(401):  # 10 s at 40 frames/s
        recording.add(replace(frame, time=k / 40))
    thin = recording.thinned(30.0)
    assert thin[0] == 0
    assert 290 <= len(thin) <= 301
    assert np.diff([recording.seconds(k) for k in thin]).max() <= 0.0501
    assert recording.thinned(60.0) == list(range(401))


def test_a_snapshot_does_not_grow(box):
    layout, frames = box
    recording = recorded(layout, frames[:3])
    snapshot = recording.snapshot()
    recording.add(frames[3])
    assert (len(snapshot), len(recording)) == (3, 4)
    assert snapshot.nbytes < recording.nbytes
    assert not snapshot.add(frames[4])
