"""Where a body comes to rest alone, without gravity, walls and motion: for several skins and fillings at once.

They are worlds of one simulation, in which each goes its own way and stops at its own time: its equilibrium is the
same, to the last bit, whoever its companions are.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from turgor.errors import UnstableError
from turgor.output.progress import waiting
from turgor.scene.data import SoftBody, Springs
from turgor.scene.scene import Scene
from turgor.scene.swelling import skin_stiffness
from turgor.scene.units import units_doubt
from turgor.simulation.step.relaxation import Relaxation
from turgor.simulation.warn import silent

if TYPE_CHECKING:
    from turgor.simulation.simulation import Simulation

__all__ = ["Equilibrium", "equilibria", "stiffer"]

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

STEPS, STEPS_PER_EDGE = 20_000, 200  # at most: in all, and per edge across the body, as waves have to cross it
TOLERANCE = 1e-5  # of the largest force on a vertex at the start
ROUND_OFF = 1e-10  # of the force of a spring or of the gas at a vertex: a body at rest already has only round-off
ROUND = 10  # steps between two looks: at the forces, and at the longest stable step, which follows the shape
FURTHEST = 0.05  # edges that a vertex moves in a step: the stable step is that of the shape of now
FAR = 1e3  # sizes of the body: a vertex that is further away has no equilibrium to go to
BURST = 20.0  # the same where a pump holds the pressure: a skin of springs then yields more the larger it is
SHAKE = 0.01  # edges
TOGETHER = 2**17  # vertices that are relaxed at once, at most
SHOW = 1.0  # s between two reports

log = logging.getLogger("turgor")


class Equilibrium(NamedTuple):
    """Of springs and gas of a body at the origin."""

    positions: FloatArray  # (vertices, dim) m
    volume: float  # m³ (m² in 2D), by the body's own method


def equilibria(
    bodies: Sequence[SoftBody], threads: int | str, shaken: bool = False
) -> list[Equilibrium | UnstableError]:
    """Of bodies at the origin that differ only in what worlds may have of their own, or why there is none.

    shaken: from vertices that are moved a little, as a symmetric start can end where it balances but does not hold.
    A Monte Carlo volume is another one at each look and has no equilibrium but in the mean: that of the exact volume.
    """
    if not bodies:
        return []
    still = [_still(body) for body in bodies]
    many = max(TOGETHER // max(len(still[0].shape.vertices), 1), 1)
    found: list[Equilibrium | UnstableError] = []
    with waiting(f"settling {bodies[0].name!r}") as report:
        for first in range(0, len(still), many):
            found += _relaxed(still[first : first + many], threads, shaken, report)
    return found


def _still(body: SoftBody) -> SoftBody:
    """Without what only acts on motion."""
    still = replace(
        body, drag=0.0, velocity_damping=None, drag_coefficient=0.0, drag_tangential=0.0, wind_drag=None
    )  # fmt: skip
    if body.membrane is None:
        still = replace(still, springs=Springs(stiffness=body.springs.stiffness))
    else:
        still = replace(still, material=replace(body.membrane, damping=0.0))
    if body.volume == "monte-carlo":
        still = replace(still, volume="exact", samples=None)
    return still


def _relaxed(
    bodies: Sequence[SoftBody], threads: int | str, shaken: bool, report: Callable[[str], None]
) -> list[Equilibrium | UnstableError]:
    """Where all forces are below the tolerance. Those that take long go on among themselves."""
    found: dict[int, Equilibrium | UnstableError] = {}
    left = np.arange(len(bodies))
    search = _Search(bodies, threads, shaken, report)
    while True:
        search.run()
        found |= {int(left[place]): one for place, one in search.ended()}
        going = np.flatnonzero(search.going)
        if not len(going):
            return [found[number] for number in range(len(bodies))]
        left = left[going]
        search = search.of(going)


class _Search:
    """Bodies on the way to equilibrium, as worlds of one simulation."""

    def __init__(
        self, bodies: Sequence[SoftBody], threads: int | str, shaken: bool, report: Callable[[str], None]
    ) -> None:
        self.bodies, self.threads, self.report = bodies, threads, report
        body = bodies[0]
        sim = _simulation(bodies, threads)
        self.view = sim[body.name]
        self.relaxation = Relaxation(sim.engine, FURTHEST * _mean_edge(body))
        self.going: BoolArray = np.ones(len(bodies), bool)
        self.lost: dict[int, str] = {}  # why there is no equilibrium
        self.step = 0
        if shaken:
            moves = SHAKE * _mean_edge(body) * np.random.default_rng(0).standard_normal(body.shape.vertices.shape)
            moves[body.pinned] = 0.0
            self.view.positions = self.view.positions + moves
        pressures = np.atleast_1d(self.view.pressure)
        least = [ROUND_OFF * _rough_force(*pair) for pair in zip(bodies, pressures, strict=True)]
        self.force = self.relaxation.largest_forces()
        self.limit = np.maximum(TOLERANCE * self.force, least)
        held = body.gas is not None and body.gas.held
        self.far = (BURST if held else FAR) * float(np.linalg.norm(np.ptp(body.shape.vertices, axis=0)))
        self.most = max(STEPS, STEPS_PER_EDGE * round(len(body.shape.vertices) ** (1.0 / (body.dim - 1))))

    def run(self) -> None:
        """Until all have ended, or half of several have."""
        shown = time.perf_counter()
        few = len(self.bodies) // 2
        while self.step < self.most and np.count_nonzero(self.going) > few:
            self._look()
            if not self.going.any():
                return
            if time.perf_counter() - shown > SHOW:
                shown = time.perf_counter()
                beyond = (self.force / self.limit)[self.going].max()
                several = f"{np.count_nonzero(self.going):,} bodies, " if len(self.bodies) > 1 else ""
                text = f"{several}step {self.step:,} of at most {self.most:,}, largest force {beyond:.3g}"
                self.report(f"{text} times the tolerance")
            self.force = self.relaxation.run(ROUND, self.going)
            self.step += ROUND
        if self.step >= self.most:
            for world in np.flatnonzero(self.going):
                beyond = self.force[world] / self.limit[world]
                what = f"still had {beyond:.2g} times the allowed force after {self.most:,} steps of relaxation"
                self.lost[int(world)] = what
            self.going[:] = False

    def _look(self) -> None:
        """Who has arrived, and who never will."""
        if (self.going & (self.force <= self.limit)).any():
            arrived = self.going & (self.force <= self.limit) & (self.relaxation.largest_forces() <= self.limit)
            log.debug("settled %d of %r in %d steps", np.count_nonzero(arrived), self.bodies[0].name, self.step)
            self.going &= ~arrived
        reach = np.abs(self.view.positions).reshape(len(self.bodies), -1).max(axis=1)
        flown = self.going & ~(np.isfinite(self.force) & (reach < self.far))
        self.lost |= {int(w): f"flew apart after {self.step:,} steps of relaxation" for w in np.flatnonzero(flown)}
        self.going &= ~flown

    def ended(self) -> Iterator[tuple[int, Equilibrium | UnstableError]]:
        places = self.view.positions.reshape(len(self.bodies), -1, self.bodies[0].dim)
        volumes = np.atleast_1d(self.view.volume)
        for world in map(int, np.flatnonzero(~self.going)):
            if world in self.lost:
                yield world, UnstableError(_no_equilibrium(self.bodies[world], self.lost[world]))
            else:
                yield world, Equilibrium(places[world], float(volumes[world]))

    def of(self, worlds: npt.NDArray[np.intp]) -> _Search:
        """These alone, from where they are."""
        rest = _Search([self.bodies[world] for world in worlds], self.threads, False, self.report)
        rest.relaxation.follow(self.relaxation, worlds)
        rest.step, rest.force, rest.limit = self.step, self.force[worlds], self.limit[worlds]
        return rest


def _simulation(bodies: Sequence[SoftBody], threads: int | str) -> Simulation:
    from turgor.simulation.simulation import Simulation

    scenes = []
    for body in bodies:
        scene = Scene(dim=body.dim, gravity=(0.0,) * body.dim, name="settle")
        scene.add(replace(body, name=bodies[0].name))
        scenes.append(scene)
    several = scenes if len(scenes) > 1 else None
    with silent():
        return Simulation(
            scenes[0], solver="symplectic", precision="double", contact="none", threads=threads, variants=several
        )


def _no_equilibrium(body: SoftBody, what: str) -> str:
    known = body.volume == "exact" or (body.gas is not None and body.gas.held)
    estimate = "" if known else f", or use volume = 'exact' instead of {body.volume!r}"
    doubt = units_doubt(body)
    units = f"it {doubt}; if its size is meant, " if doubt else ""
    return (
        f"body {body.name!r} found no equilibrium of springs and gas before the start (settled = true): it {what}; "
        f"{units}its skin may be too soft for its pressure: leave settled out, raise {stiffer(body)}, or lower "
        f"the gas pressure{estimate}"
    )


def _mean_edge(body: SoftBody) -> float:
    ends = body.shape.vertices[body.shape.edges]
    return float(np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1).mean())


def _rough_force(body: SoftBody, pressure: float) -> float:
    """N: about what a spring as long as its edge, and the gas on the faces around a vertex, can do."""
    edge = _mean_edge(body)
    return skin_stiffness(body) * edge + abs(pressure) * edge ** (body.dim - 1)


def stiffer(body: SoftBody) -> str:
    """What to raise for a stiffer skin."""
    return "springs.stiffness" if body.membrane is None else "material.thickness or material.young"
