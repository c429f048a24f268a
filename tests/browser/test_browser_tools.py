"""Undo, and adding where one clicks, in a real Chromium."""

from __future__ import annotations

import numpy as np
import pytest
from playwright.sync_api import Browser

from common.chromium import CHROMIUM, Visitor, ask
from turgor import gallery
from turgor.viewer.page.playground import Playground
from turgor.viewer.world.free_place import body_boxes

if CHROMIUM is None:
    pytest.skip("no Chromium on this machine (tools/browser installs one)", allow_module_level=True)

SECONDS = 60.0  # to wait for what must come


@pytest.mark.req("A9", "X8")
def test_a_body_comes_where_one_clicks_and_keys_take_it_back(browser: Browser) -> None:
    with Playground(gallery.load("drop"), port=0, playing=False) as playground:
        visitor = Visitor(browser, playground, (1280, 800))
        world, first = playground.world, playground.world.scene
        visitor.tab("Add")

        def place(point: tuple[float, float, float], name: str) -> tuple[np.ndarray, np.ndarray]:
            """By a click on what is seen at a point; the body's lowest and highest corner."""
            visitor.click("Place by a click")
            visitor.page.get_by_role("button", name="Now click in the picture").wait_for(timeout=1000 * SECONDS)
            visitor.settled()
            visitor.page.mouse.click(*visitor.pixel(point))
            visitor.wait(lambda: name in world.scene.names, f"{name} to be placed", SECONDS)
            visitor.wait(lambda: playground.selection.name == name, "it to be selected", SECONDS)
            return ask(playground, body_boxes, world)[name]

        spot = (1.5, -1.5, 0.0)  # of the floor
        low, high = place(spot, "ball-1")
        np.testing.assert_allclose((low + high)[:2] / 2.0, spot[:2], atol=0.02)
        assert 0.0 <= low[2] < 0.2
        below = ask(playground, body_boxes, world)["ball-1"]
        top = (*((below[0] + below[1])[:2] / 2.0).tolist(), float(below[1][2]))
        low, _ = place(top, "ball-2")  # on a body
        assert low[2] >= below[1][2]
        visitor.key("Control+d")
        visitor.wait(lambda: "ball-3" in world.scene.names, "the duplicate", SECONDS)
        visitor.key("Delete")
        visitor.wait(lambda: "ball-3" not in world.scene.names, "it to be removed", SECONDS)
        for _ in range(4):
            visitor.key("Control+z")
        visitor.wait(lambda: world.scene == first, "the scene of the beginning", SECONDS)
        visitor.key("Control+y")
        visitor.wait(lambda: "ball-1" in world.sim.names, "the first one again", SECONDS)
        visitor.click("Undo")
        visitor.wait(lambda: world.scene == first, "the scene of the beginning", SECONDS)
        name = first.soft_bodies[0].name
        ask(playground, playground.selection.select, name)
        amount = float(world.sim[name].nRT)
        button = visitor.page.get_by_role("button", name="Pump gas in (hold)")
        button.scroll_into_view_if_needed()
        button.hover()
        visitor.page.mouse.down()
        visitor.wait(lambda: float(world.sim[name].nRT) > 1.1 * amount, "gas to come in", SECONDS)
        visitor.page.mouse.up()
        visitor.wait(lambda: len(world.history.done) == 1, "one step", SECONDS)
        visitor.close()
        assert visitor.errors == []
