"""The report's part on Matyka & Ollila 2003: each item gives what it promises, and the numbers obey the laws."""

from __future__ import annotations

import math

import numpy as np
import pytest

from turgor.errors import UnstableError
from turgor.papers.matyka2003 import any_stiffness, bounding, hand, items, scenes, stability, ways
from turgor.papers.matyka2003 import volumes as volumes_2003
from turgor.papers.report.blocks import Compared, Table
from turgor.simulation.simulation import Simulation


def test_keys_are_unique():
    keys = [item.key for item in items.ITEMS]
    assert len(set(keys)) == len(keys)


@pytest.mark.req("C5")
def test_more_gas_less_sag():
    sim = scenes.Simulation(scenes.hanging_scene(scenes.PRESSURES), contact="none")
    sim.run(6.0)
    balls = scenes.hang(sim)
    sags = [ball.sag for ball in balls]
    assert sags == sorted(sags, reverse=True)
    assert sags[-1] > 0.0  # it hangs
    ratios = [ball.height / ball.width for ball in balls]
    assert ratios == sorted(ratios, reverse=True)
    assert all(ratio > 1.0 for ratio in ratios)
    volumes = [ball.volume for ball in balls]
    assert volumes == sorted(volumes)
    for ball in balls:  # Boyle, with no air outside
        assert ball.gauge * ball.volume == pytest.approx(ball.filled * volumes_2003.bodies()["ball"].volume, rel=1e-3)
    assert np.abs(sim.velocities).max() < 0.05  # at rest


@pytest.mark.req("D3")
def test_depth_of_a_cloth_in_the_wind():
    """Force c w on every point; without tension at rest a membrane gives way with the cube root."""
    winds = np.array([0.5, 1.0, 2.0])
    depths, forces = scenes.cloth_depths(winds, 1.0)
    cloth = scenes.cloth_scene().cloths[0]
    assert forces == pytest.approx(len(cloth.shape.vertices) * cloth.wind_drag * winds, rel=1e-5)
    assert np.polyfit(np.log(winds), np.log(depths), 1)[0] == pytest.approx(1 / 3, abs=0.01)


@pytest.mark.req("C8")
def test_fixed_and_free_pressure():
    found = items.two_gases(1.0)
    free, held = found["free"], found["held"]
    product = free["P"] * free["V"]
    assert np.ptp(product) / product[0] < 1e-5
    assert np.ptp(free["P"]) > 0.1 * free["P"][0]  # it was squashed
    assert np.ptp(held["P"]) == 0.0
    assert held["V"].min() / held["V"][0] < free["V"].min() / free["V"][0]  # a pump gives way more


@pytest.mark.req("C2", "C9")
def test_volumes_by_bounding_objects():
    bodies = volumes_2003.bodies()
    for shape in bodies.values():
        assert volumes_2003.estimate(shape, "exact")[0] == pytest.approx(shape.volume, rel=1e-5)
        for bound in volumes_2003.BOUNDS:
            assert volumes_2003.estimate(shape, bound)[0] > shape.volume
        assert volumes_2003.estimate(shape, "subdivision", 64)[0] == pytest.approx(shape.volume, rel=0.01)
        box = float(np.prod(np.ptp(shape.vertices, axis=0)))
        share = shape.volume / box
        slack = 4.0 * box * math.sqrt(share * (1.0 - share) / 2048)
        assert volumes_2003.estimate(shape, "monte-carlo", 2048)[0] == pytest.approx(shape.volume, abs=slack)
    true = 4 / 3 * math.pi * 0.5 * 0.35 * 0.25
    assert volumes_2003.estimate(bodies["ellipsoid"], "ellipsoid")[0] == pytest.approx(true, rel=1e-5)
    assert volumes_2003.estimate(bodies["hand"], "ball")[0] > 5.0 * bodies["hand"].volume


