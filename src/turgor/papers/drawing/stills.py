"""Pictures of scenes at given times, as JPEG."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from turgor.output.frame import Frame
from turgor.record.look import Pixels
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


def cover(picture: Pixels, top: float = 0.5) -> bytes:
    """A picture, small, for the top of the page; one too high is cut: below (top = 0), above (1) or both (0.5)."""
    from PIL import Image, ImageOps

    whole = Image.fromarray(np.asarray(picture))
    if whole.width * COVER[1] > whole.height * COVER[0]:  # too wide: nothing is cut
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

    The camera is set by the first picture. each_frame: called before every step (a scripted mouse, a measurement).
    """
    frames: list[Frame] = []
    for time in times:
        while sim.time < time - 0.5 / sim.settings.fps:
            if each_frame is not None:
                each_frame(sim)
            sim.step()
        frames.append(sim.frame())
    with Painter(sim.layout, size=size, **look) as painter:
        return [painter.draw(frame) for frame in frames]


def strip(pictures: Sequence[Pixels], gap: int = 6) -> Pixels:
    """Pictures of one height side by side, made smaller where they are wider than WIDEST together."""
    from PIL import Image

    height = pictures[0].shape[0]
    bar = np.full((height, gap, 3), 255, np.uint8)
    parts = [part for picture in pictures for part in (picture, bar)][:-1]
    whole = np.concatenate(parts, axis=1)
    if whole.shape[1] <= WIDEST:
        return whole
    size = (WIDEST, round(height * WIDEST / whole.shape[1]))
    return np.asarray(Image.fromarray(whole).resize(size, Image.Resampling.LANCZOS))
