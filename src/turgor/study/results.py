"""The table of a study: a row per run, with all inputs, all outputs and how it was computed.

On disk it is three files in one folder, each complete or absent: `results.csv` and `results.parquet` hold the same
rows, bit for bit; `results.json` the description of the study and the kinds of the columns, which text cannot tell.
"""

from __future__ import annotations

import csv
import itertools
import json
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from turgor.errors import SceneError
from turgor.files import replacing, writing

__all__ = ["FIXED", "Results", "parquet_missing"]

#: Columns of every study behind those of its inputs and outputs, and their kinds; `run` stands first.
FIXED = {
    "run": "int",
    "repeat": "int",
    "seed": "int",
    "status": "word",  # "ok" or "failed"
    "reason": "word",  # why it failed
    "solver": "word",
    "substeps": "int",  # per frame; most in a frame
    "worlds": "int",  # that were computed together with this one, itself included
    "device": "word",
    "version": "word",
    "wall_seconds": "number",  # of its simulation, shared out among its worlds
}
LARGEST = 2**63 - 1  # an int64


@dataclass
class Results:
    """A row per run, in the order of runs.

    Values of a column are all of one kind: int, number, bool or word. A number that is missing is nan, a word that is
    missing is empty; an int or a bool that is missing is None.

    study: what was asked, of what JSON can hold. The report shows these keys, where they are given: scene, title, dim,
    vary (input -> its values, in words), measure (output -> its expression), sampling ("grid", "zip", "latin",
    "random"), units (column -> unit), log (inputs on a logarithmic axis), repeat, seconds, seed, runs (how many were
    asked for), plan (sentence of the planner), machine, command, wall_seconds (of the whole study).
    """

    study: dict[str, Any]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    rows: list[dict[str, Any]]

    def __post_init__(self) -> None:
        self.study = json.loads(json.dumps(self.study, default=str))
        self.inputs, self.outputs = tuple(self.inputs), tuple(self.outputs)
        names = ("run", *self.inputs, *self.outputs, *(name for name in FIXED if name != "run"))
        for name in names:
            if names.count(name) > 1:
                raise SceneError(f"two columns of the table have the name {name!r}; give the measure another name")
        others = dict.fromkeys(name for row in self.rows for name in row if name not in names)
        self.columns: tuple[str, ...] = (*names, *others)
        self.kinds = {name: FIXED.get(name) or _kind(row.get(name) for row in self.rows) for name in self.columns}
        self.rows = sorted(({name: self._value(name, row) for name in self.columns} for row in self.rows), key=_run)
        runs = [row["run"] for row in self.rows]
        for first, second in itertools.pairwise(runs):
            if first == second:
                raise SceneError(f"run {first} occurs twice in the table")

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def failed(self) -> list[dict[str, Any]]:
        """The rows of runs that have no result; their `reason` says why."""
        return [row for row in self.rows if row["status"] != "ok"]

    def column(self, name: str) -> npt.NDArray[Any]:
        """The values of a column, (rows,): float64, int64, bool, or str; float64 where an int or a bool is missing."""
        if name not in self.columns:
            raise SceneError(f"the table has no column {name!r}; it has {', '.join(self.columns)}")
        values = [row[name] for row in self.rows]
        kind = self.kinds[name]
        if kind == "word":
            return np.array(values, str)
        if kind == "number" or None in values:
            return np.array([math.nan if value is None else value for value in values], np.float64)
        return np.array(values, np.int64 if kind == "int" else np.bool_)

    def write(self, folder: str | os.PathLike[str]) -> Path:
        """Writes the table into a folder, which is made if need be; returns the folder."""
        target = Path(folder)
        with writing(target):
            target.mkdir(parents=True, exist_ok=True)
        about = {"study": self.study, "inputs": self.inputs, "outputs": self.outputs, "kinds": self.kinds}
        with writing(target / "results.json"), replacing(target / "results.json") as temporary:
            temporary.write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
        with writing(target / "results.csv"), replacing(target / "results.csv") as temporary:
            self._write_csv(temporary)
        parquet = target / "results.parquet"
        with writing(parquet):
            if parquet_missing():
                parquet.unlink(missing_ok=True)  # an older table
            else:
                with replacing(parquet) as temporary:
                    self._write_parquet(temporary)
        return target

    @classmethod
    def read(cls, folder: str | os.PathLike[str]) -> Results:
        """The table that `write` left in a folder."""
        path = Path(folder) / "results.json"
        try:
            about = json.loads(path.read_text(encoding="utf-8"))
            kinds: Mapping[str, str] = about["kinds"]
            with (path.parent / "results.csv").open(newline="", encoding="utf-8") as file:
                rows = [
                    {name: _read(kinds[name], text) for name, text in row.items()}
                    for row in csv.DictReader(file, strict=True)
                ]
            results = cls(about["study"], tuple(about["inputs"]), tuple(about["outputs"]), rows)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, csv.Error) as error:
            raise SceneError(f"{folder}: holds no table of a study that can be read ({error})") from error
        results.kinds |= kinds  # of columns without any value, too
        return results

    def _value(self, name: str, row: Mapping[str, Any]) -> Any:
        """A value of the kind of its column."""
        value, kind = _plain(row.get(name)), self.kinds[name]
        if kind == "word":
            return "" if value is None else _word(value)
        if kind == "number":
            return math.nan if value is None or math.isnan(value) else float(value)  # one nan, whatever its bits
        if _or_none(value) is None:
            if name == "run":
                raise SceneError("a row of the table has no number of its run")
            return None
        if abs(value) > LARGEST:
            raise SceneError(f"the {name} {value} of a run is too large for the table; at most {LARGEST}")
        return bool(value) if kind == "bool" else int(value)

    def _write_csv(self, path: Path) -> None:
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)  # lines end as in RFC 4180
            writer.writerow(self.columns)
            writer.writerows([_text(row[name]) for name in self.columns] for row in self.rows)

    def _write_parquet(self, path: Path) -> None:
        import pyarrow
        import pyarrow.parquet

        types = {"int": pyarrow.int64(), "number": pyarrow.float64(), "bool": pyarrow.bool_(), "word": pyarrow.string()}
        about = json.dumps({"study": self.study, "inputs": self.inputs, "outputs": self.outputs})
        schema = pyarrow.schema([(name, types[self.kinds[name]]) for name in self.columns], {"turgor": about})
        arrays = [
            pyarrow.array([_or_none(row[name]) for row in self.rows], types[self.kinds[name]]) for name in self.columns
        ]
        pyarrow.parquet.write_table(pyarrow.table(arrays, schema=schema), path)