@pytest.mark.req("C2")
def test_the_ball_around_a_squashed_ball_grows():
    squash = volumes_2003.measure_squash(3)
    deepest = int(np.argmin(squash.volumes["exact"]))
    change = {name: values[deepest] / values[0] for name, values in squash.volumes.items()}
    assert change["exact"] < 0.95
    assert change["ball"] > 1.2


@pytest.mark.req("C7")
def test_point_normals_push_a_closed_body():
    net, moment, total = volumes_2003.balance("gradient")
    assert net < 1e-12 * total
    assert moment < 1e-12 * total
    net, moment, total = volumes_2003.balance("vertex-normals")
    assert net > 1e-3 * total
    assert volumes_2003.self_speed("gradient", 0.1)[1].max() < 1e-5
    speeds = volumes_2003.self_speed("vertex-normals", 0.1)[1]
    assert speeds[-1] == pytest.approx(net * 0.1 / 1.0, rel=0.5)  # 1 kg


@pytest.mark.req("C7")
def test_divided_by_the_number_of_faces_the_gas_is_half_as_strong():
    """Both readings of footnote 3 are shown: the sum of the forces' sizes is that of the law, or about half of it."""
    sizes = {force: volumes_2003.balance(force)[2] for force in ("vertex-normals", "vertex-normals-divided")}
    hand = volumes_2003.bodies()["hand"]
    around = np.bincount(hand.faces.ravel())
    areas = np.zeros(len(hand.vertices))
    corners = hand.vertices[hand.faces]
    face = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    for corner in range(3):
        np.add.at(areas, hand.faces[:, corner], face)
    assert sizes["vertex-normals"] == pytest.approx(volumes_2003.GAUGE * areas.sum() / 3.0, rel=1e-6)
    assert sizes["vertex-normals-divided"] == pytest.approx(volumes_2003.GAUGE * (areas / around).sum(), rel=1e-6)
    assert volumes_2003.swelling() < 0.9


@pytest.mark.req("C3")
def test_stability_follows_linear_theory():
    """Where theory is the same for steps 1.5 times shorter and longer, every run has to agree with it."""
    stiffness, steps = np.array([10.0, 100.0, 1000.0]), np.array([1e-3, 3e-3, 1e-2, 3e-2])
    for solver in stability.SOLVERS:
        found = stability.stability_map(solver, stiffness, steps)
        for d, dashpot in enumerate((stability.DASHPOT, 0.0)):
            for j, step in enumerate(steps):
                for i, k in enumerate(stiffness):
                    near = {stability.predicted(solver, k, dashpot, step * part) for part in (1 / 1.5, 1.0, 1.5)}
                    assert len(near) > 1 or found.stable[d, j, i] in near, (solver, dashpot, step, k)
        assert not np.any(np.diff(found.stable.astype(int), axis=1) > 0)  # a longer step is never more stable


@pytest.mark.req("C3")
def test_limits_of_theory():
    top = stability.top_frequency(1e4)
    assert stability.limit("symplectic", 1e4, 0.0) * top == pytest.approx(2.0, rel=0.01)
    assert stability.limit("rk4", 1e4, 0.0) * top == pytest.approx(math.sqrt(8.0), rel=0.02)
    assert stability.limit("heun", 1e4, 0.0) == stability.limit("midpoint", 1e4, 0.0)
    for step in (1e-6, 1e-5):  # no undamped oscillation is stable for ever
        assert stability.growth_per_step("euler", 1e4, 0.0, step) > 1.0
    # with dashpots c on springs k every mode of the springs has the limit c/k; gas only lowers it, here by some percent
    assert stability.growth_per_step("euler", 1e4, 0.2, 0.9 * 0.2 / 1e4) <= 1.0 + 1e-9
    assert stability.growth_per_step("euler", 1e4, 0.2, 1.05 * 0.2 / 1e4) > 1.0 + 1e-9


