"""Plots of results as SVG: each is a file of docs/images, made from what was measured and nothing else."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence

from benchpage.results import Results, Row, median, tables
from turgor.papers.drawing.plot import COLORS, Curve, chart, panels
from turgor.record import svg

__all__ = ["PLOTS"]

SIZE = (560, 340)  # pixels
BAR, LABEL, ROOM = 24, 250, 110  # pixels: height of a bar, room for its name and for its number


def _curve(label: str, found: Sequence[Row], x: str, y: str) -> Curve:
    return Curve(label, [row[x] for row in found], [median(row[y]) for row in found], marks=True)


def _framed(picture: str, name: str) -> str:
    """A chart as a file of its own, on white, with room for the last number of its axis."""
    shown = picture.replace("<svg", '<svg overflow="visible"', 1)
    return panels([shown], 1, (SIZE[0] + 20, SIZE[1]), name)


def _of_tables(every: Sequence[Results], suite: str, words: str) -> list[tuple[str, list[Row]]]:
    """(title, rows) of all tables with these words, of all machines; titles that two of them have are told apart."""
    found = [
        (title, results["name"], [row for row in rows if "missing" not in row])
        for results in every
        for title, rows in tables(results, suite).items()
        if words in title
    ]
    often = Counter(title for title, _, _ in found)
    return [(f"{title}, {name}" if often[title] > 1 else title, rows) for title, name, rows in found]


def _throughput(every: Sequence[Results]) -> str | None:
    found = _of_tables(every, "throughput", "one ball")
    curves = [_curve(title, rows, "vertices", "mvs_per_s") for title, rows in found if rows]
    if not curves:
        return None
    return _framed(
        chart(curves, "vertices", "Mvs/s", log_x=True, log_y=len(curves) > 1, title="One ball"), "Throughput"
    )


def _worlds(every: Sequence[Results]) -> str | None:
    curves = [
        _curve(title, rows, "worlds", "mvs_per_s")
        for title, rows in _of_tables(every, "worlds", "worlds x")
        if len(rows) > 1
    ]
    if not curves:
        return None
    return _framed(chart(curves, "worlds", "Mvs/s", log_x=True, log_y=True, title="Worlds"), "Worlds")


def _threads(every: Sequence[Results]) -> str | None:
    curves = [_curve(title, rows, "threads", "speed_up") for title, rows in _of_tables(every, "threads", "") if rows]
    if not curves:
        return None
    most = max(max(curve.x) for curve in curves)
    ideal = Curve("threads", [1, most], [1, most], dashed=True)
    return _framed(chart([*curves, ideal], "threads", "speed-up", title="Threads of the CPU"), "Threads")


def _self_contact(every: Sequence[Results]) -> str | None:
    curves = [_curve(title, rows, "vertices", "ratio") for title, rows in _of_tables(every, "self-contact", "") if rows]
    if not curves:
        return None
    label = "with self-contact / without"
    return _framed(chart(curves, "vertices", label, log_x=True, title="Time of a substep"), "Self-contact")


def _peers(every: Sequence[Results]) -> str | None:
    pictures = []
    height = 0
    for title, found in _of_tables(every, "peers", ""):
        if found:
            pictures.append((title, found))
            height = max(height, 60 + BAR * len(found))
    if not pictures:
        return None
    size = (640, height)
    drawn = [_bars(title, found, size) for title, found in pictures]
    return panels(drawn, 1, size, "Milliseconds per frame of turgor and other engines")


def _bars(title: str, found: Sequence[Row], size: tuple[int, int]) -> str:
    """A bar for each engine, on a logarithmic scale from a tenth of the fastest on."""
    width, _ = size
    times = [median(row["frame_ms"]) for row in found]
    least, most = min(times) / 10.0, max(times)
    parts = [svg.text(title, 10, 20, font_weight="bold"), svg.text("ms per frame, logarithmic", 10, 38)]
    for number, (row, time) in enumerate(zip(found, times, strict=True)):
        y = 50 + BAR * number
        long = (width - LABEL - ROOM) * math.log(time / least) / math.log(most / least)
        color = COLORS[0] if row["engine"].startswith("turgor") else COLORS[7]
        doubt = "" if row["ball"] == "as meant" else " (!)"
        parts += [
            svg.text(row["engine"] + doubt, LABEL - 8, y + 15, text_anchor="end"),
            svg.rect(LABEL, y, long, BAR - 6, fill=color),
            svg.text(f"{time:.3g}", LABEL + long + 6, y + 15),
        ]
    style: dict[str, object] = {"font_family": "sans-serif", "font_size": 12, "fill": "#3c4652"}
    return svg.document(parts, size, width=width, role="img", aria_label=title, **style)


PLOTS: dict[str, Callable[[Sequence[Results]], str | None]] = {
    "throughput": _throughput,
    "worlds": _worlds,
    "threads": _threads,
    "self-contact": _self_contact,
    "peers": _peers,
}
