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

__all__ = ["Block", "Compared", "Picture", "Row", "Svg", "Table", "Text", "inline", "number", "plain", "words"]

LARGE, SMALL = 1e7, 1e-4  # numbers from SMALL to LARGE are written out, others with a power of ten
POWER = re.compile(r"(?<![\w.])(-?\d+(?:\.\d+)?)e([+-]?\d+)\b")  # 1.5e-07, as Python writes a small number
UNIT = re.compile(r"(?<=\d) (?=(?:%|[mµn]?s|m?m[²³]?|kg|Pa|N|J|K|mol)(?!\w))")  # the space before a unit


class Block(Protocol):
    """A part of an item."""

    def html(self) -> str:
        """The HTML of this block."""


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
        kinds = [' class="number"' if 2 * sum(map(_is_number, column)) > len(column) else "" for column in columns]
        head = "".join(
            f'<th scope="col"{kind}>{inline(cell)}</th>' for cell, kind in zip(self.header, kinds, strict=True)
        )
        lines = ("".join(map(self._cell, row, kinds)) for row in self.rows)
        body = "".join(f"<tr>{line}</tr>" for line in lines)
        caption = f"<caption>{inline(self.caption)}</caption>" if self.caption else ""
        return f'<div class="scroll"><table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'

    def _cell(self, value: Any, kind: str) -> str:
        return f"<td{kind}>{words(value, self.digits)}</td>"


@dataclass(frozen=True)
class Compared:
    """Rows (what, the paper's number or None where it gives none, turgor's). The page gathers them at its top."""

    rows: Sequence[tuple[str, Any, Any]]
    caption: str = ""

    def html(self) -> str:
        return Table(("", "paper", "turgor"), self.rows, self.caption).html()


@dataclass(frozen=True)
class Picture:
    """A JPEG or PNG, embedded."""

    data: bytes
    caption: str = ""
    alt: str = ""  # what is seen, for those who do not see it; "": the caption
    width: int = 0  # pixels in the page; 0: as wide as there is room
    cover: bytes = b""  # a small picture that stands for the item at the top of the page; see stills.cover

    def html(self) -> str:
        kind = "png" if self.data.startswith(b"\x89PNG") else "jpeg"
        code = base64.b64encode(self.data).decode("ascii")
        size = f' style="max-width:{self.width:d}px"' if self.width else ""
        alt = html.escape(self.alt) or plain(self.caption)
        return f'<figure{size}><img src="data:image/{kind};base64,{code}" alt="{alt}">{_caption(self.caption)}</figure>'


@dataclass(frozen=True)
class Svg:
    """A plot, embedded. One that has no name for those who do not see it gets its caption, or its own texts, as one."""

    svg: str
    caption: str = ""

    def html(self) -> str:
        svg = self.svg
        if "aria-label=" not in svg.partition(">")[0]:
            name = plain(self.caption) or "; ".join(re.findall(r">([^<>]+)</text>", svg)) or "drawing"
            svg = svg.replace("<svg", f'<svg aria-label="{name}"', 1)
        return f"<figure>{svg}{_caption(self.caption)}</figure>"


@dataclass(frozen=True)
class Row:
    """Blocks side by side, as many as there is room for."""

    blocks: Sequence[Block] = ()
    least: int = 300  # pixels: how narrow a block may get

    def html(self) -> str:
        return f'<div class="row" style="--least:{self.least}px">{"".join(block.html() for block in self.blocks)}</div>'


def inline(text: str) -> str:
    """Escaped, with `code` and **bold**, powers of ten for 1e-07, and no line's end before a unit; `code` as it is."""
    parts = re.split(r"`([^`]+)`", html.escape(text))
    return "".join(f"<code>{part}</code>" if index % 2 else _typeset(part) for index, part in enumerate(parts))


def _typeset(text: str) -> str:
    bold = re.sub(r"\*\*([^*]+)\*\*", r"<b>\1</b>", text)
    return POWER.sub(lambda found: _power(found[1], int(found[2])), UNIT.sub("\u00a0", bold))


def _power(factor: str, exponent: int) -> str:
    """1.5 × 10⁻⁷, on one line."""
    return ("" if factor == "1" else f"{factor}\u00a0×\u00a0") + f"10<sup>{exponent}</sup>"


def words(value: Any, digits: int = 3) -> str:
    """A number, a truth or a text as HTML."""
    if _is_number(value):
        return number(value, digits)
    return inline(("no", "yes")[value] if isinstance(value, bool) else str(value))


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
        return _power(factor, int(power)) if power else factor
    return f"{short:,.{max(0, digits - 1 - math.floor(math.log10(abs(short))))}f}" if short else "0"


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, Real) and not isinstance(value, bool))


def plain(text: str) -> str:
    """For an attribute: escaped, without the marks of `inline`."""
    return html.escape(re.sub(r"`|\*\*", "", text))


def _caption(text: str) -> str:
    return f"<figcaption>{inline(text)}</figcaption>" if text else ""
