"""What the energy of a world is summed from: against sums over its vertices and springs in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import warp as wp

from turgor import Gas, Scene, Simulation, Springs, shapes
from turgor.diagnose.world_sums import sum_worlds

FAR = 40.0  # m: the model's anchor is there


def scene(dim: int, *, glue: bool) -> Scene:
    made = Scene(dim=dim)
    up, away = np.eye(dim)[-1], np.eye(dim)[0]
    ball = shapes.circle(radius=0.3, points=20) if dim == 2 else shapes.icosphere(radius=0.3, subdivisions=2)
    crate = shapes.circle(0.2, 12) if dim == 2 else shapes.box((0.3, 0.3, 0.1))
    made.add_ground()
    for number in range(2):
        made.add_soft_body(
            ball, name=f"ball {number}", at=tuple(FAR * away + (number + 0.4) * up), velocity=tuple(3 * away - 2 * up),
            springs=Springs(200.0 + 70.0 * number, 0.5), gas=Gas(nRT=10.0),
        )  # fmt: skip
    made.add_rigid_body(crate, name="crate", at=tuple(FAR * away + 1.8 * up), mass=0.2)
    if glue:
        made.attach("ball 1", tuple(int(i) for i in np.flatnonzero(ball.vertices[:, -1] > 0.22)), "crate")
    return made


@pytest.mark.parametrize("glue", [False, True], ids=["free", "glued"])
@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("worlds", [1, 3])
@pytest.mark.parametrize("dim", [2, 3])
def test_sums_over_vertices_and_springs(dim: int, worlds: int, precision: str, glue: bool) -> None:
    sim = Simulation(scene(dim, glue=glue), precision=precision, worlds=worlds, substeps=8)
    if worlds > 1:
        sim.gravity = np.outer([1.0, 2.0, 0.5], sim.gravity[0])
        sim["ball 0"].stiffness = np.array([200.0, 100.0, 400.0])
    for _ in range(8):
        sim.step()
    model, random = sim.model, np.random.default_rng(3)

    def table(array: Any) -> Any:
        return np.asarray(array.numpy(), np.float64).reshape(worlds, model.vertices, -1)

    forces = [
        wp.array(random.normal(size=(worlds * model.vertices, dim)), dtype=model.numbers.vec, device=model.device)
        for _ in range(3)
    ]
    x, v, mass = table(sim.state.x), table(sim.state.v), table(model.mass)
    total, lost, blown = (np.sum(table(force) * v, axis=2) for force in forces)
    hangs = np.isin(np.arange(model.vertices), model.glue.vertex_host)
    assert hangs.any() == glue
    i, j = model.springs.numpy()[: len(model.springs) // worlds].T
    stiffness = model.stiffness.numpy().reshape(worlds, -1)[:, model.body_host[i]].astype(np.float64)
    longer = np.linalg.norm(x[:, j] - x[:, i], axis=2) - model.rest.numpy()[: len(i)].astype(np.float64)
    expected = {
        "mass": mass[:, ~hangs].sum(axis=(1, 2)),
        "moment": (mass * x)[:, ~hangs].sum(axis=1),
        "kinetic": 0.5 * (mass * v * v)[:, ~hangs].sum(axis=(1, 2)),
        "springs": 0.5 * (stiffness * longer**2).sum(axis=1),
        "power": total.sum(axis=1),
        "glued": (mass * v)[:, hangs].sum(axis=1),
        "taken": -lost.sum(axis=1) - np.minimum(blown, 0.0).sum(axis=1),
        "given": np.maximum(blown, 0.0).sum(axis=1),
    }
    found = sum_worlds(model, sim.state, *forces)
    for name, value in expected.items():
        np.testing.assert_allclose(getattr(found, name), value, rtol=1e-12, atol=1e-12, err_msg=name)
    assert found.springs.min() > 0.1
    assert worlds == 1 or np.ptp(found.springs) > 0.1

    nothing = wp.empty(0, dtype=model.numbers.vec, device=model.device)
    without = sum_worlds(model, sim.state, nothing, nothing, nothing)
    np.testing.assert_array_equal(without.kinetic, found.kinetic)
    for name in ("power", "taken", "given"):
        np.testing.assert_array_equal(getattr(without, name), 0.0)
