"""The gallery as small pictures: buttons of the page that look like their scenes.

viser's buttons have a label and no picture, so a style sheet in the page gives each of them its own. The buttons stay
what they are: they have names, take the focus and are pressed by keys.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from turgor import gallery
from turgor.viewer.server.viser_private import element_id

if TYPE_CHECKING:
    from turgor.viewer.page.playground import Playground

__all__ = ["Thumbnails"]

# The box around a button is a third of a row; the button is the picture, with its name on a strip at the bottom.
BOX = (
    "display:inline-block!important;width:calc((100% - 1.6em)/3)!important;margin:0 0 .2em .4em!important;"
    "padding:0!important;vertical-align:top"
)
BUTTON = (
    "height:auto!important;aspect-ratio:8/5;padding:0;border:1px solid rgba(128,128,128,.4);"
    "background-size:cover;background-position:center;background-color:#dfe4ea"
)
INNER = "align-items:flex-end;justify-content:stretch"
LABEL = (
    "width:100%;height:auto;justify-content:center;background:rgba(20,26,34,.62);color:#fff;font-size:.68rem;"
    "font-weight:500;padding:.12em .1em"
)
NOW = "outline:3px solid rgb(47,95,179);outline-offset:-1px"  # the scene that is open


class Thumbnails:
    """One button per scene of the gallery, in viser's current container."""

    def __init__(self, playground: Playground, opened: Callable[[str], None]) -> None:
        """`opened` gets the name of a scene, on the world's thread."""
        self._gui = playground.server.gui
        self._now = ""
        self._style = self._gui.add_html("")
        self.buttons: dict[str, Any] = {}
        for row in gallery.describe():
            button = self._gui.add_button(row["name"], hint=row["description"])
            button.on_click(lambda _, name=row["name"]: playground.do(opened, name))
            self.buttons[row["name"]] = button
        self._pictures = "".join(self._rule(name) for name in self.buttons)
        self.mark("")

    def _rule(self, name: str) -> str:
        data = gallery.picture(name)
        if data is None:
            return ""
        image = f"background-image:url(data:image/webp;base64,{base64.b64encode(data).decode()})"
        return f"{self._selector(name)}{{{image}}}"

    def _selector(self, name: str) -> str:
        return f'[id="{element_id(self.buttons[name])}"]'

    def mark(self, name: str) -> None:
        """Show which scene is open; none of the gallery: an empty name."""
        if self._style.content and name == self._now:
            return
        self._now = name
        every = ",".join(self._selector(name) for name in self.buttons)
        style = f"div:has(>:is({every})){{{BOX}}}:is({every}){{{BUTTON}}}"
        style += f":is({every}) .mantine-Button-inner{{{INNER}}}:is({every}) .mantine-Button-label{{{LABEL}}}"
        if name in self.buttons:
            style += f"{self._selector(name)}{{{NOW}}}"
        self._style.content = f"<style>{style}{self._pictures}</style>"
