"""From the command to the first frame, with a warm and with a cold kernel cache."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from typing import Any

__all__ = ["startup"]

COMMAND = [sys.executable, "-m", "turgor", "run", "drop", "--seconds", "0.02", "--json"]


def _seconds(environment: dict[str, str]) -> float:
    start = time.perf_counter()
    subprocess.run(COMMAND, env=environment, check=True, capture_output=True)
    return time.perf_counter() - start


def startup() -> dict[str, Any]:
    """Seconds of `turgor run drop` for one frame, process start to end."""
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"WARP_CACHE_PATH": folder}
        cold = _seconds(environment)
        warm = min(_seconds(environment) for _ in range(3))
    return {"cold_s": cold, "cold_target": 30.0, "warm_s": warm, "warm_target": 3.0}
