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
from turgor.scene.rigid import RigidBody
from turgor.scene.scene import Scene, Thing
from turgor.simulation.choice import AUTO, needed_substeps
from turgor.simulation.rebuild import rebuilt
from turgor.simulation.simulation import Simulation
from turgor.viewer.world.fillings import Fillings
from turgor.viewer.world.grabs import Grabs

__all__ = ["World"]

BACKLOG = 6  # frames at most that are made up for in one go; what is later than that is dropped
TURN = 0.012  # s of one go after which the page is to be served first
SLOW, QUICK = 0.03, 0.006  # s that a frame may take before frames are made shorter, and less than which they are longer
PATIENCE = 12  # frames in a row that are slow or quick before that is done
FINEST = 8  # times as many frames per second as the scene asks for, at most
MAX_VERTICES = 200_000  # of the whole scene

# Fields of a body that the engine changes while it runs: path in the scene -> attribute of its view.
LIVE_BODY = {
    ("springs", "stiffness"): "stiffness",
    ("springs", "damping"): "damping",
    ("drag",): "drag",
    ("mass",): "mass",
    ("friction",): "friction",
    ("restitution",): "restitution",
}
LIVE_MATERIAL = (("material", "young"), ("material", "thickness"), ("material", "damping"))
LIVE_AIR = (("drag_coefficient",), ("drag_tangential",), ("wind_drag",))
LIVE_WALL = ("friction", "restitution", "spin", "velocity")
GAS_KIND = (
    "law",
    "gamma",
    "held",
    "inflate",
    "gravity_waits",
    "pressure_at",
)  # a change of these rebuilds the simulation
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
        self._grabs = Grabs()
        self._fillings = Fillings()
        self._due = 0.0  # simulated seconds that are to be run
        self._frame: Frame | None = None
        self._division = 1  # frames that are simulated for each that the scene asks for
        self._finest = 1 if given else FINEST  # a frame of a user's own simulation stays as long as it was
        self._odd = 0  # frames in a row that took long (positive), or little time (negative)

    # the scene ------------------------------------------------------------------------------------------------------

    def open(self, scene: Scene) -> None:
        """Start with another scene. If it cannot be built, the old one goes on."""
        _check_size(scene, "the scene")
        self._restart(scene)
        self.scenes += 1
        self.opened = scene.copy()
        self.came.clear()

    def reset(self) -> None:
        """Back to the beginning, with the parameters of now."""
        self._restart(self.scene)

    def restore(self) -> None:
        """Back to the beginning, with the parameters of the beginning."""
        self._restart(self.opened)

    def _restart(self, scene: Scene) -> None:
        scene = scene.copy()
        self.sim.rebuild(scene, settings=scene.simulation, restart=True)
        self.scene, self._division, self._odd = scene, 1, 0
        self._grabs = Grabs()
        self._fillings.end()
        self.starts += 1
        self._renewed(bodies=True)

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

    # time -----------------------------------------------------------------------------------------------------------

    def advance(self, seconds: float) -> int:
        """Run the frames that have become due in `seconds` of the viewer's time; returns how many.

        Raises UnstableError when the simulation diverges: it is then paused in its last good state.
        """
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
        """To rest, with all of its gas, and pause. Raises where there is no equilibrium: nothing has moved then."""
        self.playing = False
        self._fillings.finish(self.sim)
        self.sim.settle()
        self._renewed(bodies=False)

    def _step(self) -> None:
        self._frame = None
        self._fillings.go_on(self.sim)
        try:
            self.sim.step()
        except UnstableError:
            self.playing = False
            raise
        self.ticks += 1
        for watcher in list(self.watchers):
            watcher(self.frame())

    # changes --------------------------------------------------------------------------------------------------------

    def change(self, path: str, value: Any) -> None:
        """Set one value by its path, as `Scene.set`, in the scene and in the running simulation."""
        scene = self.scene.copy()
        scene.set(path, value)
        head, *keys = path.split(".")
        refilled = keys[:1] == ["gas"] or keys == ["material"]  # another preset holds another amount
        if refilled:
            self._fillings.end(head)
        if self._change_live(scene, head, tuple(keys)):
            self.scene = self.sim.scene = scene
            self._frame = None
        else:
            before = float(self.sim[head].nRT) if refilled and self.gas(head) is not None else 0.0
            self._rebuild(scene, bodies=tuple(keys[:1]) == ("shape",) or tuple(keys) == COLOR)
            if before > 0.0 and getattr(scene[head].gas, "pressure_at", "") == "equilibrium":  # type: ignore[union-attr]
                self._fillings.begin(self.sim, head, before)

    def _change_live(self, scene: Scene, head: str, keys: tuple[str, ...]) -> bool:
        """Into the running simulation; False where it has to be rebuilt."""
        if head in ("gravity", "wind", "air_density") and not keys:
            setattr(self.sim, head, getattr(scene, head))
            return True
        if head in ("name", "description"):
            return True
        if head == "simulation":
            if keys == ("seconds",):
                self.sim.settings = replace(self.sim.settings, seconds=scene.simulation.seconds)
            return keys == ("seconds",)
        thing, before = scene[head], self.scene[head]
        if head in self.sim.walls:
            return self._change_wall(head, thing, keys)
        if keys[:1] == ("gas",):
            return self._change_gas(head, before, thing)
        return self._change_body(head, thing, keys)

    def _change_wall(self, name: str, wall: Any, keys: tuple[str, ...]) -> bool:
        if len(keys) != 1 or keys[0] not in LIVE_WALL:
            return False
        setattr(self.sim.walls[name], keys[0], getattr(wall, keys[0]))
        return True

    def _change_body(self, name: str, body: Any, keys: tuple[str, ...]) -> bool:
        if keys in LIVE_AIR:
            return self._change_air(name, body)
        if keys in LIVE_MATERIAL:
            return self._change_material(name, self.scene[name], body)
        if keys == ("velocity",) and isinstance(body, RigidBody) and body.kind == "kinematic":  # it is driven by it
            self.sim.rigid_bodies[name].velocity = body.velocity
            return True
        attribute = LIVE_BODY.get(keys)
        if attribute is None or (attribute == "mass" and self._glued(name)):
            return False
        if isinstance(body, RigidBody) and body.kind != "dynamic" and attribute == "mass":
            return False
        value = body
        for key in keys:
            value = getattr(value, key)
        setattr(self.sim[name], attribute, value)
        return True

    def _change_material(self, name: str, before: Any, after: Any) -> bool:
        """A thicker skin is also heavier, unless its mass was given; and both numbers are in its rigidity."""
        old, new = before.membrane, after.membrane
        bends = old is not None and (old.flexural_rigidity > 0.0) == (new.flexural_rigidity > 0.0)
        if not bends or (after.mass != before.mass and self._glued(name)):
            return False
        view = self.sim[name]
        view.young, view.thickness, view.viscosity = new.young, new.thickness, new.damping
        if new.flexural_rigidity > 0.0:
            view.bending = new.flexural_rigidity
        if after.mass != before.mass:
            view.mass = after.mass
        return True

    def _change_air(self, name: str, body: Any) -> bool:
        view = self.sim[name]
        view.drag_coefficient, view.drag_tangential = body.air_drag
        if isinstance(body, Body):
            view.wind_drag = body.wind_drag or 0.0
        return True

    def _change_gas(self, name: str, before: Any, after: Any) -> bool:
        old, new = before.gas, after.gas
        if old is None or new is None or any(getattr(old, key) != getattr(new, key) for key in GAS_KIND):
            return False
        if new.pressure_at == "equilibrium":  # its amount has to be found
            return False
        view = self.sim[name]
        view.ambient = new.ambient
        view.nRT = new.nRT_at(float(view.rest_volume))
        self.sim.state.temperatures[:, view.index] = new.temperature
        return True

    def revert(self, scene: Scene) -> None:
        """Go on with an earlier description of the same bodies."""
        self._rebuild(scene, bodies=False)

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

    def add(self, thing: Thing) -> str:
        """Add a body or wall; returns its name."""
        scene = self.scene.copy()
        before = set(scene.names)
        scene.add(thing)
        _check_size(scene, "with it the scene")
        self._rebuild(scene, bodies=True)
        name = next(name for name in scene.names if name not in before)
        self.came[name] = scene[name]
        return name

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

    def _set_pins(self, name: str, pins: tuple[int, ...]) -> None:
        scene = self.scene.copy()
        scene.set(f"{name}.pins", pins)
        self._rebuild(scene, bodies=False)

    def _soft(self, name: str) -> Body:
        body = self.scene[name]
        if not isinstance(body, Body):
            raise SceneError(f"{name}: only vertices of soft bodies and cloths can be pinned; make a rigid body static")
        return body

    def _glued(self, name: str) -> bool:
        return any(name in (entry.body, entry.rigid) for entry in self.scene.attachments)

    def _rebuild(self, scene: Scene, bodies: bool, *, ledger: bool | None = None, division: int | None = None) -> None:
        """Go on with a simulation of another description; if it cannot be built, nothing has changed."""
        division = self._division if division is None else division
        fps = scene.simulation.fps * division
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
