"""The folder of a study: its description, and the rows of each chunk as it finishes, so that nothing is lost.

study.json         what was asked, and a digest of it: --resume goes on only with the same study
runs/000012.json   the rows of chunk 12; a file is there complete or not at all
journal.jsonl      a line for each chunk that was finished: when, by whom; who writes the folder has it locked
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from turgor.errors import SceneError
from turgor.files import replacing, sweep, writing
from turgor.record.open_file import lock
from turgor.study.chunk import Outcome
from turgor.study.plan import Chunk
from turgor.study.report import write_report
from turgor.study.results import Results

__all__ = ["Store", "digest_of"]

ABOUT, JOURNAL = "study.json", "journal.jsonl"


def digest_of(description: Mapping[str, Any]) -> str:
    """Hex digest (SHA-256) of what was asked."""
    return hashlib.sha256(json.dumps(description, sort_keys=True, default=str).encode()).hexdigest()


class Store:
    """Rows of finished chunks on disk."""

    def __init__(self, folder: str | os.PathLike[str], description: Mapping[str, Any], resume: bool) -> None:
        self.folder = Path(folder)
        self._runs = self.folder / "runs"
        digest = digest_of(description)
        known = self._known()
        if known is not None and not resume:
            raise SceneError(f"{self.folder} has a study already: --resume goes on with it, or choose another folder")
        if known is None and (found := self._foreign()):
            raise SceneError(f"{self.folder} has {found} already, of no study that is known: choose another folder")
        if known is not None and known != digest:
            raise SceneError(
                f"{self.folder} has another study (its scene, values, measures or settings differ, or the version of "
                "turgor): choose another folder"
            )
        with writing(self.folder):
            self._runs.mkdir(parents=True, exist_ok=True)
            self._journal = (self.folder / JOURNAL).open("a", encoding="utf-8")
            if not lock(self._journal.fileno()):
                self._journal.close()
                raise SceneError(
                    f"{self.folder} is being written by another study: wait for it, or choose another folder"
                )
            if known is None:
                about = {"digest": digest, **description}
                self._write(self.folder / ABOUT, json.dumps(about, indent=1, default=str) + "\n")
        sweep(self.folder / ABOUT)

    def _known(self) -> str | None:
        """The digest of the study that is there."""
        path = self.folder / ABOUT
        try:
            return str(json.loads(path.read_text(encoding="utf-8"))["digest"])
        except FileNotFoundError:
            return None
        except NotADirectoryError:
            file = next((place for place in (self.folder, *self.folder.parents) if place.is_file()), self.folder)
            raise SceneError(f"{file}: is a file; give a folder for the results") from None
        except (OSError, ValueError, KeyError, TypeError):
            raise SceneError(f"{path}: cannot be read; choose another folder") from None

    def _foreign(self) -> str:
        """Files that this study would replace, or take for its own."""
        own = ("results.csv", "results.parquet", "results.json", "report.html", JOURNAL)
        # an empty one, as of a study that was killed before it began, is no loss
        found = [name for name in own if (path := self.folder / name).exists() and path.stat().st_size]
        found += [pattern for pattern in ("runs/*.json", "data/*.h5") if any(self.folder.glob(pattern))]
        return ", ".join(found)

    def _write(self, path: Path, text: str) -> None:
        with writing(path), replacing(path) as temporary:
            temporary.write_text(text, encoding="utf-8")

    def rows(self, chunks: Sequence[Chunk]) -> dict[int, list[dict[str, Any]]]:
        """The rows of the chunks that are finished, by their numbers."""
        found: dict[int, list[dict[str, Any]]] = {}
        runs = {chunk.number: chunk.runs for chunk in chunks}
        for path in sorted(self._runs.glob("[0-9]*.json")):
            sweep(path)
            try:
                rows = json.loads(path.read_text(encoding="utf-8"))["rows"]
                if sorted(row["run"] for row in rows if row["status"]) != sorted(runs[int(path.stem)]):
                    raise ValueError
                found[int(path.stem)] = rows
            except (OSError, ValueError, KeyError, TypeError):
                raise SceneError(f"{path}: damaged; remove it, and --resume computes its runs again") from None
        return found

    def keep(self, outcome: Outcome) -> None:
        """A finished chunk: the trajectories first, then its rows, which say that it is finished."""
        for number, shard in enumerate(outcome.shards):
            from turgor.study.shards import data_folder, save_shard

            suffix = f"-{number}" if number else ""
            save_shard(data_folder(self.folder) / f"{outcome.number:06d}{suffix}.h5", shard)
        path = self._runs / f"{outcome.number:06d}.json"
        self._write(path, json.dumps({"chunk": outcome.number, "rows": outcome.rows}) + "\n")
        line = {"chunk": outcome.number, "runs": len(outcome.rows), "worker": outcome.worker, "at": time.time()}
        with writing(self.folder):
            self._journal.write(json.dumps(line) + "\n")
            self._journal.flush()

    def finish(self, results: Results, recorded: bool) -> None:
        """The table and the report, complete or of what is finished, beside what they were made from."""
        results.write(self.folder)
        write_report(self.folder, results)
        if recorded:
            from turgor.study.shards import write_index

            write_index(self.folder, results)

    def _unlock(self) -> None:
        """From now on others may write the folder."""
        with contextlib.suppress(OSError):  # a line that found no space has been reported
            self._journal.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self._unlock()

    def remove(self) -> None:
        """A study of which nothing was finished leaves nothing."""
        self._unlock()
        with contextlib.suppress(OSError):
            (self.folder / ABOUT).unlink()
            (self.folder / JOURNAL).unlink()
            self._runs.rmdir()
            self.folder.rmdir()
