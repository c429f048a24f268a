"""What all tests share: hypothesis profiles, GPU tests that are skipped without a GPU, and plugins with fixtures."""

from __future__ import annotations

import os

# One thread for each worker's linear algebra: two workers with two threads each wait for each other on two cores.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("TURGOR_THREADS", "1")  # for the same reason; tests of threads say how many

import pytest
from hypothesis import settings

pytest_plugins = ("common.requirement_marks", "support.program")

# A first run compiles kernels, so no deadline. Under CI examples are the same every time; at home they are fresh.
settings.register_profile("home", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI", "").lower() in ("1", "true", "yes") else "home")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    marked = [item for item in items if item.get_closest_marker("gpu")]
    if marked and (reason := _no_gpu()):
        for item in marked:
            item.add_marker(pytest.mark.skip(reason=reason))


def _no_gpu() -> str:
    """Why GPU tests cannot run here; empty when they can."""
    import warp as wp

    from turgor.kernel.numbers import start_warp

    start_warp()
    return "" if wp.is_cuda_available() else "no CUDA device on this machine"
