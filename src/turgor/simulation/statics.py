"""Statics: the rest state of a whole scene, found directly and not by waiting.

A helper simulation of the same scene, in double precision and without damping and bounce, is relaxed by FIRE after each
of its substeps (step/quench.py). So gravity, gas, wind, pins, glue, walls, friction and contact are the engine's own,
and at rest only what can rest is left. What it finds is put into the simulation.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from turgor.errors import SceneError, UnstableError
from turgor.model.saved import restore, saved
from turgor.output.progress import waiting
from turgor.scene.scene import Scene
from turgor.scene.settings import Settings
from turgor.scene.validate import number
from turgor.simulation.failure import ensure_fine
from turgor.simulation.save import owners
from turgor.simulation.step.quench import Forces, Quench
from turgor.simulation.warn import silent

if TYPE_CHECKING:
    from turgor.simulation.simulation import Simulation

__all__ = ["TOLERANCE", "Settled", "equilibrium", "settling"]

FloatArray = npt.NDArray[np.float64]

TOLERANCE = 1e-4
ROUND = 64  # substeps between two looks at the forces
MOST = 100_000  # substeps
NEAR, PATIENCE = 0.3, 1500  # residual while contacts chatter, and substeps, before forces at rest are looked at
FAR = 100.0  # sizes of the scene: a body so far away from its start does not come to rest
ROUND_OFF = 1e-6  # of a spring as long as its edge: loads below are none
SHOW = 1.0  # s between two reports


@dataclass(frozen=True)
class Settled:
    """How a scene has come to rest."""

    residual: float  # the largest force that is left: see `Simulation.settle`
    iterations: int  # substeps of the relaxation
    converged: bool  # whether `residual` is within the tolerance
    body: str  # which has the largest residual; empty where there is none


def equilibrium(scene: Scene, device: str = "cpu", *, tolerance: float = TOLERANCE, **options: Any) -> Simulation:
    """A simulation of the scene at rest in its equilibrium: gravity, gas, wind, pins, glue, walls and contact balance.

    tolerance and what is raised where there is no equilibrium: as `Simulation.settle`. options: those of `Simulation`.
    """
    from turgor.simulation.simulation import Simulation

    sim = Simulation(scene, device, **options)
    sim.settle(tolerance)
    return sim


def settling(sim: Simulation, tolerance: float) -> Iterator[Settled]:
    """What `Simulation.settling` does."""
    wanted = number("tolerance", tolerance, above=0.0)
    ensure_fine(sim)
    _ensure_rest_is_possible(sim)
    if not sim.names:
        yield Settled(0.0, 0, True, "")
        return
    with waiting("looking for the equilibrium") as report:
        search = Search(_helper(sim), wanted, report)
        while not (found := search.go_on()).converged:
            yield found
    _put(sim, search.sim)
    yield found


def _ensure_rest_is_possible(sim: Simulation) -> None:
    walls, rigid = sim.state.walls, sim.state.rigid
    for name, sides in sim.model.walls.index.items():
        if any(np.any(getattr(walls, part).numpy()[sides]) for part in ("velocity", "spin")):
            raise SceneError(
                f"wall {name!r} moves, so the scene has no state of rest: set its velocity or spin to zero"
            )
    for index, body in enumerate(sim.model.rigids.bodies):
        moves = any(np.any(getattr(rigid, part).numpy()[index :: sim.model.rigids.count]) for part in ("v", "spin"))
        if body.kind == "kinematic" and moves:
            raise SceneError(
                f"rigid body {body.name!r} is driven, so the scene has no state of rest: set its velocity and spin to "
                "zero"
            )
    grabbed = np.any(sim.state.grab_vertex.numpy() >= 0) or np.any(rigid.grab_on.numpy())
    fixed = np.any(sim.model.inverse_mass.numpy() == 0.0) if sim.vertices else False
    still = any(body.kind != "dynamic" for body in sim.model.rigids.bodies)
    pulled = np.any(sim.model.gravity.numpy())
    if sim.names and pulled and not (sim.model.walls.count or grabbed or fixed or still):
        raise UnstableError(
            "the scene has no equilibrium: gravity pulls, and nothing holds its bodies, so that they fall for ever: "
            "add a ground (add_ground), pins or a static rigid body, or set gravity to zero"
        )


def _helper(sim: Simulation) -> Simulation:
    """The same scene in the same state, without damping and bounce, all of its gas pumped in; in double precision.

    A Monte Carlo volume is another one at each look and has no equilibrium but in the mean: that of the exact volume.
    """
    from turgor.simulation.simulation import Simulation

    scene = sim.scene.copy()
    for place, body in enumerate(scene.soft_bodies):
        random = body.volume == "monte-carlo"
        volume, samples = ("exact", None) if random else (body.volume, body.samples)
        gas = None if body.gas is None else replace(body.gas, pressure_at="rest")  # its amount is known by now
        scene.soft_bodies[place] = replace(body, settled=False, gas=gas, volume=volume, samples=samples)
    scene.simulation = Settings(
        solver="symplectic", contact=sim.settings.contact, precision="double", max_substeps=MOST
    )
    with silent():
        helper = Simulation(scene, sim.device, worlds=sim.worlds, assembly=sim.settings.assembly)
    model, state = helper.model, helper.state
    own = {name: getattr(model, name).numpy().copy() for name in ("method", "samples")}
    for (_, owner), (_, source) in zip(owners(helper), owners(sim), strict=True):
        restore(owner, saved(source))
    for name, values in own.items():
        getattr(model, name).assign(values)
    model.feels_air, model.rigids.feels_air = sim.model.feels_air, sim.model.rigids.feels_air
    without = (
        model.damping,
        model.viscosity,
        model.drag,
        model.decay,
        model.inflate,
        model.restitution,
        model.rigids.restitution,
    )
    for array in (*without, model.walls.restitution, state.grab_damping, state.rigid.grab_damping):
        array.zero_()
    for array in (state.clock, state.dt, state.pace):
        array.zero_()
    helper.engine.changed()
    return helper


def _put(sim: Simulation, helper: Simulation) -> None:
    """The rest state of the helper into the simulation, at its own time."""
    for mine, found in ((sim.state, helper.state), (sim.state.rigid, helper.state.rigid)):
        for name in ("x", "q", "v", "spin", "angular"):
            if hasattr(mine, name):
                getattr(mine, name).assign(getattr(found, name).numpy())
    sim.model.inflate.zero_()
    sim.engine.changed()
    if sim.engine.split is not None:
        sim.engine.split.place_points()


class Search:
    """The way of a helper simulation to rest."""

    def __init__(self, sim: Simulation, tolerance: float, report: Callable[[str], None]) -> None:
        self.sim, self.tolerance, self.report = sim, tolerance, report
        self.quench = Quench(sim.engine, ROUND)
        self.iterations = self._looked = 0  # substeps: in all, and at the last look at the forces at rest
        self._shown = time.perf_counter()
        model, rigids, worlds = sim.model, sim.model.rigids, sim.worlds
        self.mass, self.size = self.quench.mass, self.quench.size
        self.names = [body.name for body in (*model.bodies * worlds, *rigids.bodies * worlds)]
        self.start = self._places()
        points = [self.start - model.anchor, sim.state.walls.point.numpy()]
        self.reach = float(np.linalg.norm(np.ptp(np.concatenate(points), axis=0)) + self.size.max(initial=0.0))

    def go_on(self) -> Settled:
        """A look at the forces, and a round of substeps if they are not within the tolerance yet.

        UnstableError if they do not get there.
        """
        residual, worst = self._residual(self.quench.left())
        if residual <= self.tolerance or (residual <= NEAR and self.iterations - self._looked >= PATIENCE):
            residual, worst = self._residual(self.quench.left_at_rest(self._advance))
            self._looked = self.iterations
            if residual <= self.tolerance:
                self.quench.stop()
                return Settled(residual, self.iterations, True, self.names[worst])
        if self.iterations >= MOST:
            raise UnstableError(self._no_rest(worst, f"after {self.iterations:,} substeps of relaxation"))
        if time.perf_counter() - self._shown > SHOW:
            self._shown = time.perf_counter()
            self.report(f"substep {self.iterations:,} of at most {MOST:,}, residual {residual:.3g}")
        self._advance()
        return Settled(residual, self.iterations, False, self.names[worst])

    def _advance(self) -> None:
        """A round of substeps."""
        try:
            self.sim.engine.replay.run()
            ensure_fine(self.sim)
        except UnstableError as error:
            raise UnstableError(f"the scene has no equilibrium that could be found: {error}") from None
        self.iterations += self.sim.substeps
        far = np.linalg.norm(self._places() - self.start, axis=1)
        if not np.all(far < FAR * self.reach):
            raise UnstableError(self._no_rest(int(far.argmax()), f"and has gone {far.max():.3g} m"))

    def _residual(self, left: Forces) -> tuple[float, int]:
        """The largest share, and whose it is."""
        largest, net = left
        soft = self.sim.engine.bodies
        stiffness = self.sim.model.skin_stiffness.numpy()
        loads = np.maximum(self.quench.largest_loads(), ROUND_OFF * stiffness * self.size[:soft])
        weight = np.linalg.norm(self.quench.weight, axis=1)
        most = float(loads.max(initial=0.0)) or 1.0
        on_body = np.where(weight > 0.0, weight, most)
        on_part = np.concatenate([loads, (on_body * self.size)[soft:]])
        shares = np.where(self.mass > 0.0, np.maximum(net / on_body, largest / on_part), 0.0)
        worst = int(shares.argmax())
        return float(shares[worst]), worst

    def _places(self) -> FloatArray:
        """(bodies, dim) m: a point of each body."""
        model, state = self.sim.model, self.sim.state
        first = np.arange(self.sim.worlds)[:, None] * model.vertices + model.starts[None, :-1]
        points = state.x.numpy()[first.ravel().astype(int)].reshape(-1, self.sim.scene.dim)
        return np.concatenate([points, state.rigid.x.numpy().reshape(-1, self.sim.scene.dim)]) + model.anchor

    def _no_rest(self, worst: int, when: str) -> str:
        falls = self.quench.left().net[worst] > 0.9 * float(np.linalg.norm(self.quench.weight[worst])) > 0.0
        does, remedy = (
            ("falls", "add a ground, pins or a static rigid body below it")
            if falls
            else (
                "still moves",
                "it may slide or roll (raise friction, or close the scene with walls), blow up (raise its stiffness, "
                "or lower the gas pressure), or chatter between others (raise the tolerance)",
            )
        )
        return f"the scene has no equilibrium that could be found: body {self.names[worst]!r} {does} {when}: {remedy}"
