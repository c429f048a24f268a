"""Kernels are launched by the names of their arguments: each is found in what the launcher was given.

    launch = Launcher(device, state, scratch, model, wall=[state.walls, model.walls])
    launch(k.add_springs, len(model.springs), x=state.x_stage)      # f, stiffness, wall_normal ... come by name

Outputs may be marked: `f_out` is `f`. A name that no source has, or that two sources have with different values, is an
error, and so is a given name that the kernel does not know. All this happens while a frame is recorded, so it costs
nothing when the frame is replayed.

CPU threads share a loop in one of two ways. `split` gives each a range of elements: the kernel adds `start_index` to
its index. After `put_together` such loops are one job, as long as nothing else is launched: each thread goes through
all of them for its own bodies. `parts` gives each a part of a list whose length only the device knows: the kernel takes
the elements of `part` out of `parts` (`begin_of`).
"""

from __future__ import annotations

import contextlib
import copy
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import warp as wp

from turgor.kernel.team import Team

__all__ = ["Launcher", "begin_of", "rehearsal"]

_ABSENT = object()
_REHEARSAL = threading.local()
# arguments by which threads share a loop, where one thread does it all
ALONE = {"start_index": 0, "part": 0, "parts": 1}
LEAST = 512  # elements per thread for which a fork and a join pay
UNEVEN = 1.1  # times an even share: more points than that in one thread are not worth a fork less


@wp.func  # type: ignore[untyped-decorator]
def begin_of(part: int, parts: int, count: int) -> int:
    """The first of the elements that a part of a list has; its end is where the next part begins."""
    return count * part // parts


@contextlib.contextmanager
def rehearsal() -> Iterator[dict[str, Any]]:
    """Nothing is launched in this thread; the Warp modules of the kernels that would be are collected by name."""
    _REHEARSAL.modules = {}
    try:
        yield _REHEARSAL.modules
    finally:
        _REHEARSAL.modules = None


