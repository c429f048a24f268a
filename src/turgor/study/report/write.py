"""Writes the report of a study."""

from __future__ import annotations

import os
from pathlib import Path

from turgor.files import replacing, writing
from turgor.study.report.page import page
from turgor.study.results import Results

__all__ = ["write_report"]


def write_report(folder: str | os.PathLike[str], results: Results) -> Path:
    """Write `folder`/report.html, whole or not at all. Returns its path."""
    path = Path(folder) / "report.html"
    content = page(results)
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as temporary:
            temporary.write_text(content, encoding="utf-8")
    return path
