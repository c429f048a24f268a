"""What a study varies: values of each path, and how they are combined to runs.

VALUES is a list (`1,2,5`, `rk4,implicit`, `[0,0,1],[0,0,2]`), a range (`start:stop:count`, `log:start:stop:count`), or
random numbers: `random:low:high:count` and `normal:mean:deviation:count` are lists drawn once with the study's seed;
without a count each run draws its own number, with its own seed. A Latin hypercube takes ranges without a count.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from turgor.errors import SceneError, did_you_mean
from turgor.scene.toml import parse_value

__all__ = ["Axis", "Combine", "Design", "axis_of"]

Combine = Literal["grid", "zip", "latin"]
MOST_RUNS = 1_000_000  # rows of the table; each takes about 1 kB in memory
DRAWN = ("random", "normal")
RANGES = ("even", "log", *DRAWN)


@dataclass(frozen=True)
class Axis:
    """The values of one path: a list, or a range."""

    path: str
    words: str  # as it was given, for people
    kind: str = "list"  # or one of RANGES
    values: tuple[Any, ...] = ()  # of a list
    low: float = 0.0  # normal: the mean
    high: float = 0.0  # normal: the standard deviation
    count: int | None = None  # of a range; None: it is drawn by each run, or by a Latin hypercube

    @property
    def drawn(self) -> bool:
        """Whether each run draws its own value."""
        return self.kind in DRAWN and self.count is None

    def at(self, share: Any) -> Any:
        """Values at shares 0..1 of a range; of a list, those whose equal parts the shares fall in."""
        if self.kind == "list":
            places = np.minimum((np.asarray(share) * len(self.values)).astype(int), len(self.values) - 1)
            return [self.values[place] for place in places]
        if self.kind == "normal":
            from statistics import NormalDist

            tiny = 1e-12
            inverse = np.vectorize(NormalDist().inv_cdf, otypes=[float])
            return self.low + self.high * inverse(np.clip(share, tiny, 1.0 - tiny))
        if self.kind == "log":
            low, high = math.log10(self.low), math.log10(self.high)  # powers of ten are met exactly
            found = np.power(10.0, low + share * (high - low))
        else:
            found = self.low + share * (self.high - self.low)
        return np.where(share == 0.0, self.low, np.where(share == 1.0, self.high, found))  # the ends to the bit


def axis_of(path: str, given: Any) -> Axis:
    """From a text as on the command line, or from a sequence of values."""
    if isinstance(given, str):
        return _parsed(path, given.strip())
    if isinstance(given, np.ndarray):
        given = given.tolist()
    if not isinstance(given, Sequence):
        raise SceneError(f"vary {path}: give a list of values, or a text such as '1:5:10', got {given!r}")
    values = tuple(_plain(value) for value in given)
    if not values:
        raise SceneError(f"vary {path}: the list is empty; give at least one value")
    return Axis(path, ", ".join(map(str, values)) if len(values) <= 12 else f"{len(values):,} values", values=values)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        value = value.tolist()
    return tuple(_plain(entry) for entry in value) if isinstance(value, list | tuple) else value


def _parsed(path: str, text: str) -> Axis:
    head, *rest = text.split(":")
    kind = head if head in RANGES[1:] else "even"
    numbers = rest if head in RANGES[1:] else [head, *rest]
    if not text:
        raise SceneError(f"vary {path}: there are no values; write {path}=1,2,3 or {path}=1:3:10")
    if ":" not in text or text[0] in "[{\"'":
        return _listed(path, text)
    if kind == "even" and head.strip().lstrip("+-").lower() in ("nan", "inf", "infinity"):
        raise SceneError(f"vary {path}={text}: the ends of a range must be finite numbers")
    if not _is_number(head) and kind == "even":
        known = did_you_mean(head, RANGES[1:], otherwise=f"known: {', '.join(RANGES[1:])}")
        raise SceneError(f"vary {path}={text}: unknown kind of range {head!r}; {known}")
    if len(numbers) not in (2, 3) or not all(map(_is_number, numbers)):
        example = "start:stop:count" if kind == "even" else f"{kind}:low:high:count"
        raise SceneError(f"vary {path}={text}: write {example}, with numbers")
    low, high = float(numbers[0]), float(numbers[1])
    count = None
    if len(numbers) == 3:
        if not numbers[2].strip().isdecimal() or int(numbers[2]) < 1:
            empty = "the range is empty; " if numbers[2].strip().lstrip("-0") == "" else ""
            raise SceneError(f"vary {path}={text}: {empty}its count must be a whole number >= 1")
        count = int(numbers[2])
    if kind == "log" and not (low > 0.0 and high > 0.0):
        raise SceneError(f"vary {path}={text}: a logarithmic range needs ends above 0")
    if kind == "normal" and not high > 0.0:
        raise SceneError(f"vary {path}={text}: the standard deviation must be above 0")
    if kind != "normal" and low == high and count != 1:
        raise SceneError(f"vary {path}={text}: the range is empty: both ends are {low:g}; give the value once")
    return Axis(path, text, kind, low=low, high=high, count=count)


def _listed(path: str, text: str) -> Axis:
    whole = parse_value(f"[{text}]")
    values = whole if isinstance(whole, list) else [parse_value(entry.strip()) for entry in text.split(",")]
    if any(value == "" for value in values):
        raise SceneError(f"vary {path}={text}: a value is missing between two commas")
    return Axis(path, text, values=tuple(_plain(value) for value in values))


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


class Design:
    """The runs of a study: which values each has, and its seed. Repeats of one set have neighbouring numbers."""

    def __init__(
        self, vary: Mapping[str, Any], combine: str = "grid", samples: int | None = None, repeat: int = 1, seed: int = 0
    ) -> None:
        if combine not in get_args(Combine):
            hint = did_you_mean(combine, get_args(Combine))
            raise SceneError(f"combine must be 'grid', 'zip' or 'latin', got {combine!r}; {hint}")
        for name, value, least in (("repeat", repeat, 1), ("seed", seed, 0), ("samples", samples, 1)):
            whole = isinstance(value, int) and not isinstance(value, bool)
            if value is not None and not (whole and least <= value < 2**63):
                raise SceneError(f"{name} must be a whole number >= {least}, got {value!r}")
        if (samples is None) == (combine == "latin"):
            use = "say how many: samples=100" if combine == "latin" else "combine='latin' uses it; leave samples out"
            raise SceneError(f"samples is the number of sets of a Latin hypercube: {use}")
        self.axes = tuple(axis_of(path, given) for path, given in vary.items())
        self.combine, self.samples, self.repeat, self.seed = combine, samples, repeat, seed
        self._check_counts()
        self.shape = self._shape()
        self.sets = math.prod(self.shape)
        self.runs = self.sets * repeat
        if self.runs > MOST_RUNS:
            raise SceneError(self._too_many())
        self._columns = None if combine == "grid" else [self._column(number) for number in range(len(self.axes))]
        self._lists = [self._list(number) for number in range(len(self.axes))] if combine == "grid" else []

    def _check_counts(self) -> None:
        for axis in self.axes:
            if axis.kind in ("even", "log") and axis.count is None and self.combine != "latin":
                raise SceneError(f"vary {axis.path}={axis.words}: say how many values: {axis.words}:10")
            if axis.kind != "list" and axis.count is not None and self.combine == "latin":
                without = axis.words.rpartition(":")[0]
                raise SceneError(f"vary {axis.path}: samples says how many values there are; write {without}")

    def _shape(self) -> tuple[int, ...]:
        if self.combine == "latin":
            return (self.samples or 0,)
        counts = [1 if axis.drawn else axis.count or len(axis.values) for axis in self.axes]
        if self.combine == "grid":
            return tuple(counts)
        lengths = {axis.path: count for axis, count in zip(self.axes, counts, strict=True) if not axis.drawn}
        if len(set(lengths.values())) > 1:
            listed = ", ".join(f"{path} has {count}" for path, count in lengths.items())
            raise SceneError(f"combine='zip' needs the same number of values for each path: {listed}")
        return (max(counts, default=1),)

    def _too_many(self) -> str:
        times = " x ".join(f"{count:,}" for count in (*self.shape, *((self.repeat,) if self.repeat > 1 else ())))
        product = f"{times} = " if " x " in times else ""
        return (
            f"the study has {product}{self.runs:,} runs, more than {MOST_RUNS:,}: give fewer values, or take a sample "
            "of them: combine='latin', samples=N (--combine latin --samples N)"
        )

    @property
    def names(self) -> tuple[str, ...]:
        """The paths."""
        return tuple(axis.path for axis in self.axes)

    def _generator(self, number: int) -> np.random.Generator:
        return np.random.default_rng([self.seed, number])

    def _list(self, number: int) -> Sequence[Any]:
        """The values of an axis of a grid or of a zip."""
        axis = self.axes[number]
        if axis.kind == "list" or axis.drawn:
            return axis.values
        count = axis.count or 1
        drawn = axis.kind in DRAWN
        shares = self._generator(number).uniform(size=count) if drawn else np.arange(count) / max(count - 1, 1)
        found: Sequence[Any] = np.asarray(axis.at(shares)).tolist()
        return found

    def _column(self, number: int) -> Sequence[Any]:
        """The value of an axis in each set."""
        axis = self.axes[number]
        if self.combine == "zip":
            return self._list(number)
        generator = self._generator(number)
        parts = generator.permutation(self.sets) + generator.uniform(size=self.sets)  # one sample in each equal part
        found = axis.at(parts / self.sets)
        return found if isinstance(found, list) else np.asarray(found).tolist()

    def seed_of(self, run: int) -> int:
        """The run's own seed."""
        return int(np.random.SeedSequence([self.seed, run]).generate_state(1, np.uint64)[0] >> 1)  # fits an int64

    def values(self, run: int) -> tuple[Any, ...]:
        """The values of all paths in a run."""
        place = run // self.repeat
        places = np.unravel_index(place, self.shape) if self._columns is None and self.shape else ()
        found: list[Any] = []
        for number, axis in enumerate(self.axes):
            if axis.drawn and self.combine != "latin":
                share = np.random.default_rng([self.seed_of(run), number]).uniform()
                found.append(float(axis.at(share)))
            elif self._columns is not None:
                found.append(self._columns[number][place])
            else:
                found.append(self._lists[number][int(places[number])])
        return tuple(found)

    def examples(self, number: int, most: int) -> list[Any]:
        """Values of an axis to try, each once, the ends among them; at most about `most`."""
        axis = self.axes[number]
        if axis.drawn and self.combine != "latin":
            return [self.values(run)[number] for run in range(min(self.runs, most))]
        column = self._lists[number] if self._columns is None else self._columns[number]
        if len(column) > most:
            ends = [max(column), min(column)] if axis.kind != "list" else []
            column = [*ends, *(column[place] for place in np.linspace(0, len(column) - 1, most).astype(int))]
        return list({repr(value): value for value in column}.values())
