"""The tabs of the page, in their order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from turgor.viewer.page.tabs.add import AddTab
from turgor.viewer.page.tabs.change import ChangeTab
from turgor.viewer.page.tabs.keep import KeepTab
from turgor.viewer.page.tabs.plots import PlotsTab
from turgor.viewer.page.tabs.scene import SceneTab
from turgor.viewer.page.tabs.tab import Tab
from turgor.viewer.page.tabs.view import ViewTab

if TYPE_CHECKING:
    from turgor.viewer.page.playground import Playground

__all__ = ["TABS", "build_tabs"]


# Named for what one does there.
TABS: tuple[tuple[str, type[Tab]], ...] = (
    ("Choose", SceneTab),
    ("Change", ChangeTab),
    ("Add", AddTab),
    ("Look", ViewTab),
    ("Plot", PlotsTab),
    ("Save", KeepTab),
)


def build_tabs(playground: Playground) -> list[Tab]:
    """All tabs."""
    group = playground.server.gui.add_tab_group()
    tabs: list[Tab] = []
    for label, make in TABS:
        with group.add_tab(label):
            tabs.append(make(playground))
    return tabs
