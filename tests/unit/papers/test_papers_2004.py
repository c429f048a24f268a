"""The report's items on Matyka 2004: the numbers they show obey the laws, and each gives blocks in quick mode."""

from __future__ import annotations

import math

import numpy as np
import pytest

from reference.historical_2004 import SoftBall2004
from turgor.papers.gallery_scenes import empty_ring
from turgor.papers.matyka2004 import areas, integrators, items, motion
from turgor.simulation.simulation import Simulation


def test_keys_are_unique_and_figures_are_all_there() -> None:
    keys = [item.key for item in items.ITEMS]
    assert len(set(keys)) == len(keys)
    assert {f"2004-figure-{number}" for number in range(1, 6)} <= set(keys)


@pytest.mark.req("A1")
def test_the_papers_circle_does_not_close() -> None:
    """Its 3.14 leaves 2π − 6.28 for the closing edge, on top of its own angle."""
    for points in (20, 200):
        step = 6.28 / points
        expected = math.sin(0.5 * (step + 2 * math.pi - 6.28)) / math.sin(0.5 * step)
        assert items.closing_edge(points) == pytest.approx(expected, rel=1e-9)


def test_the_ring_collapses_without_gas() -> None:
    sim = Simulation(empty_ring())
    start = sim["ball"].volume
    sim.run(1.5)
    assert abs(sim["ball"].volume) < 0.1 * start


def test_stages_take_time_and_pressure_has_a_share() -> None:
    times = items.stage_table(480)
    assert list(times) == ["springs", "faces", "gas", "integrate"]
    assert all(seconds > 0.0 for seconds in times.values())
    assert 0.02 < items.pressure_share(times) < 0.9


@pytest.mark.req("A5")
def test_areas() -> None:
    """Gauss is exact on every outline; the box never less than the area; the listing is far off everywhere."""
    found = areas.areas()
    assert len(found) >= 6
    for area in found:
        assert area.gauss == pytest.approx(area.exact, rel=2e-6)
        assert area.box > 1.2 * area.exact
        assert area.listed < 0.2 * area.exact
        centred_and_convex = area.name in ("circle", "ellipse 1.6 : 0.5", "square on its corner")
        assert (area.absolute == pytest.approx(area.exact, rel=1e-9)) == centred_and_convex


@pytest.mark.req("A5")
@pytest.mark.parametrize("points", [20, 48])
def test_the_listings_sums_are_those_of_the_historical_oracle(points: int) -> None:
    printed = SoftBall2004(points=points, mistakes=frozenset({"printed-area"}))
    absolute = SoftBall2004(points=points, mistakes=frozenset({"absolute-area"}))
    assert areas.listed_area(printed.x) == pytest.approx(printed.area(), rel=1e-12)
    assert areas.absolute_area(absolute.x) == pytest.approx(absolute.area(), rel=1e-12)
    exact = SoftBall2004(points=points).area()
    assert printed.area() / exact == pytest.approx(2 / points, rel=0.05)
    assert abs(areas.equation_3(printed.x)) < 1e-12


@pytest.mark.req("A4")
def test_the_pressure_force_is_that_of_the_law() -> None:
    for points in (20, 200):
        assert areas.force_over_law(points) == pytest.approx(1.0, rel=1e-5)


@pytest.mark.req("A4")
def test_radius_at_equilibrium() -> None:
    """Tension k (2 r sin(π/n) − l) = P r cos(π/n), P = nRT / area; more gas, larger ball."""
    n, k, rest = 48, 1500.0, 2 * 0.5 * math.sin(math.pi / 48)
    for nrt in (areas.NRT, 2 * areas.NRT):
        r = areas.equilibrium_radius(nrt)
        area = 0.5 * n * r * r * math.sin(2 * math.pi / n)
        tension = k * (2 * r * math.sin(math.pi / n) - rest)
        assert tension == pytest.approx(nrt / area * r * math.cos(math.pi / n), rel=1e-3)


@pytest.mark.req("A6")
def test_orders_of_the_integrators() -> None:
    counts = [256, 512, 1024, 2048]
    for solver, order in (("euler", 1), ("symplectic", 1), ("heun", 2), ("midpoint", 2)):
        found = integrators.errors(solver, counts)
        assert np.all(np.diff(found.errors) < 0.0)  # finer is better
        assert integrators.order(found) == pytest.approx(order, abs=0.15)


@pytest.mark.req("A6")
def test_largest_steps() -> None:
    """Euler needs far shorter steps than Heun; the paper's listing is stable up to ω Δt = 2 without any damping."""
    euler, listed, heun = (
        integrators.largest_step(solver, damped=True, seconds=0.5, halvings=2)
        for solver in ("euler", "symplectic", "heun")
    )
    assert 0.0 < 5 * euler < heun <= 1.3 * listed
    undamped = integrators.largest_step("symplectic", damped=False, seconds=0.5, halvings=4)
    assert integrators.largest_step("heun", damped=False, seconds=0.5, halvings=2) < undamped
    assert undamped == pytest.approx(integrators.spring_limit(), rel=0.06)  # the search is as fine as that


@pytest.mark.req("A7")
@pytest.mark.parametrize("loss", [0.1, 0.5])
def test_the_wall_keeps_this_part_of_the_speed(loss: float) -> None:
    assert motion.loose_points(loss) == pytest.approx(loss, abs=0.01)


def test_points_lie_still_where_the_listing_keeps_them_bouncing() -> None:
    ours, listed = motion.resting_speeds(0.5, step=1e-3)
    assert ours < 1e-6
    assert listed == pytest.approx(0.5 / 1.5 * 9.81 * 1e-3, rel=1e-6)  # v = e (g dt - v)


def test_all_masses_fall_alike() -> None:
    for mass in (0.5, 2.0):
        assert motion.fall_of(mass) == pytest.approx(9.81, rel=1e-4)


@pytest.mark.req("A9")
def test_the_scripted_mouse_drags_the_ball() -> None:
    sim, pointer = Simulation(motion.mouse_scene()), motion.ScriptedMouse()
    begin, end = motion.PULL
    while sim.time < end - 1e-9:
        pointer(sim)
        sim.step()
    held = sim["ball"].positions[pointer.vertex]
    assert np.linalg.norm(held - motion.mouse_at(end)) < 0.4
    assert np.linalg.norm(motion.mouse_at(end) - motion.mouse_at(begin)) > 1.5
    assert sim["ball"].center[1] > 0.7  # lifted
    pointer(sim)
    sim.run(2.0)
    assert sim["ball"].center[1] < 0.8  # let go: it lies on the floor again
