"""Velocity vectors, times and the camera of several frames: all of it in the picture, and nothing hidden by it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from support.layouts import GROUND_POSE_2D, ball_frame, ball_layout, disc_layout, frame_of
from turgor.output.frame import Frame
from turgor.record import Painter
from turgor.record.look import TEXT, VELOCITY, Pixels, write_text

pytest.importorskip("pyvista")
pytestmark = pytest.mark.picture

SIZE = (320, 240)


def red(picture: Pixels) -> np.ndarray:
    """Pixels (rows, columns, bool) that are mostly of the colour of velocity vectors."""
    return np.abs(picture.astype(int) - 255 * np.array(VELOCITY)).sum(axis=2) < 150


def border(found: np.ndarray) -> int:
    """How many of the outermost pixels are found."""
    return int(found[0].sum() + found[-1].sum() + found[:, 0].sum() + found[:, -1].sum())


def moving(velocity: float, only: int | None = None) -> Frame:
    """The ball of ball_layout at 1 m, all its points or one of them with this velocity to the right (m/s)."""
    _, rest = ball_layout()
    velocities = np.zeros_like(rest)
    velocities[slice(None) if only is None else only, 0] = velocity
    return replace(ball_frame(rest, 0, 1.0), velocities=velocities)


@pytest.mark.req("D7")
def test_a_vector_is_as_thin_when_it_is_long() -> None:
    """The ink of one vector grows with its length: a thin red line, as on the poster."""
    layout, rest = ball_layout(color=(0.2, 0.4, 0.9))
    last = int(np.argmax(rest[:, 0]))
    inks = []
    for velocity in (3.0, 12.0):
        with Painter(layout, size=(960, 720), velocities=True, velocity_seconds=0.1) as painter:
            painter.aim(moving(12.0, last))  # the same camera for both
            inks.append(int(red(painter.draw(moving(velocity, last))).sum()))
    assert 2.5 < inks[1] / inks[0] < 4.5


@pytest.mark.req("D7")
def test_vectors_do_not_hide_the_ball() -> None:
    layout, _ = ball_layout(color=(0.2, 0.4, 0.9))
    with Painter(layout, size=(238, 300), velocities=True, velocity_seconds=0.06) as painter:
        picture = painter.draw(moving(4.0))
    assert 0.005 < red(picture).mean() < 0.05
    blue = picture[..., 2].astype(int) > picture[..., 0].astype(int) + 40
    assert blue.sum() > 3 * red(picture).sum()


@pytest.mark.req("D7")
@pytest.mark.parametrize("dim", [2, 3])
def test_no_vector_is_cut_off(dim: int) -> None:
    """A body that moves fast: tips of its vectors are in the picture, of all frames that the camera was set by."""
    if dim == 3:
        layout, _ = ball_layout()
        frames = [moving(0.0), moving(9.0), moving(-9.0)]
    else:
        layout, rest = disc_layout()
        still = frame_of(rest, 0, 2, GROUND_POSE_2D)
        frames = [replace(still, velocities=np.tile([speed, 0.0], (len(rest), 1))) for speed in (0.0, 9.0, -9.0)]
    with Painter(layout, size=SIZE, velocities=True) as painter:
        painter.aim(*frames)
        pictures = [painter.draw(frame) for frame in frames]
    assert all(red(picture).sum() > 50 for picture in pictures[1:])
    assert [border(red(picture)) for picture in pictures] == [0, 0, 0]


@pytest.mark.parametrize("dim", [2, 3])
def test_the_camera_sees_all_frames_that_it_is_set_by(dim: int) -> None:
    """The body travels five times its size; set by the first frame alone it would leave the picture."""
    if dim == 3:
        layout, rest = ball_layout(color=(0.9, 0.1, 0.1))
        frames = [ball_frame(rest + np.array([x, 0.0, 0.0]), k, 0.6) for k, x in enumerate((0.0, 5.0))]
    else:
        layout, rest = disc_layout()
        layout = replace(layout, bodies=tuple(replace(body, color=(0.9, 0.1, 0.1)) for body in layout.bodies))
        frames = [frame_of(rest + np.array([x, 0.0]), k, 2, GROUND_POSE_2D) for k, x in enumerate((0.0, 8.0))]
    with Painter(layout, size=SIZE) as painter:
        painter.aim(*frames)
        pictures = [painter.draw(frame).astype(int) for frame in frames]
    shown = [(picture[..., 0] > picture[..., 1] + 60) for picture in pictures]
    assert shown[0].sum() == pytest.approx(shown[1].sum(), rel=0.3)
    assert shown[0].sum() > 100
    assert [border(part) for part in shown] == [0, 0]


def test_a_picture_of_what_flies_apart_still_shows_the_bodies() -> None:
    layout, _ = ball_layout(color=(0.9, 0.1, 0.1))
    with Painter(layout, size=SIZE, velocities=True) as painter:
        picture = painter.draw(moving(1e9)).astype(int)
    assert (picture[..., 0] > picture[..., 1] + 60).sum() > 300


@pytest.mark.parametrize("height", [60, 180, 720])
def test_the_time_is_read_over_anything(height: int) -> None:
    """Dark letters on a light plate, inside the picture, at least 14 pixels high with their plate."""
    busy = np.tile(np.array([216, 30, 44], np.uint8), (height, 400, 1))
    picture = write_text(busy, "t = 0.500 s").astype(int)
    changed = (picture != busy).any(axis=2)
    rows, columns = np.flatnonzero(changed.any(axis=1)), np.flatnonzero(changed.any(axis=0))
    assert 14 <= np.ptp(rows) <= max(40, height // 10)
    assert border(changed) == 0
    plate = picture[rows[0] : rows[-1], columns[0] : columns[-1]]
    light = (plate > 200).all(axis=2).mean()
    assert light > 0.5
    assert (np.abs(plate - 255 * np.array(TEXT)).sum(axis=2) < 60).sum() > 20