@pytest.mark.req("C6")
def test_pressure_time_grows_in_proportion():
    times = items.pressure_times([(20, 50), (80, 100)])["cpu"]
    assert sorted(times) == [1000, 8000]
    assert 2.0 < times[8000] / times[1000] < 40.0  # 8; the machine may be busy
    assert items.slope({1000: 0.01, 2000: 0.02, 8000: 0.08}) == pytest.approx(1.0)
    assert items.per_vertex({1000: 0.01, 8000: 0.16}) == pytest.approx({1000: 10.0, 8000: 20.0})


@pytest.mark.req("C6")
def test_figure_6_claims_nothing_of_the_paper_but_its_axes():
    """The text at hand has the ends of the axes (8,000 and 6) and no value; ns per vertex are shown for all sizes."""
    blocks = items.figure_6(True)
    page = "".join(block.html() for block in blocks)
    assert "times as fast" not in page
    assert "about 5" not in page
    (table,) = [block for block in blocks if isinstance(block, Table)]
    assert table.header == ["vertices", "cpu, ms", "cpu, ns per vertex"] or "cuda:0, ms" in table.header
    for row in table.rows:
        assert row[2] == pytest.approx(1e6 * row[1] / row[0])
    (compared,) = [block for block in blocks if isinstance(block, Compared)]
    assert compared.rows[0][1] == "on an axis to 6"


@pytest.mark.req("C3", "C4", "C5")
def test_scenes_run_with_the_papers_solver_and_contact_beside_ours():
    """Midpoint and bounding objects are shown as what they are, and at rest solvers agree."""
    found, table = ways.beside(
        lambda: scenes.gallery.load("hand-and-ball"), 0.1, ["moved", "volume", "speed"], hand.Hit
    )
    assert [(run.solver, run.contact) for run in found] == [
        ("symplectic", "features"), ("midpoint", "features"), ("symplectic", "bounding"), ("midpoint", "bounding"),
    ]  # fmt: skip
    assert all(run.fps > 0.0 for run in found)
    assert len(table.rows) == 4
    sags = [ways.ran(scenes.hanging_scene([40.0]), solver, "none", 6.0, scenes.Sags()).found for solver in ways.SOLVERS]
    assert sags[0] == pytest.approx(sags[1], rel=1e-3)
    falls = [ways.ran(scenes.paper_ball(), solver, "none", 1.2, scenes.Bounce()).found for solver in ways.SOLVERS]
    assert falls[0] == pytest.approx(falls[1], rel=0.01)


def test_the_stopwatch_counts_processor_time(monkeypatch):
    """The median of the seconds of work between two looks; what a look takes does not count, nor does waiting."""
    worked = iter([0.0, 1.0, 1.01, 3.0, 3.02, 5.0, 5.5, 6.0])  # before and after each of four looks
    monkeypatch.setattr("time.process_time", lambda: next(worked))
    monkeypatch.setattr("time.perf_counter", lambda: pytest.fail("the wall clock was read"))
    watch = ways.Stopwatch()
    for _ in range(4):
        watch(None)
    assert watch.fps == pytest.approx(1.0 / 0.02)


def test_a_smooth_floor_turns_only_the_normal_part():
    before, after = scenes.slide()
    assert after[0] == pytest.approx(before[0], abs=1e-4)
    assert before[2] < 0.0 < after[2]


@pytest.mark.req("C4")
def test_bounding_objects_fit_balls_and_boxes_but_not_cones():
    """Closed forms: an ellipsoid of the box's proportions through the rim of a cone has √2 times its half axes."""
    for kind in ("box", "ball", "ellipsoid"):
        assert all(bounding.fit(name, kind).volume >= 1.0 - 1e-9 for name in bounding.bodies())
    assert bounding.fit("box", "box").volume == pytest.approx(1.0)
    assert bounding.fit("ball", "ellipsoid").volume == pytest.approx(1.0, abs=0.05)
    cone = bounding.bodies()["cone"]
    assert bounding.fit("cone", "box").volume == pytest.approx(1.0 / cone.volume)
    assert bounding.fit("cone", "ellipsoid").half == pytest.approx(0.5 * np.sqrt(2.0) * np.ones(3), rel=1e-6)
    assert bounding.fit("cone", "ellipsoid").volume == pytest.approx(np.pi / 6 * 2**1.5 / cone.volume, rel=1e-6)
    assert bounding.fit("cone", "ellipsoid").gap > 0.2
    assert bounding.fit("ball", "ellipsoid").widest < 0.02


