"""Actions of a policy, checked and brought to the device."""

from __future__ import annotations

from typing import Any

import numpy as np
import warp as wp

from turgor.errors import SceneError

__all__ = ["write_action"]


def write_action(value: Any, target: Any) -> None:
    """Copy actions (worlds, cells) of NumPy, Warp, PyTorch or JAX into a device array; a tensor stays on its device.

    Those on the host must be numbers; a tensor on a GPU is not looked at: what is nan there makes its world end.
    """
    on_device = hasattr(value, "__dlpack__") and not isinstance(value, np.ndarray)
    try:
        source = value if isinstance(value, wp.array) else wp.from_dlpack(value) if on_device else np.asarray(value)
        if not on_device:
            source = np.asarray(source, np.float32)
    except (TypeError, ValueError, RuntimeError, BufferError) as error:
        raise SceneError(f"an action must be an array of numbers, got {type(value).__name__} ({error})") from None
    shape = tuple(target.shape)
    if tuple(source.shape) != shape:
        raise SceneError(f"an action must have the shape {shape}, got {tuple(source.shape)}")
    if isinstance(source, np.ndarray):
        if not np.isfinite(source).all():
            row, column = np.argwhere(~np.isfinite(source))[0]
            raise SceneError(
                f"an action must be of finite numbers, got {source[row, column]} for world {row}, cell {column}"
            )
        target.assign(source)
        return
    if source.device.is_cpu and not np.isfinite(source.numpy()).all():
        raise SceneError("an action must be of finite numbers, got nan or inf")
    if source.dtype != wp.float32:
        source = wp.array(source.numpy(), dtype=wp.float32, device=target.device)
    wp.copy(target, source)
