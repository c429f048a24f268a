"""The benchmarks run and report what they claim; no assertion is about time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from turgor import bench
from turgor.bench import bounding, growth, solvers, threads, work_precision
from turgor.bench.machine import processor
from turgor.bench.measure import (
    HAS_THREADS,
    ball_scene,
    in_turns,
    million_vertex_substeps,
    now,
    ratios,
    spread,
    taken_by,
)
from turgor.bench.suite import Options
from turgor.bench.text import cell
from turgor.bench.throughput import substep_bytes
from turgor.cli.app import execute
from turgor.kernel.cores import physical_cores
from turgor.simulation.simulation import Simulation

KEPT = {  # what every row of a suite's first table has
    "throughput": {"vertices", "substeps", "frame_ms", "mvs_per_s", "gb_per_s", "share_of_copy"},
    "worlds": {"worlds", "vertices", "substeps", "frame_ms", "mvs_per_s"},
    "contact": {"contact", "frame_ms", "over_none", "contacts"},
    "self-contact": {"vertices", "without_us", "with_us", "ratio"},
    "solvers": {"case", "solver", "substeps", "ms", "error"},
    "build": {"scene", "worlds", "vertices", "build_s", "prepare_s"},
    "startup": {"kernel_cache", "s", "target"},
    "playground": {"scene", "client", "frames_per_s", "updates_per_s", "realtime_factor"},
    "peers": {"engine", "version", "frame_ms", "mvs_per_s", "time_over_turgor", "volume_ratio", "ball"},
    "stages": {"stage", "us", "ns_per_vertex"},
    "frame": {
        "scene",
        "host_share",
        "launches_per_frame",
        "looks_per_frame",
        "arrays_per_frame",
        "kernels_in_the_graph",
    },
    "growth": {"vertices", "mvs_per_s", "time_per_vertex_over_first"},
    "pressure": {"vertices", "ms", "ns_per_vertex"},
    "bounding": {"tests", "alone_ns", "boxed_ns"},
    "realtime": {"scene", "frame_ms", "realtime_factor", "slowest_second"},
    "pile": {"stage", "ms", "share"},
    "sleeping": {"state", "asleep", "frame_ms", "share"},
    "study": {"runs", "plan", "workers", "one_by_one_ms", "study_ms", "ratio", "equal", "failed"},
    "skins": {"skin", "ns", "cost_of_springs"},
    "learn": {"worlds", "vertices", "substeps", "period_ms", "periods_per_s", "realtime_factor"},
    "solvers-large": {"vertices", "flight_ratio", "ground_ratio"},
}
OWN_PROGRAMS = ("startup", "playground", "peers")
APART = (*OWN_PROGRAMS, "threads")  # with tests of their own
QUICK = Options(quick=True)


def results_of(name: str, options: Options = QUICK) -> dict[str, Any]:
    """What a suite gives, through JSON, as a reader of the file has it."""
    results: dict[str, Any] = json.loads(json.dumps(bench.run([name], options), allow_nan=False))
    return results


def check_tables(name: str, tables: dict[str, Any]) -> None:
    first = next(iter(tables.values()))
    for row in first:
        if "missing" in row:
            assert isinstance(row["missing"], str)
            continue
        assert KEPT[name] <= set(row)
        for value in row.values():
            if isinstance(value, dict):
                assert set(value) == {"median", "q1", "q3", "runs"}
                assert value["q1"] <= value["median"] <= value["q3"]
                assert value["runs"] >= 1
            else:
                assert value is None or isinstance(value, (int, float, str))


@pytest.mark.parametrize("name", [name for name in bench.SUITES if name not in APART])
def test_a_suite_runs_in_its_quick_form(name: str) -> None:
    suite = results_of(name)["suites"][name]
    assert suite["about"] == bench.SUITES[name].about
    assert suite["seconds"] >= 0.0
    check_tables(name, suite["tables"])


@pytest.mark.process
@pytest.mark.parametrize("name", OWN_PROGRAMS)
def test_a_suite_that_starts_programs_runs_in_its_quick_form(name: str, tmp_path: Path) -> None:
    check_tables(name, results_of(name, Options(quick=True, peers=tmp_path))["suites"][name]["tables"])


def test_results_say_on_what_they_were_measured() -> None:
    results = results_of("stages")
    assert set(results) == {"format", "machine", "options", "suites"}
    assert results["options"] == {"devices": ["cpu"], "threads": 1, "quick": True, "clock": "wall"}
    machine = results["machine"]
    assert machine["processor"]
    assert 1 <= machine["physical_cores"] <= machine["logical_cores"]
    assert machine["turgor"]
    assert machine["warp"].startswith("1.")
    assert set(machine["devices"]) == {"cpu"}


def test_cores_are_counted_without_hardware_threads(tmp_path: Path) -> None:
    """Two processors of one core, then one of another; and a system that tells nothing."""
    cpus = sorted(os.sched_getaffinity(0))
    here = tmp_path / "cpuinfo"
    cores = [(cpu, place // 2) for place, cpu in enumerate(cpus)]
    here.write_text(
        "\n".join(
            f"processor : {cpu}\nmodel name : Old One\nphysical id : 0\ncore id : {core}\n" for cpu, core in cores
        )
    )
    assert physical_cores(here) == (len(cpus) + 1) // 2
    assert processor(here) == "Old One"
    assert physical_cores(tmp_path / "none") == len(cpus)


def test_ten_suites_run_where_none_is_named() -> None:
    assert bench.chosen([]) == [
        "throughput", "worlds", "contact", "self-contact", "solvers", "threads", "build", "startup", "playground",
        "peers",
    ]  # fmt: skip
    assert bench.chosen(["pile", "worlds"]) == ["worlds", "pile"]
    assert bench.chosen(["all"]) == list(bench.SUITES)


def test_a_spread_is_median_and_quartiles() -> None:
    assert spread([3.0, 1.0, 2.0, 5.0, 4.0]) == {"median": 3.0, "q1": 2.0, "q3": 4.0, "runs": 5}
    assert cell(spread([3.0, 1.0, 2.0, 5.0, 4.0])) == "3.00 (2.00-4.00)"
    assert [cell(value) for value in (None, True, 12, 1234.5, 0.01234, 1e-7, "as meant")] == [
        "-", "yes", "12", "1,234", "0.0123", "1e-07", "as meant",
    ]  # fmt: skip


def test_times_are_taken_by_the_clock_that_is_asked_for() -> None:
    """On a GPU always by the wall clock: its work is not the processor's."""
    with taken_by("processor"):
        assert time.process_time() <= now() <= time.process_time()
        assert time.perf_counter() <= now("cuda:0") <= time.perf_counter()
    assert time.perf_counter() <= now() <= time.perf_counter()