# --- beside section 3.3: any stiffness and pressure


@pytest.mark.req("X2")
@pytest.mark.parametrize("dim", [2, 3])
def test_the_map_of_any_stiffness_shows_what_single_runs_do(dim):
    """One simulation runs all settings; each of them ends as it does in a simulation of its own."""
    step, stiffness, gauge = 1 / 60, np.array([1e0, 1e4, 1e8]), np.array([1e1, 1e5])
    for solver in ("implicit", "symplectic"):
        found = any_stiffness.finite_map(solver, dim, step, stiffness, gauge)
        for a, j, i in np.ndindex(found.finite.shape):
            ambient = any_stiffness.AMBIENTS[a]
            scene = any_stiffness.settings_scene(dim, stiffness[i], gauge[j], ambient)
            sim = Simulation(scene, solver=solver, substeps=1, fps=1 / step, contact="none", precision="double")
            try:
                for _ in range(any_stiffness.FRAMES):
                    sim.step()
                alone = sim.finite
            except UnstableError:
                alone = False
            assert found.finite[a, j, i] == alone, (solver, stiffness[i], gauge[j], ambient)


@pytest.mark.req("X2")
@pytest.mark.parametrize("dim", [2, 3])
def test_backward_euler_stands_any_stiffness(dim):
    """Pressures up to a bar, 12 orders of stiffness, the longest step: finite, and no energy is gained.

    The symplectic method fails where the step is longer than 2/ω: with air outside (its gas is stiff) everywhere here,
    without it where springs are stiff.
    """
    stiffness, gauge = 10.0 ** np.arange(-2, 11, 3), 10.0 ** np.arange(-1, 6, 2)
    implicit = any_stiffness.finite_map("implicit", dim, 1 / 30, stiffness, gauge)
    assert implicit.finite.all()
    assert not implicit.grows.any()
    explicit = any_stiffness.finite_map("symplectic", dim, 1 / 30, stiffness, gauge)
    bare, air = explicit.finite
    assert not air.any()
    assert bare[:, stiffness < 1.0].all()
    assert not bare[:, stiffness > 1e3].any()


@pytest.mark.req("X2")
def test_failed_settings_are_shown_as_failed():
    """One column for each kind of cell, and each has its own colour."""
    finite = np.array([[[True, True, False, False, True]], [[True, False, True, False, True]]])
    grows = np.zeros_like(finite)
    grows[1, 0, 4] = True
    found = any_stiffness.FiniteMap(10.0 ** np.arange(5), np.array([1e7]), finite, grows)
    colors = any_stiffness.cell_colors(found)[0]
    assert [any_stiffness.LEGEND[color] for color in colors] == [
        "finite", "fails in air", "fails in empty space", "fails", "finite, gains energy"
    ]  # fmt: skip
    blank = {(solver, dim, step): found for solver in any_stiffness.SOLVERS for dim in (2, 3)
             for step in any_stiffness.STEPS}  # fmt: skip
    words = any_stiffness.summary(blank)
    assert "implicit: 36 of 60 runs stay finite (60.0%)" in words
    assert "The implicit solver fails at 100 N/m with 1e+07 N/m in empty space (2D, 1/30 s);" in words
    assert "gains energy, at 10000 N/m with 1e+07 N/m in air (2D, 1/30 s);" in words
