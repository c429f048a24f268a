"""The installed `turgor`, run in a process of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

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
