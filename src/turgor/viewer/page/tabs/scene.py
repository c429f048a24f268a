"""The tab "Choose": which scene, its time, and the numbers that matter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from turgor import gallery
from turgor.solvers.accuracy import in_words
from turgor.viewer.page.tabs.tab import Tab
from turgor.viewer.page.thumbnails import Thumbnails
from turgor.viewer.page.words import page_words, unmarked

if TYPE_CHECKING:
    from turgor.viewer.page.playground import Playground

__all__ = ["SceneTab"]

OWN = "(own scene)"
SPEEDS = ("0.05", "0.1", "0.25", "0.5", "1")
# viser moves the camera with W, A, S, D, Q, E and the arrows, so these are not free.
KEYS = "**Keys** · space: play or pause · N: next frame · R: reset · G: next scene · F: see all · 1–5: speed"


class SceneTab(Tab):
    """Gallery, transport and numbers."""

    def __init__(self, playground: Playground) -> None:
        super().__init__(playground)
        gui = playground.server.gui
        self._rows = {row["name"]: row for row in gallery.describe()}
        name, self._scenes = playground.world.scene.name, playground.world.scenes
        known = name in self._rows and playground.world.scene == gallery.load(name)
        options = [*self._rows] if known else [OWN, *self._rows]
        self._choice = gui.add_dropdown("Scene", options, initial_value=name if known else OWN)
        self._text = gui.add_markdown("")
        self._warnings = gui.add_markdown("", visible=False)
        self._play = gui.add_button("Pause")
        self._step = gui.add_button("Step one frame")
        self._settle = gui.add_button("Settle", hint="Find the state of rest now, instead of waiting for it")
        self._reset = gui.add_button("Reset")
        self._speed = gui.add_dropdown("Speed (× real time)", SPEEDS, initial_value="1")
        with gui.add_folder("Gallery"):
            self.thumbnails = Thumbnails(playground, self._open)
        self._numbers = gui.add_markdown("")
        gui.add_markdown(KEYS)
        self._choice.on_update(self._chosen)
        self._play.on_click(lambda _: playground.do(self._toggle))
        self._step.on_click(lambda _: playground.do(self._one_step))
        self._settle.on_click(lambda _: playground.do(self._rest))
        self._reset.on_click(lambda _: playground.do(self._back))
        self._speed.on_update(lambda _: playground.do(self._set_speed, float(self._speed.value)))
        self._add_keys()
        playground.every(0.25, self._refresh)
        playground.every(1.0, self._warn)
        playground.on_new_nodes(self._describe)

    def _add_keys(self) -> None:
        gui, playground = self._playground.server.gui, self._playground
        commands: list[tuple[str, Any, Any, tuple[Any, ...]]] = [
            ("Play or pause", "space", self._toggle, ()),
            ("Step one frame", "N", self._one_step, ()),
            ("Reset the scene", "R", self._back, ()),
            ("Next scene", "G", self._next, ()),
        ]
        commands += [
            (f"Speed {speed} ×", str(k), self._set_speed, (float(speed),)) for k, speed in enumerate(SPEEDS, 1)
        ]
        for label, key, function, arguments in commands:
            command = gui.add_command(label, hotkey=key)
            command.on_trigger(lambda _, function=function, arguments=arguments: playground.do(function, *arguments))
        gui.add_command("See all", hotkey="F").on_trigger(lambda event: playground.do(playground.aim, event.client))

    # on the world's thread --------------------------------------------------------------------------------------------

    def _chosen(self, event: Any) -> None:
        if event.client is not None and self._choice.value != OWN:  # chosen by a person, not set by us
            self._playground.do(self._open, self._choice.value)

    def _open(self, name: str) -> None:
        if name not in self._rows:
            return
        self._playground.open(gallery.load(name))
        self._choice.value = name
        self._refresh()

    def _next(self) -> None:
        names = list(self._rows)
        now = self._choice.value
        self._open(names[(names.index(now) + 1) % len(names)] if now in names else names[0])

    def _toggle(self) -> None:
        self._playground.world.playing = not self._playground.world.playing
        self._refresh()

    def _one_step(self) -> None:
        self._playground.world.step_once()
        self._refresh()

    def _rest(self) -> None:
        self._playground.world.settle()
        self._refresh()

    def _back(self) -> None:
        self._playground.world.reset()
        self._refresh()

    def _set_speed(self, speed: float) -> None:
        self._playground.world.speed = speed
        self._speed.value = f"{speed:g}"

    def _warn(self) -> None:
        """What looks wrong in this scene, as long as it does."""
        world = self._playground.world
        sentences = [page_words(sentence, world.scene.names) for sentence in world.sim.warnings]
        text = "\n\n".join(f"**Warning:** {unmarked(sentence)}" for sentence in sentences)
        if text != self._warnings.content:
            self._warnings.content = text
            self._warnings.visible = bool(text)

    def _describe(self) -> None:
        scene = self._playground.world.scene
        self.thumbnails.mark(scene.name if scene.name in self._rows else "")
        if self._scenes != self._playground.world.scenes:  # opened here, by a link or a file, or taken back
            self._scenes = self._playground.world.scenes
            known = scene.name in self._rows and self._playground.world.opened == gallery.load(scene.name)
            if not known and OWN not in self._choice.options:
                self._choice.options = (OWN, *self._rows)
            self._choice.value = scene.name if known else OWN
        self._text.content = scene.description or scene.name

    def _refresh(self) -> None:
        playground, world = self._playground, self._playground.world
        self._play.label = "Pause" if world.playing else "Play"
        self._settle.label = (
            "Settle" if world.residual is None else f"Settling: {world.residual:.1g} of the forces left"
        )
        if (speed := f"{world.speed:g}") in SPEEDS and speed != self._speed.value:  # an experiment has set it
            self._speed.value = speed
        rates, sim = playground.rates, world.sim
        rows = [("time", f"{sim.time:.2f} s"), ("real-time factor", f"{rates.real_time_factor:.2f}")]
        if playground.mode.advanced:
            views = [*sim.bodies.values(), *sim.rigid_bodies.values()]
            rows += [
                ("frames simulated", f"{rates.frame_rate:.0f} /s"),
                ("updates streamed", f"{rates.update_rate:.0f} /s"),
                ("solver", sim.solver),
                ("substeps per frame", str(sim.substeps)),
                ("energy error (estimated)", in_words(sim.energy_error, sim.engine.scheme)),
                ("soft bodies, rigid bodies", f"{len(world.scene.bodies)}, {len(world.scene.rigid_bodies)}"),
                ("vertices", str(sim.vertices)),
                ("contacts", str(sim.contacts().count)),
                ("asleep", f"{sum(view.asleep for view in views)} of {len(views)}"),
            ]
        text = "| | |\n|:--|--:|\n" + "".join(f"| {name} | {value} |\n" for name, value in rows)
        if playground.mode.advanced and sim.choice.reason:
            text += f"\nSolver {sim.solver}: {sim.choice.reason}.\n"
        self._numbers.content = text
