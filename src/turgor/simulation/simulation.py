"""A running simulation: what the user holds in the hand."""

from __future__ import annotations

import contextlib
import math
import os
import threading
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from turgor.diagnose.contacts import Contacts
from turgor.diagnose.energy import Energy, energy
from turgor.errors import SceneError
from turgor.kernel.numbers import numbers
from turgor.model.model import Model, decay_rate
from turgor.model.state import State
from turgor.output import sinks
from turgor.output.frame import Frame, Layout
from turgor.output.progress import Progress, shown
from turgor.output.sinks import Record, as_list, opened
from turgor.scene.data import SoftBody
from turgor.scene.scene import Scene
from turgor.scene.settings import Settings
from turgor.scene.validate import did_you_mean
from turgor.simulation import save, snapshot
from turgor.simulation.devices import chosen_device
from turgor.simulation.failure import failure_of
from turgor.simulation.rebuild import fresh, rebound, rebuilt
from turgor.simulation.settle import settle
from turgor.simulation.step.frame import Step
from turgor.simulation.views import grab
from turgor.simulation.views.body import BodyView
from turgor.simulation.views.contacts import ContactEvent, Listeners, contacts_of
from turgor.simulation.views.rigid import RigidView
from turgor.simulation.views.wall import WallView
from turgor.solvers.plan import FINE
from turgor.solvers.schemes import SCHEMES

__all__ = ["Simulation"]

FloatArray = npt.NDArray[np.float64]

GPU_CHECK = 30  # frames between looks at the status on a GPU: a look waits for the device


