"""The energy ledger: kinetic + elastic + gas + gravity + dissipated - work from outside stays what it was."""

from __future__ import annotations

import numpy as np
import pytest

import turgor
from law_helpers import PRECISIONS, disturbed, frames, get, make, put, shape_of

GAS = turgor.Gas(nRT=12.0, ambient=4.0)


def floor(scene):
    scene.add_ground(friction=0.4, restitution=0.3)


def plates(scene):
    for side in (-1.0, 1.0):
        axis = np.zeros(scene.dim)
        axis[-1] = side
        scene.add_plane(point=tuple(0.6 * axis), normal=tuple(-axis), velocity=tuple(-0.3 * axis), restitution=0.2)


CASES = {
    "dashpot": {"damping": 1.0},
    "drag": {"drag": 2.0},
    "martin": {"velocity_damping": turgor.VelocityDamping(base=0.02, stiffness_max=4000.0)},
    "floor": {"walls": floor, "gravity": 9.81, "damping": 0.5, "bending": 0.1},
    "plates": {"walls": plates, "damping": 0.5},
    "wind": {"wind": (1.5, -0.5, 0.5), "wind_drag": 0.2},
    "pump": {"gas": turgor.Gas(nRT=12.0, ambient=4.0, inflate=0.3), "damping": 0.5},
    "adiabatic": {"gas": turgor.Gas(nRT=12.0, ambient=4.0, law="adiabatic"), "drag": 1.0},
    "held": {"gas": turgor.Gas.at(gauge=20.0, ambient=4.0, held=True), "drag": 1.0},
}


def residual(name, case, substeps, precision="double"):
    """What the ledger leaves unexplained after 0.5 s, J, and the energy that was turned over."""
    shape = shape_of(name)
    options = {"gas": GAS, **CASES[case]}
    if "wind" in options:
        options["wind"] = options["wind"][: shape.dim]
    at = np.zeros(shape.dim)
    at[-1] = 0.8 if case == "floor" else 0.0
    sim, _ = make(shape, stiffness=150.0, at=tuple(at), substeps=substeps, precision=precision, ledger=True, **options)
    put(sim, disturbed(shape, 0.02) + at, np.random.default_rng(1).normal(size=shape.vertices.shape))
    start = sim.energy()
    frames(sim, 30)
    end = sim.energy()
    assert np.all(np.isfinite(get(sim)))
    turned = abs(end.dissipated) + abs(end.work) + abs(end.kinetic - start.kinetic)
    return abs(end.total + end.dissipated - end.work - start.total - start.dissipated + start.work), turned, end


@pytest.mark.req("D8", "X3")
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", ["circle", "icosphere"])
def test_nothing_is_lost_from_the_ledger(name, case):
    """First order in the step (each loss is the power at a step's start or end times dt): halves with dt."""
    coarse, turned, end = residual(name, case, 20)
    fine, *_ = residual(name, case, 80)
    print(f"\n{name} {case}: residual {coarse:.2e} -> {fine:.2e} J of {turned:.3f} J turned over")
    assert turned > 0.1
    assert end.dissipated >= 0.0
    assert coarse < 0.08 * turned  # the swing of the symplectic method itself: dt ω/2 with ω = 200/s
    assert fine < 0.4 * coarse or fine < 1e-3 * turned


@pytest.mark.req("D8")
@pytest.mark.parametrize("precision", PRECISIONS)
def test_without_losses_the_ledger_is_empty(precision):
    shape = shape_of("icosphere")
    sim, _ = make(shape, gas=GAS, ledger=True, precision=precision)
    put(sim, disturbed(shape))
    frames(sim, 10)
    energy = sim.energy()
    assert energy.dissipated == pytest.approx(0.0, abs=1e-12)
    assert energy.work == pytest.approx(0.0, abs=1e-12)
