"""Studies in this process: plan, batches, rows, failures, folders."""

from __future__ import annotations

import io
import json
import math
import sys
from pathlib import Path

import pytest

from support.studies import MEASURE, VARY, ball, study, table
from turgor import Results, SceneError, Simulation, Study
from turgor.output.progress import Stop
from turgor.study.on_ray import on_ray
from turgor.study.plan import worlds_per_chunk

pytestmark = pytest.mark.req("X10")


def test_runs_that_may_share_a_simulation_do() -> None:
    assert study().plan.sentence == "24 runs: 3 simulations x 8 worlds"  # one for each friction of the ground
    assert study(vary={"ball.mass": [1.0, 2.0], "gravity.y": [-1.0, -9.0]}).plan.sentence == (
        "4 runs: 1 simulation x 4 worlds"
    )
    one_by_one = study(vary={"simulation.substeps": [10, 20], "ball.shape.circle.points": [8, 9]})
    assert one_by_one.plan.sentence == "4 runs: 4 simulations x 1 world"
    assert study(vary={"ball.bending": [0.0, 0.1, 0.2]}).plan.sentence == "3 runs: 2 simulations x at most 2 worlds"
    assert study(vary={"ball.mass": [1.0]}, repeat=600).plan.sentence == "600 runs: 3 simulations x at most 256 worlds"


def test_the_size_of_chunks_follows_the_scene() -> None:
    assert worlds_per_chunk(1926, "cpu") == 16
    assert worlds_per_chunk(48, "cpu") == 256
    assert worlds_per_chunk(10**6, "cpu") == 1
    assert worlds_per_chunk(1926, "cuda:0") == 4096


@pytest.mark.parametrize(
    ("seconds", "every", "worlds"), [(1.0, 1, 4096), (10.0, 1, 1024), (10.0, 10, 4096), (1e5, 1, 1)]
)
def test_trajectories_of_a_chunk_fit_into_memory(seconds: float, every: int, worlds: int) -> None:
    """A quarter of a gigabyte, as they are kept until the chunk is finished: 224 bytes per frame of 14 points."""
    many = study(vary={"ball.mass": [1.0]}, repeat=5000, seconds=seconds, record=every, device="cuda:0")
    assert many.plan.worlds == worlds


@pytest.fixture(scope="module")
def results() -> Results:
    return study().run(workers=1)


def test_rows_say_all_about_a_run(results) -> None:
    assert results.inputs == tuple(VARY)
    assert results.outputs == tuple(MEASURE)
    assert [row["run"] for row in results.rows] == list(range(24))
    row = results.rows[13]
    assert [row[path] for path in VARY] == [30.0, 0.5, 0.5]
    assert (row["status"], row["reason"], row["solver"]) == ("ok", "", "symplectic")
    assert (row["substeps"], row["worlds"], row["device"], row["repeat"]) == (12, 8, "cpu", 0)
    assert row["version"]
    assert row["wall_seconds"] > 0.0
    assert len(set(results.column("seed").tolist())) == 24
    assert results.study["plan"] == "24 runs: 3 simulations x 8 worlds"


@pytest.mark.parametrize("run", [0, 5, 13, 23])
def test_a_run_of_a_batch_is_the_scene_alone(results, run: int) -> None:
    row = results.rows[run]
    scene = ball()
    for path in VARY:
        scene.set(path, row[path])
    sim = Simulation(scene, substeps=12, threads=1)
    heights, fell = [sim["ball"].center[1]], math.nan
    for _ in range(12):
        sim.step()
        heights.append(sim["ball"].center[1])
        fell = sim.time if math.isnan(fell) and heights[-1] < 0.55 else fell
    assert row["end"] == heights[-1]
    assert row["highest"] == max(heights)
    assert repr(row["fell"]) == repr(fell)


def test_auto_substeps_are_those_of_the_most_demanding_run() -> None:
    found = study(vary={"ball.springs.stiffness": [100.0, 30000.0]}, substeps="auto").run(workers=1)
    alone = study(vary={"ball.springs.stiffness": [100.0]}, substeps="auto").run(workers=1)
    assert found.rows[0]["substeps"] == found.rows[1]["substeps"] > alone.rows[0]["substeps"]


