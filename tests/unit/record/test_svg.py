"""The SVG that plots and legends are written with."""

from __future__ import annotations

from xml.etree import ElementTree

from turgor.record import svg


def test_an_element_is_escaped_and_rounded() -> None:
    assert svg.rect(1.0, 2.345, 10, 0.1 + 0.2, stroke_width=-0.5, id='a"<b', clip_path=None) == (
        '<rect x="1" y="2.35" width="10" height="0.3" stroke-width="-0.5" id="a&quot;&lt;b"/>'
    )
    assert svg.text("a < b & c", 1, 2) == '<text x="1" y="2">a &lt; b &amp; c</text>'
    assert svg.text("up", transform="rotate(-90)") == '<text transform="rotate(-90)">up</text>'


def test_a_document_is_xml() -> None:
    parts = [svg.circle(1, 2, 3.25, fill="#fff"), svg.polyline([(0, 1.26), (2, 3)]), svg.polygon([(0, 0), (1, 1)])]
    root = ElementTree.fromstring(svg.document(parts, (30, 20), aria_label="x > y"))
    assert root.attrib == {"viewBox": "0 0 30 20", "aria-label": "x > y"}
    assert [part.tag for part in root] == ["circle", "polyline", "polygon"]
    assert [part.get("points") for part in root] == [None, "0.0,1.3 2.0,3.0", "0.0,0.0 1.0,1.0"]
    assert svg.document([], (1, 1)) == '<svg viewBox="0 0 1 1"></svg>'  # not closed at once: HTML would not end it
