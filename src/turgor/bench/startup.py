"""From the command to the first frame, with a warm and with a cold kernel cache."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time

from turgor.bench.measure import spread
from turgor.bench.suite import Options, Tables

__all__ = ["startup"]

COMMAND = [sys.executable, "-m", "turgor", "run", "drop", "--seconds", "0.02", "--json"]


def _seconds(environment: dict[str, str]) -> float:
    start = time.perf_counter()
    subprocess.run(COMMAND, env=environment, check=True, capture_output=True)
    return time.perf_counter() - start


def startup(options: Options) -> Tables:
    """Seconds of `turgor run drop` for one frame, process start to end (targets S7: 30 s cold, 3 s warm)."""
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"WARP_CACHE_PATH": folder}
        cold = [] if options.quick else [_seconds(environment)]
        warm = [_seconds(os.environ.copy() if options.quick else environment) for _ in range(1 if options.quick else 5)]
    rows = [{"kernel_cache": "cold: the first run ever", "s": spread(cold), "target": 30.0}] if cold else []
    return {"cpu": [*rows, {"kernel_cache": "warm", "s": spread(warm), "target": 3.0}]}
