"""Studies in several processes: the same table, killed workers, a killed driver, Ctrl-C."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from support.studies import counting, finished, made, release, study, table, without_count
from support.waiting import until
from turgor import Results

pytestmark = [pytest.mark.process, pytest.mark.req("X10")]


@pytest.fixture(scope="module")
def undisturbed() -> Results:
    return study().run(workers=1)


def test_the_table_is_the_same_for_any_number_of_processes(undisturbed) -> None:
    for workers in (2, 3):
        assert table(study().run(workers=workers)) == table(undisturbed)


def test_a_killed_worker_loses_nothing(tmp_path: Path, undisturbed) -> None:
    measure = counting(tmp_path / "count", kill=True)
    found = study(measure=measure).run(workers=2, out=tmp_path / "out")
    assert (tmp_path / "count" / "killed").exists()
    assert without_count(found) == table(undisturbed)
    assert made(tmp_path / "count") == 3 + 1  # three chunks, and the one whose process was killed once more


def test_a_worker_that_dies_again_and_again_is_a_reason(tmp_path: Path) -> None:
    file = tmp_path / "m.py"
    file.write_text("import os\ndef f(sim):\n    if sim['ball'].mass[0] > 1.5: os._exit(3)\n    return 1.0\n")
    found = study(vary={"ball.mass": [2.0, 3.0]}, measure={"a": f"{file}:f"}).run(workers=2)
    assert {row["reason"] for row in found.rows} == {
        "its process ended 3 times (exit code 3): there may be too little memory"
    }


DRIVER = """
import sys
from support.studies import study
study(measure={measure!r}, **{options!r}).run(workers=2, out={out!r}, resume={resume!r})
"""
LONGER = {"repeat": 40, "vary": {"ball.mass": [0.5, 1.0], "ground.friction": [round(0.1 * n, 1) for n in range(8)]}}


def driver(measure: dict[str, str], out: Path, resume: bool = False) -> subprocess.Popen[bytes]:
    """A program that runs a study, without `if __name__ == "__main__"`."""
    code = DRIVER.format(measure=measure, options=LONGER, out=str(out), resume=resume)
    path = os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])
    return subprocess.Popen([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": path})


def wait_for(out: Path, chunks: int, process: subprocess.Popen[bytes]) -> None:
    """Until so many chunks are finished."""
    until(lambda: len(finished(out)) >= chunks or process.poll() is not None)
    assert process.poll() is None, "it has ended"


def test_a_killed_driver_loses_nothing_that_was_finished(tmp_path: Path) -> None:
    measure = counting(tmp_path / "count", hold=True)
    out = tmp_path / "out"
    process = driver(measure, out)
    wait_for(out, 2, process)
    process.kill()
    process.wait()
    release(tmp_path / "count")
    before = finished(out)
    kept = {path.name: path.read_bytes() for path in (out / "runs").glob("*.json")}
    assert 2 <= len(before) < 8
    found = study(measure=measure, **LONGER).run(workers=2, out=out, resume=True)
    after = finished(out)
    assert sorted(after) == list(range(8))  # each once
    assert after[: len(before)] == before
    for name, content in kept.items():
        assert (out / "runs" / name).read_bytes() == content
    assert made(tmp_path / "count") <= 8 + 2  # what two workers had begun is begun again
    whole = study(measure=measure, **LONGER).run(workers=1)
    assert table(found) == table(Results.read(out)) == table(whole)


def test_ctrl_c_leaves_a_table_of_what_is_finished(tmp_path: Path) -> None:
    out, held = tmp_path / "out", counting(tmp_path / "count", hold=True)["counted"]
    arguments = [
        "sweep", "drop-2d", "--set", "ball.settled=false", "--vary", "ball.mass=0.5:2:20", "--vary",
        "ground.friction=0:1:12", "--measure", "end=ball.center.y", "--measure", f"held={held}", "--seconds", "0.3",
        "--substeps", "20", "--workers", "2", "--device", "cpu", "-o", str(out),
    ]  # fmt: skip
    command = [sys.executable, "-m", "turgor", *arguments]
    heard = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # also where these tests run in the background
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, preexec_fn=heard)
    wait_for(out, 2, process)
    process.send_signal(signal.SIGINT)
    release(tmp_path / "count")
    printed, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    part = Results.read(out)
    assert 2 * 20 <= len(part) < 240
    assert "--resume goes on" in printed
    assert "240 runs: 12 simulations x 20 worlds" in printed
    done = finished(out)
    process = subprocess.run([*command, "--resume", "--json"], capture_output=True, text=True, timeout=200)
    assert process.returncode == 0, process.stderr
    assert json.loads(process.stdout)["finished"] == 240
    assert sorted(finished(out)) == list(range(12))
    assert finished(out)[: len(done)] == done
    whole = Results.read(out)
    kept = {row["run"]: repr(row) for row in whole.rows}
    assert all(kept[row["run"]] == repr(row) for row in part.rows)


def test_what_a_measure_prints_is_not_what_the_program_prints(tmp_path: Path, capfd: pytest.CaptureFixture) -> None:
    file = tmp_path / "m.py"
    file.write_text("def f(sim):\n    print('hello')\n    return 1.0\n")
    study(vary={"ground.friction": [0.1, 0.2]}, measure={"a": f"{file}:f"}).run(workers=2)
    out, err = capfd.readouterr()
    assert out == ""
    assert "hello" in err
