"""The benchmarks run and report what they claim; no assertion is about time."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

from turgor import bench
from turgor.bench import bounding, growth, solvers, work_precision
from turgor.bench.measure import ball_scene, million_vertex_substeps
from turgor.errors import SceneError
from turgor.simulation.simulation import Simulation


def test_no_host_work_inside_a_frame():
    """After the first frame Python launches no kernel of its own: a frame is one graph."""
    result = bench.run(["frame"])["frame"]["cpu"]
    assert result["launches_from_python"] == 0
    assert result["frame_ms"] > 0.0


def test_throughput_counts_vertex_substeps():
    row = million_vertex_substeps(ball_scene(2), "cpu")
    assert row["vertices"] == 162
    assert row["mvs_per_s"] == pytest.approx(162 * row["substeps"] / row["frame_ms"] / 1e3)
    assert 20 <= row["substeps"] <= 60  # a usual frame: the bound was used as meant


@pytest.mark.req("C6")
def test_pressure_force_against_vertices():
    """Figure 6 of 2003: one row per size, 8000 vertices among them."""
    result = growth.pressure(((10, 16), (80, 100)))["cpu"]
    assert [row["vertices"] for row in result["rows"]] == [160, 8000]
    assert all(row["ms"] > 0.0 for row in result["rows"])
    assert result["ms_at_8000"] == result["rows"][1]["ms"]
    assert [row["ns_per_vertex"] for row in result["rows"]] == pytest.approx(
        [1e6 * row["ms"] / row["vertices"] for row in result["rows"]]
    )
    assert result["stages"] == "faces + gas"
    assert "paper_2003" not in result  # its plot has an axis, and no number


@pytest.mark.req("C6")
@pytest.mark.parametrize(("assembly", "stages"), [("scatter", ("faces", "gas")), ("gather", ("gather", "gas"))])
def test_the_pressure_force_that_is_timed_is_the_one_a_simulation_uses(assembly, stages):
    """A GPU gathers: that pass is timed, not the scatter of the CPU. Here the same pass runs on the CPU."""
    sim = Simulation(ball_scene(2), assembly=assembly)
    assert sim.engine.forces.gathers == (assembly == "gather")
    assert growth.pressure_stages(sim) == stages
    assert growth.pressure_seconds(sim) > 0.0


def test_many_worlds_count_all_vertices():
    assert million_vertex_substeps(ball_scene(1), "cpu", worlds=3)["vertices"] == 3 * 42


def test_unknown_name_is_told():
    with pytest.raises(SceneError, match="no benchmark 'speed'; there are: throughput"):
        bench.run(["speed"])


@pytest.mark.process
def test_command_prints_one_object():
    done = subprocess.run(
        [sys.executable, "-m", "turgor", "bench", "stages", "--json"], capture_output=True, text=True, check=True
    )
    stages = json.loads(done.stdout)["stages"]["cpu"]
    assert {"springs", "faces", "integrate", "plan (per frame)"} <= set(stages)
    assert done.stderr == ""


@pytest.mark.req("C4")
def test_points_against_bounding_objects():
    """Footnote 4 of 2003: what the two ways are timed on, counted; a box holds its ellipsoid."""
    row = bounding.point_tests(seconds=0.01, side=2)
    assert row["tests"] % 162 == 0
    assert 0.0 < row["inside_ellipsoid"] < row["inside_box"] < 1.0
    assert row["alone_ns"] > 0.0
    assert row["boxed_ns"] > 0.0


@pytest.mark.req("X2")
def test_work_and_precision_of_the_solvers():
    """Twice the substeps halve the error of the symplectic solver, and do more for the implicit one, of second order.

    Its fewest steps do not follow the vibration at all, so that a few more of them change little.
    """
    rows = work_precision.work_precision(1, 1e4, dropped=False, frames=8)
    errors = {solver: [row["error"] for row in rows if row["solver"] == solver] for solver in work_precision.SOLVERS}
    assert errors["symplectic"][1] / errors["symplectic"][2] == pytest.approx(2.0, rel=0.2)
    assert max(errors["rk4"]) < 0.1 * min(errors["symplectic"])
    assert errors["implicit"][-1] < 0.5 * errors["implicit"][-2]
    assert errors["implicit"][-1] < 0.25 * errors["implicit"][0]
    assert all(row["ms"] > 0.0 for row in rows)
    assert [row["substeps"] for row in rows if row["solver"] == "implicit"] == list(work_precision.IMPLICIT)


@pytest.mark.req("X2")
def test_the_error_is_that_of_what_is_seen():
    """A shift counts in full; a vibration that is as long as the mean counts nothing."""
    still, moved = np.zeros((18, 7)), np.zeros((18, 7))
    moved[:, :3] = (0.03, 0.0, 0.04)
    assert work_precision.motion_error(moved, still) == pytest.approx(0.05 / work_precision.RADIUS)
    shaking = np.zeros((18, 7))
    shaking[:, 6] = np.tile([0.1, 0.0, -0.1], 6)
    assert work_precision.motion_error(shaking, still, window=3) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.req("X2")
def test_solvers_are_compared_at_equal_error():
    rows = [
        {"solver": "symplectic", "substeps": 10, "ms": 4.0, "error": 5e-3},
        {"solver": "symplectic", "substeps": 20, "ms": 8.0, "error": 5e-4},
        {"solver": "implicit", "substeps": 1, "ms": 1.0, "error": 5e-2},
        {"solver": "implicit", "substeps": 4, "ms": 2.0, "error": 5e-3},
    ]
    tenth, hundredth, thousandth = work_precision.equal_error(rows)
    assert tenth == {"error": 0.1, "symplectic_ms": 4.0, "rk4_ms": None, "implicit_ms": 1.0, "ratio": 4.0}
    assert hundredth == {"error": 0.01, "symplectic_ms": 4.0, "rk4_ms": None, "implicit_ms": 2.0, "ratio": 2.0}
    assert thousandth == {"error": 0.001, "symplectic_ms": 8.0, "rk4_ms": None, "implicit_ms": None, "ratio": None}


@pytest.mark.req("X2")
def test_frames_of_a_thrown_ball_by_both_solvers():
    """In flight and on the ground; where a symplectic frame is cut into parts, its substeps are still a frame's."""
    row = solvers.frame_times(1, 1e7, budget=0.05)
    assert row["vertices"] == 42
    assert row["ground_frames"] >= solvers.LEAST
    assert row["flight_ratio"] == pytest.approx(row["symplectic_flight_ms"] / row["implicit_flight_ms"])
    assert row["ground_ratio"] == pytest.approx(row["symplectic_ground_ms"] / row["implicit_ground_ms"])
    planned = Simulation(solvers.thrown_ball(1, 1e7), solver="symplectic", max_substeps=10**7)
    planned.step()
    assert row["flight_substeps"] == pytest.approx(planned.substeps, rel=0.2)


@pytest.mark.req("X2")
def test_the_ball_whose_equilibrium_is_timed_is_in_balance():
    """Boyle: what is left of the 500 Pa that were entered is that of the volume it has swollen to."""
    found = solvers.pressed_ball(2, ground=False)
    assert found["seconds"] > 0.0
    assert 0.0 < found["gauge_pressure"] < 250.0
    assert (found["gauge_pressure"] + 101_325.0) * found["volume_over_rest"] == pytest.approx(101_825.0, rel=1e-5)
