"""The tabs of the control panel, in their order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from turgor.viewer.panel_change import ChangePanel
from turgor.viewer.panel_hands import HandsPanel
from turgor.viewer.panel_keep import KeepPanel
from turgor.viewer.panel_plots import PlotsPanel
from turgor.viewer.panel_scene import ScenePanel
from turgor.viewer.panel_view import ViewPanel

if TYPE_CHECKING:
    from turgor.viewer.playground import Playground

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
