"""The site that `make docs` writes: without warnings, whole, and with nothing from another host."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).parents[2]
PYTHON_PAGES = "reference/python/"
# Material announces its successor, and coloured code takes a quarter of the time.
QUIET = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "SITE_COLOURS": "false"}
FETCHED = {"script": "src", "img": "src", "video": "src", "source": "src", "iframe": "src", "link": "href"}


class Links(HTMLParser):
    """Addresses on a page, those that a browser fetches by itself, and the anchors it has."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.fetched: set[str] = set()
        self.anchors: set[str] = {""}
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attributes}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        if tag in FETCHED and FETCHED[tag] in values and values.get("rel") not in ("canonical", "prev", "next"):
            self.fetched.add(values[FETCHED[tag]])
        if tag == "video" and "poster" in values:
            self.fetched.add(values["poster"])
        if tag == "a" and "href" in values:
            self.links.add(values["href"])


@pytest.mark.process
def test_the_site_is_whole_loads_nothing_from_another_host_and_tells_what_the_program_is(tmp_path: Path) -> None:
    site = built(tmp_path)
    look_for_lost_links(site)
    look_for_references(site)


def built(folder: Path) -> Path:
    """As `make docs` does; a warning is an error."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=280, env=QUIET, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WARNING" not in done.stderr
    return folder


def look_for_lost_links(site: Path) -> None:
    pages = {page: Links(page) for page in site.rglob("*.html")}
    assert len(pages) > 40
    wrong = []
    for page, found in pages.items():
        if page.name == "404.html":
            continue  # its addresses begin at the root of a server
        wrong += [f"{page.name} fetches {address}" for address in found.fetched if re.match(r"\w+:|//", address)]
        for address in found.links | found.fetched:
            if re.match(r"\w+:|//", address):
                continue
            path, _, anchor = unquote(address).partition("#")
            target = (page.parent / path.split("?")[0]).resolve() if path else page
            if target.is_dir():
                target = target / "index.html"
            if not target.is_file():
                wrong.append(f"{page.relative_to(site)}: {address} does not exist")
            elif target in pages and anchor not in pages[target].anchors:
                wrong.append(f"{page.relative_to(site)}: {address} has no such anchor")
    for style in site.rglob("*.css"):
        wrong += [f"{style.name}: {url}" for url in re.findall(r"url\(['\"]?(https?:[^)]+)", style.read_text("utf-8"))]
    assert not wrong, "\n".join(sorted(set(wrong)))


def look_for_references(site: Path) -> None:
    scene = (site / "reference/scene-file.html").read_text(encoding="utf-8")
    assert "N s/m, N/m" in scene or "N/m, N s/m" in scene
    assert all(
        f"<code>{word}</code>" in scene for word in ("pressure_at", "stiffness", "subdivisions = 2", "max_substeps")
    )
    lines = (site / "reference/command-line.html").read_text(encoding="utf-8")
    assert all(option in lines for option in ("--worlds", "--repair", "--lesson", "--quick"))
    python = (site / PYTHON_PAGES / "scene.html").read_text(encoding="utf-8")
    assert "add_soft_body" in python
    assert "of the whole body" in python
    assert (site / "search/search_index.json").is_file() or (site / "search/search_index.js").is_file()
