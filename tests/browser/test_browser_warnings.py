"""What looks wrong is on the page, and goes when it is mended."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page

import turgor
from turgor import Gas, Springs, shapes
from turgor.viewer.page.playground import Playground
from turgor.viewer.page.tabs import all_tabs
from turgor.viewer.page.tabs.scene import SceneTab

SECONDS = 60_000.0  # ms: software draws the page, and the machine may be busy


@pytest.mark.req("X3", "X8")
def test_warnings_are_on_the_page_until_they_are_mended(
    open_tab: Callable[..., Page], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(all_tabs, "TABS", (("Choose", SceneTab),))
    scene = turgor.Scene()
    scene.add_ground()
    for name, x, gas in (("full", 0.0, Gas.at(gauge=5000.0)), ("*emp_ty*", 1.5, None)):
        scene.add_soft_body(shapes.icosphere(0.5, 2), name=name, at=(x, 0, 0.6), springs=Springs(100.0, 1.0), gas=gas)
    with Playground(scene, port=0) as playground:
        page = open_tab(playground.url, height=900)
        pressure = page.get_by_text(re.compile(r"Warning: body 'full': a gauge pressure of 5000 Pa was entered, and "))
        volume = page.get_by_text(re.compile(r"Warning: body '\*emp_ty\*' has \S+ % of its volume left"))
        pressure.wait_for(timeout=SECONDS)
        volume.wait_for(timeout=SECONDS)
        playground.do(playground.world.change, "full.gas", {"gauge": 60.0, "ambient": 0.0})
        pressure.wait_for(state="detached", timeout=SECONDS)
        assert volume.is_visible()
        playground.do(playground.world.remove, "*emp_ty*")
        volume.wait_for(state="detached", timeout=SECONDS)
        assert page.get_by_text("Warning:").count() == 0
