"""Diagrams as SVG: boxes with a few lines of text, and arrows between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from turgor.record import svg

__all__ = ["Box", "Diagram"]

INK, PLAIN, EDGE = "#27303a", "#f4f6f9", "#8793a1"
LETTER, LINE, MARGIN = 7.3, 17, 10  # pixels: widest mean width of a letter, height of a line, room inside a box
MONOSPACE = "ui-monospace,DejaVu Sans Mono,monospace"


@dataclass(frozen=True)
class Box:
    """A box with lines of text, the first one bold; lines in `backquotes` are code. Pixels, y downwards."""

    x: float
    y: float
    width: float
    lines: Sequence[str]
    fill: str = PLAIN
    edge: str = EDGE

    @property
    def height(self) -> float:
        return LINE * len(self.lines) + 1.1 * MARGIN

    def at(self, across: float, down: float) -> tuple[float, float]:
        """The place at these shares of width and height: (0.5, 1) is the middle of the lower side."""
        return self.x + across * self.width, self.y + down * self.height

    def fits(self) -> bool:
        """Whether no line is wider than the box."""
        return all(LETTER * len(line.strip("`")) + 2 * MARGIN <= self.width for line in self.lines)


class Diagram:
    """A sheet of boxes and arrows."""

    def __init__(self, width: int, height: int) -> None:
        self._size = (width, height)
        self.boxes: list[Box] = []
        self._arrows: list[str] = []
        self._notes: list[str] = []

    def box(self, box: Box) -> Box:
        """Draws a box, which must lie on the sheet and hold its text."""
        if not box.fits():
            raise ValueError(f"the box of {box.width:g} pixels is too narrow for {box.lines!r}")
        if not (0 <= box.x <= self._size[0] - box.width and 0 <= box.y <= self._size[1] - box.height):
            raise ValueError(f"the box {box.lines[0]!r} does not lie on the sheet")
        self.boxes.append(box)
        return box

    def arrow(self, *places: tuple[float, float], color: str = EDGE, dashed: bool = False) -> None:
        """A line through the places with a head at its end."""
        (x0, y0), (x1, y1) = places[-2:]
        length = ((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5
        ahead = ((x1 - x0) / length, (y1 - y0) / length)
        neck = (x1 - 8 * ahead[0], y1 - 8 * ahead[1])
        side = (-4 * ahead[1], 4 * ahead[0])
        head = [(x1, y1), (neck[0] + side[0], neck[1] + side[1]), (neck[0] - side[0], neck[1] - side[1])]
        style: dict[str, object] = {"stroke": color, "stroke_width": 1.6, "stroke_dasharray": "5 4" if dashed else None}
        self._arrows.append(svg.polyline([*places[:-1], neck], fill="none", **style))
        self._arrows.append(svg.polygon(head, fill=color))

    def cell(self, x: float, y: float, size: float, fill: str) -> None:
        """A small square without text: an entry of an array."""
        self._notes.append(svg.rect(x, y, size, size, fill=fill, stroke=EDGE, stroke_width=1))

    def note(self, text: str, x: float, y: float, anchor: str = "middle", bold: bool = False) -> None:
        """Words on the sheet."""
        weight = "bold" if bold else None
        self._notes.append(svg.text(text, x, y, fill=INK, text_anchor=anchor, font_weight=weight))

    def svg(self) -> str:
        """The diagram; boxes hide the ends of arrows that begin inside them."""
        drawn = [part for box in self.boxes for part in _drawn(box)]
        parts = [*self._arrows, *drawn, *self._notes]
        return svg.document(
            parts, self._size, width=self._size[0], role="img", font_family="sans-serif", font_size=13
        )  # fmt: skip


def _drawn(box: Box) -> list[str]:
    parts = [svg.rect(box.x, box.y, box.width, box.height, rx=5, fill=box.fill, stroke=box.edge, stroke_width=1.2)]
    for number, line in enumerate(box.lines):
        code = line.startswith("`")
        parts.append(
            svg.text(
                line.strip("`"), box.x + MARGIN, box.y + MARGIN + 8 + LINE * number, fill=INK,
                font_weight="bold" if number == 0 else None, font_family=MONOSPACE if code else None,
                font_size=12 if code else None,
            )
        )  # fmt: skip
    return parts
