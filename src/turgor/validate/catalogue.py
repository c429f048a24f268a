"""All references in their order, and parts of them by name."""

from __future__ import annotations

from collections.abc import Sequence

from turgor.errors import SceneError, did_you_mean
from turgor.validate.airbag import AIRBAG
from turgor.validate.balloon import BALLOON
from turgor.validate.beam import BEAM
from turgor.validate.disc import DISC
from turgor.validate.lattice import LATTICE
from turgor.validate.mylar import MYLAR
from turgor.validate.plate import PLATE
from turgor.validate.pouch import POUCH
from turgor.validate.reference import Reference
from turgor.validate.teabag import TEABAG
from turgor.validate.torus import TORUS

__all__ = ["REFERENCES", "chosen_references"]

REFERENCES: tuple[Reference, ...] = (BALLOON, DISC, MYLAR, AIRBAG, TEABAG, TORUS, PLATE, POUCH, LATTICE, BEAM)


def chosen_references(names: Sequence[str]) -> tuple[Reference, ...]:
    """Those with one of these names ("balloon") or numbers ("V1"); commas separate several; none: all."""
    wanted = [part.strip().lower() for name in names for part in name.split(",") if part.strip()]
    for name in wanted:
        if all(name not in (entry.key, entry.number.lower()) for entry in REFERENCES):
            known = [part for entry in REFERENCES for part in (entry.key, entry.number)]
            hint = did_you_mean(name, known, otherwise=f"they are {', '.join(entry.key for entry in REFERENCES)}")
            raise SceneError(f"there is no reference {name!r}; {hint}")
    return tuple(entry for entry in REFERENCES if not wanted or {entry.key, entry.number.lower()} & set(wanted))
