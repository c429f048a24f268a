"""Small checks that turn what a user wrote into plain data, or raise a SceneError that names the field.

Every check takes `what` (the field's name, with its table: "springs.stiffness") and the value, and returns the value
in its stored form, so that Python calls and scene files share both the rules and the messages.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from typing import Any, Literal, TypeVar

import numpy as np
import numpy.typing as npt

from turgor.errors import MeshError, SceneError, did_you_mean

__all__ = [
    "ZERO",
    "Color",
    "ColorLike",
    "Rotation",
    "RotationLike",
    "Vector",
    "VectorLike",
    "Vertices",
    "VerticesLike",
    "check_keys",
    "check_name",
    "choice",
    "color",
    "context",
    "flag",
    "instance",
    "integer",
    "number",
    "put",
    "text",
    "turn",
    "vector",
]

T = TypeVar("T")

# As stored, and as accepted.
Vector = tuple[float, ...]  # 2 or 3 numbers
Rotation = float | tuple[float, ...]  # 2D: an angle; 3D: axis times angle
Color = tuple[float, float, float]  # red, green, blue in 0..1
Vertices = tuple[int, ...] | str  # indices, or the name of a group of the shape
VectorLike = Sequence[float] | npt.NDArray[Any] | Literal[0]  # 0 stands for zeros
RotationLike = float | Sequence[float] | npt.NDArray[Any]
ColorLike = str | Sequence[float] | npt.NDArray[Any]  # also "#rrggbb"
VerticesLike = str | Sequence[int] | npt.NDArray[Any]
ZERO: Vector = ()  # default of a vector field: zeros of the right dimension


def put(thing: object, **values: Any) -> None:
    """Stores checked values in a frozen dataclass; only for its `__post_init__`."""
    for name, value in values.items():
        object.__setattr__(thing, name, value)


@contextmanager
def context(where: str) -> Iterator[None]:
    """Puts `where` in front of the message of a scene or mesh error raised inside."""
    try:
        yield
    except (SceneError, MeshError) as error:
        raise type(error)(f"{where}: {error}") from error


def check_keys(cls: type[Any], keys: Iterable[str], kind: str = "key") -> None:
    """Raises for a key that is no field of the dataclass `cls`."""
    known = [field.name for field in fields(cls)]
    for key in keys:
        if key not in known:
            raise SceneError(f"unknown {kind} {key!r}; {did_you_mean(key, known)}")


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def _shown(value: object) -> str:
    """repr without numpy's type names, cut to a readable length."""
    if isinstance(value, np.generic):
        value = value.item()
    elif isinstance(value, np.ndarray):
        value = value.tolist()
    shown = repr(value)
    return shown if len(shown) <= 80 else shown[:77] + "..."


def number(
    what: str,
    value: object,
    low: float | None = None,
    high: float | None = None,
    above: float | None = None,
    below: float | None = None,
) -> float:
    """A finite float with low <= value <= high and above < value < below. A bool is not a number."""
    rules = [
        f"{sign} {bound:g}"
        for sign, bound in ((">=", low), (">", above), ("<=", high), ("<", below))
        if bound is not None
    ]
    wanted = f"{what} must be {' and '.join(rules) or 'a number'}, got {_shown(value)}"
    if not _is_number(value):
        raise SceneError(wanted + (" (not a number)" if rules else ""))
    try:
        result = float(value)  # type: ignore[arg-type]
    except OverflowError:
        result = math.inf
    if not math.isfinite(result):
        raise SceneError(f"{what} must be finite, got {_shown(value)}")
    if (
        (low is not None and result < low)
        or (high is not None and result > high)
        or (above is not None and result <= above)
        or (below is not None and result >= below)
    ):
        raise SceneError(wanted)
    return result


def integer(what: str, value: object, low: int) -> int:
    """A whole number >= low. 3.0 is not one."""
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < low:
        raise SceneError(f"{what} must be a whole number >= {low}, got {_shown(value)}")
    return int(value)


def flag(what: str, value: object) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise SceneError(f"{what} must be true or false, got {_shown(value)}")
    return bool(value)


def text(what: str, value: object) -> str:
    if not isinstance(value, str):
        raise SceneError(f"{what} must be a string, got {_shown(value)}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise SceneError(f"{what} must be valid Unicode, got {_shown(value)}") from None
    return value


def check_name(what: str, value: object) -> str:
    """A name that can be used in a path (`--set ball.mass=2`). Empty: the scene gives one."""
    name = text(what, value)
    if any(mark in name for mark in ".=") or not name.isprintable() or name != name.strip():
        raise SceneError(f"{what} must be printable, without '.', '=' or outer spaces, got {name!r}")
    return name


def choice(what: str, value: object, options: Sequence[str]) -> str:
    if not isinstance(value, str) or value not in options:
        listed = ", ".join(repr(option) for option in options)
        hint = did_you_mean(value, options, otherwise="")
        raise SceneError(f"{what} must be one of {listed}, got {_shown(value)}{hint and f'; {hint}'}")
    return value


def vector(what: str, value: object, dim: int | None) -> Vector:
    """`dim` numbers (2 or 3 when dim is None). ZERO, or the number 0, gives zeros where dim is known."""
    if dim is not None and (value == ZERO if isinstance(value, tuple) else _is_number(value) and value == 0):
        return (0.0,) * dim
    wanted = "2 or 3" if dim is None else str(dim)
    if not isinstance(value, (list, tuple, np.ndarray)) or (isinstance(value, np.ndarray) and value.ndim != 1):
        raise SceneError(f"{what} must be {wanted} numbers, got {_shown(value)}")
    if len(value) not in ((2, 3) if dim is None else (dim,)):
        raise SceneError(f"{what} must be {wanted} numbers, got {len(value)}: {_shown(value)}")
    return tuple(number(f"{what}[{i}]", entry) for i, entry in enumerate(value))


def turn(what: str, value: object, dim: int) -> Rotation:
    """A rotation or a spin: in 2D an angle (or rate) as a float, in 3D axis times angle as three floats."""
    if dim == 3:
        return vector(what, value, 3)
    if isinstance(value, tuple) and value == ZERO:
        return 0.0
    if not _is_number(value):
        raise SceneError(f"{what} must be one number (counter-clockwise, radians) in 2D, got {_shown(value)}")
    return number(what, value)


def color(what: str, value: object) -> Color | None:
    """None, three numbers 0..1 (red, green, blue), or "#rrggbb"."""
    if value is None:
        return None
    if isinstance(value, str):
        try:
            if len(value) != 7 or not value.startswith("#"):
                raise ValueError
            red, green, blue = bytes.fromhex(value[1:])
        except ValueError:
            raise SceneError(f"{what} must be three numbers 0..1 or '#rrggbb', got {value!r}") from None
        return red / 255, green / 255, blue / 255
    parts = [number(what, part, low=0.0, high=1.0) for part in vector(what, value, 3)]
    return parts[0], parts[1], parts[2]


def instance(what: str, value: object, cls: type[T]) -> T:
    if not isinstance(value, cls):
        raise SceneError(f"{what} must be a turgor {cls.__name__}, got {_shown(value)}")
    return value
