"""The table of a study: what is written is what is read, bit for bit, by our reader and by others."""

from __future__ import annotations

import csv
import json
import math
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turgor.errors import RecordError, SceneError
from turgor.study.results import FIXED, Results, parquet_missing

pytestmark = pytest.mark.req("X10")

WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
KINDS = {
    "number": st.floats(allow_nan=True),
    "int": st.integers(-(2**63) + 1, 2**63 - 1),
    "bool": st.booleans(),
    "word": WORDS,
}


def row(run: int, **values: Any) -> dict[str, Any]:
    given = {"repeat": 0, "seed": 7, "status": "ok", "solver": "symplectic", "substeps": 12, "worlds": 4}
    return {"run": run, **given, "device": "cpu", "version": "0.1.0", "wall_seconds": 0.1 * run, **values}


def bits(value: Any) -> Any:
    """Equal where two values are the same to the bit, and of one type."""
    return (type(value), struct.pack("d", value)) if isinstance(value, float) else (type(value), value)


def same(first: Results, second: Results) -> bool:
    return (
        (first.study, first.inputs, first.outputs, first.columns, first.kinds)
        == (second.study, second.inputs, second.outputs, second.columns, second.kinds)
    ) and [{k: bits(v) for k, v in row.items()} for row in first.rows] == [
        {k: bits(v) for k, v in row.items()} for row in second.rows
    ]


@st.composite
def tables(draw: st.DrawFn) -> Results:
    """Columns of any kind with any values, some of them missing; rows in any order."""
    names = draw(st.lists(WORDS.filter(lambda name: name not in FIXED), min_size=1, max_size=3, unique=True))
    kinds = [draw(st.sampled_from(sorted(KINDS))) for _ in names]
    runs = draw(st.lists(st.integers(0, 10**6), max_size=5, unique=True))
    rows = [
        row(run, **{name: draw(st.none() | KINDS[kind]) for name, kind in zip(names, kinds, strict=True)})
        for run in runs
    ]
    cut = draw(st.integers(0, len(names)))
    return Results({"scene": draw(WORDS), "vary": {"a": [1, 2.5]}}, tuple(names[:cut]), tuple(names[cut:]), rows)


@settings(max_examples=60, deadline=None)
@given(table=tables())
def test_round_trip_and_other_readers(table: Results, tmp_path_factory: pytest.TempPathFactory) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    folder = table.write(tmp_path_factory.mktemp("table"))
    assert same(Results.read(folder), table)
    with (folder / "results.csv").open(newline="", encoding="utf-8") as file:
        texts = list(csv.reader(file))
    stored = parquet.read_table(folder / "results.parquet")
    assert tuple(texts[0]) == tuple(stored.column_names) == table.columns
    about = json.loads(stored.schema.metadata[b"turgor"])
    assert (about["study"], tuple(about["inputs"])) == (table.study, table.inputs)
    for text, values in zip(texts[1:], stored.to_pylist(), strict=True):
        for word, value in zip(text, values.values(), strict=True):
            if isinstance(value, float):
                assert bits(float(word)) == bits(value)
            elif isinstance(value, bool):
                assert word == str(value).lower()
            else:
                assert word == ("" if value is None else str(value))


def test_columns_in_order_and_rows_by_run() -> None:
    table = Results({}, ("gas",), ("top",), [row(2, gas=3, top=0.5, note="x"), row(0, gas=1.5, top=math.nan)])
    fixed = ("repeat", "seed", "status", "reason", "solver", "substeps", "worlds", "device", "version", "wall_seconds")
    assert table.columns == ("run", "gas", "top", *fixed, "note")
    assert [entry["run"] for entry in table.rows] == [0, 2]
    np.testing.assert_array_equal(table.column("gas"), [1.5, 3.0])
    np.testing.assert_array_equal(table.column("top"), [math.nan, 0.5])
    assert table.column("run").dtype == np.int64
    assert list(table.column("note")) == ["", "x"]
    assert len(table) == 2


