"""Measures: expressions of quantities over time, for all worlds at once; no history is kept.

`max(ball.center.z)`, `first(ball.volume < 0.5*ball.rest_volume)`, `energy.dissipated`. Inside a function over time a
quantity is taken at the start and after every frame; outside of one it is that at the end. Python's own parser reads
them, and only what is listed here is known: an expression is never executed as Python.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from turgor.errors import SceneError, did_you_mean
from turgor.scene.scene import Scene
from turgor.study.functions import Function, function_of, is_function
from turgor.study.quantities import LEDGER, Look, check_quantity
from turgor.study.results import FIXED

if TYPE_CHECKING:
    from turgor.simulation.simulation import Simulation

__all__ = ["Expression", "Measure", "Measuring", "measures_of"]

FloatArray = npt.NDArray[np.float64]
LONGEST = 2000  # characters

BINARY: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: np.divide, ast.Pow: np.power,
}  # fmt: skip
COMPARE: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip
AT_ONCE: Mapping[str, Callable[[Any], Any]] = {
    "abs": np.abs, "sqrt": np.sqrt, "exp": np.exp, "log": np.log, "sin": np.sin, "cos": np.cos,
}  # fmt: skip


class Reduced:
    """What a function over time keeps, per world."""

    def __init__(self, name: str, worlds: int) -> None:
        self.name, self.count = name, 0
        start = {"max": -np.inf, "min": np.inf, "first": np.nan, "last": np.nan}.get(name, 0.0)
        self.kept = np.full(worlds, start)

    def add(self, value: FloatArray, time: float) -> None:
        """The value of now; of a condition 1 or 0."""
        self.count += 1
        if self.name in ("max", "any"):
            self.kept = np.maximum(self.kept, value)  # nan stays
        elif self.name == "min":
            self.kept = np.minimum(self.kept, value)
        elif self.name == "first":
            self.kept = np.where(np.isnan(self.kept) & (value > 0.0), time, self.kept)
        elif self.name == "last":
            self.kept = np.where(value > 0.0, time, self.kept)
        elif self.name == "final":
            self.kept = np.array(value)
        else:  # mean, sum, rms
            self.kept = self.kept + (value * value if self.name == "rms" else value)

    def result(self) -> FloatArray:
        if self.name == "mean":
            return self.kept / self.count
        return np.sqrt(self.kept / self.count) if self.name == "rms" else self.kept


OVER_TIME = ("max", "min", "mean", "rms", "sum", "final", "first", "last", "any")
OF_CONDITIONS = ("first", "last", "any")


@dataclass(frozen=True)
class Expression:
    """A measure as an expression, checked against a scene."""

    measure: str  # its name in the table
    words: str

    @property
    def tree(self) -> ast.expr:
        return ast.parse(self.words.strip(), mode="eval").body

    def check(self, scene: Scene) -> None:
        """SceneError, in a sentence, where it means nothing."""
        if len(self.words) > LONGEST:
            raise self._wrong(f"it is longer than {LONGEST:,} characters")
        try:
            tree = self.tree
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            hint = "write it as in max(ball.center.z), or name a file.py:function"
            raise self._wrong(f"it cannot be read; {hint}") from None
        try:
            if self._check(tree, scene, None):
                raise self._wrong("it is a condition: put it into first(...), last(...), any(...) or mean(...)")
        except RecursionError:
            raise self._wrong("it is nested too deeply") from None

    def _wrong(self, what: str) -> SceneError:
        shown = self.words if len(self.words) <= 80 else f"{self.words[:77]}..."
        return SceneError(f"measure {self.measure}={shown}: {what}")

    def _check(self, node: ast.expr, scene: Scene, inside: str | None) -> bool:
        """Checks a part; whether it is a condition. inside: the function over time around it."""
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
            return False
        if isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
            try:
                check_quantity(scene, self.quantity(node))
            except SceneError as error:
                raise self._wrong(str(error)) from None
            return False
        if isinstance(node, ast.BinOp) and type(node.op) in BINARY:
            return self._number(node.left, scene, inside) or self._number(node.right, scene, inside)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
            return self._number(node.operand, scene, inside)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return self._condition(node.operand, scene, inside)
        if isinstance(node, ast.BoolOp):
            return all(self._condition(value, scene, inside) for value in node.values)
        if isinstance(node, ast.Compare):
            if not all(type(op) in COMPARE for op in node.ops):
                raise self._wrong("numbers are compared by <, <=, > and >=")
            for part in (node.left, *node.comparators):
                self._number(part, scene, inside)
            return True
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return self._check_call(node, node.func.id, scene, inside)
        known = "quantities, numbers, + - * / ** and functions"
        raise self._wrong(f"{ast.unparse(node)[:40]!r} is not known here; use {known}")

    def _check_call(self, node: ast.Call, name: str, scene: Scene, inside: str | None) -> bool:
        if name not in OVER_TIME and name not in AT_ONCE:
            raise self._wrong(f"there is no function {name!r}; {did_you_mean(name, [*OVER_TIME, *AT_ONCE])}")
        if len(node.args) != 1 or node.keywords or isinstance(node.args[0], ast.Starred):
            raise self._wrong(f"{name} takes one argument")
        if name in AT_ONCE:
            return self._number(node.args[0], scene, inside)
        if inside is not None:
            raise self._wrong(f"{name} inside {inside}: one function over time is not inside another")
        if name == "last" or name not in OF_CONDITIONS:
            self._check(node.args[0], scene, name)
        else:
            self._condition(node.args[0], scene, name)
        return False

    def _number(self, node: ast.expr, scene: Scene, inside: str | None) -> bool:
        if self._check(node, scene, inside):
            raise self._wrong(f"{ast.unparse(node)[:40]!r} is a condition, where a number is needed")
        return False

    def _condition(self, node: ast.expr, scene: Scene, inside: str | None) -> bool:
        if not self._check(node, scene, inside):
            where = f"{inside} needs" if inside else "here is needed"
            raise self._wrong(f"{where} a condition such as ball.center.z < 0.5, not {ast.unparse(node)[:40]!r}")
        return True

    def quantity(self, node: ast.expr) -> tuple[str, ...]:
        """The name that a path stands for: `ball.center.z`, `ball.center[2]`, `'soft_body-1'.volume`."""
        if isinstance(node, ast.Name):
            return (node.id,)
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return (node.value,)
        if isinstance(node, ast.Attribute):
            return (*self.quantity(node.value), node.attr)
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and type(node.slice.value) is int:
            return (*self.quantity(node.value), str(node.slice.value))
        raise self._wrong(f"{ast.unparse(node)[:40]!r} is not the name of a quantity")

    @property
    def quantities(self) -> Iterator[tuple[str, ...]]:
        """All that it names."""

        def walk(node: ast.AST) -> Iterator[tuple[str, ...]]:
            if isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
                yield self.quantity(node)
            elif isinstance(node, ast.Call):
                yield from walk(node.args[0])
            else:
                for child in ast.iter_child_nodes(node):
                    yield from walk(child)

        return walk(self.tree)

    @property
    def needs_ledger(self) -> bool:
        """Whether the simulation has to sum up losses and work."""
        return any(name[0] == "energy" and name[1:] and name[1] in LEDGER for name in self.quantities)


Measure = Expression | Function


def measures_of(given: Mapping[str, Any], scene: Scene, taken: tuple[str, ...]) -> tuple[Measure, ...]:
    """The measures of a study, checked; taken: names of other columns."""
    if not given:
        raise SceneError("a study needs something to measure: give measure={'height': 'max(ball.center.z)'}")
    found: list[Measure] = []
    for name, what in given.items():
        if not isinstance(name, str) or not name.strip() or not name.isprintable():
            raise SceneError(f"measure {name!r}: it needs a name: height=max(ball.center.z)")
        if name in taken or name in FIXED:
            raise SceneError(f"measure {name}: the table has a column of that name already; choose another")
        if isinstance(what, str) and what.strip().endswith(".py"):
            raise SceneError(f"measure {name}={what}: say which function of that file: {what.strip()}:NAME")
        if is_function(what):
            found.append(function_of(name, what))
        elif isinstance(what, str):
            expression = Expression(name, what.strip())
            expression.check(scene)
            found.append(expression)
        else:
            raise SceneError(f"measure {name}: give an expression, 'file.py:function' or a function, got {what!r}")
    return tuple(found)


class Measuring:
    """The measures of one simulation while it runs."""

    def __init__(self, measures: tuple[Measure, ...], worlds: int) -> None:
        self._worlds = worlds
        self._expressions = [(m, m.tree) for m in measures if isinstance(m, Expression)]
        self._functions = [(m, m.made()) for m in measures if isinstance(m, Function)]
        self._returned: dict[str, FloatArray] = {}
        self._reduced: dict[int, Reduced] = {}  # by the node of the call
        for _, tree in self._expressions:
            for node in ast.walk(tree):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in OVER_TIME:
                    name = node.func.id
                    if name == "last" and not _is_condition(node.args[0]):
                        name = "final"
                    self._reduced[id(node)] = Reduced(name, worlds)

    def look(self, sim: Simulation) -> None:
        """At the start and after each frame."""
        look, time = Look(sim), sim.time
        for expression, tree in self._expressions:
            for node in ast.walk(tree):
                if isinstance(node, ast.Call) and id(node) in self._reduced:
                    value = np.asarray(self._value(expression, node.args[0], look), np.float64)
                    self._reduced[id(node)].add(np.broadcast_to(value, (self._worlds,)), time)
        for function, call in self._functions:
            self._returned[function.measure] = function.called(call, sim)

    def results(self, sim: Simulation) -> dict[str, FloatArray]:
        """(worlds,) of each measure; quantities outside of functions over time are those of now."""
        look = Look(sim)
        with np.errstate(all="ignore"):
            found = {
                expression.measure: np.broadcast_to(
                    np.asarray(self._value(expression, tree, look), np.float64), (self._worlds,)
                )
                for expression, tree in self._expressions
            }
        return found | self._returned

    def _value(self, expression: Expression, node: ast.expr, look: Look) -> Any:
        if isinstance(node, ast.Constant):
            return float(node.value)  # type: ignore[arg-type]
        if isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
            return look.value(expression.quantity(node))
        if isinstance(node, ast.Call) and id(node) in self._reduced:
            return self._reduced[id(node)].result()

        def value(part: ast.expr) -> Any:
            return self._value(expression, part, look)

        with np.errstate(all="ignore"):  # nan and inf are answers
            if isinstance(node, ast.BinOp):
                return BINARY[type(node.op)](value(node.left), value(node.right))
            if isinstance(node, ast.UnaryOp):
                inner = value(node.operand)
                if isinstance(node.op, ast.Not):
                    return np.logical_not(inner)
                return -inner if isinstance(node.op, ast.USub) else inner
            if isinstance(node, ast.BoolOp):
                join = np.logical_and if isinstance(node.op, ast.And) else np.logical_or
                return join.reduce([np.broadcast_to(value(part), (self._worlds,)) for part in node.values])
            if isinstance(node, ast.Compare):
                parts = [value(part) for part in (node.left, *node.comparators)]
                held = [COMPARE[type(op)](a, b) for op, a, b in zip(node.ops, parts, parts[1:], strict=False)]
                return np.logical_and.reduce([np.broadcast_to(one, (self._worlds,)) for one in held])
            assert isinstance(node, ast.Call)
            assert isinstance(node.func, ast.Name)
            return AT_ONCE[node.func.id](value(node.args[0]))


def _is_condition(node: ast.expr) -> bool:
    negated = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    return negated or isinstance(node, ast.Compare | ast.BoolOp)
