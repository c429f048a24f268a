"""How much a scene file or a mesh file may ask for, so that a stranger's file cannot take all memory.

The defaults hold what a large workstation simulates; `turgor run --limit` and `Scene.load(limits=...)` raise them.
Building a shape takes up to 1 kB of memory per vertex for a moment, reading a text mesh about ten times its size.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace

__all__ = ["Limits", "current", "limited", "with_vertices_left"]


@dataclass(frozen=True)
class Limits:
    """What is refused beyond, with a sentence."""

    # Vertex indices are int32 on the device and one body should leave room for others: 20 million vertices are already
    # about 1 GB of state, twenty times the largest mesh of the papers' scaling figures (a million).
    vertices: int = 20_000_000  # of a shape, and of all bodies of a scene file together
    # 512 MB is what a laptop can still read, and more than a mesh of ten million faces needs in a binary format.
    mesh_bytes: int = 512 * 1024**2  # of a mesh file
    # A mesh of 100,000 vertices written out in a scene file takes 10 MB.
    scene_bytes: int = 64 * 1024**2  # of a scene file


_current: ContextVar[Limits] = ContextVar("limits")
_DEFAULT = Limits()


def current() -> Limits:
    """The limits that hold here."""
    return _current.get(_DEFAULT)


@contextmanager
def limited(limits: Limits | None) -> Iterator[Limits]:
    """Inside, these limits hold; None leaves those that do."""
    token = _current.set(limits or current())
    try:
        yield current()
    finally:
        _current.reset(token)


@contextmanager
def with_vertices_left(used: int) -> Iterator[None]:
    """Inside, so many vertices fewer may be made: a scene file has them already."""
    with limited(replace(current(), vertices=max(0, current().vertices - used))):
        yield
