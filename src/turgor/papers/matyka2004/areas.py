"""Matyka 2004, section 5.3 and appendix A: the area of the body, and the pressure force that follows from it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from turgor import gallery, shapes
from turgor.papers.drawing.line_drawing import Drawing
from turgor.papers.report.blocks import Block, Svg, Table, Text
from turgor.scene import Gas, Scene, Springs
from turgor.shapes import Shape
from turgor.simulation.simulation import Simulation

__all__ = [
    "Area", "absolute_area", "areas", "blocks", "equation_3", "equilibrium_radius", "force_over_law", "listed_area",
    "outlines",
]  # fmt: skip

FloatArray = npt.NDArray[np.float64]
NRT = 60.0  # J/m: the gas of drop-2d
ROUND_OFF = 1e-6  # of single precision


@dataclass(frozen=True)
class Area:
    """m² of one outline, by each method."""

    name: str
    exact: float  # closed form
    gauss: float  # the engine's
    box: float  # the engine's, volume = "box"
    absolute: float  # appendix A with the listing's absolute values
    listed: float  # the sum that the listing prints


def outlines() -> dict[str, tuple[Shape, float]]:
    """Outlines whose area (m²) has a closed form, convex ones first."""
    r, n = 0.5, 48
    circle = shapes.circle(r, n)
    moved = shapes.outline(circle.vertices + np.array([2.0, 0.0]))
    wide = shapes.outline(circle.vertices * np.array([1.6, 0.5]))
    horse = [[0, 0], [1, 0], [1, 1], [0.7, 1], [0.7, 0.3], [0.3, 0.3], [0.3, 1], [0, 1]]
    ring = 0.5 * n * r * r * math.sin(2.0 * math.pi / n)
    return {
        "circle": (circle, ring),
        "circle at x = 2 m": (moved, ring),
        "ellipse 1.6 : 0.5": (wide, 0.8 * ring),
        "square on its corner": (shapes.polygon(4, 0.5, points=48), 2.0 * r * r),
        "star (concave)": (shapes.star(5, 0.5, 0.2, points=50), 5 * 0.5 * 0.2 * math.sin(math.pi / 5)),
        "horseshoe (concave)": (shapes.outline(np.array(horse) - 0.5, spacing=0.05), 1.0 - 0.4 * 0.7),
    }


def _edges(points: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The ends of each edge of a closed outline."""
    return points, np.roll(points, -1, axis=0)


def listed_area(points: FloatArray) -> float:
    """What the printed listing sums: half |x1 - x2| |nx| dl, and |nx| dl is |y1 - y2|."""
    a, b = _edges(points)
    return float(0.5 * np.sum(np.abs(a[:, 0] - b[:, 0]) * np.abs(a[:, 1] - b[:, 1])))


def equation_3(points: FloatArray) -> float:
    """Equation (3) of the paper: as the listing, but with the sign of nx."""
    a, b = _edges(points)
    return float(0.5 * np.sum(np.abs(a[:, 0] - b[:, 0]) * (b[:, 1] - a[:, 1])))


def absolute_area(points: FloatArray) -> float:
    """Appendix A (x nx dl, x in the middle of the edge) with the listing's absolute values."""
    a, b = _edges(points)
    return float(0.5 * np.sum(np.abs(a[:, 0] + b[:, 0]) * np.abs(a[:, 1] - b[:, 1])))


def areas() -> list[Area]:
    """All outlines by all methods; the engine measures them in one simulation, each twice."""
    scene = Scene(dim=2, gravity=(0.0, 0.0))
    known = outlines()
    for number, (shape, _) in enumerate(known.values()):
        scene.add_soft_body(shape, name=f"gauss-{number}")
        scene.add_soft_body(shape, name=f"box-{number}", volume="box")
    sim = Simulation(scene, contact="none")
    return [
        Area(
            name=name,
            exact=exact,
            gauss=float(sim[f"gauss-{number}"].volume),
            box=float(sim[f"box-{number}"].volume),
            absolute=absolute_area(shape.vertices),
            listed=listed_area(shape.vertices),
        )
        for number, (name, (shape, exact)) in enumerate(known.items())
    ]


def force_over_law(points: int) -> float:
    """The engine's pressure forces on a ring: sum of f·x over 2 nRT, which is 1 by the law (the virial in 2D)."""
    scene = Scene(dim=2, gravity=(0.0, 0.0))
    scene.add_soft_body(shapes.circle(0.5, points), name="ring", springs=Springs(stiffness=0.0), gas=Gas(nRT=NRT))
    sim = Simulation(scene)
    return float(np.sum(sim["ring"].forces * sim["ring"].positions)) / (2.0 * NRT)


