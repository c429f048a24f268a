"""`turgor sweep` in this process: what it prints and writes, and what it refuses in one sentence."""

from __future__ import annotations

import contextlib
import csv
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from support.program import Here
from turgor.study.progress import Progress

pytestmark = pytest.mark.req("X10")

SMALL = ("sweep", "drop-2d", "--set", "ball.settled=false", "--set", "ball.shape.circle.points=12", "--device", "cpu",
         "--seconds", "0.05", "--substeps", "10", "--workers", "1")  # fmt: skip
VARY = ("--vary", "ball.mass=0.5,1,2", "--vary", "ball.gas.nRT=30:60:2")
MEASURE = ("--measure", "high=max(ball.center.y)")


def test_a_sweep_writes_a_table_and_a_report(here: Here, tmp_path: Path) -> None:
    printed = here.good(*SMALL, *VARY, *MEASURE, "--repeat", "2", "-o", "out", cwd=tmp_path)
    first, last = printed.splitlines()
    assert first == "12 runs: 1 simulation x 12 worlds"
    assert last.startswith("12 runs in ")
    assert last.endswith("0 failed: out/results.csv and report.html")
    with (tmp_path / "out" / "results.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["run"] for row in rows] == [str(run) for run in range(12)]
    assert [row["repeat"] for row in rows[:4]] == ["0", "1", "0", "1"]
    assert {row["ball.mass"] for row in rows} == {"0.5", "1.0", "2.0"} or {row["ball.mass"] for row in rows} == {
        "0.5", "1", "2",
    }  # fmt: skip
    assert (tmp_path / "out" / "report.html").stat().st_size > 1000
    assert (tmp_path / "out" / "results.parquet").exists()


def test_json_is_one_object(here: Here, tmp_path: Path) -> None:
    said = json.loads(here.good(*SMALL, *VARY, *MEASURE, "--json", "-o", "out", cwd=tmp_path))
    assert (said["runs"], said["finished"], said["failed"], said["interrupted"]) == (6, 6, 0, False)
    assert said["plan"] == "6 runs: 1 simulation x 6 worlds"
    again = json.loads(here.good(*SMALL, *VARY, *MEASURE, "--json", "--resume", "-o", "out", cwd=tmp_path))
    assert again["finished"] == 6
    assert len((tmp_path / "out" / "journal.jsonl").read_text().splitlines()) == 1  # nothing is run twice


def test_failed_runs_are_listed(here: Here, tmp_path: Path) -> None:
    stiff = ("--vary", "ball.springs.stiffness=100,1e9")
    printed = here.good(*SMALL, *stiff, *MEASURE, "-o", "out", cwd=tmp_path)
    assert ", 1 failed: out/results.csv and report.html" in printed
    assert "run 1 failed: body 'ball' at t = 0 s diverged" in printed


def test_a_latin_hypercube_with_records(here: Here, tmp_path: Path) -> None:
    vary = ("--vary", "ball.mass=0.5:2", "--combine", "latin", "--samples", "4", "--seed", "3")
    here.good(*SMALL, *vary, *MEASURE, "--record", "every=2", "-o", "out", cwd=tmp_path)
    assert len(json.loads((tmp_path / "out" / "data" / "index.json").read_text())["runs"]) == 4
    printed = here.good("export", "out", "run.npz", "--run", "2", cwd=tmp_path)
    assert printed.startswith("drop-2d: 2 frames of out, run 2\nwrote run.npz (")
    with np.load(tmp_path / "run.npz") as run:
        assert run["positions"].shape == (2, 12, 2)  # the start, and the second of three frames
        assert run["fps"] == 30.0
    for arguments, sentence in NO_RUN.items():
        done = here.command("export", *arguments.split(), "other.npz", cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        assert sentence in done.stderr
    assert not (tmp_path / "other.npz").exists()


NO_RUN = {
    "out": "out: is a study with 4 recorded runs; say which one, as in --run 12",
    "out --run 4": "out: has no trajectory of a run 4; it has 4, from 0 to 3",
    "run.npz --run 0": "--run 0: run.npz is not the folder of a study; leave --run out",
    ".": "has no trajectories; make the study with --record every=N",
}
BAD = {
    "path": (("--vary", "bal.mass=1,2", *MEASURE), "vary bal.mass=1: set bal.mass: the scene has no 'bal'"),
    "empty range": (("--vary", "ball.mass=1:2:0", *MEASURE), "the range is empty"),
    "no values": (("--vary", "ball.mass=", *MEASURE), "there are no values"),
    "no equals": (("--vary", "ball.mass", *MEASURE), "write --vary KEY=VALUE"),
    "nothing varied": (MEASURE, "--vary is missing"),
    "nothing measured": (VARY, "--measure is missing"),
    "measure": ((*VARY, "--measure", "h=max(ball.centre.y)"), "did you mean 'center'?"),
    "measure that fails": ((*VARY, "--measure", "h=m.py:f"), "m.py:f: ZeroDivisionError: division by zero (line 2)"),
    "too many": (("--vary", "ball.mass=1:2:10000", "--vary", "ball.drag=0:1:10000", *MEASURE), "100,000,000 runs"),
    "wrong address": ((*VARY, *MEASURE, "--on", "127.0.0.1:1"), "nobody answers there"),
    "no address": ((*VARY, *MEASURE, "--on", "loca"), "not an address"),
    "record": ((*VARY, *MEASURE, "--record", "2"), "write --record every=N"),
    "samples": ((*VARY, *MEASURE, "--samples", "2"), "combine='latin' uses it"),
    "substeps": ((*VARY, *MEASURE, "--substeps", "many"), "substeps must be 'auto' or a whole number"),
    "varied twice": (("--vary", "ball.mass=1", "--vary", "ball.mass=2", *MEASURE), "--vary ball.mass is there 2 times"),
    "measured twice": ((*VARY, *MEASURE, *MEASURE), "--measure high is there 2 times: give each measure a name"),
    "a file without a function": ((*VARY, "--measure", "h=m.py"), "say which function of that file: m.py:NAME"),
    "a name that is measured": (("--vary", "ball.name=a,b", *MEASURE), "vary ball.name=a: measure high=max(ball.cent"),
    "nan": (("--vary", "ball.mass=nan:2:3", *MEASURE), "the ends of a range must be finite numbers"),
    "half a count": (("--vary", "ball.mass=1:2:2.5", *MEASURE), "ball.mass=1:2:2.5: its count must be a whole number"),
    "z in 2D": ((*VARY, "--measure", "h=max(ball.center.z)"), "a scene in 2D has no z; use x or y"),
    "workers": ((*VARY, *MEASURE, "--workers", "-1"), "workers must be a whole number >= 1, got -1"),
    "folder without a name": ((*VARY, *MEASURE, "-o", ""), "the folder for the results has no name"),
    "file as a folder": ((*VARY, *MEASURE, "-o", "m.py/out"), "m.py: is a file; give a folder"),
    "a file": ((*VARY, *MEASURE, "-o", "m.py"), "m.py: is a file; give a folder"),
}


@pytest.mark.parametrize(("arguments", "words"), BAD.values(), ids=BAD)
def test_bad_input_is_one_sentence(here: Here, tmp_path: Path, arguments: tuple[str, ...], words: str) -> None:
    (tmp_path / "m.py").write_text("def f(sim):\n    return 1 / 0\n")
    done = here.command(*SMALL, *("-o", "out") * ("-o" not in arguments), *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("turgor: ")
    assert done.stderr.count("\n") == 1
    assert words in done.stderr
    assert done.stdout in ("", "6 runs: 1 simulation x 6 worlds\n")  # the plan, where only running shows what is wrong
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.py"]


def test_a_folder_is_needed(here: Here, tmp_path: Path) -> None:
    done = here.command(*SMALL, *VARY, *MEASURE, cwd=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "missing option" in done.stderr


def test_another_study_is_kept(here: Here, tmp_path: Path) -> None:
    here.good(*SMALL, *VARY, *MEASURE, "-o", "out", cwd=tmp_path)
    kept = (tmp_path / "out" / "results.csv").read_bytes()
    for more, words in (((), "has a study already"), (("--resume", "--seed", "5"), "has another study")):
        done = here.command(*SMALL, *VARY, *MEASURE, *more, "-o", "out", cwd=tmp_path)
        assert done.returncode == 2
        assert words in done.stderr
    assert (tmp_path / "out" / "results.csv").read_bytes() == kept


def test_a_gpu_that_is_not_there(here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("warp.is_cuda_available", lambda: False)
    done = here.command(*SMALL, *VARY, *MEASURE, "--device", "cuda", "-o", "out", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == "turgor: device 'cuda': no CUDA device was found; use device='cpu'\n"
    assert not (tmp_path / "out").exists()


def test_what_is_resumed_and_what_has_no_value_is_said(here: Here, tmp_path: Path) -> None:
    arguments = (*SMALL, *VARY, "--measure", "never=first(ball.center.y < -9)", "-o", "out")
    printed = here.good(*arguments, cwd=tmp_path)
    assert "never is no finite number in 6 of 6 runs" in printed
    again = here.good(*arguments, "--resume", cwd=tmp_path).splitlines()
    assert again[0] == "6 runs: 1 simulation x 6 worlds; 6 are finished already"
    assert again[1].startswith("6 runs, 0 of them now, in ")
    assert "turgor" in json.loads((tmp_path / "out" / "results.json").read_text())["study"]["command"]


def test_the_rate_leaves_out_what_was_finished(here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = (*SMALL, *VARY, *MEASURE, "-o", "out")
    here.good(*arguments, cwd=tmp_path)
    seen: list[int] = []

    @contextlib.contextmanager
    def bar(progress: bool, before: int) -> Iterator[Progress]:
        seen.append(before)
        yield lambda done, total, failed: None

    monkeypatch.setattr("turgor.study.progress.shown", bar)
    here.good(*arguments, "--resume", cwd=tmp_path)
    assert seen[0] == 6
