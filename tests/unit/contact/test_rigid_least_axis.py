"""Rigid bodies that overlap are moved apart along the axis of least penetration (B15; Martin 2009, 5.3.3)."""

from __future__ import annotations

import numpy as np
import pytest

import turgor
from support.laws import PRECISIONS
from turgor import shapes
from turgor.scene.data import rotation_matrix

SIZES = {2: np.array([0.6, 0.5]), 3: np.array([0.6, 0.5, 0.4])}
DEPTHS = (0.02, 0.25, 0.3)  # m: least, and more along the other axes of the box


def overlapping(dim, axis, side, turn):
    """Two boxes, turned alike, the second in the first by the least depth along `axis` and deeper along the others."""
    size = SIZES[dim]
    depths = np.roll(DEPTHS[:dim], axis)
    away = (size - depths) * side
    rotation = turn[-1] if dim == 2 else turn
    frame = rotation_matrix(rotation)
    low, high = -0.5 * size, 0.5 * size
    corners = [(low[0], low[1]), (high[0], low[1]), (high[0], high[1]), (low[0], high[1])]
    box = shapes.box(size=tuple(size)) if dim == 3 else shapes.outline(points=corners)
    scene = turgor.Scene(dim=dim, gravity=(0.0,) * dim)
    scene.add_rigid_body(box, name="a", rotation=rotation)
    scene.add_rigid_body(box, name="b", rotation=rotation, at=tuple(frame @ away))
    return scene, frame, away


@pytest.mark.req("B15")
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("turn", [(0.0, 0.0, 0.0), (0.4, -0.7, 0.3)])
@pytest.mark.parametrize("side", [-1.0, 1.0])
@pytest.mark.parametrize(("dim", "axis"), [(2, 0), (2, 1), (3, 0), (3, 1), (3, 2)])
def test_overlapping_boxes_come_apart_along_the_axis_of_least_depth(dim, axis, side, turn, precision):
    scene, frame, start = overlapping(dim, axis, side, turn)
    sim = turgor.Simulation(scene, precision=precision)
    middle = 0.5 * (sim["a"].center + sim["b"].center)
    sim.step()
    found = sim.contacts()
    assert found.count
    towards = np.abs(found.normals @ frame)  # in the frame of the boxes
    assert towards[:, axis] == pytest.approx(1.0, abs=1e-3)
    for _ in range(60):
        sim.step()
    moved = frame.T @ (sim["b"].center - sim["a"].center) - start
    assert moved[axis] * side > 0.3 * DEPTHS[0]  # the pushes act beside the centres: turns do the rest
    assert np.abs(np.delete(moved, axis)).max() < 0.2 * abs(moved[axis])
    assert sim.contacts().max_penetration < 1e-3
    assert 0.5 * (sim["a"].center + sim["b"].center) == pytest.approx(middle, abs=1e-5)
    for name in ("a", "b"):
        assert np.linalg.norm(sim[name].velocity) < 1e-4  # moved apart, not thrown
