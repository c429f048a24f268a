"""An implicit substep, of BDF2 or Backward Euler: velocities at its end by Newton's method, contact inside."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import warp as wp

from turgor.errors import SceneError
from turgor.model.model import Model
from turgor.simulation.settings import RunSettings
from turgor.simulation.step.linear import LinearSystem
from turgor.solvers.implicit import history, limit, newton, pace, potential, rigid_part, search, walls
from turgor.solvers.implicit import ledger as ledger_of
from turgor.solvers.implicit.glue import GluedBodies
from turgor.solvers.implicit.ledger import SoftLedger
from turgor.solvers.implicit.stored import StoredEnergy

if TYPE_CHECKING:
    from turgor.simulation.step.frame import Step
    from turgor.solvers.implicit.contacts import PressedPairs

__all__ = ["BackwardEuler", "ensure_known", "unknown"]

ENOUGH = 1e-2  # residual that is left, of what weight does in a step
TOLERANCE = 0.1  # of the linear system in each round
ROUNDS, ITERATIONS, CUTS = 8, 40, 8  # at most: of Newton's method, of each linear system, of the length of a round
SLOW, FEW, PATIENCE = 2.0, 10, 30  # a coarse matrix is made anew at so many times the iterations it had; frames


def unknown(model: Model, settings: RunSettings) -> str:
    """What of a scene and its settings this solver does not know; empty if it knows all."""
    missing = {
        f"contact = {settings.contact!r}": settings.contact not in ("features", "none"),
    }
    return next((what for what, there in missing.items() if there), "")


def ensure_known(model: Model, settings: RunSettings) -> None:
    """Say what this solver does not know yet."""
    if what := unknown(model, settings):
        raise SceneError(f"solver = 'implicit' does not know {what} yet: leave it out, or use solver = 'symplectic'")


class BackwardEuler:
    """Launches the stages of a step. `renew` has to be called from the host now and then."""

    pairs: PressedPairs | None = None  # contacts between bodies

    # what a step has from those before
    CHANGED: tuple[str, ...] = (
        "wall_force", "wall_before", "x_before", "v_before", "v_solved", "moment_before", "dt_before", "near_wall",
        "wall_pressing", "alone", "steps_planned", "system.turned",
    )  # fmt: skip
    SAVED: tuple[str, ...] = (
        *CHANGED, "system.coarse_inverse", "system.all_iterations", "system.step", "system.inertia", "renewal",
    )  # fmt: skip

    def __init__(self, step: Step, ledger: bool) -> None:
        model, n = step.model, step.model.numbers
        self.owner, self.model, self.forces = step, model, step.forces
        self.count, self.bodies, self.worlds = step.count, step.bodies, model.worlds
        self.k_newton, self.k_rigid, self.k_walls = newton.kernels(n), rigid_part.kernels(n), walls.kernels(n)
        self.k_search, self.k_potential, self.k_history = search.kernels(n), potential.kernels(n), history.kernels(n)
        self.k_limit, self.k_pace, self.k_ledger = limit.kernels(n), pace.kernels(n), ledger_of.kernels(n)
        device = model.device

        def vectors() -> Any:
            return wp.zeros(self.count, dtype=n.vec, device=device)

        def reals(size: int) -> Any:
            return wp.zeros(size, dtype=n.real, device=device)

        self.wall_force, self.wall_force_round, self.wall_force_now, self.force = (vectors() for _ in range(4))
        self.hardness, self.loose, self.wall_given = (reals(self.count) for _ in range(3))
        self.hung = reals(self.bodies)
        self.chunk_potential = wp.zeros(model.chunks, dtype=wp.float64, device=device)
        self.body_potential = wp.zeros(self.bodies, dtype=wp.float64, device=device)
        self.body_guess = wp.zeros(self.bodies, dtype=wp.int32, device=device)
        self.moments = wp.zeros(model.chunks, dtype=self.k_rigid.row, device=device)
        self.body_sums = wp.zeros(self.bodies, dtype=self.k_rigid.row, device=device)
        self.body_centre, self.body_velocity = (wp.zeros(self.bodies, dtype=n.wide, device=device) for _ in range(2))
        self.turn_sums = wp.zeros(self.bodies, dtype=self.k_rigid.row, device=device)
        self.turn_centre, self.turn_velocity = (wp.zeros(self.bodies, dtype=n.wide, device=device) for _ in range(2))
        self.turn_spin = wp.zeros(self.bodies, dtype=self.k_rigid.twist, device=device)
        self.v_round, self.x_round, self.v_solved = (vectors() for _ in range(3))
        # BDF2: where its step of Backward Euler begins, and what is left of the step before
        self.x_from, self.v_from, self.x_before, self.v_before, self.wall_before = (vectors() for _ in range(5))
        self.dt_before, self.echo = reals(self.bodies), reals(self.bodies)
        self.paired, self.has_glue, self.near_wall, self.limited, self.alone = (
            wp.zeros(self.bodies, dtype=wp.int32, device=device) for _ in range(5)
        )
        self.alone.fill_(history.ALONE)
        self.any_limited = wp.zeros(1, dtype=wp.int32, device=device)
        self.chunk_energies = wp.zeros(model.chunks, dtype=wp.vec3d, device=device)
        self.energy_before, self.energy = (wp.zeros(self.bodies, dtype=wp.vec3d, device=device) for _ in range(2))
        self.speed_share, self.wall_pressing = reals(self.bodies), reals(self.bodies)
        masses = np.where(model.inverse_mass.numpy() > 0.0, model.mass.numpy(), 0.0)
        self.body_mass = model.real_array(np.bincount(model.body.numpy(), masses, self.bodies))
        self.volume_round = reals(self.bodies)
        self.hits = wp.zeros(self.bodies, dtype=wp.int32, device=device)
        self.steps_planned = wp.zeros(1, dtype=wp.int32, device=device)
        self.moment_before, self.moment_from = (
            wp.zeros(self.bodies, dtype=self.k_rigid.twist, device=device) for _ in range(2)
        )
        self.body_spin = wp.zeros(self.bodies, dtype=self.k_rigid.twist, device=device)
        self.first_work, self.length, self.change = (reals(self.worlds) for _ in range(3))
        self.cuts, self.in_round = (wp.zeros(self.worlds, dtype=wp.int32, device=device) for _ in range(2))
        self.too_far, self.any_active = (wp.zeros(1, dtype=wp.int32, device=device) for _ in range(2))
        self.world_bodies = len(model.parts)
        motion = {name: getattr(self, name) for name in ("body_sums", "body_centre", "x_from")}
        self.system = LinearSystem(model, step.launch.extended(motion), self.press)
        self.skin = StoredEnergy(model, step.launch)
        self.launch = self.system.launch.extended(self, {"stored": self.skin.stored})
        dt = 2.0 / 3.0 * step.frame_time / (step.fixed or pace.FEWEST)  # but for the first step
        self.system.step.fill_(dt)
        self.system.inertia.fill_(1.0 / dt)
        self.ledger = SoftLedger(self) if ledger else None
        # of the coarse matrix: whether it must be made anew, frames since it was made, iterations then
        self.renewal = np.array([1, 0, 0])

    # from the host --------------------------------------------------------------------------------------------------

    @property
    def glue(self) -> GluedBodies | None:
        """Rigid bodies among the unknowns, and the forces of walls on them, with which steps begin too."""
        return self.system.glue

    @glue.setter
    def glue(self, bodies: GluedBodies) -> None:
        self.system.glue = bodies
        self.SAVED = (*self.SAVED, "glue.rigid_wall_force")
        self.CHANGED = (*self.CHANGED, "glue.rigid_wall_force")

    def check(self) -> None:
        """Before a frame: the coarse matrix is made anew where it no longer helps."""
        iterations = int(self.system.all_iterations.numpy().max())
        stale, age, usual = (int(value) for value in self.renewal)
        age += 1
        if age == 1:
            usual = max(iterations, FEW)
        if stale or (age > PATIENCE and iterations > SLOW * usual):
            self.renew()
            age = 0
        self.renewal[:] = 0, age, usual

    def forget(self, moved: bool) -> None:
        """Parameters or (`moved`) positions were set: the coarse matrix is that of something else."""
        self.renewal[0] = 1
        if moved:
            self.dt_before.zero_()

    def renew(self) -> None:
        """The coarse matrix at the present state."""
        step, system = self.owner, self.system
        wp.copy(system.at_x, step.state.x)
        self.forces.evaluate(step.state.x, step.state.v, 0.0)
        self.launch(self.k_newton.find_force, self.count)
        system.prepare()
        system.renew()

    # a step ---------------------------------------------------------------------------------------------------------

    def begin_frame(self) -> None:
        """The weight of each body, with which a step begins: one that waits for its gas has none."""
        scratch = self.owner.scratch
        self.forces.measure(self.owner.state.x, self.owner.state.v)
        scratch.f.zero_()
        scratch.area.zero_()
        if self.ledger is not None:
            self.ledger.begin_frame()

    def plan(self) -> None:
        """The steps of a frame."""
        frame_time = self.owner.frame_time
        self.hits.zero_()
        self.launch(self.k_pace.look_ahead, self.count, frame_time=frame_time)
        self.launch(self.k_pace.choose, 1, frame_time=frame_time, multiple=self.owner.unroll)
        self.launch(self.k_pace.plan_steps, 1, frame_time=frame_time)

    def begin(self) -> None:
        """Velocities and movements without forces but weight: contacts are looked for along them."""
        state = self.owner.state
        wp.copy(self.owner.scratch.v_start, state.v)
        self.launch(self.k_history.set_step, self.bodies)
        self.launch(self.k_potential.set_guess, self.count, number=1, x_from=state.x, v_from=state.v)
        self.launch(self.k_history.end_step, self.count, x_from=state.x, wall_force_now=self.wall_force)

    def run(self) -> None:
        """From the state at the start to velocities at the end, and the movement they ask for."""
        system = self.system
        self.launch(self.k_newton.begin_again, self.count)
        if self.pairs is not None:
            self.pairs.begin()
        if self.glue is not None:
            self.glue.begin()
        self.any_limited.zero_()
        self.launch(self.k_limit.look_back, self.bodies)
        wp.capture_if(self.any_limited, on_true=lambda: self.find_energy(self.owner.state.x, self.energy_before))
        self.begin_from()
        self.launch(self.k_rigid.turn_axes, self.bodies)
        self.launch(self.k_newton.begin_step, self.worlds)
        system.all_iterations.zero_()
        self.launch(self.k_walls.find_hardness, self.count)
        wp.copy(self.wall_force_round, self.wall_force)
        self.choose_guess()
        system.place_pieces()
        wp.capture_while(self.any_active, self.round)
        if self.glue is not None:
            self.glue.react()
        if self.pairs is not None:
            self.pairs.end()
        if self.ledger is not None:
            self.ledger.drive()
        self.repay()
        if self.glue is not None:
            self.glue.end()
        self.launch(self.k_history.end_step, self.count)
        wp.capture_if(self.any_limited, on_true=self.limit)
        wp.copy(self.v_solved, self.owner.state.v)
        wp.copy(self.wall_force, self.wall_force_now)

    def begin_from(self) -> None:
        """Where the step of Backward Euler begins, and how the bodies move there."""
        self.launch(self.k_history.notice_changes, self.count)
        self.launch(self.k_history.find_weights, self.bodies)
        self.launch(self.k_history.begin_from, self.count)
        self.sum_motion(self.owner.state.x, self.owner.state.v)
        self.launch(self.k_history.find_moment, self.bodies)
        self.find_motion_there()
        self.launch(self.k_history.find_correction, self.bodies)
        self.launch(self.k_history.correct, self.count)
        self.find_motion_there()

    def find_motion_there(self) -> None:
        """Centre, velocity and spin of each body where the step of Backward Euler begins."""
        self.sum_motion(self.x_from, self.v_from)
        self.launch(self.k_rigid.find_motion, self.bodies, x=self.x_from)

    def sum_motion(self, x: Any, v: Any) -> None:
        """The moments of each chunk of points."""
        self.launch.blocks(self.k_rigid.sum_motion, self.model.chunks, self.model.block_size, x=x, v=v)

    def choose_guess(self) -> None:
        """For each body that with the lowest potential."""
        scratch = self.owner.scratch
        for number in range(potential.GUESSES):
            self.launch(self.k_potential.set_guess, self.count, number=number)
            if self.glue is not None:
                self.glue.carry()
            self.forces.measure(self.system.at_x, self.owner.state.v)
            scratch.f.zero_()
            scratch.area.zero_()
            self.skin.measure(self.system.at_x)
            self.launch.blocks(self.k_potential.sum_potential, self.model.chunks, self.model.block_size)
            self.launch(self.k_potential.compare, self.bodies, number=number)
        self.launch(self.k_potential.set_guess, self.count, number=-1)
        self.evaluate()

    def round(self) -> None:
        """One of Newton's method."""
        system = self.system
        wp.copy(self.in_round, system.active)
        system.prepare()
        system.solve(TOLERANCE, ENOUGH, ITERATIONS)
        self.sum_work(system.first_residual)
        if self.glue is not None:
            self.glue.sum_work(self.glue.glue_first_residual, self.glue.glue_solution)
            self.glue.keep_before()
        self.launch(self.k_search.begin_search, self.worlds)
        wp.copy(self.volume_round, self.owner.scratch.volume)
        self.find_turn()
        self.go()
        wp.capture_while(self.too_far, self.go)
        self.launch(self.k_newton.keep_forces, self.count)
        if self.pairs is not None:
            self.pairs.keep()
        if self.glue is not None:
            self.glue.keep()
        wp.copy(system.stirred, self.in_round)  # by new limits of friction
        self.begin_residual()
        self.any_active.zero_()
        self.launch(self.k_newton.end_round, self.worlds, most=ROUNDS)

    def find_turn(self) -> None:
        """How the solution turns each body."""
        wp.copy(self.v_round, self.owner.state.v)
        wp.copy(self.x_round, self.system.at_x)
        given = {"x": self.system.at_x, "body_sums": self.turn_sums}
        self.sum_motion(self.system.at_x, self.system.solution)
        self.launch(
            self.k_rigid.find_motion, self.bodies, **given,
            body_centre=self.turn_centre, body_velocity=self.turn_velocity, body_spin=self.turn_spin,
        )  # fmt: skip

    def go(self) -> None:
        """Along the solution; whether that was too far."""
        self.launch(self.k_newton.go, self.count)
        if self.glue is not None:
            self.glue.go()
        self.evaluate()
        self.sum_work(self.system.residual)
        self.launch(self.k_search.hold_volumes, self.worlds)
        if self.glue is not None:
            self.glue.sum_work(self.glue.glue_residual, self.glue.glue_solution)
        self.too_far.zero_()
        self.launch(self.k_search.judge, self.worlds, most_cuts=CUTS)

    def sum_work(self, residual: Any) -> None:
        """Of a residual along the solution."""
        m, way = self.model, self.system.solution
        self.launch.blocks(self.k_search.sum_work, m.chunks, m.block_size, residual=residual, way=way)

    def evaluate(self) -> None:
        """All forces where the velocities lead, and what is left of them."""
        state, system = self.owner.state, self.system
        self.launch(self.k_newton.find_trial, self.count)
        if self.glue is not None:
            self.glue.carry()
        self.forces.evaluate(system.at_x, state.v, 1.0)
        self.forces.reshape_areas(system.at_x, state.v)
        if self.glue is not None:
            self.glue.take_forces()
        self.launch(self.k_newton.find_force, self.count)
        self.begin_residual()

    def begin_residual(self) -> None:
        """What is left of all forces at the present velocities."""
        self.launch(self.k_newton.find_smooth, self.count)
        if self.glue is not None:
            self.glue.find_smooth()
        wp.copy(self.system.trial_v, self.owner.state.v)
        self.system.find_residual()

    def press(self) -> None:
        """Forces of walls and contact where trial velocities lead."""
        self.launch(self.k_walls.press_walls, self.count)
        if self.glue is not None:
            self.glue.begin_press()
        if self.pairs is not None:
            self.pairs.press()
        if self.glue is not None:
            self.glue.press()

    def end_walls(self) -> None:
        """What walls did."""
        self.launch(self.k_walls.end_walls, self.count)

    def repay(self) -> None:
        """What momentum and angular momentum are owed."""
        self.launch.blocks(self.k_rigid.sum_debt, self.model.chunks, self.model.block_size)
        self.launch(self.k_rigid.find_debt, self.bodies, steps=limit.STEPS)
        self.launch(self.k_rigid.repay, self.count)

    def limit(self) -> None:
        """What lies on a wall gains no energy."""
        self.launch(self.k_newton.find_trial, self.count)
        if self.owner.state.walls.moving:
            self.launch(self.k_ledger.drive_walls, self.count, wall_drive=self.wall_given)
        self.find_energy(self.system.at_x, self.energy)
        self.wall_given.zero_()
        self.launch(self.k_limit.find_scale, self.bodies)
        self.launch(self.k_limit.slow_down, self.count)

    def find_energy(self, x: Any, energy: Any) -> None:
        """Of bodies that have touched a wall lately, at positions x."""
        scratch = self.owner.scratch
        self.forces.measure(x, self.owner.state.v)
        scratch.f.zero_()
        scratch.area.zero_()
        self.skin.measure(x)
        self.launch.blocks(self.k_limit.sum_energy, self.model.chunks, self.model.block_size, at_x=x)
        self.launch(self.k_limit.find_energy, self.bodies, energy=energy)