def equilibrium_radius(nrt: float) -> float:
    """m: mean radius of the ball of drop-2d with this gas, at rest without gravity."""
    scene = gallery.load("drop-2d")
    scene.set("ball.gas.nRT", nrt)
    points = Simulation(scene)["ball"].positions
    return float(np.linalg.norm(points - points.mean(axis=0), axis=1).mean())


def blocks(quick: bool) -> list[Block]:
    """Section 5.3 of the report."""
    found = areas()
    rows = [
        [a.name, a.exact, *(_off(value, a.exact) for value in (a.gauss, a.box, a.absolute, a.listed))] for a in found
    ]
    header = [
        "outline", "exact area, m²", "Gauss (turgor)", "bounding box", "appendix A with absolute values", "as listed",
    ]  # fmt: skip
    sizes = sorted(len(shape.vertices) for shape, _ in outlines().values())
    worst = max(abs(a.gauss / a.exact - 1.0) for a in found)
    counts = (20, 48) if quick else (20, 48, 200, 1000)
    factors = []
    for count in counts:
        points = shapes.circle(0.5, count).vertices
        share = listed_area(points) / shapes.circle(0.5, count).volume
        factors.append([count, force_over_law(count), 2.0, share, 2.0 / share])
    law, doubled, printed = (equilibrium_radius(factor * NRT) for factor in (1.0, 2.0, factors[1][-1]))
    zero = max(abs(equation_3(shape.vertices)) for shape, _ in outlines().values())
    return [
        Text(
            "The area of the body sets the pressure. The paper first names the bounding box, then Gauss' theorem, "
            "which it derives in appendix A. Below, each outline by each method, and how far that is from the exact "
            "area."
        ),
        Svg(_drawing(), "The outlines, each with its bounding box."),
        Table(header, rows, f"Polygons of {sizes[0]} to {sizes[-1]} points; exact is the polygon's own area."),
        Text(
            "turgor's signed sum is exact on all of them, concave and off the axis too: the largest error is "
            f"{worst:.1e} (single precision). The bounding box is {found[0].box / found[0].exact:.2f} times the area "
            f"of the circle and {found[4].box / found[4].exact:.2f} times that of the star; as the factor changes "
            "with the shape, so does the pressure.",
            "measured",
        ),
        Text(
            "The printed listing does not compute the area. It sums half |x1 − x2| |nx| dl, and |nx| dl is |y1 − y2|: "
            "the area of the small right triangles on the edges, 2/N of a circle of N points, and nothing at all where "
            "edges run along the axes, as in the horseshoe, so that the pressure is infinite. Equation (3) has the "
            f"sign of nx and gives zero for closed outlines such as these (at most {zero:.1e} m² here). Appendix A is "
            "right; with the listing's absolute values it holds only for convex shapes that the axis x = 0 cuts.",
            "wrong",
        ),
        Table(
            ["points N", "turgor: force / law", "listing: both ends get the whole edge", "listing: area / area",
             "listing: force / law"],
            factors,
            "Pressure force against the law. The sum of f·x over all points is 2 nRT for any outline; turgor's is "
            "measured.",
        ),
        Text(
            "Each end of an edge gets the full force in the listing, so the sum is twice P·l·n. Together with the "
            "area the listing's force is N times the law: the constant P, which the paper calls experimental, has to "
            "be found again for each number of points. The ball of `drop-2d` rests at a radius of "
            f"{law:.3f} m with the law, {doubled:.3f} m with the doubled force and {printed:.2f} m with the listing "
            "as it is printed (measured with as many times the gas).",
            "wrong",
        ),
    ]  # fmt: skip


def _off(value: float, exact: float) -> str:
    error = value / exact - 1.0
    return f"{value:.4f} (exact)" if abs(error) < ROUND_OFF else f"{value:.4f} ({100 * error:+.1f} %)"


def _drawing() -> str:
    spots = [np.array([1.5 * k, 0.0]) for k in (0, 0, 1.05, 2.1, 2.95, 3.8)]
    drawing = Drawing((-0.6, -0.62), (6.5, 0.75), 860)
    for (name, (shape, _)), spot in zip(outlines().items(), spots, strict=True):
        if "x =" in name:  # the circle again
            continue
        points = shape.vertices - 0.5 * (shape.vertices.min(axis=0) + shape.vertices.max(axis=0)) + spot
        low, high = points.min(axis=0), points.max(axis=0)
        drawing.outline(points, "#3f8fd6", opacity=0.5)
        drawing.outline(np.array([low, (high[0], low[1]), high, (low[0], high[1])]), color="#c92f36")
        drawing.text((spot[0], 0.6), name)
    return drawing.svg()
