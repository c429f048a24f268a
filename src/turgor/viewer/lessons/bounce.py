"""Why a ball bounces: where the energy is while it hits the floor."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from turgor import shapes
from turgor.diagnose.energy import Energy
from turgor.output.frame import Frame
from turgor.scene.gas import ATMOSPHERE, Gas
from turgor.scene.scene import Scene
from turgor.scene.settings import Settings
from turgor.scene.springs import Springs
from turgor.viewer.lessons.lesson import Axis, Control, FloatArray, Lesson, Point
from turgor.viewer.world.world import World

__all__ = ["Bounce"]

BALL = "ball"
RADIUS, MASS, DROP, GRAVITY = 0.12, 0.6, 1.0, 9.81  # m, kg, m under the ball, m/s²: a basketball
BEGINS, ENDS = 0.4, 0.54  # s: around the first hit, at sqrt(2 h/g) = 0.45 s
STOPS = 1.1  # s: after the top of the first bounce
QUICK, SLOW = 0.25, 0.05  # simulated seconds per second, beside and around the hit, which takes 10 to 20 ms
MOTION, HEIGHT, GAS, SKIN, LOST, SUM = range(6)


class Bounce(Lesson):
    """x: time, y: energies; the formulas: all of m g h, and ½ m (g t)² until it touches the floor."""

    name = "bounce"
    title = "Why a ball bounces"
    summary = "It stands still on the floor. Where is its energy?"
    question = (
        "A basketball falls from a height of 1 m. It gets faster and faster, and hits the floor. For a moment it "
        "stands still.\n\n"
        "**Where is its energy of motion in that moment?**"
    )
    choices = ("It is used up", "In the squeezed gas and the bent skin", "In the floor")
    right = 1
    doing = (
        "Press *Drop it* and watch: the hit is shown twenty times slower than it is. The plot shows where the energy "
        "is, from just before the hit to just after it. Then let air out with the slider, to 5 kPa, a limp ball, and "
        "drop it again."
    )
    seeing = (
        "While the ball falls, energy of height turns into energy of motion. On the floor the motion goes to nothing, "
        "and at the same time *gas* and *skin* jump up. They then push the ball off, and motion is back. A hard ball "
        "(60 kPa) puts most of it into its gas, a limp one (5 kPa) mostly into its skin, and it bounces less "
        "high. *Lost* creeps up at each hit: that energy has become heat, which nobody gets back."
    )
    why = (
        "A ball bounces because squeezed gas and a stretched skin are springs: they take up energy and give it back. "
        "Energy is never used up; it only changes its place. So the **sum** of all, with what was lost as heat, stays "
        "what it was at the start:\n\n"
        "**mass × g × height = 0.6 kg × 9.81 m/s² × 1 m = 5.9 joules**\n\n"
        "That is the upper line. The other one is the motion of free fall, ½ × mass × (g × time)², up to the moment "
        "of the hit. A skin bends back with more losses than gas: that is why you pump up a ball that does not bounce."
    )
    control = Control("Extra pressure inside (kPa)", 5.0, 60.0, 5.0, 60.0, "Drop it")
    x, y = Axis("time (s)", BEGINS, ENDS), Axis("energy (joules)", -0.5, 6.5)
    measured = ("motion", "height", "gas", "skin", "lost", "sum")
    formulas = ("m g h", "½ m (g t)²")
    bodies = (BALL,)
    lines = waits = ledger = True
    speed = QUICK

    def __init__(self) -> None:
        super().__init__()
        self._first: Energy | None = None  # of the ball, at rest at its height
        self._mass, self._gravity = MASS, GRAVITY  # kg, m/s²: a page may change them
        self.top = 0.0  # m: how high it was since its lowest point
        self._low = math.inf

    def scene(self) -> Scene:
        scene = Scene(
            name="lesson-bounce", description="A basketball falls from a height of 1 m.", gravity=(0.0, 0.0, -GRAVITY),
            simulation=Settings(fps=720.0, seconds=STOPS),
        )  # fmt: skip
        scene.add_ground(friction=0.6, restitution=0.0)
        scene.add_soft_body(
            shapes.icosphere(radius=RADIUS, subdivisions=2), name=BALL, at=(0.0, 0.0, DROP + RADIUS), mass=MASS,
            springs=Springs(stiffness=6e4, damping=2.0), color="#e8783a",
            gas=Gas(gauge=1e3 * self.value, ambient=ATMOSPHERE, pressure_at="equilibrium"),
        )  # fmt: skip
        return scene

    def begin(self, world: World) -> None:
        """The control keeps its value: it belongs to the next drop."""
        self._first, self.top, self._low = None, 0.0, math.inf
        world.speed = QUICK

    def run(self, world: World) -> None:
        world.change(f"{BALL}.gas.gauge", 1e3 * self.value)
        world.reset()
        world.playing = True

    def drive(self, world: World) -> None:
        """Slow motion around the hit, and a stop after it."""
        before, now = world.sim.time - 1.0 / world.sim.settings.fps, world.sim.time
        for moment, speed in ((BEGINS, SLOW), (ENDS, QUICK)):
            if before < moment <= now:
                world.speed = speed
        if now >= STOPS:
            world.playing = False

    def measure(self, world: World, frame: Frame) -> list[Point]:
        ball: Any = world.sim[BALL]
        height = float(ball.center[2])
        if height < self._low:
            self._low = self.top = height
        self.top = max(self.top, height)
        if self._first is not None and not BEGINS <= frame.time <= ENDS:
            return []
        now = world.sim.energy()
        if self._first is None:
            self._first, self._mass = now, float(np.max(ball.mass))
            self._gravity = float(np.linalg.norm(world.scene.gravity))
        first = self._first
        base = (
            float(first.gravity + first.kinetic) - self._mass * self._gravity * DROP
        )  # of the floor; it has fallen one frame
        parts = (
            float(now.kinetic), float(now.gravity) - base, float(now.gas - first.gas),
            float(now.elastic - first.elastic), float(now.dissipated),
        )  # fmt: skip
        return [(curve, frame.time, value) for curve, value in enumerate((*parts, sum(parts)))]

    def formula(self, x: FloatArray) -> tuple[FloatArray, ...]:
        fall = 0.5 * self._mass * (self._gravity * x) ** 2
        start = self._mass * self._gravity * DROP
        return np.full_like(x, start), np.where(fall <= start, fall, np.nan)

    def readings(self, world: World, frame: Frame) -> str:
        bounced = self.top > self._low + 0.05 and frame.time > 0.5
        height = (
            f"so far it came back to **{100 * (self.top - RADIUS):.0f} cm**" if bounced else "it has not come back yet"
        )
        return f"time {frame.time:.2f} s · {height}"
