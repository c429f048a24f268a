"""Toys: any mesh with `material="beach_ball"` and no other number keeps its shape, whatever its resolution."""

from __future__ import annotations

import numpy as np
import pytest

import turgor
from support.laws import DEVICE


def distance(points, rest):
    """rms distance to the rest shape after a rigid fit (Kabsch), over the size of its bounding box."""
    a, b = points - points.mean(axis=0), rest - rest.mean(axis=0)
    u, _, vt = np.linalg.svd(a.T @ b)
    turn = u @ np.diag([1.0, 1.0, np.sign(np.linalg.det(u @ vt))]) @ vt
    return np.sqrt(np.mean(np.sum((a @ turn - b) ** 2, axis=1))) / np.linalg.norm(np.ptp(rest, axis=0))


def at_rest(shape, **options):
    scene = turgor.Scene()
    scene.add_ground(friction=0.5)
    lift = -float(shape.vertices[:, 2].min()) + 1e-3
    scene.add_soft_body(shape, name="toy", material="beach_ball", at=(0.0, 0.0, lift), self_contact=False, **options)
    sim = turgor.Simulation(scene, device=DEVICE, precision="double", solver="symplectic")
    sim.settle(tolerance=1e-3)
    return sim


@pytest.mark.law(8)
@pytest.mark.req("X11", "X15")
def test_rest_does_not_depend_on_the_mesh():
    """Volume, height and gauge pressure of a ring of 702 and 2,806 vertices agree within 2 %."""
    found = []
    for stacks, slices in ((39, 18), (78, 36)):
        shape = turgor.shapes.torus(radius=0.3, tube=0.12, stacks=stacks, slices=slices)
        toy = at_rest(shape)["toy"]
        exact = 2.0 * np.pi**2 * 0.3 * 0.12**2
        found.append((float(toy.volume) / exact, np.ptp(toy.positions[:, 2]) / 0.24, float(toy.gauge_pressure)))
    np.testing.assert_allclose(found[0], found[1], rtol=0.02)


@pytest.mark.law(8)
@pytest.mark.req("X11", "X15")
@pytest.mark.parametrize("name", ["ball", "ring", "capsule", "hand", "cat"])
def test_a_toy_keeps_its_shape(name):
    """rms distance to the rest shape at most 3 % of its size, lying on the ground."""
    shapes = turgor.shapes
    shape = {
        "ball": lambda: shapes.icosphere(radius=0.2, subdivisions=2),
        "ring": lambda: shapes.torus(radius=0.3, tube=0.06, stacks=40, slices=12),
        "capsule": lambda: shapes.capsule(radius=0.15, height=0.4, stacks=14, slices=16),
        "hand": lambda: shapes.hand(size=0.5),
        "cat": lambda: shapes.cat(size=0.5),
    }[name]()
    assert distance(at_rest(shape)["toy"].positions, shape.vertices) < 0.03
