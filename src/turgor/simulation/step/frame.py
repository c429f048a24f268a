"""The frame: one call per stage, in the order of Matyka & Ollila 2003, section 2.4.

    forces -> volume -> pressure -> integrate -> collisions -> move

A frame is recorded once as a graph and replayed (`replay.py`): no allocation, no copy to the host, no Python in
between. The number of substeps is planned on the device, and a device-side loop runs them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import warp as wp

from turgor.contact import walls
from turgor.contact.method import ContactMethod
from turgor.diagnose import losses
from turgor.forces import membrane
from turgor.kernel.launch import Launcher
from turgor.kernel.rows import clear_rows, copy_rows, indices
from turgor.kernel.team import Team
from turgor.model.model import BLOCK, Model
from turgor.model.saved import Rollback, restore, saved
from turgor.model.scratch import Scratch
from turgor.model.state import State
from turgor.simulation.step.forces import Forces
from turgor.simulation.step.free_turns import BlockTurn, block_turn
from turgor.simulation.step.fused import FusedEnd
from turgor.simulation.step.implicit import BackwardEuler
from turgor.simulation.step.replay import Replay
from turgor.simulation.step.slow_damping import SlowDamping
from turgor.simulation.step.spectrum import SkinSpectrum
from turgor.simulation.step.split import SplitEnd
from turgor.solvers import accuracy as accuracy_of
from turgor.solvers import leapfrog, plan, stability, stage, tangent
from turgor.solvers.schemes import Scheme

__all__ = ["Step"]

FloatArray = npt.NDArray[np.float64]

LOOK = 16  # substeps between two looks at a lone body's shape, where their number is fixed
PULSE = 4  # substeps, a multiple of those of a turn on a GPU
ESTIMATE_EVERY = 16  # frames between estimates of the error, where nothing depends on it


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
        accuracy: float,
        ledger: bool,
        gathers: bool,
        contact: str,
        readings: bool,
        threads: int = 1,
    ) -> None:
        self.model, self.state, self.scheme = model, state, scheme
        team = Team(threads) if threads > 1 and model.device.is_cpu else None
        self.scratch = scratch = Scratch(model, state, len(scheme.weights), ledger, team)
        self.frame_time, self.fixed, self.max_substeps = 1.0 / fps, substeps, max_substeps
        self.accuracy = accuracy  # inf: stability alone
        self.estimate_every = ESTIMATE_EVERY if math.isinf(accuracy) else 1
        self.device = model.device
        self.count, self.bodies = model.vertices * model.worlds, len(model.parts) * model.worlds
        self.launch = Launcher(
            self.device, state, scratch, model,
            wall=[state.walls, model.walls],
            rigid=[state.rigid, scratch.rigid, model.rigids],
            glued=[model.glue],
            patch=[model.rigids.patches],
        )  # fmt: skip
        self.launch.team, self.cuts = team, model.cuts("order")
        self.launch = self.launch.extended({"skins": self.launch.struct(membrane.kernels(model.numbers).Skins)})
        n, options = model.numbers, {"clears": not gathers, "ledger": ledger}
        self.k_walls, self.k_stability, self.k_plan = walls.kernels(n), stability.kernels(n), plan.kernels(n)
        self.k_tangent = tangent.kernels(n)
        self.k_accuracy, self.k_leapfrog = accuracy_of.kernels(n), leapfrog.kernels(n)
        self.k_stage = stage.kernels(n, scheme.velocity_first, clears=not gathers)
        self.k_losses = losses.kernels(n) if ledger else None
        self.forces = Forces(model, self.launch, gathers)
        self.slow_damping: SlowDamping | None = None
        self.spectrum = SkinSpectrum(self) if model.has_membranes and substeps is None else None
        if model.has_membranes and substeps is None and not scheme.implicit:
            self.substitute_viscosity(booking=ledger)
        self.fused = FusedEnd(model, self.launch, scheme, **options)
        self.quick = block_turn(model, self.launch, scheme, gathers, ledger)
        self.implicit = BackwardEuler(self, ledger) if scheme.implicit and self.count else None
        self.split = self._split(contact, readings, options)
        # a single soft body only needs contact while it could touch itself
        self.alone = (
            self.split is not None and len(model.parts) == 1 and not model.rigids.total and not readings
            and self.implicit is None
        )  # fmt: skip
        if self.split is None:
            scratch.ends_fused.fill_(1)
        # plans are multiples of this
        self.unroll = 1 if self.device.is_cpu else 4 if substeps is None else math.gcd(substeps, 4)
        # substeps between actions of bending on skins of a material, in plans of the symplectic solver
        self.pulse = PULSE if model.has_membranes and len(model.hinges) and substeps is None and scheme.leapfrog else 1
        self.replay = Replay(self)
        self.rollback = Rollback([])  # made when the frame is recorded
        self.fresh = False  # whether forces, volumes and pressures were evaluated at the present state
        self.unsure = False  # whether parameters or the state were set: another solver may be better now
        self._disturbed: set[int] = set()  # bodies
        self._all_disturbed = False
        # launches of others, recorded with the frame: when the forces of a substep are known, and at its end
        self.before_motion: Callable[[], None] | None = None
        self.after_substep: Callable[[], None] | None = None

    def substitute_viscosity(self, *, booking: bool) -> None:
        """Viscosity of skins that would ask for shorter steps becomes a damping of slow vibrations."""
        self.slow_damping = SlowDamping(self, booking)
        self.forces.viscosity = self.slow_damping.quick_viscosity

    def act_at_once(self) -> None:
        """All forces in each substep, whatever steps they ask for: for those who look at single substeps."""
        self.slow_damping, self.forces.viscosity, self.pulse = None, self.model.viscosity, 1

    def _split(self, contact: str, readings: bool, options: dict[str, bool]) -> SplitEnd | None:
        """The end of a substep with contact, or in parts for readings; None if there is nothing to touch."""
        bodies = self.model.bodies
        wanted = len(bodies) > 1 or (contact == "features" and any(body.self_contact for body in bodies))
        if not self.model.rigids.total and (contact == "none" or not wanted):
            if not readings and self.implicit is None:
                return None
            contact = "none"
        options = {**options, "readings": readings}
        return SplitEnd(
            self.model, self.state, self.scratch, self.launch, self.scheme, contact, self.implicit, **options
        )

    @property
    def changing(self) -> list[Any]:
        """What has arrays that a frame changes."""
        parts = self.split.parts.values() if self.split is not None else ()
        rigid = [self.state.rigid] if self.model.rigids.total else []
        return [self.state, *rigid, *parts, *self._own_parts.values()]

    @property
    def _own_parts(self) -> dict[str, Any]:
        """What has arrays of its own that go on from frame to frame, beside contact."""
        parts = {"implicit": self.implicit, "spectrum": self.spectrum, "slow_damping": self.slow_damping}
        return {name: part for name, part in parts.items() if part is not None}

    # from the host --------------------------------------------------------------------------------------------------

    @property
    def empty(self) -> bool:
        """Whether there is nothing but walls."""
        return self.count == 0 and self.split is None

    def changed(self, moved: bool = True, body: int | None = None) -> None:
        """Parameters, velocities or (`moved`) positions were set: what was measured or listed is out of date.

        body: the only one that this is about, counted as in contact: soft bodies, then rigid ones.
        """
        self.disturb(None if moved else body)
        self.fresh, self.unsure = False, True
        if self.implicit is not None:
            self.implicit.forget(moved)
        if self.spectrum is not None:
            self.spectrum.forget()
        if moved and self.model.may_run_away:
            self.scratch.volume_before.fill_(np.nan)
            self.scratch.made.zero_()
        if moved and self.split is not None and self.split.method is not None:
            self.split.method.forget()

    def disturb(self, body: int | None = None) -> None:
        """Something has changed for a body, or for all: those that sleep must look."""
        if body is None:
            self._all_disturbed = True
        else:
            self._disturbed.add(body)

    def take_disturbances(self) -> tuple[set[int], bool]:
        """The bodies for which something has changed since the last call, and whether it has for all."""
        found = self._disturbed, self._all_disturbed
        self._disturbed, self._all_disturbed = set(), False
        return found

    def forget_worlds(self, worlds: npt.NDArray[np.int32]) -> None:
        """The motion of some worlds was set: as `changed`, without a change for the others.

        What is that of all worlds is found again: the implicit solver goes on with a step of first order.
        """
        chosen = indices(worlds, self.device)
        mask = np.zeros(self.model.worlds, np.int32)
        mask[worlds] = 1
        self.fresh, self.unsure = False, True
        if self.implicit is not None:
            self.implicit.forget(True)
        if self.spectrum is not None:
            self.spectrum.forget()
        clear_rows(self.scratch.wall_contact_normal, self.model.worlds, chosen)
        if self.model.may_run_away:
            clear_rows(self.scratch.made, self.model.worlds, chosen)
            unknown = wp.full(len(self.model.parts), np.nan, dtype=self.model.numbers.real, device=self.device)
            copy_rows(
                self.scratch.volume_before, unknown, self.model.worlds, 1, chosen, indices(0 * worlds, self.device)
            )
        if self.split is not None:
            where = indices(mask, self.device)
            for part in self.split.parts.values():
                part.forget_worlds(chosen, where)

    def saved_contacts(self) -> dict[str, npt.NDArray[Any]]:
        """Arrays beside the state that a continuation needs to be the same bit for bit: lists and old impulses."""
        parts = {**({} if self.split is None else self.split.parts), **self._own_parts}
        return {key: array for name, part in parts.items() for key, array in saved(part, f"{name}_").items()}

    def restore_contacts(self, arrays: dict[str, npt.NDArray[Any]]) -> None:
        """Put back what `saved_contacts` gave."""
        for name, part in ({} if self.split is None else self.split.parts).items():
            prefix = f"{name}_"
            mine = {key.removeprefix(prefix): array for key, array in arrays.items() if key.startswith(prefix)}
            if mine:
                part.fit(mine)
                restore(part, mine)
        for name, part in self._own_parts.items():
            if any(key.startswith(f"{name}_") for key in arrays):
                restore(part, arrays, f"{name}_")
        self.replay.record_again()

    # a frame --------------------------------------------------------------------------------------------------------

    def frame(self) -> None:
        """All the stages of a frame."""
        self.begin()
        wp.capture_while(self.scratch.unfinished, self.planned_substeps)
        self.inspect()

    def planned_substeps(self) -> None:
        """A number of substeps between two looks at the stability bound."""
        self.plan()
        if self.alone and self.split is not None and self.split.method is not None:
            self.split.method.look(self.unroll)
        wp.capture_while(self.scratch.until_plan, self.substeps)

    def substeps(self) -> None:
        """A turn of the device-side loop: several substeps where a turn itself costs time (about 5 µs on a GPU)."""
        split = self.split
        if split is None:
            self.free_turn()
        elif not self.alone or split.method is None:
            self.turn(split.run)
        else:
            self.lone_turn(split, split.method)

    def turn(self, end: Callable[[Any], None]) -> None:
        """Substeps that all end in the same way."""
        for _ in range(self.unroll):
            self.substep(end, joins=True)

    def free_turn(self) -> None:
        """Substeps of bodies that touch nothing."""
        quick = self.quick_way
        if quick is None:
            self.turn(self.fused.run)
        else:
            quick.run(max(self.unroll, 2))  # one would be one, whatever the plan

    @property
    def quick_way(self) -> BlockTurn | None:
        """Whole substeps in one kernel, if they need nothing else now."""
        observed = self.before_motion is not None or self.after_substep is not None
        return None if observed or self.state.walls.moving or self.model.feels_air else self.quick

    def lone_turn(self, split: SplitEnd, method: ContactMethod) -> None:
        """Substeps of bodies each alone in its world: whether they need contact is looked at after each of them.

        Where conditions cost as much as a substep, those that can do without for the whole turn are looked at once.
        A world that touches nothing takes the same kernels whatever others do, so that it ends in the same bits.
        """
        quick, flag = self.quick_way, self.scratch.may_self_touch

        def touching(v: Any) -> None:  # in some of the worlds
            split.run(v)
            if self.model.worlds > 1 and quick is None:
                self.fused.run(v, counts=False)
            elif self.model.worlds > 1 and quick is not None:
                quick.follow()
            method.calm()

        def end(v: Any) -> None:
            wp.capture_if(flag, on_true=lambda: touching(v), on_false=lambda: self.fused.run(v))

        def substep() -> None:
            if quick is None:
                self.substep(end)
            else:
                wp.capture_if(flag, on_true=lambda: self.substep(touching), on_false=lambda: quick.run(1))

        def look(every: int, *, last: bool) -> None:
            wp.capture_if(self.scratch.any_watched, on_true=lambda: method.watch(every, self.unroll, last=last))

        def near() -> None:
            for number in range(self.unroll):
                last = number == self.unroll - 1
                if last:
                    self.scratch.any_near.zero_()
                substep()
                look(1, last=last)
            if self.unroll > 1:
                look(self.unroll, last=True)

        def free() -> None:
            self.free_turn()
            look(self.unroll, last=True)

        if self.unroll == 1:
            near()
        else:
            wp.capture_if(self.scratch.any_near, on_true=near, on_false=free)

    def substep(self, end: Callable[[Any], None], joins: bool = False) -> None:
        """One substep: each stage of the integrator evaluates all forces.

        end: contact between bodies, walls and movement, from the velocities at which the forces were evaluated last.
        joins: whether that begins with a loop which CPU threads may put together with those of the forces.
        """
        scratch, scheme = self.scratch, self.scheme
        offset = 0.0
        x, v = self.state.x, self.state.v
        if scheme.implicit:
            self.move_walls(1.0)
            end(v)
            return
        one = len(scheme.weights) == 1
        if one:  # forces do not look at walls
            self.move_walls(1.0)
        for number, weight in enumerate(scheme.weights):
            self.launch.put_together(self.cuts)
            self.forces.evaluate(x, v, offset, pulsed=self.pulse > 1)
            if number == 0:
                self.keep_ledger()
                self.forces.book_volumes()
            self.forces.reshape_areas(x, v, booking=number == 0)
            if number < len(scheme.reach):
                offset = scheme.reach[number]
                self.begin_stage(number, weight, offset)
                x, v = scratch.x_stage, scratch.v_stage
        if not one:
            self.move_walls(1.0)
        if self.before_motion is not None:
            self.launch.part()
            self.before_motion()
        if not joins:
            self.launch.part()
        end(v)
        if self.k_losses is not None:
            self.launch(self.k_losses.grab_work, self.bodies)
        if self.after_substep is not None:
            self.after_substep()

    def begin_stage(self, number: int, weight: float, reach: float) -> None:
        """Positions and velocities at which the next stage looks; walls hold what lies on them."""
        self.move_walls(reach)
        self.launch(self.k_stage.begin_stage, self.count, stage=number, weight=weight, reach=reach)

    def move_walls(self, lead: float) -> None:
        """Walls at a time `lead` substeps after the clock."""
        if self.state.walls.moving:
            self.launch(self.k_walls.move_walls, self.model.walls.count, lead=lead)

    def keep_ledger(self) -> None:
        """The forces of damping and wind apart from the others; what pumps and grabs put in, in this substep."""
        k = self.k_losses
        if k is not None:
            self.keep_lost_forces()
            self.launch(k.body_work, self.bodies)

    def keep_lost_forces(self) -> None:
        """The forces of damping and wind at the present state."""
        k = self.k_losses
        if k is not None:
            self.launch(k.air_forces, self.count)
            self.launch(k.dashpot_forces, len(self.model.springs))
            if self.model.has_membranes:
                self.launch(k.viscous_forces, len(self.model.faces), viscosity=self.forces.viscosity)

    # once per frame -------------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Keep the state, to go back to if the frame fails; look at the error of the energy."""
        self.launch(self.k_plan.begin_frame, 1, frame_time=self.frame_time, estimate_every=self.estimate_every)
        self.rollback.keep()
        if self.count and self.model.walls.count:
            self.scratch.wall_impulse.zero_()
        if self.count:
            wp.capture_if(self.scratch.estimate_due, on_true=self.estimate_error)
        if self.slow_damping is not None:
            self.slow_damping.run()
        if self.spectrum is not None and not self.scheme.implicit:
            self.spectrum.run()
        if self.implicit is not None:
            self.implicit.begin_frame()
        if self.split is not None and self.split.method is not None:
            self.split.method.begin_frame()
        if self.split is not None and self.split.readings is not None:
            self.split.readings.begin_frame()

    def estimate_error(self) -> None:
        """What the solver does to the energy, and how long a step may be for the accuracy asked for."""
        s, k, m = self.state, self.k_accuracy, self.model
        self.forces.measure(s.x, s.v)
        self.launch.blocks(k.sum_motion, m.chunks, m.block_size, clear=int(not self.forces.gathers))
        self.launch(
            k.estimate_error, self.bodies,
            error_power=self.scheme.error_power, error_divisor=self.scheme.error_divisor,
            drifts=int(self.scheme.drifts), accuracy=self.accuracy, span=self.estimate_every * self.frame_time,
        )  # fmt: skip

    def plan(self) -> None:
        """The length of the next substeps: fixed, or from the stability bound at the present state."""
        if self.implicit is not None and self.fixed is None:
            self.implicit.plan()
            return
        if self.fixed is not None:
            block = LOOK if self.alone else self.fixed  # a body that could fold is looked at now and then
            self.launch(self.k_plan.plan_fixed, 1, frame_time=self.frame_time, count=self.fixed, block=block)
            return
        self.bound()
        drifts = self.scheme.drifts
        self.launch.blocks(
            self.k_plan.plan_substeps, 1, BLOCK,
            frame_time=self.frame_time, max_substeps=self.max_substeps, multiple=max(self.unroll, self.pulse),
            steady=int(not drifts and math.isfinite(self.accuracy)),
        )  # fmt: skip
        if self.count and not drifts:
            wp.capture_if(self.scratch.step_changed, on_true=self.shift_velocities)

    def bound(self, scheme: Scheme | None = None) -> None:
        """The longest stable step of each body at the present state; with another scheme, if one is given."""
        m, s, k, c = self.model, self.state, self.k_stability, scheme or self.scheme
        self.forces.measure(s.x, s.v)
        if len(m.hinges):
            self.launch(k.bound_hinges, len(m.hinges))
        if m.has_membranes:
            self.launch.split(self.k_tangent.bound_skins, self.count, self.cuts)
            if self.spectrum is not None:
                self.spectrum.tighten()
            if self.slow_damping is not None:
                self.slow_damping.share()
        self.launch.split_blocks(
            k.bound_bodies, m.chunks, m.small_block, frame_time=self.frame_time, clear=int(not self.forces.gathers)
        )
        limits = wp.vec4f(c.imaginary, c.real, float(c.error_power), c.error_divisor)
        self.launch(k.bound_step, self.bodies, limits=limits, pulse=self.pulse)

    def shift_velocities(self) -> None:
        """From the middle of a substep of the old length to that of one of the new."""
        s = self.state
        self.forces.evaluate(s.x, s.v, 0.0)
        self.forces.reshape_areas(s.x, s.v)
        self.launch(self.k_leapfrog.find_support, self.count)
        self.launch(self.k_leapfrog.shift_velocities, self.count, clear=int(not self.forces.gathers))

    def inspect(self) -> None:
        """Whether all is finite and all buffers were large enough; if not, the frame is undone."""
        self.launch(self.k_plan.inspect, max(self.count, 1), frame_time=self.frame_time)
        if self.split is not None:
            self.split.inspect()
        self.forces.find_runaways()
        self.launch(self.k_plan.end_frame, 1)
        wp.capture_if(self.scratch.failed, on_true=self.rollback.go_back)
        self.move_walls(0.0)
