"""`sim.show()`: the playground inside a notebook, and a world that someone else steps, too."""

from __future__ import annotations

import pytest

import turgor
from turgor import gallery

pytestmark = pytest.mark.req("X8")


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
