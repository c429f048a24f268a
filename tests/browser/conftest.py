"""One Chromium for all browser tests of a process: starting it takes a second."""

from __future__ import annotations

import sys
import threading
import traceback
from collections.abc import Callable, Generator, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page
from playwright.sync_api import Error as PageError

from common.chromium import Visitor, chromium
from support.playgrounds import keeping, open_page, open_playground, private  # noqa: F401


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def open_tab(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Opens addresses in pages of their own; no script of theirs may fail."""
    context = browser.new_context()
    errors: list[str] = []

    def visit(url: str, width: int = 1000, height: int = 1000) -> Page:
        page = context.new_page()
        page.set_viewport_size({"width": width, "height": height})
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(url)
        return page

    yield visit
    context.close()
    assert errors == []


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[Any]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Beside what failed: what the page shows, and where the threads of the server are."""
    report = yield
    visitor = getattr(item, "funcargs", {}).get("visitor")
    if report.when == "call" and report.failed and isinstance(visitor, Visitor):
        try:
            shown = visitor.page.inner_text("body", timeout=5000)
        except PageError as error:
            shown = f"the page does not answer: {error}"
        report.sections.append(("the page shows", " | ".join(shown.split("\n"))))
        report.sections.append(("the server's threads are at", "\n".join(map(_place, threading.enumerate()))))
    return report


def _place(thread: threading.Thread) -> str:
    """The innermost calls of a thread."""
    frame = sys._current_frames().get(thread.ident or 0)
    calls = traceback.extract_stack(frame)[-6:] if frame is not None else []
    places = (f"{call.name} ({call.filename.rpartition('/')[2]}:{call.lineno})" for call in calls)
    return f"{thread.name}: {' > '.join(places)}"
