"""Law 4: measured order of convergence of each solver, and each solver step by step against the oracle."""

from __future__ import annotations

import numpy as np
import pytest

import reference as ref
import turgor
from support.laws import disturbed, frames, get, make, put, shape_of

ORDERS = {"euler": 1, "symplectic": 1, "heun": 2, "midpoint": 2, "rk4": 4, "rk4-martin": 1}
TIME = 0.1  # s, about half a period of the slowest spring


def prepared(name, solver, substeps, precision="double", **options):
    shape = shape_of(name)
    sim, oracle = make(
        shape,
        mass=2.0,
        stiffness=120.0,
        damping=0.4,
        gas=turgor.Gas(nRT=10.0, ambient=3.0),
        gravity=9.81,
        drag=0.3,
        solver=solver,
        fps=1 / TIME,
        substeps=substeps,
        precision=precision,
        **options,
    )
    v = np.random.default_rng(9).normal(size=shape.vertices.shape)
    put(sim, disturbed(shape, 0.02), v)
    return sim, oracle


@pytest.mark.law(4)
@pytest.mark.req("A6", "B7", "C3")
@pytest.mark.parametrize(("precision", "atol"), [("double", 1e-12), ("single", 2e-6)])
@pytest.mark.parametrize("assembly", ["scatter", "gather"])
@pytest.mark.parametrize("solver", ORDERS)
@pytest.mark.parametrize("name", ["circle", "icosphere"])
def test_each_solver_step_by_step(name, solver, assembly, precision, atol):
    sim, oracle = prepared(name, solver, 25, precision, assembly=assembly)
    x, v = ref.simulate(solver, oracle.acceleration, *get(sim), TIME / 25, 25)
    sim.step()
    np.testing.assert_allclose(get(sim)[0], x, rtol=0, atol=atol)
    np.testing.assert_allclose(get(sim)[1], v, rtol=0, atol=50 * atol)
    assert sim.time == pytest.approx(TIME)


@pytest.mark.law(4)
@pytest.mark.req("A6", "B7", "C3")
@pytest.mark.parametrize("solver", ORDERS)
@pytest.mark.parametrize("name", ["circle", "icosphere"])
def test_order_of_convergence(name, solver, record_property):
    order = ORDERS[solver]
    steps = [20, 40, 80, 160] if order == 4 else [100, 200, 400, 800]
    _, oracle = prepared(name, solver, 1)
    start = get(prepared(name, solver, 1)[0])
    # the exact solution: the oracle's RK4 with steps five times finer than the finest RK4 here, error below 1e-12
    exact = np.concatenate(ref.simulate("rk4", oracle.acceleration, *start, TIME / 800, 800))
    errors = []
    for substeps in steps:
        sim, _ = prepared(name, solver, substeps)
        errors.append(np.linalg.norm(np.concatenate(get(frames(sim, 1))) - exact))
    measured = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
    print(f"\n{name:10s} {solver:11s} order {np.array2string(measured, precision=3)} (expected {order})")
    record_property(f"order {name} {solver}", measured.tolist())
    # error = C h^p (1 + c h + ...): the last ratio is within O(h) of p, the trend goes there
    assert measured[-1] == pytest.approx(order, abs=0.15)
    assert measured[0] == pytest.approx(order, abs=0.4)
