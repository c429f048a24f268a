"""docs/benchmarks.md is made from results of `turgor bench`: tables, plots, targets met and missed."""

from __future__ import annotations

import json
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from benchpage import targets
from benchpage.page import PLACE, page, pictures, sections
from benchpage.results import read
from turgor.bench import FORMAT, SUITES

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def spread(median: float) -> dict[str, float]:
    return {"median": median, "q1": 0.9 * median, "q3": 1.1 * median, "runs": 5}


def small() -> dict[str, Any]:
    """Results as `turgor bench -o` writes them, of a few suites."""
    ball = {"substeps": 30, "frame_ms": spread(1.0), "mvs_per_s": spread(20.0)}
    rates = [{"vertices": count, **ball} for count in (162, 642)]
    peers = [
        {"engine": name, "frame_ms": spread(ms), "time_over_turgor": spread(ms / 4.0), "ball": state}
        for name, ms, state in (("turgor", 4.0, "as meant"), ("Bullet", 20.0, "it has burst"))
    ] + [{"engine": "Newton XPBD", "missing": "it cannot be imported; pip install newton"}]
    heap = [{"contact": name, "over_none": spread(ratio)} for name, ratio in (("none", 1.0), ("features", 1.5))]
    tables = {
        "throughput": {"cpu: one ball": rates},
        "contact": {"cpu: heap of 50 balls": heap},
        "peers": {"cpu: 121 balls of 162 vertices, 5 substeps": peers},
        "threads": {"cpu": [{"missing": "this build runs on one thread"}]},
    }
    suites = {name: {"about": "", "seconds": 1.0, "tables": found} for name, found in tables.items()}
    machine = {"processor": "Old One", "physical_cores": 2, "commit": "abc1234", "devices": {"cpu": "Old One"}}
    return {"name": "small", "format": FORMAT, "machine": machine, "note": "beside a test", "suites": suites}


def place(name: str) -> str:
    return f"<!-- made by tools/benchmarks: {name} -->\nold\n<!-- end -->\n"


def test_places_are_filled_and_words_stay() -> None:
    text = f"# Words\n{place('machines')}between\n{place('throughput')}{place('threads')}{place('worlds')}after\n"
    made = page(text, [small()])
    assert made.startswith("# Words\n")
    assert "\nbetween\n" in made
    assert made.endswith("after\n")
    assert "old" not in made
    assert "| processor | Old One |" in made
    assert "| 162 | 30 | 1.00 (0.9000-1.10) | 20.0 (18.0-22.0) |" in made
    assert "images/bench-throughput.svg" in made
    assert "Missing: this build runs on one thread." in made
    assert "Not measured here." in made
    assert page(made, [small()]) == made


def test_targets_are_met_missed_or_not_measured() -> None:
    found = {row[0]: row[2:] for row in targets.table([small()])}
    assert found["CPU, heap of 50 balls: frame with contact over without (S5)"] == ("1.5", "met")
    assert found["121 balls × 162: Bullet's time over turgor's (S3)"] == ("5", "**missed**")
    assert found["2 threads, `pile`: speed-up"] == ("-", "not measured")


def test_plots_are_drawn_of_what_there_is() -> None:
    drawn = pictures([small()])
    assert set(drawn) == {"bench-throughput.svg", "bench-peers.svg"}
    for picture in drawn.values():
        ET.fromstring(picture)
    assert "Bullet (!)" in drawn["bench-peers.svg"]  # its ball is not what is meant
    assert "Newton" not in drawn["bench-peers.svg"]


def test_a_place_that_nothing_is_made_for_is_told() -> None:
    with pytest.raises(ValueError, match="a place for 'speed', which is none of: machines, targets, throughput"):
        page(place("speed"), [small()])


@pytest.mark.parametrize(("text", "words"), [("{", "cannot be read"), ("{}", "not results of `turgor bench -o`")])
def test_a_file_that_is_no_results_is_told(text: str, words: str, tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text(text)
    with pytest.raises(ValueError, match=words):
        read(file)


@pytest.mark.process
def test_the_tool_writes_the_page_and_its_plots(tmp_path: Path) -> None:
    file = tmp_path / "small.json"
    file.write_text(json.dumps(small()))
    command = [sys.executable, str(ROOT / "tools" / "benchmarks"), str(file), "-o", str(tmp_path / "site")]
    subprocess.run(command, check=True, capture_output=True)
    assert "Old One" in (tmp_path / "site" / "benchmarks.md").read_text(encoding="utf-8")
    assert (tmp_path / "site" / "images" / "bench-peers.svg").is_file()
    file.write_text("{}")
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert "not results of `turgor bench -o`" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_page_is_what_is_made_from_its_results() -> None:
    """`.venv/bin/python tools/benchmarks` renews it."""
    every = [read(file) for file in sorted((DOCS / "benchmarks").glob("*.json"))]
    assert every
    text = (DOCS / "benchmarks.md").read_text(encoding="utf-8")
    assert page(text, every) == text
    for name, picture in pictures(every).items():
        assert (DOCS / "images" / name).read_text(encoding="utf-8") == picture


def test_the_page_has_a_place_for_each_suite() -> None:
    text = (DOCS / "benchmarks.md").read_text(encoding="utf-8")
    assert {name for name, _ in PLACE.findall(text)} == set(sections([])) == {"machines", "targets", *SUITES}
