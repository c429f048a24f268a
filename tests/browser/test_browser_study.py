"""The report of a study in a real browser: light and dark, on a desk and on a phone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser

from turgor.study.report import write_report
from turgor.study.results import Results


def study() -> Results:
    """Three inputs, one of words, and two outputs, of which one is missing here and there."""
    rng = np.random.default_rng(0)
    rows = []
    for run in range(120):
        gas, friction = rng.random(2)
        row = {"run": run, "status": "ok", "gas": 500.0 * gas, "ground.friction": friction, "shape": "ab"[run % 2]}
        row |= {"top": gas + friction, "landed": None if run % 10 == 0 else gas, "wall_seconds": 0.1 * gas}
        rows.append(row)
    rows[7] |= {"status": "failed", "top": None, "reason": "body 'ball' diverged: " + 40 * "very long sentence "}
    about = {"scene": "drop", "sampling": "latin", "command": "turgor sweep drop " + 20 * "--vary ball.mass=1:2:3 "}
    return Results(about, ("gas", "ground.friction", "shape"), ("top", "landed"), rows)


@pytest.mark.parametrize("width", [1280, 390])
def test_the_report_in_a_real_browser(browser: Browser, tmp_path: Path, width: int) -> None:
    path = write_report(tmp_path, study())
    inks = []
    for scheme in ("light", "dark"):
        context = browser.new_context(offline=True, color_scheme=scheme, viewport={"width": width, "height": 800})
        tab = context.new_page()
        problems: list[str] = []
        tab.on("console", lambda message, found=problems: found.append(message.text))
        tab.on("requestfailed", lambda request, found=problems: found.append(request.url))
        tab.goto(path.as_uri())
        assert tab.evaluate("document.documentElement.scrollWidth <= window.innerWidth")  # nothing sticks out
        boxes = tab.evaluate("[...document.querySelectorAll('svg.plot')].map(s => s.getBoundingClientRect().width)")
        assert len(boxes) == 8
        assert min(boxes) > 300
        tab.click("text=Failed runs")
        assert 0 <= tab.locator("#failed").bounding_box()["y"] < 400  # type: ignore[index]
        style = "e => [getComputedStyle(e).fill, getComputedStyle(document.body).backgroundColor]"
        inks.append(tab.eval_on_selector("svg.plot text", style))
        assert problems == []
        context.close()
    brightness = [[sum(int(part) for part in color[4:-1].split(",")) for color in pair] for pair in inks]
    assert brightness[0][1] - brightness[0][0] > 400  # dark on light
    assert brightness[1][0] - brightness[1][1] > 400  # light on dark
