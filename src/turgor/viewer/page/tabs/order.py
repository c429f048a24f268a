"""The tabs of the control panel, in their order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from turgor.viewer.page.tabs.add import HandsPanel
from turgor.viewer.page.tabs.change import ChangePanel
from turgor.viewer.page.tabs.keep import KeepPanel
from turgor.viewer.page.tabs.plots import PlotsPanel
from turgor.viewer.page.tabs.scene import ScenePanel
from turgor.viewer.page.tabs.view import ViewPanel

if TYPE_CHECKING:
    from turgor.viewer.page.playground import Playground

__all__ = ["Panel", "build_panels"]


class Panel(Protocol):
    """One tab: it builds its elements in the current container and registers what it needs."""

    def __init__(self, playground: Any) -> None: ...

    def close(self) -> None:
        """The playground ends: stop what runs in the background."""


TABS: tuple[tuple[str, type[Panel]], ...] = (
    ("Scene", ScenePanel),
    ("Hands", HandsPanel),
    ("Change", ChangePanel),
    ("View", ViewPanel),
    ("Plots", PlotsPanel),
    ("Keep", KeepPanel),
)


def build_panels(playground: Playground) -> list[Panel]:
    """All tabs."""
    tabs = playground.server.gui.add_tab_group()
    panels = []
    for label, panel in TABS:
        with tabs.add_tab(label):
            panels.append(panel(playground))
    return panels
