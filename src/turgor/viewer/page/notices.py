"""What the page has to say: a message on every page, and where something can be done about it, buttons that do it.

viser's notifications have no buttons, so a message with remedies also stands at the top of the panel until it is closed
or a remedy was chosen, or another scene is opened. All pages share it, as all controls.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from turgor.errors import TurgorError
from turgor.viewer.page.words import page_words

if TYPE_CHECKING:
    from turgor.viewer.page.playground import Playground

__all__ = ["Notices", "Remedy"]

Remedy = tuple[str, Callable[[], object]]  # label of a button, and what it does on the world's thread
COLORS = {"error": "red", "warning": "orange", "info": "blue"}
SECONDS = {"error": 12.0, "warning": 12.0, "info": 6.0}  # that a notification stays
FIRST = -100.0  # order in the panel: above the tabs
# Of both themes: the text has the colour of the page, and the mark at its side says how serious it is.
BLOCK = (
    '<div role="status" style="margin:0 .75em .5em;padding:.5em .75em;border-left:4px solid {color};'
    'background:rgba(128,128,128,.12);font-size:.875em;line-height:1.4"><b>{title}</b><br>{text}</div>'
)


class Notices:
    """Belongs to the world's thread; the buttons hand over to it."""

    def __init__(self, playground: Playground) -> None:
        self._playground = playground
        self._handles: list[Any] = []  # of the message at the top of the panel
        self.title = ""  # of that message; empty: there is none
        self.text = ""
        self.remedies: tuple[Remedy, ...] = ()

    def say(
        self, title: str, text: str, kind: str = "info", remedies: Sequence[Remedy] = (), *, verbatim: bool = False
    ) -> str:
        """A message on every page, in the words of the page unless `verbatim`; with remedies it stays in the panel.

        Returns the words.
        """
        words = text if verbatim else page_words(text, self._playground.world.scene.names)
        for client in self._playground.server.get_clients().values():
            client.add_notification(
                title, words, color=COLORS.get(kind, "blue"), auto_close_seconds=SECONDS.get(kind, 6.0)
            )
        if remedies:
            self._show(title, words, kind, remedies)
        return words

    def _show(self, title: str, text: str, kind: str, remedies: Sequence[Remedy]) -> None:
        gui = self._playground.server.gui
        with self._playground.server.atomic():
            self.close()
            self.title, self.text, self.remedies = title, text, tuple(remedies)
            block = BLOCK.format(color=COLORS.get(kind, "blue"), title=html.escape(title), text=html.escape(text))
            self._handles.append(gui.add_html(block, order=FIRST))
            for place, (label, function) in enumerate(remedies, 1):
                button = gui.add_button(label, order=FIRST + place)
                button.on_click(lambda _, function=function: self._playground.do(self._remedy, function))
                self._handles.append(button)
            away = gui.add_button("Close this message", color="gray", order=FIRST + len(remedies) + 1)
            away.on_click(lambda _: self._playground.do(self.close))
            self._handles.append(away)

    def choose(self, label: str) -> None:
        """Do what a button of the message does (on the world's thread)."""
        self._remedy(dict(self.remedies)[label])

    def _remedy(self, function: Callable[[], object]) -> None:
        """The message goes, unless its remedy does not work: then the next one says why."""
        self.close()
        function()

    def close(self) -> None:
        """Take the message out of the panel (on the world's thread)."""
        self.title, self.text, self.remedies = "", "", ()
        handles, self._handles = self._handles, []
        for handle in handles:
            handle.remove()

    # what several parts of the page say -------------------------------------------------------------------------------

    def unstable(self, error: TurgorError) -> None:
        """The simulation has diverged, and waits in its last good state."""
        world = self._playground.world

        def reset() -> None:
            world.reset()
            world.playing = True

        def fast() -> None:
            world.change("simulation.solver", "implicit")
            world.playing = True

        def restore() -> None:
            world.restore()
            world.playing = True

        remedies: list[Remedy] = [("Reset", reset)]
        if world.sim.solver != "implicit":
            remedies.append(("Use the fast solver", fast))
        if world.scene != world.opened:
            remedies.append(("Back to the scene's values", restore))
        self.say("The simulation became unstable and is paused", str(error), "error", remedies)
