"""Matyka 2004, figures 2 and 3 as diagrams: what is kept of points and springs, and the steps of the algorithm.

Each shows the paper's parts beside those of the engine, whose names are taken from the engine itself.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from turgor.papers.drawing.diagram import Box, Diagram

__all__ = ["algorithm_diagram", "structure_diagram"]

POINT, SPRING, PRESSURE, RED = "#e3edf9", "#e3f3ea", "#fbe6e2", "#c92f36"
ROW, STEP = 36, 64  # pixels: from one array, and from one step, to the next
CELLS = 5  # entries that are drawn of an array


def structure_diagram(points: Mapping[str, str], springs: Mapping[str, str]) -> str:
    """Figure 2: the two structures of the paper, and the engine's arrays (name -> what one entry of it is)."""
    sheet = Diagram(940, 64 + ROW * (len(points) + len(springs)))
    sheet.note("paper: two tables of structures", 20, 20, "start", bold=True)
    sheet.note("turgor: one array per quantity", 370, 20, "start", bold=True)
    point = sheet.box(Box(20, 38, 240, ["point", "position x, y", "velocity vx, vy", "force fx, fy"], POINT))
    below = point.at(0.0, 1.0)[1] + 50
    spring = sheet.box(Box(20, below, 240, ["spring", "points i and j", "rest length", "normal nx, ny"], SPRING))
    sheet.arrow(spring.at(0.4, 0.0), point.at(0.4, 1.0))
    sheet.arrow(spring.at(0.6, 0.0), point.at(0.6, 1.0))
    rows = []
    for number, (name, what) in enumerate({**points, **springs}.items()):
        fill = POINT if name in points else SPRING
        y = 38 + ROW * number + (12 if name in springs else 0)
        rows.append(sheet.box(Box(370, y, 200, [f"`{name}`"], fill)))
        for k in range(CELLS):
            sheet.cell(582 + 26 * k, y + 2, 24, fill)
        sheet.note(f"… {what}", 582 + 26 * CELLS + 8, y + 19, "start")
    _around(sheet, rows[len(points)], rows[0], 345)
    return sheet.svg()


def algorithm_diagram(stages: Mapping[str, str], added: Sequence[str]) -> str:
    """Figure 3: the steps of a spring-mass model and of the pressure model, and the engine's stages of a substep.

    stages: name -> what it does, in the order in which they run; added: those that pressure needs.
    """
    steps = [
        ["make the object", "points and springs"],
        ["gravity", "on each point"],
        ["spring forces", "Hooke's law, damping"],
        ["pressure force", "volume, then each edge"],
        ["integrate", "velocity, position, floor"],
        ["draw"],
    ]
    sheet = Diagram(940, 60 + STEP * max(len(steps), len(stages) + 3))
    for x, title in ((34, "paper: springs and masses"), (310, "paper: the pressure model"), (600, "turgor: a frame")):
        sheet.note(title, x, 20, "start", bold=True)
    for x, shown in ((34, [*steps[:3], *steps[4:]]), (310, steps)):
        column = _column(sheet, x, 210, shown, [lines for lines in shown if lines[0] == "pressure force"])
        _around(sheet, column[-1], column[1], x - 22)
    own = [[f"`{name}`", what] for name, what in stages.items()]
    frame = [["plan", "longest stable substep, and how many"], *own, ["inspect", "a failed frame is undone"], ["draw"]]
    column = _column(sheet, 600, 330, frame, [lines for name, lines in zip(stages, own, strict=True) if name in added])
    _around(sheet, column[len(stages)], column[1], 580)
    _around(sheet, column[-1], column[0], 560)
    return sheet.svg()


def _column(sheet: Diagram, x: float, width: float, texts: list[list[str]], marked: list[list[str]]) -> list[Box]:
    """Boxes from top to bottom, an arrow from each to the next."""
    boxes = []
    for number, lines in enumerate(texts):
        colors = (PRESSURE, RED) if lines in marked else ()
        boxes.append(sheet.box(Box(x, 38 + STEP * number, width, lines, *colors)))
    for one, other in itertools.pairwise(boxes):
        sheet.arrow(one.at(0.5, 1.0), other.at(0.5, 0.0))
    return boxes


def _around(sheet: Diagram, start: Box, end: Box, x: float) -> None:
    """An arrow from one box to another, on their left."""
    (x0, y0), (x1, y1) = start.at(0.0, 0.5), end.at(0.0, 0.5)
    sheet.arrow((x0, y0), (x, y0), (x, y1), (x1, y1))
