"""Undo and redo on the page: two buttons above the tabs, and keys. One history for all pages, as there is one world."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from turgor.viewer.page.words import unmarked
from turgor.viewer.world.history import Step
from turgor.viewer.world.undo import redo, undo
from turgor.viewer.world.world import World

if TYPE_CHECKING:
    from turgor.viewer.page.playground import Playground

__all__ = ["UndoButtons"]

ORDER = -45.0  # in the panel: above the tabs, below the switch to all controls
UNDO, REDO = "Undo", "Redo"
KEYS = ((UNDO, "Z", "cmd/ctrl"), (REDO, "Y", "cmd/ctrl"), (REDO, "Z", "cmd/ctrl+shift"))


class UndoButtons:
    """Belongs to the world's thread."""

    def __init__(self, playground: Playground) -> None:
        self._playground = playground
        gui = playground.server.gui
        self.buttons = gui.add_button_group("Changes", (UNDO, REDO), hint="Ctrl-Z, Ctrl-Y", order=ORDER)
        self.next = gui.add_markdown("", order=ORDER + 1.0, visible=False)
        self.buttons.on_click(lambda _: playground.do(self.press, self.buttons.value))
        for label, key, modifier in KEYS:
            command = gui.add_command(f"{label} a change", hotkey=key, modifier=modifier)
            command.on_trigger(lambda _, label=label: playground.do(self.press, label))
        playground.every(0.2, self._tell)

    def press(self, label: str) -> None:
        """Take back the last change, or do it again."""
        go: Callable[[World], Step] = undo if label == UNDO else redo
        world = self._playground.world
        scenes = world.scenes
        go(world)
        if world.scenes != scenes:
            self._playground.notices.close()  # what was said of another scene
        selection = self._playground.selection
        selection.select(selection.name)  # there may be other bodies, with other values
        self._tell()

    def _tell(self) -> None:
        """What the buttons would do."""
        history = self._playground.world.history
        ways = [
            f"{label}: {steps[-1].words}" for label, steps in ((UNDO, history.done), (REDO, history.undone)) if steps
        ]
        text = unmarked(" · ".join(ways))
        if self.next.content != text:
            self.next.content, self.next.visible = text, bool(text)
