"""What the shell offers after TAB: scenes, solvers, contact methods, precisions, lessons, endings of recordings.

`turgor --install-completion` sets it up for bash, zsh, fish and PowerShell.
"""

from __future__ import annotations

import glob
import os

__all__ = ["contacts", "devices", "lessons", "precisions", "recordings", "scenes", "solvers"]


def scenes(incomplete: str) -> list[str]:
    """Scenes of the gallery, and scene files; a folder ends in its separator, to go on from there."""
    from turgor import gallery

    paths = sorted(glob.glob(f"{glob.escape(incomplete)}*"))
    files = [path for path in paths if path.endswith(".toml")]
    folders = [f"{path}{os.sep}" for path in paths if os.path.isdir(path)] if incomplete else []
    return [*(name for name in gallery.names() if name.startswith(incomplete)), *files, *folders]


def solvers(incomplete: str) -> list[str]:
    """Names of solvers."""
    from turgor.scene.settings import SOLVERS

    return [name for name in SOLVERS if name.startswith(incomplete)]


def contacts(incomplete: str) -> list[str]:
    """Names of contact methods."""
    from turgor.scene.settings import CONTACTS

    return [name for name in CONTACTS if name.startswith(incomplete)]


def precisions(incomplete: str) -> list[str]:
    """Names of precisions."""
    from turgor.scene.settings import PRECISIONS

    return [name for name in PRECISIONS if name.startswith(incomplete)]


def devices(incomplete: str) -> list[str]:
    """Kinds of devices; whether there is a GPU is not asked, since that takes a second."""
    return [name for name in ("cpu", "cuda", "auto") if name.startswith(incomplete)]


def lessons(incomplete: str) -> list[str]:
    """Names of guided experiments."""
    from turgor.viewer.lessons import LESSONS

    return [name for name in LESSONS if name.startswith(incomplete)]


def recordings(incomplete: str) -> list[str]:
    """The name so far with each ending that fits: `drop.m` becomes `drop.mp4`."""
    from turgor.record.formats import ENDINGS

    stem, ending = os.path.splitext(incomplete)
    if incomplete.endswith("."):
        stem, ending = incomplete[:-1], "."
    return [f"{stem}{known}" for known in ENDINGS if stem and known.startswith(ending)]