def test_bodies_that_may_sleep_are_alone() -> None:
    assert study(vary={"ball.mass": [1.0, 2.0]}, sleeping=True).plan.sentence == "2 runs: 2 simulations x 1 world"
    found = study(vary={"ball.mass": [1.0, 2.0], "simulation.sleeping": [True, False]}).run(workers=1)
    assert not found.failed


def test_a_run_that_goes_unstable_is_a_row_with_its_reason() -> None:
    vary = {"ball.springs.stiffness": [100.0, 1e7, 200.0, 2e7]}
    found = study(vary=vary).run(workers=1)
    assert [row["status"] for row in found.rows] == ["ok", "failed", "ok", "failed"]
    for row in found.failed:
        assert "body 'ball' at t = " in row["reason"]
        assert "raise substeps (now 12)" in row["reason"]
        assert math.isnan(row["end"])
    for place in (0, 2):  # the others have lost nothing
        stiffness = vary["ball.springs.stiffness"][place]
        alone = study(vary={"ball.springs.stiffness": [stiffness]}).run(workers=1)
        assert repr([found.rows[place][name] for name in MEASURE]) == repr([alone.rows[0][name] for name in MEASURE])


def test_all_runs_may_fail() -> None:
    found = study(vary={"ball.springs.stiffness": [1e7, 2e7]}).run(workers=1)
    assert [row["status"] for row in found.rows] == ["failed", "failed"]
    assert study(vary={"ball.springs.stiffness": [1e7]}).run(workers=1).rows[0]["status"] == "failed"


def test_a_run_that_cannot_be_built_is_a_row_with_its_reason() -> None:
    vary = {"ball.gas": [{"gauge": 5.0, "ambient": 10.0}], "ball.gas.gauge": [2.0, -50.0, 3.0]}
    with pytest.raises(SceneError, match=r"vary ball\.gas\.gauge=2.0"):  # the scene has nRT: not even one goes
        study(vary={"ball.gas.gauge": [2.0]}).plan  # noqa: B018
    with pytest.raises(SceneError, match=r"vary ball.gas.gauge=-50.0: .*exactly one of"):
        study(vary=vary).plan  # noqa: B018
    random = study(vary={"ball.at": [(0.0, 0.6)], "ball.springs.stiffness": [300.0], "ball.mass": "normal:0.02:1"},
                   repeat=300, seconds=0.02)  # fmt: skip
    with pytest.raises(SceneError, match="mass must be > 0"):  # values are tried first
        random.plan  # noqa: B018
    settled = ball(settled=True)
    found = study(settled, vary={"ball.gas.nRT": [5.0, 1e9, 20.0]}).run(workers=1)
    assert [row["status"] for row in found.rows] == ["ok", "failed", "ok"]
    assert "found no equilibrium" in found.rows[1]["reason"]


def test_scenes_of_the_gallery_go_by_name() -> None:
    assert Study("drop-2d", {"ball.mass": [1.0]}, {"a": "ball.mass"}, device="cpu").scene.name == "drop-2d"


BAD = {
    "path": ({"vary": {"bal.mass": [1.0]}}, "vary bal.mass=1.0: set bal.mass: the scene has no 'bal'; did you mean"),
    "value": ({"vary": {"ball.mass": [1.0, -1.0]}}, r"vary ball.mass=-1.0: ball: mass must be > 0"),
    "setting": ({"secods": 1.0}, "a study has no 'secods'; did you mean 'seconds'"),
    "device": ({"device": "tpu"}, "device must be 'cpu', 'cuda' or 'auto', got 'tpu'"),
    "record": ({"record": 0}, "record must be a whole number of frames >= 1, got 0"),
    "scene": ({"scene": 5}, "needs a turgor.Scene or the name of one, got int"),
}


@pytest.mark.parametrize(("options", "message"), BAD.values(), ids=BAD)
def test_bad_studies(options, message: str) -> None:
    with pytest.raises(SceneError, match=message):
        study(**options).plan  # noqa: B018


def test_bad_runs(tmp_path: Path) -> None:
    one = study(vary={"ball.mass": [1.0]})
    for options, message in (
        ({"workers": 0}, "workers must be a whole number >= 1, got 0"),
        ({"resume": True}, "resume goes on with what a folder has"),
        ({"on": "nowhere"}, "not an address; use local, ray"),
        ({"on": "127.0.0.1:1"}, "nobody answers there"),
    ):
        with pytest.raises(SceneError, match=message):
            one.run(**{"out": None, **options})
    (tmp_path / "file").write_text("")
    with pytest.raises(SceneError, match="is a file; give a folder"):
        one.run(out=tmp_path / "file")


