"""The view of a notebook in a real browser."""

from __future__ import annotations

import html
import re

import numpy as np
import pytest

import turgor
from turgor import gallery


@pytest.mark.req("X8")
def test_the_inline_view_shows_what_the_notebook_does(browser):
    """The frame that a notebook would show is opened in a browser; the simulation is stepped from outside."""
    sim = turgor.Simulation(gallery.load("drop-2d"))
    view = sim.show(height=400)
    try:
        assert sim.show() is view  # a second cell shows the same page
        source = re.fullmatch(r'<iframe src="([^"]+)" style="[^"]*"></iframe>', view._repr_html_())
        assert source is not None
        assert html.unescape(source[1]) == view.url
        assert "drop-2d" in repr(view)
        page = browser.new_page(viewport={"width": 700, "height": 420})
        page.set_content(view._repr_html_())
        frame = page.frame_locator("iframe")
        frame.get_by_text("drop-2d").or_(frame.get_by_text("2004 article")).first.wait_for(timeout=60_000)
        page.close()
        assert sim.time == 0.0  # it starts paused
        sim.run(0.5)
        assert sim.time == pytest.approx(0.5)
        shown = view.playground.rates.all_updates
        for _ in range(200):
            if view.playground.shown[2] == sim.frame_index:
                break
            view.playground._closed.wait(0.05)
        assert view.playground.rates.all_updates >= shown
        np.testing.assert_allclose(view.playground.world.frame().positions, sim.frame().positions)
    finally:
        view.close()
    sim.run(0.1)  # it stays the user's
    again = sim.show()
    assert again is not view
    again.close()
