"""Matyka 2007, figure 5 as a diagram: physics and methods behind the model, and the file of turgor that has each."""

from __future__ import annotations

from turgor.papers.drawing.diagram import Box, Diagram

__all__ = ["ADDED", "PLACES", "scheme"]

#: What the poster's figure names, and Hooke's law, which its text adds -> file of turgor, column and row.
PLACES = {
    "Newton's second law": ("solvers/velocity.py", 0, 0),
    "Hooke's law": ("forces/springs.py", 0, 1),
    "statistical physics": ("scene/gas.py", 0, 2),
    "ideal gas law": ("forces/gas.py", 1, 2),
    "pressure": ("forces/pressure.py", 2, 2),
    "numerical methods": ("solvers/schemes.py", 0, 3),
    "ODE integration": ("simulation/step/frame.py", 1, 3),
    "pressure soft body": ("simulation/simulation.py", 3, 1),
}
#: What turgor adds to it.
ADDED = {
    "wind and air": "forces/air.py",
    "bending": "forces/bending.py",
    "contact": "contact/method.py",
    "rigid bodies": "rigid/motion.py",
}
POSTER, BLUE, RESULT, RED = "#e3edf9", "#2f5fb3", "#fbe6e2", "#c92f36"
WIDTH, ACROSS, DOWN = 208, 242, 74  # pixels: of a box, and from one to the next


def scheme() -> str:
    """The diagram: what leads to what, from left to right; below, what turgor adds."""
    sheet = Diagram(952, 40 + 5 * DOWN)
    boxes: dict[str, Box] = {}
    for name, (file, column, row) in PLACES.items():
        colors = (RESULT, RED) if column == 3 else (POSTER, BLUE)
        box = Box(8 + ACROSS * column, 8 + DOWN * row, WIDTH, [name, f"`{file}`"], *colors)
        boxes[name] = sheet.box(box)
    body = boxes["pressure soft body"]
    for one, other in (
        ("statistical physics", "ideal gas law"), ("ideal gas law", "pressure"),
        ("numerical methods", "ODE integration"), ("Hooke's law", "pressure soft body"),
    ):  # fmt: skip
        sheet.arrow(boxes[one].at(1.0, 0.5), boxes[other].at(0.0, 0.5))
    for name, share, down in (
        ("Newton's second law", 0.5, 0.0),
        ("pressure", 0.25, 1.0),
        ("ODE integration", 0.5, 1.0),
    ):
        end, start = body.at(share, down), boxes[name].at(1.0, 0.5)
        sheet.arrow(start, (end[0], start[1]), end)
    sheet.note("and what turgor adds:", 8, 8 + 4 * DOWN + 12, "start", bold=True)
    for column, (name, file) in enumerate(ADDED.items()):
        last = sheet.box(Box(8 + ACROSS * column, 8 + 4 * DOWN + 24, WIDTH, [name, f"`{file}`"]))
    sheet.arrow(last.at(0.75, 0.0), body.at(0.75, 1.0), dashed=True)
    return sheet.svg()
