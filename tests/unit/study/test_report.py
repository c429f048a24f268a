"""The report of a study: complete, self-contained, and true to the table."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.page_reader import NASTY, PageReader
from turgor.errors import RecordError
from turgor.study.report import write_report
from turgor.study.report.choose import figures
from turgor.study.report.columns import column_of
from turgor.study.report.frame import Scale
from turgor.study.report.parallel import MOST_LINES
from turgor.study.report.plots import MOST_DOTS
from turgor.study.report.units import unit_of
from turgor.study.results import Results

pytestmark = pytest.mark.req("X10")

FIXED = {"repeat": 0, "seed": 3, "status": "ok", "solver": "symplectic", "substeps": 40, "worlds": 8, "device": "cpu"}
REASON = "body 'ball' at t = 0.3 s diverged <script>alert(1)</script>"


def results(inputs: dict[str, Any], outputs: dict[str, Any], **study: Any) -> Results:
    """Columns as a table; where the first output is nan the run has failed."""
    columns = inputs | outputs
    count = len(next(iter(columns.values())))
    first = next(iter(outputs.values()))
    rows = []
    for run in range(count):
        row = {"run": run, **FIXED, "wall_seconds": 0.001 * ((7 * run) % count)}
        row |= {name: values[run] for name, values in columns.items()}
        if isinstance(first[run], float) and math.isnan(first[run]):
            row |= {"status": "failed", "reason": REASON}
        rows.append(row)
    return Results({"scene": "drop"} | study, tuple(inputs), tuple(outputs), rows)


def grid(*axes: Any) -> list[np.ndarray[Any, Any]]:
    return [part.ravel() for part in np.meshgrid(*axes, indexing="ij")]


def drawn(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)


def by_class(svg: str, kind: str) -> list[ElementTree.Element]:
    return [entry for entry in drawn(svg).iter() if entry.get("class") == kind]


def pairs(text: str) -> np.ndarray[Any, Any]:
    return np.array([[float(part) for part in place.split(",")] for place in text.split()])


def read(path: Path) -> tuple[PageReader, str]:
    """The page, which is whole and runs nothing, and its words."""
    reader = PageReader(path.read_text(encoding="utf-8"))
    assert reader.loaded == []
    return reader, " ".join(" ".join(reader.words).split())


def test_the_page_is_complete_and_needs_nothing_else(tmp_path: Path) -> None:
    gas, wind = grid(np.linspace(50.0, 500.0, 6), np.linspace(-1.0, 1.0, 5))
    top = gas * 0.001 + wind
    top[3] = math.nan
    study = {
        "vary": {"ball.gas.gauge": "50:500:6", "wind.x": "-1:1:5"}, "measure": {"top": "max(ball.center.z)"}, "seed": 5,
        "plan": "30 runs as 1 simulation of 30 worlds", "machine": "a machine of 2 cores", "runs": 40, "seconds": 2.0,
    }  # fmt: skip
    path = write_report(tmp_path, results({"ball.gas.gauge": gas, "wind.x": wind}, {"top": top}, **study))
    page, text = read(path)
    assert path == tmp_path / "report.html"
    for words in (
        "Study of drop", "30 of 40 runs with 2 inputs and 1 output; the study was not finished; 1 failed", "50:500:6",
        "max(ball.center.z)", "30 runs as 1 simulation of 30 worlds", "a machine of 2 cores", "symplectic",
        "ball.gas.gauge (Pa)", "wind.x (m/s)", "top (m)", REASON, "Slowest runs", "results.parquet",
    ):  # fmt: skip
        assert words in text, words
    assert "http" not in path.read_text(encoding="utf-8").replace('http-equiv="Content-Security-Policy"', "")
    assert "prefers-color-scheme:dark" in path.read_text(encoding="utf-8")
    assert page.links == [f"#{key}" for key in page.ids]  # every part is in the contents, and the other way round
    assert list(tmp_path.iterdir()) == [path]


def test_one_input_is_a_curve_with_its_spread() -> None:
    """Where the mean lies between the least and the largest is seen as it is; a value that failed has a cross."""
    gas = np.repeat([1.0, 2.0, 3.0], 4)
    top = np.array([1.0, 2.0, 3.0, 6.0, 2.0, 2.0, 2.0, 4.0] + [math.nan] * 4)
    ((figure,),) = figures(results({"gas": gas}, {"top": top})).values()
    mean = pairs(by_class(figure.svg, "line")[0].get("points", ""))
    wide = pairs(by_class(figure.svg, "band wide")[0].get("points", ""))
    high, low = wide[:2, 1], wide[:1:-1, 1]
    np.testing.assert_allclose((low - mean[:, 1]) / (low - high), [2.0 / 5.0, 0.5 / 2.0], atol=0.002)
    dark = pairs(by_class(figure.svg, "band")[0].get("points", ""))
    up = (mean[0, 1] - dark[0, 1]) / (low[0] - high[0])
    assert up == pytest.approx(np.std(top[:4]) / 5.0, abs=0.002)
    assert len(by_class(figure.svg, "failed")) == 1
    assert "Crosses" in figure.caption


def test_two_inputs_on_a_grid_are_a_heat_map() -> None:
    gas, wind = grid(np.linspace(1.0, 2.0, 8), np.linspace(-1.0, 1.0, 5))
    top = 10.0 * gas + wind
    top[7] = math.nan
    (found,) = figures(results({"gas": gas, "wind": wind}, {"top": top})).values()
    assert len(found) == 3  # the map, and a curve for each input
    heat = found[0].svg
    cells = {step: by_class(heat, f"c{step}")[0].get("d", "").count("M") for step in range(12)}
    assert sum(cells.values()) == 39
    assert by_class(heat, "failed")[0].get("d", "").count("M") == 1
    lowest = by_class(heat, "c0")[0].get("d", "")
    assert lowest.startswith("M70.0")  # the least value is at the left edge, on the floor
    assert f"M70.0 {252.0 - 212.0 / 5:.1f}" in lowest


def test_random_inputs_are_points_and_parallel_coordinates() -> None:
    rng = np.random.default_rng(0)
    table = rng.random((200, 3))
    inputs = {name: table[:, k] for k, name in enumerate("abc")}
    found = figures(results(inputs, {"top": table @ [1.0, 2.0, 3.0]}, sampling="latin"))["top"]
    assert [figure.wide for figure in found] == [False, False, False, True]
    assert by_class(found[0].svg, "dot")[0].get("d", "").count("M") == 200
    threads = [entry for entry in drawn(found[3].svg).iter() if (entry.get("class") or "").startswith("thread")]
    assert sum(entry.get("d", "").count("M") for entry in threads) == 200
    top = min(float(line.rpartition(" ")[2]) for line in threads[-1].get("d", "").split("M")[1:])
    assert top < min(float(line.rpartition(" ")[2]) for line in threads[0].get("d", "").split("M")[1:])


def test_random_pairs_are_coloured_points() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.random(50), rng.random(50)
    top = a - b
    top[4] = math.nan
    found = figures(results({"a": a, "b": b}, {"top": top}, sampling="random"))["top"]
    dots = [entry for entry in drawn(found[0].svg).iter() if (entry.get("class") or "").startswith("dot c")]
    assert sum(entry.get("d", "").count("M") for entry in dots) == 49
    assert by_class(found[0].svg, "failed")[0].get("d", "").count("M") == 1


def test_thousands_of_runs_stay_a_small_page(tmp_path: Path) -> None:
    """4,000 runs of five columns: below 2 MB, and what lies far from all others is drawn."""
    rng = np.random.default_rng(0)
    table = rng.random((4000, 3))
    top, far = table @ [1.0, 2.0, 3.0], table.prod(axis=1)
    top[1234] = 60.0
    study = results({name: table[:, k] for k, name in enumerate("abc")}, {"top": top, "far": far}, sampling="latin")
    assert write_report(tmp_path, study).stat().st_size < 500_000
    found = figures(study)["top"]
    dots = re.findall(r"M([\d.]+) ([\d.]+)h0", by_class(found[0].svg, "dot")[0].get("d", ""))
    assert 1000 < len(dots) <= MOST_DOTS
    column = column_of(study, "top")
    assert min(float(y) for _, y in dots) == pytest.approx(Scale(column, 252.0, 14.0).place(60.0), abs=0.1)
    assert found[3].svg.count("M") >= MOST_LINES
    assert f"{MOST_LINES} of 4,000 are drawn" in found[3].caption


def test_large_grids_are_joined() -> None:
    a, b = grid(np.arange(300.0), np.arange(90.0))
    found = figures(results({"a": a, "b": b}, {"top": a + b}))["top"]
    assert (
        sum(entry.get("d", "").count("M") for step in range(12) for entry in by_class(found[0].svg, f"c{step}")) < 4096
    )
    assert all(len(figure.svg) < 150_000 for figure in found)
    one = figures(results({"a": np.arange(5000.0)}, {"top": np.arange(5000.0)}))["top"]
    assert len(one[0].svg) < 40_000


def test_words_and_bools_as_inputs(tmp_path: Path) -> None:
    shape = ["ball", NASTY, "ball", "cube"] * 2
    held = [True, False] * 4
    study = results({"shape": shape, "held": held}, {"top": np.arange(8.0)})
    found = figures(study)["top"]
    assert "ball" in found[0].svg
    assert "no" in {text.text for text in drawn(found[0].svg).iter("text")}
    _, text = read(write_report(tmp_path, study))
    assert f"ball (4), {' '.join(NASTY.split())} (2), cube (2)" in text


@pytest.mark.parametrize("values", [[], [1.0], [2.0, 2.0], [math.nan, math.nan], [1.0, math.inf, -math.inf]])
def test_tables_with_little_in_them(values: list[float], tmp_path: Path) -> None:
    study = results({"gas": np.arange(float(len(values)))}, {"top": values})
    _, text = read(write_report(tmp_path, study))
    assert f"{len(values)} run" in text


def test_ends_slowest_and_failed_runs(tmp_path: Path) -> None:
    gas = np.arange(100.0)
    top = (gas - 30.0) ** 2
    top[60:] = math.nan
    _, page = read(write_report(tmp_path, results({"gas": gas}, {"top": top})))
    _, _, rest = page.partition("Runs at both ends")
    ends, _, rest = rest.partition("Failed runs")
    failed, _, slowest = rest.partition("Slowest runs")
    assert re.findall(r"(largest|least) ([\d.]+)", ends) == [
        ("largest", "900.0"), ("largest", "841.0"), ("largest", "841.0"), ("largest", "784.0"), ("largest", "784.0"),
        ("least", "4.000"), ("least", "4.000"), ("least", "1.000"), ("least", "1.000"), ("least", "0"),
    ]  # fmt: skip
    assert failed.count(REASON) == 1
    assert f"1 40 {REASON}" in failed
    assert "57 0.0990" in slowest  # 0.001 s times 7 * 57 modulo 100
    assert slowest.index("57 0.0990") < slowest.index("14 0.0980")


@pytest.mark.parametrize(
    ("expression", "unit"),
    [
        ("max(ball.center.z)", "m"), ("ball.gas.gauge", "Pa"), ("first(ball.volume < 0.5*ball.rest_volume)", "s"),
        ("energy.dissipated", "J"), ("energy.gravity", "J"), ("gravity.z", "m/s²"), ("final(ball.velocity.0)", "m/s"),
        ("last(ball.lowest > 0.1)", "s"), ("last(ball.lowest)", "m"), ("max('ball-1'.center.z)", "m"), ("ball.at", "m"),
        ("ball.volume / ball.rest_volume", ""), ("friction", ""), ("mean(ball.volume)", "m³"),
    ],
)  # fmt: skip
def test_units_of_plain_expressions(expression: str, unit: str) -> None:
    assert unit_of(expression) == unit
    assert unit_of("ball.volume", flat=True) == "m²"


def test_a_folder_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RecordError, match="cannot be written"):
        write_report(tmp_path / "file", results({"gas": [1.0]}, {"top": [1.0]}))


NEAR = {
    "rounding": [0.1, 0.09999999999999999],
    "huge": [1e308, -1.7e308, 3.0],
    "tiny": [5e-324, 1e-310, 1.0, 1e16],
    "without end": [math.inf, -math.inf, 2.0, 3.0],
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("values", NEAR.values(), ids=NEAR)
def test_numbers_at_the_ends_of_what_there_is(values: list[float], tmp_path: Path) -> None:
    _, text = read(write_report(tmp_path, results({"gas": values}, {"high": values}, log=["gas"])))
    assert "nan" not in text


def test_rounding_is_not_drawn_as_a_result(tmp_path: Path) -> None:
    gas, mass = grid([30.0, 60.0], [1.0, 2.0])
    high = 1.5 + 1e-8 * np.array([1.0, -1.0, 0.5, 0.0])
    found = results({"gas": gas, "mass": mass}, {"high": high})
    assert len(np.unique(column_of(found, "high").values)) == 1
    assert "1.5 everywhere" in figures(found)["high"][0].svg
    assert len(np.unique(column_of(results({"gas": gas}, {"high": 1.5 + 1e-4 * high}), "high").values)) == 1
    assert len(np.unique(column_of(results({"gas": gas}, {"high": high + 1e-4 * gas}), "high").values)) > 1


def test_the_ends_of_a_scale_differ() -> None:
    gas, mass = grid([30.0, 60.0], [1.0, 2.0])
    svg = figures(results({"gas": gas, "mass": mass}, {"high": 1.448 + 0.0001 * gas}))["high"][0].svg
    words = [text.text for text in drawn(svg).iter() if text.tag.endswith("text")]
    assert "1.451" in words
    assert "1.454" in words


def test_equal_times_have_no_deviation(tmp_path: Path) -> None:
    found = results({"gas": [1.0, 2.0, 3.0]}, {"high": [0.1, 0.1, 0.1]})
    _, text = read(write_report(tmp_path, found))
    assert " -17" not in text


def test_no_run_has_both_inputs(tmp_path: Path) -> None:
    gas, mass = [1.0, 2.0, math.nan, math.nan], [math.nan, math.nan, 1.0, 2.0]
    assert write_report(tmp_path, results({"gas": gas, "mass": mass}, {"high": [1.0, 2.0, 3.0, 4.0]})).exists()
