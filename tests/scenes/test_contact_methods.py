"""The papers' contact scenes with all three methods: features hold; the historical two are run and measured."""

from __future__ import annotations

import numpy as np
import pytest

import turgor
from support import penetration
from turgor import gallery

SCENES = ("two-spheres", "sphere-in-torus", "hand-and-ball")
SECONDS = 1.0


def measured(name, method):
    """(deepest penetration in any tenth frame, m; most crossings of surfaces at once)."""
    sim = turgor.Simulation(gallery.load(name), contact=method)
    deepest, crossed = 0.0, 0
    for frame in range(round(SECONDS * sim.settings.fps)):
        sim.step()
        if frame % 10 == 9:
            bodies = penetration.surfaces(sim)
            deepest = max(deepest, penetration.deepest(sim, bodies=bodies)[0])
            crossed = max(crossed, penetration.crossings(sim, bodies=bodies))
    assert sim.finite
    limit = 0.5 * float(np.sort(sim.engine.split.surfaces.skins)[:2].sum())
    return deepest, crossed, limit


@pytest.mark.req("B18", "C4", "B10", "X1")
@pytest.mark.parametrize("name", SCENES)
def test_methods_side_by_side(name, record_property, capsys):
    rows = {method: measured(name, method) for method in ("features", "particles", "bounding")}
    with capsys.disabled():
        line = ", ".join(f"{method} {1e3 * depth:.1f} mm / {n} crossings" for method, (depth, n, _) in rows.items())
        print(f"\n{name}: {line}")
    for method, (depth, crossings, _) in rows.items():
        record_property(method, f"{depth:.5f} m, {crossings} crossings")
    depth, crossings, limit = rows["features"]
    assert depth <= limit
    assert crossings == 0
    for method in ("particles", "bounding"):  # the historical methods are approximate: they are run, and reported above
        assert rows[method][0] >= depth - limit, method


def test_surfaces_that_crumple_end_in_a_sentence_and_not_in_all_the_memory():
    """Too few substeps blow a ball up into a heap of folds, in which everything is near everything."""
    scene = turgor.Scene()
    scene.add_ground()
    scene.add_soft_body(
        turgor.shapes.icosphere(radius=0.5, subdivisions=2), name="ball", at=(0, 0, 0.6),
        springs=turgor.Springs(3000.0), gas=turgor.Gas.at(gauge=100.0, ambient=1000.0),
    )  # fmt: skip
    sim = turgor.Simulation(scene, solver="midpoint", substeps=2)
    with pytest.raises(turgor.UnstableError, match=r"'ball'.*(crumpled|diverged)"):
        sim.run(2.0)
    assert sim.finite


@pytest.mark.req("B10", "C4")
@pytest.mark.parametrize("contact", ["features", "particles", "bounding"])
def test_contact_points_are_where_the_bodies_are_far_from_the_origin(contact):
    """Positions are kept relative to an anchor there; contact points must be given in the scene's own coordinates."""
    far = 1000.0
    scene = turgor.Scene(gravity=(0, 0, 0))
    for name, side in (("left", -1.0), ("right", 1.0)):
        scene.add_soft_body(
            turgor.shapes.icosphere(radius=0.5, subdivisions=2), name=name, at=(far + side * 0.52, 0, 0),
            velocity=(-side, 0, 0), springs=turgor.Springs(100.0, 0.5), gas=turgor.Gas.at(gauge=100.0, ambient=1000.0),
        )  # fmt: skip
    sim = turgor.Simulation(scene, contact=contact)
    for _ in range(60):
        sim.step()
        found = sim.contacts()
        if found.count:
            break
    assert found.count
    assert np.abs(found.points[:, 0] - far).max() < 0.6
