"""Cores of the processor."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["CPUINFO", "lines_of", "physical_cores"]

CPUINFO = Path("/proc/cpuinfo")


def physical_cores(cpuinfo: Path = CPUINFO) -> int:
    """Cores, not hardware threads, that this process may use; where the system does not tell: logical ones."""
    allowed = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set(range(os.cpu_count() or 1))
    cores, entry = set(), dict[str, str]()
    for line in [*lines_of(cpuinfo), ""]:
        key, colon, value = line.partition(":")
        if colon:
            entry[key.strip()] = value.strip()
        elif entry:
            if int(entry.get("processor", -1)) in allowed:
                cores.add((entry.get("physical id"), entry.get("core id", entry.get("processor"))))
            entry = {}
    return len(cores) or len(allowed)


def lines_of(file: Path) -> list[str]:
    """Of a file of the system; none where there is no such file."""
    try:
        return file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
