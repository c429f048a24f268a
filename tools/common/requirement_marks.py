"""Requirements and the tests that cover them: what the documents say, what the test files say, what a run gave.

Shared by conftest.py (which records a full run), test_requirements.py and tools/requirements.
"""

from __future__ import annotations

import ast
import json
import re
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

__all__ = [
    "BEGIN", "END", "OUTCOME", "PAPERS", "PROPERTY", "Recorder", "markdown", "marks_of", "requirements", "sections",
    "table", "whole_suite",
]  # fmt: skip

ROOT = Path(__file__).resolve().parents[2]
PAPERS = "ABCD"  # letters of the ids that the papers ask for; each of these ids needs a passing test
OUTCOME = "build/requirements.json"  # of the last full run; from there tools/requirements takes it
BEGIN, END = "<!-- results: begin (written by tools/requirements) -->", "<!-- results: end -->"
PROPERTY = "requirements"  # under this name the ids travel with a test's report
KINDS = ("passed", "skipped", "failed")  # of outcomes; a later one outweighs an earlier one


def requirements(root: Path = ROOT) -> dict[str, str]:
    """id -> text, from the tables of docs/requirements.md."""
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


def whole_suite(config: pytest.Config) -> bool:
    """Whether a run is of all tests: nothing was picked, and nothing may stop it early."""
    option = config.option
    picked = ("keyword", "markexpr", "lf", "deselect", "ignore", "ignore_glob", "stepwise", "collectonly", "maxfail")
    return config.args_source is pytest.Config.ArgsSource.TESTPATHS and not any(
        getattr(option, name, None) for name in picked
    )


class Recorder:
    """A plugin of the process that has the terminal: gathers outcomes, and fails a full run that leaves an id out."""

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
        path = self.config.rootpath / OUTCOME
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps({"date": time.strftime("%Y-%m-%d"), "tests": self.counts()}, indent=1) + "\n")

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self.left_out:
            terminalreporter.section("requirements without a passing test", red=True, bold=True)
            terminalreporter.line(" ".join(self.left_out))

    def counts(self) -> dict[str, dict[str, int]]:
        """`unit/scene/test_gas.py::test_x` -> how many cases of each marked test passed, were skipped, failed."""
        found: dict[str, Counter[str]] = {}
        for test, outcome in self.outcomes.items():
            if self.ids.get(test):
                name = test.partition("[")[0].removeprefix("tests/")
                found.setdefault(name, Counter())[outcome] += 1
        return {name: {kind: count[kind] for kind in KINDS} for name, count in sorted(found.items())}


# the table ------------------------------------------------------------------------------------------------------------


def table(outcome: dict[str, Any], root: Path = ROOT) -> dict[str, Any]:
    """All requirements with the tests that are marked with them now, and what those gave in a run."""
    marks, none = marks_of(root / "tests"), dict.fromkeys(KINDS, 0)
    rows = [
        {
            "id": name,
            "text": text,
            "tests": [{"name": test, **outcome["tests"].get(test, none)} for test, ids in marks.items() if name in ids],
        }
        for name, text in requirements(root).items()
    ]
    return {"date": outcome["date"], "sections": sections(root), "requirements": rows}


def markdown(data: dict[str, Any]) -> str:
    """The table of docs/requirements.md, with its markers."""
    ran = f"the last full run, {data['date']}" if data["date"] else "no full run yet"
    lines = [BEGIN, f"Results: {ran}. A number above 1 counts the cases of one test.", ""]
    lines += ["| id | test | result |", "|---|---|---|"]
    for row in data["requirements"]:
        for test in row["tests"] or [{"name": "none", **dict.fromkeys(KINDS, 0)}]:
            result = ", ".join(f"{test[kind]} {kind}" for kind in KINDS if test[kind]) or "not run"
            lines.append(f"| {row['id']} | `{test['name']}` | {result} |")
    return "\n".join([*lines, END])
