"""From spring to balloon: the pressure that a ball of springs, and one of rubber, holds as it is blown up.

Springs: k Σl₀² (s - 1)/(3 V₀ s²), at most at s = 2. Rubber (neo-Hookean, E = 3 μ): 2 (μ h/r₀) (1/s - 1/s⁷), at most at
s = 7^(1/6) = 1.383. Both are derived in docs/physics.md and validate/balloon.py; a ball of flat triangles has A₀/(3 V₀)
in place of 1/r₀, as p dV = h A₀ dW for any shape that stretches alike. Nothing presses from outside, so each amount of
gas has one stretch, also where the pressure falls.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from turgor import shapes
from turgor.output.frame import Frame
from turgor.scene.data import SoftBody
from turgor.scene.gas import GAS_CONSTANT, Gas
from turgor.scene.material import Membrane
from turgor.scene.scene import Scene
from turgor.scene.springs import Springs
from turgor.viewer.lessons.lesson import Axis, Control, FloatArray, Lesson, Point
from turgor.viewer.world.world import World

__all__ = ["Balloon"]

SPRINGS, RUBBER = "springs", "rubber"
RADIUS, MASS = 0.1, 0.2  # m, kg
STIFFNESS = 160.0  # N/m: holds about as much as the rubber
YOUNG, THICKNESS = 1.2e6, 3e-4  # Pa, m: a toy balloon
WARM = 293.15  # K
MILLIMOLE = 1e-3 * GAS_CONSTANT * WARM  # J of n R T
PUMP = 3.0  # mmol/s
EVERY = 2  # frames between two strokes of the pump
DRAG = (
    60.0  # 1/s: the balls breathe at 20 to 40 Hz, which strokes at 30 Hz would excite. At 0.03 m/s it holds back 1 Pa
)
STILL = 1.03  # stretch from which on the skins are taut


class Balloon(Lesson):
    """x: stretch, y: pressure of both."""

    name = "balloon"
    title = "From spring to balloon"
    summary = "The first breath is the hardest. Why?"
    question = (
        "You blow up a balloon, and the first breath is the hardest. Here are two balls in empty space: the blue one "
        "is a net of steel springs, the red one a rubber balloon. A pump puts the same gas into both. The bar below "
        "is 1.5 m long.\n\n"
        "**The balls get larger and larger. What does the pressure inside do?**"
    )
    choices = ("It rises and rises", "It rises, then falls", "It stays the same")
    right = 1
    doing = (
        "Pull the slider to the right: the pump puts gas into both balls, three millimoles a second. Stretch 2 means: "
        "each piece of skin is twice as long as it was. Pump until both are at stretch 2.5 at least."
    )
    seeing = (
        "Both pressures rise, reach a top, and then **fall while the ball still grows**. The rubber has its top "
        "early, at stretch 1.38; the springs have theirs at stretch 2."
    )
    why = (
        "The skin pulls harder the more it is stretched. But it also gets worse at holding the gas: the skin of a "
        "large ball is flatter, and a flat skin presses less on what is inside; and the same springs are spread over "
        "a larger ball.\n\n"
        "For springs all this gives **p ∝ (s − 1)/s²**, with its top at s = 2. Rubber also gets *thinner* as it is "
        "stretched, so it gives way earlier: **p ∝ 1/s − 1/s⁷**, with its top at s = 1.38. The lines are these "
        "formulas; they know only the size, thickness and stiffness of the skins.\n\n"
        "That is why the first breath is the hardest: past the top it gets easier. (Real balloons get stiff again "
        "when they are nearly full: their long molecules are then straight. This rubber has no end.)"
    )
    control = Control("Gas in each ball (mmol)", 0.2, 50.0, 0.2, 0.2)
    x, y = Axis("stretch", 1.0, 3.5), Axis("pressure (Pa)", 0.0, 1700.0)
    measured, formulas = ("springs (blue)", "rubber (red)"), ("(s − 1)/s²", "1/s − 1/s⁷")
    bodies = (SPRINGS, RUBBER)

    def __init__(self) -> None:
        super().__init__()
        scene = self.scene()
        self._springs, self._rubber = (scene[name] for name in self.bodies)  # as they are now: a page may change them
        self._frames = 0

    def scene(self) -> Scene:
        scene = Scene(
            name="lesson-balloon", description="A ball of springs and a balloon of rubber, blown up in empty space.",
            gravity=(0.0, 0.0, 0.0),
        )  # fmt: skip
        gas = Gas(nRT=self.control.start * MILLIMOLE)
        shape = shapes.icosphere(radius=RADIUS, subdivisions=2)
        scene.add_soft_body(
            shape, name=SPRINGS, at=(-0.4, 0.0, 0.0), mass=MASS, gas=gas, drag=DRAG, color="#3f8fd6",
            springs=Springs(stiffness=STIFFNESS, damping=0.3),
        )  # fmt: skip
        scene.add_soft_body(
            shape, name=RUBBER, at=(0.4, 0.0, 0.0), mass=MASS, gas=gas, drag=DRAG, color="#f0655a",
            material=Membrane(law="neo-hookean", young=YOUNG, thickness=THICKNESS, rigidity=0.0, damping=1e-3),
        )  # fmt: skip
        scene.add_rigid_body(  # as wide as both will be: so the picture has room for them
            shapes.box((1.5, 0.03, 0.02)), name="ruler", at=(0.0, 0.0, -0.42), kind="static", color="#9aa5b1"
        )
        return scene

    def begin(self, world: World) -> None:
        super().begin(world)
        for name in self.bodies:
            world.change(f"{name}.gas.nRT", self.value * MILLIMOLE)

    def drive(self, world: World) -> None:
        """Let in, or out, what the pump moves in the next frames."""
        self._frames += 1
        if self._frames % EVERY:
            return
        most = EVERY * PUMP * MILLIMOLE / world.sim.settings.fps
        for name in self.bodies:
            view: Any = world.sim[name]
            now, wanted = float(view.nRT), self.value * MILLIMOLE
            if abs(wanted - now) > 1e-6 * wanted:
                world.change(f"{name}.gas.nRT", now + min(max(wanted - now, -most), most))

    def measure(self, world: World, frame: Frame) -> list[Point]:
        self._springs, self._rubber = (world.scene[name] for name in self.bodies)
        found = [_stretch(world, frame, name) for name in self.bodies]
        return [(curve, stretch, pressure) for curve, (stretch, pressure) in enumerate(found) if stretch > STILL]

    def formula(self, x: FloatArray) -> tuple[FloatArray, ...]:
        net, skin = cast(SoftBody, self._springs), cast(SoftBody, self._rubber)
        ends = net.shape.vertices[net.shape.edges]
        squares = float(((ends[:, 0] - ends[:, 1]) ** 2).sum())
        springs = net.springs.stiffness * squares * (x - 1.0) / (3.0 * net.shape.volume * x**2)
        if skin.membrane is None or skin.membrane.law != "neo-hookean":
            return springs, np.full_like(x, np.nan)
        curved = skin.shape.area / (3.0 * skin.shape.volume)
        rubber = 2.0 / 3.0 * skin.membrane.young * skin.membrane.thickness * curved * (1.0 / x - 1.0 / x**7)
        return springs, rubber

    def readings(self, world: World, frame: Frame) -> str:
        lines = []
        for name, word in ((SPRINGS, "springs"), (RUBBER, "rubber")):
            stretch, pressure = _stretch(world, frame, name)
            gas = float(np.max(world.sim[name].nRT)) / MILLIMOLE
            lines.append(f"**{word}**: {gas:.1f} mmol · stretch {stretch:.2f} · {pressure:.0f} Pa")
        return "\n\n".join(lines)


def _stretch(world: World, frame: Frame, name: str) -> tuple[float, float]:
    """How much longer the skin is, by the volume, and the pressure of the gas (Pa)."""
    view: Any = world.sim[name]
    volume, rest = float(frame.volumes[view.index]), float(view.rest_volume)
    return (volume / rest) ** (1.0 / 3.0), float(frame.pressures[view.index])
