"""What the views share: only what exists can be set, values are checked, several worlds are a leading axis."""

from __future__ import annotations

import abc
import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast, overload

import numpy as np
import numpy.typing as npt

from turgor.errors import SceneError, did_you_mean
from turgor.simulation.failure import ensure_fine

if TYPE_CHECKING:
    from turgor.simulation.simulation import Simulation

__all__ = [
    "STIFFNESS",
    "Angular",
    "FloatArray",
    "Named",
    "PerWorld",
    "Point",
    "Pull",
    "Rows",
    "Scalar",
    "View",
    "per_vertex",
]

FloatArray = npt.NDArray[np.float64]
Scalar = float  # what is read, as type checkers know it; with several worlds it is an array (worlds,)
Angular = float | FloatArray  # a number in 2D, a vector in 3D
PerWorld = float | Sequence[float] | npt.NDArray[Any]  # what can be set: a number, or one per world
Point = Sequence[float] | npt.NDArray[Any]  # (dim,) m
Rows = PerWorld | Sequence[Sequence[float]] | Sequence[Sequence[Sequence[float]]]  # vectors; 0 stands for zeros

STIFFNESS = 50.0  # N/m of the rubber band that pulls a body: it lifts 1 kg by a stretch of 0.2 m
UNSET = -1.0  # in the device's tables: the other's own friction or restitution is used

V = TypeVar("V", bound="View")


class Named(dict[str, V]):
    """Views by name, in the order of the scene."""

    def __init__(self, what: str, views: Iterable[V]) -> None:
        super().__init__((view.name, view) for view in views)
        self._what = what

    def __missing__(self, name: str) -> V:
        raise SceneError(f"no {self._what} {name!r}; there are: {', '.join(self) or 'none'}")


class Pull(NamedTuple):
    """A rubber band from a point of a body to a target, checked."""

    target: FloatArray  # (dim,) m
    stiffness: float  # N/m
    damping: float | None  # N s/m; None: critical


def per_vertex(sim: Simulation, array: Any, part: slice = slice(None)) -> FloatArray:
    """A device array over vertices, in the user's order, in double precision; a world axis if there are several.

    part: of the vertices of a world, those of one body.
    """
    ensure_fine(sim)
    model = sim.model
    values = array.numpy()
    values = values.reshape(model.worlds, model.vertices, *values.shape[1:])[:, model.internal[part]]
    return np.asarray(values[0] if model.worlds == 1 else values, np.float64)


class View:
    """One thing of a running simulation, by its name in the scene."""

    def __init__(self, sim: Simulation, name: str, index: int) -> None:
        self._sim = sim
        self.name = name
        self.index = index  # among the things of its kind

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}>"

    if not TYPE_CHECKING:  # a type checker takes a class with __setattr__ to have every attribute

        def __setattr__(self, key: str, value: Any) -> None:
            """Only what exists can be set: a misspelt name must not silently do nothing."""
            if not key.startswith("_") and key not in ("name", "index") and not self._settable(key):
                known = [name for name in dir(type(self)) if self._settable(name)]
                raise SceneError(f"{self.name}.{key} cannot be set; {did_you_mean(key, known)}")
            super().__setattr__(key, value)

    def _settable(self, key: str) -> bool:
        entry = getattr(type(self), key, None)
        return entry.fset is not None if isinstance(entry, property) else hasattr(entry, "__set__")


class Surface:
    """Friction or restitution as an attribute; None, or nan in some of several worlds: the other's own is used."""

    def __init__(self, what: str, high: float = math.inf) -> None:
        self.__doc__ = f"{what}; None, or nan in some of several worlds: the other's own. May be set."
        self._high = high

    def __set_name__(self, owner: type[AnyBodyView], name: str) -> None:
        self.name = name

    @overload
    def __get__(self, view: None, owner: type[AnyBodyView]) -> Surface: ...
    @overload
    def __get__(self, view: AnyBodyView, owner: type[AnyBodyView]) -> Scalar | None: ...
    def __get__(self, view: AnyBodyView | None, owner: type[AnyBodyView]) -> Surface | Scalar | None:
        if view is None:
            return self
        values = view._scalar(view._rows(self.name))
        unset = np.asarray(values) < 0.0
        return (None if unset else values) if np.ndim(values) == 0 else cast(Scalar, np.where(unset, math.nan, values))

    def __set__(self, view: AnyBodyView, value: PerWorld | None) -> None:
        values = view._per_world(self.name, math.nan if value is None else value)
        unset = np.isnan(values) & (value is None or len(values) > 1)
        known = values[~unset]
        if not view._fits(known) or np.any((known < 0.0) | (known > self._high)):
            wanted = ">= 0" + (f" and <= {self._high:g}" if math.isfinite(self._high) else "")
            raise SceneError(f"{view.name}.{self.name} must be {wanted}, or None for the other's own, got {value!r}")
        view._assign(self.name, np.where(unset, UNSET, values))