def test_ratios_are_of_the_same_round() -> None:
    """A machine that becomes ten times slower changes no ratio."""
    clock = iter([1.0, 3.0, 10.0, 30.0])
    times = in_turns({"fast": lambda: next(clock), "slow": lambda: next(clock)}, 2)
    assert times == {"fast": [1.0, 10.0], "slow": [3.0, 30.0]}
    assert ratios(times["slow"], times["fast"])["median"] == 3.0


def test_throughput_counts_vertex_substeps():
    row = million_vertex_substeps(ball_scene(2), "cpu", options=QUICK)
    assert row["vertices"] == 162
    rate = 162 * row["substeps"] / row["frame_ms"]["median"] / 1e3
    assert row["mvs_per_s"]["median"] == pytest.approx(rate, rel=0.1)
    assert 20 <= row["substeps"] <= 60  # a usual frame: the bound was used as meant


def test_bytes_of_a_substep_are_those_of_its_arrays() -> None:
    """Springs: two ends and a rest length of three (36 bytes a vertex), x, v, f; faces: three corners of two (24), x,
    areas; the movement: x, v, f, areas, mass, body and wall: 12 each but for the two before the last, 4."""
    found = []
    for size in (4, 5):
        sim = Simulation(ball_scene(size))
        sim.step()
        found.append(substep_bytes(sim))
    least = (36.0 + 3 * 12.0) + (24.0 + 2 * 12.0) + (5 * 12.0 + 2 * 4.0)
    assert least - 1.0 < found[0] < 1.2 * least
    assert found[1] == pytest.approx(found[0], rel=0.01)


@pytest.mark.parametrize(("cores", "found"), [(1, [1]), (2, [1, 2]), (6, [1, 2, 4, 6]), (16, [1, 2, 4, 8, 16])])
def test_numbers_of_threads(cores: int, found: list[int]) -> None:
    assert threads.counts(cores) == found


def test_threads_give_the_same_state_or_the_suite_says_that_there_is_one() -> None:
    tables = results_of("threads")["suites"]["threads"]["tables"]
    if not HAS_THREADS:
        assert tables == {"cpu": [{"missing": threads.ONE}]}
        return
    assert len(tables) == 2
    for rows in tables.values():
        assert [row["threads"] for row in rows] == [1, 2]
        assert all(row["same_state"] for row in rows)
        assert rows[0]["speed_up"]["median"] == 1.0


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
    assert million_vertex_substeps(ball_scene(1), "cpu", 3, QUICK)["vertices"] == 3 * 42


@pytest.mark.process
def test_command_prints_one_object():
    done = subprocess.run(
        [sys.executable, "-m", "turgor", "bench", "stages", "--quick", "--device", "cpu", "--json"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    (rows,) = json.loads(done.stdout)["suites"]["stages"]["tables"].values()
    assert {"springs", "faces", "integrate", "plan (per frame)"} <= {row["stage"] for row in rows}
    assert done.stderr == ""


def test_command_prints_tables_and_writes_a_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    arguments = ["bench", "stages", "frame", "--quick", "--device", "cpu", "-o", str(file), "--note", "beside a test"]
    assert execute(arguments) == 0
    shown = capsys.readouterr().out
    assert "springs" in shown
    assert "kernels in the graph" in shown
    written = json.loads(file.read_text())
    assert list(written["suites"]) == ["stages", "frame"]
    assert written["note"] == "beside a test"
    assert [entry.name for entry in tmp_path.iterdir()] == [file.name]


def test_list_has_a_sentence_for_each(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["bench", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    for name, suite in bench.SUITES.items():
        assert any(line.split() and line.split()[0] == name and line.endswith(suite.about) for line in lines)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["thruput"], "there is no suite 'thruput'; did you mean 'throughput'?"),
        (["stages", "--peers", "nowhere"], "--peers nowhere: there is no such folder"),
        (["stages", "-o", "nowhere/results.json"], "--output nowhere/results.json: its folder does not exist"),
        (["stages", "--device", "tpu"], "device 'tpu' is not known"),
        (["stages", "--clock", "sun"], "--clock sun: there is no such clock; known: wall, processor"),
        (["stages", "--clock", "processor", "--threads", "2"], "adds up the time of all threads"),
        (["stages", "--threads", "0"], "invalid value for '--threads'"),
    ],
)
def test_bad_input_is_told_before_anything_is_measured(
    arguments: list[str],
    words: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert execute(["bench", *arguments]) == 2
    assert words in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


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