class Simulation:
    """Runs a scene. Arguments left out are taken from the scene's own settings.

    With `worlds=N`, N copies run at once; parameters of bodies can then be set per world, and all quantities get a
    leading axis of length N. All worlds share the number of substeps, set by the most demanding one.
    ledger: also sum up what damping takes and what wind, pumps, hands and walls put in (slower).
    assembly: how forces reach the vertices; "auto" scatters on the CPU and gathers on a GPU (docs/architecture.md).
    """

    def __init__(
        self,
        scene: Scene,
        device: str = "cpu",
        *,
        solver: str | None = None,
        fps: float | None = None,
        substeps: int | str | None = None,
        contact: str | None = None,
        precision: str | None = None,
        max_substeps: int | None = None,
        worlds: int = 1,
        ledger: bool = False,
        assembly: str = "auto",
    ) -> None:
        if not isinstance(scene, Scene):
            raise SceneError(f"Simulation needs a turgor.Scene, got {type(scene).__name__}")
        scene.check()
        if isinstance(worlds, bool) or not isinstance(worlds, int) or worlds < 1:
            raise SceneError(f"worlds must be a whole number >= 1, got {worlds!r}")
        given: dict[str, Any] = {
            "solver": solver, "fps": fps, "substeps": substeps, "contact": contact, "precision": precision,
            "max_substeps": max_substeps,
        }  # fmt: skip
        self.scene = scene
        self.settings: Settings = replace(scene.simulation, **{k: v for k, v in given.items() if v is not None})
        self.worlds = worlds
        self.ledger = bool(ledger)
        if assembly not in ("auto", "scatter", "gather"):
            raise SceneError(f"assembly must be 'auto', 'scatter' or 'gather', got {assembly!r}")
        self.assembly = assembly
        self._device = chosen_device(device)
        self.model = Model(scene, numbers(scene.dim, self.settings.precision), worlds, self._device)
        scheme = SCHEMES[self.settings.solver]
        self.state = State(self.model, len(scheme.weights))
        fixed = self.settings.substeps if isinstance(self.settings.substeps, int) else None
        self._step = Step(
            self.model, self.state, scheme,
            fps=self.settings.fps, substeps=fixed, max_substeps=self.settings.max_substeps, ledger=self.ledger,
            gathers=self.model.fans_known and (self._device.is_cuda if assembly == "auto" else assembly == "gather"),
            contact=self.settings.contact,
        )  # fmt: skip
        self.frame_index = 0
        kelvin = [body.gas.temperature if isinstance(body, SoftBody) and body.gas else 293.15 for body in scene.bodies]
        self.temperatures = np.tile(np.array(kelvin), (worlds, 1))  # (worlds, bodies) K
        self._views: dict[str, BodyView | RigidView] = {
            body.name: BodyView(self, body.name) for body in self.model.bodies
        }
        self._views |= {body.name: RigidView(self, index) for index, body in enumerate(scene.rigid_bodies)}
        self.walls = {wall.name: WallView(self, wall.name) for wall in scene.walls}
        self._forces: FloatArray | None = None  # also says that volume and pressure are of now
        self._listeners = Listeners()
        self._turn = threading.RLock()  # stepping and measuring share work arrays; `show` looks from another thread
        settle(self)
        self._built = True

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
            self.launch_frame()
            self.frame_index += 1
            if self._device.is_cpu or self.frame_index % GPU_CHECK == 0:
                self.ensure_fine()
        self._listeners.tell(self)

    def run(
        self,
        seconds: float | None = None,
        *,
        record: Record | Sequence[Record] | None = None,
        progress: bool | Progress = False,
    ) -> None:
        """Advance by `seconds` (the scene's own duration if left out), frame by frame.

        record: files (format by ending) or sinks, which get the present state and then every frame of the first world.
        progress: True for a bar on stderr, or a function of (frames done, frames in all).
        """
        duration = self.settings.seconds if seconds is None else seconds
        if isinstance(duration, bool) or not isinstance(duration, (int, float)) or not 0.0 <= duration < math.inf:
            raise SceneError(f"seconds must be finite and >= 0, got {seconds!r}")
        frames = round(duration * self.settings.fps)
        outputs: list[sinks.Sink] = []
        finished = False

        def close(output: sinks.Sink) -> None:
            output.close(finished)

        with contextlib.ExitStack() as closing:
            for entry in as_list(record):
                outputs.append(opened(entry, self.layout))
                closing.callback(close, outputs[-1])
            report = closing.enter_context(shown(progress, self.scene.name, self.settings.fps))
            for output in outputs:
                output.add(self.frame())
            for done in range(1, frames + 1):
                self.step()
                if outputs:
                    frame = self.frame()
                    for output in outputs:
                        output.add(frame)
                report(done, frames)
            self.ensure_fine()
            finished = True

    def prepare(self) -> None:
        """Compile the kernels and record the frame now, so that the first step takes no longer than the others."""
        self._step.prepare()

    def launch_frame(self) -> None:
        """The device's part of `step` alone, for benchmarks."""
        self._forces = None
        self._step.run()

    def stage_times(self) -> dict[str, float]:
        """Seconds per launch of each stage of a substep; the state is kept."""
        self._forces = None
        return self._step.stage_times()

    def ensure_fine(self) -> None:
        """Raise UnstableError if a frame has failed since the last look."""
        if int(self.state.status.numpy()[0]) != FINE:
            self.frame_index = round(self.time * self.settings.fps)
            failure = failure_of(self)
            self.state.status.zero_()  # the state is that of the last good frame: it can be looked at, healed, and run
            self.state_changed()  # contact lists may be of places that were given up
            raise failure

    # looking --------------------------------------------------------------------------------------------------------

    def __getitem__(self, name: str) -> Any:
        """A body by its name: a BodyView, or a RigidView for a rigid body."""
        try:
            return self._views[name]
        except KeyError:
            raise SceneError(f"no body {name!r}; there are: {', '.join(self._views) or 'none'}") from None

    @property
    def names(self) -> list[str]:
        """Of all bodies: soft ones, cloths, then rigid ones."""
        return list(self._views)

    @property
    def device(self) -> str:
        """Where it runs: "cpu" or "cuda:0"."""
        return str(self._device)

    @property
    def solver(self) -> str:
        """Name of the integrator."""
        return self.settings.solver

    @property
    def precision(self) -> str:
        """ "single" or "double"."""
        return self.settings.precision

    @property
    def time(self) -> float:
        """Simulated seconds since the start."""
        return float(self.state.clock.numpy()[0])

    @property
    def substeps(self) -> int:
        """Substeps of the last frame (0 before the first)."""
        return int(self.state.substeps.numpy()[0])

    @property
    def vertices(self) -> int:
        """Vertices of one world; rigid bodies have none."""
        return self.model.vertices

    @property
    def finite(self) -> bool:
        """Whether all positions and velocities are finite numbers."""
        r = self.model.rigids
        arrays = (self.state.x, self.state.v, r.x, r.v, r.q, r.spin)
        return all(bool(np.isfinite(array.numpy()).all()) for array in arrays)

    @property
    def positions(self) -> FloatArray:
        """(vertices, dim) m of all soft bodies, in the order of their shapes; (worlds, vertices, dim) for several."""
        return self._to_user(self.state.x) + self.model.anchor

    @property
    def velocities(self) -> FloatArray:
        """(vertices, dim) m/s, as `positions`."""
        return self._to_user(self.state.v)

    def forces(self) -> FloatArray:
        """(vertices, dim) N: the total force on each point at the present state, as `positions`."""
        self.measure()
        assert self._forces is not None
        return self._forces

    def measure(self) -> None:
        """Bring forces, volumes and pressures up to the present state (else they are those of the last substep)."""
        with self._turn:
            self.ensure_fine()
            if self._forces is None:
                self._forces = self._to_user(self._step.forces()) if self.vertices else np.zeros((0, self.scene.dim))

    def energy(self) -> Energy:
        """The energy ledger, J. `dissipated` and `work` are kept only with `ledger=True`, and are nan otherwise."""
        self.measure()
        shape = (self.worlds, -1)
        x = np.asarray(self.state.x.numpy(), np.float64).reshape(*shape, self.scene.dim) + self.model.anchor
        v = np.asarray(self.state.v.numpy(), np.float64).reshape(*shape, self.scene.dim)
        volume = np.asarray(self.state.volume.numpy(), np.float64).reshape(shape)
        unknown = np.full(self.worlds, math.nan)
        losses = self._step.losses() if self.ledger else (unknown, unknown)
        return energy(self.model, x, v, volume, self.time, losses)

    def contacts(self) -> Contacts:
        """What touches what now: count, deepest penetration, and arrays of pairs, points, normals, depths, impulses."""
        return contacts_of(self)

    def collision_particles(self) -> dict[str, npt.NDArray[Any]]:
        """Of contact="particles" (B19): position (n, dim) m, owner and other (n,): bodies counted over all worlds."""
        touch = self._step.touch
        if touch is None or not hasattr(touch.method, "particles"):
            raise SceneError(
                f"only contact='particles' has collision particles; this is contact={self.settings.contact!r}"
            )
        found: dict[str, npt.NDArray[Any]] = touch.method.particles()
        return found

    def on_contact(self, function: Callable[[ContactEvent], None]) -> None:
        """Call a function after every frame for each pair that touches, or has ceased to (`ContactEvent`)."""
        if not callable(function):
            raise SceneError(f"on_contact needs a function of one contact event, got {function!r}")
        self._listeners.functions.append(function)

    # changing -------------------------------------------------------------------------------------------------------

    def grab(
        self, body: str, vertex: int, target: Sequence[float], stiffness: float = 50.0, damping: float | None = None,
        point: Sequence[float] | None = None,
    ) -> None:  # fmt: skip
        """Pull a vertex of a body (rigid: of its shape) to a target (m) as on a rubber band of `stiffness` N/m.

        One per body, in all worlds. damping: N s/m; left out, it is critical for the pulled point (rigid: the body).
        point: of a rigid body, any point in the coordinates of its shape instead of a vertex (`RigidView.to_shape`).
        Call again to move the target.
        """
        grab.grab(self, body, vertex, target, stiffness, damping, point)
        self._forces = None

    def release(self, body: str | None = None) -> None:
        """Let go of a body, or of all."""
        for name in self._views if body is None else [body]:
            grab.release(self, name)
        self._forces = None

    @property
    def gravity(self) -> FloatArray:
        """(dim,) m/s², or (worlds, dim). May be set."""
        return self._world_vector(self.model.gravity)

    @gravity.setter
    def gravity(self, value: Any) -> None:
        self._set_world_vector(self.model.gravity, "gravity", value)

    @property
    def wind(self) -> FloatArray:
        """(dim,) m/s, or (worlds, dim). May be set."""
        return self._world_vector(self.model.wind)

    @wind.setter
    def wind(self, value: Any) -> None:
        self._set_world_vector(self.model.wind, "wind", value)

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
        array.assign(np.ascontiguousarray(table, self.model.numbers.dtype))
        self._forces = None

    def check_change(self, body: int, name: str, values: FloatArray) -> None:
        """Whether a parameter of a body may be set."""
        if name == "bending" and not len(self.model.parts[body].hinges) and np.any(values):
            described = self.model.bodies[body].name
            raise SceneError(f"{described}.bending can be changed only if the body was described with bending > 0")

    def parameters_changed(self, body: int, name: str) -> None:
        """A parameter of a body was set: forces are to be measured anew, and some stages may be needed from now on."""
        self._forces = None
        described = self.model.bodies[body]
        if name == "stiffness" and described.velocity_damping is not None:  # Martin's damping follows the stiffness
            decay = self.model.decay.numpy().copy()
            mine = slice(body, None, len(self.model.parts))
            decay[mine] = decay_rate(described.velocity_damping, self.model.stiffness.numpy()[mine])
            self.model.decay.assign(decay)
        if name == "wind_drag" and not self.model.windy:
            self.model.windy = True
            self._step.graph = None

    def state_changed(self, moved: bool = True) -> None:
        """Positions (`moved`) or velocities were set."""
        self._forces = None
        if moved and self._step.touch is not None:
            self._step.touch.forget()

    def rebuild(
        self, scene: Scene | None = None, *, settings: Settings | None = None, ledger: bool | None = None,
        restart: bool = False,
    ) -> None:  # fmt: skip
        """Go on with another description or other settings, from the present state or (`restart`) from the beginning.

        What is left out stays as it is: also device, worlds and assembly. Bodies that both descriptions have are
        matched by name; views and contact listeners stay valid. If it cannot be built, nothing has changed.
        """
        make = fresh if restart else rebuilt
        with self._turn:
            new = make(self, self.scene if scene is None else scene, settings=settings, ledger=ledger)
            new.prepare()
            self._adopt(new)

    def _adopt(self, other: Simulation) -> None:
        """Become `other`, so that what a user holds of this simulation stays valid."""
        past, held = copy(self), {**self._views, **self.walls}
        for view in held.values():
            rebound(view, past)  # the view of a body that is gone shows its last state
        vars(self).update(vars(other), _listeners=self._listeners, _turn=self._turn)
        self._views = {name: rebound(view, self, held.get(name)) for name, view in other._views.items()}
        self.walls = {name: rebound(view, self, held.get(name)) for name, view in other.walls.items()}

    # for sinks ------------------------------------------------------------------------------------------------------

    @property
    def layout(self) -> Layout:
        """What does not change from frame to frame, for recorders and viewers."""
        return snapshot.layout_of(self)

    def frame(self) -> Frame:
        """The first world now."""
        return snapshot.frame_of(self)

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
    def load(cls, path: str | os.PathLike[str], device: str = "cpu") -> Simulation:
        """Go on from a saved state."""
        return save.load(cls, path, device)

    # helpers --------------------------------------------------------------------------------------------------------

    def _to_user(self, array: Any) -> FloatArray:
        """A device array over vertices, in the user's order, in double precision; a world axis if there are several."""
        self.ensure_fine()
        values = np.asarray(array.numpy(), np.float64)
        values = values.reshape(self.worlds, self.model.vertices, *values.shape[1:])[:, self.model.internal]
        return np.asarray(values[0] if self.worlds == 1 else values)
