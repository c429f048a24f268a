"""What the tab "Save" gives to a real browser, and the standalone page in it."""

from __future__ import annotations

import re
import time
import tomllib
from io import BytesIO
from typing import Any

import numpy as np
import pytest
from PIL import Image

from support.films import film, pictures
from support.playgrounds import left_in
from support.waiting import until
from turgor.viewer.export.files import export

pytestmark = pytest.mark.req("X8", "X9")
PATIENCE = 120_000  # ms for the browser: it draws without a GPU, and tests may share the processor


def test_page_plays_offline(browser, private, tmp_path):
    content = export(film("drop-2d", 61, lambda number: number % 3 == 0), "html", options={"title": "A <drop> & more"})
    assert not left_in(private)
    assert len(content) < 3_000_000
    path = tmp_path / "film.html"
    path.write_bytes(content)
    context = browser.new_context(viewport={"width": 256, "height": 192}, offline=True)
    context.set_default_timeout(PATIENCE)
    asked: list[str] = []
    complaints: list[str] = []

    def gate(route: Any) -> None:
        asked.append(route.request.url)
        if route.request.url.startswith(("file:", "data:", "blob:")):
            route.continue_()
        else:
            route.abort()

    context.route("**/*", gate)
    page = context.new_page()
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(path.as_uri())
    assert page.title() == "A <drop> & more"
    page.locator("input[value='1x']").first.wait_for()  # the player's bar
    page.add_style_tag(content=".mantine-Notifications-root { display: none }")  # viser's word on drawing without a GPU
    rows: list[float] = []
    deadline = time.monotonic() + PATIENCE / 1000
    while len(rows) < 2 or max(rows) - min(rows) < 10:  # pixels: the body falls, and falls again
        assert time.monotonic() < deadline, f"nothing moves: the body is at {rows}"
        page.wait_for_timeout(150)
        rows += middle_row(page.screenshot(clip={"x": 0, "y": 0, "width": 256, "height": 150}))
    context.close()
    assert asked == [path.as_uri()]
    assert complaints == []


def middle_row(shot: bytes) -> list[float]:
    """Where the coloured body is in a screenshot; nothing while there is none."""
    rgb = np.asarray(Image.open(BytesIO(shot)).convert("RGB")).astype(int)
    places = np.argwhere(rgb.max(axis=2) - rgb.min(axis=2) > 60)
    return [float(places.mean(axis=0)[0])] if len(places) > 200 else []


def test_everything_can_be_downloaded_in_a_browser(keeping, browser, tmp_path):
    opened, panel = keeping
    context = browser.new_context(viewport={"width": 700, "height": 1000}, accept_downloads=True)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.goto(opened.url)
    page.get_by_role("tab", name="Save").click()

    def press(label: str) -> None:
        page.get_by_role("button", name=label, exact=True).click()

    def fetch(label: str) -> tuple[str, bytes]:
        with page.expect_download() as waiting:
            press(label)
        download = waiting.value
        download.save_as(tmp_path / "fetched")
        return download.suggested_filename, (tmp_path / "fetched").read_bytes()

    press("Record")
    until(lambda: panel.recording is not None and panel.recording.duration > 0.6)
    press("Stop")
    until(lambda: panel.recording.ended)
    page.get_by_text(re.compile(r"Recorded: \d\.\d s, \d+ frames, 0\.\d of 256 MiB")).wait_for()

    name, content = fetch("Take picture")
    assert re.fullmatch(r"drop-2d-\d+\.\d\ds\.png", name)
    with Image.open(BytesIO(content)) as image:
        assert min(image.size) > 200
        assert len(image.convert("RGB").getcolors(1 << 24)) > 10
    name, content = fetch("Scene (.toml)")
    assert name == "drop-2d.toml"
    assert tomllib.loads(content.decode())["name"] == "drop-2d"
    name, content = fetch("Video (.mp4)")
    assert name == "drop-2d.mp4"
    about, seen = pictures(content, tmp_path)
    assert about["size"] == (960, 540)
    assert len(seen) == int(panel.recording.duration * 30 + 1e-6) + 1
    assert fetch("Trajectory (.vtkhdf)")[1].startswith(b"\x89HDF")
    assert b"<title>drop-2d</title>" in fetch("Page (.html)")[1]

    press("Replay")
    until(lambda: opened.replaying)
    press("Live")
    until(lambda: not opened.replaying)
    context.close()
