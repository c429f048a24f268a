"""A report of `turgor papers --quick`, made by the program and opened in a real browser.

Of parts that take a second or two, from each paper. The whole one takes a minute: `turgor papers --quick`.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from support.page_reader import PageReader
from support.program import EXE
from turgor.papers.catalogue import ITEMS
from turgor.papers.report.item import PAPERS

CHOSEN = (
    "2004-figure-1", "2004-section-5-1", "2003-section-2", "2003-figure-7", "2009-pressure", "2009-section-7",
    "2007-figure-1", "2007-figure-6",
)  # fmt: skip


@pytest.mark.timeout(600)
def test_the_quick_report_in_a_real_browser(browser: Browser, tmp_path: Path) -> None:
    only = [word for key in CHOSEN for word in ("--only", key)]
    done = subprocess.run(
        [EXE, "papers", "--quick", *only, "-o", str(tmp_path / "report")], capture_output=True, text=True, timeout=500
    )
    assert done.returncode == 0, done.stderr
    path = tmp_path / "report" / "index.html"
    assert done.stdout.startswith(f"wrote {path} (")
    assert [entry.name for entry in path.parent.iterdir()] == ["index.html"]
    assert path.stat().st_size < 12e6
    read = PageReader(path.read_text(encoding="utf-8"))
    keys = [item.key for item in ITEMS if item.key in CHOSEN]
    assert len(keys) == len(CHOSEN)
    assert [name for name in read.ids if name in keys] == keys
    assert {f"#{key}" for key in keys} <= set(read.links)
    assert {link[1:] for link in read.links} <= set(read.ids)
    assert all(shown.get("alt") or shown.get("aria-label") for shown in read.pictures)
    sections = re.findall(r"<section.*?</section>", path.read_text(encoding="utf-8"), flags=re.S)
    assert len(sections) == len(keys)
    for section in sections:  # something to see or to compare, in words, and no number that is none
        assert "<table" in section or "<figure" in section
        assert not re.search(r"\b(nan|inf)\b", re.sub(r"<[^>]*>", " ", section)), section[:200]

    context = browser.new_context(offline=True, viewport={"width": 1280, "height": 900})
    tab = context.new_page()
    problems: list[str] = []
    fetched: list[str] = []
    tab.on("console", lambda message: problems.append(f"{message.type}: {message.text}"))
    tab.on("pageerror", lambda error: problems.append(str(error)))
    tab.on("requestfailed", lambda request: problems.append(f"failed: {request.url[:80]}"))
    tab.on("request", lambda request: fetched.append(request.url))
    tab.goto(path.as_uri())
    assert tab.title() == "turgor: the papers, reproduced"
    images = tab.evaluate("[...document.images].map(image => [image.complete, image.naturalWidth, image.alt])")
    assert len(images) >= len(PAPERS)
    assert [image for image in images if not (image[0] and image[1] > 0 and image[2])] == []
    assert tab.evaluate("document.documentElement.scrollWidth <= window.innerWidth")  # nothing sticks out
    assert [url for url in fetched if not url.startswith(("file:", "data:"))] == []
    assert problems == []
    context.close()
