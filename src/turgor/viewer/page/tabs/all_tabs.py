"""The tabs of the page, in their order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from turgor.viewer.page.tabs.add import AddTab
from turgor.viewer.page.tabs.change import ChangeTab
from turgor.viewer.page.tabs.keep import KeepTab
from turgor.viewer.page.tabs.learn import LearnTab
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
    ("Learn", LearnTab),
)


def build_tabs(playground: Playground, front: str = "") -> list[Tab]:
    """All tabs; `front` is the label of the one that comes first, and is so in front."""
    group = playground.server.gui.add_tab_group()
    tabs: list[Tab] = []
    for label, make in sorted(TABS, key=lambda entry: entry[0] != front):
        with group.add_tab(label):
            tabs.append(make(playground))
    return tabs
