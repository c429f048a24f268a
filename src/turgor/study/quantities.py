"""Quantities of a simulation by name: `ball.center.z`, `energy.total`, `contacts.count`, `time`; a number per world."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from turgor.errors import SceneError, did_you_mean
from turgor.scene.data import Body, SoftBody
from turgor.scene.rigid import RigidBody
from turgor.scene.scene import Scene

if TYPE_CHECKING:
    from turgor.simulation.simulation import Simulation

__all__ = ["LEDGER", "Look", "check_quantity"]

FloatArray = npt.NDArray[np.float64]
Read = Callable[[Any, int], Any]  # of a view and the number of worlds: (worlds,) or (worlds, dim)

AXES = "xyz"
ENERGY = ("kinetic", "elastic", "gas", "gravity", "total", "dissipated", "work")  # J
LEDGER = ("dissipated", "work")  # of them, those that the simulation has to sum up
CONTACTS = ("count", "penetration")  # number of contacts; m, the deepest


def _own(name: str) -> Read:
    return lambda view, worlds: getattr(view, name)


def _speed(view: Any, worlds: int) -> Any:
    return np.linalg.norm(np.reshape(view.velocity, (worlds, -1)), axis=1)


def _largest(name: str) -> Read:
    return lambda view, worlds: np.reshape(getattr(view, name), (worlds, -1)).max(axis=1)


VECTORS: Mapping[str, Read] = {name: _own(name) for name in ("center", "velocity", "momentum")}
ANY: Mapping[str, Read] = {"mass": _own("mass"), "speed": _speed, "lowest": _own("lowest"), "highest": _own("highest")}
CLOSED: Mapping[str, Read] = {
    "volume": _own("volume"), "rest_volume": _own("rest_volume"), "pressure": _own("pressure"),
    "gauge": _own("gauge_pressure"), "temperature": _own("temperature"), "nRT": _own("nRT"),
}  # fmt: skip
SKIN: Mapping[str, Read] = {
    "stretch": _largest("stretch"), "stress": _largest("stress"), "tension": _largest("tension"),
}  # fmt: skip


def _known(body: Body | RigidBody) -> tuple[dict[str, Read], dict[str, Read]]:
    """(numbers, vectors) that a body has."""
    if isinstance(body, RigidBody):
        spin = {"spin": _own("spin")}
        return {**ANY, **(spin if body.dim == 2 else {})}, {**VECTORS, **(spin if body.dim == 3 else {})}
    numbers = {**ANY, **(CLOSED if isinstance(body, SoftBody) else {}), **(SKIN if body.membrane is not None else {})}
    return numbers, dict(VECTORS)


def check_quantity(scene: Scene, name: tuple[str, ...]) -> None:
    """SceneError where the scene has no such quantity."""
    head, *rest = name
    whole = ".".join(name)
    if head == "time" and not rest:
        return
    bodies: dict[str, Body | RigidBody] = {body.name: body for body in scene.bodies}
    bodies |= {body.name: body for body in scene.rigid_bodies}
    if head in bodies:
        numbers, vectors = _known(bodies[head])
        axes = [*AXES[: scene.dim], *map(str, range(scene.dim))]
        if len(rest) == 1 and rest[0] in numbers:
            return
        if len(rest) == 2 and rest[0] in vectors and rest[1] in axes:
            return
        if len(rest) == 2 and rest[0] in vectors and rest[1] in AXES:
            raise SceneError(f"{whole}: a scene in {scene.dim}D has no {rest[1]}; use {' or '.join(AXES[: scene.dim])}")
        if rest and rest[0] in vectors:
            raise SceneError(f"{whole}: it is a vector; take a part of it: {head}.{rest[0]}.{AXES[scene.dim - 1]}")
        if rest and rest[0] in numbers:
            raise SceneError(f"{whole}: {head}.{rest[0]} is a number and has no parts")
        known = [*vectors, *numbers]
        hint = did_you_mean(rest[0], known) if rest else f"known: {', '.join(known)}"
        raise SceneError(f"{whole}: {head!r} has no such quantity; {hint}")
    for group, known_names in (("energy", ENERGY), ("contacts", CONTACTS)):
        if head == group:
            if len(rest) == 1 and rest[0] in known_names:
                return
            hint = did_you_mean(rest[0] if rest else "", known_names)
            raise SceneError(f"{whole}: there is no such quantity; {hint}")
    hint = did_you_mean(head, [*bodies, "energy", "contacts", "time"])
    raise SceneError(f"{whole}: the scene has no {head!r}; {hint}")


class Look:
    """Quantities of a simulation at one time, each read once."""

    def __init__(self, sim: Simulation) -> None:
        self._sim, self._known = sim, dict[tuple[str, ...], FloatArray]()

    def value(self, name: tuple[str, ...]) -> FloatArray:
        """(worlds,)"""
        if name not in self._known:
            found = np.asarray(self._read(name), np.float64)
            self._known[name] = np.broadcast_to(found, (self._sim.worlds,))
        return self._known[name]

    def _read(self, name: tuple[str, ...]) -> Any:
        sim, (head, *rest) = self._sim, name
        if head == "time" and not rest:
            return sim.time
        if head in sim.names:
            body: Any = sim.scene[head]
            numbers, vectors = _known(body)
            if len(rest) == 1:
                return numbers[rest[0]](sim[head], sim.worlds)
            rows = np.reshape(vectors[rest[0]](sim[head], sim.worlds), (sim.worlds, -1))
            return rows[:, AXES.index(rest[1]) if rest[1] in AXES else int(rest[1])]
        if head == "energy":
            if ("energy",) not in self._known:
                energy = sim.energy()
                for part in ENERGY:
                    self._known["energy", part] = np.atleast_1d(np.asarray(getattr(energy, part), np.float64))
                self._known["energy",] = np.zeros(sim.worlds)
            return self._known["energy", rest[0]]
        contacts = sim.contacts()
        worlds = np.asarray(contacts.worlds, int)
        deepest = np.zeros(sim.worlds)
        np.maximum.at(deepest, worlds, np.nan_to_num(contacts.depths))
        self._known["contacts", "count"] = np.bincount(worlds, minlength=sim.worlds).astype(float)
        self._known["contacts", "penetration"] = deepest
        return self._known["contacts", rest[0]]
