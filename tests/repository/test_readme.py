"""What the README shows works as it stands."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from support.program import Here
from turgor import record

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.process
def test_the_python_example_runs(tmp_path: Path) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=250)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 2
    assert record.read(tmp_path / "drop.vtkhdf").times[-1] == pytest.approx(3.0)


def test_the_commands_exist(here: Here) -> None:
    lines = [line.strip() for line in README.splitlines() if line.startswith("    turgor ")]
    assert len(lines) >= 4
    for line in lines:
        name = shlex.split(line)[1]
        assert here.good(name, "--help")
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"^    make (\w+)", README, re.MULTILINE):
        assert f"\n{target}:" in makefile


def test_the_links_lead_somewhere() -> None:
    for link in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / link).exists(), link


def test_the_lock_has_names_versions_and_hashes_only() -> None:
    text = (ROOT / "requirements.lock").read_text()
    assert not re.search(r"https?:|file:|://|^-|\.whl|\.tar", text, re.MULTILINE)
    for entry in text.replace("\\\n", " ").splitlines():
        if entry and not entry.startswith("#"):
            assert re.fullmatch(r"[\w.-]+==[\w.+!]+( ; [\w ='\".<>]+?)?(\s+--hash=sha256:[0-9a-f]{64})+", entry), entry
