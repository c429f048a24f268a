"""The public simulation object: runs a scene, shows its state, and takes changes while it runs."""

from __future__ import annotations

import contextlib
import math
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
import numpy.typing as npt

from turgor.contact.martin2009.method import ParticleContacts
from turgor.diagnose.contacts import Contacts
from turgor.diagnose.energy import Energy, energy, half_step
from turgor.errors import SceneError, did_you_mean
from turgor.kernel.numbers import numbers
from turgor.model.model import Model
from turgor.model.state import State
from turgor.output import sinks
from turgor.output.frame import Frame, Layout
from turgor.output.progress import Progress, Stop, shown
from turgor.output.sinks import Record, as_list, opened
from turgor.scene.scene import Scene
from turgor.scene.settings import Contact, Precision, Settings, Solver
from turgor.scene.validate import flag
from turgor.simulation import save, snapshot, statics
from turgor.simulation.advance import run_frame
from turgor.simulation.checkpoint import EVERY, Checkpoint, Every
from turgor.simulation.choice import AUTO, Choice, choose, made
from turgor.simulation.devices import chosen_device
from turgor.simulation.failure import ensure_fine
from turgor.simulation.polydata import to_pyvista
from turgor.simulation.rebuild import fresh, rebound, rebuilt
from turgor.simulation.resolution import coarse
from turgor.simulation.settings import Assembly, RunSettings
from turgor.simulation.settle import settle
from turgor.simulation.shared_arrays import SharedArrays
from turgor.simulation.sleep import Sleep
from turgor.simulation.statics import Settled
from turgor.simulation.step import measures
from turgor.simulation.step.frame import Step
from turgor.simulation.views.body import BodyView
from turgor.simulation.views.contacts import ContactEvent, Listeners, contacts_of
from turgor.simulation.views.rigid import RigidView
from turgor.simulation.views.view import STIFFNESS, FloatArray, Named, PerWorld, Point, Rows, per_vertex
from turgor.simulation.views.wall import WallView
from turgor.simulation.warn import Told, found, listed, tell
from turgor.simulation.worlds import Start, copy_world, numbers_of, restart

__all__ = ["Simulation"]

Worlds = Sequence[int] | npt.NDArray[Any]  # numbers of worlds, or a mask of all of them


