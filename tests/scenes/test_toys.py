"""A shape and the name of a material make a toy: blown up, it has its pressure and still its form."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from turgor import Scene, Simulation, materials, shapes

pytestmark = pytest.mark.req("X11", "X15")

SHAPES = {
    "cat": shapes.cat(),
    "hand": shapes.hand(),
    "letter": shapes.letter("E"),
    "torus": shapes.torus(radius=0.3, tube=0.08),
    "ball": shapes.icosphere(radius=0.5, subdivisions=3),
    "capsule": shapes.capsule(),
}


def distance(x: npt.NDArray[np.float64], y: npt.NDArray[np.float64]) -> float:
    """Root mean square distance of two sets of points after the rigid motion that fits best (Kabsch), m."""
    a, b = x - x.mean(axis=0), y - y.mean(axis=0)
    u, _, vt = np.linalg.svd(b.T @ a)
    turn = u @ np.diag([1.0, 1.0, np.sign(np.linalg.det(u @ vt))]) @ vt
    return float(np.sqrt(np.mean(np.sum((a - b @ turn) ** 2, axis=1))))


@pytest.mark.parametrize("size", [0.2, 2.0])
@pytest.mark.parametrize("name", SHAPES)
def test_a_beach_toy_of_any_shape_and_size_keeps_its_form(name: str, size: float) -> None:
    shape = replace(SHAPES[name], vertices=size * SHAPES[name].vertices)
    scene = Scene(gravity=0)
    scene.add_soft_body(shape, name="toy", material="beach_ball")
    toy = Simulation(scene)["toy"]
    assert distance(toy.positions, shape.vertices) <= 0.03 * float(np.ptp(shape.vertices, axis=0).max())
    gauge = materials.beach_ball.gauge_of(shape)
    assert toy.pressure - 101_325.0 == pytest.approx(gauge, rel=0.02)


@pytest.mark.parametrize("material", [name for name in materials.names() if materials.PRESETS[name].gauge is not None])
def test_every_preset_holds_its_pressure(material: str) -> None:
    """A ball in equilibrium: its radius grows by the strain of Laplace's law, within that of large strains."""
    shape = shapes.icosphere(radius=0.15, subdivisions=3)
    scene = Scene(gravity=0)
    body = scene.add_soft_body(shape, name="toy", material=material)
    skin, preset = body.membrane, materials.PRESETS[material]
    assert skin is not None
    assert body.gas is not None
    gauge = preset.gauge_of(shape)
    assert body.gas.gauge == gauge
    toy = Simulation(scene)["toy"]
    strain = (toy.volume / toy.rest_volume) ** (1.0 / 3.0) - 1.0
    linear = gauge * 0.3 * (1.0 - skin.ratio) / (4.0 * skin.young * skin.thickness)
    # the next order of large strains is a few strains, of rubber 6: 4 (h/r) c1 (1/l - 1/l^7) = 24 (h/r) c1 s (1 - 4 s)
    assert strain == pytest.approx(linear, rel=0.03 + 6.0 * linear)
    assert toy.pressure - 101_325.0 == pytest.approx(gauge, rel=0.02)


def test_a_toy_that_lies_on_the_floor_keeps_its_form_and_pressure() -> None:
    """A letter is flat and hollow all over: with the same pressure at its rest volume its arms would hang."""
    shape = shapes.letter("E")
    scene = Scene()
    scene.add_ground()
    scene.add_soft_body(shape, name="toy", material="beach_ball", rotation=(np.pi / 2, 0.0, 0.0), at=(0.0, 0.0, 0.2))
    sim = Simulation(scene)
    sim.run(seconds=2.0)
    toy = sim["toy"]
    assert distance(toy.positions, shape.vertices) <= 0.03
    assert toy.pressure - 101_325.0 >= materials.beach_ball.gauge_of(shape)
