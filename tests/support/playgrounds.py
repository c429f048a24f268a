"""Playgrounds that tests open on free ports and that end with the test; fixtures for the rooms' conftest.py."""

from __future__ import annotations

import contextlib
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import turgor
from support.waiting import until
from turgor import gallery
from turgor.viewer.page.playground import Playground
from turgor.viewer.page.tabs import all_tabs
from turgor.viewer.page.tabs.keep import KeepTab
from turgor.viewer.page.tabs.view import ViewTab

SECONDS = 60.0  # to wait for what must come; the machine may be busy


@pytest.fixture
def open_playground(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Playground]]:
    """Opens a gallery scene in a playground with these tabs only, as `open_playground("drop", View=ViewTab)`."""
    with contextlib.ExitStack() as stack:

        def enter(name: str, **tabs: Any) -> Playground:
            monkeypatch.setattr(all_tabs, "TABS", tuple(tabs.items()))
            return stack.enter_context(Playground(gallery.load(name), port=0))

        yield enter


class ViewPage:
    """A playground with the tab "View", its world paused at the beginning."""

    def __init__(self, scene: turgor.Scene) -> None:
        self.playground = Playground(scene, port=0)
        self.panel = next(panel for panel in self.playground.tabs if isinstance(panel, ViewTab))
        self.playground.world.playing = False
        self.do(self.playground.world.reset)

    def do(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Run on the world's thread, and wait until it is done and shown."""
        done, result = threading.Event(), []

        def job() -> None:
            try:
                result.append(function(*arguments))
            finally:
                done.set()

        self.playground.do(job)
        assert done.wait(SECONDS)
        until(lambda: self.playground.shown == self.playground.world.state)
        return result[0] if result else None

    def run(self, frames: int) -> None:
        for _ in range(frames):
            self.do(self.playground.world.step_once)

    def set(self, box: Any, value: Any) -> None:
        """As a person would; the callback runs in a thread of viser's, and what it does is waited for."""
        box.value = value
        self.do(self.panel._apply)

    def show(self, key: str, value: bool = True) -> None:
        self.set(self.panel.toggles[key], value)

    def node(self, name: str) -> Any:
        return self.playground.server.scene._handle_from_node_name.get(name)

    def nodes(self) -> set[str]:
        names = self.playground.server.scene._handle_from_node_name
        return {name for name in names if name.startswith(("/overlay", "/color"))}


@pytest.fixture
def open_page(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Any], ViewPage]]:
    """Opens a scene, or a scene of the gallery, with the tab "View"."""
    monkeypatch.setattr(all_tabs, "TABS", (("View", ViewTab),))
    opened: list[ViewPage] = []

    def make(scene: Any) -> ViewPage:
        opened.append(ViewPage(gallery.load(scene) if isinstance(scene, str) else scene))
        return opened[-1]

    yield make
    for page in opened:
        page.playground.close()


@pytest.fixture
def keeping() -> Iterator[tuple[Playground, KeepTab]]:
    """A playground with its tab Save."""
    with Playground(gallery.load("drop-2d"), port=0) as opened:
        panel = next(panel for panel in opened.tabs if isinstance(panel, KeepTab))
        yield opened, panel
        panel.close()


@pytest.fixture
def private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which temporary folders are made."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def left_in(folder: Path) -> list[Path]:
    """What is in a folder of temporary files, but for what Warp leaves there when it compiles kernels."""
    return [entry for entry in folder.iterdir() if not entry.name.startswith("wp_pch")]


def balls(dim: int = 3, gap: float = 0.1, **options: Any) -> turgor.Scene:
    """Two balls without weight; `left` flies, `right` stands still."""
    scene = turgor.Scene(dim=dim, gravity=(0,) * dim, **options)
    shape = turgor.shapes.icosphere(radius=0.4, subdivisions=2) if dim == 3 else turgor.shapes.circle(radius=0.4)
    for name, side in (("left", -1), ("right", 1)):
        scene.add_soft_body(
            shape, name=name, at=(side * (0.4 + gap / 2), *(0,) * (dim - 1)), gas=turgor.Gas(gauge=100.0 + 50 * side),
            velocity=(-3.0 * (side < 0), *(0,) * (dim - 1)), color=(0.6, 0.6, 0.62),
        )  # fmt: skip
    return scene
