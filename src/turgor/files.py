"""Files that appear complete or not at all: written beside their place under another name, then renamed."""

from __future__ import annotations

import contextlib
import glob
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

from turgor.errors import RecordError

__all__ = ["replacing", "scratch", "sweep", "writing"]


def scratch(path: Path) -> Path:
    """A new name beside `path` for unfinished work, with the same ending; no other writer has it."""
    return path.with_name(f".{path.stem}.{secrets.token_hex(4)}.part{path.suffix}")


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A scratch file to write; at the end it replaces `path` in one move, on an error it is removed.

    The move is atomic, as both names are in one folder: a reader of `path` sees the old file or the new one, whole.
    """
    temporary = scratch(path)
    try:
        yield temporary
        os.replace(temporary, path)
    finally:
        _remove(temporary)


def sweep(path: Path) -> None:
    """Removes what writers of `path` left behind when they were killed (SIGKILL leaves them no time to do it)."""
    for leftover in path.parent.glob(f".{glob.escape(path.stem)}.{8 * '[0-9a-f]'}.part*"):
        _remove(leftover)


@contextlib.contextmanager
def writing(path: Path, remedy: str = "free some space or choose another folder") -> Iterator[None]:
    """An error of the operating system while `path` is written becomes one sentence that names the file."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error).splitlines()[0]
        raise RecordError(f"{path}: cannot be written ({reason}); {remedy}") from error


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):  # moved already, or never made
        path.unlink()
