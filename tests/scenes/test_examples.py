"""The lessons run, say something, end by asserting their own outcome, and use only what is public."""

from __future__ import annotations

import ast
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples"
OUTPUT = FOLDER.parent / "docs/tutorial/output"
LESSONS = sorted(FOLDER.glob("*.py"))
ALLOWED = {"math", "numpy", "pathlib", "sys", "tempfile", "turgor"}  # what a lesson may import

each = pytest.mark.parametrize("lesson", LESSONS, ids=[lesson.stem for lesson in LESSONS])


def words(text: str) -> list[str]:
    """What is printed, but for the numbers, whose last digits (and the sign of zero) differ from machine to machine."""
    return re.sub(r"\[ +", "[", re.sub(r"-?\d[\d.]*(e[-+]?\d+)?", "#", text)).split()


def tree_of(lesson: Path) -> ast.Module:
    return ast.parse(lesson.read_text(encoding="utf-8"))


@each
def test_it_runs_and_its_assertions_hold(
    lesson: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """As `python LESSON` does, but in this process, which has turgor already."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(lesson)])
    runpy.run_path(str(lesson), run_name="__main__")
    printed = capfd.readouterr().out
    assert 3 <= len(printed.splitlines()) <= 8
    stored = (OUTPUT / f"{lesson.stem}.txt").read_text(encoding="utf-8")
    assert words(printed) == words(stored), "tools/lessons writes what the page of the lesson shows"
    assert list(tmp_path.iterdir()) == []  # it leaves nothing behind


@each
def test_it_ends_with_an_assertion(lesson: Path) -> None:
    assert isinstance(tree_of(lesson).body[-1], ast.Assert)


@each
def test_it_says_what_is_learnt_and_what_to_try(lesson: Path) -> None:
    text = ast.get_docstring(tree_of(lesson))
    assert text is not None
    assert text.startswith(f"Lesson {int(lesson.name[:2])}: ")
    assert "\nTry: " in text
    assert 3 <= len(text.splitlines()) <= 8


@each
def test_it_uses_only_what_is_public(lesson: Path) -> None:
    for node in ast.walk(tree_of(lesson)):
        if isinstance(node, ast.Attribute):
            assert not node.attr.startswith("_"), f"line {node.lineno}: {node.attr}"
        if isinstance(node, ast.Import):
            assert {name.name for name in node.names} <= ALLOWED
        if isinstance(node, ast.ImportFrom):
            assert node.module in ALLOWED
            assert not any(name.name.startswith("_") for name in node.names)


def test_there_are_twelve_and_the_table_has_them_all() -> None:
    assert [int(lesson.name[:2]) for lesson in LESSONS] == list(range(1, 13))
    table = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert all(f"examples/{lesson.name}`" in table for lesson in LESSONS)


def test_the_ball_of_2004_takes_at_most_40_lines() -> None:
    assert len(LESSONS[0].read_text(encoding="utf-8").splitlines()) <= 40


def test_the_recording_can_be_kept(tmp_path: Path) -> None:
    subprocess.run([sys.executable, LESSONS[-1], tmp_path], check=True, capture_output=True, timeout=280)
    assert (tmp_path / "five-balls.vtkhdf").stat().st_size > 0
