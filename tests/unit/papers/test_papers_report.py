"""The report of `turgor papers`: the page and the command."""

from __future__ import annotations

import os
import pty
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support.page_reader import NASTY, PageReader, picture
from support.program import Here
from turgor import gallery
from turgor.cli.app import app, execute
from turgor.errors import SceneError
from turgor.papers.catalogue import ITEMS, chosen_items
from turgor.papers.drawing.plot import Curve, cell_map, chart
from turgor.papers.report import requirement_table
from turgor.papers.report.blocks import Block, Compared, Picture, Row, Svg, Table, Text
from turgor.papers.report.item import PAPERS, Item
from turgor.papers.report.page import page
from turgor.papers.report.write import check_folder, write_report

YEARS = tuple(PAPERS)
COMMAND = re.compile(r"`(turgor [^`]+)`")


def items() -> list[Item]:
    """One of each block, with texts that would break a page that does not escape them."""

    def blocks(quick: bool) -> list[Block]:
        svg = chart([Curve(NASTY, [1, 2], [3, 4], marks=True)], NASTY, NASTY)
        cells = cell_map([1, 2], [3], [["#fff", NASTY]], NASTY, NASTY, [("#fff", NASTY)], title=NASTY)
        return [
            Text(NASTY, "measured"),
            Text(f"quick: {quick}"),
            Table([NASTY, "number"], [[NASTY, 1.0], ["x", 2]], NASTY),
            Row([Picture(picture(), NASTY, width=300), Picture(picture(form="PNG"), alt=NASTY)]),
            Row([Svg(svg, NASTY), Svg(cells), Svg("<svg></svg>", NASTY)]),
        ]

    return [
        Item("2004-figure-1", "2004", "Figure 1", NASTY, f"turgor run {NASTY}", blocks, ("A1", "D8")),
        Item("2003-section-3", "2003", "Section 3", "Two `codes`", "turgor run drop", blocks, ("A1",)),
    ]


# --- the page


def whole(quick: bool = True) -> str:
    return page([(item, item.run(quick), 1.25) for item in items()], quick)


def test_page_is_well_formed_and_needs_nothing_else() -> None:
    text = whole()
    read = PageReader(text)
    assert "<title>turgor: the papers, reproduced</title>" in text
    assert "<script" not in text
    assert read.text.count("</p><script>alert(1)</script>") >= 10  # shown as it was written
    assert all(link.startswith("data:image/") for link in read.loaded)
    assert all(link.startswith("#") for link in read.links)
    assert not re.search(r"url\(|@import|https?://", text)
    assert len(read.ids) == len(set(read.ids))
    assert {link[1:] for link in read.links} <= set(read.ids)
    assert all(shown.get("alt") or shown.get("aria-label") for shown in read.pictures)


def test_page_links_items_and_requirements_both_ways() -> None:
    text = whole()
    menu = PageReader(text[text.index("<nav") : text.index("</nav>") + 6])
    assert [link for link in menu.links if link[1:] in {item.key for item in items()}] == [
        "#2004-figure-1", "#2003-section-3"
    ]  # fmt: skip
    rows = dict(re.findall(r'<tr id="req-(\w+)">(.*?)</tr>', text))
    assert set(rows) == {row["id"] for row in requirement_table.load()["requirements"]}
    assert '<a href="#2004-figure-1">2004 Figure 1</a><br><a href="#2003-section-3">2003 Section 3</a>' in rows["A1"]
    assert "#2004-figure-1" in rows["D8"]
    assert "<a href" not in rows["B1"]
    section = text[text.index('<section id="2004-figure-1">') :]
    assert '<a href="#req-A1">A1</a> <a href="#req-D8">D8</a>' in section[: section.index("</section>")]


def test_the_top_gathers_pictures_numbers_and_slips() -> None:
    def blocks(quick: bool) -> list[Block]:
        return [
            Row([Picture(picture(), "first", cover=picture()), Picture(picture(), "second", cover=picture())]),
            Compared([("frames per second", 50, 4321.0), ("height, m", None, 2.5), ("faces", "about 700", 768)]),
            Text("The sign is wrong. It matters.", "wrong"),
            Text("All is well.", "measured"),
        ]

    item = Item("2003-x", "2003", "Figure 9", "A title", "turgor scenes", blocks)
    text = page([(item, item.run(True), 1.0)], True)
    top = text[text.index('<h2 id="glance">') : text.index('<h2 id="paper-2003">')]
    link = '<a href="#2003-x">2003 Figure 9</a>'
    assert top.count("<img") == 1  # the first cover stands for the item
    assert f'<td>{link}</td><td>frames per second</td><td class="number">50</td><td class="number">4,320</td>' in top
    assert f'<td>{link}</td><td>faces</td><td class="number">about 700</td><td class="number">768</td>' in top
    assert "height" not in top  # the paper gives no number to compare
    assert f"<tr><td>{link}</td><td>The sign is wrong.</td></tr>" in top
    assert "All is well" not in top
    assert "glance" in PageReader(text).ids


