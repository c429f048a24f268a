"""What the page says is in its own words: no sentence of the engine reaches a visitor with Python in it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import turgor
from turgor import gallery
from turgor.errors import TurgorError
from turgor.viewer.page.words import CODE, page_words
from turgor.viewer.world.world import World

pytestmark = pytest.mark.req("X8")
SOURCE = Path(turgor.__file__).parent
APART = (
    "bench",
    "papers",
    "validate",
    "study",
    "envs",
    "cli",
    "record",
)  # packages that the page does not call, or only for downloads
IN_FILES = (" = { ", "must be printable")  # of sentences about what is written in a file: the page has no such fields
ERRORS = ("SceneError", "MeshError", "UnstableError", "TurgorError")


def text_of(node: ast.expr) -> list[str]:
    """All that an expression of strings can say; § stands for a value."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value]
    if isinstance(node, ast.JoinedStr):
        texts = [""]
        for part in node.values:
            texts = [text + more for text in texts for more in text_of(part)]
        return texts
    if isinstance(node, ast.FormattedValue) and isinstance(node.value, ast.IfExp | ast.Constant):
        return text_of(node.value)
    if isinstance(node, ast.IfExp):
        return [*text_of(node.body), *text_of(node.orelse)]
    if isinstance(node, ast.BinOp):
        return [left + right for left in text_of(node.left) for right in text_of(node.right)]
    return ["§"]


def sentences() -> list[str]:
    found: set[str] = set()
    for file in sorted(SOURCE.rglob("*.py")):
        if file.relative_to(SOURCE).parts[0] in APART:
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            name = getattr(node.func, "id", getattr(node.func, "attr", "")) if isinstance(node, ast.Call) else ""
            if name in ERRORS and node.args:  # type: ignore[attr-defined]
                found.update(text_of(node.args[0]))  # type: ignore[attr-defined]
    return sorted(found)


def test_no_sentence_of_the_engine_has_code_in_it_on_the_page() -> None:
    """Of every error that is raised in the packages that the page calls, with § where values stand."""
    assert len(sentences()) > 200
    ours = [sentence for sentence in sentences() if not any(part in sentence for part in IN_FILES)]
    assert len(sentences()) - len(ours) < 6
    spoiled = {told for sentence in ours if CODE.search(told := page_words(sentence))}
    assert not spoiled, "\n".join(sorted(spoiled))


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("raise its mass, raise fps or max_substeps, or use solver='implicit'",
         "raise its mass, let it run in slow motion, or use the fast solver"),
        ("body 'my_ball.2' at t = 0.5 s diverged with solver 'euler': raise substeps (now 4) or use substeps='auto'",
         "body 'my_ball.2' after 0.5 s diverged with the solver euler: raise substeps (now 4) or set the substeps "
         "to auto"),
        ("cow_700.obj: close it in a modeller, with `turgor check --repair` or close_holes = true, or use it as cloth",
         'cow_700.obj: close it in a modeller, with "Close the holes", or use it as cloth'),
        ("gas.gauge must be >= -ambient (vacuum inside; ambient is 100 Pa), got -200",
         "gauge pressure must be at least minus the pressure outside (vacuum inside; pressure outside is 100 Pa), "
         "got -200"),
        ("use mass_distribution = 'uniform'", "use how mass is spread uniform"),
    ],
)  # fmt: skip
def test_sentences_in_the_words_of_the_page(sentence: str, words: str) -> None:
    assert page_words(sentence, ["my_ball.2"]) == words


def test_refusals_of_a_live_scene_are_in_the_words_of_the_page() -> None:
    """What the sliders, lists and boxes can provoke."""
    world = World(gallery.load("drop"))
    wrong = {
        "ball.mass": -1.0, "ball.springs.stiffness": -5.0, "ball.friction": float("nan"), "ball.restitution": 2.0,
        "ball.drag": -1.0, "ball.material": "chewing_gum", "simulation.substeps": 0, "simulation.accuracy": -1.0,
        "simulation.solver": "magic", "simulation.contact": "none!", "gravity": (0.0, 0.0), "ball.gas": {"gauge": -1e9},
        "ball.drag_coefficient": -1.0, "air_density": -1.0,
    }  # fmt: skip
    for path, value in wrong.items():
        with pytest.raises(TurgorError) as refused:
            world.change(path, value)
        told = page_words(str(refused.value), world.scene.names)
        assert not CODE.search(told), (path, told)
        assert "§" not in told
