"""Files and scenes that come to the page and go from it: what is dropped on it, and links that carry a scene.

The page's shell gives what is dropped, and what a link carries, to an upload button that nobody sees (shell.css): viser
shows the buttons of the tab in front only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from turgor.errors import SceneError, TurgorError
from turgor.viewer.server.admission import Answer
from turgor.viewer.server.answers import LINK, Reply
from turgor.viewer.server.upload_limits import shown_name
from turgor.viewer.world.scene_link import link_of, scene_of_text, unpacked

if TYPE_CHECKING:
    from turgor.viewer.page.playground import Playground

__all__ = ["Share"]

FILE, PACKED = ".toml", ".scene"  # endings: a scene file, and what shell.js finds in a link
DROPPED = ".turgor-drop"  # by which shell.js and shell.css find the button that nobody sees
FLAT = "a mesh can be added to 3D scenes only; open one first"


class Share:
    """Takes files and answers the page that wants a link. Made before the tabs, as it stands outside of them."""

    def __init__(self, playground: Playground) -> None:
        self._playground = playground
        self._take_mesh: Callable[[Any], object] | None = None
        dropped = playground.server.gui.add_upload_button("Drop", mime_type=DROPPED)
        dropped.on_upload(self._dropped)
        playground.gate.answers.questions[LINK] = lambda reply: playground.do(self._answer, reply)

    def add_button(self) -> None:
        """A button to open a scene file with, in viser's current container."""
        button = self._playground.server.gui.add_upload_button(
            "Open a scene (.toml)", mime_type=FILE, icon="folder-open",
            hint="A scene file of yours; you may also drop it on the page. It replaces the scene for everyone.",
        )  # fmt: skip
        button.on_upload(
            lambda event: self._playground.do(self.open, event.target.value.name, event.target.value.content)
        )

    def on_mesh(self, function: Callable[[Any], object]) -> None:
        """Call with viser's upload event when a mesh is dropped, on a thread of viser's."""
        self._take_mesh = function

    def _dropped(self, event: Any) -> None:
        file, do = event.target.value, self._playground.do
        if file.name.lower().endswith((FILE, PACKED)):
            do(self.open, file.name, file.content)
        elif self._playground.world.scene.dim == 2 or self._take_mesh is None:
            do(self._refuse, f"{shown_name(file.name)}: {FLAT}")
        else:
            self._take_mesh(event)

    # on the world's thread --------------------------------------------------------------------------------------------

    def open(self, name: str, content: bytes) -> None:
        """Show the scene of a file, or of a link."""
        shown = shown_name(name)
        if shown.endswith(PACKED):
            scene = scene_of_text(unpacked(content), "the link")
        elif shown.lower().endswith(FILE):
            scene = scene_of_text(content, shown)
        else:
            raise SceneError(f"{shown}: not a scene file; its name ends with {FILE}")
        self._playground.open(scene)

    def _refuse(self, sentence: str) -> None:
        raise SceneError(sentence)

    def _answer(self, reply: Reply) -> None:
        try:
            reply(Answer("200 OK", link_of(self._playground.world.scene)))
        except TurgorError as error:
            reply(Answer("409 Conflict", f"No link can be made: {error}"))
