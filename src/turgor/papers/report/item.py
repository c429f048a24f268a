"""One thing of a paper that the report reproduces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from turgor.papers.report.blocks import Block

__all__ = ["PAPERS", "Item"]

PAPERS = {
    "2004": "Matyka 2004, How To Implement a Pressure Soft Body Model",
    "2003": "Matyka & Ollila 2003, Pressure Model of Soft Body Simulation",
    "2009": "Martin 2009, Real-Time Soft Body Simulation Using an Approximation of the Pressure Force",
    "2007": "Matyka 2007, The Pressure Soft Body (poster)",
}


@dataclass(frozen=True)
class Item:
    """A figure, a table or a section of a paper."""

    key: str  # anchor in the page, such as "2004-figure-4"
    paper: str  # one of PAPERS
    where: str  # "Figure 4", "Section 6.3"
    title: str  # as in Text: `code` and **bold**
    command: str  # what a reader types to see it, a `turgor ...` that works as it stands
    run: Callable[[bool], Sequence[Block]]  # run(quick) -> what it shows; quick: less of everything, in seconds
    requirements: tuple[str, ...] = ()  # ids of docs/requirements.md