def test_page_says_how_it_was_made() -> None:
    assert "quick: fewer and smaller runs" in PageReader(whole(True)).text
    read = PageReader(whole(False)).text
    assert "; full." in read
    assert f"{os.cpu_count()} cores" in read
    assert "Took 1.2 s." in read


def test_report_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    told: list[tuple[int, int, str]] = []
    path = write_report(items(), tmp_path / "a" / "b", True, lambda *state: told.append(state))
    assert path == tmp_path / "a" / "b" / "index.html"
    assert [entry.name for entry in path.parent.iterdir()] == ["index.html"]
    assert told == [(0, 2, "2004 Figure 1"), (1, 2, "2003 Section 3"), (2, 2, "")]
    before = path.read_bytes()

    def fail(quick: bool) -> list[Block]:
        raise SceneError("no")

    broken = Item("x", "2004", "x", "x", "turgor scenes", fail)
    for folder in (path.parent, tmp_path / "new"):
        with pytest.raises(SceneError, match="no"):
            write_report([*items(), broken], folder, True)
    assert path.read_bytes() == before
    assert not (tmp_path / "new").exists()


# --- the command


def test_list_names_every_part_with_its_command(here: Here) -> None:
    done = here.command("papers", "--list")
    lines = done.stdout.splitlines()
    assert done.returncode == 0
    assert [line.partition(":")[0] for line in lines[::2]] == [item.key for item in ITEMS]
    assert [line.strip() for line in lines[1::2]] == [item.command for item in ITEMS]


@pytest.mark.picture
def test_only_makes_the_parts_that_are_named(tmp_path: Path, here: Here) -> None:
    done = here.command("papers", "--only", "2007-figure-2", "--only", "2004-figure-2", "--quick", "-o", tmp_path)
    assert done.returncode == 0, done.stderr
    sections = re.findall(r'<section id="([^"]+)">', (tmp_path / "index.html").read_text())
    assert sections == ["2004-figure-2", "2007-figure-2"]
    assert {item.paper for item in chosen_items(["2007"])} == {"2007"}
    wrong = here.command("papers", "--only", "2003-figur-6", "-o", tmp_path / "none")
    assert wrong.returncode == 2
    assert wrong.stderr == "turgor: the papers have no part '2003-figur-6'; did you mean '2003-figure-6'?\n"
    assert not (tmp_path / "none").exists()
    with pytest.raises(SceneError, match="no part 'x'; turgor papers --list names all"):
        chosen_items(["2004", "x"])


def test_a_bad_folder_is_told_at_once(tmp_path: Path, here: Here) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "page" / "index.html").mkdir(parents=True)
    for folder, where, why in (
        ("file", "file", "is a file; give a folder for the report"),
        ("file/deeper/still", "file", "is a file; give a folder for the report"),
        ("page", "page/index.html", "is a folder, and the page has that name; give another folder"),
    ):
        done = here.command("papers", "-o", tmp_path / folder)
        assert (done.returncode, done.stdout, done.stderr) == (2, "", f"turgor: {tmp_path / where}: {why}\n")
    assert sorted(entry.name for entry in tmp_path.rglob("*")) == ["file", "index.html", "page"]


def test_a_folder_without_permission_is_told_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)  # root, as whom tests may run, is let in everywhere
    with pytest.raises(SceneError, match=re.escape(f"{tmp_path}: no permission to write there")):
        check_folder(tmp_path / "new")


@pytest.mark.process
def test_without_the_render_extra_the_command_says_how_to_install_it(tmp_path: Path) -> None:
    program = (
        "import sys; sys.modules['pyvista'] = None; from turgor.cli.app import execute; sys.exit(execute(sys.argv[1:]))"
    )
    arguments = [sys.executable, "-c", program, "papers", "-o", str(tmp_path / "new")]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=100)
    expected = "turgor: the report needs pyvista; install it with: pip install 'turgor[render]'\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", expected)
    assert not (tmp_path / "new").exists()


