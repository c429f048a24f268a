"""Where a simulation runs: the device by its name."""

from __future__ import annotations

from typing import Any

import warp as wp

from turgor.errors import SceneError
from turgor.kernel.numbers import start_warp

__all__ = ["chosen_device"]


def chosen_device(name: str) -> Any:
    """The Warp device of this name; "auto" takes a GPU if there is one."""
    if not isinstance(name, str):
        raise SceneError(f"device must be 'cpu', 'cuda' or 'auto', got {name!r}")
    start_warp()
    if name == "auto":
        name = "cuda" if wp.is_cuda_available() else "cpu"
    if name.startswith("cuda") and not wp.is_cuda_available():
        raise SceneError(f"device {name!r}: no CUDA device was found; use device='cpu'")
    try:
        return wp.get_device(name)
    except (RuntimeError, ValueError):
        known = ", ".join(str(device) for device in wp.get_devices())
        raise SceneError(f"device {name!r} is not known; there are: {known}") from None
