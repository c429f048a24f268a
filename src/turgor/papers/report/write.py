"""Writes the report: runs the items one by one, then writes the page."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from turgor.errors import SceneError
from turgor.files import replacing
from turgor.papers.report.item import Item
from turgor.papers.report.page import Shown, page

__all__ = ["check_folder", "write_report"]

Report = Callable[[int, int, str], None]  # items done, items in all, what is next


def check_folder(folder: str | os.PathLike[str]) -> Path:
    """The folder, if a report can be written there; missing folders will be created."""
    target = Path(folder)
    there = next(place for place in (target, *target.absolute().parents) if place.exists())
    if not there.is_dir():
        raise SceneError(f"{there}: is a file; give a folder for the report")
    if not os.access(there, os.W_OK | os.X_OK):
        raise SceneError(f"{there}: no permission to write there; give another folder for the report")
    if (target / "index.html").is_dir():
        raise SceneError(f"{target / 'index.html'}: is a folder, and the page has that name; give another folder")
    return target


def write_report(
    items: Sequence[Item], folder: str | os.PathLike[str], quick: bool = False, report: Report = lambda *_: None
) -> Path:
    """Runs the items and writes `folder`/index.html: all of it, or (on an error) nothing. Returns its path."""
    target = check_folder(folder)
    shown: list[Shown] = []
    for number, item in enumerate(items):
        report(number, len(items), f"{item.paper} {item.where}")
        begin = time.perf_counter()
        blocks = item.run(quick)
        shown.append((item, blocks, time.perf_counter() - begin))
    report(len(items), len(items), "")
    content = page(shown, quick)
    target.mkdir(parents=True, exist_ok=True)
    path = target / "index.html"
    with replacing(path) as temporary:
        temporary.write_text(content, encoding="utf-8")
    return path
