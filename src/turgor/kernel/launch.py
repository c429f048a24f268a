"""Kernels are launched by the names of their arguments: each is found in what the launcher was given.

    launch = Launcher(device, state, scratch, model, wall=[state.walls, model.walls])
    launch(k.add_springs, len(model.springs), x=state.x_stage)      # f, stiffness, wall_normal ... come by name

Outputs may be marked: `f_out` is `f`. A name that no source has, or that two sources have with different values, is an
error, and so is a given name that the kernel does not know. All this happens while a frame is recorded, so it costs
nothing when the frame is replayed.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import Any, Self

import warp as wp

__all__ = ["Launcher"]

_ABSENT = object()


class Launcher:
    """Takes arguments from objects (their attributes) and mappings (their keys).

    prefixed: sources whose names carry a prefix in kernels: with `wall=[walls]`, `wall_normal` is `walls.normal`.
    """

    def __init__(self, device: Any, *sources: Any, **prefixed: Iterable[Any]) -> None:
        self.device = device
        self._sources: list[tuple[str, Any]] = [("", source) for source in sources]
        for prefix, group in prefixed.items():
            self._sources += [(f"{prefix}_", source) for source in group]

    def extended(self, *sources: Any, **prefixed: Iterable[Any]) -> Self:
        """A launcher that knows more sources."""
        other = copy.copy(self)
        other._sources = [*self._sources, *Launcher(self.device, *sources, **prefixed)._sources]
        return other

    def __call__(self, kernel: Any, dim: int | tuple[int, int], **given: Any) -> None:
        """One thread per element."""
        wp.launch(kernel, dim=dim, inputs=self.arguments(kernel, given), device=self.device)

    def blocks(self, kernel: Any, dim: int, block: int, **given: Any) -> None:
        """One block of threads per element; on the CPU a block is a single thread."""
        wp.launch_tiled(kernel, dim=[dim], inputs=self.arguments(kernel, given), block_dim=block, device=self.device)

    def arguments(self, kernel: Any, given: Mapping[str, Any]) -> list[Any]:
        """The arguments of a kernel in its order."""
        labels = [argument.label for argument in kernel.adj.args]
        unknown = sorted(set(given) - set(labels))
        if unknown:
            raise TypeError(f"kernel {kernel.key} has no argument {', '.join(unknown)}; it has: {', '.join(labels)}")
        return [given[label] if label in given else self._found(f"kernel {kernel.key}", label) for label in labels]

    def filled(self, struct: Any, **given: Any) -> Any:
        """A struct whose fields are found by name, as arguments are."""
        value = struct()
        for field in struct.vars:
            setattr(value, field, given[field] if field in given else self._found(f"struct {struct.key}", field))
        return value

    def _found(self, wanted_by: str, label: str) -> Any:
        values: list[Any] = []
        name = label.removesuffix("_out")
        for prefix, source in self._sources:
            value = _value(source, name.removeprefix(prefix)) if name.startswith(prefix) else _ABSENT
            if value is not _ABSENT and not any(value is known for known in values):
                values.append(value)
        if len(values) != 1:
            what = "is in no source" if not values else "means different things in several sources"
            raise TypeError(f"{wanted_by}: {label!r} {what}; give it by name")
        return values[0]


def _value(source: Any, name: str) -> Any:
    """What a source has under a name, if a kernel can take it: arrays, structs and numbers, not methods or lists."""
    value = source.get(name, _ABSENT) if isinstance(source, Mapping) else getattr(source, name, _ABSENT)
    fit = isinstance(value, (wp.array, int, float)) or hasattr(value, "_cls") or hasattr(value, "_ctype")
    return value if fit and not isinstance(value, bool) else _ABSENT
