"""Boyle's law: a ball is squeezed, and p V stays."""

from __future__ import annotations

import numpy as np

from turgor.output.frame import Frame
from turgor.scene.scene import Scene
from turgor.viewer.lessons.lesson import Axis, Control, FloatArray, Lesson, Point
from turgor.viewer.lessons.press import GAP, PLATE, Press, ball, gas_of, press_scene
from turgor.viewer.world.world import World

__all__ = ["Boyle"]

BALL = "ball"


class Boyle(Lesson):
    """x: volume, y: absolute pressure; the formula: p = p V / V, with the p V of the first point."""

    name = "boyle"
    title = "Boyle's law in a squeezed ball"
    summary = "Half the volume: how much pressure?"
    question = (
        "A ball lies under a plate. It is shut, so no gas gets in or out, and its gas stays as warm as the room.\n\n"
        "**You press the plate down until the gas has only half its volume. What happens to its pressure?**"
    )
    choices = ("It stays the same", "It doubles", "It becomes four times as large")
    right = 1
    doing = (
        "Pull the slider slowly to the left: the plate comes down. Each dot is one measurement: how much room the gas "
        "has (litres), and how hard it presses (kilopascals; the air around us has 101)."
    )
    seeing = (
        "The smaller the volume, the higher the pressure, and the dots do not lie on a straight line: the curve gets "
        "steeper to the left. Look at the last number below the plot, pressure times volume: it stays the same. Lift "
        "the plate, and the dots go back the same way."
    )
    why = (
        "The gas is a crowd of molecules that fly about and hit the skin. In half the room they hit the skin twice as "
        "often, so the pressure doubles. Robert Boyle found it in 1662:\n\n"
        "**pressure × volume = constant**\n\n"
        "The line is this formula, worked out from the first dot alone; all other dots must find it by themselves. "
        "Divers live by this rule: 10 m under water the pressure is twice that at the surface, and a balloon taken "
        "down there has half its volume."
    )
    control = Control("Gap under the plate (cm)", GAP[1], GAP[0], 0.5, GAP[0])
    x, y = Axis("volume (litres)", 2.4, 6.0), Axis("pressure (kPa)", 90.0, 280.0)
    measured, formulas = ("measured",), ("pressure × volume = constant",)
    bodies = (BALL, PLATE)

    def __init__(self) -> None:
        super().__init__()
        self._press = Press()
        self._product = np.nan  # litres times kPa of the first point

    def scene(self) -> Scene:
        scene = press_scene("lesson-boyle", "A ball of gas under a plate that comes down.", 0.28)
        ball(scene, BALL, 0.0, "isothermal", "#f4ae3d")
        return scene

    def begin(self, world: World) -> None:
        super().begin(world)
        self._product = np.nan

    def drive(self, world: World) -> None:
        self._press.drive(world, self.value)

    def measure(self, world: World, frame: Frame) -> list[Point]:
        volume, pressure = gas_of(world, frame, BALL)
        if np.isnan(self._product):
            self._product = volume * pressure
        return [(0, volume, pressure)]

    def formula(self, x: FloatArray) -> tuple[FloatArray, ...]:
        return (self._product / x,)

    def readings(self, world: World, frame: Frame) -> str:
        volume, pressure = gas_of(world, frame, BALL)
        return f"{volume:.2f} litres · {pressure:.0f} kPa · pressure × volume = **{volume * pressure:.0f}**"
