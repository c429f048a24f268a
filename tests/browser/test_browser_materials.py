"""Skins of a material in a real browser: colours of their stress and wrinkles."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Page

import turgor
from support.waiting import until
from turgor import shapes
from turgor.viewer.draw.color_values import BANDS

VIEW = {"x": 0, "y": 0, "width": 660, "height": 700}  # without the panel


def toys() -> turgor.Scene:
    """A beach ball and a limp bag fall on the ground, beside a ball of springs and a rigid box, which are grey."""
    scene = turgor.Scene()
    scene.add_ground()
    scene.add_soft_body(
        shapes.icosphere(0.2, 3), name="toy", at=(0, 0, 0.25), material="beach_ball", velocity=(0, 0, -6)
    )
    scene.add_soft_body(shapes.icosphere(0.15, 2), name="springs", at=(-0.5, 0, 0.16), mass=0.2)
    fabric = turgor.Membrane(young=1e6, poisson=0.3, thickness=2e-4, wrinkling=True)
    scene.add_soft_body(
        shapes.icosphere(0.2, 3), name="bag", at=(0.1, -0.6, 0.21), material=fabric, gas=None, velocity=(0, 0, -3)
    )
    scene.add_rigid_body(shapes.box((0.25, 0.25, 0.25)), name="box", at=(0.5, 0, 0.126), mass=1.0)
    return scene


@pytest.mark.req("X11", "A8")
def test_stress_and_wrinkles_colour_a_beach_ball(open_page: Any, open_tab: Callable[..., Page], tmp_path: Path) -> None:
    """Chosen from the list: stressed faces are red, others blue, and the legend says how much."""
    page = open_page(toys())
    page.run(4)
    tab = open_tab(page.playground.url, height=700)
    field = tab.locator("label", has_text="Colour by").locator(
        "xpath=ancestor::div[contains(@class,'mantine-Flex-root')][1]"
    )
    field.wait_for(timeout=60_000)

    def choose(label: str) -> None:
        field.locator("input:not([type=hidden])").first.click()
        tab.get_by_role("option", name=label, exact=True).click()

    def view(name: str) -> Any:
        picture = tab.screenshot(clip=VIEW, path=tmp_path / f"{name}.png")
        return np.asarray(Image.open(io.BytesIO(picture)).convert("RGB"), int)

    def count(picture: Any, strong: int, weak: int) -> int:
        """Pixels of a colour of the ramp's ends."""
        return int((picture[..., strong] > picture[..., weak] + 60).sum())

    def red_and_blue() -> tuple[int, int]:
        picture = view("stress")
        return count(picture, 0, 2), count(picture, 2, 0)

    choose("Stress")
    tab.get_by_text("Largest stress in the skin").wait_for()
    tab.get_by_text("springs or rigid").wait_for()
    assert until(lambda: min(red_and_blue()) > 300, 60.0), red_and_blue()
    stress = np.concatenate([page.playground.world.sim[name].stress[:, 0] for name in ("toy", "bag")])
    seen = page.panel.painter.range
    low, high = np.quantile(stress, [0.01, 0.99])
    assert seen.low <= low < high <= seen.high
    tab.screenshot(path=tmp_path / "page-stress.png")
    choose("Wrinkles")
    for word in ("taut", "wrinkled", "slack"):
        tab.get_by_text(word, exact=True).wait_for()
    states = np.asarray(page.playground.world.sim["bag"].wrinkled)
    assert set(states) == {1, 2}  # nothing blows it up
    assert until(lambda: count(view("wrinkles"), 2, 0) > 300, 60.0)  # most of the ball is taut
    assert until(lambda: count(view("wrinkles"), 0, 2) > 300, 60.0)  # most of the bag is slack
    for state, band in ((1, BANDS // 2), (2, BANDS - 1)):
        assert len(page.panel.painter.bands[band].faces) == 4 * (states == state).sum()  # as the smooth skin is drawn
    tab.screenshot(path=tmp_path / "page-wrinkles.png")
