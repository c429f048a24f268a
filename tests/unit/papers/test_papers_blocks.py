"""What the report of `turgor papers` is made of: numbers, tables, pictures, plots."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from PIL import Image

from support.page_reader import PageReader, picture
from turgor import gallery
from turgor.papers.drawing import stills
from turgor.papers.drawing.axis import even_ticks, log_ticks, short
from turgor.papers.drawing.plot import Curve, cell_map, chart
from turgor.papers.report.blocks import Picture, Svg, Table, inline, number

# --- blocks


def test_inline_marks_code_and_bold_and_nothing_else() -> None:
    assert inline("a `x**2 ** y` is **big** & <i>") == (
        "a <code>x**2 ** y</code> is <b>big</b> &amp; &lt;i&gt;"
    )  # fmt: skip
    assert inline("2 * 3 * 4, a`b") == "2 * 3 * 4, a`b"


def test_inline_sets_powers_of_ten_and_keeps_a_number_with_its_unit() -> None:
    assert inline("within 1.5e-07 m or 1e+03, `2e-7 m`, v2e5") == (
        "within 1.5\u00a0×\u00a010<sup>-7</sup>\u00a0m or 10<sup>3</sup>, <code>2e-7 m</code>, v2e5"
    )
    assert inline("12 % in 3 s, 4 steps, 5 Pa.") == "12\u00a0% in 3\u00a0s, 4 steps, 5\u00a0Pa."


NUMBERS = [
    (0.0, "0"), (1.0, "1.00"), (12.345, "12.3"), (1234.5, "1,230"), (-0.5, "-0.500"), (0.00123, "0.00123"),
    (999.9, "1,000"), (1.5e-7, "1.5\u00a0×\u00a010<sup>-7</sup>"), (2e9, "2\u00a0×\u00a010<sup>9</sup>"),
    (123456, "123,456"), (np.int64(5000), "5,000"), (np.float32(0.25), "0.250"), (math.nan, "–"), (None, "–"),
    (math.inf, "∞"), (-math.inf, "-∞"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "text"), NUMBERS, ids=[str(value) for value, _ in NUMBERS])
def test_numbers_for_people(value: Any, text: str) -> None:
    assert number(value) == text


def test_table_aligns_numbers_and_refuses_a_short_row() -> None:
    text = Table(["a", "b", "c"], [["x", 1.5, True], ["y", None, False]]).html()
    assert text.count('<td class="number">') == 2
    assert "<td>yes</td>" in text
    assert '<th scope="col">a</th><th scope="col" class="number">b</th><th scope="col">c</th>' in text
    with pytest.raises(ValueError, match="3 columns and a row of 2"):
        Table(["a", "b", "c"], [[1, 2]])


def test_a_column_is_aligned_by_what_most_of_it_is() -> None:
    text = Table(["a", "b"], [[1, "x"], [2, 5.0], ["text", "y"]]).html()
    assert [text.count(cell) for cell in ('<td class="number">text</td>', "<td>5.00</td>", "<td>x</td>")] == [1, 1, 1]


def test_pictures_say_what_they_show() -> None:
    assert 'alt="A ball of 3 kg"' in Picture(picture(), "A `ball` of **3 kg**").html()
    assert 'alt="other"' in Picture(picture(), "words", alt="other").html()
    drawing = '<svg role="img"><text>one</text><text>a &amp; b</text></svg>'
    assert '<svg aria-label="one; a &amp; b" role' in Svg(drawing).html()
    assert '<svg aria-label="words" role' in Svg(drawing, "`words`").html()
    assert Svg(chart([], "time", "height"), "words").html().startswith("<figure><svg viewBox")
    assert 'aria-label="height against time"' in chart([], "time", "height")
    assert "data:image/png;base64," in Picture(picture(form="PNG")).html()
    assert "data:image/jpeg;base64," in Picture(picture()).html()


# --- plots


def even_values() -> Sequence[tuple[float, float]]:
    return [(0, 1), (3, 3), (0, 0), (-7, -6.5), (1e-9, 2e-9), (1e8, 1e8 + 1), (-3, 8), (0.1, 0.3), (1.0, 1.0 + 1e-15)]


@pytest.mark.parametrize(("low", "high"), even_values())
def test_ticks_enclose_the_data(low: float, high: float) -> None:
    ticks = even_ticks(low, high)
    room = 1e-9 * max(abs(low), abs(high), 1e-300)
    assert ticks[0] <= low + room
    assert ticks[-1] >= high - room
    assert 3 <= len(ticks) <= 9
    assert np.ptp(np.diff(ticks)) <= 1e-6 * (ticks[1] - ticks[0])


@pytest.mark.parametrize(
    ("low", "high"), [(1, 10), (1, 1), (3, 4), (0.9, 11), (2e-5, 7e6), (1e-30, 1e30), (1, 8000), (99, 101), (1e-3, 1e6)]
)
def test_log_ticks_enclose_the_data(low: float, high: float) -> None:
    ticks = log_ticks(low, high)
    assert ticks[0] <= low * (1 + 1e-9)
    assert ticks[-1] >= high * (1 - 1e-9)
    assert 2 <= len(ticks) <= 10
    assert all(f"{tick:.0e}"[0] in "125" for tick in ticks)


def places(svg: str) -> list[list[tuple[float, float]]]:
    """The points of each curve of a chart, in pixels; those of the legend are not among them."""
    found = re.findall(r'<polyline points="([^"]+)" fill="none" stroke="#\w+" stroke-width="2"/>', svg.split("<g ")[0])
    return [[tuple(map(float, point.split(","))) for point in points.split()] for points in found]  # type: ignore[misc]


def test_chart_leaves_out_what_cannot_be_shown() -> None:
    x, y = [1, 2, 3, 4, 5, 6], [1.0, math.nan, 100.0, math.inf, -5.0, 10.0]
    assert [len(part) for part in places(chart([Curve("a", x, y)], "x", "y"))] == [4]
    assert [len(part) for part in places(chart([Curve("a", x, y)], "x", "y", log_y=True))] == [3]
    assert "nan" not in chart([Curve("a", x, y)], "x", "y")
    empty = chart([Curve("a", [], [])], "x", "y", log_x=True)
    assert places(empty) == []
    PageReader(empty)


def test_chart_is_to_scale() -> None:
    (line,) = places(chart([Curve("", [1, 10, 100, 1000], [1, 2, 3, 4])], "x", "y", log_x=True))
    steps = np.diff(np.array(line), axis=0)
    assert np.ptp(steps, axis=0) == pytest.approx([0, 0], abs=0.11)  # a tenth of a pixel is what the text keeps
    assert steps[0, 0] > 0 > steps[0, 1]  # y is up


def test_numbers_at_an_axis_are_short() -> None:
    values = (0.0, 0.001, 1e-7, 20000.0, 2e5, 1e-30, -1.5e6, 0.1 + 0.2, 3162.277)
    assert [short(value) for value in values] == [
        "0", "0.001", "1e-7", "20000", "2e5", "1e-30", "-1.5e6", "0.3", "3162.28"
    ]  # fmt: skip
    assert short(3162.277, 3) == "3160"


def test_one_point_and_points_without_a_line_are_marked() -> None:
    assert chart([Curve("a", [1], [1])], "x", "y").count("<circle") == 1
    assert chart([Curve("", [1, 2], [1, 2], line=False)], "x", "y").count("<circle") == 2


def test_legend_stays_clear_of_the_curves() -> None:
    many = [Curve(f"a rather long name, number {index}", [0, 1], [0, index]) for index in range(6)]
    svg = chart(many, "x", "y")
    legend = [float(y) for y in re.findall(r'<g transform="translate\(\d+,(\d+)\)">', svg)]
    assert len(legend) == 6
    assert max(legend) < min(y for part in places(svg) for _, y in part)


def test_cell_map_has_a_cell_for_each_pair() -> None:
    colors = [["#111", "#222", "#333"], ["#444", "#555", "#666"]]
    svg = cell_map([1, 10, 100], [5, 50], colors, "dt", "k", [("#111", "stable"), ("#222", "not")], title="Euler")
    cells = re.findall(r'<rect x="([\d.]+)" y="([\d.]+)" width="[\d.]+" height="[\d.]+" fill="(#\d+)"/>', svg)[:6]
    assert [color for _, _, color in cells] == [color for row in colors for color in row]
    assert float(cells[0][1]) > float(cells[3][1])  # the first row is at the bottom
    assert float(cells[0][0]) < float(cells[1][0])
    for text in ("Euler", "dt", "stable", "not", "100", "50"):
        assert f">{text}</text>" in svg
    with pytest.raises(ValueError, match="2 rows of 3"):
        cell_map([1, 10, 100], [5, 50], colors[:1], "dt", "k")


# --- pictures


def test_strip_puts_pictures_side_by_side_and_keeps_to_the_page() -> None:
    one = np.zeros((40, 100, 3), np.uint8)
    assert stills.strip([one, one, one]).shape == (40, 312, 3)
    wide = stills.strip([np.zeros((200, 640, 3), np.uint8)] * 4)
    assert 1190 <= wide.shape[1] <= 1200
    assert wide.shape[0] == pytest.approx(200 / 640 * 295, abs=1)  # each keeps its proportions
    assert Image.open(io.BytesIO(stills.jpeg(wide))).size == wide.shape[1::-1]


def test_times_in_a_strip_are_equally_large_however_wide_it_is() -> None:
    """Written once the pictures have their size; and covers, which are made of the pictures, have none."""
    heights = []
    for size in ((300, 300), (300, 900)):
        grey = np.full((*size, 3), 128, np.uint8)
        picture = stills.strip([grey] * 3, [0.0, 0.5, 1.0])
        written = (picture > 200) & (picture < 250)  # the plates; gaps are 255
        assert written[:, : picture.shape[1] // 3].any()
        assert written[:, -picture.shape[1] // 3 :].any()
        heights.append(np.ptp(np.flatnonzero(written.any(axis=(1, 2)))))
        assert (grey == 128).all()
    assert heights[0] == heights[1] >= 14


def test_a_cover_shows_the_whole_picture() -> None:
    """A tall picture with a black line at each border: all four lines are in the cover."""
    tall = np.full((300, 200, 3), 200, np.uint8)
    tall[:6], tall[-6:], tall[:, :6], tall[:, -6:] = 0, 0, 0, 0
    small = np.asarray(Image.open(io.BytesIO(stills.cover(tall))).convert("L"))
    assert small.shape == (160, 240)
    dark = small < 100
    rows, columns = np.flatnonzero(dark.any(axis=1)), np.flatnonzero(dark.any(axis=0))
    assert (rows[0], rows[-1]) == (0, 159)
    assert np.ptp(columns) == pytest.approx(160 * 200 / 300, abs=3)
    middle = dark[80]
    assert middle[columns[0]]
    assert middle[columns[-1]]
    assert not middle[120]


@pytest.mark.picture
def test_stills_are_of_the_times_that_were_asked_for() -> None:
    from turgor import Simulation

    sim = Simulation(gallery.load("drop-2d"))
    seen: list[float] = []
    pictures = stills.stills(sim, [0.0, 0.1, 0.2], (160, 100), lambda sim: seen.append(sim.time))
    assert sim.time == pytest.approx(0.2)
    assert len(seen) == round(0.2 * sim.settings.fps)
    assert [picture.shape for picture in pictures] == [(100, 160, 3)] * 3
    assert (pictures[0] != pictures[2]).any()
