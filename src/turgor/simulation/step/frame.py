"""The step: one line per stage, in the order of Matyka & Ollila 2003, section 2.4 (C1).

    forces -> volume -> pressure -> integrate -> collisions -> move

A frame is recorded once as a graph and replayed: no allocation, no copy to the host, no Python in between. The number
of substeps is planned on the device, and a device-side loop runs them.
"""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import warp as wp

from turgor.contact import walls
from turgor.diagnose import losses
from turgor.errors import UnstableError
from turgor.forces import bending, gas, gather, pressure, springs, volumes, wind
from turgor.model.model import BLOCK, Model
from turgor.model.state import State
from turgor.simulation.step.split import Touch
from turgor.solvers import integrate, plan, stability
from turgor.solvers.schemes import Scheme

__all__ = ["Step"]

FloatArray = npt.NDArray[np.float64]

# Warp records one graph at a time, and its tiles are not safe for several threads on the CPU (a crash, Warp 1.19): what
# simulations in several threads launch there is done one after another.
ONE_AT_A_TIME = threading.RLock()
GROWTHS = 32  # times that contact buffers may grow in one frame


class Step:
    """Launches the kernels of a frame on a model and a state."""

    def __init__(
        self,
        model: Model,
        state: State,
        scheme: Scheme,
        *,
        fps: float,
        substeps: int | None,
        max_substeps: int,
        ledger: bool,
        gathers: bool,
        contact: str,
    ) -> None:
        self.model, self.state, self.scheme = model, state, scheme
        self.frame_time, self.fixed, self.max_substeps = 1.0 / fps, substeps, max_substeps
        self.device = model.device
        self.count, self.bodies = model.vertices * model.worlds, len(model.parts) * model.worlds
        self.gathers = gathers
        n = model.numbers
        self.k_springs, self.k_pressure, self.k_gas = springs.kernels(n), pressure.kernels(n), gas.kernels(n)
        self.k_gather, self.k_wind, self.k_bending = gather.kernels(n), wind.kernels(n), bending.kernels(n)
        self.k_volumes, self.k_walls = volumes.kernels(n), walls.kernels(n)
        self.k_integrate = integrate.kernels(n, len(scheme.weights), scheme.velocity_first, not self.gathers, ledger)
        self.k_stability, self.k_frame = stability.kernels(n), plan.kernels(n)
        self.k_losses = losses.kernels(n) if ledger else None
        # plans are whole multiples of this
        self.unroll = 1 if self.device.is_cpu else 4 if substeps is None else math.gcd(substeps, 4)
        self.graph: Any = None
        self.fresh = False  # whether forces, volumes and pressures were evaluated at the present state
        self.touch = self._touch(contact, ledger)
        # a single soft body only needs contact while it could touch itself
        self.alone = self.touch is not None and len(model.parts) == 1 and not model.rigids.total

    def _touch(self, contact: str, ledger: bool) -> Touch | None:
        """The stage in which things touch; None if there is nothing to touch."""
        bodies = self.model.bodies
        wanted = len(bodies) > 1 or (contact == "features" and any(body.self_contact for body in bodies))
        if not self.model.rigids.total and (contact == "none" or not wanted):
            return None
        return Touch(self.model, self.state, self.scheme, contact, clears=not self.gathers, ledger=ledger)

    # a frame --------------------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Advance the state by one frame."""
        self.fresh = False
        if self.count == 0 and self.touch is None:  # nothing but walls
            self.state.clock.fill_(float(self.state.clock.numpy()[0]) + self.frame_time)
            self.move_walls(0.0)
            return
        self.launch_graph()
        for _ in range(GROWTHS):
            if self.touch is None or not self.touch.made_room():
                return
            self.graph = None
            self.state.status.zero_()
            self.launch_graph()
        raise UnstableError(f"contact needs ever more memory at t = {float(self.state.clock.numpy()[0]):.4g} s")

    def launch_graph(self) -> None:
        """All of a frame at once."""
        self.prepare()
        with ONE_AT_A_TIME if self.device.is_cpu else contextlib.nullcontext():
            wp.capture_launch(self.graph)

    def prepare(self) -> None:
        """Compile the kernels and record the frame, if that has not been done."""
        if self.graph is None and (self.count or self.touch is not None):
            with ONE_AT_A_TIME, wp.ScopedCapture(device=self.device) as capture:
                self.frame()
            self.graph = capture.graph

    def frame(self) -> None:
        """All the stages of a frame."""
        self.keep_state()
        wp.capture_while(self.state.unfinished, self.block)
        self.inspect()

    def block(self) -> None:
        """A number of substeps between two looks at the stability bound."""
        self.plan()
        if self.touch is not None and self.alone:
            self.touch.look()
        wp.capture_while(self.state.block, self.substeps)

    def substeps(self) -> None:
        """A turn of the device-side loop: several substeps where a turn itself costs time (about 5 µs on a GPU)."""
        for _ in range(self.unroll):
            self.substep()

    def substep(self) -> None:
        """One substep: each stage of the integrator evaluates all forces."""
        s, scheme = self.state, self.scheme
        reached = 0.0
        x, v = s.x, s.v
        for stage, weight in enumerate(scheme.weights):
            self.evaluate(x, v, reached)
            if stage == 0:
                self.keep_ledger()
            self.reshape_areas(x)
            if stage < len(scheme.reach):
                reached = scheme.reach[stage]
                self.begin_stage(stage, weight, reached)
                x, v = s.x_stage, s.v_stage
        self.move_walls(1.0)
        self.end_substep(v)

    def end_substep(self, v: Any) -> None:
        """All forces are known, and nothing has moved yet: contact between bodies, walls, movement."""
        touch = self.touch
        if touch is None:
            self.advance(v)
        elif self.alone:
            wp.capture_if(
                self.state.touchy,
                on_true=lambda: touch.substep(v, self._walls()),
                on_false=lambda: self.advance(v),
            )
        else:
            touch.substep(v, self._walls())

    def evaluate(self, x: Any, v: Any, reached: float) -> None:
        """All forces at (x, v): spring, face and hinge forces in f and area, pressure per body in push."""
        if self.gathers:
            self.gather_forces(x, v)
        else:
            self.add_springs(x, v)
            self.add_faces(x)
        self.add_bending(x)
        self.add_wind(v)
        self.estimate_volumes(x)
        self.update_bodies(x, v, reached)

    # the stages -----------------------------------------------------------------------------------------------------

    def launch(self, kernel: Any, dim: int, *inputs: Any) -> None:
        """One thread per element."""
        wp.launch(kernel, dim=dim, inputs=list(inputs), device=self.device)

    def launch_blocks(self, kernel: Any, dim: int, block: int, *inputs: Any) -> None:
        """One block per element; a block is a single thread on the CPU."""
        wp.launch_tiled(kernel, dim=[dim], inputs=list(inputs), block_dim=block, device=self.device)

    def add_springs(self, x: Any, v: Any) -> None:
        m = self.model
        self.launch(
            self.k_springs.add_springs, len(m.springs), x, v, m.springs, m.rest, m.body, m.stiffness, m.damping,
            self.state.f,
        )  # fmt: skip

    def add_faces(self, x: Any) -> None:
        m, s = self.model, self.state
        self.launch(self.k_pressure.add_faces, len(m.faces), x, m.faces, m.body, m.reference, s.area, s.volume_sum)

    def gather_forces(self, x: Any, v: Any) -> None:
        m, s = self.model, self.state
        self.launch_blocks(
            self.k_gather.gather_forces, m.chunks, m.block, m.chunk_body, m.chunk_start, x, v,
            m.neighbour_start, m.fan_end, m.neighbours, m.neighbour_rest, m.stiffness, m.damping, m.reference,
            s.f, s.area, s.partial,
        )  # fmt: skip

    def reshape_areas(self, x: Any) -> None:
        m = self.model
        if m.pressure_reshaped:
            self.launch(
                self.k_pressure.reshape_areas, self.count, x, m.faces, m.vertex_faces_start, m.vertex_faces,
                m.pressure_factor, m.averaged, self.state.area,
            )  # fmt: skip

    def add_bending(self, x: Any) -> None:
        m = self.model
        if len(m.hinges):
            self.launch(
                self.k_bending.add_bending, len(m.hinges), x, m.hinges, m.rest_angles, m.body, m.bending, self.state.f
            )

    def add_wind(self, v: Any) -> None:
        m, s = self.model, self.state
        if m.windy:
            self.launch(self.k_wind.add_wind, self.count, v, s.area, m.body, m.world, m.wind, m.wind_drag, s.f)

    def estimate_volumes(self, x: Any) -> None:
        m, s, k = self.model, self.state, self.k_volumes
        if not m.volumes_estimated:
            return
        self.launch(k.reset_bounds, self.bodies, s.low, s.high, s.reach, s.inside)
        self.launch(k.find_bounds, self.count, x, m.body, m.method, s.low, s.high)
        self.launch(k.find_reach, self.count, x, m.body, m.method, s.low, s.high, s.reach)
        if m.probes:
            self.launch(
                k.probe_inside, m.probes, x, m.faces, m.face_start, m.probe_body, m.probe_index, m.samples, m.method,
                s.low, s.high, s.clock, s.inside,
            )  # fmt: skip
        self.launch(k.estimate_volume, self.bodies, m.method, m.samples, s.low, s.high, s.reach, s.inside, s.volume_sum)

    def update_bodies(self, x: Any, v: Any, reached: float) -> None:
        m, s = self.model, self.state
        per_body = (
            x, v, m.rest_volume, m.nRT, m.ambient, m.gamma, m.held, m.inflate, m.gravity_waits, m.world, m.gravity,
            s.grab_vertex, s.grab_target, s.grab_stiffness, s.grab_damping,
            s.volume_sum, s.f, s.volume, s.pressure, s.push, s.gravity,
        )  # fmt: skip
        if self.gathers:
            chunks = (m.chunk_first, s.partial, m.method)
            block = BLOCK if m.chunks > 32 * self.bodies else 32
            self.launch_blocks(
                self.k_gather.collect_bodies, self.bodies, block, reached, s.clock, s.dt, *chunks, *per_body
            )
        else:
            self.launch(self.k_gas.update_bodies, self.bodies, reached, s.clock, s.dt, *per_body)

    def begin_stage(self, stage: int, weight: float, reach: float) -> None:
        m, s = self.model, self.state
        self.move_walls(reach)
        self.launch(
            self.k_integrate.begin_stage, self.count, stage, weight, reach, s.x, s.v, s.f, s.area, m.body,
            m.inverse_mass, s.push, s.gravity, m.drag, m.friction, *self._walls()[:-1], s.dt, s.x_stage, s.v_stage,
            s.x_slope, s.v_slope,
        )  # fmt: skip

    def move_walls(self, lead: float) -> None:
        w, s = self.model.walls, self.state
        if w.moving:
            self.launch(
                self.k_walls.move_walls, w.count, lead, s.clock, s.dt, w.normal0, w.arm0, w.centre0, w.velocity, w.spin,
                w.since, w.normal, w.point, w.centre,
            )  # fmt: skip

    def advance(self, v: Any) -> None:
        m, s = self.model, self.state
        self.launch(
            self.k_integrate.advance, self.count, self.scheme.weights[-1], s.x, s.v, v, s.x_slope, s.v_slope, s.f,
            s.area, m.body, m.inverse_mass, s.push, s.gravity, m.drag, m.decay, m.friction, m.restitution,
            *self._walls(), s.dt, s.clock, s.planned, s.block, s.substeps, s.unfinished, s.dissipated, s.work,
        )  # fmt: skip

    def _walls(self) -> tuple[Any, ...]:
        w = self.model.walls
        return (w.normal, w.point, w.centre, w.velocity, w.spin, w.friction, w.restitution)

    def keep_ledger(self) -> None:
        m, s, k = self.model, self.state, self.k_losses
        if k is None:
            return
        self.launch(k.dashpot_losses, len(m.springs), s.x, s.v, m.springs, m.body, m.damping, s.dt, s.dissipated)
        self.launch(
            k.air_losses, self.count, s.v, s.area, m.body, m.world, m.mass, m.inverse_mass, m.drag, m.wind, m.wind_drag,
            s.dt, s.dissipated, s.work,
        )  # fmt: skip
        self.launch(
            k.body_work, self.bodies, s.clock, s.dt, s.x, s.v, s.volume, m.rest_volume, m.nRT, m.ambient, m.gamma,
            m.held, m.inflate, s.grab_vertex, s.grab_target, s.grab_stiffness, s.grab_damping, s.work,
        )  # fmt: skip

    # once per frame -------------------------------------------------------------------------------------------------

    def keep_state(self) -> None:
        s = self.state
        self.launch(
            self.k_frame.begin_frame, max(self.count, 1), s.x, s.v, s.clock, s.x_good, s.v_good, s.clock_good,
            s.status, s.unfinished, s.substeps,
        )  # fmt: skip
        if self.touch is not None:
            self.touch.keep()

    def plan(self) -> None:
        """The length of the next substeps: fixed, or from the stability bound at the present state."""
        m, s, k, w = self.model, self.state, self.k_stability, self.model.walls
        if self.fixed is not None:
            self.launch(self.k_frame.plan_fixed, 1, self.frame_time, self.fixed, s.planned, s.block, s.dt)
            return
        if self.gathers:
            self.gather_forces(s.x, s.v)
        else:
            self.add_faces(s.x)
        self.estimate_volumes(s.x)
        self.update_bodies(s.x, s.v, 0.0)
        bounds = (
            s.spring_bound, s.tension_bound, s.turn_bound, s.gas_bound, s.hinge_bound, s.lightest, s.change_rate,
            s.flow,
        )  # fmt: skip
        if len(m.hinges):
            self.launch(k.bound_hinges, len(m.hinges), s.x, m.hinges, s.hinge_sum)
        self.launch_blocks(
            k.bound_bodies, m.chunks, m.block, self.frame_time, m.chunk_body, m.chunk_start, s.x, s.v, s.f, s.area,
            int(not self.gathers), m.inverse_mass, m.neighbour_start, m.neighbours, m.neighbour_rest, s.hinge_sum,
            w.normal, w.point, w.centre, w.velocity, w.spin, *bounds,
        )  # fmt: skip
        c = self.scheme
        limits = wp.vec4f(c.imaginary, c.real, float(c.growth_power), c.growth_divisor)
        self.launch(
            k.bound_step, self.bodies, limits, *bounds, m.breathing, m.stiffness, m.damping, m.bending, m.drag,
            m.wind_drag, s.grab_vertex, s.grab_stiffness, s.grab_damping, s.volume, m.rest_volume, s.pressure,
            m.ambient, m.gamma, m.held, s.step_bound, s.renew_bound,
        )  # fmt: skip
        self.launch_blocks(
            self.k_frame.plan_substeps, 1, BLOCK, self.frame_time, self.max_substeps, self.unroll, s.step_bound,
            s.renew_bound, s.clock, s.clock_good, s.substeps, s.status, s.unfinished, s.planned, s.block, s.pace, s.dt,
        )  # fmt: skip

    def inspect(self) -> None:
        m, s, k = self.model, self.state, self.k_frame
        self.launch(
            k.inspect, max(self.count, 1), s.x, s.v, m.body, m.reference, m.size, self.frame_time, s.clock,
            s.clock_good, s.status,
        )  # fmt: skip
        if self.touch is not None:
            self.touch.inspect()
            self.touch.restore()
        self.launch(k.restore, max(self.count, 1), s.status, s.x_good, s.v_good, s.clock_good, s.x, s.v, s.clock)
        if self.k_losses is not None:
            self.launch(k.restore_ledger, self.bodies, s.status, s.ledger_good, s.dissipated, s.work)
        self.move_walls(0.0)

    # when something was set -----------------------------------------------------------------------------------------

    def changed(self, moved: bool = True) -> None:
        """Parameters, velocities or (`moved`) positions were set: what was measured or listed is out of date."""
        self.fresh = False
        if moved and self.touch is not None:
            self.touch.forget()

    def invalidate(self) -> None:
        """Record the frame again before the next one: other stages are needed from now on."""
        self.graph = None

    # for others -----------------------------------------------------------------------------------------------------

    def forces(self) -> Any:
        """Device array (vertices * worlds) of the total force on each point at the present state, N."""
        m, s = self.model, self.state
        out = wp.zeros_like(s.x)
        with ONE_AT_A_TIME:
            self.evaluate(s.x, s.v, 0.0)
            self.reshape_areas(s.x)
            self.launch(
                self.k_integrate.total_force, self.count, s.f, s.area, s.v, m.body, m.mass, s.push, s.gravity, m.drag,
                out,
            )  # fmt: skip
        return out

    def losses(self) -> tuple[FloatArray, FloatArray]:
        """(worlds,) J each: dissipated, and work done from outside, since the start."""
        tables = (array.numpy().reshape(self.model.worlds, -1) for array in (self.state.dissipated, self.state.work))
        dissipated, work = (table.sum(axis=1) for table in tables)
        return dissipated, work

    def stage_times(self) -> dict[str, float]:
        """Seconds per launch of each stage of a substep, measured one by one at the present state (which is kept)."""
        self.fresh = False
        s = self.state
        x, v, clock = wp.clone(s.x), wp.clone(s.v), wp.clone(s.clock)
        stages: dict[str, Callable[[], None]] = {
            "springs": lambda: self.add_springs(s.x, s.v),
            "faces": lambda: self.add_faces(s.x),
            "bending": lambda: self.add_bending(s.x),
            "wind": lambda: self.add_wind(s.v),
            "volume estimate": lambda: self.estimate_volumes(s.x),
            "gas": lambda: self.update_bodies(s.x, s.v, 0.0),
            "walls": lambda: self.move_walls(1.0),
            "integrate": lambda: self.advance(s.v),
            "plan (per frame)": self.plan,
            "inspect (per frame)": self.inspect,
        }
        if self.gathers:
            stages = {"gather": lambda: self.gather_forces(s.x, s.v)} | {
                name: stage for name, stage in stages.items() if name not in ("springs", "faces")
            }
        s.dt.zero_()  # so that the state stays where it is
        repeat = max(1, min(50, 1_000_000 // max(self.count, 1)))
        times = {}
        for name, stage in stages.items():
            with wp.ScopedCapture(device=self.device) as capture:
                for _ in range(repeat):
                    stage()
            best = math.inf
            for _ in range(5):
                wp.synchronize_device(self.device)
                start = time.perf_counter()
                wp.capture_launch(capture.graph)
                wp.synchronize_device(self.device)
                best = min(best, time.perf_counter() - start)
            times[name] = best / repeat
        for target, kept in ((s.x, x), (s.v, v), (s.clock, clock)):
            wp.copy(target, kept)
        for array in (s.f, s.area, s.volume_sum, s.status, s.block, s.unfinished):
            array.zero_()
        return times
