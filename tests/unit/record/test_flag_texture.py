"""The flag of Matyka 2007 is drawn with a texture that is woven into the cloth (D4)."""

from __future__ import annotations

import numpy as np
import pytest

from turgor import Simulation, gallery
from turgor.record import Painter
from turgor.record.camera import camera_place, on_screen, scene_points
from turgor.record.look import Look

pytest.importorskip("pyvista")
pytestmark = pytest.mark.picture

SIZE, VIEW = (480, 360), (-66.0, 10.0)
#: Where in the picture (v of uv, from below) the middle of a band lies, and whether its pixels are that band's.
BANDS = {
    5 / 6: lambda r, g, b: (r > 1.25 * b) & (r > 90),  # the colour of the cloth
    3 / 6: lambda r, g, b: (np.abs(r - b) < 45) & (np.minimum(r, b) > 90),  # nearly white
    1 / 6: lambda r, g, b: (b > 1.25 * r) & (b > 60),  # blue
}


def seen(moment, **options):
    """Per band: the share of the places on the cloth that are drawn in its colour, at the flag of `moment`."""
    layout, frame = moment
    look = Look(size=SIZE, view=VIEW)
    with Painter(layout, size=SIZE, view=VIEW, **options) as painter:
        picture = painter.draw(frame).astype(int)
    eye, target = camera_place(scene_points(layout, frame), look)
    (body,) = [body for body in layout.bodies if body.kind == "cloth"]
    places = on_screen(frame.positions[body.start : body.start + body.count], eye, target, SIZE)
    shares = []
    for middle, is_band in BANDS.items():
        inner = (np.abs(body.uv[:, 1] - middle) < 0.08) & (np.abs(body.uv[:, 0] - 0.5) < 0.42)
        columns, rows = np.rint(places[inner]).astype(int).T
        shares.append(float(np.mean(is_band(*np.moveaxis(picture[rows, columns], -1, 0)))))
    return shares


@pytest.fixture(scope="module")
def moments():
    """The gallery's flag at its start, and after 0.3 s in the wind."""
    sim = Simulation(gallery.load("flag"))
    first = sim.layout, sim.frame()
    sim.run(0.3)
    return first, (sim.layout, sim.frame())


@pytest.mark.req("D4")
def test_the_flag_shows_its_texture_where_the_cloth_is(moments):
    """Three bands, each on its part of the cloth: flat at the start, and as the wind has bent it."""
    assert min(seen(moments[0])) > 0.9
    assert min(seen(moments[1])) > 0.8


@pytest.mark.req("D4")
def test_without_a_texture_the_flag_has_one_colour(moments):
    """What the test above sees is the texture: without it there are no bands."""
    assert sum(share > 0.5 for share in seen(moments[0], texture="none")) <= 1
