"""Colours of the scenery on a dark page."""

from __future__ import annotations

import numpy as np
import pytest

from support.waiting import until
from turgor import gallery
from turgor.viewer.draw.dark import dark_look, darkened
from turgor.viewer.page.playground import Playground

pytestmark = pytest.mark.req("X8")


def test_light_becomes_dark_and_the_hue_stays() -> None:
    greys = np.array([[255, 255, 255], [238, 238, 238], [190, 190, 190], [120, 120, 120]])
    dark = darkened(greys)[:, 0].astype(int)
    assert dark[0] < 40
    assert (np.diff(dark) > 0).all()  # what was darker is lighter
    floor = darkened((238, 241, 245)).astype(int)
    assert tuple(floor - floor[0]) == (0, 3, 7)


@pytest.mark.parametrize("name", ["drop", "five-balls", "drop-2d"])
def test_all_scenery_has_a_dark_look(name: str) -> None:
    with Playground(gallery.load(name), port=0, playing=False) as playground:
        until(lambda: playground.shown[0] == playground.world.version)
        assert playground.nodes.scenery
        for handle in playground.nodes.scenery:
            look = dark_look(handle)
            assert look
            for key, value in look.items():
                assert np.shape(value) == np.shape(getattr(handle, key))
