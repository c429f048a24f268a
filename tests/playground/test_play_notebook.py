"""`sim.show()`: the playground inside a notebook, and a world that someone else steps, too."""

from __future__ import annotations

import html
import re

import numpy as np
import pytest

import turgor
from common.chromium import ask, chromium
from turgor import gallery

pytestmark = pytest.mark.req("X8")


def test_the_inline_view_shows_what_the_notebook_does():
    """The frame that a notebook would show is opened in a browser; the simulation is stepped from outside."""
    sim = turgor.Simulation(gallery.load("drop-2d"))
    view = sim.show(height=400)
    try:
        assert sim.show() is view  # a second cell shows the same page
        source = re.fullmatch(r'<iframe src="([^"]+)" style="[^"]*"></iframe>', view._repr_html_())
        assert source is not None
        assert html.unescape(source[1]) == view.url
        assert "drop-2d" in repr(view)
        with chromium() as browser:
            page = browser.new_page(viewport={"width": 700, "height": 420})
            page.set_content(view._repr_html_())
            frame = page.frame_locator("iframe")
            frame.get_by_text("drop-2d").or_(frame.get_by_text("2004 article")).first.wait_for(timeout=60_000)
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


def test_a_change_on_the_page_reaches_the_simulation_of_the_notebook():
    """What rebuilds the simulation leaves the user's object the running one, with what it was made with."""
    sim = turgor.Simulation(gallery.load("drop-2d"), solver="rk4", ledger=True)
    ball, view = sim[sim.names[0]], sim.show()
    world = view.playground.world
    try:
        ask(view.playground, world.pin, ball.name, 3)
        assert world.sim is sim
        assert (sim.solver, sim.ledger) == ("rk4", True)
        place = ball.positions[3]
        sim.run(0.2)
        np.testing.assert_allclose(ball.positions[3], place, atol=1e-6)
        assert sim.show() is view
    finally:
        view.close()


def test_stepping_from_outside_does_not_disturb_the_physics():
    """The view measures from its own thread; the run is bit for bit that of a simulation without a view."""
    alone = turgor.Simulation(gallery.load("two-spheres"))
    alone.run(1.0)
    watched = turgor.Simulation(gallery.load("two-spheres"))
    view = watched.show()
    try:
        watched.run(1.0)
        assert watched.state_hash() == alone.state_hash()
    finally:
        view.close()
