"""On what was measured: processor, cores, memory, GPU, versions, commit."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import warp as wp

from turgor.kernel.cores import CPUINFO, lines_of, physical_cores
from turgor.version import __version__

__all__ = ["described", "processor"]


def described(devices: Sequence[str]) -> dict[str, Any]:
    """Plain words and numbers, for the head of the results."""
    return {
        "processor": processor(),
        "physical_cores": physical_cores(),
        "logical_cores": os.cpu_count() or 1,
        "load_before": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,  # processes, of others
        "memory_gb": _memory_gb(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "turgor": __version__,
        "warp": wp.config.version,
        "numpy": _version("numpy"),
        "commit": _commit(),
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "devices": {name: _device(name) for name in devices},
    }


def processor(cpuinfo: Path = CPUINFO) -> str:
    """Its name, as far as the system tells."""
    for line in lines_of(cpuinfo):
        key, _, value = line.partition(":")
        if key.strip() == "model name":
            return value.strip()
    if sys.platform == "darwin":
        return _output("sysctl", "-n", "machdep.cpu.brand_string") or platform.processor()
    return platform.processor() or platform.machine()


def _device(name: str) -> str:
    device = wp.get_device(name)
    if device.is_cpu:
        return processor()
    driver = ".".join(map(str, wp.get_cuda_driver_version()))
    return f"{device.name}, {device.total_memory / 2**30:.0f} GiB, CUDA {driver}"


def _commit() -> str | None:
    """Of the checkout that runs, with a + where files were changed; None for an installed package."""
    here = Path(__file__).resolve().parent
    commit = _output("git", "-C", str(here), "rev-parse", "--short", "HEAD")
    if not commit or not _output("git", "-C", str(here), "ls-files", __file__):
        return None
    return commit + ("+" if _output("git", "-C", str(here), "status", "--porcelain", "--untracked-files=no") else "")


def _memory_gb() -> float | None:
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        return round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 1e9, 1)
    return None


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _output(*command: str) -> str:
    """What a program prints; nothing where there is none, or it fails."""
    try:
        done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=10)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
