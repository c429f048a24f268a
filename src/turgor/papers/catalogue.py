"""Everything that the report reproduces, in its order, and parts of it by name."""

from __future__ import annotations

from collections.abc import Sequence

from turgor.errors import SceneError, did_you_mean
from turgor.papers.martin2009.items import ITEMS as MARTIN_2009
from turgor.papers.matyka2003.items import ITEMS as MATYKA_2003
from turgor.papers.matyka2004.items import ITEMS as MATYKA_2004
from turgor.papers.matyka2007.items import ITEMS as MATYKA_2007
from turgor.papers.report.item import PAPERS, Item

__all__ = ["ITEMS", "chosen_items"]

ITEMS: tuple[Item, ...] = (*MATYKA_2004, *MATYKA_2003, *MARTIN_2009, *MATYKA_2007)


def chosen_items(names: Sequence[str]) -> tuple[Item, ...]:
    """Those with one of these keys, or of one of these papers; no names: all."""
    for name in names:
        if name not in PAPERS and all(item.key != name for item in ITEMS):
            known = [*PAPERS, *(item.key for item in ITEMS)]
            hint = did_you_mean(name, known, otherwise="turgor papers --list names all")
            raise SceneError(f"the papers have no part {name!r}; {hint}")
    return tuple(item for item in ITEMS if not names or item.key in names or item.paper in names)