def test_words_as_inputs_and_failed_runs(tmp_path: Path) -> None:
    rows = [
        row(0, solver="rk4", gas="air, dry", top=1.0),
        row(1, solver="euler", gas='say "no"', top=None, substeps=None, status="failed", reason="ball:\nnot finite"),
    ]
    table = Results({}, ("gas",), ("top",), rows)
    assert [entry["run"] for entry in table.failed] == [1]
    again = Results.read(table.write(tmp_path))
    assert same(again, table)
    assert again.rows[1]["reason"] == "ball:\nnot finite"
    assert again.rows[1]["substeps"] is None
    np.testing.assert_array_equal(again.column("substeps"), [12.0, math.nan])


def test_an_empty_table(tmp_path: Path) -> None:
    table = Results({"runs": 10}, ("gas",), ("top",), [])
    again = Results.read(table.write(tmp_path))
    assert same(again, table)
    assert len(again.column("top")) == 0


def test_a_table_grows_and_is_replaced(tmp_path: Path) -> None:
    Results({}, ("gas",), ("top",), [row(5, gas=1.0, top=2.0)]).write(tmp_path)
    whole = Results({}, ("gas",), ("top",), [row(5, gas=1.0, top=2.0), row(1, gas=0.1, top=1e-320)])
    assert same(Results.read(whole.write(tmp_path)), whole)
    assert not list(tmp_path.glob(".*"))  # no leftovers


def test_numpy_values_are_python_values() -> None:
    table = Results({}, ("gas",), ("top",), [row(np.int64(0), gas=np.float32(0.1), top=np.float64(0.1))])
    assert bits(table.rows[0]["gas"]) == bits(float(np.float32(0.1)))
    assert type(table.rows[0]["run"]) is int


@pytest.mark.parametrize(
    ("inputs", "rows", "sentence"),
    [
        (("seed",), [], "two columns of the table have the name 'seed'; give the measure another name"),
        (("gas",), [row(3), row(3)], "run 3 occurs twice in the table"),
        (("gas",), [row(3, seed=2**64)], f"the seed {2**64} of a run is too large for the table; at most {2**63 - 1}"),
        (("gas",), [{"gas": 1.0}], "a row of the table has no number of its run"),
    ],
)
def test_tables_that_cannot_be(inputs: tuple[str, ...], rows: list[dict[str, Any]], sentence: str) -> None:
    with pytest.raises(SceneError, match=f"^{sentence}$"):
        Results({}, inputs, ("top",), rows)


def test_what_is_not_a_table(tmp_path: Path) -> None:
    with pytest.raises(SceneError, match="holds no table of a study"):
        Results.read(tmp_path)
    (tmp_path / "results.json").write_text("[1]")
    with pytest.raises(SceneError, match="holds no table of a study"):
        Results.read(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(RecordError, match="cannot be written"):
        Results({}, (), (), []).write(tmp_path / "file")
    with pytest.raises(SceneError, match="the table has no column 'tpo'; it has run, gas"):
        Results({}, ("gas",), ("top",), []).column("tpo")


@pytest.mark.process
def test_without_pyarrow_there_is_the_csv_alone(tmp_path: Path) -> None:
    """In a program that cannot import it; an older parquet file, which would be another table, goes."""
    (tmp_path / "results.parquet").write_bytes(b"old")
    code = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "import importlib.util as u; find = u.find_spec\n"
        "u.find_spec = lambda name, *rest: None if name == 'pyarrow' else find(name, *rest)\n"
        "from turgor.study.results import Results, parquet_missing\n"
        "Results({}, ('gas',), (), [{'run': 0, 'gas': 0.1, 'status': 'ok'}]).write(sys.argv[1])\n"
        "print(parquet_missing())"
    )
    done = subprocess.run([sys.executable, "-c", code, tmp_path], capture_output=True, text=True, check=True)
    assert "pip install 'turgor[study]'" in done.stdout
    assert sorted(file.name for file in tmp_path.iterdir()) == ["results.csv", "results.json"]
    assert Results.read(tmp_path).rows[0]["gas"] == 0.1


def test_whether_parquet_is_written_is_said(tmp_path: Path) -> None:
    Results({}, (), (), []).write(tmp_path)
    assert (tmp_path / "results.parquet").exists() == (parquet_missing() is None)
