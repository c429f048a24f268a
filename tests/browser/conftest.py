"""One Chromium for all browser tests of a process: starting it takes a second."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page

from common.chromium import chromium
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
