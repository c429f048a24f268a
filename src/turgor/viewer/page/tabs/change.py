"""The tab "Change": the live parameters of the selected body, or of all, and of the scene; simple, or all of them."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

from turgor.errors import TurgorError
from turgor.viewer.page.tabs.tab import Tab
from turgor.viewer.world.parameters import (
    ENTRIES,
    NARROW,
    SCENE,
    Choice,
    Parameter,
    Span,
    limits_for,
    set_for,
    span_for,
    subjects,
    values,
)
from turgor.viewer.world.ranges import check, spoken
from turgor.viewer.world.simple import SIMPLE

if TYPE_CHECKING:
    from turgor.viewer.page.playground import Playground

__all__ = ["ChangeTab"]

REST = 1.0  # s after the last touch until a control may be set by us: not while someone drags it or types into it
SLOW = ("law", "pressure_at", "material")
MANY = 12  # more bodies than this do not change these at once: each rebuilds the simulation
PRESETS = {"Earth": 9.81, "Moon": 1.62, "Mars": 3.71, "Zero": 0.0}  # m/s²
HELP = "Click a body to select it."
JOINED = "\u2060"  # no line ends here
MIXED = "(mixed)"  # what a list shows while bodies differ
TABLE = {entry.key: entry for entry in (*SIMPLE, *ENTRIES)}


class ChangeTab(Tab):
    """Sliders that show the values of now. What pages send is noted, and the latest of each is applied per turn."""

    def __init__(self, playground: Playground) -> None:
        super().__init__(playground)
        self._selection = playground.selection
        self._controls: dict[str, Any] = {}
        self._spans: dict[str, Span] = {}
        self._names: dict[str, list[str]] = {}  # the bodies that each control is about
        self._later: dict[str, Any] = {}  # bodies that came after the scene was opened, as they came
        self._touched: dict[str, float] = {}  # when a person last moved a control
        self._wanted: dict[str, Any] = {}  # what pages have sent since the last turn
        self._doubtful: dict[str, Any] = {}  # out of range, perhaps half typed: refused once it has come to rest
        self._lock = threading.Lock()
        self._shown: Any = None  # the scene whose values are shown
        gui = playground.server.gui
        self._selection.add_dropdown()
        self._now = gui.add_markdown(HELP)
        self._simple = gui.add_folder("All bodies")
        with self._simple:
            for entry in SIMPLE:
                self._add(entry)
        self._folder = gui.add_folder("All bodies")
        with self._folder:
            for entry in (entry for entry in ENTRIES if not entry.of_scene):
                self._add(entry)
        self._whole = gui.add_folder("Scene")
        with self._whole:
            for entry in (entry for entry in ENTRIES if entry.of_scene):
                self._add(entry)
                if entry.key == "gravity":
                    self._presets = gui.add_button_group("as on", tuple(PRESETS))
        self._back = gui.add_button("Back to the scene's values", hint="and to its beginning")
        self._presets.on_click(lambda _: self._note("gravity", PRESETS[self._presets.value]))
        self._back.on_click(lambda _: playground.do(self._restore))
        self._selection.on_change(self._arrange)
        playground.mode.on_change(self._choose_folders)
        playground.every(0.3, self._refresh)

    def _choose_folders(self) -> None:
        advanced = self._playground.mode.advanced
        self._simple.visible = not advanced
        self._folder.visible = self._whole.visible = advanced

    def control(self, key: str) -> Any:
        """The slider or dropdown of a parameter."""
        return self._controls[key]

    def _add(self, entry: Parameter | Choice) -> None:
        gui = self._playground.server.gui
        control: Any
        if isinstance(entry, Parameter):
            title = entry.title(self._playground.world.scene.dim)
            control = gui.add_slider(title, 0.0, 1.0, 0.01, 0.0, hint=entry.hint, visible=False)
        else:
            control = gui.add_dropdown(entry.label, entry.options, hint=entry.hint, visible=False)

        async def moved(event: Any) -> None:
            if event.client is not None:  # by a person, not by us
                self._note(entry.key, event.target.value)

        control.on_update(moved)
        self._controls[entry.key] = control

    # viser's thread ---------------------------------------------------------------------------------------------------

    def _note(self, key: str, value: Any) -> None:
        with self._lock:
            first = not self._wanted
            self._wanted[key] = value
            self._touched[key] = time.perf_counter()
        if first:
            self._playground.do(self._apply)

    # the world's thread -----------------------------------------------------------------------------------------------

    def _apply(self) -> None:
        with self._lock:
            wanted, self._wanted = self._wanted, {}
        if self._outdated():  # what is wanted was of a body that is gone
            return
        for key, value in wanted.items():
            self._doubtful.pop(key, None)
            if value == MIXED:
                continue
            try:
                self._check(key, value)
            except TurgorError:
                self._doubtful[key] = value
                continue
            try:
                set_for(self._playground.world, TABLE[key], self._names[key], value, self._later)
            except TurgorError as error:
                self._refuse(key, error)
            else:
                span = self._spans.get(key)
                if isinstance(TABLE[key], Parameter) and (span is None or span.clip(value) != value):
                    self._fit(key)  # it was typed: the page would bring it back into the range
        if "pressure_at" in wanted:  # other amounts of gas suit
            self._fit("moles")
        self._refresh()

    def _outdated(self) -> bool:
        """Whether there are other bodies, and `_arrange` is still to come, with their nodes."""
        known = {SCENE, *self._playground.world.scene.names}
        return any(name not in known for names in self._names.values() for name in names)

    def _check(self, key: str, value: Any) -> None:
        """SceneError where a body cannot have it."""
        world, entry = self._playground.world, TABLE[key]
        if isinstance(entry, Parameter):
            for name in self._names[key]:
                bounds = limits_for(world, entry, name, self._later)
                check(entry.label, entry.unit_in(world.scene.dim), name, float(value), bounds)

    def _refuse(self, key: str, error: TurgorError) -> None:
        """The control goes back at once, and the page says why."""
        self._touched.pop(key, None)
        self._shown = None
        self._playground.notify("That does not work", str(error), "error")

    def _restore(self) -> None:
        self._playground.world.restore()
        self._playground.world.playing = True

    def _arrange(self) -> None:
        """Another body is selected, or there are other bodies: show what applies, in ranges that suit."""
        world, name = self._playground.world, self._selection.name
        things = (*world.scene.bodies, *world.scene.rigid_bodies)
        self._later = {thing.name: self._later.get(thing.name, thing) for thing in things}
        self._simple.label = self._folder.label = "All bodies" if name is None else f"Body {name}"
        with self._playground.server.atomic():
            for key in TABLE:
                self._fit(key)
        self._touched.clear()
        self._shown = None
        self._refresh()

    def _fit(self, key: str) -> None:
        """Whether a control is there, and its range."""
        world, entry, control = self._playground.world, TABLE[key], self._controls[key]
        names = self._names[key] = subjects(world, entry, self._selection.name)
        control.visible = bool(names) and not (key in SLOW and len(names) > MANY)
        if names and isinstance(entry, Parameter):
            span = span_for(world, entry, names, self._later)
            control.disabled = span is None  # these bodies are too different: each has its own slider
            if span is not None and span != self._spans.get(key):
                self._spans[key] = span
                control.min, control.max, control.step, control.precision = span.low, span.high, span.step, span.digits

    def _refresh(self) -> None:
        """Show the values of now, but leave alone what someone is just moving."""
        world, now = self._playground.world, time.perf_counter()
        if self._outdated():
            return
        resting = [key for key, touched in list(self._touched.items()) if now - touched > REST]
        for key in resting:
            self._touched.pop(key, None)
            if key in self._doubtful:
                try:
                    self._check(key, self._doubtful.pop(key))
                except TurgorError as error:
                    self._refuse(key, error)
        if self._shown is not world.scene or resting:
            self._shown = world.scene
            for key in ("wind_x", "wind_y", "wind_z", "air_density"):  # they matter once a body has air drag
                if bool(self._names.get(key)) != bool(subjects(world, TABLE[key], None)):
                    self._fit(key)
            with self._playground.server.atomic():
                for key, names in self._names.items():
                    if names and key not in self._touched:
                        self._show_value(key, names)
        self._now.content = self._measured()

    def _show_value(self, key: str, names: list[str]) -> None:
        """The value that all have; where they differ, the label says from where to where."""
        entry, control, world = TABLE[key], self._controls[key], self._playground.world
        found = values(world, entry, names)
        if not isinstance(entry, Parameter):
            value = found[0] if len(found) == 1 else MIXED
            self._offer(key, value, names)
            control.value = value
            return
        self._fit(key)
        span = self._spans.get(key)
        if span is not None:
            control.value = round(span.clip((found[0] + found[-1]) / 2.0), span.digits)
        label = entry.title(world.scene.dim)
        if len(found) > 1:
            ends = f"{spoken(found[0])} to {spoken(found[-1])}".replace(".", f".{JOINED}")
            label += f", mixed:{NARROW}{ends}"
        if control.label != label:
            control.label = label

    def _offer(self, key: str, value: str, names: list[str]) -> None:
        """A scene may have a value that is not in the list, such as 100 substeps; bodies may differ."""
        entry, control = TABLE[key], self._controls[key]
        assert isinstance(entry, Choice)
        options = entry.options_for(self._playground.world, names)
        options = options if value in options else (*options, value)
        if control.options != options:
            control.options = options

    def _measured(self) -> str:
        """Volume and pressure of the selected body as they are now."""
        world, name = self._playground.world, self._selection.name
        if name is None or world.gas(name) is None:
            return HELP
        frame, index = world.frame(), world.sim.names.index(name)
        volume, gauge = frame.volumes[index], frame.pressures[index] - float(world.sim[name].ambient)
        volume_unit, pressure_unit = world.gas_units
        return f"Now: volume **{volume:.4g} {volume_unit}**, gauge pressure **{gauge:.4g} {pressure_unit}**"
