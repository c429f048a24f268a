"""Every requirement has a test, the tables name the tests of today, and a full run that leaves an id out fails."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from common.requirement_marks import BEGIN, END, PAPERS, markdown, marks_of, requirements, table
from turgor.papers.report import requirement_table
from turgor.record.formats import ENDINGS

ROOT = Path(__file__).resolve().parents[2]
STALE = "the marks of the tests have changed: run tools/requirements"
PAGE = "# R\n## A. One\n| id | what |\n|---|---|\n| A1 | first |\n| A2 | second |\n\n## X. Two\n| X1 | third |\n"
SUITE = """
import pytest

@pytest.mark.req("A1")
@pytest.mark.parametrize("number", [1, 2, 3])
def test_one(number):
    if number == 3:
        pytest.skip("no third")

@pytest.mark.req("A2", "X1")
def test_two():
    {body}

def test_other():
    pass
"""


def test_every_requirement_of_the_papers_has_a_test() -> None:
    covered = {name for ids in marks_of().values() for name in ids}
    assert [name for name in requirements() if name[0] in PAPERS and name not in covered] == []
    counts = {letter: sum(name[0] == letter for name in requirements()) for letter in PAPERS}
    assert counts == {"A": 9, "B": 19, "C": 9, "D": 8}


def test_every_mark_is_a_requirement() -> None:
    unknown = {test: set(ids) - set(requirements()) for test, ids in marks_of().items()}
    assert {test: ids for test, ids in unknown.items() if ids} == {}


def test_tables_name_the_marks_of_today() -> None:
    data = requirement_table.load()
    assert table() == data, STALE
    text = (ROOT / "docs" / "requirements.md").read_text(encoding="utf-8")
    assert text[text.index(BEGIN) : text.index(END) + len(END)] == markdown(data), STALE


def suite(folder: Path, body: str = "pass") -> Path:
    """A project of its own that judges requirements as this one does."""
    (folder / "tests").mkdir()
    (folder / "docs").mkdir()
    (folder / "tests" / "conftest.py").write_text('pytest_plugins = "common.requirement_marks"\n')
    shutil.copytree(ROOT / "tools" / "common", folder / "tools" / "common")
    (folder / "docs" / "requirements.md").write_text(PAGE)
    (folder / "tests" / "test_suite.py").write_text(SUITE.replace("{body}", body))
    markers = 'markers = ["req(*ids): ids"]'
    paths = 'testpaths = ["tests"]\npythonpath = ["tests", "tools"]'
    (folder / "pyproject.toml").write_text(f"[tool.pytest.ini_options]\n{paths}\n{markers}\n")
    return folder


def run(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=200)


@pytest.mark.process
def test_a_full_run_passes_with_every_id_covered(tmp_path: Path) -> None:
    done = run(suite(tmp_path), "-n", "2")
    assert done.returncode == 0, done.stdout
    assert "requirements without" not in done.stdout
    rows = table(tmp_path)["requirements"]
    assert [(row["id"], row["text"], row["tests"]) for row in rows] == [
        ("A1", "first", ["test_suite.py::test_one"]),
        ("A2", "second", ["test_suite.py::test_two"]),
        ("X1", "third", ["test_suite.py::test_two"]),
    ]


@pytest.mark.process
@pytest.mark.parametrize(
    ("body", "options"),
    [("pytest.skip('not here')", ("-n", "2")), ("raise ValueError", ()), ("pytest.xfail('not yet')", ())],
    ids=["skipped, xdist", "failed", "expected to fail"],
)
def test_a_requirement_without_a_passing_test_fails_a_full_run(
    tmp_path: Path, body: str, options: tuple[str, ...]
) -> None:
    done = run(suite(tmp_path, body), *options)
    assert done.returncode == 1, done.stdout
    assert "requirements without a passing test" in done.stdout
    assert "A2" in done.stdout.splitlines()  # and not A1, which passes twice, nor X1, which no paper asks for


@pytest.mark.process
def test_a_part_of_the_suite_is_not_judged(tmp_path: Path) -> None:
    done = run(suite(tmp_path, "pytest.skip('not here')"), "-k", "one")
    assert done.returncode == 0, done.stdout
    assert "requirements without" not in done.stdout


@pytest.mark.process
def test_what_a_full_run_is() -> None:
    whole = [[], ["-v", "--durations=5"], ["-n", "2"], ["--ff"]]
    file = "tests/unit/scene/test_gas.py"
    parts = [["tests"], [file], ["-k", "gas"], ["-m", "not gpu"], ["--lf"], ["-x"], ["--collect-only"], ["--sw"]]
    parts += [[f"--ignore={file}"], [f"--deselect={file}"]]
    program = """
