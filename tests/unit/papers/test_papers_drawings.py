"""Drawings of the report: hidden lines, the wind, diagrams that show what the engine really has."""

from __future__ import annotations

import io
import itertools
import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

import turgor
from turgor import shapes
from turgor.papers.catalogue import chosen_items
from turgor.papers.drawing.diagram import Box, Diagram
from turgor.papers.drawing.line_drawing import Drawing, Shading, view_axes
from turgor.papers.drawing.plot import Curve, chart, panels
from turgor.papers.gallery_scenes import drop_2d
from turgor.papers.matyka2003 import scenes
from turgor.papers.matyka2004 import items as items_2004
from turgor.papers.matyka2007 import items as items_2007
from turgor.papers.matyka2007 import scheme
from turgor.papers.report.blocks import Block, Picture, Svg
from turgor.simulation.simulation import Simulation
from turgor.simulation.step.profile import stage_times


def drawings(blocks: list[Block]) -> str:
    return "".join(block.svg for block in blocks if isinstance(block, Svg))


# --- surfaces


@pytest.mark.parametrize("view", [(-66.0, 17.0), (30.0, -40.0), (180.0, 85.0)])
def test_faces_that_look_away_are_hidden(view: tuple[float, float]) -> None:
    """Of a convex body exactly those faces are drawn whose normals have a part towards the eye."""
    ball = shapes.icosphere(0.5, 2)
    corners = ball.vertices[ball.faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    sheet = Drawing((-0.6, -0.6), (0.6, 0.6), 300)
    sheet.surface(ball.vertices, ball.faces, view)
    assert sheet.svg().count("<polygon") == int((normals @ view_axes(view)[2] > 0.0).sum()) < len(ball.faces)


def test_nearer_faces_are_drawn_over_farther_ones() -> None:
    """Two squares one behind the other, given in either order: the near one comes last."""
    square = np.array([[-0.5, 0.0, -0.5], [0.5, 0.0, -0.5], [0.0, 0.0, 0.5]])  # faces −y
    near, far = square - np.array([0.0, 1.0, 0.0]), 0.5 * square + np.array([0.0, 1.0, 0.0])
    for points, last in ((np.concatenate([near, far]), near), (np.concatenate([far, near]), near)):
        sheet = Drawing((-1, -1), (1, 1), 200)
        sheet.surface(points, [[0, 1, 2], [3, 4, 5]], (-90.0, 0.0))
        only = Drawing((-1, -1), (1, 1), 200)
        only.surface(last, [[0, 1, 2]], (-90.0, 0.0))
        found = re.findall(r'<polygon points="([^"]+)"', sheet.svg())
        assert found[-1:] == re.findall(r'<polygon points="([^"]+)"', only.svg())


def test_a_lit_surface_is_darker_where_it_turns_away() -> None:
    shading = Shading("#c8c8c8", lit=True)
    assert shading.fill(True, 1.0) == "#c8c8c8"
    tones = [int((shading.fill(True, light) or "#00")[1:3], 16) for light in (-1.0, 0.0, 0.5, 1.0)]
    assert tones[0] == tones[1] < tones[2] < tones[3]
    assert shading.fill(False, 1.0) is None
    assert Shading("#c8c8c8").fill(True, 0.0) == "#c8c8c8"


# --- charts side by side


@pytest.mark.req("X2")
def test_panels_are_one_file_on_white_with_the_same_axes() -> None:
    """Each chart keeps its size and its place; what one of them spans, all of them do."""
    span = (1e-3, 10.0)
    curves = ([Curve("a", [1.0, 2.0], [0.1, 1.0])], [Curve("b", [1.0, 2.0], [1e-3, 10.0], marks=True)])
    charts = [
        chart(lines, "ms", "error", log_y=True, y_range=span, width=300, height=200, title=f"<{number}>")
        for number, lines in enumerate((*curves, curves[0]))
    ]
    root = ElementTree.fromstring(panels(charts, 2, (300, 200), "work & precision"))
    name = "{http://www.w3.org/2000/svg}"
    assert root.tag == f"{name}svg"
    assert root.get("viewBox") == "0 0 600 400"
    ground, *shown = root
    assert (ground.tag, ground.get("fill"), ground.get("width"), ground.get("height")) == (
        f"{name}rect", "#ffffff", "600", "400"
    )  # fmt: skip
    assert [(part.get("x"), part.get("y"), part.get("height")) for part in shown] == [
        ("0", "0", "200"), ("300", "0", "200"), ("0", "200", "200")
    ]  # fmt: skip
    texts = [[text.text for text in part.iter(f"{name}text")] for part in shown]
    assert [words[0] for words in texts] == ["<0>", "<1>", "<2>"]
    assert all({"0.001", "10"} <= set(words) for words in texts)
    assert "0.001" not in chart(curves[0], "ms", "error", log_y=True)


# --- figures 2 to 4 of 2003


@pytest.mark.req("D3")
def test_the_cloth_bulges_towards_the_eye_and_the_wind_is_drawn() -> None:
    """The camera stands downwind, so that the bulge is seen; arrows of the wind end before the cloth, on the sheet."""
    scene = scenes.cloth_scene()
    right, up, eye = view_axes(scenes.CLOTH_VIEW)
    assert 0.3 < eye @ scene.wind < 0.9
    sim = Simulation(scene, contact="none")
    before = scenes.blown_cloth(sim)
    sim.run(1.0)
    after = scenes.blown_cloth(sim)
    moved = (sim["flag"].positions - (0.0, 0.0, 0.75)) @ eye
    assert moved.max() > 0.1
    for svg in (before, after):
        width, height = (float(value) for value in re.findall(r'viewBox="0 0 (\d+) (\d+)"', svg)[0])
        arrows = re.findall(r'<line x1="([\d.-]+)" y1="([\d.-]+)" x2="([\d.-]+)" y2="([\d.-]+)"', svg)
        assert len(arrows) == 3
        for arrow in arrows:
            x1, y1, x2, y2 = map(float, arrow)
            assert all(0 < x < width for x in (x1, x2))
            assert all(0 < y < height for y in (y1, y2))
            assert np.sign(x2 - x1) == np.sign(right @ scene.wind)
            assert np.sign(y1 - y2) == np.sign(up @ scene.wind)
        assert ">wind<" in svg
    assert before != after


# --- figure 1 of 2007


@pytest.mark.req("D7")
@pytest.mark.picture
def test_the_velocities_of_the_poster_are_thin_lines() -> None:
    """Red is a small part of the strip, and never more than a sixth of the ball that it belongs to."""
    (strip,) = (block for block in items_2007.falling(True) if isinstance(block, Picture))
    picture = np.asarray(Image.open(io.BytesIO(strip.data)).convert("RGB")).astype(int)
    r, g, b = np.moveaxis(picture, -1, 0)
    lines, ball = (r > 140) & (g < 90) & (b < 90), (r > 140) & (g > 90) & (b < 110)
    for share in np.array_split(np.arange(picture.shape[1]), 5):
        assert lines[:, share].sum() < ball[:, share].sum() / 6
    assert lines.sum() > 200


# --- diagrams


def test_boxes_of_a_diagram_hold_their_text_and_lie_on_the_sheet() -> None:
    sheet = Diagram(300, 100)
    with pytest.raises(ValueError, match="too narrow"):
        sheet.box(Box(0, 0, 60, ["a long line of text"]))
    with pytest.raises(ValueError, match="on the sheet"):
        sheet.box(Box(200, 0, 150, ["text"]))
    box = sheet.box(Box(10, 10, 150, ["title", "`code < x`"]))
    assert box.at(0.5, 1.0) == (85, 10 + box.height)
    assert "code &lt; x" in sheet.svg()


@pytest.mark.req("A1", "A3")
def test_figure_2_of_2004_shows_arrays_that_the_engine_has() -> None:
    svg = drawings(items_2004.structures(True))
    sim = Simulation(drop_2d(ball__settled=False))
    owners = {"state": sim.state, "model": sim.model, "scratch": sim.engine.scratch}
    names = re.findall(r">((?:state|model|scratch)\.\w+)<", svg)
    assert set(names) == set(items_2004.MEANINGS)
    for name in names:
        owner, array = name.split(".")
        values = getattr(owners[owner], array).numpy()
        assert f"{values.nbytes // len(values)} bytes" in svg
    for word in ("point", "spring", "position x, y", "points i and j"):
        assert f">{word}<" in svg


@pytest.mark.req("A3", "A4")
def test_figure_3_of_2004_shows_the_stages_of_the_engine_in_their_order() -> None:
    svg = drawings(items_2004.algorithm(True)[:2])
    sim = Simulation(drop_2d(ball__settled=False), contact="none")
    sim.prepare()
    ran = [name for name in stage_times(sim.engine) if name in items_2004.STAGES]
    assert ran == list(items_2004.STAGES)
    drawn = re.findall(r'y="([\d.]+)"[^>]*font-family="[^"]*monospace"[^>]*>(\w+)</text>', svg)
    assert [name for _, name in drawn] == ran
    assert all(float(a) < float(b) for (a, _), (b, _) in itertools.pairwise(drawn))
    assert svg.count("spring forces") >= 2  # of both models of the paper
    assert svg.count(">pressure force<") == 1  # of one


@pytest.mark.req("D8")
def test_figure_5_of_2007_names_files_that_exist() -> None:
    svg = drawings(items_2007.laws(True))
    root = Path(turgor.__file__).parent
    files = [place[0] for place in scheme.PLACES.values()] + list(scheme.ADDED.values())
    assert len(set(files)) == len(files)
    for file in files:
        assert (root / file).is_file(), file
        assert f">{file}</text>" in svg
    for name in ("ideal gas law", "pressure", "ODE integration", "pressure soft body"):
        assert f">{name}</text>" in svg


def test_no_box_of_a_diagram_lies_on_another() -> None:
    """Of all three diagrams: boxes apart, so that no text is hidden."""
    for name in ("2004-figure-2", "2004-figure-3", "2007-figure-5"):
        (item,) = chosen_items([name])
        svg = drawings(list(item.run(True)))
        found = re.findall(r'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)" rx', svg)
        boxes = [tuple(map(float, box)) for box in found]
        assert len(boxes) >= 8
        for (x, y, w, h), (a, b, c, d) in itertools.combinations(boxes, 2):
            assert x + w <= a or a + c <= x or y + h <= b or b + d <= y
