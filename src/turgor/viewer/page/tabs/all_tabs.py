"""The tabs of the control panel, in their order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from turgor.viewer.page.tabs.add import AddTab
from turgor.viewer.page.tabs.change import ChangeTab
from turgor.viewer.page.tabs.keep import KeepTab
from turgor.viewer.page.tabs.plots import PlotsTab
from turgor.viewer.page.tabs.scene import SceneTab
from turgor.viewer.page.tabs.view import ViewTab

if TYPE_CHECKING:
    from turgor.viewer.page.playground import Playground

__all__ = ["Tab", "build_tabs"]


class Tab(Protocol):
    """One tab: it builds its elements in the current container and registers what it needs."""

    def __init__(self, playground: Any) -> None: ...

    def close(self) -> None:
        """The playground ends: stop what runs in the background."""


TABS: tuple[tuple[str, type[Tab]], ...] = (
    ("Scene", SceneTab),
    ("Hands", AddTab),
    ("Change", ChangeTab),
    ("View", ViewTab),
    ("Plots", PlotsTab),
    ("Keep", KeepTab),
)


def build_tabs(playground: Playground) -> list[Tab]:
    """All tabs."""
    group = playground.server.gui.add_tab_group()
    tabs = []
    for label, make in TABS:
        with group.add_tab(label):
            tabs.append(make(playground))
    return tabs
