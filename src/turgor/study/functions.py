"""Measures that are Python: `measures.py:distance` in a file, or a function of the program."""

from __future__ import annotations

import ast
import pickle
import re
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from turgor.errors import SceneError, did_you_mean

__all__ = ["Function", "MeasureError", "function_of", "is_function"]

FILE = re.compile(r"(?P<file>.+\.py):(?P<name>[^\W\d]\w*)")


class MeasureError(SceneError):
    """A measure that fails while runs go on: it would fail in all of them."""


@dataclass(frozen=True)
class Function:
    """A function of a Simulation that returns a number, or one per world; or a class whose objects are called so.

    It is called at the start and after every frame, and its last value is the measure. Its source travels to the
    workers, which need no file of it.
    """

    measure: str  # its name in the table
    words: str  # as it was given
    name: str = ""  # in the source
    source: str = ""
    pickled: bytes = b""  # of a function that was given as such
    of_main: bool = False  # whether the user's script defines it: workers then run that script

    def made(self) -> Callable[[Any], Any]:
        """The function itself; a class is called once, and may keep what it needs from frame to frame."""
        try:
            if self.pickled:
                found = pickle.loads(self.pickled)
            else:
                namespace: dict[str, Any] = {"__name__": "turgor_measures", "__file__": self.words.rpartition(":")[0]}
                exec(compile(self.source, self.words, "exec"), namespace)
                found = namespace[self.name]
            function: Callable[[Any], Any] = found() if isinstance(found, type) else found
        except (Exception, SystemExit) as error:
            raise self._wrong(error) from error
        return function

    def called(self, function: Callable[[Any], Any], sim: Any) -> npt.NDArray[np.float64]:
        """(worlds,) what it returns now."""
        try:
            value = function(sim)
        except (Exception, SystemExit) as error:
            raise self._wrong(error) from error
        try:
            if value is None:  # which NumPy takes for nan
                raise TypeError
            return np.broadcast_to(np.asarray(value, np.float64), (sim.worlds,))
        except (ValueError, TypeError) as error:
            shown = " ".join(f"{value!r:.60}".split())
            what = f"must return a number, or one per world ({sim.worlds}), and returned {shown}"
            raise MeasureError(f"measure {self.measure}={self.words}: it {what}") from error

    def _wrong(self, error: BaseException) -> MeasureError:
        """In one line, with the line of the user's file where it happened."""
        trace = traceback.extract_tb(error.__traceback__)
        own = [entry.lineno for entry in trace if entry.filename not in (__file__, pickle.__file__)]
        if not self.pickled:
            own = [entry.lineno for entry in trace if entry.filename == self.words]
        line = f" (line {own[-1]})" if own else ""
        said = " ".join(f"{type(error).__name__}: {error}".split())
        return MeasureError(f"measure {self.measure}={self.words}: {said}{line}")


def is_function(given: Any) -> bool:
    """Whether a measure is Python, and not an expression."""
    return callable(given) or (isinstance(given, str) and FILE.fullmatch(given.strip()) is not None)


def function_of(measure: str, given: Any) -> Function:
    """From `file.py:name` or from a function, checked."""
    if callable(given):
        words = getattr(given, "__qualname__", type(given).__name__)
        try:
            pickled = pickle.dumps(given)
        except Exception:
            raise SceneError(
                f"measure {measure}: {words} cannot be sent to other processes; define it at the top of a module, or "
                "give it as 'file.py:name'"
            ) from None
        of_main = getattr(given, "__module__", type(given).__module__) == "__main__"
        return Function(measure, words, pickled=pickled, of_main=of_main)
    match = FILE.fullmatch(given.strip())
    assert match is not None
    path, name = Path(match["file"]), match["name"]
    try:
        source = path.read_text(encoding="utf-8")
        names = [node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    except OSError as error:
        raise SceneError(f"measure {measure}: {path}: cannot be read ({error.strerror})") from None
    except (SyntaxError, ValueError) as error:
        raise SceneError(f"measure {measure}: {path} is not Python: {error}") from None
    if name not in names:
        raise SceneError(f"measure {measure}: {path} has no function {name!r}; {did_you_mean(name, names)}")
    return Function(measure, given.strip(), name, source)
