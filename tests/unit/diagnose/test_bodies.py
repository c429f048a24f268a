"""What a body has as a whole: against sums over its vertices in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from turgor import Gas, Membrane, Scene, Simulation, Springs, shapes

FAR = 40.0  # m: sums are about an anchor there


def scene(dim: int) -> Scene:
    made = Scene(dim=dim)
    up, away = np.eye(dim)[-1], np.eye(dim)[0]
    ball = shapes.circle(radius=0.3, points=20) if dim == 2 else shapes.icosphere(radius=0.3, subdivisions=2)
    place = FAR * away
    made.add_ground()
    skin: dict[str, Any] = {"springs": Springs(200.0, 0.5), "gas": Gas(nRT=10.0)}
    made.add_soft_body(ball, name="before", at=tuple(place + 2 * up), velocity=tuple(3 * away), **skin)
    made.add_soft_body(ball, name="ball", at=tuple(place + 0.31 * up), mass=2.5, velocity=tuple(away - 4 * up), **skin)
    if dim == 3:
        uneven = Membrane(young=1e5, poisson=0.4, thickness=1e-3, density=900.0)  # masses by area
        made.add_cloth(shapes.sheet(resolution=(4, 3)), name="sheet", at=tuple(place + 3 * up), material=uneven)
    made.add_rigid_body(shapes.box() if dim == 3 else shapes.circle(), name="crate", at=tuple(place + 4 * up), mass=1.0)
    return made


@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("worlds", [1, 3])
def test_sums_over_the_vertices(dim: int, precision: str, worlds: int) -> None:
    sim = Simulation(scene(dim), precision=precision, worlds=worlds)
    if worlds > 1:
        sim.gravity = np.outer([1.0, 2.0, 0.5], sim.gravity[0])
    for _ in range(8):
        sim.step()
    for name in sim.bodies:
        view = sim[name]
        points, masses, velocities = (
            np.reshape(array, (worlds, len(view.masses[0]) if worlds > 1 else len(view.masses), -1))
            for array in (view.positions, view.masses, view.velocities)
        )
        mass, momentum = masses.sum(axis=(1, 2)), (masses * velocities).sum(axis=1)
        close = {"rtol": 1e-13, "atol": 1e-13}
        np.testing.assert_allclose(np.atleast_1d(view.mass), mass, **close)
        np.testing.assert_allclose(np.atleast_2d(view.center), (masses * points).sum(axis=1) / mass[:, None], **close)
        np.testing.assert_allclose(np.atleast_2d(view.momentum), momentum, **close)
        np.testing.assert_allclose(np.atleast_2d(view.velocity), momentum / mass[:, None], **close)
        assert np.shape(view.velocity) == ((dim,) if worlds == 1 else (worlds, dim))
        np.testing.assert_array_equal(np.atleast_1d(view.lowest), points[..., -1].min(axis=1))
        np.testing.assert_array_equal(np.atleast_1d(view.highest), points[..., -1].max(axis=1))
    assert worlds == 1 or np.ptp(sim["ball"].momentum[:, -1]) > 0.1


@pytest.mark.parametrize("dim", [2, 3])
def test_heights_of_a_rigid_body_that_is_turned(dim: int) -> None:
    sim = Simulation(scene(dim), worlds=2)
    crate = sim.rigid_bodies["crate"]
    crate.rotation = 0.4 if dim == 2 else np.array([0.2, 0.1, 0.0, 0.97])
    heights = crate.positions[..., -1]
    np.testing.assert_allclose(crate.lowest, heights.min(axis=1), rtol=1e-14)
    np.testing.assert_allclose(crate.highest, heights.max(axis=1), rtol=1e-14)
    assert np.all(crate.highest - crate.lowest > 1.01 * (1.0 if dim == 3 else 0.0))
