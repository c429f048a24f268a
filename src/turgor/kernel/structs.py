"""Structs of arrays for kernels: their arrays are made from the types that the struct declares."""

from __future__ import annotations

from typing import Any

import warp as wp

__all__ = ["zeros"]


def zeros(kind: Any, size: int, device: Any, **given: Any) -> Any:
    """A struct whose arrays are `size` zeros each; given: other members, or the sizes of other arrays."""
    filled = kind()
    for name, member in kind.vars.items():
        value = given.get(name, size)
        if isinstance(value, int) and isinstance(member.type, wp.array):
            value = wp.zeros(value, dtype=member.type.dtype, device=device)
        setattr(filled, name, value)
    return filled
