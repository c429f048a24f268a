"""Waiting for what another thread or process is about to do."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any


def until(condition: Callable[[], Any], seconds: float = 60.0) -> bool:
    """Waits until a condition holds, which must come; the machine may be busy, so that takes `seconds` at most."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.01)
    return True
