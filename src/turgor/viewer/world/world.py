"""The world of the playground: a scene that runs and can be changed while it runs. No browser in here.

It belongs to one thread. The scene always holds the parameters of now, so that it can be written to a file; a change
goes into the scene first (which checks it) and then into the simulation: live where the engine can, else the
simulation is rebuilt (some 40 ms for five balls) and goes on from its state.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from turgor.errors import SceneError, UnstableError
from turgor.output.frame import Frame, Layout
from turgor.scene.data import Body, SoftBody
from turgor.scene.gas import Gas
from turgor.scene.scene import Scene, Thing
from turgor.simulation.choice import AUTO, needed_substeps
from turgor.simulation.rebuild import rebuilt
from turgor.simulation.simulation import Simulation
from turgor.viewer.world.fillings import Fillings
from turgor.viewer.world.grabs import Grabs
from turgor.viewer.world.history import ADDED, GLUE, REMOVED, History, Mark, differences, one_step
from turgor.viewer.world.live_changes import change_live
from turgor.viewer.world.plates import Plates
from turgor.viewer.world.resting import Resting

__all__ = ["World"]

BACKLOG = 6  # frames at most that are made up for in one go; what is later than that is dropped
TURN = 0.012  # s of one go after which the page is to be served first
SLOW, QUICK = 0.03, 0.006  # s that a frame may take before frames are made shorter, and less than which they are longer
PATIENCE = 12  # frames in a row that are slow or quick before that is done
FINEST = 8  # times as many frames per second as the scene asks for, at most
MAX_VERTICES = 200_000  # of the whole scene

COLOR = ("color",)


class World:
    """A scene that runs. Its settings are `scene.simulation`, and the simulation runs with them.

    `sim` is one object for as long as the world lives: a user who gave it to the playground still has the running one.
    """

    def __init__(self, scene: Scene | Simulation, device: str = "cpu") -> None:
        """Of a scene; or of a simulation, which goes on from where it is."""
        given = isinstance(scene, Simulation)
        if isinstance(scene, Simulation):
            self.sim = scene
        else:
            _check_size(scene, "the scene")
            self.sim = Simulation(scene, device)
            self.sim.prepare()
        self._sleepy = not given  # whether "auto" lets bodies sleep: not in a user's own simulation
        self.let_sleep()
        self.scene = self.sim.scene.copy()
        self.scene.simulation = self.sim.settings.of_scene()
        self.opened = self.scene.copy()  # as it was
        self.came: dict[str, Thing] = {}  # what was added since, as it came
        self.playing = True
        self.speed = 1.0  # simulated seconds per second
        self.version = 1  # grows when there are other bodies or walls
        self.ticks = 1  # grows with every new state
        self.starts = 0  # grows when it is back at a beginning
        self.scenes = 0  # grows when another scene is opened
        self.watchers: list[Callable[[Frame], None]] = []  # called with every frame that is simulated
        self.picture_center: Callable[[], Any] = lambda: (
            None
        )  # (dim,) m: what is in the middle of the picture, if known
        self.history = History()
        self.plates = Plates()  # that are being moved
        self._grabs = Grabs()
        self._fillings = Fillings()
        self._resting: Resting | None = None  # while it is on its way to rest
        self._due = 0.0  # simulated seconds that are to be run
        self._frame: Frame | None = None
        self._division = 1  # frames that are simulated for each that the scene asks for
        self._finest = 1 if given else FINEST  # a frame of a user's own simulation stays as long as it was
        self._odd = 0  # frames in a row that took long (positive), or little time (negative)

    # the scene ------------------------------------------------------------------------------------------------------

    @one_step
    def open(self, scene: Scene) -> None:
        """Start with another scene. If it cannot be built, the old one goes on."""
        _check_size(scene, "the scene")
        self._restart(scene)
        self.scenes += 1
        self.opened = scene.copy()
        self.came = {}

    def reset(self) -> None:
        """Back to the beginning, with the parameters of now."""
        self._restart(self.scene)

    @one_step
    def restore(self) -> None:
        """Back to the beginning, with the parameters of the beginning."""
        self.history.end_drag()
        self.history.leave(self, self.opened)
        self._restart(self.opened)

    def _restart(self, scene: Scene) -> None:
        scene = scene.copy()
        self.sim.rebuild(scene, settings=scene.simulation, restart=True)
        self.let_sleep()
        self.scene, self._division, self._odd = scene, 1, 0
        self._grabs = Grabs()
        self._fillings.end()
        self.plates.end()
        self.starts += 1
        self._renewed(bodies=True)

    def let_sleep(self) -> None:
        """Let bodies at rest sleep, unless the scene says that they must not."""
        wanted = self.sim.settings.sleeping
        self.sim.sleeping = self._sleepy if wanted == AUTO else wanted is True

    @property
    def ledger(self) -> bool:
        """Whether losses and work are summed up."""
        return self.sim.settings.ledger

    @property
    def state(self) -> tuple[int, int, int]:
        """Differs when there is something new to see; the first part when there are other bodies or walls."""
        return self.version, self.ticks, self.sim.frame_index

    @property
    def layout(self) -> Layout:
        """What does not change from frame to frame."""
        return self.sim.layout

    def frame(self) -> Frame:
        """The state now."""
        if self._frame is None or self._frame.index != self.sim.frame_index:  # someone else may step it, in a notebook
            self._fillings.go_on(self.sim)
            self._frame = self.sim.frame()
        return self._frame

    def shape_positions(self) -> Any:
        """(vertices, dim) m: the bodies' own shapes, not placed, in the order of a frame."""
        things = (*self.scene.bodies, *self.scene.rigid_bodies)
        shapes = {thing.name: np.asarray(thing.shape.vertices, np.float64) for thing in things}
        parts = [np.zeros((0, self.layout.dim)), *(shapes[body.name] for body in self.layout.bodies)]
        return np.concatenate(parts)

    # time -----------------------------------------------------------------------------------------------------------

    def advance(self, seconds: float) -> int:
        """Run the frames that have become due in `seconds` of the viewer's time; returns how many.

        Raises UnstableError when the simulation diverges: it is then paused in its last good state.
        """
        self._rest()
        if not self.playing:
            self._due = 0.0
            return 0
        frame = 1.0 / self.sim.settings.fps
        self._due = min(self._due + seconds * self.speed, BACKLOG * frame)
        done, start = 0, time.perf_counter()
        while self._due >= frame:
            self._due -= frame
            self._step()
            done += 1
            if time.perf_counter() - start > TURN:
                break
        return done

    def adapt_frame_length(self, seconds: float) -> None:
        """A frame took this long. A world that is slower than real time is shown in shorter steps of its time.

        So a pointer is followed, and the page moves, some 20 times a second, whatever the size of the scene.
        """
        slow, quick = seconds > SLOW and self._division < self._finest, seconds < QUICK and self._division > 1
        self._odd = max(self._odd, 0) + 1 if slow else min(self._odd, 0) - 1 if quick else 0
        if abs(self._odd) < PATIENCE or isinstance(self.scene.simulation.substeps, int):  # so many per frame are wanted
            return
        self._odd = 0
        self._rebuild(self.scene, bodies=False, division=self._division * 2 if slow else self._division // 2)

    def step_once(self) -> None:
        """One frame, and pause."""
        self.playing = False
        self._step()

    def settle(self) -> None:
        """To rest, with all of its gas, and pause. `advance` searches; who plays or changes the world ends the search.

        Where there is no equilibrium this or `advance` raises, and nothing has moved.
        """
        self.playing = False
        self._fillings.finish(self.sim)
        self._resting = Resting(self)

    @property
    def residual(self) -> float | None:
        """While it is on its way to rest: the largest force that is left, as a share (`Simulation.settle`)."""
        return None if self._resting is None else self._resting.residual

    def _rest(self) -> None:
        """Go on to rest."""
        resting, self._resting = self._resting, None
        if resting is None or not resting.holds(self):
            return
        if resting.go_on(TURN):
            self._renewed(bodies=False)
        else:
            self._resting = resting

    def _step(self) -> None:
        self._frame = None
        self._fillings.go_on(self.sim)
        self.plates.go_on(self.sim)
        try:
            self.sim.step()
        except UnstableError:
            self.playing = False
            raise
        self.ticks += 1
        for watcher in list(self.watchers):
            watcher(self.frame())

    # changes --------------------------------------------------------------------------------------------------------

    @one_step
    def change(self, path: str, value: Any) -> None:
        """Set one value by its path, as `Scene.set`, in the scene and in the running simulation."""
        scene = self.scene.copy()
        scene.set(path, value)
        head, *keys = path.split(".")
        refilled = keys[:1] == ["gas"] or keys == ["material"]  # another preset holds another amount
        if refilled:
            self._fillings.end(head)
        if change_live(self, scene, head, tuple(keys)):
            self.scene = self.sim.scene = scene
            self._frame = None
        else:
            before = float(self.sim[head].nRT) if refilled and self.gas(head) is not None else 0.0
            self._rebuild(scene, bodies=tuple(keys[:1]) == ("shape",) or tuple(keys) == COLOR)
            self._let_in(head, before)

    @one_step
    def take_over(self, scene: Scene) -> None:
        """Go on with another description of the same bodies."""
        self._rebuild(scene, bodies=False)

    def describe(self, mark: Mark) -> None:
        """Go on with an earlier or later description; at its beginning, where it is another scene."""
        if mark.opened is not self.opened:
            self._restart(mark.scene)
            self.scenes += 1
        else:
            self._go_on_as(mark.scene, differences(Mark.of(self), mark))
        self.opened, self.came = mark.opened, mark.came

    def _go_on_as(self, scene: Scene, keys: frozenset[str]) -> None:
        """With values that differ at these paths: live where all of them can be."""
        bodies = any(key.startswith((ADDED, REMOVED)) or key.endswith((".color", ".shape")) for key in keys)
        refilled = {key.split(".")[0] for key in keys if key.endswith(".material") or ".gas" in key}
        for name in refilled:
            self._fillings.end(name)
        paths = [(head, tuple(rest)) for head, *rest in (key.split(".") for key in sorted(keys))]
        if not bodies and GLUE not in keys and all(change_live(self, scene, head, rest) for head, rest in paths):
            self.scene = self.sim.scene = scene
            self._frame = None
            return
        before = {name: float(self.sim[name].nRT) for name in refilled if self.gas(name) is not None}
        self._rebuild(scene, bodies)
        for name, amount in before.items():
            self._let_in(name, amount)

    def _let_in(self, name: str, before: float) -> None:
        """What the skin of a body holds in equilibrium comes in slowly, from another amount (n R T, J) on."""
        if before > 0.0 and getattr(getattr(self.scene[name], "gas", None), "pressure_at", "") == "equilibrium":
            self._fillings.begin(self.sim, name, before)

    @one_step
    def change_gas(self, name: str, **changes: Any) -> None:
        """Change the gas of a body: gauge (Pa), moles, temperature (K; the amount is kept), ambient (Pa), law, held.

        Another temperature or ambient pressure keeps the amount of gas: the scene then holds it in moles.
        """
        body = self.scene[name]
        if not isinstance(body, SoftBody):
            raise SceneError(f"{name}: only a soft body can hold gas")
        volume = float(self.sim[name].rest_volume)
        gas = body.gas if body.gas is not None else Gas(gauge=0.0)
        table = {key: value for key, value in asdict(gas).items() if value is not None}
        if changes.get("law", gas.law) == "isothermal":
            table.pop("gamma", None)
        if not {"gauge", "moles", "nRT", "absolute"} & set(changes) and {"temperature", "ambient"} & set(changes):
            changes = {"moles": (self.gas_now(name) or gas).moles_at(volume), **changes}
        for amount in ("gauge", "moles", "nRT", "absolute"):
            if amount in changes:
                table = {key: value for key, value in table.items() if key not in ("gauge", "moles", "nRT", "absolute")}
        if {"moles", "nRT"} & set(changes) or changes.get("held"):
            table.pop("pressure_at")
        self.change(f"{name}.gas", table | changes)

    def gas(self, name: str) -> dict[str, float] | None:
        """Gauge pressure as entered (Pa), moles, temperature (K), ambient (Pa) as the scene has them now."""
        body = self.scene[name]
        if not isinstance(body, SoftBody) or body.gas is None:
            return None
        volume = float(self.sim[name].rest_volume)
        return {
            "gauge": body.gas.nRT_at(volume) / volume - body.gas.ambient,
            "moles": (self.gas_now(name) or body.gas).moles_at(volume),
            "temperature": body.gas.temperature,
            "ambient": body.gas.ambient,
        }

    def gas_now(self, name: str) -> Gas | None:
        """The gas of a body, where only the simulation knows its amount by that: its law holds at any volume."""
        body = self.scene[name]
        if not isinstance(body, SoftBody) or body.gas is None or body.gas.pressure_at == "rest":
            return getattr(body, "gas", None)
        return replace(body.gas, gauge=None, absolute=None, nRT=float(self.sim[name].nRT), pressure_at="rest")

    @property
    def gas_units(self) -> tuple[str, str]:
        """Of volume and pressure."""
        return ("m³", "Pa") if self.scene.dim == 3 else ("m²", "N/m")

    @one_step
    def add(self, thing: Thing) -> str:
        """Add a body or wall; returns its name."""
        scene = self.scene.copy()
        before = set(scene.names)
        scene.add(thing)
        _check_size(scene, "with it the scene")
        self._rebuild(scene, bodies=True)
        name = next(name for name in scene.names if name not in before)
        self.came = self.came | {name: scene[name]}
        return name

    @one_step
    def remove(self, name: str) -> None:
        """Take a body out, with what it is glued by."""
        scene = self.scene.copy()
        thing = scene[name]
        for things in (
            scene.soft_bodies,
            scene.cloths,
            scene.rigid_bodies,
            scene.grounds,
            scene.planes,
            scene.containers,
        ):
            if thing in things:
                things.remove(thing)  # type: ignore[arg-type]
        scene.attachments[:] = [entry for entry in scene.attachments if name not in (entry.body, entry.rigid)]
        self._rebuild(scene, bodies=True)

    def pin(self, name: str, vertex: int) -> bool:
        """Hold a vertex where it is now, or let go of it if it was held; returns whether it is held now."""
        body = self._soft(name)
        held = set(body.pinned.tolist()) ^ {vertex}
        self._set_pins(name, tuple(sorted(held)))
        return vertex in held

    def unpin(self, name: str) -> None:
        """Let go of all pinned vertices of a body."""
        self._soft(name)
        self._set_pins(name, ())

    @one_step
    def _set_pins(self, name: str, pins: tuple[int, ...]) -> None:
        scene = self.scene.copy()
        scene.set(f"{name}.pins", pins)
        self._rebuild(scene, bodies=False)

    def _soft(self, name: str) -> Body:
        body = self.scene[name]
        if not isinstance(body, Body):
            raise SceneError(f"{name}: only vertices of soft bodies and cloths can be pinned; make a rigid body static")
        return body

    def _rebuild(self, scene: Scene, bodies: bool, *, ledger: bool | None = None, division: int | None = None) -> None:
        """Go on with a simulation of another description; if it cannot be built, nothing has changed."""
        division = self._division if division is None else division
        fps = scene.simulation.fps * division
        self.history.leave(self, scene)
        self.sim.rebuild(scene, settings=replace(scene.simulation, fps=fps), ledger=ledger)
        self.scene, self._division = scene, division
        for name, (vertex, target) in self.grabbed.items():
            try:
                self.grab(name, vertex, target)
            except SceneError:  # it is gone, or fixed now
                self.drop(name)
        self._renewed(bodies)

    def keep_ledger(self, wanted: bool) -> None:
        """Sum up what damping takes and pointers put in, or no longer (it is slower)."""
        if wanted != self.ledger:
            self._rebuild(self.scene, bodies=False, ledger=wanted)

    def needed_substeps(self) -> int:
        """Substeps per frame that the solver takes now, with "auto" the symplectic one; the world stays as it is."""
        if self.sim.solver == "implicit" and self.sim.settings.solver == AUTO:
            return needed_substeps(self.sim)
        if self.scene.simulation.substeps == "auto" and self.sim.substeps:
            return self.sim.substeps
        probe = rebuilt(self.sim, self.scene, settings=replace(self.sim.settings.of_scene(), substeps="auto"))
        probe.step()
        return probe.substeps

    def _renewed(self, bodies: bool) -> None:
        self._frame, self._due = None, 0.0
        self.version += bodies
        self.ticks += 1

    # pointers -------------------------------------------------------------------------------------------------------

    def grab(self, name: str, vertex: int, target: Any, point: Any = None) -> None:
        """Pull a vertex of a body to a target (m), as on a rubber band that suits its weight (`Grabs.pull`)."""
        self._grabs.pull(self, name, vertex, target, point)

    def drop(self, name: str) -> None:
        """Let go of a body; it keeps its velocity."""
        self._grabs.drop(self, name)

    def held_point(self, name: str) -> Any:
        """(dim,) m: where the point is by which a body is held."""
        return self._grabs.held_point(self, name)

    def pull_on(self, name: str) -> Any:
        """(dim,) N: what a body is pulled with, as `grab` was last called."""
        return self._grabs.forces.get(name, np.zeros(self.scene.dim))

    @property
    def grabbed(self) -> dict[str, tuple[int, Any]]:
        """Bodies that are held: name -> (vertex, target)."""
        return dict(self._grabs.held)


def _check_size(scene: Scene, what: str) -> None:
    count = sum(len(body.shape.vertices) for body in (*scene.bodies, *scene.rigid_bodies))
    if count > MAX_VERTICES:
        raise SceneError(f"{what} has {count} vertices, and the playground takes {MAX_VERTICES}: use coarser shapes")
