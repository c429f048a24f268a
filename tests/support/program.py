"""The program `turgor`, in a process of its own as a user has it, or in this one, which is quicker."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from turgor.cli.app import execute

EXE = shutil.which("turgor", path=str(Path(sys.executable).parent)) or "turgor"


def command(*args: object, cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    """What `turgor ARGS` returns and prints."""
    env = {**os.environ, **environment}
    return subprocess.run([EXE, *map(str, args)], capture_output=True, text=True, timeout=250, cwd=cwd, env=env)


def good(*args: object, **options: Any) -> str:
    """What `turgor ARGS` prints; it must end well and complain about nothing."""
    done = command(*args, **options)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


class Here:
    """`turgor ARGS` in this process: all that the installed command does, but the start of a process."""

    def __init__(self, capture: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self._capture = capture
        self._monkeypatch = monkeypatch

    def command(self, *args: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        """What it returns and prints."""
        self._capture.readouterr()
        with self._monkeypatch.context() as patch:
            if cwd is not None:
                patch.chdir(cwd)
            code = execute([str(argument) for argument in args])
        out, err = self._capture.readouterr()
        return subprocess.CompletedProcess(list(args), code, out, err)

    def good(self, *args: object, **options: Any) -> str:
        """What it prints; it must end well and complain about nothing."""
        done = self.command(*args, **options)
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        return done.stdout


@pytest.fixture
def here(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Here:
    """The program, in this process."""
    return Here(capfd, monkeypatch)