def test_no_ray(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(SceneError, match=r"needs Ray, which is not installed: pip install 'turgor\[cluster\]'"):
        study(vary={"ball.mass": [1.0]}).run(on="ray")


def lines(folder: Path) -> list[int]:
    """The chunks in the journal."""
    return [json.loads(line)["chunk"] for line in (folder / "journal.jsonl").read_text().splitlines()]


def test_an_interrupted_study_goes_on(tmp_path: Path, results) -> None:
    def impatient(done: int, total: int, failed: int) -> None:
        assert (total, failed) == (24, 0)
        if done >= 8:
            raise Stop

    part = study().run(workers=1, out=tmp_path, progress=impatient)
    assert len(part) == 8
    assert part.study["interrupted"]
    assert table(Results.read(tmp_path)) == table(part) == table(results)[0::3]
    assert lines(tmp_path) == [0]
    whole = study().run(workers=1, out=tmp_path, resume=True)
    assert table(whole) == table(Results.read(tmp_path)) == table(results)
    assert lines(tmp_path) == [0, 1, 2]
    assert table(study().run(workers=1, out=tmp_path, resume=True)) == table(results)
    assert lines(tmp_path) == [0, 1, 2]  # nothing is run twice


def test_a_folder_has_one_study(tmp_path: Path) -> None:
    one = {"ball.mass": [1.0]}
    study(vary=one).run(out=tmp_path)
    with pytest.raises(SceneError, match="has a study already: --resume goes on with it"):
        study(vary=one).run(out=tmp_path)
    for other in ({"vary": {"ball.mass": [1.5]}}, {"seconds": 0.1}, {"measure": {"end": "ball.center.x"}}, {"seed": 1}):
        with pytest.raises(SceneError, match="has another study"):
            study(**{"vary": one, **other}).run(out=tmp_path, resume=True)
    with pytest.raises(SceneError, match="has another study"):
        study(ball(drag=1.0), vary=one).run(out=tmp_path, resume=True)


def test_a_measure_that_fails_leaves_nothing(tmp_path: Path) -> None:
    file = tmp_path / "m.py"
    file.write_text("def f(sim):\n    return 1 / 0\n")
    with pytest.raises(SceneError, match=r"measure a=.*m.py:f: ZeroDivisionError: division by zero \(line 2\)"):
        study(vary={"ball.mass": [1.0]}, measure={"a": f"{file}:f"}).run(out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_damaged_chunk_is_named(tmp_path: Path) -> None:
    study(vary={"ball.mass": [1.0]}).run(out=tmp_path)
    (tmp_path / "runs" / "000000.json").write_text("{")
    with pytest.raises(SceneError, match=r"000000.json: damaged; remove it"):
        study(vary={"ball.mass": [1.0]}).run(out=tmp_path, resume=True)


WRONG = {
    "no rows": {"rows": []},
    "of another run": {"rows": [{"run": 7, "status": "ok"}]},
    "without a status": {"rows": [{"run": 0}]},
    "no table": [],
}


@pytest.mark.parametrize("content", WRONG.values(), ids=WRONG)
def test_rows_that_are_not_those_of_the_chunk(tmp_path: Path, content: object) -> None:
    study(vary={"ball.mass": [1.0]}).run(out=tmp_path)
    (tmp_path / "runs" / "000000.json").write_text(json.dumps(content))
    with pytest.raises(SceneError, match=r"000000.json: damaged; remove it"):
        study(vary={"ball.mass": [1.0]}).run(out=tmp_path, resume=True)


def test_a_chunk_that_the_study_does_not_have(tmp_path: Path) -> None:
    study(vary={"ball.mass": [1.0]}).run(out=tmp_path)
    (tmp_path / "runs" / "000009.json").write_bytes((tmp_path / "runs" / "000000.json").read_bytes())
    with pytest.raises(SceneError, match=r"000009.json: damaged; remove it"):
        study(vary={"ball.mass": [1.0]}).run(out=tmp_path, resume=True)


@pytest.mark.parametrize("resume", [False, True])
@pytest.mark.parametrize("name", ["results.csv", "report.html", "runs/000000.json", "data/000000.h5"])
def test_files_of_somebody_else_are_kept(tmp_path: Path, name: str, resume: bool) -> None:
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_text("precious")
    with pytest.raises(SceneError, match="already, of no study that is known: choose another folder"):
        study(vary={"ball.mass": [1.0]}).run(out=tmp_path, resume=resume)
    assert file.read_text() == "precious"
    assert not (tmp_path / "study.json").exists()


def test_a_folder_has_one_writer(tmp_path: Path) -> None:
    refused = []

    def meanwhile(done: int, total: int, failed: int) -> None:
        if not refused:
            with pytest.raises(SceneError, match="is being written by another study: wait for it") as error:
                study(vary={"ball.mass": [1.0]}).run(out=tmp_path, resume=True)
            refused.append(error)

    found = study(vary={"ball.mass": [1.0]}).run(out=tmp_path, workers=1, progress=meanwhile)
    assert refused
    again = study(vary={"ball.mass": [1.0]}).run(out=tmp_path, resume=True)  # which is free again
    assert table(again) == table(found)


def test_a_study_that_did_not_come_to_begin_is_no_obstacle(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "journal.jsonl").touch()
    assert len(study(vary={"ball.mass": [1.0]}).run(out=tmp_path)) == 1


def test_a_measure_that_fails_late_leaves_the_finished_runs(tmp_path: Path) -> None:
    file = tmp_path / "m.py"
    rough = "    if sim.scene['ground'].friction > 0.25: raise ValueError('too rough')\n"
    file.write_text(f"def f(sim):\n{rough}    return 1.0\n")
    one = study(vary={"ground.friction": [0.1, 0.2, 0.3]}, measure={"a": f"{file}:f"})  # a simulation each
    with pytest.raises(SceneError, match=r"too rough \(line 2\); 2 of 3 runs were finished before, and"):
        one.run(out=tmp_path / "out", workers=1)
    assert [row["run"] for row in Results.read(tmp_path / "out").rows] == [0, 1]
    assert (tmp_path / "out" / "report.html").exists()


def test_trajectories_are_recorded(tmp_path: Path) -> None:
    found = study(vary={"ball.mass": [1.0, 2.0], "ground.friction": [0.0, 1.0]}, record=4).run(out=tmp_path, workers=1)
    index = json.loads((tmp_path / "data" / "index.json").read_text())
    assert [entry["run"] for entry in index["runs"]] == [0, 1, 2, 3]
    assert {entry["frames"] for entry in index["runs"]} == {4}  # the start, and 4, 8 and 12
    assert sorted(path.name for path in (tmp_path / "data").glob("*.h5")) == ["000000.h5", "000001.h5"]
    assert len(found) == 4
    with pytest.raises(SceneError, match="record needs a folder"):
        study(record=4).run()


@pytest.mark.parametrize("token", [True, False])
def test_a_token_of_ray_is_shown_to_a_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, token: bool) -> None:
    """Ray makes one for any Ray of its own; clusters that are started later ask for it. A module stands in for Ray."""
    (tmp_path / "ray").mkdir()
    (tmp_path / "ray" / "__init__.py").write_text(
        "import os\ndef is_initialized(): return False\n"
        "def init(**options): raise RuntimeError(f\"mode {os.environ.get('RAY_AUTH_MODE')}\")\n"
    )
    if token:
        (tmp_path / ".ray").mkdir()
        (tmp_path / ".ray" / "auth_token").write_text("0")
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"):
        monkeypatch.setenv(name, "")  # so that it is put back
        monkeypatch.delenv(name)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "ray", raising=False)
    monkeypatch.setattr("turgor.study.on_ray.check_address", lambda address: None)
    mode = "token" if token else "None"
    with pytest.raises(SceneError, match=rf"Ray cannot be reached \(RuntimeError: mode {mode}\); its ports are 6379"):
        next(on_ray((), "127.0.0.1:6379", None, "cpu", lambda: None))
    sys.modules.pop("ray", None)


def test_the_bar_has_the_terminal_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    scene = ball(settled=True, mass=0.7123)  # of which no equilibrium is known yet
    study(scene, vary={"ball.gas.nRT": [5.0, 21.3]}).run(workers=1)  # as a worker's process does it
    assert terminal.getvalue() == ""
