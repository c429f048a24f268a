"""What an item of the report consists of: text, tables, pictures and plots, each of which knows its HTML."""

from __future__ import annotations

import base64
import html
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Protocol

__all__ = ["Block", "Picture", "Row", "Svg", "Table", "Text", "inline", "number"]

LARGE, SMALL = 1e7, 1e-4  # numbers from SMALL to LARGE are written out, others with a power of ten


class Block(Protocol):
    """A part of an item."""

    def html(self) -> str:
        """As it stands in the page."""


@dataclass(frozen=True)
class Text:
    """A paragraph. `code` and **bold** are understood, nothing else; kind: "" | "measured" | "wrong" (of a paper)."""

    text: str
    kind: str = ""

    def html(self) -> str:
        kind = f' class="{html.escape(self.kind)}"' if self.kind else ""
        return f"<p{kind}>{inline(self.text)}</p>"


@dataclass(frozen=True)
class Table:
    """Rows of numbers or short texts; floats are shown with `digits` significant digits, None and NaN as a dash."""

    header: Sequence[str]
    rows: Sequence[Sequence[Any]]
    caption: str = ""
    digits: int = 3

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.header):
                raise ValueError(f"the table has {len(self.header)} columns and a row of {len(row)}: {row!r}")

    def html(self) -> str:
        columns = zip(*self.rows, strict=True) if self.rows else [()] * len(self.header)
        kinds = [' class="number"' if all(map(_is_number, column)) else "" for column in columns]
        head = "".join(
            f'<th scope="col"{kind}>{inline(cell)}</th>' for cell, kind in zip(self.header, kinds, strict=True)
        )
        body = "".join("<tr>" + "".join(self._cell(cell) for cell in row) + "</tr>" for row in self.rows)
        caption = f"<caption>{inline(self.caption)}</caption>" if self.caption else ""
        return f'<div class="scroll"><table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'

    def _cell(self, value: Any) -> str:
        if _is_number(value):
            return f'<td class="number">{number(value, self.digits)}</td>'
        return f"<td>{inline(('no', 'yes')[value] if isinstance(value, bool) else str(value))}</td>"


@dataclass(frozen=True)
class Picture:
    """A JPEG or PNG, embedded."""

    data: bytes
    caption: str = ""
    alt: str = ""  # what is seen, for those who do not see it; "": the caption
    width: int = 0  # pixels in the page; 0: as wide as there is room

    def html(self) -> str:
        kind = "png" if self.data.startswith(b"\x89PNG") else "jpeg"
        code = base64.b64encode(self.data).decode("ascii")
        size = f' style="max-width:{self.width:d}px"' if self.width else ""
        alt = html.escape(self.alt) or _plain(self.caption)
        return f'<figure{size}><img src="data:image/{kind};base64,{code}" alt="{alt}">{_caption(self.caption)}</figure>'


@dataclass(frozen=True)
class Svg:
    """A plot, embedded. One that has no name for those who do not see it gets its caption, or its own texts, as one."""

    svg: str
    caption: str = ""

    def html(self) -> str:
        svg = self.svg
        if "aria-label=" not in svg.partition(">")[0]:
            name = _plain(self.caption) or "; ".join(re.findall(r">([^<>]+)</text>", svg)) or "drawing"
            svg = svg.replace("<svg", f'<svg aria-label="{name}"', 1)
        return f"<figure>{svg}{_caption(self.caption)}</figure>"


@dataclass(frozen=True)
class Row:
    """Blocks side by side, as many as there is room for."""

    blocks: Sequence[Block] = ()

    def html(self) -> str:
        return '<div class="row">' + "".join(block.html() for block in self.blocks) + "</div>"


def inline(text: str) -> str:
    """Escaped, with `code` and **bold**; what stands in `code` is left as it is."""
    parts = re.split(r"`([^`]+)`", html.escape(text))
    return "".join(
        f"<code>{part}</code>" if index % 2 else re.sub(r"\*\*([^*]+)\*\*", r"<b>\1</b>", part)
        for index, part in enumerate(parts)
    )


def number(value: Any, digits: int = 3) -> str:
    """A number as HTML: whole ones in full, others to `digits` significant digits; None and NaN as a dash."""
    if value is None or math.isnan(value):
        return "–"
    if isinstance(value, Integral):
        return f"{int(value):,}"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    short = float(f"{value:.{digits}g}")
    if short and not SMALL <= abs(short) < LARGE:
        factor, _, power = f"{short:.{digits}g}".partition("e")
        return f"{factor} × 10<sup>{int(power)}</sup>" if power else factor
    return f"{short:,.{max(0, digits - 1 - math.floor(math.log10(abs(short))))}f}" if short else "0"


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, Real) and not isinstance(value, bool))


def _plain(text: str) -> str:
    """For an attribute: escaped, without the marks of `inline`."""
    return html.escape(re.sub(r"`|\*\*", "", text))


def _caption(text: str) -> str:
    return f"<figcaption>{inline(text)}</figcaption>" if text else ""
