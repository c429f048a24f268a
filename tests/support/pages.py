"""Code blocks of the repository's pages: which there are, and what the page says about running them.

A block runs as it stands, or says why not in a comment on the line above it:

    <!-- not run: REASON -->    it needs a GPU, a browser, another program, or minutes
    <!-- needs: FEATURE -->     an ending of -o (.glb), an option of `turgor run` (--resume) or a command (export)
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from docsite.commands import commands
from turgor.record import ENDINGS

__all__ = ["PAGES", "ROOT", "Block", "blocks", "commands_in_text", "feature_exists"]

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "examples/README.md",
    *sorted(path for path in (ROOT / "docs").rglob("*.md") if path.name != "requirements.md"),
]
FENCE = re.compile(
    r"^(?:<!-- (?P<mark>not run|needs): (?P<what>[^\n]+?) -->\n)?```(?P<kind>\w+)[^\n]*\n(?P<text>.*?)^```",
    re.MULTILINE | re.DOTALL,
)
INLINE = re.compile(r"`(turgor [^`]+)`")
SHELLS = ("bash", "sh", "shell", "console")


@dataclass(frozen=True)
class Block:
    """One fenced block of a page."""

    page: Path
    line: int
    kind: str  # python, bash, toml, text, ...
    text: str
    not_run: str  # the reason; empty: it runs
    needs: str  # the feature it needs; empty: none

    @property
    def place(self) -> str:
        """`docs/start.md:31`"""
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def commands(self) -> list[list[str]]:
        """The arguments of its `turgor` commands; a redirection stays as '>' and a name."""
        if self.kind not in SHELLS:
            return []
        lines = (part.strip() for line in self.text.splitlines() for part in line.split("#")[0].split(";"))
        return [shlex.split(line)[1:] for line in lines if line.startswith("turgor ")]


def blocks() -> Iterator[Block]:
    """All fenced blocks of all pages, page by page."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for match in FENCE.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            mark, what = match["mark"], match["what"] or ""
            not_run, needs = (what if mark == "not run" else ""), (what if mark == "needs" else "")
            yield Block(page, line, match["kind"], match["text"], not_run, needs)


def commands_in_text() -> Iterator[tuple[str, list[str]]]:
    """`turgor ...` inside sentences and tables: where, and the arguments.

    A bare name stands for its help; lines with placeholders in capitals are left out.
    """
    for page in PAGES:
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
            for match in INLINE.finditer(line):
                words = shlex.split(match[1].split(";")[0].split(">")[0])[1:]
                if words and not any(re.fullmatch(r"[A-Z]+(=[A-Z]+)?", word) for word in words):
                    yield f"{page.relative_to(ROOT)}:{number}", words if len(words) > 1 else [*words, "--help"]


def feature_exists(name: str) -> bool:
    """Whether this version has an ending, an option of `turgor run`, or a command."""
    if name.startswith("."):
        return name in ENDINGS
    if name.startswith("-"):
        return any(name in option.opts for option in commands()["run"].params)
    return name in commands()
