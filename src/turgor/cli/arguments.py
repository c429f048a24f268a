"""Arguments that several commands have: KEY=VALUE, and how pictures look."""

from __future__ import annotations

from typing import Any

from turgor.errors import SceneError

__all__ = ["check_looks", "looks_of", "pairs_of"]


def pairs_of(option: str, texts: list[str] | None, example: str) -> dict[str, str]:
    """KEY=VALUE arguments as a dict."""
    pairs = {}
    for text in texts or []:
        key, equals, value = text.partition("=")
        if not (key.strip() and equals):
            raise SceneError(f"{option} {text}: write {option} KEY=VALUE, as in {option} {example}")
        pairs[key.strip()] = value.strip()
    return pairs


def looks_of(texts: list[str] | None) -> dict[str, Any]:
    """The values of --look, checked."""
    from turgor.scene.toml import parse_value

    looks = {key: parse_value(value) for key, value in pairs_of("--look", texts, "timestamp=true").items()}
    check_looks(looks)
    return looks


def check_looks(looks: dict[str, Any]) -> None:
    """SceneError where --look has a key or a value that pictures do not have."""
    from turgor.record.look import Look

    known = list(Look.__dataclass_fields__)
    for key in looks:
        if key not in known:
            raise SceneError(f"--look {key}: unknown; known: {', '.join(known)}")
    try:
        Look(**looks)
    except TypeError:
        raise SceneError(f"--look: a value has the wrong type: {looks}") from None
