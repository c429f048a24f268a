"""Fields whose default follows from what the body is made of: mass, gas, friction and their like.

Such a field is not remembered as given or left out: one that has the value that follows is taken to follow. So a scene
means the same in Python, in a file and after `set`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar, cast

__all__ = ["FromMaterial", "from_material"]

T = TypeVar("T")


@dataclass(frozen=True)
class FromMaterial:
    """Stands for a value that was not given; `plain` is the value for a body without a material."""

    plain: Any

    def __repr__(self) -> str:
        return f"{self.plain!r}, or from the material"


def from_material(plain: T) -> T:
    """The default of such a field, as type checkers see it: once a body is made, it holds a value."""
    return cast(T, FromMaterial(plain))
