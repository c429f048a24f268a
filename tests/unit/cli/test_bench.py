"""The benchmarks run and report what they claim; no assertion is about time."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from turgor import bench
from turgor.bench import bounding, growth
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
