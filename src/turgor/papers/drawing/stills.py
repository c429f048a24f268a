"""Pictures of scenes at given times, as JPEG."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from turgor.output.frame import Frame
from turgor.record.look import Pixels, write_text
from turgor.record.render import Painter
from turgor.simulation.simulation import Simulation

__all__ = ["cover", "jpeg", "stills", "strip"]

QUALITY = 82  # of 100: no blocks to be seen, a third of the size of 95
WIDEST = 1200  # pixels: wider strips would be scaled down by the page anyway
COVER = (240, 160)  # pixels


def jpeg(picture: Pixels) -> bytes:
    """A picture (height, width, 3) as JPEG."""
    from PIL import Image

    target = io.BytesIO()
    Image.fromarray(np.asarray(picture)).save(target, "JPEG", quality=QUALITY, optimize=True)
    return target.getvalue()


def cover(picture: Pixels, top: float | None = None) -> bytes:
    """A picture, small, for the top of the page: all of it; with `top` one too high is cut, below (0) or above (1)."""
    from PIL import Image, ImageOps

    whole = Image.fromarray(np.asarray(picture))
    if top is None or whole.width * COVER[1] > whole.height * COVER[0]:
        return jpeg(np.asarray(ImageOps.pad(whole, COVER, Image.Resampling.LANCZOS, color="white")))
    return jpeg(np.asarray(ImageOps.fit(whole, COVER, Image.Resampling.LANCZOS, centering=(0.5, top))))


def stills(
    sim: Simulation,
    times: Sequence[float],
    size: tuple[int, int] = (640, 400),
    each_frame: Callable[[Simulation], None] | None = None,
    **look: Any,
) -> list[Pixels]:
    """Runs on to each of the times (s, increasing) and draws each frame. Options: the fields of record.Look.

    The camera sees all of them, with their velocity vectors. each_frame: called before every step (a scripted mouse, a
    measurement). Times are written by `strip`, so that covers are without.
    """
    frames: list[Frame] = []
    for time in times:
        while sim.time < time - 0.5 / sim.settings.fps:
            if each_frame is not None:
                each_frame(sim)
            sim.step()
        frames.append(sim.frame())
    with Painter(sim.layout, size=size, **look) as painter:
        painter.aim(*frames)
        return [painter.draw(frame) for frame in frames]


def strip(pictures: Sequence[Pixels], times: Sequence[float] = (), gap: int = 6) -> Pixels:
    """Pictures of one height side by side, made smaller where they are wider than WIDEST together.

    times: s, written into them once they have their size, so that all times of a page are equally large.
    """
    room = WIDEST - gap * (len(pictures) - 1)
    share = min(1.0, room / sum(picture.shape[1] for picture in pictures))
    shown = [_smaller(picture, share) for picture in pictures]
    if times:
        shown = [write_text(picture, f"{time:.2f} s") for picture, time in zip(shown, times, strict=True)]
    bar = np.full((shown[0].shape[0], gap, 3), 255, np.uint8)
    return np.concatenate([part for picture in shown for part in (picture, bar)][:-1], axis=1)


def _smaller(picture: Pixels, share: float) -> Pixels:
    from PIL import Image

    if share >= 1.0:
        return picture
    size = tuple(math.floor(share * side) for side in (picture.shape[1], picture.shape[0]))
    return np.asarray(Image.fromarray(picture).resize(size, Image.Resampling.LANCZOS))
