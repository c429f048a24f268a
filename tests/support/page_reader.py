"""A strict reader of HTML, and what the tests of the papers' report put into it."""

from __future__ import annotations

import io
from html.parser import HTMLParser

import numpy as np
from PIL import Image

__all__ = ["NASTY", "PageReader", "picture"]

VOID = {"meta", "img", "br"}
#: Breaks a page that does not escape it.
NASTY = "<b> & \"quotes\" 'too' </p><script>alert(1)</script>"


class PageReader(HTMLParser):
    """Every tag is closed, in the right order; nothing that runs; notes what the page refers to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.loaded: list[str] = []  # what the browser would fetch
        self.pictures: list[dict[str, str | None]] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        assert len(values) == len(attrs), f"an attribute twice: {attrs}"
        if tag not in VOID:
            self.open.append(tag)
        self.ids += [values["id"]] if values.get("id") else []  # type: ignore[list-item]
        self.links += [values["href"] or ""] if tag == "a" else []
        self.loaded += [value or "" for name, value in attrs if name in ("src", "srcset", "data", "poster")]
        self.loaded += [values.get("href") or ""] if tag in ("link", "image", "use") else []
        self.pictures += [values] if tag in ("img", "svg") else []
        assert tag not in ("script", "iframe", "object", "embed")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in VOID or "svg" in self.open
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.words).split())


def picture(width: int = 8, height: int = 6, form: str = "JPEG") -> bytes:
    """A small grey one."""
    target = io.BytesIO()
    Image.fromarray(np.full((height, width, 3), 200, np.uint8)).save(target, form)
    return target.getvalue()
