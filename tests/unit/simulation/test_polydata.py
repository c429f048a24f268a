"""A frame as PyVista data."""

from __future__ import annotations

import numpy as np
import pytest

import turgor
from turgor import gallery, shapes

pv = pytest.importorskip("pyvista", reason="PyVista is not installed")
pytestmark = pytest.mark.req("X7")


def test_a_ball_is_a_closed_surface_with_its_velocity_and_volume():
    sim = turgor.Simulation(gallery.load("drop"))
    sim.step()
    blocks = sim.to_pyvista()
    assert isinstance(blocks, pv.MultiBlock)
    ball = blocks["ball"]
    assert ball.is_manifold
    assert ball.volume == pytest.approx(sim["ball"].volume, rel=1e-6)
    assert np.array_equal(ball.point_data["velocity"], sim["ball"].velocities)
    assert ball.field_data["pressure"][0] == pytest.approx(sim["ball"].pressure)


def test_an_outline_is_lines_in_a_plane():
    sim = turgor.Simulation(gallery.load("drop-2d"))
    outline = sim.to_pyvista()[0]
    assert outline.n_lines == outline.n_points
    assert not outline.points[:, 2].any()


def test_a_skin_of_a_material_has_its_stress():
    scene = turgor.Scene()
    scene.add_soft_body(shapes.icosphere(radius=0.2, subdivisions=1), name="toy", material="beach_ball")
    scene.add_rigid_body(shapes.box(), name="box", at=(3, 0, 0))
    sim = turgor.Simulation(scene)
    blocks = sim.to_pyvista()
    assert np.array_equal(blocks["toy"].cell_data["stress"], sim["toy"].stress)
    assert blocks["box"].n_cells == 12
    assert "stress" not in blocks["box"].cell_data
