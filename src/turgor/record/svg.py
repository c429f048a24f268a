"""SVG as text: one element at a time. Plots, line drawings and legends are written with it."""

from __future__ import annotations

import html
from collections.abc import Iterable
from typing import Any

__all__ = ["circle", "document", "element", "line", "polygon", "polyline", "rect", "text"]


def element(tag: str, *content: str, **attributes: object) -> str:
    """`<tag stroke-width="2">content</tag>` for stroke_width=2; attributes that are None are left out.

    Numbers are pixels, rounded to a hundredth. Attributes are escaped here; content is SVG already (see `text`).
    """
    given = "".join(
        f' {name.replace("_", "-")}="{_value(value)}"' for name, value in attributes.items() if value is not None
    )
    return f"<{tag}{given}>{''.join(content)}</{tag}>" if content else f"<{tag}{given}/>"


def document(parts: Iterable[str], size: tuple[int, int], **attributes: object) -> str:
    """The whole picture; size: its width and height, in the pixels of the parts."""
    return element("svg", "".join(parts), viewBox=f"0 0 {size[0]} {size[1]}", **attributes)


def text(words: str, x: float | None = None, y: float | None = None, **attributes: object) -> str:
    """Words, escaped; (x, y) is where their base line starts, or what text_anchor says."""
    return element("text", html.escape(words), x=x, y=y, **attributes)


def line(x1: float, y1: float, x2: float, y2: float, **attributes: object) -> str:
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, **attributes)


def rect(x: float, y: float, width: float, height: float, **attributes: object) -> str:
    return element("rect", x=x, y=y, width=width, height=height, **attributes)


def circle(x: float, y: float, radius: float, **attributes: object) -> str:
    return element("circle", cx=x, cy=y, r=radius, **attributes)


def polyline(places: Iterable[Any], **attributes: object) -> str:
    """A line through places (x, y)."""
    return element("polyline", points=_points(places), **attributes)


def polygon(places: Iterable[Any], **attributes: object) -> str:
    """A closed line through places (x, y)."""
    return element("polygon", points=_points(places), **attributes)


def _points(places: Iterable[Any]) -> str:
    """To a tenth of a pixel: long curves are most of a page."""
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in places)


def _value(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.2f}".rstrip("0").rstrip(".")
    return html.escape(str(value))
