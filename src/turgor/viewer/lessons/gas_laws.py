"""Two gas laws side by side: one ball keeps its temperature, the other its heat."""

from __future__ import annotations

from typing import Any

import numpy as np

from turgor.output.frame import Frame
from turgor.scene.scene import Scene
from turgor.viewer.lessons.lesson import Axis, Control, FloatArray, Lesson, Point
from turgor.viewer.lessons.press import GAP, PLATE, Press, ball, gas_of, press_scene
from turgor.viewer.world.world import World

__all__ = ["GasLaws"]

METAL, FOAM = "metal", "foam"
LAWS = {METAL: "isothermal", FOAM: "adiabatic"}
GAMMA = 1.4  # of air
ROOM, ZERO = 293.15, 273.15  # K


class GasLaws(Lesson):
    """x: volume, y: absolute pressure of both; formulas from their first points."""

    name = "gas-laws"
    title = "Two gas laws side by side"
    summary = "Squeezed gas gets warm. Does it matter?"
    question = (
        "Two balls, the same in size, skin and gas. The blue one lets all heat out at once, as thin metal would: its "
        "gas stays at 20 °C. The red one is wrapped in foam: no heat gets out, and squeezed gas gets **warmer**, as "
        "in a bicycle pump.\n\n"
        "**One plate squeezes both to the same volume. Which gas presses harder?**"
    )
    choices = ("The blue one, which stays cool", "The red one, which gets warm", "Both the same")
    right = 1
    doing = (
        "Pull the slider to the left: the plate comes down on both balls. Dots are measurements: volume to the right, "
        "pressure upwards, in the colours of the balls."
    )
    seeing = (
        "At first both go together. The more you squeeze, the further the red dots are above the blue ones: at the "
        "same volume the warm gas presses harder. So it also gives way less: under the same plate the red ball keeps "
        "more of its volume. The numbers below the plot give the temperatures."
    )
    why = (
        "You do work on the gas when you squeeze it. The blue ball gives that energy away as heat: the molecules keep "
        "their speed, and **p × V** stays the same. The red ball must keep it: its molecules get faster and hit "
        "harder, and for air it is **p × V¹·⁴** that stays. The lines are these two formulas, worked out from the "
        "first dots.\n\n"
        "Real squeezes are in between: done slowly, heat has time to leave; done quickly, as in a bouncing ball or a "
        "diesel engine (which lights its fuel this way), it has not."
    )
    control = Control("Gap under the plate (cm)", GAP[1], GAP[0], 0.5, GAP[0])
    x, y = Axis("volume (litres)", 2.4, 6.0), Axis("pressure (kPa)", 90.0, 280.0)
    measured = ("blue: stays cool", "red: gets warm")
    formulas = ("p × V = constant", "p × V¹·⁴ = constant")
    bodies = (METAL, FOAM, PLATE)

    def __init__(self) -> None:
        super().__init__()
        self._press = Press()
        self._first: dict[str, tuple[float, float]] = {}  # litres, kPa

    def scene(self) -> Scene:
        scene = press_scene("lesson-gas-laws", "Two balls under one plate: one stays cool, the other gets warm.", 0.58)
        ball(scene, METAL, -0.15, LAWS[METAL], "#3f8fd6")
        ball(scene, FOAM, 0.15, LAWS[FOAM], "#f0655a")
        return scene

    def begin(self, world: World) -> None:
        super().begin(world)
        self._first.clear()

    def drive(self, world: World) -> None:
        self._press.drive(world, self.value)

    def measure(self, world: World, frame: Frame) -> list[Point]:
        found = [gas_of(world, frame, name) for name in LAWS]
        self._first = self._first or dict(zip(LAWS, found, strict=True))
        return [(index, *point) for index, point in enumerate(found)]

    def formula(self, x: FloatArray) -> tuple[FloatArray, ...]:
        if not self._first:
            return np.full_like(x, np.nan), np.full_like(x, np.nan)
        (cool, cool_pressure), (warm, warm_pressure) = self._first[METAL], self._first[FOAM]
        return cool_pressure * cool / x, warm_pressure * (warm / x) ** GAMMA

    def readings(self, world: World, frame: Frame) -> str:
        lines = []
        for name, word in ((METAL, "blue"), (FOAM, "red")):
            volume, pressure = gas_of(world, frame, name)
            heat = temperature(world, frame, name) - ZERO
            lines.append(f"**{word}**: {volume:.2f} litres · {pressure:.0f} kPa · {heat:.0f} °C")
        return "\n\n".join(lines)


def temperature(world: World, frame: Frame, name: str) -> float:
    """K: p V = n R T, and both balls were filled at room temperature at their volume of rest."""
    view: Any = world.sim[name]
    volume, pressure = float(frame.volumes[view.index]), float(frame.pressures[view.index])
    return ROOM * volume * pressure / float(view.nRT)
