"""The gallery as small pictures: one per scene, small in all, and each button opens its scene."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from PIL import Image

from common.chromium import ask
from support.waiting import until
from turgor import gallery
from turgor.viewer.page.playground import Playground
from turgor.viewer.page.tabs.scene import SceneTab
from turgor.viewer.server.viser_private import element_id

pytestmark = pytest.mark.req("X8")
MOST = 250_000  # bytes of all pictures


def test_every_scene_has_a_small_picture_in_which_something_is_seen() -> None:
    pictures = {name: gallery.picture(name) or b"" for name in gallery.names()}
    assert sum(map(len, pictures.values())) < MOST
    for name, data in pictures.items():
        values = np.asarray(Image.open(io.BytesIO(data)).convert("RGB"), int)
        coloured = np.ptp(values, axis=2) > 40
        assert 0.005 < coloured.mean() < 0.7, name
    left = {file.stem for file in gallery.PICTURES.iterdir()} - set(gallery.names())
    assert not left


def test_the_gallery_has_a_button_with_its_picture_for_each_scene(open_playground: Callable[..., Playground]) -> None:
    playground = open_playground("drop", Choose=SceneTab)
    tab: Any = playground.tabs[0]
    assert list(tab.thumbnails.buttons) == gallery.names()
    style = tab.thumbnails._style
    for button in tab.thumbnails.buttons.values():
        assert f'[id="{element_id(button)}"]{{background-image:url(data:image/webp;base64,' in style.content
    assert until(lambda: f'[id="{element_id(tab.thumbnails.buttons["drop"])}"]{{outline' in style.content)
    ask(playground, tab._open, "drop-2d")
    assert playground.world.scene.name == "drop-2d"
    assert until(lambda: f'[id="{element_id(tab.thumbnails.buttons["drop-2d"])}"]{{outline' in style.content)


def test_simple_numbers_are_few_and_advanced_ones_are_all(open_playground: Callable[..., Playground]) -> None:
    playground = open_playground("drop-2d", Choose=SceneTab)
    tab: Any = playground.tabs[0]
    assert until(lambda: "real-time factor" in tab._numbers.content)
    assert "substeps" not in tab._numbers.content
    playground.mode.box.value = True
    assert until(lambda: "substeps per frame" in tab._numbers.content)
