"""A world that moves fewer than ten times a second: what is slow, and what could be done. No browser.

Frames of a slow world are made shorter (`World.adapt_frame_length`), so that only very slow ones get here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from turgor.errors import TurgorError
from turgor.scene.data import Body, SoftBody
from turgor.shapes.doctor import check
from turgor.shapes.simplify import simplified
from turgor.viewer.world.rates import STREAM_SHARE, Rates
from turgor.viewer.world.world import World

__all__ = ["Remedy", "Slowness", "coarser", "reason"]

Remedy = tuple[str, Callable[[], None]]  # what a button says, and what it does, on the world's thread

LONGEST = 0.1  # s: of one update; a longer one is slow
PATIENCE = 1.0  # s that it is slow before that is said
CALM = 5.0  # s that it is quick before it is said again
MANY_SUBSTEPS, MANY_CONTACTS = 60, 100  # per frame of 1/60 s; points: what is worth naming
COARSE = 100  # vertices of a body that is coarse enough


@dataclass
class Slowness:
    """Watches a world's rates. Belongs to the world's thread."""

    world: World
    rates: Rates
    sentence: str = ""  # what is slow; empty while nothing is
    _since: float | None = None  # s: when it became slow
    _quick: float | None = None  # s: when it became quick again
    _version: int = field(init=False)  # of the world: to build another takes time, which is no slowness

    def __post_init__(self) -> None:
        self._version = self.world.version

    def look(self, now: float) -> bool:
        """Call some times per second with the time (s); whether it has become slow, and that is to be said."""
        built, self._version = self._version != self.world.version, self.world.version
        if built or not self._is_slow():
            self._since = None
            self._quick = self._quick if self._quick is not None else now
            if now - self._quick > CALM:
                self.sentence = ""
            return False
        self._quick = None
        self._since = self._since if self._since is not None else now
        if self.sentence or now - self._since < PATIENCE:
            return False
        self.sentence = reason(self.world, self.rates)
        return True

    def _is_slow(self) -> bool:
        """Whether frames, their drawing, or all together leave more than LONGEST between two pictures."""
        rates, wanted = self.rates, self.world.speed * self.world.sim.settings.fps
        gap = rates.update_gap if 0.5 * wanted > 1.0 / LONGEST else 0.0  # in slow motion there are few
        return self.world.playing and max(rates.frame_seconds, rates.update_seconds, gap) > LONGEST

    @property
    def remedies(self) -> list[Remedy]:
        """What could be done, each with what a button for it says."""
        found: list[Remedy] = []
        if self.world.sim.solver != "implicit" and self.world.sim.substeps >= MANY_SUBSTEPS:
            found.append(("Fast solver", lambda: self.world.change("simulation.solver", "implicit")))
        if any(_can_be_coarser(self.world, body) for body in self.world.scene.bodies):
            found.append(("Half as many vertices, from the beginning", lambda: coarser(self.world)))
        return found


def reason(world: World, rates: Rates) -> str:
    """Why a world is slow, in a sentence."""
    sim, drawing = world.sim, rates.update_seconds / STREAM_SHARE
    if rates.update_gap > 2.0 * max(rates.frame_seconds, drawing):
        return (
            f"This computer is busy with something else: {_duration(rates.update_gap)} from picture to picture, "
            f"though a frame takes {_duration(rates.frame_seconds)}."
        )
    if drawing > rates.frame_seconds:
        return (
            f"Drawing {sim.vertices:,} vertices takes {_duration(rates.update_seconds)} for each picture, and gets a "
            "third of the time."
        )
    contacts = sim.contacts()
    bodies = len(world.scene.bodies) + len(world.scene.rigid_bodies)
    parts = [f"{bodies} bodies of {sim.vertices:,} vertices" if bodies > 1 else f"a body of {sim.vertices:,} vertices"]
    if contacts.count >= MANY_CONTACTS:
        parts.append(f"{contacts.count:,} points in contact")
    if sim.solver == "implicit":
        need = "steps of the implicit solver"
    else:
        per_second = sim.substeps * sim.settings.fps
        need = f"{sim.substeps:,} substeps a frame ({per_second:,.0f} for a second)"
    what = " with ".join(parts)
    what = what[0].upper() + what[1:]
    return f"{what} need{'' if bodies > 1 else 's'} {need}: {_duration(rates.frame_seconds)} for each picture."


def coarser(world: World) -> None:
    """All soft bodies with half the vertices, from the beginning; pinned and glued ones stay as they are."""
    scene, changed = world.scene.copy(), False
    for body in scene.bodies:
        if not _can_be_coarser(world, body):
            continue
        shape = body.shape
        try:
            report = check(
                simplified(shape.vertices, shape.faces.astype("int64"), len(shape.vertices) // 2), cloth=False
            )
        except TurgorError:
            continue
        if len(report.shapes) == 1:
            scene.set(f"{body.name}.shape", report.shapes[0])
            changed = True
    if changed:
        world.open(scene)


def _can_be_coarser(world: World, body: Body) -> bool:
    free = len(body.pinned) == 0 and not any(body.name == entry.body for entry in world.scene.attachments)
    return isinstance(body, SoftBody) and body.shape.dim == 3 and free and len(body.shape.vertices) > COARSE


def _duration(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds >= 0.95 else f"{1000 * seconds:.0f} ms"
