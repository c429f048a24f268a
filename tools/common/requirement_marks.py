"""Requirements and the tests that cover them: what the document says, what the test files say, what a full run shows.

A plugin of pytest (named in tests/conftest.py) that judges full runs; tests/repository/test_requirements.py and
tools/requirements use it too.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

__all__ = [
    "BEGIN", "END", "PAPERS", "Judge", "markdown", "marks_of", "requirements", "sections", "table",
    "whole_suite",
]  # fmt: skip

ROOT = Path(__file__).resolve().parents[2]
PAPERS = "ABCD"  # letters of the ids that the papers ask for; each of these ids needs a passing test
BEGIN, END = "<!-- tests: begin (written by tools/requirements) -->", "<!-- tests: end -->"
PROPERTY = "requirements"  # under this name the ids travel with a test's report
OPEN = re.compile(r"; \*\*open: (.+?)\*\*")  # at the end of a requirement: which of its parts are not there yet
KINDS = ("passed", "skipped", "failed")  # of outcomes; a later one outweighs an earlier one


def requirements(root: Path = ROOT) -> dict[str, str]:
    """id -> text, from the tables of docs/requirements.md, with what is said of open parts."""
    text = (root / "docs" / "requirements.md").read_text(encoding="utf-8").partition(BEGIN)[0]
    return dict(re.findall(r"^\| ([A-Z]\d+) \| (.+) \|$", text, re.MULTILINE))


def sections(root: Path = ROOT) -> dict[str, str]:
    """Letter -> title of its table in docs/requirements.md."""
    text = (root / "docs" / "requirements.md").read_text(encoding="utf-8").partition(BEGIN)[0]
    return {letter: what.replace("*", "") for letter, what in re.findall(r"^## ([A-Z])\. (.+)$", text, re.MULTILINE)}


# what the test files say ----------------------------------------------------------------------------------------------


def marks_of(folder: Path = ROOT / "tests") -> dict[str, tuple[str, ...]]:
    """`unit/scene/test_gas.py::test_x` -> ids, of all marked tests, in the order of files and lines."""
    return {name: ids for file in sorted(folder.rglob("test_*.py")) for name, ids in _tests_of(file, folder)}


def _tests_of(file: Path, folder: Path) -> Iterator[tuple[str, tuple[str, ...]]]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    own = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}  # some are decorators
    used: set[ast.AST] = set()
    for name, nodes in _functions(tree, _file_marks(tree), file.relative_to(folder).as_posix()):
        meant = [own.get(getattr(node, "id", ""), node) for node in nodes]
        calls = [call for node in meant for call in ast.walk(node) if _is_mark(call)]
        used.update(calls)
        ids = [argument.value for call in calls for argument in call.args]  # type: ignore[attr-defined]
        if ids:
            yield name, tuple(dict.fromkeys(ids))
    for call in ast.walk(tree):
        if _is_mark(call) and call not in used:
            where = f"{file.name}:{call.lineno}"  # type: ignore[attr-defined]
            raise ValueError(f"{where}: put mark.req on a test, on a test class, in pytestmark or in a decorator")


def _file_marks(body: ast.Module | ast.ClassDef) -> list[ast.expr]:
    """What `pytestmark = ...` says."""
    assigned = [node for node in body.body if isinstance(node, ast.Assign)]
    return [node.value for node in assigned if any(getattr(name, "id", "") == "pytestmark" for name in node.targets)]


def _functions(
    body: ast.Module | ast.ClassDef | ast.If, marks: list[ast.expr], place: str
) -> Iterator[tuple[str, list[ast.expr]]]:
    """The tests, each with all that may mark it."""
    for node in body.body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
            direct = [entry for entry in node.decorator_list if _is_mark(entry) or isinstance(entry, ast.Name)]
            yield f"{place}::{node.name}", [*direct, *marks]
        elif isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
            yield from _functions(node, [*node.decorator_list, *_file_marks(node), *marks], f"{place}::{node.name}")
        elif isinstance(node, ast.If):
            yield from _functions(node, marks, place)


def _is_mark(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.req"


# what a run gives -----------------------------------------------------------------------------------------------------


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):  # a worker of xdist sends its reports to the process that has the terminal
        config.pluginmanager.register(Judge(config), "requirements")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        ids = [name for mark in item.iter_markers("req") for name in mark.args]
        item.user_properties.append((PROPERTY, ids))


def whole_suite(config: pytest.Config) -> bool:
    """Whether a run is of all tests: nothing was picked, and nothing may stop it early."""
    option = config.option
    picked = ("keyword", "markexpr", "lf", "deselect", "ignore", "ignore_glob", "stepwise", "collectonly", "maxfail")
    return config.args_source is pytest.Config.ArgsSource.TESTPATHS and not any(
        getattr(option, name, None) for name in picked
    )


class Judge:
    """A plugin of the process that has the terminal: fails a full run that leaves an id of the papers without proof."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.ids: dict[str, list[str]] = {}  # test, with its parameters -> ids
        self.outcomes: dict[str, str] = {}  # the same -> "passed" | "skipped" | "failed"
        self.left_out: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.ids.setdefault(report.nodeid, []).extend(dict(report.user_properties).get(PROPERTY, ()))
        if report.when == "call" or not report.passed:  # set-up and end count only where they fail or skip
            before = self.outcomes.get(report.nodeid, "passed")
            self.outcomes[report.nodeid] = max(before, report.outcome, key=KINDS.index)

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        finished = exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
        if not (finished and whole_suite(self.config)):
            return
        passed = {name for test, ids in self.ids.items() if self.outcomes.get(test) == "passed" for name in ids}
        wanted = [name for name in requirements(self.config.rootpath) if name[0] in PAPERS]
        self.left_out = [name for name in wanted if name not in passed]
        if self.left_out:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self.left_out:
            terminalreporter.section("requirements without a passing test", red=True, bold=True)
            terminalreporter.line(" ".join(self.left_out))


# the table ------------------------------------------------------------------------------------------------------------


def table(root: Path = ROOT) -> dict[str, Any]:
    """sections (letter -> title) and requirements (id, text, names of the tests that are marked with it).

    One whose text says so has `open`, the parts that are not there yet: its tests show the others.
    """
    marks = marks_of(root / "tests")
    rows = []
    for name, text in requirements(root).items():
        tests = [test for test, ids in marks.items() if name in ids]
        still = {"open": found[1]} if (found := OPEN.search(text)) else {}
        rows.append({"id": name, "text": OPEN.sub("", text), **still, "tests": tests})
    return {"sections": sections(root), "requirements": rows}


def markdown(data: dict[str, Any]) -> str:
    """The table of docs/requirements.md, with its markers."""
    lines = [BEGIN, "| id | test |", "|---|---|"]
    for row in data["requirements"]:
        lines += [f"| {row['id']} | in part; open: {row['open']} |"] if "open" in row else []
        lines += [f"| {row['id']} | {test} |" for test in [f"`{name}`" for name in row["tests"]] or ["none"]]
    return "\n".join([*lines, END])
