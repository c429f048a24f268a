"""The history of a world's changes: what each was, and how the world was described before and after. No browser.

A scene is never changed in place (`World`), so a step keeps two scenes, which share all bodies that stay the same. What
happens in one go is one step (`together`); so is a slider that is dragged: changes of the same values that follow each
other within REST seconds. `world/undo.py` goes back and forth.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

from turgor.scene.scene import HEAD, Scene, Thing
from turgor.shapes.shape import Shape
from turgor.viewer.world.motion import Motion

if TYPE_CHECKING:
    from turgor.viewer.world.world import World

__all__ = ["ADDED", "GLUE", "OPENED", "REMOVED", "History", "Mark", "Step", "differences", "one_step"]

Method = TypeVar("Method", bound=Callable[..., Any])

STEPS = 50  # that are kept
MAX_BYTES = 64 << 20  # of the motion of bodies that were taken away, in all steps
REST = 1.0  # s: a change of the same values that comes later than this is a step of its own
OPENED, ADDED, REMOVED, GLUE, PINS = "opened", "+", "-", "attachments", "pins"
SINGLE = (OPENED, ADDED, REMOVED, GLUE)  # beginnings of keys that are a step each time


@dataclass(frozen=True)
class Mark:
    """How a world is described: now, as it was opened, and what was added since, as it came."""

    scene: Scene
    opened: Scene
    came: dict[str, Thing]

    @classmethod
    def of(cls, world: World) -> Mark:
        """As it is now."""
        return cls(world.scene, world.opened, world.came)


@dataclass(frozen=True)
class Step:
    """One change, and the bodies that are in only one of its descriptions, as they moved when they went."""

    before: Mark
    after: Mark
    keys: frozenset[str]
    time: float = 0.0  # s
    gone: dict[str, Motion] = field(default_factory=dict)

    @property
    def words(self) -> str:
        """What it did, for a person."""
        if OPENED in self.keys:
            return f"open {self.after.scene.name or 'a scene'}"
        for sign, verb in ((ADDED, "add"), (REMOVED, "remove")):
            if names := sorted(key[1:] for key in self.keys if key.startswith(sign)):
                return f"{verb} {' and '.join(names[:2])}{' …' if len(names) > 2 else ''}"
        if GLUE in self.keys:
            return "glue" if len(self.after.scene.attachments) > len(self.before.scene.attachments) else "unglue"
        heads, values = (
            sorted({part for part in parts if part}) for parts in zip(*map(_named, self.keys), strict=True)
        )
        what = values[0] if len(values) == 1 else f"{len(values)} values"
        whose = f" of {heads[0]}" if len(heads) == 1 else f" of {len(heads)} bodies" if heads else ""
        return f"change {what}{whose}"


class History:
    """What was changed, and what was taken back. Belongs to the world's thread."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self.done: list[Step] = []
        self.undone: list[Step] = []
        self._before: Mark | None = None  # of the step that is being made
        self._gone: dict[str, Motion] = {}
        self._going_on = False  # whether the next change may belong to the last step
        self._single = False  # whether none may belong to the one that is being made

    @contextmanager
    def together(self, world: World) -> Iterator[None]:
        """What changes inside is one step, also when it ends with an error: what has changed can be taken back."""
        if self._before is not None:
            yield
            return
        self._before, self._gone, self._single = Mark.of(world), {}, False
        try:
            yield
        finally:
            before, self._before = self._before, None
            self._note(before, Mark.of(world))

    def leave(self, world: World, scene: Scene) -> None:
        """Another scene is about to be simulated: keep how those bodies move that are not in it."""
        if self._before is not None:
            names = [name for name in world.sim.names if name not in scene.names]
            self._gone |= Motion.of(world.sim, names)

    def end_drag(self) -> None:
        """What changes now, and next, are steps of their own."""
        self._going_on = False
        self._single = self._before is not None

    def taken(self, world: World) -> dict[str, Motion]:
        """A step was taken back, or done again, and is no new one; the bodies that went with it."""
        gone, self._gone = self._gone, {}
        self.end_drag()
        if self._before is not None:
            self._before = Mark.of(world)
        return gone

    def _note(self, before: Mark, after: Mark) -> None:
        if before.scene is after.scene:
            return
        keys = differences(before, after)
        if not keys:  # a reset, or a change that was taken back at once
            return
        now, last = self.clock(), self.done[-1] if self.done and self._going_on else None
        if last is not None and _coarse(last.keys) == _coarse(keys) and _may_go_on(keys) and now - last.time <= REST:
            self.done[-1] = replace(last, after=after, keys=last.keys | keys, time=now)
            if not differences(last.before, after):
                self.done.pop()
        else:
            self.done.append(Step(before, after, keys, now, {} if OPENED in keys else self._gone))
        self._going_on = not self._single
        self.undone.clear()
        self._forget()

    def _forget(self) -> None:
        """The oldest, when there are too many or they are too large."""
        while len(self.done) > STEPS or (
            len(self.done) > 1 and sum(motion.nbytes for step in self.done for motion in step.gone.values()) > MAX_BYTES
        ):
            del self.done[0]


def one_step(method: Method) -> Method:
    """What a method of the world changes is one step."""

    @wraps(method)
    def stepped(world: World, *arguments: Any, **options: Any) -> Any:
        with world.history.together(world):
            return method(world, *arguments, **options)

    return cast(Method, stepped)


def _coarse(keys: frozenset[str]) -> set[str]:
    """What a slider changes: gas and material get other fields at its first move, as moles instead of a gauge."""
    parts = (key.split(".") for key in keys)
    return {".".join(part[:2] if part[1:2] in (["gas"], ["material"]) else part) for part in parts}


def _may_go_on(keys: frozenset[str]) -> bool:
    return not any(key.startswith(SINGLE) or key.endswith(f".{PINS}") for key in keys)


def _named(key: str) -> tuple[str, str]:
    """Of what, and which value: ("ball", "stiffness") of "ball.springs.stiffness"."""
    head, *rest = key.split(".")
    if not rest:
        return "", head.replace("_", " ")
    value = rest[0] if rest[0] in ("gas", "material") else rest[-1].replace("_", " ")
    return ("" if head == "simulation" else head), value


def differences(before: Mark, after: Mark) -> frozenset[str]:
    """Paths of the values that differ, as `Scene.set` takes them; "+name" and "-name" of what came and went."""
    keys = {OPENED} if before.opened is not after.opened else set()
    old, new = before.scene, after.scene
    for key in (*HEAD, "simulation", GLUE):
        keys |= set(_paths(key, getattr(old, key), getattr(new, key)))
    names = set(old.names), set(new.names)
    keys |= {f"{ADDED}{name}" for name in names[1] - names[0]} | {f"{REMOVED}{name}" for name in names[0] - names[1]}
    for name in names[0] & names[1]:
        keys |= set(_paths(name, old[name], new[name]))
    return frozenset(keys)


def _paths(path: str, one: Any, other: Any) -> Iterator[str]:
    if one is other:
        return
    if isinstance(one, Shape) and isinstance(other, Shape):
        if one.recipe != other.recipe:
            yield path
    elif is_dataclass(one) and type(one) is type(other):
        for entry in fields(one):
            yield from _paths(f"{path}.{entry.name}", getattr(one, entry.name), getattr(other, entry.name))
    elif one != other:
        yield path