class Coefficient:
    """A coefficient of the air as an attribute."""

    def __init__(self, what: str) -> None:
        self.__doc__ = f"{what} (no unit). May be set."

    def __set_name__(self, owner: type[AnyBodyView], name: str) -> None:
        self.name = name

    @overload
    def __get__(self, view: None, owner: type[AnyBodyView]) -> Coefficient: ...
    @overload
    def __get__(self, view: AnyBodyView, owner: type[AnyBodyView]) -> Scalar: ...
    def __get__(self, view: AnyBodyView | None, owner: type[AnyBodyView]) -> Coefficient | Scalar:
        return self if view is None else view._scalar(view._rows(self.name))

    def __set__(self, view: AnyBodyView, value: PerWorld) -> None:
        values = view._per_world(self.name, value)
        if not view._fits(values) or np.any(values < 0.0):
            raise SceneError(f"{view.name}.{self.name} must be finite and >= 0, got {value!r}")
        view._assign(self.name, values)


class AnyBodyView(View, abc.ABC):
    """What the views of soft and of rigid bodies share."""

    drag_coefficient = Coefficient("Drag of the air across the surface")
    drag_tangential = Coefficient("Drag of the air along the surface")

    friction = Surface("Coulomb coefficient (no unit)")
    restitution = Surface("0..1 (no unit)", 1.0)

    @property
    @abc.abstractmethod
    def _number(self) -> int:
        """Of the body among all: soft ones, then rigid ones."""

    @property
    def asleep(self) -> bool:
        """Whether it is at rest and left out of the simulation, with `sleeping`; `sim.wake` wakes it."""
        sleep = self._sim.sleep
        return sleep is not None and bool(sleep.asleep[self._number])

    @property
    def lowest(self) -> Scalar:
        """m: height of the lowest point, along the last axis."""
        return self._scalar(self._height(highest=False))

    @property
    def highest(self) -> Scalar:
        """m: height of the highest point, along the last axis."""
        return self._scalar(self._height(highest=True))

    @abc.abstractmethod
    def _height(self, highest: bool) -> FloatArray:
        """(worlds,) m of the highest or the lowest point."""

    @abc.abstractmethod
    def _rows(self, name: str) -> FloatArray:
        """(worlds, ...) of this body in one of the device's tables, in double precision: a copy."""

    @abc.abstractmethod
    def _assign(self, name: str, values: FloatArray) -> None:
        """Writes (worlds, ...) of this body into one of the device's tables."""

    def _scalar(self, values: FloatArray) -> Scalar:
        """(worlds,), or the number itself if there is one world."""
        values = np.atleast_1d(np.asarray(values, np.float64))
        return float(values[0]) if self._sim.worlds == 1 else cast(Scalar, values)

    def _array(self, values: FloatArray) -> FloatArray:
        """(worlds, ...), or without that axis if there is one world."""
        return np.asarray(values[0] if self._sim.worlds == 1 else values)

    def _per_world(self, key: str, value: Any) -> FloatArray:
        """(worlds,) of what the user gave: a number, or one per world."""
        try:
            return np.broadcast_to(np.asarray(value, np.float64), (self._sim.worlds,))
        except (TypeError, ValueError):
            raise SceneError(
                f"{self.name}.{key} must be a number or one per world ({self._sim.worlds}), got {value!r}"
            ) from None

    def _fits(self, values: FloatArray) -> bool:
        """Whether all are finite in the precision of the simulation."""
        return bool(np.all(np.abs(values) <= np.finfo(self._sim.model.numbers.dtype).max))

    def _put(self, array: Any, per_world: int, values: Any) -> None:
        """Writes the entry of this thing in every world; `per_world` is the number of things in one."""
        self._sim.catch_up()  # frames that are still to be computed have the old values
        table = array.numpy().copy()
        table[self.index :: per_world] = values
        array.assign(table)

    def _checked_pull(self, count: int, vertex: Any, target: Any, stiffness: Any, damping: Any) -> Pull:
        """What `grab` was called with, for a shape of `count` vertices."""
        dim = self._sim.scene.dim
        if not isinstance(vertex, (int, np.integer)) or isinstance(vertex, bool) or not 0 <= vertex < count:
            raise SceneError(f"grab: {self.name!r} has vertices 0 to {count - 1}, got {vertex!r}")
        try:
            goal = np.asarray(target, np.float64)
            pull = Pull(goal, float(stiffness), None if damping is None else float(damping))
        except (TypeError, ValueError):
            raise SceneError(f"grab: target, stiffness and damping must be numbers, got {target!r}") from None
        if goal.shape != (dim,) or not np.all(np.isfinite(goal)):
            raise SceneError(f"grab: target must be {dim} finite numbers, got {target!r}")
        for name, value in (("stiffness", pull.stiffness), ("damping", pull.damping)):
            if value is not None and not (math.isfinite(value) and value >= 0.0):
                raise SceneError(f"grab: {name} must be >= 0, got {value!r}")
        return pull

    def _put_pull(self, tables: Any, per_world: int, pull: Pull, mass: float) -> None:
        """Stores a pull in all worlds; mass (kg) of what is pulled gives the critical damping."""
        damping = 2.0 * math.sqrt(pull.stiffness * mass) if pull.damping is None else pull.damping
        self._put(tables.grab_target, per_world, pull.target - self._sim.model.anchor)
        self._put(tables.grab_stiffness, per_world, pull.stiffness)
        self._put(tables.grab_damping, per_world, damping)
        self._sim.engine.changed(moved=False, body=self._number)
