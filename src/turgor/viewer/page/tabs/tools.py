"""The folder "Tools" of the tab "Add": pump, cut, glue and squeeze the selected body."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from turgor.errors import SceneError
from turgor.scene.data import SoftBody
from turgor.viewer.page.words import unmarked
from turgor.viewer.world.gluing import glue, partners, unglue
from turgor.viewer.world.pumping import close_skin, is_open, open_skin, pump
from turgor.viewer.world.squeezing import open_plates, plates, remove_plates, squeeze

if TYPE_CHECKING:
    from turgor.viewer.page.playground import Playground

__all__ = ["ToolsFolder"]

NOTHING = "Select a body to pump, cut, glue or squeeze it."
TICKS = 10.0  # 1/s: as often as a button that is held is told
SHARE, SHARES = 60.0, (20.0, 95.0)  # per cent of a body's breadth that plates leave it
PACE, PACES = 0.5, (0.05, 2.0)  # of a body's size per second that each plate goes
CUT, MEND = "Cut it open", "Close its skin"


class ToolsFolder:
    """Shows what can be done with the selected body. Belongs to the world's thread."""

    def __init__(self, playground: Playground) -> None:
        self._playground = playground
        gui, do = playground.server.gui, playground.do
        self.folder = gui.add_folder("Tools")
        with self.folder:
            self.text = gui.add_markdown(NOTHING)
            self.pump_in = gui.add_button("Pump gas in (hold)", hint="As long as you hold it.")
            self.pump_out = gui.add_button("Let gas out (hold)", hint="As long as you hold it.")
            self.cut = gui.add_button(CUT, hint="A hole in the skin: the gas inside has the pressure of outside.")
            self.partner = gui.add_dropdown("Glue to", ("",))
            self.glue = gui.add_button("Glue them", hint="where they touch, or nearly so")
            self.unglue = gui.add_button("Take off its glue")
            self.share = gui.add_slider("Squeeze to (%)", *SHARES, 1.0, SHARE, hint="of its breadth")
            self.speed = gui.add_slider("Plates go (m/s)", 0.01, 1.0, 0.01, 0.2)
            self.squeeze = gui.add_button("Squeeze between two plates")
            self.open = gui.add_button("Open the plates")
            self.remove = gui.add_button("Take the plates away")

        async def fill(_: Any) -> None:
            do(self.pump, 1.0 / TICKS)

        async def empty(_: Any) -> None:
            do(self.pump, -1.0 / TICKS)

        self.pump_in.on_hold(fill, TICKS)
        self.pump_out.on_hold(empty, TICKS)
        self.cut.on_click(lambda _: do(self.cut_or_mend))
        self.glue.on_click(lambda _: do(self.glue_them))
        self.unglue.on_click(lambda _: do(self.take_off_glue))
        self.squeeze.on_click(lambda _: do(self.squeeze_it))
        self.open.on_click(lambda _: do(open_plates, playground.world, self.speed.value))
        self.remove.on_click(lambda _: do(remove_plates, playground.world))
        playground.selection.on_change(self.arrange)
        playground.every(0.2, self._refresh)

    def pump(self, seconds: float) -> None:
        """Let gas in, or out, as in so many seconds."""
        pump(self._playground.world, self._name(), seconds)

    def cut_or_mend(self) -> None:
        """Open the skin of the selected body, or close it."""
        world, name = self._playground.world, self._name()
        (close_skin if is_open(world, name) else open_skin)(world, name)
        self._refresh()

    def glue_them(self) -> None:
        """Glue the selected body to the one that is chosen."""
        world, name = self._playground.world, self._name()
        count = len(glue(world, name, self.partner.value))
        self.arrange()
        self._playground.notify("Glued", f"{name} to {self.partner.value}, by {count} points")

    def take_off_glue(self) -> None:
        """Free the selected body."""
        unglue(self._playground.world, self._name())
        self.arrange()

    def squeeze_it(self) -> None:
        """Let plates come together about the selected body."""
        squeeze(self._playground.world, self._name(), self.share.value / 100.0, self.speed.value)

    def _name(self) -> str:
        if self._playground.selection.name is None:
            raise SceneError("no body is selected: click one, or choose it in the list")
        return self._playground.selection.name

    def arrange(self) -> None:
        """Another body is selected, or there are other bodies: show what suits it."""
        world, name = self._playground.world, self._playground.selection.name
        body = world.scene[name] if name is not None else None
        others = [] if name is None else partners(world, name)
        glued = any(name in (entry.body, entry.rigid) for entry in world.scene.attachments)
        soft, gas = isinstance(body, SoftBody), isinstance(body, SoftBody) and body.gas is not None
        with self._playground.server.atomic():
            for control in (self.pump_in, self.pump_out, self.cut):
                control.visible = gas
            for control in (self.partner, self.glue):
                control.visible = bool(others)
            if others and self.partner.options != (options := tuple(self._nearest_first(others))):
                self.partner.options = options
                self.partner.value = options[0]
            self.unglue.visible = glued
            for control in (self.share, self.speed, self.squeeze):
                control.visible = soft
            for control in (self.open, self.remove):
                control.visible = plates(world) is not None
            if soft:
                self._fit_speed(float(np.ptp(body.shape.vertices, axis=0).max()))  # type: ignore[union-attr]
        self._refresh()

    def _nearest_first(self, names: list[str]) -> list[str]:
        sim, name = self._playground.world.sim, self._name()
        middle = sim[name].positions.mean(axis=0)
        return sorted(names, key=lambda other: float(np.linalg.norm(sim[other].positions.mean(axis=0) - middle)))

    def _fit_speed(self, size: float) -> None:
        low, high = (round(pace * size, 3) for pace in PACES)
        if (self.speed.min, self.speed.max) != (low, high):
            self.speed.min, self.speed.max, self.speed.step, self.speed.precision = low, high, 0.001, 3
            self.speed.value = round(PACE * size, 3)

    def _refresh(self) -> None:
        """How the selected body is."""
        world, name = self._playground.world, self._playground.selection.name
        if name is None or name not in world.sim.names:
            self.text.content = NOTHING
            return
        gas, words = world.gas(name), f"Selected: **{unmarked(name)}**"
        if gas is not None:
            opened = is_open(world, name)
            self.cut.label = MEND if opened else CUT
            view = world.sim[name]
            volume, pressure = world.gas_units
            gauge = float(view.pressure) - float(view.ambient)
            words += f", {float(view.volume):.3g} {volume}, {gauge:.3g} {pressure} above outside"
            words += ", open" if opened else ""
        self.text.content = words