class Launcher:
    """Takes arguments from objects (their attributes) and mappings (their keys).

    prefixed: sources whose names carry a prefix in kernels: with `wall=[walls]`, `wall_normal` is `walls.normal`.
    """

    team: Team | None = None  # threads that share long loops

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
        if not self._rehearses(kernel):
            self.part()
            wp.launch(kernel, dim=dim, inputs=self.arguments(kernel, given), device=self.device)

    def blocks(self, kernel: Any, dim: int, block: int, **given: Any) -> None:
        """One block of threads per element; on the CPU a block is a single thread."""
        if not self._rehearses(kernel):
            self.part()
            inputs = self.arguments(kernel, given)
            wp.launch_tiled(kernel, dim=[dim], inputs=inputs, block_dim=block, device=self.device)

    def put_together(self, points: npt.NDArray[Any]) -> None:
        """From now on loops over bodies are one job of the team, until something else is launched, or `part`.

        Nothing in between may be recorded but by launchers of the team. points: where those of each body begin.
        """
        if self.team is None or self.sharing == 1 or points[-1] < 2 * LEAST:
            return
        even = points[-1] / self.sharing
        bodies = np.abs(points[None, :] - even * np.arange(self.sharing + 1)[:, None]).argmin(axis=1)
        if np.diff(points[bodies]).max() <= UNEVEN * even:
            self.team.put_together(bodies)

    def part(self) -> None:
        """Launch what was put together."""
        if self.team is not None and self.team.recording:
            self.team.part()

    def split(
        self,
        kernel: Any,
        count: int,
        cuts: npt.NDArray[Any] | None = None,
        *,
        bodies: npt.NDArray[Any] | None = None,
        least: int | None = None,
        **given: Any,
    ) -> None:
        """One thread per element, the elements shared by the team; the kernel adds `start_index` to its index.

        cuts: where the loop may be cut, if not everywhere; least: elements per thread for which that pays; bodies:
        where the elements of each body begin, if the loop may be put together with others.
        """
        own = self.team.bodies if self.team is not None else None
        if own is not None and bodies is not None:
            ranges = [(int(a), int(b)) for a, b in pairwise(bodies[own])]
        else:
            self.part()
            ranges = self._ranges(count, cuts, LEAST if least is None else least)
        given_parts = [{**given, "start_index": first} for first, _ in ranges]
        self._shared(kernel, [last - first for first, last in ranges], given_parts)

    def split_blocks(self, kernel: Any, dim: int, block: int, *, least: int = 4, **given: Any) -> None:
        """One block of threads per element, the elements shared by the team of CPU threads, each a block."""
        self.part()
        ranges = self._ranges(dim, None, least)
        if len(ranges) == 1:
            self.blocks(kernel, dim, block, **given, start_index=0)
        else:
            self._shared(kernel, [(b - a, 1) for a, b in ranges], [{**given, "start_index": a} for a, _ in ranges])

    def parts(self, kernel: Any, dims: int | tuple[int, int], each: Mapping[str, Sequence[Any]], **given: Any) -> None:
        """The parts of a list at the same time; each: arguments that every part has its own of."""
        self.part()
        size = self.sharing
        shared = [
            {**given, "part": part, "parts": size, **{name: values[part] for name, values in each.items()}}
            for part in range(size)
        ]
        self._shared(kernel, [dims] * size, shared)

    @staticmethod
    def _rehearses(kernel: Any) -> bool:
        """Whether launches are only looked at; then the kernel is noted."""
        if (noted := getattr(_REHEARSAL, "modules", None)) is not None:
            noted[kernel.module.name] = kernel.module
        return noted is not None

    @property
    def sharing(self) -> int:
        """Threads that share a loop now: frames are shared, what is launched in between is not."""
        return self.team.size if self.team is not None and self.team.recording else 1

    def _ranges(self, count: int, cuts: npt.NDArray[Any] | None, least: int) -> list[tuple[int, int]]:
        size = min(self.sharing, max(count // least, 1))
        if size == 1:
            return [(0, count)]
        ends = np.arange(self.sharing + 1) * count // self.sharing
        if cuts is not None:
            ends = np.asarray(cuts)[np.abs(np.asarray(cuts)[None, :] - ends[:, None]).argmin(axis=1)]
        ranges = [(int(a), int(b)) for a, b in pairwise(ends)]
        return ranges if sum(b > a for a, b in ranges) > 1 else [(0, count)]

    def _shared(self, kernel: Any, dims: list[Any], given: list[dict[str, Any]]) -> None:
        if self._rehearses(kernel):
            return
        arguments = [self.arguments(kernel, own) for own in given]
        parts = [
            partial(wp.launch, kernel, dim=dim, inputs=inputs, device=self.device)
            for dim, inputs in zip(dims, arguments, strict=True)
        ]
        if len(parts) == 1 or self.team is None:
            parts[0]()
        else:
            self.team.share((kernel, *dims, *map(_identity, [a for own in arguments for a in own])), parts)

    def arguments(self, kernel: Any, given: Mapping[str, Any]) -> list[Any]:
        """The arguments of a kernel in its order."""
        return self._all(f"kernel {kernel.key}", [argument.label for argument in kernel.adj.args], given)

    def struct(self, kind: Any, **given: Any) -> Any:
        """A struct that kernels take as a whole, its members found like arguments."""
        filled = kind()
        for label, value in zip(kind.vars, self._all(f"struct {kind.key}", list(kind.vars), given), strict=True):
            setattr(filled, label, value)
        return filled

    def _all(self, owner: str, labels: list[str], given: Mapping[str, Any]) -> list[Any]:
        unknown = sorted(set(given) - set(labels))
        if unknown:
            raise TypeError(f"{owner} has no argument {', '.join(unknown)}; it has: {', '.join(labels)}")
        known = ALONE | dict(given)
        return [known[label] if label in known else self._found(owner, label) for label in labels]

    def _found(self, owner: str, label: str) -> Any:
        values: list[Any] = []
        name = label.removesuffix("_out")
        for prefix, source in self._sources:
            value = _value(source, name.removeprefix(prefix)) if name.startswith(prefix) else _ABSENT
            if value is not _ABSENT and not any(value is known for known in values):
                values.append(value)
        if len(values) != 1:
            what = "is in no source" if not values else "means different things in several sources"
            raise TypeError(f"{owner}: argument {label!r} {what}; give it by name")
        return values[0]


def _identity(value: Any) -> Any:
    """By which two launches are the same: numbers by their values, arrays and structs by being the same ones."""
    return value if isinstance(value, (int, float)) else id(value)


def _value(source: Any, name: str) -> Any:
    """What a source has under a name, if a kernel can take it: arrays, structs and numbers, not methods or lists."""
    value = source.get(name, _ABSENT) if isinstance(source, Mapping) else getattr(source, name, _ABSENT)
    fit = isinstance(value, (wp.array, int, float)) or hasattr(value, "_cls") or hasattr(value, "_ctype")
    return value if fit and not isinstance(value, bool) else _ABSENT
