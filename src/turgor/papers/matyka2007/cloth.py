"""Matyka 2007, figures 2 and 3: cloth, and the flag in the wind."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from turgor import gallery, shapes
from turgor.papers.drawing.line_drawing import Drawing, projected
from turgor.papers.drawing.stills import cover, jpeg, stills
from turgor.papers.report.blocks import Block, Picture, Row, Svg, Table, Text
from turgor.scene import Scene
from turgor.shapes import Shape
from turgor.simulation.simulation import Simulation

__all__ = ["cloth", "flag", "flag_reach", "flag_scene", "spring_kinds", "springs_of", "wind_total"]

BLUE, RED, DARK = "#3f8fd6", "#c92f36", "#2b4a7d"


def springs_of(shape: Shape) -> npt.NDArray[np.int32]:
    """(s, 2) all springs that the engine puts on a shape."""
    return np.concatenate([shape.edges, shape.extra_springs])


def spring_kinds(columns: int, rows: int) -> dict[str, int]:
    """How many springs of a sheet run along rows, columns and diagonals."""
    sheet = shapes.sheet((1.0, 1.0), (columns, rows))
    ends = sheet.vertices[springs_of(sheet)]
    across, up = (np.abs(ends[:, 1] - ends[:, 0])[:, [0, 2]] > 1e-9).T
    return {
        "along rows": int(np.sum(across & ~up)),
        "along columns": int(np.sum(up & ~across)),
        "diagonals": int(np.sum(across & up)),
    }


def cloth(quick: bool) -> list[Block]:
    """A sheet and its springs."""
    columns, lines = 9, 7
    sheet = shapes.sheet((1.2, 0.9), (columns, lines))
    flat = sheet.vertices[:, [0, 2]]
    drawing = Drawing((-0.64, -0.5), (0.64, 0.5), 440)
    straight = np.array([pair for pair in springs_of(sheet) if min(np.abs(np.diff(flat[pair], axis=0))[0]) < 1e-9])
    drawing.lines(flat, springs_of(sheet), BLUE, 1.0)
    drawing.lines(flat, straight, DARK, 2.2)
    drawing.dots(flat, RED)
    rows = []
    for c, r in ((columns, lines), (31, 21)):
        kinds = spring_kinds(c, r)
        expected = [r * (c - 1), c * (r - 1), 2 * (r - 1) * (c - 1)]
        rows.append([f"{c} × {r}", c * r, *kinds.values(), " + ".join(map(str, expected))])
    return [
        Text(
            "Cloth as the poster describes it: particles in a grid, joined by linear springs along rows, columns and "
            "both diagonals."
        ),
        Svg(
            drawing.svg(),
            "A sheet of turgor: particles (red), springs along rows and columns (dark), diagonals (light).",
        ),
        Table(["grid", "particles", "along rows", "along columns", "diagonals", "counted by hand"], rows),
        Text(
            "The spring force is printed as a vector on the left and a number on the right; the number is the tension, "
            "and it acts along (r_j − r_i)/|r_j − r_i| on point i and against it on point j.",
            "wrong",
        ),
    ]


def wind_total(columns: int, rows: int) -> float:
    """N: force of a wind of 1 m/s, square on a sheet of 1 m² whose points have wind_drag = 1."""
    scene = Scene(gravity=(0.0, 0.0, 0.0), wind=(0.0, 1.0, 0.0))
    scene.add_cloth(shapes.sheet((1.0, 1.0), (columns, rows)), name="sheet", wind_drag=1.0)
    return float(Simulation(scene)["sheet"].forces[:, 1].sum())


def flag_scene(wind: Sequence[float], coarse: bool) -> Scene:
    """The gallery's flag in this wind; coarse: with a quarter of the points, and the same wind on all of it."""
    scene = gallery.load("flag")
    scene.wind = tuple(float(part) for part in wind)
    if coarse:
        scene.set("flag.wind_drag", 4.0 * (scene.cloths[0].wind_drag or 0.0))
        scene.set("flag.shape.sheet.resolution", [16, 11])
    return scene


def flag_reach(scene: Scene, seconds: float) -> tuple[Simulation, list[float]]:
    """The flag after `seconds`; and, in m: where its free edge is, as seen from the middle of the pole (x, z; mean of
    the last second), and how far the fixed corners have moved."""
    sim = Simulation(scene)
    flag = scene.cloths[0]
    pegs = sim["flag"].positions[flag.pinned]
    sim.run(seconds - 1.0)
    seen = []
    for _ in range(round(sim.settings.fps)):
        sim.step()
        seen.append(sim["flag"].positions[flag.shape.groups["right"]].mean(axis=0) - pegs.mean(axis=0))
    edge = np.mean(seen, axis=0)
    return sim, [float(edge[0]), float(edge[2]), float(np.abs(sim["flag"].positions[flag.pinned] - pegs).max())]


def flag(quick: bool) -> list[Block]:
    """The flag as springs and with a texture, with and without wind."""
    seconds = 3.0 if quick else 5.0
    sim, blown = flag_reach(flag_scene((1.0, 0.0, 0.0), quick), seconds)
    _, still = flag_reach(flag_scene((0.0, 0.0, 0.0), quick), seconds)
    view = (-66.0, 17.0)
    (picture,) = stills(sim, [sim.time], (520, 400), view=view, zoom=1.1)
    shape = sim.scene.cloths[0].shape
    flat = projected(sim["flag"].positions, view)
    low, high = flat.min(axis=0) - 0.1, flat.max(axis=0) + 0.1
    drawing = Drawing(low, high, round(min(460.0, 400.0 * (high - low)[0] / (high - low)[1])))
    drawing.lines(flat, springs_of(shape), DARK, 0.7)
    drawing.dots(flat, RED, 1.3)
    drawing.dots(flat[sim.scene.cloths[0].pinned], BLUE, 6.0)
    coarse, fine = wind_total(11, 11), wind_total(31, 31)
    return [
        Text(
            "A flag with its two left corners fixed in a wind of (1, 0, 0) m/s: as springs (left) and with a texture "
            "(right). The force on a point is c ((w − v)·n) n, with n the normal of the point."
        ),
        Row([
            Svg(drawing.svg(), f"{len(shape.vertices)} particles, {len(springs_of(shape))} springs; blue: fixed."),
            Picture(jpeg(picture), "The same moment with a texture.", "A flag in the wind", cover=cover(picture)),
        ]),
        Table(
            ["wind", "free edge along the wind, m", "free edge's height, m", "fixed corners moved, m"],
            [["(1, 0, 0)", *blown], ["none", *still]],
            f"From the middle of the pole; mean of the last of {seconds:g} s.",
        ),
        Text(
            f"The wind carries the free edge {blown[0] - still[0]:.2f} m further out and {blown[1] - still[1]:.2f} m "
            "higher than it hangs in still air.",
            "measured",
        ),
        Text(
            "The poster's wind force has the unit of a velocity and no coefficient. turgor has one, `wind_drag` in N "
            "s/m per point. With the same coefficient the force depends on the mesh and not on the area: the same "
            f"sheet of 1 m² gets {coarse:.0f} N as 11 × 11 points and {fine:.0f} N as 31 × 31, so it has to be chosen "
            "for the mesh. turgor's own law, `drag_coefficient`, is per area: ½ ρ C A |w − v| (w − v).",
            "wrong",
        ),
    ]  # fmt: skip
