"""Edges that are smoothed in the finished picture, and pictures of which only a part is drawn again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from support.layouts import ball_frame, ball_layout
from turgor.output.frame import WallPose
from turgor.record.antialias import smooth_edges
from turgor.record.render import Painter

pytestmark = pytest.mark.req("X9")


def half_plane(slope: float, fine: int) -> np.ndarray:
    """A dark half plane under a line, each pixel the mean of fine x fine points."""
    y, x = (np.mgrid[0 : 60 * fine, 0 : 90 * fine] + 0.5) / fine
    dark = (y - 30.0 > slope * (x - 45.0)).astype(float)
    shade = 240.0 - 200.0 * dark.reshape(60, fine, 90, fine).mean(axis=(1, 3))
    return np.repeat(shade[..., None], 3, axis=2).round().astype(np.uint8)


@pytest.mark.parametrize(("slope", "share"), [(0.13, 0.5), (0.31, 0.7), (0.8, 0.8), (-0.24, 0.7), (3.3, 0.7)])
def test_an_edge_comes_near_to_the_exact_one(slope: float, share: float) -> None:
    """Of the error at most a share is left; near the diagonal steps are so short that little can be known of them."""
    jagged, exact = half_plane(slope, 1).astype(float), half_plane(slope, 16).astype(float)
    smooth = smooth_edges(half_plane(slope, 1)).astype(float)
    inner = np.s_[12:-12, 12:-12]
    assert np.abs(smooth - exact)[inner].sum() < share * np.abs(jagged - exact)[inner].sum()
    assert np.abs(smooth - exact)[inner].max() < 110.0


def test_what_has_no_edges_stays_as_it_is() -> None:
    ramp = np.repeat(np.linspace(0, 255, 64).astype(np.uint8)[None, :, None], 40, axis=0).repeat(3, axis=2)
    np.testing.assert_array_equal(smooth_edges(ramp), ramp)
    tiny = np.zeros((2, 5, 3), np.uint8)
    np.testing.assert_array_equal(smooth_edges(tiny), tiny)


@pytest.mark.picture
@pytest.mark.parametrize("ground", [(0.0, 0.0, 0.0), (0.33, 0.21, -0.4)])
@pytest.mark.parametrize("last", [0.5, 0.2])
def test_a_part_that_is_drawn_again_fits_into_the_rest(ground: tuple[float, float, float], last: float) -> None:
    """The same picture as one that is drawn as a whole, but for the rounding of a few pixels; wherever the ground is,
    and also where it hides a part of the ball."""
    layout, rest = ball_layout(color=(0.9, 0.2, 0.2))
    pose = (WallPose(np.array(ground), np.eye(3)),)
    heights = ground[2] + np.array([1.6, 0.9, last])
    frames = [replace(ball_frame(rest, k, height), walls=pose) for k, height in enumerate(heights)]
    with Painter(layout, size=(640, 360)) as painter:
        parts = [painter.draw(frame) for frame in frames]
        assert painter._painter._window.size != (640, 360)  # it is a part
    with Painter(layout, size=(640, 360)) as painter:
        painter.aim(frames[0])
        painter._painter._viewport._background = None
        for part, frame in zip(parts, frames, strict=True):
            whole = painter.draw(replace(frame))
            assert np.abs(part.astype(int) - whole).mean() < 0.05
            assert (np.abs(part.astype(int) - whole).max(axis=2) > 40).sum() < 20
