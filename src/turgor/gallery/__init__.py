"""Built-in scenes: one TOML file each, in the format of a user's own. They serve users, tests and benchmarks.

The file's name is the scene's name.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from turgor.errors import SceneError, did_you_mean
from turgor.scene import Scene, Settings

__all__ = ["describe", "load", "names", "path", "picture", "source"]

FOLDER = Path(__file__).parent
PICTURES = FOLDER / "pictures"  # one small WebP per scene, made by tools/thumbnails


def names() -> list[str]:
    """Names of the scenes, sorted."""
    return sorted(file.stem for file in FOLDER.glob("*.toml"))


def path(name: str) -> Path:
    """The scene's file; SceneError with a suggestion when there is none."""
    known = names()
    if name not in known:
        raise SceneError(f"there is no scene {name!r}; {did_you_mean(name, known)} (`turgor scenes` lists them all)")
    return FOLDER / f"{name}.toml"


def source(name: str) -> str:
    """The text of the scene's file."""
    return path(name).read_text(encoding="utf-8")


def load(name: str) -> Scene:
    """The scene, fresh: it may be changed without harm."""
    return Scene.load(path(name))


def picture(name: str) -> bytes | None:
    """A small picture of the scene, as WebP; None where there is none."""
    file = PICTURES / f"{path(name).stem}.webp"
    return file.read_bytes() if file.is_file() else None


def describe() -> list[dict[str, Any]]:
    """One row per scene: name, description, dim, seconds (how long it runs by default), bodies (their names)."""
    rows = []
    for name in names():
        document = tomllib.loads(source(name))
        bodies = [body for kind in ("soft_body", "cloth", "rigid_body") for body in document.get(kind, [])]
        rows.append(
            {
                "name": name,
                "description": document["description"],
                "dim": document.get("dim", 3),
                "seconds": float(document.get("simulation", {}).get("seconds", Settings.seconds)),
                "bodies": [body["name"] for body in bodies],
            }
        )
    return rows