def parquet_missing() -> str | None:
    """Why `write` leaves out results.parquet, in a sentence; None where it writes it."""
    if find_spec("pyarrow") is not None:
        return None
    return "results.parquet needs pyarrow, which is not installed: pip install 'turgor[study]'; results.csv is complete"


def _kind(values: Iterable[Any]) -> str:
    """The narrowest kind that holds all values."""
    given = [value for value in map(_plain, values) if value is not None]
    if given and all(isinstance(value, bool) for value in given):
        return "bool"
    if any(isinstance(value, bool) or not isinstance(value, int | float) for value in given):
        return "word"
    whole = all(isinstance(value, int) and abs(value) <= LARGEST for value in given)
    return "int" if given and whole else "number"


def _plain(value: Any) -> Any:
    """A NumPy scalar as Python's."""
    return value.item() if isinstance(value, np.generic) else value


def _word(value: Any) -> str:
    """As text that UTF-8 can hold; lists and the like as JSON."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, Sequence | Mapping):
        return json.dumps(value, default=str)
    return repr(value)


def _text(value: Any) -> str:
    """A value in results.csv: numbers with all digits that tell them from their neighbours; missing ones empty."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if _or_none(value) is None else repr(value)


def _read(kind: str, text: str) -> Any:
    if kind == "word":
        return text
    if text == "":
        return None
    if kind == "bool":
        return text == "true"
    return int(text) if kind == "int" else float(text)


def _or_none(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value


def _run(row: Mapping[str, Any]) -> int:
    run: int = row["run"]
    return run
