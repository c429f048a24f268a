"""Tutorial pages, from the scripts in examples/ and the guided experiments of the playground."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from turgor.viewer.lessons import LESSONS

__all__ = ["OUTPUT", "PICTURES", "SCRIPTS", "experiments_page", "lesson_page", "uri"]

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = sorted((ROOT / "examples").glob("[0-9]*.py"))
OUTPUT = ROOT / "docs/tutorial/output"  # what each script prints, and
PICTURES = ROOT / "docs/images/lessons"  # a picture of where it ends; both made by tools/lessons


def uri(script: Path) -> str:
    """Where the page of a lesson is."""
    return f"tutorial/{script.stem.replace('_', '-')}.md"


def lesson_page(script: Path) -> str:
    """What the script says, shows and prints, and the script."""
    text = script.read_text(encoding="utf-8")
    tree = ast.parse(text)
    says = ast.get_docstring(tree)
    assert says is not None
    title, _, rest = says.partition(". ") if ". " in says.splitlines()[0] else says.partition("\n")
    words = " ".join(f"{rest}".split())
    body, _, tries = words.partition("Try: ")
    code = "\n".join(text.splitlines()[tree.body[0].end_lineno :]).strip()
    picture = PICTURES / f"{script.stem}.webp"
    shown = f"![{title}](../images/lessons/{picture.name})\n\n" if picture.is_file() else ""
    printed = OUTPUT / f"{script.stem}.txt"
    output = (
        f"It prints\n\n```text\n{printed.read_text(encoding='utf-8').rstrip()}\n```\n\n" if printed.is_file() else ""
    )
    number = int(script.name[:2])
    return (
        f"---\ntitle: {_short(title)}\n---\n# {title}\n\n{body.strip()}\n\n{shown}"
        f"<!-- not run: test_examples.py runs the script -->\n```python\n{code}\n```\n\n{output}"
        f"Run it with `.venv/bin/python examples/{script.name}`; the assertions at its end are the law that it is "
        f'about.\n\n!!! tip "Try"\n    {_code(tries)}\n' + (_next(number))
    )


def _short(title: str) -> str:
    """`1 · the soft ball of Matyka 2004` for the menu."""
    number, _, words = title.removeprefix("Lesson ").partition(": ")
    return f'"{number} · {words.replace("`", "")}"'


def _code(words: str) -> str:
    """What looks like Python in a sentence, as code."""
    return re.sub(r"(?<![\w`])([A-Za-z]+ ?= ?(?:-?[\d.]+\w*|\([^)]*\)))", r"`\1`", words)


def _next(number: int) -> str:
    following = next((script for script in SCRIPTS if int(script.name[:2]) == number + 1), None)
    return f"\nNext: [lesson {number + 1}]({uri(following).removeprefix('tutorial/')})\n" if following else ""


def experiments_page() -> str:
    """The four guided experiments, in the words of the playground."""
    parts = [
        "# Guided experiments\n\nFour experiments of the playground's tab **Learn**: a question, one control, what is "
        "seen, and why. `turgor play --lesson NAME` opens one; here are their words, to read before or after. All "
        "points of their plots are measured in the running simulation "
        "([test](../../tests/playground/test_play_lessons.py)).\n\n"
        "![The energy of a bounce](../images/play-learn.jpg)"
    ]
    for name, lesson in LESSONS.items():
        choices = "\n".join(f"- {choice}" for choice in lesson.choices)
        parts.append(
            f"## {lesson.title}\n`turgor play --lesson {name}`\n\n{lesson.question}\n\n{choices}\n\n"
            f"**Try it.** {lesson.doing}\n\n"
            f'??? question "What you see, and why"\n{_indented(lesson.seeing)}\n\n{_indented(lesson.why)}'
        )
    return "\n\n".join(parts) + "\n"


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" if line else "" for line in text.splitlines())