#: `turgor papers` with three items that do nothing; the second sends the program a signal first, as a user does.
SMALL = """
import os, signal, sys
from turgor.cli.app import execute
from turgor.papers import catalogue
from turgor.papers.report.blocks import Text
from turgor.papers.report.item import Item

def run(quick):
    print("a library talks")
    return [Text("words")]

def struck(quick):
    for _ in range(int(sys.argv[1])):
        os.kill(os.getpid(), signal.SIGINT)
    print("goes on")
    return run(quick)

runs = (run, struck, run)
catalogue.ITEMS = tuple(Item(f"key-{n}", "2004", f"Figure {n}", "t", "", run) for n, run in enumerate(runs))
sys.exit(execute(["papers", *sys.argv[2:]]))
"""


def small(signals: int, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-c", SMALL, str(signals), *arguments]
    return subprocess.run(line, capture_output=True, text=True, timeout=100, **options)


@pytest.mark.process
def test_the_command_ends_with_one_line(tmp_path: Path) -> None:
    done = small(0, "--quick", cwd=tmp_path)  # the default folder
    assert done.returncode == 0, done.stderr
    path = tmp_path / "out" / "papers" / "index.html"
    assert re.fullmatch(r"wrote out/papers/index\.html \(\d+\.\d kB\) in \d+ s\n", done.stdout)
    assert "\x1b" not in done.stderr  # no bar where there is no terminal
    PageReader(path.read_text())


@pytest.mark.process
@pytest.mark.parametrize("signals", [1, 2])
def test_ctrl_c_leaves_nothing_behind(tmp_path: Path, signals: int) -> None:
    done = small(signals, "-o", str(tmp_path / "new"))
    assert done.returncode == 130
    assert done.stdout == ""
    assert ("goes on" in done.stderr) is (signals == 1)  # once: after the item; twice: at once
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.process
def test_a_terminal_sees_a_bar(tmp_path: Path) -> None:
    main, other = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    line = [sys.executable, "-c", SMALL, "0", "-o", str(tmp_path / "new")]
    with subprocess.Popen(line, stderr=other, stdout=subprocess.PIPE, env=environment) as process:
        os.close(other)
        seen = b""
        try:
            while data := os.read(main, 4096):
                seen += data
        except OSError:  # Linux: the other side has ended
            pass
        finally:
            process.send_signal(signal.SIGTERM)
    os.close(main)
    assert b"3 / 3" in seen
    assert "━".encode() in seen


# --- all of it


def test_items_are_well_described() -> None:
    found = ITEMS
    assert {item.paper for item in found} == set(YEARS)
    keys = [item.key for item in found]
    assert len(keys) == len(set(keys))
    known = {row["id"] for row in requirement_table.load()["requirements"]}
    for item in found:
        assert re.fullmatch(rf"{item.paper}-[a-z0-9-]+", item.key)
        assert item.title
        assert item.where
        assert set(item.requirements) <= known


def test_commands_of_the_items_and_of_the_page_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command is taken as it stands; scenes are built with all their settings, and nothing is run."""
    from typer.main import get_command

    from turgor import Simulation
    from turgor.bench import SUITES
    from turgor.cli.job import Job

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Job, "simulate", lambda job, device, talk: Simulation(job.scene, worlds=job.worlds))
    monkeypatch.setattr(Job, "report", lambda job: None)
    monkeypatch.setattr(Job, "result", lambda job: {})
    commands = get_command(app)
    page = (Path(__file__).parents[3] / "docs" / "papers.md").read_text(encoding="utf-8")
    table = {command for line in page.splitlines() if line.startswith("|") for command in COMMAND.findall(line)}
    assert len(table) >= 20
    for line in sorted({item.command for item in ITEMS} | table):
        program, name, *rest = shlex.split(line)
        assert program == "turgor", line
        context = commands.make_context("turgor", [name, *rest])
        _, chosen, rest = commands.resolve_command(context, [name, *rest])  # type: ignore[attr-defined]
        given = chosen.make_context(name, list(rest), parent=context).params
        if name == "run":
            assert execute([name, *rest]) == 0, line
        elif name == "play":
            assert given["scene"] in gallery.names(), line
        elif name == "bench":
            assert set(given["names"] or ()) <= set(SUITES), line
        elif name == "papers":
            assert chosen_items(given["only"]), line