import json, sys, pytest
sys.path.insert(0, "tools")
from common.requirement_marks import whole_suite
answers = []
class Look:
    @pytest.hookimpl(tryfirst=True)
    def pytest_cmdline_main(self, config):
        answers.append(whole_suite(config))
        return 0  # and nothing is run
for arguments in json.loads(sys.argv[1]):
    assert pytest.main(arguments, [Look()]) == 0
print(json.dumps(answers))
"""
    lines = json.dumps([*whole, *parts])
    done = subprocess.run([sys.executable, "-c", program, lines], cwd=ROOT, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == [True] * len(whole) + [False] * len(parts)


# what is not there yet ------------------------------------------------------------------------------------------------


def test_a_requirement_with_open_parts_is_not_called_complete(tmp_path: Path) -> None:
    """Tests of its other parts do not make it so: table and document say what is open."""
    folder = suite(tmp_path)
    page = folder / "docs" / "requirements.md"
    page.write_text(PAGE.replace("| X1 | third |", "| X1 | third, fourth; **open: fourth** |"))
    data = table(folder)
    row = next(row for row in data["requirements"] if row["id"] == "X1")
    assert row["text"] == "third, fourth"
    assert row["open"] == "fourth"
    assert row["tests"] == ["test_suite.py::test_two"]
    assert "| X1 | in part; open: fourth |" in markdown(data).splitlines()
    assert not any("open" in other for other in data["requirements"] if other is not row)


EXPORTS = {"glTF": (".gltf", ".glb"), "USD": (".usd", ".usda", ".usdc"), "mesh sequences": (".obj", ".ply", ".stl")}


@pytest.mark.req("X9")
def test_exports_that_cannot_be_written_are_told_to_be_open() -> None:
    """X9 names formats; those that no ending of a path leads to are open, in the document and in the report."""
    missing = [name for name, endings in EXPORTS.items() if not set(endings) & set(ENDINGS)]
    told = ", ".join(missing)
    documented = next(row for row in table()["requirements"] if row["id"] == "X9")
    shipped = next(row for row in requirement_table.load()["requirements"] if row["id"] == "X9")
    for row in (documented, shipped):
        assert row.get("open", "") == told
        assert all(name in row["text"] for name in missing)
    page = "".join(block.html() for block in requirement_table.blocks())
    cells = page[page.index('id="req-X9"') :].partition("</tr>")[0]
    assert ("in part; open:" in cells) == bool(missing)
    assert told in cells


MARKS = {
    "decorated": ('@pytest.mark.req("A1", "B2")\ndef test_a(): ...', {"test_x.py::test_a": ("A1", "B2")}),
    "twice": (
        '@pytest.mark.req("A1")\n@pytest.mark.req("A1", "C3")\ndef test_a(): ...',
        {"test_x.py::test_a": ("A1", "C3")},
    ),
    "the file": ('pytestmark = [pytest.mark.req("A1")]\ndef test_a(): ...', {"test_x.py::test_a": ("A1",)}),
    "a class": (
        '@pytest.mark.req("A1")\nclass TestB:\n    def test_c(self): ...\n    def other(self): ...',
        {"test_x.py::TestB::test_c": ("A1",)},
    ),
    "a decorator": (
        'def both(test):\n    return pytest.mark.req("A1")(test)\n@both\ndef test_a(): ...',
        {"test_x.py::test_a": ("A1",)},
    ),
    "under a condition": (
        'if True:\n    @pytest.mark.req("A1")\n    def test_a(): ...',
        {"test_x.py::test_a": ("A1",)},
    ),
    "none": ("def test_a(): ...", {}),
}


@pytest.mark.parametrize(("text", "marks"), MARKS.values(), ids=MARKS)
def test_marks_are_read_where_pytest_reads_them(tmp_path: Path, text: str, marks: dict[str, tuple[str, ...]]) -> None:
    (tmp_path / "test_x.py").write_text(text)
    assert marks_of(tmp_path) == marks


def test_a_mark_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "test_x.py").write_text("CASES = [pytest.param(1, marks=pytest.mark.req('A1'))]\n")
    with pytest.raises(ValueError, match=r"test_x\.py:1: put mark\.req on a test"):
        marks_of(tmp_path)