class Simulation:
    """Runs a scene. Arguments left out are taken from the scene's own settings.

    device: "cpu", "cuda" (an NVIDIA GPU) or "auto" (a GPU if there is one).
    solver: the integrator; "auto" takes the symplectic one, or the implicit one where that would crawl.
    fps: frames per second, 1/s. substeps: per frame; "auto" picks a stable number.
    contact: the method between bodies. precision: of the numbers, "single" or "double".
    max_substeps: per frame; a scene that needs more raises UnstableError.
    accuracy: with substeps="auto", the energy of vibrations that a solver may add or take in a minute, as a share of
    it: 0.01 for 1 %. "auto": no more substeps than stability needs; 0.1 for midpoint and heun, which would gain energy.
    worlds: copies that run at once; parameters of bodies can then be set per world, and all quantities get a leading
    axis of this length. All worlds share the number of substeps, set by the most demanding one; with a fixed number
    each world is, bit for bit, what it is alone, whatever the others do.
    variants: instead of `worlds`, a scene for each world, which differ from `scene` in numbers that a world may have of
    its own: gas, springs, material, mass, friction, air, gravity, wind, place and motion. Not to be saved or rebuilt.
    ledger: also sum up what damping and contact take, and what wind, pumps, grabs, moving walls and driven bodies put
    in (slower). readings: also sum up contact forces over each frame, for `contacts().force` (a little slower).
    threads: of the CPU, which share a frame; "auto" takes all cores where a scene is large enough to gain, or as many
    as the environment variable TURGOR_THREADS says. The result is the same bit for bit for any number.
    sleeping: whether islands of bodies at rest are left out until something disturbs them; "auto": only in the
    playground. One world only.
    assembly: how forces reach the vertices; "auto" scatters on the CPU and gathers on a GPU (docs/architecture.md).

    `sim[name]` is a view of a body, with its state and parameters; `bodies` (soft bodies and cloths), `rigid_bodies`
    and `walls` hold all views by name. `settings` is all that the simulation was made with.

    Low-level access, which may change from version to version: `model` (arrays that stay), `state` (device arrays that
    change) and `engine` (launches the stages of a frame). After writing to device arrays, call `engine.changed()`.
    """

    scene: Scene  # as it was described
    settings: RunSettings  # all that the simulation was made with
    bodies: Mapping[str, BodyView]  # soft bodies and cloths by name
    rigid_bodies: Mapping[str, RigidView]
    walls: Mapping[str, WallView]
    frame_index: int  # frames since the start
    told: Told  # what was warned of
    model: Model
    state: State
    engine: Step
    sleep: Sleep | None  # which bodies sleep, where they may
    choice: Choice  # the solver that runs, and why, where that was left to "auto"

    def __init__(
        self,
        scene: Scene,
        device: str = "cpu",
        *,
        solver: Solver | str | None = None,
        fps: float | None = None,
        substeps: int | Literal["auto"] | None = None,
        contact: Contact | str | None = None,
        precision: Precision | str | None = None,
        max_substeps: int | None = None,
        accuracy: float | Literal["auto"] | None = None,
        worlds: int = 1,
        ledger: bool = False,
        readings: bool = False,
        threads: int | Literal["auto"] | str = "auto",
        sleeping: bool | Literal["auto"] | str | None = None,
        assembly: Assembly | str = "auto",
        variants: Sequence[Scene] | None = None,
    ) -> None:
        for given_scene in (scene, *(variants or ())):
            if not isinstance(given_scene, Scene):
                raise SceneError(f"Simulation needs a turgor.Scene, got {type(given_scene).__name__}")
        scene.check()
        if variants is not None and (not variants or worlds not in (1, len(variants))):
            raise SceneError(f"variants is a scene for each world: leave worlds out, or give {worlds} scenes")
        worlds = len(variants) if variants is not None else worlds
        given: dict[str, Any] = {
            "solver": solver, "fps": fps, "substeps": substeps, "contact": contact, "precision": precision,
            "max_substeps": max_substeps, "accuracy": accuracy, "worlds": worlds, "ledger": ledger,
            "readings": readings, "threads": threads, "sleeping": sleeping, "assembly": assembly,
        }  # fmt: skip
        chosen = asdict(scene.simulation) | {key: value for key, value in given.items() if value is not None}
        where = chosen_device(device)
        self.scene = scene
        self.settings = settings = RunSettings(**chosen, device=str(where))
        self.model = Model(scene, numbers(scene.dim, settings.precision), worlds, where, variants or ())
        self.state = State(self.model)
        self.told = Told.of(self.model, coarse(self.model, self.state))
        self.choice = Choice("symplectic" if settings.solver == AUTO else settings.solver)
        self.engine = made(self, self.choice.solver)
        self.frame_index = 0
        self.bodies = Named("soft body or cloth", (BodyView(self, index) for index in range(len(scene.bodies))))
        self.rigid_bodies = Named("rigid body", (RigidView(self, index) for index in range(len(scene.rigid_bodies))))
        self.walls = Named("wall", (WallView(self, index) for index in range(len(scene.walls))))
        self._views = Named[Any]("body", (*self.bodies.values(), *self.rigid_bodies.values()))
        # N, of the time when the engine was last fresh; on the device, and as users see them
        self._force_array: Any = None
        self._forces: FloatArray | None = np.zeros((0, scene.dim))
        self._listeners = Listeners()
        self.sleep = None
        self._start: Start | None = None  # what `restart` goes back to; None: it builds the scene again
        self._turn = threading.RLock()  # stepping and measuring share work arrays; `show` looks from another thread
        settle(self)
        choose(self)
        if settings.sleeping is True:
            self.sleep = Sleep(self)
        if worlds > 1:
            self._start = Start(self, alike=variants is None)
        self._built = True
        tell(self)

    if not TYPE_CHECKING:  # a type checker takes a class with __setattr__ to have every attribute

        def __setattr__(self, key: str, value: Any) -> None:
            """Only what exists can be set: a misspelt name must not silently do nothing."""
            if "_built" in self.__dict__ and key not in self.__dict__ and not hasattr(type(self), key):
                known = [name for name, entry in vars(type(self)).items() if getattr(entry, "fset", None)]
                raise SceneError(f"a simulation has no {key!r} to set; {did_you_mean(key, known)}")
            super().__setattr__(key, value)

    # running --------------------------------------------------------------------------------------------------------

    def step(self) -> None:
        """Advance by one frame. Raises UnstableError if it diverges; the state is then that of the last good frame."""
        with self._turn:
            if self.sleep is None:
                run_frame(self)
            else:
                self.sleep.step(self)
        self._listeners.tell(self)

    def run(
        self,
        seconds: float | None = None,
        *,
        record: Record | Sequence[Record] | None = None,
        progress: bool | Progress = False,
        checkpoint: str | os.PathLike[str] | None = None,
        every: Every = EVERY,
    ) -> None:
        """Advance by `seconds` (the scene's own duration if left out), frame by frame.

        record: files (format by ending) or sinks, which get the present state and then every frame of the first world.
        progress: True for a bar on stderr, or a function of (frames done, frames in all).
        checkpoint: a file (.npz) to which the state is saved every so many frames, or (every="30s") so many seconds of
        wall time; it is removed at the end. After a kill go on with `Simulation.load(checkpoint)`, and with
        `record.open_sink("a.vtkhdf", sim.layout, keep=sim.frame_index)` for a recording.
        """
        duration = self.settings.seconds if seconds is None else seconds
        if isinstance(duration, bool) or not isinstance(duration, (int, float)) or not 0.0 <= duration < math.inf:
            raise SceneError(f"seconds must be finite and >= 0, got {seconds!r}")
        frames = round(duration * self.settings.fps)
        keeper = None if checkpoint is None else Checkpoint(checkpoint, every)
        outputs: list[sinks.Sink] = []
        finished = stopped = False

        def close(output: sinks.Sink) -> None:
            output.close(finished)

        with contextlib.ExitStack() as closing:
            for entry in as_list(record):
                outputs.append(opened(entry, self.layout))
                closing.callback(close, outputs[-1])
            report = closing.enter_context(shown(progress, self.scene.name, self.settings.fps))
            for output in outputs:
                output.add(self.frame())
            try:
                for done in range(1, frames + 1):
                    self.step()
                    if outputs:
                        frame = self.frame()
                        for output in outputs:
                            output.add(frame)
                    if keeper and done < frames:
                        keeper.look(self)
                    report(done, frames)
            except Stop:
                stopped = True
                if keeper:
                    keeper.save(self)
            ensure_fine(self)
            finished = True
        if keeper and not stopped:
            keeper.remove()
        if frames:
            tell(self)

    def settle(self, tolerance: float = statics.TOLERANCE) -> Settled:
        """Move the present state to rest: where gravity, gas, wind, pins, glue, walls, friction and contact balance.

        The time stays, and all gas is pumped in. tolerance: of the `residual`, the largest force that is left, contact
        reactions included: on a point, as a share of the largest force of springs, gas or gravity on a point of its
        body; on a whole body, as a share of its weight. Raises UnstableError where no equilibrium is found, and
        SceneError where something is driven; then nothing has changed.
        """
        with self._turn:
            *_, found = statics.settling(self, tolerance)
        return found

    def settling(self, tolerance: float = statics.TOLERANCE) -> Iterator[Settled]:
        """`settle` in short rounds: yields how far it is after each, so that a page can go on in between.

        The state is put in with the last round; until then the simulation is as it was, and must stay so.
        """
        rounds = statics.settling(self, tolerance)
        while True:
            with self._turn:
                found = next(rounds, None)
            if found is None:
                return
            yield found

    def restart(self, worlds: Worlds | None = None) -> None:
        """Let worlds begin again, as they began or as `keep_start` has kept them; all, if left out.

        worlds: their numbers, or a mask of all. Their parameters stay, and no bit of the others changes. The clock is
        that of all worlds, so it goes on, and gas that was pumped in (`inflate`) stays in; one world alone begins at
        time zero, with the parameters of its scene. After an UnstableError: `sim.restart(error.worlds)`, and go on.
        """
        with self._turn:
            self.engine.replay.look()
            if self._start is None:
                numbers_of(self, worlds)
                self.rebuild(restart=True)
            else:
                restart(self, worlds, self._start)

    def catch_up(self) -> None:
        """Compute the frames that are still to be computed: contact lists may have been too short for them.

        Quantities that are read or set do so by themselves. In turn with `step`: another thread, as one that reads from
        a simulation that runs on a page, waits for the frame.
        """
        with self._turn:
            self.engine.replay.look()

    def keep_start(self) -> None:
        """From now on `restart` goes back to the present state, each world to its own."""
        with self._turn:
            ensure_fine(self)
            self._start = Start(self, alike=False)

    def copy_world(self, source: int, targets: Worlds) -> None:
        """Let other worlds become copies of one, with its parameters: to try several ways from where it is.

        targets: their numbers, or a mask of all. What a grab pulls stays as it is.
        """
        with self._turn:
            self.engine.replay.look()
            copy_world(self, source, targets)

    def prepare(self) -> None:
        """Compile the kernels and record the frame now, so that the first step takes no longer than the others."""
        self.engine.replay.prepare()

    # looking --------------------------------------------------------------------------------------------------------

    def __getitem__(self, name: str) -> BodyView:
        """A body by its name.

        The name of a rigid body gives its RigidView; type checkers know what it has by `rigid_bodies[name]`.
        """
        view: BodyView = self._views[name]
        return view

    @property
    def names(self) -> list[str]:
        """Of all bodies: soft ones, cloths, then rigid ones."""
        return list(self._views)

    @property
    def device(self) -> str:
        """Where it runs: "cpu" or "cuda:0"."""
        return self.settings.device

    @property
    def worlds(self) -> int:
        """Copies of the scene that run at once."""
        return self.settings.worlds

    @property
    def threads(self) -> int:
        """Of the CPU, that share a frame; `settings.threads` is what was asked for."""
        team = self.engine.scratch.team
        return 1 if team is None else team.size

    @property
    def solver(self) -> str:
        """Name of the integrator that runs; `settings.solver` is what was asked for, and `choice.reason` says why."""
        return self.choice.solver

    @property
    def precision(self) -> str:
        """ "single" or "double"."""
        return self.settings.precision

    @property
    def time(self) -> float:
        """s: simulated time since the start."""
        self.catch_up()
        return float(self.state.clock.numpy()[0])

    @property
    def substeps(self) -> int:
        """Substeps of the last frame (0 before the first)."""
        self.catch_up()
        return int(self.engine.scratch.substeps.numpy()[0])

    @property
    def dt(self) -> float:
        """s: length of the last substep (0 before the first). A frame takes 1 / settings.fps."""
        self.catch_up()
        return float(self.engine.scratch.dt.numpy()[0])

    @property
    def energy_error(self) -> float:
        """Estimate of the energy that the solver has added (< 0: taken) since the start; (worlds,) for several worlds.

        As a share of the largest kinetic energy of the soft bodies about their centres of mass; 0 where none has moved.
        The symplectic solver's does not add up: its energy swings by that share. Bending and contact are not in it.
        """
        self.catch_up()
        found = measures.energy_error(self.engine)
        return cast(float, float(found[0]) if self.worlds == 1 else found)

    @property
    def warnings(self) -> list[str]:
        """What looks wrong now, a sentence each: units, masses, precision, pressures that do not hold, volume lost.

        What is there at the start, or at the end of a `run`, is also a Python warning (`turgor.TurgorWarning`).
        """
        if self.frame_index:
            self.measure()
        return listed(found(self))

    @property
    def vertices(self) -> int:
        """Vertices of one world; rigid bodies have none."""
        return self.model.vertices

    @property
    def finite(self) -> bool:
        """Whether all positions and velocities are finite numbers."""
        r = self.state.rigid
        arrays = (self.state.x, self.state.v, r.x, r.v, r.q, r.spin)
        return all(bool(np.isfinite(array.numpy()).all()) for array in arrays)

    @property
    def positions(self) -> FloatArray:
        """(vertices, dim) m of all soft bodies, in the order of their shapes; (worlds, vertices, dim) for several."""
        return per_vertex(self, self.state.x) + self.model.anchor

    @property
    def velocities(self) -> FloatArray:
        """(vertices, dim) m/s, as `positions`."""
        return per_vertex(self, self.state.v)

    @property
    def arrays(self) -> SharedArrays:
        """The simulation's own memory for NumPy, PyTorch and JAX, without copies (DLPack), in its own order."""
        return SharedArrays(self)

    def forces(self) -> FloatArray:
        """(vertices, dim) N: the total force on each point at the present state, as `positions`."""
        self.measure()
        if self._forces is None:
            self._forces = per_vertex(self, self._force_array)
        return self._forces

    def measure(self) -> None:
        """Bring forces, volumes and pressures up to the present state (else they are those of the last substep)."""
        with self._turn:
            ensure_fine(self)
            if not self.engine.fresh:
                if self.vertices:
                    self._force_array = measures.total_forces(self.engine)
                    self._forces = None  # read only where asked for
                self.engine.fresh = True

    def energy(self) -> Energy:
        """The energy ledger, J. `dissipated` and `work` are kept only with `ledger=True`, and are nan otherwise."""
        self.measure()
        volume = np.asarray(self.engine.scratch.volume.numpy(), np.float64).reshape(self.worlds, -1)
        unknown = np.full(self.worlds, math.nan)
        leapfrog = self.engine.scheme.leapfrog
        sums = measures.world_sums(self.engine, self._force_array if leapfrog else None)
        lost = measures.losses(self.engine, sums) if self.settings.ledger else (unknown, unknown)
        later = half_step(self.model, self.state, sums, self.dt) if leapfrog else np.zeros(self.worlds)
        return energy(self.model, self.state, sums, volume, lost, later)

    def contacts(self) -> Contacts:
        """What touches what now: count, deepest penetration, and arrays of pairs, points, normals, depths, impulses.

        `patch(first, second)` has points, forces and areas of a pair as arrays, and its mean pressure. With
        `readings=True` forces are means over the last frame, and `force` has those per body and per pair.
        """
        return contacts_of(self)

    def collision_particles(self) -> dict[str, npt.NDArray[Any]]:
        """Of the contact methods with particles: position (n, dim) m, owner and other (n,), counted over all worlds."""
        method = None if self.engine.split is None else self.engine.split.method
        if not isinstance(method, ParticleContacts):
            raise SceneError(
                f"only contact='particles' has collision particles; this is contact={self.settings.contact!r}"
            )
        return method.particles()

    def on_contact(self, function: Callable[[ContactEvent], None]) -> None:
        """Call a function after every frame for each pair that touches, or has ceased to (`ContactEvent`)."""
        if not callable(function):
            raise SceneError(f"on_contact needs a function of one contact event, got {function!r}")
        self._listeners.functions.append(function)

    # changing -------------------------------------------------------------------------------------------------------

    def grab(
        self, body: str, vertex: int, target: Point, stiffness: float = STIFFNESS, damping: float | None = None,
        point: Point | None = None,
    ) -> None:  # fmt: skip
        """Pull a vertex of a body (rigid: of its shape) to a target (m) as on a rubber band of `stiffness` N/m.

        One per body, in all worlds. damping: N s/m; left out, it is critical for the pulled point (rigid: the body).
        point: (dim,) m of a rigid body, to be pulled instead of the vertex, in the coordinates of its shape
        (`RigidView.to_shape`). Call again to move the target. `sim[body].grab` does the same.
        """
        if (rigid := self.rigid_bodies.get(body)) is not None:
            rigid.grab(vertex, target, stiffness, damping, point)
        elif point is None:
            self[body].grab(vertex, target, stiffness, damping)
        else:
            raise SceneError(f"grab: point is for rigid bodies only, and {body!r} is none: leave it out")

    def release(self, body: str | None = None) -> None:
        """Let go of a body, or of all."""
        for name in self.names if body is None else [body]:
            self[name].release()

    @property
    def sleeping(self) -> bool:
        """Whether bodies at rest sleep: they cost nothing, and wake when something disturbs them. May be set."""
        return self.sleep is not None

    @sleeping.setter
    def sleeping(self, value: bool) -> None:
        with self._turn:
            if not value:
                self.wake()
            self.sleep = (self.sleep or Sleep(self)) if flag("sleeping", value) else None

    def wake(self, body: str | None = None) -> None:
        """Wake a body, with all that it may touch, or all bodies; where none sleeps, this does nothing."""
        if body is None:
            self.engine.disturb()
        else:
            self.engine.disturb(self.names.index(self[body].name))
        if self.sleep is not None:
            with self._turn:
                self.sleep.heed(self)

    @property
    def gravity(self) -> FloatArray:
        """(dim,) m/s², or (worlds, dim). May be set."""
        return self._world_vector(self.model.gravity)

    @gravity.setter
    def gravity(self, value: Rows) -> None:
        self._set_world_vector(self.model.gravity, "gravity", value)

    @property
    def wind(self) -> FloatArray:
        """(dim,) m/s, or (worlds, dim). May be set."""
        return self._world_vector(self.model.wind)

    @wind.setter
    def wind(self, value: Rows) -> None:
        self._set_world_vector(self.model.wind, "wind", value)

    @property
    def air_density(self) -> float | FloatArray:
        """kg/m³ (kg/m² in 2D), or (worlds,). May be set."""
        table = np.asarray(self.model.air_density.numpy(), np.float64)
        return float(table[0]) if self.worlds == 1 else np.asarray(table)

    @air_density.setter
    def air_density(self, value: PerWorld) -> None:
        try:
            table = np.broadcast_to(np.asarray(value, np.float64), (self.worlds,))
        except (TypeError, ValueError):
            raise SceneError(f"air_density must be a number (or one per world), got {value!r}") from None
        if not np.all(np.isfinite(table) & (table >= 0.0)):
            raise SceneError(f"air_density must be finite and >= 0, got {value!r}")
        self.catch_up()  # frames that are still to be computed have the old value
        self.model.air_density.assign(np.ascontiguousarray(table, self.model.numbers.dtype))
        self.engine.changed(moved=False)

    def _world_vector(self, array: Any) -> FloatArray:
        table = np.asarray(array.numpy(), np.float64)
        return np.asarray(table[0] if self.worlds == 1 else table)

    def _set_world_vector(self, array: Any, name: str, value: Any) -> None:
        try:
            table = np.broadcast_to(np.asarray(value, np.float64), (self.worlds, self.scene.dim))
        except (TypeError, ValueError):
            raise SceneError(f"{name} must be {self.scene.dim} numbers (or that per world), got {value!r}") from None
        if not np.all(np.isfinite(table)):
            raise SceneError(f"{name} must be finite, got {value!r}")
        self.catch_up()  # frames that are still to be computed have the old value
        array.assign(np.ascontiguousarray(table, self.model.numbers.dtype))
        self.engine.changed(moved=False)

    def rebuild(
        self, scene: Scene | None = None, *, settings: Settings | None = None, ledger: bool | None = None,
        restart: bool = False,
    ) -> None:  # fmt: skip
        """Go on with another description or other settings, from the present state or (`restart`) from the beginning.

        What is left out stays as it is: also device, worlds and assembly. Bodies that both descriptions have are
        matched by name; views and contact listeners stay valid. If it cannot be built, nothing has changed.
        """
        if scene is not None and not isinstance(scene, Scene):
            raise SceneError(f"rebuild needs a turgor.Scene, got {type(scene).__name__}")
        if self.model.variants is not None:
            raise SceneError("a simulation whose worlds are scenes of their own cannot be rebuilt: make another one")
        make = fresh if restart else rebuilt
        with self._turn:
            new = make(self, self.scene if scene is None else scene, settings=settings, ledger=ledger)
            new.prepare()
            self._adopt(new)

    def _adopt(self, other: Simulation) -> None:
        """Become `other`, so that what a user holds of this simulation stays valid."""
        past, held = copy(self), {**self._views, **self.walls}
        if self.sleep is not None and other.settings.sleeping == AUTO:
            other.sleeping = True
        for view in held.values():
            rebound(view, past)  # the view of a body that is gone shows its last state
        vars(self).update(vars(other), _listeners=self._listeners, _turn=self._turn)
        for views in cast(list[Named[Any]], [self.bodies, self.rigid_bodies, self.walls, self._views]):
            for name, view in views.items():
                views[name] = rebound(view, self, held.get(name))

    # for sinks ------------------------------------------------------------------------------------------------------

    @property
    def layout(self) -> Layout:
        """What does not change from frame to frame, for recorders and viewers."""
        return snapshot.layout_of(self)

    def frame(self) -> Frame:
        """The first world now."""
        return snapshot.frame_of(self)

    def to_pyvista(self) -> Any:
        """The first world now as a `pyvista.MultiBlock`, a PolyData per body by name (lines in 2D).

        Points have velocity (m/s) and body (its number); faces of a material have stretch, stress (Pa), tension (N/m)
        and wrinkled; field data are volume, pressure and time. Needs PyVista (`turgor[render]`).
        """
        return to_pyvista(self)

    def show(self, height: int = 620, port: int = 0) -> Any:
        """The playground of this simulation, shown inline in a notebook; `.url` opens it elsewhere, `.close()` ends it.

        It starts paused. It shows what `step` and `run` do, too.
        """
        if sinks.viewer is None:
            raise SceneError("nothing shows simulations here: use the turgor package as a whole")
        return sinks.viewer(self, height, port)

    # saving ---------------------------------------------------------------------------------------------------------

    def state_hash(self) -> str:
        """Hex digest (SHA-256) of all that changes: state, time and the parameters that can be set."""
        return save.digest(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything needed to go on bit for bit (.npz)."""
        save.save(self, path)

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], device: str = "cpu", *, threads: int | Literal["auto"] | str = "auto"
    ) -> Simulation:
        """Go on from a saved state; device and threads as in `Simulation`, as machines differ."""
        return save.load(cls, path, device, threads)
