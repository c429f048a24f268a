"""`turgor validate`: the command, its page and its JSON."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import pytest

from support.page_reader import NASTY, PageReader, picture
from support.program import Here
from turgor.cli.app import app
from turgor.errors import SceneError, UnstableError
from turgor.papers.report.blocks import Picture
from turgor.validate.catalogue import REFERENCES, chosen_references
from turgor.validate.page import page, summary
from turgor.validate.reference import Check, Outcome, Reference, Refinement
from turgor.validate.write import numbers, run_references, write_page

pytestmark = pytest.mark.req("X12")


def reference(key: str, measured: float) -> Reference:
    """One that compares `measured` with 2."""
    outcome = Outcome(
        [Check(f"{NASTY} {key}", 2.0, measured, 0.01), Check("bounds", (1.0, 3.0), 2.5)],
        [Picture(picture(), NASTY)],
        [Refinement(NASTY, [10, 40], [0.2, 0.1], [2.4, 2.1], 2.0)],
        [NASTY],
    )
    return Reference("V1", key, NASTY, NASTY, NASTY, lambda quick: outcome)


def cannot(key: str) -> Reference:
    """One that the engine cannot compute."""

    def run(quick: bool) -> Outcome:
        raise UnstableError("it flies apart <at> once")

    return Reference("V2", key, "Title", "formula", "setup", run)


# --- the catalogue


def test_ten_references_in_the_order_of_the_table() -> None:
    assert [entry.number for entry in REFERENCES] == [f"V{number}" for number in range(1, 11)]
    assert [entry.key for entry in REFERENCES] == [
        "balloon", "disc", "mylar", "airbag", "teabag", "torus", "plate", "pouch", "lattice", "beam"
    ]  # fmt: skip
    for entry in REFERENCES:
        module = Path(str(__import__(f"turgor.validate.{entry.key}", fromlist=["__doc__"]).__file__))
        assert f'"""{entry.number}. ' in module.read_text(encoding="utf-8")  # its derivation


def test_references_are_chosen_by_name_or_number() -> None:
    assert chosen_references([]) == REFERENCES
    assert [entry.key for entry in chosen_references(["V3,balloon", "v10"])] == ["balloon", "mylar", "beam"]
    with pytest.raises(SceneError, match=r"no reference 'baloon'; did you mean 'balloon'\?"):
        chosen_references(["baloon"])
    with pytest.raises(SceneError, match=r"no reference 'xyz'; they are balloon, disc, mylar"):
        chosen_references(["disc", "xyz"])


# --- the page


def shown() -> list[tuple[Reference, Outcome, float]]:
    return run_references([reference("good", 2.01), reference("bad", 2.1), cannot("broken")])


def test_page_is_well_formed_and_needs_nothing_else() -> None:
    text = page(shown(), True)
    read = PageReader(text)
    assert "<script" not in text
    assert all(link.startswith("data:image/") for link in read.loaded)
    assert {link[1:] for link in read.links} <= set(read.ids)
    assert not re.search(r"url\(|@import|https?://", text)
    assert all(entry.get("alt") or entry.get("aria-label") for entry in read.pictures)
    assert "quick: coarse meshes" in read.text
    assert "; full." in PageReader(page(shown(), False)).text


def test_misses_are_shown_as_misses() -> None:
    text = page(shown(), True)
    read = PageReader(text).text
    assert "1 of 3 references within tolerance; missed: V1 bad, V2 broken" in read
    assert '<td class="number">+5.00 %</td><td class="number">1 %</td><td><span class="miss">MISS</span></td>' in text
    assert "No result: it flies apart <at> once" in read
    assert read.count("MISS") == 2 + 2 + 1  # overview, sections, and the one number


def test_orders_of_convergence_are_printed() -> None:
    assert "Observed order: 2.00." in PageReader(page(shown(), True)).text  # 0.2 and 0.05 at edges of 0.2 and 0.1


def test_the_summary_counts() -> None:
    assert summary(shown()[:1]) == "1 of 1 references within tolerance"
    assert summary(shown()) == "1 of 3 references within tolerance; missed: V1 bad, V2 broken"


def test_numbers_are_those_of_the_page() -> None:
    found = numbers(shown(), True)
    assert found["within"] == 1
    assert found["references"] == 3
    good, bad, broken = found["results"]
    assert good["checks"][0]["error"] == pytest.approx(0.005)
    assert [check["within"] for check in bad["checks"]] == [False, True]
    assert bad["refinements"][0]["order"] == pytest.approx(2.0)
    assert broken["failure"] == "it flies apart <at> once"
    assert broken["checks"] == []


def test_page_is_written_into_a_new_folder(tmp_path: Path) -> None:
    path = write_page(shown(), tmp_path / "a" / "b", True)
    assert path == tmp_path / "a" / "b" / "index.html"
    assert [entry.name for entry in path.parent.iterdir()] == ["index.html"]


# --- the command


def test_the_program_knows_it() -> None:
    assert "validate" in [command.callback.__name__ for command in app.registered_commands if command.callback]


@pytest.mark.picture
def test_one_reference_as_page_and_json(tmp_path: Path, here: Here) -> None:
    done = here.command("validate", "-o", tmp_path / "out", "--quick", "--only", "torus", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["page"] == str(tmp_path / "out" / "index.html")
    assert found["summary"] == "1 of 1 references within tolerance"
    (result,) = found["results"]
    assert result["number"] == "V6"
    assert all(math.isfinite(check["measured"]) for check in result["checks"])
    text = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    read = PageReader(text)
    assert "torus" in read.ids
    assert len(read.pictures) == 2  # the picture and the curve
    assert "Observed order" in read.text


@pytest.mark.picture
def test_the_last_line_counts(tmp_path: Path, here: Here) -> None:
    """Exit code 0 although the teabag misses: the page was written."""
    done = here.command("validate", "-o", tmp_path, "--quick", "--only", "teabag")
    assert done.returncode == 0
    first, last = done.stdout.strip().splitlines()
    assert re.match(r"wrote .*index\.html \(.* kB\) in \d+ s", first)
    assert re.match(r"[01] of 1 references within tolerance", last)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--only", "balon"], "there is no reference 'balon'; did you mean 'balloon'?"),
        (["--nonsense"], "no such option"),
        (["-o", "file"], "is a file; give a folder"),
    ],
)
def test_bad_input_is_one_sentence(tmp_path: Path, here: Here, arguments: list[str], sentence: str) -> None:
    (tmp_path / "file").write_text("kept")
    done = here.command("validate", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert sentence.lower() in done.stderr.lower()
    assert done.stderr.count("\n") == 1
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_text() == "kept"
