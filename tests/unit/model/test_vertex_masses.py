"""Masses of vertices: by area, and how slivers of a material are slowed down."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import turgor
from turgor import Scene, shapes
from turgor.model import vertex_masses as masses_of
from turgor.model.vertex_masses import MOVED, vertex_areas, vertex_masses

pytestmark = pytest.mark.req("X11")


def body(shape: Any, **options: Any) -> turgor.SoftBody:
    return Scene(dim=shape.dim).add_soft_body(shape, **{"material": "beach_ball", **options})


def slivers() -> Any:
    """A ball with many thin triangles at its poles."""
    return shapes.uv_sphere(radius=0.25, stacks=24, slices=40)


def test_a_sensible_mesh_has_its_masses_by_area() -> None:
    ball = body(shapes.icosphere(radius=0.2, subdivisions=3))
    areas = vertex_areas(ball, ball.shape.vertices)
    np.testing.assert_allclose(vertex_masses(ball, ball.shape.vertices), ball.mass * areas / areas.sum(), rtol=1e-12)


def test_slivers_take_a_little_mass_from_all_others() -> None:
    ball = body(slivers())
    areas = vertex_areas(ball, ball.shape.vertices)
    by_area = ball.mass * areas / areas.sum()
    masses = vertex_masses(ball, ball.shape.vertices)
    assert masses.sum() == pytest.approx(ball.mass, rel=1e-12)
    heavier = masses > by_area
    assert 0.0 < (masses - by_area)[heavier].sum() <= MOVED * ball.mass
    assert np.ptp((masses / by_area)[~heavier]) < 1e-12  # all others give the same share
    height = np.abs(ball.shape.vertices[:, 2])
    beside_poles = height == np.unique(height)[-2]  # their edges around are the shortest
    assert heavier[beside_poles].all()
    assert not heavier[height < 0.15].any()


def test_springs_keep_their_masses() -> None:
    ball = body(slivers(), material=None, mass=1.0, mass_distribution="area")
    areas = vertex_areas(ball, ball.shape.vertices)
    np.testing.assert_allclose(vertex_masses(ball, ball.shape.vertices), areas / areas.sum(), rtol=1e-12)


def test_a_mesh_with_slivers_needs_fewer_substeps_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def substeps() -> int:
        scene = Scene()
        scene.add_soft_body(slivers(), name="ball", material="beach_ball")
        sim = turgor.Simulation(scene, solver="symplectic")
        sim.step()
        return sim.substeps

    slowed = substeps()
    monkeypatch.setattr(masses_of, "MOVED", 0.0)
    assert slowed < 0.75 * substeps()


def test_a_flat_ring_too() -> None:
    angles = np.sort(np.concatenate([np.linspace(0.0, 2.0 * np.pi, 60, endpoint=False), [0.003]]))
    outline = body(shapes.outline(np.stack([np.cos(angles), np.sin(angles)], axis=1)))
    areas = vertex_areas(outline, outline.shape.vertices)
    masses = vertex_masses(outline, outline.shape.vertices)
    assert masses.sum() == pytest.approx(outline.mass, rel=1e-12)
    assert masses[1] > 1.1 * outline.mass * areas[1] / areas.sum()


def test_a_cloth_of_a_material_has_one_mass_per_area() -> None:
    """Else its rim, with half the area, would be twice as heavy as the rest."""
    scene = Scene()
    sheet = shapes.sheet(size=(1.0, 1.0), resolution=(9, 9))
    cloth = scene.add_cloth(sheet, name="cloth", material="nylon")
    masses = vertex_masses(cloth, sheet.vertices)
    areas = vertex_areas(cloth, sheet.vertices)
    np.testing.assert_allclose(masses, cloth.mass * areas / areas.sum(), rtol=MOVED)
    middle = sheet.vertices.mean(axis=0)
    rim = np.abs(sheet.vertices - middle).max(axis=1) > 0.49
    assert masses[rim].mean() < 0.55 * masses[~rim].mean()
    springs = scene.add_cloth(sheet, name="springs", mass=1.0)
    assert np.ptp(vertex_masses(springs, sheet.vertices)) == 0.0


def test_a_vertex_without_faces_is_told() -> None:
    sheet = shapes.sheet(size=(1.0, 1.0), resolution=(3, 3))
    loose = replace(sheet, vertices=np.vstack([sheet.vertices, [[3.0, 0.0, 0.0]]]))
    cloth = replace(Scene().add_cloth(sheet, name="flag", material="nylon"), shape=loose)
    with pytest.raises(turgor.SceneError, match=r"'flag': a vertex has no area around it, .* remove it from the mesh"):
        vertex_masses(cloth, loose.vertices)
