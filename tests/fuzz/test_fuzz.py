"""Files that nobody would write: loaders answer with a thing or with one sentence, never otherwise.

The corpus is what tools/fuzz started from and found; the random inputs here are few, and the same each time under CI.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from common.fuzz_targets import TARGETS, run_target
from support.scene_files import SAMPLE

CORPUS = Path(__file__).parent / "corpus"
FILES = sorted(path for path in CORPUS.rglob("*") if path.is_file())
FEW = settings(max_examples=30, deadline=None)


@pytest.mark.req("X5")
@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_the_corpus_is_answered(path: Path) -> None:
    run_target(path.parent.name, path.read_bytes())


def test_the_corpus_is_small_and_of_known_targets() -> None:
    assert sum(path.stat().st_size for path in FILES) < 300_000
    assert {path.parent.name for path in FILES} == set(TARGETS)


def test_a_good_file_is_taken_and_a_bad_one_refused() -> None:
    """The targets can tell: else nothing above would mean anything."""
    assert run_target("scene", SAMPLE.encode()) == ""
    assert "dim must be 2 or 3" in run_target("scene", SAMPLE.replace("dim = 3", "dim = 4").encode())
    assert run_target("recording", b"\0") == ""
    assert "HDF5" in run_target("recording", b"no")


@FEW
@given(st.integers(0, len(SAMPLE)), st.integers(0, 40), st.text(max_size=20))
def test_scenes_with_a_piece_replaced(place: int, length: int, piece: str) -> None:
    run_target("scene", (SAMPLE[:place] + piece + SAMPLE[place + length :]).encode("utf-8", "surrogatepass"))


@FEW
@given(st.sampled_from(sorted(CORPUS.glob("mesh/*"))), st.integers(0, 5000), st.binary(max_size=6))
def test_meshes_with_a_piece_replaced(path: Path, place: int, piece: bytes) -> None:
    data = path.read_bytes()
    run_target("mesh", data[:place] + piece + data[place + len(piece) :])


@FEW
@given(st.lists(st.tuples(st.integers(0, 155), st.integers(0, 255), st.integers(0, 255)), min_size=1, max_size=3))
def test_recordings_with_bytes_changed(changes: list[tuple[int, int, int]]) -> None:
    run_target("recording", b"\0" + bytes(value for change in changes for value in change))


@settings(max_examples=12, deadline=None)
@given(st.binary(min_size=4, max_size=12))
def test_saved_simulations_with_an_array_changed(change: bytes) -> None:
    run_target("saved", b"\1" + change)
