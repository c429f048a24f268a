"""What the pages show works as it stands: Python, commands, links, notebooks, and the site that is made of them."""

from __future__ import annotations

import ast
import os
import re
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from docsite import commands, notebooks
from support.pages import PAGES, ROOT, Block, blocks, commands_in_text, feature_exists
from support.program import Here

BLOCKS = list(blocks())
SHORT = ("--seconds", "0.04")  # `turgor run` on a page, where it says no time of its own
#: blocks that are not run, and why: one more must be a decision
NOT_RUN = {
    "needs an NVIDIA GPU": 2,
    "needs PyTorch": 3,
    "needs rerun-sdk; tests/unit/record/test_export_rerun.py runs it where it is": 1,
    "installs packages": 1,
    "opens a page inside a notebook; tests/playground/test_play_notebook.py shows one": 2,
    "opens a page and stays; tests/playground and tests/browser do": 1,
    "three minutes; tests/unit/papers runs it part by part": 1,
    "minutes on a quiet machine": 2,
    "starts Ray; tests/study/test_ray.py has a cluster of two nodes": 1,
    "a minute and more; tests/reference/test_validation.py runs the quick ones": 1,
}
RUN = [page for page in PAGES if any(block.page == page and block.kind in ("python", "bash") for block in BLOCKS)]


def test_each_block_that_is_not_run_says_why() -> None:
    assert Counter(block.not_run for block in BLOCKS if block.not_run) == NOT_RUN
    assert all(block.kind in ("python", "bash", "toml", "text") for block in BLOCKS), "a kind of block that nobody runs"
    assert not [page for page in PAGES if re.search(r"^    turgor ", page.read_text(encoding="utf-8"), re.MULTILINE)], (
        "commands stand in ```bash blocks"
    )


@pytest.mark.picture
@pytest.mark.parametrize("page", RUN, ids=[page.stem for page in RUN])
def test_a_page_runs_from_top_to_bottom(
    page: Path, here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one process: its Python shares names, as in a notebook, and its commands share a folder with it."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "__page__"}
    for block in BLOCKS:
        if block.page != page or block.not_run or (block.needs and not feature_exists(block.needs)):
            continue
        if block.kind == "python":
            exec(compile(block.text, block.place, "exec"), names)
        for arguments in block.commands:
            _run(here, arguments, block)


def _run(here: Here, arguments: list[str], block: Block) -> None:
    words, target = (arguments[:-2], arguments[-1]) if ">" in arguments else (arguments, None)
    if words[0] == "run" and not {"--seconds", "--static"} & set(words):
        words = [*words, *SHORT]
    done = here.command(*words)
    assert done.returncode == 0, f"{block.place}: turgor {' '.join(words)}: {done.stderr}"
    if target is not None:
        Path(target).write_text(done.stdout, encoding="utf-8")
    for flag, name in pairwise(words):
        if flag in ("-o", "--output", "--repair"):
            assert list(Path().glob(re.sub(r"%\d+d", "*", name))), f"{block.place}: {name} was not written"


def test_python_that_is_not_run_is_python() -> None:
    for block in BLOCKS:
        if block.kind == "python" and block.not_run:
            ast.parse(block.text)


def test_every_command_is_understood() -> None:
    """Those that are not run, and those inside sentences and tables, are read by the program's own parser."""
    found = [(block.place, words) for block in BLOCKS if not block.needs for words in block.commands]
    for place, words in [*found, *commands_in_text()]:
        try:
            commands.parse(words[: words.index(">")] if ">" in words else words)
        except ValueError as error:
            pytest.fail(f"{place}: turgor {' '.join(words)}: {error}")
    assert len(found) > 20


def test_make_targets_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for page in PAGES:
        for target in re.findall(r"(?:^|`)make (\w+)(?=\s|`|$)", page.read_text(encoding="utf-8"), re.MULTILINE):
            assert f"\n{target}:" in makefile, f"{page.name}: make {target}"


def test_links_and_pictures_lead_somewhere() -> None:
    """As files of the repository; the site has its own check of anchors."""
    for page in PAGES:
        text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        for link in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", text):
            target = (page.parent / link).resolve()
            made = target.is_relative_to(ROOT / "docs") and _made_for_the_site(target.relative_to(ROOT / "docs"))
            assert target.exists() or made, f"{page.relative_to(ROOT)}: {link}"


def _made_for_the_site(path: Path) -> bool:
    """Pages that tools/docsite makes; `mkdocs build --strict` knows whether it does."""
    made = ("gallery.md", "contributing.md", "changelog.md", "tutorial/experiments.md", "reference/command-line.md")
    return path.as_posix() in (*made, "reference/scene-file.md") or path.parts[0] in ("tutorial", "notebooks")


@pytest.mark.parametrize("notebook", notebooks.NOTEBOOKS, ids=lambda notebook: notebook.stem)
def test_a_notebook_runs_and_was_saved_with_its_outputs(
    notebook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    names: dict[str, Any] = {"__name__": "__page__"}
    for number, code in enumerate(notebooks.code_cells(notebook)):
        exec(compile(code, f"{notebook.name}[{number}]", "exec"), names)
    text, pictures = notebooks.page(notebook)
    assert pictures
    assert "Traceback" not in text
    assert "Warning" not in text
    assert os.path.getsize(notebook) < 300_000


def test_there_are_two_notebooks() -> None:
    assert [notebook.stem for notebook in notebooks.NOTEBOOKS] == ["first-balloon", "many-worlds"]
